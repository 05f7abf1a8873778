"""The client: asks ``ken serve`` if it runs, else the program."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Callable, Iterator, List, Optional, Sequence, TypeVar, Union

from .errors import Unavailable
from .program import Program
from .records import Contact, Line, Run, Status, Term, Thread
from .request import AnyPath, Search
from .results import Document, Facet, Hit, Object, Place, Results
from .server import NoRoute, Server, data_folder, find_socket
from .transport import Transport

_T = TypeVar("_T")

#: One text, or several.
Texts = Union[str, Sequence[str]]
#: One path, or several.
Paths = Union[AnyPath, Sequence[AnyPath]]


class Client:
    """Asks about one index.

    ``data`` is the folder of the index and ``config`` a configuration file; by default those that the program uses.
    ``transport`` is ``"server"`` to ask only ``ken serve`` at its socket, ``"program"`` to run only the program, and
    ``"auto"`` to ask the server if it runs and knows the question, else the program. ``socket`` names a socket that is
    not where ``ken serve`` says, ``program`` a program that is not on the path. ``timeout`` is how many seconds the
    server has for an answer.

    A client has no state and no connection, so threads may share it.
    """

    def __init__(
        self,
        data: Optional[AnyPath] = None,
        *,
        config: Optional[AnyPath] = None,
        transport: str = "auto",
        socket: Optional[AnyPath] = None,
        program: Optional[AnyPath] = None,
        timeout: float = 60.0,
    ) -> None:
        if transport not in ("auto", "server", "program"):
            raise ValueError(f'transport is "auto", "server" or "program", not "{transport}"')
        self._transport = transport
        self._data = data
        self._socket = socket
        self._timeout = timeout
        # The server has its own settings.
        self._is_plain = config is None
        self._program = Program(program, data, config)

    @property
    def data(self) -> Path:
        """The folder of the index."""
        return data_folder(self._data)

    def _ask(self, ask: Callable[[Transport], _T]) -> _T:
        """Ask the server, or the program where there is none."""
        server = self._server()
        if server is not None:
            try:
                return ask(server)
            except NoRoute:
                if self._transport == "server":
                    raise
        return ask(self._program)

    def _server(self) -> Optional[Server]:
        if self._transport == "program" or not self._is_plain:
            return None
        path = Path(self._socket) if self._socket is not None else find_socket(self._data)
        server = None if path is None else Server(path, self._timeout)
        if server is not None and server.answers():
            return server
        if self._transport == "server":
            raise Unavailable("ken serve does not answer", hint="start it: ken service install")
        return None

    def search(
        self,
        query: str,
        *,
        limit: Optional[int] = 10,
        offset: int = 0,
        sort: str = "relevance",
        reverse: bool = False,
        group: Optional[str] = None,
        snippets: int = 1,
        text: bool = False,
        syntax: str = "ken",
        words: Optional[str] = None,
        lenient: bool = False,
        forms: bool = True,
        prefix_last: bool = False,
        fresh: bool = False,
        explain: bool = False,
        like: Optional[AnyPath] = None,
    ) -> Results:
        """Return the hits of a query, best first.

        :param query: words, ``"phrases"``, ``-not``, ``OR``, ``prefix*``, ``field:value`` (``docs/query.md``)
        :param limit: the most hits, ``None`` for all
        :param offset: how many hits to skip
        :param sort: ``relevance``, ``path``, or a field such as ``date``, ``size``, ``title``
        :param reverse: reverse the order
        :param group: what is one hit: ``None`` for every document, ``similar`` for near copies, ``content`` for copies,
            ``file``, ``message``
        :param snippets: how many passages of each hit
        :param text: whether hits have their whole text
        :param syntax: the language of the query: ``ken``, ``recoll``, ``mu`` or ``notmuch``
        :param words: ``any`` or ``all`` if the query is plain words without operators
        :param lenient: whether parts of the query with mistakes are left out
        :param forms: whether other forms of words match, such as plurals
        :param prefix_last: whether the last word may continue, for searches while typing
        :param fresh: whether everything that changed is brought into the index first
        :param explain: whether to say how the query was understood
        :param like: find documents that are similar to this one
        """
        request = Search(
            query,
            limit,
            offset,
            sort,
            reverse,
            group,
            snippets,
            text,
            syntax,
            words,
            lenient,
            forms,
            prefix_last,
            fresh,
            explain,
            like,
        )
        return self._ask(lambda ken: ken.search(request))

    def hits(self, query: str, **options: Any) -> Iterator[Hit]:
        """Yield all hits of a query while they come; it has the options of :meth:`search` but ``limit``."""
        request = Search(query, **options)
        return self._ask(lambda ken: ken.hits(request))

    def count(self, query: str, **options: Any) -> int:
        """Return how many documents a query finds; it has the options of :meth:`search`."""
        request = Search(query, **options)
        return self._ask(lambda ken: ken.count(request))

    def facets(
        self, query: str, by: Texts, *, depth: int = 1, limit: Optional[int] = None, **options: Any
    ) -> List[Facet]:
        """Count the hits of a query by properties: ``type``, ``dir``, ``author``, ``year``, ``lang`` …

        :param depth: levels of folders that ``dir`` distinguishes
        :param limit: the most values of each facet
        """
        request = Search(query, **options)
        names = [by] if isinstance(by, str) else list(by)
        return self._ask(lambda ken: ken.facets(request, names, depth, limit))

    def places(self, query: str, path: AnyPath, **options: Any) -> Iterator[Place]:
        """Yield every passage of a document of the index that matches a query, with its line and page.

        The path may name a member: ``archive.zip|report.pdf``.
        """
        request = Search(query, limit=None, **options)
        absolute = os.path.abspath(path)
        return self._ask(lambda ken: ken.places(request, absolute))

    def get(self, path: AnyPath, ipath: str = "") -> Document:
        """Return a document of the index with its text.

        :param path: its file
        :param ipath: its member path, as ``Hit.ipath`` has it
        :raises NotFound: if the index does not have it
        """
        absolute = Path(os.path.abspath(path))
        return self._ask(lambda ken: ken.get(absolute, ipath))

    def save(self, path: AnyPath, to: AnyPath, ipath: str = "") -> None:
        """Write a document in its own format into a file.

        Without the server, members of files can be written only if they are attachments of messages.
        """
        absolute = Path(os.path.abspath(path))
        self._ask(lambda ken: ken.save(absolute, Path(to), ipath))

    def extract(self, path: AnyPath) -> Iterator[Document]:
        """Yield what ken reads from a file now, whether or not it is in the index.

        Each document inside the file comes with its text, the file itself last. The program does this.
        """
        return self._program.extract(path)

    def grep(
        self,
        pattern: str,
        paths: Paths = (),
        *,
        fixed: bool = False,
        ignore_case: bool = False,
        words: bool = False,
        hidden: bool = False,
        globs: Texts = (),
        documents: bool = False,
        max_count: Optional[int] = None,
    ) -> Iterator[Line]:
        """Yield all lines that a regular expression matches, while they are found.

        :param paths: files and folders; the working folder if there are none
        :param fixed: whether the pattern is plain text
        :param ignore_case: whether capitals do not matter
        :param words: whether only whole words match
        :param hidden: whether hidden files are searched too
        :param globs: only files that one of these matches, as ``*.py``; ``!*.py`` leaves files out
        :param documents: search the text of PDFs, office files, mail and archives in the index
        :param max_count: the most lines of a file
        """
        options = ["--fixed-strings"] * fixed + ["--ignore-case"] * ignore_case + ["--word-regexp"] * words
        options += ["--hidden"] * hidden + ["--documents"] * documents
        options += [f"--glob={glob}" for glob in _several(globs)]
        options += [f"--max-count={max_count}"] if max_count is not None else []
        return self._program.grep(pattern, _several(paths), options)

    def terms(
        self,
        pattern: str = "",
        *,
        fields: Texts = (),
        sort: str = "term",
        limit: Optional[int] = None,
        by_field: bool = False,
    ) -> Iterator[Term]:
        """Yield terms of the index.

        :param pattern: the beginning of a term, ``pat*ern``, ``/regular expression/`` or ``~word`` for similar ones
        :param fields: names of fields; all fields of text if there are none
        :param sort: ``term``, ``documents`` or ``occurrences``
        :param by_field: whether each field is counted apart
        """
        return self._ask(lambda ken: ken.terms(pattern, _several(fields), sort, limit, by_field))

    def threads(self, query: str = "*", *, limit: Optional[int] = 50) -> Iterator[Thread]:
        """Yield the conversations with messages that a query finds, the newest first."""
        return self._ask(lambda ken: ken.threads(query, limit))

    def contacts(
        self, pattern: str = "", *, personal: bool = False, after: Optional[str] = None, limit: Optional[int] = None
    ) -> Iterator[Contact]:
        """Yield who wrote or got messages, the most important first.

        :param pattern: a regular expression that the name or the address must match
        :param personal: only those of messages from or to you
        :param after: only those of messages since this date, as ``2025-06``, ``3m`` or ``yesterday``
        """
        return self._ask(lambda ken: ken.contacts(pattern, personal, after, limit))

    def status(self) -> Status:
        """Return what is in the index, and how fresh it is."""
        return self._ask(lambda ken: ken.status())

    def index(
        self,
        paths: Paths = (),
        *,
        full: bool = False,
        retry_failed: bool = False,
        forget: Optional[AnyPath] = None,
        on_progress: Optional[Callable[[Object], None]] = None,
    ) -> Run:
        """Bring the index up to date, and return what was done. The program does this, or hands it to the server.

        :param paths: folders and files to add as roots
        :param full: whether every file is read again
        :param retry_failed: whether files are tried again that could not be read
        :param forget: a root to remove
        :param on_progress: gets an object with the progress each second (``docs/json.md``)
        """
        options = ["--full"] * full + ["--retry-failed"] * retry_failed
        options += ["--forget", os.fspath(forget)] if forget is not None else []
        for event, run in self._program.index(_several(paths), options):
            if run is not None:
                return run
            if on_progress is not None:
                on_progress(event)
        raise Unavailable("the run of ken index ended without a summary")


def _several(given: Any) -> List[Any]:
    """Return a list of one thing or several."""
    return [given] if isinstance(given, (str, os.PathLike)) else list(given)

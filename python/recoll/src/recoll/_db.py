"""``Db``: a connection to an index."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, List, NoReturn, Optional, Sequence, Tuple, Union

import ken

from . import _doc
from ._doc import Doc
from ._query import Query

_AnyPath = Union[str, bytes, "os.PathLike[str]"]


def data_folder(confdir: Optional[_AnyPath]) -> Optional[Path]:
    """Return the data folder of ken that takes the place of Recoll's configuration; None for the usual one.

    It is the argument, or else RECOLL_CONFDIR.
    """
    named = os.fsdecode(confdir or os.environ.get("RECOLL_CONFDIR") or "")
    return Path(named) if named else None


def _client(folder: Optional[Path]) -> ken.Client:
    client = ken.Client(folder)
    if not (client.data / "index").is_dir():
        raise OSError(f'"{client.data}" is not a data folder of ken; to make one: ken index FOLDER')
    return client


def _extra(name: Any) -> ken.Client:
    if not isinstance(name, (str, bytes)) or not name:
        raise TypeError("extra_dbs items must be bytes or strings")
    folder = Path(os.fsdecode(name))
    # getDbDir() names the folder with the index itself.
    folder = folder.parent if folder.name == "index" and not (folder / "index").is_dir() else folder
    try:
        return _client(folder)
    except OSError as error:
        raise OSError(f"extra db could not be opened: {os.fsdecode(name)}") from error


class Db:
    """Db([confdir=None], [extra_dbs=None], [writable = False])

    A Db object holds a connection to an index. Use the connect() function to create one. confdir is a data folder of
    ken, extra_dbs are more of them.
    """

    def __init__(
        self,
        confdir: Optional[_AnyPath] = None,
        extra_dbs: Optional[Sequence[Union[str, bytes]]] = None,
        writable: Any = 0,
    ) -> None:
        if writable:
            _refuse("connect(writable=True)")
        if extra_dbs is not None and not hasattr(extra_dbs, "__getitem__"):
            raise TypeError("extra_dbs must be a sequence")
        self._clients: List[ken.Client] = [_client(data_folder(confdir)), *map(_extra, extra_dbs or ())]
        #: The most characters of an abstract, and the words around a match.
        self._abstract: Tuple[int, int] = (250, -1)
        self._is_open = True

    def _opened(self) -> None:
        if not self._is_open:
            raise AttributeError("db")

    def close(self) -> None:
        """close() closes the index connection. The object is unusable after this."""
        self._is_open = False

    def query(self) -> Query:
        """query() -> Query. Return a new, blank query object for this index."""
        self._opened()
        return Query._of(self)

    def cursor(self) -> Query:
        """cursor() -> Query. Alias for query(). Return query object."""
        return self.query()

    def doc(self) -> Doc:
        """doc() -> Doc. Return a new, blank doc object for this index."""
        self._opened()
        return Doc()

    def getDoc(self, udi: Union[str, bytes], idxidx: int = 0) -> Optional[Doc]:
        """getDoc(udi, idxidx=0) -> Doc

        Returns the document with this identifier (its path, a bar, and its place in the file), or None. idxidx is 0 for
        the main index, else the number of one of extra_dbs.
        """
        self._opened()
        client = self._clients[idxidx]
        parts = os.fsdecode(udi).split("|")
        # Both a path and a place may have bars.
        for at in range(1, len(parts) + 1):
            try:
                found = client.get("|".join(parts[:at]), "|".join(parts[at:]))
            except ken.NotFound:
                continue
            return _doc.from_document(found, dbytes=str(len((found.text or "").encode(errors="replace"))))
        return None

    def setAbstractParams(self, maxchars: int = -1, contextwords: int = -1) -> None:
        """setAbstractParams(maxchars, contextwords).

        Sets the length of abstracts, and how many words around a match they have.
        """
        self._opened()
        n_chars, n_words = self._abstract
        self._abstract = (maxchars if maxchars > 0 else n_chars, contextwords if contextwords > 0 else n_words)

    def makeDocAbstract(self, doc: Doc, query: Query) -> str:
        """makeDocAbstract(Doc, Query) -> string

        Returns passages of a document around the matches of a query.
        """
        self._opened()
        if not isinstance(query, Query):
            raise TypeError("argument 2 must be recoll.Query")
        return query.makedocabstract(doc)

    def termMatch(
        self,
        type: str,
        expr: str,
        field: str = "",
        maxlen: int = -1,
        casesens: Any = False,
        diacsens: Any = False,
        freqs: Any = False,
        lang: str = "english",
    ) -> List[Any]:
        """termMatch(type='wildcard|regexp|stem', expr, field='', maxlen=-1, casesens=False, diacsens=False,
        freqs=False, lang='english')

        Returns the terms that an expression stands for, the most frequent first, or with freqs triples of the term, how
        often it occurs, and in how many documents. ken's terms have neither capitals nor diacritics.
        """
        self._opened()
        kind = type.lower()
        if kind not in ("wildcard", "regexp", "stem"):
            raise AttributeError("Bad type arg")
        if kind == "stem":
            found = self._forms(expr)
        else:
            pattern = f"/{expr}/" if kind == "regexp" else expr
            fields = _term_fields(field)
            found = list(self._clients[0].terms(pattern, fields=fields, sort="occurrences"))
        if kind == "wildcard" and not set(expr) & set("*?["):
            # Without a wildcard ken takes the text as a beginning.
            found = [term for term in found if term.term == expr.lower()]
        found = found[:maxlen] if maxlen >= 0 else found
        return [(of.term, of.occurrences, of.documents) if freqs else of.term for of in found]

    def _forms(self, word: str) -> List[ken.Term]:
        """Return the forms of a word that the index has."""
        query = self.query()
        query.execute(word.lower())
        forms = {written for _, written in ((words, terms[0]) for words, terms in query.getgroups())}
        found = [term for form in forms for term in self._clients[0].terms(form) if term.term == form]
        return sorted(found, key=lambda term: (-term.occurrences, term.term))

    def needUpdate(self, udi: str, sig: str) -> NoReturn:
        """needUpdate(udi, sig) is not possible: ken's index follows the files."""
        _refuse("needUpdate")

    def addOrUpdate(self, udi: str, doc: Doc, parent_udi: Optional[str] = None, metaonly: Any = False) -> NoReturn:
        """addOrUpdate(udi, doc, parent_udi=None) is not possible: ken's index follows the files."""
        _refuse("addOrUpdate")

    def delete(self, udi: str) -> NoReturn:
        """delete(udi) is not possible: ken's index follows the files."""
        _refuse("delete")

    def preparePurge(self, backend: str) -> NoReturn:
        """preparePurge(backend) is not possible: ken's index follows the files."""
        _refuse("preparePurge")

    def purge(self) -> NoReturn:
        """purge() is not possible: ken's index follows the files."""
        _refuse("purge")

    def createStemDbs(self, lang: Union[str, Sequence[str]]) -> NoReturn:
        """createStemDbs(lang) is not possible, nor needed: ken finds forms of words when it searches."""
        _refuse("createStemDbs")


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"{name}: ken's index follows the files below its roots, and programs cannot write to it; see ken index"
    )


def _term_fields(field: str) -> List[str]:
    if not field:
        return []
    name = _doc.canonical(field)
    if name == "recipient":
        return ["to", "cc", "bcc"]
    return [{"mtype": "mime", "abstract": "description", "caption": "title"}.get(name, name)]


def connect(
    confdir: Optional[_AnyPath] = None, extra_dbs: Optional[Sequence[Union[str, bytes]]] = None, writable: Any = 0
) -> Db:
    """connect([confdir=None], [extra_dbs=None], [writable = False]) -> Db.

    Connects to an index and returns a Db object. confdir is a data folder of ken (by default RECOLL_CONFDIR, or the one
    that ken uses), extra_dbs is a list of more.
    """
    return Db(confdir, extra_dbs, writable)

"""Asks ``ken serve`` at its socket: HTTP/1.1 with JSON (``docs/serve.md``)."""

from __future__ import annotations

import http.client
import json
import os
import shutil
import socket
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Sequence
from urllib.parse import urlencode

from .errors import Error, Unavailable
from .records import Contact, Status, Term, Thread
from .request import AnyPath, Search, exact, written
from .results import (
    Document,
    Explanation,
    Facet,
    FacetValue,
    Hit,
    Object,
    Place,
    Results,
    Suggestion,
    only,
)

#: How many hits are read at once at first, and at most.
_FIRST_PAGE, _LARGEST_PAGE = 100, 3200
#: The most hits, threads and contacts that the server gives at once.
_MOST = 10_000
#: The status of HTTP if a commit is not open any more.
_GONE = 410


class NoRoute(Error):
    """The server does not know the question; it may be of another version than this package."""


def find_socket(data: Optional[AnyPath]) -> Optional[Path]:
    """Return where the server of an index answers, if one has said so."""
    folder = data_folder(data)
    try:
        told = json.loads((folder / "ken.serve").read_bytes())["socket"]
    except (OSError, ValueError, KeyError, TypeError):
        told = None
    if told is not None:
        return Path(told if isinstance(told, str) else os.fsdecode(bytes(told)))
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if data is None and "KEN_DATA" not in os.environ and runtime:
        # systemd starts the server when somebody connects.
        return Path(runtime, "ken", "ken.sock")
    return None


def data_folder(data: Optional[AnyPath]) -> Path:
    """Return the folder of an index, which is the usual one if none is named."""
    named = data if data is not None else os.environ.get("KEN_DATA")
    if named:
        return Path(named)
    home = os.environ.get("XDG_DATA_HOME", "")
    # The specification says to ignore relative paths.
    return Path(home if os.path.isabs(home) else Path.home() / ".local/share", "ken")


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout: float) -> None:
        super().__init__("ken", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(os.fspath(self._path))


class Server:
    """The server of an index. Each question has a connection of its own."""

    def __init__(self, path: Path, timeout: float) -> None:
        self._path = path
        self._timeout = timeout

    def answers(self) -> bool:
        """Return whether a server listens."""
        connection = _Connection(self._path, self._timeout)
        try:
            connection.connect()
        except OSError:
            return False
        finally:
            connection.close()
        return True

    def _open(self, method: str, route: str, question: Optional[Object] = None) -> http.client.HTTPResponse:
        """Return an answer, which closes its connection when it is closed."""
        connection = _Connection(self._path, self._timeout)
        body = None if question is None else json.dumps(question)
        try:
            headers = {"Content-Type": "application/json", "Connection": "close"}
            connection.request(method, f"/api/v1/{route}", body, headers)
            response = connection.getresponse()
            if response.status == 200:
                return response
            answer = response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise Unavailable(f"ken serve does not answer: {error}") from error
        connection.close()
        raise _refusal(response.status, answer)

    def _ask(self, method: str, route: str, question: Optional[Object] = None) -> Dict[str, Any]:
        """Return the object that answers a question."""
        with closing(self._open(method, route, question)) as response:
            try:
                found: Dict[str, Any] = json.loads(response.read())
            except (OSError, http.client.HTTPException) as error:
                raise Unavailable(f"ken serve does not answer: {error}") from error
        return found

    def _search(self, request: Search, commit: Optional[int] = None, **more: Any) -> Dict[str, Any]:
        if request.like is not None:
            raise NoRoute("only the program reads files that documents are like")
        if request.fresh:
            self._ask("POST", "fresh", {"seconds": self._timeout})
        at = "" if commit is None else f"?commit={commit}"
        return self._ask("POST", f"search{at}", {**_question(request), **more})

    def search(self, request: Search) -> Results:
        """Return a page of hits."""
        found = self._search(request, count=True, suggest=True, explain=request.explain)
        hits = list(map(Hit.from_json, found["hits"]))
        if len(hits) == _MOST and request.limit != _MOST:
            # The rest comes in pages.
            rest = self.hits(replace(request, offset=request.offset + _MOST, fresh=False))
            hits += islice(rest, None if request.limit is None else request.limit - _MOST)
        is_all = found["matched"] == "all"
        explained = found.get("explanation")
        return Results(
            hits=hits,
            matched=found["matched"],
            with_all=None if is_all else found["with_all"],
            missing=() if is_all else tuple(found["missing"]),
            did_you_mean=tuple(Suggestion(of["query"], of["documents"]) for of in found["did_you_mean"]),
            explanation=Explanation.from_json(explained) if explained else None,
            commit=found["commit"],
            _total=found["total_groups"],
        )

    def hits(self, request: Search) -> Iterator[Hit]:
        """Yield all hits, which are read in pages of one commit, unless the server has closed it meanwhile."""
        page = replace(request, limit=_FIRST_PAGE)
        found = self._search(page, relax=replace(request, limit=None).relax)
        return self._pages(page, found)

    def _pages(self, page: Search, found: Dict[str, Any]) -> Iterator[Hit]:
        while found["hits"]:
            yield from map(Hit.from_json, found["hits"])
            if page.limit is None or len(found["hits"]) < page.limit:
                return
            size = page.limit if page.text else min(2 * page.limit, _LARGEST_PAGE)
            page = replace(page, offset=page.offset + page.limit, limit=size, fresh=False)
            relax = replace(page, limit=None).relax
            try:
                found = self._search(page, found["commit"], relax=relax)
            except Error as error:
                if error.status != _GONE:
                    raise
                found = self._search(page, relax=relax)

    def count(self, request: Search) -> int:
        """Return the number of hits."""
        found = self._search(replace(request, limit=0, snippets=0, text=False), count=True, relax="never")
        return int(found["total_groups"])

    def facets(self, request: Search, by: Sequence[str], depth: int, limit: Optional[int]) -> List[Facet]:
        """Return how many hits have which values."""
        facets = {"by": list(by), "depth": depth, "limit": limit}
        found = self._search(replace(request, limit=0, snippets=0, text=False), facets=facets, relax="never")
        return [
            Facet(of["facet"], tuple(FacetValue(value["value"], value["count"]) for value in of["values"]))
            for of in found["facets"]
        ]

    def places(self, request: Search, path: AnyPath) -> Iterator[Place]:
        """Yield the matches in one document."""
        return map(Place.from_json, self._search(request, inside=_text(path))["matches"])

    def get(self, path: Path, ipath: str) -> Document:
        """Return a document of the index with its text."""
        request = Search(exact(written(path), ipath), limit=None, snippets=0, text=True, sort="path")
        return only(path, ipath, self.hits(request))

    def save(self, path: Path, to: Path, ipath: str) -> None:
        """Write a document in its own format into a file."""
        request = Search(exact(written(path), ipath), limit=None, snippets=0, sort="path")
        found = only(path, ipath, self.hits(request))
        if found.id is None:
            raise NoRoute("the server has no identifiers of documents")
        with closing(self._open("GET", f"documents/{found.id}/original")) as response, open(to, "wb") as file:
            shutil.copyfileobj(response, file)

    def terms(
        self, pattern: str, fields: Sequence[str], sort: str, limit: Optional[int], by_field: bool
    ) -> Iterator[Term]:
        """Yield terms of the index."""
        asked = [("pattern", pattern), ("sort", sort), ("limit", str(limit or 0)), ("by_field", str(int(by_field)))]
        found = self._ask("GET", "terms?" + urlencode(asked + [("field", name) for name in fields]))
        return map(Term.from_json, _whole(found["terms"], limit))

    def threads(self, query: str, limit: Optional[int]) -> Iterator[Thread]:
        """Yield conversations, the newest first."""
        asked = {"q": query, "limit": limit or _MOST}
        found = self._ask("GET", "threads?" + urlencode(asked))
        return map(Thread.from_json, _whole(found["threads"], limit))

    def contacts(self, pattern: str, personal: bool, after: Optional[str], limit: Optional[int]) -> Iterator[Contact]:
        """Yield contacts, the most important first."""
        asked = {"pattern": pattern, "personal": int(personal), "limit": limit or _MOST}
        since = {"filter": f'date:"{after}"..'} if after else {}
        found = self._ask("GET", "contacts?" + urlencode({**asked, **since}))
        return map(Contact.from_json, _whole(found["contacts"], limit))

    def status(self) -> Status:
        """Return what is in the index."""
        return Status.from_json(self._ask("GET", "overview"))


def _question(request: Search) -> Dict[str, Any]:
    """Return a search as the search service takes it (``docs/json.md``)."""
    return {
        "query": request.query,
        "syntax": request.syntax,
        "reading": request.words or ("lenient" if request.lenient else "operators"),
        "forms": request.forms,
        "prefix_last": request.prefix_last,
        "relax": request.relax,
        "sort": request.sort,
        "reverse": request.reverse,
        "group": request.group,
        "offset": request.offset,
        "limit": request.limit,
        "text": "whole" if request.text else "none",
        "snippets": {"count": request.snippets},
    }


def _whole(found: List[Object], limit: Optional[int]) -> List[Object]:
    """Return what was found, if the server has not left out any of it."""
    if len(found) == _MOST and limit != _MOST:
        raise NoRoute(f"the server gives at most {_MOST} at once; only the program gives all")
    return found


def _text(path: AnyPath) -> str:
    """Return a path as JSON can hold it."""
    text = os.fspath(path)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise NoRoute("only the program takes paths that are not UTF-8") from error
    return text


def _refusal(status: int, body: bytes) -> Error:
    try:
        message = str(json.loads(body)["error"])
    except (ValueError, KeyError, TypeError):
        message = body.decode(errors="replace").strip() or f"ken serve refuses with status {status}"
    return (NoRoute if status in (404, 405) else Error)(message, status=status)

"""The hits of an executed query, read when they are asked for."""

from __future__ import annotations

import heapq
import os
from datetime import datetime
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import ken

from . import _doc
from ._doc import Doc

#: How many hits are read at once; a reader that goes on gets the rest as a stream.
_PAGE = 50

#: How many passages an abstract has.
_PASSAGES = 3

#: Recoll's names of fields that hits can be sorted by.
_SORTS = {
    "relevancyrating": "relevance",
    "url": "path",
    "rcludi": "path",
    "mtime": "date",
    "dmtime": "date",
    "fmtime": "modified",
    "fbytes": "size",
    "dbytes": "size",
    "pcbytes": "size",
    "size": "size",
    "mtype": "mime",
    "recipient": "to",
    "title": "title",
    "caption": "title",
    "author": "author",
    "filename": "filename",
    "lang": "lang",
    "ext": "ext",
    "pages": "pages",
}
#: Fields that ken sorts with the greatest first.
_NUMBERS = frozenset(["date", "modified", "size", "pages"])


def order(field: str, ascending: Any) -> Tuple[str, bool]:
    """Return ken's order for one of Recoll's: by relevance where ken cannot sort by the field."""
    sort = _SORTS.get(_doc.canonical(field)) if field else None
    if sort is None:
        return "relevance", False
    is_up = bool(ascending)
    return sort, is_up if sort in _NUMBERS or sort == "relevance" else not is_up


class Result:
    """The hits of a query in one or several indexes."""

    def __init__(self, clients: Sequence[ken.Client], query: str, options: Dict[str, Any], with_text: bool) -> None:
        self.clients = list(clients)
        self.query = query
        #: What finds the same documents again.
        self.what = {name: options[name] for name in ("syntax", "forms")}
        self._options = options
        self._with_text = with_text
        self._explanation: Optional[ken.Explanation] = None
        self._stream: Optional[Iterator[Tuple[ken.Client, ken.Hit]]] = None
        self._at = 0
        first = [client.search(query, limit=_PAGE, **self._shown()) for client in clients]
        self.n_hits = sum(page.total for page in first)
        self._best = max((page[0].score or 0.0 for page in first if len(page)), default=0.0)
        self._page: List[ken.Hit] = first[0].hits if len(first) == 1 else []
        self._page_at = 0

    def _shown(self) -> Dict[str, Any]:
        return {**self._options, "snippets": _PASSAGES, "text": self._with_text}

    @property
    def explanation(self) -> ken.Explanation:
        """How the query was understood."""
        if self._explanation is None:
            found = self.clients[0].search(self.query, limit=1, snippets=0, explain=True, **self.what)
            self._explanation = found.explanation or ken.Explanation(self.query, "")
        return self._explanation

    def doc(self, number: int) -> Optional[Doc]:
        """Return a hit, from 0, or None behind the last."""
        found = self._find(number)
        if found is None:
            return None
        client, hit = found
        length = hit.text_bytes if hit.text is None else len(hit.text.encode(errors="replace"))
        rating = None
        if hit.score is not None and self._best > 0:
            rating = f"{min(round(hit.score / self._best * 100), 100):3}%"
        doc = _doc.from_document(
            hit,
            dbytes="0" if length is None else str(length),
            relevancyrating=rating,
            collapsecount=str(hit.more) if hit.more else None,
            text=hit.text if self._with_text else None,
        )
        if "abstract" not in doc.keys() and hit.snippet is not None and not hit.snippet.highlights:
            # The beginning of the text, where only other fields match.
            doc._meta["abstract"] = hit.snippet.text
        object.__setattr__(doc, "_found", (client, hit))
        return doc

    def _find(self, number: int) -> Optional[Tuple[ken.Client, ken.Hit]]:
        behind = number - self._page_at
        if len(self.clients) == 1 and 0 <= behind < len(self._page):
            return self.clients[0], self._page[behind]
        if self._stream is None or number != self._at:
            if len(self.clients) == 1 and behind != len(self._page):
                page = self.clients[0].search(self.query, limit=_PAGE, offset=number, **self._shown())
                self._page, self._page_at = page.hits, number
                return (self.clients[0], page[0]) if len(page) else None
            self._stream, self._at = self._from(number), number
        self._at += 1
        return next(self._stream, None)

    def _from(self, number: int) -> Iterator[Tuple[ken.Client, ken.Hit]]:
        """Yield the hits from a position."""
        if len(self.clients) == 1:
            client = self.clients[0]
            return ((client, hit) for hit in client.hits(self.query, offset=number, **self._shown()))
        merged = self._merged()
        for _ in range(number):
            next(merged, None)
        return merged

    def _merged(self) -> Iterator[Tuple[ken.Client, ken.Hit]]:
        """Yield the hits of all indexes in one order."""
        key, is_reverse = self._key()

        def keyed(number: int, client: ken.Client) -> Iterator[Tuple[Any, int, ken.Client, ken.Hit]]:
            for hit in client.hits(self.query, **self._shown()):
                yield key(hit), number, client, hit

        streams = [keyed(number, client) for number, client in enumerate(self.clients)]
        for _, _, client, hit in heapq.merge(*streams, key=lambda found: found[0], reverse=is_reverse):
            yield client, hit

    def _key(self) -> Tuple[Callable[[ken.Hit], Any], bool]:
        """Return by what hits are ordered, and whether the greatest comes first."""
        sort, is_reverse = self._options["sort"], self._options["reverse"]
        if sort == "relevance":
            return lambda hit: hit.score or 0.0, not is_reverse
        if sort == "path":
            return lambda hit: os.fsencode(hit.address), is_reverse
        if sort in _NUMBERS:
            return lambda hit: _number(hit.fields.get(sort)), not is_reverse
        return lambda hit: " ".join(hit.texts(sort)).lower(), is_reverse


def _number(value: Any) -> float:
    return value.timestamp() if isinstance(value, datetime) else float(value or 0)

"""What ken answers, as plain data.

Times are :class:`datetime.datetime` in UTC, paths are :class:`pathlib.Path`, and positions in texts count characters.
``docs/json.md`` of ken describes the objects that these are made from.
"""

from __future__ import annotations

import html
import os
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union, overload

from .errors import NotFound

#: One object of JSON.
Object = Mapping[str, Any]
#: The value of a field: text, a number, a time, or several of them.
Value = Union[str, int, datetime, Tuple[Union[str, int, datetime], ...]]

#: Fields whose values are times.
_TIMES = frozenset(["date", "modified", "created"])


def parse_time(text: str) -> datetime:
    """Return the time that RFC 3339 writes so; the first or last that Python knows if it is out of range."""
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        bound: datetime = datetime.min if text.startswith(("-", "0")) else datetime.max
        return bound.replace(tzinfo=timezone.utc)


def parse_path(path: Union[str, Sequence[int]]) -> Path:
    """Return a path from its text, or from its bytes if it is not UTF-8."""
    return Path(path) if isinstance(path, str) else Path(os.fsdecode(bytes(path)))


def path_of(found: Object) -> Path:
    """Return the path of something that ken describes."""
    return parse_path(found.get("path_bytes") or found["path"])


def _fields_of(found: Object) -> Dict[str, Value]:
    fields: Dict[str, Value] = {}
    for name, value in found["fields"].items():
        if name in _TIMES:
            value = list(map(parse_time, value)) if isinstance(value, list) else parse_time(value)
        fields[name] = tuple(value) if isinstance(value, list) else value
    return fields


@dataclass(frozen=True)
class Snippet:
    """A passage of a document, with the places that match."""

    text: str
    #: Where matches begin and end in ``text``.
    highlights: Tuple[Tuple[int, int], ...] = ()
    #: The line of the document at which the passage begins, from 1.
    line: int = 1
    #: The page, from 1, in documents that have pages.
    page: Optional[int] = None

    @classmethod
    def from_json(cls, found: Object) -> Snippet:
        """Return the passage that ken describes so."""
        text = found["text"]
        # ken counts bytes of UTF-8.
        encoded = text.encode()
        at = (lambda n: n) if len(encoded) == len(text) else (lambda n: len(encoded[:n].decode()))
        places = tuple((at(start), at(end)) for start, end in found["highlights"])
        return cls(text, places, found["line"], found["page"])

    def marked(self, start: str = "<b>", end: str = "</b>", escape: Callable[[str], str] = html.escape) -> str:
        """Return the text as HTML, with matches between ``start`` and ``end``.

        >>> Snippet("salt & pepper", ((0, 4),)).marked()
        '<b>salt</b> &amp; pepper'
        """
        parts = []
        done = 0
        for begin, stop in self.highlights:
            parts += [escape(self.text[done:begin]), start, escape(self.text[begin:stop]), end]
            done = stop
        return "".join(parts) + escape(self.text[done:])


@dataclass(frozen=True)
class Failure:
    """Why a document could not be read, or only in part."""

    reason: str
    message: str
    cause: Mapping[str, Any]

    @classmethod
    def from_json(cls, found: Optional[Object]) -> Optional[Failure]:
        """Return the failure that ken describes so."""
        return cls(found["reason"], found["message"], found["cause"]) if found else None


@dataclass(frozen=True, repr=False)
class Document:
    """A document: a file, a member of an archive, a message or an attachment."""

    #: The file.
    path: Path
    #: The member path: where it is inside the file; empty for the file itself.
    ipath: str
    #: The media type.
    mime: str
    #: The kind of document: ``document``, ``message``, ``source``, ``image`` …
    type: str
    #: The values of its fields.
    fields: Mapping[str, Value] = field(default_factory=dict)
    failure: Optional[Failure] = None
    #: The identifier of the document of an index, as long as it is at its place.
    id: Optional[str] = None
    #: The whole text if it was asked for; a form feed ends each page but the last.
    text: Optional[str] = None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.title!r} {self.address}>"

    @classmethod
    def from_json(cls, found: Object, path: Optional[Path] = None) -> Document:
        """Return the document that ken describes so."""
        return cls(**_document(found, path))

    @property
    def title(self) -> str:
        """The title, or the file name."""
        title = self.texts("title") or self.texts("filename") or (self.path.name,)
        return title[0]

    @property
    def author(self) -> Optional[str]:
        """The author, or the sender."""
        return ", ".join(self.texts("author")) or None

    @property
    def date(self) -> Optional[datetime]:
        """When it was sent or last changed."""
        value = self.fields.get("date")
        return value if isinstance(value, datetime) else None

    @property
    def size(self) -> Optional[int]:
        """The size in bytes."""
        value = self.fields.get("size")
        return value if isinstance(value, int) else None

    @property
    def address(self) -> str:
        """The path, with the member path after a bar if there is one."""
        return f"{self.path}|{self.ipath}" if self.ipath else str(self.path)

    @property
    def url(self) -> str:
        """The address of the file."""
        return self.path.as_uri()

    def texts(self, name: str) -> Tuple[str, ...]:
        """Return the values of a field as texts."""
        value = self.fields.get(name, ())
        values = value if isinstance(value, tuple) else (value,)
        return tuple(str(one) for one in values)


def _document(found: Object, path: Optional[Path] = None) -> Dict[str, Any]:
    return {
        "path": path_of(found) if path is None else path,
        "ipath": found["ipath"],
        "mime": found["mime"],
        "type": found["type"],
        "fields": _fields_of(found),
        "failure": Failure.from_json(found.get("failure")),
        "id": found.get("id"),
        "text": found.get("body"),
    }


@dataclass(frozen=True, repr=False)
class Hit(Document):
    """A document that a query finds."""

    #: The position in the whole result, from 1.
    rank: int = 0
    #: How well it matches, if hits are sorted by relevance.
    score: Optional[float] = None
    #: Passages with matches, best first.
    snippets: Tuple[Snippet, ...] = ()
    #: How many other hits this one represents.
    more: int = 0
    #: The length of the whole text in bytes of UTF-8, if the text was read.
    text_bytes: Optional[int] = None

    @classmethod
    def from_json(cls, found: Object, path: Optional[Path] = None) -> Hit:
        """Return the hit that ken describes so."""
        passages = found.get("snippets") or [one for one in [found.get("snippet")] if one]
        return cls(
            **_document(found, path),
            rank=found["rank"],
            score=found.get("score"),
            snippets=tuple(map(Snippet.from_json, passages)),
            more=found.get("more") or 0,
            text_bytes=found.get("text_bytes"),
        )

    @property
    def snippet(self) -> Optional[Snippet]:
        """The best passage, if there is one."""
        return self.snippets[0] if self.snippets else None


def only(path: Path, ipath: str, among: Iterator[Hit]) -> Document:
    """Return the one of some hits that is this document.

    :raises NotFound: if it is not among them
    """
    for hit in among:
        if hit.path == path and hit.ipath == ipath:
            text = hit.text or ""
            return Document(hit.path, hit.ipath, hit.mime, hit.type, hit.fields, hit.failure, hit.id, text)
    raise NotFound(f'"{path}|{ipath}" is not in the index' if ipath else f'"{path}" is not in the index', path=path)


@dataclass(frozen=True)
class Suggestion:
    """A similar query that finds more."""

    query: str
    documents: int


@dataclass(frozen=True)
class Explanation:
    """How a query was understood."""

    #: The query as a tree.
    query: str
    #: The query in terms of the index.
    plan: str

    @classmethod
    def from_json(cls, found: Object) -> Explanation:
        """Return the explanation that ken describes so."""
        return cls(found["query"], found["plan"])


@dataclass
class Results(Sequence[Hit]):
    """A page of hits: a sequence of :class:`Hit` that also knows how many there are in all."""

    hits: List[Hit] = field(default_factory=list)
    #: How many words of the query the hits have: ``all``, ``most`` or ``any``.
    matched: str = "all"
    #: How many documents have all words, if the hits have not.
    with_all: Optional[int] = None
    #: The words that no document has.
    missing: Tuple[str, ...] = ()
    did_you_mean: Tuple[Suggestion, ...] = ()
    #: How the query was understood, if that was asked.
    explanation: Optional[Explanation] = None
    #: The commit of the index that answered, if known.
    commit: Optional[int] = field(default=None, compare=False)
    _count: Callable[[], int] = field(repr=False, compare=False, default=lambda: 0)
    _total: Optional[int] = field(repr=False, compare=False, default=None)

    @property
    def total(self) -> int:
        """The number of hits in all. The program counts them when this is first read."""
        if self._total is None:
            self._total = self._count()
        return self._total

    @overload
    def __getitem__(self, at: int) -> Hit: ...

    @overload
    def __getitem__(self, at: slice) -> List[Hit]: ...

    def __getitem__(self, at: Union[int, slice]) -> Union[Hit, List[Hit]]:
        return self.hits[at]

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)


@dataclass(frozen=True)
class Place(Snippet):
    """A passage with a match in one document."""

    path: Path = Path()
    ipath: str = ""

    @classmethod
    def from_json(cls, found: Object) -> Place:
        """Return the place that ken describes so."""
        plain = Snippet.from_json(found)
        return cls(plain.text, plain.highlights, plain.line, plain.page, path_of(found), found["ipath"])


@dataclass(frozen=True)
class FacetValue:
    """A value of a facet, and how many hits have it."""

    value: str
    count: int


@dataclass(frozen=True)
class Facet:
    """Hits counted by one property."""

    name: str
    values: Tuple[FacetValue, ...]

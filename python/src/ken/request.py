"""What is asked of ken, for both ways of asking."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Mapping, Optional, Sequence, Union

#: A path, as functions of this package take it.
AnyPath = Union[str, Path]

#: Up to this many hits are a page that someone reads. If hardly any document has all words of its query, ken fills it
#: with documents that have some of them.
_MAX_PAGE = 50


#: What some parts of a search can be.
_CHOICES: Mapping[str, Sequence[Optional[str]]] = {
    "group": (None, "similar", "content", "file", "message"),
    "syntax": ("ken", "recoll", "mu", "notmuch"),
    "words": (None, "any", "all"),
}


@dataclass(frozen=True)
class Search:
    """A search, as :meth:`ken.Client.search` describes it."""

    query: str
    limit: Optional[int] = 10
    offset: int = 0
    sort: str = "relevance"
    reverse: bool = False
    group: Optional[str] = None
    snippets: int = 1
    text: bool = False
    syntax: str = "ken"
    words: Optional[str] = None
    lenient: bool = False
    forms: bool = True
    prefix_last: bool = False
    fresh: bool = False
    explain: bool = False
    like: Optional[AnyPath] = None

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            value = getattr(self, name)
            if value not in known:
                raise ValueError(f"{name} is one of {', '.join(map(repr, known))}, not {value!r}")
        if self.offset < 0 or (self.limit is not None and self.limit < 0):
            raise ValueError("limit and offset are not negative")

    @property
    def relax(self) -> str:
        """When documents with some of the words are wanted, as ``ken search`` decides it."""
        if self.words == "all":
            return "never"
        return "few" if self.limit is not None and 1 <= self.limit <= _MAX_PAGE else "none"


def exact(path: str, ipath: str) -> str:
    """Return a query that finds the document with an absolute path, and hardly another one.

    A pattern must match the whole location, from the start to the end; the asterisk makes it a pattern.
    """
    location = f"{path}|{ipath}" if ipath else path
    quoted = "".join(f"\\{c}" if c in '"\\*?[]' else c for c in location[1:])
    return f'path:"/*{quoted}"'


def written(path: AnyPath) -> str:
    r"""Return a path as ken writes it: bytes that are not UTF-8 are ``\xNN``."""
    return "".join(f"\\x{ord(c) - 0xDC00:02x}" if "\udc80" <= c <= "\udcff" else c for c in str(path))

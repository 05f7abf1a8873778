"""What both ways of asking ken can do: :class:`ken.program.Program` and :class:`ken.server.Server`."""

from __future__ import annotations

from pathlib import Path
from typing import Iterator, List, Optional, Protocol, Sequence

from .records import Contact, Status, Term, Thread
from .request import AnyPath, Search
from .results import Document, Facet, Hit, Place, Results


class Transport(Protocol):
    """Asks ken. The methods are those of :class:`ken.Client`, whose arguments are checked and complete."""

    def search(self, request: Search) -> Results:
        """Return a page of hits."""

    def hits(self, request: Search) -> Iterator[Hit]:
        """Yield all hits."""

    def count(self, request: Search) -> int:
        """Return the number of hits."""

    def facets(self, request: Search, by: Sequence[str], depth: int, limit: Optional[int]) -> List[Facet]:
        """Return how many hits have which values."""

    def places(self, request: Search, path: AnyPath) -> Iterator[Place]:
        """Yield the matches in one document."""

    def get(self, path: Path, ipath: str) -> Document:
        """Return a document of the index with its text."""

    def save(self, path: Path, to: Path, ipath: str) -> None:
        """Write a document in its own format into a file."""

    def terms(
        self, pattern: str, fields: Sequence[str], sort: str, limit: Optional[int], by_field: bool
    ) -> Iterator[Term]:
        """Yield terms of the index."""

    def threads(self, query: str, limit: Optional[int]) -> Iterator[Thread]:
        """Yield conversations, the newest first."""

    def contacts(self, pattern: str, personal: bool, after: Optional[str], limit: Optional[int]) -> Iterator[Contact]:
        """Yield contacts, the most important first."""

    def status(self) -> Status:
        """Return what is in the index."""

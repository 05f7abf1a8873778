"""What ken says of lines, terms, mail and the index, as plain data: see :mod:`ken.results`."""

from __future__ import annotations

import os
from base64 import b64decode
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Mapping, Optional, Tuple

from .results import Object, parse_path, parse_time, path_of


@dataclass(frozen=True)
class Line:
    """A line that a regular expression matches."""

    path: Path
    #: The line, without its end.
    text: str
    #: The number of the line, from 1.
    number: int
    #: Where matches begin and end in ``text``.
    matches: Tuple[Tuple[int, int], ...] = ()
    #: The member path, in searches of documents.
    ipath: str = ""
    #: The page, in searches of documents.
    page: Optional[int] = None

    @classmethod
    def from_json(cls, found: Object) -> Line:
        """Return the line that ken describes so."""
        raw = _raw(found["lines"])
        text = _decoded(raw)
        places = ((one["start"], one["end"]) for one in found["submatches"])
        matches = tuple((len(_decoded(raw[:start])), len(_decoded(raw[:end]))) for start, end in places)
        return cls(
            Path(os.fsdecode(_raw(found["path"]))),
            text.rstrip("\r\n"),
            found["line_number"],
            matches,
            found.get("internal", ""),
            found.get("page"),
        )


def _raw(found: Object) -> bytes:
    """Return the bytes of a text of ripgrep's JSON, which writes what is not UTF-8 in base64."""
    if "text" in found:
        return str(found["text"]).encode()
    return b64decode(found["bytes"])


def _decoded(raw: bytes) -> str:
    return raw.decode(errors="replace")


@dataclass(frozen=True)
class Term:
    """A term of the index."""

    term: str
    #: How many documents contain it.
    documents: int
    #: How often it occurs in all of them.
    occurrences: int
    #: The field, if fields were counted apart.
    field: Optional[str] = None

    @classmethod
    def from_json(cls, found: Object) -> Term:
        """Return the term that ken describes so."""
        return cls(found["term"], found["documents"], found["occurrences"], found.get("field"))


@dataclass(frozen=True)
class Message:
    """A message in a thread."""

    path: Path
    ipath: str
    #: Its Message-ID.
    id: str
    date: datetime
    senders: Tuple[str, ...]
    subject: str
    #: Its states, such as ``unread`` and ``replied``.
    states: Tuple[str, ...]
    tags: Tuple[str, ...]
    #: How deep it is in the tree of answers; 0 for the first.
    level: int = 0
    #: Whether the query finds the message itself.
    matched: bool = True
    #: Whether the thread has the same message before.
    duplicate: bool = False

    @classmethod
    def from_json(cls, found: Object) -> Message:
        """Return the message that ken describes so."""
        return cls(
            path_of(found),
            found["ipath"],
            found["id"],
            parse_time(found["date"]),
            tuple(found["from"]),
            found["subject"],
            tuple(found["is"]),
            tuple(found["tags"]),
            found.get("level", 0),
            found["matched"],
            found.get("duplicate", False),
        )


@dataclass(frozen=True)
class Thread:
    """A conversation."""

    subject: str
    #: The date of the newest message.
    date: datetime
    #: How many of its messages the query finds.
    matched: int
    #: How many messages it has.
    total: int
    tags: Tuple[str, ...]
    #: In the order of answers.
    messages: Tuple[Message, ...] = field(repr=False, default=())

    @classmethod
    def from_json(cls, found: Object) -> Thread:
        """Return the thread that ken describes so."""
        return cls(
            found["subject"],
            parse_time(found["date"]),
            found["matched"],
            found["total"],
            tuple(found["tags"]),
            tuple(map(Message.from_json, found["messages"])),
        )


@dataclass(frozen=True)
class Contact:
    """Somebody who wrote or got messages."""

    name: str
    address: str
    #: How many messages name them.
    count: int
    #: The date of the newest of these.
    last: datetime
    #: Whether one of these is from you or to you.
    personal: bool

    @classmethod
    def from_json(cls, found: Object) -> Contact:
        """Return the contact that ken describes so."""
        return cls(
            found["name"],
            found["address"],
            found["count"],
            parse_time(found["last"]),
            found["personal"],
        )


@dataclass(frozen=True)
class Status:
    """What is in the index, and how fresh it is."""

    #: The folder of the index.
    data: Path
    roots: Tuple[Path, ...]
    #: When the last complete run was committed.
    completed: Optional[datetime]
    files: int
    documents: int
    #: Documents that could not be read, or only in part.
    failed: int
    #: Number of documents of each type.
    types: Mapping[str, int]
    #: Size of the index in bytes.
    bytes: int
    paused: bool
    #: How many seconds ago everything was in the index that had changed until then, if the server knows that.
    complete_seconds_ago: Optional[float] = field(default=None, compare=False)
    #: All that ken says.
    raw: Mapping[str, Any] = field(repr=False, compare=False, default_factory=dict)

    @classmethod
    def from_json(cls, found: Object) -> Status:
        """Return the status that ken describes so."""
        return cls(
            Path(found["data"]),
            tuple(parse_path(root["path"]) for root in found["roots"]),
            None if found["completed"] is None else parse_time(found["completed"]),
            found["files"],
            found["documents"],
            found["failed"],
            found["types"],
            found["bytes"],
            found["paused"],
            found.get("complete_seconds_ago"),
            found,
        )


@dataclass(frozen=True)
class Run:
    """A run that brought the index up to date."""

    added: int
    changed: int
    moved: int
    gone: int
    unchanged: int
    #: Documents written.
    documents: int
    #: Documents whose content is missing or incomplete.
    failed: int
    #: Whether the run was stopped.
    interrupted: bool

    @classmethod
    def from_json(cls, found: Object) -> Run:
        """Return the run that ken sums up so."""
        return cls(*(found[name] for name in cls.__dataclass_fields__))

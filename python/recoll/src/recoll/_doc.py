"""``Doc``: the fields of a document, as texts."""

from __future__ import annotations

import hashlib
import os
from datetime import datetime
from typing import Any, Dict, List, Optional, Tuple, Union

import ken

#: Other names of fields, as in Recoll's file ``fields``.
_ALIASES = {
    "mimetype": "mtype",
    "mime": "mtype",
    "format": "mtype",
    "contenttype": "mtype",
    "subject": "title",
    "caption": "title",
    "dc:title": "title",
    "dc:subject": "title",
    "from": "author",
    "creator": "author",
    "dc:creator": "author",
    "to": "recipient",
    "keyword": "keywords",
    "tag": "keywords",
    "tags": "keywords",
    "fn": "filename",
    "summary": "abstract",
    "dc:summary": "abstract",
    "description": "abstract",
}

#: Fields that every document has; they are empty where nothing is known.
_STRUCT = ("url", "ipath", "mtype", "fbytes", "dbytes", "fmtime", "dmtime", "origcharset", "sig", "text")

#: Fields of ken that have another name in Recoll's module, or are part of another field.
_RENAMED = frozenset(
    ["title", "filename", "author", "to", "cc", "bcc", "keywords", "description", "date", "modified", "created", "size"]
)


def canonical(name: str) -> str:
    """Return the name under which a field is kept."""
    name = name.lower()
    return _ALIASES.get(name, name)


class Doc:
    """Doc()

    A document: what a query found, or what ``textextract`` read. Each field is an attribute and an item. Values are
    texts, also numbers and times (seconds since 1970); a field that the document does not have is None.
    """

    _meta: Dict[str, str]
    _url: bytes

    def __init__(self) -> None:
        object.__setattr__(self, "_meta", {})
        object.__setattr__(self, "_url", b"")

    def getbinurl(self) -> bytes:
        """getbinurl() -> binary url

        Returns the URL with the bytes of the path as they are in the file system.
        """
        return self._url

    def setbinurl(self, url: bytearray) -> None:
        """setbinurl(url)

        Sets the URL from bytes, as ``file://`` and a path.
        """
        if not isinstance(url, bytearray):
            raise TypeError("setbinurl needs byte array argument")
        object.__setattr__(self, "_url", bytes(url))
        self._meta["url"] = bytes(url).decode(errors="replace")

    def keys(self) -> List[str]:
        """keys() -> list of the names of fields"""
        return [name for name in self._meta if name != "text"]

    def items(self) -> Dict[str, str]:
        """items() -> dictionary of fields"""
        return {name: self._meta[name] for name in self.keys()}

    def get(self, key: str) -> Optional[str]:
        """get(key) -> value, or None"""
        if key == "mtime":
            return self._value("dmtime") or self._value("fmtime")
        if key == "size":
            return self._value("dbytes") or self._value("fbytes")
        if key == "xdocid":
            return self._number()
        return self._value(key)

    def _value(self, key: str) -> Optional[str]:
        return self._meta.get(key, "" if key in _STRUCT else None)

    def _number(self) -> str:
        """Return a number that is always the same for this document."""
        if "rcludi" not in self._meta:
            return "0"
        digest = hashlib.sha256(self._url + b"|" + self._meta["ipath"].encode()).digest()
        return str(int.from_bytes(digest[:4], "big"))

    def _set(self, name: str, value: Union[str, bytes]) -> None:
        if isinstance(value, bytes):
            value = value.decode(errors="replace")
        if not isinstance(value, str):
            raise AttributeError("value neither bytes nor str")
        name = canonical(name)
        self._meta[name] = value
        if name == "url":
            object.__setattr__(self, "_url", os.fsencode(value))

    def __getattr__(self, name: str) -> Optional[str]:
        # Python looks for these itself, to copy and to print.
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(canonical(name))

    def __setattr__(self, name: str, value: Union[str, bytes]) -> None:
        self._set(name, value)

    def __getitem__(self, key: Union[str, bytes]) -> Optional[str]:
        return self.get(canonical(key.decode() if isinstance(key, bytes) else key))

    def __setitem__(self, key: str, value: Union[str, bytes]) -> None:
        self._set(key, value)

    def __len__(self) -> int:
        return len(self.keys())

    def __bool__(self) -> bool:
        return bool(self._meta)

    #: A document is no sequence.
    __iter__ = None
    __contains__ = None


def place(doc: Doc) -> Tuple[str, str]:
    """Return the path of a document and its place in the file."""
    url = doc.getbinurl()
    return os.fsdecode(url[7:] if url.startswith(b"file://") else url), doc.get("ipath") or ""


def from_document(found: ken.Document, **more: Optional[str]) -> Doc:
    """Return a document of ken under Recoll's names of fields; ``more`` are fields that only its finder knows."""
    doc = Doc()
    path = os.fspath(found.path)
    url = b"file://" + os.fsencode(path)
    modified, date = _seconds(found.fields.get("modified")), _seconds(found.fields.get("date"))
    size = "" if found.size is None else str(found.size)
    is_file = not found.ipath
    title = " ".join(found.texts("title"))
    fields: Dict[str, Optional[str]] = {
        "url": url.decode(errors="replace"),
        "ipath": found.ipath,
        "rcludi": (os.fsencode(path) + b"|" + found.ipath.encode()).decode(errors="replace"),
        "mtype": found.mime,
        "fmtime": modified,
        "dmtime": date if date != modified else None,
        "mtime": date or modified,
        "fbytes": size,
        "pcbytes": size if is_file else None,
        "sig": f"{size}{(modified or '').lstrip('0')}" if is_file else "",
        "origcharset": "",
        "title": title,
        "caption": title or None,
        "filename": " ".join(found.texts("filename")[:1]) or None,
        "author": ", ".join(found.texts("author")) or None,
        "recipient": ", ".join(text for name in ("to", "cc", "bcc") for text in found.texts(name)) or None,
        "keywords": ", ".join(found.texts("keywords")) or None,
        "abstract": " ".join(found.texts("description")) or None,
        **more,
    }
    for name in found.fields:
        if name not in _RENAMED:
            fields[name] = " ".join(_text(value) for value in _several(found.fields[name]))
    doc._meta.update({name: value for name, value in fields.items() if value is not None})
    object.__setattr__(doc, "_url", url)
    return doc


def _several(value: Any) -> Tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _text(value: Any) -> str:
    return _seconds(value) or str(value)


def _seconds(value: Any) -> Optional[str]:
    """Return a time as Recoll writes it: seconds since 1970, with the digits that sort as text."""
    return f"{int(value.timestamp()):011}" if isinstance(value, datetime) else None

"""Identifiers of documents, as Recoll makes them for files."""

from __future__ import annotations

import base64
import hashlib
import os
from typing import Union

#: The longest identifier; the rest of a longer one is replaced by its hash.
_MAX_BYTES = 150
_HASH_BYTES = 22


def fs_udi(path: Union[str, bytes], ipath: Union[str, bytes] = b"") -> bytes:
    """Return the identifier of a document: its path, a bar, and its place in the file.

    >>> fs_udi("/home/anna/mail.mbox", "3")
    b'/home/anna/mail.mbox|3'
    """
    place = ipath.encode() if isinstance(ipath, str) else ipath
    udi = os.fsencode(path) + b"|" + place
    if len(udi) <= _MAX_BYTES:
        return udi
    kept = _MAX_BYTES - _HASH_BYTES
    return udi[:kept] + base64.b64encode(hashlib.md5(udi[kept:]).digest())[:_HASH_BYTES]

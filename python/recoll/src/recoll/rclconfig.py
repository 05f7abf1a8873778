"""Recoll's module for its configuration, with what ken knows of it."""

from __future__ import annotations

import mimetypes
import os
from typing import List, Optional

import ken

from ._db import data_folder


class RclConfig:
    """The settings of an index that programs ask for: its folders and its languages."""

    def __init__(self, argcnf: Optional[str] = None) -> None:
        self._client = ken.Client(data_folder(argcnf))
        self.confdir = os.path.abspath(self._client.data)
        self.keydir = ""

    def getConfDir(self) -> str:
        """Return the data folder of ken, which takes the place of Recoll's configuration."""
        return self.confdir

    def getDataDir(self) -> str:
        """Return the folder of this module."""
        return os.path.dirname(os.path.abspath(__file__))

    def getDbDir(self) -> str:
        """Return the folder of the index."""
        return os.path.join(self.confdir, "index")

    def setKeyDir(self, dir: str) -> None:
        """Set the folder that settings are asked for; ken's are the same in all."""
        self.keydir = dir

    def getConfParam(self, nm: str) -> Optional[str]:
        """Return a setting: topdirs, dbdir or indexstemminglanguages; None for others.

        ken finds forms of words by the languages of documents, so the languages are only a name.
        """
        if nm == "topdirs":
            return " ".join(map(_quoted, self._client.status().roots))
        if nm == "dbdir":
            return self.getDbDir()
        return "english" if nm == "indexstemminglanguages" else None

    def mimeType(self, path: str) -> Optional[str]:
        """Return the media type of a file by its name."""
        if os.path.isdir(path):
            return "inode/directory"
        if os.path.islink(path):
            return "inode/symlink"
        if os.path.exists(path):
            if not os.path.isfile(path):
                return "inode/x-fsspecial"
            if os.path.getsize(path) == 0:
                return "inode/x-empty"
        return mimetypes.guess_type(path)[0]


class RclExtraDbs:
    """The further indexes that Recoll's window has selected; ken has none."""

    def __init__(self, config: RclConfig) -> None:
        self.config = config

    def getActDbs(self) -> List[bytes]:
        """Return the folders of the indexes."""
        return []


def _quoted(path: os.PathLike[str]) -> str:
    """Return a path as it is in a list of Recoll's settings."""
    text = os.fspath(path)
    if not set(text) & set(' \t\\"'):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'

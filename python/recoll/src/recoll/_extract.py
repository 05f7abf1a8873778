"""``Extractor``: the text of a document, and its file."""

from __future__ import annotations

import mimetypes
import os
import tempfile
from typing import Iterator, Optional

import ken

from . import _doc
from ._doc import Doc


class Extractor:
    """Extractor(doc)

    An Extractor object reads a document: its text, or its file.
    """

    def __init__(self, doc: Doc) -> None:
        if not isinstance(doc, Doc):
            raise TypeError(f"Extractor_init() argument 1 must be recoll.Doc, not {type(doc).__name__}")
        self._doc = doc
        found = doc.__dict__.get("_found")
        self._client: ken.Client = found[0] if found else ken.Client()

    def textextract(self, ipath: str) -> Doc:
        """textextract(ipath)

        Returns a doc object whose text is the text of the document, always as text/plain.
        """
        path, _ = _doc.place(self._doc)
        found = next((one for one in self._read(path, ipath) if one.ipath == ipath), None)
        if found is None:
            raise AttributeError(f'internfile failure: "{path}" has no member "{ipath}"')
        text = found.text or ""
        result = _doc.from_document(found, text=text, dbytes=str(len(text.encode(errors="replace"))))
        result._meta["mtype"] = "text/plain"
        return result

    def _read(self, path: str, ipath: str) -> Iterator[ken.Document]:
        """Yield the document of the index, or what is in the file if the index does not have it."""
        try:
            yield self._client.get(path, ipath)
            return
        except ken.Error:
            pass
        try:
            yield from self._client.extract(path)
        except ken.Error as error:
            raise AttributeError(f"internfile failure: {error}") from error

    def idoctofile(self, ipath: str, mimetype: str, ofilename: Optional[str] = None) -> bytes:
        """idoctofile(ipath='', mimetype='', ofilename='')

        Writes a document into a file in its own format, and returns the path of that file: ofilename, or a new file
        that the caller removes. Without ken serve, members of files must be attachments of messages.
        """
        path, _ = _doc.place(self._doc)
        target = ofilename or self._new_file(path, ipath, mimetype)
        try:
            self._client.save(path, target, ipath)
        except (OSError, ken.Error) as error:
            if not ofilename:
                os.unlink(target)
            raise AttributeError(f"interntofile failure: {error}") from error
        return os.fsencode(target)

    def _new_file(self, path: str, ipath: str, mimetype: str) -> str:
        suffix = mimetypes.guess_extension(mimetype) or "" if ipath else os.path.splitext(path)[1]
        handle, name = tempfile.mkstemp(prefix="kentmp", suffix=suffix)
        os.close(handle)
        return name

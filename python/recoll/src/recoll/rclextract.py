"""Recoll's module for the text of documents."""

from ._extract import Extractor

__all__ = ["Extractor"]

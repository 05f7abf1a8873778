"""The same names as the package, for ``from recoll import recoll``."""

from . import Db, Doc, Extractor, QResultStore, QRSDoc, Query, SearchData, connect

__all__ = ["Db", "Doc", "Extractor", "QRSDoc", "QResultStore", "Query", "SearchData", "connect"]

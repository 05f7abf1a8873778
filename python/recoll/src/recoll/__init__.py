"""The Python module of Recoll, answered by ken.

It has the names and the behaviour of Recoll's own module (manual 1.40, "Python API"), so that programs written for it
search ken's index. Writing raises :class:`NotImplementedError`: ken's index follows the files.
"""

from ._db import Db, connect
from ._doc import Doc
from ._extract import Extractor
from ._query import Query
from ._searchdata import SearchData
from ._store import QResultStore, QRSDoc

__all__ = ["Db", "Doc", "Extractor", "QRSDoc", "QResultStore", "Query", "SearchData", "connect"]

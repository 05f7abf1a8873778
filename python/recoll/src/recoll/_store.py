"""``QResultStore``: the fields of all results of a query, kept."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Optional, Sequence, Union

from ._query import Query


class QResultStore:
    """QResultStore()

    A QResultStore stores the results of a query.
    """

    def __init__(self) -> None:
        self._docs: List[Dict[str, str]] = []

    def storeQuery(self, query: Query, fieldspec: Union[str, Sequence[str]] = (), isinc: Any = False) -> None:
        """storeQuery(query, fieldspec=[], isinc=False)

        Stores the results of a query: only these fields with isinc, else all but these.
        """
        if not isinstance(query, Query):
            raise TypeError("argument 1 must be recoll.Query")
        names = {fieldspec} if isinstance(fieldspec, str) else set(fieldspec)
        result = query._executed()
        number = 0
        self._docs = []
        doc = result.doc(number)
        while doc is not None:
            fields = doc.items()
            self._docs.append({name: fields[name] for name in fields if not names or (name in names) == bool(isinc)})
            number += 1
            doc = result.doc(number)

    def getField(self, index: int, fieldname: str) -> Optional[bytes]:
        """getField(index, fieldname)

        Returns the value of a field of a result, or None.
        """
        if not 0 <= index < len(self._docs):
            return None
        value = self._docs[index].get(fieldname)
        return None if value is None else os.fsencode(value)

    def __len__(self) -> int:
        return len(self._docs)

    def __getitem__(self, index: int) -> QRSDoc:
        if not 0 <= index < len(self._docs):
            raise IndexError("index out of range")
        return QRSDoc(self, index)


class QRSDoc:
    """QRSDoc(resultstore, index)

    A QRSDoc gives access to one result of a store.
    """

    def __init__(self, resultstore: QResultStore, index: int) -> None:
        self._store = resultstore
        self._index = index

    def __getitem__(self, name: str) -> Optional[str]:
        value = self._store.getField(self._index, name)
        return None if value is None else value.decode(errors="backslashreplace")

"""``SearchData``: a query made of clauses, and how it is written in ken's language."""

from __future__ import annotations

import re
from typing import Any, List, NamedTuple, Optional

#: Recoll's names of fields that ken calls otherwise.
_FIELDS = {"recipient": "recip", "mtype": "mime", "mimetype": "mime", "caption": "title", "abstract": "description"}

_WORDS = re.compile(r'"([^"]*)"|(\S+)')


class _Clause(NamedTuple):
    """How the words of a clause are compared."""

    field: str
    flags: str
    is_start: bool
    is_end: bool

    def word(self, text: str, is_phrase: bool = False, tail: str = "") -> str:
        """Return a word or a phrase in ken's language."""
        text = ("^" if self.is_start else "") + _escaped(text) + ("$" if self.is_end else "")
        if not (is_phrase or self.flags or tail) and re.fullmatch(r"[\w*?^$]+", text):
            # Only a plain word is never an operator.
            return f"\\{text}" if text in ("AND", "OR", "XOR", "NOT", "NEAR", "ADJ") else text
        return f'"{text}"{self.flags}{tail}'

    def within(self, text: str) -> str:
        """Return a text for the field of the clause."""
        return f"{self.field}:({text})" if self.field else f"({text})"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


class SearchData:
    """SearchData([type=AND|OR], [stemlang=somelanguage|null])

    A SearchData object describes a query: a chain of clauses, all or any of which must match.
    """

    def __init__(self, type: Optional[str] = None, stemlang: Optional[str] = None) -> None:
        name = (type or "and").lower()
        if name not in ("and", "or"):
            raise AttributeError("Bad tp arg")
        self._is_any = name == "or"
        self._forms = stemlang is None or bool(stemlang)
        self._clauses: List[str] = []

    def addclause(
        self,
        type: str,
        qstring: str,
        slack: int = 0,
        field: str = "",
        stemming: Any = 1,
        subsearch: Optional[SearchData] = None,
        exclude: Any = 0,
        anchorstart: Any = 0,
        anchorend: Any = 0,
        casesens: Any = 0,
        diacsens: Any = 0,
    ) -> None:
        """addclause(type='and'|'or'|'filename'|'phrase'|'near'|'path'|'sub', qstring=string, slack=int, field=string,
        stemming=1|0, subsearch=SearchData, exclude=0|1, anchorstart=0|1, anchorend=0|1, casesens=0|1, diacsens=0|1)

        Adds a clause: words of which all or any must match, words close together, a pattern of file names, a folder, or
        another SearchData object. exclude turns the clause around.
        """
        flags = ("" if stemming else "l") + ("C" if casesens else "") + ("D" if diacsens else "")
        clause = _Clause(_FIELDS.get(field or "", field or ""), flags, bool(anchorstart), bool(anchorend))
        text = _written(type.lower(), qstring, slack, clause, subsearch)
        if not text:
            return
        self._clauses.append(f"-({text})" if exclude else text)

    def _query(self) -> str:
        return (" OR " if self._is_any else " AND ").join(f"({clause})" for clause in self._clauses) or "*"


def _written(kind: str, text: str, slack: int, clause: _Clause, sub: Optional[SearchData]) -> str:
    """Return a clause in ken's language."""
    if kind in ("and", "or"):
        words = [clause.word(found[1] or found[2], found[1] is not None) for found in _WORDS.finditer(text)]
        return clause.within((" OR " if kind == "or" else " ").join(words)) if words else ""
    if kind == "phrase":
        return clause.within(clause.word(text, True, f"o{slack}" if slack else ""))
    if kind == "near":
        return clause.within(clause.word(text, True, f"po{slack}" if slack else "p"))
    if kind == "filename":
        return " ".join(f'filename:"{_escaped(name)}"' for name in text.split())
    if kind == "path":
        return f'dir:"{_escaped(text)}"'
    if kind == "sub":
        if sub is None:
            raise AttributeError("a clause of type sub needs subsearch")
        return sub._query()
    raise AttributeError("Bad tp arg")

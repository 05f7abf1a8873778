"""``Query``: a search and its results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional, Sequence, Tuple

import ken

from . import _doc, _highlight, _plan
from ._doc import Doc
from ._result import Result, order
from ._searchdata import SearchData

if TYPE_CHECKING:
    from ._db import Db


class Query:
    """Recoll Query objects are used to execute index searches.

    They must be created by the Db.query() method.
    """

    #: The number of documents that ``fetchmany`` fetches.
    arraysize: int = 1
    #: The position of the next document to fetch.
    rownumber: int = -1

    def __init__(self) -> None:
        self._rowcount = -1
        self._connection: Optional[Db] = None
        self._order: Tuple[str, Any] = ("", True)
        self._result: Optional[Result] = None

    @classmethod
    def _of(cls, connection: Db) -> Query:
        query = cls()
        query._connection = connection
        return query

    @property
    def connection(self) -> Db:
        """The index that is searched."""
        if self._connection is None:
            raise AttributeError("connection")
        return self._connection

    @property
    def rowcount(self) -> int:
        """The number of results of the last execution."""
        return self._rowcount

    def close(self) -> None:
        """close(). The object is unusable after the call."""
        self._connection = None
        self._result = None

    def sortby(self, field: str, ascending: Any = True) -> None:
        """sortby(field=fieldname, ascending=True)

        Sorts results by a field. It must be called before the search is executed.
        """
        self._order = (field, ascending)

    def execute(
        self,
        query_string: str,
        stemming: Any = 1,
        stemlang: str = "english",
        fetchtext: Any = False,
        collapseduplicates: Any = False,
    ) -> int:
        """execute(query_string, stemming=1|0, stemlang="stemming language", fetchtext=False, collapseduplicates=False)

        Searches for a query in Recoll's language, and returns the number of results.
        """
        forms = bool(stemming) and bool(stemlang)
        return self._run(query_string, "recoll", forms, fetchtext, collapseduplicates)

    def executesd(self, searchdata: SearchData, fetchtext: Any = False, collapseduplicates: Any = False) -> int:
        """executesd(SearchData, fetchtext=False, collapseduplicates=False)

        Searches for what a SearchData object describes, and returns the number of results.
        """
        if not isinstance(searchdata, SearchData):
            raise TypeError("argument 1 must be recoll.SearchData")
        return self._run(searchdata._query(), "ken", searchdata._forms, fetchtext, collapseduplicates)

    def _run(self, query: str, syntax: str, forms: bool, fetchtext: Any, collapse: Any) -> int:
        if self._connection is None:
            raise AttributeError("query")
        sort, reverse = order(*self._order)
        options = {
            "syntax": syntax,
            "forms": forms,
            "sort": sort,
            "reverse": reverse,
            "group": "content" if collapse else None,
        }
        try:
            self._result = Result(self.connection._clients, query, options, bool(fetchtext))
        except ken.Error as error:
            raise ValueError(str(error)) from error
        self._rowcount = self._result.n_hits
        self.rownumber = 0
        return self._rowcount

    def _executed(self) -> Result:
        if self._connection is None:
            raise AttributeError("query")
        if self._result is None:
            raise ValueError("Query not initialized")
        return self._result

    def fetchone(self) -> Optional[Doc]:
        """fetchone() -> Doc

        Fetches the next result; None after the last.
        """
        if self._connection is None:
            raise AttributeError("query")
        if self._result is None or self.rownumber < 0:
            return None
        doc = self._result.doc(self.rownumber)
        if doc is not None:
            self.rownumber += 1
        return doc

    def next(self) -> Optional[Doc]:
        """next() -> Doc

        Fetches the next result; None after the last.
        """
        return self.fetchone()

    def fetchmany(self, size: int = 0) -> List[Doc]:
        """fetchmany([size=query.arraysize]) -> Doc list

        Fetches the next results.
        """
        found = []
        for _ in range(size or self.arraysize):
            doc = self.fetchone()
            if doc is None:
                break
            found.append(doc)
        return found

    def __iter__(self) -> Query:
        return self

    def __next__(self) -> Doc:
        doc = self.fetchone()
        if doc is None:
            raise StopIteration
        return doc

    def scroll(self, position: int, mode: str = "relative") -> int:
        """scroll(position, [, mode='relative'/'absolute' ]) -> new position

        Changes which result is fetched next.
        """
        if mode.lower() not in ("relative", "absolute"):
            raise ValueError("bad mode value")
        if self._connection is None:
            raise AttributeError("null query")
        new = position if mode.lower() == "absolute" else self.rownumber + position
        if not 0 <= new < self._rowcount:
            raise IndexError("position out of range")
        self.rownumber = new
        return new

    def getxquery(self) -> str:
        """getxquery() -> str

        Returns how the query was understood, in ken's words.
        """
        return f"Query({self._executed().explanation.query})"

    def getgroups(self) -> List[Tuple[List[str], List[str]]]:
        """getgroups() -> a list of pairs

        The first entry of each pair lists words of the query, the second the terms that they stand for.
        """
        return [(list(group.words), [pattern.written for pattern in group.patterns]) for group in self._groups()]

    def _groups(self) -> List[_plan.Group]:
        return _plan.groups(self._executed().explanation.plan)

    def highlight(self, text: str, ishtml: Any = 0, eolbr: Any = 1, methods: Any = None) -> str:
        """highlight(text, ishtml = 0/1, eolbr = 0/1, methods = object)

        Returns the text as HTML with marks around the matches of the query. ishtml says that it is HTML already, eolbr
        that ends of lines become <br>. methods has startMatch(i) and endMatch(), which return the marks; i is the
        number of the pair of getgroups().
        """
        groups = self._groups()
        marks = _highlight.Marks(methods)
        if ishtml:
            return _highlight.markup(text, groups, marks)
        marked = _highlight.plain(text, _plan.find(groups, _plan.words(text)), marks)
        return marked.replace("\n", "<br>\n") if eolbr else marked

    def makedocabstract(self, doc: Doc, methods: Any = None, nohl: Any = False) -> str:
        """makedocabstract(doc, methods = object, nohl=False)

        Returns passages of a document around the matches, with their pages or lines. nohl leaves out the marks if there
        are no methods.
        """
        if not isinstance(doc, Doc):
            raise TypeError("argument 1 must be recoll.Doc")
        result = self._executed()
        marks = _highlight.Marks(methods, nohl)
        found = doc.__dict__.get("_found")
        passages: Sequence[ken.Snippet] = found[1].snippets if found else self._places(result, doc)[:3]
        n_chars, n_words = self.connection._abstract
        parts = []
        for passage in passages:
            for cut in _cut(passage, n_words):
                where = f"P. {cut.page}" if cut.page is not None else f"L. {cut.line}"
                parts.append(f" [{where}] {self._marked(cut, marks, methods)}...")
                n_chars -= len(cut.text)
                if n_chars <= 0:
                    return "".join(parts)
        return "".join(parts)

    def getsnippets(
        self,
        doc: Doc,
        methods: Any = None,
        maxoccs: int = -1,
        ctxwords: int = -1,
        sortbypage: Any = False,
        nohl: Any = False,
    ) -> List[Tuple[int, str, str]]:
        """getsnippets(doc, maxoccs = -1, ctxwords = -1, sortbypage=False, methods = object, nohl=False)

        Returns passages of a document around the matches: their page (0 without pages), a term, and the text. They are
        in the order of the document, so sortbypage changes nothing.
        """
        if not isinstance(doc, Doc):
            raise TypeError("argument 1 must be recoll.Doc")
        result = self._executed()
        marks = _highlight.Marks(methods, nohl)
        n_words = ctxwords if ctxwords >= 0 else self.connection._abstract[1]
        found: List[Tuple[int, str, str]] = []
        for passage in self._places(result, doc):
            for cut in _cut(passage, n_words):
                if 0 <= maxoccs <= len(found):
                    return found
                first = cut.text[slice(*cut.highlights[0])]
                term = (first.split() or [first])[0]
                found.append((cut.page or 0, term, self._marked(cut, marks, methods)))
        return found

    def _places(self, result: Result, doc: Doc) -> List[ken.Place]:
        path, ipath = _doc.place(doc)
        found = doc.__dict__.get("_found")
        client = found[0] if found else result.clients[0]
        location = f"{path}|{ipath}" if ipath else path
        try:
            places = list(client.places(result.query, location, **result.what))
        except ken.Error as error:
            raise ValueError(str(error)) from error
        return [place for place in places if place.ipath == ipath]

    def _marked(self, cut: ken.Snippet, marks: _highlight.Marks, methods: Any) -> str:
        groups = self._groups() if methods is not None else []
        matches = [_plan.Match(*at, _group(groups, cut.text[slice(*at)])) for at in cut.highlights]
        return _highlight.plain(cut.text, matches, marks)


def _group(groups: Sequence[_plan.Group], text: str) -> int:
    """Return the number of the group that a match is of."""
    words = [word.folded for word in _plan.words(text)]
    for number, group in enumerate(groups):
        if all(any(pattern.matches(word) for pattern in group.patterns) for word in words):
            return number
    return 0


def _cut(passage: ken.Snippet, n_words: int) -> List[ken.Snippet]:
    """Return the parts of a passage with so many words around matches; all of it if that is not limited."""
    if not passage.highlights:
        return []
    if n_words < 0:
        return [passage]
    words = _plan.words(passage.text)
    parts: List[List[Any]] = []
    for at, (start, end) in enumerate(passage.highlights):
        before = [word for word in words if word.end <= start][-n_words or len(words) :]
        after = [word for word in words if word.start >= end][:n_words]
        first = before[0].start if before else start
        last = after[-1].end if after else end
        if parts and first <= parts[-1][1]:
            parts[-1][1] = last
            parts[-1][2].append(at)
        else:
            parts.append([first, last, [at]])
    return [_part(passage, first, last, places) for first, last, places in parts]


def _part(passage: ken.Snippet, first: int, last: int, places: Sequence[int]) -> ken.Snippet:
    highlights = tuple((a - first, b - first) for a, b in (passage.highlights[at] for at in places))
    return ken.Snippet(passage.text[first:last], highlights, passage.line, passage.page)

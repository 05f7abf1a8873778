"""Asks by running the program ``ken``, whose answers are lines of JSON."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Dict, Iterator, List, Optional, Sequence, Tuple

from .errors import Error, NotFound, Unavailable
from .records import Contact, Line, Run, Status, Term, Thread
from .request import AnyPath, Search, exact, written
from .results import (
    Document,
    Explanation,
    Facet,
    FacetValue,
    Hit,
    Object,
    Place,
    Results,
    Suggestion,
    only,
)

#: The exit code of ken if it found nothing.
_NOTHING = 1


class Program:
    """The program, with the options that all its commands take."""

    def __init__(self, path: Optional[AnyPath], data: Optional[AnyPath], config: Optional[AnyPath]) -> None:
        self._path = path
        self._options: List[str] = []
        for option, value in (("--data", data), ("--config", config)):
            if value is not None:
                self._options += [option, os.fspath(value)]

    def _find(self) -> str:
        named = self._path or os.environ.get("KEN") or "ken"
        found = shutil.which(os.fspath(named))
        if found is None:
            raise Unavailable(
                f'the program "{named}" is not there',
                hint="install ken, or name it in the environment: KEN=/path/to/ken",
            )
        return found

    def lines(self, arguments: Sequence[str], path: Optional[AnyPath] = None) -> Iterator[bytes]:
        """Run a command, and yield the lines of its output as they come.

        The command ends when the iterator is closed. ``path`` is the file that errors are about.
        """
        command, *rest = arguments
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                [self._find(), command, *self._options, *rest],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
            with process:
                assert process.stdout is not None
                try:
                    yield from process.stdout
                except BaseException:
                    process.kill()
                    raise
            if process.returncode not in (0, _NOTHING):
                raise _error(process.returncode, errors, path)

    def objects(self, arguments: Sequence[str], path: Optional[AnyPath] = None) -> Iterator[Dict[str, Any]]:
        """Run a command that prints JSON, and yield its objects as they come."""
        for line in self.lines(arguments, path):
            found = json.loads(line)
            # The failure of the command, which is raised at its end.
            if found.keys() != {"v", "error"}:
                yield found

    def search(self, request: Search) -> Results:
        """Return a page of hits."""
        results = Results(_count=lambda: self.count(request))
        if request.limit == 0:
            # The program takes 0 for all.
            return results
        for found in self.objects(_search(request)):
            if "rank" in found:
                results.hits.append(Hit.from_json(found))
            elif "plan" in found:
                results.explanation = Explanation.from_json(found)
            elif "matched" in found:
                results.matched, results.with_all = found["matched"], found["with_all"]
                results.missing = tuple(found["missing"])
            else:
                results.did_you_mean = tuple(
                    Suggestion(of["query"], of["documents"]) for of in found.get("did_you_mean", ())
                )
        n_hits = len(results.hits)
        if results.matched == "all" and (request.limit is None or 0 < n_hits < request.limit):
            results._total = request.offset + n_hits
        return results

    def hits(self, request: Search) -> Iterator[Hit]:
        """Yield all hits."""
        for found in self.objects(_search(replace(request, limit=None))):
            if "rank" in found:
                yield Hit.from_json(found)

    def count(self, request: Search) -> int:
        """Return the number of hits."""
        arguments = ["search", "--count", *_what(request), "--", request.query]
        return int(b"".join(self.lines(arguments)))

    def facets(self, request: Search, by: Sequence[str], depth: int, limit: Optional[int]) -> List[Facet]:
        """Return how many hits have which values."""
        options = ["--json", "--facets", ",".join(by), "--depth", str(depth), "--limit", str(limit or 0)]
        values: Dict[str, List[FacetValue]] = {name: [] for name in by}
        for found in self.objects(["search", *options, *_what(request), "--", request.query]):
            values[found["facet"]].append(FacetValue(found["value"], found["count"]))
        return [Facet(name, tuple(of)) for name, of in values.items()]

    def places(self, request: Search, path: AnyPath) -> Iterator[Place]:
        """Yield the matches in one document."""
        options = ["--json", "--in", os.fspath(path), "--syntax", request.syntax]
        arguments = ["search", *options, *_reading(request), "--", request.query]
        return map(Place.from_json, self.objects(arguments, path))

    def get(self, path: Path, ipath: str) -> Document:
        """Return a document of the index with its text."""
        query = exact(written(path), ipath)
        request = Search(query, limit=None, snippets=0, text=True, sort="path")
        return only(path, ipath, self.hits(request))

    def save(self, path: Path, to: Path, ipath: str) -> None:
        """Write a document in its own format into a file."""
        if not ipath:
            shutil.copyfile(path, to)
            return
        message, _, _ = ipath.rpartition("|")
        for found in self.objects(["mail", "show", "--json", "--", exact(written(path), message)], path):
            for part in found["parts"]:
                if part["ipath"] == ipath and found["path"] == written(path):
                    return self._save_part(exact(written(path), found["ipath"]), part["number"], to)
        raise NotFound(f'"{path}|{ipath}" is no attachment of a message of the index', path=path)

    def _save_part(self, message: str, number: str, to: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            arguments = ["mail", "save", "--to", folder, "--part", number, "--", message]
            list(self.lines(arguments))
            (saved,) = os.listdir(folder)
            shutil.move(os.path.join(folder, saved), to)

    def extract(self, path: AnyPath) -> Iterator[Document]:
        """Yield the documents in a file, as ken reads it now; the file itself is the last."""
        document = None
        try:
            for found in self.objects(["extract", "--json", "--", os.fspath(path)], path):
                document = Document.from_json(found, Path(path))
                yield document
        except Error:
            # A file that could be read in part has said so.
            if document is None or document.failure is None:
                raise

    def grep(self, pattern: str, paths: Sequence[AnyPath], options: Sequence[str]) -> Iterator[Line]:
        """Yield the lines that match."""
        named = [os.fspath(path) for path in paths]
        arguments = ["grep", "--json", "--no-config", *options, "--regexp", pattern, "--", *(named or ["."])]
        for found in self.objects(arguments):
            if found["type"] == "match":
                yield Line.from_json(found["data"])

    def terms(
        self, pattern: str, fields: Sequence[str], sort: str, limit: Optional[int], by_field: bool
    ) -> Iterator[Term]:
        """Yield terms of the index."""
        options = ["--json", "--sort", sort, "--limit", str(limit or 0)]
        options += [f"--field={name}" for name in fields] + ["--by-field"] * by_field
        return map(Term.from_json, self.objects(["terms", *options, "--", pattern]))

    def threads(self, query: str, limit: Optional[int]) -> Iterator[Thread]:
        """Yield conversations, the newest first."""
        options = ["threads", "--json", "--skip-dups", "--limit", str(limit or 0)]
        return map(Thread.from_json, self.objects(["mail", *options, "--", query]))

    def contacts(self, pattern: str, personal: bool, after: Optional[str], limit: Optional[int]) -> Iterator[Contact]:
        """Yield contacts, the most important first."""
        options = ["contacts", "--json", "--limit", str(limit or 0)] + ["--personal"] * personal
        options += ["--after", after] if after else []
        return map(Contact.from_json, self.objects(["mail", *options, "--", pattern]))

    def status(self) -> Status:
        """Return what is in the index."""
        return Status.from_json(next(self.objects(["status", "--json"])))

    def index(self, paths: Sequence[AnyPath], options: Sequence[str]) -> Iterator[Tuple[Object, Optional[Run]]]:
        """Bring the index up to date; yield what happens, and at the end the sum of it."""
        named = [os.fspath(path) for path in paths]
        for event in self.objects(["index", "--json", *options, "--", *named]):
            yield event, Run.from_json(event) if event["event"] == "summary" else None


def _search(request: Search) -> List[str]:
    options = ["--json", "--limit", str(request.limit or 0), "--offset", str(request.offset)]
    options += ["--sort", request.sort] + ["--reverse"] * request.reverse
    options += ["--snippets", str(request.snippets)] if request.snippets else ["--no-snippet"]
    options += ["--text"] * request.text + ["--explain"] * request.explain + ["--fresh"] * request.fresh
    query = [request.query] if request.query or request.like is None else []
    return ["search", *options, *_what(request), "--", *query]


def _what(request: Search) -> List[str]:
    """Return the options that say what is found."""
    options = ["--group", request.group or "none"] if request.group != "content" else ["--unique"]
    options += ["--syntax", request.syntax] if request.syntax != "ken" else []
    options += ["--like", os.fspath(request.like)] if request.like is not None else []
    return options + _reading(request)


def _reading(request: Search) -> List[str]:
    options = [f"--{request.words}"] if request.words else []
    options += ["--lenient"] * request.lenient + ["--prefix-last"] * request.prefix_last
    return options + ([] if request.forms else ["--set", "analysis.stem=[]"])


def _error(code: int, errors: IO[bytes], path: Optional[AnyPath]) -> Error:
    """Return what the program says on standard error."""
    errors.seek(0)
    said = errors.read().decode(errors="replace").strip()
    message, _, hint = said.partition("\nhint: ")
    for prefix in ("ken: ", "error: "):
        if message.startswith(prefix):
            message = message[len(prefix) :]
    if code < 0:
        message = message or f"signal {-code} ended the program"
    return Error(
        message or f"the program ended with {code}",
        hint=hint or None,
        path=None if path is None else Path(path),
        exit_code=code,
    )

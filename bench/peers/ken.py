"""ken itself."""

import json
import os

from lib.process import Command, answer, output
from peers import disk_bytes, empty, recoll_words

MODES = {"top10": ["--limit", "10"], "paths": ["--paths", "--limit", "2000"]}


class Ken:
    name = "ken"

    def __init__(self, home, program="ken"):
        self.home = home
        self.program = program
        self.roots = []

    def version(self):
        return output(Command([self.program, "--version"])).strip()

    def prepare(self, roots):
        empty(self.home)
        self.roots = list(roots)

    def index(self):
        # Without a terminal it would let other programs go first.
        return Command([*self._ken(), "index", "--fast", *self.roots])

    def documents(self):
        return json.loads(output(Command([*self._ken(), "status", "--json"])))["documents"]

    def index_bytes(self):
        return disk_bytes(self.home)

    def search(self, query, mode):
        return Command([*self._ken(), "search", *MODES[mode], "--", query], ok=(0, 1))

    def question(self, query, order):
        """The command for a question of the suite `latency`."""
        more = {"date": ["--sort", "date"], "facets": ["--facets", "type,ext"]}.get(order, [])
        return Command([*self._ken(), "search", "--limit", "10", *more, "--", query], ok=(0, 1))

    def hits(self, query):
        return int(output(Command([*self._ken(), "search", "--count", "--", query], ok=(0, 1))))

    def ranked(self, words, limit, *more):
        """The paths of hits, best first."""
        options = [*more, "--json", "--no-snippet", "--limit", str(limit)]
        command = Command([*self._ken(), "search", *options, "--", words], ok=(0, 1))
        hits = (json.loads(line) for line in output(command).splitlines())
        return [hit["path"] for hit in hits if "path" in hit]

    def text(self, path):
        """The text of a file and of all that is inside it; empty if nothing could be read."""
        return "\n".join(document["body"] for document in self.extracted(path))

    def member_paths(self, path):
        """The member paths of all that is inside a file."""
        return [document["ipath"] for document in self.extracted(path)]

    def extracted(self, path):
        """What `ken extract` prints of a file and of all that is inside it."""
        program = [self.program, "--config", os.devnull, "extract", "--json", path]
        lines = answer(Command(program, ok=(0, 1, 2))).output.splitlines()
        return [json.loads(line) for line in lines]

    def _ken(self):
        # No configuration of the user: only defaults are measured.
        return [self.program, "--config", os.devnull, "--data", self.home]


class KenAsRecollq(Ken):
    """ken under the name of recollq: it prints what recollq prints, hits without passages."""

    name = "ken recollq"

    def question(self, query, order):
        more = ["-S", "mtime", "-D"] if order == "date" else []
        return Command([*self._ken(), "recollq", "-n", "10", *more, recoll_words(query)], ok=(0, 1))

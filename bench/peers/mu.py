"""mu, the mail indexer behind mu4e."""

import os
import re

from lib.process import Command, output
from peers import disk_bytes, empty

MODES = {"top10": ["--maxnum", "10"], "paths": ["--fields", "l", "--maxnum", "2000"]}


class Mu:
    name = "mu"

    def __init__(self, home):
        self.home = home

    def version(self):
        return output(Command(["mu", "--version"])).splitlines()[0]

    def prepare(self, roots):
        (maildir,) = roots
        empty(self.home)
        output(Command(["mu", "init", f"--maildir={maildir}", self._muhome()]))

    def index(self):
        return Command(["mu", "index", "--quiet", self._muhome()])

    def documents(self):
        text = output(Command(["mu", "info", self._muhome()]))
        return int(re.search(r"messages in store\s*\|\s*(\d+)", text).group(1))

    def index_bytes(self):
        return disk_bytes(os.path.join(self.home, "xapian"))

    def search(self, query, mode):
        # mu ends with 2 (4 in older versions) when nothing matches.
        return Command(["mu", "find", self._muhome(), *MODES[mode], query], ok=(0, 2, 4))

    def question(self, query, order):
        """The command for a question of the suite `latency`."""
        more = ["--sortfield=date", "--reverse"] if order == "date" else []
        words = query.replace("title:", "subject:")
        command = ["mu", "find", self._muhome(), "--maxnum", "10", *more, words]
        return Command(command, ok=(0, 2, 4))

    def hits(self, query):
        command = ["mu", "find", self._muhome(), "--fields", "l", query]
        return output(Command(command, ok=(0, 2, 4))).count("\n")

    def _muhome(self):
        return f"--muhome={self.home}"

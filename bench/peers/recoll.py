"""Recoll: recollindex and recollq, in its default and in other thread arrangements."""

import os
import re

from lib.process import Command, output
from peers import disk_bytes, empty, recoll_words

# Arrangements of Recoll's three stages (extract, split into terms, write), by
# the settings of its manual. The write stage can have one thread only.
ARRANGEMENTS = {
    "default": "",
    "serial": "thrQSizes = -1 -1 -1",
    "assembly line": "thrQSizes = 2 2 2\nthrTCounts = 1 1 1",
    "multi-stage": "thrQSizes = 2 2 2\nthrTCounts = {cores} 2 1",
    "linear": "thrQSizes = 2 -1 -1\nthrTCounts = {cores} 1 1",
}

# Recoll's default skips some names (tmp, cache*, …): nothing is to be skipped
# here, so that it indexes all that ken indexes. All else is as it comes.
CONFIGURATION = """\
topdirs = {roots}
skippedNames =
loglevel = 2
logfilename = {home}/log
{arrangement}
"""

MODES = {"top10": ["-n", "10"], "paths": ["-b", "-n", "2000"]}


class Recoll:
    def __init__(self, home, arrangement="default"):
        self.home = home
        self.arrangement = arrangement

    @property
    def name(self):
        return "recoll" if self.arrangement == "default" else f"recoll ({self.arrangement})"

    def version(self):
        text = output(Command(["recollindex", "-h"], ok=(0, 1)))
        found = re.search(r"Recoll version: (.*)", text)
        return found.group(1) if found else "unknown"

    def prepare(self, roots):
        empty(self.home)
        with open(os.path.join(self.home, "recoll.conf"), "w") as file:
            file.write(CONFIGURATION.format(
                roots=" ".join(f'"{root}"' for root in roots),
                home=self.home,
                arrangement=ARRANGEMENTS[self.arrangement].format(cores=os.cpu_count()),
            ))

    def index(self):
        return Command(["recollindex", "-c", self.home], self._environment())

    def documents(self):
        # Folders are documents of Recoll, too; they are not counted.
        return self.hits("mime:* -mime:inode/directory")

    def index_bytes(self):
        return disk_bytes(os.path.join(self.home, "xapiandb"))

    def search(self, query, mode):
        return Command(["recollq", "-c", self.home, *MODES[mode], query], self._environment())

    def question(self, query, order):
        """The command for a question of the suite `latency`."""
        more = ["-S", "mtime", "-D"] if order == "date" else []
        return Command(["recollq", "-c", self.home, "-n", "10", *more, recoll_words(query)], self._environment(), ok=(0, 1))

    def hits(self, query):
        command = ["recollq", "-c", self.home, "-E", "-n", "1", query]
        found = re.search(r"^(\d+) results", output(Command(command, self._environment())), re.M)
        return int(found.group(1)) if found else 0

    def ranked(self, words, limit):
        """The paths of hits, best first."""
        command = ["recollq", "-c", self.home, "-b", "-n", str(limit), words]
        lines = output(Command(command, self._environment(), ok=(0, 1))).splitlines()
        return [line.removeprefix("file://") for line in lines]

    def _environment(self):
        # -c does not reach the filters: they are told by the environment.
        return {"RECOLL_CONFDIR": self.home}

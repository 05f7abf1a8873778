"""ken beside an earlier ken, in turns: what a release costs or saves.

The work of the suites html, maildir, grep, indexed and latency, by `--ken` and by `--before`: indexing from
nothing, runs in which nothing changed, a new message, patterns of bench/patterns.tsv without an index, with
stamps checked and with the index trusted, and questions as commands. Each program has an index of its own. The
two run one behind the other, and change places after each pair; a figure is the median of the pairs' ratios
(the new one's time by the old one's), so an hour in which the machine is slow counts for both.
"""

import os
import shutil
import time

from lib import mailgen, process, stats
from lib.contest import progress
from lib.process import Command
from lib.report import Goal, Result
from peers.ken import Ken
from suites.grep import ANY_END, patterns, tree
from suites.search import DESK_QUERIES, MAIL_QUERIES

MAX_RATIO = 1.03
# Pairs of short runs for each of `--rounds`.
SHORT = 5
MODES = {"grep": ["--no-index"], "indexed, stamps": [], "indexed, trusted": ["--trust-index"]}


def run(bench):
    if not bench.before:
        raise SystemExit("bench: the suite turns needs --before PATH, an earlier ken")
    turns = Turns(bench)
    html, mail = bench.corpora.html(bench.quick), bench.corpora.mail_with_attachments(bench.quick)
    turns.index("html", [html.path])
    turns.questions("latency, pages", DESK_QUERIES)
    turns.index("maildir", [mail.path])
    turns.questions("latency, mail", MAIL_QUERIES)
    turns.updates(mail.path)
    turns.patterns(tree(bench))
    return turns.result()


class Turns:
    """Two programs, and the pairs of costs by suite and work."""

    def __init__(self, bench):
        self.bench = bench
        self.new = Ken(bench.index_home("turns", "new"), bench.program)
        self.old = Ken(bench.index_home("turns", "old"), bench.before)
        self.pairs = {}

    def pair(self, suite, work, one, count):
        """`count` pairs of `one(ken)`, which returns a cost, after one that is not counted where runs are short."""
        costs = [self._both(one, number) for number in range(count)]
        self.pairs.setdefault(suite, {})[work] = costs

    def short(self, suite, work, one):
        self._both(one, 0)
        self.pair(suite, work, one, 2 if self.bench.quick else SHORT * self.bench.rounds)

    def _both(self, one, number):
        costs = {}
        for ken in (self.new, self.old) if number % 2 else (self.old, self.new):
            cost = one(ken)
            costs[ken] = {"wall": cost.wall, "cpu": cost.cpu}
        return costs[self.new], costs[self.old]

    def index(self, suite, roots):
        """From nothing, then runs in which nothing changed."""
        def anew(ken):
            ken.prepare(roots)
            os.sync()
            return process.run(ken.index(), self.bench.log("turns", suite))

        self.pair(suite, "from nothing", anew, self.bench.rounds)
        self.short(suite, "nothing changed", lambda ken: process.silent(ken.index()))
        self.short(suite, "nothing changed, --lazy", lambda ken: process.silent(lazy(ken)))
        progress(f"turns: {suite}: {self.figure(suite, 'from nothing')}")

    def questions(self, suite, queries):
        for query in queries:
            self.short(suite, query, lambda ken: process.answer(ken.search(query, "top10")))
        progress(f"turns: {suite}: {len(queries)} questions")

    def updates(self, maildir):
        """From a new message on disk to the search that finds it."""
        copy = maildir + ".turns"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(maildir, copy)
        for ken in (self.new, self.old):
            ken.prepare([copy])
            process.run(ken.index(), self.bench.log("turns", "maildir"))
        folder = next(path for path, names, _ in os.walk(copy) if "cur" in names and "new" in names)
        numbers = iter(range(1_000_000))

        def arrive(ken):
            word = f"quaggaturn{next(numbers)}"
            with open(os.path.join(folder, "new", word), "w") as file:
                file.write(mailgen.ONE_MORE.format(number=word))
            began = time.monotonic()
            indexed = process.silent(ken.index())
            found = process.answer(Command([*ken._ken(), "search", "--count", f"quaggabench{word}"], ok=(0, 1)))
            if found.output.strip() != b"1":
                raise SystemExit(f"bench: {ken.program} does not find the new message")
            # The other one reads it outside of its own time.
            other = self.old if ken is self.new else self.new
            wall = time.monotonic() - began
            process.silent(other.index())
            return process.Cost(wall, indexed.cpu + found.cpu, 0, 0, 0)

        self.short("maildir", "a new message indexed and found", arrive)
        shutil.rmtree(copy)

    def patterns(self, source):
        os.chdir(source)
        for ken in (self.new, self.old):
            ken.prepare([source])
            process.run(ken.index(), self.bench.log("turns", "indexed"))
        for pattern in patterns()[:4] if self.bench.quick else patterns():
            for suite, more in MODES.items():
                def search(ken):
                    argv = [ken.program, "--data", ken.home, "grep", "-uu", *more, *pattern.flags, "-e", pattern.regex, "."]
                    return process.silent(Command(argv, ok=ANY_END))

                self.short(suite, pattern.name, search)
            progress(f"turns: {pattern.name}: " + ", ".join(f"{suite} {self.figure(suite, pattern.name)}" for suite in MODES))

    def figure(self, suite, work):
        return f"{ratio(self.pairs[suite][work], 'wall'):.3f}"

    def result(self):
        rows, goals = [], []
        for suite, works in self.pairs.items():
            for work, pairs in works.items():
                rows.append([suite, f"`{work}`".replace("|", "\\|"),
                             *[stats.milliseconds(stats.median([cost["wall"] for cost in side])) for side in zip(*pairs)],
                             f"{ratio(pairs, 'wall'):.3f}", f"{ratio(pairs, 'cpu'):.3f}", str(len(pairs))])
            walls = {work: ratio(pairs, "wall") for work, pairs in works.items()}
            worst = max(walls, key=walls.get)
            middle = stats.median(list(walls.values()))
            goals.append(Goal(f"turns, {suite}: the median of all works at most {MAX_RATIO}",
                              f"{middle:.3f}; worst {walls[worst]:.3f}, `{worst}`", middle <= MAX_RATIO))
        header = ["suite", "work", "new ms", "old ms", "wall new / old", "CPU new / old", "pairs"]
        return Result("turns", __doc__.split("\n\n", 1)[1].strip(), tables=[("", header, rows)], goals=goals,
                      raw={"pairs": self.pairs})


def ratio(pairs, measure):
    """The median of the pairs' ratios; CPU below the clock's grain counts as equal."""
    return stats.median([new[measure] / old[measure] if old[measure] > 0 else 1.0 for new, old in pairs])


def lazy(ken):
    return Command([*ken.index().argv[:-len(ken.roots)], "--lazy"])

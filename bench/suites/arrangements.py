"""Who does what: ken's arrangements of threads beside Recoll's, for each kind of files.

Serial (one thread does all), assembly line (one thread for each stage), multi-stage
(several for each), linear (each thread does all stages of its files, ken's default), with
one segment at a time and with one for each thread; and Recoll's own, once each. The
default should need no tuning: within 5 % of the best on each kind.
"""

import os

from lib import contest, stats
from lib.corpus import files_below, link_tree, measured
from lib.process import Command
from lib.report import Goal, Result
from peers.ken import Ken
from peers.recoll import ARRANGEMENTS as RECOLLS, Recoll
from suites.grep import tree

CORES = os.cpu_count()
DEFAULT = "linear"
ARRANGEMENTS = {
    "serial": ["--extract-threads", "0"],
    "assembly line": ["--extract-threads", "1", "--index-threads", "1"],
    "multi-stage": ["--extract-threads", str(CORES), "--index-threads", str(CORES)],
    "multi-stage, one segment": ["--extract-threads", str(CORES), "--index-threads", "1"],
    DEFAULT: [],
    "linear, one segment": ["--segment-builders", "1"],
    "linear, one thread more": ["--threads", str(CORES + 1)],
}
WITHIN = 1.05
# Files of each kind in the mixed folder.
MIXED = {"html": 2_000, "mail": 3_000, "source": 5_000, "pdf": 15}


class Arranged(Ken):
    """ken with its threads arranged in one way."""

    def __init__(self, home, program, arrangement):
        super().__init__(home, program)
        self.name = "ken" if arrangement == DEFAULT else f"ken ({arrangement})"
        self.options = ARRANGEMENTS[arrangement]

    def index(self):
        return Command([*super().index().argv, *self.options])


def run(bench):
    result = Result("arrangements", f"Arrangements of threads on {CORES} cores, indexing from nothing. "
                                    "`ken` alone is the default, linear; speed is against one thread.")
    for corpus in each_kind(bench):
        kens = [Arranged(bench.index_home("arrangements", contest.slug(name)), bench.program, name)
                for name in ARRANGEMENTS]
        entries = contest.contest(bench, "arrangements", corpus, kens, bench.rounds)
        recolls = [] if bench.quick or not bench.has_peers else list(RECOLLS)
        for name in recolls:
            entry = contest.Entry(Recoll(bench.index_home("arrangements", contest.slug("recoll-" + name)), name))
            contest.index_anew(bench, "arrangements", corpus, entry, "one run")
            entries.append(entry)
        title = f"{corpus.name}: {corpus.files} files, {corpus.bytes / 1e6:.0f} MB"
        result.tables.append((title, *_table(entries)))
        result.raw[corpus.name] = {"files": corpus.files, "bytes": corpus.bytes,
                                   "entries": [entry.raw() for entry in entries]}
        result.goals.append(_goal(corpus, entries))
    return result


def each_kind(bench):
    source = measured("source", tree(bench))
    kinds = {"html": bench.corpora.html(bench.quick),
             "mail": bench.corpora.mail_with_attachments(bench.quick),
             "source": source,
             "pdf": bench.corpora.pdf(bench.quick)}
    mixed = os.path.join(bench.work, "corpora", "mixed-quick" if bench.quick else "mixed")
    if not os.path.isdir(mixed):
        for kind, count in MIXED.items():
            # Spread over the whole: neighbours are alike.
            files = sorted(files_below(kinds[kind].path))
            step = max(1, len(files) // count)
            link_tree(kinds[kind].path, files[::step][:count], os.path.join(mixed + ".making", kind))
        os.rename(mixed + ".making", mixed)
    everything = [*kinds.items(), ("mixed", measured("mixed", mixed))]
    for name, corpus in everything:
        yield type(corpus)(name, corpus.path, corpus.files, corpus.bytes)


def _table(entries):
    serial = {"ken": "ken (serial)", "recoll": "recoll (serial)"}
    walls = {entry.name: entry.median("wall") for entry in entries}
    rows = []
    for entry in entries:
        one = walls[serial[entry.name.split()[0]]]
        rows.append([entry.name, stats.seconds([cost.wall for cost in entry.costs]),
                     f"{one / entry.median('wall'):.2f}",
                     stats.seconds([cost.cpu for cost in entry.costs]),
                     stats.size(entry.median("peak_total")), stats.size(entry.index_bytes)])
    return ["program", "wall s", "speed", "CPU s", "memory", "index"], rows


def _goal(corpus, entries):
    kens = {entry.name: entry.median("wall") for entry in entries if entry.name.startswith("ken")}
    best = min(kens, key=kens.get)
    ratio = kens["ken"] / kens[best]
    return Goal(f"{corpus.name}: the default within 5 % of the best arrangement",
                f"{ratio:.3f} of {best}", ratio <= WITHIN)

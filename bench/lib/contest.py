"""Indexing contests: several programs, one corpus, alternating runs from nothing."""

import os
import re
import sys
from dataclasses import asdict, dataclass, field

from lib import process, stats


@dataclass
class Entry:
    """One program of a contest and what its runs cost."""

    peer: object
    costs: list = field(default_factory=list)
    documents: int = 0
    index_bytes: int = 0

    @property
    def name(self):
        return self.peer.name

    def median(self, measure):
        return stats.median([getattr(cost, measure) for cost in self.costs])

    def raw(self):
        """Everything measured, for the JSON file."""
        return {
            "program": self.name,
            "runs": [asdict(cost) for cost in self.costs],
            "documents": self.documents,
            "index_bytes": self.index_bytes,
        }


def contest(bench, suite, corpus, peers, rounds):
    """Indexes the corpus anew with each peer in turn, `rounds` times over."""
    entries = [Entry(peer) for peer in peers]
    for number in range(rounds):
        for entry in entries:
            index_anew(bench, suite, corpus, entry, f"round {number + 1}/{rounds}")
    return entries


def index_anew(bench, suite, corpus, entry, label):
    """One run from nothing; its cost is added to the entry."""
    entry.peer.prepare([corpus.path])
    os.sync()  # what earlier runs left to write is not charged to this one
    cost = process.run(entry.peer.index(), bench.log(suite, entry.name))
    entry.costs.append(cost)
    entry.documents = entry.peer.documents()
    entry.index_bytes = entry.peer.index_bytes()
    progress(f"{suite}: {entry.name} {label}: {cost.wall:.2f} s, {entry.documents} documents")


def table(entries, corpus):
    """Header and rows of a contest; ratios are against ken, the first entry, when it runs."""
    ken = entries[0] if entries[0].name == "ken" else None
    header = ["program", "wall s", "CPU s", "ken is faster", "less CPU", "MB/s",
              "largest process", "all processes", "anonymous", "index", "documents"]
    return header, [_row(entry, ken, corpus) for entry in entries]


def _row(entry, ken, corpus):
    return [
        entry.name,
        stats.seconds([cost.wall for cost in entry.costs]),
        stats.seconds([cost.cpu for cost in entry.costs]),
        _ratio(entry, ken, "wall"),
        _ratio(entry, ken, "cpu"),
        f"{corpus.bytes / 1e6 / entry.median('wall'):.1f}",
        stats.size(entry.median("peak_process")),
        stats.size(entry.median("peak_total")),
        stats.size(entry.median("peak_anonymous")),
        stats.size(entry.index_bytes),
        str(entry.documents),
    ]


def _ratio(entry, ken, measure):
    if ken is None or entry is ken:
        return "–"
    return f"{entry.median(measure) / ken.median(measure):.1f}×"


def slug(name):
    """A program's label as a file name."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def progress(line):
    print(f"bench: {line}", file=sys.stderr, flush=True)

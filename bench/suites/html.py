"""HTML documentation: ken beside Recoll's default and its fastest thread arrangement."""

import os

from lib import contest
from lib.report import Goal, Result
from peers.recoll import ARRANGEMENTS, Recoll

FASTER = 15
# --memory's default, and what the goal allows above it.
MEMORY_LIMIT = (max(2, os.cpu_count()) * 256 + 150) << 20


def run(bench):
    corpus = bench.corpora.html(bench.quick)
    arrangements, trials = _arrangements(bench, corpus)
    peers = bench.ken("html") + [_recoll(bench, name) for name in arrangements]
    entries = contest.contest(bench, "html", corpus, peers, bench.rounds)
    header, rows = contest.table(entries, corpus)
    result = Result(
        "html",
        f"Indexing {corpus.files} HTML pages ({corpus.bytes / 1e6:.0f} MB) from nothing.",
        tables=[("", header, rows)],
        raw={"files": corpus.files, "bytes": corpus.bytes,
             "entries": [entry.raw() for entry in entries], "trials": trials},
    )
    if bench.has_ken:
        result.goals = _goals(entries)
    return result


def _arrangements(bench, corpus):
    """The default and the fastest of Recoll's other arrangements, found by one run of each."""
    if bench.quick:
        return ["default"], {}
    trials = {}
    for name in ARRANGEMENTS:
        entry = contest.Entry(_recoll(bench, name))
        contest.index_anew(bench, "html", corpus, entry, "trial")
        trials[name] = entry.raw()
    walls = {name: raw["runs"][0]["wall"] for name, raw in trials.items()}
    fastest = min(walls, key=walls.get)
    return ["default"] + [fastest] * (fastest != "default"), trials


def _recoll(bench, arrangement):
    home = bench.index_home("html", contest.slug("recoll-" + arrangement))
    return Recoll(home, arrangement)


def _goals(entries):
    ken, *recolls = entries
    best = min(recolls, key=lambda entry: entry.median("wall"))
    faster = best.median("wall") / ken.median("wall")
    memory = ken.median("peak_total")
    return [
        Goal(f"HTML: {FASTER} times faster than {best.name}", f"{faster:.1f}×", faster >= FASTER),
        Goal("HTML: memory at most 512 + 150 MiB", f"{memory / (1 << 20):.0f} MiB",
             memory <= MEMORY_LIMIT),
        Goal("HTML: index smaller than Recoll's",
             f"{ken.index_bytes / best.index_bytes:.2f} of it", ken.index_bytes < best.index_bytes),
    ]

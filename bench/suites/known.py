"""How often the document that is meant comes first: known items in a mixed home.

`lib/home.py` makes the home. The queries of `crates/ken/tests/known_items/queries.tsv` are as
people type them; each means one document, or a few that serve as well. Both programs are asked
without options, as their users ask them.
"""

import os
import shutil

from lib.contest import progress
from lib.home import Home
from lib.language import queries
from lib.process import run as run_program
from lib.report import Goal, Result
from peers.recoll import Recoll

DEPTH = 50
QUICK_SHARE = 0.2


def run(bench):
    home = os.path.join(bench.work, "corpora", "known")
    shutil.rmtree(home, ignore_errors=True)
    Home(home, QUICK_SHARE if bench.quick else 1).fill()
    peers = bench.ken("known")
    if bench.has_peers:
        peers.append(Recoll(bench.index_home("known", "recoll")))
    ranks = {peer.name: _ranks(bench, peer, home) for peer in peers}
    files = sum(len(names) for _, _, names in os.walk(home))
    result = Result("known", f"{len(queries())} queries, each for a known document, in a home of {files} files. "
                    "MRR is the mean of the reciprocal ranks.")
    figures = {name: _by_class(positions) for name, positions in ranks.items()}
    result.tables = [("", *_table(figures)), ("Not first:", *_misses(ranks))]
    result.goals = _goals(figures)
    result.raw = {"ranks": [[*query, *positions] for query, *positions in zip(queries(), *ranks.values())]}
    return result


def _ranks(bench, peer, home):
    """The rank of the document that each query means; None where it is not found."""
    peer.prepare([home])
    run_program(peer.index(), bench.log("known", peer.name))
    progress(f"known: {peer.name}: {peer.documents()} documents")
    return [_rank(peer.ranked(words, DEPTH), [os.path.join(home, path) for path in wanted])
            for _, words, wanted in queries()]


def _rank(found, wanted):
    return next((position for position, path in enumerate(found, 1) if path in wanted), None)


def _by_class(ranks):
    """For each class, and for all: number of queries, first, in the first five, MRR, not found."""
    classes = {}
    for (kind, _, _), rank in zip(queries(), ranks):
        for label in (kind, "all"):
            classes.setdefault(label, []).append(rank)
    classes["all"] = classes.pop("all")  # last
    return {label: _figures(positions) for label, positions in classes.items()}


def _figures(ranks):
    n = len(ranks)
    found = [rank for rank in ranks if rank]
    within = lambda depth: sum(rank <= depth for rank in found) / n
    return n, within(1), within(5), sum(1 / rank for rank in found) / n, n - len(found)


def _table(figures):
    header = ["class", "queries"]
    for name in figures:
        header += [f"{name}: first", f"{name}: in first five", f"{name}: MRR", f"{name}: not found"]
    rows = []
    for label in next(iter(figures.values())):
        cells = []
        for n, first, five, mean, missing in (classes[label] for classes in figures.values()):
            cells += [f"{first:.3f}", f"{five:.3f}", f"{mean:.3f}", str(missing)]
        rows.append([label, str(n), *cells])
    return header, rows


def _misses(ranks):
    """The queries whose document is not first for one of the programs."""
    rows = []
    for (kind, words, wanted), *positions in zip(queries(), *ranks.values()):
        if any(position != 1 for position in positions):
            rows.append([kind, words, *(str(position or "–") for position in positions), wanted[0]])
    return ["class", "query", *ranks, "wanted"], rows


def _goals(figures):
    if len(figures) < 2:
        return []
    ours, theirs = figures["ken"], figures["recoll"]
    worse = [label for label in ours if ours[label][3] < theirs[label][3]]
    return [Goal("known: MRR at least that of Recoll in each class", f"worse in: {', '.join(worse) or 'none'}", not worse)]

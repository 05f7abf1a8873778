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
from lib.report import Result
from peers.recoll import Recoll

DEPTH = 50
QUICK_SHARE = 0.2


def run(bench):
    home = os.path.join(bench.work, "corpora", "known")
    shutil.rmtree(home, ignore_errors=True)
    Home(home, QUICK_SHARE if bench.quick else 1).fill()
    peers = [*bench.ken("known"), *([Recoll(bench.index_home("known", "recoll"))] if bench.has_peers else [])]
    ranks = {peer.name: _ranks(bench, peer, home) for peer in peers}
    files = sum(len(names) for _, _, names in os.walk(home))
    result = Result("known", f"{len(queries())} queries, each for a known document, in a home of {files} files.")
    result.tables = [("", *_table(ranks)), ("Not first:", *_misses(ranks))]
    result.raw = {"ranks": [[*query, *places] for query, *places in zip(queries(), *ranks.values())]}
    return result


def _ranks(bench, peer, home):
    """The rank of the document that each query means; None where it is not found."""
    peer.prepare([home])
    run_program(peer.index(), bench.log("known", peer.name))
    progress(f"known: {peer.name}: {peer.documents()} documents")
    return [_rank(peer.ranked(words, DEPTH), [os.path.join(home, path) for path in wanted])
            for _, words, wanted in queries()]


def _rank(found, wanted):
    return next((place for place, path in enumerate(found, 1) if path in wanted), None)


def _table(ranks):
    header = ["class", "queries"]
    for name in ranks:
        header += [f"{name}: first", "in first five", "MRR", "not found"]
    kinds = [kind for kind, _, _ in queries()]
    rows = []
    for label in [*dict.fromkeys(kinds), "all"]:
        chosen = [place for place, kind in enumerate(kinds) if label in (kind, "all")]
        cells = [_cells([places[place] for place in chosen]) for places in ranks.values()]
        rows.append([label, str(len(chosen)), *sum(cells, [])])
    return header, rows


def _cells(places):
    n = len(places)
    share = lambda depth: sum(place is not None and place <= depth for place in places) / n
    mean = sum(1 / place for place in places if place) / n
    return [f"{share(1):.3f}", f"{share(5):.3f}", f"{mean:.3f}", str(places.count(None))]


def _misses(ranks):
    """The queries whose document is not first for one of the programs."""
    rows = []
    for (kind, words, wanted), *places in zip(queries(), *ranks.values()):
        if any(place != 1 for place in places):
            rows.append([kind, words, *(str(place or "–") for place in places), wanted[0]])
    return ["class", "query", *ranks, "wanted"], rows

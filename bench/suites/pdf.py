"""PDF manuals: ken beside Recoll, which runs pdftotext."""

from lib import contest
from lib.report import Goal, Result
from peers.recoll import Recoll

FASTER = 2.5


def run(bench):
    corpus = bench.corpora.pdf(bench.quick)
    peers = bench.ken("pdf") + [Recoll(bench.index_home("pdf", "recoll"))]
    entries = contest.contest(bench, "pdf", corpus, peers, bench.rounds)
    result = Result(
        "pdf",
        f"Indexing {corpus.files} PDF files ({corpus.bytes / 1e6:.0f} MB) from nothing.",
        tables=[("", *contest.table(entries, corpus))],
        raw={"files": corpus.files, "bytes": corpus.bytes,
             "entries": [entry.raw() for entry in entries]},
    )
    if bench.has_ken:
        ken, recoll = entries
        faster = recoll.median("wall") / ken.median("wall")
        result.goals = [
            Goal(f"PDF: {FASTER} times faster than Recoll", f"{faster:.1f}×", faster >= FASTER)
        ]
    return result

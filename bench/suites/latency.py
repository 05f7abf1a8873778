"""Latency of questions to more than 300,000 documents, in one process and as commands.

The library is documentation, source code, RFCs and mail of Debian packages (`lib/corpus.py`) and a
Maildir (`--maildir`, or generated messages). Questions are made of what the index holds: words by how
many documents have them, and stretches of its texts; `crates/ken-search/benches/latency.rs` says how.
In one process: from the text of a question to its ten best documents ("found"), and with their text
and the passages that match ("shown"). As a command: from the start of the process to its last byte,
beside recollq with the same files, and mu with the mail. What ken prints has passages, what `ken recollq`
and recollq print has none.
"""

import json
import os

from lib import process, stats
from lib.contest import progress, slug
from lib.report import Goal, Result
from peers.ken import Ken, KenAsRecollq
from peers.mu import Mu
from peers.recoll import Recoll
from suites.dictionary import built, call

MAX_P99_MS = 20
QUESTIONS = 300
# As commands: questions of each kind, and how often each is asked.
COMMANDS = 6
ROUNDS = 11
SLOW_MS = 30
# What the peers have no such question for.
WITHOUT = {"recoll": {"fuzzy", "facets"}, "mu": {"fuzzy", "facets", "wildcard"}}


def run(bench):
    result = Result("latency", __doc__.split("\n\n", 1)[1].strip())
    program = built("ken-search", "latency")
    library = bench.library_index()
    in_process(bench, result, program, os.path.join(library, "index"))
    corpus = bench.corpora.library(bench.quick)
    recoll = Recoll(bench.index_home("library", "recoll"), "multi-stage")
    commands(bench, result, program, "all", Ken(library, bench.program), recoll, [corpus.path])
    # Without the passages that recollq does not print.
    commands(bench, result, program, "all", KenAsRecollq(library, bench.program), recoll, [corpus.path])
    mail = [os.path.join(corpus.path, "mail")]
    ken = Ken(bench.index_home("library-mail", "ken"), bench.program)
    commands(bench, result, program, "mail", ken, Mu(bench.index_home("library-mail", "mu")), mail)
    return result


def in_process(bench, result, program, index):
    questions = os.path.join(bench.work, "latency-questions")
    write(questions, call([program, "sample", index, str(30 if bench.quick else QUESTIONS)]))
    measured = [json.loads(line) for line in call([program, "run", index, questions])]
    header = ["question", "median ms", "p99 ms", "slowest ms", "shown: median", "shown: p99",
              "questions", "without hits", "slowest question"]
    rows = [[
        of["kind"], *(f"{of[key]:.2f}" for key in
                      ("median_ms", "p99_ms", "max_ms", "shown_median_ms", "shown_p99_ms")),
        str(of["questions"]), str(of["empty"]), f"`{of['slowest']}` ({of['slowest_total']})",
    ] for of in measured]
    documents = measured[0]["documents"]
    result.tables.append((f"In one process, {documents} documents:", header, rows))
    result.raw["in-process"] = measured
    for of in measured:
        result.goals.append(Goal(f"latency, {of['kind']}: p99 under {MAX_P99_MS} ms in one process",
                                 f"{of['p99_ms']:.2f} ms", of["p99_ms"] < MAX_P99_MS))
    progress("latency: in one process done")


def commands(bench, result, program, name, ken, peer, roots):
    """ken and one peer as commands, in turn."""
    for one in (ken, peer):
        if not os.path.exists(os.path.join(one.home, "bench-done")):
            one.prepare(roots)
            process.run(one.index(), bench.log(f"latency-{name}", one.name))
            write(os.path.join(one.home, "bench-done"), [])
    lines = call([program, "sample", os.path.join(ken.home, "index"), "60"])
    asked = {}
    for line in lines:
        kind, order, query = line.split("\t", 2)
        if kind not in WITHOUT[peer.name.split(" ")[0]]:
            asked.setdefault(kind, []).append((order, query))
    header = ["question", f"{ken.name} median", f"{ken.name} p99", f"{peer.name} median", f"{peer.name} p99",
              "questions", f"slower than {peer.name}", f"{peer.name} > {SLOW_MS} ms", "of these least ratio"]
    rows, raw = [], {}
    slower, slow = [], []
    rounds = 2 if bench.quick else ROUNDS
    for kind, questions in asked.items():
        times = {one.name: [] for one in (ken, peer)}
        for order, query in questions[:COMMANDS]:
            # In turn, so that an hour in which the machine is slow counts for both; the first round warms.
            turns = [[process.answer(one.question(query, order)).wall * 1000 for one in (ken, peer)]
                     for _ in range(rounds + 1)][1:]
            pair = []
            for one, walls in zip((ken, peer), zip(*turns)):
                times[one.name].append(list(walls))
                pair.append(stats.median(walls))
            raw.setdefault(kind, []).append((query, *pair))
            slower += [query] * (pair[0] > pair[1])
            slow += [(pair[1] / pair[0], query)] * (pair[1] > SLOW_MS)
        pairs = raw[kind]
        ratios = [peer_ms / ken_ms for _, ken_ms, peer_ms in pairs if peer_ms > SLOW_MS]
        figures = [f"{figure(sum(times[one.name], [])):.1f}" for one in (ken, peer)
                   for figure in (stats.median, lambda all: stats.percentile(all, 0.99))]
        rows.append([kind, *figures, str(len(pairs)), str(sum(k > p for _, k, p in pairs)),
                     str(len(ratios)), f"{min(ratios):.1f}×" if ratios else "–"])
    documents = f"{ken.documents()} and {peer.documents()}"
    result.tables.append((f"As commands, {ken.name} and {peer.name} ({documents} documents), milliseconds:",
                          header, rows))
    result.raw[f"commands-{name}-{slug(ken.name)}"] = raw
    result.goals.append(Goal(f"latency: {ken.name} as a command slower than {peer.name} for no question",
                             f"{len(slower)} slower {slower[:3]}", not slower))
    least = min(slow, default=None)
    result.goals.append(Goal(f"latency: {ken.name} three times faster where {peer.name} takes over {SLOW_MS} ms",
                             f"least {least[0]:.1f}×, `{least[1]}`" if least else "none does",
                             all(of[0] >= 3 for of in slow)))
    progress(f"latency: commands of {name} done")


def write(path, lines):
    with open(path, "w") as file:
        file.writelines(line + "\n" for line in lines)

"""A million documents, in the data folder and in a cluster of one node: the kinds of questions of the suite latency.

The archive is made by a rule (`lib/archive.py`): messages in mailboxes, and notes, pages and texts in zip files, of 90
words on average; `--files N` says how many documents there are. ken indexes it in its data folder, `ken index --move-to
opensearch` copies that index into a cluster, and a second index in the cluster is filled from the files. OpenSearch has a
heap of 3 GB. `ken serve` answers from each index over a connection that stays open; a question is asked of both in turn, from
its first byte to the last one of the ten best documents with their passages. As a command, ken starts for each question.
"""

import json
import os
import random

from lib import archive, asking, process, stats
from lib.asking import Asked
from lib.contest import progress
from lib.nodes import KenInCluster, Nodes, finish
from lib.process import Command
from lib.report import Goal, Result

QUESTIONS, QUICK_QUESTIONS = 40, 3
ROUNDS = 2
# As commands: questions of each kind.
COMMANDS = 6
# The index that is filled from the files has fewer documents.
FROM_FILES = 100_000
# The classes of the suite latency, as shares of a library of 300,000 documents.
COMMON, FREQUENT = (200 / 300_000, 2_000 / 300_000), 20_000 / 300_000
HEAP = "3g"
GOAL_MS = 1_000


def run(bench):
    n_documents = 20_000 if bench.quick else bench.files
    root = os.path.join(bench.work, "corpora", f"archive-{n_documents}")
    progress(f"making {n_documents} documents")
    archive.make(root, n_documents)
    result = Result("million", __doc__.split("\n\n", 1)[1].strip())
    os.environ.setdefault("KEN_HEAP", HEAP)
    os.environ.setdefault("KEN_JIT", "full")
    for ken in bench.ken("million"):
        with Nodes(1, log=bench.log("million", "nodes")) as nodes:
            there = fill(bench, ken, nodes, root, n_documents, result)
            questions = sample(n_documents, QUICK_QUESTIONS if bench.quick else QUESTIONS)
            served(bench, ken, there, questions, result)
            commands(bench, ken, there, questions, result)
    return result


def fill(bench, ken, nodes, root, n_documents, result):
    """Fills both indexes; returns the one in the cluster."""
    log = bench.log("million", "fill")
    rows = []

    def row(what, one, seconds, count):
        # Segments that are merged after the last commit count as they will be.
        rows.append([what, str(count), f"{seconds:.0f}", f"{count / seconds:.0f}", f"{one.index_bytes() / count:.0f}",
                     f"{os.getloadavg()[0]:.1f}"])
        progress(f"million: {what}: {seconds:.0f} s, {count} documents")

    few = KenInCluster(bench.index_home("million", "files"), bench.program, nodes, "few", replicas=0)
    few.prepare(part(root, min(n_documents, FROM_FILES)))
    seconds = finish(few.index(), log)
    row("cluster, from the files", few, seconds, few.documents())
    nodes.delete("few")
    ken.prepare([root])
    seconds = finish(ken.index(), log)
    count = ken.documents()
    row("data folder, from the files", ken, seconds, count)
    there = KenInCluster(bench.index_home("million", "moved"), bench.program, nodes, "archive", replicas=0)
    there.prepare([root])
    moving = Command([ken.program, "--config", f"{there.home}.toml", "--data", ken.home, "--set=engine.kind=embedded",
                      "index", "--fast", "--move-to", "opensearch"])
    seconds = finish(moving, log)
    nodes.settle("archive")
    row("cluster, by --move-to", there, seconds, there.documents())
    again = finish(there.index(), log)
    result.tables.append(("Filling:", ["", "documents", "s", "documents/s", "bytes per document", "load"], rows))
    result.goals.append(Goal("million: the copy has every document", f"{there.documents()} of {count}",
                             there.documents() == count))
    result.raw["filled"] = rows
    result.raw["nothing changed, seconds"] = again
    return there


def part(root, n_documents):
    """The folders with the first of the documents."""
    return sorted({os.path.dirname(archive.place(root, first)) for first in range(0, n_documents, archive.IN_FILE)})


def sample(n_documents, count):
    """Questions of each kind of the suite latency, each with its order."""
    chance = random.Random(3)
    ranks = range(20, 100_000)
    share = {rank: archive.documents_with(rank, 1) for rank in ranks}
    words = archive.vocabulary()
    frequent = [words[rank] for rank in ranks if share[rank] >= FREQUENT]
    common = [words[rank] for rank in ranks if COMMON[0] <= share[rank] < COMMON[1]]
    kinds = {}
    for number in range(count):
        rare = archive.shared(chance.randrange(n_documents))
        name, word = [("rare", rare), ("common", chance.choice(common)), ("frequent", chance.choice(frequent))][number % 3]
        document = archive.document(chance.randrange(n_documents))
        text = document["words"][4:]
        at = chance.randrange(len(text) - 3)
        other = text[chance.randrange(at + 2, len(text))]
        start = word[:3 + chance.randrange(3)]
        year = 2000 + chance.randrange(18)
        for kind, order, query in [
            (f"term, {name}", "relevance", word),
            ("two words", "relevance", f"{text[at]} {other}"),
            ("phrase", "relevance", f'"{text[at]} {text[at + 1]}"'),
            ("prefix", "relevance", f"{start}*"),
            ("wildcard", "relevance", wildcard(word, chance)),
            ("fuzzy", "relevance", f"{word}~"),
            ("field", "relevance", f"title:{chance.choice(document['words'][:4])}"),
            ("date range", "relevance", f"{chance.choice(frequent)} date:{year}..{year + 1}"),
            ("sort by date", "date", chance.choice(frequent)),
            ("facets", "facets", word),
        ]:
            kinds.setdefault(kind, []).append((order, query))
    return kinds


def wildcard(word, chance):
    """A word with a star or a question mark in place of a letter, but never of the first three."""
    at = chance.randrange(3, max(4, len(word) - 1))
    return word[:at] + chance.choice("*?") + word[at + 1:]


def served(bench, ken, there, questions, result):
    """Asks both servers in turn."""
    rows, raw, other = [], {}, []
    with Asked(ken, bench.log("million", "serve")) as here, Asked(there, bench.log("million", "serve-cluster")) as far:
        for kind, asked in questions.items():
            walls, first = {"here": [], "there": []}, []
            for number in range(ROUNDS + 1):
                for order, query in asked:
                    answers = {}
                    for name, one in (("here", here), ("there", far)):
                        wall, answers[name] = one.ask(query, order)
                        if number:
                            walls[name].append(wall)
                        elif name == "there":
                            first.append(wall)
                    if not number and answers["here"].get("total") != answers["there"].get("total"):
                        other.append([query, answers["here"].get("total"), answers["there"].get("total")])
            rows.append([kind, *asking.figures(walls["here"]), *asking.figures(walls["there"]), *asking.figures(first),
                         f"{stats.median(walls['there']) / stats.median(walls['here']):.0f}×", str(len(asked))])
            raw[kind] = {**walls, "first": first}
            median = stats.median(walls["there"]) * 1000
            result.goals.append(Goal(f"million, {kind}: median under {GOAL_MS} ms on one node", f"{median:.0f} ms",
                                     median < GOAL_MS))
            progress(f"million: {kind}: {rows[-1][1:]}")
        count = ken.documents()
    result.tables.append((f"At a server, {count} documents, milliseconds (load {os.getloadavg()[0]:.1f} at the end):",
                          ["question", "data folder: median", "p99", "one node: median", "p99", "first time: median", "p99",
                           "ratio", "questions"], rows))
    result.goals.append(Goal("million: as many matches in the cluster", f"{len(other)} questions differ {other[:3]}", not other))
    result.raw["served"], result.raw["other totals"] = raw, other


def commands(bench, ken, there, questions, result):
    """The same as commands, in turn."""
    rows, raw = [], {}
    for kind, asked in questions.items():
        walls = {"here": [], "there": []}
        for number in range(ROUNDS + 1):
            for order, query in asked[:COMMANDS]:
                for name, one in (("here", ken), ("there", there)):
                    wall = process.answer(one.question(query, order)).wall
                    if number:
                        walls[name].append(wall)
        rows.append([kind, *asking.figures(walls["here"]), *asking.figures(walls["there"])])
        raw[kind] = walls
    result.tables.append(("As commands, milliseconds:", ["question", "data folder: median", "p99", "one node: median", "p99"],
                          rows))
    result.raw["commands"] = json.loads(json.dumps(raw))

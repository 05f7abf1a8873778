"""How good the ranking is: test collections with judged queries, through the program itself.

Each collection is written as files and indexed by `ken index`; each query is asked by
`ken search --any`, and the answers are scored against the judgements. Two forms: `text`,
where title and text are one text, as the peers had them, and `pages`, where the title is a
field. The figures of the peers are those that came with the collections: title and text in
one field, documents with any of the words, their default BM25, English stemming.
"""

import html
import json
import math
import os

from lib.contest import progress
from lib.process import Failed, answer, run as run_program
from lib.report import Goal, Result

DEPTH = 100
# nDCG@10 and recall@100.
PEERS = {
    "Lucene": {"cranfield": (.374, .731), "cisi": (.384, .447), "cacm": (.494, .657),
               "npl": (.433, .602), "cosqa-code": (.326, .744)},
    "Xapian": {"cranfield": (.357, .724), "cisi": (.327, .410), "cacm": (.449, .644),
               "npl": (.443, .619), "cosqa-code": (.326, .760)},
    "SQLite FTS5": {"cranfield": (.369, .724), "cisi": (.324, .422), "cacm": (.428, .662),
                    "npl": (.432, .596), "cosqa-code": (.387, .822)},
    "Tantivy": {"cranfield": (.373, .729), "cisi": (.383, .447), "cacm": (.480, .651),
                "npl": (.435, .605), "cosqa-code": (.387, .822)},
}
FORMS = ("text", "pages")
# No collection may be worse than the best peer on it by more than this.
TOLERANCE = 0.01


def run(bench):
    if not bench.relevance:
        raise Failed("relevance needs --relevance DIR, a folder of collections")
    names = sorted(name for name in os.listdir(bench.relevance)
                   if os.path.exists(os.path.join(bench.relevance, name, "qrels.tsv")))
    about = f"nDCG@10 and recall@{DEPTH} of test collections. {__doc__.split(chr(10), 2)[2].strip()}"
    result = Result("relevance", about)
    scores = {form: {} for form in FORMS}
    for name in names:
        collection = Collection(os.path.join(bench.relevance, name))
        for form in FORMS:
            ken = bench.ken(f"relevance-{form}-{name}")[0]
            ken.prepare([collection.write(os.path.join(bench.work, "corpora", f"relevance-{form}-{name}"), form)])
            run_program(ken.index(), bench.log("relevance", name))
            scores[form][name] = collection.score(ken)
            progress(f"relevance: {name}, {form}: nDCG@10 %.4f recall %.4f" % scores[form][name])
    for number, measure in enumerate(("nDCG@10", f"recall@{DEPTH}")):
        result.tables.append((measure, *_table(names, scores, number)))
    result.goals = _goals(names, scores["text"])
    result.raw = {"scores": scores, "peers": PEERS}
    return result


class Collection:
    """Documents, queries and judgements: docs.jsonl, queries.tsv, qrels.tsv."""

    def __init__(self, folder):
        self.folder = folder
        self.queries = [line.split("\t", 1) for line in self._lines("queries.tsv")]
        self.grades = {}
        for query, document, grade in (line.split("\t") for line in self._lines("qrels.tsv")):
            self.grades.setdefault(query, {})[document] = int(grade)

    def _lines(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8") as file:
            return [line.rstrip("\n") for line in file if line.strip()]

    def write(self, target, form):
        """Writes each document as a file whose name is its id; returns the folder."""
        os.makedirs(target, exist_ok=True)
        for line in self._lines("docs.jsonl"):
            document = json.loads(line)
            title, text = document.get("title") or "", document.get("text") or ""
            if form == "text":
                name, content = f"{document['id']}.txt", f"{title}\n\n{text}\n"
            else:
                name = f"{document['id']}.html"
                content = ("<!DOCTYPE html><meta charset=utf-8>"
                           f"<title>{html.escape(title)}</title><pre>{html.escape(text)}</pre>\n")
            with open(os.path.join(target, name), "w", encoding="utf-8") as file:
                file.write(content)
        return target

    def score(self, ken):
        """Returns the means of nDCG@10 and recall over all queries."""
        figures = [self._score(ken, *query) for query in self.queries]
        return tuple(sum(column) / len(figures) for column in zip(*figures))

    def _score(self, ken, number, text):
        found = [os.path.splitext(os.path.basename(path))[0] for path in ken.ranked(text, DEPTH, "--any")]
        grades = self.grades.get(number, {})
        ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
        if not ideal:
            return 0.0, 0.0
        gain = _gain(grades.get(document, 0) for document in found[:10])
        n_found = sum(grades.get(document, 0) > 0 for document in found)
        return gain / _gain(ideal[:10]), n_found / len(ideal)


def _gain(grades):
    return sum(max(0, grade) / math.log2(rank + 2) for rank, grade in enumerate(grades))


def _table(names, scores, number):
    names = [name for name in names if name in PEERS["Lucene"]]
    header = ["", *names, "mean"]
    rows = []
    for peer, figures in PEERS.items():
        rows.append(_row(peer, [figures[name][number] for name in names]))
    for form in FORMS:
        rows.append(_row(f"ken, {form}", [scores[form][name][number] for name in names]))
    return header, rows


def _row(name, figures):
    return [name, *(f"{figure:.3f}" for figure in [*figures, sum(figures) / max(len(figures), 1)])]


def _goals(names, scores):
    names = [name for name in names if name in PEERS["Lucene"]]
    mean = lambda of: sum(of(name) for name in names) / max(len(names), 1)
    best_mean = max(mean(lambda name: figures[name][0]) for figures in PEERS.values())
    ours = mean(lambda name: scores[name][0])
    goals = [Goal("mean nDCG@10 at least that of the best peer", f"{ours:.4f} against {best_mean:.4f}",
                  ours >= best_mean - 0.0005)]
    for name in names:
        best = max(figures[name][0] for figures in PEERS.values())
        goals.append(Goal(f"{name}: nDCG@10 within {TOLERANCE} of the best peer",
                          f"{scores[name][0]:.4f} against {best:.3f}", scores[name][0] >= best - TOLERANCE))
    return goals

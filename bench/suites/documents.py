"""Words of ken beside those of Apache Tika, over any folder of documents.

Tika is no judge: it has words that no reader sees (codes of headers, names of fields, the prompts of masters, text that was
deleted), and lacks others (targets of links, names of sheets, choices of cells). So the figures are an estimate, and the words that
differ most stand in the raw results.
"""

import collections
import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

from lib.contest import progress
from lib.process import Failed
from lib.report import Goal, Result
from lib.words import words

RECALL = 0.93
OTHERS = 0.01
# Files with fewer words of Tika are left out.
LEAST = 5
SECONDS = 7200
# Tika without Tesseract, which reads pictures.
CONFIG = """<?xml version="1.0" encoding="UTF-8"?>
<properties><parsers><parser class="org.apache.tika.parser.DefaultParser">
<parser-exclude class="org.apache.tika.parser.ocr.TesseractOCRParser"/></parser></parsers></properties>
"""
# Tika's parsers that print a file as it is.
AS_PLAIN = ("TXTParser", "TextAndCSVParser", "SourceCodeParser")
# Formats that are their own text.
PLAIN = ("text/plain", "text/csv", "text/tab-separated-values", "application/json")


def run(bench):
    if not bench.documents or not bench.tika:
        raise Failed("documents needs --documents DIR and --tika JAR")
    ken = bench.ken("documents")[0]
    with tempfile.TemporaryDirectory(dir=bench.work) as folder:
        references = _tika(bench, folder)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            paths = [os.path.join(bench.documents, name) for name in references]
            found = dict(zip(references, pool.map(ken.extracted, paths)))
    progress(f"documents: {len(found)} files")
    kinds = collections.defaultdict(list)
    for name, parts in references.items():
        one = _compare(parts, found[name])
        if one:
            kinds[os.path.splitext(name)[1].lower().lstrip(".")].append((name, one))
    rows = [_row(kind, files) for kind, files in sorted(kinds.items())]
    recall, others = (sum(row[at] for row in rows) / max(1, len(rows)) for at in (3, 4))
    goals = [
        Goal(f"{RECALL} of Tika's words, the mean over formats", f"{recall:.4f}", recall >= RECALL),
        Goal(f"at most {OTHERS} of ken's words are not Tika's", f"{others:.4f}", others <= OTHERS),
    ]
    shown = [[kind, str(files), str(n), f"{recall:.3f}", f"{others:.3f}"] for kind, files, n, recall, others in rows]
    header = ["format", "files", "words", "recall", "other words"]
    about = ("Share of Tika's words that ken has in text, fields or names, and of ken's words in texts that Tika has nowhere; means "
             "over the files of a format. Left out: files in which Tika has fewer than five words, and those that Tika "
             "takes for plain text and ken does not.")
    return Result("documents", about, tables=[("", header, shown)], goals=goals, raw={k: _worst(v) for k, v in kinds.items()})


def _tika(bench, folder):
    """What Tika reads of each file: a list of parts, by the names of files."""
    config, out = os.path.join(folder, "tika.xml"), os.path.join(folder, "out")
    with open(config, "w") as file:
        file.write(CONFIG)
    command = ["java", "-jar", bench.tika, "-J", "-t", f"--config={config}", "-i", bench.documents, "-o", out]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=SECONDS, check=True)
    references = {}
    for name in sorted(os.listdir(out)):
        with open(os.path.join(out, name)) as file:
            try:
                references[name.removesuffix(".json")] = json.load(file)
            except ValueError:
                progress(f"documents: Tika reads nothing of {name}")
    return references


def _compare(parts, documents):
    """Recall, share of other words, number of words, and the words that differ; None if the file does not count."""
    if not parts or not documents:
        return None
    by = _text(parts[0].get("X-TIKA:Parsed-By"))
    if any(parser in by for parser in AS_PLAIN) and documents[-1]["mime"] not in PLAIN:
        return None
    wanted = words("\n".join(one.get("X-TIKA:content") or "" for one in parts if not _is_picture(one)))
    everything = words(_text(parts))
    given = words("\n".join(one["body"] for one in documents))
    whole = given + words(_text([[one["fields"], one["ipath"]] for one in documents]))
    # Tika writes the names of embedded pictures into the text.
    names = words("\n".join(_text(one.get("resourceName")) for one in parts))
    wanted = collections.Counter({word: n for word, n in wanted.items() if word in whole or word not in names})
    if wanted.total() < LEAST:
        return None
    missing = wanted - whole
    others = collections.Counter({word: n for word, n in given.items() if word not in everything})
    return (1 - missing.total() / wanted.total(), others.total() / max(1, given.total()), wanted.total(),
            missing.most_common(12), others.most_common(12))


def _is_picture(part):
    return _text(part.get("Content-Type")).startswith("image/")


def _text(value):
    """All values within lists and objects, as lines."""
    if isinstance(value, dict):
        return _text(list(value.values()))
    if isinstance(value, list):
        return "\n".join(map(_text, value))
    return "" if value is None else str(value)


def _row(kind, files):
    scores = [one for _, one in files]
    mean = [sum(one[at] for one in scores) / len(scores) for at in (0, 1)]
    return (kind, len(files), sum(one[2] for one in scores), *mean)


def _worst(files):
    return [{"file": name, "recall": round(one[0], 4), "others": round(one[1], 4), "missing": one[3], "not there": one[4]}
            for name, one in sorted(files, key=lambda item: item[1][0])[:10]]

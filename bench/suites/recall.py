"""Words that ken finds in files of each format, beside those that a reference program finds."""

import html
import json
import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Callable

from lib.contest import progress
from lib.documents import Documents
from lib.made import all_made
from lib.made_more import all_more
from lib.made_pdf import KINDS, all_pdfs
from lib.report import Goal, Result
from lib.words import Score, score

RECALL = 0.98
PRECISION = 0.99
SECONDS = 120

# Why ken has less than the goal: (format, reference) and the reason.
NUMBERS = "the numbers of lists and headings, which LibreOffice counts; no file holds them"
CAUSES = {
    ("pdf", "pdftotext"): "formulas, whose pieces stand in another order; a header whose letters are "
                          "spaced out in one file",
    ("docx", "LibreOffice"): NUMBERS,
    ("odt", "LibreOffice"): NUMBERS,
    ("ott", "LibreOffice"): "the date of the day, which LibreOffice sets into fields of dates; "
                            "templates have few words",
    ("doc", "LibreOffice"): NUMBERS,
    ("doc", "catdoc"): "codes of fields, which catdoc writes beside their results: HYPERLINK with "
                       "its address, REF; without them 0.997",
    ("rtf", "LibreOffice"): "the numbers of lists and headings, which RTF holds as text that programs count anew",
    ("xlsx", "LibreOffice"): "dates, which ken gives as ISO 8601 where the format is that of the "
                             "locale; digits after the tenth of numbers without a format; parts of "
                             "pivot tables that are counted anew",
    ("ods", "LibreOffice"): "cells that a file repeats by a number stand once",
    ("epub", "pandoc"): NUMBERS.replace("LibreOffice", "pandoc"),
    ("html", "w3m"): "w3m writes the numbers of lists and the addresses of redirections",
    ("ps", "ps2ascii"): "ps2ascii tears words apart and runs others together",
}


@dataclass(frozen=True)
class Case:
    """A format and a program that reads it, too."""

    kind: str
    reference: str
    text: Callable  # path -> text; None stands for LibreOffice's export


def run(bench):
    documents = Documents(bench.corpora, bench.quick)
    ken = bench.ken("recall")[0]
    ours, rows, raw, goals = {}, [], {}, []
    for case in CASES:
        if case.kind not in ours:
            ours[case.kind] = _texts_of(ken, documents.files(case.kind))
        references = _references(case, documents)
        scores = {
            name: score(ours[case.kind][name], text)
            for name, text in references.items() if text is not None and text.strip()
        }
        total = Score()
        for one in scores.values():
            total.add(one)
        progress(f"recall: {case.kind} by {case.reference}: {total.recall:.4f}")
        rows.append(_row(case, scores, total))
        raw[f"{case.kind} by {case.reference}"] = _raw(scores, total)
        met = total.recall >= RECALL or (case.kind, case.reference) in CAUSES
        goals.append(Goal(f"{case.kind}: {RECALL} of the words of {case.reference}, or the cause",
                          f"{total.recall:.4f}", met))
    header = ["format", "reference", "files", "words", "recall", "precision",
              f"files below {RECALL}", "what is missing"]
    kinds = _kinds(bench, ken, raw, goals)
    about = (
        "Share of the words of a reference program that ken has (recall), and of ken's that the "
        "reference has (precision), as multisets, after NFKC and in lower case. Files that the "
        "reference reads no word of are left out."
    )
    return Result("recall", about, tables=[("", header, rows), kinds], goals=goals, raw=raw)


def _kinds(bench, ken, raw, goals):
    """Words found in inputs whose words are known: objects, names of members, charsets, drawings, books, tables,
    Hangul, cabinets, data within text, kinds of PDF."""
    folder = os.path.join(bench.corpora.work, "corpora", "made")
    made = all_made(folder) + all_more(folder + "-more") + all_pdfs(folder + "-pdf")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        texts = list(pool.map(lambda one: _shown(ken, one), made))
    rows = []
    for kind in ("objects", "names", "charsets", "drawings", "books", "tables", "hangul", "cabinets", "data", *KINDS):
        ways = {}
        for one, text in zip(made, texts):
            if one.kind == kind:
                for way in (one.way, ""):
                    ways.setdefault(way, (Score(), []))[0].add(score(text, one.text))
                    ways[way][1].append(one.path)
        if not ways:
            progress(f"recall: {kind}: nothing is installed that makes inputs")
            continue
        total = ways.pop("")[0]
        progress(f"recall: {kind}: {total.recall:.4f}")
        raw[kind] = {way: [len(paths), one.recall, one.precision] for way, (one, paths) in ways.items()}
        goals.append(Goal(f"{kind}: {RECALL} of the words, at most {1 - PRECISION:.2f} that are not there",
                          f"{total.recall:.4f}, {1 - total.precision:.4f}",
                          total.recall >= RECALL and total.precision >= PRECISION))
        rows += [[kind, way, str(len(paths)), str(one.wanted), f"{one.recall:.4f}", f"{1 - one.precision:.4f}"]
                 for way, (one, paths) in sorted(ways.items())]
    return ("Inputs with known words", ["kind", "made by", "files", "words", "recall", "not there"], rows)


def _shown(ken, one):
    """What ken shows of an input: the names of members, or the texts."""
    return "\n".join(ken.member_paths(one.path)) if one.kind == "names" else ken.text(one.path)


def _row(case, scores, total):
    low = sum(one.recall < RECALL for one in scores.values())
    cause = CAUSES.get((case.kind, case.reference), "") if total.recall < RECALL or low else ""
    return [case.kind, case.reference, str(len(scores)), str(total.wanted), f"{total.recall:.4f}",
            f"{total.precision:.4f}", str(low), cause]


def _raw(scores, total):
    """The totals, and of files below the goal the words that ken lacks most."""
    worst = sorted(scores.items(), key=lambda item: item[1].recall)[:10]
    return {
        "found": total.found, "wanted": total.wanted, "given": total.given,
        "worst": [
            {"file": name, "recall": round(one.recall, 4), "missing": one.missing.most_common(12)}
            for name, one in worst if one.recall < RECALL
        ],
    }


def _references(case, documents):
    if case.text is None:
        return documents.texts(case.kind)
    files = documents.files(case.kind)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(map(os.path.basename, files), pool.map(case.text, files)))


def _texts_of(ken, files):
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(zip(map(os.path.basename, files), pool.map(ken.text, files)))


def _output(*argv, cwd=None):
    """What a program prints; None if it failed."""
    try:
        done = subprocess.run(argv, capture_output=True, timeout=SECONDS, check=False, cwd=cwd,
                              env={**os.environ, "LC_ALL": "C.UTF-8"})
    except subprocess.TimeoutExpired:
        return None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


def _pdftotext(path):
    text = _output("pdftotext", "-q", path, "-")
    # ken joins what a line's end divides.
    return text and re.sub(r"(?<=[^\W\d_])[-\u00ad\u2010]\n(?=[^\W\d_])", "", text)


def _ps2pdf(path):
    with tempfile.TemporaryDirectory() as folder:
        pdf = os.path.join(folder, "pages.pdf")
        return _output("ps2pdf", path, pdf) is not None and _pdftotext(pdf) or None


def _w3m(path):
    return _output("w3m", "-dump", "-cols", "500", "-T", "text/html", "-I", "UTF-8",
                   "-O", "UTF-8", path)


def _man(path):
    text = _output("man", "-Tutf8", "-P", "cat", "--nh", "-l", path)
    return text and re.sub(r"\x1b\[[0-9;]*m|.\x08", "", text)


def _info(path):
    """A manual without the heads of its nodes, its tables and its marks."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = re.sub(r"\x00\x08\[.*?\x00\x08\]", " ", file.read(), flags=re.S)
    text = re.sub(r"\x1f\n(?:Tag Table|Indirect|Local Variables):.*?(?=\x1f|\Z)", " ", text, flags=re.S)
    return re.sub(r"\x1f\n(?:File:|End Tag Table).*", " ", text)


def _chm(path):
    """The pages of a manual, unpacked and without their tags."""
    texts = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["extract_chmLib", path, folder], stdout=subprocess.DEVNULL, check=True)
        for parent, _, names in os.walk(folder):
            for name in sorted(names):
                if name.lower().endswith((".html", ".htm")):
                    with open(os.path.join(parent, name), encoding="utf-8", errors="replace") as file:
                        texts.append(_without_tags(file.read()))
    return "\n".join(texts)


def _without_tags(page):
    page = re.sub(r"(?is)<(script|style|title)\b.*?</\1\s*>|<!--.*?-->", " ", page)
    page = re.sub(r"(?i)</?(b|i|u|a|em|strong|span|font|tt|code|var|sub|sup)\b[^>]*>", "", page)
    return html.unescape(re.sub(r"<[^>]*>", " ", page))


def _notebook(path):
    with open(path, encoding="utf-8") as file:
        cells = json.load(file).get("cells", [])
    return "\n".join("".join(cell["source"]) for cell in cells)


def _command(*argv):
    return lambda path: _output(*argv, path)


def _unrtf(path):
    """unrtf writes pictures into the folder that it is started in."""
    with tempfile.TemporaryDirectory() as folder:
        text = _output("unrtf", "--text", os.path.abspath(path), cwd=folder)
    # A head about the file comes first.
    return text and re.sub(r"(?m)^###.*\n", "", text)


CASES = [
    Case("pdf", "pdftotext", _pdftotext),
    Case("docx", "LibreOffice", None),
    Case("odt", "LibreOffice", None),
    Case("ott", "LibreOffice", None),
    Case("doc", "LibreOffice", None),
    Case("doc", "antiword", _command("antiword", "-m", "UTF-8.txt", "-w", "0")),
    Case("doc", "catdoc", _command("catdoc", "-w", "-d", "utf-8")),
    Case("rtf", "LibreOffice", None),
    Case("rtf", "unrtf", _unrtf),
    Case("xlsx", "LibreOffice", None),
    Case("ods", "LibreOffice", None),
    Case("xls", "LibreOffice", None),
    Case("xls", "xls2csv", _command("xls2csv", "-d", "utf-8")),
    Case("pptx", "LibreOffice", None),
    Case("odp", "LibreOffice", None),
    Case("ppt", "LibreOffice", None),
    Case("epub", "pandoc", _command("pandoc", "-f", "epub", "-t", "plain", "--wrap=none")),
    Case("html", "w3m", _w3m),
    Case("djvu", "djvutxt", _command("djvutxt")),
    Case("chm", "extract_chmLib", _chm),
    Case("man", "man", _man),
    Case("info", "the file's text", _info),
    Case("ps", "ps2pdf, pdftotext", _ps2pdf),
    Case("ps", "ps2ascii", _command("ps2ascii")),
]

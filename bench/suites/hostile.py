"""A folder in which every tenth file is hostile: all others are indexed, each of those is listed."""

import gzip
import io
import json
import os
import random
import shutil
import zipfile

from lib import process, stats
from lib.contest import progress
from lib.corpus import files_below, measured
from lib.process import Command, output
from lib.report import Goal, Result

SLOWER = 1.3
DEADLINE = 60  # seconds that a file may take, by default
HANGING = 2  # so many files that would take very long
DATA = os.path.join(os.path.dirname(__file__), "../../crates/ken-extract/tests/data")
# Formats that show when they end too early.
TORN = (".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub", ".zip", ".gz", ".xz", ".bz2",
        ".zst", ".tgz", ".chm")
NOISE = ("docx", "xlsx", "pptx", "odt", "ods", "odp", "epub", "zip", "pdf", "chm", "djvu", "gz")


def run(bench):
    good, mixed = _corpus(bench, "good"), _corpus(bench, "mixed")
    ken = bench.ken("hostile")[0]
    costs = {"good": [], "mixed": []}
    for number in range(bench.rounds):
        for corpus in (good, mixed):
            ken.prepare([corpus.path])
            os.sync()
            cost = process.run(ken.index(), bench.log("hostile", "ken"))
            kind = "good" if corpus is good else "mixed"
            costs[kind].append(cost)
            progress(f"hostile: {kind} round {number + 1}/{bench.rounds}: {cost.wall:.2f} s")
    return _result(costs, good, mixed, *_outcome(ken, mixed.path))


def _outcome(ken, root):
    """What was lost of the good files, what was not listed of the hostile ones, and why files failed."""
    lines = output(Command([*ken._ken(), "status", "--failed", "--json"], ok=(0, 1))).splitlines()
    failures = [failure for failure in map(json.loads, lines) if "reason" in failure]
    # A good archive may have parts that cannot be read.
    failed = {failure["path"] for failure in failures
              if not failure["ipath"] or _is_hostile(failure["path"])}
    paths = output(Command([*ken._ken(), "search", "--paths", "--limit", "0", "--",
                            "size:0.."])).splitlines()
    found = {path.partition("|")[0] for path in paths}
    hostile = {path for path in files_below(root) if _is_hostile(path)}
    good = set(files_below(root)) - hostile
    lost = sorted((good - found) | (good & failed))
    unlisted = sorted(hostile - failed)
    return lost, unlisted, failures


def _is_hostile(path):
    return os.path.basename(path).startswith("hostile-")


def _result(costs, good, mixed, lost, unlisted, failures):
    reasons = {}
    for failure in failures:
        reasons[failure["reason"]] = reasons.get(failure["reason"], 0) + 1
    alone = stats.median([cost.wall for cost in costs["good"]])
    wall = stats.median([cost.wall for cost in costs["mixed"]])
    # What a hostile file takes is its own, up to its deadline; all beyond slows the others.
    spent = sum(min(failure["seconds"], DEADLINE) for failure in failures
                if _is_hostile(failure["path"]) and not failure["ipath"])
    limit = SLOWER * alone + spent
    header = ["folder", "files", "MB", "wall s", "CPU s", "largest process", "all processes"]
    rows = [
        [name, str(corpus.files), f"{corpus.bytes / 1e6:.0f}",
         stats.seconds([cost.wall for cost in costs[name]]),
         stats.seconds([cost.cpu for cost in costs[name]]),
         stats.size(stats.median([cost.peak_process for cost in costs[name]])),
         stats.size(stats.median([cost.peak_total for cost in costs[name]]))]
        for name, corpus in (("good", good), ("mixed", mixed))
    ]
    return Result(
        "hostile",
        f"Indexing {good.files} good files, and the same with {mixed.files - good.files} hostile "
        "ones between them: torn, random bytes under a good name, encrypted, bombs, and "
        f"{HANGING} that take a parser very long. Listed: "
        + ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items())) + ".",
        tables=[("", header, rows)],
        goals=[
            Goal("every good file is indexed", f"{len(lost)} lost", not lost),
            Goal("every hostile file is listed", f"{len(unlisted)} not", not unlisted),
            Goal(f"at most {SLOWER} times the time of the good files, and what hostile files "
                 f"take before their deadline ({spent:.1f} s)",
                 f"{wall:.1f} s of {limit:.1f} s", wall <= limit),
        ],
        raw={"lost": [os.path.basename(path) for path in lost],
             "unlisted": [os.path.basename(path) for path in unlisted],
             "reasons": reasons,
             "slowest": sorted((failure["seconds"], os.path.basename(failure["path"]))
                               for failure in failures)[-10:],
             "runs": {name: [vars(cost) for cost in all_] for name, all_ in costs.items()}},
    )


def _corpus(bench, kind):
    """The folder `good` or `mixed`, made once."""
    corpus_folder = os.path.join(bench.work, "corpora", f"hostile-{kind}" + "-quick" * bench.quick)
    if not os.path.isdir(corpus_folder):
        making = corpus_folder + ".making"
        shutil.rmtree(making, ignore_errors=True)
        os.makedirs(making)
        files = _good_files(bench)
        hostile = list(_hostile_files(len(files) // 9)) if kind == "mixed" else []
        for number, path in enumerate(files):
            folder = os.path.join(making, f"{number // 100:03}")
            os.makedirs(folder, exist_ok=True)
            shutil.copyfile(path, os.path.join(folder, f"{number:05}-{os.path.basename(path)}"))
            if number % 9 == 8 and hostile:
                name, content = hostile.pop()
                with open(os.path.join(folder, f"hostile-{number:05}-{name}"), "wb") as file:
                    file.write(content)
        os.rename(making, corpus_folder)
    return measured(f"hostile-{kind}", corpus_folder)


def _good_files(bench):
    """Pages, manuals, and samples of every format, mixed."""
    files = list(files_below(bench.corpora.html(True).path))
    files += list(files_below(bench.corpora.pdf(True).path))
    files += 5 * _samples()
    random.Random(1).shuffle(files)
    return files


def _samples():
    return [path for path in sorted(files_below(DATA)) if "/hostile/" not in path
            and not os.path.basename(path).startswith(("README", "encrypted"))]


def _hostile_files(count):
    """So many names and contents; the last ones are taken first."""
    chance = random.Random(2)
    special = [(f"hang-{n}.pdf", _nested_forms()) for n in range(HANGING)]
    special += [("bomb.txt.gz", _gzip_bomb()), ("bomb.docx", _docx_bomb()),
                ("bomb.zip", _zip_bomb())]
    special += [(os.path.basename(path), _read(path)) for path in files_below(DATA)
                if os.path.basename(path).startswith("encrypted-password")
                or os.path.basename(path) in ("encrypted.docx", "encrypted.zip")]
    torn = [path for path in _samples() if path.endswith(TORN)]
    for number in range(count - len(special)):
        if number % 2:
            yield f"noise.{NOISE[number // 2 % len(NOISE)]}", chance.randbytes(5000)
        else:
            path = torn[number // 2 % len(torn)]
            content = _read(path)
            cut = chance.randrange(len(content) // 4, len(content) * 3 // 4)
            yield f"torn-{os.path.basename(path)}", content[:cut]
    yield from special


def _read(path):
    with open(path, "rb") as file:
        return file.read()


def _zip_of(members):
    """An archive of members, whose contents are given in pieces."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, pieces in members:
            with archive.open(name, "w", force_zip64=True) as member:
                for piece in pieces:
                    member.write(piece)
    return packed.getvalue()


def _gzip_bomb():
    """A text of 300 MB in 300 kB."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb") as file:
        for _ in range(60):
            file.write(b"word " * 1_000_000)
    return packed.getvalue()


def _docx_bomb():
    """A document whose one part expands to 256 MiB."""
    with zipfile.ZipFile(os.path.join(DATA, "sample.docx")) as archive:
        members = {name: [archive.read(name)] for name in archive.namelist()}
    before, body, after = members["word/document.xml"][0].partition(b"<w:body>")
    text = [b"<w:p><w:r><w:t>", *256 * [b"a" * (1 << 20)], b"</w:t></w:r></w:p>"]
    members["word/document.xml"] = [before, body, *text, after]
    return _zip_of(members.items())


def _zip_bomb():
    """Archives in archives, twelve in each, which hold 1.4 TB."""
    content = _zip_of([("zeros.txt", 64 * [bytes(1 << 20)])])
    for _ in range(4):
        content = _zip_of([(f"{n}.zip", [content]) for n in range(12)])
    return content


def _nested_forms():
    """A page that draws a form forty times, which draws another one forty times, six levels deep."""
    draws = "/F Do " * 40
    objects = ["<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>",
               "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R"
               "/Resources<</XObject<</F 5 0 R>>>>>>",
               "<</Length 6>>stream\n/F Do \nendstream"]
    for level in range(6):
        objects.append("<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</F "
                       f"{level + 6} 0 R>>>>/Length {len(draws)}>>stream\n{draws}\nendstream")
    objects.append("<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</Font<</T 12 0 R>>>>"
                   "/Length 25>>stream\nBT /T 9 Tf (word) Tj ET \nendstream")
    objects.append("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
    pdf = b"%PDF-1.4\n"
    for number, text in enumerate(objects, 1):
        pdf += f"{number} 0 obj\n{text}\nendobj\n".encode()
    return pdf + b"trailer<</Root 1 0 R>>\n%%EOF\n"

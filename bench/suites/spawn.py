"""What it costs to start a program for each file: Recoll's way, and ken's.

12,500 small Word files are read by antiword, started anew for each by a process of 500 MB, once by
fork and exec and once by posix_spawn; and by ken's own parser, in sandboxed worker processes that
stay, and in the process itself. antiword's rows and ken's compare different parsers; the two of
ken compare what the isolation costs.
"""

import os
import shutil
import subprocess

from lib import process, stats
from lib.contest import progress
from lib.corpus import HTML_PACKAGES, files_below, measured
from lib.report import Goal, Result

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SPAWNER = os.path.join(os.path.dirname(HERE), "lib", "spawner.py")
FILES = 12_500
DIFFERENT = 60
# A fork of a large process is so slow that fewer runs suffice.
FORKS = 1_000
PARENT_MEGABYTES = 500
MAX_ISOLATION_MS = 0.02


def run(bench):
    files = 500 if bench.quick else FILES
    doc = _corpus(bench, "doc")
    helper = _helper()
    suffix = "doc" if _reads(helper, doc) else "docx"
    own = doc if suffix == "doc" else _corpus(bench, suffix)
    rows, raw = [], {"files": files, "format_of_ken": suffix}
    ways = [
        (f"antiword, fork and exec from {PARENT_MEGABYTES} MB",
         lambda: _antiword("fork", doc, min(FORKS, files))),
        (f"antiword, posix_spawn from {PARENT_MEGABYTES} MB",
         lambda: _antiword("spawn", doc, files)),
        (f"ken, worker processes that stay, {suffix}", lambda: _ken(bench, helper, "all", own, files)),
        (f"ken, in the process, {suffix}", lambda: _ken(bench, helper, "none", own, files)),
    ]
    figures = {name: [] for name, _ in ways}
    for number in range(bench.rounds):
        for name, measure in ways:
            figures[name].append(measure())
            progress(f"spawn: {name} round {number + 1}/{bench.rounds}")
    for name, _ in ways:
        wall = stats.median([figure[0] for figure in figures[name]])
        cpu = stats.median([figure[1] for figure in figures[name]])
        rows.append([name, f"{cpu * 1000:.3f}", f"{wall * 1000:.3f}", str(figures[name][0][2])])
        raw[name] = figures[name]
    worker, inside = (stats.median([figure[1] for figure in figures[name]]) for name, _ in ways[2:])
    cost = (worker - inside) * 1000
    header = ["way", "CPU ms a file", "wall ms a file", "files"]
    about = (f"{DIFFERENT} different Word files made by LibreOffice, {own.bytes / own.files / 1000:.0f}"
             f" kB on average, read again and again.")
    goal = Goal(f"spawn: a worker costs at most {MAX_ISOLATION_MS} ms of CPU a file",
                f"{cost:.3f} ms", cost <= MAX_ISOLATION_MS)
    return Result("spawn", about, tables=[("", header, rows)], goals=[goal], raw=raw)


def _antiword(way, corpus, files):
    """Wall and CPU seconds for one file, and how many were read."""
    paths = list(files_below(corpus.path))
    listing = "\n".join((paths * (files // len(paths) + 1))[:files])
    program = shutil.which("antiword")
    argv = ["python3", SPAWNER, way, str(PARENT_MEGABYTES), program]
    done = subprocess.run(argv, input=listing, stdout=subprocess.PIPE, text=True, check=True)
    wall, cpu, count = done.stdout.split()
    return float(wall) / int(count), float(cpu) / int(count), int(count)


def _ken(bench, helper, mode, corpus, files):
    """The same, by ken's parser; the start of process and workers is counted in."""
    listing = os.path.join(bench.work, "spawn.list")
    with open(listing, "w") as file:
        file.write("\n".join(files_below(corpus.path)))
    times = files // corpus.files
    argv = ["/bin/sh", "-c", 'exec "$1" "$2" "$3" < "$4"', "-", helper, mode, str(times), listing]
    cost = process.run(process.Command(argv), bench.log("spawn", mode))
    count = times * corpus.files
    return cost.wall / count, cost.cpu / count, count


def _reads(helper, corpus):
    """Whether ken has a parser for these files."""
    listing = "\n".join(files_below(corpus.path))
    done = subprocess.run([helper, "none", "1"], input=listing, stdout=subprocess.PIPE, text=True,
                          check=True)
    return " 0 bytes of text" not in done.stdout


def _corpus(bench, suffix):
    """Word files with texts of Python's documentation, made by LibreOffice."""
    target = os.path.join(bench.work, "corpora", f"word-{suffix}")
    if not os.path.isdir(target):
        office = shutil.which("soffice")
        if office is None:
            raise process.Failed("the suite spawn makes its files by LibreOffice (soffice)")
        making = target + ".making"
        shutil.rmtree(making, ignore_errors=True)
        os.makedirs(making + ".txt", exist_ok=True)
        sources = sorted(files_below(bench.corpora.package(HTML_PACKAGES[0]), (".rst.txt",)))
        texts = [_excerpt(path, number, making + ".txt")
                 for number, path in enumerate(sources[:DIFFERENT])]
        profile = f"-env:UserInstallation=file://{making}.profile"
        convert = {"doc": "doc:MS Word 97", "docx": "docx:MS Word 2007 XML"}[suffix]
        subprocess.run([office, profile, "--headless", "--convert-to", convert, "--outdir", making,
                        *texts], check=True, stdout=subprocess.DEVNULL)
        os.rename(making, target)
    return measured(f"word-{suffix}", target)


def _excerpt(path, number, folder):
    """The first pages of a text, as a file of its own."""
    copy = os.path.join(folder, f"{number}.txt")
    with open(path, errors="replace") as source, open(copy, "w") as file:
        file.write(source.read(8_000))
    return copy


def _helper():
    """Builds the program that extracts files over and over and returns its path."""
    build = ["cargo", "build", "--release", "--locked", "-p", "ken-extract", "--example",
             "extract_many"]
    subprocess.run(build, cwd=ROOT, check=True)
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
    return os.path.join(target, "release", "examples", "extract_many")

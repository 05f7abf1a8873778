"""Looking up terms from many threads: Minion's experiment.

10,000 terms are drawn from a dictionary; each of N threads looks all of them up in an order of its
own, once with all terms present and once with half of them absent. The dictionaries are that of the
body of the 300,000 documents of `latency`, as ken wrote it, and one of ten million terms: those, and
pairs of them. Xapian and Lucene have the same terms in one segment each, `fst` is the bare automaton
that ken's dictionaries are made of. CPU time per look-up is what a busy machine changes least.
"""

import json
import os
import re
import subprocess

from lib import process
from lib.contest import progress
from lib.report import Goal, Result

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(os.path.dirname(HERE), "dictionary")
ROOT = os.path.dirname(os.path.dirname(HERE))
LUCENE = "9.12.3"
LUCENE_URL = ("https://repo1.maven.org/maven2/org/apache/lucene/lucene-core/"
              f"{LUCENE}/lucene-core-{LUCENE}.jar")
THREADS = ["1", "2", "4", "8", "16", "32", "64", "128"]
MAX_SEGMENT_NS = 2000
MAX_LOSS = 0.10


def run(bench):
    work = os.path.join(bench.work, "dictionary")
    os.makedirs(work, exist_ok=True)
    ken = built("ken-index", "dictionary")
    index = os.path.join(bench.library_index(), "index")
    work_path = lambda name: os.path.join(work, name)
    sets = {"real": (index, "body"), "ten": (work_path("ten-index"), "msgid")}
    if not os.path.exists(work_path("real-terms")):
        call([ken, "export", index, "body", work_path("real-terms")])
    if not os.path.exists(work_path("ten-terms")):
        count = "100000" if bench.quick else "10000000"
        call([ken, "grow", work_path("real-terms"), count, work_path("ten-index"), work_path("ten-terms")])
    xapian, lucene = peers(work)
    result = Result("dictionary", __doc__.split("\n\n", 1)[1].strip())
    threads = THREADS[:2] if bench.quick else THREADS
    for name, (index, field) in sets.items():
        terms, hits, half = (work_path(f"{name}-{part}") for part in ("terms", "hits", "half"))
        call([ken, "sample", terms, hits, half])
        measured = []
        for command in (
            [ken, "run", index, field, terms, hits, half, *threads],
            [*xapian, work_path(f"{name}-xapian"), terms, hits, half, *threads],
            [*lucene, work_path(f"{name}-lucene"), terms, hits, half, *threads],
        ):
            measured += [json.loads(line) for line in call(command)]
            progress(f"dictionary: {name}: {measured[-1]['program']} done")
        result.raw[name] = measured
        add(result, name, measured)
    futex = {rounds: futexes(ken, sets["ten"], work_path("ten-hits"), rounds) for rounds in (1, 20)}
    result.raw["system_calls"] = futex
    result.goals.append(Goal(
        "dictionary: no lock: as many futex calls for 1,600,000 look-ups as for 80,000, by 8 threads",
        f"{futex[20]} and {futex[1]}", futex[20] <= futex[1] + 16))
    return result


def built(crate, bench):
    """Builds a program of measurements and returns its path."""
    command = ["cargo", "build", "--release", "--locked", "-p", crate, "--bench", bench,
               "--message-format", "json"]
    lines = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    found = [json.loads(line).get("executable") for line in lines.splitlines()]
    return next(path for path in found if path)


def peers(work):
    """Commands for Xapian's and Lucene's part, built and fetched."""
    xapian = os.path.join(work, "xapian")
    source = os.path.join(PROGRAMS, "xapian.cc")
    call(["g++", "-std=c++20", "-O2", "-o", xapian, source, "-lxapian", "-pthread"])
    jar = os.path.join(work, f"lucene-core-{LUCENE}.jar")
    if not os.path.exists(jar):
        call(["curl", "-sSfo", jar, LUCENE_URL])
    return [xapian], ["java", "-Xmx6g", "-cp", jar, os.path.join(PROGRAMS, "Lucene.java")]


def call(command):
    """Lines of standard output."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode:
        raise process.Failed(f"{' '.join(command)} ended with {done.returncode}")
    return done.stdout.decode().splitlines()


def futexes(ken, dictionary, hits, rounds):
    """Calls of futex by 8 threads that look all terms up so many times."""
    command = ["strace", "-f", "-c", "-e", "trace=futex", ken, "loop", *dictionary, hits, "8", str(rounds)]
    text = subprocess.run(command, check=True, stderr=subprocess.PIPE).stderr.decode()
    found = re.search(r"^\s*\S+\s+\S+\s+\S+\s+(\d+).*futex$", text, re.M)
    return int(found.group(1)) if found else 0


def add(result, name, measured):
    """Tables of one dictionary, and the goals that ken has there."""
    header = ["program", "segments", "set", "threads", "look-ups/s", "CPU ns", "mean ns", "p99 ns", "allocations"]
    rows = [[
        line["program"], str(line["segments"]), line["set"], str(line["threads"]),
        f"{line['lookups_per_second'] / 1e6:.2f} M", f"{line['cpu_ns']:.0f}", f"{line['mean_ns']:.0f}",
        f"{line['p99_ns']:.0f}", str(line.get("allocations", "–")),
    ] for line in measured]
    what = "the real dictionary" if name == "real" else "ten million terms"
    result.tables.append((f"{what}: {measured[0]['terms']} terms, `cpu` and times of one look-up in all segments:",
                          header, rows))
    ken = [line for line in measured if line["program"] == "ken"]
    single = next(line for line in ken if line["set"] == "hits" and line["threads"] == 1)
    each = single["cpu_ns"] / single["segments"]
    result.goals.append(Goal(f"dictionary, {what}: below 2 µs per segment at one thread",
                             f"{each / 1000:.2f} µs", each < MAX_SEGMENT_NS))
    result.goals.append(Goal(f"dictionary, {what}: a look-up allocates nothing",
                             f"{max(line['allocations'] for line in ken)} allocations",
                             all(line["allocations"] == 0 for line in ken)))
    cores = os.cpu_count()
    for kind in ("hits", "half"):
        rates = {line["threads"]: line["lookups_per_second"] for line in ken if line["set"] == kind}
        base = rates.get(cores) or max(rates.values())
        more = [rate for threads, rate in rates.items() if threads >= cores]
        result.goals.append(Goal(
            f"dictionary, {what}, {kind}: not more than 10 % slower with 128 threads than with {cores}",
            f"{min(more) / base:.2f} of it", min(more) >= (1 - MAX_LOSS) * base))
        if 1 in rates:
            result.goals.append(Goal(f"dictionary, {what}, {kind}: {cores} cores do {cores} times as much",
                                     f"{base / rates[1]:.2f}×", base / rates[1] >= 0.9 * cores))

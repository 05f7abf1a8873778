"""Readers beside a writer: what a search takes while the same index is made anew, and merged, below it.

Fifty readers ask one question after the other, each from a process of its own, and wait half a second
between them, as people and programs do. First nothing else runs. Then `ken index --full` reads everything
again and again, as it does in the background (what others want comes first), and with `--fast`. A reader
that gets an error ends the run.
"""

import threading
import time
from itertools import cycle

from lib import process, stats
from lib.process import Command
from lib.report import Goal, Result

READERS = 50
PAUSE_SECONDS = 0.5
SECONDS = 30
QUICK_SECONDS = 4
# Of the time that it takes at rest.
SLOWER = 2.0
QUESTIONS = [
    "lifetime", "borrow checker", '"garbage collector"', "title:module", "thread*", "ext:html mutex",
    "interface or trait", "serialise~1",
]


def run(bench):
    corpus = bench.corpora.html(bench.quick)
    result = Result("readers", f"{READERS} readers of an index of {corpus.files} HTML pages ({corpus.bytes / 1e6:.0f} MB).")
    for ken in bench.ken("readers"):
        measure(bench, ken, corpus, result)
    return result


def measure(bench, ken, corpus, result):
    ken.prepare([corpus.path])
    process.run(ken.index(), bench.log("readers", ken.name))
    seconds = QUICK_SECONDS if bench.quick else SECONDS
    full = Command([*ken.index().argv, "--full"])
    polite = Command([word for word in full.argv if word != "--fast"])
    phases = [("nothing else runs", None), ("indexing in the background", polite), ("indexing with --fast", full)]
    rows, raw = [], {}
    for name, writer in phases:
        times, n_runs = asked(ken, writer, seconds)
        raw[name] = times
        rows.append([name, str(len(times)), str(n_runs), *(stats.milliseconds(stats.percentile(times, share))
                                                 for share in (0.5, 0.99, 1.0))])
    result.tables.append(("A search as a command:",
                          ["", "searches", "runs of indexing that ended", "median ms", "p99 ms", "slowest ms"], rows))
    result.raw = raw
    rest, background = (stats.percentile(raw[name], 0.99) for name, _ in phases[:2])
    result.goals.append(Goal("readers: p99 beside indexing within twice that at rest",
                             f"{background / rest:.2f}", background <= SLOWER * rest))


def asked(ken, writer, seconds):
    """The times of all searches that readers make in so many seconds, and how often the writer ended."""
    end = time.monotonic() + seconds
    times, errors, n_runs = [], [], 0

    def read(number):
        questions = cycle(QUESTIONS[number % len(QUESTIONS):] + QUESTIONS[:number % len(QUESTIONS)])
        time.sleep(PAUSE_SECONDS * number / READERS)
        while time.monotonic() < end and not errors:
            try:
                times.append(process.answer(ken.search(next(questions), "top10")).wall)
            except process.Failed as error:
                errors.append(error)
            time.sleep(PAUSE_SECONDS)

    readers = [threading.Thread(target=read, args=(number,)) for number in range(READERS)]
    for reader in readers:
        reader.start()
    while writer and time.monotonic() < end and not errors:
        process.silent(writer)
        n_runs += 1
    for reader in readers:
        reader.join()
    if errors:
        raise errors[0]
    return times, n_runs

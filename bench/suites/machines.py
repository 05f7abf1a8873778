"""Two processes that share a run over a cluster of one node, beside one process.

Each process is a machine of its own to ken: it has a data folder, and reads with one thread (`--threads 1`). All run on this
machine, together with the node, so no more processor is there for two than for one: what can be faster is that one process
reads while the other one waits for the node. The files are made texts, which cost little to read, PDF files, which cost
much, and pictures of pages, in which text is recognised. One process and two take turns. The node has a heap of 1 GB.
"""

import json
import os
import subprocess

from lib import stats
from lib.contest import progress
from lib.nodes import KenInCluster, Nodes, start
from lib.process import Command, Failed
from lib.report import Goal, Result
from peers import empty
from suites.cluster import Words

FILES, QUICK_FILES = 10_000, 1_500
PICTURES, QUICK_PICTURES = 100, 20
HEAP = "1g"


def run(bench):
    result = Result("machines", __doc__.split("\n\n", 1)[1].strip())
    os.environ.setdefault("KEN_HEAP", HEAP)
    os.environ.setdefault("KEN_JIT", "full")
    texts = Words().files(bench, "many", QUICK_FILES if bench.quick else FILES)
    with Nodes(1, log=bench.log("machines", "nodes")) as nodes:
        rows = []
        pdf = bench.corpora.pdf(bench.quick).path
        contest(bench, nodes, "texts", texts, rows, result)
        contest(bench, nodes, "PDF", pdf, rows, result)
        contest(bench, nodes, "pictures", pictures(bench, pdf), rows, result, ocr=True)
    result.tables.append(("First index, medians:",
                          ["files", "processes", "s", "documents/s", "CPU s of ken", "files of the run + of the other", "ratio", "load"],
                          rows))
    return result


def pictures(bench, pdf):
    """Pictures of the first pages of PDF files."""
    count = QUICK_PICTURES if bench.quick else PICTURES
    folder = os.path.join(bench.work, "corpora", f"pictures-{count}")
    if not os.path.isdir(folder):
        new = folder + ".new"
        os.makedirs(new, exist_ok=True)
        files = sorted(os.path.join(at, name) for at, _, names in os.walk(pdf) for name in names if name.endswith(".pdf"))
        for number, path in enumerate(files[:count]):
            command = ["pdftoppm", "-png", "-singlefile", "-r", "100", path, os.path.join(new, f"page{number}")]
            subprocess.run(command, check=True)
        os.rename(new, folder)
    return folder


def contest(bench, nodes, what, root, rows, result, ocr=False):
    """One process and two in turn; the first round makes the node's code fast, and is not counted."""
    runs = {1: [], 2: []}
    for number in range(bench.rounds + 1):
        for n_processes in runs:
            one = indexed(bench, nodes, root, n_processes, ocr)
            if number:
                runs[n_processes].append(one)
            progress(f"machines: {what}: {n_processes} processes: {one['seconds']:.1f} s, {one['files']}")
    medians = {n: stats.median([one["seconds"] for one in of]) for n, of in runs.items()}
    for n_processes, of in runs.items():
        rows.append([what, str(n_processes), stats.seconds([one["seconds"] for one in of]),
                     f"{of[0]['documents'] / medians[n_processes]:.0f}", stats.seconds([one["cpu"] for one in of]),
                     ", ".join(" + ".join(map(str, one["files"])) for one in of),
                     f"{medians[1] / medians[n_processes]:.2f}×", f"{stats.median([one['load'] for one in of]):.1f}"])
    result.raw[what] = runs
    counts = {one["documents"] for of in runs.values() for one in of}
    result.goals.append(Goal(f"machines, {what}: one process and two have the same documents", str(sorted(counts)),
                             len(counts) == 1))
    shares = [min(one["files"]) / sum(one["files"]) for one in runs[2]]
    result.goals.append(Goal(f"machines, {what}: each of two reads a third of the files or more",
                             f"{min(shares):.2f}", min(shares) >= 1 / 3))


def indexed(bench, nodes, root, n_processes, ocr):
    """Indexes from nothing; returns the seconds, and the files that each process read, or recognised."""
    machines = [KenInCluster(bench.index_home("machines", str(number)), bench.program, nodes, "archive", replicas=0)
                for number in range(n_processes)]
    running, logs = [], []
    for number, ken in enumerate(machines):
        ken.prepare([root])
        logs.append(bench.log("machines", str(number)))
        empty_file(logs[-1])
    before = os.times()
    began = before.elapsed
    for ken, log in zip(machines, logs):
        command = ken.index()
        argv = [*command.argv, "--json", "--threads", "1", *(["--ocr"] if ocr else [])]
        running.append(start(Command(argv), log))
    codes = [one.wait() for one in running]
    after = os.times()
    if any(codes):
        raise Failed(f"ken index ended with {codes}; see {logs}")
    # The machine with the run counts the files of all.
    added = sorted((summary(log)["recognised" if ocr else "added"] for log in logs), reverse=True)
    found = {"seconds": after.elapsed - began, "files": [added[0] - sum(added[1:]), *added[1:]],
             "cpu": after.children_user + after.children_system - before.children_user - before.children_system,
             "documents": machines[0].documents(), "load": os.getloadavg()[0]}
    nodes.delete("archive")
    for ken in machines:
        empty(ken.home)
    return found


def empty_file(path):
    with open(path, "w"):
        pass


def summary(log):
    with open(log) as file:
        lines = [json.loads(line) for line in file if line.startswith("{")]
    return next(line for line in reversed(lines) if "added" in line)

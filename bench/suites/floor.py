"""Close to the limit: what a run on one thread takes beside what each of its stages takes alone.

Reading the files into the same memory again and again; parsing, without what is done with the text; making
terms of the text; taking grams of what is text; writing as many bytes as the index has, to the disk. What a run
takes more is numbering terms, lists of postings, dictionaries, compressing what is stored, and merging.
"""

import json
import os
import shutil
from dataclasses import asdict

from lib import process, stats
from lib.contest import progress
from lib.process import Command
from lib.report import Goal, Result
from suites.arrangements import each_kind
from suites.dictionary import built

STAGES = ["read", "parse", "tokenise", "grams", "write"]
# Bytes for each CPU second.
GOALS = {"source": 60e6, "html": 40e6}


def run(bench):
    program = built("ken-pipeline", "floor")
    result = Result("floor", "Stages alone on one thread, and ken on one thread (`--threads 1`), seconds.")
    rows = []
    for corpus in each_kind(bench):
        ken = bench.ken("floor")[0]
        argv = [*ken.index().argv, "--threads", "1", corpus.path]
        costs = []
        for _ in range(bench.rounds):
            shutil.rmtree(ken.home, ignore_errors=True)
            costs.append(process.run(Command(argv), bench.log("floor", "ken")))
        # On the same file system as the index.
        scratch = os.path.join(os.path.dirname(ken.home), "floor-scratch")
        floors = [json.loads(process.output(Command([program, corpus.path, ken.home, scratch])))
                  for _ in range(bench.rounds)]
        shutil.rmtree(ken.home, ignore_errors=True)
        seconds = {stage: min(floor["seconds"][stage] for floor in floors) for stage in STAGES}
        cpu, wall = min(cost.cpu for cost in costs), min(cost.wall for cost in costs)
        total = sum(seconds.values())
        rate = corpus.bytes / cpu
        rows.append([f"{corpus.name}, {corpus.bytes / 1e6:.0f} MB", *(f"{seconds[stage]:.2f}" for stage in STAGES),
                     f"{total:.2f}", f"{wall:.2f}", f"{cpu:.2f}", f"{wall / total:.1f}", f"{rate / 1e6:.0f}"])
        result.raw[corpus.name] = {"floors": floors, "runs": [asdict(cost) for cost in costs]}
        if goal := GOALS.get(corpus.name):
            result.goals.append(Goal(f"{corpus.name}: {goal / 1e6:.0f} MB for each CPU second", f"{rate / 1e6:.0f}",
                                     rate >= goal))
        progress(f"floor: {corpus.name} done")
    header = ["kind", *STAGES, "sum", "ken", "ken CPU", "ken / sum", "MB per CPU s"]
    result.tables.append(("", header, rows))
    return result

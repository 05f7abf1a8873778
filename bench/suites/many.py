"""Very many small documents: first indexing, a run with nothing changed beside `find`, one new file, searches.

The tree is made by a rule (`lib/manyfiles.py`); `--files N` says how many there are, ten million at best. On a file
system that keeps small files in their inodes (ext4 made with `-O inline_data -I 512`) they take 5 GB.
"""

import os

from lib import manyfiles, process, stats
from lib.contest import progress
from lib.process import Command
from lib.report import Goal, Result
from peers import disk_bytes
from peers.find import Find
from peers.ken import Ken

SLOWER = 2
MEMORY = max(2, os.cpu_count()) * 256 << 20
BESIDE = 150 << 20
QUERIES = ["{rare}", "baba gudona", '"baba gudona"', "subject:veno", "zab*", "ext:eml bezone"]


def run(bench):
    n_files = 20_000 if bench.quick else bench.files
    root = os.path.join(bench.corpora.work, "corpora", "many")
    progress(f"making {n_files} files")
    manyfiles.make(root, n_files)
    ken = Ken(bench.index_home("many", "ken"), bench.program)
    ken.prepare([root])
    rows = []

    def row(what, cost):
        rows.append([what, f"{cost.wall:.2f}", f"{cost.cpu:.2f}", stats.size(cost.peak_anonymous or cost.peak_process)])
        progress(f"many: {what}: {cost.wall:.2f} s")
        return cost

    first = row("first indexing", process.run(ken.index(), bench.log("many", "ken")))
    segments = len([name for name in os.listdir(os.path.join(ken.home, "index")) if name.endswith(".store")])
    unchanged, found = [], []
    for _ in range(bench.rounds):
        unchanged.append(process.run(ken.index(), os.devnull))
        found.append(process.run(Find([root]).index(), os.devnull))
    row("nothing changed", min(unchanged, key=lambda cost: cost.wall))
    row("`find -printf`", min(found, key=lambda cost: cost.wall))
    new = os.path.join(root, "new.txt")
    with open(new, "w") as file:
        file.write("onenewword\n")
    row("one new file", process.run(ken.index(), os.devnull))
    os.remove(new)
    for query in QUERIES:
        query = query.format(rare=manyfiles.name(n_files // 2))
        argv = [bench.program, "--config", os.devnull, "--data", ken.home, "search", "--", query]
        costs = [process.silent(Command(argv, ok=(0, 1))) for _ in range(bench.rounds + 1)]
        rows.append([f"`{query}`", f"{min(cost.wall for cost in costs):.3f}", f"{min(c.cpu for c in costs):.3f}", "–"])
    wall = [min(cost.wall for cost in costs) for costs in (unchanged, found)]
    text = f"{n_files} files; the index has {stats.size(disk_bytes(ken.home))} in {segments} segments."
    return Result("many", text, tables=[("", ["what", "wall s", "CPU s", "memory of its own"], rows)], goals=[
        Goal(f"many: nothing changed, under {SLOWER} times `find`", f"{wall[0] / wall[1]:.2f}×", wall[0] < SLOWER * wall[1]),
        Goal("many: memory", stats.size(first.peak_anonymous), first.peak_anonymous < MEMORY + BESIDE),
    ])

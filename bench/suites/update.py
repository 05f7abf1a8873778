"""An update with nothing changed: ken's second run beside the walk of `find`.

The corpus is HTML and mail together, more than 50,000 files.
"""

import os
from dataclasses import asdict

from lib import process, stats
from lib.report import Goal, Result
from peers.find import Find

SLOWER = 2


def run(bench):
    corpora = [bench.corpora.html(bench.quick), bench.corpora.mail(bench.quick)]
    roots = [corpus.path for corpus in corpora]
    runners = [Find(roots)]
    for ken in bench.ken("update"):
        ken.prepare(roots)
        process.run(ken.index(), bench.log("update", "ken"))
        runners.insert(0, ken)
    costs = _measure(bench, runners)
    files = sum(corpus.files for corpus in corpora)
    result = Result(
        "update",
        f"An update of {files} files with nothing changed, warm cache.",
        tables=[("", ["program", "wall s", "CPU s"], [_row(*pair) for pair in costs.items()])],
        raw={"files": files,
             "runs": {name: [asdict(cost) for cost in runs] for name, runs in costs.items()}},
    )
    if bench.has_ken:
        ratio = _wall(costs["ken"]) / _wall(costs["find"])
        text = f"update: under {SLOWER} times `find`"
        result.goals = [Goal(text, f"{ratio:.2f}×", ratio < SLOWER)]
    return result


def _measure(bench, runners):
    """Alternating runs; the first of each only warms the cache."""
    costs = {runner.name: [] for runner in runners}
    for number in range(1 + (3 if bench.quick else 15)):
        for runner in runners:
            cost = process.run(runner.index(), os.devnull)
            if number:
                costs[runner.name].append(cost)
    return costs


def _row(name, costs):
    return [name, stats.seconds([c.wall for c in costs]), stats.seconds([c.cpu for c in costs])]


def _wall(costs):
    return stats.median([cost.wall for cost in costs])

"""What more cores would bring: first indexing on simulated cores.

Each thread gets a fixed part of a real core (`lib/cores.py`), so that one real core stands for many slow ones and
everything is slowed alike: walk, extraction, commits, merges, locks. Seconds are as if the cores were not slower. To the
times two laws are fitted: Amdahl's, of which one number is the serial share, and Gunther's universal scalability law
(1993), of which another is what threads cost each other.

More threads also do more work, in part because those of one real core take turns in its caches, which those of many would
not. So Amdahl's law is fitted a second time, to the times that the same work would take: what is left is what cores wait.
"""

import os
from dataclasses import asdict

from lib import cores, stats
from lib.process import Command
from lib.report import Goal, Result
from suites.arrangements import each_kind

# Cores, and how many times slower each is: all together are less than two real ones.
MACHINES = [(1, 4), (2, 4), (4, 4), (8, 8), (16, 16), (64, 64)]
MAX_SERIAL = 0.02


def run(bench):
    if not cores.possible():
        return Result("scaling", "Not run: it needs root and the cpu controller of control groups, version 1.")
    machines = MACHINES[:3] if bench.quick else MACHINES
    rows, worked, raw, goals = [], [], {}, []
    for corpus in each_kind(bench):
        runs = {n: [_run(bench, corpus, n, slower) for _ in range(bench.rounds)] for n, slower in machines}
        times = {n: stats.median([cost.wall for cost in costs]) for n, costs in runs.items()}
        work = {n: stats.median([cost.cpu for cost in costs]) for n, costs in runs.items()}
        serial, contention, coherence = amdahl(times), *gunther(times)
        waiting = amdahl({n: time * work[1] / work[n] for n, time in times.items()})
        rows.append([corpus.name, *[f"{time:.2f} ({times[1] / time:.1f}×)" for time in times.values()],
                     f"{serial:.1%}", f"{contention:.3f}", f"{coherence:.5f}"])
        worked.append([corpus.name, *[f"{work[n]:.2f} ({work[n] / n / times[n]:.0%})" for n in times],
                       f"{waiting:.1%}"])
        raw[corpus.name] = {n: [asdict(cost) for cost in costs] for n, costs in runs.items()}
        goals.append(Goal(f"scaling: serial share of {corpus.name} below {MAX_SERIAL:.0%}",
                          f"{waiting:.1%} ({serial:.1%} with the work that is more)", waiting < MAX_SERIAL))
    of_cores = [f"{n} cores" for n, _ in machines]
    header = ["kind", *of_cores, "serial (Amdahl)", "contention (USL)", "coherence (USL)"]
    header_of_work = ["kind", *of_cores, "serial (Amdahl), of the same work"]
    return Result("scaling", "First indexing on simulated cores: seconds, and how many times faster than one core.",
                  tables=[("", header, rows), ("CPU seconds, and how busy the cores were", header_of_work, worked)],
                  goals=goals, raw=raw)


def _run(bench, corpus, n_cores, slower):
    home = bench.index_home("scaling", "ken")
    ken = bench.ken("scaling")[0]
    ken.home = home
    ken.prepare([corpus.path])
    command = ken.index()
    # The memory of a machine with so many cores; this one may have less than four times as much.
    memory = f"{256 * max(2, n_cores)}M"
    command = Command([*command.argv, "--threads", str(n_cores), "--memory", memory])
    os.sync()
    return cores.run(command, bench.log("scaling", "ken"), n_cores, slower)


def amdahl(times):
    """The serial share: t(n) = t(1) · (s + (1 − s) / n), by least squares of relative errors."""
    best = _least(lambda share: _error(times, lambda n: share + (1 - share) / n), 0, 1)
    return best


def gunther(times):
    """Contention and coherence of t(n) = t(1) · (1 + a · (n − 1) + b · n · (n − 1)) / n."""
    def of(b):
        a = _least(lambda a: _error(times, law(a, b)), 0, 1)
        return _error(times, law(a, b)), a

    def law(a, b):
        return lambda n: (1 + a * (n - 1) + b * n * (n - 1)) / n

    b = _least(lambda b: of(b)[0], 0, 0.05)
    return of(b)[1], b


def _error(times, law):
    return sum((times[1] * law(n) / time - 1) ** 2 for n, time in times.items())


def _least(error, low, high):
    """The least of a function with one valley, by thirds."""
    for _ in range(60):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        if error(left) < error(right):
            high = right
        else:
            low = left
    return (low + high) / 2

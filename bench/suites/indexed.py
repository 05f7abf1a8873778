"""A search with an index of n-grams: ken grep beside ripgrep, which has none, and csearch, which has one.

The source tree is indexed by ken with n-grams and without, by cindex, and by zoekt-index where it is
installed. (ugrep's indexer writes into the tree that it indexes, and Debian 12 has none.) Then every pattern of
bench/patterns.tsv is searched for, the page cache warm, the output thrown away: by ripgrep, by ken without
the index, with stamps checked, with the index trusted, and by csearch and zoekt, which always trust their own. The
floor of what checks stamps is `ken index --dry-run`, a walk with one `stat` for each file. Every pattern is
searched for with a cold cache too, once, if this process may empty the system's.
"""

import os
import shutil

from lib import process, stats
from lib.contest import progress
from lib.process import Command
from lib.report import Goal, Result
from suites.grep import ANY_END, _lines, _measure, _pair, _versions, Scanner, patterns, tree

MAX_SHARE = 12.0
MIN_SPEED = 120
TIMES_TRUSTED = 15
MAX_FLOOR = 1.3
TIMES_CPU = 4
MAX_SCAN = 1.1
MAX_MEGABYTES = 200
# Of all files: what is rare, and what is everywhere.
RARE, EVERYWHERE = 0.01, 0.3
# csearch knows no flag for these.
CSEARCH_KNOWS = {"-i"}
NAMES = ["rg", "scan", "stamps", "trusted", "csearch", "zoekt"]
TIMES_COLD = 20
# Pairs of runs that measure the cost of n-grams.
BUILDS = 3
# A scan with a cold cache takes as long as that of ripgrep.
NOT_COLD = {"scan", "zoekt"}
DROP_CACHES = "/proc/sys/vm/drop_caches"


class Searcher(Scanner):
    """A program that searches an index."""

    def command(self, pattern, *more):
        if self.name == "zoekt":
            regex = pattern.regex.replace("\\", "\\\\").replace('"', '\\"')
            case = "auto" if "-i" in pattern.flags else "yes"
            return Command([*self.argv, f'case:{case} content:"{regex}"'], ok=ANY_END)
        if self.name != "csearch":
            return super().command(pattern, *more)
        return Command([*self.argv, *more, *pattern.flags, pattern.regex],
                       env={"CSEARCHINDEX": self.index}, ok=ANY_END)

    def knows(self, pattern):
        if self.name in ("csearch", "zoekt"):
            return set(pattern.flags) <= CSEARCH_KNOWS
        return super().knows(pattern)


def run(bench):
    source = tree(bench)
    os.chdir(source)
    n_files, n_bytes = measure_tree(source)
    built = build(bench, source)
    home = built["ken"]["home"]
    ken = [bench.program, "--data", home, "grep"]
    searchers = [Searcher("rg", [bench.rg, "--no-config", "-uu"])]
    searchers += [Searcher(name, [*ken, "-uu", *more]) for name, more in
                  (("scan", ["--no-index"]), ("stamps", []), ("trusted", ["--trust-index"]))]
    if "csearch" in built:
        searchers.append(Searcher("csearch", ["csearch"]))
        searchers[-1].index = built["csearch"]["home"]
    if "zoekt" in built:
        searchers.append(Searcher("zoekt", ["zoekt", "-index_dir", built["zoekt"]["home"]]))
    floor = min(process.silent(dry_run(bench, home)).wall for _ in range(bench.rounds + 2))
    # Their paths are of no use to a reader.
    made = {name: {key: of[key] for key in of if key != "home"} for name, of in built.items()}
    rows, raw, kept = [], {"build": made, "floor": floor}, []
    wanted = patterns()[:4] if bench.quick else patterns()
    for pattern in wanted:
        costs = _measure(bench, searchers, pattern)
        wall = {name: min(cost.wall for cost in of) for name, of in costs.items()}
        cpu = {name: min(cost.cpu for cost in of) for name, of in costs.items()}
        lines = [_lines(searcher, pattern) for searcher in searchers[:4]]
        share = int(process.output(searchers[0].command(pattern, "-l")).count("\n")) / n_files
        peak = max(cost.peak_process for name in ("stamps", "trusted") for cost in costs[name])
        kept.append((pattern.name, wall, cpu, share, len(set(lines)) == 1, peak))
        rows.append([f"`{pattern.regex}`".replace("|", "\\|"), " ".join(pattern.flags), str(lines[0]),
                     *[cell for name in NAMES for cell in _pair(wall, cpu, name)],
                     f"{wall['rg'] / wall['trusted']:.1f}"])
        raw[pattern.name] = {name: [vars(cost) for cost in of] for name, of in costs.items()}
        progress(f"indexed: {pattern.name}: rg/trusted {wall['rg'] / wall['trusted']:.1f}")
    cold_searchers = [searcher for searcher in searchers if searcher.name not in NOT_COLD]
    cold, raw["cold"] = cold_runs(cold_searchers, wanted)
    header = ["pattern", "flags", "lines", *[f"{name} {what}" for name in NAMES for what in ("wall ms", "CPU")],
              "rg / trusted"]
    speed = n_bytes / 1e6 / max(built["ken"]["cpu"] - built["without"]["cpu"], 1e-9)
    share = 100 * built["ken"]["bytes"] / n_bytes
    about = (f"{n_files} files, {n_bytes / 1e6:.0f} MB; the best of {bench.rounds} runs; {_versions(searchers[:2])}; "
             f"walk with one stat for each file: {stats.milliseconds(floor)} ms.")
    table = [[name, f"{of['wall']:.1f}", f"{of['cpu']:.1f}", f"{of['bytes'] / 1e6:.1f}",
              f"{100 * of['bytes'] / n_bytes:.1f}", f"{of['peak'] / 1e6:.0f}"] for name, of in built.items()]
    tables = [("Making the index (ken: with the index of words; bytes of the n-grams alone)",
               ["index", "wall s", "CPU s", "MB", "% of the source", "peak MB"], table),
              ("Searching", header, rows),
              ("With a cold cache, wall ms" if cold else "With a cold cache: not measured, the cache cannot be emptied",
               ["pattern", *[searcher.name for searcher in cold_searchers]], cold)]
    return Result("indexed", about, tables=tables, goals=goals(kept, floor, share, speed) + cold_goals(raw["cold"]), raw=raw)


def cold_runs(searchers, wanted):
    """Seconds of each program for each pattern, each time after the cache was emptied; none if it cannot be."""
    rows, raw = [], {}
    for pattern in wanted:
        times = {}
        for searcher in searchers:
            if not searcher.knows(pattern):
                continue
            if not empty_cache():
                return [], {}
            times[searcher.name] = process.silent(searcher.command(pattern)).wall
        raw[pattern.name] = times
        cells = [stats.milliseconds(times[searcher.name]) if searcher.name in times else "–" for searcher in searchers]
        rows.append([f"`{pattern.regex}`".replace("|", "\\|"), *cells])
        progress(f"indexed: {pattern.name}: rg/trusted {times['rg'] / times['trusted']:.1f} with a cold cache")
    return rows, raw


def empty_cache():
    """Has the system forget what it read; returns whether it does."""
    os.sync()
    try:
        with open(DROP_CACHES, "w") as file:
            file.write("3")
    except OSError:
        return False
    return True


def cold_goals(raw):
    if not raw:
        return []
    goals = []
    for name, how in (("stamps", "stamps checked"), ("trusted", "trusted")):
        times = stats.median([of["rg"] / of[name] for of in raw.values()])
        goals.append(Goal(f"indexed: {TIMES_COLD} times faster than rg with a cold cache, {how}, in the median",
                          f"{times:.1f}", times >= TIMES_COLD))
    return goals


def measure_tree(source):
    """How many files there are, and how many bytes they have; reads them, so that no index is made of a cold cache."""
    n_files = n_bytes = 0
    for folder, _, names in os.walk(source):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                with open(path, "rb") as file:
                    n_files, n_bytes = n_files + 1, n_bytes + len(file.read())
    return n_files, n_bytes


def build(bench, source):
    """Makes the indexes; returns what each cost, and how many bytes its n-grams take.

    What n-grams cost is the difference of two runs, each the best of some, in turns.
    """
    built = {}
    for _ in range(1 if bench.quick else BUILDS):
        for name, more in (("ken", []), ("without", ["--no-ngrams"])):
            home = bench.index_home("indexed", name)
            shutil.rmtree(home, ignore_errors=True)
            # Not as in the background, where it leaves the cores to others.
            command = [bench.program, "--data", home, "index", "-q", "--fast", "--hidden", "--no-ignore", *more, source]
            cost = process.run(Command(command), bench.log("indexed", name))
            made = entry(cost, home, size(os.path.join(home, "index", "ngrams")))
            built[name] = min(built.get(name, made), made, key=lambda of: of["cpu"])
    if shutil.which("cindex"):
        home = bench.index_home("indexed", "csearch")
        if os.path.exists(home):
            os.remove(home)
        command = Command(["cindex", source], env={"CSEARCHINDEX": home})
        cost = process.run(command, bench.log("indexed", "csearch"))
        built["csearch"] = entry(cost, home, os.path.getsize(home))
    if shutil.which("zoekt-index"):
        home = bench.index_home("indexed", "zoekt")
        shutil.rmtree(home, ignore_errors=True)
        # By default it leaves out large files, and those with many trigrams.
        limits = ["-file_limit", str(1 << 30), "-max_trigram_count", str(1 << 30)]
        cost = process.run(Command(["zoekt-index", "-index", home, *limits, source]), bench.log("indexed", "zoekt"))
        built["zoekt"] = entry(cost, home, size(home))
    return built


def entry(cost, home, n_bytes):
    return {"wall": cost.wall, "cpu": cost.cpu, "peak": cost.peak_anonymous, "home": home, "bytes": n_bytes}


def size(folder):
    if not os.path.isdir(folder):
        return 0
    return sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder))


def dry_run(bench, home):
    # Not as in the background, where it leaves the cores to others.
    return Command([bench.program, "--data", home, "index", "-q", "--fast", "--dry-run"])


def goals(kept, floor, share, speed):
    times = [wall["rg"] / wall["trusted"] for _, wall, *_ in kept]
    rare = {name: (wall, cpu) for name, wall, cpu, of, *_ in kept if of < RARE}
    # Without a literal that is rare enough no index of n-grams says anything.
    wide = [name for name, (wall, _) in rare.items() if wall["stamps"] > 0.7 * wall["scan"]]
    but = f", but `{'`, `'.join(wide)}`" if wide else ""
    rare = [of for name, of in rare.items() if name not in wide]
    over = max((wall["stamps"] / floor for wall, _ in rare), default=0)
    cpu = min((cpu["rg"] / cpu["stamps"] for _, cpu in rare), default=0)
    everywhere = max((wall["stamps"] / wall["scan"] for _, wall, _, of, *_ in kept if of > EVERYWHERE), default=0)
    different = [name for name, *_, same, _ in kept if not same]
    peak = max(peak for *_, peak in kept)
    return [
        Goal("indexed: the same number of lines as rg, however the index is used", f"{len(different)} differ",
             not different),
        Goal(f"indexed: n-grams take at most {MAX_SHARE:.0f} % of the source", f"{share:.1f} %", share <= MAX_SHARE),
        Goal(f"indexed: n-grams are made of {MIN_SPEED} MB per CPU second", f"{speed:.0f}", speed >= MIN_SPEED),
        Goal(f"indexed: {TIMES_TRUSTED} times faster than rg if trusted, in the median",
             f"{stats.median(times):.1f}", stats.median(times) >= TIMES_TRUSTED),
        Goal(f"indexed: rare patterns at most {MAX_FLOOR} times the walk, stamps checked", f"{over:.2f} at most{but}",
             over <= MAX_FLOOR),
        Goal(f"indexed: rare patterns {TIMES_CPU} times less CPU than rg, stamps checked", f"{cpu:.1f} at least{but}",
             cpu >= TIMES_CPU),
        Goal(f"indexed: what matches everywhere at most {MAX_SCAN} times the scan", f"{everywhere:.2f} at most",
             everywhere <= MAX_SCAN),
        Goal(f"indexed: less than {MAX_MEGABYTES} MB", f"{peak / 1e6:.0f} MB", peak < MAX_MEGABYTES * 1e6),
    ]

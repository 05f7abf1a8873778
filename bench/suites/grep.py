"""A scan for a regular expression: ken grep --no-index beside ripgrep and ag.

Every pattern of bench/patterns.tsv is searched for in a source tree, by each program in turn, the
page cache warm, the output thrown away. The counts of ken and ripgrep are compared as well. Build
ripgrep with the profile of ken (thin LTO, one codegen unit), or the compiler is compared:

    CARGO_PROFILE_RELEASE_LTO=thin CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1 cargo install ripgrep --features pcre2
"""

import os
import shutil
import subprocess
from dataclasses import dataclass

from lib import process, stats
from lib.contest import progress
from lib.process import Command
from lib.report import Goal, Result

HERE = os.path.dirname(os.path.abspath(__file__))
PATTERNS = os.path.join(os.path.dirname(HERE), "patterns.tsv")
SOURCE = "linux-source-6.1"
MAX_RATIO = 1.05
TIMES_AG = 3
MAX_FIRST_BYTE_MS = 50
# Which of many files is searched first differs from run to run, so the result is the median of this many runs.
FIRST_BYTE_RUNS = 9
MAX_MEGABYTES = 200
# Nothing found, or trouble with a pattern, is no failure of the benchmark.
ANY_END = (0, 1, 2)
# A pattern with matches near the start of the walk has at least so many.
MANY_LINES = 1_000
# ag and ugrep know no flag for these.
NOT_FOR_OTHERS = {"--no-unicode", "-U"}
OTHERS = {"ag", "ugrep"}


@dataclass
class Pattern:
    """A line of bench/patterns.tsv."""

    name: str
    regex: str
    flags: list
    about: str


@dataclass
class Scanner:
    """A program that scans a tree."""

    name: str
    argv: list

    def command(self, pattern, *more):
        flags = pattern.flags
        if self.name == "ag":
            flags = [{"-F": "-Q"}.get(flag, flag) for flag in flags] or ["-s"]
            return Command([*self.argv, *more, *flags, "--", pattern.regex, "."], ok=ANY_END)
        return Command([*self.argv, *more, *flags, "-e", pattern.regex, "."], ok=ANY_END)

    def knows(self, pattern):
        return self.name not in OTHERS or not NOT_FOR_OTHERS & set(pattern.flags)


def patterns():
    """The patterns, with the flags of ripgrep that they need."""
    with open(PATTERNS) as file:
        lines = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    return [Pattern(name, regex, flags.split(), about) for name, regex, flags, about in lines]


def tree(bench):
    """The folder of the source tree, unpacked once."""
    if bench.tree:
        return os.path.abspath(bench.tree)
    target = os.path.join(bench.work, "corpora", SOURCE)
    if not os.path.isdir(target):
        archive = os.path.join(bench.corpora.package(SOURCE), "usr", "src", SOURCE + ".tar.xz")
        os.makedirs(target + ".making", exist_ok=True)
        subprocess.run(["tar", "-xf", archive, "-C", target + ".making", "--strip-components=1"],
                       check=True)
        os.rename(target + ".making", target)
    return target


def run(bench):
    os.chdir(tree(bench))
    scanners = [Scanner("ken", [bench.program, "grep", "--no-index"]),
                Scanner("rg", [bench.rg, "--no-config"])]
    if shutil.which("ag"):
        scanners.append(Scanner("ag", ["ag", "-U", "--nocolor"]))
    if shutil.which("ugrep"):
        scanners.append(Scanner("ugrep", ["ugrep", "-r", "-I"]))
    wanted = patterns()[:4] if bench.quick else patterns()
    process.silent(scanners[0].command(wanted[0]))  # the cache is warm from here on
    rows, raw, ratios, of_ag, firsts, largest, different = [], {}, [], [], [], 0, []
    for pattern in wanted:
        costs = _measure(bench, scanners, pattern)
        wall = {name: min(cost.wall for cost in list_) for name, list_ in costs.items()}
        cpu = {name: min(cost.cpu for cost in list_) for name, list_ in costs.items()}
        largest = max([largest, *(cost.peak_process for cost in costs["ken"])])
        lines = {scanner.name: _lines(scanner, pattern) for scanner in scanners[:2]}
        if lines["ken"] != lines["rg"]:
            different.append(pattern.name)
        first = None
        if lines["ken"] >= MANY_LINES:
            runs = range(1 if bench.quick else FIRST_BYTE_RUNS)
            first = stats.median([process.first_byte(scanners[0].command(pattern)) for _ in runs])
            firsts.append(first)
        ratios.append(wall["ken"] / wall["rg"])
        if "ag" in wall:
            of_ag.append(wall["ag"] / wall["ken"])
        rows.append([f"`{pattern.regex}`".replace("|", "\\|"), " ".join(pattern.flags), str(lines["ken"]),
                     *_pair(wall, cpu, "ken"), *_pair(wall, cpu, "rg"), *_pair(wall, cpu, "ag"),
                     *_pair(wall, cpu, "ugrep"), f"{ratios[-1]:.2f}", stats.milliseconds(first) if first else "–"])
        raw[pattern.name] = {name: [vars(cost) for cost in list_] for name, list_ in costs.items()}
        progress(f"grep: {pattern.name}: ken/rg {ratios[-1]:.2f}")
    header = ["pattern", "flags", "lines", "ken wall ms", "CPU", "rg wall ms", "CPU", "ag wall ms", "CPU",
              "ugrep wall ms", "CPU", "ken / rg", "first byte ms"]
    about = f"The best of {bench.rounds} runs; {_versions(scanners)}; files are read, not mapped."
    goals = _goals(ratios, of_ag, firsts, largest, different)
    return Result("grep", about, tables=[("Scan", header, rows)], goals=goals, raw=raw)


def _measure(bench, scanners, pattern):
    """Costs of each program, which take turns in both orders."""
    costs = {}
    for number in range(bench.rounds):
        for scanner in scanners if number % 2 == 0 else reversed(scanners):
            if scanner.knows(pattern):
                cost = process.silent(scanner.command(pattern))
                costs.setdefault(scanner.name, []).append(cost)
    return costs


def _lines(scanner, pattern):
    """How many lines match in all files."""
    output = process.output(scanner.command(pattern, "-c", "-I"))
    return sum(int(count) for count in output.split())


def _pair(wall, cpu, name):
    if name not in wall:
        return ["–", "–"]
    return [stats.milliseconds(wall[name]), stats.milliseconds(cpu[name])]


def _versions(scanners):
    """What each program says that it is."""
    asked = (Command([scanner.argv[0], "--version"]) for scanner in scanners)
    return ", ".join(process.output(command).splitlines()[0] for command in asked)


def _goals(ratios, of_ag, firsts, largest, different):
    ratio = stats.median(ratios)
    goals = [
        Goal("grep: the same number of lines as rg", f"{len(different)} differ", not different),
        Goal(f"grep: at most {MAX_RATIO} times the time of rg, in the median",
             f"{ratio:.3f}, at most {max(ratios):.3f}", ratio <= MAX_RATIO),
        Goal(f"grep: less than {MAX_MEGABYTES} MB", f"{largest / 1e6:.0f} MB",
             largest < MAX_MEGABYTES * 1e6),
    ]
    if of_ag:
        times = stats.median(of_ag)
        goals.append(Goal(f"grep: {TIMES_AG} times faster than ag, in the median",
                          f"{times:.1f}, at least {min(of_ag):.1f}", times >= TIMES_AG))
    if firsts:
        slowest = max(firsts) * 1000
        goals.append(Goal(f"grep: the first byte within {MAX_FIRST_BYTE_MS} ms where much matches",
                          f"{slowest:.1f} ms at most", slowest <= MAX_FIRST_BYTE_MS))
    return goals

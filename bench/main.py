"""The command: chooses suites, finds or builds ken, runs, prints and writes the report."""

import argparse
import datetime
import importlib
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)

from lib import machine, process, report  # noqa: E402
from lib.contest import progress, slug  # noqa: E402
from lib.corpus import Corpora  # noqa: E402
from peers.find import Find  # noqa: E402
from peers.ken import Ken  # noqa: E402
from peers.mu import Mu  # noqa: E402
from peers.notmuch import Notmuch  # noqa: E402
from peers.recoll import Recoll  # noqa: E402

SUITES = ["html", "mail", "pdf", "update", "search", "hostile"]
# Run only when they are named: they need more than the others.
MORE_SUITES = ["spawn", "recall", "documents", "relevance", "known", "dictionary", "latency", "grep", "indexed", "maildir", "mailbox", "arrangements", "scaling", "many", "readers", "floor", "turns", "fresh", "page", "agents", "cluster", "million", "access", "machines"]


class Bench:
    """What the suites get: options, corpora, and folders for indexes and logs."""

    def __init__(self, options):
        self.quick = options.quick
        self.rounds = options.rounds or (1 if options.quick else 3)
        self.relevance = options.relevance
        self.documents = options.documents
        self.tika = options.tika
        self.tree = options.tree
        self.files = options.files
        self.rg = options.rg
        self.work = os.path.abspath(options.work)
        self.corpora = Corpora(self.work, options.corpora, options.maildir)
        self.before = options.before
        self.has_ken = not options.peers_only
        self.has_peers = not options.ken_only
        self._program = self.has_ken and (options.ken or built_ken())
        for part in ("corpora", "index", "log"):
            os.makedirs(os.path.join(self.work, part), exist_ok=True)

    def ken(self, suite):
        """ken with an index of its own for this suite, as a list: empty with --peers-only."""
        return [Ken(self.index_home(suite, "ken"), self._program)] if self.has_ken else []

    @property
    def program(self):
        """The ken to measure."""
        return self._program

    def library_index(self):
        """The home of ken's index of the library, which is made once."""
        ken = Ken(self.index_home("library", "ken"), self._program)
        done = os.path.join(ken.home, "bench-done")
        if not os.path.exists(done):
            ken.prepare([self.corpora.library(self.quick).path])
            process.run(ken.index(), self.log("library", "ken"))
            with open(done, "w"):
                pass
        return ken.home

    def index_home(self, suite, name):
        return os.path.join(self.work, "index", f"{suite}-{name}")

    def log(self, suite, name):
        return os.path.join(self.work, "log", f"{suite}-{slug(name)}")

    def everyone(self):
        """All programs, for their versions."""
        return self.ken("version") + [Recoll(""), Mu(""), Notmuch(""), Find([])]


def main():
    options = parse(sys.argv[1:])
    process.adopt_orphans()
    bench = Bench(options)
    if options.realtime:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(10))  # programs inherit it
    facts = machine.describe(bench.everyone())
    facts["arguments"] = relevant(options)
    results = []
    for name in options.suites or SUITES:
        progress(f"suite {name}")
        results.append(importlib.import_module(f"suites.{name}").run(bench))
    print(report.markdown(facts, results))
    if not options.no_write:
        results_folder = os.path.join(options.results, folder_name(options))
        report.write(results_folder, facts, results)
        progress(f"written to {results_folder}")
    return 0 if all(goal.met for result in results for goal in result.goals) else 1


def relevant(options):
    """The arguments that matter to a reader of the report; no paths of this machine."""
    flags = [f"--{name.replace('_', '-')}" for name in ("quick", "realtime", "ken_only") if getattr(options, name)]
    named = [name for name in ("maildir", "relevance", "documents", "tree") if getattr(options, name)]
    given = [f"--{name} DIR" for name in named]
    rounds = [f"--rounds {options.rounds}"] * bool(options.rounds)
    return [*options.suites, *rounds, *given, *flags]


def folder_name(options):
    """Date and machine; the suites, too, unless all ran."""
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    return "-".join([date, machine.slug(), *options.suites])


def parse(arguments):
    parser = argparse.ArgumentParser(prog="bench/run", description="Measures ken beside its peers.")
    add = parser.add_argument
    add("suites", nargs="*", metavar="SUITE", help=f"any of {', '.join(SUITES)} (the default), {', '.join(MORE_SUITES)}")
    add("--ken", metavar="PATH", help="the ken to measure; default: release build")
    add("--before", metavar="PATH", help="an earlier ken, for the suite turns")
    add("--quick", action="store_true", help="small samples, one round, no files written")
    add("--rounds", type=int, help="runs of each program in indexing contests; default 3")
    add("--corpora", metavar="DIR", help="holds Debian packages already unpacked, by name")
    add("--maildir", metavar="DIR", help="messages to use instead of generated ones")
    add("--relevance", metavar="DIR", help="folder of test collections, for the suite of that name")
    add("--documents", metavar="DIR", help="files of the suite of that name")
    add("--tika", metavar="JAR", help="Apache Tika's tika-app, for the suite documents")
    add("--tree", metavar="DIR", help="source tree for the suites grep and indexed, in place of Debian's linux-source-6.1")
    add("--files", type=int, default=1_000_000, help="files of the suite many; default 1,000,000")
    add("--rg", metavar="PATH", default="rg", help="the ripgrep to measure")
    add("--peers-only", action="store_true", help="leave ken out")
    add("--ken-only", action="store_true", help="leave Recoll out of the suite arrangements, where it takes half an hour")
    add("--realtime", action="store_true", help="outrun other work of a busy machine (root)")
    add("--work", metavar="DIR", default=os.path.join(HERE, "work"), help="default: bench/work")
    results = os.path.join(HERE, "results")
    add("--results", metavar="DIR", default=results, help="default: bench/results")
    add("--no-write", action="store_true", help="print the report, write no files")
    options = parser.parse_args(arguments)
    suites = SUITES + MORE_SUITES
    unknown = sorted(set(options.suites) - set(suites))
    if unknown:
        parser.error(f"no such suite: {', '.join(unknown)}; there are {', '.join(suites)}")
    options.no_write = options.no_write or options.quick
    return options


def built_ken():
    """Builds ken in release mode and returns the path of the binary."""
    root = os.path.dirname(HERE)
    subprocess.run(["cargo", "build", "--release", "--locked", "-p", "ken-cli"], cwd=root, check=True)
    target = os.environ.get("CARGO_TARGET_DIR", os.path.join(root, "target"))
    return os.path.join(target, "release", "ken")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except process.Failed as error:
        sys.exit(f"bench: {error}")

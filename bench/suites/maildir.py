"""A Maildir of at least 30,000 real messages: ken beside mu and notmuch.

First indexing, attachments included; runs in which nothing changed, with every file
looked at and with unchanged folders passed over; one new message; a changed flag. At
the end the table of mu's study of its tunables (size of transactions, synchronous
writing, order of reading) for ken, beside mu's own for the size of transactions.
"""

import os
import shutil
import time
from dataclasses import asdict

from lib import contest, mailgen, process, stats
from lib.process import Command, output
from lib.report import Goal, Result
from peers import empty
from peers.mu import Mu
from peers.notmuch import Notmuch

FASTER = 20
LAZY_SECONDS = 0.05
NEW_SECONDS = 0.1


def run(bench):
    corpus = bench.corpora.mail_with_attachments(bench.quick)
    mu = Mu(bench.index_home("maildir", "mu"))
    notmuch = Notmuch(bench.index_home("maildir", "notmuch"))
    kens = bench.ken("maildir")
    entries = contest.contest(bench, "maildir", corpus, kens + [mu, notmuch], bench.rounds)
    raw = {"files": corpus.files, "bytes": corpus.bytes,
           "entries": [entry.raw() for entry in entries]}
    result = Result(
        "maildir",
        f"A Maildir of {corpus.files} messages ({corpus.bytes / 1e6:.0f} MB).",
        tables=[("Indexing from nothing, attachments included:", *contest.table(entries, corpus))],
        raw=raw,
    )
    if not kens:
        return result
    (ken,) = kens
    for rival in entries[1:]:
        faster = rival.median("wall") / entries[0].median("wall")
        text = f"maildir: {FASTER} times faster than {rival.name}"
        result.goals.append(Goal(text, f"{faster:.1f}×", faster >= FASTER))
    memory = entries[0].median("peak_total")
    result.goals.append(Goal("maildir: memory under 300 MB", stats.size(memory), memory < 300e6))
    _updates(bench, corpus, ken, mu, notmuch, result)
    result.tables.append(("Tunables, indexing from nothing, one run each:",
                          ["program", "tunable", "wall s", "CPU s"],
                          _study(bench, corpus, ken, mu)))
    return result


def _updates(bench, corpus, ken, mu, notmuch, result):
    """Runs after the first one, on a copy that may be written to."""
    copy = corpus.path + ".copy"
    empty(copy)
    os.rmdir(copy)
    shutil.copytree(corpus.path, copy)
    # Times of folders within two seconds of a run are not trusted.
    time.sleep(2.5)
    for peer in (ken, mu, notmuch):
        peer.prepare([copy])
        process.run(peer.index(), bench.log("maildir", peer.name))
    commands = {
        "ken index": ken.index(),
        "mu index": mu.index(),
        "notmuch new --full-scan": notmuch._notmuch("new", "--quiet", "--full-scan"),
        "ken index --lazy": _lazy(ken),
        "mu index --lazy-check": Command([*mu.index().argv, "--lazy-check"]),
        "notmuch new": notmuch.index(),
    }
    costs = _alternating(bench, commands)
    rows = [[name, stats.seconds([c.wall for c in runs]), stats.seconds([c.cpu for c in runs])]
            for name, runs in costs.items()]
    result.tables.append(("Runs in which nothing changed:", ["command", "wall s", "CPU s"], rows))
    result.raw["unchanged"] = {name: [asdict(c) for c in runs] for name, runs in costs.items()}
    wall = {name: stats.median([c.wall for c in runs]) for name, runs in costs.items()}
    result.goals += [
        Goal("maildir: a run that looks at every file no slower than mu's",
             f"{wall['ken index']:.3f} s, mu {wall['mu index']:.3f} s",
             wall["ken index"] <= wall["mu index"]),
        Goal("maildir: a lazy run under 50 ms", f"{wall['ken index --lazy'] * 1000:.0f} ms",
             wall["ken index --lazy"] < LAZY_SECONDS),
    ]
    _one_more(bench, copy, ken, mu, notmuch, result)
    shutil.rmtree(copy)


def _lazy(ken):
    return Command([*ken.index().argv[:-len(ken.roots)], "--lazy"])


def _alternating(bench, commands):
    costs = {name: [] for name in commands}
    for number in range(1 + (3 if bench.quick else 11)):
        for name, command in commands.items():
            cost = process.run(command, os.devnull)
            if number:
                costs[name].append(cost)
    return costs


def _one_more(bench, maildir, ken, mu, notmuch, result):
    """From a message on disk to a search that finds it; then a flag."""
    folder = next(path for path, names, _ in os.walk(maildir) if "cur" in names and "new" in names)
    searches = {
        "ken": lambda word: Command([*ken._ken(), "search", "--count", word]),
        "mu": lambda word: mu.search(word, "paths"),
        "notmuch": lambda word: notmuch._notmuch("count", word),
    }
    index = {"ken": ken.index(), "ken --lazy": _lazy(ken), "mu": mu.index(),
             "mu --lazy-check": Command([*mu.index().argv, "--lazy-check"]),
             "notmuch": notmuch.index()}
    new = {name: [] for name in index}
    flags = {name: [] for name in index}
    # In their lazy runs the others look at whole seconds.
    missed = set()
    for number in range(2 if bench.quick else 7):
        for name, command in index.items():
            key = f"{number}{sum(map(ord, name))}"
            path = os.path.join(folder, "new", f"bench.{key}")
            with open(path, "w") as file:
                file.write(mailgen.ONE_MORE.format(number=key))
            search = searches[name.split()[0]](f"quaggabench{key}")
            started = time.monotonic()
            output(command)
            found = output(search).strip()
            new[name].append(time.monotonic() - started)
            if found in ("", "0"):
                if name.startswith("ken"):
                    raise SystemExit(f"{name} does not find the new message")
                missed.add(name)
            os.rename(path, os.path.join(folder, "cur", f"bench.{key}:2,S"))
            started = time.monotonic()
            output(command)
            flags[name].append(time.monotonic() - started)
    rows = [[f"{name} (did not find it)" if name in missed else name,
             stats.seconds(new[name]), stats.seconds(flags[name])] for name in index]
    result.tables.append(("One new message, and one that was read:",
                          ["program", "indexed and found s", "flag changed s"], rows))
    result.raw["new"] = new
    result.raw["flags"] = flags
    took = stats.median(new["ken"])
    result.goals.append(Goal("maildir: a new message indexed and found in under 100 ms",
                             f"{took * 1000:.0f} ms", took < NEW_SECONDS))


def _study(bench, corpus, ken, mu):
    """mu's study: what transactions, synchronous writing and the order of reading cost."""
    variants = [
        ("defaults", []),
        *[(f"--commit-bytes {size}", ["--commit-bytes", size])
          for size in ("1M", "4M", "16M", "64M")],
        *[(f"--durability {when}, --commit-bytes 4M",
           ["--durability", when, "--commit-bytes", "4M"]) for when in ("full", "normal", "off")],
        *[(f"--order {order}", ["--order", order]) for order in ("inode", "path", "mtime")],
    ]
    rows = []
    for label, options in variants:
        ken.prepare([corpus.path])
        os.sync()
        command = Command([*ken.index().argv, *options])
        cost = process.run(command, bench.log("maildir", "ken"))
        rows.append(["ken", label, f"{cost.wall:.2f}", f"{cost.cpu:.2f}"])
        contest.progress(f"maildir: ken {label}: {cost.wall:.2f} s")
    for size in (100, 1_000, 10_000, 50_000):
        mu.prepare([corpus.path])
        home = f"--muhome={mu.home}"
        empty(mu.home)
        output(Command(["mu", "init", f"--maildir={corpus.path}", f"--batch-size={size}", home]))
        os.sync()
        cost = process.run(mu.index(), bench.log("maildir", "mu"))
        rows.append(["mu", f"--batch-size {size}", f"{cost.wall:.2f}", f"{cost.cpu:.2f}"])
        contest.progress(f"maildir: mu --batch-size {size}: {cost.wall:.2f} s")
    return rows

"""How soon is a change found? ken serve beside recollindex -m, LocalSearch and Baloo.

A program saves a file with a word that no other file has, and asks until the word is found: texts, messages that
are delivered, and PDFs, one after the other on an otherwise idle machine. Then a burst of messages, a tree that is
unpacked, a checkout of it by git, an idle minute, an overflow of the kernel's queue (the reader is stopped meanwhile), and
patterns in the watched tree beside ripgrep. The tree is that of --tree, Linux. Beside it 500,000 small files lie below the
root (--files says how many).
"""

import json
import os
import random
import shutil
import signal
import subprocess
import time

from lib import manyfiles, process, stats
from lib.contest import progress
from lib.report import Goal, Result
from peers.desktop import Baloo, LocalSearch
from peers.ken import Ken
from peers.recoll import Recoll
from suites.grep import tree

PATIENCE = 120
PATTERNS = ["frobnicate", r"pm_runtime_[a-z]+_sync", "wait_event_interruptible", r"EXPORT_SYMBOL_GPL\(kmem"]
BURST = 1_000
# Debian's package of Linux ends with a rule that ignores all of it.
ADD = ["add", "--all", "--force", "--", ".", ":!*.gitignore"]
# Files that stand still while others change.
BESIDE = 500_000


def run(bench):
    home = os.path.join(bench.work, "fresh")
    shutil.rmtree(home, ignore_errors=True)
    docs = os.path.join(home, "docs")
    for name in ("cur", "new", "tmp"):
        os.makedirs(os.path.join(docs, "mail", name))
    Saver(docs).text()
    source = tree(bench)
    many = os.path.join(bench.corpora.work, "corpora", "beside")
    n_beside = 5_000 if bench.quick else min(bench.files, BESIDE)
    progress(f"making {n_beside:,} files")
    manyfiles.make(many, n_beside)
    tables, goals, raw = [], [], {}
    if bench.has_ken:
        ken = Ken(bench.index_home("fresh", "ken"), bench.program)
        with Served(bench, ken, [docs, source, many]) as served:
            measured = Measured(bench, served, docs, source)
            tables, goals, raw = measured.tables(), measured.goals, measured.raw
    if bench.has_peers:
        peers = {"recollindex -m": recoll(bench, docs), **desktops(bench, docs)}
        for name, waits in peers.items():
            progress(f"fresh: {name}")
            tables[0][2].append([name, "text", *waits_row(waits)])
            raw[name] = waits
    shutil.rmtree(home)
    return Result("fresh", "How soon changes are found while a server watches.", tables, goals, raw)


class Saver:
    """Saves files, each with a word of its own."""

    def __init__(self, docs):
        self.docs, self.number = docs, 0

    def word(self):
        self.number += 1
        return f"marker{os.getpid()}x{self.number}x{random.randrange(1 << 30)}"

    def write(self, name, content):
        path = os.path.join(self.docs, name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def text(self):
        word = self.word()
        self.write(f"note {self.number}.txt", f"A note with the word {word}.\n".encode())
        return word

    def mail(self, word=None):
        word = word or self.word()
        self.number += 1
        name = f"{self.number}.host"
        path = self.write(f"mail/tmp/{name}", (
            f"From: Anna <anna@example.org>\nTo: bob@example.org\nSubject: news {self.number}\n"
            f"Message-ID: <{self.number}.{os.getpid()}@example.org>\n\nA text with {word}.\n").encode())
        os.rename(path, os.path.join(self.docs, "mail/new", name))
        return word

    def pdf(self):
        word = self.word()
        self.write(f"paper {self.number}.pdf", pdf(f"A paper with the word {word}"))
        return word


def pdf(text):
    """A PDF of one page with one line."""
    content = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + (b"xref\n0 6\n0000000000 65535 f \n%strailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
                  % (table, len(out)))


class Served:
    """An index that a server keeps fresh."""

    def __init__(self, bench, ken, roots):
        self.ken = ken
        ken.prepare(roots)
        process.run(ken.index(), bench.log("fresh", "ken"))
        self.command = [ken.program, "--config", os.devnull, "--data", ken.home]

    def __enter__(self):
        self.process = subprocess.Popen([*self.command, "serve", "--fast"], stderr=subprocess.DEVNULL)
        self.until(lambda: self.status().get("complete_seconds_ago") is not None)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def run(self, *arguments):
        return subprocess.run([*self.command, *arguments], capture_output=True).stdout

    def status(self):
        return json.loads(self.run("status", "--json"))

    def count(self, word, *options):
        return int(self.run("search", "-c", *options, word) or 0)

    @staticmethod
    def until(holds):
        start = time.monotonic()
        while not holds():
            if time.monotonic() - start > PATIENCE:
                return None
            time.sleep(0.005)
        return time.monotonic() - start

    def proc(self, name):
        with open(f"/proc/{self.process.pid}/{name}") as file:
            return file.read()

    def memory(self):
        return int(next(line for line in self.proc("status").splitlines() if line.startswith("RssAnon")).split()[1])

    def ticks(self):
        fields = self.proc("stat").rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    def switches(self):
        folder = f"/proc/{self.process.pid}/task"
        total = 0
        for task in os.listdir(folder):
            with open(os.path.join(folder, task, "status")) as file:
                total += sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)
        return total


class Measured:
    """The figures of ken."""

    def __init__(self, bench, served, docs, source):
        self.bench, self.served, self.source = bench, served, source
        self.saver, self.goals, self.raw = Saver(docs), [], {}

    def tables(self):
        rows = [["ken serve", kind, *waits_row(self.saves(kind))] for kind in ("text", "mail", "pdf")]
        found = ("Saved and found", ["program", "saved", "median s", "slowest s", "n"], rows)
        all_waits = [wait for kind in ("text", "mail", "pdf") for wait in self.raw[kind]]
        median, slowest = stats.median(all_waits), max(all_waits)
        self.goals.append(Goal("fresh: a saved file is found within 0.4 s, in the median", f"{median:.2f} s", median <= 0.4))
        self.goals.append(Goal("fresh: and within 2 s always", f"{slowest:.2f} s", slowest <= 2))
        storms = ("Much at once", ["what", "s"], [[f"{BURST} messages at once", f"{self.burst():.2f}"],
                                      ["a tree is unpacked: from its end to the last file", f"{self.unpack():.2f}"],
                                      ["a checkout of the tree by git: from its end to the last file", f"{self.checkout():.2f}"],
                                      [f"right again after an overflow, {self.files():,} files", f"{self.overflow():.2f}"]])
        idle = ("At rest", ["in an idle minute", ""], self.idle())
        return [found, storms, idle, self.patterns()]

    def saves(self, kind):
        waits = []
        for _ in range(5 if self.bench.quick else 50):
            time.sleep(1)
            word = getattr(self.saver, kind)()
            waits.append(self.served.until(lambda: self.served.count(word) == 1) or PATIENCE)
        self.raw[kind] = waits
        return waits

    def burst(self):
        word = self.saver.word()
        for _ in range(BURST):
            self.saver.mail(word)
        return self.note("burst", self.served.until(lambda: self.served.count(word) == BURST))

    def unpack(self):
        word = self.saver.word()
        target = os.path.join(self.saver.docs, "unpacked")
        shutil.copytree(os.path.join(self.source, "fs"), target, symlinks=True)
        with open(os.path.join(target, "zzz.txt"), "w") as file:
            file.write(word)
        return self.note("unpacked", self.served.until(lambda: self.served.count(word) == 1))

    def checkout(self):
        """Seconds from the end of `git checkout`, which changes all files of the tree from nothing."""
        word = self.saver.word()
        git = ["git", "-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "gc.auto=0", "-c", "core.compression=0"]
        store = os.path.join(self.bench.corpora.work, "fresh", "store.git")
        with open(os.path.join(self.source, "zzz-last.txt"), "w") as file:
            file.write(word)
        try:
            for arguments in (["init", "--quiet"], ADD, ["commit", "--quiet", "--message", "all"]):
                subprocess.run([*git, f"--git-dir={store}", f"--work-tree={self.source}", *arguments], cwd=self.source, check=True)
        finally:
            os.remove(os.path.join(self.source, "zzz-last.txt"))
        self.served.until(lambda: self.served.count(word) == 0)
        target = os.path.join(self.saver.docs, "checkout")
        subprocess.run([*git, "clone", "--quiet", "--shared", "--no-checkout", store, target], check=True)
        subprocess.run([*git, "-C", target, "checkout", "--quiet", "-f", "HEAD"], check=True)
        seconds = self.note("checkout", self.served.until(lambda: self.served.count(word) == 1))
        for folder in (target, store):
            shutil.rmtree(folder)
        self.served.until(lambda: self.served.count(word) == 0)
        return seconds

    def files(self):
        return self.served.status()["files"]

    def overflow(self):
        with open("/proc/sys/fs/inotify/max_queued_events") as file:
            limit = int(file.read())
        self.served.process.send_signal(signal.SIGSTOP)
        paths = [self.saver.write(f"flood {n}.txt", b"a flood") for n in range(2)]
        for n in range(limit + 2):
            os.chmod(paths[n % 2], 0o600 + n // 2 % 2)
        word = self.saver.text()
        self.served.process.send_signal(signal.SIGCONT)
        return self.note("overflow", self.served.until(lambda: self.served.count(word) == 1))

    def note(self, name, seconds):
        self.raw[name] = PATIENCE if seconds is None else seconds
        return self.raw[name]

    def idle(self):
        # Merges end, and the writer closes.
        time.sleep(10)
        before = self.served.ticks(), self.served.switches()
        seconds = 10 if self.bench.quick else 60
        time.sleep(seconds)
        ticks, switches = self.served.ticks() - before[0], self.served.switches() - before[1]
        cpu, memory = ticks / os.sysconf("SC_CLK_TCK"), self.served.memory()
        watched = self.served.status()["watched"]
        self.raw["idle"] = {"seconds": seconds, "cpu": cpu, "switches": switches, "kB": memory, "watched": watched}
        self.goals.append(Goal("fresh: nothing wakes an idle server", f"{switches} times", switches == 0))
        self.goals.append(Goal("fresh: at most 60 MB of its own memory", f"{memory / 1024:.0f} MB", memory < 60 << 10))
        return [["CPU seconds", f"{cpu:.2f}"], ["wake-ups", str(switches)], ["own memory, MB", f"{memory / 1024:.0f}"],
                ["folders watched", str(watched)]]

    def patterns(self):
        programs = {
            "ken, watched": [*self.served.command, "grep"],
            "ken, trusted": [*self.served.command, "grep", "--trust-index"],
            "rg": [self.bench.rg or "rg"],
        }
        rows, ratios = [], []
        for pattern in PATTERNS:
            costs = {name: [] for name in programs}
            for number in range(1 + 5 * self.bench.rounds):
                for name, program in programs.items():
                    start = time.monotonic()
                    subprocess.run([*program, "-c", pattern, self.source], stdout=subprocess.DEVNULL)
                    if number:
                        costs[name].append(time.monotonic() - start)
            medians = [stats.median(of) for of in costs.values()]
            rows.append([f"`{pattern}`", *[f"{1000 * median:.0f}" for median in medians]])
            ratios.append(medians[2] / medians[0])
            self.raw[pattern] = costs
        ratio = stats.median(ratios)
        self.goals.append(Goal("fresh: grep below a watched root 7 times faster than rg, in the median", f"{ratio:.1f}", ratio >= 7))
        return ("Patterns in the watched tree", ["pattern", *[f"{name}, ms" for name in programs]], rows)


def desktops(bench, docs):
    """The same with the searches of desktops that are installed, for texts only."""
    found = {}
    for kind in (LocalSearch, Baloo):
        if not kind.is_there():
            continue
        with kind(bench.index_home("fresh", kind.name), docs) as peer:
            time.sleep(10)
            saver = Saver(docs)
            found[kind.name] = [Served.until(lambda word=saver.text(): peer.hits(word) == 1) or PATIENCE
                                for _ in range(2 if bench.quick else 20)]
    return found


def waits_row(waits):
    return [f"{stats.median(waits):.2f}", f"{max(waits):.2f}", str(len(waits))]


def recoll(bench, docs):
    """The same with recollindex -m, for texts only."""
    peer = Recoll(bench.index_home("fresh", "recoll"))
    peer.prepare([docs])
    process.run(peer.index(), bench.log("fresh", "recoll"))
    monitor = subprocess.Popen(["recollindex", "-c", peer.home, "-m", "-D", "-x"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    saver, waits = Saver(docs), []
    try:
        time.sleep(10)
        for _ in range(2 if bench.quick else 5):
            word = saver.text()
            waits.append(Served.until(lambda: peer.hits(word) == 1) or PATIENCE)
    finally:
        monitor.terminate()
        monitor.wait()
    return waits

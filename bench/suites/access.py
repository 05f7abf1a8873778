"""What permissions cost: 100,000 files that fifty sets of people may read, with `[access]` off and on.

Every fiftieth file has the same owner, group, mode and POSIX access control list; none may be read by everybody. Half of the sets
let one person read, as owner, as a member of the group, or by the list; one set lets another person read. First ken
indexes the files from nothing, with permissions off and on in turn. Then two servers answer the kinds of questions of the suite
latency over connections that stay open, each question in turn: the one without permissions; the other one for its own
user, for the person who may read half, and for the person who may read one fiftieth, whom a proxy names at the shared
socket. A question takes from its first byte to the last one of the ten best documents with their passages. Needs root.
"""

import grp
import json
import os
import pwd
import struct

from lib import archive, asking, process, stats
from lib.asking import Asked
from lib.contest import progress
from lib.process import Command, Failed
from lib.report import Goal, Result
from peers import empty
from peers.ken import Ken
from suites.million import sample

FILES, QUICK_FILES = 100_000, 2_000
CLASSES = 50
QUESTIONS, QUICK_QUESTIONS = 60, 3
ROUNDS = 3
# People whom every Debian knows. None of them is in a group but their own.
HALF, FEW = "games", "news"
OTHERS = "daemon bin sys man lp mail uucp proxy www-data backup".split()
SLOWER = 2.0
# Entries of an access control list in Linux's posix_acl_xattr.h: owner, user, group of the file, mask, others.
OWNER, USER, GROUP, MASK, OTHER = 1, 2, 4, 16, 32
NOBODY = 0xFFFFFFFF


def run(bench):
    if os.geteuid():
        raise Failed("the suite access gives files to other users: run it as root")
    n_files = QUICK_FILES if bench.quick else FILES
    root = os.path.join(bench.work, "corpora", f"access-{n_files}")
    progress(f"making {n_files} files")
    if not os.path.isdir(root):
        archive.make_files(root + ".making", n_files)
        for number, path in enumerate(archive.paths(root + ".making", n_files)):
            give(path, number % CLASSES)
        os.rename(root + ".making", root)
    result = Result("access", __doc__.split("\n\n", 1)[1].strip())
    off = Ken(bench.index_home("access", "off"), bench.program)
    on = Enforced(bench.index_home("access", "on"), bench.program)
    indexing(bench, off, on, root, result)
    questions = sample(n_files, QUICK_QUESTIONS if bench.quick else QUESTIONS)
    asked(bench, off, on, n_files, questions, result)
    return result


class Enforced(Ken):
    """ken with permissions."""

    name = "ken with permissions"

    def prepare(self, roots):
        super().prepare(roots)
        with open(f"{self.home}.toml", "w") as file:
            file.write(f'[access]\nenforce = true\nsocket = "{self.home}.sock"\nheader = "X-Person"\nproxies = ["root"]\n')

    def _ken(self):
        return [self.program, "--config", f"{self.home}.toml", "--data", self.home]


def give(path, kind):
    """Gives a file the owner, the group, the mode and the list of a set of people."""
    half, few = (pwd.getpwnam(name) for name in (HALF, FEW))
    users = [pwd.getpwnam(name).pw_uid for name in OTHERS]
    groups = [grp.getgrnam(name).gr_gid for name in OTHERS]
    at = kind % len(OTHERS)
    # Owner, group, mode, and who else reads.
    if kind < 8:
        owner, group, mode, reader = half.pw_uid, groups[at], 0o600, None
    elif kind < 16:
        owner, group, mode, reader = users[at], half.pw_gid, 0o640, None
    elif kind < 25:
        owner, group, mode, reader = users[at], groups[0], 0o600, half.pw_uid
    elif kind < 26:
        owner, group, mode, reader = users[at], groups[0], 0o600, few.pw_uid
    elif kind < 36:
        owner, group, mode, reader = users[at], groups[1], 0o640, None
    elif kind < 46:
        owner, group, mode, reader = users[at], groups[2], 0o600, users[(at + 1) % len(users)]
    else:
        owner, group, mode, reader = 0, groups[at], 0o640, None
    os.chown(path, owner, group)
    os.chmod(path, mode)
    if reader is not None:
        entries = [(OWNER, 6, NOBODY), (USER, 4, reader), (GROUP, 0, NOBODY), (MASK, 4, NOBODY), (OTHER, 0, NOBODY)]
        of = b"".join(struct.pack("<HHI", *entry) for entry in entries)
        os.setxattr(path, "system.posix_acl_access", struct.pack("<I", 2) + of)


def indexing(bench, off, on, root, result):
    """From nothing and with nothing changed, in turn; then permissions are switched on for an index without them."""
    times = {what: {"off": [], "on": []} for what in ("from nothing", "nothing changed")}
    cpu = {what: {"off": [], "on": []} for what in times}
    for _ in range(bench.rounds):
        for name, ken in (("off", off), ("on", on)):
            ken.prepare([root])
            os.sync()
            for what in times:
                cost = process.run(ken.index(), bench.log("access", name))
                times[what][name].append(cost.wall)
                cpu[what][name].append(cost.cpu)
                progress(f"access: {name}: {what}: {cost.wall:.1f} s")
    rows = []
    for what, of in times.items():
        wall, used = (stats.median(one[what]["on"]) / stats.median(one[what]["off"]) for one in (times, cpu))
        rows.append([what, *(stats.seconds(of[name]) for name in ("off", "on")), f"{wall:.2f}×",
                     *(stats.seconds(cpu[what][name]) for name in ("off", "on")), f"{used:.2f}×"])
    count = on.documents()
    size = [ken.index_bytes() / count for ken in (off, on)]
    switched = Enforced(bench.index_home("access", "switched"), bench.program)
    switched.prepare([root])
    process.run(Command([off.program, "--config", os.devnull, "--data", switched.home, "index", "--fast", root]),
                bench.log("access", "switched"))
    noted = process.run(switched.index(), bench.log("access", "switched"))
    rows.append(["switched on for an index without", "", f"{noted.wall:.2f}", "", "", f"{noted.cpu:.2f}", ""])
    empty(switched.home)
    result.tables.append((f"ken index, {count} documents, seconds (load {os.getloadavg()[0]:.1f} at the end):",
                          ["", "off", "on", "ratio", "CPU: off", "on", "ratio"], rows))
    result.tables.append(("", ["", "off", "on"], [["bytes of the index per document", *(f"{of:.0f}" for of in size)]]))
    result.raw["indexing"] = {"wall": times, "cpu": cpu, "switched": [noted.wall, noted.cpu], "bytes": size}


def asked(bench, off, on, n_files, questions, result):
    """Asks as everybody, in turn."""
    names = ["off", "owner", "half", "few"]
    log = bench.log("access", "serve")
    with Asked(off, log) as without, Asked(on, log) as owner:
        shared = owner.at(f"{on.home}.sock")
        people = {"off": (without, None), "owner": (owner, None), "half": (shared, HALF), "few": (shared, FEW)}
        seen = {name: one.ask("size:0..", "relevance", person)[1]["total"] for name, (one, person) in people.items()}
        rows, raw = [], {}
        for kind, of_kind in questions.items():
            walls = {name: [] for name in names}
            for number in range(ROUNDS + 1):
                for order, query in of_kind:
                    for name, (one, person) in people.items():
                        wall = one.ask(query, order, person)[0]
                        if number:
                            walls[name].append(wall)
            medians = {name: stats.median(walls[name]) for name in names}
            rows.append([kind, *(figure for name in names for figure in asking.figures(walls[name])),
                         *(f"{medians[name] / medians['off']:.2f}×" for name in names[1:])])
            raw[kind] = walls
            progress(f"access: {kind}: {rows[-1][1:]}")
    result.tables.append((f"At a server, milliseconds; they find {', '.join(f'{name}: {n}' for name, n in seen.items())} "
                          f"documents (load {os.getloadavg()[0]:.1f} at the end):",
                          ["question", *(f"{name}: {figure}" for name in names for figure in ("median", "p99")),
                           *(f"{name} / off" for name in names[1:])], rows))
    expected = {"off": n_files, "owner": n_files, "half": n_files // 2, "few": n_files // CLASSES}
    result.goals.append(Goal("access: everybody finds what they may read", json.dumps(seen), seen == expected))
    ratios = {name: stats.median([stats.median(of[name]) / stats.median(of["off"]) for of in raw.values()])
              for name in names[1:]}
    for name, ratio in ratios.items():
        result.goals.append(Goal(f"access, {name}: in the median of the kinds at most {SLOWER} times the time without",
                                 f"{ratio:.2f}×", ratio <= SLOWER))
    result.raw["served"], result.raw["seen"] = raw, seen

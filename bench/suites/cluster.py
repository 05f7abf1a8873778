"""An index in a cluster of OpenSearch: what fails, and what it costs.

Nodes run on this machine (`scripts/cluster`), each with a heap of 512 MB. The documents are files of some kilobytes,
of made words. First something fails while ken writes: a node is killed, or stopped and woken, a write is refused, disks are
full, a network is cut, the machine that indexes is killed while another one waits, one that helps it is killed, the index gets
more shards while a node is killed, and another machine gives tags while the first one is killed. After each, `ken index` runs
once more; then every file must be in the cluster exactly once, and ken must answer as from an index in its data folder. Then
the cost: documents per second on one node and on three, bytes per document, and the time of a command for each kind of question
beside the embedded engine.
"""

import json
import os
import random
import resource
import time

from lib import process, stats
from lib.contest import progress
from lib.nodes import KenInCluster, Nodes, finish, start
from lib.process import Command, Failed
from lib.report import Goal, Result
from peers import empty

FILES, QUICK_FILES = 4_000, 1_500
MANY, QUICK_MANY = 10_000, 600
WORDS_PER_FILE = 400
# The files of one folder.
FOLDER = 100
# How often each question is asked, after once to warm.
ROUNDS, QUICK_ROUNDS = 10, 2
GOAL_MS = 300
MIN_OPEN_FILES = 65_535


def run(bench):
    result = Result("cluster", __doc__.split("\n\n", 1)[1].strip())
    words = Words()
    few = words.files(bench, "few", QUICK_FILES if bench.quick else FILES)
    for ken in bench.ken("cluster-few"):
        ken.prepare([few])
        finish(ken.index(), bench.log("cluster", "embedded-few"))
        failures(bench, ken, few, result)
    many = words.files(bench, "many", QUICK_MANY if bench.quick else MANY)
    for ken in bench.ken("cluster-many"):
        costs(bench, ken, many, words, result)
    return result


class Words:
    """Made words, of which the second is half as frequent as the first, and so on."""

    def __init__(self):
        chance = random.Random(5)
        known = {}
        while len(known) < 30_000:
            syllables = chance.randrange(2, 5)
            word = "".join(chance.choice("bdfgklmnprst") + chance.choice("aeiou") for _ in range(syllables))
            known[word] = 1 / (len(known) + 3)
        self.words, self.weights = list(known), list(known.values())

    def files(self, bench, name, count):
        """Makes a folder of files, if it is not there."""
        target = os.path.join(bench.work, "corpora", f"cluster-{name}-{count}")
        if os.path.isdir(target):
            return target
        chance = random.Random(7)
        for number in range(count):
            folder = os.path.join(target, f"part {number // FOLDER:04}")
            os.makedirs(folder, exist_ok=True)
            text = chance.choices(self.words, self.weights, k=chance.randrange(20, 2 * WORDS_PER_FILE))
            lines = [" ".join(text[at:at + 12]) for at in range(0, len(text), 12)]
            with open(os.path.join(folder, f"{text[0]}-{number}.txt"), "w") as file:
                file.write(".\n".join(lines) + f"\nnumber{number}\n")
        return target

    def questions(self):
        """Questions of each kind: of words that many, some and few documents have."""
        often, some, few = self.words[100], self.words[1_000], self.words[10_000]
        other = self.words[300]
        return {
            "word": [often, some, few],
            "two words": [f"{often} {other}", f"{some} {often}"],
            "any of words": [f"{often} OR {other}", f"{some} OR {few}"],
            "phrase": [f'"{self.words[20]} {self.words[30]}"', f'"{often} {self.words[10]}"'],
            "near": [f"{often} NEAR/5 {other}", f"{some} NEAR/9 {often}"],
            "prefix": [f"{often[:4]}*", f"{some[:3]}*"],
            "fuzzy": [f"{some}~1", f"{few}~1"],
            "folder": ['dir:"part 0003"', "dir:part*"],
            "path": ["path:*part*1.txt", f"path:*{often}*"],
            "in a folder": [f'{often} dir:"part 0001"'],
            "without": [f"{often} -{other}"],
        }


def compare(ken, other, words):
    """How many questions have another answer."""
    different = []
    for questions in words.questions().values():
        for question in questions:
            answers = [set(one.ranked(question, 10_000)) for one in (ken, other)]
            if answers[0] != answers[1]:
                different.append(question)
    return different


def failures(bench, embedded, root, result):
    rows = []
    for name, count, options, happen in SCENARIOS:
        namespaces = options.get("namespaces", False)
        if namespaces and (os.geteuid() or resource.getrlimit(resource.RLIMIT_NOFILE)[1] < MIN_OPEN_FILES):
            # OpenSearch refuses to start where others could reach it and it may open fewer files.
            rows.append([name, f"not tried: needs root, and {MIN_OPEN_FILES} open files", "", "", "", "", ""])
            continue
        log = bench.log("cluster", name)
        with Nodes(count, namespaces, options.get("settings", ""), log) as nodes:
            home = bench.index_home("cluster", name.replace(" ", "-"))
            ken = KenInCluster(home, bench.program, nodes, "archive", shards=options.get("shards", 1),
                               replicas=min(1, count - 1))
            ken.prepare([root])
            began = time.monotonic()
            noted = happen(nodes, ken, log)
            wall = time.monotonic() - began
            # What was not acknowledged is written again.
            finish(ken.index(), log)
            paths = ken.paths()
            files = {os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names}
            missing, twice = len(files - set(paths)), len(paths) - len(set(paths))
            different = compare(ken, embedded, Words())
        rows.append([name, noted, f"{wall:.0f}", str(len(paths)), str(missing), str(twice), str(len(different))])
        result.raw[name] = {"missing": missing, "twice": twice, "different": different, "noted": noted}
        met = not (missing or twice or different or len(files) != len(paths))
        result.goals.append(Goal(f"cluster, {name}: each document once, answers as of the embedded engine",
                                 f"{missing} missing, {twice} twice, {len(different)} other answers", met))
        progress(f"cluster: {name} done")
    result.tables.append(("While ken indexes:",
                          ["", "what happened", "s", "documents", "missing", "twice", "other answers"], rows))


def disturbed(begin, seconds=0, end=lambda nodes, ken: None):
    """A scenario in which something begins once ken writes, and ends after some seconds."""
    def happen(nodes, ken, log):
        running = start(ken.index(), log)
        written = until_written(nodes, ken, running)
        begin(nodes, ken)
        time.sleep(seconds)
        end(nodes, ken)
        code = running.wait()
        nodes.wait_until_whole()
        return f"at {written} documents; {nodes.rejected()} writes rejected; ken ended with {code}"
    return happen


def until_written(nodes, ken, running, least=200):
    """Waits until some documents were sent, or ken has ended."""
    while running.poll() is None:
        try:
            stats_of = nodes.call(f"/{ken.index_name}-documents/_stats/indexing")
            n_written = stats_of["_all"]["primaries"]["indexing"]["index_total"]
            if n_written >= least:
                return n_written
        except (OSError, KeyError):
            # The index is not there yet, or has no shard yet.
            pass
        time.sleep(0.1)
    return "all"


def deed(*words):
    """Something that scripts/cluster does."""
    return lambda nodes, ken: nodes.do(*words)


def blocked(is_blocked):
    """Writes to the index are refused, each by itself."""
    return lambda nodes, ken: nodes.settings(f"{ken.index_name}-documents", **{"index.blocks.write": is_blocked})


DISK = "cluster.routing.allocation.disk"
MARKS = [f"{DISK}.watermark.{name}" for name in ("low", "high", "flood_stage")]


def full_disk(nodes, ken):
    """The disk has less left than OpenSearch wants: it makes all indices unwritable."""
    nodes.settings(None, **{f"{DISK}.threshold_enabled": True, "cluster.info.update.interval": "10s",
                            **dict.fromkeys(MARKS, "1000tb")})


def room_again(nodes, ken):
    nodes.settings(None, **{f"{DISK}.threshold_enabled": False, **dict.fromkeys(MARKS)})
    nodes.settings("_all", **{"index.blocks.read_only_allow_delete": None})


def two_machines(nodes, ken, log):
    """A second machine with the same settings waits while the first one writes, and takes over when that is killed."""
    other = machine(nodes, ken, "other")
    running = start(ken.index(), log)
    written = until_written(nodes, ken, running)
    waiting = start(other.index(), log)
    running.kill()
    code, began = running.wait(), time.monotonic()
    waited = waiting.wait()
    empty(other.home)
    return (f"at {written} documents the first was killed ({code}); the second ended with {waited} "
            f"after {time.monotonic() - began:.0f} s")


def helper_killed(nodes, ken, log):
    """A second machine reads shares of the run of the first one, and is killed; the first one ends the run."""
    other = machine(nodes, ken, "helper")
    running = start(ken.index(), log)
    until_written(nodes, ken, running)
    helping = start(other.index(), log)
    claimed = until_claimed(nodes, ken, running)
    helping.kill()
    helping.wait()
    began = time.monotonic()
    code = running.wait()
    empty(other.home)
    return f"{claimed}; the run ended with {code} {time.monotonic() - began:.0f} s later"


def until_claimed(nodes, ken, running):
    """Waits until another machine has a share."""
    while running.poll() is None:
        leases = nodes.root(ken.index_name)["leases"]
        if any(lease.get("share") is not None for lease in leases):
            return "the helper was killed with a share"
        time.sleep(0.02)
    return "the run ended before"


def grown(nodes, ken, log):
    """An index gets more shards; a node is killed meanwhile, and comes back."""
    finish(ken.index(), log)
    more = Command([*ken._ken(), "index", "--shards", "3"])
    running = start(more, log)
    time.sleep(2)
    nodes.do("kill", "3")
    time.sleep(10)
    nodes.do("start", "3")
    code = running.wait()
    nodes.wait_until_whole()
    if code:
        # It is as it was, and the command may be repeated.
        finish(more, log)
    shards = nodes.call(f"/_cat/shards/{ken.documents_index()}?format=json")
    n_shards = len({shard["shard"] for shard in shards})
    if n_shards != 3:
        raise Failed(f"{n_shards} shards, where 3 were asked for")
    return f"the command ended with {code}; {n_shards} shards"


def tagged(nodes, ken, log):
    """Another machine gives and takes tags while the first one reads everything again and is killed."""
    other = machine(nodes, ken, "tags")
    finish(ken.index(), log)
    often, some = Words().words[100], Words().words[1_000]
    running = start(Command([*ken.index().argv, "--full"]), log)
    time.sleep(1)
    for change, query in (("+town", often), ("+old", some), ("-town", some)):
        finish(Command([*other._ken(), "tag", change, query]), log)
    running.kill()
    running.wait()
    finish(Command([*ken.index().argv, "--full"]), log)
    wanted = {"tag:town": f"{often} -{some}", "tag:old": some}
    found = {tag: [ken.hits(tag), ken.hits(query)] for tag, query in wanted.items()}
    if any(tagged != meant for tagged, meant in found.values()):
        raise Failed(f"tags and the documents that were meant: {found}")
    return f"the run was killed; {', '.join(f'{tag}: {of[0]}' for tag, of in found.items())}, as meant"


def machine(nodes, ken, name):
    """Another machine with the settings of the first one."""
    other = KenInCluster(f"{ken.home}-{name}", ken.program, nodes, ken.index_name, replicas=min(1, nodes.count - 1))
    other.prepare(ken.roots)
    return other


SMALL_QUEUE = "thread_pool.write.size: 1\nthread_pool.write.queue_size: 2"
# What happens, the nodes, more of them, and how it comes to be.
SCENARIOS = [
    ("a node is killed", 3, {}, disturbed(deed("kill", "3"), 10, deed("start", "3"))),
    ("a node sleeps", 3, {}, disturbed(deed("pause", "2"), 20, deed("wake", "2"))),
    ("writes are refused", 1, {}, disturbed(blocked(True), 10, blocked(False))),
    ("a queue is full", 1, {"settings": SMALL_QUEUE, "shards": 8}, disturbed(lambda nodes, ken: None)),
    ("a full disk", 1, {}, disturbed(full_disk, 30, room_again)),
    ("a network is cut", 3, {"namespaces": True}, disturbed(deed("cut", "3"), 30, deed("join", "3"))),
    ("a machine is killed", 1, {}, two_machines),
    ("a helper is killed", 1, {}, helper_killed),
    ("shards grow", 3, {}, grown),
    ("tags are given", 1, {}, tagged),
]


def costs(bench, embedded, root, words, result):
    embedded.prepare([root])
    rows, raw = [], {}
    seconds = finish(embedded.index(), bench.log("cluster", "embedded-many"))
    count = embedded.documents()
    rows.append(["embedded", f"{count / seconds:.0f}", f"{embedded.index_bytes() / count:.0f}"])
    times = {"embedded": asked(bench, embedded, words)}
    for n_nodes in (1, 3):
        with Nodes(n_nodes, log=bench.log("cluster", "nodes")) as nodes:
            home = bench.index_home("cluster", f"many-{n_nodes}")
            ken = KenInCluster(home, bench.program, nodes, "archive", shards=n_nodes, replicas=0)
            ken.prepare([root])
            seconds = finish(ken.index(), bench.log("cluster", f"many-{n_nodes}"))
            name = f"{n_nodes} node{'s' * (n_nodes > 1)}"
            rows.append([name, f"{count / seconds:.0f}", f"{ken.index_bytes() / count:.0f}"])
            times[name] = asked(bench, ken, words)
        progress(f"cluster: {name} done")
    result.tables.append((f"First index of {count} documents of {WORDS_PER_FILE} words on average; no copies of shards:",
                          ["", "documents/s", "bytes per document"], rows))
    header = ["question", *(f"{name}: {figure}" for name in times for figure in ("median ms", "p99 ms"))]
    table = []
    for kind in words.questions():
        walls = [[1000 * wall for wall in of[kind]] for of in times.values()]
        figures = [f"{figure(of):.0f}" for of in walls
                   for figure in (stats.median, lambda all: stats.percentile(all, 0.99))]
        table.append([kind, *figures])
        median = stats.median(walls[1])
        result.goals.append(Goal(f"cluster, {kind}: median under {GOAL_MS} ms as a command on one node",
                                 f"{median:.0f} ms", median < GOAL_MS))
    result.tables.append((f"Questions as commands, the ten best of {count} documents:", header, table))
    raw["seconds"] = times
    result.raw["costs"] = json.loads(json.dumps(raw))


def asked(bench, ken, words):
    """Seconds of each question, by kind."""
    times = {}
    for kind, questions in words.questions().items():
        for question in questions:
            command = Command([*ken._ken(), "search", "--limit", "10", "--", question], ok=(0, 1))
            rounds = QUICK_ROUNDS if bench.quick else ROUNDS
            walls = [process.answer(command).wall for _ in range(rounds + 1)]
            times.setdefault(kind, []).extend(walls[1:])
    return times

"""What agents get: answers within 1,500 bytes, and how soon the first comes.

Twelve questions of `bench/questions.tsv`, asked as they stand in the home that `lib/home.py` makes: papers of all office
formats, notes, mail and source code, most of them made of the same words as the questions. ken answers by `ken search --any
--budget 1500` and by the tool `search` of `ken mcp`; `rg -iwn` looks for the word of the question that the fewest lines
have, which nobody knows before (words that only serve the sentence are left out). An answer is seen if its words are in
what is printed.

Then `ken mcp` over many documents: the HTML and the mail of the other suites (`--maildir`), and `--tree`. From the start of
the process to the first result of a search, and a thousand requests of one process.
"""

import json
import os
import re
import shutil
import subprocess
import time

from lib import process, stats
from lib.home import Home
from lib.process import Command
from lib.report import Goal, Result
from peers.ken import Ken

HERE = os.path.dirname(os.path.abspath(__file__))
QUESTIONS = os.path.join(os.path.dirname(HERE), "questions.tsv")
BUDGET = 1_500
FIRST = 3
MAX_START_MS = 30
STARTS = 50
CALLS = 1_000
# What an allocator may keep beyond what the first hundred calls needed.
MAX_GROWTH_KIB = 4_096
NOTHING_FOUND = (0, 1)
# Nobody looks for these.
SERVING = set("a after any anything come did do does for have he how i in is it long may mean much my not of on or should the to was what when which who".split())


def run(bench):
    result = Result("agents", __doc__.split("\n\n", 1)[1].strip())
    questions(bench, result)
    starts(bench, result)
    return result


def questions(bench, result):
    home = os.path.join(bench.work, "corpora", "known")
    shutil.rmtree(home, ignore_errors=True)
    Home(home, 1).fill()
    ken = Ken(bench.index_home("agents", "ken"), bench.program)
    ken.prepare([home])
    process.run(ken.index(), bench.log("agents", "ken"))
    client = Client(ken, home)
    rows, raw = [], []
    for question, answer, document in asked():
        searched = by_command(ken, home, question, answer, document)
        called = client.answer(home, question, answer, document)
        scanned = by_ripgrep(bench.rg, home, question, answer)
        raw.append({"question": question, "search": searched, "mcp": called, "rg": scanned})
        rows.append([question, *cells(searched), *cells(called), scanned["word"], f"{scanned['bytes']:,}", seen(scanned)])
    client.end()
    header = ["question", "search: rank", "bytes", "seen", "mcp: rank", "bytes", "seen", "rg: word", "bytes", "seen"]
    result.tables.append((f"{ken.documents():,} documents", header, rows))
    result.raw["questions"] = raw
    for name in ("search", "mcp"):
        ranks = [row[name]["rank"] for row in raw]
        n_first = sum(rank is not None and rank <= FIRST for rank in ranks)
        most = max(row[name]["bytes"] for row in raw)
        result.goals += [
            Goal(f"{name}: the document is among the first {FIRST} hits of all", f"{n_first} of {len(raw)}", n_first == len(raw)),
            Goal(f"{name}: at most {BUDGET:,} bytes", f"{most:,}", most <= BUDGET),
        ]


def asked():
    """The questions, with their answers and documents."""
    with open(QUESTIONS, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                yield line.rstrip("\n").split("\t")


def cells(found):
    return [str(found["rank"] or "–"), f"{found['bytes']:,}", seen(found)]


def seen(found):
    return "yes" if found["seen"] else "no"


def judged(text, answer, paths, document):
    """The rank of a document, and whether the answer is in a text, however its lines are broken."""
    flat = re.sub(r"\s+", " ", text)
    rank = next((at for at, path in enumerate(paths, 1) if path == document), None)
    return {"rank": rank, "bytes": len(text.encode()), "seen": answer.lower() in flat.lower()}


def by_command(ken, home, question, answer, document):
    options = ["search", "--any", "--budget", str(BUDGET), "--", question]
    command = [ken.program, "--config", os.devnull, "--data", ken.home, *options]
    text = process.output(Command(command, ok=NOTHING_FOUND))
    # A line of a path begins with it, indented.
    paths = re.findall(rf"(?m)^ +{re.escape(home)}/(.*?)(?: p\. \d+|:\d+)?  ", text)
    return judged(text, answer, paths, document)


def by_ripgrep(rg, home, question, answer):
    words = {word: lines_with(rg, home, word) for word in re.findall(r"[\w']+", question) if word.lower() not in SERVING}
    word = min((word for word in words if words[word]), key=words.get)
    text = process.answer(Command([rg, "-iwn", "-e", word, home], ok=NOTHING_FOUND)).output
    flat = re.sub(rb"\s+", b" ", text).lower()
    return {"word": word, "bytes": len(text), "seen": answer.lower().encode() in flat}


def lines_with(rg, home, word):
    counts = process.output(Command([rg, "-iwc", "--no-filename", "-e", word, home], ok=NOTHING_FOUND))
    return sum(map(int, counts.split()))


class Client:
    """`ken mcp`, as a program that speaks to it."""

    def __init__(self, ken, *folders):
        scope = [word for folder in folders for word in ("--in", folder)]
        command = [ken.program, "--config", os.devnull, "--data", ken.home, "mcp", "--mail", *scope]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0

    def ask(self, method, params):
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["result"]

    def call(self, name, **arguments):
        return self.ask("tools/call", {"name": name, "arguments": arguments})["content"][0]["text"]

    def answer(self, home, question, answer, document):
        text = self.call("search", query=question, max_chars=BUDGET)
        paths = re.findall(rf"(?m)^\d+\. {re.escape(home)}/(.*?)(?:, p\. \d+|:\d+)? · ", text)
        return judged(text, answer, paths, document)

    def memory_kib(self):
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(next(line for line in file if line.startswith("RssAnon")).split()[1])

    def files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def starts(bench, result):
    roots = [bench.corpora.html(bench.quick).path, bench.corpora.mail(bench.quick).path]
    if bench.tree:
        roots.append(bench.tree)
    ken = Ken(bench.index_home("agents-many", "ken"), bench.program)
    ken.prepare(roots)
    process.run(ken.index(), bench.log("agents-many", "ken"))
    queries = [question for question, *_ in asked()]
    first = {"handshake": [], "a search": [], "a search, without a handshake": []}
    for number in range(5 if bench.quick else STARTS):
        query = queries[number % len(queries)]
        began = time.monotonic()
        client = Client(ken, *roots)
        client.ask("initialize", {"protocolVersion": "2025-11-25"})
        first["handshake"].append(1000 * (time.monotonic() - began))
        client.call("search", query=query)
        first["a search"].append(1000 * (time.monotonic() - began))
        client.end()
        began = time.monotonic()
        client = Client(ken, *roots)
        client.call("search", query=query)
        first["a search, without a handshake"].append(1000 * (time.monotonic() - began))
        client.end()
    rows = [[name, *(f"{stats.percentile(times, share):.1f}" for share in (0.5, 0.95, 1))] for name, times in first.items()]
    result.tables.append((f"From the start of the process, {ken.documents():,} documents", ["to", "p50 ms", "p95 ms", "slowest ms"], rows))
    grown = growth(ken, roots, queries)
    header = ["calls", "anonymous memory after 100", "after all", "open files after 100", "after all", "ms for each"]
    result.tables.append(("One process", header, [[str(CALLS), *map(str, grown)]]))
    p50 = stats.median(first["a search"])
    result.goals += [
        Goal(f"from the start to the first result under {MAX_START_MS} ms", f"{p50:.1f} ms", p50 < MAX_START_MS),
        Goal(f"{CALLS:,} requests without growth", f"{grown[1] - grown[0]} KiB", grown[1] - grown[0] <= MAX_GROWTH_KIB and grown[3] <= grown[2]),
    ]
    result.raw.update(first=first, growth=grown)


def growth(ken, roots, queries):
    """KiB of memory and open files after a tenth of the calls and after all; milliseconds of each call."""
    client = Client(ken, *roots)
    began = time.monotonic()
    for number in range(CALLS):
        if number == CALLS // 10:
            early = client.memory_kib(), client.files()
        query = queries[number % len(queries)]
        match number % 4:
            case 0 | 1:
                client.call("search", query=query)
            case 2:
                client.call("list", what="types", query=query)
            case _:
                client.call("status")
    seconds = time.monotonic() - began
    late = client.memory_kib(), client.files()
    client.end()
    return [early[0], late[0], early[1], late[1], f"{1000 * seconds / CALLS:.1f}"]

"""Latency of one search: process start to the last byte printed.

Two indexes: "desk", HTML and mail together (more than 50,000 documents), where ken
answers beside recollq, and the mail alone, where it answers beside mu and notmuch.
A process is started for every query, without a shell, its output read from a pipe;
programs and queries take turns. `true` is the floor: what starting a process costs.
"""

from lib import contest, process, stats
from lib.report import Goal, Result
from peers.mu import Mu
from peers.notmuch import Notmuch
from peers.recoll import Recoll

GOAL_SECONDS = 0.015

# Written so that all programs understand them alike.
DESK_QUERIES = [
    "iterator", "deadlock", "unsafe", "serialization", "endianness", "xylophone",
    "hash map", "thread pool", "error handling", "regular expression", "file descriptor leak",
    '"standard library"', '"garbage collector"', '"for example"', '"end of file"',
    "title:iterator", "title:future module", "iterator -java", "deadlock ext:html",
    "mutex OR semaphore", "serializ*",
]
MAIL_QUERIES = [
    "module", "problem", "deadlock", "kernel", "install", "xylophone",
    "error message", "memory leak", "regular expression", "file system", "return value type",
    '"for example"', '"at least"', '"file system"', "subject:error", "subject:module",
    "from:anna", "from:john", "date:2002..2003", "date:2010..2010 module", "module OR package",
]


def run(bench):
    rounds = 3 if bench.quick else 50
    html, mail = bench.corpora.html(bench.quick), bench.corpora.mail(bench.quick)
    about = "One query, from process start to the last byte printed, in milliseconds."
    result = Result("search", about)
    desk = [Recoll(bench.index_home("search-desk", "recoll"))]
    _compare(bench, result, "desk", desk, [html.path, mail.path], DESK_QUERIES, rounds)
    mailers = [
        Mu(bench.index_home("search-mail", "mu")),
        Notmuch(bench.index_home("search-mail", "notmuch")),
    ]
    _compare(bench, result, "mail", mailers, [mail.path], MAIL_QUERIES, rounds)
    return result


def _compare(bench, result, kind, rivals, roots, queries, rounds):
    """Builds the indexes, times all queries in both modes, adds tables and goals."""
    peers = bench.ken(f"search-{kind}") + rivals
    for peer in peers:
        peer.prepare(roots)
        process.run(peer.index(), bench.log(f"search-{kind}", peer.name))
    documents = {peer.name: peer.documents() for peer in peers}
    hits = {query: {peer.name: peer.hits(query) for peer in peers} for query in queries}
    for mode in ("top10", "paths"):
        times = _time(peers, queries, mode, rounds)
        result.tables.append((_title(kind, mode, documents), *_table(times)))
        result.raw[f"{kind}-{mode}"] = times
        if bench.has_ken:
            result.goals.extend(_goals(kind, mode, times, documents))
    result.tables.append((f"Documents found ({kind}):", *_hits_table(hits)))
    result.raw[f"{kind}-documents"] = documents
    result.raw[f"{kind}-hits"] = hits
    contest.progress(f"search: {kind} done, {documents}")


def _time(peers, queries, mode, rounds):
    """(wall, CPU) seconds by program and query; one unmeasured round first."""
    names = [peer.name for peer in peers] + ["true"]
    times = {name: {query: [] for query in queries} for name in names}
    for number in range(rounds + 1):
        for query in queries:
            commands = {peer.name: peer.search(query, mode) for peer in peers}
            commands["true"] = process.Command(["true"])
            for name, command in commands.items():
                answer = process.answer(command)
                if number:
                    times[name][query].append((round(answer.wall, 6), round(answer.cpu, 6)))
    return times


def _title(kind, mode, documents):
    counts = ", ".join(f"{name} {count}" for name, count in documents.items())
    what = "ten hits as each program shows them" if mode == "top10" else "up to 2000 paths"
    return f"{kind}, {what} (documents: {counts}):"


def _table(times):
    header = ["program", "median", "p99", "fastest", "slowest", "CPU", "slowest query, its median"]
    return header, [_row(name, by_query) for name, by_query in times.items()]


def _row(name, by_query):
    walls = _walls(by_query)
    medians = {query: stats.median([wall for wall, _ in runs]) for query, runs in by_query.items()}
    slowest = max(medians, key=medians.get)
    figures = [
        stats.median(walls),
        stats.percentile(walls, 0.99),
        min(walls),
        max(walls),
        stats.median([cpu for runs in by_query.values() for _, cpu in runs]),
    ]
    last = f"`{slowest}` {stats.milliseconds(medians[slowest])}" if name != "true" else "–"
    return [name, *map(stats.milliseconds, figures), last]


def _hits_table(hits):
    names = list(next(iter(hits.values())))
    return ["query", *names], [
        [f"`{query}`", *(str(counts[name]) for name in names)] for query, counts in hits.items()
    ]


def _goals(kind, mode, times, documents):
    medians = {name: stats.median(_walls(by_query)) for name, by_query in times.items()}
    ken = medians["ken"]
    goals = []
    if (kind, mode) == ("desk", "top10"):
        text = f"search: median under 15 ms on {documents['ken']} documents"
        goals.append(Goal(text, f"{ken * 1000:.1f} ms", ken < GOAL_SECONDS))
    for name in documents:
        if name != "ken":
            text = f"search {kind}, {mode}: no slower than {name}"
            measured = f"{ken * 1000:.1f} ms to {medians[name] * 1000:.1f} ms"
            goals.append(Goal(text, measured, ken <= medians[name]))
    return goals


def _walls(by_query):
    return [wall for runs in by_query.values() for wall, _ in runs]

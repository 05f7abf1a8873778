"""One mailbox (mbox) with all messages of a Maildir: what a run costs, and what opening a message costs.

The mailbox is read from nothing; then nothing changed; then one message is appended, again and again, up to
the moment when a search finds it. Its first and its last message are shown, which must not take longer the
larger the mailbox is: with a warm cache, and where this is permitted (root) with caches dropped before.
"""

import os
import re
import shutil
import time

from lib import mailgen, process, stats
from lib.corpus import files_below
from lib.process import Command, output
from lib.report import Goal, Result

# Of the time that the whole mailbox takes.
APPENDED = 0.1
SHOWN_SECONDS = 0.05
FROM = b"From bench@example.org Mon Mar  3 10:00:00 2025\n"


def run(bench):
    corpus = bench.corpora.mail_with_attachments(bench.quick)
    folder = os.path.join(bench.work, "corpora", "mailbox")
    os.makedirs(folder, exist_ok=True)
    mailbox = os.path.join(folder, "all.mbox")
    n_messages = write(mailbox, sorted(files_below(corpus.path)))
    n_bytes = os.path.getsize(mailbox)
    result = Result("mailbox", f"A mailbox of {n_messages} messages ({n_bytes / 1e6:.0f} MB).")
    for ken in bench.ken("mailbox"):
        measure(bench, ken, mailbox, result)
    shutil.rmtree(folder)
    return result


def write(mailbox, messages):
    """Writes messages as mboxrd has them; returns how many."""
    with open(mailbox, "wb") as out:
        for path in messages:
            with open(path, "rb") as file:
                append(out, file.read())
    return len(messages)


def append(out, message):
    out.write(FROM + re.sub(rb"^(>*From )", rb">\1", message, flags=re.M).rstrip(b"\n") + b"\n\n")


def measure(bench, ken, mailbox, result):
    rounds = 2 if bench.quick else 7
    ken.prepare([os.path.dirname(mailbox)])
    whole = []
    for _ in range(bench.rounds):
        shutil.rmtree(ken.home, ignore_errors=True)
        whole.append(process.run(ken.index(), os.devnull))
    unchanged = [process.run(ken.index(), os.devnull) for _ in range(rounds)]
    first = output(Command([*ken._ken(), "search", "--limit", "1", "--fields", "msgid", "--sort", "path",
                            "type:message"])).strip()
    appended = [one_more(ken, mailbox, number) for number in range(rounds)]
    last = f"bench.{rounds - 1}@example.org"
    rows = [[name, stats.seconds([c.wall for c in costs]), stats.seconds([c.cpu for c in costs])]
            for name, costs in [("from nothing", whole), ("nothing changed", unchanged)]]
    rows.append(["a message appended, to the search that finds it", stats.seconds(appended), "–"])
    result.tables.append(("Runs:", ["", "wall s", "CPU s"], rows))
    shown = [["first", *show(ken, first, rounds)], ["last", *show(ken, last, rounds)]]
    result.tables.append(("A message shown (`ken mail show msgid:ID`):",
                          ["message", "warm s", "caches dropped s"],
                          [[name, stats.seconds(warm), stats.seconds(cold) if cold else "not dropped"]
                           for name, warm, cold in shown]))
    result.raw = {"appended": appended, "shown": shown, "whole": [c.wall for c in whole],
                  "unchanged": [c.wall for c in unchanged]}
    share = stats.median(appended) / stats.median([c.wall for c in whole])
    result.goals.append(Goal("mailbox: a message more costs less than a tenth of the mailbox",
                             f"{share:.3f} of it", share < APPENDED))
    slowest = max(stats.median(warm) for _, warm, _ in shown)
    result.goals.append(Goal("mailbox: a message shown in under 50 ms", f"{slowest * 1000:.0f} ms",
                             slowest < SHOWN_SECONDS))


def one_more(ken, mailbox, number):
    """Seconds from a message at the end of the mailbox to a search that finds it."""
    with open(mailbox, "ab") as out:
        append(out, mailgen.ONE_MORE.format(number=number).encode())
    started = time.monotonic()
    output(ken.index())
    found = output(Command([*ken._ken(), "search", "--count", f"quaggabench{number}"])).strip()
    if found != "1":
        raise SystemExit(f"ken finds {found} messages instead of the new one")
    return time.monotonic() - started


def show(ken, message, rounds):
    """Seconds until a message is printed, with a warm cache and with a cold one, if it may be made so."""
    command = Command([*ken._ken(), "mail", "show", f"msgid:{message}"])
    process.answer(command)
    warm = [process.answer(command).wall for _ in range(rounds)]
    cold = [process.answer(command).wall for _ in range(rounds) if drop_caches()]
    return warm, cold


def drop_caches():
    os.sync()
    try:
        with open("/proc/sys/vm/drop_caches", "w") as file:
            file.write("3")
    except OSError:
        return False
    return True

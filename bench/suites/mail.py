"""A Maildir: ken beside mu and notmuch, without attachments and with them.

The goal is about messages without attachments, because the three programs do
different things with them: mu indexes their names, notmuch also text in them, ken
opens every format it knows. The second table shows the cost of that.
"""

from lib import contest
from lib.report import Goal, Result
from peers.mu import Mu
from peers.notmuch import Notmuch

FASTER = 20


def run(bench):
    plain = bench.corpora.mail(bench.quick)
    full = bench.corpora.mail_with_attachments(bench.quick)
    entries = contest.contest(bench, "mail", plain, _peers(bench, "mail"), bench.rounds)
    others = contest.contest(bench, "mail-attachments", full, _peers(bench, "mail-attachments"), 1)
    result = Result(
        "mail",
        f"Indexing a Maildir of {plain.files} messages ({plain.bytes / 1e6:.0f} MB) from nothing.",
        tables=[
            ("", *contest.table(entries, plain)),
            (f"With attachments, one run ({full.files} messages, {full.bytes / 1e6:.0f} MB):",
             *contest.table(others, full)),
        ],
        raw={"files": plain.files, "bytes": plain.bytes,
             "entries": [entry.raw() for entry in entries],
             "with_attachments": [entry.raw() for entry in others]},
    )
    if bench.has_ken:
        ken, *rivals = entries
        result.goals = [_goal(ken, rival) for rival in rivals]
    return result


def _peers(bench, suite):
    rivals = [Mu(bench.index_home(suite, "mu")), Notmuch(bench.index_home(suite, "notmuch"))]
    return bench.ken(suite) + rivals


def _goal(ken, rival):
    faster = rival.median("wall") / ken.median("wall")
    text = f"mail: {FASTER} times faster than {rival.name}"
    return Goal(text, f"{faster:.1f}×", faster >= FASTER)

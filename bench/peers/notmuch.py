"""notmuch."""

import os

from lib.process import Command, output
from peers import disk_bytes, empty

# The defaults of `notmuch setup`, the database outside of the Maildir. Flags are
# not synchronised, so that no message is ever renamed.
CONFIGURATION = """\
[database]
path={home}/database
mail_root={maildir}
[user]
name=Bench
primary_email=bench@example.org
[new]
tags=unread;inbox;
ignore=
[search]
exclude_tags=deleted;spam;
[maildir]
synchronize_flags=false
"""

MODES = {"top10": ["--limit=10"], "paths": ["--output=files", "--limit=2000"]}


class Notmuch:
    name = "notmuch"

    def __init__(self, home):
        self.home = home

    def version(self):
        return output(Command(["notmuch", "--version"])).strip()

    def prepare(self, roots):
        (maildir,) = roots
        empty(self.home)
        os.mkdir(os.path.join(self.home, "database"))
        with open(self._config(), "w") as file:
            file.write(CONFIGURATION.format(home=self.home, maildir=maildir))

    def index(self):
        return self._notmuch("new", "--quiet")

    def documents(self):
        # Files, not messages: copies with the same Message-ID are one message.
        return int(output(self._notmuch("count", "--output=files", "*")))

    def index_bytes(self):
        return disk_bytes(os.path.join(self.home, "database"))

    def search(self, query, mode):
        return self._notmuch("search", *MODES[mode], query)

    def hits(self, query):
        return int(output(self._notmuch("count", query)))

    def _notmuch(self, *arguments):
        return Command(["notmuch", *arguments], {"NOTMUCH_CONFIG": self._config()})

    def _config(self):
        return os.path.join(self.home, "config")

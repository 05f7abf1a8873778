"""The searches of GNOME and KDE, as Debian packages them, without a desktop: LocalSearch (Tracker) and Baloo.

Each runs on a message bus of its own with a home of its own. LocalSearch leaves out everything below /tmp.
"""

import glob
import os
import shutil
import subprocess

MINER = "/usr/libexec/tracker-miner-fs-3"
SCHEMA = "org.freedesktop.Tracker3.Miner.Files"
BALOO = """\
[Basic Settings]
Indexing-Enabled=true
[General]
first run=false
only basic indexing=false
folders[$e]={docs}
"""


class Desktop:
    """A search that a session of a desktop starts."""

    def __init__(self, home, docs):
        self.home, self.docs = home, docs
        shutil.rmtree(home, ignore_errors=True)
        self.environment = {
            "HOME": home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "QT_QPA_PLATFORM": "offscreen",
            "GSETTINGS_BACKEND": "keyfile",
        }
        folders = {"XDG_RUNTIME_DIR": "run", "XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data", "XDG_CACHE_HOME": "cache"}
        for variable, name in folders.items():
            self.environment[variable] = os.path.join(home, name)
            os.makedirs(self.environment[variable], mode=0o700)

    def __enter__(self):
        command = ["dbus-daemon", "--session", "--nofork", "--print-address"]
        self.bus = subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = self.bus.stdout.readline().decode().strip()
        self.configure()
        self.server = subprocess.Popen(self.program(), env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        for process in (self.server, self.bus):
            process.terminate()
            process.wait()

    def call(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True).stdout.decode()

    def hits(self, word):
        """The number of documents with a word that no other file has."""
        return sum(self.docs in line for line in self.call(*self.search(word)).splitlines())


class LocalSearch(Desktop):
    name = "localsearch"

    @staticmethod
    def is_there():
        return os.path.exists(MINER) and shutil.which("tracker3") and shutil.which("gsettings")

    def configure(self):
        for key, value in (("index-recursive-directories", f"['{self.docs}']"), ("index-single-directories", "[]"),
                           ("initial-sleep", "0")):
            self.call("gsettings", "set", SCHEMA, key, value)

    def program(self):
        return [MINER]

    def search(self, word):
        return ["tracker3", "search", "--disable-color", "--disable-snippets", word]


class Baloo(Desktop):
    name = "baloo"
    programs = ("/usr/bin/baloo_file", "/usr/lib/*/libexec/baloo_file")

    @classmethod
    def found(cls):
        return next((path for pattern in cls.programs for path in glob.glob(pattern)), None)

    @classmethod
    def is_there(cls):
        return cls.found() and shutil.which("baloosearch")

    def configure(self):
        with open(os.path.join(self.environment["XDG_CONFIG_HOME"], "baloofilerc"), "w") as file:
            file.write(BALOO.format(docs=self.docs))

    def program(self):
        return [self.found()]

    def search(self, word):
        return ["baloosearch", word]

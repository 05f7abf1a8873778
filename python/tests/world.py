"""What the tests share: a small index in a temporary home, and what may be missing on a machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile
from pathlib import Path
from typing import Any, Dict, NoReturn, Optional
from urllib.parse import urlsplit

PYTHON = Path(__file__).resolve().parents[1]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR") or PYTHON.parent / "target").resolve()
#: What scripts/python-peers fetched.
PEERS = TARGET / "tmp/python-peers"
KEN = os.environ.get("KEN") or str(TARGET / "debug/ken")
#: The packages of this folder.
SOURCES = [PYTHON / "src", PYTHON / "recoll/src"]
#: What must be there, and what may be missing all the same.
REQUIRED, ALLOWED = (
    set(os.environ.get(name, "").replace(" ", "").split(",")) for name in ("KEN_TEST_REQUIRE", "KEN_TEST_ALLOW_MISSING")
)
#: Debian's Python, which has Recoll's own module.
DEBIAN_PYTHON = "/usr/bin/python3"

MESSAGE = b"""\
From: Anna Smith <anna@example.org>
To: Bob Jones <bob@example.org>
Subject: Budget question
Date: Mon, 05 Jan 2026 10:00:00 +0000
Message-ID: <m1@example.org>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="x"

--x
Content-Type: text/plain; charset=utf-8

Hello Bob, is the budget ready?
The zebra asks.

--x
Content-Type: text/plain; name="notes.txt"
Content-Disposition: attachment; filename="notes.txt"

Attached notes about reindeer.
--x--
"""

ANSWER = b"""\
From: Bob Jones <bob@example.org>
To: Anna Smith <anna@example.org>
Subject: Re: Budget question
Date: Tue, 06 Jan 2026 09:30:00 +0000
Message-ID: <m2@example.org>
In-Reply-To: <m1@example.org>
References: <m1@example.org>
Content-Type: text/plain; charset=utf-8

It is ready.
"""

PAGE = """\
<html><head><meta http-equiv="Content-Type" content="text/html; charset=utf-8"><title>Été à Noël</title>
<meta name="author" content="Anna Smith"><meta name="keywords" content="summer, snow">
<meta name="description" content="A page about animals"></head>
<body><h1>Animals</h1><p>Some budget words &amp; signs about reindeer.</p></body></html>
"""

REPORT = b"""\
The annual budget report

This year the budget grows by ten per cent.
Anna wrote the report in Berlin.
"""

#: The files of the index, by their names below the root.
FILES: Dict[str, bytes] = {
    "docs/budget.txt": REPORT,
    "docs/page.html": PAGE.encode(),
    "docs/deep/plan 2026.txt": "Plan für Köln: two zebras & one <reindeer>.\n".encode(),
    "docs/deep/copy.txt": REPORT,
    "mail/m1.eml": MESSAGE,
    "mail/m2.eml": ANSWER,
    "src/main.py": b"def budget(year):\n    return year * 2\n",
}

#: Those whose documents are compared field by field.
PROBED = ("budget.txt", "page.html", "m1.eml")

#: When files were changed, so that two indexes agree.
MODIFIED = 1_767_000_000


def need(name: str, is_there: bool) -> None:
    """Leave a test out if something is missing, or fail it if it must be there, as the tests in Rust do."""

    if is_there:
        return
    if REQUIRED & {name, "all"} and name not in ALLOWED:
        raise AssertionError(
            f"{name} is missing; scripts/setup installs it, KEN_TEST_ALLOW_MISSING={name} leaves this test out"
        )
    leave_out(f"{name} is missing")


def leave_out(why: str) -> NoReturn:
    """Leave a test out, and say so."""
    print(f"NOT TESTED: {why}", file=sys.stderr)
    raise unittest.SkipTest(why)


class World:
    """A home with files and an index of them."""

    def __init__(self) -> None:
        # Sockets need a short path.
        self.home = Path(tempfile.mkdtemp(prefix="kenpy", dir="/tmp")).resolve()
        self.root = self.home / "files"
        self.data = self.home / ".local/share/ken"
        self.environment = {
            "HOME": str(self.home),
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "XDG_RUNTIME_DIR": str(self.home / "run"),
            "KEN": KEN,
            "KEN_FAST": "1",
            "PYTHONPATH": os.pathsep.join(map(str, SOURCES)),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        (self.home / "run").mkdir(mode=0o700)
        for name, content in FILES.items():
            self.write(name, content)
        with zipfile.ZipFile(self.root / "docs/pack.zip", "w") as pack:
            pack.writestr(zipfile.ZipInfo("inner/secret.txt", (2026, 1, 2, 3, 4, 6)), "A walrus in a box.\n")
        os.utime(self.root / "docs/pack.zip", (MODIFIED, MODIFIED))
        self.ken("index", "--quiet", str(self.root))

    def write(self, name: Any, content: bytes) -> Path:
        """Write a file below the root."""
        path = Path(os.fsdecode(os.path.join(os.fsencode(self.root), os.fsencode(name))))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (MODIFIED, MODIFIED))
        return path

    def ken(self, *arguments: str) -> str:
        """Run ken, and return its output."""
        run = subprocess.run([KEN, *arguments], env=self.environment, capture_output=True, text=True, cwd=self.home)
        if run.returncode > 1:
            raise AssertionError(f"ken {arguments}: {run.stderr}")
        return run.stdout

    def python(
        self, *arguments: str, python: str = sys.executable, check: bool = True, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Run Python with the packages of this folder."""
        run = subprocess.run(
            [python, *arguments],
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="surrogateescape",
            cwd=self.home,
        )
        if check and run.returncode != 0:
            raise AssertionError(f"{arguments}: {run.returncode}\n{run.stdout}\n{run.stderr}")
        return run

    def serve(self) -> Serving:
        """Start ken serve, which ends with its context."""
        return Serving(self)

    def close(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.home, ignore_errors=True)


class Serving:
    """A running ken serve."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._process = subprocess.Popen(
            [KEN, "serve"], env=world.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=world.home
        )
        self.socket = world.home / "run/ken/ken.sock"
        told = world.data / "ken.serve"
        wait_for(lambda: told.exists() and str(self.socket) in told.read_text(), self._process)

    def address(self) -> str:
        """Return an address at the port of the server, for programs that can only be given an address."""
        found = urlsplit(self._world.ken("web", "--print").strip())
        token = found.fragment.partition("=")[2]
        return f"http://{found.netloc}/{token}"

    def __enter__(self) -> Serving:
        return self

    def __exit__(self, *_: Any) -> None:
        self._process.terminate()
        self._process.wait(timeout=20)


def wait_for(is_ready: Any, process: Optional[subprocess.Popen[Any]] = None) -> None:
    """Wait until something is so."""
    for _ in range(600):
        if is_ready():
            return
        if process is not None and process.poll() is not None:
            raise AssertionError(f"the process ended with {process.returncode}")
        time.sleep(0.05)
    raise AssertionError("it takes too long")


def restore(environment: Dict[str, str]) -> None:
    """Leave the world for this environment."""
    os.chdir(PYTHON)
    os.environ.clear()
    os.environ.update(environment)


class Case(unittest.TestCase):
    """A test with an index, which all tests of a class share."""

    world: World

    @classmethod
    def setUpClass(cls) -> None:
        need("ken", os.access(KEN, os.X_OK))
        cls.world = World()
        cls.addClassCleanup(cls.world.close)
        cls.addClassCleanup(restore, dict(os.environ))
        os.environ.clear()
        os.environ.update(cls.world.environment)

    def setUp(self) -> None:
        os.chdir(self.world.root)

    def path(self, name: str) -> Path:
        """Return the path of a file below the root."""
        return self.world.root / name


for source in SOURCES:
    sys.path.insert(0, str(source))

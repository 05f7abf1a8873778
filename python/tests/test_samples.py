"""Recoll's own samples and tests for its module, and recollwebui, unchanged, on ken's index."""

from __future__ import annotations

import csv
import io
import json
import socket
import subprocess
import unittest
import urllib.request
from http.cookiejar import CookieJar
from typing import Any, Dict, Tuple
from urllib.parse import urlencode

import world

SAMPLES = world.PEERS / "recoll/python/samples"
#: Samples that are newer than Debian's Recoll; GitHub has them.
NEWER = world.PEERS / "recoll-new"
WEBUI = world.PEERS / "venv/bin/recollwebui"


def newer(name: str) -> str:
    """Return the path of a newer sample, which is not there without a way to GitHub."""
    path = NEWER / name
    if not path.is_file():
        world.leave_out(f"{name} was not fetched")
    return str(path)


class Samples(world.Case):
    def test_recollq(self) -> None:
        world.need("recoll-samples", SAMPLES.is_dir())
        run = self.world.python(str(SAMPLES / "recollq.py"), "budget", "berlin")
        lines = run.stdout.splitlines()
        self.assertEqual(lines[0], "QUERY: [budget berlin ]")
        self.assertTrue(lines[1].startswith("Xapian query: [Query("), lines[1])
        self.assertEqual(lines[2], "Result count: 2 2")
        self.assertIn("title : ", lines)
        self.assertIn(f"mtime : 0{world.MODIFIED}", lines)
        self.assertIn('<span class="pyrclstart" idx="1" ugroup="berlin">Berlin</span>', run.stdout)
        data = str(self.world.data)
        again = self.world.python(str(SAMPLES / "recollq.py"), "-c", data, "-i", data, "berlin")
        self.assertIn("Result count: 4 4", again.stdout)

    def test_doctexts(self) -> None:
        run = self.world.python(newer("doctexts.py"))
        self.assertIn("TITLE: Budget question\nTEXT: Hello Bob, is the budget ready?\n", run.stdout)
        self.assertIn("TEXT: A walrus in a box.", run.stdout)
        n_documents = json.loads(self.world.ken("status", "--json"))["documents"]
        self.assertTrue(run.stdout.endswith(f"Got {n_documents} documents\n"), run.stdout[-200:])

    def test_snippets(self) -> None:
        run = self.world.python(newer("snippets.py"), "-w", "2", "reindeer")
        self.assertIn('Page 0 term [reindeer] snippet [signs about <span class="rclmatch">reindeer</span>]', run.stdout)
        plain = self.world.python(newer("snippets.py"), "-n", "reindeer")
        self.assertNotIn("rclmatch", plain.stdout)

    def test_simple(self) -> None:
        self.world.write("unique.txt", b"The word huniique is here.\n")
        self.world.ken("index", "--quiet")
        run = self.world.python(newer("simple.py"))
        self.assertTrue(
            run.stdout.endswith(
                "Result count: 1 1\nfor i in range(nres):\nunique.txt\n\nfor doc in query:\nunique.txt\n\n"
                "Catched bad mode. (ok)\n"
            ),
            run.stdout,
        )

    def test_doc(self) -> None:
        page = "<html><head><meta charset=utf-8><title>HTML fields test file: été à noël</title>"
        self.world.write("htmlfield1.html", f"{page}</head><body>testfieldvalue1</body></html>".encode())
        self.world.ken("index", "--quiet")
        run = self.world.python(newer("doc.py"))
        self.assertIn("doc.title: [HTML fields test file: été à noël]", run.stdout)
        self.assertIn("getattr(doc, filename) -> [htmlfield1.html]", run.stdout)
        self.assertIn("[url] -> [file:///", run.stdout)
        self.assertIn("\nnres 2\n", run.stdout)

    def test_extract(self) -> None:
        self.world.write("attached.html", b"<html><body>HtmlAttachment_uniqueTerm is here</body></html>")
        self.world.ken("index", "--quiet")
        run = self.world.python(newer("extract.py"))
        self.assertEqual(run.stdout, "Result count: 1 1\nText length: 33\n")

    def test_url(self) -> None:
        self.world.write(b"iso8859name/iso8859-1_\xe0\xe1.txt", "LATIN1NAME_UNIQUEXXX\nàáâ\n".encode("latin-1"))
        self.world.ken("index", "--quiet")
        run = self.world.python(newer("url.py"))
        self.assertIn("Result count: 1 1", run.stdout)
        self.assertIn("Contents: [LATIN1NAME_UNIQUEXXX\nàáâ\n]", run.stdout)


#: Drives the window of the sample for Qt, without a screen.
WINDOW = """
import sys
sys.path[:0] = sys.argv[1:]
import qrecoll
from PyQt5.QtWidgets import QApplication
application = QApplication([])
database = qrecoll.recoll.connect(confdir="", extra_dbs=[])
database.setAbstractParams(maxchars=300, contextwords=6)
window = qrecoll.RclGui_Main(database)
window.ui.searchEntry.setText("reindeer")
window.startQuery()
window.qmodel.sort(0, True)
model = window.qmodel
rows = [model.data(model.index(row, 0), 0) for row in range(model.rowCount(None))]
print(model.totres, rows)
window.on_resTable_clicked(model.index(rows.index("page.html"), 0))
print(window.ui.resDetail.toPlainText())
window.on_previewPB_clicked()
print(window.ui.resDetail.toPlainText())
"""


class Window(world.Case):
    """The sample for Qt, which runs where PyQt5 is."""

    def test_the_window_searches_and_previews(self) -> None:
        python = world.PEERS / "venv/bin/python"
        is_there = python.exists() and SAMPLES.is_dir()
        if not is_there or self.world.python("-c", "import PyQt5", python=str(python), check=False).returncode != 0:
            world.leave_out("PyQt5 is not in the virtual environment")
        # The sample fetches ten results, whether or not there are so many.
        for number in range(7):
            self.world.write(f"herd/{number}.txt", b"A herd of reindeer.\n")
        self.world.ken("index", "--quiet")
        made = self.world.home / "qt"
        made.mkdir()
        ui = SAMPLES / "recollgui/rclmain.ui"
        self.world.python("-m", "PyQt5.uic.pyuic", str(ui), "-o", str(made / "rclmain.py"), python=str(python))
        run = self.world.python(
            "-c", WINDOW, str(made), str(ui.parent), python=str(python), QT_QPA_PLATFORM="offscreen"
        )
        first, *rest = run.stdout.splitlines()
        self.assertTrue(first.startswith("10 ['0.txt', '1.txt', "), first)
        self.assertIn("signs about reindeerreindeer", "\n".join(rest))


class Webui(world.Case):
    """recollwebui of PyPI, as it is."""

    process: subprocess.Popen[str]
    port: int

    @classmethod
    def setUpClass(cls) -> None:
        world.need("recollwebui", WEBUI.is_file())
        super().setUpClass()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            cls.port = free.getsockname()[1]
        log = (cls.world.home / "webui.log").open("w")
        cls.addClassCleanup(log.close)
        cls.process = subprocess.Popen(
            [str(WEBUI), "--port", str(cls.port)],
            env=cls.world.environment,
            stdout=log,
            stderr=log,
            cwd=cls.world.home,
            text=True,
        )
        cls.addClassCleanup(cls.process.wait, 20)
        cls.addClassCleanup(cls.process.terminate)
        world.wait_for(cls.listens, cls.process)

    @classmethod
    def listens(cls) -> bool:
        """Return whether the server has started."""
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", cls.port)) == 0

    def ask(self, path: str, **parameters: Any) -> Tuple[Dict[str, str], bytes]:
        """Return the headers and the body of a page."""
        address = f"http://127.0.0.1:{self.port}/{path}?{urlencode(parameters)}"
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(CookieJar())
        )
        with opener.open(address, timeout=60) as answer:
            return {name.lower(): value for name, value in answer.headers.items()}, answer.read()

    def page(self, path: str, **parameters: Any) -> str:
        """Return a page as text."""
        return self.ask(path, **parameters)[1].decode()

    def test_the_first_page_lists_folders(self) -> None:
        page = self.page("")
        self.assertIn(' value="files">files</option>', page)
        self.assertIn(' value="files/docs/deep">', page)

    def test_results_have_titles_and_marks(self) -> None:
        page = self.page("results", query="reindeer", page=1)
        self.assertIn("Found <b>3</b> matching: <b><i>reindeer</i></b>", page)
        self.assertIn("Été à Noël", page)
        self.assertIn('<span class="search-result-highlight">reindeer</span>', page)
        self.assertIn("Anna Smith", page)
        below = self.page("results", query="reindeer", dir="files/docs/deep", page=1)
        self.assertIn("Found <b>1</b>", below)
        dated = self.page("results", query="budget", after="2026-01-01", before="2026-01-31", page=1)
        self.assertIn("Budget question", dated)
        self.assertNotIn("budget.txt", dated)
        self.assertIn("Found <b>-1</b>", self.page("results", query="(reindeer", page=1))

    def test_results_are_sorted(self) -> None:
        for ascending in (0, 1):
            found = json.loads(self.page("json", query="mime:text/*", sort="fbytes", ascending=ascending, page=1))
            sizes = [int(result["fbytes"]) for result in found["results"]]
            self.assertEqual(sizes, sorted(sizes, reverse=not ascending))

    def test_json(self) -> None:
        headers, body = self.ask("json", query="noël", page=1, highlight=0)
        self.assertEqual(headers["content-type"], "application/json")
        (result,) = json.loads(body)["results"]
        expected = {
            "label": "Été à Noël",
            "filename": "page.html",
            "mtype": "text/html",
            "author": "Anna Smith",
            "keywords": "summer, snow",
            "abstract": "A page about animals",
            "fbytes": str(len(world.PAGE.encode())),
            "mtime": f"0{world.MODIFIED}",
            "url": f"file://{self.path('docs/page.html')}",
            "ipath": "",
            "relevancyrating": "100%",
        }
        self.assertEqual({name: result[name] for name in expected}, expected)

    def test_ken_answers_alike(self) -> None:
        # The page's own format of times and marks, and what ken does not tell there.
        others = {"time", "snippet", "sha", "sig", "relevancyrating"}
        asked = {"query": "budget", "page": 1, "sort": "url", "ascending": 1}
        theirs = json.loads(self.page("json", **asked))
        with self.world.serve() as serving:
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(f"{serving.address()}/json?{urlencode(asked)}", timeout=60) as answer:
                ours = json.load(answer)
        self.assertEqual(len(ours["results"]), len(theirs["results"]))
        for our, their in zip(ours["results"], theirs["results"]):
            self.assertEqual(set(our), set(their))
            # The module takes the beginning of some texts where there is no description.
            for name in sorted(set(their) - others - ({"abstract"} if our["abstract"] == "" else set())):
                values = [one[name].lstrip("0") if name.endswith("time") else one[name] for one in (our, their)]
                self.assertEqual(values[0], values[1], (name, their["url"]))

    def test_csv(self) -> None:
        headers, body = self.ask("csv", query="mime:message/rfc822", sort="mtime", ascending=1)
        self.assertTrue(headers["content-type"].startswith("text/csv"))
        rows = list(csv.DictReader(io.StringIO(body.decode())))
        self.assertEqual([row["title"] for row in rows], ["Budget question", "Re: Budget question"])
        self.assertEqual(rows[0]["author"], "Anna Smith <anna@example.org>")

    def test_preview_marks_matches(self) -> None:
        headers, body = self.ask("preview/0", query="noël reindeer")
        self.assertIn("text/html", headers["content-type"])
        self.assertIn('about <span class="search-result-highlight">reindeer</span>.', body.decode())
        plain = self.page("preview/0", query="noël reindeer", highlight=0)
        self.assertEqual(plain, "Animals\nSome budget words & signs about reindeer.")
        self.assertEqual(self.page("preview/99", query="reindeer"), "Bad result index 99")

    def test_download_gives_the_file(self) -> None:
        headers, body = self.ask("download/0", query="filename:page.html")
        self.assertEqual(body, world.PAGE.encode())
        self.assertEqual(headers["content-disposition"], 'attachment; filename="page.html"')
        _, attachment = self.ask("download/0", query="attached notes")
        self.assertEqual(attachment.strip(), b"Attached notes about reindeer.")


if __name__ == "__main__":
    unittest.main()

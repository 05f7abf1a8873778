"""The module ``recoll`` where it is not compared with Recoll's own: see ``test_oracle.py``."""

from __future__ import annotations

import doctest
import os
import shutil
import subprocess
import unittest
from typing import Any, List

import world  # isort: split

from recoll import _plan, fsudi, rclconfig, rclextract, recoll


class Module(world.Case):
    def found(self, *clauses: Any, **options: Any) -> List[str]:
        """Return the names of the files that clauses find."""
        data = recoll.SearchData(**options)
        for clause in clauses:
            data.addclause(**clause)
        query = recoll.connect().query()
        query.executesd(data)
        return sorted(doc.filename for doc in query if not doc.ipath)

    def test_writing_is_refused(self) -> None:
        db = recoll.connect()
        for write in (
            lambda: recoll.connect(writable=True),
            lambda: db.needUpdate("udi", "sig"),
            lambda: db.addOrUpdate("udi", db.doc(), parent_udi="x", metaonly=True),
            lambda: db.delete("udi"),
            lambda: db.preparePurge("FS"),
            lambda: db.purge(),
            lambda: db.createStemDbs(["english"]),
        ):
            with self.assertRaises(NotImplementedError) as caught:
                write()
            self.assertIn("ken's index follows the files", str(caught.exception))

    def test_clauses_mean_what_the_manual_says(self) -> None:
        reindeer = {"type": "and", "qstring": "reindeer"}
        zebras = {"type": "and", "qstring": "zebras"}
        self.assertEqual(self.found(reindeer, zebras), ["plan 2026.txt"])
        self.assertEqual(self.found(reindeer, zebras, type="and"), ["plan 2026.txt"])
        self.assertEqual(self.found(reindeer, zebras, type="OR"), ["m1.eml", "page.html", "plan 2026.txt"])
        self.assertEqual(self.found(reindeer, {**zebras, "exclude": 1}), ["page.html"])
        self.assertEqual(self.found(zebras, stemlang=""), ["plan 2026.txt"])
        self.assertEqual(self.found({"type": "and", "qstring": "köln", "casesens": 1}), [])
        self.assertEqual(self.found({"type": "and", "qstring": "Köln", "casesens": 1}), ["plan 2026.txt"])
        self.assertEqual(self.found({"type": "and", "qstring": "koln", "diacsens": 1}), [])
        self.assertEqual(self.found({"type": "and", "qstring": "plan", "anchorstart": 1}), ["plan 2026.txt"])
        self.assertEqual(self.found({"type": "and", "qstring": "zebras", "anchorstart": 1}), [])
        self.assertEqual(
            self.found({"type": "and", "qstring": "noël", "field": "title", "anchorend": 1}), ["page.html"]
        )
        self.assertEqual(self.found({"type": "and", "qstring": 'OR (reindeer AND "'}), [])
        self.assertEqual(len(self.found()), len(world.FILES) + 1, "no clause excludes anything")
        with self.assertRaises(AttributeError):
            recoll.SearchData(type="xor")

    def test_many_results_are_read_in_pages(self) -> None:
        for number in range(120):
            self.world.write(f"many/{number:03}.txt", b"One of many quokkas.\n")
        self.world.ken("index", "--quiet")
        query = recoll.connect().query()
        query.sortby("filename", True)
        self.assertEqual(query.execute("quokkas"), 120)
        names = [f"{number:03}.txt" for number in range(120)]
        self.assertEqual([doc.filename for doc in query], names)
        for position in (99, 3, 60, 61, 119, 0):
            query.scroll(position, "absolute")
            self.assertEqual([doc.filename for doc in query.fetchmany(2)], names[position : position + 2])
        query.sortby("relevancyrating", False)
        query.execute("quokkas")
        query.scroll(100)
        self.assertIn(query.fetchone().relevancyrating, ("100%", " 99%"))

    def test_several_indexes_are_one(self) -> None:
        other = self.world.home / "other"
        (other / "files").mkdir(parents=True)
        (other / "files/elsewhere.txt").write_text("A reindeer elsewhere, rather large.\n")
        data = other / "data"
        self.world.ken("--data", str(data), "index", "--quiet", str(other / "files"))
        for extra in (str(data), os.fsencode(data), rclconfig.RclConfig(str(data)).getDbDir()):
            query = recoll.connect(extra_dbs=[extra]).query()
            self.assertEqual(query.execute("reindeer"), 4)
            self.assertEqual(len(list(query)), 4)
        query.sortby("filename", False)
        query.execute("reindeer")
        self.assertEqual([doc.filename for doc in query], ["plan 2026.txt", "page.html", "notes.txt", "elsewhere.txt"])
        query.sortby("fbytes", True)
        query.execute("reindeer", fetchtext=True)
        sizes = [int(doc.fbytes) for doc in query]
        self.assertEqual(sizes, sorted(sizes))
        query.scroll(0, "absolute")
        doc = next(doc for doc in query if doc.filename == "elsewhere.txt")
        self.assertEqual(query.getsnippets(doc, nohl=True), [(0, "reindeer", "A reindeer elsewhere, rather large.")])
        self.assertEqual(rclextract.Extractor(doc).textextract("").text, doc.text)
        found = recoll.connect(extra_dbs=[str(data)]).getDoc(f"{other}/files/elsewhere.txt|", 1)
        assert found is not None
        self.assertEqual(found.url, doc.url)
        alone = recoll.connect(str(data))
        self.assertEqual(alone.query().execute("reindeer"), 1)
        os.environ["RECOLL_CONFDIR"] = str(data)
        self.assertEqual(recoll.connect().query().execute("reindeer"), 1)
        self.assertEqual(rclconfig.RclConfig().getConfDir(), str(data))
        del os.environ["RECOLL_CONFDIR"]

    def test_documents_are_found_by_identifiers(self) -> None:
        db = recoll.connect()
        for name, ipath in (("docs/page.html", ""), ("docs/pack.zip", "inner/secret.txt"), ("mail/m1.eml", "1")):
            doc = db.getDoc(fsudi.fs_udi(str(self.path(name)), ipath))
            assert doc is not None
            self.assertEqual((doc.url, doc.ipath), (f"file://{self.path(name)}", ipath))
            self.assertEqual(doc.rcludi, f"{self.path(name)}|{ipath}")
        self.assertIsNone(db.getDoc("/nowhere|"))

    def test_names_that_are_not_utf_8(self) -> None:
        path = self.world.write(b"odd/caf\xe9 | bar.txt", b"A platypus.\n")
        self.world.ken("index", "--quiet")
        query = recoll.connect().query()
        query.execute("platypus")
        doc = query.fetchone()
        self.assertEqual(doc.getbinurl(), b"file://" + os.fsencode(path))
        doc.url.encode()
        self.assertEqual(rclextract.Extractor(doc).textextract(doc.ipath).text, "A platypus.\n")
        found = recoll.connect().getDoc(os.fsencode(path) + b"|")
        assert found is not None
        self.assertEqual(found.getbinurl(), doc.getbinurl())

    def test_fields_are_attributes(self) -> None:
        query = recoll.connect().query()
        query.execute("noël")
        page = query.fetchone()
        self.assertEqual({name: getattr(page, name) for name in page.keys()}, page.items())

    def test_texts_of_files_that_are_not_indexed(self) -> None:
        outside = self.world.home / "outside.html"
        outside.write_text("<p>An outside okapi</p>")
        doc = recoll.Doc()
        doc.url = f"file://{outside}"
        self.assertEqual(rclextract.Extractor(doc).textextract("").text.strip(), "An outside okapi")
        doc.url = "file:///nowhere"
        with self.assertRaises(AttributeError):
            rclextract.Extractor(doc).textextract("")
        with self.assertRaises(AttributeError):
            rclextract.Extractor(doc).idoctofile("", "text/html")

    def test_settings_quote_folders(self) -> None:
        folder = self.world.home / 'a "folder"'
        folder.mkdir()
        data = self.world.home / "quoted"
        self.world.ken("--data", str(data), "index", "--quiet", str(folder), str(self.world.root / "src"))
        escaped = str(folder).replace('"', '\\"')
        topdirs = rclconfig.RclConfig(str(data)).getConfParam("topdirs")
        self.assertEqual(topdirs, f'"{escaped}" {self.world.root}/src')

    def test_other_modules_have_the_names(self) -> None:
        from recoll import qresultstore

        self.assertIs(qresultstore.QResultStore, recoll.QResultStore)
        self.assertGreater(doctest.testmod(fsudi).attempted, 0)
        long = fsudi.fs_udi("/" + 200 * "a")
        self.assertEqual((len(long), long[:128]), (150, b"/" + 127 * b"a"))

    def test_installed_packages_have_everything(self) -> None:
        python = str(world.PEERS / "venv/bin/python")
        world.need("python-venv", os.access(python, os.X_OK))
        sources = self.world.home / "sources"
        shutil.copytree(world.PYTHON, sources, ignore=shutil.ignore_patterns("tests", "__pycache__"))
        target = self.world.home / "installed"
        for package in (sources, sources / "recoll"):
            run = subprocess.run(
                [
                    python,
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--no-deps",
                    "--no-build-isolation",
                    "--no-index",
                    "--disable-pip-version-check",
                    "--target",
                    str(target),
                    str(package),
                ],
                env=self.world.environment,
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual(run.returncode, 0, run.stderr)
        for name in ("ken/py.typed", "recoll/py.typed", "ken/client.py", "recoll/rclconfig.py"):
            self.assertTrue((target / name).is_file(), name)


class Plans(unittest.TestCase):
    """The plans are those that ken search --explain prints."""

    def marked(self, plan: str, text: str) -> str:
        """Return a text with matches in brackets, and the number of their group."""
        matches = _plan.find(_plan.groups(plan), _plan.words(text))
        for start, end, group in reversed(matches):
            text = f"{text[:start]}[{group} {text[start:end]}]{text[end:]}"
        return text

    def test_matches_are_those_of_the_plan(self) -> None:
        for plan, text, expected in (
            ('{exact "budget"}', "Budget, budgets", "[0 Budget], budgets"),
            ('{forms "budgets" 0.9*"budget"}', "Budget, budgets", "[1 Budget], [0 budgets]"),
            ('(and {exact "a"} (not {exact "b"}))', "a b", "[0 a] b"),
            ('(and {exact "ete"} (filter (name dir "docs")))', "Été docs", "[0 Été] docs"),
            ('{phrase 0:"annual" 1:"budget"}', "annual budget annual", "[0 annual budget] annual"),
            ('{(near 2 "a" "b")}', "b x y a b", "[0 b x y a] b"),
            ('{(ordered 1 "a" "b")}', "b a x b", "b [0 a x b]"),
            ('{(ordered 1 "a" "b")}', "a x y b", "a x y b"),
            ('{prefix "bud"}', "budget abud", "[0 budget] abud"),
            ("{glob b?d*}", "budget bad abud", "[0 budget] [0 bad] abud"),
            ('{regex "^b.d$"}', "bad badge", "[0 bad] badge"),
            ('(exact title "x")', "x", "[0 x]"),
            ('(mime "text")', "text", "text"),
            ('(or {exact "a"} (weight 2 {exact "b"}))', "b a", "[1 b] [0 a]"),
            ('{exact "quo\\"te"}', "quote", "quote"),
            ("", "a", "a"),
            ("((((", "a", "a"),
        ):
            with self.subTest(plan):
                self.assertEqual(self.marked(plan, text), expected)


if __name__ == "__main__":
    unittest.main()

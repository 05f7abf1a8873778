"""The package ``ken``, with the program."""

from __future__ import annotations

import doctest
import os
import unittest
from datetime import datetime, timezone
from pathlib import Path

import world  # isort: split

import ken
from ken import results


class Search(world.Case):
    def test_hits_are_documents_with_times_and_passages(self) -> None:
        found = ken.search("reindeer", sort="path")
        self.assertEqual([hit.address for hit in found], sorted(hit.address for hit in found))
        self.assertEqual(len(found), 3)
        self.assertEqual(found.total, 3)
        page = next(hit for hit in found if hit.mime == "text/html")
        self.assertEqual(page.path, self.path("docs/page.html"))
        self.assertEqual((page.title, page.author, page.type, page.ipath), ("Été à Noël", "Anna Smith", "document", ""))
        self.assertEqual(page.fields["keywords"], ("summer", "snow"))
        self.assertEqual(page.date, datetime.fromtimestamp(world.MODIFIED, timezone.utc))
        self.assertEqual(page.size, len(world.PAGE.encode()))
        assert page.snippet is not None
        self.assertEqual(page.snippet.marked("[", "]"), "Animals Some budget words &amp; signs about [reindeer].")
        self.assertTrue(page.url.startswith("file:///"))
        attachment = next(hit for hit in found if hit.ipath)
        self.assertEqual((attachment.address, attachment.score), (f"{self.path('mail/m1.eml')}|1", None))

    def test_places_count_characters(self) -> None:
        (hit,) = ken.search("Köln")
        assert hit.snippet is not None
        ((start, end),) = hit.snippet.highlights
        self.assertEqual(hit.snippet.text[start:end], "Köln")
        self.assertIn("<b>Köln</b>: two zebras &amp; one &lt;reindeer&gt;", hit.snippet.marked())

    def test_pages_and_totals(self) -> None:
        first, second = ken.search("budget", limit=2), ken.search("budget", limit=2, offset=2)
        self.assertEqual(len(first), 2)
        self.assertEqual([hit.rank for hit in second], [3, 4])
        self.assertEqual(first.total, ken.count("budget"))
        everything = [hit.address for hit in ken.hits("budget")]
        self.assertEqual([hit.address for hit in [*first, *second]], everything[:4])
        self.assertEqual(len(everything), first.total)
        self.assertEqual(ken.search("budget", limit=None).total, first.total)
        self.assertEqual(ken.search("walrus", offset=7).total, 1)
        self.assertEqual((len(ken.search("walrus", limit=0)), ken.search("walrus", limit=0).total), (0, 1))

    def test_streams_end_early(self) -> None:
        hits = ken.hits("*")
        self.assertIsInstance(next(hits), ken.Hit)
        hits.close()  # type: ignore[attr-defined]

    def test_copies_are_one_hit_if_wanted(self) -> None:
        hits = ken.search('"annual budget report"', group="content")
        self.assertEqual([hit.more for hit in hits], [1])
        self.assertEqual(len(ken.search('"annual budget report"')), 2)

    def test_options_change_what_is_found(self) -> None:
        self.assertEqual(ken.count("budgets"), ken.count("budget"))
        self.assertEqual(ken.count("budgets", forms=False), 0)
        self.assertEqual(ken.count("reind", prefix_last=True), 3)
        self.assertEqual(ken.count("walrus OR nothing OR", words="any"), 1)
        self.assertEqual(ken.count("walrus zebra", words="all"), 0)
        self.assertEqual(
            ken.count("author:anna walrus OR reindeer", syntax="recoll"), ken.count("author:anna reindeer")
        )
        self.assertEqual(len(ken.search("walrus (", lenient=True)), 1)
        (first, *_) = ken.search("", like=self.path("docs/deep/copy.txt"))
        self.assertEqual(first.path.name, "budget.txt")
        self.assertEqual(ken.search("-rf /").hits, ken.search("-rf /").hits)

    def test_texts_come_with_hits_if_wanted(self) -> None:
        (hit,) = ken.search("filename:main.py", text=True)
        self.assertEqual(hit.text, world.FILES["src/main.py"].decode())
        self.assertEqual(hit.text_bytes, len(world.FILES["src/main.py"]))
        (without,) = ken.search("filename:main.py", snippets=0)
        self.assertEqual((without.text, without.snippets), (None, ()))

    def test_little_found_says_so(self) -> None:
        found = ken.search("reindear")
        self.assertEqual(len(found), 0)
        self.assertEqual(found.did_you_mean, (ken.Suggestion("reindeer", 3),))
        found = ken.search("walrus zebra unknownword")
        self.assertEqual((found.matched, found.missing), ("any", ("unknownword",)))
        explained = ken.search("zebras", explain=True).explanation
        assert explained is not None
        self.assertEqual(explained.query, '"zebras"')
        self.assertIn("zebra", explained.plan)

    def test_facets_and_places(self) -> None:
        types, years = ken.facets("*", ["type", "year"])
        self.assertEqual((types.name, years.name), ("type", "year"))
        self.assertIn(ken.FacetValue("message", 2), types.values)
        places = list(ken.places("budget", self.path("docs/budget.txt")))
        self.assertEqual({place.path for place in places}, {self.path("docs/budget.txt")})
        (place,) = ken.places("reindeer", f"{self.path('mail/m1.eml')}|1")
        self.assertEqual((place.ipath, place.line, place.page), ("1", 1, None))

    def test_names_that_are_not_utf_8(self) -> None:
        path = self.world.write(b'odd/caf\xe9 [x] "y"*?.txt', b"A platypus.\n")
        ken.index()
        (hit,) = ken.search("platypus")
        self.assertEqual(hit.path, path)
        self.assertEqual(ken.get(hit.path).text, "A platypus.\n")
        self.assertEqual(hit.path.read_bytes(), b"A platypus.\n")
        self.assertEqual([line.path for line in ken.grep("platypus", path.parent)], [path])
        path.unlink()
        ken.index()


class Documents(world.Case):
    def test_get_returns_the_text(self) -> None:
        found = ken.get(self.path("docs/budget.txt"))
        self.assertEqual(found.text, world.FILES["docs/budget.txt"].decode())
        inner = ken.get(self.path("docs/pack.zip"), "inner/secret.txt")
        self.assertEqual(inner.text, "A walrus in a box.\n")
        self.assertEqual(inner.address, f"{self.path('docs/pack.zip')}|inner/secret.txt")
        self.assertEqual(ken.get("docs/budget.txt"), found)
        # A longer path may end with the whole of a shorter one.
        longer = self.world.write(f"a{found.path}", b"Another document.\n")
        ken.index()
        self.assertEqual((ken.get(found.path), ken.get(longer).text), (found, "Another document.\n"))
        with self.assertRaises(ken.NotFound) as caught:
            ken.get(self.path("docs/nothing.txt"))
        self.assertEqual(caught.exception.path, self.path("docs/nothing.txt"))

    def test_extract_reads_files_that_are_not_indexed(self) -> None:
        outside = self.world.home / "outside.eml"
        outside.write_bytes(world.MESSAGE)
        attachment, message = ken.extract(outside)
        self.assertEqual((attachment.text, attachment.ipath), ("Attached notes about reindeer.", "1"))
        self.assertEqual((message.title, message.path), ("Budget question", outside))
        with self.assertRaises(ken.Error) as caught:
            list(ken.extract(self.world.home / "absent"))
        self.assertEqual((caught.exception.exit_code, caught.exception.path), (2, self.world.home / "absent"))

    def test_save_writes_files_and_attachments(self) -> None:
        target = self.world.home / "saved"
        ken.save(self.path("docs/page.html"), target)
        self.assertEqual(target.read_text(), world.PAGE)
        ken.save(self.path("mail/m1.eml"), target, "1")
        self.assertEqual(target.read_text().strip(), "Attached notes about reindeer.")
        with self.assertRaises(ken.NotFound):
            ken.save(self.path("mail/m1.eml"), target, "7")

    def test_failures_come_with_documents(self) -> None:
        broken = self.world.home / "broken.zip"
        broken.write_bytes(b"PK\x03\x04 broken")
        (found,) = ken.extract(broken)
        assert found.failure is not None
        self.assertIn("kind", found.failure.cause)


class Other(world.Case):
    def test_grep_yields_lines(self) -> None:
        lines = list(ken.grep(r"budg\w+", self.path("docs"), globs="*.txt"))
        self.assertEqual({line.path.name for line in lines}, {"budget.txt", "copy.txt"})
        first = next(line for line in lines if line.path.name == "budget.txt")
        self.assertEqual((first.number, first.text, first.matches), (1, "The annual budget report", ((11, 17),)))
        self.assertEqual(list(ken.grep("Budget", self.path("docs/budget.txt"))), [])
        self.assertEqual(len(list(ken.grep("BUDGET", self.path("docs/budget.txt"), ignore_case=True, max_count=1))), 1)
        (umlaut,) = ken.grep("zebras", [self.path("docs")], fixed=True, words=True)
        self.assertEqual([umlaut.text[slice(*at)] for at in umlaut.matches], ["zebras"])
        (member,) = ken.grep("walrus", documents=True)
        self.assertEqual(member.ipath, "inner/secret.txt")
        with self.assertRaises(ken.Error):
            list(ken.grep("("))

    def test_terms_are_counted(self) -> None:
        (term,) = ken.terms("reind*")
        self.assertEqual((term.term, term.documents), ("reindeer", 3))
        self.assertEqual([term.term for term in ken.terms("ann", fields="author")], ["anna"])
        self.assertEqual(len(list(ken.terms(limit=4, sort="documents"))), 4)

    def test_mail_is_threads_and_contacts(self) -> None:
        (thread,) = ken.threads("zebra")
        self.assertEqual((thread.subject, thread.total, thread.matched), ("Budget question", 2, 1))
        question, answer = thread.messages
        self.assertEqual((question.level, answer.level, answer.matched), (0, 1, False))
        self.assertEqual(answer.senders, ("Bob Jones <bob@example.org>",))
        self.assertEqual(thread.date, datetime(2026, 1, 6, 9, 30, tzinfo=timezone.utc))
        (anna,) = ken.contacts("anna")
        self.assertEqual((anna.name, anna.address, anna.count), ("Anna Smith", "anna@example.org", 2))

    def test_status_and_index(self) -> None:
        before = ken.status()
        self.assertEqual((before.roots, before.data), ((self.world.root,), self.world.data))
        self.assertEqual(ken.Client().data, self.world.data)
        self.world.write("new.txt", b"A brand new capybara.\n")
        seen = []
        run = ken.index(on_progress=seen.append)
        self.assertEqual((run.added, run.unchanged), (1, before.files))
        self.assertEqual(ken.status().files, before.files + 1)
        self.assertEqual(ken.count("capybara"), 1)
        (self.world.root / "new.txt").unlink()
        self.assertEqual(ken.search("capybara", fresh=True).total, 0)

    def test_errors_say_what_happened(self) -> None:
        with self.assertRaises(ken.Error) as caught:
            ken.search("author:(")
        self.assertEqual(caught.exception.exit_code, 2)
        self.assertTrue(caught.exception.message.startswith("a word is missing after author:("))
        self.assertIn("hint: ", str(caught.exception))
        with self.assertRaises(ken.Error) as caught:
            ken.Client(self.world.home / "none").search("x")
        self.assertIn("there is no index", caught.exception.message)
        with self.assertRaises(ken.Unavailable):
            ken.Client(program="/nonexistent/ken").search("x")
        with self.assertRaises(ken.Unavailable):
            ken.Client(transport="server").search("x")
        for wrong in (
            lambda: ken.Client(transport="pigeon"),
            lambda: ken.search("x", group="none"),
            lambda: ken.search("x", words="most"),
            lambda: ken.search("x", syntax="sql"),
            lambda: ken.search("x", limit=-1),
        ):
            with self.assertRaises(ValueError):
                wrong()

    def test_documentation_runs(self) -> None:
        found = doctest.testmod(results)
        self.assertGreater(found.attempted, 0)
        for document in (world.PYTHON / "README.md", world.PYTHON / "recoll/README.md"):
            found = doctest.testfile(str(document), module_relative=False, optionflags=doctest.ELLIPSIS)
            self.assertEqual(found.failed, 0, document)
            self.assertGreater(found.attempted, 4, document)

    def test_the_example_answers_a_question(self) -> None:
        page = (world.PYTHON.parent / "docs/python.md").read_text()
        _, _, example = page.split("```python\n")
        run = self.world.python("-c", example.split("```")[0], "is", "the", "budget", "ready?")
        self.assertIn("2026-01-06  Budget question  (2 messages)", run.stdout)
        self.assertIn("  Anna Smith <anna@example.org>: Hello Bob, is the budget ready?", run.stdout)
        self.assertIn("  Bob Jones <bob@example.org>: It is ready.", run.stdout)


class Times(unittest.TestCase):
    def test_times_out_of_range_are_the_last_ones(self) -> None:
        self.assertEqual(results.parse_time("2026-01-05T10:00:00Z"), datetime(2026, 1, 5, 10, tzinfo=timezone.utc))
        self.assertEqual(results.parse_time("12026-01-05T10:00:00Z").year, 9999)
        self.assertEqual(results.parse_time("-000123-01-05T10:00:00Z").year, 1)

    def test_paths_may_be_bytes(self) -> None:
        self.assertEqual(results.parse_path([47, 233]), Path(os.fsdecode(b"/\xe9")))


if __name__ == "__main__":
    unittest.main()

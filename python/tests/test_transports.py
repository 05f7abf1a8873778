"""The server and the program give equal answers."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any, Callable, List

import world  # isort: split

import ken


class Transports(world.Case):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.serving = cls.world.serve()
        cls.addClassCleanup(cls.serving.__exit__)
        cls.server = ken.Client(transport="server")
        cls.program = ken.Client(transport="program")

    def same(self, ask: Callable[[ken.Client], Any]) -> Any:
        """Return what both transports answer."""
        of_server, of_program = ask(self.server), ask(self.program)
        self.assertEqual(of_server, of_program)
        return of_server

    def test_the_server_is_found(self) -> None:
        self.assertEqual(self.server.search("budget").hits, ken.search("budget").hits)
        self.assertIsNotNone(ken.search("budget").commit)
        self.assertIsNone(self.program.search("budget").commit)
        named = ken.Client(socket=self.serving.socket, transport="server", program="/nonexistent")
        self.assertEqual(named.count("budget"), self.program.count("budget"))

    def test_searches_are_the_same(self) -> None:
        for options in (
            {},
            {"limit": 2},
            {"limit": 2, "offset": 1},
            {"limit": None, "sort": "path"},
            {"sort": "date", "reverse": True},
            {"group": "content"},
            {"group": "similar"},
            {"group": "message"},
            {"snippets": 0},
            {"snippets": 3},
            {"text": True},
            {"explain": True},
            {"lenient": True},
            {"syntax": "recoll"},
            {"fresh": True},
            {"prefix_last": True},
        ):
            for query in ("budget", "reindeer OR zebras", "ann"):
                with self.subTest(query=query, **options):
                    found = self.same(lambda client: client.search(query, **options))
                    self.assertEqual(found.total, self.program.search(query, **options).total)
        self.same(lambda client: client.search("budgets", forms=False).hits)
        self.same(lambda client: client.search("walrus zebra", words="any"))
        self.same(lambda client: client.search("reindeer zebras", words="all"))
        self.same(lambda client: client.search("walrus zebra unknownword"))
        self.same(lambda client: client.search("reindear"))

    def test_streams_counts_facets_and_places_are_the_same(self) -> None:
        for number in range(130):
            self.world.write(f"many/{number}.txt", b"One of many quokkas.\n")
        ken.index()
        self.assertEqual(len(self.same(lambda client: list(client.hits("quokkas", sort="path")))), 130)
        self.assertEqual(self.same(lambda client: client.count("quokkas")), 130)
        self.same(lambda client: client.facets("*", ["type", "dir", "year"], depth=2, limit=3))
        self.same(lambda client: list(client.places("budget", self.path("docs/budget.txt"))))
        self.same(lambda client: client.get(self.path("docs/pack.zip"), "inner/secret.txt"))
        self.same(lambda client: client.get(self.path("docs/budget.txt")))

    def test_the_rest_is_the_same(self) -> None:
        self.same(lambda client: list(client.terms("b*", sort="documents", limit=5)))
        self.same(lambda client: list(client.terms("ann", fields=["author", "body"], by_field=True)))
        self.same(lambda client: list(client.threads("budget")))
        self.same(lambda client: list(client.contacts("example", after="2026-01")))
        self.same(lambda client: client.status())

    def test_members_of_archives_are_written(self) -> None:
        target = self.world.home / "saved"
        self.server.save(self.path("docs/pack.zip"), target, "inner/secret.txt")
        self.assertEqual(target.read_text(), "A walrus in a box.\n")
        for client in (self.server, self.program):
            client.save(self.path("mail/m1.eml"), target, "1")
            self.assertEqual(target.read_text().strip(), "Attached notes about reindeer.")

    def test_mistakes_are_errors_of_both(self) -> None:
        for client, key in ((self.server, "status"), (self.program, "exit_code")):
            with self.assertRaises(ken.Error) as caught:
                client.search("author:(")
            self.assertTrue(caught.exception.message.startswith("a word is missing after author:("))
            self.assertIsNotNone(getattr(caught.exception, key))
            with self.assertRaises(ken.NotFound):
                client.get(self.path("nothing"))

    def test_changes_are_seen(self) -> None:
        path = self.world.write("fresh.txt", b"A fresh axolotl.\n")
        self.assertEqual(ken.search("axolotl", fresh=True).total, 1)
        path.unlink()
        self.assertEqual(ken.search("axolotl", fresh=True).total, 0)

    def test_threads_may_share_a_client(self) -> None:
        found: List[int] = []
        threads = [threading.Thread(target=lambda: found.append(self.server.search("budget").total)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [self.program.count("budget")] * 8)

    def test_names_that_are_not_utf_8(self) -> None:
        path = self.world.write(b"odd/caf\xe9.txt", b"A platypus.\n")
        ken.index()
        (hit,) = self.same(lambda client: client.search("platypus"))
        self.assertEqual(hit.path, Path(os.fsdecode(os.fsencode(path))))
        self.same(lambda client: client.get(hit.path))

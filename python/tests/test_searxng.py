"""SearXNG's engine for Recoll, unchanged, on the route ``/json`` of ken serve."""

from __future__ import annotations

import importlib.util
import json
import logging
import sys
import types
import unittest
import urllib.request
from datetime import date, timedelta
from html.parser import HTMLParser
from typing import Any, Dict, List

import world

OLD = world.PEERS / "searx/recoll.py"
#: The engine of today is not in Debian; GitHub has it.
NEW = world.PEERS / "searx-new/recoll.py"


class Results(List[Any]):
    """Stands for ``searx.result_types.EngineResults``."""

    types = types.SimpleNamespace(File=dict)

    def add(self, result: Any) -> None:
        self.append(result)


def html_to_text(text: str) -> str:
    """Stand for ``searx.utils.html_to_text``."""
    found: List[str] = []
    parser = HTMLParser()
    parser.handle_data = found.append  # type: ignore[method-assign]
    parser.feed(text)
    parser.close()
    return "".join(found)


def engine(path: Any, **settings: Any) -> Any:
    """Load an engine as SearXNG does: as a module whose variables are its settings."""
    stubs = {
        "searx": types.ModuleType("searx"),
        "searx.result_types": types.SimpleNamespace(EngineResults=Results),
        "searx.utils": types.SimpleNamespace(html_to_text=html_to_text),
    }
    spec = importlib.util.spec_from_file_location("engine_of_recoll", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.update(stubs)  # type: ignore[arg-type]
    try:
        spec.loader.exec_module(module)
    finally:
        for name in stubs:
            del sys.modules[name]
    module.__dict__.update(logger=logging.getLogger("engine"), **settings)
    return module


class Engine(world.Case):
    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.serving = cls.world.serve()
        cls.addClassCleanup(cls.serving.__exit__)
        cls.base = cls.serving.address()

    def load(self, path: Any, slash: str) -> Any:
        """Return an engine that asks ken."""
        loaded = engine(
            path,
            base_url=self.base + slash,
            mount_prefix=str(self.world.root),
            dl_prefix="https://example.org/files",
        )
        if hasattr(loaded, "setup"):
            self.assertTrue(loaded.setup({"base_url": self.base, "mount_prefix": "/", "dl_prefix": "x"}))
        return loaded

    def ask(self, loaded: Any, query: str, **params: Any) -> List[Any]:
        """Return what an engine makes of the answer to a query."""
        asked: Dict[str, Any] = {"pageno": 1, "time_range": None, **params}
        loaded.request(query, asked)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(asked["url"], timeout=60) as answer:
            text = answer.read().decode()
        response = types.SimpleNamespace(text=text, json=lambda: json.loads(text))
        # The old engine tells the number of results as one more.
        return [result for result in loaded.response(response) if "title" in result]

    def check(self, loaded: Any) -> None:
        """Check an engine's results."""
        (page,) = self.ask(loaded, "noël")
        self.assertEqual(page["title"], "Été à Noël")
        self.assertEqual(page["url"], "https://example.org/files/docs/page.html")
        self.assertEqual((page["author"], page["filename"]), ("Anna Smith", "page.html"))
        self.assertEqual((page["mtype"], page["subtype"]), ("text", "html"))
        self.assertGreater(int(page["size"]), 0)
        self.assertEqual(self.ask(loaded, "zzzunknown"), [])
        found = self.ask(loaded, "reindeer")
        self.assertEqual(len(found), 3)
        for result in found:
            self.assertIn("reindeer", result["content"])
        self.assertEqual(self.ask(loaded, "reindeer", pageno=2), [])
        since = (date.today() - timedelta(days=1)).isoformat()
        recent = self.ask(loaded, "reindeer", time_range="day")
        self.assertEqual(recent, [], f"nothing is newer than {since}")

    def test_results_are_sorted_as_recollwebui_does(self) -> None:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        for sort in ("fbytes", "mtime", "filename"):
            for ascending in (0, 1):
                asked = f"{self.base}/json?query=mime:*&sort={sort}&ascending={ascending}&page=1"
                with opener.open(asked, timeout=60) as answer:
                    found = json.load(answer)["results"]
                values = [result[sort] for result in found]
                values = values if sort == "filename" else [int(value) for value in values]
                self.assertEqual(values, sorted(values, reverse=not ascending), (sort, ascending))

    def test_the_engine_of_debian(self) -> None:
        world.need("searx", OLD.is_file())
        self.check(self.load(OLD, "/"))

    def test_the_engine_of_today(self) -> None:
        if not NEW.is_file():
            world.leave_out("SearXNG's engine of today was not fetched")
        self.check(self.load(NEW, ""))


if __name__ == "__main__":
    unittest.main()

"""ken's module ``recoll`` beside Recoll's own, on the same files: what both answer to ``probe.py``."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict

import world

#: Where the answers differ, and why.
DIFFERENCES = {
    # ken has members of Recoll 1.40, too.
    "members of Db": "getDoc and preparePurge are newer than the module that is compared",
    "abstract of m1.eml": "Recoll adds the names of attachments to the text of a message",
    **{f"sig of {name}": "Recoll's has the time of the last change of the inode" for name in world.PROBED},
}


def has_recoll() -> bool:
    """Return whether Recoll and its module are installed."""
    if shutil.which("recollindex") is None or not Path(world.DEBIAN_PYTHON).exists():
        return False
    run = subprocess.run([world.DEBIAN_PYTHON, "-I", "-c", "import recoll"], cwd="/", capture_output=True, check=False)
    return run.returncode == 0


class Oracle(world.Case):
    theirs: Dict[str, Any]
    ours: Dict[str, Any]
    of_server: Dict[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        world.need("python3-recoll", has_recoll())
        super().setUpClass()
        home = cls.world.home
        settings = home / "recoll"
        settings.mkdir()
        (settings / "recoll.conf").write_text(f"topdirs = {cls.world.root}\n")
        environment = {**cls.world.environment, "RECOLL_CONFDIR": str(settings)}
        del environment["PYTHONPATH"]
        subprocess.run(["recollindex", "-z"], env=environment, check=True, capture_output=True)
        probe = Path(__file__).with_name("probe.py")
        run = subprocess.run(
            [world.DEBIAN_PYTHON, str(probe)], env=environment, capture_output=True, text=True, check=False, cwd=home
        )
        if run.returncode != 0:
            raise AssertionError(run.stderr)
        cls.theirs = json.loads(run.stdout)
        cls.ours = json.loads(cls.world.python(str(probe)).stdout)
        with cls.world.serve():
            cls.of_server = json.loads(cls.world.python(str(probe)).stdout)

    def test_answers_are_the_same(self) -> None:
        self.assertEqual(list(self.ours), list(self.theirs))
        for asked, answer in self.theirs.items():
            with self.subTest(asked):
                if asked.startswith("keys "):
                    # ken knows more, such as the language.
                    self.assertLessEqual(set(answer), set(self.ours[asked]))
                elif asked not in DIFFERENCES:
                    self.assertEqual(self.ours[asked], answer)

    def test_the_server_answers_the_same(self) -> None:
        for asked, answer in self.ours.items():
            with self.subTest(asked):
                self.assertEqual(self.of_server[asked], answer)

    def test_differences_are_there(self) -> None:
        for asked, why in DIFFERENCES.items():
            self.assertNotEqual(self.ours[asked], self.theirs[asked], f"{asked}: no more true: {why}")

    def test_no_member_is_missing(self) -> None:
        for asked, members in self.theirs.items():
            if asked.startswith("members of "):
                self.assertEqual(set(members) - set(self.ours[asked]), set(), asked)

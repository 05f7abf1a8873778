"""How many of a reference's words another text has, counted as multisets.

A word is a run of letters and digits after NFKC and in lower case; of scripts that are written
without blanks each character is one.
"""

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field

WORD = re.compile(
    "[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
    "|[^\\W_\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)


def words(text):
    """The words of a text, each with its number."""
    return Counter(WORD.findall(unicodedata.normalize("NFKC", text).lower()))


@dataclass
class Score:
    """What a text has of a reference."""

    found: int = 0  # words in both
    wanted: int = 0  # words of the reference
    given: int = 0  # words of the text
    missing: Counter = field(default_factory=Counter)

    @property
    def recall(self):
        return self.found / self.wanted if self.wanted else 1.0

    @property
    def precision(self):
        return self.found / self.given if self.given else 1.0

    def add(self, other):
        self.found += other.found
        self.wanted += other.wanted
        self.given += other.given
        self.missing += other.missing


def score(text, reference):
    given, wanted = words(text), words(reference)
    both = given & wanted
    return Score(both.total(), wanted.total(), given.total(), wanted - given)

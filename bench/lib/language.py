"""Sentences about a topic, the queries, and the random numbers that choose words.

`sentences.txt` has sentences with gaps: {n} takes a noun of the topic, {v} a verb, {a} an adjective,
{num} a number, {w} one of the scattered words. These are words of queries: they stand far apart in
long documents that nobody looks for. `topics.txt` has for each topic a line of nouns, one of verbs,
one of adjectives, and sentences of its own.
"""

import os
import re
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "crates", "ken", "tests", "known_items")
TITLES = ["Notes on {n} and {n}", "The {a} {n}", "{n} and {n}", "About the {n}", "{n}, {n}, {n}", "A {a} {n}"]


class Dice:
    """Random numbers that are the same in every version of Python."""

    def __init__(self):
        self.state = 0

    def start(self, name):
        """Begins the numbers of a file, which depend on no other file."""
        self.state = zlib.crc32(name.encode())
        self.below(2)

    def below(self, limit):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        return (self.state >> 33) * limit >> 31

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def pick(self, items):
        return items[self.below(len(items))]

    def early(self, items):
        """An item, the first ones more often than the last."""
        return items[self.below(1 + self.below(len(items)))]


class Language:
    """Text about topics."""

    def __init__(self, dice):
        self.dice = dice
        self.sentences = dict(sections("sentences.txt"))
        # No other document has the word of a query of one word as its title.
        self.asked = {words.lower() for _, words, _ in queries() if " " not in words}
        self.scattered = " ".join(self.sentences["scattered"]).split()
        self.topics = {}
        for name, (nouns, verbs, adjectives, *sentences) in sections("topics.txt"):
            words = {"n": nouns.split(), "v": verbs.split(), "a": adjectives.split()}
            self.topics[name] = (words, sentences)

    def fill(self, sentence, topic):
        """A sentence with its gaps filled."""
        words = self.topics[topic][0]
        used = set()

        def gap(match):
            kind = match.group(1)
            if kind == "num":
                return str(self.dice.between(2, 90))
            word = self.dice.early([word for word in words[kind] if word not in used])
            used.add(word)
            return word

        filled = re.sub(r"\{(\w+)\}", gap, sentence)
        return re.sub(r"\b([Aa]) (?=[aeio])", r"\1n ", filled)

    def sentence(self, topic):
        chance = self.dice.below(100)
        foreign = topic in self.sentences
        if chance < 20 and not foreign:
            return self.dice.pick(self.sentences["general"])
        if chance < 40:
            return self.dice.pick(self.topics[topic][1])
        return self.fill(self.dice.pick(self.sentences[topic if foreign else "en"]), topic)

    def paragraph(self, topic):
        return " ".join(self.sentence(topic) for _ in range(self.dice.between(3, 7)))

    def paragraphs(self, topic, count):
        return [self.paragraph(topic) for _ in range(count)]

    def mixed(self, topic):
        """A paragraph and a sentence with words of queries."""
        apart = self.dice.pick(self.sentences["apart"])
        return f"{self.paragraph(topic)} " + re.sub(r"\{w\}", lambda _: self.dice.pick(self.scattered), apart)

    def offer(self, topic):
        return self.fill(self.dice.pick(self.sentences["offer"]), topic)

    def noun(self, topic):
        return self.dice.pick([word for word in self.topics[topic][0]["n"] if word not in self.asked])

    def verb(self, topic):
        return self.dice.pick(self.topics[topic][0]["v"])

    def title(self, topic):
        form = self.dice.pick(TITLES)
        title = self.fill(form, topic)
        while self.asked & set(re.findall(r"\w+", title.lower())):
            title = self.fill(form, topic)
        return title[0].upper() + title[1:]


def sections(name, mark="== "):
    """The heads and lines of a file of sections."""
    with open(os.path.join(DATA, name), encoding="utf-8") as file:
        text = file.read()
    for section in re.split(rf"(?m)^{mark}", text)[1:]:
        head, *lines = section.rstrip("\n").split("\n")
        yield head, lines


def queries():
    """The queries: class, words, and the paths of the documents that are looked for."""
    with open(os.path.join(DATA, "queries.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    return [(kind, words, wanted) for kind, words, *wanted in rows]

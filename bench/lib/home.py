"""Makes a home folder of documents, mail, source code and notes, the same on every machine.

    cd bench; python3 -B -m lib.home FOLDER [SHARE]

Most of what queries ask for is written by hand: `documents.txt` and `mails.txt` in
`crates/ken/tests/known_items`. All other files are made of `sentences.txt`, whose gaps take the
words of a topic of `topics.txt`, the first words of a list more often than the last. SHARE is the
part of those files that is made, 1 by default. Ages count back from now, so that what is new stays
new.
"""

import email.utils
import json
import os
import re
import sys
import textwrap
import time
import zlib

from lib.office import document
from lib.sources import CODE, LICENCES

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "crates", "ken", "tests", "known_items")
DAY = 86_400
PEOPLE = """Ursula Brandt <ursula@brandt.example>
Anna Keller <anna@harbour.example>
Lena Reed <lena@reed.example>
Rasmus Holm <rasmus@norvik.example>
Greta Lind <greta@lind.example>
Elif Demir <elif@demir.example>
Ngozi Okafor <ngozi@lighthouse-maps.example>
Halden Property Management <office@halden.example>
Oskar Lindqvist <oskar@lindqvist.example>
Hiro Nakamura <hiro@nakamura.example>
David Ivanov <david@ivanov.example>
Karin Hansen <karin@hansen.example>
Samuel Cohen <samuel@cohen.example>
Inés Castro <ines@castro.example>
Paul Kowalski <paul@kowalski.example>
Nadia Rossi <nadia@rossi.example>
Wanda Jansen <wanda@jansen.example>
Quentin Vargas <quentin@vargas.example>""".splitlines()
ME = "Tom Reed <tom@reed.example>"
SHOPS = "Green Corner,Page and Ink,Kitchen World,Sun Travel,Cable House,Wheel Works,Photo Point,Home Bank".split(",")
LISTS = {"search-dev": "search", "ledger-users": "finance", "weather": "network", "garden": "garden",
         "db-admins": "database", "compiler": "programming", "village": "history"}
PROSE = """housing house insurance finance travel garden cooking health school network photography music society
bicycle history books law work Haus maison""".split()
TECHNICAL = ["search", "programming", "database", "network", "work"]
HOLDERS = ["the authors of the project", "Thomas Reed", "the original authors and contributors", "Thomas Reed and others",
           "Reed and the other authors"]
PROJECTS = ["ledger", "http", "photo-sorter", "tiny-search", "weather-station"]

# The words of queries of these classes also stand in long documents about something else, far apart.
SCATTERED = ["words", "phrase", "title", "folder", "mail", "question", "date"]


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
        self.sentences = {name: lines for name, lines in _sections("sentences.txt")}
        # No other document has the word of a query of one word as its title.
        self.asked = {words.lower() for _, words, _ in queries() if " " not in words}
        self.scattered = sorted({word.lower() for kind, words, _ in queries() if kind in SCATTERED
                                 for word in re.findall(r"[^\W\d_]{4,}", words)})
        self.topics = {}
        for name, (nouns, verbs, adjectives, *sentences) in _sections("topics.txt"):
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
        form = self.dice.pick(["Notes on {n} and {n}", "The {a} {n}", "{n} and {n}", "About the {n}", "{n}, {n}, {n}", "A {a} {n}"])
        title = self.fill(form, topic)
        while self.asked & set(re.findall(r"\w+", title.lower())):
            title = self.fill(form, topic)
        return title[0].upper() + title[1:]


class Home:
    """The folder that is filled."""

    def __init__(self, folder, share):
        self.folder, self.share = folder, share
        self.now = int(time.time())
        self.dice = Dice()
        self.language = Language(self.dice)
        self.n_mails = 2_000

    def fill(self):
        for name in ("documents.txt", "mails.txt"):
            for head, lines in _sections(name, "=== "):
                self._by_hand(head, lines)
        for kind, count in (("paper", 380), ("report", 60), ("note", 160), ("personal", 220), ("thread", 110), ("digest", 40),
                            ("newsletter", 240), ("source", 380), ("package", 40), ("generated", 50)):
            for number in range(round(count * self.share)):
                self.dice.start(f"{kind} {number}")
                getattr(self, f"_{kind}")(number)
        for project, holder in zip(PROJECTS, HOLDERS):
            self.write(f"src/{project}/LICENSE", LICENCES["MIT"].format(holder=holder, year=2015 + len(project)), 600)

    def write(self, path, content, age):
        """Writes a file that was changed `age` days ago."""
        place = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        os.utime(place, (self.now - age * DAY,) * 2)

    def _by_hand(self, head, lines):
        path, _, options = head.partition(" | ")
        options = dict(option.split("=") for option in options.split())
        age = int(options["age"])
        if path.startswith("Mail/"):
            identity = re.search(r"/(\d+)\.", path).group(1)
            self._message(path, "\n".join(lines), age, identity)
            return
        self.dice.start(path)
        more = self.language.paragraphs(options["topic"], int(options["more"])) if "more" in options else []
        self.write(path, document(path, lines, more), age)

    def _message(self, path, text, age, identity, kind="text/plain"):
        headers = [f"Date: {email.utils.formatdate(self.now - age * DAY, usegmt=True)}", f"Message-ID: <{identity}@home.example>",
                   "MIME-Version: 1.0", f"Content-Type: {kind}; charset=utf-8", "Content-Transfer-Encoding: 8bit"]
        self.write(path, "\n".join(headers) + "\n" + text + "\n", age)

    def _mail(self, box, sender, recipient, subject, body, age=None, headers=(), kind="text/plain"):
        self.n_mails += 1
        age = age if age is not None else self.dice.between(5, 1500)
        head = [f"From: {sender}", f"To: {recipient}", f"Subject: {subject}", *headers]
        text = "\n".join(head) + "\n\n" + body
        self._message(f"Mail/{box}/cur/{self.n_mails}.home:2,S", text, age, self.n_mails, kind)

    def _paper(self, number):
        topic = self.dice.pick(PROSE)
        title = self.language.title(topic)
        suffix = self.dice.pick(["docx", "odt", "pdf", "html", "md", "txt", "rtf", "txt", "md", "pdf"])
        name = f"Documents/{topic}/{title.lower().replace(',', '')} {number}.{suffix}"
        body = self.language.paragraphs(topic, self.dice.between(1, 9))
        heading = {"html": f"<title>{title}</title><h1>{title}</h1>", "md": f"# {title}"}.get(suffix, title)
        self.write(name, document(name, [heading, *body], []), self.dice.between(5, 2000))

    def _report(self, number):
        """A long document about much."""
        topics = [self.dice.pick(PROSE) for _ in range(6)]
        body = [self.language.mixed(topic) for topic in topics for _ in range(self.dice.between(4, 14))]
        name = f"Documents/archive/report {number}.{self.dice.pick(['pdf', 'txt', 'html', 'docx'])}"
        self.write(name, document(name, [f"Report {2000 + number % 25}, part {number}", *body], []), self.dice.between(5, 3000))

    def _note(self, number):
        topic = self.dice.pick(PROSE + TECHNICAL)
        lines = [self.language.sentence(topic) for _ in range(self.dice.between(1, 6))]
        self.write(f"Notes/{self.language.noun(topic)} {number}.txt", "\n".join(lines) + "\n", self.dice.between(1, 1500))

    def _personal(self, number):
        topic = self.dice.pick(PROSE + TECHNICAL)
        person = self.dice.pick(PEOPLE)
        sent = self.dice.below(4) == 0
        body = "\n\n".join(self._wrapped(topic) for _ in range(self.dice.between(1, 4)))
        people = (ME, person) if sent else (person, ME)
        self._mail("Sent" if sent else "Inbox", *people, self.language.title(topic), body)

    def _thread(self, number):
        """A question to a mailing list and its answers, which quote."""
        name = self.dice.pick(sorted(LISTS))
        topic, subject = LISTS[name], f"[{name}] {self.language.title(LISTS[name])}"
        body = self._wrapped(topic)
        age = self.dice.between(5, 1500)
        for answer in range(self.dice.between(2, 6)):
            author = self.dice.pick(PEOPLE)
            self._mail("Lists", author, f"{name}@lists.example", ("Re: " if answer else "") + subject, body, age,
                       [f"List-Id: <{name}.lists.example>"])
            quoted = "\n".join("> " + line for line in body.splitlines())
            body = f"On Monday, {author.split(' <')[0]} wrote:\n{quoted}\n\n{self._wrapped(topic)}"

    def _digest(self, number):
        name = self.dice.pick(sorted(LISTS))
        parts = []
        for item in range(self.dice.between(8, 16)):
            author = self.dice.pick(PEOPLE)
            parts.append(f"Message: {item + 1}\nFrom: {author}\nSubject: {self.language.title(LISTS[name])}\n\n{textwrap.fill(self.language.mixed(LISTS[name]), 72)}")
        self._mail("Lists", f"{name}-request@lists.example", f"{name}@lists.example", f"{name} Digest, Vol {number}, Issue {number % 9 + 1}",
                   ("\n\n" + "-" * 30 + "\n\n").join(parts), headers=[f"List-Id: <{name}.lists.example>", "Precedence: bulk"])

    def _newsletter(self, number):
        """Bulk mail: long, of the last year, some of it with a date to come."""
        topic = self.dice.pick(PROSE)
        shop = self.dice.pick(SHOPS)
        offers = "".join(f"<h2>{self.language.offer(topic)}</h2><p>{self.language.mixed(topic)}</p>\n"
                         for _ in range(self.dice.between(4, 14)))
        footer = ("You receive this mail because you agreed to our terms. Author and publisher: the marketing team. "
                  "Unsubscribe, privacy policy, security advice, imprint, import duties.")
        age = -self.dice.between(20, 400) if number % 12 == 0 else self.dice.between(1, 400)
        self._mail("Newsletters", f"{shop} <news@{shop.lower().replace(' ', '-')}.example>", ME, self.language.offer(topic),
                   f"<html><body>{offers}<p>{footer}</p></body></html>", age,
                   ["List-Unsubscribe: <https://news.example/off>", "Precedence: bulk"], "text/html")

    def _source(self, number):
        topic = self.dice.pick(TECHNICAL)
        language = self.dice.pick(sorted(CODE))
        head, function = CODE[language]
        parts = [head.format(holder=self.dice.pick(HOLDERS), about=self.language.sentence(topic))]
        for _ in range(self.dice.between(2, 9)):
            names = {"verb": self.language.verb(topic), "noun": self.language.noun(topic), "other": self.language.noun(topic)}
            capital = {name.upper(): word.capitalize() for name, word in names.items()}
            parts.append(function.format(**names, **capital, about=self.language.sentence(topic)))
        folder = self.dice.pick(["shop", "archive", "crawler", "viewer", "scheduler", "importer"])
        self.write(f"src/{folder}/{self.language.verb(topic)}_{self.language.noun(topic)}_{number}.{language}", "\n".join(parts),
                   self.dice.between(5, 1500))

    def _package(self, number):
        """A package of others with a README, sources, and the copy of a licence."""
        words = [self.language.noun(self.dice.pick(TECHNICAL)), self.dice.pick(["kit", "utils", "lib", "core", "tools"])]
        folder = f"src/vendor/{words[0]}{words[1]}{number}"
        kind = self.dice.pick(["BSD", "Apache"])
        holder = f"{self.dice.pick(PEOPLE).split(' <')[0]} and other authors"
        year = 2001 + number % 20
        self.write(f"{folder}/LICENSE", LICENCES[kind].format(holder=holder, year=year), 800)
        self.write(f"{folder}/copyright", f"Upstream author: {holder}\nCopyright: {year} {holder}\nLicense: {kind}\n\n{LICENCES[kind].format(holder=holder, year=year)}", 800)
        readme = [f"# {words[0]}{words[1]}{number}", *self.language.paragraphs(self.dice.pick(TECHNICAL), 3)]
        self.write(f"{folder}/README.md", "\n\n".join(readme), 800)

    def _generated(self, number):
        """Files that programs write."""
        nouns = [self.language.noun(self.dice.pick(TECHNICAL)) for _ in range(300)]
        kind = number % 4
        if kind == 0:
            packages = {f"{noun}-{place}": {"version": f"{place % 9}.{place % 7}.1", "resolved": f"https://registry.example/{noun}"}
                        for place, noun in enumerate(nouns)}
            self.write(f"src/web{number}/package-lock.json", json.dumps({"lockfileVersion": 3, "packages": packages}, indent=1), 30)
        elif kind == 1:
            code = "".join(f"function {noun}{place}(e){{return e.{noun}&&e.import({place})}};" for place, noun in enumerate(nouns))
            self.write(f"src/web{number}/bundle.min.js", code * 3, 3)
        elif kind == 2:
            lines = [f"2026-01-{place % 28 + 1:02} 10:{place % 60:02}:00 INFO {noun}: {self.language.sentence('network')}"
                     for place, noun in enumerate(nouns)]
            self.write(f"var/log/service{number}.log", "\n".join(lines), 1)
        else:
            rows = [f"{place},{noun},{self.dice.between(100, 9999)}.{self.dice.between(10, 99)}" for place, noun in enumerate(nouns)]
            self.write(f"Documents/exports/table{number}.csv", "id,name,amount\n" + "\n".join(rows), 60)

    def _wrapped(self, topic):
        return textwrap.fill(self.language.paragraph(topic), 72)


def _sections(name, mark="== "):
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


if __name__ == "__main__":
    Home(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1).fill()

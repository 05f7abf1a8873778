"""Makes a home folder of documents, mail, source code and notes, the same on every machine.

    cd bench; python3 -B -m lib.home FOLDER [SHARE]

Most of what queries ask for is written by hand: `documents.txt` and `mails.txt` in
`crates/ken/tests/known_items`. There a line `=== PATH | age=DAYS more=N topic=TOPIC` begins a
document, and N paragraphs about the topic follow its own text. All other files are made of `sentences.txt`, whose gaps take the
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

from lib.language import Dice, Language, sections
from lib.office import document
from lib.sources import CODE, licence

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
            for head, lines in sections(name, "=== "):
                self._by_hand(head, lines)
        makers = ((self._paper, 380), (self._report, 60), (self._note, 160), (self._personal, 220),
                  (self._thread, 110), (self._digest, 40), (self._newsletter, 240), (self._source, 380),
                  (self._package, 40), (self._generated, 50))
        for make, count in makers:
            for number in range(round(count * self.share)):
                self.dice.start(f"{make.__name__} {number}")
                make(number)
        for project, holder in zip(PROJECTS, HOLDERS):
            self.write(f"src/{project}/LICENSE", licence("MIT", holder, 2015 + len(project)), 600)

    def write(self, path, content, age):
        """Writes a file that was changed `age` days ago."""
        target = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        os.utime(target, (self.now - age * DAY,) * 2)

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
        date = email.utils.formatdate(self.now - age * DAY, usegmt=True)
        headers = [f"Date: {date}", f"Message-ID: <{identity}@home.example>",
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
        """A long document about many topics."""
        topics = [self.dice.pick(PROSE) for _ in range(6)]
        body = [self.language.mixed(topic) for topic in topics for _ in range(self.dice.between(4, 14))]
        name = f"Documents/archive/report {number}.{self.dice.pick(['pdf', 'txt', 'html', 'docx'])}"
        lines = [f"Report {2000 + number % 25}, part {number}", *body]
        self.write(name, document(name, lines, []), self.dice.between(5, 3000))

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
            head = f"Message: {item + 1}\nFrom: {author}\nSubject: {self.language.title(LISTS[name])}"
            parts.append(f"{head}\n\n{textwrap.fill(self.language.mixed(LISTS[name]), 72)}")
        subject = f"{name} Digest, Vol {number}, Issue {number % 9 + 1}"
        body = ("\n\n" + "-" * 30 + "\n\n").join(parts)
        self._mail("Lists", f"{name}-request@lists.example", f"{name}@lists.example", subject, body,
                   headers=[f"List-Id: <{name}.lists.example>", "Precedence: bulk"])

    def _newsletter(self, number):
        """Bulk mail: long, from the last year, some of it with a date in the future."""
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
            verb, noun, other = self.language.verb(topic), self.language.noun(topic), self.language.noun(topic)
            names = {"verb": verb, "noun": noun, "other": other}
            capital = {name.upper(): word.capitalize() for name, word in names.items()}
            parts.append(function.format(**names, **capital, about=self.language.sentence(topic)))
        folder = self.dice.pick(["shop", "archive", "crawler", "viewer", "scheduler", "importer"])
        name = f"{self.language.verb(topic)}_{self.language.noun(topic)}_{number}.{language}"
        self.write(f"src/{folder}/{name}", "\n".join(parts), self.dice.between(5, 1500))

    def _package(self, number):
        """A package of somebody else: a README and two copies of a licence."""
        words = [self.language.noun(self.dice.pick(TECHNICAL)), self.dice.pick(["kit", "utils", "lib", "core", "tools"])]
        folder = f"src/vendor/{words[0]}{words[1]}{number}"
        kind = self.dice.pick(["BSD", "Apache"])
        holder = f"{self.dice.pick(PEOPLE).split(' <')[0]} and other authors"
        year = 2001 + number % 20
        text = licence(kind, holder, year)
        self.write(f"{folder}/LICENSE", text, 800)
        head = f"Upstream author: {holder}\nCopyright: {year} {holder}\nLicense: {kind}\n\n"
        self.write(f"{folder}/copyright", head + text, 800)
        readme = [f"# {words[0]}{words[1]}{number}", *self.language.paragraphs(self.dice.pick(TECHNICAL), 3)]
        self.write(f"{folder}/README.md", "\n\n".join(readme), 800)

    def _generated(self, number):
        """A file that a program writes."""
        nouns = [self.language.noun(self.dice.pick(TECHNICAL)) for _ in range(300)]
        kind = number % 4
        if kind == 0:
            packages = {f"{noun}-{index}": {"version": f"{index % 9}.1", "resolved": f"https://registry.example/{noun}"}
                        for index, noun in enumerate(nouns)}
            text = json.dumps({"lockfileVersion": 3, "packages": packages}, indent=1)
            self.write(f"src/web{number}/package-lock.json", text, 30)
        elif kind == 1:
            code = "".join(f"function {noun}{index}(e){{return e.{noun}&&e.import({index})}};"
                           for index, noun in enumerate(nouns))
            self.write(f"src/web{number}/bundle.min.js", code * 3, 3)
        elif kind == 2:
            lines = [f"2026-01-{index % 28 + 1:02} 10:{index % 60:02}:00 INFO {noun}: {self.language.sentence('network')}"
                     for index, noun in enumerate(nouns)]
            self.write(f"var/log/service{number}.log", "\n".join(lines), 1)
        else:
            rows = [f"{index},{noun},{self.dice.between(100, 9999)}.50" for index, noun in enumerate(nouns)]
            self.write(f"Documents/exports/table{number}.csv", "id,name,amount\n" + "\n".join(rows), 60)

    def _wrapped(self, topic):
        return textwrap.fill(self.language.paragraph(topic), 72)


if __name__ == "__main__":
    Home(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 1).fill()

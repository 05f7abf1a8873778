"""Makes a home folder of documents, mail, source code and notes, the same on every machine.

    python3 bench/lib/home.py FOLDER [SHARE]

The documents that are looked for are written by hand (`documents.txt`, `mails.txt` in
`crates/ken/tests/known_items`). All others are written from a seed: sentences of `sentences.txt`
whose gaps take the words of a topic of `topics.txt`, the first words of a list more often than the
last. SHARE of these are made, 1 if nothing is said. Ages are counted back from the time of the
call, so that what is new stays new.
"""

import email.utils
import html
import io
import json
import os
import re
import sys
import textwrap
import time
import zipfile

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

# Classes of queries whose words stand in long documents about something else, too.
SCATTERED = ["words", "phrase", "title", "folder", "mail", "question", "date"]


class Dice:
    """Random numbers that are the same in every version of Python."""

    def __init__(self, seed):
        self.state = seed

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
        # What one word asks for is the title of what is looked for alone.
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
        """A paragraph that also names, far apart, words of queries that ask for others."""
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
        self.dice = Dice(20_260_101)
        self.language = Language(self.dice)
        self.n_mails = 2_000

    def fill(self):
        for name in ("documents.txt", "mails.txt"):
            for head, lines in _sections(name, "=== "):
                self._by_hand(head, lines)
        for kind, count in (("paper", 380), ("report", 60), ("note", 160), ("personal", 220), ("thread", 110), ("digest", 40),
                            ("newsletter", 240), ("source", 380), ("package", 40), ("generated", 50)):
            for number in range(round(count * self.share)):
                getattr(self, f"_{kind}")(number)
        for project, holder in zip(PROJECTS, HOLDERS):
            self.write(f"src/{project}/LICENSE", _licence("MIT", holder, 2015 + len(project)), 600)

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
        self.write(f"{folder}/LICENSE", _licence(kind, holder, year), 800)
        self.write(f"{folder}/copyright", f"Upstream author: {holder}\nCopyright: {year} {holder}\nLicense: {kind}\n\n{_licence(kind, holder, year)}", 800)
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


def document(path, lines, more):
    """The bytes of a document: its first line is the title where the format has one."""
    suffix = path.rsplit(".", 1)[-1]
    if suffix in ("docx", "odt", "pdf", "rtf"):
        return {"docx": _docx, "odt": _odt, "pdf": _pdf, "rtf": _rtf}[suffix]([*lines, *more])
    if suffix == "html":
        return "<!DOCTYPE html><meta charset=utf-8>" + "\n".join([*lines, *(f"<p>{part}</p>" for part in more)])
    return "\n".join(lines) + "\n" + "".join(f"\n{part}\n" for part in more)


def _zip(parts):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in parts:
            archive.writestr(zipfile.ZipInfo(name), content)
    return data.getvalue()


def _docx(lines):
    office = "http://schemas.openxmlformats.org"
    title, *body = map(html.escape, lines)
    paragraphs = f'<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:r><w:t>{title}</w:t></w:r></w:p>'
    paragraphs += "".join(f"<w:p><w:r><w:t>{line}</w:t></w:r></w:p>" for line in body)
    parts = [
        ("[Content_Types].xml", f'<Types xmlns="{office}/package/2006/content-types">'
         '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
         '<Override PartName="/word/document.xml" '
         'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>'
         '<Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/></Types>'),
        ("_rels/.rels", f'<Relationships xmlns="{office}/package/2006/relationships">'
         f'<Relationship Id="r1" Type="{office}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>'
         f'<Relationship Id="r2" Type="{office}/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/>'
         "</Relationships>"),
        ("word/document.xml", f'<w:document xmlns:w="{office}/wordprocessingml/2006/main"><w:body>{paragraphs}</w:body></w:document>'),
        ("docProps/core.xml", f'<cp:coreProperties xmlns:cp="{office}/package/2006/metadata/core-properties" '
         f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></cp:coreProperties>'),
    ]
    return _zip((name, '<?xml version="1.0" encoding="UTF-8"?>' + content) for name, content in parts)


def _odt(lines):
    oasis = "urn:oasis:names:tc:opendocument:xmlns"
    names = " ".join(f'xmlns:{name}="{oasis}:{name}:1.0"' for name in ("office", "text", "meta", "manifest"))
    title, *body = map(html.escape, lines)
    kind = "application/vnd.oasis.opendocument.text"
    paragraphs = f"<text:h>{title}</text:h>" + "".join(f"<text:p>{line}</text:p>" for line in body)
    return _zip([
        ("mimetype", kind),
        ("content.xml", f"<office:document-content {names}><office:body><office:text>{paragraphs}</office:text></office:body>"
         "</office:document-content>"),
        ("meta.xml", f'<office:document-meta {names} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
         f"<dc:title>{title}</dc:title></office:meta></office:document-meta>"),
        ("META-INF/manifest.xml", f'<manifest:manifest {names}><manifest:file-entry manifest:full-path="/" '
         f'manifest:media-type="{kind}"/></manifest:manifest>'),
    ])


def _rtf(lines):
    coded = "".join(char if char.isascii() else f"\\u{ord(char)}?" for char in "\\par\n".join(lines))
    return "{\\rtf1\\ansi " + coded + "}"


def _pdf(lines):
    """Pages of Helvetica; the first line is the title."""
    rows = [row for line in lines for row in textwrap.wrap(line, 85)]
    pages = [rows[start:start + 48] for start in range(0, len(rows), 48)]
    escape = lambda text: re.sub(r"([\\()])", r"\\\1", text)
    numbers = [5 + 2 * page for page in range(len(pages))]
    objects = {1: "<</Type/Catalog/Pages 2 0 R>>",
               2: f"<</Type/Pages/Count {len(pages)}/Kids[{' '.join(f'{number} 0 R' for number in numbers)}]>>",
               3: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
               4: f"<</Title({escape(lines[0])})>>"}
    for number, page in zip(numbers, pages):
        content = "BT /F1 11 Tf 14 TL 50 780 Td " + " ".join(f"({escape(row)}) Tj T*" for row in page) + " ET"
        objects[number] = ("<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>"
                           f"/Contents {number + 1} 0 R>>")
        objects[number + 1] = f"<</Length {len(content)}>>stream\n{content}\nendstream"
    data, places = "%PDF-1.4\n", []
    for number in sorted(objects):
        places.append(len(data))
        data += f"{number} 0 obj\n{objects[number]}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    data += f"xref\n0 {len(places) + 1}\n0000000000 65535 f \n{table}"
    data += f"trailer\n<</Size {len(places) + 1}/Root 1 0 R/Info 4 0 R>>\nstartxref\n{data.index('xref')}\n%%EOF\n"
    return data.encode("cp1252", "replace")


CODE = {
    "py": ('# Copyright {holder}. See the file LICENSE for the terms.\n"""{about}"""\nimport os\nimport sys\n',
           'def {verb}_{noun}(path, {other}):\n    """{about}"""\n    {other}.append(path)\n    return {other}\n'),
    "rs": ("// Copyright {holder}. License: see the file LICENSE.\n//! {about}\nuse std::path::Path;\n",
           "/// {about}\npub fn {verb}_{noun}(path: &Path, {other}: &mut Vec<{NOUN}>) -> usize {{\n    {other}.push({NOUN}::default());\n    {other}.len()\n}}\n"),
    "c": ("/* Copyright {holder}. Licensed as the file LICENSE says.\n   {about} */\n#include <stdlib.h>\n",
          "/* {about} */\nint {verb}_{noun}(struct {noun} *{noun}, const struct {other} *{other}_list)\n{{\n\treturn {noun}->count;\n}}\n"),
    "java": ("/* Copyright {holder}. All rights reserved by the authors.\n * {about} */\npackage org.example;\nimport java.util.List;\n",
             "/** {about} */\nfinal class {VERB}{NOUN} {{\n    List<{OTHER}> {verb}All{OTHER}(List<{OTHER}> {other}List) {{ return {other}List; }}\n}}\n"),
    "js": ("// Copyright {holder}, MIT license.\n// {about}\nimport {{ log }} from './log.js';\n",
           "// {about}\nexport function {verb}{NOUN}({noun}, {other}) {{\n  if (!{other}) throw new Error('no {other}');\n  return {noun}.{verb}({other});\n}}\n"),
    "go": ("// Copyright {holder}.\n// {about}\npackage main\n\nimport \"fmt\"\n",
           "// {VERB}{NOUN}: {about}\nfunc {VERB}{NOUN}({other} string) error {{\n\treturn fmt.Errorf(\"{noun} %s\", {other})\n}}\n"),
}

LICENCES = {
    "MIT": """MIT License

Copyright (c) {year} {holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files, to deal in the software without restriction, including the rights to use, copy, modify, merge, publish, distribute and sell copies. The above copyright notice and this permission notice shall be included in all copies.

The software is provided "as is", without warranty of any kind. In no event shall the authors or copyright holders be liable for any claim, damages or other liability.
""",
    "BSD": """Copyright {year} {holder}. All rights reserved.

Redistribution and use in source and binary forms, with or without modification, are permitted provided that redistributions retain the above copyright notice, this list of conditions and the following disclaimer. Neither the name of the author nor the names of contributors may be used to endorse products without written permission.

This software is provided by the authors "as is" and any express or implied warranties are disclaimed. In no event shall the author be liable for any damages arising in any way out of the use of this software.
""",
    "Apache": """Apache License, Version 2.0. Copyright {year} {holder}

Licensor shall mean the copyright owner or entity authorized by the copyright owner that is granting the license. Legal entity shall mean the union of the acting entity and all other entities that control it. Contribution shall mean any work of authorship submitted to the licensor for inclusion in the work.

Each contributor grants you a perpetual, worldwide, royalty-free copyright license to reproduce, prepare derivative works of, sublicense and distribute the work. Unless required by applicable law or agreed to in writing, the licensor provides the work on an "as is" basis, without warranties or conditions of any kind.
""",
}


def _licence(kind, holder, year):
    return LICENCES[kind].format(holder=holder, year=year)


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

"""Makes a Maildir of realistic messages, the same on every machine.

No free set of messages is shipped by Debian, so this one is written from a seed:
threads whose sizes follow a long tail, replies that quote, mailing-list headers,
a few hundred authors, the usual encodings, multipart/alternative with HTML, and,
only when asked, attachments. Bodies are paragraphs of the Python manual's sources
(package python3.11-doc), the nearest thing to prose about technical matters.
"""

import base64
import email.utils
import os
import quopri
import random
import re
import textwrap

# A message that comes later, with a word that no other has.
ONE_MORE = """From: Bench <bench@example.org>
To: Somebody <somebody@example.org>
Subject: One more
Date: Mon, 3 Mar 2025 10:00:00 +0000
Message-ID: <bench.{number}@example.org>

A message with the word quaggabench{number}.
"""

FIRST = """Anna Boris Chloé David Elif Farid Greta Hiro Inés Jürgen Karin Luís Mei Nadia Oskar
Priya Quentin Rosa Søren Tomás Ursula Viktor Wanda Xavier Yusuf Zoë""".split()
LAST = """Almeida Bauer Castro Dvořák Eriksen Fischer García Hansen Ivanov Jansen Kowalski
Lindqvist Moreau Nakamura Okafor Petrov Quispe Rossi Schmidt Tanaka Ünal Vargas Weber Young""".split()
DOMAINS = "example.org example.net example.com lists.example.org mail.example.net".split()
LISTS = "users devel announce packaging security docs".split()
AGENTS = ["Mozilla Thunderbird", "Mutt/2.2.9", "mu4e 1.8.13; emacs 28.2", "Evolution 3.46.4"]
EPOCH = 1_262_304_000  # 2010-01-01
ATTACHED = (
    ("notes.txt", "text/plain"),
    ("fix.patch", "text/x-diff"),
    ("page.html", "text/html"),
    ("photo.png", "image/png"),
)


def generate(target, sources, count, attachments):
    """Writes `count` messages below `target`, from the paragraphs of the files `sources`."""
    writer = _Writer(sorted(sources), attachments)
    folders = [os.path.join(target, name) for name in LISTS]
    for folder in folders:
        for part in ("cur", "new", "tmp"):
            os.makedirs(os.path.join(folder, part))
    for number in range(count):
        folder_index, message = writer.message(number)
        path = os.path.join(folders[folder_index], "cur", f"{EPOCH + number}.{number}.bench:2,S")
        with open(path, "wb") as file:
            file.write(message)


class _Writer:
    """The state of the correspondence: authors and open threads."""

    def __init__(self, sources, attachments):
        self.random = random.Random(20_100_101)
        self.attachments = attachments
        self.paragraphs = _paragraphs(sources)
        self.people = [self._person() for _ in range(400)]
        self.threads = []

    def message(self, number):
        """The number of the mailing list and the bytes of the next message."""
        thread = self._thread()
        author = self.random.choice(self.people)
        body = self._body(thread["last"])
        identity = f"<{EPOCH + number * 7}.{number}@{self.random.choice(DOMAINS)}>"
        headers = self._headers(number, thread, author, identity)
        thread["references"] = [*thread["references"], identity][-12:]
        thread["last"] = (author[0], body)
        content = self._content(body)
        return thread["list"], "\n".join(headers).encode() + b"\n" + content

    def _thread(self):
        """Two of three messages answer one of the newest threads."""
        if self.threads and self.random.random() < 0.66:
            newest = self.threads[-40:]
            return newest[min(int(self.random.paretovariate(1.0)), len(newest)) - 1]
        words = self.random.choice(self.paragraphs).split()[: self.random.randint(3, 9)]
        thread = {
            "subject": " ".join(words),
            "list": self.random.randrange(len(LISTS)),
            "references": [],
            "last": None,
        }
        self.threads.append(thread)
        return thread

    def _headers(self, number, thread, author, identity):
        name = LISTS[thread["list"]]
        date = EPOCH + number * 9_000 + self.random.randrange(9_000)
        stamp = email.utils.formatdate(date)
        subject = thread["subject"]
        lines = [
            f"Return-Path: <{name}-bounces@lists.example.org>",
            f"Received: from mail.example.net (mail.example.net [192.0.2.{number % 250}])",
            f"\tby lists.example.org (Postfix) with ESMTPS id {self.random.getrandbits(40):010X}",
            f"\tfor <{name}@lists.example.org>; {stamp}",
            f"From: {_address(*author)}",
            f"To: {name}@lists.example.org",
            f"Subject: {_encoded('Re: ' + subject if thread['references'] else subject)}",
            f"Date: {stamp}",
            f"Message-ID: {identity}",
            f"User-Agent: {self.random.choice(AGENTS)}",
            f"List-Id: <{name}.lists.example.org>",
            "MIME-Version: 1.0",
        ]
        if self.random.random() < 0.3:
            lines.append(f"Cc: {_address(*self.random.choice(self.people))}")
        if thread["references"]:
            lines.append(f"In-Reply-To: {thread['references'][-1]}")
            lines.append("References: " + "\n\t".join(thread["references"]))
        return lines

    def _body(self, answered):
        """Some paragraphs, below a part of what is answered."""
        parts = []
        if answered:
            author, text = answered
            kept = text.splitlines()[: self.random.randint(3, 20)]
            parts.append(f"{author} wrote:\n" + "\n".join("> " + line for line in kept))
        for _ in range(min(int(self.random.paretovariate(1.1)), 25)):
            parts.append(textwrap.fill(self.random.choice(self.paragraphs), 72))
        return "\n\n".join(parts) + "\n"

    def _content(self, body):
        """Content headers and body: plain, alternative, or mixed with an attachment."""
        if self.attachments and self.random.random() < 0.1:
            return _multipart("mixed", [self._part(body, "plain"), self._attachment()])
        if self.random.random() < 0.2:
            page = "<html><body><p>" + body.replace("\n\n", "</p>\n<p>") + "</p></body></html>\n"
            return _multipart("alternative", [self._part(body, "plain"), self._part(page, "html")])
        return self._part(body, "plain")

    def _part(self, text, subtype):
        choice = self.random.random()
        if choice < 0.15:
            encoding, coded = "base64", base64.encodebytes(text.encode())
        elif choice < 0.45:
            encoding, coded = "quoted-printable", quopri.encodestring(text.encode())
        else:
            encoding, coded = "8bit", text.encode()
        head = (
            f"Content-Type: text/{subtype}; charset=utf-8\n"
            f"Content-Transfer-Encoding: {encoding}\n\n"
        )
        return head.encode() + coded

    def _attachment(self):
        name, kind = self.random.choice(ATTACHED)
        size = min(int(2_000 * self.random.paretovariate(1.0)), 400_000)
        data = self.random.randbytes(size) if kind == "image/png" else self._text(size)
        head = (
            f'Content-Type: {kind}; name="{name}"\nContent-Transfer-Encoding: base64\n'
            f'Content-Disposition: attachment; filename="{name}"\n\n'
        )
        return head.encode() + base64.encodebytes(data)

    def _text(self, size):
        parts, length = [], 0
        while length < size:
            parts.append(self.random.choice(self.paragraphs))
            length += len(parts[-1])
        return "\n".join(parts).encode()

    def _person(self):
        first, last = self.random.choice(FIRST), self.random.choice(LAST)
        plain = (first + "." + last).lower().encode("ascii", "ignore").decode()
        return f"{first} {last}", f"{plain}@{self.random.choice(DOMAINS)}"


def _paragraphs(sources):
    """Paragraphs of prose: no markup lines, no code."""
    found = []
    for path in sources:
        with open(path, encoding="utf-8", errors="replace") as file:
            for block in re.split(r"\n\s*\n", file.read()):
                words = " ".join(block.split())
                if len(words) > 120 and block[0].isalpha():
                    found.append(words)
    return found


def _multipart(subtype, parts):
    boundary = "=_bench_boundary_="
    head = f'Content-Type: multipart/{subtype}; boundary="{boundary}"\n\n'.encode()
    body = b"".join(b"--" + boundary.encode() + b"\n" + part + b"\n" for part in parts)
    return head + body + b"--" + boundary.encode() + b"--\n"


def _address(name, address):
    return f"{_encoded(name)} <{address}>"


def _encoded(text):
    """A header value, as an encoded word where it is not ASCII."""
    if text.isascii():
        return text
    return "=?utf-8?B?" + base64.b64encode(text.encode()).decode() + "?="

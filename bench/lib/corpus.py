"""Corpora: trees of files from Debian packages, and sets of messages.

Packages are downloaded and unpacked once into the work folder, or taken from
`--corpora DIR` when DIR/<package> holds one that is already unpacked. A corpus is
a tree of hard links (copies where links are impossible) to the wanted files, so
that every program sees the same files and no symbolic links.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass

from lib import mailgen

HTML_PACKAGES = ("python3.11-doc", "rust-doc", "openjdk-17-doc")
PDF_PACKAGES = ("texlive-science-doc", "texlive-latex-recommended-doc")
# More than 300,000 files with mail: documentation, source code and RFCs (of non-free).
LIBRARY_PACKAGES = HTML_PACKAGES + (
    "cppreference-doc-en-html", "libboost1.81-doc", "qtbase5-doc-html", "scala-doc", "ghc-doc",
    "erlang-doc", "linux-doc-6.1", "linux-source-6.1", "golang-1.19-src", "libboost1.81-dev",
    "openjdk-17-source", "doc-rfc-std-proposed", "doc-rfc-informational", "doc-rfc-std",
    "doc-rfc-others", "doc-rfc-old-std", "doc-rfc-experimental", "doc-rfc-fyi-bcp",
) + tuple("libreoffice-help-" + language for language in (
    "ca cs da de dz el en-gb en-us es et eu fi fr gl hi hu id it ja km ko nl om pl pt pt-br ru sl"
    " sv tr vi zh-cn zh-tw").split())
LIBRARY_SUFFIXES = tuple(
    ".html .htm .txt .c .h .cc .cpp .hpp .ipp .s .rs .go .java .rst .py .sh .pl .dts .dtsi .xml .yaml"
    " .md .mod .tcl .js .css .json .tex .scala .hs .erl .hrl .awk .bat .dtd .xsl .properties .cmake"
    " .conf .rules .diff .patch .csv makefile kconfig readme kbuild todo changes news copying".split())
MESSAGES = 12_000
# A message that holds one of these has, or may have, an attachment.
ATTACHMENT = re.compile(
    rb"content-disposition:\s*attachment|\bfilename\*?=|^begin [0-7]{3} ", re.I | re.M
)


@dataclass(frozen=True)
class Corpus:
    """A folder to be indexed and what it holds."""

    name: str
    path: str
    files: int
    bytes: int


class Corpora:
    """Makes corpora on demand and keeps them in `<work>/corpora`."""

    def __init__(self, work, unpacked=None, maildir=None):
        self.work = work
        self.unpacked = unpacked
        self.maildir = maildir

    def html(self, quick):
        """HTML pages of Debian's documentation packages, and nothing else."""
        packages = HTML_PACKAGES[:1] if quick else HTML_PACKAGES
        return self._tree("html", packages, (".html", ".htm"), None, quick)

    def pdf(self, quick):
        """PDF files of Debian's TeX documentation packages, and nothing else."""
        packages = PDF_PACKAGES[1:] if quick else PDF_PACKAGES
        return self._tree("pdf", packages, (".pdf",), 25 if quick else None, quick)

    def mail(self, quick):
        """A Maildir without attachments: messages of `--maildir`, or generated ones."""
        if self.maildir:
            return self._given_mail(plain=True)
        return self._generated_mail(quick, attachments=False)

    def mail_with_attachments(self, quick):
        """The same, attachments included."""
        if self.maildir:
            return self._given_mail(plain=False)
        return self._generated_mail(quick, attachments=True)

    def library(self, quick):
        """Documentation, source code, RFCs and mail: more than 300,000 files."""
        packages = HTML_PACKAGES[:1] if quick else LIBRARY_PACKAGES

        def make(making):
            for package in packages:
                root = self.package(package)
                unpack_within(root)
                # Of RFCs the text alone; the rest says the same.
                suffixes = (".txt",) if package.startswith("doc-rfc") else LIBRARY_SUFFIXES
                wanted = sorted(files_below(root, suffixes))
                link_tree(root, wanted, os.path.join(making, "docs", package))
            mail = self.mail_with_attachments(quick).path
            link_tree(mail, files_below(mail), os.path.join(making, "mail"))
            complete_maildirs(os.path.join(making, "mail"))

        return self._once("library-quick" if quick else "library", make)

    def package(self, name):
        """The root folder of an unpacked Debian package."""
        if self.unpacked and os.path.isdir(os.path.join(self.unpacked, name)):
            return os.path.join(self.unpacked, name)
        target = os.path.join(self.work, "packages", name)
        if not os.path.isdir(target):
            _download(name, target)
        return target

    def _given_mail(self, plain):
        """Messages of the given Maildir, linked, so that nothing is written there."""
        name = "mail-given" if plain else "mail-given-attachments"

        def make(making):
            wanted = (p for p in files_below(self.maildir) if not (plain and has_attachment(p)))
            link_tree(self.maildir, wanted, making)
            complete_maildirs(making)

        return self._once(name, make)

    def _generated_mail(self, quick, attachments):
        name = "mail" + ("-attachments" if attachments else "") + ("-quick" if quick else "")

        def make(making):
            sources = list(files_below(self.package(HTML_PACKAGES[0]), (".rst.txt",)))
            mailgen.generate(making, sources, 2_000 if quick else MESSAGES, attachments)

        return self._once(name, make)

    def _tree(self, kind, packages, suffixes, limit, quick):
        def make(making):
            for package in packages:
                wanted = sorted(files_below(self.package(package), suffixes))
                link_tree(self.package(package), wanted[:limit], os.path.join(making, package))

        return self._once(f"{kind}-quick" if quick else kind, make)

    def _once(self, name, make):
        """The corpus `name`, made by `make(folder)` unless it is there."""
        target = os.path.join(self.work, "corpora", name)
        if not os.path.isdir(target):
            making = target + ".making"
            shutil.rmtree(making, ignore_errors=True)
            os.makedirs(making)
            make(making)
            os.rename(making, target)
        return measured(name, target)


def measured(name, path):
    """A corpus with its files and bytes counted; reads every file, which warms the cache."""
    count = total = 0
    for file in files_below(path):
        with open(file, "rb") as stream:
            while block := stream.read(1 << 20):
                total += len(block)
        count += 1
    return Corpus(name, path, count, total)


def files_below(root, suffixes=("",)):
    """Paths of the regular files below `root` whose names end in one of `suffixes`."""
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            if name.lower().endswith(suffixes) and not os.path.islink(path):
                yield path


def link_tree(root, paths, target):
    """Links the files `paths` below `root` into `target` at the same relative paths."""
    for path in paths:
        linked_path = os.path.join(target, os.path.relpath(path, root))
        os.makedirs(os.path.dirname(linked_path), exist_ok=True)
        try:
            os.link(path, linked_path)
        except OSError:  # another file system, or a foreign owner
            shutil.copy2(path, linked_path)


def unpack_within(root):
    """Unpacks the sources and texts that Debian packs inside of its packages, where they lie."""
    for path in list(files_below(root, (".tar.xz", ".txt.gz", "src.zip"))):
        folder = os.path.dirname(path)
        if path.endswith(".gz"):
            subprocess.run(["gunzip", "--force", path], check=True)
        elif path.endswith(".zip"):
            shutil.unpack_archive(path, folder)
            os.remove(path)
        else:
            subprocess.run(["tar", "-xJf", path, "-C", folder], check=True)
            os.remove(path)


def has_attachment(path):
    with open(path, "rb") as file:
        return ATTACHMENT.search(file.read()) is not None


def complete_maildirs(root):
    """Adds the empty folders that make a folder with `cur` or `new` a Maildir."""
    for folder, names, _ in os.walk(root):
        if "cur" in names or "new" in names:
            for part in ("cur", "new", "tmp"):
                os.makedirs(os.path.join(folder, part), exist_ok=True)


def _download(name, target):
    """Fetches a Debian package with apt-get and unpacks it."""
    cache = os.path.join(os.path.dirname(target), "deb")
    os.makedirs(cache, exist_ok=True)
    fetch = ["apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", name]
    subprocess.run(fetch, cwd=cache, check=True)
    archive = next(file for file in os.listdir(cache) if file.startswith(name + "_"))
    making = target + ".making"
    shutil.rmtree(making, ignore_errors=True)
    subprocess.run(["dpkg-deb", "-x", os.path.join(cache, archive), making], check=True)
    os.rename(making, target)

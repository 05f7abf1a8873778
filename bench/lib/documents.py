"""Documents of many formats, made from Debian packages, and what other programs read in them.

Real files come first: those that packages bring. What they lack is converted by LibreOffice and
pandoc from pages, tables and templates of other packages. Everything is made once, in the work
folder: `corpora/recall/<format>/` holds the files, `corpora/recall-text/<format>/` the texts that
LibreOffice exports of them, under the same names.
"""

import glob
import gzip
import os
import shutil
import subprocess
from xml.etree import ElementTree

from lib.contest import progress
from lib.corpus import files_below

CHUNK = 20  # files that one LibreOffice converts
TIMEOUT = 240

# Packages that bring files of a format.
REAL = {
    "docx": ("r-cran-officer",),
    "pptx": ("r-cran-officer",),
    "xlsx": ("r-cran-readxl", "r-cran-openxlsx"),
    "xls": ("r-cran-readxl", "libspreadsheet-parseexcel-perl"),
    "odt": ("python-odf-doc",),
    "ods": ("python-odf-doc",),
    "ott": ("libreoffice-common",),
    "ots": ("libreoffice-common",),
    "otp": ("libreoffice-common",),
    "pdf": ("texlive-science-doc", "texlive-latex-recommended-doc", "r-doc-pdf"),
    "html": ("python3.11-doc", "libreoffice-help-de", "libreoffice-help-ja", "r-doc-html",
             "gimp-help-en"),
    "chm": ("lazarus-doc-2.2",),
    "ps": ("maxima-doc", "groff", "bzip2-doc", "gdb", "man-db", "valgrind"),
    "info": ("maxima-doc", "python3.11-doc"),
    "man": ("manpages", "manpages-dev", "manpages-de", "manpages-ja", "git-man"),
}
# At most so many real files, spread evenly over all.
MOST = {"pdf": 80, "html": 80, "ott": 25, "otp": 12, "ots": 18, "info": 12, "man": 80, "ps": 36}
# LibreOffice's names of what it writes.
TEXT = "txt:Text (encoded):UTF8"
SHEETS = "csv:Text - txt - csv (StarCalc):9,34,76,1,,0,false,true,true,false,false,-1"


class Documents:
    """Makes folders of files on demand."""

    def __init__(self, corpora, quick):
        self.corpora = corpora
        self.quick = quick
        self.root = os.path.join(corpora.work, "corpora", "recall-quick" if quick else "recall")

    def files(self, kind):
        """Paths of the files of a format."""
        maker = MAKERS.get(kind, lambda documents, target: documents.real(kind, target))
        return listed(self._once(os.path.join(self.root, kind), lambda made_path: maker(self, made_path)))

    def texts(self, kind):
        """What LibreOffice exports of each file of a format, by its name."""
        files = self.files(kind)
        made_path = self._once(
            os.path.join(self.root + "-text", kind), lambda made_path: self._export(files, kind, made_path)
        )
        return {os.path.basename(file): _texts(made_path, file) for file in files}

    def real(self, kind, target):
        """Links the files of a format that packages bring."""
        for package in REAL.get(kind, ()):
            paths = sorted(_of_kind(self.corpora.package(package), kind))
            most = MOST.get(kind, 1000) // len(REAL[kind]) // (8 if self.quick else 1)
            for path in _spread(paths, max(most, 2)):
                _link(path, target, package)

    def converted(self, target, files, to, infilter=None):
        """Converts files by LibreOffice."""
        _soffice(self._profile(), files, target, to, infilter)

    def by_pandoc(self, target, files, ending):
        for file in files:
            made_path = os.path.join(target, "pandoc-" + _stem(file) + "." + ending)
            command = ["pandoc", "--standalone", "-f", "html", file, "-o", made_path]
            subprocess.run(command, cwd=os.path.dirname(file), stderr=subprocess.DEVNULL,
                           timeout=TIMEOUT, check=False)

    def pages(self):
        """Pages of documentation that documents are made of."""
        pages = [page for page in self.files("html") if "gimp" not in os.path.basename(page)]
        return _spread(pages, 3 if self.quick else 30)

    def tables(self):
        root = self.corpora.package("python3-statsmodels")
        small = [path for path in sorted(files_below(root, (".csv",)))
                 if os.path.getsize(path) < 200_000 and "/results/" not in path
                 and not _has_tabs(path)]  # they would become part of cells
        return _spread(small, 2 if self.quick else 20)

    def _export(self, files, kind, made_path):
        if kind in SLIDES:
            # Impress exports no text.
            _soffice(self._profile(), files, made_path, "fodp", None)
            for flat in listed(made_path):
                with open(flat[:-5] + ".txt", "w", encoding="utf-8") as file:
                    file.write(_flat_text(flat))
                os.remove(flat)
        else:
            _soffice(self._profile(), files, made_path, SHEETS if kind in TABLES else TEXT, None)

    def _profile(self):
        return os.path.join(self.corpora.work, "soffice")

    def _once(self, made_path, make):
        if not os.path.isdir(made_path):
            progress(f"making {os.path.relpath(made_path, self.corpora.work)}")
            making = made_path + ".making"
            shutil.rmtree(making, ignore_errors=True)
            os.makedirs(making)
            make(making)
            os.rename(making, made_path)
        return made_path


TABLES = ("xlsx", "xls", "ods", "ots")
SLIDES = ("pptx", "ppt", "odp", "otp")


def _make_odt(documents, target):
    documents.real("odt", target)
    documents.by_pandoc(target, documents.pages()[::3], "odt")
    documents.converted(target, documents.pages(), "odt", "HTML (StarWriter)")


def _make_from_odt(ending, to):
    def make(documents, target):
        documents.real(ending, target)
        sources = [file for file in documents.files("odt") if "pandoc-" not in file]
        documents.converted(target, sources + documents.files("ott"), to)
        if ending != "doc":
            documents.by_pandoc(target, documents.pages()[::3], ending)
    return make


def _make_epub(documents, target):
    documents.by_pandoc(target, documents.pages(), "epub")


def _make_pptx(documents, target):
    documents.real("pptx", target)
    documents.by_pandoc(target, documents.pages()[::2], "pptx")
    documents.converted(target, documents.files("otp"), "pptx")


def _make_from_pptx(ending):
    def make(documents, target):
        documents.converted(target, documents.files("pptx"), ending)
    return make


def _make_sheets(ending):
    def make(documents, target):
        documents.real(ending, target)
        documents.converted(target, documents.tables(), ending)
        documents.converted(target, documents.files("ots"), ending)
    return make


def _make_djvu(documents, target):
    for file in documents.files("pdf")[::8]:
        made_path = os.path.join(target, _stem(file) + ".djvu")
        command = ["pdf2djvu", "-q", "--dpi=72", "--pages=1-40", "-o", made_path, file]
        subprocess.run(command, check=False, stderr=subprocess.DEVNULL)


MAKERS = {
    "odt": _make_odt,
    "docx": _make_from_odt("docx", "docx"),
    "doc": _make_from_odt("doc", "doc:MS Word 97"),
    "rtf": _make_from_odt("rtf", "rtf:Rich Text Format"),
    "epub": _make_epub,
    "pptx": _make_pptx,
    "odp": _make_from_pptx("odp"),
    "ppt": _make_from_pptx("ppt"),
    "xlsx": _make_sheets("xlsx"),
    "xls": _make_sheets("xls"),
    "ods": _make_sheets("ods"),
    "djvu": _make_djvu,
}


def listed(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder))


def _of_kind(root, kind):
    """The files of a package that are of a format, compressed or not."""
    if kind == "man":
        return [path for path in files_below(root, (".gz",)) if "/man/" in path]
    if kind == "html":
        return [path for path in files_below(root, (".html",)) if os.path.getsize(path) > 4000]
    endings = (f".{kind}", f".{kind}.gz")
    return [path for path in files_below(root, endings) if os.path.getsize(path) > 0]


def _spread(paths, most):
    """At most so many of them, at even distances."""
    if len(paths) <= most:
        return list(paths)
    return [paths[n * len(paths) // most] for n in range(most)]


def _link(path, target, package):
    """Puts a file into a folder, unpacked, under a name that says where it is from."""
    folder = os.path.basename(os.path.dirname(path))
    name = f"{package}-{folder}-{os.path.basename(path)}"
    if name.endswith(".gz"):
        with gzip.open(path, "rb") as packed, open(os.path.join(target, name[:-3]), "wb") as file:
            shutil.copyfileobj(packed, file)
    else:
        shutil.copy2(path, os.path.join(target, name))


def _has_tabs(path):
    with open(path, "rb") as file:
        return b"\t" in file.read()


def _stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def _soffice(profile, files, target, to, infilter):
    """Converts files, each under its name and the new ending; again alone what failed together."""
    ending = to.partition(":")[0]
    for start in range(0, len(files), CHUNK):
        _soffice_once(profile, files[start:start + CHUNK], target, to, infilter)
    for file in files:
        if not glob.glob(os.path.join(glob.escape(target), glob.escape(_stem(file)) + "*." + ending)):
            _soffice_once(profile, [file], target, to, infilter)


def _soffice_once(profile, files, target, to, infilter):
    command = ["soffice", f"-env:UserInstallation=file://{profile}", "--headless"]
    command += [f"--infilter={infilter}"] if infilter else []
    command += ["--convert-to", to, "--outdir", target, *files]
    try:
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        progress(f"LibreOffice took too long with {len(files)} files")


def _flat_text(path):
    """The paragraphs of a presentation in flat XML, without what its masters hold."""
    office, text = (f"{{urn:oasis:names:tc:opendocument:xmlns:{name}:1.0}}"
                    for name in ("office", "text"))
    slides = ElementTree.parse(path).getroot().find(f"{office}body")
    paragraphs = []
    for paragraph in slides.iter(f"{text}p"):
        for element in paragraph.iter():
            if element.tag in (f"{text}s", f"{text}tab", f"{text}line-break"):
                element.text = " "
        paragraphs.append("".join(paragraph.itertext()))
    return "\n".join(paragraphs)


def _texts(made_path, file):
    """What was exported of a file, all its sheets together; None if nothing was."""
    stem = glob.escape(os.path.join(made_path, _stem(file)))
    paths = sorted(glob.glob(stem + ".txt")) or sorted(glob.glob(stem + "-*.csv"))
    if not paths:
        return None
    return "\n".join(open(path, encoding="utf-8-sig", errors="replace").read() for path in paths)

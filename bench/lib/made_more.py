"""Inputs of drawings, books, Hangul, tables and notes, each made by programs in several ways, with the words that are in them.

- drawings: metafiles of LibreOffice, gnuplot, fig2dev and pstoedit, also within Word and RTF documents; DXF of ezdxf and pstoedit
- books: Mobipocket and Kindle of calibre, PalmDoc of txt2pdbdoc
- tables: dBase of dbf, pyshp and GDAL
- hangul: HWPX of python-hwpx
- cabinets: stored and compressed, by gcab and the Python module cabarchive
- data: CBOR of cbor2; texts with blocks of base64, of hexadecimal digits and of keys, by coreutils, xxd, OpenSSL and Python, of which only the text counts

What is not installed is left out.
"""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile

from lib.made import ARTICLES, HOST, Made, _convert, _fodt, _put, _with_parts

LANGUAGES = ("de", "fr", "pl", "ru", "el")


def all_more(folder):
    """Makes all inputs in a folder."""
    os.makedirs(folder, exist_ok=True)
    return [*_drawings(folder), *_books(folder), *_tables(folder), *_hangul(folder), *_cabinets(folder), *_data(folder)]


def _run(*argv, cwd=None):
    """Whether a program is there and did its work."""
    if not shutil.which(argv[0]):
        return False
    try:
        return subprocess.run(argv, capture_output=True, timeout=120, check=False, cwd=cwd).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def _python(folder, name, source):
    """Whether a program in Python, with the modules that it needs, did its work."""
    return _run(os.environ.get("KEN_BENCH_PYTHON", sys.executable), _put(os.path.join(folder, name), source.encode()))


# Drawings

def _lines(text, n=6):
    words = text.split()
    return [" ".join(words[at:at + n]) for at in range(0, len(words), n)]


def _drawings(folder):
    for language in LANGUAGES:
        text = ARTICLES[language]
        source = _put(os.path.join(folder, f"drawing-{language}.fodg"), _fodg(_lines(text)))
        for ending in ("emf", "wmf"):
            path = _drawn(source, ending, folder)
            if path:
                yield Made("drawings", f"LibreOffice, {ending}", path, text)
                yield from _pasted(path, text, language, folder)
        yield from _gnuplot(text, language, folder)
    yield from _fig2dev(folder)
    yield from _ezdxf(folder)


def _fodg(lines):
    spaces = "".join(f' xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for prefix, name in [
        ("office", "office"), ("text", "text"), ("draw", "drawing"), ("svg", "svg-compatible")])
    boxes = "".join(
        f'<draw:frame svg:x="1cm" svg:y="{1 + 2 * at}cm" svg:width="18cm" svg:height="1cm"><draw:text-box><text:p>{line}'
        "</text:p></draw:text-box></draw:frame>" for at, line in enumerate(lines))
    return (f'<?xml version="1.0" encoding="UTF-8"?><office:document{spaces} office:version="1.2" '
            'office:mimetype="application/vnd.oasis.opendocument.graphics"><office:body><office:drawing><draw:page>'
            f"{boxes}</draw:page></office:drawing></office:body></office:document>").encode()


def _drawn(source, ending, folder):
    target = os.path.splitext(source)[0] + "." + ending
    if not os.path.exists(target):
        _run("soffice", "--headless", f"-env:UserInstallation=file://{folder}/profile",
             "--infilter=OpenDocument Drawing Flat XML", "--convert-to", ending, "--outdir", folder, source)
    return target if os.path.exists(target) else None


def _pasted(picture, text, language, folder):
    """The metafile as a picture of a Word document."""
    ending = picture[-3:]
    host = _convert(_put(os.path.join(folder, "host.txt"), b"The host."), "docx", folder)
    with open(picture, "rb") as file:
        parts = {f"word/media/image1.{ending}": file.read()}
    relation = ("http://schemas.openxmlformats.org/officeDocument/2006/relationships/image", f"media/image1.{ending}")
    path = os.path.join(folder, f"pasted-{language}-{ending}.docx")
    path = _with_parts(host, path, parts, relation)
    yield Made("drawings", f"docx with {ending}", path, f"The host. {text}")
    source = _put(os.path.join(folder, f"pasted-{language}-{ending}.fodt"), _fodt(_picture(picture)))
    yield Made("drawings", f"rtf with {ending}", _convert(source, "rtf", folder), f"{HOST} {text}")


def _picture(path):
    with open(path, "rb") as file:
        data = base64.encodebytes(file.read()).decode()
    return f"<draw:image><office:binary-data>{data}</office:binary-data></draw:image>"


def _gnuplot(text, language, folder):
    title, *rest = _lines(text.replace("'", " "))[:3]
    path = os.path.join(folder, f"gnuplot-{language}.emf")
    plots = ", ".join(f"{at} + 0 * x title '{line}'" for at, line in enumerate(rest, 1))
    script = (f"set encoding utf8\nset terminal emf\nset output '{path}'\nunset xtics\nunset ytics\nset title '{title}'\n"
              f"plot {plots}\n")
    if _run("gnuplot", _put(os.path.join(folder, f"gnuplot-{language}.gp"), script.encode())):
        yield Made("drawings", "gnuplot, emf", path, "\n".join([title, *rest]))


def _fig2dev(folder):
    lines = ["Pump house of the north", "Valve and boiler", "Second floor, stairs"]
    texts = "".join(f"4 0 0 50 -1 0 12 0.0 4 150 1200 1200 {1200 * at} {line}\\001\n" for at, line in enumerate(lines, 1))
    head = "#FIG 3.2\nLandscape\nCenter\nInches\nLetter\n100.00\nSingle\n-2\n1200 2\n"
    source = _put(os.path.join(folder, "plan.fig"), (head + texts).encode())
    eps = os.path.join(folder, "plan.eps")
    if _run("fig2dev", "-L", "emf", source, os.path.join(folder, "plan.emf")):
        yield Made("drawings", "fig2dev, emf", os.path.join(folder, "plan.emf"), "\n".join(lines))
    if _run("fig2dev", "-L", "eps", source, eps):
        for ending in ("emf", "dxf"):
            path = os.path.join(folder, f"pstoedit.{ending}")
            if _run("pstoedit", "-f", ending, eps, path):
                yield Made("drawings", f"pstoedit, {ending}", path, "\n".join(lines))


def _ezdxf(folder):
    for language in LANGUAGES:
        text = ARTICLES[language]
        lines = _lines(text)
        for release in ("R12", "R2000", "R2018"):
            for form in ("asc", "bin"):
                path = os.path.join(folder, f"ezdxf-{language}-{release}-{form}.dxf")
                source = (
                    f"import ezdxf\ndrawing = ezdxf.new({release!r})\nspace = drawing.modelspace()\n"
                    f"for at, line in enumerate({lines[:2]!r}):\n    space.add_text(line).set_placement((0, at))\n"
                    f"rest = {' '.join(lines[2:])!r}\n"
                    "if drawing.dxfversion > 'AC1009':\n    space.add_mtext('{\\\\fArial|b0;' + rest + '}')\n"
                    "else:\n    space.add_text(rest)\n"
                    f"drawing.saveas({path!r}, fmt={form!r})\n")
                if _python(folder, "ezdxf_.py", source) and os.path.exists(path):
                    yield Made("drawings", f"ezdxf, {release}, {form}", path, text)


# Books

def _books(folder):
    for language in (*LANGUAGES, "ja", "ko"):
        text = ARTICLES[language]
        half = len(text) // 2
        half = text.find(" ", half) if " " in text[half:] else half
        page = (f"<html><head><title>x</title></head><body><h1>Kapitel</h1><p>{text[:half]}</p><h1>Kapitel</h1>"
                f"<p>{text[half:]}</p></body></html>")
        source = _put(os.path.join(folder, f"book-{language}.html"), page.encode())
        wanted = f"Kapitel {text[:half]} Kapitel {text[half:]}"
        for ending, options in (("mobi", ()), ("mobi", ("--mobi-file-type", "both")), ("azw3", ())):
            path = os.path.join(folder, f"book-{language}{len(options)}.{ending}")
            if os.path.exists(path) or _run("ebook-convert", source, path, "--language", language[:2], *options):
                yield Made("books", f"calibre, {ending}", path, wanted)
    plain = "The flock of the dunlin tells of the flock, and of its nest on the shore of the flock.\n" * 40
    path = os.path.join(folder, "palm.prc")
    if _run("txt2pdbdoc", "Dunlin", _put(os.path.join(folder, "palm.txt"), plain.encode()), path):
        yield Made("books", "txt2pdbdoc", path, plain)


# Tables

PAGES = {"de": ("cp437", "cp850", "cp1252", "utf8"), "fr": ("cp850", "cp1252"), "pl": ("cp852", "cp1250"),
         "ru": ("cp866", "cp1251"), "el": ("cp1253",)}


def _tables(folder):
    for language, pages in PAGES.items():
        rows = [line.encode()[:60].decode(errors="ignore") for line in _lines(ARTICLES[language], 4)]
        text = "line\n" + "\n".join(rows)
        for page in pages:
            path = os.path.join(folder, f"dbf-{language}-{page}.dbf")
            source = (f"import dbf\ntable = dbf.Table({path!r}, 'line C(120)', codepage={page!r})\n"
                      f"table.open(dbf.READ_WRITE)\nfor row in {rows!r}:\n    table.append((row,))\ntable.close()\n")
            if _python(folder, "dbf_.py", source):
                yield Made("tables", "dbf", path, text)
            path = os.path.join(folder, f"shape-{language}-{page}")
            source = (f"import shapefile\nshape = shapefile.Writer({path!r}, encoding={page!r})\nshape.field('line', 'C', 120)\n"
                      f"for row in {rows!r}:\n    shape.null()\n    shape.record(row)\nshape.close()\n")
            if _python(folder, "shape_.py", source):
                yield Made("tables", "pyshp, without a mark", f"{path}.dbf", text)
        csv = _put(os.path.join(folder, f"gdal-{language}.csv"), "\n".join(["line,n", *(f'"{row}",1' for row in rows)]).encode())
        target = os.path.join(folder, f"gdal-{language}")
        if _run("ogr2ogr", "-overwrite", "-f", "ESRI Shapefile", "-lco", "ENCODING=UTF-8", target, csv):
            yield Made("tables", "GDAL", os.path.join(target, f"gdal-{language}.dbf"), f"{text} n" + " 1" * len(rows))


# Cabinets

def _cabinets(folder):
    for language in (*LANGUAGES, "ja"):
        text = ARTICLES[language] + "\n"
        name = f"cabinet-{language}.txt"
        _put(os.path.join(folder, name), text.encode())
        for way, options in (("stored", ()), ("compressed", ("-z",))):
            path = os.path.join(folder, f"gcab-{language}-{way}.cab")
            if os.path.exists(path) or _run("gcab", "-c", "-n", *options, path, name, cwd=folder):
                yield Made("cabinets", f"gcab, {way}", path, text)
            path = os.path.join(folder, f"cabarchive-{language}-{way}.cab")
            source = ("from cabarchive import CabArchive, CabFile\narchive = CabArchive()\n"
                      f"archive[{name!r}] = CabFile({text!r}.encode() * 40)\n"
                      f"open({path!r}, 'wb').write(archive.save(compress={bool(options)}))\n")
            if _python(folder, "cab_.py", source):
                yield Made("cabinets", f"cabarchive, {way}", path, text * 40)


# Data

def _data(folder):
    noise = _put(os.path.join(folder, "noise.bin"), b"".join(hashlib.sha256(bytes([at])).digest() for at in range(250)))
    ways = {
        "base64": ("base64", noise), "base64, 64": ("base64", "-w", "64", noise), "base64, one line": ("base64", "-w", "0", noise),
        "xxd": ("xxd", "-p", noise), "OpenSSL": ("openssl", "enc", "-base64", "-in", noise),
        "OpenSSL, key": ("openssl", "genrsa", "2048"),
    }
    for language in LANGUAGES:
        text = ARTICLES[language]
        path = os.path.join(folder, f"data-{language}.cbor")
        source = f"import cbor2\nopen({path!r}, 'wb').write(cbor2.dumps({{'title': {_lines(text)!r}, 'picture': bytes(5000)}}))\n"
        if _python(folder, "cbor_.py", source):
            yield Made("data", "cbor2", path, f"title {text} picture")
    for way, command in ways.items():
        if not shutil.which(command[0]):
            continue
        block = subprocess.run(command, capture_output=True, timeout=60, check=True).stdout.decode()
        for language in LANGUAGES:
            before, after = ARTICLES[language].split(". ", 1)
            marks = "BEGIN PRIVATE KEY END PRIVATE KEY" if "PRIVATE" in block else ""
            path = os.path.join(folder, f"data-{language}-{way.replace(' ', '').replace(',', '-')}")
            text = f"{before}.\n\n{block}\n{after}\n"
            wanted = f"{before} {after} {marks}"
            yield Made("data", f"{way}, text", _put(f"{path}.txt", text.encode()), wanted)
            mail = f"From: a@example.org\nTo: b@example.org\nSubject: x\nContent-Type: text/plain; charset=utf-8\n\n{text}"
            yield Made("data", f"{way}, message", _put(f"{path}.eml", mail.encode()), wanted)
            xml = f"<?xml version='1.0'?><a><b>{before}</b><c>\n{block}\n</c><d>{after}</d></a>"
            yield Made("data", f"{way}, XML", _put(f"{path}.xml", xml.encode()), wanted)


# Hangul

def _hangul(folder):
    for language in ("ko", "de", "ja"):
        text = ARTICLES[language]
        path = os.path.join(folder, f"python-{language}.hwpx")
        source = ("from hwpx import HwpxDocument\ndocument = HwpxDocument.new()\n"
                  f"for line in {_lines(text)!r}:\n    document.add_paragraph(line)\ndocument.save_to_path({path!r})\n")
        if _python(folder, "hwpx_.py", source) and zipfile.is_zipfile(path):
            yield Made("hangul", "python-hwpx", path, text)

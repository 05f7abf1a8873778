"""PDF files of several kinds, each made by programs in several ways, with the words that are in them.

- languages: paragraphs in scripts of both directions, with words divided at line ends
- hyphens: soft hyphens, and the hyphens of compounds
- spacing: letters spaced out and squeezed, small lines tight below a large one
- links, fields: what a page does not show
- wrapped: junk before the header, an owner password, object streams

The words are those of the first article of the Universal Declaration of Human Rights.
"""

import os
import subprocess
import sys

from lib.made import Made

ARTICLES = {
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen "
          "begabt und sollen einander im Geiste der Brüderlichkeit begegnen.",
    "fr": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de "
          "conscience et doivent agir les uns envers les autres dans un esprit de fraternité.",
    "pl": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem "
          "i sumieniem i powinni postępować wobec innych w duchu braterstwa.",
    "ru": "Все люди рождаются свободными и равными в своём достоинстве и правах. Они наделены разумом и совестью и "
          "должны поступать в отношении друг друга в духе братства.",
    "el": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με "
          "λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης.",
    "he": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם "
          "לנהוג איש ברעהו ברוח של אחווה.",
    "ar": "يولد جميع الناس أحرارا ومتساوين في الكرامة والحقوق. وهم قد وهبوا العقل والوجدان وعليهم أن يعاملوا "
          "بعضهم بعضا بروح الإخاء. السلام والأمن لا غير.",
}
RIGHT_TO_LEFT = ("ar", "he")
SOFT = "Die Donau\u00addampf\u00adschiff\u00adfahrts\u00adgesell\u00adschaft hat ein Sonder\u00adangebot."
HANGING = "Berg- und Talbahn, Groß- und Kleinschreibung, Hand- oder Fußball, Vor- und Nachteile sowie Haupt- und Nebensatz."
LINK = "https://archive.example.org/protocol/rightsdocument"
KINDS = [f"PDF: {kind}" for kind in ("languages", "hyphens", "spacing", "links", "fields", "wrapped")]
# Where Debian keeps its modules, for a Python that is not Debian's.
MODULES = "/usr/lib/python3/dist-packages"
SECONDS = 120


def all_pdfs(folder):
    """Makes all files in a folder."""
    os.makedirs(folder, exist_ok=True)
    plain = [*_printed(folder), *_typeset(folder), *_drawn(folder)]
    return [*plain, *_fields(folder), *_wrapped(folder, plain)]


def _made(kind, way, path, text):
    return Made(f"PDF: {kind}", way, path, text)


def _run(*argv, **more):
    subprocess.run(argv, check=True, timeout=SECONDS, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, **more)


# Pages printed by Chromium, LibreOffice and WeasyPrint

def _printed(folder):
    printers = {"Chromium": _chromium, "LibreOffice": _libreoffice, "WeasyPrint": _weasyprint}
    for name, (kind, page, text) in _pages().items():
        source = os.path.join(folder, name + ".html")
        with open(source, "w", encoding="utf-8") as file:
            file.write(page)
        for way, printer in printers.items():
            if way == "WeasyPrint" and name.endswith(RIGHT_TO_LEFT):
                continue  # Debian 12's writes wrong maps to Unicode for them.
            path = os.path.join(folder, f"{name}-{way}.pdf")
            if not os.path.exists(path):
                printer(source, path)
            yield _made(kind, way, path, text)


def _pages():
    """Pages by their names: the kind, the source, and the words."""
    pages = {}
    for language, article in ARTICLES.items():
        side = "rtl" if language in RIGHT_TO_LEFT else "ltr"
        style = "width: 5cm; hyphens: auto"
        pages[f"article-{language}"] = ("languages", _page(_p(article, style), language, side), article)
    soft = SOFT.replace("\u00ad", "")
    pages["soft"] = ("hyphens", _page(_p(SOFT, "width: 3.2cm") + _p(SOFT, ""), "de"), f"{soft} {soft}")
    pages["hanging"] = ("hyphens", _page(_p(HANGING, "width: 2.4cm"), "de"), HANGING)
    for name, spacing in (("wide", "0.2em"), ("narrow", "-0.05em")):
        style = f"letter-spacing: {spacing}"
        pages[name] = ("spacing", _page(_p(ARTICLES["fr"], style), "fr"), ARTICLES["fr"])
    head = "<h1 style='font-size: 40px; margin: 0; line-height: 26px'>Menschenrechte</h1>"
    pages["tight"] = ("spacing", _page(head + _p(ARTICLES["de"], "margin: 0; line-height: 14px"), "de"),
                      "Menschenrechte " + ARTICLES["de"])
    link = f"<p><a href='{LINK}'>Erklärung</a></p>"
    pages["link"] = ("links", _page(link, "de"), f"Erklärung {LINK}")
    return pages


def _page(body, language, side="ltr"):
    return (f"<!doctype html><html lang={language} dir={side}><meta charset=utf-8><title></title>"
            f"<style>body {{ font: 14px 'DejaVu Sans' }}</style><body>{body}</body></html>")


def _p(text, style):
    return f"<p style='{style}'>{text}</p>"


def _chromium(source, path):
    _run("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer",
         f"--print-to-pdf={path}", "file://" + os.path.abspath(source))


def _libreoffice(source, path):
    folder = path + ".folder"
    _run("soffice", f"-env:UserInstallation=file://{os.path.abspath(os.path.dirname(path))}/profile", "--headless",
         "--infilter=HTML (StarWriter)", "--convert-to", "pdf", "--outdir", folder, source)
    made = os.path.join(folder, os.path.basename(source).replace(".html", ".pdf"))
    os.replace(made, path)


def _weasyprint(source, path):
    _run("weasyprint", source, path)


# Pages set by groff, distilled by Ghostscript

def _typeset(folder):
    for language in ("de", "fr"):
        path = os.path.join(folder, f"groff-{language}.pdf")
        if not os.path.exists(path):
            text = f".ll 6c\n{ARTICLES[language]}\n"
            done = subprocess.run(["groff", "-K", "utf8", "-T", "ps", f"-m{language}"], input=text.encode(),
                                  capture_output=True, check=True)
            subprocess.run(["ps2pdf", "-", path], input=done.stdout, check=True)
        yield _made("languages", "groff and Ghostscript", path, ARTICLES[language])


# Pages drawn by reportlab

def _drawn(folder):
    sys.path.append(MODULES)
    from reportlab.pdfbase import pdfmetrics, ttfonts
    from reportlab.pdfgen.canvas import Canvas

    font = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
    pdfmetrics.registerFont(ttfonts.TTFont("DejaVu", font))
    for language in ("de", "fr", "pl", "ru", "el"):
        path = os.path.join(folder, f"reportlab-{language}.pdf")
        canvas = Canvas(path)
        canvas.setFont("DejaVu", 11)
        for number, line in enumerate(_lines(ARTICLES[language])):
            canvas.drawString(72, 760 - 13 * number, line)
        canvas.save()
        yield _made("languages", "reportlab", path, ARTICLES[language])
    for name, spacing in (("wide", 2.4), ("narrow", -0.5)):
        path = os.path.join(folder, f"reportlab-{name}.pdf")
        canvas = Canvas(path)
        canvas.setFont("Helvetica", 11)
        for number, line in enumerate(_lines(ARTICLES["fr"])):
            canvas.drawString(72, 760 - 13 * number, line, charSpace=spacing)
        canvas.save()
        yield _made("spacing", "reportlab", path, ARTICLES["fr"])
    path = os.path.join(folder, "reportlab-link.pdf")
    canvas = Canvas(path)
    canvas.drawString(72, 760, "Erklärung")
    canvas.linkURL(LINK, (72, 755, 130, 775))
    canvas.save()
    yield _made("links", "reportlab", path, f"Erklärung {LINK}")


def _lines(text, n_words=6):
    words = text.split()
    return [" ".join(words[at:at + n_words]) for at in range(0, len(words), n_words)]


# Forms

def _fields(folder):
    """Forms of reportlab, whose values are drawn, and the same without what is drawn."""
    from reportlab.pdfgen.canvas import Canvas

    drawn = os.path.join(folder, "reportlab-fields.pdf")
    canvas = Canvas(drawn)
    canvas.drawString(72, 760, "Name:")
    canvas.acroForm.textfield(name="n", value="Eleanor Roosevelt", x=150, y=750, width=300)
    canvas.acroForm.choice(name="c", value="Frankreich", options=[("Frankreich", "fr"), ("Libanon", "lb")],
                           x=150, y=700, width=300)
    canvas.save()
    text = "Name: Eleanor Roosevelt Frankreich"
    yield _made("fields", "reportlab", drawn, text)
    bare = os.path.join(folder, "qpdf-fields.pdf")
    _run("qpdf", "--qdf", "--object-streams=disable", drawn, bare)
    with open(bare, "rb") as file:
        content = file.read()
    with open(bare, "wb") as file:
        # A key of the same length that means nothing: viewers draw the values themselves.
        file.write(content.replace(b"/AP <<", b"/-- <<"))
    yield _made("fields", "qpdf, not drawn", bare, text)
    distilled = os.path.join(folder, "gs-fields.pdf")
    _run("gs", "-q", "-dNOPAUSE", "-dBATCH", "-sDEVICE=pdfwrite", "-o", distilled, drawn)
    yield _made("fields", "Ghostscript", distilled, text)


# Files that something is wrapped around

def _wrapped(folder, plain):
    for pdf in plain:
        if not os.path.basename(pdf.path).startswith(("article-de", "groff-de", "reportlab-de")):
            continue
        name = os.path.basename(pdf.path)
        junk = os.path.join(folder, "junk-" + name)
        with open(pdf.path, "rb") as file, open(junk, "wb") as target:
            target.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n\r\n" + file.read())
        yield _made("wrapped", "junk before " + pdf.way, junk, pdf.text)
        for way, options in (
            ("qpdf, owner password", ["--encrypt", "", "owner", "256", "--"]),
            ("qpdf, RC4", ["--allow-weak-crypto", "--encrypt", "", "owner", "128", "--use-aes=n", "--"]),
            ("qpdf, object streams", ["--object-streams=generate"]),
        ):
            path = os.path.join(folder, f"{way.replace(', ', '-').replace(' ', '-')}-{name}")
            _run("qpdf", *options, pdf.path, path)
            yield _made("wrapped", way, path, pdf.text)

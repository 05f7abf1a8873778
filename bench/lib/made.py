"""Inputs of three kinds, each made by programs in several ways, with the words that are in them.

- names: archives with names that are not UTF-8, of Info-ZIP, GNU tar, cpio and Python
- charsets: texts and messages in old charsets, of iconv, Python and LibreOffice
- objects: files inside documents, of LibreOffice, of Python, and by hand as Word writes them

The words are those of the first article of the Universal Declaration of Human Rights.
"""

import base64
import email.message
import email.policy
import io
import os
import struct
import subprocess
import tarfile
import zipfile
from dataclasses import dataclass

ARTICLES = {
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen "
          "begabt und sollen einander im Geiste der Brüderlichkeit begegnen. Ähnliches gilt für Größe und Straße.",
    "fr": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de "
          "conscience et doivent agir les uns envers les autres dans un esprit de fraternité. Ça coûte près du hêtre.",
    "es": "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y "
          "conciencia, deben comportarse fraternalmente los unos con los otros. Mañana habrá niños en el jardín.",
    "pt": "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de "
          "consciência, devem agir uns para com os outros em espírito de fraternidade. Não há ações sem lições.",
    "sv": "Alla människor är födda fria och lika i värde och rättigheter. De har utrustats med förnuft och samvete "
          "och bör handla gentemot varandra i en anda av gemenskap. Även på sjön gäller det.",
    "pl": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem "
          "i sumieniem i powinni postępować wobec innych w duchu braterstwa. Żółta łódź płynie.",
    "cs": "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím a mají "
          "spolu jednat v duchu bratrství. Žluťoučký kůň příliš řičel.",
    "hu": "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és "
          "lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy viseltessenek. Tűz és őz.",
    "ru": "Все люди рождаются свободными и равными в своём достоинстве и правах. Они наделены разумом и совестью и "
          "должны поступать в отношении друг друга в духе братства.",
    "uk": "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і совістю і "
          "повинні діяти у відношенні один до одного в дусі братерства. Їжак і ґанок.",
    "el": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με "
          "λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης.",
    "tr": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve "
          "birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler. İyi çağ şöyle olur.",
    "ja": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"
          "人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。",
    "zh-cn": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
    "zh-tw": "人人生而自由,在尊嚴和權利上一律平等。他們賦有理性和良心,並應以兄弟關係的精神相對待。",
    "ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 "
          "부여받았으며 서로 형제애의 정신으로 행동하여야 한다.",
}
# The charsets of each language: in archives, and in texts and messages.
NAMES = {
    "de": ("cp437", "cp850", "cp1252"), "fr": ("cp850", "cp1252"), "es": ("cp850", "cp1252"),
    "pt": ("cp850", "cp1252"), "sv": ("cp850", "cp1252"), "pl": ("cp852", "cp1250"),
    "cs": ("cp852", "cp1250"), "hu": ("cp852", "cp1250"), "ru": ("cp866", "cp1251", "koi8-r"),
    "uk": ("cp1251", "cp1125"), "el": ("cp737", "cp1253"), "tr": ("cp857", "cp1254"),
    "ja": ("shift_jis", "euc_jp"), "zh-cn": ("gbk",), "zh-tw": ("big5",), "ko": ("euc_kr",),
}
TEXTS = {
    "de": ("cp437", "cp1252", "cp1141", "mac_roman"), "fr": ("cp850", "cp1252", "mac_roman"),
    "es": ("cp850", "cp1252", "mac_roman"), "pt": ("cp850", "cp1252"), "sv": ("cp850", "cp1252", "mac_roman"),
    "pl": ("cp852", "cp1250", "iso8859-2", "mac_latin2"), "cs": ("cp852", "cp1250", "iso8859-2", "mac_latin2"),
    "hu": ("cp1250", "mac_latin2"), "ru": ("cp866", "cp1251", "koi8-r", "cp855", "mac_cyrillic"),
    "uk": ("cp1251", "koi8-u"), "el": ("cp737", "cp1253", "cp869"), "tr": ("cp857", "cp1254"),
    "ja": ("shift_jis", "euc_jp", "iso2022_jp", "utf-16-le"), "zh-cn": ("gbk", "gb18030", "utf-16-be"),
    "zh-tw": ("big5", "utf-16-le"), "ko": ("euc_kr", "utf-16-le", "iso2022_kr"),
}
# Texts of Windows with hardly more than ASCII.
SIGNS = [
    "She said “perhaps” and closed the door.",
    "Don’t forget the keys – they’re in the blue bowl.",
    "The ticket costs £12 on weekdays.",
    "Mean temperature: 14°C in spring.",
    "Copyright © 1998 The Harbour Authority",
    "Bring ½ cup of flour and 2½ cups of milk.",
    "The invoice of 250 € is due on Friday.",
    "The lamp—an old one—fell over.",
    "A short résumé of the meeting",
    "Total\xa0: 12 pages",
]
# What mailers call charsets.
LABELS = {
    "cp437": "x-ibm437", "cp850": "ibm850", "cp852": "x-cp852", "cp866": "ibm866", "cp737": "ibm737",
    "cp857": "cp-857", "cp1141": "IBM01141", "cp1250": "win-1250", "cp1251": "windows-1251",
    "cp1252": "Windows-1252", "cp1253": "x-cp1253", "cp1254": "windows1254", "iso8859-2": "ISO_8859-2:1987",
    "koi8-r": "koi8r", "koi8-u": "KOI8-RU", "shift_jis": "x-sjis", "euc_jp": "x-euc-jp",
    "iso2022_jp": "csISO2022JP", "gbk": "cp936", "gb18030": "GB18030", "big5": "x-x-big5",
    "mac_roman": "macintosh", "mac_latin2": "x-mac-ce", "mac_cyrillic": "x-mac-cyrillic", "cp855": "IBM855", "cp869": "cp869",
    "iso2022_kr": "iso-2022-kr", "euc_kr": "ks_c_5601-1987", "utf-16-le": "utf-16le", "utf-16-be": "UTF-16BE",
}


@dataclass(frozen=True)
class Made:
    """A file, how it was made, and the words in it."""

    kind: str
    way: str
    path: str
    text: str


def all_made(folder):
    """Makes all inputs in a folder."""
    os.makedirs(folder, exist_ok=True)
    return [*_names(folder), *_charsets(folder), *_exported(folder), *_objects(folder)]


def _encoded(text, charset):
    if charset == "cp1141":  # Python lacks it; it is 273 with a sign for the euro.
        charset = "cp273"
    return text.encode(charset)


def _put(path, content):
    with open(path, "wb") as file:
        file.write(content)
    return path


# Names

def _file_names(language):
    """Names of a few words each, as people give them."""
    text = ARTICLES[language].replace("、", " ").replace("。", " ").replace(",", " ").replace(".", " ")
    words = text.split()
    if language in ("ja", "zh-cn", "zh-tw"):
        return [f"{word[:8]}.txt" for word in words][:8]
    groups = [" ".join(words[at:at + 3]) for at in range(0, len(words) - 2, 3)]
    return [f"{name}.txt" for name in groups if not name.isascii()][:8]


def _names(folder):
    for language, charsets in NAMES.items():
        for charset in charsets:
            names = _file_names(language)
            root = os.path.join(folder, f"names-{language}-{charset}")
            files = os.path.join(root, "files")
            os.makedirs(files, exist_ok=True)
            raw = [_encoded(name, charset) for name in names]
            for name in raw:
                _put(os.path.join(files.encode(), name), b"x")
            text = "\n".join(names)
            for way, path in _archives(root, files, raw):
                yield Made("names", way, path, text)


def _archives(root, files, raw):
    def run(*command, **more):
        subprocess.run(command, cwd=files, check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "LC_ALL": "C"}, **more)

    zipped = os.path.join(root, "info-zip.zip")
    if not os.path.exists(zipped):
        run("zip", "-q", "-r", zipped, ".")
    yield "Info-ZIP", zipped
    taped = os.path.join(root, "gnu.tgz")
    run("tar", "-czf", taped, ".")
    yield "GNU tar", taped
    copied = os.path.join(root, "newc.cpio")
    with open(copied, "wb") as target:
        subprocess.run(["cpio", "-o", "-0", "-H", "newc", "--quiet"], cwd=files, check=True, stdout=target,
                       input=b"".join(name + b"\0" for name in raw), stderr=subprocess.DEVNULL)
    yield "cpio", copied
    written = os.path.join(root, "python.zip")
    yield "Python", _patched(written, raw)
    taped = os.path.join(root, "python.tar")
    with tarfile.open(taped, "w", format=tarfile.USTAR_FORMAT, encoding="latin-1") as archive:
        for name in raw:
            info = tarfile.TarInfo(name.decode("latin-1"))
            archive.addfile(info)
    yield "Python", taped


def _patched(path, raw):
    """Writes the members of a zip file by hand, as old programs do: without any flag."""
    body, listing = b"", b""
    for name in raw:
        head = struct.pack("<HHHHHIIIHH", 20, 0, 0, 0, 0x5a21, 0x8CDC1683, 1, 1, len(name), 0)
        listing += b"PK\x01\x02\x14\0" + head + struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name
        body += b"PK\x03\x04" + head + name + b"x"
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, len(raw), len(raw), len(listing), len(body), 0)
    return _put(path, body + listing + end)


# Charsets

def _charsets(folder):
    for language, charsets in TEXTS.items():
        text = ARTICLES[language]
        for charset in charsets:
            stem = os.path.join(folder, f"text-{language}-{charset}")
            lines = text.replace(". ", ".\n") + "\n"
            if charset != "cp1141":
                content = subprocess.run(["iconv", "-f", "utf-8", "-t", _iconv(charset)], check=True,
                                         input=lines.encode(), capture_output=True).stdout
                yield Made("charsets", "iconv", _put(f"{stem}-iconv.txt", content), text)
            yield Made("charsets", "Python", _put(f"{stem}.txt", _ebcdic_lines(lines, charset)), text)
            yield Made("charsets", "message", _put(f"{stem}.eml", _message(lines, charset)), text)
    for number, text in enumerate(SIGNS):
        path = os.path.join(folder, f"signs-{number}.txt")
        yield Made("charsets", "signs, Python", _put(path, text.encode("cp1252")), text)


# The names of charsets in LibreOffice.
EXPORTS = {
    "cp437": "IBM_437", "cp850": "IBM_850", "cp852": "IBM_852", "cp866": "IBM_866", "cp737": "IBM_737",
    "cp857": "IBM_857", "cp1250": "MS_1250", "cp1251": "MS_1251", "cp1252": "MS_1252",
    "cp1253": "MS_1253", "cp1254": "MS_1254", "iso8859-2": "ISO_8859_2", "koi8-r": "KOI8_R",
    "koi8-u": "KOI8_U", "shift_jis": "SHIFT_JIS", "gbk": "GBK", "big5": "BIG5", "euc_kr": "EUC_KR", "euc_jp": "EUC_JP",
}


def _exported(folder):
    """Texts that LibreOffice exports, all languages of a charset at once."""
    for charset, name in EXPORTS.items():
        target = os.path.join(folder, f"exported-{charset}")
        languages = [language for language, charsets in TEXTS.items() if charset in charsets]
        sources = [_put(os.path.join(folder, f"{language}.txt"), b"\xef\xbb\xbf" + ARTICLES[language].encode())
                   for language in languages]
        if not os.path.isdir(target):
            subprocess.run(["soffice", "--headless", f"-env:UserInstallation=file://{folder}/profile", "--convert-to",
                            f"txt:Text (encoded):{name},LF", "--outdir", target, *sources],
                           check=True, capture_output=True, timeout=120)
        for language in languages:
            yield Made("charsets", "LibreOffice", os.path.join(target, f"{language}.txt"), ARTICLES[language])


def _iconv(charset):
    return {"utf-16-le": "UTF-16LE", "utf-16-be": "UTF-16BE", "iso2022_jp": "ISO-2022-JP", "shift_jis": "CP932",
            "euc_jp": "EUC-JP", "euc_kr": "CP949", "iso8859-2": "ISO-8859-2", "mac_roman": "MACINTOSH",
            "mac_latin2": "MAC-CENTRALEUROPE", "mac_cyrillic": "MAC-CYRILLIC", "iso2022_kr": "ISO-2022-KR"}.get(charset, charset.upper())


def _ebcdic_lines(text, charset):
    content = _encoded(text, charset)
    return content.replace(b"\x25", b"\x15") if charset == "cp1141" else content


def _message(text, charset):
    body = base64.encodebytes(_encoded(text, charset)).decode()
    return (f"From: Ina <ina@example.org>\nTo: bo@example.org\nSubject: article\nMIME-Version: 1.0\n"
            f"Content-Type: text/plain; charset=\"{LABELS[charset]}\"\nContent-Transfer-Encoding: base64\n\n{body}"
            ).encode()


# Objects

HOST = "The host document tells of the lapwing and of its nest."
INSIDE = "The document inside tells of the dunlin and of its flock."


def _objects(folder):
    yield from _of_libreoffice(folder)
    pdf = _convert(_put(os.path.join(folder, "inside.txt"), INSIDE.encode()), "pdf", folder)
    docx = _convert(os.path.join(folder, "inside.txt"), "docx", folder)
    host = _convert(_put(os.path.join(folder, "host.txt"), HOST.encode()), "docx", folder)
    table = _convert(_put(os.path.join(folder, "table.csv"), f'"{HOST}"\n'.encode()), "xlsx", folder)
    message = email.message.EmailMessage(policy=email.policy.SMTP)
    message["Subject"], message["From"] = "object", "ina@example.org"
    message.set_content(INSIDE)
    files = {
        "pdf": open(pdf, "rb").read(), "docx": open(docx, "rb").read(), "txt": INSIDE.encode(),
        "eml": message.as_bytes(), "zip": _zip({"inside.txt": INSIDE.encode()}),
    }
    both = f"{HOST}\n{INSIDE}"
    for name, content in files.items():
        for way, wrapped in {
            "packaged": compound({"\x01Ole10Native": _native(f"inside.{name}", content)}),
            "CONTENTS": compound({"\x01Ole": b"x", "CONTENTS": content}),
            "Package": compound({"Package": content}),
        }.items():
            path = os.path.join(folder, f"{way}-{name}")
            parts = {"word/embeddings/oleObject1.bin": wrapped}
            yield Made("objects", f"docx, {way}", _with_parts(host, f"{path}.docx", parts), both)
            parts = {"xl/embeddings/oleObject1.bin": wrapped}
            yield Made("objects", f"xlsx, {way}", _with_parts(table, f"{path}.xlsx", parts), f"{both}\ntable")
            yield Made("objects", f"rtf, {way}", _put(f"{path}.rtf", _rtf(wrapped)), both)
            yield Made("objects", f"flat ODF, {way}", _put(f"{path}.fodt", _fodt(_ole(wrapped))), both)
    chunks = {"html": f"<p>{INSIDE}</p>".encode(), "txt": INSIDE.encode(), "docx": files["docx"],
              "rtf": (r"{\rtf1\ansi " + INSIDE + "}").encode()}
    for name, content in chunks.items():
        path = os.path.join(folder, f"chunk-{name}.docx")
        relation = ("http://schemas.openxmlformats.org/officeDocument/2006/relationships/aFChunk",
                    f"chunks/chunk.{name}")
        parts = {f"word/chunks/chunk.{name}": content}
        yield Made("objects", "docx, altChunk", _with_parts(host, path, parts, relation), both)


def _of_libreoffice(folder):
    """Documents with a spreadsheet inside, or an object of OLE, converted to formats that hold them."""
    sheet = ('<draw:object><office:document office:mimetype="application/vnd.oasis.opendocument.spreadsheet" '
             'office:version="1.2"><office:body><office:spreadsheet><table:table table:name="Sheet"><table:table-row>'
             f'<table:table-cell office:value-type="string"><text:p>{INSIDE}</text:p></table:table-cell>'
             '</table:table-row></table:table></office:spreadsheet></office:body></office:document></draw:object>')
    source = _put(os.path.join(folder, "sheet.fodt"), _fodt(sheet))
    # The name of the sheet. The footer that LibreOffice gives to every sheet is left out.
    for ending, more in (("odt", ""), ("docx", "Sheet"), ("doc", "Sheet")):
        yield Made("objects", f"LibreOffice, {ending}", _convert(source, ending, folder), f"{HOST}\n{INSIDE}\n{more}")
    for way, streams in {
        "packaged": {"\x01Ole10Native": _native("inside.txt", INSIDE.encode())},
        "CONTENTS": {"\x01Ole": b"x", "CONTENTS": INSIDE.encode()},
    }.items():
        source = _put(os.path.join(folder, f"libreoffice-{way}.fodt"), _fodt(_ole(compound(streams))))
        for ending in ("odt", "docx"):
            yield Made("objects", f"LibreOffice, {ending}, {way}", _convert(source, ending, folder), f"{HOST}\n{INSIDE}")


def _convert(path, ending, folder):
    target = os.path.join(folder, os.path.splitext(os.path.basename(path))[0] + "." + ending)
    # A text with a spreadsheet inside looks like a spreadsheet.
    reader = ["--infilter=OpenDocument Text Flat XML"] if path.endswith(".fodt") else []
    if not os.path.exists(target):
        subprocess.run(["soffice", "--headless", f"-env:UserInstallation=file://{folder}/profile", *reader,
                        "--convert-to", ending, "--outdir", folder, path],
                       check=True, capture_output=True, timeout=120)
    return target


def _fodt(drawing):
    spaces = "".join(f' xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for prefix, name in [
        ("office", "office"), ("text", "text"), ("table", "table"), ("draw", "drawing"), ("svg", "svg-compatible")])
    return (f'<?xml version="1.0" encoding="UTF-8"?><office:document{spaces} office:version="1.2" '
            'office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text>'
            f'<text:p>{HOST}</text:p><text:p><draw:frame svg:width="8cm" svg:height="4cm">{drawing}</draw:frame>'
            '</text:p></office:text></office:body></office:document>').encode()


def _ole(wrapped):
    return ("<draw:object-ole><office:binary-data>" + base64.encodebytes(wrapped).decode()
            + "</office:binary-data></draw:object-ole>")


def _rtf(wrapped):
    data = struct.pack("<III", 0x501, 2, 11) + b"Word.Obj.1\0" + struct.pack("<III", 0, 0, len(wrapped)) + wrapped
    return (r"{\rtf1\ansi " + HOST + r"\par{\object\objemb{\*\objclass Word.Obj.1}{\*\objdata "
            + data.hex() + r"}{\result }}}").encode()


def _native(name, content):
    label = name.encode() + b"\0"
    native = b"\x02\0" + label + b"C:\\" + label + struct.pack("<HHI", 0, 3, len(label) + 3) + b"C:\\" + label
    native += struct.pack("<I", len(content)) + content
    return struct.pack("<I", len(native)) + native


def _zip(members):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return target.getvalue()


def _with_parts(host, target, parts, relation=None):
    """Adds parts, and a relation to one of them, to a document."""
    with zipfile.ZipFile(host) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in source.namelist():
            content = source.read(name)
            if name == "word/_rels/document.xml.rels" and relation:
                new = f'<Relationship Id="rIdNew" Type="{relation[0]}" Target="{relation[1]}"/></Relationships>'
                content = content.replace(b"</Relationships>", new.encode())
            archive.writestr(name, content)
        for name, content in parts.items():
            archive.writestr(name, content)
    return target


def compound(streams):
    """A compound file (MS-CFB) with these streams, in sectors of 512 bytes and without small ones."""
    sectors, entries, fat = [], [], []

    def add(content):
        if not content:
            return 0xFFFFFFFE
        start = len(fat)
        pieces = [content[at:at + 512].ljust(512, b"\0") for at in range(0, len(content), 512)]
        sectors.extend(pieces)
        fat.extend(range(start + 1, start + len(pieces)))
        fat.append(0xFFFFFFFE)
        return start

    def entry(name, kind, child, right, start, size):
        wide = (name + "\0").encode("utf-16-le")
        return (wide.ljust(64, b"\0") + struct.pack("<HBBIII", len(wide), kind, 1, 0xFFFFFFFF, right, child)
                + bytes(36) + struct.pack("<IQ", start, size))

    names = list(streams)
    for number, name in enumerate(names, 1):
        # Streams below the bound for small ones are padded to it.
        content = streams[name].ljust(4096, b"\0") if len(streams[name]) < 4096 else streams[name]
        right = number + 1 if number < len(names) else 0xFFFFFFFF
        entries.append((name, right, add(content), len(streams[name])))
    directory = entry("Root Entry", 5, 1 if names else 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFE, 0)
    for name, right, start, size in entries:
        directory += entry(name, 2, 0xFFFFFFFF, right, start, size)
    directory_start = add(directory)
    n_fat = 1
    while n_fat * 128 < len(fat) + n_fat:
        n_fat += 1
    fat_start = len(fat)
    fat.extend([0xFFFFFFFD] * n_fat)
    table = struct.pack(f"<{len(fat)}I", *fat).ljust(n_fat * 512, b"\xff")
    sectors.extend(table[at:at + 512] for at in range(0, len(table), 512))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    # A bound of zero: no stream is small.
    header += struct.pack("<IIIIIIIII", 0, n_fat, directory_start, 0, 0, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0)
    fats = list(range(fat_start, fat_start + n_fat))
    header += struct.pack("<109I", *(fats + [0xFFFFFFFF] * (109 - len(fats))))
    return header + b"".join(sectors)

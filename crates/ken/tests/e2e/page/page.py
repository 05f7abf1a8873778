"""The page in a browser: page.py ADDRESS AXE PICTURES OPENED

ADDRESS is what `ken web --print` prints, AXE the file of axe-core (https://github.com/dequelabs/axe-core) or nothing, and
PICTURES a folder for pictures of each state or nothing. OPENED is where the desktop notes what it opens. The documents are those of mod.rs.
"""

import json
import pathlib
import sys
import time
import traceback
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "web"))
from browser import Browser, Driver  # noqa: E402

ADDRESS, AXE, PICTURES, OPENED = sys.argv[1:]
PAGE, TOKEN = ADDRESS.split("#t=")
HITS = ".hits > .hit, tbody .hit"

# Collects what the policy of the page refused.
WATCH = """
globalThis.refused = [];
addEventListener("securitypolicyviolation", (event) => refused.push(`${event.violatedDirective} ${event.blockedURI}`));
"""


class Tests:
    def __init__(self, driver):
        self.driver = driver
        self.browser = self.start()

    def start(self, **options):
        browser = Browser(self.driver, **options)
        browser.cdp("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
        browser.cdp("Network.enable")
        return browser

    def open(self, path="", browser=None):
        (browser or self.browser).open(PAGE + path)

    def search(self, query, browser=None, **rest):
        self.open("?" + urllib.parse.urlencode({"q": query, **rest}, doseq=True), browser)

    def titles(self):
        return self.browser.texts(".hit .title")

    def count(self):
        return int(self.browser.text("#count strong").replace(",", ""))

    def blur(self):
        self.browser.run("document.activeElement.blur()")

    def picture(self, name, browser=None):
        if PICTURES:
            (browser or self.browser).picture(pathlib.Path(PICTURES) / f"{name}.png")

    # Each test leaves the browser logged in.

    def test_a_log_in(self):
        browser = self.browser
        self.open()
        assert "not logged in" in browser.text("main")
        self.picture("log-in")
        browser.type("#token", "0" * 32)
        browser.click("form button")
        browser.until("a wrong token is refused", lambda: "not the token" in browser.text("main"))
        browser.open("about:blank")
        browser.open(ADDRESS)
        browser.until("the token lets in", lambda: browser.all("#q"))
        assert browser.address == PAGE, browser.address
        cookies = browser.ask("GET", "/cookie")
        assert [(one["name"], one["httpOnly"], one["sameSite"]) for one in cookies] == [("ken", True, "Strict")]

    def test_b_typing_finds(self):
        browser = self.browser
        self.open()
        self.picture("empty")
        assert browser.run("return document.activeElement.id") == "q"
        browser.keys(*"albatros")
        browser.until("the last word is a beginning", lambda: len(self.titles()) == 3)
        browser.keys("s")
        browser.until("the address is the state", lambda: browser.address == PAGE + "?q=albatross")
        assert browser.texts(".passage mark")
        browser.keys(*" -type:message")
        browser.until("the result follows", lambda: len(self.titles()) == 1)
        browser.until("the query is shown in parts", lambda: len(browser.all(".chip")) == 2)
        browser.until("the filters follow", lambda: not browser.all("[data-key='type-message']"))
        browser.until("they can be used", lambda: not browser.all("#facets[inert], #facets[aria-busy]"))
        self.picture("typing")
        browser.click(".chip a[aria-label='Remove -type:message']")
        browser.until("a part is removed", lambda: len(self.titles()) == 3)
        assert browser.run("return document.querySelector('#q').value") == "albatross"
        browser.back()
        browser.until("Back", lambda: len(self.titles()) == 1)

    def test_c_facets_restrict(self):
        browser = self.browser
        self.search("albatross")
        browser.click("[data-key='type-message']")
        browser.until("only messages", lambda: self.count() == 2)
        assert "filter=type:message" in browser.address, browser.address
        focus = "return document.activeElement.dataset.key"
        browser.until("the focus stays", lambda: browser.run(focus) == "type-message")
        assert len(browser.all("[data-key^='type-']")) == 2, "another type can be chosen"
        browser.click("[data-key='type-message']")
        browser.until("all again", lambda: self.count() == 3)
        browser.back()
        browser.until("Back", lambda: self.count() == 2)
        self.search("albatross", **{"from": "2026-01-06"})
        browser.until("since a day", lambda: "since 2026-01-06" in browser.text(".chips"))
        self.search("*")
        browser.click("[data-key='dir-deep']")
        browser.until("a folder", lambda: "deep" in browser.text(".chip"))
        assert "All folders" in browser.text("#facets .above")

    def test_d_keys_and_preview(self):
        browser = self.browser
        self.search("albatross plan")
        self.blur()
        browser.keys("j", "Enter")
        browser.until("the preview", lambda: browser.all("#preview .doc"))
        assert "doc=" in browser.address
        first = browser.text("#preview h2")
        browser.until("the first match", lambda: browser.all("mark.now"))
        self.picture("preview")
        before = browser.run("return [...document.querySelectorAll('.text mark')].findIndex((m) => m.matches('.now'))")
        browser.keys("n")
        after = browser.run("return [...document.querySelectorAll('.text mark')].findIndex((m) => m.matches('.now'))")
        assert after == before + 1, (before, after)
        browser.keys("N")
        browser.keys("j")
        browser.until("the next", lambda: browser.text("#preview h2") != first)
        browser.keys("k")
        browser.until("the previous", lambda: browser.text("#preview h2") == first)
        browser.keys("Escape")
        browser.until("closed", lambda: not browser.all("#preview .doc"))
        browser.back()
        browser.until("Back shows it again", lambda: browser.all("#preview .doc"))
        browser.keys("?")
        browser.until("the keys", lambda: browser.all("dialog[open]"))
        self.picture("keys")
        browser.keys("Escape")
        browser.until("no keys", lambda: not browser.all("dialog[open]"))
        browser.keys("/")
        assert browser.run("return document.activeElement.id") == "q"

    def test_da_documents_open_on_the_desktop(self):
        browser = self.browser

        def opened():
            notes = pathlib.Path(OPENED)
            return [path.rsplit("/", 1)[1] for path in notes.read_text().split()] if notes.exists() else []

        self.search("albatross filename:bird")
        browser.click(".hit .title")
        browser.until("the buttons", lambda: browser.all("[data-do='open']"))
        browser.click("[data-do='open']")
        browser.until("the document opens", lambda: opened() == ["bird.txt"])
        browser.until("it is said", lambda: browser.text("#said") == "The document opens")
        browser.click("[data-do='show']")
        browser.until("its folder opens", lambda: opened() == ["bird.txt", "docs"])
        self.search("cormorant")
        browser.click(".hit .title")
        browser.until("a program", lambda: browser.text("#preview h2") == "run-me.sh")
        self.blur()
        browser.keys("o")
        browser.until("a program is not run", lambda: opened() == ["bird.txt", "docs", "docs"])
        browser.until("it is said", lambda: browser.text("#said") == "The folder opens")

    def test_e_source_has_lines(self):
        browser = self.browser
        self.search("needle_function")
        browser.click(".hit .title")
        browser.until("the line", lambda: browser.all("#preview #L2500 mark.now"))
        assert "line 2500" in browser.text(".place")
        place = browser.find(".places a")
        assert browser.ask("GET", f"/element/{place}/attribute/data-place") == "L2500"
        assert not browser.all("#L1"), "a long text is shown in part"
        assert browser.texts("#L2500 i.k") == ["fn"] and browser.text("#L2500 mark") == "needle_function"
        assert "let" in browser.texts("#L2501 i.k") and "2501" in browser.texts("#L2501 i.n")
        self.picture("source")
        assert browser.all("#preview .note a")

    def test_ea_spreadsheets_are_tables(self):
        browser = self.browser
        self.search("filename:sample.xlsx zwiebelhafen")
        browser.click(".hit .title")
        browser.until("a table", lambda: browser.all("#preview td mark"))
        assert browser.texts("#preview thead th") == ["Date", "Harbour", "Fare", "Share", "When"]
        assert browser.text("#preview td mark") == "zwiebelhafen"
        assert browser.texts(".sheets a") == ["Crossings", "Crew"]
        assert browser.texts("#preview h3.page") == ["Crossings", "Crew"]
        self.picture("spreadsheet")
        self.search("filename:tides.csv")
        browser.click(".hit .title")
        browser.until("a table", lambda: browser.all("#preview td"))
        assert browser.texts("#preview thead th") == ["number", "name", "metres"]
        assert browser.texts("#preview tbody tr:first-child td") == ["1", "harbour, 1", "1.5"]
        assert len(browser.all("#preview tbody tr")) < 600, "a part of a long table"
        browser.click("#preview .rest a")
        browser.until("its end", lambda: "harbour, 900" in browser.text("#preview tbody tr:last-child"))
        assert browser.texts("#preview thead th") == ["number", "name", "metres"], "each part has the head"

    def test_eb_a_long_line_is_shown_in_part(self):
        browser = self.browser
        self.search("xylophone")
        browser.click(".hit .title")
        browser.until("the match", lambda: browser.all("#preview .text mark.now"))
        length = browser.run("return document.querySelector('#preview .text').textContent.length")
        assert length < 50_000, length
        assert len(browser.texts(".rest")) == 2, "text before and after it"
        self.picture("long-line")
        address = browser.address
        browser.ask("POST", f"/element/{browser.all('.rest a')[1]}/click", {})
        browser.until("the text after it", lambda: not browser.all("#preview .text mark") and browser.address != address)
        assert browser.all("#preview .text .l")

    def test_f_table_and_order(self):
        browser = self.browser
        self.search("*")
        self.blur()
        browser.keys("t")
        browser.until("a table", lambda: browser.all("tbody .hit"))
        browser.click("[data-key='by-size']")
        browser.until("by size", lambda: browser.all("th[aria-sort='descending']"))
        assert self.titles()[0] == "wide.txt"
        browser.click("[data-key='by-size']")
        browser.until("smallest first", lambda: browser.all("th[aria-sort='ascending']"))
        self.picture("table")
        browser.back()
        browser.until("Back", lambda: browser.all("th[aria-sort='descending']"))
        self.search("*", view="table", column=["type", "ext"])
        assert browser.texts("thead th") == ["Title", "Type", "Extension"]

    def thumbnail(self, query, **rest):
        """Searches, waits for the picture of the first hit, and returns what is painted in its place."""
        self.search(query, **rest)
        complete = "const one = document.querySelector('img.thumbnail'); return one && one.complete && one.currentSrc"
        self.browser.until("the picture is there or not", lambda: self.browser.run(complete))
        time.sleep(0.1)
        return self.browser.pixels("img.thumbnail")

    def test_fa_thumbnails_are_painted(self):
        browser = self.browser
        shifts = """
            const done = arguments[0];
            new PerformanceObserver((list) => done(list.getEntries().map((of) => of.value)))
                .observe({ type: "layout-shift", buffered: true });
            setTimeout(() => done([]), 300);"""
        for view in ("list", "table"):
            painted = self.thumbnail("filename:magenta", view=view)
            n_magenta = sum(colour == (255, 0, 255) for _, colour in painted.all())
            assert n_magenta > painted.width * painted.height / 4, (view, n_magenta)
            assert sum(browser.run_async(shifts)) < 0.01
            painted = self.thumbnail("otter", view=view)
            n_white = sum(min(colour) > 230 for _, colour in painted.all())
            assert n_white > painted.width * painted.height / 2, (view, n_white)
        # What cannot be drawn leaves no trace.
        painted = self.thumbnail("filename:broken.pdf")
        assert len({colour for _, colour in painted.all()}) == 1
        assert browser.run("return document.querySelector('img.thumbnail').naturalWidth") == 1
        assert not browser.all(".hits .hit:not(.pictured) img")
        self.search("filename:magenta OR otter OR filename:broken")
        time.sleep(1)
        self.picture("thumbnails")
        self.search("filename:magenta OR otter OR filename:broken", view="table")
        time.sleep(1)
        self.picture("thumbnails-table")

    def test_fb_boxes_are_over_the_words_of_a_page(self):
        browser = self.browser
        self.search("otter")
        browser.click(".hit .title")
        browser.until("the page with the match", lambda: browser.attribute("#sheet", "data-page") == "2")
        browser.until("its picture", lambda: browser.run("return document.querySelector('.paper img').complete"))
        browser.until("the box", lambda: browser.all("#sheet rect.now"))
        self.picture("pdf")
        # The text stands at 72, 700 of 600, 800 (from below) in letters of 12.
        part, scale = (0.1, 0.1, 0.3, 0.04), 3
        boxes = browser.pixels(".paper", part, scale)
        browser.run("document.querySelector('.paper svg').style.visibility = 'hidden'")
        ink = browser.pixels(".paper", part, scale)
        ink = [place for place, colour in ink.all() if max(colour) < 128]
        words, last = [], -100
        for column in sorted({x for x, _ in ink}):
            if column - last > 2.5 * scale:
                words.append([])
            words[-1].append(column)
            last = column
        assert len(words) == 4, [(word[0], word[-1]) for word in words]
        painted = [place for place, (red, _, blue) in boxes.all() if red - blue > 60]
        left, right = min(x for x, _ in painted), max(x for x, _ in painted)
        top, bottom = min(y for _, y in painted), max(y for _, y in painted)
        rows = [y for x, y in ink if words[1][0] <= x <= words[1][-1]]
        near = 2 * scale
        assert abs(left - words[1][0]) <= near and abs(right - words[1][-1]) <= near, (left, right, words[1][0], words[1][-1])
        assert left > words[0][-1] and right < words[2][0]
        assert top <= min(rows) + 1 and bottom >= max(rows) - 1, (top, bottom, min(rows), max(rows))
        assert bottom - top < 2 * (max(rows) - min(rows)) + near, "not much higher than the word"

    def test_fc_the_next_page_is_there_before_it_is_asked_for(self):
        browser = self.browser
        asked = "return performance.getEntriesByType('resource').filter((of) => of.name.includes('picture?')).length"
        browser.until("three pages are drawn", lambda: browser.run(asked) == 3)
        time.sleep(0.3)
        browser.click("[aria-label='Next page']")
        browser.until("the next page", lambda: browser.attribute("#sheet", "data-page") == "3")
        assert browser.run("return document.querySelector('.paper img').naturalWidth") > 1000
        assert browser.run(asked) == 3, "it was there"
        browser.click("[aria-label='Previous page']")
        browser.until("back", lambda: browser.attribute("#sheet", "data-page") == "2")

    def test_g_mail_as_people_know_it(self):
        browser = self.browser
        self.search("albatross subject:budget")
        assert "Anna Example" in browser.text(".hit .author")
        assert "2 in thread" in browser.text(".hit .meta")
        browser.click(".hit .title")
        browser.until("the thread", lambda: browser.all(".thread .card"))
        assert "anna@example.org" in browser.text(".people")
        assert "Bob" in browser.text(".card") and "I agree, albatross." in browser.text(".card .beginning")
        self.picture("thread")
        browser.click(".card a")
        browser.until("the answer", lambda: browser.all("details.quote"))
        assert "I agree" in browser.text(".opened .text") and "Anna Example" in browser.text(".card")
        assert browser.texts("details.quote summary") == ["5 quoted lines"]
        self.search("filename:notes.txt")
        assert "Attached" in browser.text(".hit .meta")
        self.search("subject:attached below")
        browser.click(".hit .title")
        browser.until("attachments", lambda: browser.all(".members li"))
        assert "notes.txt" in browser.text(".members")
        self.search("thank you kindly")
        browser.click(".hit .title")
        browser.until("a card with an attachment", lambda: browser.texts(".card .attached a") == ["notes.txt"])
        browser.click(".card .attached a")
        browser.until("the attachment", lambda: "narwhal" in browser.text("#preview .text"))

    def test_h_nothing_of_others_acts(self):
        browser = self.browser
        self.search("hostile")
        assert len(browser.all(HITS)) == 4, self.titles()
        assert "<script>" in " ".join(self.titles()), self.titles()
        self.picture("hostile")
        for number in range(4):
            self.search("hostile")
            browser.ask("POST", f"/element/{browser.all('.hit .title')[number]}/click", {})
            browser.until("the preview", lambda: browser.all("#preview .doc"))
            if browser.all(".formatted"):
                browser.run("document.querySelector('.formatted').open = true")
                frame = browser.find("iframe")
                assert browser.attribute("iframe", "sandbox") == ""
                browser.ask("POST", "/frame", {"id": {"element-6066-11e4-a52e-4f735466cecf": frame}})
                browser.until("it is shown", lambda: "hostile" in browser.text("body"))
                allowed = "a b body br div font head html i mark meta p table tbody td tr".split()
                written = browser.run("return [...document.querySelectorAll('*')].map((of) => of.localName)")
                assert set(written) <= set(allowed), sorted(set(written) - set(allowed))
                links = browser.run("return [...document.querySelectorAll('a[href]')].map((a) => a.href)")
                assert links == ["https://example.org/"], links
                browser.ask("POST", "/frame", {"id": None})
                self.picture("formatted")
            assert browser.run("return globalThis.acted === undefined")
        self.search("status")
        self.open("status")

    def test_i_mistakes_are_told(self):
        browser = self.browser
        self.search('albatross "')
        assert len(self.titles()) == 3 and "left out" in browser.text(".chips")
        self.search("albatross zzzqqq")
        assert browser.all(".hit") and "zzzqqq" in browser.text("main")
        self.search("qqqzzz")
        assert "Nothing found" in browser.text("main")
        self.picture("nothing")
        self.search("albatrosz")
        browser.click(".meant a")
        browser.until("what was meant", lambda: len(self.titles()) == 3)
        self.search("a", filter="date:nonsense")
        assert "This did not work" in browser.text("main")
        self.picture("error")
        self.open("document?doc=0123456789abcdef")
        assert "Not there" in browser.text("main")
        self.open("nowhere")
        assert "Not there" in browser.text("main")

    def test_j_pages_of_words(self):
        browser = self.browser
        self.open("status")
        assert "broken.docx" in browser.text("main")
        assert "its own program can open it" in browser.text(".remedy")
        browser.resize(360, 740)
        browser.run("document.querySelector('.wide').scrollIntoView()")
        self.picture("status-360")
        cell = browser.run("return getComputedStyle(document.querySelector('td.reason')).whiteSpace")
        assert cell == "nowrap", "words are not broken"
        browser.resize(1280, 900)
        assert browser.all("[data-do='pause']")
        self.picture("status")
        self.open("saved")
        assert "plans" in browser.text("main")
        self.search("query:plans")
        assert len(self.titles()) > 0
        self.search("albatross")
        browser.click(".hit .title")
        browser.until("preview", lambda: browser.all("#preview .doc"))
        address = browser.attribute(".doc", "data-alone")
        self.open(address)
        assert browser.all("main .doc")
        self.picture("document")
        request = urllib.request.Request(PAGE + "osd.xml")
        osd = urllib.request.urlopen(request).read().decode()
        assert f'template="{PAGE}?q={{searchTerms}}"' in osd, osd

    def test_k_every_width_and_theme(self):
        browser = self.browser
        pages = ["", "?q=albatross", "?q=albatross&view=table", "?q=long", "status", "saved", "?q=qqqzzz", "?q=hostile"]
        backs = set()
        for dark in (False, True):
            browser.theme(dark, reduced=True)
            for width, height in ((360, 740), (768, 1024), (1600, 1000)):
                browser.resize(width, height)
                for number, path in enumerate(pages):
                    self.open(path)
                    self.fits(width)
                    self.picture(f"{number}-{width}-{'dark' if dark else 'light'}")
                for query in ("albatross plan", "needle_function", "zwiebelhafen", "otter", "xylophone", "filename:tides"):
                    self.search(query)
                    browser.click(".hit .title")
                    browser.until("preview", lambda: browser.all("#preview .doc"))
                    self.fits(width)
                    self.picture(f"preview-{query.split(':')[-1]}-{width}-{'dark' if dark else 'light'}")
            backs.add(browser.run("return getComputedStyle(document.documentElement).backgroundColor"))
        assert len(backs) == 2, backs
        browser.resize(360, 740)
        self.search("albatross")
        browser.click("#open-facets")
        browser.until("the drawer", lambda: browser.run("return facets.getBoundingClientRect().width > 200"))
        self.picture("drawer")
        browser.click("[data-key='type-message']")
        browser.until("only messages", lambda: self.count() == 2)
        browser.until("the drawer closes", lambda: not browser.run("return facets.checkVisibility()"))
        browser.resize(1280, 900)
        browser.theme(False)

    def fits(self, width):
        wide = self.browser.run("return document.documentElement.scrollWidth")
        assert wide <= width, f"{self.browser.address}: {wide} > {width}"

    def test_l_axe_finds_nothing(self):
        if not AXE:
            return
        source = pathlib.Path(AXE).read_text()
        browser = self.browser
        script = source + """;
            const done = arguments[0];
            axe.run(document, { iframes: false, resultTypes: ["violations"] }).then(
                (found) => done(found.violations.map((of) => [of.id, of.help, of.nodes.map((node) => node.html).slice(0, 3)])),
                (error) => done([String(error)]),
            );"""
        pages = ["", "?q=albatross", "?q=albatross&view=table", "?q=qqqzzz", "status", "saved"]
        opened = ["albatross+plan", "needle_function", "zwiebelhafen", "otter", "filename:tides", "filename:magenta"]
        pages += [f"?q={query}&opened" for query in opened]
        for dark in (False, True):
            browser.theme(dark, reduced=True)
            for path in pages:
                self.open(path)
                if path.endswith("opened"):
                    browser.click(".hit .title")
                    browser.until("preview", lambda: browser.all("#preview .doc"))
                found = browser.run_async(script)
                assert not found, f"{path} dark={dark}: {json.dumps(found, indent=1)}"
        browser.theme(False)

    def test_m_without_scripts(self):
        browser = self.start(scripts=False)
        try:
            self.open(browser=browser)
            browser.type("#token", ADDRESS)
            browser.click("form button")
            browser.until("in", lambda: browser.all("#q"))
            browser.type("#q", "albatross\ue007")
            browser.until("found", lambda: len(browser.all(".hit")) == 3)
            browser.click("[data-key='type-message']")
            browser.until("restricted", lambda: len(browser.all(".hit")) == 2)
            browser.click(".hit .title")
            browser.until("read", lambda: browser.all("#preview .doc .text mark"))
            browser.click(".thread .card a")
            browser.until("the next message of the thread", lambda: browser.all("#preview .doc .text mark"))
            self.open("?q=filename:magenta", browser)
            width = f"/element/{browser.find('img.thumbnail')}/property/naturalWidth"
            browser.until("a small picture", lambda: browser.ask("GET", width) > 50)
            self.search("albatross", browser=browser)
            browser.click(".hit .title")
            browser.until("read again", lambda: browser.all("#preview .doc .text mark"))
            self.picture("without-scripts", browser)
            browser.click("#close")
            browser.until("closed", lambda: not browser.all("#preview .doc"))
            self.open("status", browser)
            browser.click("main form[action=logout] button")
            browser.until("out", lambda: browser.all("#token"))
        finally:
            browser.close()

    def test_n_nothing_was_refused_or_loaded(self):
        browser = self.browser
        # What axe and the driver do is not the page's: the last pages are asked again.
        for path in ("", "?q=albatross", "?q=hostile"):
            self.open(path)
            if browser.all(".hit .title"):
                browser.click(".hit .title")
                browser.until("preview", lambda: browser.all("#preview .doc"))
            assert browser.run("return refused") == []
        asked = [json.loads(entry["message"])["message"] for entry in browser.log("performance")]
        asked = [of["params"]["request"]["url"] for of in asked if of["method"] == "Network.requestWillBeSent"]
        foreign = [url for url in asked if not url.startswith((PAGE, "data:", "about:", "chrome:"))]
        # Browsers ask for it where a page names none: the guard's own answers.
        foreign = [url for url in foreign if not url.endswith("/favicon.ico")]
        assert asked and not foreign, foreign
        told = [entry["message"] for entry in browser.log() if "Content Security Policy" in entry["message"]]
        assert not told, told


def bytes_of_first_load():
    cookie = {"cookie": f"ken={TOKEN}"}

    def load(path):
        return urllib.request.urlopen(urllib.request.Request(PAGE + path, headers=cookie)).read()

    page = load("?q=albatross").decode()
    assets = set(part.split('"')[0] for part in page.split('"assets/')[1:])
    total = len(page.encode()) + sum(len(load("assets/" + name)) for name in assets)
    assert total < 150_000, total
    return total


def main():
    driver = Driver()
    failed = 0
    try:
        tests = Tests(driver)
        for name in sorted(name for name in dir(tests) if name.startswith("test_")):
            start = time.monotonic()
            try:
                getattr(tests, name)()
                print(f"{name} ok {time.monotonic() - start:.1f} s", flush=True)
            except Exception:  # noqa: BLE001 any failure is told
                failed += 1
                traceback.print_exc(file=sys.stdout)
                print(f"{name} FAILED at {tests.browser.address}", flush=True)
                tests.picture(f"failed-{name}")
        print(f"first load: {bytes_of_first_load()} bytes")
        tests.browser.close()
    finally:
        driver.close()
    sys.exit(1 if failed else 0)


main()

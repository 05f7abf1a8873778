"""How soon does the page show results while somebody types?

Chromium, without a window, types queries into the page of ken serve, one key after the other: from the event of the key
to the frame after the new results. The filters beside the results follow at a pause. Then twenty users type at once, by
requests for the same fragments, at rest and beside a run that reads every file again. The documents are those of the
suite latency, more than 300,000.
"""

import os
import random
import subprocess
import sys
import threading
import time
import urllib.parse
from http.client import HTTPConnection

from lib import stats
from lib.report import Goal, Result
from peers.ken import Ken
from suites.fresh import Served

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../crates/ken/tests/e2e/web"))
from browser import Browser, Driver  # noqa: E402

USERS = 20
# Loads of the page with an empty cache, of which the median counts.
LOADS = 7
SECONDS = 15
# Seconds between the keys of a fast typist.
PAUSE = (0.08, 0.25)
# Seconds after which the page asks for the filters, unless another key comes.
FILTERS = 0.15
QUERIES = [
    "linux install", "memory allocation failure", "\"garbage collector\"", "interrupt handler", "type:message patch",
    "from:linus", "regular expression groups", "ext:html iterator", "string concatenation", "device driver model",
    "scheduler load balance", "unicode normalization", "buffer overflow", "thread local storage", "size:>100k socket",
    "file descriptor", "module exports", "annual report 2002", "exmh", "java.util.concurrent",
]
TYPE = """
    const [text, pauses, done] = [arguments[0], arguments[1], arguments[arguments.length - 1]];
    const field = document.querySelector('#q'), found = document.querySelector('#found');
    const times = [];
    const sleep = ms => new Promise(resolve => setTimeout(resolve, ms));
    const painted = () => new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
    const changed = () => new Promise(resolve => {
        // Not the filters, which follow.
        const watch = new MutationObserver(() => { watch.disconnect(); resolve(); });
        watch.observe(found, { childList: true });
    });
    (async () => {
        for (let n = 1; n <= text.length; n++) {
            field.value = text.slice(0, n);
            const change = changed(), start = performance.now();
            field.dispatchEvent(new InputEvent('input', { bubbles: true }));
            await change;
            await painted();
            times.push(performance.now() - start);
            await sleep(pauses[n - 1]);
        }
        const start = performance.now();
        while (document.querySelector('#facets[inert], #facets[aria-busy]')) await sleep(1);
        done({ times, filters: performance.now() - start });
    })();
"""
FIRST = """
    const entries = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];
    const paint = performance.getEntriesByName('first-contentful-paint')[0];
    return { bytes: entries.reduce((sum, entry) => sum + entry.transferSize, 0), paint: paint ? paint.startTime : null };
"""


def run(bench):
    roots = [bench.corpora.library(bench.quick).path]
    ken = Ken(bench.index_home("page", "ken"), bench.program)
    result = Result("page", __doc__.split("\n\n", 1)[1].strip())
    with Served(bench, ken, roots) as served:
        measure(bench, served, result)
    return result


def measure(bench, served, result):
    address = served.run("web", "--print").decode().strip()
    page = Page(address)
    before = served.memory()
    typed, filters, first = browser(page, QUERIES[:3] if bench.quick else QUERIES)
    rest = users(page, SECONDS)
    full = subprocess.Popen([*served.command, "index", "--full", "--quiet"])
    beside = users(page, SECONDS)
    full.terminate()
    full.wait()
    rows = [
        ["key to painted results, in Chromium", *line(typed), str(len(typed))],
        ["painted results to filters, after a query's last key", *line(filters), str(len(filters))],
        [f"{USERS} users type, at rest: to the last byte", *line(rest), str(len(rest))],
        [f"{USERS} users type, beside ken index --full", *line(beside), str(len(beside))],
    ]
    documents = served.status()["documents"]
    result.tables.append((f"{documents:,} documents", ["", "p50 ms", "p95 ms", "slowest ms", "keys"], rows))
    memory = served.memory()
    result.tables.append(("", ["first load", "first paint", "server before", "server after"], [[
        f"{first['bytes'] / 1000:.1f} kB", f"{first['paint']:.0f} ms", f"{before >> 10} MiB", f"{memory >> 10} MiB",
    ]]))
    p95 = stats.percentile(typed, 0.95)
    result.goals += [
        Goal("painted within 50 ms of the key at p95", f"{p95:.1f} ms", p95 <= 50),
        Goal("the first load is under 150 kB", f"{first['bytes'] / 1000:.1f} kB", first["bytes"] < 150_000),
        Goal("the first paint comes within 100 ms", f"{first['paint']:.0f} ms", first["paint"] < 100),
    ]
    result.raw.update(typed=typed, filters=filters, rest=rest, beside=beside, first=first)
    result.raw.update(memory=[before, memory], documents=documents)


def line(times):
    return [f"{stats.percentile(times, share):.1f}" for share in (0.5, 0.95, 1)]


class Page:
    """Where the page is, and what lets a browser in."""

    def __init__(self, address):
        self.address = address
        page, self.token = address.split("#t=")
        parts = urllib.parse.urlsplit(page)
        self.host, self.folder = parts.netloc, parts.path


def browser(page, queries):
    """Types queries; returns the milliseconds of each key, those from each last result to its filters, and what a
    first load takes."""
    driver = Driver()
    window = Browser(driver, (1280, 900))
    try:
        window.open(page.address)
        window.until("the page is there", lambda: window.all("#found"))
        loads = [load(window, page) for _ in range(LOADS)]
        first = {what: stats.percentile([one[what] for one in loads], 0.5) for what in loads[0]}
        times, filters, dice = [], [], random.Random(0)
        for query in queries:
            window.run("document.querySelector('#q').value = ''")
            pauses = [1000 * dice.uniform(*PAUSE) for _ in query[1:]] + [0]
            typed = window.run_async(TYPE, query, pauses)
            times += typed["times"]
            filters.append(typed["filters"])
        return times, filters, first
    finally:
        window.close()
        driver.close()


def load(window, page):
    """Loads the page with an empty cache; returns the bytes of it, and the milliseconds until something is painted."""
    window.open("about:blank")
    window.cdp("Network.clearBrowserCache")
    window.open(page.address.split("#")[0])
    window.until("it is painted", lambda: window.run(FIRST)["paint"])
    return window.run(FIRST)


def users(page, seconds):
    """Has users type at once; returns the milliseconds until each answer is there."""
    times, end = [], time.monotonic() + seconds

    def user(number):
        dice = random.Random(number)
        connection = HTTPConnection(page.host)

        def ask(query, fragment):
            parameters = urllib.parse.urlencode({"q": query, "fragment": fragment})
            start = time.monotonic()
            connection.request("GET", f"{page.folder}?{parameters}", headers={"Cookie": f"ken={page.token}"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status in (200, 400), answer.status
            return 1000 * (time.monotonic() - start)

        while time.monotonic() < end:
            query = dice.choice(QUERIES)
            for length in range(1, len(query) + 1):
                times.append(ask(query[:length], "results"))
                pause = dice.uniform(*PAUSE)
                time.sleep(min(pause, FILTERS))
                if pause > FILTERS:
                    spent = ask(query[:length], "facets")
                    time.sleep(max(pause - FILTERS - spent / 1000, 0))

    threads = [threading.Thread(target=user, args=[number]) for number in range(USERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times

"""A browser, driven by WebDriver (W3C, https://www.w3.org/TR/webdriver2/) with Python's standard library."""

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import zlib

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "ArrowDown": "\ue015", "ArrowUp": "\ue013", "Backspace": "\ue003"}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Driver:
    """chromedriver: it starts browsers."""

    def __init__(self):
        self.port = free_port()
        self.process = subprocess.Popen(
            ["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for _ in range(200):
            try:
                if self.ask("GET", "/status")["ready"]:
                    return
            except (urllib.error.URLError, ConnectionError):
                pass
            time.sleep(0.05)
        raise RuntimeError("chromedriver does not start")

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, method=method)
        request.add_header("content-type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"]) from None

    def close(self):
        self.process.terminate()
        self.process.wait()


class Pixels:
    """The pixels of a PNG as browsers write it: 8 bits a sample, not interlaced (W3C, https://www.w3.org/TR/png-3/)."""

    def __init__(self, png):
        self.width, self.height = int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")
        self.n_samples = {2: 3, 6: 4}[png[25]]
        packed, at = b"", 8
        while at < len(png):
            length = int.from_bytes(png[at : at + 4], "big")
            if png[at + 4 : at + 8] == b"IDAT":
                packed += png[at + 8 : at + 8 + length]
            at += 12 + length
        self.rows = self.unfiltered(zlib.decompress(packed))

    def unfiltered(self, data):
        length, step = self.width * self.n_samples, self.n_samples
        above, rows = bytes(length), []
        for start in range(0, self.height * (length + 1), length + 1):
            kind, row = data[start], bytearray(data[start + 1 : start + 1 + length])
            for at in range(length):
                left, up = row[at - step] if at >= step else 0, above[at]
                corner = above[at - step] if at >= step else 0
                near = min((left, up, corner), key=lambda one: abs(left + up - corner - one))
                row[at] = (row[at] + (0, left, up, (left + up) // 2, near)[kind]) & 255
            rows.append(row)
            above = row
        return rows

    def at(self, x, y):
        return tuple(self.rows[y][x * self.n_samples :][:3])

    def all(self):
        """Returns each place and its red, green and blue."""
        return [((x, y), self.at(x, y)) for y in range(self.height) for x in range(self.width)]


class Browser:
    """A window with a profile of its own."""

    def __init__(self, driver, size=(1280, 900), scripts=True, dark=False, arguments=()):
        self.driver = driver
        self.profile = tempfile.mkdtemp(prefix="ken-browser-")
        options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--hide-scrollbars",
            "--lang=en",
            f"--user-data-dir={self.profile}",
            f"--window-size={size[0]},{size[1]}",
            *arguments,
        ]
        preferences = {} if scripts else {"profile.managed_default_content_settings.javascript": 2}
        capabilities = {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": options, "prefs": preferences},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        session = driver.ask("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        self.path = f"/session/{session['sessionId']}"
        self.resize(*size)
        self.theme(dark)

    def ask(self, method, path, body=None):
        return self.driver.ask(method, self.path + path, body)

    def cdp(self, command, **parameters):
        return self.ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def resize(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def theme(self, dark, reduced=False):
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if reduced else "no-preference"},
        ]
        self.cdp("Emulation.setEmulatedMedia", features=features)

    def open(self, address):
        self.ask("POST", "/url", {"url": address})

    @property
    def address(self):
        return self.ask("GET", "/url")

    def back(self):
        self.ask("POST", "/back", {})

    def find(self, selector):
        return self.ask("POST", "/element", {"using": "css selector", "value": selector})[ELEMENT]

    def all(self, selector):
        found = self.ask("POST", "/elements", {"using": "css selector", "value": selector})
        return [one[ELEMENT] for one in found]

    def text(self, selector):
        return self.ask("GET", f"/element/{self.find(selector)}/text")

    def texts(self, selector):
        return [self.ask("GET", f"/element/{one}/text") for one in self.all(selector)]

    def attribute(self, selector, name):
        return self.ask("GET", f"/element/{self.find(selector)}/attribute/{name}")

    def click(self, selector):
        self.ask("POST", f"/element/{self.find(selector)}/click", {})

    def type(self, selector, text):
        self.ask("POST", f"/element/{self.find(selector)}/value", {"text": text})

    def keys(self, *keys):
        """Presses keys one after the other, whatever has the focus."""
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.ask("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def run(self, script, *arguments):
        return self.ask("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_async(self, script, *arguments):
        return self.ask("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def until(self, what, is_so, seconds=10):
        end = time.monotonic() + seconds
        while True:
            try:
                if value := is_so():
                    return value
            except RuntimeError as error:
                if time.monotonic() > end:
                    raise AssertionError(f"{what}: {error}") from None
            if time.monotonic() > end:
                raise AssertionError(f"not in {seconds} s: {what}")
            time.sleep(0.02)

    def log(self, kind="browser"):
        return self.ask("POST", "/se/log", {"type": kind})

    def pixels(self, selector, part=(0, 0, 1, 1), scale=1):
        """Returns what is painted where an element is, or in a part of it: left, top, width and height as fractions."""
        where = self.run(
            "const at = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [at.x + scrollX, at.y + scrollY, at.width, at.height];",
            selector,
        )
        left, top, width, height = where
        clip = {
            "x": left + part[0] * width,
            "y": top + part[1] * height,
            "width": part[2] * width,
            "height": part[3] * height,
            "scale": scale,
        }
        return Pixels(base64.b64decode(self.cdp("Page.captureScreenshot", clip=clip)["data"]))

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("GET", "/screenshot")))

    def close(self):
        self.ask("DELETE", "")
        shutil.rmtree(self.profile, ignore_errors=True)

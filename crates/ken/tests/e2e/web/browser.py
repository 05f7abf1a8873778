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

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("GET", "/screenshot")))

    def close(self):
        self.ask("DELETE", "")
        shutil.rmtree(self.profile, ignore_errors=True)

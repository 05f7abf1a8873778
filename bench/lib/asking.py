"""A server of ken and questions to it over a socket, as programs ask."""

import http.client
import json
import os
import socket
import subprocess
import time
import urllib.parse

from lib import stats
from lib.process import Failed

PATIENCE = 600


class Asked:
    """`ken serve` for the index of a peer, and a connection that stays open."""

    def __init__(self, ken, log):
        self.command = ken._ken()
        self.path = os.path.join(ken.home, "ken.sock")
        self.log = log

    def __enter__(self):
        # Without a folder of the session the socket is in the data folder.
        env = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
        with open(self.log, "a") as log:
            self.process = subprocess.Popen([*self.command, "serve", "--fast"], env=env, stderr=log, stdin=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while not self._is_complete():
            if time.monotonic() > end or self.process.poll() is not None:
                raise Failed(f"ken serve is not ready; see {self.log}")
            time.sleep(0.2)
        self.connection = Connection(self.path)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def _is_complete(self):
        env = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
        status = subprocess.run([*self.command, "status", "--json"], env=env, capture_output=True).stdout
        try:
            return json.loads(status).get("complete_seconds_ago") is not None
        except ValueError:
            return False

    def ask(self, query, order, person=None):
        """Asks at the private socket."""
        return self.connection.ask(query, order, person)

    @staticmethod
    def at(path):
        """A connection to another socket of the server."""
        return Connection(path)


class Connection(http.client.HTTPConnection):
    """HTTP over a socket in the file system."""

    def __init__(self, path):
        super().__init__("ken")
        self.socket_path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.socket_path)

    def ask(self, query, order, person=None):
        """Seconds until the last byte of the ten best documents with passages, and the answer.

        `person` is whom a proxy names at a shared socket.
        """
        parameters = [("q", query), ("limit", "10")]
        parameters += {"date": [("sort", "date")], "facets": [("facet", "type"), ("facet", "ext")]}.get(order, [])
        began = time.monotonic()
        self.request("GET", "/api/v1/search?" + urllib.parse.urlencode(parameters),
                     headers={"X-Person": person} if person else {})
        reply = self.getresponse()
        body = reply.read()
        wall = time.monotonic() - began
        if reply.status != 200:
            raise Failed(f"{query}: {reply.status} {body[:300]}")
        return wall, json.loads(body)


def figures(walls):
    """Median and p99 in milliseconds, as text."""
    return [f"{1000 * figure:.1f}" for figure in (stats.median(walls), stats.percentile(walls, 0.99))]

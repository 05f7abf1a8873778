"""Nodes of OpenSearch, run by scripts/cluster, and an index of ken in them."""

import json
import os
import subprocess
import time
import urllib.error
import urllib.request

from lib.process import Command, Failed
from peers.ken import Ken

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "cluster")


class Nodes:
    """Some nodes on this machine; `namespaces` gives each a network of its own."""

    def __init__(self, count, namespaces=False, settings="", log=os.devnull):
        self.count = count
        self.env = {**os.environ, "KEN_NODE": settings, "KEN_NETWORK": "namespaces" if namespaces else ""}
        self.log = log

    def __enter__(self):
        self.do("wipe")
        self.do("up", str(self.count))
        output = subprocess.run([SCRIPT, "nodes"], env=self.env, check=True, capture_output=True, text=True)
        self.addresses = output.stdout.split()
        return self

    def __exit__(self, *_):
        self.do("wipe")

    def do(self, *words):
        """Runs scripts/cluster."""
        with open(self.log, "a") as log:
            subprocess.run([SCRIPT, *words], env=self.env, check=True, stdout=log, stderr=log)

    def call(self, path, body=None, method=None):
        """Asks the first node."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.addresses[0] + path, data, {"content-type": "application/json"},
                                         method=method or ("POST" if data else "GET"))
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)

    def settings(self, index, **values):
        """Sets settings of an index, or those of the cluster if it is none."""
        if index:
            self.call(f"/{index}/_settings", values, "PUT")
        else:
            self.call("/_cluster/settings", {"transient": values}, "PUT")

    def root(self, name):
        """The root document of an index of ken."""
        return json.loads(self.call(f"/{name}-root/_doc/root")["_source"]["root"])

    def delete(self, name):
        """Deletes an index of ken."""
        for alias in ("documents", "words", "root"):
            for index in self.call(f"/_alias/{name}-{alias}"):
                self.call(f"/{index}", method="DELETE")

    def settle(self, name):
        """Waits until the nodes have merged what they are merging."""
        while self.call(f"/{name}-documents/_stats/merge")["_all"]["primaries"]["merges"]["current"]:
            time.sleep(1)

    def rejected(self):
        """How many writes did not fit into the queue of their node."""
        nodes = self.call("/_nodes/stats/thread_pool")["nodes"].values()
        return sum(node["thread_pool"]["write"]["rejected"] for node in nodes)

    def wait_until_whole(self, seconds=400):
        """Waits until every node is there and no shard is missing."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                health = self.call("/_cluster/health")
                if health["number_of_nodes"] == self.count and health["unassigned_shards"] == 0:
                    return
            except (OSError, urllib.error.URLError):
                pass
            time.sleep(0.5)
        raise Failed(f"the cluster is not whole after {seconds} s")


class KenInCluster(Ken):
    """ken with an index in a cluster. `home` is the data folder of one machine."""

    name = "ken in a cluster"

    def __init__(self, home, program, nodes, index, shards=1, replicas=1):
        super().__init__(home, program)
        self.nodes, self.index_name = nodes, index
        self.lines = [
            "[engine]", 'kind = "opensearch"', f"nodes = {json.dumps(nodes.addresses)}", f'name = "{index}"',
            f"shards = {shards}", f"replicas = {replicas}", "insecure = true",
        ]

    def prepare(self, roots):
        super().prepare(roots)
        os.makedirs(self.home, exist_ok=True)
        with open(f"{self.home}.toml", "w") as file:
            file.writelines(line + "\n" for line in self.lines)

    def documents_index(self):
        """The index of OpenSearch with the documents: another one after it got more shards."""
        return self.nodes.root(self.index_name).get("documents") or f"{self.index_name}-documents"

    def index_bytes(self):
        stats = self.nodes.call(f"/{self.documents_index()},{self.index_name}-words/_stats/store")
        return stats["_all"]["primaries"]["store"]["size_in_bytes"]

    def paths(self):
        """The path of every document in the cluster, as often as it is there."""
        found, after = [], None
        index = self.documents_index()
        while True:
            body = {"size": 5000, "sort": [{"loc": "asc"}, {"id": "asc"}], "stored_fields": "_none_",
                    "docvalue_fields": ["loc"], "track_total_hits": False}
            if after:
                body["search_after"] = after
            hits = self.nodes.call(f"/{index}/_search", body)["hits"]["hits"]
            found += [bytes.fromhex(hit["fields"]["loc"][0]).decode() for hit in hits]
            if len(hits) < 5000:
                return found
            after = hits[-1]["sort"]

    def _ken(self):
        return [self.program, "--config", f"{self.home}.toml", "--data", self.home]


def start(command, log):
    """Starts a command and does not wait for it."""
    assert isinstance(command, Command)
    with open(log, "a") as output:
        return subprocess.Popen(command.argv, stdout=output, stderr=output, stdin=subprocess.DEVNULL)


def finish(command, log):
    """Runs a command to its end; returns its seconds. `process.run` would wait for the nodes, which it adopts."""
    began = time.monotonic()
    code = start(command, log).wait()
    if code not in command.ok:
        raise Failed(f"{command.argv} ended with {code}; see {log}")
    return time.monotonic() - began

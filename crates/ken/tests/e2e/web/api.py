"""Tries the API by its description only: with requests that schemathesis makes up, and with a generated client.

    api.py VENV ADDRESS FOLDER      the programs are in VENV, ken answers at the address of `ken web --print`, and what
                                    is generated goes to FOLDER
"""

import subprocess
import sys
import urllib.parse
import urllib.request

venv, address, folder = sys.argv[1:]
host = urllib.parse.urlsplit(address).netloc
token = address.split("#t=")[1]
server = f"http://{host}"
description = f"{server}/api/v1/openapi.json"
bearer = f"Authorization: Bearer {token}"

request = urllib.request.Request(description, headers={"Authorization": f"Bearer {token}"})
with urllib.request.urlopen(request) as answer, open(f"{folder}/openapi.json", "wb") as file:
    file.write(answer.read())

# The client of a stranger.
subprocess.run(
    [f"{venv}/bin/openapi-python-client", "generate", "--path", f"{folder}/openapi.json",
     "--output-path", f"{folder}/stranger", "--meta", "none"],
    check=True, capture_output=True,
)
program = f"""
import sys
sys.path.insert(0, {folder!r})
from stranger import AuthenticatedClient
from stranger.api.default import get_documents_text, get_search
from stranger.models import Found, Text
client = AuthenticatedClient(base_url={server!r}, token={token!r})
found = get_search.sync(client=client, q="quince", limit=3)
assert isinstance(found, Found) and found.total == 1, found
text = get_documents_text.sync(found.hits[0].id, client=client, lines="2-2")
assert isinstance(text, Text) and text.text == "two melons\\n", text
"""
subprocess.run([f"{venv}/bin/python", "-c", program], check=True)

# Queries, ranges and paths have rules that no schema can say, so a valid request may be refused. Events do not end, and a
# run adds and forgets roots; 504 is what a short wait gets. The guard of the
# port refuses methods that no path takes before it looks at the path.
tried = subprocess.run(
    [f"{venv}/bin/schemathesis", "run", f"{folder}/openapi.json", "--url", server, "-H", bearer,
     "--exclude-path", "/api/v1/events", "--exclude-path", "/api/v1/index", "--exclude-path", "/api/v1/fresh",
     "--exclude-checks", "positive_data_acceptance,unsupported_method",
     "--phases", "coverage,fuzzing", "--max-examples", "10", "--seed", "1", "--no-color"],
    capture_output=True, text=True, cwd=folder,
)
if tried.returncode != 0:
    sys.exit(tried.stdout[-8000:] + tried.stderr[-2000:])

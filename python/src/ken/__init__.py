"""Search documents, mail and source code on this machine with ken.

The functions of this module ask about the usual index; a :class:`Client` asks about another one.

>>> import ken
>>> for hit in ken.search("budget report", limit=3):  # doctest: +SKIP
...     print(hit.title, hit.path)
"""

from .client import Client
from .errors import Error, NotFound, Unavailable
from .records import Contact, Line, Message, Run, Status, Term, Thread
from .results import (
    Document,
    Explanation,
    Facet,
    FacetValue,
    Failure,
    Hit,
    Place,
    Results,
    Snippet,
    Suggestion,
)

__version__ = "0.1.0"

_client = Client()
search = _client.search
hits = _client.hits
count = _client.count
facets = _client.facets
places = _client.places
get = _client.get
extract = _client.extract
grep = _client.grep
terms = _client.terms
threads = _client.threads
contacts = _client.contacts
status = _client.status
index = _client.index
save = _client.save

__all__ = [
    "Client",
    "Contact",
    "Document",
    "Error",
    "Explanation",
    "Facet",
    "FacetValue",
    "Failure",
    "Hit",
    "Line",
    "Message",
    "NotFound",
    "Place",
    "Results",
    "Run",
    "Snippet",
    "Status",
    "Suggestion",
    "Term",
    "Thread",
    "Unavailable",
    "contacts",
    "count",
    "extract",
    "facets",
    "get",
    "grep",
    "hits",
    "index",
    "places",
    "save",
    "search",
    "status",
    "terms",
    "threads",
]

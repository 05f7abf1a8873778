"""Asks a module ``recoll`` everything, and prints what it answers: Recoll's own module and ken's run it alike.

The keys of the answer say what was asked. Values that can only differ are left out: relevance, addresses in memory,
names of temporary files.
"""

import json
import os
import sys

from recoll import rclconfig, rclextract, recoll


def shown(value):
    """Return a value as JSON, with its type where JSON has none."""
    if isinstance(value, (bytes, bytearray)):
        return {"bytes": os.fsdecode(bytes(value))}
    if isinstance(value, tuple):
        return {"tuple": [shown(one) for one in value]}
    if isinstance(value, list):
        return [shown(one) for one in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    return {"type": type(value).__name__}


def tried(do):
    """Return what a call returns or raises."""
    try:
        return shown(do())
    except BaseException as error:
        return {"raises": type(error).__name__}


class Methods:
    def startMatch(self, number):
        return "<b %d>" % number

    def endMatch(self):
        return "</b>"


def found(query, *names):
    """Return fields of all results, in one order."""
    # Recoll gives attachments the subject and the author of their message.
    docs = [[getattr(doc, name) for name in names] for doc in query if not doc.ipath]
    return sorted(docs, key=repr)


answers = {}


def names():
    answers["names"] = sorted(name for name in dir(recoll) if not name.startswith("_"))
    for kind in ("Db", "Query", "Doc", "SearchData", "Extractor", "QResultStore", "QRSDoc"):
        of = getattr(recoll, kind)
        answers["members of " + kind] = sorted(name for name in dir(of) if not name.startswith("_"))
        answers["documented " + kind] = bool(of.__doc__)
    answers["extractor"] = rclextract.Extractor is recoll.Extractor


def queries(db):
    query = db.query()
    answers["new query"] = shown([query.rowcount, query.rownumber, query.arraysize, query.connection is db])
    answers["new fetchone"] = tried(query.fetchone)
    answers["new fetchmany"] = tried(lambda: query.fetchmany(2))
    answers["new getxquery"] = tried(query.getxquery)
    answers["new getgroups"] = tried(query.getgroups)
    answers["new highlight"] = tried(lambda: query.highlight("x"))
    answers["new rowcount"] = tried(lambda: setattr(query, "rowcount", 3))
    answers["sortby"] = tried(lambda: query.sortby("filename", ascending=True))
    answers["sortby without field"] = tried(lambda: query.sortby())
    answers["execute"] = tried(lambda: query.execute("reindeer", stemming=1, stemlang="english"))
    answers["after execute"] = [query.rowcount, query.rownumber]
    answers["iteration"] = [doc.filename for doc in query]
    answers["after iteration"] = [query.rownumber, query.rowcount]
    answers["fetchone at end"] = tried(query.fetchone)
    answers["next at end"] = tried(query.next)
    answers["fetchmany at end"] = tried(lambda: query.fetchmany(3))
    answers["scroll"] = [tried(lambda: query.scroll(0, "absolute")), tried(lambda: query.scroll(1)), query.rownumber]
    answers["fetchmany"] = [len(query.fetchmany()), query.rownumber]
    answers["scroll by name"] = tried(lambda: query.scroll(position=-1, mode="RELATIVE"))
    answers["scroll behind"] = tried(lambda: query.scroll(99, "absolute"))
    answers["scroll before"] = tried(lambda: query.scroll(-9))
    answers["scroll badly"] = tried(lambda: query.scroll(0, "badmode"))
    query.arraysize = 2
    query.scroll(0, "absolute")
    answers["arraysize"] = len(query.fetchmany())
    query.rownumber = 1
    answers["rownumber seeks"] = [query.fetchone().filename, query.rownumber]
    answers["fetchmany by name"] = len(query.fetchmany(size=5))
    answers["nothing found"] = [tried(lambda: query.execute("zzzunknown")), query.rowcount, tried(query.fetchone)]
    answers["mistake"] = tried(lambda: query.execute("(reindeer"))
    answers["without query"] = tried(lambda: query.execute())
    answers["unknown member"] = tried(lambda: query.nosuch)
    answers["query of nothing"] = tried(lambda: recoll.Query().execute("x"))
    query.sortby("fbytes", ascending=False)
    query.execute("mime:text/plain")
    answers["by size"] = [doc.fbytes for doc in query if doc.ipath == ""]
    query.sortby("fbytes", ascending=True)
    query.execute("mime:text/plain")
    answers["by size upwards"] = [doc.fbytes for doc in query if doc.ipath == ""]
    query.sortby("url", True)
    query.execute("mime:text/*")
    answers["by url"] = [doc.url for doc in query if doc.ipath == ""]
    for text in (
        "budget",
        "Budget",
        "zebras",
        "zebra",
        '"annual budget"',
        '"budget annual"p',
        "annual OR walrus",
        "reindeer -zebras",
        "title:noel",
        "author:smith",
        "filename:*.html",
        "ext:txt",
        "dir:deep",
        "mime:text/html",
        "keyword:snow",
        "recipient:bob",
        "date:2026-01-05/2026-01-06 mime:message/rfc822",
        "size<60",
        "ann*",
        "animals reindeer",
        "abstract:animals",
    ):
        query.execute(text)
        answers["finds " + text] = found(query, "filename")
    query.execute("zebras", stemming=0)
    answers["finds zebras unstemmed"] = found(query, "filename")
    query.execute('"annual budget report"', collapseduplicates=1)
    answers["collapsed"] = len(list(query))
    query.close()
    answers["closed"] = [tried(query.fetchmany), tried(lambda: query.execute("x")), tried(lambda: query.connection)]


FIELDS = (
    "url",
    "ipath",
    "mtype",
    "mimetype",
    "title",
    "caption",
    "author",
    "recipient",
    "keywords",
    "abstract",
    "filename",
    "fbytes",
    "pcbytes",
    "fmtime",
    "dmtime",
    "mtime",
    "sig",
    "rcludi",
    "nosuch",
    "text",
)


def documents(db):
    query = db.query()
    for name in ("budget.txt", "page.html", "m1.eml"):
        query.execute("filename:" + name)
        doc = next(doc for doc in query if doc.filename == name)
        answers["type " + name] = {field: type(getattr(doc, field)).__name__ for field in FIELDS}
        for field in FIELDS:
            value = getattr(doc, field)
            answers[field + " of " + name] = value.strip() if isinstance(value, str) else value
        answers["same " + name] = [
            doc.get("url") == doc.url,
            doc["title"] == doc.title,
            doc.get("nosuch"),
            doc["nosuch"],
        ]
        answers["keys " + name] = sorted(doc.keys())
        answers["items " + name] = doc.items() == {key: doc.get(key) for key in doc.keys()}
        answers["length " + name] = len(doc) == len(doc.keys())
        answers["binary " + name] = shown(doc.getbinurl())
        answers["number " + name] = doc.xdocid.isdigit()
        answers["rating " + name] = (doc.relevancyrating or "100%").endswith("%")
        answers["size " + name] = doc.size == (doc.dbytes or doc.fbytes)
    query.execute("filename:budget.txt", fetchtext=True)
    answers["fetched"] = [doc.text.strip() for doc in query if doc.filename == "budget.txt"]
    doc = recoll.Doc()
    answers["new doc"] = shown(
        [doc.keys(), doc.url, doc.ipath, doc.mtime, doc.text, doc.nosuch, doc.getbinurl(), len(doc)]
    )
    doc.title = "x"
    doc["foo"] = "bar"
    doc.mimetype = b"text/plain"
    doc.subject = "y"
    answers["set"] = [doc.title, doc.foo, doc["foo"], doc.mtype, sorted(doc.keys()), len(doc)]
    answers["set badly"] = tried(lambda: setattr(doc, "title", 3))
    doc.setbinurl(bytearray(b"file:///x\xff"))
    answers["setbinurl"] = shown(doc.getbinurl())
    answers["setbinurl badly"] = tried(lambda: doc.setbinurl("file:///x"))
    answers["doc of db"] = type(db.doc()).__name__
    answers["iterate doc"] = tried(lambda: list(doc))


def texts(db):
    query = db.query()
    query.execute("budget reindeer")
    answers["highlight"] = query.highlight('the budgets & <x>\nline budget, "Budget"', methods=Methods())
    answers["highlight default"] = query.highlight("a budget")
    answers["highlight html"] = query.highlight(
        '<p class="budget">the budget &amp; <b>reindeer</b></p>\n', ishtml=1, methods=Methods()
    )
    answers["highlight without br"] = query.highlight("a budget\nb", eolbr=0)
    answers["groups"] = shown(query.getgroups())
    query.execute('"annual budget" OR reindeer')
    answers["groups of phrase"] = shown(query.getgroups())
    answers["highlight phrase"] = query.highlight("annual budget of reindeer, budget", methods=Methods())
    answers["xquery"] = query.getxquery().startswith("Query(")
    db.setAbstractParams(maxchars=200, contextwords=3)
    query.execute("berlin")
    doc = query.fetchone()
    answers["abstract"] = query.makedocabstract(doc, methods=Methods()).strip()
    answers["abstract default"] = query.makedocabstract(doc).strip()
    answers["abstract plain"] = query.makedocabstract(doc, nohl=True).strip()
    answers["abstract of db"] = db.makeDocAbstract(doc, query).strip()
    answers["abstract badly"] = tried(lambda: query.makedocabstract("x"))
    answers["snippets"] = shown(
        query.getsnippets(doc, methods=Methods(), maxoccs=-1, ctxwords=3, sortbypage=False, nohl=False)
    )
    answers["snippets plain"] = shown(query.getsnippets(doc, nohl=True, ctxwords=3))
    answers["snippets badly"] = tried(lambda: query.getsnippets(3))
    query.execute("title:noel")
    doc = query.fetchone()
    answers["abstract without matches"] = query.makedocabstract(doc)
    answers["snippets without matches"] = query.getsnippets(doc)


def terms(db):
    answers["terms"] = db.termMatch("wildcard", "reind*")
    answers["terms exact"] = db.termMatch("wildcard", "reindeer")
    answers["terms with counts"] = [type(one).__name__ for one in db.termMatch("wildcard", "reind*", freqs=True)[0]]
    answers["terms of documents"] = db.termMatch("wildcard", "reindeer", freqs=True)[0][2]
    answers["terms of field"] = [term for term in db.termMatch("wildcard", "ann*", field="author") if "@" not in term]
    answers["terms at most"] = len(db.termMatch("wildcard", "b*", maxlen=2))
    answers["terms of stem"] = sorted(db.termMatch("stem", "zebras", lang="english"))
    answers["terms badly"] = tried(lambda: db.termMatch("bad", "x"))


def clauses(db):
    query = db.query()

    def run(label, *clauses, **options):
        data = recoll.SearchData(**options)
        for positional, named in clauses:
            data.addclause(*positional, **named)
        answers["clause " + label] = [type(tried(lambda: query.executesd(data))).__name__, found(query, "filename")]

    run("and", (("and", "budget report"), {}))
    run("or", (("or", "walrus reindeer"), {}))
    run("phrase", (("phrase", "annual budget"), {}))
    run("phrase slack", (("phrase", "annual report"), {"slack": 1}))
    run("phrase no slack", (("phrase", "annual report"), {"slack": 0}))
    run("near", (("near", "report annual"), {"slack": 2}))
    run("filename", (("filename", "*.html"), {}))
    run("path", (("path", "deep"), {}))
    run("field", (("and", "smith"), {"field": "author"}))
    run("stemming", (("and", "zebras"), {}))
    run("no stemming", (("and", "zebras"), {"stemming": 0}))
    run("two", (("and", "reindeer"), {}), (("filename", "page.html"), {}))
    run("start", (("and", "the"), {"anchorstart": 1}), (("and", "annual"), {}))
    inner = recoll.SearchData()
    inner.addclause("or", "walrus zebras")
    run("sub", (("and", "reindeer"), {}), (("sub", ""), {"subsearch": inner}))
    answers["clause badly"] = tried(lambda: recoll.SearchData().addclause("bad", "x"))
    answers["clause alone"] = tried(lambda: recoll.SearchData().addclause("and"))
    answers["executesd badly"] = tried(lambda: query.executesd("x"))


def extracts(db):
    query = db.query()
    query.execute("filename:budget.txt")
    doc = next(doc for doc in query if doc.filename == "budget.txt")
    text = rclextract.Extractor(doc).textextract(doc.ipath)
    answers["extracted"] = [text.mimetype, text.mtype, text.text.strip(), text.ipath]
    path = rclextract.Extractor(doc).idoctofile(doc.ipath, doc.mimetype)
    answers["to file"] = [type(path).__name__, open(path, "rb").read().decode(), os.path.splitext(os.fsdecode(path))[1]]
    os.unlink(path)
    path = rclextract.Extractor(doc).idoctofile(ipath="", mimetype=doc.mimetype, ofilename=os.path.abspath("out"))
    answers["to named file"] = shown([os.path.basename(path), open(path).read()])
    query.execute("filename:notes.txt")
    doc = query.fetchone()
    text = rclextract.Extractor(doc).textextract(ipath=doc.ipath)
    answers["extracted attachment"] = [text.mimetype, text.text.strip(), text.filename]
    path = rclextract.Extractor(doc).idoctofile(doc.ipath, doc.mimetype)
    answers["attachment to file"] = open(path).read().strip()
    os.unlink(path)
    answers["extractor badly"] = tried(lambda: rclextract.Extractor(3))
    answers["extract unknown"] = tried(lambda: rclextract.Extractor(doc).textextract("99"))


def stores(db):
    query = db.query()
    query.sortby("filename", True)
    query.execute("reindeer")
    store = recoll.QResultStore()
    store.storeQuery(query, fieldspec=["filename", "url"], isinc=True)
    answers["store"] = [len(store), [store[number]["filename"] for number in range(len(store))], store[0]["author"]]
    answers["store field"] = shown(store.getField(0, "filename"))
    answers["store unknown"] = shown(store.getField(0, "nosuch"))
    answers["store badly"] = tried(lambda: store.storeQuery("x"))


def settings():
    config = rclconfig.RclConfig()
    answers["topdirs"] = config.getConfParam("topdirs")
    answers["languages"] = config.getConfParam("indexstemminglanguages")
    answers["no setting"] = config.getConfParam("nosuch")
    answers["folders"] = [
        os.path.isabs(config.getConfDir()),
        os.path.isdir(config.getDbDir()),
        type(config.getDataDir()).__name__,
    ]
    answers["key"] = config.setKeyDir("/tmp")
    answers["mime types"] = [config.mimeType(path) for path in ("/x/a.pdf", "/x/a.html", "/x/a.txt", "/tmp")]
    answers["extra"] = rclconfig.RclExtraDbs(config).getActDbs()


def connections():
    answers["connect nowhere"] = tried(lambda: recoll.connect(confdir="/nonexistent"))
    answers["connect extra"] = tried(lambda: recoll.connect(extra_dbs=["/nonexistent"]))
    answers["connect badly"] = tried(lambda: recoll.connect(extra_dbs=3))
    answers["connect odd"] = tried(lambda: recoll.connect(extra_dbs=[3]))
    db = recoll.connect(confdir="", extra_dbs=[])
    answers["cursor"] = type(db.cursor()).__name__
    db.close()
    answers["closed db"] = [
        tried(db.query),
        tried(db.doc),
        tried(lambda: db.termMatch("wildcard", "x")),
        tried(db.setAbstractParams),
    ]


names()
db = recoll.connect()
queries(db)
documents(db)
texts(recoll.connect())
terms(db)
clauses(db)
extracts(db)
stores(db)
settings()
connections()
json.dump(answers, sys.stdout)

//! Programs made for these tests, run like a user's own.

use std::os::unix::fs::PermissionsExt;

use ken_core::{Document, Field, Reason};

use super::*;
use crate::Member;

/// A folder of filters with their table.
struct Bench {
    folder: tempfile::TempDir,
    mimeconf: String,
    seconds: u64,
}

#[derive(Default)]
struct Found {
    documents: Vec<Document>,
    members: Vec<Member>,
}

impl Sink for Found {
    fn document(&mut self, document: Document) {
        self.documents.push(document);
    }
    fn member(&mut self, member: Member) {
        self.members.push(member);
    }
}

impl Bench {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            mimeconf: "[index]\n".to_owned(),
            seconds: 60,
        }
    }

    /// Adds a filter, a script, and the row of `mimeconf` that calls it for `.dvi` files.
    fn filter(mut self, row: &str, script: &str) -> Self {
        let name = conf::words(row).get(1).cloned().unwrap();
        let path = self.folder.path().join(name.trim_end_matches(';'));
        fs_err::write(&path, script).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        self.mimeconf
            .push_str(&format!("application/x-dvi = {row}\n"));
        self
    }

    fn helpers(&self) -> Helpers {
        let mimeconf = self.folder.path().join("mimeconf");
        fs_err::write(&mimeconf, &self.mimeconf).unwrap();
        let temporary = self.folder.path().join("tmp");
        let options = HelperOptions {
            mimeconf: vec![mimeconf],
            filters: vec![self.folder.path().to_path_buf()],
            path: ["/usr/bin", "/bin"].map(PathBuf::from).to_vec(),
            max_time: Duration::from_secs(self.seconds),
            temporary,
            ..HelperOptions::default()
        };
        Helpers::new(options).unwrap()
    }

    fn temporary_is_empty(&self) -> bool {
        let entries = |path: &Path| fs_err::read_dir(path).into_iter().flatten();
        let work_folders = entries(&self.folder.path().join("tmp"));
        let mut left = work_folders.flat_map(|all| entries(&all.unwrap().path()));
        left.next().is_none()
    }
}

fn extract(helpers: &Helpers, content: &[u8], limits: &Limits) -> Found {
    let mut found = Found::default();
    let mut input = Input::bytes_of("a b.dvi", content);
    let detected = detect::by_name("a.dvi");
    assert!(helpers.extract(&mut input, detected, limits, &mut found));
    assert_eq!(found.documents.len(), 1);
    found
}

fn own(helpers: &Helpers, content: &[u8]) -> Document {
    extract(helpers, content, &Limits::default())
        .documents
        .remove(0)
}

fn cause(document: &Document) -> &Cause {
    &document.failure.as_ref().unwrap().cause
}

fn missing(what: &str, helper: &str) -> Cause {
    let (what, helper) = (what.to_owned(), helper.to_owned());
    Cause::Missing { what, helper }
}

const PYTHON: &str = "#!/usr/bin/env python3
import os, sys
i, o = sys.stdin.buffer, sys.stdout.buffer
def ask():
    items = {}
    while True:
        line = i.readline()
        if not line: sys.exit(0)
        if line == b'\\n': return items
        name, size = line.split()
        items[name.decode().rstrip(':')] = i.read(int(size))
def say(**items):
    for name, data in items.items(): o.write(b'%s: %d\\n%s' % (name.encode(), len(data), data))
    o.write(b'\\n'); o.flush()
";

#[test]
fn exec_gets_the_file_and_prints_html() {
    let bench = Bench::new().filter(
        "exec show",
        "#!/bin/sh\necho '<title>Name</title><body>&lt;'; cat \"$1\"; basename \"$1\"\n\
         test -w \"$TMPDIR\" && test \"$RECOLL_FILTER_FORPREVIEW\" = no || exit 1\n",
    );
    let helpers = bench.helpers();
    let document = own(&helpers, b"content ");
    assert_eq!(document.failure, None);
    assert_eq!(document.text(Field::Title), Some("Name"));
    assert_eq!(document.body.trim(), "< content a_b.dvi");
    assert_eq!(document.media_type, "application/x-dvi");
    assert!(bench.temporary_is_empty());
}

#[test]
fn output_may_be_text_and_counts_even_if_the_program_fails() {
    let bench = Bench::new().filter(
        "exec show ; mimetype=text/plain; charset=iso-8859-1",
        "#!/bin/sh\nprintf 'caf\\351 <b>'; echo sorry >&2; exit 3\n",
    );
    let document = own(&bench.helpers(), b"x");
    assert_eq!(document.body, "café <b>");
    let crashed = Cause::Crashed {
        reader: Reader::Helper("show".into()),
        how: Crash::Exit(3),
        said: "sorry".into(),
    };
    assert_eq!(*cause(&document), crashed);
}

#[test]
fn execm_serves_many_files_with_one_process() {
    let script = format!(
        "{PYTHON}
while True:
    path = ask()['filename'].decode()
    text = open(path, 'rb').read()
    say(Document=b'<title>T</title>%d ' % os.getpid() + text, Author=b'Anna')
    ask()
    say(Document=b'one', Ipath=b'x/one.txt', Mimetype=b'text/plain', author=b'Bob',
        modificationdate=b'5')
    ask()
    say(Subdocerror=b'')
    ask()
    say(Document=b'two', Ipath=b'two|.html', Eofnext=b'')
"
    );
    let bench = Bench::new().filter("execm many.py", &script);
    let helpers = bench.helpers();
    let mut processes = BTreeSet::new();
    for content in ["first", "second"] {
        let found = extract(&helpers, content.as_bytes(), &Limits::default());
        let own = &found.documents[0];
        assert_eq!(own.text(Field::Author), Some("Anna"));
        let (process, text) = own.body.split_once(' ').unwrap();
        assert_eq!(text.trim(), content);
        processes.insert(process.to_owned());
        assert_eq!(
            cause(own).reason(),
            Reason::Malformed,
            "one document failed"
        );
        let members: Vec<_> = found.members.iter().collect();
        assert_eq!(members.len(), 2);
        assert_eq!(
            (members[0].name.as_str(), &*members[0].bytes),
            ("one.txt", &b"one"[..])
        );
        assert_eq!(members[0].ipath.as_str(), "x/one.txt");
        assert_eq!(members[0].modified, Some(5));
        assert_eq!(members[0].fields.len(), 1);
        assert_eq!(members[1].ipath.as_str(), "two\\|.html");
    }
    assert_eq!(processes.len(), 1, "{processes:?}");
    drop(helpers);
    assert!(bench.temporary_is_empty());
}

#[test]
fn a_program_that_died_is_replaced() {
    let script = format!("{PYTHON}\nask()\nsay(Document=b'%d' % os.getpid(), Eofnext=b'')\n");
    let helpers = Bench::new().filter("execm once.py", &script);
    let helpers = helpers.helpers();
    let first = own(&helpers, b"x");
    let second = own(&helpers, b"x");
    assert_eq!((&first.failure, &second.failure), (&None, &None));
    assert_ne!(first.body, second.body);
}

#[test]
fn who_breaks_the_protocol_fails_one_file() {
    for (script, expected, words) in [
        ("ask()\nprint('Traceback')\n", Reason::Crashed, "Traceback"),
        ("sys.exit(4)\n", Reason::Crashed, "Ended"),
        ("ask()\nsay(Fileerror=b'')\n", Reason::Malformed, "Refused"),
        (
            "import time\ntime.sleep(600)\n",
            Reason::TimedOut,
            "in_force: 1000, set_by: Settings",
        ),
        (
            "ask()\no.write(b'Document: 99999999999\\n')\no.flush()\nask()\n",
            Reason::Limit,
            "MaxMemberBytes",
        ),
    ] {
        let mut bench = Bench::new().filter("execm bad.py", &format!("{PYTHON}{script}"));
        bench.seconds = 1;
        let document = own(&bench.helpers(), b"x");
        let cause = cause(&document);
        assert_eq!(cause.reason(), expected, "{script}");
        assert!(format!("{cause:?}").contains(words), "{cause:?}");
        assert!(bench.temporary_is_empty());
    }
}

#[test]
fn floods_and_hangs_of_exec_end() {
    let limits = Limits {
        max_member_bytes: 100_000,
        ..Limits::default()
    };
    let mut bench = Bench::new().filter("exec flood", "#!/bin/sh\nyes\n");
    let flood = extract(&bench.helpers(), b"x", &limits).documents.remove(0);
    assert_eq!(cause(&flood).reason(), Reason::Limit);
    bench.seconds = 1;
    let bench = bench.filter("exec hang; maxseconds=1", "#!/bin/sh\nsleep 600\n");
    let document = own(&bench.helpers(), b"x");
    let by_row = Cause::TimedOut {
        reader: Reader::Helper("hang".into()),
        limit: Limit {
            setting: Setting::HelperSeconds,
            in_force: 1000,
            set_by: SetBy::Helper,
        },
    };
    assert_eq!(*cause(&document), by_row);
    assert!(bench.temporary_is_empty());
}

#[test]
fn what_is_missing_is_noticed_once() {
    let bench = Bench::new().filter(
        "exec lacks",
        "#!/bin/sh\ntouch \"$(dirname \"$0\")/ran$$\"\necho RECFILTERROR HELPERNOTFOUND catdvi\n\
         exit 1\n",
    );
    let helpers = bench.helpers();
    for _ in 0..3 {
        let document = own(&helpers, b"x");
        assert_eq!(*cause(&document), missing("catdvi", "lacks"));
        assert_eq!(document.body, "");
    }
    assert_eq!(helpers.noticed(), BTreeSet::from(["catdvi".to_owned()]));
    let names = fs_err::read_dir(bench.folder.path()).unwrap();
    let ran = names.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with("ran")
    });
    assert_eq!(ran.count(), 1);

    let mut bench = Bench::new();
    bench
        .mimeconf
        .push_str("application/x-dvi = exec no-such-program\n");
    let document = own(&bench.helpers(), b"x");
    assert_eq!(
        *cause(&document),
        missing("no-such-program", "no-such-program")
    );
}

#[test]
fn uncompressed_content_takes_the_place_of_the_file() {
    let row = "uncompress unpack \"a b\" %f %t";
    let script = "#!/bin/sh\ncp \"$2\" \"$3/notes.html\"\necho \"$3/notes.html\"\n";
    let bench = Bench::new().filter(row, script);
    let document = own(&bench.helpers(), b"<html><title>Inside</title>text</html>");
    assert_eq!(document.failure, None);
    assert_eq!(document.media_type, "text/html");
    assert_eq!(document.text(Field::Title), Some("Inside"));

    let bench = Bench::new().filter(row, "#!/bin/sh\necho /etc/passwd\n");
    let document = own(&bench.helpers(), b"x");
    assert!(format!("{:?}", cause(&document)).contains("outside of its folder"));
}

#[test]
fn versions_change_with_the_program() {
    let bench = Bench::new().filter("exec show", "#!/bin/sh\n");
    let name = "helper application/x-dvi";
    let before = bench.helpers().versions()[name];
    assert_eq!(before, bench.helpers().versions()[name]);
    let bench = bench.filter("exec show", "#!/bin/sh\nexit\n");
    assert_ne!(before, bench.helpers().versions()[name]);
    assert_eq!(
        bench
            .helpers()
            .profile_name("a.dvi", "application/x-dvi")
            .unwrap(),
        name
    );
    assert_eq!(
        bench.helpers().profile_name("a.pdf", "application/pdf"),
        None
    );
}

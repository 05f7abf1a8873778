//! Commands of mu in the versions that ken presents: output and exit codes that changed with mu 1.10, and what mu's own
//! tests expect.

use super::{Mu, path_of};
use crate::serve::Server;
use crate::world::Run;

/// A message with alternatives, a signature, and files.
const PARTS: &str = "From: Ann <ann@x.org>\nTo: me@example.com\nSubject: Parts\n\
    Date: Mon, 03 Mar 2025 12:00:00 +0000\nMessage-ID: <parts@x.org>\nX-Keywords: \u{c9}t\u{e9},C:\\tmp\n\
    List-Id: Dev <dev.lists.x.org>\nList-Post: <mailto:dev@lists.x.org?subject=x>\n\
    Content-Type: multipart/mixed; boundary=m\n\n\
    --m\nContent-Type: multipart/alternative; boundary=a\n\n\
    --a\n\nplain okapi\n--a\nContent-Type: text/html; charset=iso-8859-1\n\n<b>okapi gr=FCn</b>\n--a--\n\
    --m\nContent-Type: image/png; name=p.png\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=\n\
    --m\nContent-Type: multipart/signed; boundary=s\n\n\
    --s\n\nsigned\n--s\nContent-Type: application/pgp-signature\n\nx\n--s--\n--m--\n";

impl Mu {
    /// Adds the message with parts and returns its path.
    fn with_parts(&self) -> String {
        self.world.write("Mail/inbox/cur/30:2,S", PARTS);
        assert_eq!(self.run(&["index", "--quiet"]).code, 0);
        path_of(&self.maildir(), "inbox/cur/30:2,S")
    }
}

#[test]
fn every_part_is_listed_and_counted() {
    let mu = Mu::ken();
    let path = mu.with_parts();
    let expected = "MIME-parts in this message:\n\
        \u{20} 1 <none> text/plain [inline] (11 bytes)\n\
        \u{20} 2 <none> text/html [inline] (19 bytes)\n\
        \u{20} 3 p.png image/png [inline] (12 bytes)\n\
        \u{20} 4 <none> multipart/signed [inline]\n\
        \u{20} 5 <none> text/plain [inline] (6 bytes)\n\
        \u{20} 6 <none> application/pgp-signature [inline] (1 bytes)\n";
    assert_eq!(mu.run(&["extract", &path]).text(), expected);
    if let Some(real) = Mu::real() {
        let path = real.with_parts();
        let listed = real.run(&["extract", "--nocolor", &path]);
        assert_eq!(listed.text(), expected);
    }
    let folder = mu.world.home().join("parts");
    fs_err::create_dir(&folder).unwrap();
    let target = format!("--target-dir={}", folder.display());
    assert_eq!(mu.run(&["extract", "--parts=2,3", &target, &path]).code, 0);
    let read = |name: &str| fs_err::read(folder.join(name)).unwrap();
    assert_eq!(read("part-2"), b"<b>okapi gr=FCn</b>");
    assert_eq!(read("p.png").len(), 8);
    let saved = fs_err::read_dir(&folder).unwrap().count();
    assert_eq!(saved, 2);
    assert_eq!(mu.run(&["extract", "--parts=7", &target, &path]).code, 0);
    let new = Mu::ken_as("1.12.9");
    let none = new.run(&["extract", "--parts=7", &target, &path]);
    assert_eq!(none.code, 1);
    assert_eq!(none.err, "error: no parts extracted from this message\n");
}

#[test]
fn text_and_html_stand_behind_an_empty_line_in_new_versions() {
    let old = Mu::ken();
    let path = old.with_parts();
    let head = "From: Ann <ann@x.org>\nTo: me@example.com\nSubject: Parts\n\
        Date: Mon Mar \u{2007}3 12:00:00 2025\nTags: \u{c9}t\u{e9}, C:\\tmp\nAttachments: p.png\n";
    assert_eq!(
        old.run(&["view", &path]).text(),
        format!("{head}plain okapisigned\n")
    );
    let new = Mu::ken_as("1.12.9");
    let path = new.with_parts();
    assert_eq!(
        new.run(&["view", &path]).text(),
        format!("{head}\nplain okapisigned\n")
    );
    assert_eq!(
        new.run(&["view", "--format=html", &path]).text(),
        format!("{head}\n<b>okapi gr=FCn</b>\n")
    );
    let plain = path_of(&new.maildir(), "inbox/cur/10.a.host:2,S");
    let html = new.run(&["view", "--format=html", &plain]);
    assert!(
        html.text().ends_with("\n\n[No html body found]\n"),
        "{}",
        html.text()
    );
}

#[test]
fn exit_codes_are_those_of_the_version() {
    for (version, code) in [("1.8.13", 4), ("1.12.9", 2)] {
        let mu = Mu::ken_as(version);
        assert_eq!(mu.run(&["find", "nothing-at-all"]).code, code, "{version}");
        assert_eq!(mu.run(&["cfind", "nobody"]).code, 2, "{version}");
    }
}

#[test]
fn labels_may_have_commas_between_them() {
    let mu = Mu::ken_as("1.14.1");
    let update = ["labels", "update", "quokka", "--labels", "+foo,-work"];
    assert_eq!(mu.run(&update).code, 0);
    assert_eq!(mu.run(&["labels", "list"]).lines(), ["foo", "money"]);
    let update = ["labels", "update", "quokka", "--labels", "-foo,+bar"];
    assert_eq!(mu.run(&update).code, 0);
    assert_eq!(mu.run(&["find", "label:foo"]).code, 2);
    assert_eq!(mu.run(&["find", "label:bar"]).lines().len(), 1);
    let dry = [
        "labels",
        "update",
        "quokka",
        "--labels",
        "+dry",
        "--dry-run",
    ];
    let run = mu.run(&dry);
    let path = path_of(&mu.maildir(), "inbox/cur/3.a.host:2,RS");
    let expected =
        format!("labels: apply +dry to {path}\nlabels: would have updated 1 message(s)\n");
    assert_eq!(run.text(), expected);
    assert_eq!(mu.run(&["find", "label:dry"]).code, 2);
}

#[test]
fn tags_are_found_without_their_diacritics() {
    let mu = Mu::ken();
    mu.with_parts();
    for query in ["tag:ete", "tag:\u{e9}t\u{e9}", "x:ET*", "tag:c:\\\\tmp"] {
        let found = mu.run(&["find", query, "--fields", "i"]);
        assert_eq!(found.lines(), ["parts@x.org"], "{query}");
    }
    assert_eq!(mu.run(&["find", "tag:et"]).code, 4);
}

#[test]
fn media_types_have_several_names() {
    let mu = Mu::ken();
    let part = |id: &str, declared: &str| {
        format!(
            "Subject: letter\nMessage-ID: <{id}@x.org>\nFrom: a@x.org\n\
             Content-Type: multipart/mixed; boundary=b\n\n--b\n\nsee\n\
             --b\nContent-Type: {declared}; name=letter.rtf\n\n{{\\rtf1 letter}}\n--b--\n"
        )
    };
    mu.world
        .write("Mail/inbox/cur/31:2,S", part("old", "text/rtf"));
    mu.world
        .write("Mail/inbox/cur/32:2,S", part("new", "application/rtf"));
    assert_eq!(mu.run(&["index", "--quiet"]).code, 0);
    for query in [
        "mime:text/rtf",
        "mime:application/rtf",
        "y:Application/X-RTF",
    ] {
        let found = mu.run(&["find", query, "--fields", "i"]);
        let mut ids = found.lines();
        ids.sort_unstable();
        assert_eq!(ids, ["new@x.org", "old@x.org"], "{query}");
    }
}

#[test]
fn lists_say_where_to_post() {
    let mu = Mu::ken();
    let path = mu.with_parts();
    let shown = mu.run(&["view", "--format=sexp", &path]);
    let post = ":list-post ((:email \"dev@lists.x.org\"))";
    assert!(shown.text().contains(post), "{}", shown.text());
    let request = format!("(view :path \"{path}\")");
    let sent = mu.run(&["server", "--eval", &request]);
    let sent = String::from_utf8_lossy(&sent.out);
    assert!(sent.contains(post), "{sent}");
}

#[test]
fn files_outside_of_all_mail_are_not_added() {
    let mu = Mu::ken();
    let path = mu.world.home().join("elsewhere");
    fs_err::write(&path, "From: a@x.org\nSubject: elsewhere\n\naardvark\n").unwrap();
    let add = mu.run(&["add", path.to_str().unwrap()]);
    assert_eq!(add.code, 1);
    assert!(add.err.contains("is not below"), "{}", add.err);
    assert_eq!(mu.run(&["find", "aardvark"]).code, 4);
}

#[test]
fn a_server_does_the_work_if_one_runs() {
    let mu = Mu::ken();
    let run = |arguments: &[&str]| {
        let mut command = mu.command();
        let done = command.env_remove("MUHOME").args(arguments).output();
        Run::of(done.unwrap())
    };
    let find = || {
        let run = run(&["find", "aardvark", "--fields", "s"]);
        (run.code, run.text().to_owned())
    };
    let (found, nothing) = ((0, "delivered\n".to_owned()), (4, String::new()));
    let maildir = format!("--maildir={}", mu.maildir().display());
    run(&["init", &maildir]);
    run(&["index"]);
    let server = Server::start(&mu.world);
    let path = mu.maildir().join("inbox/new/20.a.host");
    let message = "From: a@x.org\nSubject: delivered\nMessage-ID: <e1@example.org>\n\naardvark\n";
    // What a process leaves behind that works alone while the server has the index.
    let waiting = mu.world.data().join("ken.waiting");
    let _ = fs_err::remove_file(&waiting);
    for _ in 0..4 {
        fs_err::write(&path, message).unwrap();
        let told = run(&["index"]);
        assert!(told.text().contains("checked: 10; "), "{}", told.text());
        assert_eq!(find(), found);
        run(&["add", path.to_str().unwrap()]);
        fs_err::remove_file(&path).unwrap();
        run(&["remove", path.to_str().unwrap()]);
        assert_eq!(find(), nothing);
    }
    assert!(!waiting.exists(), "the server did it");
    // Single files do not wait for the end of a pause.
    assert_eq!(mu.world.ken(["index", "--pause"]).code, 0);
    fs_err::write(&path, message).unwrap();
    run(&["add", path.to_str().unwrap()]);
    assert_eq!(find(), found);
    drop(server);
    fs_err::remove_file(&path).unwrap();
    run(&["remove", path.to_str().unwrap()]);
    assert_eq!(find(), nothing);
}

#[test]
fn a_dry_run_names_every_copy() {
    let mu = Mu::ken();
    let mail = mu.maildir();
    let copy = fs_err::read(mail.join("inbox/cur/10.a.host:2,S")).unwrap();
    for name in ["archive/cur/10.a.host:2,S", "sent/cur/10.b.host:2,F"] {
        fs_err::write(mail.join(name), &copy).unwrap();
    }
    assert_eq!(mu.run(&["index", "--quiet"]).code, 0);
    let path = path_of(&mail, "inbox/cur/10.a.host:2,S");
    let before = mu.files();
    let flags = "--flags=-S+S+T+R";
    let dry = mu.run(&["move", &path, flags, "--update-dups", "--dry-run"]);
    let expected = [
        "archive/cur/10.a.host:2,RS",
        "inbox/cur/10.a.host:2,RST",
        "sent/cur/10.b.host:2,FRS",
    ];
    let mut lines = dry.lines();
    assert_eq!(
        lines[0],
        path_of(&mail, expected[1]),
        "the message itself is first"
    );
    lines.sort_unstable();
    assert_eq!(lines, expected.map(|name| path_of(&mail, name)));
    assert_eq!(mu.files(), before);
    let run = mu.run(&["move", &path, flags, "--update-dups"]);
    assert_eq!(run.lines().len(), 3);
    assert!(expected.iter().all(|name| mail.join(name).is_file()));
}

#[test]
fn contacts_without_a_name_have_null_in_json() {
    let mu = Mu::ken();
    let run = mu.run(&["cfind", "--format=json", "^x@example"]);
    let expected = "[\n  {\n    \"email\"         : \"x@example.org\",\n    \"name\"          : null,\n    \
        \"display\"       : \"x@example.org\",\n    \"last-seen\"     : 1768212000,\n    \
        \"last-seen-iso\" : \"2026-01-12T10:00:00Z\",\n    \"personal\"      : true,\n    \
        \"frequency\"     : 1\n  }\n]\n";
    assert_eq!(run.text(), expected);
}

#[test]
fn what_lies_in_cur_is_mail_and_what_lies_beside_it_is_not() {
    let mu = Mu::ken();
    let text = |id: &str| {
        format!("Subject: axolotl\nFrom: a@x.org\nMessage-ID: <{id}@x.org>\n\naxolotl\n")
    };
    mu.world
        .write("Mail/inbox/cur/1234567890.M1P2.vm", text("template"));
    mu.world.write(
        "Mail/inbox/new/type",
        format!("Content-Type: text/plain\n{}", text("type")),
    );
    // Copies lose empty folders.
    mu.world.write("Mail/lonely/cur/letter.1", text("lonely"));
    mu.world.write("Mail/inbox/tmp/half", text("half"));
    mu.world.write("Mail/inbox/loose", text("loose"));
    assert_eq!(mu.run(&["index", "--quiet"]).code, 0);
    let found = mu.run(&["find", "axolotl", "--fields", "i"]);
    let mut ids = found.lines();
    ids.sort_unstable();
    assert_eq!(ids, ["lonely@x.org", "template@x.org", "type@x.org"]);
    let lonely = mu.run(&["find", "maildir:/lonely", "--fields", "m"]);
    assert_eq!(lonely.lines(), ["/lonely"]);
    let folders = mu.run(&["info", "maildirs"]);
    assert!(folders.lines().contains(&"/lonely"), "{}", folders.text());
}

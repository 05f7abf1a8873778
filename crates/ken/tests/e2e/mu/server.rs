//! `mu server`: requests and answers as they go over the pipe.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::Mu;

/// A running server.
struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Server {
    fn start(mu: &Mu) -> Self {
        let mut command = mu.command();
        command.arg("server");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn send(&mut self, request: &str) {
        writeln!(self.input.as_mut().unwrap(), "{request}").unwrap();
    }

    /// Returns the next answer, whose length must equal the length in its frame.
    fn answer(&mut self) -> String {
        let mut skipped = Vec::new();
        self.output.read_until(0xfe, &mut skipped).unwrap();
        assert!(skipped.pop() == Some(0xfe), "no answer");
        assert!(skipped.iter().all(u8::is_ascii), "a byte outside of frames");
        let mut length = Vec::new();
        self.output.read_until(0xff, &mut length).unwrap();
        length.pop();
        let length = std::str::from_utf8(&length).unwrap();
        let mut answer = vec![0; usize::from_str_radix(length, 16).unwrap()];
        self.output.read_exact(&mut answer).unwrap();
        assert_eq!(answer.pop(), Some(b'\n'));
        String::from_utf8(answer).unwrap()
    }

    /// Sends a request and returns its only answer.
    fn ask(&mut self, request: &str) -> String {
        self.send(request);
        self.answer()
    }

    /// Returns the headers that a query finds.
    fn find(&mut self, query: &str) -> String {
        assert_eq!(
            self.ask(&format!("(find :query \"{query}\" :threads t)")),
            "(:erase t)"
        );
        let mut found = String::new();
        loop {
            let answer = self.answer();
            found.push_str(&answer);
            if !answer.starts_with("(:headers") {
                assert!(answer.starts_with("(:found"), "{answer}");
                return found;
            }
        }
    }

    fn end(mut self) {
        self.send("(quit)");
        assert!(self.child.wait().unwrap().success());
    }
}

/// Returns the number that follows the first `:docid`.
fn docid(answer: &str) -> String {
    let (_, rest) = answer.split_once(":docid ").unwrap();
    rest.chars().take_while(char::is_ascii_digit).collect()
}

#[test]
fn what_is_changed_is_seen_by_the_next_request() {
    let mu = Mu::ken();
    let mut server = Server::start(&mu);
    let found = server.find("okapi flag:flagged");
    assert!(found.contains(":message-id \"b2@example.org\""), "{found}");
    let number = docid(&found);
    let moved = server.ask(&format!("(move :docid {number} :flags \"-F+R-N\")"));
    assert!(moved.contains("inbox/cur/4.a.host:2,RS\""), "{moved}");
    assert!(moved.ends_with(":maybe-view t)"), "{moved}");
    assert_eq!(server.find("flag:flagged"), "(:found 0)");
    let again = server.find("flag:replied okapi");
    assert_eq!(docid(&again), number, "the number stays");
    let moved = server.ask(&format!(
        "(move :docid {number} :maildir \"/trash\" :flags \"+T-N\")"
    ));
    assert!(moved.contains("trash/cur/4.a.host:2,RST\""), "{moved}");
    assert!(moved.ends_with(":move t :maybe-view t)"), "{moved}");
    assert!(server.find("maildir:/trash").contains("(:found 1)"));
    assert_eq!(
        server.ask(&format!("(remove :docid {number})")),
        format!("(:remove {number})")
    );
    assert_eq!(server.find("maildir:/trash"), "(:found 0)");
    server.end();
    assert_eq!(
        mu.run(&["find", "b2@example.org"]).code,
        4,
        "also when it is over"
    );
}

#[test]
fn a_signal_ends_the_session_when_its_work_is_done() {
    let mu = Mu::ken();
    let mut server = Server::start(&mu);
    let number = docid(&server.find("okapi flag:flagged"));
    server.ask(&format!("(move :docid {number} :flags \"-F\")"));
    // mu4e ends the server so. Requests that were sent before the signal are still answered.
    server.send(&format!("(move :docid {number} :flags \"+R\")"));
    let kill = format!("kill -INT {}", server.child.id());
    assert!(
        Command::new("sh")
            .args(["-c", &kill])
            .status()
            .unwrap()
            .success()
    );
    assert!(server.child.wait().unwrap().success());
    assert_eq!(mu.run(&["find", "flag:flagged"]).code, 4);
    let replied = mu.run(&["find", "flag:replied okapi", "--fields", "l"]);
    assert!(replied.text().ends_with("4.a.host:2,RS\n"), "{replied:?}");
}

#[test]
fn a_message_that_others_renamed_is_found_again() {
    let mu = Mu::ken();
    let mut server = Server::start(&mu);
    let number = docid(&server.find("pangolin"));
    mu.world.rename(
        "Mail/inbox/cur/2.a.host:2,S",
        "Mail/inbox/cur/2.a.host:2,RS",
    );
    let view = server.ask(&format!("(view :docid {number} :mark-as-read t)"));
    assert!(view.contains("2.a.host:2,RS\""), "{view}");
    mu.world.rename(
        "Mail/inbox/cur/2.a.host:2,RS",
        "Mail/archive/cur/99.b.host:2,RS",
    );
    let add = mu.maildir().join("archive/cur/99.b.host:2,RS");
    server.ask(&format!("(add :path \"{}\")", add.display()));
    server.answer();
    let moved = server.ask(&format!("(move :docid {number} :flags \"+F\")"));
    assert!(moved.contains("archive/cur/99.b.host:2,FRS\""), "{moved}");
    server.end();
}

#[test]
fn mistakes_end_no_session() {
    let mu = Mu::ken();
    let mut server = Server::start(&mu);
    for (request, code) in [
        ("junk", 32811),
        ("(nope)", 32811),
        ("(find)", 32811),
        ("(find :query 5)", 32811),
        ("(find :query \"(\")", 32823),
        ("(view :docid 999)", 32825),
        ("(move :msgid \"nobody@x\" :flags \"S\")", 32820),
        ("(move :msgid \"a1@example.org\" :maildir \"x\")", 32814),
        (
            "(move :msgid \"a1@example.org\" :maildir \"/../..\")",
            32817,
        ),
        ("(move :msgid \"a1@example.org\" :flags \"?\")", 32817),
        ("(add :path \"/nowhere/at/all\")", 32814),
        ("(mkdir :path \"/tmp/elsewhere\")", 32817),
        ("(find :query \"a\"", 32821),
        ("\u{1}\u{2}", 32811),
    ] {
        let answer = server.ask(request);
        let start = format!("(:error {code} :message \"");
        assert!(answer.starts_with(&start), "{request}: {answer}");
    }
    assert!(
        server
            .ask("(ping)")
            .starts_with("(:pong \"mu\" :props (:version \"1.8.13\"")
    );
    // Emacs sends line ends in strings without escapes.
    server.send("(find :query \"okapi\n\")");
    assert_eq!(server.answer(), "(:erase t)");
    server.answer();
    assert_eq!(server.answer(), "(:found 2)");
    server.end();
}

#[test]
fn indexing_continues_during_requests() {
    let mu = Mu::ken();
    let mut server = Server::start(&mu);
    for number in 0..200 {
        let text = format!("Subject: many {number}\nMessage-ID: <m{number}@x>\n\nwombat\n");
        mu.world
            .write(format!("Mail/inbox/new/m{number}.host"), text);
    }
    server.send("(index :cleanup t :lazy-check nil)");
    server.send("(ping)");
    let (mut complete, mut pong) = (None, false);
    while complete.is_none() || !pong {
        let answer = server.answer();
        pong |= answer.starts_with("(:pong");
        if answer.contains(":status complete") {
            complete = Some(answer);
        }
    }
    let expected = "(:info index :status complete :checked 209 :updated 200 :cleaned-up 0)";
    assert_eq!(complete.as_deref(), Some(expected));
    assert!(server.find("wombat").ends_with("(:found 200)"));
    server.end();
}

#[test]
fn the_dialect_of_1_12_is_spoken_too() {
    let mu = Mu::ken_as("1.12.15");
    mu.world
        .write("Mail/archive/cur/copy.host:2,", super::MAIL[0].1);
    assert_eq!(mu.run(&["index", "--quiet"]).code, 0);
    let mut server = Server::start(&mu);
    let pong = server.ask("(ping)");
    assert!(
        pong.contains(":version \"1.12.15\"") && !pong.contains(":queries"),
        "{pong}"
    );
    let counts = server.ask("(queries :queries (\"flag:unread\" \"(\"))");
    let expected = "(:queries ((:query \"flag:unread\" :count 3 :unread 3) \
        (:query \"(\" :count 0 :unread 0)))";
    assert_eq!(counts, expected);
    let maildirs = server.ask("(data :kind maildirs)");
    let expected =
        "(:maildirs (\"/.Lists.rust\" \"/archive\" \"/drafts\" \"/inbox\" \"/sent\" \"/trash\"))";
    assert_eq!(maildirs, expected);
    let found = server.find("msgid:a1@example.org");
    assert!(
        found.contains(":data-tstamp") && found.contains("(:found 2 :query"),
        "{found}"
    );
    // A duplicate is marked as read together with the message.
    let view = [
        server.ask("(view :msgid \"a1@example.org\" :mark-as-read t)"),
        server.answer(),
    ];
    assert!(
        view[0].starts_with("(:update") && view[1].starts_with("(:view"),
        "{view:?}"
    );
    let files = mu.files();
    assert!(
        files.contains(&"archive/cur/copy.host:2,S".to_owned()),
        "{files:?}"
    );
    assert!(
        files.contains(&"inbox/cur/1.a.host:2,S".to_owned()),
        "{files:?}"
    );
    let label = server.ask("(label :docid 1 :labels \"+todo +later\")");
    assert!(label.contains(":labels (\"todo\" \"later\")"), "{label}");
    assert!(label.ends_with(":maybe-view t)"), "{label}");
    assert!(
        server.find("label:later").contains("(:found 2 :query"),
        "both copies"
    );
    server.ask("(label :docid 1 :labels \"-*\")");
    assert!(server.find("label:later").starts_with("(:found 0 :query"));
    let labels = server.ask("(data :kind labels)");
    assert_eq!(labels, "(:labels (\"money\" \"work\"))");
    let mkdir = mu.maildir().join("quiet");
    server.send(&format!("(mkdir :path \"{}\")", mkdir.display()));
    // The next answer belongs to the next request.
    for (request, code) in [
        ("(nope)", 102),
        ("(add :path \"/nowhere/at/all\")", 104),
        ("(find :query \"x\" :sortfield :nope)", 107),
        ("(find :query \"a\"", 111),
        ("(view :docid 999)", 117),
    ] {
        let error = server.ask(request);
        assert!(error.starts_with(&format!("(:error {code} ")), "{error}");
    }
    assert!(mkdir.join("cur").is_dir());
    server.end();
}

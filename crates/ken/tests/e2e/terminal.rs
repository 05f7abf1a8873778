//! On a terminal no command lets a file steer it: every command runs on a pseudo-terminal, over files whose names,
//! titles, texts and messages try.

use crate::mail::message;
use crate::pty;
use crate::world::World;

/// What no file may send: the clipboard, a title, blinking, clearing, moving back, reversing text, C1.
const HOSTILE: &str = "\u{1b}]52;c;aGFja2Vk\u{7}\u{1b}[5m\u{1b}[2J\u{8}\u{202e}\u{2066}\u{9b}5m";

/// A name has no slash and is short.
const HOSTILE_NAME: &str = "evil\u{1b}]52;c;aA\u{7}\u{1b}[5m\u{202e}\u{9b}5m";

fn on_a_terminal(world: &World, args: &[&str]) -> Vec<u8> {
    let command = [&[env!("CARGO_BIN_EXE_ken")], args].concat();
    pty::on_a_terminal(world, 80, &[("TERM", "xterm-kitty")], &command).stdout
}

fn hostile() -> World {
    let world = World::new();
    let text = |format: &str| format.replace("HOSTILE", HOSTILE);
    world.write(
        format!("{HOSTILE_NAME}.txt"),
        text("plain okapi HOSTILE\nover\rwritten okapi\n"),
    );
    world.write(format!("{HOSTILE_NAME}/inner.txt"), text("okapi HOSTILE\n"));
    world.write(
        "latin.txt",
        b"an okapi of one byte: \x9b5m\x9d52;c;aA\x9c and more of it\n",
    );
    world.write(
        "page.html",
        text("<title>title HOSTILE</title><p>an okapi HOSTILE"),
    );
    world.write(
        format!("broken{HOSTILE_NAME}.pdf"),
        text("%PDF-1.4 HOSTILE"),
    );
    let mail = "From: \"Ann HOSTILE\" <a@x.org>\nTo: \"Bob HOSTILE\" <b@x.org>\nSubject: subject HOSTILE\n\
        Message-ID: <1@x.org>\nDate: Mon, 5 Jan 2026 10:00:00 +0000\nMIME-Version: 1.0\n\
        Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; charset=utf-8\n\nan okapi HOSTILE\n\
        --b\nContent-Type: text/plain; name=\"part HOSTILE.txt\"\nContent-Disposition: attachment\n\nokapi HOSTILE\n--b--\n";
    world.write("mail/cur/1.x:2,S", text(mail));
    world
}

/// Asserts that the output has nothing that steers a terminal but ken's own colours and links.
fn assert_harmless(args: &[&str], output: &[u8]) {
    let mut text = String::from_utf8_lossy(output).replace("\r\n", "\n");
    for own in [
        "0", "1", "2", "4", "31", "32", "33", "35", "1;31", "1;32", "1;33", "30;43",
    ] {
        text = text.replace(&format!("\u{1b}[{own}m"), "");
    }
    // The display of progress goes back and clears its line.
    text = text
        .replace("\r\u{1b}[2K", "")
        .replace("\u{1b}[K", "")
        .replace("\u{1b}]8;;\u{1b}\\", "");
    // The URL of a link has no byte of a name as it is.
    while let Some(start) = text.find("\u{1b}]8;;file://") {
        let end = text[start..].find("\u{1b}\\").unwrap();
        text.replace_range(start..start + end + 2, "");
    }
    let steers = |c: char| {
        let is_bidi = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        c.is_control() && !matches!(c, '\n' | '\t') || is_bidi
    };
    assert!(!text.contains(steers), "{args:?}: {text:?}");
    // No byte is a control character in an encoding of one byte either.
    for chunk in output.utf8_chunks() {
        assert!(
            chunk.invalid().iter().all(|byte| *byte >= 0xa0),
            "{args:?}: {text:?}"
        );
    }
}

#[test]
fn no_command_lets_a_file_steer_the_terminal() {
    let world = hostile();
    let name = format!("docs/{HOSTILE_NAME}.txt");
    let pdf = format!("docs/broken{HOSTILE_NAME}.pdf");
    let message = "docs/mail/cur/1.x:2,S";
    let tag = format!("+{HOSTILE_NAME}");
    let none = format!("docs/none{HOSTILE_NAME}");
    let option = format!("--{HOSTILE_NAME}");
    let mut commands: Vec<Vec<&str>> = vec![
        vec!["index", "--dry-run", "docs"],
        vec!["index", "docs"],
        vec!["index", &none],
        vec!["index", &option],
        vec!["show", &name],
        vec!["show", message],
        vec!["mail", "tag", &tag, "okapi"],
        vec!["mail", "tag", "+todo", "okapi"],
        vec!["mu", "init", "--maildir=docs/mail"],
        vec!["mu", "index"],
    ];
    let reading: &[&[&str]] = &[
        &["search", "okapi"],
        &["search", "-l", "okapi"],
        &["search", "--json", "okapi"],
        &["search", "--explain", "okapi"],
        &["search", "--fields", "path title from", "okapi"],
        &["search", "--facets", "from,folder", "okapi"],
        &["search", "--matches", "okapi"],
        &["search", HOSTILE],
        &["walk", "docs"],
        &["walk", "--json", "docs"],
        &["grep", "okapi", "docs"],
        &["grep", "-l", "okapi", "docs"],
        &["grep", "--files", "docs"],
        &["grep", "-a", ".", "docs"],
        &["grep", "-c", "okapi", "docs"],
        &["grep", "--json", "okapi", "docs"],
        &["grep", "--sort", "path", "okapi", "docs"],
        &["grep", "--rank", "okapi", "docs"],
        &["grep", "--documents", "okapi", "docs"],
        &["grep", "okapi", &none],
        &["grep", "--debug", "okapi", "docs"],
        &["recollq", "okapi"],
        &["recollq", "-m", "-A", "-d", "okapi"],
        &["recollq", "-b", "okapi"],
        &["recollq", "-F", "title url", "okapi"],
        &["ag", "okapi", "docs"],
        &["ag", "-l", "okapi", "docs"],
        &["ag", "--debug", "okapi", "docs"],
        &["ag", "okapi", &none],
        &["extract", &name],
        &["extract", "--json", &name],
        &["extract", "docs/page.html"],
        &["extract", "docs/latin.txt"],
        &["extract", &pdf],
        &["extract", message],
        &["extract", &none],
        &["status"],
        &["status", "--failed"],
        &["status", "--why", &name],
        &["status", "--why", &pdf],
        &["status", "--json"],
        &["check"],
        &["terms", "o"],
        &["terms", "--field", "from", ""],
        &["terms", "--field", "title", ""],
        &["mail", "show", message],
        &["mail", "show", "--raw", message],
        &["mail", "show", "okapi"],
        &["mail", "list", "okapi"],
        &["mail", "threads", "okapi"],
        &["mail", "threads", "--json", "okapi"],
        &["mail", "contacts"],
        &["mail", "verify", message],
        &["mail", "save", "okapi", "--to", "saved"],
        &["mu", "find", "okapi"],
        &["mu", "find", "--format=json", "okapi"],
        &["mu", "find", "--format=sexp", "okapi"],
        &["mu", "find", "--format=links", "okapi"],
        &["mu", "find", "--summary-len=3", "okapi"],
        &["mu", "find", "--fields=f s l", "okapi"],
        &["mu", "view", message],
        &["mu", "view", "--format=sexp", message],
        &["mu", "extract", message],
        &["mu", "cfind", ""],
        &["mu", "info"],
        &[&option],
        &["mu", "find", &option],
        &["recollq", &option],
        &["ag", &option],
        &["grep", &option],
    ];
    commands.extend(reading.iter().map(|args| args.to_vec()));
    let mut shown = 0;
    for args in &commands {
        let output = on_a_terminal(&world, args);
        assert_harmless(args, &output);
        let text = String::from_utf8_lossy(&output);
        shown += usize::from(
            ["^[", "\\u202e", "\\u001b", "\u{fffd}"]
                .iter()
                .any(|of| text.contains(of)),
        );
    }
    assert!(shown > commands.len() / 2, "{shown} of {}", commands.len());
}

/// A program sees the exit code; somebody at a terminal sees a sentence.
#[test]
fn nothing_is_silent_on_a_terminal() {
    let world = World::new();
    world.write("a.eml", message(1, &[], "Subject: okapi\n", "okapi"));
    world.write("b.txt", "kiwi");
    world.index_docs();
    let out = world.home().join("out");
    let out = out.to_str().unwrap();
    for (args, said, code) in [
        (&["mail", "list", "zebra"][..], "no message matches", 1),
        (&["mail", "tag", "+a", "okapi"], "1 message tagged", 0),
        (&["mail", "tag", "+a", "zebra"], "no message matches", 1),
        (
            &["mail", "save", "okapi", "--to", out],
            "no message that matches has such a file",
            1,
        ),
        (
            &["mail", "save", "zebra", "--to", out],
            "no message matches",
            1,
        ),
        (&["search", "zebra"], "no document matches", 1),
        (&["grep", "zebra", "docs"], "--documents searches PDF", 1),
    ] {
        let shown = String::from_utf8(on_a_terminal(&world, args)).unwrap();
        assert!(shown.contains(said), "{args:?}: {shown}");
        let run = world.ken(args);
        assert_eq!((run.code, run.err.as_str()), (code, ""), "{args:?}");
    }
    for args in [
        &["grep", "kiwi", "docs"][..],
        &["grep", "zebra", "nowhere"],
        &["grep", "-q", "zebra", "docs"],
        &["grep", "--documents", "zebra", "docs"],
        &["rg", "zebra", "docs"],
    ] {
        let shown = String::from_utf8(on_a_terminal(&world, args)).unwrap();
        assert!(!shown.contains("--documents searches"), "{args:?}: {shown}");
    }
}

#[test]
fn output_that_does_not_go_to_a_terminal_is_exact() {
    let world = hostile();
    world.index_docs();
    let path = world.docs().join(format!("{HOSTILE_NAME}.txt"));
    let path = path.to_str().unwrap();
    let text = |args: &[&str]| String::from_utf8_lossy(&world.ken(args).out).into_owned();
    for args in [
        &["search", "-l", "okapi"][..],
        &["walk", "docs"],
        &["grep", "-l", "okapi", world.docs().to_str().unwrap()],
    ] {
        assert!(text(args).contains(path), "{args:?}");
    }
    assert!(text(&["grep", "-a", "okapi", "docs"]).contains(HOSTILE));
}

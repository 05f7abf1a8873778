//! What reaches the terminal: colours and hyperlinks, but no control characters from files.

use std::ffi::OsStr;

use crate::world::World;

const ESCAPE: u8 = 0x1b;

/// Names, titles and texts that would control a terminal.
fn hostile() -> World {
    let world = World::new();
    world.write("evil\u{1b}]0;owned\u{7}.txt", "plain okapi");
    world.write(
        "page.html",
        "<title>red &#27;[31m title \u{1b}[5m</title><p>an okapi \u{1b}[2J clears \u{9b}31m",
    );
    world.write("text.txt", "okapi \u{1b}[2J\u{8}\u{8}\u{8} gone\r\n");
    world.write("broken\u{1b}[1m.pdf", "%PDF-1.4 \u{1b}[31m");
    world
}

#[test]
fn files_cannot_steer_the_terminal() {
    let world = hostile();
    world.write(".kenignore", "[\u{1b}[31m\n");
    for args in [
        &["index", "--dry-run", "docs"][..],
        &["index", "docs"],
        &["search", "okapi"],
        &["search", "--explain", "okapi"],
        &["search", "--json", "--limit", "0", "*"],
        &["search", "ok\u{1b}[31m:x"],
        &["status"],
        &["status", "--failed"],
        &["extract", "docs/broken\u{1b}[1m.pdf"],
        &["extract", "docs/none\u{1b}[1m.pdf"],
        &["index", "none\u{1b}[1m"],
    ] {
        let run = world.ken(args);
        let steers = |byte: u8| byte.is_ascii_control() && byte != b'\n' && byte != b'\t';
        assert!(
            !run.out.iter().copied().any(steers),
            "{args:?}: {:?}",
            run.text()
        );
        assert!(!run.err.bytes().any(steers), "{args:?}: {:?}", run.err);
        assert!(!run.text().contains('\u{9b}'), "{args:?}: {:?}", run.text());
    }
    assert_eq!(world.hits("okapi").len(), 3);
}

#[test]
fn colours_and_links_are_for_terminals_unless_asked_for() {
    let world = World::new();
    world.write("über einen.txt", "an okapi");
    world.index_docs();
    let plain = world.ken(["search", "okapi"]);
    assert!(!plain.out.contains(&ESCAPE));

    let colored = world.ken(["search", "--color", "always", "okapi"]);
    assert!(
        colored.text().contains("an \u{1b}[1;31mokapi\u{1b}[0m"),
        "{:?}",
        colored.text()
    );
    assert!(!colored.text().contains("\u{1b}]8;;"));
    let linked = world.ken(["--hyperlinks=always", "search", "okapi"]);
    let url = format!(
        "\u{1b}]8;;file://{}/%C3%BCber%20einen.txt\u{1b}\\",
        world.docs().display()
    );
    assert!(linked.text().contains(&url), "{:?}", linked.text());
    assert!(!linked.text().contains("\u{1b}[1;31m"));

    let mut quiet = world.command(["search", "--color=always", "okapi"]);
    let output = quiet.env("NO_COLOR", "1").output().unwrap();
    assert!(
        output.stdout.contains(&ESCAPE),
        "what was typed outranks the environment"
    );
}

#[test]
fn help_and_version_go_to_standard_output() {
    let world = World::new();
    for args in [
        &["--help"][..],
        &["index", "--help"],
        &["help", "search"],
        &["-h"],
    ] {
        let run = world.ken(args);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{args:?}");
        assert!(run.text().contains("Usage: ken"), "{args:?}");
    }
    let run = world.ken(["--version"]);
    assert_eq!(run.text(), format!("ken {}\n", env!("CARGO_PKG_VERSION")));
    for args in [
        &[][..],
        &["nonsense"],
        &["index", "--nonsense"],
        &["--color=x", "status"],
    ] {
        let run = world.ken::<&OsStr>(args.iter().map(AsRef::as_ref));
        assert_eq!(run.code, 2, "{args:?}");
        assert!(
            run.out.is_empty() && run.err.contains("--help"),
            "{args:?}: {}",
            run.err
        );
    }
}

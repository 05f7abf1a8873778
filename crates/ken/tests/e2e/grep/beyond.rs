//! What `ken grep` does and ripgrep does not: conditions, documents, ranks, budgets.

use crate::world::World;

fn grep(world: &World, args: &[&str]) -> (i32, String) {
    let run = world.ken(["grep"].iter().chain(args));
    let text = String::from_utf8(run.out).unwrap() + &run.err;
    (run.code, text)
}

fn lines() -> World {
    let world = World::new();
    world.write("a.txt", "lock\nunlock\nlock and unlock\nother\nlast\n");
    world.write("b.txt", "lock\nnothing\nnothing\nlock\n");
    world
}

#[test]
fn more_patterns_select_lines() {
    let world = lines();
    let found = |args: &[&str]| grep(&world, &[args, &["--sort=path", "docs"]].concat());
    let both = "docs/a.txt:lock and unlock\n";
    assert_eq!(found(&["lock", "--and", "and"]), (0, both.to_owned()));
    assert_eq!(found(&["lock", "--and", "AND", "-i"]), (0, both.to_owned()));
    let alone = "docs/a.txt:1:lock\ndocs/b.txt:1:lock\ndocs/b.txt:4:lock\n";
    assert_eq!(found(&["-n", "lock", "--not", "un"]), (0, alone.to_owned()));
    let counted = "docs/a.txt:1\n".to_owned();
    assert_eq!(
        found(&["-c", "lock", "--and", "un", "--and", "and"]),
        (0, counted)
    );
    let rest = "docs/b.txt\n".to_owned();
    assert_eq!(
        found(&["--files-without-match", "lock", "--and", "un"]),
        (0, rest)
    );
    let inverted = found(&["-vc", "lock", "--and", "un"]);
    assert_eq!(inverted, (0, "docs/a.txt:3\ndocs/b.txt:4\n".to_owned()));
    assert_eq!(found(&["lock", "--and", "absent"]).0, 1);
}

#[test]
fn more_patterns_select_files_and_neighbours() {
    let world = lines();
    let found = |args: &[&str]| grep(&world, &[args, &["--sort=path", "docs"]].concat());
    let near = "docs/a.txt:3:lock and unlock\n".to_owned();
    assert_eq!(
        found(&["-n", "lock", "--and", "last", "--near", "2"]),
        (0, near)
    );
    let wider = found(&["-c", "lock", "--and", "last", "--near", "3"]);
    assert_eq!(wider, (0, "docs/a.txt:2\n".to_owned()));
    let file = found(&["-c", "lock", "--and", "^last$", "--scope", "file"]);
    assert_eq!(file, (0, "docs/a.txt:3\n".to_owned()));
    let without = found(&["-l", "lock", "--not", "^last$", "--scope=file"]);
    assert_eq!(without, (0, "docs/b.txt\n".to_owned()));
    // UTF-16 is decoded before the comparison.
    let wide: Vec<u8> = "\u{feff}lock\nlast\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    world.write("wide.txt", wide);
    let wide = found(&["lock", "--and", "last", "--near", "1", "-g", "wide*"]);
    assert_eq!(wide, (0, "docs/wide.txt:lock\n".to_owned()));
}

#[test]
fn conditions_that_make_no_sense_are_refused() {
    let world = lines();
    for args in [
        &["lock", "--near", "2"][..],
        &["lock", "--and", "x", "--near", "2", "--scope", "file"],
        &["lock", "--and", "("],
        &["lock", "--scope", "page"],
    ] {
        assert_eq!(grep(&world, args).0, 2, "{args:?}");
    }
}

#[test]
fn documents_are_searched_by_page() {
    let world = World::new();
    world.add_fixture("pdf/plain.pdf");
    world.add_fixture("mail/three.mbox");
    world.add_fixture("archive/folders.zip");
    let error = grep(&world, &["--documents", "colugo"]);
    assert_eq!(error.0, 2, "there is no index: {}", error.1);
    world.index(&["--set", "ngrams=all", "docs"]);
    let found = |args: &[&str]| grep(&world, &[&["--documents", "--sort", "path"], args].concat());
    let page = "docs/plain.pdf:2:3:A second page has a binomial: Galeopterus variegatus.\n";
    assert_eq!(found(&["second page", "docs"]), (0, page.to_owned()));
    assert_eq!(
        found(&["second page", "docs/plain.pdf"]),
        (0, page.to_owned())
    );
    let inside = "docs/folders.zip|backup.tar.gz|deep/cave.txt:1:1:stalagtoad\n".to_owned();
    assert_eq!(found(&["-o", r"\w+toad"]), (0, inside));
    let counts = "docs/three.mbox|1:1\ndocs/three.mbox|2:2\ndocs/three.mbox|3:1\n".to_owned();
    assert_eq!(found(&["-c", ".", "docs/three.mbox"]), (0, counts));
    assert_eq!(
        found(&["-l", "dugong"]),
        (0, "docs/three.mbox|3\n".to_owned())
    );
    assert_eq!(
        found(&["-l", ".", "-g", "*.pdf"]),
        (0, "docs/plain.pdf\n".to_owned())
    );
    let json = found(&["--json", "stalagtoad"]).1;
    let line = json
        .lines()
        .find(|line| line.contains("\"match\""))
        .unwrap();
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(line["data"]["path"]["text"], "docs/folders.zip");
    assert_eq!(line["data"]["internal"], "backup.tar.gz|deep/cave.txt");
    assert_eq!(line["data"]["page"], 1);
    assert_eq!(found(&["absent"]), (1, String::new()));
    // The index rules out all files but one.
    let (_, explained) = found(&["--explain", "-l", "stalagtoad"]);
    let all = "docs/folders.zip|backup.tar.gz|deep/cave.txt\nken: ";
    let counts = explained
        .strip_prefix(all)
        .unwrap_or_else(|| panic!("{explained}"));
    let excluded: u32 = counts
        .split(": ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!(excluded >= 5, "{counts}");
    for pattern in ["colugo", "e", "dugong|toad", "[A-Z]+ second", "^The"] {
        let scanned = found(&["--no-index", "-in", pattern]);
        assert_eq!(found(&["-in", pattern]), scanned, "{pattern}");
    }
    let (code, message) = found(&[".", "elsewhere"]);
    assert_eq!(code, 2, "{message}");
}

#[test]
fn useful_files_come_first() {
    let world = World::new();
    world.write("a/use.rs", "let x = narrow(1);\n");
    world.write("b/narrow.rs", "pub fn narrow(x: u8) {}\n// narrow\n");
    world.write("a/tests/narrow.rs", "fn narrow() {}\n");
    world.write("a/narrower.txt", "narrower\n");
    let files = "docs/b/narrow.rs\ndocs/a/tests/narrow.rs\ndocs/a/use.rs\ndocs/a/narrower.txt\n";
    assert_eq!(
        grep(&world, &["--rank", "-l", "narrow", "docs"]),
        (0, files.to_owned())
    );
    let (_, lines) = grep(&world, &["--rank", "-n", "narrow", "docs"]);
    assert!(lines.starts_with("docs/b/narrow.rs:1:pub fn"), "{lines}");
    assert_eq!(
        grep(&world, &["--rank", "absent", "docs"]),
        (1, String::new())
    );
    world.index_docs();
    let documents =
        |options: &[&str]| grep(&world, &[&["--rank", "--documents"], options].concat());
    assert_eq!(documents(&["-l", "narrow", "docs"]), (0, files.to_owned()));
    let (code, lines) = documents(&["narrow", "docs"]);
    assert!(
        code == 0 && lines.starts_with("docs/b/narrow.rs"),
        "{lines}"
    );
    assert_eq!(lines.lines().count(), 5, "{lines}");
    assert_eq!(documents(&["absent", "docs"]), (1, String::new()));
    assert_eq!(documents(&["-q", "narrow", "docs"]).0, 0);
    for other in ["--sort=path", "-v", "--files-without-match"] {
        assert_eq!(
            grep(&world, &["--rank", other, "narrow", "docs"]).0,
            2,
            "{other}"
        );
    }
}

#[test]
fn a_budget_is_kept_and_says_where_to_go_on() {
    let world = World::new();
    for n in 0..40 {
        let uses = "    needle(1);\n".repeat(n + 1);
        world.write(format!("{n:02}.rs"), format!("{uses}fn needle() {{}}\n"));
    }
    let total: usize = (0..40).map(|n| n + 2).sum();
    for bytes in ["600", "1K", "3000"] {
        let (code, text) = grep(&world, &["--budget", bytes, "needle", "docs"]);
        let limit = bytes.replace('K', "024").parse::<usize>().unwrap();
        assert!(code == 0 && text.len() <= limit, "{text}");
        let last = text.lines().last().unwrap();
        assert!(last.contains(&format!("of {total} lines")), "{last}");
        assert!(
            last.contains("of 40 files shown; more lines: ken grep --skip")
                && last.contains("; next: ken grep --skip "),
            "{last}"
        );
        assert!(text.contains(":fn needle() {}"), "{text}");
    }
    // The whole file, piece by piece.
    let mut skip = "0".to_owned();
    let mut heads = 0;
    for _ in 0..40 {
        let (_, text) = grep(
            &world,
            &["--budget", "2K", "--skip", &skip, "needle", "docs"],
        );
        heads += text
            .lines()
            .filter(|line| line.starts_with("docs/"))
            .count();
        match text.trim_end().rsplit_once("--skip ") {
            Some((_, next)) => skip = next.split(' ').next().unwrap().to_owned(),
            None => break,
        }
    }
    assert_eq!(heads, 40);
    assert_eq!(
        grep(&world, &["--budget", "2K", "-c", "needle", "docs"]).0,
        2
    );
}

#[test]
fn explain_says_what_was_scanned() {
    let world = lines();
    let run = world.ken(["grep", "--explain", "--no-index", "lock", "docs"]);
    assert_eq!(run.code, 0);
    assert!(
        run.err.starts_with("ken: 2 files: 0 excluded, 2 scanned; "),
        "{}",
        run.err
    );
}

/// A pattern that only files with letters beyond ASCII can match is not searched for in other files.
#[test]
fn files_of_ascii_are_passed_over_where_they_cannot_match() {
    let world = World::new();
    let ascii = "plain words\n".repeat(30_000);
    world.write("large.txt", &ascii);
    world.write("small.txt", "plain words\n");
    world.write("binary", "plain\0words\n");
    world.write("late.txt", format!("{ascii}naïve αβγ\n"));
    world.write("early.txt", "αβγ\nplain\n");
    let wide = "αβγ\n".encode_utf16().flat_map(u16::to_le_bytes);
    world.write(
        "wide.txt",
        [0xff, 0xfe].into_iter().chain(wide).collect::<Vec<u8>>(),
    );
    let files = ["early.txt:1", "late.txt:1", "wide.txt:1"];
    let sorted = |args: &[&str]| {
        let (code, text) = grep(&world, args);
        let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        (code, lines)
    };
    assert_eq!(
        sorted(&["-c", r"\p{Greek}+", "docs"]),
        (0, files.map(|file| format!("docs/{file}")).to_vec())
    );
    assert_eq!(sorted(&["-c", "ï|γ", "docs"]).1.len(), 3);
    let (_, either) = sorted(&["-c", "ï|words", "docs"]);
    assert!(
        either.contains(&"docs/small.txt:1".to_owned()),
        "{either:?}"
    );
    let (code, none) = sorted(&["ж", "docs"]);
    assert_eq!((code, none.len()), (1, 0));
    let (_, all) = sorted(&["-c", "--include-zero", r"\p{Greek}", "docs"]);
    assert!(
        all.contains(&"docs/small.txt:0".to_owned()) && all.len() >= 5,
        "{all:?}"
    );
    let (_, without) = sorted(&["--files-without-match", r"\p{Greek}", "docs"]);
    assert!(
        without.contains(&"docs/large.txt".to_owned()),
        "{without:?}"
    );
    let (_, others) = sorted(&["-v", "-c", r"\p{Greek}", "docs"]);
    assert!(
        others.contains(&"docs/small.txt:1".to_owned()),
        "{others:?}"
    );
}

#[test]
fn flags_may_stand_in_a_file() {
    let world = lines();
    let flags = world.write("flags", "# mine\n--count\n\n--glob=!b*\n-g!flags\n");
    let run = |path: &std::path::Path, args: &[&str]| {
        let mut command = world.command(["grep"].iter().chain(args));
        let run = command.env("KEN_GREP_CONFIG_PATH", path).output().unwrap();
        (
            String::from_utf8(run.stdout).unwrap(),
            String::from_utf8(run.stderr).unwrap(),
        )
    };
    assert_eq!(run(&flags, &["lock", "docs"]).0, "docs/a.txt:3\n");
    assert_eq!(
        run(&flags, &["-l", "lock", "docs"]).0,
        "docs/a.txt\n",
        "what is typed counts more"
    );
    let (all, _) = run(
        &flags,
        &["--no-config", "-c", "lock", "docs", "--sort=path"],
    );
    assert_eq!(all, "docs/a.txt:3\ndocs/b.txt:2\n");
    let (found, message) = run(
        std::path::Path::new("nowhere"),
        &["-c", "lock", "docs/a.txt"],
    );
    assert_eq!(found, "3\n");
    assert!(
        message.contains("KEN_GREP_CONFIG_PATH") && message.contains("nowhere"),
        "{message}"
    );
}

#[test]
fn help_and_version_are_kens() {
    let world = World::new();
    world.write("x", "x\n");
    let (code, help) = grep(&world, &["--help"]);
    assert!(
        code == 0 && help.contains("--near <NUM>") && help.contains("--type-not"),
        "{help}"
    );
    assert_eq!(grep(&world, &["-h"]), (0, help));
    let linked = grep(
        &world,
        &["--hyperlinks=always", "--color=always", "-l", "x", "docs"],
    );
    assert!(linked.1.contains("\u{1b}]8;;file://"), "{}", linked.1);
    let version = grep(&world, &["--version"]).1;
    assert!(version.starts_with("ken "), "{version}");
    assert!(grep(&world, &["--pcre2-version"]).1.starts_with("PCRE2 "));
    let (code, message) = grep(&world, &["--generate", "man"]);
    assert!(code == 2 && message.contains("ken man"), "{message}");
}

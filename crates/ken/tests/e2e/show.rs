//! `ken show` and `ken open`: addresses, parts of texts, numbers of hits, and the programs that open documents.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::pty;
use crate::samples::fixture;
use crate::world::{Run, World};

fn on_a_terminal(world: &World, columns: usize, line: &str) -> String {
    let output = pty::on_a_terminal(world, columns, &[("NO_COLOR", "1")], &["sh", "-c", line]);
    String::from_utf8(output.stdout).unwrap().replace('\r', "")
}

/// Returns a world with a text of a hundred lines, a text of pages, a message with an attachment, and an archive.
fn library() -> World {
    let world = World::new();
    let line = |n: usize| match n {
        40 | 41 | 77 => format!("line {n} has an okapi in it\n"),
        _ => format!("line {n} is plain\n"),
    };
    world.write("notes.txt", (1..=100).map(line).collect::<String>());
    world.write("pages.txt", "first\u{c}second page\nof three\u{c}third\n");
    let mail = "From: Ann Vole <ann@x.org>\nTo: bob@x.org\nSubject: the survey\nMessage-ID: <1@x.org>\n\
        Date: Mon, 5 Jan 2026 10:00:00 +0000\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n\
        --b\nContent-Type: text/plain\n\nplease see the okapi\n--b\nContent-Type: text/plain; name=\"-x figures.txt\"\n\
        Content-Disposition: attachment; filename=\"-x figures.txt\"\n\nforty okapis\n--b--\n";
    world.write("mail/cur/1.host:2,S", mail);
    world.index_docs();
    world
}

fn object(run: &Run) -> Value {
    assert_eq!(run.code, 0, "{}", run.err);
    run.objects().remove(0)
}

#[test]
fn a_part_of_a_text_is_shown_with_its_numbers() {
    let world = library();
    let run = world.ken(["show", "docs/notes.txt", "--lines", "9-10"]);
    let text = run.text();
    assert!(text.starts_with("notes.txt\n"), "{text}");
    assert!(
        text.ends_with("\n 9  line 9 is plain\n10  line 10 is plain\n"),
        "{text}"
    );
    let run = world.ken(["show", "docs/notes.txt:50"]);
    assert!(run.text().contains("\n40  line 40") && !run.text().contains("\n39  "));
    let run = world.ken(["show", "--around", "okapi", "-C", "1", "docs/notes.txt"]);
    let groups: Vec<_> = run
        .text()
        .split("\n\n")
        .nth(1)
        .unwrap()
        .split("--\n")
        .collect();
    assert_eq!(groups.len(), 2, "{groups:?}");
    assert!(
        groups[0].starts_with("39  ") && groups[1].starts_with("76  "),
        "{groups:?}"
    );
    let run = world.ken(["show", "docs/pages.txt", "--page", "2-", "--json"]);
    let shown = object(&run);
    assert_eq!(
        shown["parts"][0]["text"],
        "second page\nof three\u{c}third\n"
    );
    assert_eq!(shown["parts"][0]["page"], 2);
    assert_eq!(
        (&shown["n_pages"], &shown["file"]),
        (&3.into(), &"same".into())
    );
    let none = world.ken(["show", "docs/notes.txt", "--around", "walrus"]);
    assert_eq!(none.code, 1);
    assert!(none.err.contains("matches nothing"), "{}", none.err);
}

#[test]
fn a_budget_is_never_exceeded_and_the_next_commands_give_the_rest() {
    let world = library();
    for budget in [400, 1000, 2000] {
        for json in [false, true] {
            let mut line = format!("ken show docs/notes.txt --budget {budget}");
            if json {
                line.push_str(" --json");
            }
            let mut read = String::new();
            for _ in 0..100 {
                let run = world.ken(line.split_whitespace().skip(1));
                assert!(
                    run.code == 0 && run.out.len() <= budget,
                    "{line}: {}",
                    run.err
                );
                let next = match json {
                    true => {
                        let shown = object(&run);
                        read.push_str(shown["parts"][0]["text"].as_str().unwrap());
                        shown["next"].as_str().map(str::to_owned)
                    }
                    false => {
                        let lines = run.text().lines();
                        let numbered = lines.filter_map(|line| line.split_once("  line "));
                        numbered.for_each(|(_, rest)| read.push_str(&format!("line {rest}\n")));
                        let last = run.text().lines().last().unwrap_or_default();
                        let next = last.split_once("next: ");
                        next.map(|(_, next)| next.trim_end_matches(']').to_owned())
                    }
                };
                match next {
                    Some(next) => line = next,
                    None => break,
                }
            }
            let whole = fs_err::read_to_string(world.docs().join("notes.txt")).unwrap();
            assert_eq!(read, whole, "{budget} {json}");
        }
    }
    let run = world.ken(["show", "docs/notes.txt", "--budget", "20"]);
    assert!(
        run.code == 2 && run.err.contains("at least 256"),
        "{}",
        run.err
    );
}

#[test]
fn every_address_that_is_printed_is_taken() {
    let world = library();
    let hits = world.hits("okapis filename:figures");
    let (path, ipath) = (
        hits[0]["path"].as_str().unwrap(),
        hits[0]["ipath"].as_str().unwrap(),
    );
    let member = format!("{path}|{ipath}");
    let id = hits[0]["id"].as_str().unwrap();
    for address in [&member, id] {
        let shown = object(&world.ken(["show", address, "--json"]));
        assert_eq!(
            shown["parts"][0]["text"].as_str().unwrap().trim(),
            "forty okapis"
        );
        let inside = world.ken(["search", "--in", address, "okapis"]);
        assert!(inside.text().contains("forty"), "{}", inside.err);
    }
    let run = world.ken(["extract", &member]);
    assert!(run.code == 0 && run.text().contains("forty okapis") && !run.text().contains("please"));
    let message = world.ken(["show", path]);
    assert!(
        message.text().starts_with("From: Ann Vole <ann@x.org>\n"),
        "{}",
        message.text()
    );
    assert!(
        message
            .text()
            .contains(&format!("Attachment: {member}  -x figures.txt"))
    );
    for (typed, said) in [
        ("docs/Notes.txt", "did you mean [HOME]/docs/notes.txt?"),
        ("docs/note", "did you mean [HOME]/docs/notes.txt?"),
        ("docs", "is a folder"),
        ("docs/nothing.odt", "is not in the index"),
        ("3", "no list of hits on this terminal"),
    ] {
        let run = world.ken(["show", typed]);
        let err = run
            .err
            .replace(&world.home().display().to_string(), "[HOME]");
        assert!(run.code == 2 && err.contains(said), "{typed}: {err}");
    }
}

#[test]
fn other_commands_take_the_same_addresses() {
    let world = library();
    let figures = world.hits("okapis filename:figures").remove(0);
    let (path, ipath) = (
        figures["path"].as_str().unwrap(),
        figures["ipath"].as_str().unwrap(),
    );
    let notes = world.hits("filename:notes").remove(0);
    let file = notes["path"].as_str().unwrap();
    let line = format!("{file}:40");
    let url = format!("file://{file}");
    for (address, said, unsaid) in [
        (format!("{path}|{ipath}"), "forty okapis", "please"),
        (
            figures["id"].as_str().unwrap().to_owned(),
            "forty okapis",
            "please",
        ),
        (
            notes["id"].as_str().unwrap().to_owned(),
            "an okapi in it",
            "forty",
        ),
        (line, "an okapi in it", "forty"),
        (url, "an okapi in it", "forty"),
    ] {
        let extracted = world.ken(["extract", &address]);
        let text = extracted.text();
        assert!(
            text.contains(said) && !text.contains(unsaid),
            "{address}: {}",
            extracted.err
        );
        let lines = world.ken(["grep", "--documents", "okapi", &address]);
        let text = lines.text();
        assert!(
            text.contains(said) && !text.contains(unsaid),
            "{address}: {text}{}",
            lines.err
        );
        let why = world.ken(["status", "--why", &address]);
        assert!(
            why.code == 0 && why.text().contains("documents "),
            "{address}: {}",
            why.text()
        );
    }
    // A word is a query, an address is a document, and a number without a list is neither.
    let tagged = |arguments: &[&str]| world.ken([&["tag", "+seen"], arguments].concat());
    assert_eq!(tagged(&[file]).code, 0);
    assert_eq!(world.found("tag:seen"), ["notes.txt"]);
    assert_eq!(tagged(&[figures["id"].as_str().unwrap()]).code, 0);
    assert_eq!(world.found("tag:seen").len(), 2);
    let run = tagged(&["1"]);
    assert!(
        run.code == 2 && run.err.contains("no list of hits"),
        "{}",
        run.err
    );
    assert_eq!(tagged(&["/nowhere.txt"]).code, 2);
    // A bare word and an expression are queries, also beside a file with that name.
    let run = world.ken(["tag", "+word", "/oka.*/"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(world.found("tag:word").len() > 1);
    assert_eq!(world.found("tag:seen").len(), 2);
}

#[test]
fn names_that_would_steer_a_terminal_are_addresses_too() {
    let world = World::new();
    world.write("up\u{202e}drow.txt", "a quokka in a tree");
    world.write("two\nlines.txt", "under the ground lives a quokka");
    world.index_docs();
    let run = world.ken(["search", "--fields", "address", "quokka"]);
    assert_eq!(run.lines().len(), 2, "{}", run.text());
    assert!(
        run.text().contains("up\\xe2\\x80\\xaedrow.txt"),
        "{}",
        run.text()
    );
    for address in run.lines() {
        let shown = world.ken(["show", address]);
        assert!(
            shown.text().contains("a quokka"),
            "{address}: {}",
            shown.err
        );
        assert!(shown.text().contains(address), "{}", shown.text());
    }
}

#[test]
fn what_a_text_does_not_have_is_said() {
    let world = library();
    for (option, number, said) in [
        ("--page", "9", "the document has 3 pages"),
        ("--lines", "900-910", "the document has 2 lines"),
    ] {
        let run = world.ken(["show", "docs/pages.txt", option, number]);
        assert!(run.code == 2 && run.err.contains(said), "{}", run.err);
    }
    let run = world.ken(["show", "docs/notes.txt", "--around", "zeppelin"]);
    assert!(
        run.code == 1 && run.text().contains("line 1 is plain"),
        "{}",
        run.text()
    );
    let run = world.ken(["search", "okapi", "--json", "--keys", "path,nonsense"]);
    assert!(run.code == 2 && run.err.contains("nonsense"), "{}", run.err);
    // What people see and what programs read of a mistake.
    let run = world.ken(["search", "--json", "\"okapi"]);
    let error = &run.objects()[0]["error"];
    assert!(!error["message"].as_str().unwrap().contains('^'), "{error}");
    assert!(
        error["hint"].as_str().unwrap().contains("end the phrase"),
        "{error}"
    );
    assert!(
        run.err.contains('^') && run.err.contains("hint: "),
        "{}",
        run.err
    );
}

#[test]
fn a_message_keeps_its_address_when_its_flags_change() {
    let world = library();
    let old = world.docs().join("mail/cur/1.host:2,S");
    let member = world.location(&world.hits("okapis filename:figures")[0]);
    let id = |query: &str| world.hits(query)[0]["id"].as_str().unwrap().to_owned();
    let ids = [
        id("\"please see the okapi\""),
        id("okapis filename:figures"),
    ];
    world.rename("mail/cur/1.host:2,S", "mail/cur/1.host:2,RS");
    world.index_docs();
    let shown = world.ken([OsStr::new("show"), old.as_os_str()]);
    assert!(
        shown.text().contains("please see the okapi"),
        "{}",
        shown.err
    );
    let shown = world.ken(["show", &format!("docs/{member}")]);
    assert!(
        shown.text().contains("forty okapis"),
        "{member}: {}",
        shown.err
    );
    for (id, text) in ids.iter().zip(["please see the okapi", "forty okapis"]) {
        let shown = world.ken(["show", id]);
        assert!(shown.text().contains(text), "{id}: {}", shown.err);
    }
    let stranger = format!("{:0>16}", "f00d");
    assert_eq!(world.ken(["show", &stranger]).code, 2);
}

#[test]
fn a_sheet_is_named_as_it_is_printed() {
    let world = World::new();
    world.write("sample.ods", fixture("sample.ods"));
    world.index_docs();
    let hit = world.hits("kelpiesund").remove(0);
    let sheet = hit["sheet"].as_str().unwrap();
    let printed = world.ken(["search", "kelpiesund"]);
    assert!(
        printed
            .text()
            .contains(&format!("sample.ods sheet {sheet}")),
        "{}",
        printed.text()
    );
    let shown = world.ken(["show", &format!("docs/sample.ods sheet {sheet}")]);
    assert!(
        shown.text().contains(&format!("--- sheet {sheet} ---")),
        "{}{}",
        shown.text(),
        shown.err
    );
    assert!(
        shown.text().contains("kelpiesund") && !shown.text().contains(" pages"),
        "{}",
        shown.text()
    );
    assert_eq!(
        world.ken(["show", "docs/sample.ods sheet nonsense"]).code,
        2
    );
}

#[test]
fn a_changed_or_deleted_file_is_said() {
    let world = library();
    world.write("notes.txt", "something else\n");
    world.remove("pages.txt");
    let run = world.ken(["show", "docs/notes.txt", "--lines", "1"]);
    assert!(run.text().contains("line 1 is plain"));
    assert!(
        run.err.contains("has changed since it was indexed"),
        "{}",
        run.err
    );
    let run = world.ken(["show", "docs/pages.txt"]);
    assert!(
        run.code == 0 && run.err.contains("no longer exists"),
        "{}",
        run.err
    );
    let run = world.ken(["open", "docs/pages.txt", "--with", "cat"]);
    assert!(
        run.code == 2 && run.err.contains("no longer exists"),
        "{}",
        run.err
    );
}

#[test]
fn numbers_of_the_last_list_are_addresses_on_their_terminal() {
    let world = library();
    let line = "$ken search okapi filename:notes && $ken show 1 --lines 40 && $ken show 9; $ken mail list survey && $ken show 1";
    let shown = on_a_terminal(&world, 80, line);
    assert!(shown.starts_with(" 1  notes.txt\n"), "{shown}");
    assert!(
        shown.contains("\n40  line 40 has an okapi in it\n"),
        "{shown}"
    );
    assert!(
        shown.contains("the last list on this terminal has the numbers 1 to 1"),
        "{shown}"
    );
    assert!(
        shown.contains("\n1  2026-01-05  Ann Vole  the survey\n"),
        "{shown}"
    );
    assert!(shown.contains("\nFrom: Ann Vole <ann@x.org>\n"), "{shown}");
    let other = on_a_terminal(&world, 80, "$ken show 1");
    assert!(
        other.contains("there is no list of hits on this terminal yet"),
        "{other}"
    );
    let lists = world.home().join("state/ken/lists");
    let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&lists), 0o700);
    let files: Vec<_> = fs_err::read_dir(&lists).unwrap().collect();
    assert_eq!(files.len(), 1);
    assert_eq!(mode(&files[0].as_ref().unwrap().path()), 0o600);
}

#[test]
fn lines_fit_the_terminal_and_messages_have_their_sender() {
    let world = library();
    let words =
        "The quick brown okapi jumps over the lazy dog of 日本語の本 again and again. ".repeat(20);
    world.write("a document with a long name.txt", &words);
    world.index_docs();
    for columns in [40, 60, 133] {
        let shown = on_a_terminal(&world, columns, "$ken search okapi; $ken show docs/a*.txt");
        for line in shown.lines().filter(|line| !line.contains("/docs/")) {
            let width: usize = line
                .chars()
                .map(|c| if c.is_ascii() || c == '…' { 1 } else { 2 })
                .sum();
            assert!(width <= columns, "{columns}: {line}");
            let word = line.split_whitespace().last().unwrap_or_default();
            assert!(
                !["qui", "bro", "oka", "jum", "laz"].contains(&word),
                "{line}"
            );
        }
    }
    let shown = on_a_terminal(&world, 120, "$ken search survey type:message");
    let (folder, rest) = shown
        .lines()
        .nth(1)
        .unwrap()
        .split_once("  Ann Vole  ")
        .unwrap();
    assert!(
        folder.ends_with("/docs/mail") && rest.starts_with("2026-01-05"),
        "{shown}"
    );
    let piped = world.ken(["search", "survey", "type:message"]);
    assert!(
        piped
            .text()
            .contains("/mail/cur/1.host:2,S  Ann Vole  2026-01-05"),
        "{}",
        piped.text()
    );
}

#[test]
fn a_pager_shows_what_a_terminal_gets() {
    let world = library();
    let line = "export KEN_PAGER='sed s/^/PAGED/'; $ken show docs/pages.txt --page 3; $ken --no-pager show docs/pages.txt --page 3; $ken show docs/pages.txt --page 3 | cat; KEN_PAGER='head -n 1' $ken show --all docs/notes.txt; echo code $?";
    let shown = on_a_terminal(&world, 80, line);
    assert_eq!(shown.matches("PAGED2  third\n").count(), 1, "{shown}");
    assert_eq!(shown.matches("\n2  third\n").count(), 2, "{shown}");
    assert!(shown.ends_with("notes.txt\ncode 0\n"), "{shown}");
}

#[test]
fn a_pager_begins_at_the_match_of_a_numbered_hit() {
    let world = library();
    // A pager of this name takes the number of a line, and shows what less would show first.
    let folder = world.home().join("pagers");
    fs_err::create_dir_all(&folder).unwrap();
    let script = "#!/bin/sh\nfrom=+1\nfor word; do case $word in +*) from=$word;; esac; done\ntail -n +${from#+} | head -n 8\n";
    for name in ["less", "other"] {
        fs_err::write(folder.join(name), script).unwrap();
        let executable = std::fs::Permissions::from_mode(0o755);
        fs_err::set_permissions(folder.join(name), executable).unwrap();
    }
    let shown = |rest: &str| {
        let search = "$ken search 'okapi filename:notes.txt' > /dev/null";
        let list = "$ken --no-pager search 'okapi filename:notes.txt'";
        let line = format!("{search}; {list}; echo THEN; {rest}");
        let shown = on_a_terminal(&world, 80, &line);
        shown.split_once("THEN\n").unwrap().1.to_owned()
    };
    let less = folder.join("less");
    let first = shown(&format!("PAGER='{} -R' $ken show 1", less.display()));
    let lines: Vec<&str> = first.lines().collect();
    assert_eq!(lines[5], " 40  line 40 has an okapi in it", "{first}");
    assert_eq!(lines.len(), 8);
    // From a match on the first screen nothing is left out, and other pagers get no option.
    let near = shown(&format!(
        "PAGER={} $ken show 1 --lines 38-50",
        less.display()
    ));
    assert!(
        near.lines()
            .any(|line| line == "40  line 40 has an okapi in it"),
        "{near}"
    );
    let other = shown(&format!(
        "PAGER='{} -x' $ken show 1 2>&1",
        folder.join("other").display()
    ));
    assert!(!other.contains("line 40"), "{other}");
}

#[test]
fn numbers_of_the_last_list_name_messages() {
    let world = library();
    let line = "$ken --no-pager mail list survey; $ken --no-pager mail show 1; $ken mail save --to saved 1; $ken mail tag +seen-it 1; \
        $ken --no-pager mail show 9; echo code $?";
    let shown = on_a_terminal(&world, 100, line);
    assert!(shown.contains("please see the okapi"), "{shown}");
    assert!(shown.contains("saved/-x figures.txt"), "{shown}");
    assert!(shown.ends_with("code 2\n"), "{shown}");
    assert_eq!(world.found("tag:seen-it"), ["mail/cur/1.host:2,S"]);
}

/// Writes a program that notes its arguments, and returns it.
fn noting(world: &World, name: &str) -> String {
    let folder = world.home().join("bin");
    fs_err::create_dir_all(&folder).unwrap();
    let program = folder.join(name);
    let script = format!(
        "#!/bin/sh\nprintf '[%s]' {name} \"$@\" >> '{}/noted'\n",
        world.home().display()
    );
    fs_err::write(&program, script).unwrap();
    fs_err::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    program.display().to_string()
}

fn noted(world: &World) -> String {
    let file = world.home().join("noted");
    let text = fs_err::read_to_string(&file).unwrap_or_default();
    let _ = fs_err::remove_file(&file);
    text.replace(&world.home().display().to_string(), "~")
}

#[test]
fn documents_open_in_their_programs() {
    let world = library();
    world.write("-o;touch x.txt", "an oddly named okapi\n");
    world.write("run.sh", "#!/bin/sh\necho okapi\n");
    let script = world.docs().join("run.sh");
    fs_err::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    world.index_docs();
    let own = noting(&world, "own");
    let (editor, _) = (noting(&world, "vi"), noting(&world, "xdg-open"));
    let path = world.home().join("bin").display().to_string();
    let open = |arguments: &[&str], desktop: bool| {
        let mut command = world.command(["open"].iter().chain(arguments));
        command.env("PATH", &path);
        if desktop {
            command.env("DISPLAY", ":9");
        }
        let run = Run::of(command.output().unwrap());
        (noted(&world), run.code, run.err)
    };
    let with = |line: &str| format!("{own} {line}");
    let opened = open(&["docs/notes.txt:7", "--with", &with("+%l %f")], false);
    assert_eq!(opened.0, "[own][+7][~/docs/notes.txt]");
    let opened = open(&["docs/-o;touch x.txt", "--with", &own], false);
    assert_eq!(opened.0, "[own][~/docs/-o;touch x.txt]");
    let opened = open(&["docs/notes.txt"], true);
    assert_eq!(
        (opened.0.as_str(), opened.1),
        ("[xdg-open][~/docs/notes.txt]", 0)
    );
    let opened = open(&["docs/notes.txt", "--folder"], true);
    assert_eq!(opened.0, "[xdg-open][~/docs]");
    let opened = open(&["docs/run.sh"], true);
    assert_eq!(opened.0, "[xdg-open][~/docs]");
    assert!(opened.2.contains("would run it"), "{}", opened.2);
    let opened = open(&["docs/notes.txt"], false);
    assert!(
        opened.1 == 2 && opened.2.contains("no desktop"),
        "{}",
        opened.2
    );
    let line = format!("VISUAL='{editor} -R' $ken open docs/notes.txt:9");
    on_a_terminal(&world, 80, &line);
    assert_eq!(noted(&world), "[vi][-R][+9][~/docs/notes.txt]");
    world.configure(&format!("[open]\n\"text/*\" = \"{own} --at=%p %f\"\n"));
    let opened = open(&["docs/pages.txt", "--page", "2"], true);
    assert_eq!(opened.0, "[own][--at=2][~/docs/pages.txt]");
}

#[test]
fn a_member_is_unpacked_for_its_user_alone() {
    let world = library();
    let hit = world.hits("okapis filename:figures").remove(0);
    let id = hit["id"].as_str().unwrap();
    let old = world.home().join("state/ken/opened/old");
    fs_err::create_dir_all(&old).unwrap();
    let file = fs_err::File::open(&old).unwrap();
    file.file()
        .set_modified(std::time::SystemTime::UNIX_EPOCH)
        .unwrap();
    let run = world.ken(["open", id, "--with", "/usr/bin/stat -c %a:%n"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let (mode, path) = run.text().trim().split_once(':').unwrap();
    assert_eq!(mode, "400");
    let path = Path::new(path);
    assert_eq!(path.file_name().unwrap(), "-x figures.txt");
    let folder = fs_err::metadata(path.parent().unwrap()).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
    assert_eq!(fs_err::read_to_string(path).unwrap().trim(), "forty okapis");
    assert!(!old.exists());
}

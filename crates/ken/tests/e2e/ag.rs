//! `ag`: ken under another name, compared with the output of ag (`cases/ag/README.md`).

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use toml::{Table, Value};

use crate::world::{Run, World};

/// Writes the files of a case file.
fn make(folder: &Path, cases: &Table) {
    let list = |name: &str| cases.get(name).and_then(Value::as_array).cloned();
    let table = |name: &str| cases.get(name).and_then(Value::as_table).cloned();
    let path = |name: &str| {
        let path = folder.join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        path
    };
    for name in list("folders").unwrap_or_default() {
        fs_err::create_dir_all(folder.join(name.as_str().unwrap())).unwrap();
    }
    for (name, text) in table("files").unwrap_or_default() {
        fs_err::write(path(&name), text.as_str().unwrap()).unwrap();
    }
    for (name, digits) in table("bytes").unwrap_or_default() {
        let digits = digits.as_str().unwrap();
        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
        let bytes: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
        fs_err::write(path(&name), bytes).unwrap();
    }
    for (name, target) in table("links").unwrap_or_default() {
        symlink(target.as_str().unwrap(), path(&name)).unwrap();
    }
}

/// Splits a command line at spaces; single quotes keep spaces.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            letter => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

fn run(folder: &Path, arguments: &[String], case: &Table) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ken"));
    command.env_clear().current_dir(folder).arg("ag");
    if !case.contains_key("bare") {
        command.env("HOME", folder.join("home"));
        command.env("PATH", "/usr/bin:/bin").env("TERM", "xterm");
    }
    let input = case.get("input").and_then(Value::as_str);
    command.stdin(match input {
        Some(_) => Stdio::piped(),
        None => Stdio::null(),
    });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.args(arguments).spawn().unwrap();
    if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
        // A program that needs no input does not read it.
        let _ = pipe.write_all(input.as_bytes());
    }
    Run::of(child.wait_with_output().unwrap())
}

/// Replaces seconds by `T`, and sorts the lines if the case file says so.
fn settled(text: &str, is_sorted: bool) -> String {
    let is_time = |line: &str| {
        line.strip_suffix(" seconds")
            .is_some_and(|number| number.parse::<f64>().is_ok())
    };
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    for line in &mut lines {
        if is_time(line.trim_end()) {
            *line = "T seconds\n";
        }
    }
    if is_sorted {
        lines.sort_unstable();
    }
    lines.concat()
}

/// Runs all command lines of a case file.
fn check(name: &str) {
    let path = format!("{}/../../cases/ag/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let cases: Table = fs_err::read_to_string(path).unwrap().parse().unwrap();
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), &cases);
    let is_sorted = cases.contains_key("sorted");
    let always = cases.get("always").and_then(Value::as_str);
    let runs = cases["run"].as_array().unwrap();
    assert!(runs.len() > 30, "{}", runs.len());
    let mut wrong = BTreeMap::new();
    for case in runs {
        let case = case.as_table().unwrap();
        let line = case["ag"].as_str().unwrap();
        let mut arguments = words(always.unwrap_or_default());
        arguments.extend(words(line));
        let run = run(folder.path(), &arguments, case);
        let text = |name: &str| case.get(name).and_then(Value::as_str).unwrap_or_default();
        let mut out = settled(&String::from_utf8_lossy(&run.out), is_sorted);
        if case.contains_key("usage") {
            assert!(out.contains("Usage: ag"), "{line}: {out}");
            out.clear();
        }
        let err = settled(&run.err, is_sorted);
        let code = i64::from(run.code);
        let expected = (text("out"), text("err"), case["code"].as_integer().unwrap());
        if (out.as_str(), err.as_str(), code) != expected {
            wrong.insert(line, format!("{expected:?}\n  {:?}", (out, err, code)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn lines_are_those_of_ag() {
    check("lines");
}

#[test]
fn matches_are_those_of_ag() {
    check("matches");
}

#[test]
fn streams_are_searched_as_by_ag() {
    check("streams");
}

#[test]
fn files_are_those_of_ag() {
    check("files");
}

#[test]
fn ignore_rules_are_those_of_ag() {
    check("ignored");
}

#[test]
fn messages_are_those_of_ag() {
    check("usage");
}

/// A folder with two files, and ken's binary under the name `ag`.
fn world() -> (World, PathBuf) {
    let world = World::new();
    world.write("a.txt", "foo\n");
    world.write("b/c.txt", "bar foo\n");
    let ag = world.home().join("ag");
    symlink(env!("CARGO_BIN_EXE_ken"), &ag).unwrap();
    (world, ag)
}

fn ag<A: AsRef<OsStr>>(world: &World, ag: &Path, arguments: impl IntoIterator<Item = A>) -> Run {
    let mut command = Command::new(ag);
    let command = command.env_clear().current_dir(world.docs());
    Run::of(
        command
            .stdin(Stdio::null())
            .args(arguments)
            .output()
            .unwrap(),
    )
}

#[test]
fn a_link_with_its_name_is_ag() {
    let (world, program) = world();
    let run = ag(&world, &program, ["-l", "foo"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let mut lines = run.lines();
    lines.sort_unstable();
    assert_eq!(lines, ["a.txt", "b/c.txt"]);
    let run = ag(&world, &program, ["--version"]);
    assert!(
        run.text().starts_with("ag version 2.2.0\n"),
        "{}",
        run.text()
    );
    let run = ag(&world, &program, ["--help"]);
    assert!(run.code == 0 && run.text().contains("--[no]numbers"));
}

#[test]
fn output_goes_through_a_pager() {
    let (world, program) = world();
    let run = ag(&world, &program, ["--pager", "/usr/bin/tr a-z A-Z", "bar"]);
    assert_eq!(run.text(), "B/C.TXT:1:BAR FOO\n");
}

#[test]
fn the_file_that_output_goes_to_is_not_searched() {
    let (world, program) = world();
    let out = world.docs().join("out.txt");
    let file = fs_err::File::create(&out).unwrap();
    let mut command = Command::new(program);
    let command = command.env_clear().current_dir(world.docs());
    let code = command
        .args(["-c", "foo"])
        .stdout(file.into_file())
        .status();
    assert!(code.unwrap().success());
    let text = fs_err::read_to_string(out).unwrap();
    assert!(
        !text.contains("out.txt") && text.contains("a.txt:1"),
        "{text}"
    );
}

#[test]
fn git_says_what_is_ignored_everywhere() {
    let (world, program) = world();
    let home = world.home();
    fs_err::write(home.join(".gitconfig"), "[core]\n\texcludesFile = ~/mine\n").unwrap();
    fs_err::write(home.join("mine"), "a.txt\n").unwrap();
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("HOME", home)
        .current_dir(world.docs());
    command.env("PATH", "/usr/bin:/bin").stdin(Stdio::null());
    let run = Run::of(command.args(["-l", "foo"]).output().unwrap());
    assert_eq!(run.lines(), ["b/c.txt"]);
}

#[test]
fn compressed_files_are_searched_if_asked() {
    let (world, program) = world();
    world.write("d.txt", "");
    // `printf 'foo\nbar\n' | gzip -n`
    let squeezed = [
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x4b, 0xcb, 0xcf, 0xe7, 0x4a,
        0x4a, 0x2c, 0xe2, 0x02, 0x00, 0x82, 0x83, 0xac, 0x98, 0x08, 0x00, 0x00, 0x00,
    ];
    world.write("e.gz", squeezed);
    let run = ag(&world, &program, ["foo", "e.gz"]);
    assert_eq!((run.code, run.text()), (1, ""));
    let run = ag(&world, &program, ["-z", "bar", "e.gz"]);
    assert_eq!((run.text(), run.err.as_str()), ("2:bar\n", ""));
}

#[test]
fn many_workers_find_what_one_finds() {
    let (world, program) = world();
    for number in 0..400 {
        world.write(
            format!("many/{}/{number}.txt", number % 7),
            format!("foo {number}\n"),
        );
    }
    let lines = |workers: &str| {
        let run = ag(&world, &program, ["--workers", workers, "foo"]);
        let mut lines: Vec<String> = run.lines().iter().map(|line| (*line).to_owned()).collect();
        lines.sort_unstable();
        lines
    };
    let one = lines("1");
    assert_eq!(one.len(), 402);
    assert_eq!(one, lines("4"));
}

#[test]
fn an_index_leaves_out_files_that_cannot_match() {
    let (world, _) = world();
    for number in 0..40 {
        let text = format!("nothing of interest in number {number}\n");
        world.write(format!("many/{number}.txt"), text);
    }
    world.write("utf16.txt", b"\xff\xfez\0e\0b\0r\0a\0");
    world.write("zebra.txt", "a Zebra\n");
    world.index_docs();
    world.write("many/7.txt", "this one has a zebra now\n");
    world.write("many/new.txt", "zebras\n");
    let lines = |arguments: &[&str]| {
        let run = world.ken(
            ["ag", "--workers=1"]
                .iter()
                .chain(arguments)
                .chain(&["docs"]),
        );
        assert_eq!(run.err, "");
        let lines = run.lines().into_iter().map(str::to_owned);
        lines.collect::<Vec<String>>()
    };
    let found = [
        "docs/many/7.txt:1:this one has a zebra now",
        "docs/many/new.txt:1:zebras",
        "docs/zebra.txt:1:a Zebra",
    ];
    assert_eq!(lines(&["zebra"]), found);
    assert_eq!(lines(&["ze[a-c]ra"]), found);
    assert_eq!(lines(&["-s", "zebra"]), found[..2]);
    assert_eq!(lines(&["-c", "-v", "zebra"]).len(), 41);
    assert_eq!(lines(&["-L", "zebra"]).len(), 41);
    let skipped = lines(&["--debug", "zebra"]);
    let skipped = skipped
        .iter()
        .filter(|line| line.contains("the index says"));
    assert_eq!(skipped.count(), 41);
}

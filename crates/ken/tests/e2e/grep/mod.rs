//! `ken grep` beside ripgrep: every command line of `cases/grep/commands.txt` prints what `rg` prints.
//!
//! The output of rg is in `cases/grep/expected.txt`. To renew it:
//! `UPDATE_GREP_CASES=/usr/bin/rg cargo test -p ken-cli --test e2e grep`, with ripgrep 15.2 and PCRE2.

mod beyond;
mod cases;
mod indexed;
mod listings;
mod ngrams;
mod trees;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};

use cases::Case;

use crate::world::World;

/// Runs a command line of a case with a program, and returns its output and exit code as text.
fn run(case: &Case, program: &Path, first: &[&str], world: &World) -> String {
    let folder = world.home().join("trees").join(&case.tree);
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", world.home())
        .env("XDG_CONFIG_HOME", world.home().join("config"))
        .env("XDG_DATA_HOME", world.home().join("data"))
        .env("TZ", "UTC")
        .current_dir(folder)
        .args(first)
        .args(
            case.words
                .iter()
                .map(|word| OsString::from(std::ffi::OsStr::from_bytes(word))),
        )
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    match &case.input {
        None => _ = command.stdin(Stdio::null()),
        Some(_) => _ = command.stdin(Stdio::piped()),
    }
    for (name, value) in &case.environment {
        command.env(name, value);
    }
    let mut child = command.spawn().unwrap();
    if let Some(input) = &case.input {
        // A program may end without reading its input.
        let _ = child.stdin.take().unwrap().write_all(input);
    }
    let output = child.wait_with_output().unwrap();
    let mut record = format!("exit {}\n", output.status.code().unwrap());
    for (mark, bytes) in [("|", &output.stdout), ("!", &output.stderr)] {
        let mut lines = written_down(&neutral(bytes));
        if !case.in_order {
            lines.sort();
        }
        for line in lines {
            writeln!(record, "{mark}{line}").unwrap();
        }
    }
    record
}

/// Removes the name of the program, and what differs in each run.
fn neutral(bytes: &[u8]) -> Vec<u8> {
    let text: String = bytes.iter().map(|&byte| char::from(byte)).collect();
    let mut lines: Vec<String> = Vec::new();
    for line in text.split('\n') {
        let line = line
            .strip_prefix("rg: ")
            .map_or(line.to_owned(), |rest| format!("ken: {rest}"));
        let line = match line.split_once(" seconds ") {
            Some((number, rest)) if number.parse::<f64>().is_ok() => format!("N seconds {rest}"),
            _ => line,
        };
        let line = without_times(&line);
        let line = line.replace("which means ripgrep", "which means ken grep");
        lines.push(line.replace("ripgrep requires", "ken grep requires"));
    }
    let text = lines.join("\n");
    text.chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect()
}

/// Removes the durations from a line of JSON.
fn without_times(line: &str) -> String {
    let mut rest = line;
    let mut text = String::new();
    while let Some(at) = rest.find("\"elapsed") {
        let end = at + rest[at..].find('}').unwrap() + 1;
        text.push_str(&rest[..at]);
        text.push_str("\"elapsed\":{}");
        rest = &rest[end..];
    }
    text + rest
}

/// Returns the lines with escapes for all bytes except printable ASCII; `\c` marks a last line without a line end.
fn written_down(bytes: &[u8]) -> Vec<String> {
    let mut lines = Vec::new();
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let mut text = String::new();
        let (line, ended) = match line.strip_suffix(b"\n") {
            Some(line) => (line, true),
            None => (line, false),
        };
        for &byte in line {
            match byte {
                b'\\' => text.push_str("\\\\"),
                0x20..=0x7e => text.push(char::from(byte)),
                _ => write!(text, "\\x{byte:02x}").unwrap(),
            }
        }
        lines.push(if ended { text } else { text + "\\c" });
    }
    lines
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/grep")
}

fn make_trees(world: &World) {
    for tree in ["text", "rules", "bytes", "links", "zip"] {
        trees::make(tree, &world.home().join("trees").join(tree));
    }
}

fn all_cases() -> Vec<Case> {
    let text = fs_err::read_to_string(folder().join("commands.txt")).unwrap();
    cases::read(&text)
}

/// Runs all cases with additional arguments, and compares the output with that of ripgrep.
fn check(world: &World, more: &[&str]) {
    let cases = all_cases();
    let expected = fs_err::read_to_string(folder().join("expected.txt")).unwrap();
    let expected: BTreeMap<&str, &str> = expected
        .split("\n$ ")
        .skip(1)
        .filter_map(|record| record.split_once('\n'))
        .collect();
    assert_eq!(expected.len(), cases.len(), "see UPDATE_GREP_CASES");
    let mut wrong = String::new();
    let first: Vec<_> = ["grep"].iter().chain(more).copied().collect();
    for case in &cases {
        let printed = run(case, Path::new(env!("CARGO_BIN_EXE_ken")), &first, world);
        let wanted = expected[case.line.as_str()].trim_end();
        if printed.trim_end() != wanted {
            writeln!(
                wrong,
                "$ {}\n-- rg:\n{wanted}\n-- ken:\n{printed}",
                case.line
            )
            .unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_command_line_prints_what_ripgrep_prints() {
    let world = World::new();
    make_trees(&world);
    if let Some(program) = std::env::var_os("UPDATE_GREP_CASES") {
        let mut expected = String::from(
            "# What ripgrep 15.2.0 printed (MIT OR Unlicense); made by UPDATE_GREP_CASES.\n",
        );
        for case in &all_cases() {
            let record = run(case, Path::new(&program), &["--no-config"], &world);
            writeln!(expected, "$ {}\n{record}", case.line).unwrap();
        }
        fs_err::write(folder().join("expected.txt"), expected).unwrap();
    }
    check(&world, &[]);
}

#[test]
fn every_command_line_prints_the_same_with_an_index() {
    let world = World::new();
    make_trees(&world);
    world.index(&["--hidden", "--no-ignore", "trees"]);
    check(&world, &[]);
    check(&world, &["--trust-index"]);
}

/// One thread searches files sorted by path. Here many threads do, with another walk.
#[test]
fn many_threads_print_the_same_with_an_index() {
    let world = World::new();
    make_trees(&world);
    world.index(&["--hidden", "--no-ignore", "trees"]);
    let ken = Path::new(env!("CARGO_BIN_EXE_ken"));
    for mut case in all_cases() {
        let Some(at) = case.words.iter().position(|word| word == b"--sort") else {
            continue;
        };
        case.words.drain(at..at + 2);
        case.in_order = false;
        let run = |more: &[&str]| in_no_order(&run(&case, ken, more, &world));
        let without = run(&["grep", "--no-index"]);
        for more in [&["grep"][..], &["grep", "--trust-index"]] {
            assert_eq!(run(more), without, "{} {more:?}", case.line);
        }
    }
}

/// Returns the parts of a record between line ends and NULs, sorted.
fn in_no_order(record: &str) -> Vec<String> {
    let lines = record.lines().map(|line| line.trim_start_matches('|'));
    let mut pieces: Vec<_> = lines
        .flat_map(|line| line.split("\\x00"))
        .map(str::to_owned)
        .collect();
    pieces.sort_unstable();
    pieces
}

//! ken under the name `rg`: programs that call ripgrep can be given ken.

use std::ffi::OsStr;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::world::{Run, World};

/// A folder with two files, and ken's binary under the name `rg`.
fn world() -> (World, PathBuf) {
    let world = World::new();
    world.write("a.txt", "foo\nother\n");
    world.write("b/c.txt", "bar Foo\n");
    let rg = world.home().join("rg");
    symlink(env!("CARGO_BIN_EXE_ken"), &rg).unwrap();
    (world, rg)
}

fn command(world: &World, rg: &PathBuf) -> Command {
    let mut command = Command::new(rg);
    command.env_clear().env("HOME", world.home());
    command.current_dir(world.docs()).stdin(Stdio::null());
    command
}

fn rg<A: AsRef<OsStr>>(world: &World, rg: &PathBuf, arguments: impl IntoIterator<Item = A>) -> Run {
    Run::of(command(world, rg).args(arguments).output().unwrap())
}

#[test]
fn a_link_with_its_name_prints_what_ken_grep_prints() {
    let (world, program) = world();
    let run = rg(&world, &program, ["-n", "--sort=path", "foo", "./"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert_eq!(run.text(), "./a.txt:1:foo\n");
    let named = world.ken([
        "rg",
        "-in",
        "--sort=path",
        "foo",
        world.docs().to_str().unwrap(),
    ]);
    let same = world.ken([
        "grep",
        "-in",
        "--sort=path",
        "foo",
        world.docs().to_str().unwrap(),
    ]);
    assert_eq!((named.code, named.text()), (0, same.text()));
    assert_eq!(named.lines().len(), 2);
    assert_eq!(rg(&world, &program, ["absent"]).code, 1);
}

#[test]
fn editors_recognise_its_version() {
    let (world, program) = world();
    let short = rg(&world, &program, ["-V"]);
    assert!(
        short.text().starts_with("ripgrep 15.2.0 (ken "),
        "{}",
        short.text()
    );
    assert_eq!(short.lines().len(), 1);
    let long = rg(&world, &program, ["--version"]);
    assert!(long.text().starts_with(short.text()), "{}", long.text());
    assert!(
        long.text().contains("\nfeatures:+pcre2\n\nPCRE2 10."),
        "{}",
        long.text()
    );
}

#[test]
fn messages_have_its_name() {
    let (world, program) = world();
    for (arguments, message) in [
        (&["foo", "absent.txt"][..], "rg: absent.txt: "),
        (&["("], "rg: regex parse error"),
        (&["--no-such-flag"], "rg: unrecognized flag --no-such-flag"),
        (&[], "rg: ripgrep requires at least one pattern"),
        (
            &["foo", "-g", "*.none"],
            "rg: No files were searched, which means ripgrep",
        ),
    ] {
        let run = rg(&world, &program, arguments);
        assert!(run.err.starts_with(message), "{arguments:?}: {}", run.err);
        assert!(!run.err.contains("ken"), "{arguments:?}: {}", run.err);
    }
    let run = world.ken(["grep", "("]);
    assert!(run.err.starts_with("ken: "), "{}", run.err);
}

#[test]
fn its_configuration_is_read() {
    let (world, program) = world();
    let file = world.home().join("ripgreprc");
    fs_err::write(&file, "# always\n--ignore-case\n--sort=path\n").unwrap();
    let with = |variable: &str, more: &[&str]| {
        let mut command = command(&world, &program);
        command.env(variable, &file).args(["-l", "foo"]).args(more);
        Run::of(command.output().unwrap()).lines().len()
    };
    assert_eq!(with("RIPGREP_CONFIG_PATH", &[]), 2);
    assert_eq!(with("RIPGREP_CONFIG_PATH", &["--no-config"]), 1);
    assert_eq!(with("KEN_GREP_CONFIG_PATH", &[]), 1);
    let mut own = command(&world, &program);
    own.args(["-l", "foo"])
        .env("RIPGREP_CONFIG_PATH", world.home().join("none"));
    let run = Run::of(own.output().unwrap());
    let message = "rg: failed to read the file specified in RIPGREP_CONFIG_PATH: ";
    assert!(run.err.starts_with(message), "{}", run.err);
    assert_eq!(run.code, 0);
}

#[test]
fn it_generates_its_man_page_and_completions() {
    let (world, program) = world();
    for (kind, text) in [
        ("man", ".TH rg 1"),
        ("complete-bash", "complete -F _rg"),
        ("complete-zsh", "#compdef rg"),
        ("complete-fish", "complete -c rg -s A -l after-context"),
        ("complete-powershell", "-CommandName 'rg'"),
    ] {
        let run = rg(&world, &program, ["--generate", kind]);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{kind}");
        assert!(run.text().contains(text), "{kind}: {}", run.text());
    }
    assert_eq!(rg(&world, &program, ["--generate=word"]).code, 2);
    let run = world.ken(["grep", "--generate", "man"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("ken man FOLDER"), "{}", run.err);
}

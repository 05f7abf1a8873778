//! The help of every command, in one file per command in `crates/ken/tests/help`.

use std::collections::BTreeSet;
use std::path::Path;

use expect_test::expect_file;

use super::shown;
use crate::world::World;

/// Returns the names of the subcommands that a help text lists.
fn subcommands(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = lines
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").collect()
}

/// Compares the help of a command and of its subcommands with their files, and returns their names.
fn compare(world: &World, path: &[&str], files: &mut BTreeSet<String>) {
    let help = shown(world, &[path, &["--help"]].concat());
    let file = format!("{}.txt", [&["ken"], path].concat().join("-"));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/help");
    expect_file![folder.join(&file)].assert_eq(&help);
    files.insert(file);
    // The personalities have options of their own.
    if path
        .first()
        .is_none_or(|name| !["mu", "ag", "recollq", "rg"].contains(name))
    {
        for name in subcommands(&help) {
            compare(world, &[path, &[name]].concat(), files);
        }
    }
}

#[test]
fn every_command_has_its_help() {
    let world = World::new();
    let mut files = BTreeSet::new();
    compare(&world, &[], &mut files);
    assert!(files.len() > 20, "{files:?}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/help");
    let entries = fs_err::read_dir(folder).unwrap();
    let kept: BTreeSet<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(kept, files, "a help text of no command is left");
}

//! What ken keeps is readable by its owner alone, whatever the umask.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::needs;
use crate::world::World;

const NONE: [PathBuf; 0] = [];

/// Returns everything below a folder, and the folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_path_buf()];
    for entry in fs_err::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(below(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found
}

/// Returns what others than the owner have any right to.
fn open_to_others(folder: &Path) -> Vec<PathBuf> {
    let is_open = |path: &PathBuf| fs_err::symlink_metadata(path).unwrap().mode() & 0o077 != 0;
    below(folder).into_iter().filter(is_open).collect()
}

/// Runs commands of a shell, in which `$ken` is the binary, under the umask that denies nothing.
fn in_shell(world: &World, commands: &str) -> bool {
    let mut shell = world.around("sh");
    let script = format!("umask 0; set -e; {commands}");
    shell.args(["-c", &script]).status().unwrap().success()
}

fn filled() -> World {
    let world = World::new();
    for n in 0..40 {
        world.write(
            format!("{n}.txt"),
            format!("secret number {n} of the okapi"),
        );
    }
    world.write(
        "mail/cur/1.x:2,S",
        "From: a@x.org\nSubject: secret\nMessage-ID: <1@x.org>\n\nokapi",
    );
    world.write("page.evil", "okapi");
    world.configure("[[adapter]]\nname = \"evil\"\nextensions = [\"evil\"]\ncommand = [\"cat\"]\n");
    world
}

#[test]
fn nothing_in_the_data_folder_is_open_whatever_the_umask() {
    let world = filled();
    let commands = "$ken index docs; $ken index --pause; $ken index --resume; $ken index --pause=1h; $ken index --resume
        $ken mail tag +todo 'secret'; echo more > docs/41.txt; $ken index; $ken index --full
        $ken extract docs/page.evil; $ken mu init --maildir=docs/mail; $ken mu index
        XDG_CONFIG_HOME=$HOME/fresh $ken search okapi --save of-okapis";
    assert!(in_shell(&world, commands));
    let data = world.data();
    for name in ["index/ngrams", "tags", "mu.toml", "tmp"] {
        assert!(data.join(name).exists(), "{name}");
    }
    assert_eq!(open_to_others(&data), NONE);
    assert_eq!(open_to_others(&world.home().join("fresh")), NONE);
}

#[test]
fn an_open_data_folder_is_named_and_closed_by_the_next_run() {
    let world = filled();
    world.index_docs();
    let data = world.data();
    for path in below(&data) {
        let mode = if path.is_dir() { 0o755 } else { 0o644 };
        fs_err::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }
    let status = || world.ken(["status", "--json"]).objects()[0]["open_to_others"].clone();
    assert_eq!(status(), true);
    assert!(
        world
            .ken(["status"])
            .text()
            .contains("other users can read it")
    );
    world.index_docs();
    assert_eq!(open_to_others(&data), NONE);
    assert_eq!(status(), false);
}

#[test]
fn only_its_own_files_are_closed_in_a_folder_that_holds_others() {
    let world = filled();
    let data = world.home().join("mine");
    fs_err::create_dir(&data).unwrap();
    fs_err::write(data.join("letter"), "to all").unwrap();
    for path in below(&data) {
        fs_err::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    for _ in 0..2 {
        let run = world.ken(["index", "docs", "--data", data.to_str().unwrap()]);
        assert_eq!(run.code, 0, "{}", run.err);
        fs_err::set_permissions(data.join("index"), PermissionsExt::from_mode(0o755)).unwrap();
    }
    world.ken(["index", "docs", "--data", data.to_str().unwrap()]);
    assert_eq!(open_to_others(&data), [data.clone(), data.join("letter")]);
}

#[test]
fn root_in_the_home_of_somebody_else_is_told() {
    let world = filled();
    let is_root = fs_err::metadata("/proc/self").unwrap().uid() == 0;
    if !needs::met("root", is_root) {
        return;
    }
    let said = || world.ken(["index", "docs"]).err;
    assert!(!said().contains("root will own"));
    fs_err::remove_dir_all(world.home().join("data")).unwrap();
    std::os::unix::fs::chown(world.home(), Some(65534), None).unwrap();
    assert!(said().contains("root will own"), "{}", said());
}

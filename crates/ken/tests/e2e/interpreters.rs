//! Helpers whose interpreter is outside the system's folders: virtual environments, pyenv.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fs_err::os::unix::fs::symlink;

use crate::world::{Run, World};

/// An interpreter that needs the library of its prefix, as Python does.
const INTERPRETER: &str = "#!/bin/sh\ncat \"${0%/*}/../lib/word\" \"$1\" \"$2\"\n";

fn program(path: &Path, script: &str) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, script).unwrap();
    fs_err::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Makes the prefix of an interpreter whose output contains a word from its library.
fn version(folder: &Path, word: &str) {
    program(&folder.join("bin/speak"), INTERPRETER);
    fs_err::create_dir_all(folder.join("lib")).unwrap();
    fs_err::write(folder.join("lib/word"), format!("{word}\n")).unwrap();
}

fn index(world: &World, folder: &Path) {
    let output = world
        .command(["index", "--json", "docs"])
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
        .output();
    let summary = Run::of(output.unwrap()).summary();
    assert_eq!(summary["failed"], 0, "{:?}", world.failed());
}

#[test]
fn an_interpreter_may_read_its_libraries() {
    let world = World::new();
    world.configure(
        "[[adapter]]\nextensions = [\"one\"]\ncommand = [\"~/tools/script\", \"{path}\"]\n\
         [[adapter]]\nextensions = [\"two\"]\ncommand = [\"speak\", \"~/tools/other\", \"{path}\"]\n",
    );
    let home = world.home();
    version(&home.join("versions/first"), "otter");
    program(&home.join("tools/script"), "#!/usr/bin/env speak\n");
    program(&home.join("tools/other"), "marten\n");
    world.write("a.one", "content");
    world.write("b.two", "content");
    index(&world, &home.join("versions/first/bin"));
    assert_eq!(world.found("otter content"), ["a.one", "b.two"]);
    assert_eq!(world.found("marten"), ["b.two"]);
}

#[test]
fn a_shim_starts_one_of_the_versions_beside_it() {
    let world = World::new();
    world.configure(
        "[[adapter]]\nextensions = [\"one\"]\ncommand = [\"~/tools/script\", \"{path}\"]\n",
    );
    let all = world.home().join("languages");
    version(&all.join("versions/second"), "badger");
    let start = format!("exec {}/versions/second/bin/speak \"$@\"", all.display());
    program(&all.join("shims/speak"), &format!("#!/bin/sh\n{start}\n"));
    program(&world.home().join("tools/script"), "#!/usr/bin/env speak\n");
    world.write("a.one", "content");
    index(&world, &all.join("shims"));
    assert_eq!(world.found("badger content"), ["a.one"]);
}

/// The system's own Python runs the system's filters, since it has their modules.
#[test]
fn filters_of_recoll_run_in_an_activated_environment() {
    let world = World::new();
    world.configure("[helpers]\nprefer = [\"rclpython.py\"]\n");
    let environment = world.home().join("environment");
    fs_err::create_dir_all(environment.join("bin")).unwrap();
    symlink("/usr/bin/python3", environment.join("bin/python3")).unwrap();
    fs_err::write(environment.join("pyvenv.cfg"), "home = /usr/bin\n").unwrap();
    world.write("otter.py", "def otter(): pass  # badger\n");
    index(&world, &environment.join("bin"));
    assert_eq!(world.found("badger"), ["otter.py"]);
}

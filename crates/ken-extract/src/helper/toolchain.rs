//! Finds the files that a program outside the system's folders needs, so that the sandbox lets it
//! read them: Python in an activated virtual environment or below pyenv, a script in `~/bin`.
//!
//! Such programs keep to the layout of a prefix, `bin` next to `lib`. A name in `shims` is a script
//! from pyenv, rbenv and the like, which starts one of the versions next to it. No program is run
//! to find out, since that would happen outside the sandbox.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::handler::SearchPath;
use super::sandbox::is_in_system;

/// Maximum chain of scripts whose interpreters are scripts.
const MAX_INTERPRETERS: usize = 4;
/// Maximum number of symbolic links from a name to the program.
const MAX_LINKS: usize = 8;
/// Number of bytes of a first line that the kernel reads.
const MAX_FIRST_LINE: u64 = 256;

/// Parts of a prefix that a program may need; not `share`, which may hold people's data.
const PARTS: &[&str] = &["bin", "lib", "lib64", "libexec", "pyvenv.cfg"];

/// Returns the files and folders outside the system that a program may have to read; the program
/// comes first.
pub(super) fn of(program: &Path, search_path: SearchPath<'_>) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut next = Some(program.to_path_buf());
    for _ in 0..MAX_INTERPRETERS {
        // Parts of the system are started by the system's interpreters.
        let Some(program) = next.take().filter(|program| !is_in_system(program)) else {
            break;
        };
        names(&program)
            .iter()
            .for_each(|name| parts(name, &mut all));
        next = interpreter(&program, search_path);
    }
    all
}

/// Returns the names of a program: its own, and those at the end of symbolic links.
fn names(program: &Path) -> Vec<PathBuf> {
    let mut names = vec![program.to_path_buf()];
    let mut name = program.to_path_buf();
    for _ in 0..MAX_LINKS {
        let Ok(target) = fs_err::read_link(&name) else {
            break;
        };
        name = name.parent().unwrap_or(Path::new("/")).join(target);
        names.push(name.clone());
    }
    names.extend(fs_err::canonicalize(program));
    names
}

/// Adds the files that belong to a program with this name.
fn parts(program: &Path, all: &mut Vec<PathBuf>) {
    all.push(program.to_path_buf());
    let folder = program.parent();
    let Some(prefix) = folder.and_then(Path::parent) else {
        return;
    };
    match folder.and_then(Path::file_name).map(OsStr::as_bytes) {
        Some(b"bin") => all.extend(PARTS.iter().map(|part| prefix.join(part))),
        Some(b"shims") => all.push(prefix.to_path_buf()),
        _ => {}
    }
}

/// Returns the interpreter that the first line of a script names.
fn interpreter(script: &Path, search_path: SearchPath<'_>) -> Option<PathBuf> {
    let mut line = Vec::new();
    let file = fs_err::File::open(script).ok()?;
    file.take(MAX_FIRST_LINE).read_to_end(&mut line).ok()?;
    let line = line
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let mut words = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .map(|word| Path::new(OsStr::from_bytes(word)));
    let first = words.next()?;
    if first.file_name() != Some(OsStr::new("env")) {
        return Some(first.to_path_buf());
    }
    let is_option = |word: &&Path| {
        let word = word.as_os_str().as_bytes();
        word.starts_with(b"-") || word.contains(&b'=')
    };
    let name = words.find(|word| !is_option(word))?;
    search_path.find(name.to_str()?)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use fs_err::os::unix::fs::symlink;

    use super::*;

    fn program(folder: &Path, name: &str, content: &str) -> PathBuf {
        fs_err::create_dir_all(folder).unwrap();
        let path = folder.join(name);
        fs_err::write(&path, content).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn of_path(program: &Path, path: &[PathBuf]) -> Vec<PathBuf> {
        let search_path = SearchPath { filters: &[], path };
        of(program, search_path)
    }

    #[test]
    fn of_the_system_nothing_is_added() {
        assert!(of_path(Path::new("/bin/sh"), &[]).is_empty());
    }

    #[test]
    fn a_script_needs_the_prefix_of_its_interpreter() {
        let folder = tempfile::tempdir().unwrap();
        let prefix = folder.path().join("version");
        let real = program(&prefix.join("bin"), "python9.1", "\x7fELF");
        let environment = folder.path().join("environment");
        fs_err::create_dir_all(environment.join("bin")).unwrap();
        symlink(&real, environment.join("bin/python9")).unwrap();
        for first_line in ["#!/usr/bin/env python9", "#! /usr/bin/env -S python9 -I"] {
            let script = program(folder.path(), "script", &format!("{first_line}\n#!"));
            let all = of_path(&script, &[environment.join("bin")]);
            assert_eq!(all[0], script);
            for part in ["lib", "pyvenv.cfg"] {
                assert!(all.contains(&environment.join(part)), "{all:?}");
            }
            assert!(all.contains(&prefix.join("lib")), "{all:?}");
            assert!(!all.contains(&folder.path().to_path_buf()));
        }
    }

    #[test]
    fn shims_need_the_versions_beside_them() {
        let folder = tempfile::tempdir().unwrap();
        let shim = program(&folder.path().join("shims"), "python9", "#!/bin/sh\n");
        let all = of_path(&shim, &[]);
        assert_eq!(all.last(), Some(&folder.path().to_path_buf()), "{all:?}");
    }

    #[test]
    fn interpreters_of_each_other_have_an_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loop");
        let script = format!("#!{}\n", path.display());
        program(folder.path(), "loop", &script);
        assert!(of_path(&path, &[]).len() <= 2 * MAX_INTERPRETERS);
        symlink("ring", folder.path().join("ring")).unwrap();
        assert!(of_path(&folder.path().join("ring"), &[]).len() <= 2 + MAX_LINKS);
    }
}

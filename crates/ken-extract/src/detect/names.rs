//! Looks up the format of an extension, full name, interpreter or declared type.
//!
//! The rows of [`tables`](super::tables) become hash maps at first use. A look-up folds case in a
//! small array and allocates nothing.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Detected;
use super::tables::{EXTENSIONS, INTERPRETERS, NAMES, Row};

/// Longer names are in no table.
const MAX_NAME_BYTES: usize = 24;

type Table = HashMap<&'static [u8], Detected>;

static BY_EXTENSION: LazyLock<Table> = LazyLock::new(|| table(EXTENSIONS));
static BY_NAME: LazyLock<Table> = LazyLock::new(|| table(NAMES));
static BY_INTERPRETER: LazyLock<Table> = LazyLock::new(|| table(INTERPRETERS));
static BY_MEDIA_TYPE: LazyLock<Table> = LazyLock::new(|| {
    let rows = [EXTENSIONS, NAMES, INTERPRETERS].into_iter().flatten();
    rows.map(|&(media_type, kind, _)| (media_type.as_bytes(), Detected { media_type, kind }))
        .collect()
});

fn table(rows: &'static [Row]) -> Table {
    let mut table = Table::new();
    for &(media_type, kind, names) in rows {
        for name in names.split_ascii_whitespace() {
            table.insert(name.as_bytes(), Detected { media_type, kind });
        }
    }
    table
}

/// Returns the format that a file name suggests, if any.
pub(super) fn by_name(name: &str) -> Option<Detected> {
    let name = without_backup_suffix(name.as_bytes());
    if let Some(found) = look_up(&BY_NAME, name) {
        return Some(found);
    }
    let (stem, extension) = split_extension(name)?;
    look_up(&BY_EXTENSION, extension).or_else(|| {
        let first = stem.split(|&byte| byte == b'.').next()?;
        look_up(&BY_NAME, first)
    })
}

/// Returns the format of an extension.
pub(super) fn by_extension(extension: &str) -> Option<Detected> {
    look_up(&BY_EXTENSION, extension.as_bytes())
}

/// Returns the format of scripts for an interpreter, given the interpreter's path.
pub(super) fn by_interpreter(path: &[u8]) -> Option<Detected> {
    let name = path.rsplit(|&byte| byte == b'/').next()?;
    let is_version = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'-');
    let end = name.len()
        - name
            .iter()
            .rev()
            .take_while(|&byte| is_version(byte))
            .count();
    look_up(&BY_INTERPRETER, name).or_else(|| look_up(&BY_INTERPRETER, &name[..end]))
}

/// Returns the row of a media type that a container declares (without parameters), if it is known.
pub(super) fn by_media_type(media_type: &str) -> Option<Detected> {
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    let mut folded = [0; 80];
    let folded = folded.get_mut(..essence.len())?;
    folded.copy_from_slice(essence.as_bytes());
    folded.make_ascii_lowercase();
    BY_MEDIA_TYPE.get(&*folded).copied()
}

/// Returns the extensions that suggest a media type.
pub(super) fn extensions(media_type: &str) -> impl Iterator<Item = &'static str> {
    let rows = EXTENSIONS.iter().filter(move |row| row.0 == media_type);
    rows.flat_map(|row| row.2.split_ascii_whitespace())
}

fn look_up(table: &Table, name: &[u8]) -> Option<Detected> {
    let mut folded = [0; MAX_NAME_BYTES];
    let folded = folded.get_mut(..name.len())?;
    folded.copy_from_slice(name);
    folded.make_ascii_lowercase();
    table.get(&*folded).copied()
}

/// Splits a name at its last dot; a leading dot does not begin an extension.
fn split_extension(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let dot = memchr::memrchr(b'.', name)?;
    (dot > 0).then(|| (&name[..dot], &name[dot + 1..]))
}

/// Removes what editors, package managers and build systems append to the names of text files.
fn without_backup_suffix(name: &[u8]) -> &[u8] {
    if let Some(name) = name.strip_suffix(b"~") {
        return name;
    }
    let suffixes: [&[u8]; 7] = [
        b".bak",
        b".orig",
        b".in",
        b".old",
        b".dist",
        b".example",
        b".sample",
    ];
    let of = |suffix: &&[u8]| name.strip_suffix(*suffix).filter(|rest| !rest.is_empty());
    suffixes.iter().find_map(of).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use ken_core::Kind::Source;

    use super::*;

    fn media_type(name: &str) -> &'static str {
        by_name(name).map_or("", |found| found.media_type)
    }

    #[test]
    fn no_name_stands_twice_and_all_are_lower_case() {
        for rows in [EXTENSIONS, NAMES, INTERPRETERS] {
            let mut names = HashSet::new();
            let mut types = HashSet::new();
            for (media_type, _, row) in rows {
                assert!(types.insert(media_type), "two rows for {media_type}");
                for name in row.split_ascii_whitespace() {
                    assert!(
                        names.insert(name),
                        "{name} stands twice, again in {media_type}"
                    );
                    assert_eq!(name, name.to_lowercase());
                    assert!(name.len() <= MAX_NAME_BYTES, "{name}");
                }
            }
        }
    }

    #[test]
    fn a_media_type_has_one_kind() {
        let mut kinds = HashMap::new();
        for (media_type, kind, _) in [EXTENSIONS, NAMES, INTERPRETERS].into_iter().flatten() {
            assert_eq!(
                kinds.insert(media_type, kind).unwrap_or(kind),
                kind,
                "{media_type}"
            );
            assert_eq!(*media_type, media_type.to_lowercase());
            assert_eq!(by_media_type(media_type).unwrap().kind, *kind);
        }
    }

    #[test]
    fn tables_are_wide() {
        let n_names = |rows: &[Row]| {
            rows.iter()
                .map(|row| row.2.split(' ').count())
                .sum::<usize>()
        };
        let n_source = EXTENSIONS.iter().filter(|row| row.1 == Source).count();
        assert!(n_names(EXTENSIONS) > 800);
        assert!(n_source >= 150, "{n_source}");
    }

    #[test]
    fn names_are_found_by_extension_in_any_case() {
        assert_eq!(media_type("Report.PDF"), "application/pdf");
        assert_eq!(media_type("main.rs"), "text/x-rust");
        assert_eq!(media_type("a.tar.gz"), "application/gzip");
        assert_eq!(media_type("printf.3"), "text/troff");
        assert_eq!(media_type("no extension"), "");
        assert_eq!(media_type("x.unknown-extension-that-is-very-long"), "");
        assert_eq!(media_type(""), "");
        assert_eq!(media_type("."), "");
        assert_eq!(media_type(".rs"), "");
    }

    #[test]
    fn full_names_come_first() {
        assert_eq!(media_type("CMakeLists.txt"), "text/x-cmake");
        assert_eq!(media_type("Makefile"), "text/x-makefile");
        assert_eq!(media_type("Makefile.linux"), "text/x-makefile");
        assert_eq!(media_type("Dockerfile.prod"), "text/x-dockerfile");
        assert_eq!(media_type("README.md"), "text/markdown");
        assert_eq!(media_type("README.Debian"), "text/plain");
        assert_eq!(media_type(".bashrc"), "text/x-shellscript");
        assert_eq!(media_type("Cargo.lock"), "text/x-toml");
        assert_eq!(media_type("BUILD"), "text/x-starlark");
    }

    #[test]
    fn backups_are_what_they_were() {
        assert_eq!(media_type("main.c~"), "text/x-c");
        assert_eq!(media_type("config.h.in"), "text/x-c");
        assert_eq!(media_type("main.py.orig"), "text/x-python");
        assert_eq!(media_type("~"), "");
    }

    #[test]
    fn interpreters_lose_folder_and_version() {
        let of = |path: &str| by_interpreter(path.as_bytes()).map_or("", |found| found.media_type);
        assert_eq!(of("/bin/sh"), "text/x-shellscript");
        assert_eq!(of("/usr/bin/python3.11"), "text/x-python");
        assert_eq!(of("d8"), "text/javascript");
        assert_eq!(of("/opt/unheard-of"), "");
        assert_eq!(of(""), "");
    }

    #[test]
    fn declared_types_lose_parameters_and_case() {
        let found = by_media_type("Text/HTML; charset=utf-8").unwrap();
        assert_eq!(found.media_type, "text/html");
        assert!(by_media_type("x/unknown").is_none());
        assert!(by_media_type(&"x".repeat(200)).is_none());
    }
}

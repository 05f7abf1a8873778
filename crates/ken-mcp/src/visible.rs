//! Which files may an agent see? Those of the scope, by their names and where their links lead.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use ken_search::scope::Scope;
use ken_search::service::path_text;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};

/// Why a file cannot be read that is outside, or is not there: nobody can tell the one from the other.
pub(crate) const MISSING: &str = "there is no such document";
/// The largest file that is read as it is.
const MAX_FILE: u64 = 16 << 20;
/// The bytes of a file by which mail is recognised.
const HEAD: usize = 1 << 10;
/// Extensions of files with mail.
const MAIL: [&str; 8] = ["eml", "emlx", "mbox", "mbx", "msg", "pst", "ost", "oft"];
/// Headers with which a message may begin.
const HEADERS: [&str; 10] = [
    "from ",
    "from:",
    "return-path:",
    "received:",
    "delivered-to:",
    "message-id:",
    "x-",
    "mime-version:",
    "date:",
    "to:",
];

/// Returns the scope of some folders, without others below them.
///
/// # Errors
/// Fails if one of them is not a folder.
pub fn scope(folders: &[PathBuf], excluded: &[PathBuf], mail: bool) -> Result<Scope, String> {
    let real = |folders: &[PathBuf]| {
        folders
            .iter()
            .map(|path| folder(path))
            .collect::<Result<_, _>>()
    };
    Ok(Scope {
        folders: real(folders)?,
        excluded: real(excluded)?,
        mail,
        rights: None,
    })
}

fn folder(path: &Path) -> Result<PathBuf, String> {
    let real = fs_err::canonicalize(path).map_err(|error| error.to_string())?;
    match real.is_dir() {
        true => Ok(real),
        false => Err(format!("\"{}\" is not a folder", path_text(path))),
    }
}

/// Returns the folder of the git repository that a folder is in, if any.
pub fn repository(folder: &Path) -> Option<PathBuf> {
    let mut above = folder.ancestors();
    above
        .find(|folder| fs_err::symlink_metadata(folder.join(".git")).is_ok())
        .map(Path::to_path_buf)
}

/// Returns whether a path is in a scope, and no link on the way leads out of it. A file that is gone is judged by its
/// folder.
pub(crate) fn is_visible(scope: &Scope, path: &Path) -> bool {
    scope.covers(path) && real(path).is_some_and(|real| scope.covers(&real))
}

fn real(path: &Path) -> Option<PathBuf> {
    let is_plain = !path.components().any(|part| part == Component::ParentDir);
    let exists = |folder: &&Path| folder.symlink_metadata().is_ok();
    let above = path.ancestors().find(exists).filter(|_| is_plain)?;
    let below = path.strip_prefix(above).ok()?;
    let real = fs_err::canonicalize(above).ok()?;
    Some(match below.as_os_str().is_empty() {
        true => real,
        false => real.join(below),
    })
}

/// Returns the folder of a scope that a text names, absolute or below a folder of the scope or the working folder.
///
/// # Errors
/// Fails with the folders that there are.
pub(crate) fn named_folder(scope: &Scope, here: &Path, named: &str) -> Result<PathBuf, String> {
    let candidates = candidates(scope, here, Path::new(named));
    let mut real = candidates
        .iter()
        .filter_map(|path| fs_err::canonicalize(path).ok());
    let found = real.find(|path| path.is_dir() && scope.covers(path));
    found.ok_or_else(|| format!("in: there is no such folder. {}", folders(scope)))
}

/// Returns what a path may mean.
pub(crate) fn candidates(scope: &Scope, here: &Path, named: &Path) -> Vec<PathBuf> {
    if named.is_absolute() {
        return vec![named.to_path_buf()];
    }
    let bases = std::iter::once(here).chain(scope.folders.iter().map(PathBuf::as_path));
    bases.map(|base| base.join(named)).collect()
}

/// Returns a sentence about the folders that an agent may ask about, and those right below them.
pub(crate) fn folders(scope: &Scope) -> String {
    let names = |folder: &PathBuf| {
        let mut text = crate::text::line(&path_text(folder));
        let mut below = below(scope, folder);
        below.sort();
        let is_more = below.len() > 20;
        below.truncate(20);
        if !below.is_empty() {
            text.push_str(&format!(
                " ({}{})",
                below.join(", "),
                if is_more { ", …" } else { "" }
            ));
        }
        text
    };
    let all: Vec<String> = scope.folders.iter().map(names).collect();
    format!("Folders: {}", all.join("; "))
}

fn below(scope: &Scope, folder: &Path) -> Vec<String> {
    let Ok(entries) = fs_err::read_dir(folder) else {
        return Vec::new();
    };
    let visible = entries.flatten().filter(|entry| {
        let is_folder = entry.file_type().is_ok_and(|of| of.is_dir());
        let name = entry.file_name();
        is_folder && !name.to_string_lossy().starts_with('.') && scope.covers(&entry.path())
    });
    visible
        .map(|entry| crate::text::line(&path_text(Path::new(&entry.file_name()))))
        .collect()
}

/// Reads a file of a scope as text, through no link. It is what an agent could read with `cat`.
///
/// # Errors
/// Fails if the scope has no such file, or if it is not text.
pub(crate) fn read(scope: &Scope, path: &Path) -> Result<String, String> {
    let missing = || MISSING.to_owned();
    let root = scope.folders.iter().find(|folder| path.starts_with(folder));
    let root = root.filter(|_| scope.covers(path)).ok_or_else(missing)?;
    let file = open(root, path).map_err(|_| missing())?;
    let metadata = file.metadata().map_err(|_| missing())?;
    if !metadata.is_file() {
        return Err(missing());
    }
    if metadata.len() > MAX_FILE {
        return Err("the file is too large to be read without the index".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE)
        .read_to_end(&mut bytes)
        .map_err(|_| missing())?;
    if !scope.mail && is_mail(path, &bytes) {
        return Err(missing());
    }
    let text = String::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains('\0'));
    text.ok_or_else(|| "the file is not text, and the index does not have it".to_owned())
}

fn open(root: &Path, path: &Path) -> io::Result<File> {
    let below = path.strip_prefix(root).map_err(io::Error::other)?;
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::openat(CWD, root, flags, Mode::empty())?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    Ok(rustix::fs::openat2(root, below, flags, Mode::empty(), resolve)?.into())
}

/// Returns whether the file at a path, which the index may not have, is mail.
pub(crate) fn is_mail_file(scope: &Scope, path: &Path) -> bool {
    let root = scope.folders.iter().find(|folder| path.starts_with(folder));
    let Some(file) = root.and_then(|root| open(root, path).ok()) else {
        return true;
    };
    let mut head = Vec::new();
    // What cannot be read is not shown either.
    file.take(HEAD as u64).read_to_end(&mut head).is_err() || is_mail(path, &head)
}

/// Returns whether a file is a message or a mailbox, by its name, its folder and its beginning.
fn is_mail(path: &Path, bytes: &[u8]) -> bool {
    let extension = path
        .extension()
        .map(|extension| extension.to_ascii_lowercase());
    let has_extension = extension.is_some_and(|own| MAIL.iter().any(|known| own == *known));
    let parent = path.parent();
    let is_in_maildir = ["cur", "new", "tmp"].iter().any(|name| {
        parent
            .and_then(Path::file_name)
            .is_some_and(|own| own == *name)
            && parent
                .and_then(Path::parent)
                .is_some_and(|maildir| maildir.join("cur").is_dir() && maildir.join("new").is_dir())
    });
    has_extension || is_in_maildir || begins_as_mail(&bytes[..bytes.len().min(HEAD)])
}

fn begins_as_mail(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head).to_lowercase();
    let first = head.lines().next().unwrap_or_default();
    let has = |name: &str| head.lines().any(|line| line.starts_with(name));
    let is_mailbox = first.starts_with("from ") && has("from:");
    let is_message = HEADERS.iter().any(|known| first.starts_with(known))
        && has("from:")
        && (has("date:") || has("subject:") || has("message-id:") || has("received:"));
    is_mailbox || is_message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_dots_do_not_lead_out() {
        let folder = tempfile::tempdir().unwrap();
        let home = fs_err::canonicalize(folder.path()).unwrap();
        let (inside, outside) = (home.join("in"), home.join("out"));
        for path in [&inside, &outside, &inside.join("not"), &inside.join("sub")] {
            fs_err::create_dir(path).unwrap();
        }
        fs_err::write(outside.join("secret"), "secret").unwrap();
        fs_err::write(inside.join("not/secret"), "secret").unwrap();
        fs_err::write(inside.join("own"), "own").unwrap();
        fs_err::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        fs_err::os::unix::fs::symlink(outside.join("secret"), inside.join("file")).unwrap();
        let scope = scope(std::slice::from_ref(&inside), &[inside.join("not")], false).unwrap();
        assert_eq!(read(&scope, &inside.join("own")).unwrap(), "own");
        assert!(is_visible(&scope, &inside.join("own")));
        assert!(is_visible(&scope, &inside.join("gone/away")));
        for wrong in [
            "link/secret",
            "file",
            "../out/secret",
            "not/secret",
            "link/../not/secret",
            "sub/../not/secret",
            "missing",
            "",
        ] {
            assert!(read(&scope, &inside.join(wrong)).is_err(), "{wrong}");
        }
        for wrong in [
            "link/secret",
            "link/gone",
            "file",
            "../out/secret",
            "not/secret",
        ] {
            assert!(!is_visible(&scope, &inside.join(wrong)), "{wrong}");
        }
        for wrong in ["link", "../out", "not", "/", "missing"] {
            let why = named_folder(&scope, &inside, wrong).unwrap_err();
            assert!(why.contains("Folders: ") && !why.contains("out"), "{why}");
        }
    }

    #[test]
    fn mail_is_recognised_without_an_index() {
        let is = |path: &str, text: &str| is_mail(Path::new(path), text.as_bytes());
        assert!(is("/a/b.eml", ""));
        assert!(is("/a/b", "From me Mon Jan 1\nFrom: me\n\nHello"));
        assert!(is("/a/b", "Received: by x\nFrom: me\nSubject: s\n\nHello"));
        assert!(!is("/a/b.md", "From the beginning it was clear"));
        assert!(!is("/a/b.yml", "date: 1\nto: 2\n"));
    }
}

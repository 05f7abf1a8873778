//! Roots: the folders (or single files) that a user wants to find, with the options of their walk.
//!
//! They are stored in the commit of the index. A root may be inside another one; each is walked
//! once, with its own options, and the outer walk stops where the inner one begins.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;

use ken_core::Root;
use serde::Serialize;

use crate::Mounts;

/// Whether a file that a walk does not find below a root can be considered gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Availability {
    /// The root exists.
    Available,
    /// The path does not exist: it is removed, or not mounted.
    Absent,
    /// The root exists but cannot be read.
    Unreadable,
    /// The root was a mount point and is now an empty folder: nothing is mounted.
    Unmounted,
}

/// Returns the root at a path, with the default options.
///
/// # Errors
/// Fails when the path does not exist or is not accessible.
pub fn root_at(path: &Path) -> io::Result<Root> {
    let path = fs_err::canonicalize(path)?;
    Ok(Root {
        mounted: is_mount_point(&path),
        ..Root::new(path)
    })
}

/// Returns whether a file system is mounted at a path. One that may not answer is not asked.
pub fn is_mount_point(path: &Path) -> bool {
    let mounts = Mounts::read();
    if mounts.are_above(path) {
        return mounts.are_at(path);
    }
    let device = |path: &Path| fs_err::metadata(path).map(|metadata| metadata.dev()).ok();
    path.parent()
        .is_some_and(|parent| device(path) != device(parent))
}

/// Returns whether a root can be walked now. A root whose file system does not answer is unreadable.
pub fn availability(root: &Root) -> Availability {
    match Mounts::read().are_above(&root.path) {
        true => ask(root),
        false => look(root),
    }
}

/// Returns for each root whether it can be walked now, like [`availability`]. Roots that may not answer are asked at
/// the same time, so that several silent ones take no longer than one.
pub(crate) fn availabilities(roots: &[&Root], mounts: &Mounts) -> Vec<Availability> {
    thread::scope(|scope| {
        let asked: Vec<_> = roots
            .iter()
            .map(|root| match mounts.are_above(&root.path) {
                true => Some(scope.spawn(|| ask(root))),
                false => None,
            })
            .collect();
        let answered = roots.iter().zip(asked).map(|(root, asked)| match asked {
            // What panics is not walked.
            Some(thread) => thread.join().unwrap_or(Availability::Unreadable),
            None => look(root),
        });
        answered.collect()
    })
}

/// Looks at a root if its file system answers.
fn ask(root: &Root) -> Availability {
    match crate::answers(&root.path, &|| false) {
        true => look(root),
        false => Availability::Unreadable,
    }
}

fn look(root: &Root) -> Availability {
    match fs_err::metadata(&root.path) {
        Ok(metadata) if !metadata.is_dir() => Availability::Available,
        Ok(_) => match fs_err::read_dir(&root.path).map(|mut entries| entries.next()) {
            Ok(None) if root.mounted && !is_mount_point(&root.path) => Availability::Unmounted,
            Ok(None | Some(Ok(_))) => Availability::Available,
            Ok(Some(Err(_))) | Err(_) => Availability::Unreadable,
        },
        Err(error) if is_absent(&error) => Availability::Absent,
        Err(_) => Availability::Unreadable,
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn availability_distinguishes_absent_and_empty_from_present() {
        let folder = tempfile::tempdir().unwrap();
        let mut root = root_at(folder.path()).unwrap();
        assert_eq!(availability(&root), Availability::Available);
        root.mounted = true;
        assert_eq!(availability(&root), Availability::Unmounted);
        fs_err::write(folder.path().join("a"), "").unwrap();
        assert_eq!(availability(&root), Availability::Available);
        root.path.push("a");
        assert_eq!(availability(&root), Availability::Available);
        root.path.push("b");
        assert_eq!(availability(&root), Availability::Absent);
    }

    #[test]
    fn roots_are_stored_without_links() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("real");
        fs_err::create_dir(&real).unwrap();
        let link = folder.path().join("link");
        fs_err::os::unix::fs::symlink(&real, &link).unwrap();
        assert_eq!(root_at(&link).unwrap(), root_at(&real).unwrap());
        assert!(root_at(&folder.path().join("none")).is_err());
    }
}

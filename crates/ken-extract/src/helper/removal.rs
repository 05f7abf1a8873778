//! Removes what a helper left behind.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Removes a folder, even if a helper left folders in it that it closed. None of its processes is left.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    let removed = fs_err::remove_dir_all(folder);
    if !matches!(&removed, Err(error) if error.kind() == io::ErrorKind::PermissionDenied) {
        return removed;
    }
    let mut closed = vec![folder.to_path_buf()];
    while let Some(folder) = closed.pop() {
        fs_err::set_permissions(&folder, PermissionsExt::from_mode(0o700))?;
        for entry in fs_err::read_dir(folder)?.flatten() {
            if entry.file_type()?.is_dir() {
                closed.push(entry.path());
            }
        }
    }
    fs_err::remove_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_folders_are_removed_too() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("work");
        fs_err::create_dir_all(path.join("tmp/closed/inner")).unwrap();
        fs_err::write(path.join("tmp/closed/file"), "text").unwrap();
        for name in ["tmp/closed/inner", "tmp/closed"] {
            fs_err::set_permissions(path.join(name), PermissionsExt::from_mode(0o000)).unwrap();
        }
        remove(&path).unwrap();
        assert!(!fs_err::exists(path).unwrap());
    }
}

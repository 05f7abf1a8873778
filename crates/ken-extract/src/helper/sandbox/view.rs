//! What a helper sees of the file system: a root that holds what it may read, its work folder, and nothing else.
//!
//! Landlock refuses to open files, but not to ask whether they exist, how large they are and when they changed. In a
//! mount namespace of its own, the helper does not see them. That takes a user namespace, which some systems forbid;
//! there the helper can ask.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_bind_recursive,
    mount_change, unmount,
};
use rustix::process::{chdir, getgid, getuid, pivot_root};
use rustix::thread::UnshareFlags;

/// Enters a view with these files and folders. After a failure, the process sees what it saw before.
pub(super) fn enter<'p>(work: &Path, read: impl Iterator<Item = &'p Path>) -> io::Result<()> {
    let root = work.join("conf");
    mount_root(&root)?;
    let filled = fill(&root, work, read);
    if let Err(error) = filled {
        unmount(&root, UnmountFlags::DETACH)?;
        return Err(error);
    }
    chdir(&root)?;
    // The new root is put on top of the old one, which is then taken away.
    pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    Ok(chdir(work)?)
}

/// Fails if the system has no views: it may forbid user namespaces, or mounts in them.
pub(super) fn probe() -> io::Result<()> {
    mount_root(Path::new("/proc"))
}

/// Mounts an empty root for this process alone.
fn mount_root(root: &Path) -> io::Result<()> {
    separate()?;
    // What is mounted here later is seen by nobody else.
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    Ok(mount(
        "view",
        root,
        "tmpfs",
        flags,
        Some(c"mode=755,size=1m"),
    )?)
}

/// Enters namespaces of users and mounts, as the same user.
#[allow(deprecated)] // the descriptors, which other threads might share, stay as they are
fn separate() -> io::Result<()> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    rustix::thread::unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNS)?;
    fs_err::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs_err::write("/proc/self/setgroups", "deny")?;
    fs_err::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

fn fill<'p>(root: &Path, work: &Path, read: impl Iterator<Item = &'p Path>) -> io::Result<()> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for path in read.filter(|path| path.is_absolute()) {
        paths.push(path.to_path_buf());
        // Programs also follow the links that lead to it.
        paths.extend(fs_err::canonicalize(path));
    }
    paths.extend(["/proc", "/dev/null"].map(PathBuf::from));
    paths.sort();
    let mut shown: Vec<&Path> = Vec::new();
    for path in &paths {
        // A folder is shown with everything below it; what a link leads to is shown at its own place.
        if !shown.iter().any(|above| path.starts_with(above)) && show(root, path)? {
            shown.push(path);
        }
    }
    let inside = below(root, work);
    if !shown.iter().any(|above| work.starts_with(above)) {
        make_folders(root, work)?;
    }
    // Without what was mounted in it above.
    Ok(mount_bind(work, &inside)?)
}

/// Shows a path in the new root; returns false if there is none.
fn show(root: &Path, path: &Path) -> io::Result<bool> {
    let Ok(metadata) = fs_err::symlink_metadata(path) else {
        return Ok(false);
    };
    make_folders(root, path.parent().unwrap_or(path))?;
    let inside = below(root, path);
    if metadata.is_symlink() {
        rustix::fs::symlinkat(fs_err::read_link(path)?, CWD, &inside)?;
        return Ok(true);
    }
    match metadata.is_dir() {
        true => make_folders(root, path)?,
        // Never a file that is there: it would be the real one.
        false => drop(fs_err::File::create_new(&inside)?),
    }
    mount_bind_recursive(path, &inside)?;
    Ok(true)
}

/// Makes the folders of a path in the new root. Follows no link, which would lead out of it.
fn make_folders(root: &Path, path: &Path) -> io::Result<()> {
    let mut folder = root.to_path_buf();
    for name in path.iter().skip(1) {
        folder.push(name);
        match fs_err::symlink_metadata(&folder) {
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            Err(_) => fs_err::create_dir(&folder)?,
        }
    }
    Ok(())
}

fn below(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

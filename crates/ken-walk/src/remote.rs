//! File systems that may never answer: a server that is gone, a program of FUSE that hangs.
//!
//! A call into such a file system may block for ever, and a thread in it cannot be stopped; only the end of the
//! process ends it. So another thread makes the call first, and is left behind if it does not return in time.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use crate::listing::{Entry, Listing};
use crate::rules::IgnoreFiles;

/// How long a call may take that looks at a folder or a file. A server that starts again takes longer; the next run
/// asks it again.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// After this many calls without an answer a folder is given up.
const MAX_SILENT: usize = 3;
/// How often a waiting thread looks whether it should stop.
const TICK: Duration = Duration::from_millis(100);
/// Stack of a thread that makes calls.
const STACK_BYTES: usize = 256 << 10;

/// The mounts of this process whose file systems may not answer.
#[derive(Debug, Default)]
pub struct Mounts {
    /// All mount points in the order of mounting, each with whether its file system is remote.
    points: Vec<(PathBuf, bool)>,
    /// The devices of remote file systems.
    devices: Vec<u64>,
}

impl Mounts {
    /// Reads the mounts; none if the system does not list them.
    pub fn read() -> Self {
        let list = fs_err::read("/proc/self/mountinfo").unwrap_or_default();
        Self::parse(&list)
    }

    /// Reads lines as `36 35 98:0 /root /mount/point rw shared:1 - nfs4 server:/path rw`: proc(5).
    fn parse(list: &[u8]) -> Self {
        let mut mounts = Self::default();
        for line in list.split(|byte| *byte == b'\n') {
            let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
            let kind = words.iter().position(|word| *word == b"-").map(|at| at + 1);
            let (Some(kind), Some(point)) = (kind.and_then(|at| words.get(at)), words.get(4))
            else {
                continue;
            };
            let is_remote = is_remote(kind);
            mounts
                .devices
                .extend(is_remote.then(|| device(words[2])).flatten());
            let point = PathBuf::from(OsString::from_vec(unescaped(point)));
            mounts.points.push((point, is_remote));
        }
        mounts
    }

    /// Returns whether there is any remote file system.
    pub fn are_any(&self) -> bool {
        !self.devices.is_empty()
    }

    /// Returns whether a file on this device is on a remote file system.
    pub fn have(&self, device: u64) -> bool {
        self.devices.contains(&device)
    }

    /// Returns whether a path without symbolic links is on a remote file system.
    pub fn are_above(&self, path: &Path) -> bool {
        let above = self
            .points
            .iter()
            .filter(|(point, _)| path.starts_with(point));
        // Of those at one point the last one counts.
        let nearest = above.max_by_key(|(point, _)| point.as_os_str().len());
        self.are_any() && nearest.is_some_and(|(_, is_remote)| *is_remote)
    }

    /// Returns whether a remote file system is mounted at a path.
    pub fn are_at(&self, path: &Path) -> bool {
        self.are_any()
            && self
                .points
                .iter()
                .any(|(point, is_remote)| *is_remote && point == path)
    }
}

fn is_remote(kind: &[u8]) -> bool {
    const KINDS: [&[u8]; 12] = [
        b"nfs",
        b"nfs4",
        b"cifs",
        b"smb3",
        b"9p",
        b"virtiofs",
        b"ceph",
        b"afs",
        b"coda",
        b"lustre",
        b"vboxsf",
        b"orangefs",
    ];
    KINDS.contains(&kind) || kind.starts_with(b"fuse") && kind != b"fusectl"
}

fn device(numbers: &[u8]) -> Option<u64> {
    let (major, minor) = std::str::from_utf8(numbers).ok()?.split_once(':')?;
    Some(rustix::fs::makedev(
        major.parse().ok()?,
        minor.parse().ok()?,
    ))
}

/// Replaces `\040` by a space, as the kernel writes paths.
fn unescaped(path: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some((&byte, after)) = rest.split_first() {
        let code = after.get(..3).filter(|_| byte == b'\\');
        let code =
            code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 8).ok());
        plain.push(code.unwrap_or(byte));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    plain
}

/// Does work that may block for ever, and returns its result; none if it takes longer than this or the caller should
/// stop. The work then goes on without anybody.
pub fn within<T: Send + 'static>(
    time: Duration,
    should_stop: &dyn Fn() -> bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    let (send, receive) = mpsc::sync_channel(1);
    start(move || drop(send.send(work())))?;
    next(&receive, time, should_stop).ok()
}

fn start(work: impl FnOnce() + Send + 'static) -> Option<()> {
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    thread.spawn(work).ok().map(drop)
}

fn next<T>(
    receive: &Receiver<T>,
    time: Duration,
    should_stop: &dyn Fn() -> bool,
) -> Result<T, RecvTimeoutError> {
    let end = Instant::now() + time;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match receive.recv_timeout(left.min(TICK)) {
            Err(RecvTimeoutError::Timeout) if left > TICK && !should_stop() => {}
            found => return found,
        }
    }
}

/// Looks at everything in a folder that a walk looks at, and returns the names of the entries that do not answer.
///
/// # Errors
/// Fails if the folder cannot be listed, or does not answer.
pub fn silent_entries(
    folder: &Path,
    follows: bool,
    should_stop: &dyn Fn() -> bool,
) -> Result<HashSet<Vec<u8>>, Errno> {
    let path = folder.to_path_buf();
    let listed = within(PATIENCE, should_stop, move || list(&path));
    let folder = Arc::new(listed.unwrap_or(Err(Errno::TIMEDOUT))?);
    let names = |from: usize| {
        folder.1.entries[from..]
            .iter()
            .map(|entry| folder.1.name(*entry).to_vec())
    };
    let (mut silent, mut done) = (HashSet::new(), 0);
    while done < folder.1.entries.len() {
        if silent.len() == MAX_SILENT || should_stop() {
            silent.extend(names(done));
            break;
        }
        let (send, receive) = mpsc::channel();
        let looked = Arc::clone(&folder);
        let look = move || {
            let (open, listing) = &*looked;
            let entries = listing.entries[done..].iter();
            // Nobody waits any more after a call that took too long.
            let _ = entries
                .map(|entry| look_at(open.as_fd(), listing, *entry, follows))
                .try_for_each(|()| send.send(()));
        };
        start(look).ok_or(Errno::AGAIN)?;
        while next(&receive, PATIENCE, should_stop).is_ok() {
            done += 1;
        }
        if let Some(name) = names(done.min(folder.1.entries.len())).next() {
            silent.insert(name);
            done += 1;
        }
    }
    Ok(silent)
}

fn list(folder: &Path) -> Result<(OwnedFd, Listing), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = crate::open(folder, flags)?;
    let mut listing = Listing::default();
    listing.read(open.as_fd())?;
    Ok((open, listing))
}

fn look_at(folder: BorrowedFd<'_>, listing: &Listing, entry: Entry, follows: bool) {
    let name = listing.c_name(entry);
    let flags = match entry.kind {
        FileType::Symlink if follows => AtFlags::empty(),
        FileType::RegularFile | FileType::Unknown => AtFlags::SYMLINK_NOFOLLOW,
        _ => return,
    };
    // The walk meets the same errors.
    let _ = rustix::fs::statat(folder, name, flags);
    if IgnoreFiles::is_one(name.to_bytes()) || name.to_bytes() == crate::mh::LIST.as_bytes() {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        if let Ok(file) = rustix::fs::openat(folder, name, flags, Mode::empty()) {
            read_start(&file);
        }
    }
}

fn read_start(file: &OwnedFd) {
    let _ = rustix::io::pread(file, &mut [0; 4096], 0);
}

/// Returns whether a file can be opened and read without waiting for ever, or fails at once.
pub fn answers(path: &Path, should_stop: &dyn Fn() -> bool) -> bool {
    let path = path.to_path_buf();
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let read = move || crate::open(&path, flags).iter().for_each(read_start);
    within(PATIENCE, should_stop, read).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[u8] = b"22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
        30 22 0:44 / /mnt/a\\040b rw shared:3 - fuse.sshfs host: rw\n\
        31 30 254:1 / /mnt/a\\040b/disk rw - ext4 /dev/vdb rw\n\
        32 22 0:45 / /net rw - nfs4 host:/ rw\n33 22 0:46 / /net rw - tmpfs none rw\n";

    #[test]
    fn a_path_is_on_the_nearest_mount_and_on_the_last_one_there() {
        let mounts = Mounts::parse(LIST);
        let remote = [
            "/mnt",
            "/mnt/a b",
            "/mnt/a b/c/d",
            "/mnt/a b/disk/x",
            "/mnt/a bc",
            "/net/x",
        ]
        .map(|path| mounts.are_above(Path::new(path)));
        assert_eq!(remote, [false, true, true, false, false, false]);
        assert!(mounts.are_at(Path::new("/mnt/a b")) && !mounts.are_at(Path::new("/mnt/a b/disk")));
        assert!(
            mounts.have(rustix::fs::makedev(0, 44)) && !mounts.have(rustix::fs::makedev(254, 0))
        );
        assert!(!Mounts::parse(b"").are_above(Path::new("/")));
    }

    #[test]
    fn work_that_does_not_end_is_left_behind() {
        let short = Duration::from_millis(20);
        let never = || std::thread::sleep(Duration::from_secs(100));
        assert_eq!(within(short, &|| false, never), None);
        assert_eq!(within(PATIENCE, &|| true, never), None);
        assert_eq!(within(PATIENCE, &|| false, || 7), Some(7));
    }

    #[test]
    fn what_answers_is_not_silent() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", ".gitignore"] {
            fs_err::write(folder.path().join(name), "text").unwrap();
        }
        let silent = silent_entries(folder.path(), true, &|| false).unwrap();
        assert!(silent.is_empty());
        assert!(answers(&folder.path().join("a"), &|| false));
        assert!(answers(&folder.path().join("none"), &|| false));
        let none = silent_entries(&folder.path().join("none"), true, &|| false);
        assert_eq!(none, Err(Errno::NOENT));
    }
}

//! File systems that may never answer: a server that is gone, a program of FUSE that hangs.
//!
//! A call into such a file system may block for ever. No signal ends it, not even one that kills the process, which
//! stays until its last thread returns. So another process makes the call first ([`serve`]), and is left behind if it
//! does not answer in time. It is the program itself ([`set_program`]), started when it is first needed.

use std::cell::Cell;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use ken_core::{Root, Stamp};
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
/// The bytes for which a file has its time once more.
const BYTES_A_TIME: u32 = 64 << 20;
/// A larger file is not fetched, since most of a film is never read: only its start is known to answer.
const FETCHED_BYTES: u64 = 256 << 20;
const CHUNK_BYTES: usize = 64 << 10;
/// The argument that makes the program a server of [`serve`].
pub const ARGUMENT: &str = "remote";

/// Requests: what to do at a path. Names to pass over follow the path, each with a 0 at its end.
const LOOK: u8 = b'l';
const LOOK_BEYOND: u8 = b'b';
const TRY: u8 = b't';
const FETCH: u8 = b'f';

/// In place of the number of an error: there is no such file.
const NO_FILE: u32 = u32::MAX;

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
/// Processes that wait for requests.
static IDLE: Mutex<Vec<Server>> = Mutex::new(Vec::new());

/// Sets the program that calls [`serve`] if its only argument is [`ARGUMENT`]. Without one, all file systems are taken
/// to answer.
pub fn set_program(program: PathBuf) {
    let _ = PROGRAM.set(program);
}

/// The mounts of this process whose file systems may not answer.
#[derive(Debug, Default)]
pub struct Mounts {
    /// All mount points in the order of mounting, each with whether its file system is remote.
    points: Vec<(PathBuf, bool)>,
    /// The devices of remote file systems, and of the others.
    devices: Vec<u64>,
    local_devices: Vec<u64>,
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
            let point = PathBuf::from(OsString::from_vec(unescaped(point)));
            // Each machine with systemd has an automount there, of the machine's own.
            let is_remote = is_remote(kind) && !(kind == b"autofs" && point.starts_with("/proc"));
            let devices = match is_remote {
                true => &mut mounts.devices,
                false => &mut mounts.local_devices,
            };
            devices.extend(device(words[2]));
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

    /// Returns whether a device was mounted when the mounts were read. Subvolumes of Btrfs are not known either.
    pub fn know(&self, device: u64) -> bool {
        self.have(device) || self.local_devices.contains(&device)
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

    /// Returns the mount points above, at and below roots.
    pub fn around(&self, roots: &[Root]) -> Vec<PathBuf> {
        let is_near = |point: &Path, root: &Root| {
            point.starts_with(&root.path) || root.path.starts_with(point)
        };
        let points = self.points.iter().map(|(point, _)| point);
        let near = points.filter(|point| roots.iter().any(|root| is_near(point, root)));
        near.cloned().collect()
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
    const KINDS: [&[u8]; 16] = [
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
        b"smbfs",
        b"beegfs",
        b"gpfs",
        // Mounts a file system when it is looked at, usually that of a server.
        b"autofs",
    ];
    // `fuseblk` is a disk, such as one with NTFS.
    KINDS.contains(&kind) || kind == b"fuse" || kind.starts_with(b"fuse.")
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

/// A process that makes calls.
struct Server {
    socket: UnixStream,
    child: Option<Child>,
}

impl Server {
    /// Sends a request to an idle process or a new one; none if there is no program.
    fn ask(what: u8, path: &Path, passed_over: &[u8]) -> io::Result<Option<Self>> {
        let Some(program) = PROGRAM.get() else {
            return Ok(None);
        };
        let request = request(what, path, passed_over);
        let idle = || IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        while let Some(server) = idle() {
            // An idle process may have been killed.
            if (&server.socket).write_all(&request).is_ok() {
                return Ok(Some(server));
            }
        }
        let server = Self::start(program)?;
        (&server.socket).write_all(&request)?;
        Ok(Some(server))
    }

    fn start(program: &Path) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let child = Command::new(program)
            .arg0("ken")
            .arg(ARGUMENT)
            .process_group(0)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        socket.set_read_timeout(Some(TICK))?;
        Ok(Self {
            socket,
            child: Some(child),
        })
    }

    /// Receives bytes, which must begin to come within a time.
    fn receive(&self, buffer: &mut [u8], time: Duration, should_stop: Stop<'_>) -> io::Result<()> {
        let (mut done, end) = (0, Instant::now() + time);
        while done < buffer.len() {
            match (&self.socket).read(&mut buffer[done..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if Instant::now() > end || should_stop() {
                        return Err(Errno::TIMEDOUT.into());
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn number(&self, time: Duration, should_stop: Stop<'_>) -> io::Result<u32> {
        let mut bytes = [0; 4];
        self.receive(&mut bytes, time, should_stop)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Keeps the process, which has answered, for the next request.
    fn keep(self) {
        IDLE.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(self);
    }
}

fn request(what: u8, path: &Path, passed_over: &[u8]) -> Vec<u8> {
    let path = path.as_os_str().as_bytes();
    let numbers = [path.len() as u32, passed_over.len() as u32].map(u32::to_le_bytes);
    [&[what], &*numbers.concat(), path, passed_over].concat()
}

/// Leaves a process behind that may still be in its call.
impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            std::thread::spawn(move || child.wait());
        }
    }
}

/// Returns whether to give up waiting.
type Stop<'a> = &'a dyn Fn() -> bool;

/// Looks at everything in a folder that a walk looks at, and returns the names of the entries that do not answer.
///
/// # Errors
/// Fails if the folder cannot be listed, or does not answer.
pub fn silent_entries(
    folder: &Path,
    follows: bool,
    should_stop: Stop<'_>,
) -> io::Result<HashSet<Vec<u8>>> {
    let what = if follows { LOOK_BEYOND } else { LOOK };
    let mut silent = HashSet::new();
    loop {
        // By name, since another process may find other entries.
        let names = silent.iter().map(Vec::as_slice);
        let passed_over: Vec<u8> = names.flat_map(|name| [name, b"\0"].concat()).collect();
        let Some(server) = Server::ask(what, folder, &passed_over)? else {
            return Ok(silent);
        };
        let number = || server.number(PATIENCE, should_stop);
        let error = number()?;
        if error != 0 {
            server.keep();
            return Err(io::Error::from_raw_os_error(error as i32));
        }
        let mut names = Vec::new();
        for _ in 0..number()? {
            let mut name = vec![0; number()? as usize];
            server.receive(&mut name, PATIENCE, should_stop)?;
            names.push(name);
        }
        let answers = |_: &Vec<u8>| server.receive(&mut [0], PATIENCE, should_stop).is_ok();
        let Some(first) = names.iter().position(|name| !answers(name)) else {
            server.keep();
            return Ok(silent);
        };
        let is_given_up = silent.len() + 1 >= MAX_SILENT || should_stop();
        let lost = names.into_iter().skip(first);
        match is_given_up {
            true => silent.extend(lost),
            false => silent.extend(lost.take(1)),
        }
        if is_given_up {
            return Ok(silent);
        }
    }
}

/// Returns whether a file or folder can be opened and read without waiting for ever, or fails at once.
pub fn answers(path: &Path, should_stop: Stop<'_>) -> bool {
    // If no process can be started, nothing is known.
    let Ok(Some(server)) = Server::ask(TRY, path, &[]) else {
        return true;
    };
    let answers = server.number(PATIENCE, should_stop).is_ok();
    if answers {
        server.keep();
    }
    answers
}

/// A file of a remote file system.
pub enum Fetched {
    /// All its bytes were written.
    All(Stamp),
    /// The file is too large, or there is no program to fetch it; its start answers.
    Start,
}

/// Writes a file of a remote file system into another one; returns none if it is gone or not a regular file. Each part
/// of it must come within a time.
///
/// # Errors
/// Fails as reading the file does; with the error of the system for a time-out if nothing comes.
pub fn fetch(
    path: &Path,
    to: &mut File,
    time: Duration,
    should_stop: Stop<'_>,
) -> io::Result<Option<Fetched>> {
    let Some(server) = Server::ask(FETCH, path, &[])? else {
        return Ok(Some(Fetched::Start));
    };
    // A file system that gives a little now and then has no more time than one that gives all at once.
    let begun = Instant::now();
    let fetched_bytes = Cell::new(0);
    let left = || {
        let parts = 1 + fetched_bytes.get() / BYTES_A_TIME;
        (time * parts).saturating_sub(begun.elapsed())
    };
    let number = || server.number(left(), should_stop);
    let fetched = match number()? {
        0 => {
            let mut numbers = [0; 7 * 8];
            server.receive(&mut numbers, left(), should_stop)?;
            let stamp = stamp_from(&numbers);
            let mut chunk = vec![0; CHUNK_BYTES];
            loop {
                match number()? as usize {
                    0 => break,
                    length if length <= CHUNK_BYTES => {
                        server.receive(&mut chunk[..length], left(), should_stop)?;
                        to.write_all(&chunk[..length])?;
                        fetched_bytes.set(fetched_bytes.get() + length as u32);
                    }
                    // An error of the system is negative.
                    error => {
                        return Err(io::Error::from_raw_os_error((error as i32).wrapping_neg()));
                    }
                }
            }
            Some(match stamp.size <= FETCHED_BYTES {
                true => Fetched::All(stamp),
                false => Fetched::Start,
            })
        }
        NO_FILE => None,
        error => {
            server.keep();
            return Err(io::Error::from_raw_os_error(error as i32));
        }
    };
    server.keep();
    Ok(fetched)
}

fn stamp_from(bytes: &[u8; 56]) -> Stamp {
    let at = |number: usize| ken_core::number_at(bytes, number * 8);
    Stamp {
        size: at(0),
        mtime_ns: at(1) as i64,
        ctime_ns: at(2) as i64,
        inode: at(3),
        device: at(4),
        volume: (at(5) != 0).then_some(at(6)),
        sidecar: None,
        mh: None,
    }
}

fn stamp_bytes(stamp: &Stamp) -> Vec<u8> {
    let has_volume = u64::from(stamp.volume.is_some());
    let times = [stamp.mtime_ns as u64, stamp.ctime_ns as u64];
    let rest = [
        stamp.inode,
        stamp.device,
        has_volume,
        stamp.volume.unwrap_or(0),
    ];
    let numbers = std::iter::once(stamp.size).chain(times).chain(rest);
    numbers.flat_map(u64::to_le_bytes).collect()
}

/// Makes the calls that [`silent_entries`], [`answers`] and [`fetch`] ask for, until the other side goes away.
///
/// # Errors
/// Fails if the socket breaks.
pub fn serve(mut socket: UnixStream) -> io::Result<()> {
    let mut head = [0; 9];
    while socket.read_exact(&mut head).is_ok() {
        let [what, rest @ ..] = head;
        let number = |at: usize| {
            rest[at..]
                .first_chunk()
                .map_or(0, |bytes| u32::from_le_bytes(*bytes)) as usize
        };
        let mut path = vec![0; number(0)];
        socket.read_exact(&mut path)?;
        let mut passed_over = vec![0; number(4)];
        socket.read_exact(&mut passed_over)?;
        let path = Path::new(OsStr::from_bytes(&path));
        match what {
            TRY => {
                try_at(path);
                put(&mut socket, 0)?;
            }
            FETCH => give(path, &mut socket)?,
            _ => look(path, what == LOOK_BEYOND, &passed_over, &mut socket)?,
        }
    }
    Ok(())
}

/// Reads the start of a file, or the first entry of a folder.
fn try_at(path: &Path) {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let Ok(open) = crate::open(path, flags) else {
        return;
    };
    read_start(&open);
    if let Ok(mut entries) = rustix::fs::Dir::read_from(&open) {
        entries.read();
    }
}

fn put(socket: &mut UnixStream, number: u32) -> io::Result<()> {
    socket.write_all(&number.to_le_bytes())
}

fn look(
    folder: &Path,
    follows: bool,
    passed_over: &[u8],
    socket: &mut UnixStream,
) -> io::Result<()> {
    let (open, listing) = match list(folder) {
        Ok(listed) => listed,
        Err(error) => return put(socket, error.raw_os_error() as u32),
    };
    let passed_over: HashSet<&[u8]> = passed_over.split(|byte| *byte == 0).collect();
    let entries = || {
        let entries = listing.entries.iter().copied();
        entries.filter(|entry| !passed_over.contains(listing.name(*entry)))
    };
    put(socket, 0)?;
    put(socket, entries().count() as u32)?;
    let mut names = Vec::new();
    for entry in entries() {
        let name = listing.name(entry);
        names.extend((name.len() as u32).to_le_bytes());
        names.extend(name);
    }
    socket.write_all(&names)?;
    for entry in entries() {
        look_at(open.as_fd(), &listing, entry, follows);
        socket.write_all(&[0])?;
    }
    Ok(())
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

fn give(path: &Path, socket: &mut UnixStream) -> io::Result<()> {
    let errno = |error: io::Error| {
        error
            .raw_os_error()
            .unwrap_or_else(|| Errno::IO.raw_os_error())
    };
    let (file, stamp) = match crate::open_settled(path, OFlags::empty()) {
        Ok(Some(opened)) => opened,
        Ok(None) => return put(socket, NO_FILE),
        Err(error) => return put(socket, errno(error) as u32),
    };
    // What is attached to it is read in place.
    let _ = rustix::fs::flistxattr(&file, &mut [0_u8; 256]);
    put(socket, 0)?;
    socket.write_all(&stamp_bytes(&stamp))?;
    let is_whole = stamp.size <= FETCHED_BYTES;
    let mut rest = (&file).take(if is_whole { stamp.size } else { 1 });
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match rest.read(&mut chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return put(socket, errno(error).wrapping_neg() as u32),
            Ok(0) => break,
            Ok(n) => {
                put(socket, n as u32)?;
                socket.write_all(&chunk[..n])?;
            }
        }
    }
    drop(file);
    put(socket, 0)
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
    fn the_other_side_does_what_it_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", ".gitignore"] {
            fs_err::write(folder.path().join(name), "text").unwrap();
        }
        let (ours, theirs) = UnixStream::pair().unwrap();
        let serving = std::thread::spawn(|| serve(theirs));
        let ask_for = |what: u8, path: &Path, passed_over: &[u8]| {
            (&ours)
                .write_all(&request(what, path, passed_over))
                .unwrap();
        };
        let ask = |what: u8, path: &Path| ask_for(what, path, &[]);
        let mut bytes = [0; 4];
        ask_for(LOOK, folder.path(), b"a\0.gitignore\0");
        let mut listed = [0; 4 + 4 + 4 + 1 + 1];
        (&ours).read_exact(&mut listed).unwrap();
        assert_eq!(listed, *b"\0\0\0\0\x01\0\0\0\x01\0\0\0b\0");
        ask(TRY, &folder.path().join("a"));
        (&ours).read_exact(&mut bytes).unwrap();
        ask(LOOK, &folder.path().join("none"));
        (&ours).read_exact(&mut bytes).unwrap();
        assert_eq!(
            u32::from_le_bytes(bytes),
            Errno::NOENT.raw_os_error() as u32
        );
        ask(FETCH, &folder.path().join("a"));
        let mut file = [0; 4 + 56 + 4 + 4 + 4];
        (&ours).read_exact(&mut file).unwrap();
        let stamp = stamp_from(file[4..].first_chunk().unwrap());
        assert_eq!((stamp.size, &file[64..68]), (4, &b"text"[..]));
        let open = fs_err::File::open(folder.path().join("a")).unwrap();
        assert_eq!(Some(stamp), crate::file_stamp(&open).unwrap());
        drop(ours);
        serving.join().unwrap().unwrap();
    }

    #[test]
    fn a_dead_process_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        fs_err::write(&program, "#!/bin/sh\nsleep 9\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs_err::set_permissions(&program, mode).unwrap();
        set_program(program);
        let (socket, theirs) = UnixStream::pair().unwrap();
        drop(theirs);
        Server {
            socket,
            child: None,
        }
        .keep();
        let server = Server::ask(TRY, folder.path(), &[]).unwrap();
        assert!(server.is_some_and(|server| server.child.is_some()));
        assert!(IDLE.lock().unwrap().is_empty());
    }

    #[test]
    fn automounts_may_not_answer_but_that_of_the_kernel_does() {
        let mounts = Mounts::parse(
            b"22 1 254:0 / / rw - ext4 /dev/vda rw\n\
              31 22 0:29 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw\n",
        );
        assert!(!mounts.are_any());
        let mounts = Mounts::parse(
            b"22 1 254:0 / / rw - ext4 /dev/vda rw\n31 22 0:29 / /net rw - autofs /etc/auto.net rw\n",
        );
        assert!(mounts.are_above(Path::new("/net/host/x")));
        let devices = [(254, 0), (0, 29), (0, 50)].map(|(a, b)| rustix::fs::makedev(a, b));
        assert_eq!(devices.map(|of| mounts.know(of)), [true, true, false]);
    }
}

//! Who may read files: reads owners, modes and access control lists of files and of the folders above them.
//!
//! A folder is remembered for a second, so that a file costs a few calls. What cannot be looked at allows nobody: a list that
//! cannot be read, a folder that is gone, a file system that does not answer.

mod folders;

use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use folders::{Folders, Inode, Known};
use ken_core::access::{Class, Rule, Wish};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, StatFs};
use rustix::io::Errno;

use crate::Mounts;

/// The attribute with the access control list (acl(5), xattr(7)).
const ACL: &str = "system.posix_acl_access";
/// The space in which most lists fit.
const USUAL_LIST: usize = 512;
/// The space for the longest list that is read.
const MAX_LIST: usize = 64 << 10;
/// File systems on which this machine decides by the mode, where they have no lists (statfs(2)): ext2 to ext4, XFS, Btrfs,
/// F2FS, Bcachefs, ZFS, tmpfs, ramfs, overlay, squashfs, EROFS, ISO 9660, UDF, FAT, exFAT, NTFS 3, JFS, ReiserFS. Others may
/// show modes without the lists that their servers keep (NFS, SMB, FUSE, …); there only the owner is certain.
const LOCAL: [u32; 18] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0xf2f5_2010,
    0xca45_1a4e,
    0x2fc1_2fc1,
    0x0102_1994,
    0x8584_58f6,
    0x794c_7630,
    0x7371_7368,
    0xe0f5_e1e2,
    0x9660,
    0x1501_3346,
    0x4d44,
    0x2011_bab0,
    0x7366_746e,
    0x3153_464a,
    0x5265_4973,
];

/// Who may read files, as the file system says. Folders are remembered for a moment.
#[derive(Default)]
pub struct Permissions {
    folders: Folders<PathBuf>,
    inodes: Folders<Inode>,
    /// The mounts, if file systems may have stopped to answer.
    mounts: Option<Mounts>,
}

impl Permissions {
    /// Returns what asks each file system first whether it answers.
    pub fn guarded() -> Self {
        Self {
            mounts: Some(Mounts::read()),
            ..Self::default()
        }
    }

    /// Returns who may read the file at an absolute path.
    pub fn class_of(&self, path: &Path) -> Class {
        let is_silent =
            |mounts: &Mounts| mounts.are_above(path) && !crate::answers(path, &|| false);
        if self.mounts.as_ref().is_some_and(is_silent) {
            return Class::nobody();
        }
        let look = || {
            let rule = rule_at(Wish::Read, path)?;
            let mut folders = self.above(path)?;
            if is_link(path)? {
                folders = folders.joined(&self.above(&real(path)?)?);
            }
            Ok::<_, Errno>(Class::new(rule, folders.rules.iter().cloned()))
        };
        look().unwrap_or_else(|_| Class::nobody())
    }

    /// Returns who may read a file that is open, and was opened by this path. Its own folders count besides those of the
    /// path: what was opened may not be what the path means by now.
    pub fn class_of_open(&self, file: impl AsFd, path: &Path) -> Class {
        let look = || {
            let stat = rustix::fs::fstat(&file)?;
            let list = list(|space| rustix::fs::fgetxattr(&file, ACL, space));
            let rule = rule(Wish::Read, &stat, list, || rustix::fs::fstatfs(&file))?;
            let own = folders::from_open(&self.inodes, folder_of(&file.as_fd(), &stat)?)?;
            let folders = own.joined(&self.above(path)?);
            Ok::<_, Errno>(Class::new(rule, folders.rules.iter().cloned()))
        };
        look().unwrap_or_else(|_| Class::nobody())
    }

    /// Returns the rules of the folders above a path.
    fn above(&self, path: &Path) -> Result<Known, Errno> {
        path.parent()
            .map_or_else(|| Ok(Known::none()), |folder| self.folder(folder))
    }

    /// Returns the rules of a folder and those above it.
    fn folder(&self, path: &Path) -> Result<Known, Errno> {
        if let Some(known) = self.folders.get(path) {
            return Ok(known);
        }
        // Paths have at most 4,096 bytes, and so 2,048 folders.
        let above = self.above(path)?;
        let known = match is_link(path)? {
            // The path that it means has no links.
            true => above.joined(&self.folder(&real(path)?)?),
            false => above.with(rule_at(Wish::Pass, path)?),
        };
        self.folders.put(path.to_path_buf(), &known);
        Ok(known)
    }
}

/// Opens the folder that an open file is in.
fn folder_of(file: &impl AsRawFd, stat: &Stat) -> Result<OwnedFd, Errno> {
    let real = rustix::fs::readlink(folders::descriptor(file), Vec::new())?.into_bytes();
    let real = PathBuf::from(OsString::from_vec(real));
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else {
        return Err(Errno::STALE);
    };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = rustix::fs::openat(CWD, folder, flags, Mode::empty())?;
    // Another folder may have that path by now.
    let there = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let is_in = (there.st_dev, there.st_ino) == (stat.st_dev, stat.st_ino);
    is_in.then_some(folder).ok_or(Errno::STALE)
}

fn is_link(path: &Path) -> Result<bool, Errno> {
    let stat = rustix::fs::statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode).is_symlink())
}

fn real(path: &Path) -> Result<PathBuf, Errno> {
    let real = fs_err::canonicalize(path);
    real.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

fn rule_at(wish: Wish, path: &Path) -> Result<Rule, Errno> {
    let stat = rustix::fs::stat(path)?;
    let list = list(|space| rustix::fs::getxattr(path, ACL, space));
    rule(wish, &stat, list, || rustix::fs::statfs(path))
}

/// Returns the rule of a file or folder with this list.
fn rule(
    wish: Wish,
    stat: &Stat,
    list: Result<Vec<u8>, Errno>,
    file_system: impl FnOnce() -> Result<StatFs, Errno>,
) -> Result<Rule, Errno> {
    let with = |acl: Option<&[u8]>| Rule::new(wish, stat.st_uid, stat.st_gid, stat.st_mode, acl);
    match list {
        Ok(list) => Ok(with(Some(&list))),
        Err(Errno::NODATA) => Ok(with(None)),
        Err(Errno::OPNOTSUPP) => {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            // a magic number of 32 bits
            let kind = file_system()?.f_type as u32;
            match LOCAL.contains(&kind) {
                true => Ok(with(None)),
                false => Ok(with(None).for_owner(stat.st_uid)),
            }
        }
        Err(error) => Err(error),
    }
}

/// Reads a list, whose length is not known.
fn list(read: impl Fn(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut space = vec![0; USUAL_LIST];
    let n_bytes = match read(&mut space) {
        Err(Errno::RANGE) => {
            space.resize(MAX_LIST, 0);
            read(&mut space)?
        }
        read => read?,
    };
    space.truncate(n_bytes);
    Ok(space)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use ken_core::access::Asker;

    use super::*;

    fn me() -> u32 {
        rustix::process::geteuid().as_raw()
    }

    fn other() -> Asker {
        Asker::new(me() + 40_000, vec![])
    }

    fn set(path: &Path, mode: u32) {
        fs_err::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    }

    /// A folder whose way others may go, with a folder and a file in it.
    fn tree() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let temporary = tempfile::tempdir().unwrap();
        set(temporary.path(), 0o755);
        let top = fs_err::canonicalize(temporary.path()).unwrap();
        let folder = top.join("folder");
        fs_err::create_dir(&folder).unwrap();
        set(&folder, 0o755);
        let file = folder.join("file");
        fs_err::write(&file, "text").unwrap();
        set(&file, 0o644);
        (temporary, folder, file)
    }

    fn is_readable(path: &Path) -> bool {
        Permissions::guarded().class_of(path).allows(&other())
    }

    #[test]
    fn a_file_and_all_its_folders_decide() {
        let (_temporary, folder, file) = tree();
        assert!(
            is_readable(&file),
            "{}",
            Permissions::default().class_of(&file)
        );
        set(&file, 0o640);
        assert!(!is_readable(&file));
        set(&file, 0o644);
        set(&folder, 0o750);
        assert!(!is_readable(&file));
        set(&folder, 0o711);
        assert!(is_readable(&file), "its name is enough");
        assert!(!is_readable(&folder.join("missing")));
    }

    #[test]
    fn links_lead_through_the_folders_of_their_target() {
        let (_temporary, folder, file) = tree();
        let top = folder.parent().unwrap();
        let (link, way) = (top.join("link"), top.join("way"));
        fs_err::os::unix::fs::symlink(&file, &link).unwrap();
        fs_err::os::unix::fs::symlink(&folder, &way).unwrap();
        assert!(is_readable(&link) && is_readable(&way.join("file")));
        set(&folder, 0o700);
        assert!(!is_readable(&link) && !is_readable(&way.join("file")));
    }

    #[test]
    fn an_open_file_is_judged_by_where_it_is() {
        let (_temporary, folder, file) = tree();
        let open = fs_err::File::open(&file).unwrap();
        let elsewhere = folder.parent().unwrap().join("elsewhere");
        let class = |path: &Path| Permissions::default().class_of_open(open.file(), path);
        assert!(class(&file).allows(&other()));
        let private = folder.join("private");
        fs_err::create_dir(&private).unwrap();
        set(&private, 0o700);
        fs_err::rename(&file, private.join("file")).unwrap();
        fs_err::write(&elsewhere, "other").unwrap();
        assert!(
            !class(&elsewhere).allows(&other()),
            "opened by another path"
        );
    }

    #[test]
    fn folders_on_the_way_to_an_open_file_count_whatever_its_path_means() {
        let (_temporary, folder, file) = tree();
        let top = folder.parent().unwrap();
        let (secret, decoy) = (top.join("secret"), top.join("decoy"));
        fs_err::create_dir_all(secret.join("in")).unwrap();
        fs_err::rename(&file, secret.join("in/file")).unwrap();
        set(&secret.join("in"), 0o755);
        set(&secret, 0o700);
        let permissions = Permissions::default();
        let class = |open: &fs_err::File, path: &Path| permissions.class_of_open(open.file(), path);
        // Opened through a link that was there for a moment.
        fs_err::os::unix::fs::symlink(secret.join("in"), &decoy).unwrap();
        let open = fs_err::File::open(decoy.join("file")).unwrap();
        fs_err::remove_file(&decoy).unwrap();
        fs_err::create_dir(&decoy).unwrap();
        set(&decoy, 0o755);
        fs_err::write(decoy.join("file"), "other").unwrap();
        assert!(permissions.class_of(&decoy.join("file")).allows(&other()));
        assert!(!class(&open, &decoy.join("file")).allows(&other()));
        // The same of a file that has no path any more.
        set(&secret, 0o755);
        fs_err::remove_file(secret.join("in/file")).unwrap();
        assert!(!class(&open, &decoy.join("file")).allows(&other()));
    }

    #[test]
    fn a_changed_folder_counts_after_a_moment() {
        let (_temporary, folder, file) = tree();
        let permissions = Permissions::default();
        let open = fs_err::File::open(&file).unwrap();
        let both = || {
            let open = permissions.class_of_open(open.file(), &file);
            [permissions.class_of(&file), open].map(|class| class.allows(&other()))
        };
        assert_eq!(both(), [true; 2]);
        set(folder.parent().unwrap(), 0o700);
        std::thread::sleep(std::time::Duration::from_millis(1_100));
        assert_eq!(both(), [false; 2]);
    }

    /// Numbers that look random, the same in each run.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: u32) -> u32 {
            // Knuth's constants for a linear congruential generator (MMIX).
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
            self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
            u32::try_from(self.0 >> 33).unwrap() % sides
        }

        /// Gives a file or folder a random owner, group, mode and list.
        fn set(&mut self, path: &Path) {
            let id = |dice: &mut Self| 50_001 + dice.roll(4);
            let (owner, group) = (id(self), id(self));
            fs_err::os::unix::fs::chown(path, Some(owner), Some(group)).unwrap();
            set(path, self.roll(0o1000));
            if self.roll(3) == 0 {
                return;
            }
            let mut entries = vec![(0x01, 0), (0x04, 0), (0x10, 0), (0x20, 0)];
            for tag in [0x02, 0x08] {
                let named = (0..4)
                    .filter(|_| self.roll(3) == 0)
                    .map(|n| (tag, 50_001 + n));
                entries.extend(named.collect::<Vec<_>>());
            }
            entries.sort_unstable();
            let mut list = 2_u32.to_le_bytes().to_vec();
            for (tag, id) in entries {
                list.extend(u16::to_le_bytes(tag));
                list.extend(u16::try_from(self.roll(8)).unwrap().to_le_bytes());
                list.extend(u32::to_le_bytes(if id == 0 { u32::MAX } else { id }));
            }
            rustix::fs::setxattr(path, ACL, &list, rustix::fs::XattrFlags::empty()).unwrap();
        }
    }

    #[test]
    fn the_kernel_decides_the_same() {
        let (_temporary, folder, _) = tree();
        let is_root = crate::needs::met("root", me() == 0);
        let has_lists =
            rustix::fs::setxattr(&folder, "user.ken", b"", rustix::fs::XattrFlags::empty());
        if !is_root || !crate::needs::met("xattr", has_lists.is_ok()) {
            return;
        }
        let mut dice = Dice(7);
        let files: Vec<PathBuf> = (0..600)
            .map(|n| folder.join(format!("{n:03}/file")))
            .collect();
        for file in &files {
            fs_err::create_dir(file.parent().unwrap()).unwrap();
            fs_err::write(file, "text").unwrap();
            dice.set(file);
            dice.set(file.parent().unwrap());
        }
        let mut n_readable = 0;
        for (uid, groups) in [
            (50_001, vec![50_001]),
            (50_002, vec![50_003, 50_004]),
            (50_003, vec![50_009]),
            (50_009, vec![50_001, 50_002, 50_003, 50_004]),
            (50_009, vec![50_009]),
        ] {
            let script = "while read -r file; do \
                if true < \"$file\"; then echo 1; else echo 0; fi; done 2> /dev/null";
            let names: Vec<String> = groups.iter().map(u32::to_string).collect();
            let mut child = std::process::Command::new("setpriv")
                .args([format!("--reuid={uid}"), format!("--regid={}", groups[0])])
                .args([
                    format!("--groups={}", names.join(",")).as_str(),
                    "sh",
                    "-c",
                    script,
                ])
                .stdin(std::process::Stdio::piped())
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap();
            let all: Vec<&str> = files.iter().map(|file| file.to_str().unwrap()).collect();
            let mut input = child.stdin.take().unwrap();
            std::io::Write::write_all(&mut input, (all.join("\n") + "\n").as_bytes()).unwrap();
            drop(input);
            let output = child.wait_with_output().unwrap();
            let kernel: Vec<bool> = String::from_utf8(output.stdout)
                .unwrap()
                .lines()
                .map(|line| line == "1")
                .collect();
            assert_eq!(kernel.len(), files.len());
            let asker = Asker::new(uid, groups);
            let permissions = Permissions::default();
            for (file, expected) in files.iter().zip(kernel) {
                let class = permissions.class_of(file);
                assert_eq!(class.allows(&asker), expected, "{file:?} {class} {asker:?}");
                n_readable += u32::from(expected);
            }
        }
        assert!((100..2_900).contains(&n_readable), "{n_readable}");
    }
}

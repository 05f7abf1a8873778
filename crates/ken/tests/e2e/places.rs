//! Folders on file systems of several kinds, which tell more or less of a file: the temporary folder, memory, ext4
//! with whole seconds, and FUSE, whose inodes do not last.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::needs;
use crate::world::World;

/// A kind of file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Where temporary files are.
    Usual,
    /// A tmpfs.
    Memory,
    /// ext4 with inodes of 128 bytes, whose times are whole seconds.
    Seconds,
    /// A folder that a program passes through ([`Place::rules`]).
    Fuse,
}

pub(crate) const KINDS: [Kind; 4] = [Kind::Usual, Kind::Memory, Kind::Seconds, Kind::Fuse];

/// A folder on a file system that lasts as long as this.
pub(crate) struct Place {
    folder: PathBuf,
    /// Also holds what the file system is made of.
    around: TempDir,
    is_mounted: bool,
    server: Option<Child>,
}

impl Place {
    /// Makes a file system of this kind; returns none, and says so, if this machine cannot.
    pub(crate) fn new(kind: Kind) -> Option<Self> {
        match kind {
            Kind::Usual => Some(Self::in_folder(&std::env::temp_dir())),
            Kind::Memory => {
                let shm = Path::new("/dev/shm");
                needs::met("tmpfs", shm.is_dir()).then(|| Self::in_folder(shm))
            }
            Kind::Seconds => {
                let place = Self::seconds();
                needs::met("loop", place.is_some()).then_some(place)?
            }
            Kind::Fuse => {
                let place = Self::fuse();
                needs::met("fuse", place.is_some()).then_some(place)?
            }
        }
    }

    /// Returns an empty home folder here.
    pub(crate) fn world(&self) -> World {
        World::below(&self.folder)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Sets what a file system of FUSE does otherwise: lines of an operation, a part of a path, and `HANG` or the
    /// name of an error.
    pub(crate) fn rules(&self, rules: &str) {
        fs_err::write(self.around.path().join("rules"), rules).unwrap();
    }

    fn in_folder(folder: &Path) -> Self {
        let around = tempfile::tempdir_in(folder).unwrap();
        Self {
            folder: around.path().to_path_buf(),
            around,
            is_mounted: false,
            server: None,
        }
    }

    fn to_mount_on() -> Self {
        let mut place = Self::in_folder(&std::env::temp_dir());
        place.folder = place.around.path().join("mounted");
        fs_err::create_dir(&place.folder).unwrap();
        place
    }

    fn seconds() -> Option<Self> {
        let mut place = Self::to_mount_on();
        let image = place.around.path().join("image");
        fs_err::File::create(&image)
            .unwrap()
            .set_len(1 << 30)
            .unwrap();
        let is_made = is_done(
            Command::new("mkfs.ext4")
                .args(["-q", "-I", "128"])
                .arg(&image),
        );
        let mut mount = Command::new("mount");
        mount.args(["-o", "loop"]).arg(&image).arg(&place.folder);
        place.is_mounted = is_made && is_done(&mut mount);
        place.is_mounted.then_some(place)
    }

    fn fuse() -> Option<Self> {
        let mut place = Self::to_mount_on();
        let behind = place.around.path().join("behind");
        fs_err::create_dir(&behind).unwrap();
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/passthrough.py");
        let can_import =
            |python: &&str| is_done(Command::new(python).args(["-c", "import fusepy"]));
        let python = ["python3", "/usr/bin/python3"]
            .into_iter()
            .find(can_import)?;
        let server = Command::new(python)
            .arg(program)
            .args([&behind, &place.folder, &place.around.path().join("rules")])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        place.server = Some(server.ok()?);
        place.is_mounted = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            is_done(Command::new("mountpoint").arg(&place.folder))
        });
        place.is_mounted.then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What hangs goes on.
        let _ = fs_err::remove_file(self.around.path().join("rules"));
        if self.is_mounted {
            is_done(Command::new("umount").arg("-l").arg(&self.folder));
        }
        if let Some(server) = &mut self.server {
            let _ = server.kill();
            let _ = server.wait();
        }
    }
}

fn is_done(command: &mut Command) -> bool {
    let quiet = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    quiet.status().is_ok_and(|status| status.success())
}

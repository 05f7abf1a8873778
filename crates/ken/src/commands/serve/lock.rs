//! Ensures that one `ken serve` at a time keeps an index fresh, and says where it answers: a locked file in the data
//! folder.

use std::fs::TryLockError;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::Duration;

use fs_err::File;
use ken_core::BytesPath;
use serde::{Deserialize, Serialize};

const FILE: &str = "ken.serve";
/// How often the lock is tried, and the pause between two tries.
const TRIES: u32 = 10;
const PAUSE: Duration = Duration::from_millis(5);

/// What a server says of itself.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(in crate::commands) struct Served {
    /// The socket that it answers on.
    pub(in crate::commands) socket: Option<BytesPath>,
}

/// The right to keep an index fresh, held until dropped.
pub(super) struct Lock(File);

impl Lock {
    /// Takes the lock; returns none if another process has it.
    pub(super) fn take(data: &Path) -> io::Result<Option<Self>> {
        let file = ken_private::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(data.join(FILE))?;
        let mut tries = 0;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self(file))),
                // A command may look for a server just now.
                Err(TryLockError::WouldBlock) if tries < TRIES => {
                    tries += 1;
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// Returns whether the lock is still that of a data folder, which may be another one now.
    pub(super) fn is_of(&self, data: &Path) -> bool {
        let number = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
        let now = fs_err::metadata(data.join(FILE)).map(number);
        now.is_ok_and(|now| self.0.metadata().map(number).is_ok_and(|own| own == now))
    }

    /// Tells others where the server answers.
    pub(super) fn tell(&self, served: &Served) -> io::Result<()> {
        let text = serde_json::to_vec(served)?;
        self.0.set_len(0)?;
        self.0.file().write_all_at(&text, 0)
    }
}

/// Returns what the server of an index says of itself; none if there is no server.
pub(in crate::commands) fn served(data: &Path) -> Option<Served> {
    let file = File::open(data.join(FILE)).ok()?;
    match file.try_lock_shared() {
        // It is just starting if it says nothing yet.
        Err(TryLockError::WouldBlock) => {
            let text = fs_err::read(data.join(FILE)).unwrap_or_default();
            Some(serde_json::from_slice(&text).unwrap_or_default())
        }
        _ => None,
    }
}

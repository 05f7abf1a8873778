//! Pausing: a file in the data folder says so, and until when.
//!
//! A run that finds it commits what it did, lets the index go, and goes on when it is gone.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long indexing is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Until somebody resumes it.
    Open,
    /// Until then, or until somebody resumes it.
    Until(SystemTime),
}

/// Pauses indexing into the index in this folder: running and later runs wait, but those of single files.
///
/// # Errors
/// Fails if the file cannot be written that says so.
pub fn pause(data: &Path, pause: Pause) -> std::io::Result<()> {
    let text = match pause {
        Pause::Open => String::new(),
        Pause::Until(time) => {
            let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
            format!("{}\n", since.as_secs())
        }
    };
    fs_err::create_dir_all(data)?;
    // A reader must not take half a number for the time.
    let new = data.join("paused.new");
    fs_err::write(&new, text)?;
    fs_err::rename(new, file(data))
}

/// Lets indexing go on; returns whether it was paused.
///
/// # Errors
/// Fails if the file that says so cannot be removed.
pub fn resume(data: &Path) -> std::io::Result<bool> {
    let was_paused = paused(data).is_some();
    match fs_err::remove_file(file(data)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(was_paused),
    }
}

/// Returns whether indexing is paused now, and how long.
#[must_use]
pub fn paused(data: &Path) -> Option<Pause> {
    let text = fs_err::read_to_string(file(data)).ok()?;
    // What nobody can read still says that somebody wanted quiet.
    let Ok(seconds) = text.trim().parse() else {
        return Some(Pause::Open);
    };
    let until = UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?;
    (until > SystemTime::now()).then_some(Pause::Until(until))
}

fn file(data: &Path) -> PathBuf {
    data.join("paused")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_by_itself_or_by_resuming() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path();
        assert_eq!((paused(data), resume(data).unwrap()), (None, false));
        pause(data, Pause::Open).unwrap();
        assert_eq!(paused(data), Some(Pause::Open));
        let soon = UNIX_EPOCH + Duration::from_secs(4_000_000_000);
        pause(data, Pause::Until(soon)).unwrap();
        assert_eq!(paused(data), Some(Pause::Until(soon)));
        assert!(resume(data).unwrap());
        assert_eq!(paused(data), None);
        pause(data, Pause::Until(UNIX_EPOCH + Duration::from_secs(1))).unwrap();
        assert_eq!((paused(data), resume(data).unwrap()), (None, false));
    }
}

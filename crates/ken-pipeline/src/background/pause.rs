//! Pauses indexing, by a file in the data folder that may hold the end of the pause.
//!
//! A run that finds the file commits its work, closes the index, and continues when the file is
//! gone.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The duration of a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Until someone resumes indexing.
    Open,
    /// Until this time, or until someone resumes indexing.
    Until(SystemTime),
}

/// Pauses indexing into the index in this folder: running and later runs wait, except runs over
/// single files.
///
/// # Errors
/// Fails if the file of the pause cannot be written.
pub fn pause(data: &Path, pause: Pause) -> std::io::Result<()> {
    let text = match pause {
        Pause::Open => String::new(),
        Pause::Until(time) => {
            let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
            format!("{}\n", since.as_secs())
        }
    };
    ken_private::create_folder(data)?;
    // A reader must not take half a number for the time.
    let new = data.join("paused.new");
    ken_private::write(&new, text.as_bytes())?;
    fs_err::rename(new, file(data))
}

/// Resumes indexing; returns whether it was paused.
///
/// # Errors
/// Fails if the file of the pause cannot be removed.
pub fn resume(data: &Path) -> std::io::Result<bool> {
    let was_paused = paused(data).is_some();
    match fs_err::remove_file(file(data)) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(was_paused),
    }
}

/// Returns whether indexing is paused now, and for how long.
#[must_use]
pub fn paused(data: &Path) -> Option<Pause> {
    let text = fs_err::read_to_string(file(data)).ok()?;
    // An unreadable file still means that someone wanted a pause.
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

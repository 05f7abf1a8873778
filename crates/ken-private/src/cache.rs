//! A folder of files that could be made again, bounded in size.
//!
//! Each file is whole or absent, also after a crash: it is written under another name first. The time of a file is that
//! of its last use, and the files that were not used for the longest time are removed first. The folder may be deleted
//! at any time. A failure here costs time only, so none is reported.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// A cache in a folder of its own.
pub struct Cache {
    folder: PathBuf,
    max_bytes: u64,
}

impl Cache {
    /// Creates a cache. The folder is created when something is put into it.
    #[must_use]
    pub fn new(folder: PathBuf, max_bytes: u64) -> Self {
        Self { folder, max_bytes }
    }

    /// Returns the bytes of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Vec<u8>> {
        let path = self.folder.join(name);
        let bytes = fs_err::read(&path).ok()?;
        let file = fs_err::File::options().append(true).open(&path).ok()?;
        let _ = file.file().set_modified(SystemTime::now());
        Some(bytes)
    }

    /// Keeps bytes under a name.
    pub fn put(&self, name: &str, bytes: &[u8]) {
        let _ = self.write(name, bytes);
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        // Two threads, or two processes, may make the same bytes, so each writes a file of its own.
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let unfinished = format!("{name}.{}-{number}", std::process::id());
        let unfinished = self.folder.join(unfinished);
        crate::create_folder(&self.folder)?;
        let mut file = crate::create(&unfinished)?;
        file.write_all(bytes)?;
        // The name must not be on disk before the bytes: half of them would be taken for all.
        file.sync_data()?;
        fs_err::rename(&unfinished, self.folder.join(name))
    }

    /// Deletes the files that were not used for the longest time until the rest is within the limit.
    pub fn prune(&self) {
        let entries = fs_err::read_dir(&self.folder);
        let mut all: Vec<_> = entries
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| {
                let metadata = entry.metadata().ok()?;
                Some((metadata.modified().ok()?, metadata.len(), entry.path()))
            })
            .collect();
        all.sort();
        let mut n_bytes: u64 = all.iter().map(|(_, length, _)| length).sum();
        for (_, length, path) in all {
            if n_bytes <= self.max_bytes {
                return;
            }
            n_bytes -= length;
            let _ = fs_err::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_file_that_was_not_used_for_the_longest_time_goes() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("cache");
        let cache = Cache::new(folder.clone(), 10);
        assert_eq!(cache.get("a"), None);
        for (name, age) in [("a", 30), ("b", 20), ("c", 10)] {
            cache.put(name, b"four");
            let path = folder.join(name);
            let file = fs_err::File::options().append(true).open(path).unwrap();
            let time = SystemTime::now() - Duration::from_secs(age);
            file.file().set_modified(time).unwrap();
        }
        assert_eq!(cache.get("a").as_deref(), Some(&b"four"[..]));
        cache.prune();
        let kept = ["a", "b", "c"].map(|name| cache.get(name).is_some());
        assert_eq!(kept, [true, false, true]);
        assert!(!crate::is_open(&folder) && !crate::is_open(&folder.join("a")));
    }
}

//! A cache of recognised texts, by the content of their file and the languages.
//!
//! Each text is in a file named by a SHA-256, below `ocr/` in the data folder. The cache holds
//! nothing that could not be computed again, so the folder may be deleted at any time. When it
//! grows beyond its limit, the least recently used texts are removed first.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use sha2::{Digest, Sha256};

/// The cache; a failure in it costs time only.
pub(crate) struct Cache {
    folder: PathBuf,
    languages: String,
    max_bytes: u64,
}

impl Cache {
    pub(crate) fn new(folder: PathBuf, languages: &str, max_bytes: u64) -> Self {
        Self {
            folder,
            languages: languages.to_owned(),
            max_bytes,
        }
    }

    /// Returns the path for the text of this content.
    pub(crate) fn entry(&self, content: &mut dyn Read) -> io::Result<PathBuf> {
        let mut hash = Sha256::new();
        hash.update(self.languages.as_bytes());
        hash.update([0]);
        let mut buffer = vec![0; 64 << 10];
        loop {
            match content.read(&mut buffer)? {
                0 => break,
                n_read => hash.update(&buffer[..n_read]),
            }
        }
        let name: String = hash
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Ok(self.folder.join(name))
    }

    pub(crate) fn get(&self, entry: &PathBuf) -> Option<String> {
        let text = fs_err::read_to_string(entry).ok()?;
        // The time of the file is that of its last use.
        let file = fs_err::File::options().append(true).open(entry).ok()?;
        let _ = file.file().set_modified(SystemTime::now());
        Some(text)
    }

    pub(crate) fn put(&self, entry: &PathBuf, text: &str) {
        // Two threads may have recognised the same picture, so each writes its own file.
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let unfinished = entry.with_extension(format!("new{number}"));
        let write = || {
            ken_private::create_folder(&self.folder)?;
            let mut file = ken_private::create(&unfinished)?;
            file.write_all(text.as_bytes())?;
            // The name must not be on disk before the text: half a text would be taken for all of
            // it.
            file.sync_data()?;
            fs_err::rename(&unfinished, entry)
        };
        let _ = write();
    }

    /// Deletes the oldest texts until the rest is within the limit.
    pub(crate) fn prune(&self) {
        let entries = fs_err::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten();
        let mut all: Vec<_> = entries
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
    fn texts_are_kept_by_content_and_language_and_the_oldest_goes() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("ocr"), "eng", 10);
        let entry_of = |cache: &Cache, content: &str| cache.entry(&mut content.as_bytes()).unwrap();
        let entries = ["a", "b", "c"].map(|content| entry_of(&cache, content));
        assert_eq!(cache.get(&entries[0]), None);
        for (entry, age) in entries.iter().zip([30, 20, 10]) {
            cache.put(entry, "four");
            let file = fs_err::File::options().append(true).open(entry).unwrap();
            let time = SystemTime::now() - Duration::from_secs(age);
            file.file().set_modified(time).unwrap();
        }
        assert_eq!(
            cache.get(&entries[0]).as_deref(),
            Some("four"),
            "used just now"
        );
        cache.prune();
        let kept = entries.each_ref().map(|entry| cache.get(entry).is_some());
        assert_eq!(kept, [true, false, true]);
        let other = Cache::new(folder.path().join("ocr"), "deu", 10);
        assert_eq!(other.get(&entry_of(&other, "a")), None);
    }
}

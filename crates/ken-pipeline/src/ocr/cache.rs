//! A cache of recognised texts, by the content of their file and the languages.
//!
//! Each text is in a file named by a SHA-256, below `ocr/` in the data folder.

use std::io::{self, Read};
use std::path::PathBuf;

use sha2::{Digest, Sha256};

/// The cache; a failure in it costs time only.
pub(crate) struct Cache {
    texts: ken_private::Cache,
    languages: String,
}

impl Cache {
    pub(crate) fn new(folder: PathBuf, languages: &str, max_bytes: u64) -> Self {
        Self {
            texts: ken_private::Cache::new(folder, max_bytes),
            languages: languages.to_owned(),
        }
    }

    /// Returns the name for the text of this content.
    pub(crate) fn entry(&self, content: &mut dyn Read) -> io::Result<String> {
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
        let hash = hash.finalize();
        Ok(hash.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns the text of this name.
    pub(crate) fn get(&self, entry: &str) -> Option<String> {
        String::from_utf8(self.texts.get(entry)?).ok()
    }

    /// Keeps a text under this name.
    pub(crate) fn put(&self, entry: &str, text: &str) {
        self.texts.put(entry, text.as_bytes());
    }

    /// Deletes the texts that were not used for the longest time until the rest is within the limit.
    pub(crate) fn prune(&self) {
        self.texts.prune();
    }
}

/// Returns whether a name may be one for a text.
pub(crate) fn is_entry(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_by_content_and_language() {
        let folder = tempfile::tempdir().unwrap();
        let of = |languages| Cache::new(folder.path().join("ocr"), languages, 10);
        let entry_of = |cache: &Cache, content: &str| cache.entry(&mut content.as_bytes()).unwrap();
        let english = of("eng");
        english.put(&entry_of(&english, "a"), "four");
        assert_eq!(
            english.get(&entry_of(&english, "a")).as_deref(),
            Some("four")
        );
        assert_eq!(english.get(&entry_of(&english, "b")), None);
        assert!(is_entry(&entry_of(&english, "a")));
        assert!(!is_entry("../tags") && !is_entry(&"/".repeat(64)));
        let german = of("deu");
        assert_eq!(german.get(&entry_of(&german, "a")), None);
    }
}

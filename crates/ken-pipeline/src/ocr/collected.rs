//! The texts that a machine recognised for the run of another one.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::cache;

/// The most bytes of the texts of a share. Nodes take calls of ten megabytes and more.
const MAX_BYTES: usize = 4 << 20;

/// Texts by their names in the cache, which stand for the content and the languages.
#[derive(Default)]
pub(super) struct Collected(Mutex<Held>);

#[derive(Default)]
struct Held {
    by_name: BTreeMap<String, String>,
    n_bytes: usize,
    is_full: bool,
}

impl Collected {
    /// Adds a text, if there is room for it.
    pub(super) fn add(&self, entry: &str, body: &str) {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let n_bytes = entry.len() + body.len();
        if texts.n_bytes + n_bytes <= MAX_BYTES {
            texts.n_bytes += n_bytes;
            texts.by_name.insert(entry.to_owned(), body.to_owned());
        } else {
            texts.is_full = true;
        }
    }

    /// Returns whether there was no room for a text.
    pub(super) fn is_full(&self) -> bool {
        let texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        texts.is_full
    }

    pub(super) fn into_texts(self) -> BTreeMap<String, String> {
        let texts = self.0.into_inner();
        texts.unwrap_or_else(PoisonError::into_inner).by_name
    }
}

/// Keeps texts of another machine. A name that is none of the cache's stands for nothing.
pub(super) fn keep(texts: &BTreeMap<String, String>, cache: &cache::Cache) {
    for (entry, body) in texts {
        if cache::is_entry(entry) {
            cache.put(entry, body);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_texts_are_kept_and_only_some_megabytes() {
        let folder = tempfile::tempdir().unwrap();
        let cache = cache::Cache::new(folder.path().join("ocr"), "eng", 1 << 20);
        let name = cache.entry(&mut &b"picture"[..]).unwrap();
        let collected = Collected::default();
        for name in [&name, "../tags", "/tmp/tags"] {
            collected.add(name, "text");
        }
        keep(&collected.into_texts(), &cache);
        assert_eq!(cache.get(&name).as_deref(), Some("text"));
        let all: Vec<_> = fs_err::read_dir(folder.path()).unwrap().collect();
        assert_eq!(all.len(), 1);
        let collected = Collected::default();
        let text = "a".repeat(MAX_BYTES / 2 - 9);
        for n in 0..4 {
            assert_eq!(collected.is_full(), n >= 3);
            collected.add(&n.to_string(), &text);
        }
        assert_eq!(collected.into_texts().len(), 2);
    }
}

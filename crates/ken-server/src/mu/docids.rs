//! The numbers of messages for a client.
//!
//! A message gets a number when it is first shown, and keeps it for the whole session even if its file is renamed:
//! clients find the line of a message by its number.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::Mail;

#[derive(Default)]
pub(super) struct Docids {
    /// Messages by number, from 1; an empty path is that of a removed message.
    messages: Vec<(PathBuf, String)>,
    by_path: HashMap<PathBuf, usize>,
}

impl Docids {
    /// Returns the number of a message.
    pub(super) fn of(&mut self, mail: &Mail) -> i64 {
        let at = match self.by_path.get(&mail.path) {
            Some(at) => *at,
            None => {
                self.messages.push((mail.path.clone(), mail.id.clone()));
                self.by_path
                    .insert(mail.path.clone(), self.messages.len() - 1);
                self.messages.len() - 1
            }
        };
        i64::try_from(at + 1).unwrap_or(i64::MAX)
    }

    /// Returns the path and the identifier of a message.
    pub(super) fn get(&self, docid: i64) -> Option<(&Path, &str)> {
        let at = usize::try_from(docid).ok()?.checked_sub(1)?;
        let (path, id) = self.messages.get(at)?;
        (!path.as_os_str().is_empty()).then_some((path, id))
    }

    /// Notes that a message moved.
    pub(super) fn moved(&mut self, from: &Path, to: &Path) {
        if let Some(at) = self.by_path.remove(from) {
            self.messages[at].0 = to.to_path_buf();
            self.by_path.insert(to.to_path_buf(), at);
        }
    }

    /// Notes that a message is gone.
    pub(super) fn removed(&mut self, path: &Path) {
        if let Some(at) = self.by_path.remove(path) {
            self.messages[at].0 = PathBuf::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_keeps_its_number_under_other_names() {
        let mail = |path: &str| Mail {
            path: path.into(),
            id: path.to_owned(),
            ..Mail::default()
        };
        let mut docids = Docids::default();
        assert_eq!((docids.of(&mail("/a")), docids.of(&mail("/b"))), (1, 2));
        docids.moved(Path::new("/a"), Path::new("/c"));
        assert_eq!(docids.of(&mail("/c")), 1);
        assert_eq!(docids.get(1), Some((Path::new("/c"), "/a")));
        assert_eq!(docids.of(&mail("/a")), 3, "another file");
        docids.removed(Path::new("/b"));
        assert_eq!(docids.get(2), None);
        assert_eq!(
            (docids.get(0), docids.get(9), docids.get(-1)),
            (None, None, None)
        );
    }
}

//! Lines of the tag log: what is read is written, and read again as the same change.

use ken_mail::{TagChange, Tags};

pub(super) fn run(bytes: &[u8]) {
    let mut tags = Tags::default();
    for line in String::from_utf8_lossy(bytes).lines() {
        if let Ok(Some(change)) = TagChange::read(line) {
            let again = TagChange::read(&change.to_string());
            assert!(again.is_ok_and(|again| again.is_some_and(|again| again.tags == change.tags)));
            tags.take(&change);
        }
    }
    let ids: Vec<_> = tags.ids().collect();
    for id in ids {
        tags.of(id).count();
    }
}

//! Labels: the file that `mu labels export` writes, and changes as they are typed. What is read can be written, and is
//! then read as the same.

use std::path::Path;

use ken_mail::{TagChange, is_label, is_mu_labels, mu_labels, mu_labels_head, read_mu_labels};
use ken_server::mu::{Mail, labels_change};

pub(super) fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    is_mu_labels(&text);
    for (_, change) in read_mu_labels(&text) {
        change.iter().for_each(assert_read_again);
    }
    let mail = Mail {
        id: "1@example.org".to_owned(),
        tags: vec!["todo".to_owned()],
        ..Mail::default()
    };
    if let Ok(change) = labels_change(&text, &mail) {
        let sign = |is_set: bool| if is_set { '+' } else { '-' };
        let words = change.tags.iter();
        let words: Vec<_> = words
            .map(|(name, is_set)| format!("{}{name}", sign(*is_set)))
            .collect();
        assert_eq!(labels_change(&words.join(" "), &mail).ok(), Some(change));
    }
}

/// Asserts that the labels of a message are read as they are written.
fn assert_read_again(change: &TagChange) {
    let labels: Vec<_> = change.tags.iter().map(|(name, _)| &**name).collect();
    let kept = change.tags.iter().filter(|(name, _)| is_label(name));
    let expected = TagChange {
        on: change.on.clone(),
        tags: kept.cloned().collect(),
    };
    let id = change.on.name();
    match mu_labels(Path::new("/mail/cur/1"), id, &labels) {
        Some(lines) => {
            let file = mu_labels_head("now") + &lines;
            assert!(is_mu_labels(&file));
            assert_eq!(read_mu_labels(&file), [(5, Ok(expected))]);
        }
        None => assert!(expected.tags.is_empty() || id.contains('\r')),
    }
}

//! Labels: the file that `mu labels export` writes, and changes as they are typed.
#![no_main]

use std::path::Path;

use ken_mail::{is_label, is_mu_labels, mu_labels, read_mu_labels};
use ken_server::mu::{Mail, labels_change};

ken_fuzz::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    is_mu_labels(&text);
    for (_, change) in read_mu_labels(&text) {
        let Ok(change) = change else { continue };
        let labels: Vec<_> = change.tags.iter().map(|(name, _)| &**name).collect();
        mu_labels(Path::new("/mail/cur/1"), &change.id, &labels);
    }
    let mail = Mail {
        id: "1@example.org".to_owned(),
        tags: vec!["todo".to_owned()],
        ..Mail::default()
    };
    if let Ok(change) = labels_change(&text, &mail) {
        change
            .tags
            .iter()
            .for_each(|(name, _)| assert!(is_label(name) || !name.is_empty()));
    }
});

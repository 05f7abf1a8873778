//! The tags that a message gets by what it contains.

use std::collections::BTreeSet;

use ken_mail::{TreeInner, TreePart};

use super::crypto::is_signed_data;

/// Notes the tags that say what a message contains.
pub(super) fn note_content(part: &TreePart<'_>, tags: &mut BTreeSet<&'static str>) {
    if part.is("application", "pkcs7-mime") {
        // It is declared as an attachment, but is the message.
        tags.insert(match is_signed_data(part) {
            true => "signed",
            false => "encrypted",
        });
        return;
    }
    if part.is_attachment() {
        tags.insert("attachment");
    }
    if part.is("multipart", "signed") {
        tags.insert("signed");
    }
    if part.is("multipart", "encrypted") {
        tags.insert("encrypted");
    }
    match &part.inner {
        TreeInner::Leaf => {}
        // A signature is no attachment.
        TreeInner::Multipart(parts) if part.is("multipart", "signed") => {
            parts
                .iter()
                .take(1)
                .for_each(|part| note_content(part, tags));
        }
        TreeInner::Multipart(_) if part.is("multipart", "encrypted") => {}
        TreeInner::Multipart(parts) => parts.iter().for_each(|part| note_content(part, tags)),
        TreeInner::Message(part) => note_content(part, tags),
    }
}

//! The tree of a message's parts: each part is inside the message, and is decoded without a panic.

use ken_mail::{TreeInner, TreePart};

fn look(part: &TreePart<'_>, detect: &dyn Fn(&[u8]) -> String) {
    assert!(part.body.len() <= part.whole.len());
    part.content();
    part.text(detect);
    part.without_message_header();
    part.addresses("From", detect);
    part.ids("References", detect);
    part.date(detect);
    match &part.inner {
        TreeInner::Leaf => {}
        TreeInner::Multipart(parts) => parts.iter().for_each(|part| look(part, detect)),
        TreeInner::Message(inner) => look(inner, detect),
    }
}

pub(super) fn run(bytes: &[u8]) {
    let detect = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    look(&TreePart::read(bytes, &detect), &detect);
}

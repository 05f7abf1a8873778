//! Gives the targets in `fuzz/` access to private parsers of foreign bytes.

use ken_core::Document;

use crate::draw::draw as drawn;
use crate::formats::text_of_section;
use crate::picture::{Drawn, Order};
use crate::{Input, Limits, Member, Sink};

/// What a worker process may deliver.
#[derive(Default)]
struct Delivered {
    n_bytes: u64,
    n_parts: u64,
}

impl Sink for Delivered {
    fn document(&mut self, document: Document) {
        assert!(!document.ipath.is_root(), "a part stands for the file");
        self.n_bytes += document.body.len() as u64;
        self.n_parts += 1;
    }
    fn member(&mut self, member: Member) {
        assert!(!member.ipath.is_root(), "a member stands for the file");
        self.n_bytes += member.bytes.len() as u64;
        self.n_parts += 1;
    }
    fn content(&mut self, content: Member) {
        assert!(content.ipath.is_root());
    }
}

/// Reads the answers of a worker process whose parser may have been taken over.
///
/// # Panics
/// If more is delivered than the limits allow, or a part with the path of its file.
pub fn worker_answers(bytes: &[u8]) {
    let limits = Limits {
        max_members: 10,
        max_expanded_bytes: 10_000,
        max_text_bytes: 5_000,
        ..Limits::default()
    };
    let mut delivered = Delivered::default();
    crate::worker::take_answers(bytes, &limits, &mut delivered);
    assert!(delivered.n_parts <= limits.max_members + 1);
    assert!(delivered.n_bytes <= limits.max_expanded_bytes);
}

/// Draws bytes as whatever they look like, and reads where the words of the first page are.
///
/// # Panics
/// If a picture is larger than was wanted, or a word is not in its text.
pub fn draw(bytes: &[u8]) {
    let limits = Limits {
        worker_memory: 256 << 20,
        ..Limits::default()
    };
    for order in [Order::Thumbnail { width: 64 }, Order::Text { page: 0 }] {
        match drawn(&mut Input::bytes_of("", bytes), order, &limits) {
            Ok(Drawn::Picture(picture)) => {
                assert!(picture.width <= 64 && picture.height <= 96);
            }
            Ok(Drawn::Text(page)) => {
                for word in page.words {
                    assert!(!page.text[word.range].is_empty());
                }
            }
            Err(_) => {}
        }
    }
}

/// Reads the answers of a helper in Recoll's protocol.
pub fn helper_answers(bytes: &[u8]) {
    crate::helper::read_answers(bytes);
}

/// Reads the output of Tesseract.
pub fn ocr_pages(bytes: &[u8]) {
    crate::helper::ocr::read_pages(bytes);
}

/// Reads the records of a section of HWP 5, unpacked.
///
/// # Panics
/// If there is more text than may be.
pub fn hwp_section(records: &[u8]) {
    let max_bytes = 64 << 10;
    assert!(text_of_section(records, max_bytes).len() <= max_bytes);
}

/// Reads a `mimeconf` or `mimemap` file.
pub fn mimeconf(bytes: &[u8]) {
    crate::helper::read_table(&String::from_utf8_lossy(bytes));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::worker::part_message;

    proptest! {
        #[test]
        fn any_bytes_are_taken_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            worker_answers(&bytes);
            draw(&bytes);
            helper_answers(&bytes);
            ocr_pages(&bytes);
            hwp_section(&bytes);
            mimeconf(&bytes);
        }

        #[test]
        fn no_worker_delivers_more_than_it_may(
            parts in prop::collection::vec(("[ab|]{0,4}", 0..4_000_usize), 0..30),
            cut in any::<prop::sample::Index>(),
        ) {
            let messages = parts.iter().map(|(ipath, length)| part_message(ipath, *length));
            let mut bytes: Vec<u8> = messages.flatten().collect();
            worker_answers(&bytes);
            bytes.truncate(cut.index(bytes.len() + 1));
            worker_answers(&bytes);
        }

        #[test]
        fn tables_hold_any_text(lines in prop::collection::vec("[a-z/.=;\"\\\\ \\[\\]#]{0,30}", 0..20)) {
            mimeconf(lines.join("\n").as_bytes());
        }
    }
}

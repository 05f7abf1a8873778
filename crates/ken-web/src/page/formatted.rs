//! How a message or a page looks as it was written: its HTML, read from the original and rebuilt.

use encoding_rs::{Encoding, UTF_8};
use ken_engine::Stored;
use ken_mail::{Message, Text};

use super::look::Looker;
use super::rebuilt::{Mark, rebuilt};
use crate::original;

/// The largest original that is read.
const MAX_BYTES: u64 = 32 << 20;

/// Returns a document for a frame; none if the original cannot be read as it was indexed, or has no HTML.
pub(super) fn formatted(looker: &Looker<'_>, stored: &Stored, mark: Mark<'_>) -> Option<String> {
    let read = match stored.document.media_type.as_str() {
        "text/html" => of_page,
        "message/rfc822" => of_message,
        _ => return None,
    };
    let bytes = bytes(looker, stored)?;
    Some(rebuilt(&read(&bytes)?, mark))
}

fn bytes(looker: &Looker<'_>, stored: &Stored) -> Option<Vec<u8>> {
    let (source, location) = (looker.source, &stored.location);
    if location.ipath.is_root() {
        return original::bytes(source, location, looker.asker(), MAX_BYTES).ok();
    }
    // The file must be what the index knows, and a member is read from no other.
    let file = original::open(source, location, looker.asker()).ok()?;
    let bytes = (looker.web.setup.read_member)(source, location, file).ok()?;
    (bytes.len() as u64 <= MAX_BYTES).then_some(bytes)
}

/// Returns the text of a page in UTF-8. ken's own text is shown of others.
fn of_page(bytes: &[u8]) -> Option<String> {
    let (encoding, _) = Encoding::for_bom(bytes).unwrap_or((UTF_8, 0));
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes);
    text.map(std::borrow::Cow::into_owned)
}

fn of_message(bytes: &[u8]) -> Option<String> {
    let detect = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let message = Message::parse(bytes, &detect);
    let (page, charset) = message.texts.iter().find_map(|text| match text {
        Text::Html(html) => Some(html.page()),
        Text::Plain(_) => None,
    })?;
    let encoding = charset.and_then(|name| Encoding::for_label(name.as_bytes()));
    let (text, _, _) = encoding.unwrap_or(UTF_8).decode(&page);
    Some(text.into_owned())
}

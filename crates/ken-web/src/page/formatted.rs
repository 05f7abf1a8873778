//! How a message or a page looks as it was written: its HTML, read from the file and rebuilt.

use std::io::Read;

use ken_core::{Document, Field, Kind, Location};
use ken_mail::{Message, Text};
use rustix::fs::{Mode, OFlags};

use super::rebuilt::{Mark, rebuilt};

/// The largest file that is read.
const MAX_BYTES: u64 = 32 << 20;

/// Returns a document for a frame; none if the file is gone, or has no HTML.
pub(super) fn formatted(
    location: &Location,
    document: &Document,
    mark: Mark<'_>,
) -> Option<String> {
    // Members are inside containers, which only workers open.
    if !location.ipath.is_root() {
        return None;
    }
    match document.media_type.as_str() {
        "text/html" => {
            let bytes = read(location, document)?;
            let text = String::from_utf8(bytes).ok()?;
            Some(rebuilt(&text, mark))
        }
        "message/rfc822" if document.kind == Kind::Message => {
            let bytes = read(location, document)?;
            let message =
                Message::parse(&bytes, &|bytes| String::from_utf8_lossy(bytes).into_owned());
            let page = message.texts.iter().find_map(|text| match text {
                Text::Html(html) => Some(html.page()),
                Text::Plain(_) => None,
            });
            let (page, charset) = page?;
            let encoding =
                charset.and_then(|name| encoding_rs::Encoding::for_label(name.as_bytes()));
            let (text, _, _) = encoding.unwrap_or(encoding_rs::UTF_8).decode(&page);
            Some(rebuilt(&text, mark))
        }
        _ => None,
    }
}

/// Reads a file of the index, if it is as it was indexed. A link that took its place is not followed, and nothing else
/// than a file is read.
fn read(location: &Location, document: &Document) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(&location.path, flags, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&file).ok()?;
    let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
    let size = u64::try_from(stat.st_size).ok()?;
    let is_indexed = document.number(Field::Size) == Some(stat.st_size)
        && document.number(Field::Modified) == Some(stat.st_mtime);
    if !is_file || !is_indexed || size > MAX_BYTES {
        return None;
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::from(file);
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

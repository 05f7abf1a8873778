//! Pages saved by Safari (`.webarchive`): a binary property list of the page, its frames, and their
//! pictures, styles and scripts, which are left out.

use ken_core::{Document, Field};

use crate::formats::web::html::html_from;
use crate::output::Output;
use crate::structure::plist::{List, Object};
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "web archive of Safari",
    &["application/x-webarchive"],
    extract,
)
.fields(&[
    Field::Title,
    Field::Headings,
    Field::Author,
    Field::Description,
    Field::Keywords,
    Field::Lang,
    Field::Created,
    Field::Date,
])
.sections("frames")
.in_worker()
.version(3);

/// Maximum depth of frames, and maximum number of frames.
const MAX_DEPTH: usize = 8;
const MAX_FRAMES: usize = 1000;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let damaged = || Error::malformed("the property list is damaged");
    let list = List::open(input.bytes(limits)?).ok_or_else(damaged)?;
    let page = list.top().ok_or_else(damaged)?;
    let mut n_left = MAX_FRAMES;
    let document = output.own();
    read_page(
        page,
        MAX_DEPTH,
        &mut n_left,
        limits.max_text_bytes,
        document,
    );
    match n_left {
        MAX_FRAMES => Err(Error::malformed("there is no page in it")),
        0 => Err(Error::built_in(format!(
            "the page has more than {MAX_FRAMES} frames"
        ))),
        _ => Ok(()),
    }
}

fn read_page(
    page: Object<'_>,
    depth: usize,
    n_left: &mut usize,
    max_bytes: usize,
    document: &mut Document,
) {
    if *n_left == 0 || document.body.len() > max_bytes {
        return;
    }
    if let Some(resource) = page.get("WebMainResource")
        && let Some(bytes) = resource.get("WebResourceData").and_then(Object::bytes)
    {
        add_page(resource, bytes, *n_left == MAX_FRAMES, max_bytes, document);
        *n_left -= 1;
    }
    let frames = page.get("WebSubframeArchives").filter(|_| depth > 0);
    for frame in frames.into_iter().flat_map(Object::items) {
        read_page(frame, depth - 1, n_left, max_bytes, document);
        if *n_left == 0 {
            return;
        }
    }
}

fn add_page(
    resource: Object<'_>,
    bytes: &[u8],
    is_first: bool,
    max_bytes: usize,
    document: &mut Document,
) {
    let text = |key| resource.get(key).and_then(Object::text);
    let charset = text("WebResourceTextEncodingName");
    if !is_first {
        document.body.push('\u{c}');
    }
    if text("WebResourceMIMEType").is_some_and(|kind| kind == "text/plain") {
        let plain = crate::text::decode(bytes, charset.as_deref());
        return document.body.push_str(&plain);
    }
    let address = text("WebResourceURL").unwrap_or_default();
    let left = max_bytes.saturating_sub(document.body.len());
    let page = html_from(&address, bytes, charset.as_deref(), left);
    document.body.push_str(&page.body);
    for heading in &page.headings {
        document.add_text(Field::Headings, heading);
    }
    // The metadata of a frame are not about the page.
    if is_first {
        document.add_text(Field::Title, page.title.as_deref().unwrap_or_default());
        document.fields.extend(page.fields);
    }
}

#[cfg(test)]
mod tests {
    use ken_core::Kind;

    use super::*;
    use crate::detect::{self, Detected};
    use crate::testing::{run, survives};

    const PAGE: Detected = Detected {
        media_type: "application/x-webarchive",
        kind: Kind::Document,
    };
    const SAMPLE: &[u8] = include_bytes!("../../../../tests/data/web/page.webarchive");

    #[test]
    fn the_page_and_its_frames_are_read() {
        let input = Input::bytes_of("page.webarchive", SAMPLE);
        assert_eq!(detect::detect(&input).unwrap(), PAGE);
        let found = run(extract, PAGE, "page.webarchive", SAMPLE);
        let own = found.own();
        assert_eq!(own.failure, None);
        assert_eq!(own.text(Field::Title), Some("Möwen"));
        assert_eq!(
            own.body,
            "The kittiwakemole – crowded\u{c}A frame of terns\u{c}Plain – words"
        );
    }

    #[test]
    fn hostile_lists_are_survived() {
        survives(extract, PAGE, "page.webarchive", SAMPLE);
        // A dictionary that contains itself: its frames are an array of it.
        let mut list = b"bplist00".to_vec();
        list.extend(b"\xd1\x01\x02\x5f\x10\x13WebSubframeArchives\xa2\0\0");
        let table = list.len() as u64;
        list.extend([8, 11, 33]);
        list.extend([0, 0, 0, 0, 0, 0, 1, 1]);
        for number in [3_u64, 0, table] {
            list.extend(number.to_be_bytes());
        }
        assert!(run(extract, PAGE, "a", &list).own().failure.is_some());
    }
}

//! PostScript and EPS: the comments of the Document Structuring Conventions (Adobe, 3.0), and XMP.
//!
//! The text is not read. A page is a program, and the strings in it are codes of fonts that the
//! program makes, cut into pieces at each kern. Only an interpreter finds the words: see
//! [`crate::helper`], which starts one.

use std::io;

use ken_core::Field;
use memchr::memmem;

use crate::formats::media::xmp;
use crate::output::Output;
use crate::output::metadata::Metadata;
use crate::structure::cursor::{Cursor, octal};
use crate::{Error, Format, Input, date, text};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("PostScript", &["application/postscript"], extract)
        .fields(&[
            Field::Title,
            Field::Author,
            Field::Description,
            Field::Keywords,
            Field::Lang,
            Field::Camera,
            Field::Created,
            Field::Date,
            Field::Pages,
        ])
        .sections("pages")
        .version(3)
        .streams();

/// Number of bytes at the start that are searched for comments and XMP, and at the end for the
/// trailer.
const HEAD_BYTES: usize = 256 << 10;
const TAIL_BYTES: usize = 8 << 10;
/// Number of bytes in which a program must begin, after commands for a printer.
const BEGIN_BYTES: usize = 8 << 10;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let (start, end) = program(input)?;
    let head = input.range(start, HEAD_BYTES)?;
    let mut metadata = Metadata::default();
    comments(&head, true, &mut metadata);
    // Values that are unknown at the start may follow at the end: `(atend)`.
    let tail_at = end.saturating_sub(TAIL_BYTES as u64).max(start);
    let tail = input.range(tail_at, (end - tail_at) as usize)?;
    comments(&tail, false, &mut metadata);
    if let Some(begin) = memmem::find(&head, b"<?xpacket begin") {
        let length = memmem::find(&head[begin..], b"<?xpacket end");
        let end = length.map_or(head.len(), |length| begin + length);
        metadata.merge(xmp::read(&head[begin..end]));
    }
    metadata.add_to(output.own());
    Ok(())
}

/// Returns whether a file may have pages: it begins as a program and is, according to its first
/// line, no font, character map or other resource, of which some systems have hundreds.
pub(crate) fn has_pages(input: &Input<'_>) -> io::Result<bool> {
    let start = program(input).map_or(0, |(start, _)| start);
    let head = input.range(start, BEGIN_BYTES)?;
    let Some(at) = memmem::find(&head, b"%!") else {
        return Ok(false);
    };
    let mut lines = head[at + 2..].split(|byte| matches!(byte, b'\n' | b'\r'));
    let mut words = lines.next().unwrap_or_default().split(|byte| *byte == b' ');
    let is_font = words
        .next()
        .is_some_and(|word| word.starts_with(b"PS-AdobeFont") || word.starts_with(b"FontType"));
    let is_other = |word: &[u8]| word.starts_with(b"Resource-") || word == b"Query";
    Ok(!is_font && !words.any(is_other))
}

/// Returns the range of the program; EPS files for Windows hold a preview, too.
fn program(input: &Input<'_>) -> Result<(u64, u64), Error> {
    let head = input.range(0, 12)?;
    let mut header = Cursor(&head);
    if header.take(4) != Some(b"\xc5\xd0\xd3\xc6") {
        return Ok((0, input.size()));
    }
    let (Some(start), Some(length)) = (header.le_u32(), header.le_u32()) else {
        return Err(Error::Malformed("the header is cut off".into()));
    };
    let start = u64::from(start).min(input.size());
    Ok((start, (start + u64::from(length)).min(input.size())))
}

/// Reads the comments of the header, which ends at the first line without one, or of the trailer.
fn comments(bytes: &[u8], is_header: bool, metadata: &mut Metadata) {
    for line in bytes.split(|byte| matches!(byte, b'\n' | b'\r')) {
        if is_header && (!line.starts_with(b"%") || line.starts_with(b"%%EndComments")) {
            // Line ends of two characters leave empty lines.
            if line.is_empty() {
                continue;
            }
            return;
        }
        let Some(comment) = line.strip_prefix(b"%%") else {
            continue;
        };
        if let Some(colon) = memchr::memchr(b':', comment) {
            let value = string(comment[colon + 1..].trim_ascii());
            add(&comment[..colon], &text::decode(&value, None), metadata);
        }
    }
}

fn add(key: &[u8], value: &str, metadata: &mut Metadata) {
    if value == "atend" {
        return;
    }
    match key {
        b"Title" => metadata.text(Field::Title, value),
        b"For" => metadata.text(Field::Author, value),
        b"Pages" => {
            // Older versions add the order of the pages.
            let n_pages = value.split_whitespace().next().and_then(|n| n.parse().ok());
            if let Some(n_pages) = n_pages.filter(|n_pages| *n_pages > 0) {
                metadata.number(Field::Pages, n_pages);
            }
        }
        b"CreationDate" => {
            let seconds = date::iso(value)
                .or_else(|| date::ctime(value))
                .or_else(|| date::mail(value))
                .or_else(|| date::pdf(value));
            if let Some(seconds) = seconds {
                metadata.number(Field::Created, seconds);
            }
        }
        _ => {}
    }
}

/// Returns the content of a string in parentheses, with its escapes resolved; a value without
/// parentheses is returned unchanged.
fn string(value: &[u8]) -> Vec<u8> {
    let Some(value) = value.strip_prefix(b"(") else {
        return value.to_vec();
    };
    let mut rest = value.strip_suffix(b")").unwrap_or(value);
    let mut content = Vec::new();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match (byte, rest) {
            (b'\\', _) if let Some((byte, after)) = octal(rest) => {
                content.push(byte);
                rest = after;
            }
            (b'\\', [escaped, after @ ..]) => {
                content.push(*escaped);
                rest = after;
            }
            _ => content.push(byte),
        }
    }
    content
}

#[cfg(test)]
mod tests {
    use ken_core::Kind;

    use super::*;
    use crate::detect::{self, Detected};
    use crate::testing::{self, Extracted};

    const LETTER: &[u8] = b"%!PS-Adobe-3.0\r\n%%Title: (A letter \\(draft\\) f\\374r Anna)\r\n\
        %%Creator: groff version 1.22\r\n%%For: Nils Berg\r\n%%Pages: (atend)\r\n\
        %%CreationDate: Fri Mar  1 02:03:04 2024\r\n%%EndComments\r\n%%Title: no\r\n\
        72 700 moveto (Dear) show\r\n%%Trailer\r\n%%Pages: 12 1\r\n%%EOF\r\n";
    const DETECTED: Detected = Detected {
        media_type: "application/postscript",
        kind: Kind::Document,
    };

    fn run(bytes: &[u8]) -> Extracted {
        testing::run(extract, DETECTED, "x", bytes)
    }

    fn assert_letter(found: &Extracted) {
        let own = found.own();
        assert_eq!(own.failure, None);
        assert_eq!(own.text(Field::Title), Some("A letter (draft) für Anna"));
        assert_eq!(own.text(Field::Author), Some("Nils Berg"));
        assert_eq!(own.number(Field::Pages), Some(12));
        assert_eq!(own.number(Field::Created), Some(1_709_258_584));
    }

    #[test]
    fn comments_of_header_and_trailer_are_read() {
        assert_letter(&run(LETTER));
    }

    #[test]
    fn resources_have_no_pages() {
        for (head, expected) in [
            ("%!PS-Adobe-3.0 EPSF-3.0\n%%Title: Resource-CMap", true),
            ("%!\n", true),
            (
                "\x1b%-12345X@PJL ENTER LANGUAGE=POSTSCRIPT\r\n%!PS-Adobe-3.0\r\n",
                true,
            ),
            ("%!PS-Adobe-3.0 Resource-CMap\n", false),
            ("%!PS-Adobe-3.0 Query\n", false),
            ("%!PS-AdobeFont-1.0: CMR10\n", false),
            ("% Procedures for other programs\n", false),
            ("", false),
        ] {
            let input = Input::bytes_of("a.ps", head.as_bytes());
            assert_eq!(has_pages(&input).unwrap(), expected, "{head}");
        }
    }

    #[test]
    fn a_preview_is_passed_over() {
        let mut eps = b"\xc5\xd0\xd3\xc6".to_vec();
        eps.extend(40_u32.to_le_bytes());
        eps.extend((LETTER.len() as u32).to_le_bytes());
        eps.resize(40, 0);
        eps.extend(LETTER);
        eps.extend(b"II*\0 and pixels %%Title: none\n");
        assert_letter(&run(&eps));
    }

    #[test]
    fn xmp_adds_what_comments_lack() {
        let eps = b"%!PS-Adobe-3.0 EPSF-3.0\n%%Title: logo.eps\n%%EndComments\n\
            %begin_xml_packet: 9\n<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?>\
            <x:xmpmeta><rdf:RDF><rdf:Description><dc:title><rdf:Alt><rdf:li>Our logo</rdf:li>\
            </rdf:Alt></dc:title></rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end='w'?>\n";
        assert_eq!(run(eps).own().text(Field::Title), Some("Our logo"));
    }

    #[test]
    fn hostile_files_end_in_a_document() {
        let input = Input::bytes_of("notes.txt", LETTER);
        assert_eq!(detect::detect(&input).unwrap(), DETECTED);
        testing::survives(extract, DETECTED, "x", LETTER);
    }
}

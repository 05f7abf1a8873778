//! Plain text and source code: the body is the text, with its lines.
//!
//! Of a file larger than the limit on text only the start is read: ten gigabytes of log cost no
//! more than their first part, which is searchable.

use std::io::Read;

use crate::output::Output;
use crate::{Error, Format, Input, Isolation, text};

/// See [`crate::FORMATS`].
pub(super) const FORMAT: Format = Format {
    name: "plain text and source code",
    media_types: &[
        super::ANY_TEXT,
        "application/xslt+xml",
        "application/xml-dtd",
        "application/x-plist",
        "application/x-cue",
        "audio/x-mpegurl",
        "audio/x-scpls",
    ],
    fields: &[],
    sections: Some("form feeds"),
    members: None,
    isolation: Isolation::Process,
    version: 1,
    streams: true,
    extract,
};

pub(crate) fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let (body, result) = read(input, output)?;
    output.own().body = body;
    result
}

/// Reads the text, as much of it as the limit allows; the inner result says whether that is all.
pub(super) fn read(
    input: &Input<'_>,
    output: &Output<'_>,
) -> Result<(String, Result<(), Error>), Error> {
    let limit = output.limits().max_text_bytes;
    let unit_bytes = text::unit_bytes(&input.head()?);
    let wanted = (limit as u64).saturating_mul(unit_bytes as u64);
    let mut bytes = Vec::with_capacity(input.size().min(wanted) as usize);
    input.reader()?.take(wanted).read_to_end(&mut bytes)?;
    if input.size() <= wanted {
        return Ok((text::decode_owned(bytes, None), Ok(())));
    }
    cut_character(&mut bytes);
    let message = format!("only the first {limit} bytes of text are searchable (max_text_bytes)");
    Ok((text::decode_owned(bytes, None), Err(Error::Limit(message))))
}

/// Reads the bytes of a format that is parsed as a whole, all that the limit on files allows; of a
/// larger file the start, as much as the limit on text.
pub(super) fn read_bytes(
    input: &mut Input<'_>,
    output: &Output<'_>,
) -> Result<(Vec<u8>, Result<(), Error>), Error> {
    let limits = output.limits();
    if input.size() <= limits.max_file_bytes {
        return Ok((input.take_bytes(limits)?, Ok(())));
    }
    let mut bytes = Vec::new();
    let wanted = limits.max_text_bytes as u64;
    input.reader()?.take(wanted).read_to_end(&mut bytes)?;
    cut_character(&mut bytes);
    let message = format!(
        "only the first {wanted} bytes are read (max_text_bytes) of more than max_file_bytes = {}",
        limits.max_file_bytes
    );
    Ok((bytes, Err(Error::Limit(message))))
}

/// Drops the UTF-8 character that the end of the bytes cuts, which would look like another charset.
pub(super) fn cut_character(bytes: &mut Vec<u8>) {
    let is_inside = |byte: &&u8| **byte & 0xc0 == 0x80;
    let n_inside = bytes.iter().rev().take(3).take_while(is_inside).count();
    let lead = bytes.len().saturating_sub(n_inside + 1);
    let length = match bytes.get(lead) {
        Some(0xc0..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf7) => 4,
        _ => return,
    };
    if n_inside + 1 < length {
        bytes.truncate(lead);
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Reason};

    use super::*;
    use crate::Limits;
    use crate::detect::Detected;
    use crate::testing::{run, run_limited, survives};

    const PLAIN: Detected = Detected {
        media_type: "text/plain",
        kind: Kind::Document,
    };

    #[test]
    fn the_body_is_the_text_with_its_lines() {
        let text = "one\r\n\r\ntwo Grüße\n\x0cpage two\n";
        let found = run(extract, PLAIN, "a.txt", text.as_bytes());
        assert_eq!(found.own().body, text);
        assert_eq!(found.own().failure, None);
        let found = run(extract, PLAIN, "a.txt", b"\xff\xfea\0\n\0b\0");
        assert_eq!(found.own().body, "a\nb");
    }

    #[test]
    fn only_the_start_of_a_large_text_is_read() {
        let limits = Limits {
            max_text_bytes: 10,
            max_file_bytes: 10,
            ..Limits::default()
        };
        for (bytes, body) in [
            ("0123456789abc".as_bytes().to_vec(), "0123456789"),
            ("01234567ßß and more".as_bytes().to_vec(), "01234567ß"),
            ("01234567世 and more".as_bytes().to_vec(), "01234567"),
            ("012345678ßß and more".as_bytes().to_vec(), "012345678"),
            (
                b"\xff\xfe0\x001\x002\x003\x004\x005\x006\x007\x008\x009\x00a\0".to_vec(),
                "012345678",
            ),
        ] {
            let found = run_limited(extract, PLAIN, "a.log", &bytes, &limits);
            assert_eq!(found.own().body, body);
            assert_eq!(found.own().failure.as_ref().unwrap().reason, Reason::Limit);
        }
        let found = run_limited(extract, PLAIN, "a.log", b"0123456789", &limits);
        assert_eq!(found.own().failure, None);
    }

    #[test]
    fn hostile_texts_are_survived() {
        survives(
            extract,
            PLAIN,
            "a.txt",
            "Grüße an alle\n".repeat(50).as_bytes(),
        );
    }
}

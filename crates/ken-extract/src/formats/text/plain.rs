//! Plain text and source code: the body is the text, with its lines.
//!
//! A file larger than the text limit is read only up to the limit, so that ten gigabytes of log
//! cost no more than their searchable start.

use std::borrow::Cow;

use ken_core::Kind;

use crate::input::text::read;
use crate::output::Output;
use crate::text::encoded::without_data;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "plain text and source code",
    &[
        crate::formats::ANY_TEXT,
        "application/xslt+xml",
        "application/xml-dtd",
        "application/x-cue",
        "audio/x-mpegurl",
        "audio/x-scpls",
    ],
    extract,
)
.sections("form feeds")
.version(7)
.streams();

pub(crate) fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let (body, result) = read(input, output.limits())?;
    // In source code, keys and tables may be what somebody looks for.
    let is_source = output.detected().kind == Kind::Source;
    output.own().body = match is_source {
        true => body,
        false => match without_data(&body) {
            Cow::Borrowed(_) => body,
            Cow::Owned(text) => text,
        },
    };
    result
}

#[cfg(test)]
mod tests {
    use ken_core::Reason;

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
    fn data_is_no_text_but_in_source_code() {
        let line = "iVBORw0KGgoAAAANSUhEUgAAAJYAAACWCAYAAAA8AXHiAAAACXBIWXMAAA7EAAAOxAGVKw4b\n";
        let text = format!("photo\n{}end\n", line.repeat(9));
        let found = run(extract, PLAIN, "a.txt", text.as_bytes());
        assert_eq!(found.own().body, format!("photo\n{}end\n", "\n".repeat(9)));
        let source = Detected {
            media_type: "text/x-rust",
            kind: Kind::Source,
        };
        assert_eq!(
            run(extract, source, "a.rs", text.as_bytes()).own().body,
            text
        );
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
            assert_eq!(
                found.own().failure.as_ref().unwrap().reason(),
                Reason::Limit
            );
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

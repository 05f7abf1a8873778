//! Rich Text Format (.rtf): Microsoft's Rich Text Format Specification, version 1.9.1.
//!
//! A file consists of groups in braces, with control words between text. Each group inherits the
//! state of the enclosing group and restores it at its end, so only a stack of small states is
//! kept. The purpose of a group (its *destination*) determines where its text goes. A group with an
//! unknown destination is skipped if it is marked as ignorable.

pub(in crate::formats) mod charset;
mod object;
mod picture;
mod reader;
mod token;

use ken_core::Field;

use crate::output::Output;
use crate::output::body::Body;
use crate::{Error, Format, Input, Limits, Member};
use reader::RtfReader;

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("RTF", &["application/rtf"], extract)
    .fields(&[
        Field::Title,
        Field::Author,
        Field::Description,
        Field::Keywords,
        Field::Created,
        Field::Date,
        Field::Pages,
    ])
    .sections("pages, where the writer began one")
    .members("embedded files, numbered from 1")
    .version(7);

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let bytes = input.bytes(limits)?;
    let mut reader = RtfReader::new(bytes, limits);
    let result = reader.read();
    let objects = reader.finish(output.own());
    for (position, data) in objects.into_iter().enumerate() {
        let Some((name, bytes)) = object::unwrap(&data) else {
            continue;
        };
        let ipath = output.child_ipath(&(position + 1).to_string());
        output.member(Member {
            ipath,
            name,
            bytes,
            ..Member::default()
        })?;
    }
    result
}

/// Reads the text of RTF that is part of another format: the body of a message.
pub(in crate::formats) fn text(bytes: &[u8], limits: &Limits) -> String {
    let mut reader = RtfReader::new(bytes, limits);
    // Half of a text is better than none.
    let _ = reader.read();
    reader.into_text()
}

/// Creates an empty body of the size that the limits allow.
fn body(limits: &Limits) -> Body {
    Body::new(limits.max_text_bytes)
}

#[cfg(test)]
mod tests;

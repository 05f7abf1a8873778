//! Metafiles of Windows: the texts that they draw. Diagrams and charts that were pasted into documents are such pictures, and often
//! nothing else holds their words.

pub(crate) mod blips;
mod emf;
mod font;
mod pieces;
mod wmf;

use ken_core::Document;

use crate::output::Output;
use crate::output::body::Body;
use crate::{Error, Format, Input};
use pieces::Pieces;

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("metafile", &["image/emf", "image/wmf"], extract)
        .in_worker()
        .version(2);

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let bytes = input.bytes(limits)?;
    let mut pieces = Pieces::new(limits.max_text_bytes);
    let is_whole = match is_enhanced(bytes) {
        true => emf::read(bytes, &mut pieces),
        false => wmf::read(bytes, &mut pieces),
    };
    set_body(output.own(), pieces, limits.max_text_bytes);
    match is_whole {
        true => Ok(()),
        false => Err(Error::Malformed(
            "the metafile is cut off or damaged".into(),
        )),
    }
}

fn set_body(document: &mut Document, pieces: Pieces, max_bytes: usize) {
    let mut body = Body::new(max_bytes);
    body.push(&pieces.finish());
    document.body = body.finish();
}

/// Returns whether the name of a part of a document is that of a metafile.
pub(crate) fn is_name(name: &str) -> bool {
    let end = name.rsplit('.').next().unwrap_or_default();
    matches!(&*end.to_ascii_lowercase(), "emf" | "wmf")
}

/// Returns the texts that a metafile draws, as lines; of a damaged one, those before the damage.
pub(crate) fn text_of(bytes: &[u8], max_bytes: usize) -> String {
    let mut pieces = Pieces::new(max_bytes);
    match is_enhanced(bytes) {
        true => emf::read(bytes, &mut pieces),
        false => wmf::read(bytes, &mut pieces),
    };
    pieces.finish()
}

fn is_enhanced(bytes: &[u8]) -> bool {
    bytes.get(40..44) == Some(b" EMF") && bytes.starts_with(&[1, 0, 0, 0])
}

#[cfg(test)]
mod tests;

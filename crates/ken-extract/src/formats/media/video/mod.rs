//! Films, and sound in the same containers: the metadata in their headers. Neither pictures nor
//! sound are decoded.

pub(in crate::formats) mod asf;
pub(in crate::formats) mod avi;
pub(in crate::formats) mod matroska;
pub(in crate::formats) mod mp4;
mod place;

use ken_core::Field;

use crate::output::metadata::Metadata;

/// The fields that any container may hold.
const FIELDS: &[Field] = &[
    Field::Title,
    Field::Author,
    Field::Artist,
    Field::Album,
    Field::Genre,
    Field::Description,
    Field::Keywords,
    Field::Lang,
    Field::Camera,
    Field::Created,
    Field::Date,
    Field::Width,
    Field::Height,
    Field::Duration,
];

/// Maximum size of a metadata block; larger ones are left out.
const MAX_BLOCK_BYTES: usize = 1 << 20;

/// Adds picture size and length, where they are known.
fn add_measures(metadata: &mut Metadata, size: (u64, u64), seconds: f64) {
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    if size.0 > 0 && size.1 > 0 {
        metadata.number(Field::Width, number(size.0));
        metadata.number(Field::Height, number(size.1));
    }
    if seconds > 0.0 {
        metadata.number(Field::Duration, seconds.round() as i64);
    }
}

/// Returns the larger of two sizes, since a track may hold a preview or a cover.
fn larger(size: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    if other.0.saturating_mul(other.1) > size.0.saturating_mul(size.1) {
        other
    } else {
        size
    }
}

#[cfg(test)]
mod tests;

//! The pictures that stand for embedded objects. What ken reads as a member is not read from its picture as well.
//!
//! A shape names its object and its picture by number (MS-PPT 2.7.4, MS-ODRAW 2.3.23.2), the list of objects says which part an object
//! is (MS-PPT 2.10.12), and the list of pictures where a picture is in its stream (MS-ODRAW 2.2.32).

use std::collections::HashSet;

use super::record::{
    ART_GROUP, DRAWING_GROUP, EMBEDDED, LINKS, OBJECT_ATOM, OBJECT_REFERENCE, PICTURE_PLACE,
    PICTURES, Record, SHAPE_DATA, number, records,
};
use super::tables::Tables;
use crate::formats::office::art;

/// A shape that shows the picture of an object.
#[derive(Clone, Copy)]
pub(super) struct Preview {
    object: u32,
    picture: u32,
}

/// Returns the object and the picture of a shape, if it has both.
pub(super) fn of_shape(shape: &Record<'_>) -> Option<Preview> {
    let (mut object, mut picture) = (None, None);
    for inner in records(shape.data) {
        if inner.kind == SHAPE_DATA {
            let is_it = |record: &Record<'_>| record.kind == OBJECT_REFERENCE;
            let reference = records(inner.data).find(is_it);
            object = object.or(reference.and_then(|atom| number(atom.data, 0)));
        } else if let Some(found) = art::properties(inner.kind, inner.instance, inner.data) {
            picture = picture.or(found.picture);
        }
    }
    Some(Preview {
        object: object?,
        picture: picture?,
    })
}

/// Returns where the pictures of those objects begin whose offsets in the stream are given.
pub(super) fn places(
    previews: &[Preview],
    read: &HashSet<usize>,
    tables: &Tables,
    stream: &[u8],
) -> HashSet<usize> {
    let Some(document) = tables.document(stream).filter(|_| !previews.is_empty()) else {
        return HashSet::new();
    };
    let objects: HashSet<u32> = inner(document, LINKS)
        .filter(|record| record.kind == EMBEDDED)
        .filter_map(|embedded| {
            let atom = records(embedded.data).find(|inner| inner.kind == OBJECT_ATOM)?;
            let part = tables.part(stream, number(atom.data, 16)?)?;
            let at = part.data.as_ptr().addr() - stream.as_ptr().addr();
            read.contains(&at).then(|| number(atom.data, 8))?
        })
        .collect();
    let pictures: Vec<Record<'_>> = inner(document, DRAWING_GROUP)
        .filter(|record| record.kind == ART_GROUP)
        .flat_map(|group| inner(group, PICTURES))
        .collect();
    previews
        .iter()
        .filter(|preview| objects.contains(&preview.object))
        .filter_map(|preview| {
            let picture = pictures.get((preview.picture as usize).checked_sub(1)?)?;
            let place = (picture.kind == PICTURE_PLACE).then(|| number(picture.data, 28));
            Some(place?? as usize)
        })
        .collect()
}

/// Returns the records in the inner records of a kind.
fn inner(record: Record<'_>, kind: u16) -> impl Iterator<Item = Record<'_>> {
    let lists = records(record.data).filter(move |inner| inner.kind == kind);
    lists.flat_map(|list| records(list.data))
}

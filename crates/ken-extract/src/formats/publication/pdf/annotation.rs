//! Annotations: text that forms, stamps and notes add to a page (ISO 32000-2, 12.5).
//!
//! An annotation that draws text (a form field, a text box) is read as drawn. The contents of one
//! that does not (a note behind an icon, a highlight) follow the page.

use hayro_font::kurbo::{Affine, Point, Rect, Shape};
use hayro_syntax::object::{Array, Dict, Name, Object, Stream, String as PdfString};

use super::content::{Interpreter, Resources, Shared};
use super::metadata::text_string;
use super::segment::Segments;

/// Flags of invisible annotations: hidden, and not to be viewed.
const HIDDEN: u32 = 1 << 1 | 1 << 5;
/// Annotations of one page beyond this number are left out.
const MAX_ANNOTATIONS: usize = 10_000;

/// Draws the annotations of a page, and returns the contents of those that show no text.
pub(super) fn run<'a>(
    page: &Dict<'a>,
    resources: &Resources<'a>,
    shared: &mut Shared<'a>,
    segments: &mut Segments,
    matrix: Affine,
) -> Vec<String> {
    let mut notes = Vec::new();
    let Some(annotations) = page.get::<Array<'a>>(b"Annots") else {
        return notes;
    };
    for annotation in annotations.iter::<Dict<'a>>().take(MAX_ANNOTATIONS) {
        let subtype = annotation.get::<Name<'_>>(b"Subtype");
        let flags = annotation.get::<u32>(b"F").unwrap_or(0);
        let subtype = subtype.as_deref();
        if flags & HIDDEN != 0 || matches!(subtype, None | Some(b"Link" | b"Popup")) {
            continue;
        }
        let mut interpreter = Interpreter::new(shared, segments, matrix);
        if let Some(appearance) = appearance(&annotation) {
            let placed = placement(&annotation, appearance.dict());
            interpreter.transform(placed.unwrap_or(Affine::IDENTITY));
            interpreter.draw_form(&appearance, resources);
        }
        let is_note = interpreter.n_shown() == 0 && subtype != Some(b"Widget");
        if let Some(contents) = annotation
            .get::<PdfString<'_>>(b"Contents")
            .filter(|_| is_note)
        {
            notes.push(text_string(&contents).trim().to_owned());
        }
    }
    notes.retain(|note| !note.is_empty());
    notes
}

/// Returns the form XObject that draws an annotation in its current state.
fn appearance<'a>(annotation: &Dict<'a>) -> Option<Stream<'a>> {
    let appearances = annotation.get::<Dict<'a>>(b"AP")?;
    match appearances.get::<Object<'a>>(b"N")? {
        Object::Stream(stream) => Some(stream),
        Object::Dict(states) => states.get(annotation.get::<Name<'_>>(b"AS")?),
        _ => None,
    }
}

/// Returns the matrix that moves an appearance's box onto the annotation's rectangle
/// (algorithm 8 of the specification).
fn placement(annotation: &Dict<'_>, form: &Dict<'_>) -> Option<Affine> {
    let [x0, y0, x1, y1] = annotation.get::<[f64; 4]>(b"Rect")?;
    let target = Rect::from_points(Point::new(x0, y0), Point::new(x1, y1));
    let [x0, y0, x1, y1] = form.get::<[f64; 4]>(b"BBox")?;
    let bbox = Rect::from_points(Point::new(x0, y0), Point::new(x1, y1));
    let matrix = form
        .get::<[f64; 6]>(b"Matrix")
        .map_or(Affine::IDENTITY, Affine::new);
    let source = (matrix * bbox.to_path(0.1)).bounding_box();
    if source.width() <= 0.0 || source.height() <= 0.0 {
        return None;
    }
    let (sx, sy) = (
        target.width() / source.width(),
        target.height() / source.height(),
    );
    let (tx, ty) = (target.x0 - sx * source.x0, target.y0 - sy * source.y0);
    Some(Affine::new([sx, 0.0, 0.0, sy, tx, ty]))
}

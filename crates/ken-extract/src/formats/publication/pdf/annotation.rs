//! Annotations: text that forms, stamps and notes add to a page (ISO 32000-2, 12.5).
//!
//! An annotation that draws text (a form field, a text box) is read as drawn. What it says besides,
//! if the page does not say it, follows the page: the contents of a note behind an icon, the value
//! of a field that is not drawn, the address behind a link.

use std::collections::HashSet;

use hayro_font::kurbo::{Affine, Point, Rect, Shape};
use hayro_syntax::object::{Array, Dict, Name, Object, Stream, String as PdfString};

use super::content::{Interpreter, Resources, Shared};
use super::metadata::text_string;
use super::segment::Segments;
use super::stream::decode;
use crate::formats::web::html::html_to_text;
use crate::output::body::without_user;

/// Flags of invisible annotations: hidden, and not to be viewed.
const HIDDEN: u32 = 1 << 1 | 1 << 5;
/// Annotations of one page beyond this number are left out.
const MAX_ANNOTATIONS: usize = 10_000;

/// Letters of a remark that a page may show by chance.
const MAX_SHORT_REMARK: usize = 12;

/// The flag of a field for a password.
const PASSWORD: i64 = 1 << 13;
/// A value in a stream is read up to this size.
const MAX_VALUE_BYTES: usize = 1 << 20;
/// Values of a field are looked for in this many fields above it.
const MAX_PARENTS: usize = 32;

/// What an annotation says, and who says it.
#[derive(Default)]
pub(super) struct Note {
    author: String,
    text: String,
}

/// Draws the annotations of a page, and returns what they say besides.
pub(super) fn run<'a>(
    page: &Dict<'a>,
    resources: &Resources<'a>,
    shared: &mut Shared<'a>,
    segments: &mut Segments,
    matrix: Affine,
) -> Vec<Note> {
    let mut notes = Vec::new();
    let Some(annotations) = page.get::<Array<'a>>(b"Annots") else {
        return notes;
    };
    for annotation in annotations.iter::<Dict<'a>>().take(MAX_ANNOTATIONS) {
        let subtype = annotation.get::<Name<'_>>(b"Subtype");
        let flags = annotation.get::<u32>(b"F").unwrap_or(0);
        let subtype = subtype.as_deref();
        if flags & HIDDEN != 0 || matches!(subtype, None | Some(b"Popup")) {
            continue;
        }
        if subtype == Some(b"Link") {
            let address = address(&annotation);
            let address = address.filter(|address| shared.addresses.insert(address.clone()));
            notes.extend(address.map(Note::of));
            continue;
        }
        let mut interpreter = Interpreter::new(shared, segments, matrix);
        if let Some(appearance) = appearance(&annotation) {
            let placed = placement(&annotation, appearance.dict());
            interpreter.transform(placed.unwrap_or(Affine::IDENTITY));
            interpreter.draw_form(&appearance, resources);
        }
        notes.extend(match subtype {
            Some(b"Widget") => value(&annotation).map(Note::of),
            _ => remark(&annotation),
        });
    }
    notes.retain(|note| !note.text.trim().is_empty());
    notes
}

impl Note {
    fn of(text: String) -> Self {
        let author = String::new();
        Self { author, text }
    }
}

/// Returns the remark of a person: its text, plain or rich (12.7.3.4), and its author.
fn remark(annotation: &Dict<'_>) -> Option<Note> {
    let text = |key: &[u8]| {
        let text = annotation.get::<PdfString<'_>>(key)?;
        Some(text_string(&text)).filter(|text| !text.trim().is_empty())
    };
    let rich = || Some(html_to_text(text(b"RC")?.as_bytes(), Some("utf-8")).body);
    Some(Note {
        text: text(b"Contents").or_else(rich)?,
        author: text(b"T").unwrap_or_default(),
    })
}

/// Appends notes to the text that begins at `start`, but those that it says already.
pub(super) fn write(notes: &[Note], body: &mut String, start: usize) {
    if notes.is_empty() {
        return;
    }
    let page = squeezed(&body[start..]);
    let mut said = page.clone();
    let words = words(&body[start..]);
    let mut seen = HashSet::new();
    for note in notes {
        let squeezed = squeezed(without_scheme(&note.text));
        // Two people may remark the same, and a few letters are part of any page.
        let is_said = match note.author.is_empty() {
            true => said.contains(&squeezed),
            false if squeezed.len() <= MAX_SHORT_REMARK => words.contains(&self::words(&note.text)),
            false => page.contains(&squeezed),
        };
        if !is_said && seen.insert((note.author.trim(), squeezed.clone())) {
            body.push('\n');
            if !note.author.is_empty() {
                body.push_str(note.author.trim());
                body.push_str(": ");
            }
            body.push_str(note.text.trim());
            said.push_str(&squeezed);
        }
    }
}

/// Returns an address as pages show it.
fn without_scheme(note: &str) -> &str {
    let address = note.split_once("://").map(|(_, address)| address);
    address.map_or(note, |address| {
        address.strip_prefix("www.").unwrap_or(address)
    })
}

/// Returns the words of a text, each between spaces.
fn words(text: &str) -> String {
    let words = text.split(|char: char| !char.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |words, word| words + word + " ")
}

/// Returns the letters and digits of a text, since fields and pages break lines differently.
fn squeezed(text: &str) -> String {
    text.chars().filter(|char| char.is_alphanumeric()).collect()
}

/// Returns the address of a link out of the document.
fn address(link: &Dict<'_>) -> Option<String> {
    let action = link.get::<Dict<'_>>(b"A")?;
    let address = text_string(&action.get::<PdfString<'_>>(b"URI")?);
    let address = address.strip_prefix("mailto:").unwrap_or(&address);
    Some(without_user(address.trim()).into_owned())
}

/// Returns the value of a field of text or choices, its own or inherited (12.7.4).
fn value(field: &Dict<'_>) -> Option<String> {
    let kind = inherited(field, b"FT")?.into_name()?;
    let flags = inherited(field, b"Ff").and_then(Object::into_number);
    let is_password = flags.is_some_and(|flags| flags.as_i64() & PASSWORD != 0);
    if !matches!(&*kind, b"Tx" | b"Ch") || is_password {
        return None;
    }
    let values: Vec<String> = match inherited(field, b"V")? {
        Object::String(value) => vec![text_string(&value)],
        Object::Stream(stream) => vec![text_string(&decode(&stream, MAX_VALUE_BYTES)?)],
        Object::Array(values) => values
            .iter::<PdfString<'_>>()
            .map(|value| text_string(&value))
            .collect(),
        _ => return None,
    };
    let options = inherited(field, b"Opt").and_then(Object::into_array);
    let shown = values.into_iter().map(|value| match &options {
        Some(options) => shown_option(options, value),
        None => value,
    });
    Some(shown.collect::<Vec<_>>().join("\n"))
}

/// Returns what a choice shows for a value: options may be pairs of both.
fn shown_option(options: &Array<'_>, value: String) -> String {
    let pairs = options.iter::<Object<'_>>().filter_map(|option| {
        let Object::Array(pair) = option else {
            return None;
        };
        let mut pair = pair.iter::<PdfString<'_>>();
        Some((text_string(&pair.next()?), text_string(&pair.next()?)))
    });
    let mut shown = pairs.filter(|(export, _)| *export == value);
    shown.next().map_or(value, |(_, shown)| shown)
}

/// Returns an entry of a field, or that of a field above it.
fn inherited<'a>(field: &Dict<'a>, key: &[u8]) -> Option<Object<'a>> {
    let mut field = field.clone();
    for _ in 0..MAX_PARENTS {
        if let Some(value) = field.get::<Object<'a>>(key) {
            return Some(value);
        }
        field = field.get::<Dict<'a>>(b"Parent")?;
    }
    None
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

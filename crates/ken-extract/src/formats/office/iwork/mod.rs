//! Documents of Apple's iWork: Pages, Numbers, Keynote.
//!
//! Since 2013 they are zip archives of `.iwa` files ([`iwa`]), whose stored texts are extracted:
//! those of the body, of text boxes, headers and notes, and the values in the cells of tables ([`table`]). Each slide and
//! each sheet is a section. Types of objects are those in O'Brien's description. Older documents ([`before_2013`]) are XML; one without it may hold a preview as PDF, which is handed on.

mod before_2013;
mod cell;
mod iwa;
mod table;

use ken_core::Field;

use crate::output::Output;
use crate::output::body::Body;
use crate::structure::package::Package;
use crate::{Error, Format, Input, Member};
use table::Gathered;

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "iWork",
    &[
        "application/vnd.apple.pages",
        "application/vnd.apple.numbers",
        "application/vnd.apple.keynote",
    ],
    extract,
)
.fields(&[
    Field::Title,
    Field::Author,
    Field::Description,
    Field::Keywords,
])
.sections("sheets, slides")
.members("the preview of documents before 2013 without text")
.in_worker()
.version(4);

const PREVIEW: &str = "QuickLook/Preview.pdf";

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let is_numbers = output.detected().media_type == "application/vnd.apple.numbers";
    let mut package = Package::open(input, limits)?;
    let names = files(&package);
    if names.is_empty() {
        return older(&mut package, output);
    }
    let mut gathered = Gathered::new(limits.max_text_bytes);
    let mut is_damaged = false;
    for (position, name) in names.iter().enumerate() {
        if position > 0 && is_slide(name) {
            gathered.end_slide();
        }
        if gathered.is_full() {
            break;
        }
        match package.bytes(name) {
            Ok(file) => {
                let (bytes, is_whole) = iwa::unpack(&file, limits.max_member_bytes as usize);
                is_damaged |= !is_whole;
                for object in iwa::objects(&bytes) {
                    gathered.add(&object, is_numbers);
                }
            }
            Err(error) => package.tolerate(Err(error)),
        }
    }
    let mut body = Body::new(limits.max_text_bytes);
    gathered.write(&mut body);
    output.own().body = body.finish();
    if is_damaged {
        return Err(Error::Malformed("a part of the document is damaged".into()));
    }
    package.finish()
}

/// Returns the files that hold text: first the document, then slides by number, then others.
/// Masters hold sample text.
fn files(package: &Package<'_>) -> Vec<String> {
    let is_wanted = |name: &&str| {
        let file = name.strip_prefix("Index/").unwrap_or_default();
        file.ends_with(".iwa")
            && !file.starts_with("MasterSlide")
            && !file.starts_with("TemplateSlide")
            && !file.contains("Stylesheet")
    };
    let mut files: Vec<String> = package
        .names()
        .filter(is_wanted)
        .map(str::to_owned)
        .collect();
    files.sort_by_key(|name| {
        let rank = match name.as_str() {
            "Index/Document.iwa" => 0,
            name if is_slide(name) => 2,
            _ => 1,
        };
        let digits: String = name.chars().filter(char::is_ascii_digit).collect();
        (rank, digits.parse::<u64>().unwrap_or(0), name.clone())
    });
    files
}

fn is_slide(name: &str) -> bool {
    name.starts_with("Index/Slide")
}

/// Adds text, in which control characters represent breaks of pages, columns and sections, and
/// floating objects.
fn add_lines(text: &str, body: &mut Body) {
    for line in
        text.split(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fffc}'))
    {
        if !line.trim().is_empty() {
            body.line(line);
        }
    }
}

/// Reads a document before 2013.
fn older(package: &mut Package<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    if package.has(".iwph") || package.has(".iwpv2") {
        return Err(Error::encrypted(&output.limits().passwords));
    }
    for part in before_2013::PARTS {
        if let Some(text) = package.xml(part) {
            let max_bytes = output.limits().max_text_bytes;
            let result = before_2013::read(&text, max_bytes, output.own());
            package.tolerate(result);
            if !output.own().body.is_empty() {
                return package.failure();
            }
        }
    }
    preview(package, output)
}

fn preview(package: &mut Package<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    if !package.has(PREVIEW) {
        return Err(Error::Malformed(
            "neither text nor a preview is found".into(),
        ));
    }
    let bytes = package.bytes(PREVIEW)?;
    output.member(Member {
        ipath: output.child_ipath(PREVIEW),
        name: "Preview.pdf".to_owned(),
        bytes,
        ..Member::default()
    })
}

#[cfg(test)]
mod tests;

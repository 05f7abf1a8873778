//! Objects in OpenDocument: charts, formulas and sheets, which are documents in folders of the package, and
//! files in other formats.

use super::text::OdfReader;
use crate::formats::drawing::metafile;
use crate::output::Output;
use crate::structure::compound::objects;
use crate::structure::package::Package;
use crate::structure::xml::{Node, Xml};
use crate::{Error, Member};

/// Reads charts, formulas and sheets that are folders of the package: `Object 1/content.xml`, of other programs
/// `Formula-0/content.xml`.
pub(super) fn read(package: &mut Package<'_>, reader: &mut OdfReader) {
    let parts: Vec<String> = package
        .names()
        .filter(|name| name.ends_with("/content.xml"))
        .map(str::to_owned)
        .collect();
    for part in parts {
        if let Some(text) = package.xml(&part) {
            package.tolerate(match is_formula(&text) {
                true => read_formula(&text, reader),
                false => reader.read_object(&text),
            });
        }
    }
}

/// Returns whether the first element is that of a formula (MathML).
fn is_formula(text: &str) -> bool {
    let mut xml = Xml::new(text);
    while let Ok(Some(node)) = xml.next() {
        if let Node::Start(tag) = node {
            return tag.name() == "math";
        }
    }
    false
}

/// Adds the symbols of a formula as a line, without its source in another notation.
fn read_formula(text: &str, reader: &mut OdfReader) -> Result<(), Error> {
    let mut xml = Xml::new(text);
    let mut line = String::new();
    while let Some(node) = xml.next()? {
        match node {
            Node::Start(tag) => match tag.name() {
                "annotation" | "annotation-xml" => xml.skip()?,
                "mtext" | "mtd" => line.push(' '),
                _ => {}
            },
            Node::Text(symbol) if line.len() < reader.body.max_bytes() => {
                line.push_str(symbol.trim());
            }
            Node::End(tag) if tag.name() == "mtext" => line.push(' '),
            _ => {}
        }
    }
    reader.body.line(line.trim());
    xml.whole()
}

/// Adds the texts of the metafiles that the document shows, but those of objects whose own text is read.
pub(super) fn read_metafiles(package: &mut Package<'_>, reader: &mut OdfReader) {
    let is_shown = |name: &&str| {
        let is_picture = name.starts_with("Pictures/") && metafile::is_name(name);
        is_picture || name.starts_with("ObjectReplacements/")
    };
    let pictures: Vec<String> = package
        .names()
        .filter(is_shown)
        .map(str::to_owned)
        .collect();
    for picture in pictures {
        let object = picture.strip_prefix("ObjectReplacements/");
        if object.is_some_and(|object| is_read(package, object)) {
            continue;
        }
        if let Ok(bytes) = package.bytes(&picture) {
            let text = metafile::text_of(&bytes, reader.body.max_bytes());
            reader.body.once(&text);
        }
    }
}

/// Returns whether the text of an object is known: it is part of the package, or a file of a known format.
fn is_read(package: &mut Package<'_>, object: &str) -> bool {
    if package.has(&format!("{object}/content.xml")) {
        return true;
    }
    package
        .bytes(object)
        .is_ok_and(|bytes| objects::of_object(bytes).is_some())
}

/// Hands on objects that are files in other formats: `Object 1`, without extension, and PDFs that are shown as pictures.
pub(super) fn hand_on(
    package: &mut Package<'_>,
    named: &[String],
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let is_object = |name: &&str| {
        let is_file = !name.contains('/') && name.starts_with("Object ");
        let is_pdf = name.starts_with("Pictures/") && name.ends_with(".pdf");
        is_file || is_pdf || named.iter().any(|object| object == name)
    };
    let names: Vec<String> = package
        .names()
        .filter(is_object)
        .map(str::to_owned)
        .collect();
    for name in names {
        match package.bytes(&name) {
            Ok(bytes) => {
                let (own_name, bytes) = objects::embedded_file(name.clone(), bytes);
                output.member(Member {
                    ipath: output.child_ipath(&name),
                    name: own_name,
                    bytes,
                    ..Member::default()
                })?;
            }
            Err(error) => output.failed_member(&name, &name, error)?,
        }
    }
    Ok(())
}

/// Hands on the objects that are within a flat file.
pub(super) fn hand_on_embedded(
    objects: Vec<Vec<u8>>,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    for (position, bytes) in objects.into_iter().enumerate() {
        let component = format!("Object {}", position + 1);
        let (name, bytes) = objects::embedded_file(component.clone(), bytes);
        output.member(Member {
            ipath: output.child_ipath(&component),
            name,
            bytes,
            ..Member::default()
        })?;
    }
    Ok(())
}

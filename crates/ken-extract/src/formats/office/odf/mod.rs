//! OpenDocument (ODF 1.3, OASIS) texts, spreadsheets, presentations and drawings, as packages or as
//! one flat XML file. Files of the earlier OpenOffice 1, whose names are nearly the same, are read
//! too.
//!
//! All of them hold paragraphs in `content.xml`; cells hold their text as displayed. Repeated cells
//! and rows are read once, whatever their number. Footnotes, comments and text boxes follow the
//! paragraph that they are anchored in. Deleted text of tracked changes is left out.

mod asides;
mod metadata;
mod objects;
mod repeated;
mod styles;
mod text;

use ken_core::Field;

use super::decrypted;
use crate::output::Output;
use crate::structure::encryption::odf::{self, Manifest};
use crate::structure::package::Package;
use crate::structure::xml::decode_xml;
use crate::{Error, Format, Input, Limits};
use metadata::read_meta;
use text::OdfReader;

/// Texts, spreadsheets, presentations and drawings.
pub(in crate::formats) const FORMAT: Format = Format::new(
    "OpenDocument",
    &[
        "application/vnd.oasis.opendocument.text",
        "application/vnd.oasis.opendocument.text-template",
        "application/vnd.oasis.opendocument.text-master",
        "application/vnd.oasis.opendocument.text-web",
        "application/vnd.oasis.opendocument.text-flat-xml",
        "application/vnd.oasis.opendocument.spreadsheet",
        "application/vnd.oasis.opendocument.spreadsheet-template",
        "application/vnd.oasis.opendocument.spreadsheet-flat-xml",
        "application/vnd.oasis.opendocument.presentation",
        "application/vnd.oasis.opendocument.presentation-template",
        "application/vnd.oasis.opendocument.presentation-flat-xml",
        "application/vnd.oasis.opendocument.graphics",
        "application/vnd.oasis.opendocument.graphics-template",
        "application/vnd.oasis.opendocument.graphics-flat-xml",
        "application/vnd.oasis.opendocument.formula",
        "application/vnd.oasis.opendocument.chart",
        "application/vnd.sun.xml.writer",
        "application/vnd.sun.xml.writer.template",
        "application/vnd.sun.xml.writer.global",
        "application/vnd.sun.xml.calc",
        "application/vnd.sun.xml.calc.template",
        "application/vnd.sun.xml.impress",
        "application/vnd.sun.xml.impress.template",
        "application/vnd.sun.xml.draw",
        "application/vnd.sun.xml.draw.template",
        "application/vnd.sun.xml.math",
    ],
    extract,
)
.fields(&[
    Field::Title,
    Field::Headings,
    Field::Author,
    Field::Description,
    Field::Keywords,
    Field::Lang,
    Field::Created,
    Field::Date,
    Field::Pages,
])
.sections("sheets, slides")
.members("embedded files")
.in_worker()
.version(12);

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    if !input.head()?.starts_with(b"PK") {
        return extract_flat(input, output, limits);
    }
    let mut package = Package::open(input, limits)?;
    if let Some(inner) = unlock(&mut package, output)? {
        drop(package);
        return decrypted::read(inner, input, output);
    }
    if let Some(text) = package.xml("meta.xml") {
        package.tolerate(read_meta(&text, output.own()));
    }
    let Some(content) = package.xml("content.xml") else {
        return Err(Error::Malformed("there is no part content.xml".into()));
    };
    let mut reader = OdfReader::new(limits);
    package.tolerate(reader.read(&content));
    drop(content);
    if let Some(styles) = package.xml("styles.xml") {
        package.tolerate(reader.read_headers(&styles));
    }
    objects::read(&mut package, &mut reader);
    objects::read_metafiles(&mut package, &mut reader);
    let named = std::mem::take(&mut reader.objects);
    reader.finish(output.own());
    objects::hand_on(&mut package, &named, output)?;
    package.finish()
}

fn extract_flat(
    input: &mut Input<'_>,
    output: &mut Output<'_>,
    limits: &Limits,
) -> Result<(), Error> {
    let text = decode_xml(input.bytes(limits)?.to_vec());
    if !text.contains("office:document") {
        return Err(Error::Malformed("neither a package nor flat XML".into()));
    }
    let mut reader = OdfReader::new(limits);
    let meta = read_meta(&text, output.own());
    let content = reader.read(&text).and(reader.read_headers(&text));
    let embedded = std::mem::take(&mut reader.embedded);
    reader.finish(output.own());
    objects::hand_on_embedded(embedded, output)?;
    meta.and(content)
}

/// Finds the password of an encrypted package. If the whole package is one encrypted part, returns
/// that.
fn unlock(package: &mut Package<'_>, output: &mut Output<'_>) -> Result<Option<Vec<u8>>, Error> {
    let Some(manifest) = package.xml("META-INF/manifest.xml") else {
        return Ok(None);
    };
    // A damaged manifest does not hide a document that needs none.
    let manifest = Manifest::read(&manifest).unwrap_or_default();
    let Some(part) = manifest.part_for_passwords().map(str::to_owned) else {
        return Ok(None);
    };
    let sealed = package.bytes(&part)?;
    let unlocked = manifest.unlock(&part, &sealed, &output.limits().passwords);
    if unlocked.is_err()
        && let Some(text) = package.xml("meta.xml")
    {
        // Some programs leave this part readable.
        let _ = read_meta(&text, output.own());
    }
    package.set_keys(unlocked?);
    match part == odf::PACKAGE {
        true => package.bytes(&part).map(Some),
        false => Ok(None),
    }
}

#[cfg(test)]
mod tests;

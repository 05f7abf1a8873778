//! Notes that Evernote exports (`enex`): each note is a page in XML within XML, with its title, tags, source and attached files
//! (<https://evernote.com/blog/how-evernotes-xml-export-format-works>).
//!
//! A file with several notes hands each on as a separate document; the only note of a file is its document.

use base64ct::{Base64, Encoding};
use ken_core::{Field, Value};

use crate::formats::web::html::html_within;
use crate::output::Output;
use crate::structure::xml::{Node, Xml, decode_xml};
use crate::{Error, Format, Input, Member, date};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("Evernote", &["application/x-enex+xml"], extract)
        .fields(&[
            Field::Title,
            Field::Author,
            Field::Keywords,
            Field::Description,
            Field::Created,
            Field::Date,
        ])
        .members("notes, numbered from 1, if there are several, and their files")
        .version(2);

/// A note as it is read.
#[derive(Default)]
struct Note {
    page: String,
    fields: Vec<(Field, Value)>,
    files: Vec<File>,
}

#[derive(Default)]
struct File {
    name: String,
    media_type: String,
    bytes: Vec<u8>,
}

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let text = decode_xml(input.bytes(output.limits())?.to_vec());
    let n_notes = text.matches("<note>").count();
    let mut xml = Xml::new(&text);
    let mut number = 0;
    while let Some(node) = xml.next()? {
        if let Node::Start(tag) = node
            && tag.name() == "note"
        {
            number += 1;
            let (note, result) = read_note(&mut xml);
            match n_notes {
                ..2 => only_note(note, output)?,
                _ => hand_on(note, number, output)?,
            }
            result?;
        }
    }
    xml.whole()
}

/// Reads a note, as far as it is whole.
fn read_note(xml: &mut Xml<'_>) -> (Note, Result<(), Error>) {
    let mut note = Note::default();
    let result = read_into(&mut note, xml);
    (note, result)
}

fn read_into(note: &mut Note, xml: &mut Xml<'_>) -> Result<(), Error> {
    while let Some(node) = xml.next()? {
        let tag = match node {
            Node::End(tag) if tag.name() == "note" => return Ok(()),
            Node::Start(tag) => tag,
            _ => continue,
        };
        let field = match tag.name() {
            "title" => Field::Title,
            "tag" => Field::Keywords,
            "author" => Field::Author,
            "source-url" => Field::Description,
            "created" => Field::Created,
            "updated" => Field::Date,
            "content" => {
                note.page = xml.text()?;
                continue;
            }
            "resource" => {
                note.files.push(File::default());
                continue;
            }
            "data" | "mime" | "file-name" => {
                let name = tag.name().to_owned();
                let value = xml.text()?;
                if let Some(file) = note.files.last_mut() {
                    file.set(&name, &value);
                }
                continue;
            }
            // The text that a program recognised in a picture, as coordinates and guesses.
            "recognition" | "alternate-data" => {
                xml.skip()?;
                continue;
            }
            _ => continue,
        };
        let value = xml.text()?;
        match field {
            Field::Created | Field::Date => {
                note.fields
                    .extend(time(&value).map(|seconds| (field, Value::Number(seconds))));
            }
            _ => note
                .fields
                .push((field, Value::Text(value.trim().to_owned()))),
        }
    }
    xml.whole()
}

impl File {
    fn set(&mut self, name: &str, value: &str) {
        match name {
            "data" => {
                let base64: String = value.split_whitespace().collect();
                self.bytes = Base64::decode_vec(&base64).unwrap_or_default();
            }
            "mime" => value.trim().clone_into(&mut self.media_type),
            _ => value.trim().clone_into(&mut self.name),
        }
    }
}

/// Reads a time in the short form of ISO 8601: `20240301T101500Z`.
fn time(text: &str) -> Option<i64> {
    let text = text.trim();
    let part = |range: std::ops::Range<usize>| text.get(range);
    let long = format!(
        "{}-{}-{}T{}:{}:{}Z",
        part(0..4)?,
        part(4..6)?,
        part(6..8)?,
        part(9..11)?,
        part(11..13)?,
        part(13..15)?
    );
    date::iso(&long)
}

fn only_note(note: Note, output: &mut Output<'_>) -> Result<(), Error> {
    let page = html_within(
        note.page.as_bytes(),
        Some("utf-8"),
        output.limits().max_text_bytes,
    );
    let own = output.own();
    own.body = page.body;
    own.fields.extend(note.fields);
    hand_on_files(note.files, "", output)
}

fn hand_on(note: Note, number: usize, output: &mut Output<'_>) -> Result<(), Error> {
    output.member(Member {
        ipath: output.child_ipath(&number.to_string()),
        declared_type: Some("text/html".to_owned()),
        bytes: note.page.into_bytes(),
        fields: note.fields,
        ..Member::default()
    })?;
    hand_on_files(note.files, &format!("{number}."), output)
}

fn hand_on_files(files: Vec<File>, prefix: &str, output: &mut Output<'_>) -> Result<(), Error> {
    for (position, file) in files.into_iter().enumerate() {
        if file.bytes.is_empty() {
            continue;
        }
        output.member(Member {
            ipath: output.child_ipath(&format!("{prefix}{}", position + 1)),
            name: file.name,
            declared_type: (!file.media_type.is_empty()).then_some(file.media_type),
            is_attachment: true,
            bytes: file.bytes,
            ..Member::default()
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ken_core::Kind;

    use super::*;
    use crate::detect::Detected;
    use crate::testing::{run, survives};

    const ENEX: Detected = Detected {
        media_type: "application/x-enex+xml",
        kind: Kind::Document,
    };

    const NOTE: &str = "<note><title>Shopping</title><created>20240301T101500Z</created><tag>home</tag>\
        <note-attributes><author>Ina</author><source-url>https://example.org/</source-url>\
        </note-attributes><content><![CDATA[<?xml version=\"1.0\"?><!DOCTYPE en-note SYSTEM \"x\">\
        <en-note><div>Butter &amp; bread</div><en-todo/>Milk</en-note>]]></content><resource>\
        <data encoding=\"base64\">aGVs\nbG8=</data><mime>text/plain</mime><recognition>junk</recognition>\
        <resource-attributes><file-name>a.txt</file-name></resource-attributes></resource></note>";

    #[test]
    fn a_note_is_the_document_and_its_files_are_members() {
        let file = format!("<?xml version='1.0'?><en-export>{NOTE}</en-export>");
        let found = run(extract, ENEX, "a.enex", file.as_bytes());
        let own = found.own();
        assert_eq!(own.failure, None);
        assert_eq!(own.body, "Butter & bread\nMilk");
        assert_eq!(own.text(Field::Title), Some("Shopping"));
        assert_eq!(own.text(Field::Author), Some("Ina"));
        assert_eq!(own.text(Field::Keywords), Some("home"));
        assert_eq!(own.number(Field::Created), Some(1_709_288_100));
        assert_eq!(found.members[0].bytes, b"hello");
        assert_eq!(found.members[0].name, "a.txt");
        survives(extract, ENEX, "a.enex", file.as_bytes());
    }

    #[test]
    fn several_notes_are_members() {
        let file = format!("<en-export>{NOTE}{NOTE}</en-export>");
        let found = run(extract, ENEX, "a.enex", file.as_bytes());
        let paths: Vec<&str> = found
            .members
            .iter()
            .map(|member| member.ipath.as_str())
            .collect();
        assert_eq!(paths, ["1", "1.1", "2", "2.1"]);
        assert!(
            found.members[0]
                .fields
                .contains(&(Field::Title, Value::Text("Shopping".into())))
        );
        let cut = &file[..file.len() - 400];
        let found = run(extract, ENEX, "a.enex", cut.as_bytes());
        assert!(found.own().failure.is_some());
        assert_eq!(found.members[0].ipath.as_str(), "1");
    }
}

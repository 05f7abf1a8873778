//! The pictures that stand for embedded objects. What ken reads as a member is not read from its picture as well: a sheet's
//! picture shows some of its cells.

use std::collections::HashSet;

use crate::structure::xml::{Node, Start, Xml};

/// The programs whose documents ken reads, as the beginnings of the names of their kinds of objects.
const PROGRAMS: [&str; 8] = [
    "excel.",
    "word.",
    "powerpoint.",
    "acroexch.document",
    "package",
    "opendocument.",
    "libreoffice.",
    "soffice.",
];

/// What stands for the objects of a part.
#[derive(Default)]
pub(super) struct Previews {
    /// The relations to pictures of objects that are members.
    pub(super) ids: HashSet<String>,
    pub(super) n_members: usize,
    /// Number of objects of which only the picture is read.
    pub(super) n_others: usize,
}

/// Finds the objects of a part of Word (`w:object`), PowerPoint (`p:oleObj`) or Excel (`oleObject`).
pub(super) fn of_objects(text: &str) -> Previews {
    let mut previews = Previews::default();
    if !text.contains("progId=") && !text.contains("ProgID=") {
        return previews;
    }
    let mut xml = Xml::new(text);
    let (mut depth, mut is_member) = (0, false);
    let mut pictures = Vec::new();
    while let Ok(Some(node)) = xml.next() {
        match node {
            Node::Start(tag) => match tag.name() {
                "object" | "oleObj" | "oleObject" => {
                    depth += 1;
                    is_member = is_read(&tag);
                }
                "OLEObject" if depth > 0 => is_member = is_read(&tag),
                "link" => is_member = false,
                "blip" if depth > 0 => pictures.extend(id(&tag, "embed")),
                "imagedata" | "objectPr" if depth > 0 => pictures.extend(id(&tag, "id")),
                _ => {}
            },
            Node::End(tag) if matches!(tag.name(), "object" | "oleObj" | "oleObject") => {
                depth -= 1;
                let pictures = std::mem::take(&mut pictures);
                for id in pictures {
                    match is_member {
                        true => previews.ids.insert(id),
                        false => previews.ids.remove(&id),
                    };
                }
                previews.n_members += usize::from(is_member);
                previews.n_others += usize::from(!is_member);
            }
            _ => {}
        }
    }
    previews
}

fn id(tag: &Start<'_>, name: &str) -> Option<String> {
    Some(tag.prefixed_attribute(name)?.into_owned())
}

/// Returns whether an object is in the file, and of a program whose documents are read.
fn is_read(tag: &Start<'_>) -> bool {
    let attribute = |name| tag.attribute(name).unwrap_or_default().to_ascii_lowercase();
    let program = [attribute("progId"), attribute("ProgID")].concat();
    let is_linked = attribute("Type") == "link" || tag.attribute("link").is_some();
    !is_linked && is_of_known_program(&program)
}

/// Returns whether ken reads the documents of a program, whose kind of object is named in lower case.
pub(in crate::formats::office) fn is_of_known_program(kind: &str) -> bool {
    PROGRAMS.iter().any(|name| kind.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<String> {
        let mut ids: Vec<_> = of_objects(text).ids.into_iter().collect();
        ids.sort();
        ids
    }

    #[test]
    fn pictures_of_members_are_known() {
        let word = "<w:p><w:object><v:shape><v:imagedata r:id='r1'/></v:shape><o:OLEObject Type='Embed' \
            ProgID=\"Excel.Sheet.12\" r:id='r2'/></w:object><w:object><v:imagedata r:id='r3'/><o:OLEObject \
            Type='Embed' ProgID='Equation.3'/></w:object><w:object><v:imagedata r:id='r4'/><o:OLEObject \
            Type='Link' ProgID='Excel.Sheet.8'/></w:object><w:pict><v:imagedata r:id='r5'/></w:pict></w:p>";
        assert_eq!(ids(word), ["r1"]);
        let slide = "<p:oleObj progId='Word.Document.12' r:id='r1'><p:embed/><p:pic><a:blip r:embed='r2'/></p:pic>\
            </p:oleObj><p:oleObj progId='Excel.Sheet.12'><p:link/><p:pic><a:blip r:embed='r3'/></p:pic></p:oleObj>\
            <p:pic><a:blip r:embed='r4'/></p:pic>";
        assert_eq!(ids(slide), ["r2"]);
        let sheet = "<oleObjects><oleObject progId='Package' r:id='r1'><objectPr r:id='r2'/></oleObject>\
            <oleObject progId='Visio.Drawing.11' r:id='r3'><objectPr r:id='r4'/></oleObject></oleObjects>";
        let found = of_objects(sheet);
        assert_eq!((found.n_members, found.n_others), (1, 1));
        assert_eq!(ids(sheet), ["r2"]);
        assert_eq!(ids("<a progId='Excel'"), [""; 0]);
    }
}

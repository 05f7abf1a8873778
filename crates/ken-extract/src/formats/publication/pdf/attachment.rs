//! Files embedded in a PDF (ISO 32000-2, 7.11.4) or associated with a part of it: members, extracted
//! like those of an archive.

use std::collections::HashSet;

use hayro_syntax::Pdf;
use hayro_syntax::object::{
    Array, Dict, MaybeRef, Name, ObjRef, Object, Stream, String as PdfString,
};

use ken_core::Setting;

use super::metadata::text_string;
use super::stream::decode;
use crate::output::Output;
use crate::{Error, Member};

/// Maximum depth of a name tree; deeper nodes are left out.
const MAX_DEPTH: usize = 32;

/// Hands on the files in the document's name tree, those associated with the document or a page, and
/// those in its pages' annotations.
pub(super) fn read(
    pdf: &Pdf,
    is_sealed: bool,
    catalog: &Dict<'_>,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let mut files = Files {
        is_sealed,
        ..Files::default()
    };
    if let Some(names) = catalog.get::<Dict<'_>>(b"Names")
        && let Some(root) = names.get::<Dict<'_>>(b"EmbeddedFiles")
    {
        files.walk(&root, MAX_DEPTH, output)?;
    }
    files.take_all(catalog, output)?;
    for page in pdf.pages().iter() {
        files.take_all(page.raw(), output)?;
        let annotations = page.raw().get::<Array<'_>>(b"Annots").unwrap_or_default();
        for annotation in annotations.iter::<Dict<'_>>() {
            if let Some(file) = annotation.get::<Dict<'_>>(b"FS") {
                files.take(&file, output)?;
            }
        }
    }
    Ok(())
}

/// The files that were handed on.
#[derive(Default)]
struct Files {
    /// Whether they are encrypted, unlike the rest of the document.
    is_sealed: bool,
    nodes: HashSet<ObjRef>,
    streams: HashSet<ObjRef>,
    names: HashSet<String>,
}

impl Files {
    fn walk(
        &mut self,
        node: &Dict<'_>,
        depth: usize,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let names = node.get::<Array<'_>>(b"Names").unwrap_or_default();
        // Keys and values alternate.
        for file in names.iter::<Object<'_>>().skip(1).step_by(2) {
            if let Object::Dict(file) = file {
                self.take(&file, output)?;
            }
        }
        let kids = node.get::<Array<'_>>(b"Kids").unwrap_or_default();
        for (kid, dict) in kids.raw_iter().zip(kids.iter::<Dict<'_>>()) {
            let is_new = match kid {
                MaybeRef::Ref(reference) => self.nodes.insert(reference),
                MaybeRef::NotRef(_) => true,
            };
            if is_new && depth > 0 {
                self.walk(&dict, depth - 1, output)?;
            }
        }
        Ok(())
    }

    /// Hands on the files that are associated with an object (14.13).
    fn take_all(&mut self, object: &Dict<'_>, output: &mut Output<'_>) -> Result<(), Error> {
        let files = object.get::<Array<'_>>(b"AF").unwrap_or_default();
        for file in files.iter::<Dict<'_>>() {
            self.take(&file, output)?;
        }
        Ok(())
    }

    /// Hands on the file of a file specification, unless it was handed on before.
    fn take(&mut self, file: &Dict<'_>, output: &mut Output<'_>) -> Result<(), Error> {
        let Some(embedded) = file.get::<Dict<'_>>(b"EF") else {
            return Ok(());
        };
        let Some(key) = ["UF", "F"]
            .into_iter()
            .find(|key| embedded.contains_key(key))
        else {
            return Ok(());
        };
        if embedded
            .get_ref(key)
            .is_some_and(|stream| !self.streams.insert(stream))
        {
            return Ok(());
        }
        let Some(stream) = embedded.get::<Stream<'_>>(key) else {
            return Ok(());
        };
        let name = ["UF", "F"]
            .into_iter()
            .find_map(|key| file.get::<PdfString<'_>>(key))
            .map(|name| text_string(&name))
            .unwrap_or_default();
        self.hand_on(&name, &stream, output)
    }

    fn hand_on(
        &mut self,
        path: &str,
        stream: &Stream<'_>,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let component = self.component(name);
        if self.is_sealed {
            let error = Error::encrypted(&output.limits().passwords);
            return output.failed_member(&component, name, error);
        }
        let limit = usize::try_from(output.limits().max_member_bytes).unwrap_or(usize::MAX);
        let Some(bytes) = decode(stream, limit.saturating_add(1)) else {
            let error = Error::malformed("the attachment could not be decoded");
            return output.failed_member(&component, name, error);
        };
        if bytes.len() > limit {
            let error = output.limits().reached(Setting::MaxMemberBytes);
            return output.failed_member(&component, name, error);
        }
        let declared_type = stream.dict().get::<Name<'_>>(b"Subtype");
        output.member(Member {
            is_attachment: true,
            ipath: output.child_ipath(&component),
            name: name.to_owned(),
            declared_type: declared_type.map(|name| name.as_str().to_ascii_lowercase()),
            bytes: bytes.into_owned(),
            ..Member::default()
        })
    }

    /// Returns a name that is unique in the document.
    fn component(&mut self, name: &str) -> String {
        let mut component = name.to_owned();
        let mut number = 2;
        while !self.names.insert(component.clone()) {
            component = format!("{name} ({number})");
            number += 1;
        }
        component
    }
}

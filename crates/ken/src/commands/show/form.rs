//! The JSON of `ken show`.

use std::ops::Range;

use ken_search::service::{DocumentForm, Part, SCHEMA, Stretch, path_text};
use serde::Serialize;

use super::print::Page;
use crate::commands::original::FileState;
use crate::output;

#[derive(Serialize)]
struct Form<'a> {
    file: FileState,
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ipath: Option<&'a str>,
    members: Vec<MemberForm<'a>>,
    n_bytes: usize,
    n_lines: usize,
    n_matches: usize,
    n_members: usize,
    n_pages: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    path: &'a str,
    parts: Vec<PartForm<'a>>,
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    v: Option<u32>,
    /// Fields, type and media type, with `ipath` and `v`; absent if there is no room.
    #[serde(flatten)]
    document: Option<DocumentForm<'a>>,
}

#[derive(Serialize)]
struct MemberForm<'a> {
    address: &'a str,
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<i64>,
}

#[derive(Serialize)]
struct PartForm<'a> {
    cut: bool,
    highlights: Vec<[usize; 2]>,
    line: usize,
    page: Option<usize>,
    text: &'a str,
}

impl<'a> PartForm<'a> {
    fn of(stretch: &Stretch<'a>, has_pages: bool) -> Self {
        let pair = |bytes: &Range<usize>| [bytes.start, bytes.end];
        Self {
            cut: stretch.is_cut,
            highlights: stretch.matches.iter().map(pair).collect(),
            line: stretch.first_line,
            page: has_pages.then_some(stretch.first_page),
            text: stretch.text,
        }
    }
}

impl Page<'_> {
    /// Returns the line of JSON of a part, with or without the properties of the document.
    pub(super) fn json(&self, part: &Part<'_>, with_head: bool) -> Vec<u8> {
        let named = &self.found.named;
        let stretches = part.stretches.iter();
        let members = self.members.iter().filter(|_| with_head);
        output::json_line(&Form {
            file: self.state,
            id: &named.id,
            ipath: (!with_head).then(|| named.stored.location.ipath.as_str()),
            members: members.map(member).collect(),
            n_bytes: part.n_bytes,
            n_lines: part.n_lines,
            n_matches: part.n_matches,
            n_members: self.members.len(),
            n_pages: part.n_pages,
            next: part.next.as_ref().map(|next| self.command(next)),
            path: &path_text(&named.stored.location.path),
            parts: stretches
                .map(|of| PartForm::of(of, part.n_pages > 1))
                .collect(),
            title: named.title(),
            v: (!with_head).then_some(SCHEMA),
            document: with_head.then(|| {
                let names = self.service.field_names();
                DocumentForm::new(&named.stored.document, names, false)
            }),
        })
    }
}

fn member(inside: &super::Inside) -> MemberForm<'_> {
    let about = inside.about.as_ref();
    MemberForm {
        address: &inside.address,
        id: &inside.id,
        mime: about.map(|(_, media_type, _)| media_type.as_str()),
        name: about.map(|(name, _, _)| name.as_str()),
        size: about.and_then(|(_, _, n_bytes)| *n_bytes),
    }
}

//! Sections of OneNote (`one`) and tables of contents of notebooks (`onetoc2`): a revision store (MS-ONESTORE), whose objects are the
//! pages (MS-ONE). A package of a notebook (`onepkg`) is a cabinet of such files.
//!
//! Of each page the revision is read that OneNote shows. Former versions of pages, pages in the bin, the numbers of lists and pictures are
//! left out.

mod desktop;
mod object;
mod packed;
mod page;

use ken_core::Field;

use crate::output::Output;
use crate::output::members::{self, Budget, MemberNames, file_name};
use crate::output::metadata::{date_by_creation, set_pages};
use crate::{Error, Format, Input};
use desktop::Desktop;
use object::{Id, Space};
use packed::Packed;
use page::{Embedded, Pages};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("OneNote", &["application/onenote"], extract)
        .fields(&[
            Field::Title,
            Field::Headings,
            Field::Author,
            Field::Keywords,
            Field::Created,
            Field::Date,
            Field::Pages,
        ])
        .sections("pages")
        .members("embedded files")
        .in_worker();

/// The GUIDs of sections and of tables of contents; OneNote 2003 has others.
const SIGNATURES: [&[u8]; 2] = [
    b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d\xae\xb1\x53\x78\xd0\x29\x96\xd3",
    b"\xa1\x2f\xff\x43\xd9\xef\x76\x4c\x9e\xe2\x10\xea\x57\x22\x76\x5f",
];
/// Where the GUID of the packing is, and that of data elements.
const PACKING: std::ops::Range<usize> = 48..64;
const PACKED: [u8; 16] = [
    0x2f, 0xe9, 0x8d, 0x63, 0xd4, 0xa6, 0xc1, 0x4b, 0x9a, 0x36, 0xb3, 0xfc, 0x25, 0x11, 0xa5, 0xb7,
];

/// A section in either packing.
enum Store<'a> {
    Desktop(Desktop<'a>),
    Packed(Packed<'a>),
}

impl<'a> Store<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, Error> {
        if !SIGNATURES
            .iter()
            .any(|signature| bytes.starts_with(signature))
        {
            return Err(Error::unsupported("OneNote before 2007"));
        }
        match bytes.get(PACKING).is_some_and(|packing| packing == PACKED) {
            true => Packed::open(bytes).map(Self::Packed),
            false => Desktop::open(bytes).map(Self::Desktop),
        }
    }

    fn root(&self) -> Id {
        match self {
            Self::Desktop(store) => store.root(),
            Self::Packed(store) => store.root(),
        }
    }

    /// Returns the names of all spaces, for sections without their list of pages.
    fn ids(&self) -> Vec<Id> {
        match self {
            Self::Desktop(store) => store.ids(),
            Self::Packed(store) => store.ids(),
        }
    }

    fn space(&mut self, id: &Id) -> Result<Option<Space<'a>>, Error> {
        match self {
            Self::Desktop(store) => store.space(id),
            Self::Packed(store) => Ok(store.space(id)),
        }
    }

    fn is_whole(&self) -> bool {
        match self {
            Self::Desktop(store) => store.is_whole,
            Self::Packed(store) => store.is_whole,
        }
    }
}

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let bytes = input.bytes(limits)?;
    let mut store = Store::open(bytes)?;
    let mut pages = Pages::new(output.own().clone(), limits.max_text_bytes, bytes.len());
    let read = read(&mut store, &mut pages);
    let is_whole = store.is_whole() && pages.is_whole;
    let n_pages = pages.n_pages;
    let (document, files) = pages.finish();
    *output.own() = document;
    if n_pages > 0 {
        set_pages(output.own(), n_pages);
    }
    date_by_creation(output.own());
    hand_on(files, bytes.len() as u64, output)?;
    read?;
    match is_whole {
        true => Ok(()),
        false => Err(Error::Malformed("a part of the section is damaged".into())),
    }
}

/// Reads the pages in the order of the section; of a section without its list of pages, those that are there.
fn read<'a>(store: &mut Store<'a>, pages: &mut Pages<'a>) -> Result<(), Error> {
    let root = store.root();
    let mut ids = Vec::new();
    if let Some(section) = store.space(&root)? {
        ids = pages.section(&section);
        if ids.is_empty() {
            // A table of contents, or a section without pages.
            pages.page(&section);
        }
    } else {
        ids.extend(store.ids());
    }
    for id in ids {
        if pages.body.is_full() {
            break;
        }
        if let Some(space) = store.space(&id)? {
            pages.page(&space);
        }
    }
    Ok(())
}

/// Hands on the files of a section of `size` bytes. Hostile ones share their content.
fn hand_on(files: Vec<Embedded<'_>>, size: u64, output: &mut Output<'_>) -> Result<(), Error> {
    let mut names = MemberNames::default();
    let mut budget = Budget::new(size, output.limits());
    for file in files {
        let Some(content) = file.content else {
            continue;
        };
        let n_bytes = content.len() as u64;
        budget.spend(n_bytes);
        budget.check()?;
        let content = budget.check_size(n_bytes).map(|()| content.to_vec());
        members::hand_on(file_name(&file.name), None, content, &mut names, output)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;

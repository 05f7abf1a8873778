//! OLE2 compound files (MS-CFB): the container of Word, Excel, PowerPoint and Outlook before 2007.

mod file;
pub(crate) mod objects;
pub(crate) mod rebuild;
pub(crate) mod summary;

pub(crate) use file::{Compound, EntryId, ROOT};

use ken_core::Field;

/// What [`summary::read`] may find.
pub(crate) const FIELDS: &[Field] = &[
    Field::Title,
    Field::Author,
    Field::Description,
    Field::Keywords,
    Field::Created,
    Field::Date,
    Field::Pages,
];

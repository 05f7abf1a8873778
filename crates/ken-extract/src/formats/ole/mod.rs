//! OLE2 compound files (MS-CFB): the container of Word, Excel, PowerPoint and Outlook before 2007.

pub(super) mod compound;
pub(super) mod objects;
pub(super) mod rebuild;
pub(super) mod summary;

pub(super) use compound::Compound;

use ken_core::Field;

/// What [`summary::read`] may find.
pub(super) const FIELDS: &[Field] = &[
    Field::Title,
    Field::Author,
    Field::Description,
    Field::Keywords,
    Field::Created,
    Field::Date,
    Field::Pages,
];

//! The table of fields, used by extractors, schema, query parser, help and manual.
//!
//! A new field needs one row here and a value in an extractor; nothing else lists fields.

use serde::{Deserialize, Serialize};

/// A field of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // described in FIELDS
pub enum Field {
    Body,
    Title,
    Headings,
    Filename,
    Author,
    To,
    Cc,
    Bcc,
    Recip,
    Contact,
    Keywords,
    Description,
    Artist,
    Album,
    Camera,
    Dir,
    Path,
    Root,
    Ext,
    Mime,
    Type,
    Lang,
    Genre,
    Is,
    Has,
    Msgid,
    References,
    Thread,
    List,
    Replyto,
    Maildir,
    Prio,
    Tag,
    Date,
    Modified,
    Created,
    Size,
    Pages,
    Width,
    Height,
    Duration,
    #[serde(rename = "own1")]
    Custom1,
    #[serde(rename = "own2")]
    Custom2,
    #[serde(rename = "own3")]
    Custom3,
    #[serde(rename = "own4")]
    Custom4,
    #[serde(rename = "own5")]
    Custom5,
    #[serde(rename = "own6")]
    Custom6,
    #[serde(rename = "own7")]
    Custom7,
    #[serde(rename = "own8")]
    Custom8,
}

/// How the values of a field are read, indexed and searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldKind {
    /// Words: terms with positions; phrases and prefixes work.
    Text,
    /// One value taken whole, compared without regard to case.
    Keyword,
    /// Folders of the path: `dir:/absolute` or any run of folder names.
    Path,
    /// Seconds since 1970-01-01 UTC; ranges work.
    Date,
    /// Bytes; ranges and units (k, M, G, T) work.
    Size,
    /// A whole number; ranges work.
    Number,
}

/// One row of the table.
#[derive(Clone, Debug, Serialize)]
pub struct FieldInfo {
    /// The field.
    #[serde(skip)]
    pub field: Field,
    /// The name in queries, JSON and the index; the name of a custom field is for the index only.
    pub name: &'static str,
    /// Other names that queries may use.
    pub aliases: &'static [&'static str],
    /// A description of one line.
    pub description: &'static str,
    /// A query that uses it.
    pub example: &'static str,
    /// How the values are indexed and searched.
    pub kind: FieldKind,
    /// The weight in ranking of words without a field; 0 means that such words do not match in this field.
    pub weight: f32,
}

const fn row(
    field: Field,
    name: &'static str,
    aliases: &'static [&'static str],
    kind: FieldKind,
    weight: f32,
    description: &'static str,
    example: &'static str,
) -> FieldInfo {
    FieldInfo {
        field,
        name,
        aliases,
        description,
        example,
        kind,
        weight,
    }
}

/// Every field, in the order of [`Field`].
#[rustfmt::skip] // a table reads better as one
pub const FIELDS: &[FieldInfo] = &[
    row(Field::Body, "body", &["text"], FieldKind::Text, 1.0,
        "text of the document", "body:reindeer"),
    row(Field::Title, "title", &["subject", "caption"], FieldKind::Text, 3.0,
        "title of a document, subject of a message", "title:\"annual report\""),
    row(Field::Headings, "headings", &["heading", "section"], FieldKind::Text, 1.5,
        "headings of the document; its text includes them", "headings:installation"),
    row(Field::Filename, "filename", &["fn", "name", "file"], FieldKind::Text, 2.0,
        "name of the file, archive member or attachment", "filename:invoice"),
    row(Field::Author, "author", &["from", "creator"], FieldKind::Text, 1.5,
        "author of a document, sender of a message", "author:knuth"),
    row(Field::To, "to", &[], FieldKind::Text, 1.0,
        "recipients of a message", "to:anna@example.org"),
    row(Field::Cc, "cc", &[], FieldKind::Text, 0.5,
        "recipients of a copy of a message", "cc:team"),
    row(Field::Bcc, "bcc", &[], FieldKind::Text, 0.5,
        "recipients of a blind copy of a message", "bcc:archive"),
    row(Field::Recip, "recip", &["recipient"], FieldKind::Text, 0.0,
        "to, cc or bcc", "recip:anna@example.org"),
    row(Field::Contact, "contact", &[], FieldKind::Text, 0.0,
        "author, to, cc or bcc", "contact:anna@example.org"),
    row(Field::Keywords, "keywords", &["keyword"], FieldKind::Text, 2.0,
        "keywords of the document", "keywords:sociology"),
    row(Field::Description, "description", &["comment", "abstract"], FieldKind::Text, 1.5,
        "summary or comment of the document", "description:draft"),
    row(Field::Artist, "artist", &["performer"], FieldKind::Text, 1.5,
        "artist or band of a recording", "artist:coltrane"),
    row(Field::Album, "album", &[], FieldKind::Text, 1.5,
        "album of a recording", "album:\"kind of blue\""),
    row(Field::Camera, "camera", &["device"], FieldKind::Text, 0.5,
        "camera or scanner that took an image", "camera:nikon"),
    row(Field::Dir, "dir", &["folder"], FieldKind::Path, 0.0,
        "folder of the file, at any depth", "dir:projects/ken"),
    row(Field::Path, "path", &[], FieldKind::Path, 0.0,
        "path of the file, with the member path", "path:src/*.rs"),
    row(Field::Root, "root", &[], FieldKind::Path, 0.0,
        "root, by name or path", "root:Documents"),
    row(Field::Ext, "ext", &["extension"], FieldKind::Keyword, 0.0,
        "extension of the file name, without the dot", "ext:pdf"),
    row(Field::Mime, "mime", &["format"], FieldKind::Keyword, 0.0,
        "media type; `*` matches any ending", "mime:image/*"),
    row(Field::Type, "type", &["kind", "rclcat"], FieldKind::Keyword, 0.0,
        "type of document: document, message, source, image, archive …", "type:message"),
    row(Field::Lang, "lang", &["language"], FieldKind::Keyword, 0.0,
        "language, declared by the document or detected from its text; `en` also finds `en-GB`", "lang:de"),
    row(Field::Genre, "genre", &[], FieldKind::Keyword, 0.0,
        "genre of a recording or video", "genre:jazz"),
    row(Field::Is, "is", &["flag", "flags"], FieldKind::Keyword, 0.0,
        "state: failed, encrypted, missing, textless, ocr, attachment, member, duplicate, generated; for messages unread, seen, replied, flagged, passed, draft, trashed, new, signed, bulk, personal", "is:failed"),
    row(Field::Has, "has", &[], FieldKind::Keyword, 0.0,
        "a field, an attachment, or a part of that type or extension", "has:attachment"),
    row(Field::Msgid, "msgid", &["mid", "messageid"], FieldKind::Keyword, 0.0,
        "Message-ID of a message", "msgid:20240101.1@example.org"),
    row(Field::References, "references", &["reference", "ref", "inreplyto"], FieldKind::Keyword, 0.0,
        "Message-ID of a message that this one answers", "references:20240101.1@example.org"),
    row(Field::Thread, "thread", &[], FieldKind::Keyword, 0.0,
        "messages in the same thread as this one, or as those that a query in parentheses finds",
        "thread:20240101.1@example.org"),
    row(Field::List, "list", &[], FieldKind::Keyword, 0.0,
        "mailing list of a message", "list:r-help.r-project.org"),
    row(Field::Replyto, "replyto", &[], FieldKind::Keyword, 0.0,
        "address for replies to a message", "replyto:anna@example.org"),
    row(Field::Maildir, "maildir", &["mailbox"], FieldKind::Path, 0.0,
        "folder of a Maildir, without `cur` and `new`", "maildir:/inbox"),
    row(Field::Prio, "prio", &["priority"], FieldKind::Keyword, 0.0,
        "priority of a message: high, normal, low", "prio:high"),
    row(Field::Tag, "tag", &["tags", "label", "labels"], FieldKind::Keyword, 0.0,
        "tag given by `ken tag` or `ken mail tag`, or set in the message itself", "tag:todo"),
    row(Field::Date, "date", &[], FieldKind::Date, 0.0,
        "date of the document: when it was sent or last changed, otherwise the file's time", "date:2025-01..2025-06"),
    row(Field::Modified, "modified", &["mtime"], FieldKind::Date, 0.0,
        "when the file was last changed", "modified:2026.."),
    row(Field::Created, "created", &[], FieldKind::Date, 0.0,
        "when the document was created, by its own account", "created:..2001"),
    row(Field::Size, "size", &[], FieldKind::Size, 0.0,
        "size in bytes", "size:>1M"),
    row(Field::Pages, "pages", &["pagecount"], FieldKind::Number, 0.0,
        "number of pages, slides or sheets", "pages:100.."),
    row(Field::Width, "width", &[], FieldKind::Number, 0.0,
        "width of an image or video in pixels", "width:1920.."),
    row(Field::Height, "height", &[], FieldKind::Number, 0.0,
        "height of an image or video in pixels", "height:1080.."),
    row(Field::Duration, "duration", &["length"], FieldKind::Number, 0.0,
        "length of audio or video in seconds", "duration:..300"),
];

/// The custom fields, which follow those of the table; see [`crate::CustomField`]. Words without a field do not match
/// in them. The names are in the schema of every index, and users never see them.
const CUSTOM: [FieldInfo; 8] = [
    custom(Field::Custom1, "own1"),
    custom(Field::Custom2, "own2"),
    custom(Field::Custom3, "own3"),
    custom(Field::Custom4, "own4"),
    custom(Field::Custom5, "own5"),
    custom(Field::Custom6, "own6"),
    custom(Field::Custom7, "own7"),
    custom(Field::Custom8, "own8"),
];

const fn custom(field: Field, name: &'static str) -> FieldInfo {
    let description = "message header that the settings make a field";
    row(field, name, &[], FieldKind::Text, 0.0, description, "")
}

fn row_at(position: usize) -> Option<&'static FieldInfo> {
    let custom = || CUSTOM.get(position.checked_sub(FIELDS.len())?);
    FIELDS.get(position).or_else(custom)
}

impl Field {
    /// Returns the row of the table that describes this field.
    pub fn info(self) -> &'static FieldInfo {
        // Every field has a row in one of the two.
        row_at(self as usize).unwrap_or(&FIELDS[0])
    }

    /// Returns the field at a position in the order of all fields.
    pub fn at(position: usize) -> Option<Self> {
        row_at(position).map(|info| info.field)
    }

    /// Returns all fields in order: those of the table, then the custom ones.
    pub fn all() -> impl Iterator<Item = Self> {
        FIELDS.iter().chain(&CUSTOM).map(|info| info.field)
    }

    /// Returns whether the field is a custom field.
    pub fn is_custom(self) -> bool {
        self as usize >= FIELDS.len()
    }

    /// Returns the fields that this one means in a query, if documents do not have it themselves.
    pub fn members(self) -> &'static [Self] {
        match self {
            Self::Recip => &[Self::To, Self::Cc, Self::Bcc],
            Self::Contact => &[Self::Author, Self::To, Self::Cc, Self::Bcc],
            _ => &[],
        }
    }

    /// Returns whether documents have values of the field; if not, only queries use it.
    pub fn is_kept(self) -> bool {
        !matches!(
            self,
            Self::Recip | Self::Contact | Self::Thread | Self::Maildir
        )
    }

    /// Returns whether outside sources, such as a sidecar, may give a document this field: words about the document,
    /// not those of its content.
    pub fn is_given(self) -> bool {
        match self {
            Self::Body | Self::Headings | Self::Filename => false,
            Self::Lang | Self::Genre | Self::Tag => true,
            field if !field.is_kept() || field.is_custom() => false,
            _ => self.info().kind == FieldKind::Text,
        }
    }

    /// Returns whether the index keeps the values in a column, for sorting and counting. Long texts and identifiers
    /// have no column, nor do fields that follow from the location.
    pub fn has_column(self) -> bool {
        self.is_kept()
            && !matches!(
                self,
                Self::Body | Self::Headings | Self::Description | Self::Msgid | Self::References
            )
    }

    /// Returns whether the values are numbers, which includes dates and sizes.
    pub fn is_number(self) -> bool {
        matches!(
            self.info().kind,
            FieldKind::Date | FieldKind::Size | FieldKind::Number
        )
    }

    /// Returns the name in queries and JSON; [`crate::FieldNames`] knows the names of custom fields.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Returns the built-in field with this name or alias, in any case. [`crate::FieldNames`] knows custom fields too.
    pub fn from_name(name: &str) -> Option<Self> {
        FIELDS
            .iter()
            .find(|info| {
                info.name.eq_ignore_ascii_case(name)
                    || info.aliases.iter().any(|a| a.eq_ignore_ascii_case(name))
            })
            .map(|info| info.field)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_enum() {
        for (position, info) in FIELDS.iter().chain(&CUSTOM).enumerate() {
            assert_eq!(info.field as usize, position, "{}", info.name);
            assert_eq!(info.field.info().name, info.name);
            assert_eq!(Field::at(position), Some(info.field));
            assert_eq!(info.field.is_custom(), info.name.starts_with("own"));
        }
    }

    #[test]
    fn no_name_is_used_twice() {
        let mut names = HashSet::new();
        for info in FIELDS {
            for name in std::iter::once(&info.name).chain(info.aliases) {
                assert!(names.insert(*name), "{name} stands twice in the table");
                assert!(name.bytes().all(|byte| byte.is_ascii_lowercase()), "{name}");
            }
        }
    }

    #[test]
    fn every_example_uses_its_field() {
        for info in FIELDS {
            let (name, value) = info.example.split_once(':').expect("field:value");
            assert_eq!(Field::from_name(name), Some(info.field));
            assert!(!value.is_empty());
            assert!(!info.description.is_empty());
        }
    }

    #[test]
    fn only_text_is_searched_without_a_field() {
        for info in FIELDS {
            assert_eq!(
                info.weight > 0.0,
                info.kind == FieldKind::Text && info.field.is_kept(),
                "{}",
                info.name
            );
        }
    }
}

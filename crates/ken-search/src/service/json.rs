//! The JSON of `docs/json.md`: how documents, hits and matches are written.
//!
//! The fields of the structs here are written in this order, which is alphabetical. The structs borrow from the
//! response, so nothing is copied and only what is printed is serialised.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ken_core::access::ACCESS;
use ken_core::{
    Cause, Document, Failure, Field, FieldKind, FieldNames, Ipath, Kind, Reason, Value,
};
use ken_mail::Contact;
use ken_mail::thread::Threaded;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use super::cause::cause_text;
use super::mail::{Message, Part, Thread};
use super::text::{SCHEMA, path_text, time};
use super::{Hit, MatchIn, title};
use crate::snippet::Fragment;

/// Returns the bytes of a path that is not UTF-8.
fn path_bytes(path: &Path) -> Option<&[u8]> {
    path.to_str().is_none().then(|| path.as_os_str().as_bytes())
}

/// The JSON of a document.
#[derive(Serialize)]
pub struct DocumentForm<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailureForm<'a>>,
    fields: Fields<'a>,
    ipath: &'a Ipath,
    mime: &'a str,
    r#type: Kind,
    v: u32,
}

impl<'a> DocumentForm<'a> {
    /// Returns the JSON form of a document, with its text if wanted.
    pub fn new(document: &'a Document, names: &'a FieldNames, with_body: bool) -> Self {
        Self {
            body: with_body.then_some(&document.body),
            failure: document.failure.as_ref().map(FailureForm::of),
            fields: Fields { document, names },
            ipath: &document.ipath,
            mime: &document.media_type,
            r#type: document.kind,
            v: SCHEMA,
        }
    }
}

/// The JSON of a failure, without its time, which is not a property of the document.
#[derive(Serialize)]
struct FailureForm<'a> {
    cause: &'a Cause,
    message: String,
    reason: Reason,
}

impl<'a> FailureForm<'a> {
    fn of(failure: &'a Failure) -> Self {
        Self {
            cause: &failure.cause,
            message: cause_text(&failure.cause),
            reason: failure.reason(),
        }
    }
}

/// The fields of a document by their names.
struct Fields<'a> {
    document: &'a Document,
    names: &'a FieldNames,
}

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut by_name: BTreeMap<&str, Vec<ValueForm<'_>>> = BTreeMap::new();
        let fields = self.document.fields.iter();
        for (field, value) in fields.filter(|(field, _)| *field != ACCESS) {
            let values = by_name.entry(self.names.name(*field)).or_default();
            values.push(ValueForm(*field, value));
        }
        let mut map = to.serialize_map(Some(by_name.len()))?;
        for (name, values) in &by_name {
            match values.as_slice() {
                [one] => map.serialize_entry(name, one)?,
                several => map.serialize_entry(name, several)?,
            }
        }
        map.end()
    }
}

struct ValueForm<'a>(Field, &'a Value);

impl Serialize for ValueForm<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.1 {
            Value::Text(text) => to.serialize_str(text),
            Value::Number(number) if self.0.info().kind == FieldKind::Date => {
                to.serialize_str(&time(*number))
            }
            Value::Number(number) => to.serialize_i64(*number),
        }
    }
}

/// The keys of the JSON of a hit and of its passage, besides the names of its fields.
pub const HIT_KEYS: [&str; 23] = [
    "body",
    "explanation",
    "failure",
    "fields",
    "id",
    "ipath",
    "mime",
    "more",
    "path",
    "path_bytes",
    "rank",
    "score",
    "sheet",
    "snippet",
    "snippets",
    "text_bytes",
    "title",
    "type",
    "v",
    "highlights",
    "line",
    "page",
    "text",
];

#[derive(Serialize)]
struct HitForm<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'a Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailureForm<'a>>,
    fields: Fields<'a>,
    id: &'a str,
    ipath: &'a Ipath,
    mime: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<usize>,
    path: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes: Option<&'a [u8]>,
    rank: usize,
    /// The score with the digits of a double.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sheet: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<&'a Fragment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippets: Option<&'a [Fragment]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    r#type: Kind,
    v: u32,
}

impl Serialize for Hit {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (document, path) = (&self.document, self.location.path.as_path());
        HitForm {
            body: (!document.body.is_empty()).then_some(&document.body),
            explanation: self.explanation.as_ref(),
            failure: document.failure.as_ref().map(FailureForm::of),
            fields: Fields {
                document,
                names: &self.names,
            },
            id: &self.id,
            ipath: &document.ipath,
            mime: &document.media_type,
            more: self.more,
            path: path_text(path),
            path_bytes: path_bytes(path),
            rank: self.rank,
            score: self.score.map(f64::from),
            sheet: self.sheet.as_deref(),
            snippet: self.snippets.first(),
            snippets: self.has_several.then_some(&self.snippets),
            text_bytes: self.n_text_bytes,
            title: title(document),
            r#type: document.kind,
            v: SCHEMA,
        }
        .serialize(to)
    }
}

#[derive(Serialize)]
struct FragmentForm<'a> {
    highlights: Vec<[usize; 2]>,
    line: usize,
    page: Option<usize>,
    text: &'a str,
}

fn highlights(fragment: &Fragment) -> Vec<[usize; 2]> {
    let highlights = fragment.highlights.iter();
    highlights.map(|bytes| [bytes.start, bytes.end]).collect()
}

impl Serialize for Fragment {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        FragmentForm {
            highlights: highlights(self),
            line: self.line,
            page: self.page,
            text: &self.text,
        }
        .serialize(to)
    }
}

#[derive(Serialize)]
struct MatchForm<'a> {
    highlights: Vec<[usize; 2]>,
    ipath: &'a Ipath,
    line: usize,
    page: Option<usize>,
    path: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes: Option<&'a [u8]>,
    text: &'a str,
    v: u32,
}

impl Serialize for MatchIn {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { location, passage } = self;
        MatchForm {
            highlights: highlights(passage),
            ipath: &location.ipath,
            line: passage.line,
            page: passage.page,
            path: path_text(&location.path),
            path_bytes: path_bytes(&location.path),
            text: &passage.text,
            v: SCHEMA,
        }
        .serialize(to)
    }
}

/// The JSON of a message in a list.
#[derive(Serialize)]
struct ListedForm<'a> {
    date: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    duplicate: Option<bool>,
    from: Vec<&'a str>,
    id: &'a str,
    ipath: &'a Ipath,
    is: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<usize>,
    matched: bool,
    path: Cow<'a, str>,
    subject: &'a str,
    tags: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    v: Option<u32>,
}

impl<'a> ListedForm<'a> {
    fn of(message: &'a Message) -> Self {
        Self {
            date: time(message.date()),
            duplicate: None,
            from: message.texts(Field::Author),
            id: message.id(),
            ipath: &message.location.ipath,
            is: message.texts(Field::Is),
            level: None,
            matched: message.is_matched,
            path: path_text(&message.location.path),
            subject: message.subject(),
            tags: message.texts(Field::Tag),
            v: Some(SCHEMA),
        }
    }

    fn in_thread((at, message): (&'a Threaded, &'a Message)) -> Self {
        Self {
            duplicate: Some(at.is_duplicate),
            level: Some(at.level),
            v: None,
            ..Self::of(message)
        }
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        ListedForm::of(self).serialize(to)
    }
}

#[derive(Serialize)]
struct ThreadForm<'a> {
    date: String,
    matched: usize,
    messages: Vec<ListedForm<'a>>,
    subject: &'a str,
    tags: Vec<&'a str>,
    total: usize,
    v: u32,
}

impl Serialize for Thread {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        ThreadForm {
            date: time(self.newest()),
            matched: self.n_matched(),
            messages: self.in_order().map(ListedForm::in_thread).collect(),
            subject: self.subject(),
            tags: self.marks(),
            total: self.n_messages(),
            v: SCHEMA,
        }
        .serialize(to)
    }
}

/// The JSON of a message with its text and its parts.
#[derive(Serialize)]
pub struct MessageForm<'a> {
    body: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailureForm<'a>>,
    fields: Fields<'a>,
    ipath: &'a Ipath,
    mime: &'a str,
    parts: Vec<PartForm<'a>>,
    path: Cow<'a, str>,
    r#type: Kind,
    v: u32,
}

impl<'a> MessageForm<'a> {
    /// Returns the JSON form of a message with its parts.
    pub fn new(message: &'a Message, parts: &'a [Part], names: &'a FieldNames) -> Self {
        let document = &message.document;
        Self {
            body: &document.body,
            failure: document.failure.as_ref().map(FailureForm::of),
            fields: Fields { document, names },
            ipath: &document.ipath,
            mime: &document.media_type,
            parts: parts.iter().map(PartForm::of).collect(),
            path: path_text(&message.location.path),
            r#type: document.kind,
            v: SCHEMA,
        }
    }
}

#[derive(Serialize)]
struct PartForm<'a> {
    ipath: &'a Ipath,
    mime: &'a str,
    name: &'a str,
    number: &'a str,
    size: Option<i64>,
}

impl<'a> PartForm<'a> {
    fn of(part: &'a Part) -> Self {
        Self {
            ipath: &part.location.ipath,
            mime: &part.media_type,
            name: &part.name,
            number: &part.number,
            size: part.n_bytes,
        }
    }
}

/// The JSON of a contact.
#[derive(Serialize)]
pub struct ContactForm<'a> {
    address: &'a str,
    count: u64,
    last: String,
    name: &'a str,
    personal: bool,
    v: u32,
}

impl<'a> ContactForm<'a> {
    /// Returns the JSON form of a contact.
    pub fn new(contact: &'a Contact) -> Self {
        Self {
            address: &contact.address,
            count: contact.count,
            last: time(contact.last),
            name: &contact.name,
            personal: contact.is_personal,
            v: SCHEMA,
        }
    }
}

//! Makes what the cluster stores of a record: the record itself, and the terms and values by which it is found.

use std::collections::BTreeSet;
use std::path::Path;

use foldhash::HashSet;
use ken_core::{Field, FieldKind, KeyHasher, Kind};
use ken_engine::{Error, MessageId, Record};
use ken_index::Shipped;
use ken_mail::maildir::had_path;
use serde_json::{Map, Value, json};

use crate::kept::{self, Kept};
use crate::layout::{self, MAX_TERM_BYTES};

/// The longest sort key; of a longer one the beginning is kept.
const MAX_KEY: usize = 32_000;

/// A record on its way to the cluster.
pub(crate) struct Encoded {
    pub(crate) id: String,
    pub(crate) file: String,
    pub(crate) is_own: bool,
    pub(crate) message: Option<MessageId>,
    /// The document as JSON.
    pub(crate) source: String,
    /// Its terms, each once, with their fields.
    pub(crate) words: HashSet<(Field, String)>,
}

/// Returns what the cluster stores of a record. `made` is the number of the commit that will hold it; the hasher is that of
/// the index.
pub(crate) fn encode(mut record: Record, made: u64, hasher: &KeyHasher) -> Result<Encoded, Error> {
    let kept = Kept::of(&record);
    let document = &record.document;
    let message = document
        .message
        .map(|components| MessageId::of(&document.ipath, components));
    let mut fields = Map::new();
    let mut put = |name: String, value: Value| _ = fields.insert(name, value);
    let file = kept::key(record.key);
    let id = kept::id(record.key, &document.ipath);
    put("id".into(), json!(id));
    put("file".into(), json!(file));
    put("made".into(), json!(made));
    let mut location = kept::hex(&record.location.to_bytes());
    location.truncate(MAX_KEY);
    put("loc".into(), json!(location));
    if let Some(state) = record.state {
        put("own".into(), json!(true));
        put(
            "token".into(),
            json!(kept::number_text(state.token.number())),
        );
        put("identity".into(), json!(kept::number_text(state.identity)));
        if document.kind == Kind::Message {
            put(
                "former".into(),
                json!(former(&record.location.path, hasher)),
            );
        }
    }
    if let Some(content) = document.content {
        put("content".into(), json!(kept::number_text(content)));
    }
    put("group".into(), json!(group(&file, message)));
    put(
        "doc".into(),
        json!(serde_json::to_string(&kept).unwrap_or_default()),
    );
    if !document.body.is_empty() {
        put("body".into(), json!(layout::pieces(&document.body)));
    }
    let is_own = record.state.is_some();
    // It has no place in the terms of the document itself.
    record.state = None;
    let shipped = ken_index::ship(record)?;
    let words = words(&shipped);
    search_fields(shipped, &mut put);
    Ok(Encoded {
        id,
        file,
        is_own,
        message,
        source: Value::Object(fields).to_string(),
        words,
    })
}

/// Returns what the cluster keeps of the keys that a message of a Maildir may have had before its flags changed.
fn former(path: &Path, hasher: &KeyHasher) -> BTreeSet<String> {
    let mut former = BTreeSet::new();
    had_path(path, &mut |path| {
        former.insert(kept::former(hasher.key(path)));
        false
    });
    former
}

/// Returns the text that the documents of a message share, and those of a file outside of messages.
pub(crate) fn group(file: &str, message: Option<MessageId>) -> String {
    match message {
        Some(message) => format!("{file}-{}", kept::number_text(message.number())),
        None => file.to_owned(),
    }
}

fn search_fields(shipped: Shipped, put: &mut impl FnMut(String, Value)) {
    for (field, positions) in &shipped.texts {
        put(layout::terms(*field), json!(layout::lines(positions)));
    }
    put(
        layout::FOLDER.to_owned(),
        json!(layout::lines(&shipped.folder)),
    );
    for (field, length) in &shipped.lengths {
        put(layout::length(*field), json!(length));
    }
    let short = |text: &String| text.len() <= MAX_TERM_BYTES;
    for (field, mut terms) in shipped.keywords {
        terms.retain(short);
        put(layout::terms(field), json!(terms));
    }
    for (field, mut values) in shipped.columns {
        values.retain(short);
        if let Some(first) = values.first() {
            put(layout::first(field), json!(first));
        }
        put(layout::values(field), json!(values));
    }
    for (field, numbers) in shipped.numbers {
        put(layout::number(field), json!(numbers));
    }
    if !shipped.links.is_empty() {
        let links = shipped.links.iter();
        let links: Vec<String> = links.map(|link| kept::number_text(*link)).collect();
        put("links".to_owned(), json!(links));
    }
}

/// Returns the terms of texts and keywords. Names of folders are counted with the field `dir`.
fn words(shipped: &Shipped) -> HashSet<(Field, String)> {
    let mut words = HashSet::default();
    let is_word = |text: &String| text != "\0" && text.len() <= 512;
    for (field, positions) in &shipped.texts {
        let terms = positions.iter().map(|(_, term)| term);
        words.extend(
            terms
                .filter(|text| is_word(text))
                .map(|term| (*field, term.clone())),
        );
    }
    let of_folder = shipped.folder.iter().map(|(_, term)| term);
    words.extend(of_folder.map(|term| (Field::Dir, term.clone())));
    for (field, terms) in &shipped.keywords {
        debug_assert_eq!(field.info().kind, FieldKind::Keyword);
        words.extend(
            terms
                .iter()
                .filter(|text| is_word(text))
                .map(|term| (*field, term.clone())),
        );
    }
    words
}

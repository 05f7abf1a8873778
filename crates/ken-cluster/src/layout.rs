//! The indices of a cluster: their names, their mapping, and terms as text.
//!
//! An index of ken called `archive` consists of three: `archive-documents`, `archive-words` and `archive-root`. These names
//! are aliases of `archive-documents-1` and so on, so that another schema can be filled beside and exchanged in one step.
//!
//! OpenSearch has no field that takes terms as they are. ken sends one line: a space between positions, [`JOIN`] between
//! the terms of one position, [`GAP`] for a position without a term. The analyzer only takes the line apart.

use ken_core::{Field, FieldKind};
use ken_engine::Error;
use ken_index::Position;
use serde_json::{Map, Value, json};

use crate::client::Client;
use crate::http::Method;

/// The version of the mapping.
const VERSION: u32 = 1;

/// Joins the terms of one position: a character for private use.
pub(crate) const JOIN: char = '\u{f8f0}';
/// Stands for a position without a term.
pub(crate) const GAP: char = '\u{f8f1}';
/// Stands for the border of a value. It comes before all terms, and is too long to be similar to one.
const BORDER: &str = "\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}";
/// Comes after all borders and before all terms.
pub(crate) const FIRST: &str = "\u{2}";
/// The expression of Lucene for all that is no border.
pub(crate) const NO_BORDER: &str = "([^\u{1}].*)?";
/// Begins a character that the line cannot hold as it is.
pub(crate) const ESCAPE: char = '\u{f8ff}';

/// The longest expression in characters.
pub(crate) const MAX_REGEX: usize = 30_000;
/// The longest term in bytes; Lucene takes no longer ones.
pub(crate) const MAX_TERM_BYTES: usize = 32_000;
/// The most bytes of one string, of which a long text has several.
const MAX_STRING_BYTES: usize = 4 << 20;

/// The words of the folders above a file.
pub(crate) const FOLDER: &str = "t__folder";

/// The names of the three indices.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    pub(crate) documents: String,
    pub(crate) words: String,
    pub(crate) root: String,
}

impl Names {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            documents: format!("{name}-documents"),
            words: format!("{name}-words"),
            root: format!("{name}-root"),
        }
    }
}

/// Returns the name of the index behind an alias.
pub(crate) fn behind(alias: &str) -> String {
    format!("{alias}-{VERSION}")
}

/// Deletes the index behind an alias, if it is there.
pub(crate) fn delete(client: &Client, alias: &str) -> Result<(), Error> {
    let path = format!("/{}", behind(alias));
    let (status, value) = client.call(Method::Delete, &path, &Value::Null)?;
    match status {
        200 | 404 => Ok(()),
        status => Err(client.refused(status, &value)),
    }
}

/// Returns the field of OpenSearch with the terms of a field: with positions for text and paths, whole for keywords.
pub(crate) fn terms(field: Field) -> String {
    match field.info().kind {
        FieldKind::Keyword => format!("k_{}", field.name()),
        FieldKind::Text | FieldKind::Path => format!("t_{}", field.name()),
        _ => number(field),
    }
}

/// Returns the field with the numbers of a field.
pub(crate) fn number(field: Field) -> String {
    format!("n_{}", field.name())
}

/// Returns the field with all values of a column.
pub(crate) fn values(field: Field) -> String {
    format!("v_{}", field.name())
}

/// Returns the field with the first value of a column, by which hits are sorted.
pub(crate) fn first(field: Field) -> String {
    format!("s_{}", field.name())
}

/// Returns the field with the number of terms of a field.
pub(crate) fn length(field: Field) -> String {
    format!("l_{}", field.name())
}

/// Returns a term as the line has it.
pub(crate) fn term(term: &str) -> String {
    let mut line = String::with_capacity(term.len());
    push(&mut line, term);
    line
}

/// Returns a term as a field of OpenSearch has it. Only fields of text hold lines.
pub(crate) fn term_in(at: &str, text: &str) -> String {
    match at.starts_with("t_") {
        true => term(text),
        false => text.to_owned(),
    }
}

/// Returns a term from one that a field of OpenSearch has.
pub(crate) fn term_from(at: &str, text: &str) -> String {
    match at.starts_with("t_") {
        true => term_of(text),
        false => text.to_owned(),
    }
}

/// Returns whether the line holds a character by its number: what Java takes for white space, and what has a meaning.
pub(crate) fn is_escaped(c: char) -> bool {
    c.is_whitespace() || c.is_control() || ('\u{f8f0}'..='\u{f8ff}').contains(&c)
}

/// Returns whether terms of a field of OpenSearch may have escaped characters: those of the other fields are words.
pub(crate) fn has_escapes(at: &str) -> bool {
    at == terms(Field::Dir)
}

fn push(line: &mut String, term: &str) {
    if term == "\0" {
        line.push_str(BORDER);
        return;
    }
    for c in term.chars() {
        match is_escaped(c) {
            true => {
                line.push(ESCAPE);
                line.push_str(&format!("{:x};", u32::from(c)));
            }
            false => line.push(c),
        }
    }
}

/// Returns a term from a line.
pub(crate) fn term_of(line: &str) -> String {
    if line == BORDER {
        return "\0".to_owned();
    }
    let mut term = String::with_capacity(line.len());
    let mut parts = line.split(ESCAPE);
    term.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (number, rest) = part.split_once(';').unwrap_or(("", part));
        let c = u32::from_str_radix(number, 16)
            .ok()
            .and_then(char::from_u32);
        term.extend(c);
        term.push_str(rest);
    }
    term
}

/// Returns terms, which are in the order of their positions, as lines.
pub(crate) fn lines(positions: &[Position]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut next = 0;
    for (at, text) in positions
        .iter()
        .filter(|(_, text)| text.len() <= MAX_TERM_BYTES)
    {
        let is_joined = *at < next && !line.is_empty();
        if !is_joined && line.len() >= MAX_STRING_BYTES {
            lines.push(std::mem::take(&mut line));
        }
        while next < *at {
            separate(&mut line);
            line.push(GAP);
            next += 1;
        }
        match is_joined {
            true => line.push(JOIN),
            false => separate(&mut line),
        }
        push(&mut line, text);
        next = next.max(*at + 1);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

fn separate(line: &mut String) {
    if !line.is_empty() {
        line.push(' ');
    }
}

/// Returns a text in strings that are not too long for JSON.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, next) = rest.split_at(rest.floor_char_boundary(MAX_STRING_BYTES));
        pieces.push(piece);
        rest = next;
    }
    pieces
}

/// How an index is made.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The shards of the documents.
    pub shards: u32,
    /// The copies of each shard besides the first.
    pub replicas: u32,
    /// Whether a write is on the disk of a node before the node acknowledges it.
    pub is_durable: bool,
}

impl Default for Shape {
    fn default() -> Self {
        Self {
            shards: 1,
            replicas: 1,
            is_durable: true,
        }
    }
}

fn settings(shape: Shape, shards: u32) -> Map<String, Value> {
    let durability = if shape.is_durable { "request" } else { "async" };
    let settings = json!({
        "number_of_shards": shards,
        "number_of_replicas": shape.replicas,
        "translog.durability": durability,
        // What a commit makes visible is visible at once, and nothing before.
        "refresh_interval": "-1",
        // A machine that wakes late finds the versions of what was deleted meanwhile.
        "gc_deletes": "15m",
        "max_regex_length": MAX_REGEX,
    });
    match settings {
        Value::Object(settings) => settings,
        _ => Map::new(),
    }
}

fn made(alias: &str, settings: &Map<String, Value>, mappings: &Value) -> Value {
    json!({ "settings": { "index": settings }, "mappings": mappings, "aliases": { alias: {} } })
}

fn keyword() -> Value {
    json!({ "type": "keyword" })
}

/// What is only kept.
fn kept() -> Value {
    json!({ "type": "keyword", "index": false, "doc_values": false })
}

/// Returns how the index of documents is made.
pub(crate) fn documents(names: &Names, shape: Shape) -> Value {
    let text = json!({ "type": "text", "analyzer": "ken", "position_increment_gap": 0 });
    let mut fields = Map::new();
    for name in [
        "file", "token", "identity", "loc", "content", "group", "links",
    ] {
        fields.insert(name.to_owned(), keyword());
    }
    // Read from its column, the identifier does not take reading what is stored.
    fields.insert(
        "id".to_owned(),
        json!({ "type": "keyword", "index": false }),
    );
    fields.insert(
        "former".to_owned(),
        json!({ "type": "keyword", "doc_values": false }),
    );
    fields.insert("own".to_owned(), json!({ "type": "boolean" }));
    fields.insert("made".to_owned(), json!({ "type": "long" }));
    fields.insert("doc".to_owned(), kept());
    fields.insert("body".to_owned(), kept());
    fields.insert(FOLDER.to_owned(), text.clone());
    for field in Field::all() {
        match field.info().kind {
            FieldKind::Text | FieldKind::Path => {
                fields.insert(terms(field), text.clone());
                fields.insert(length(field), json!({ "type": "integer" }));
            }
            FieldKind::Keyword => _ = fields.insert(terms(field), keyword()),
            _ => _ = fields.insert(number(field), json!({ "type": "long" })),
        }
        if field.has_column() && !field.is_number() {
            fields.insert(values(field), keyword());
            fields.insert(first(field), json!({ "type": "keyword", "index": false }));
        }
    }
    let mut settings = settings(shape, shape.shards);
    settings.insert("analysis".to_owned(), analysis());
    // The texts are half of the index otherwise.
    settings.insert("codec".to_owned(), json!("best_compression"));
    let mappings = json!({
        "dynamic": "strict",
        // The rest is made from these two again.
        "_source": { "includes": ["doc", "body"] },
        "properties": fields,
    });
    made(&names.documents, &settings, &mappings)
}

fn analysis() -> Value {
    let parts = format!("([^{JOIN}]+)");
    json!({
        "tokenizer": { "line": { "type": "whitespace", "max_token_length": 1 << 20 } },
        "filter": {
            "joined": { "type": "pattern_capture", "preserve_original": false, "patterns": [parts] },
            "gap": { "type": "stop", "stopwords": [GAP.to_string()] },
        },
        "analyzer": { "ken": { "type": "custom", "tokenizer": "line", "filter": ["joined", "gap"] } },
    })
}

/// Returns how the index of words is made: one document for each term of a field, without an order.
pub(crate) fn words(names: &Names, shape: Shape) -> Value {
    let mappings = json!({
        "dynamic": "strict",
        "_source": { "enabled": true },
        "properties": { "field": keyword(), "term": keyword() },
    });
    let mut settings = settings(shape, shape.shards.min(4));
    settings.insert("refresh_interval".to_owned(), json!("1s"));
    made(&names.words, &settings, &mappings)
}

/// Returns how the index of the one document is made that describes the whole.
pub(crate) fn root(names: &Names, shape: Shape) -> Value {
    let mappings = json!({ "dynamic": false, "properties": {} });
    made(&names.root, &settings(shape, 1), &mappings)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn positions_become_a_line() {
        let positions: Vec<Position> = [(0, "\0"), (1, "ab"), (1, "a"), (3, "My Docs"), (4, "\0")]
            .map(|(at, term)| (at, term.to_owned()))
            .into();
        let line = format!("{BORDER} ab{JOIN}a {GAP} My{ESCAPE}20;Docs {BORDER}");
        assert_eq!(lines(&positions), [line]);
        assert!(lines(&[]).is_empty());
    }

    #[test]
    fn long_texts_are_several_strings() {
        let text = "ü".repeat(MAX_STRING_BYTES);
        let pieces = pieces(&text);
        assert_eq!(pieces.len(), 2);
        assert_eq!(pieces.concat(), text);
    }

    proptest! {
        #[test]
        fn terms_survive(text in "\\PC{0,20}|[\u{f8f0}-\u{f8ff} \t;\u{1f}a]{0,9}") {
            let line = term(&text);
            prop_assert!(!line.contains(char::is_whitespace));
            prop_assert_eq!(term_of(&line), text);
        }
    }
}

//! The request, as plain data.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::parse::Syntax;
use crate::snippet;

/// The hits of a page if the request sets no limit.
const PAGE: usize = 10;

/// A request to an index. The default asks for the ten best documents, each with one snippet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // each is a choice of its own
pub struct Request {
    /// The text of the query; `*` asks for all documents.
    pub query: String,
    /// The language of the query.
    pub syntax: Syntax,
    /// Whether the text is a query or plain words.
    pub reading: Reading,
    /// Whether other forms of words match too.
    pub forms: bool,
    /// Whether the last word counts as the beginning of a word too, as long as nothing follows it.
    pub prefix_last: bool,
    /// Whether documents with most of the words are found if no document has all of them. This holds for words in ken's
    /// language without operators that join them.
    pub relax: bool,
    /// Queries in ken's language that every hit must match too; they do not change scores.
    pub filters: Vec<String>,
    /// Restricts hits to documents similar to this one.
    pub like: Option<Like>,
    /// Asks for matches in this document, or in a file with all its members, instead of hits.
    pub inside: Option<PathBuf>,
    /// `relevance`, `path`, or the name of a field.
    pub sort: String,
    /// Whether the order is reversed.
    pub reverse: bool,
    /// Whether newer documents rank a little higher.
    pub recency: bool,
    /// Which hits form a group, of which only the first is shown.
    pub group: Option<Group>,
    /// The number of hits that are skipped at the start.
    pub offset: usize,
    /// The most hits of the page; all if absent.
    pub limit: Option<usize>,
    /// Whether to count all hits; counting looks at documents that no page shows.
    pub count: bool,
    /// The names of the columns that are wanted for each hit; all if empty.
    pub fields: Vec<String>,
    /// How much of the text of each hit is wanted, besides snippets.
    pub text: Text,
    /// The passages that are wanted for each hit.
    pub snippets: Snippets,
    /// The properties by which hits are counted.
    pub facets: Facets,
    /// Whether to explain how the query was understood and how each hit got its score.
    pub explain: bool,
    /// Whether suggestions are wanted if the query finds little.
    pub suggest: bool,
    /// Milliseconds after which the search ends with what it has found; no deadline if absent.
    pub deadline_ms: Option<u64>,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            query: "*".to_owned(),
            syntax: Syntax::Ken,
            reading: Reading::Operators,
            forms: true,
            prefix_last: false,
            relax: false,
            filters: Vec::new(),
            like: None,
            inside: None,
            sort: "relevance".to_owned(),
            reverse: false,
            recency: true,
            group: None,
            offset: 0,
            limit: Some(PAGE),
            count: false,
            fields: Vec::new(),
            text: Text::None,
            snippets: Snippets::default(),
            facets: Facets::default(),
            explain: false,
            suggest: false,
            deadline_ms: None,
        }
    }
}

/// How the text of a query is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reading {
    /// A query with operators; a mistake is an error.
    #[default]
    Operators,
    /// A query with operators, whose mistakes are left out. Only ken's language can be read so.
    Lenient,
    /// Words without operators, any of which must match.
    Any,
    /// Words without operators, all of which must match.
    All,
}

/// How much of the text of a document is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Text {
    /// Nothing.
    #[default]
    None,
    /// The number of its bytes.
    Length,
    /// All of it.
    Whole,
}

/// What hits must be similar to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Like {
    /// A document of the index, by address.
    Document(PathBuf),
    /// A text.
    Text(String),
}

/// Which hits belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// Those with the same content.
    Content,
    /// Those in one file.
    File,
    /// Those in one message; outside of messages, those in one file.
    Message,
}

/// Which passages are shown of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Snippets {
    /// The most passages.
    pub count: usize,
    /// The approximate length of a passage in characters.
    pub length: usize,
}

impl Default for Snippets {
    fn default() -> Self {
        let snippet::Settings { count, length } = snippet::Settings::default();
        Self { count, length }
    }
}

/// The properties by which hits are counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Facets {
    /// Names of fields; for dates also `year`, `month`, `day` and `modified.year`.
    pub by: Vec<String>,
    /// The number of levels below a root at which folders are counted separately.
    pub depth: usize,
    /// The most values of each facet; all if absent.
    pub limit: Option<usize>,
}

impl Default for Facets {
    fn default() -> Self {
        Self {
            by: Vec::new(),
            depth: 1,
            limit: None,
        }
    }
}

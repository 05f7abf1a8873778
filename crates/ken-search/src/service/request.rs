//! What is asked, as plain data.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::parse::Syntax;
use crate::snippet;

/// Hits of a page if the request does not say how many.
const PAGE: usize = 10;

/// A question to an index. The default asks for the ten best documents, each with one snippet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[allow(clippy::struct_excessive_bools)] // each is a choice of its own
pub struct Request {
    /// The text of the query; `*` asks for all documents.
    pub query: String,
    /// The language of the query.
    pub syntax: Syntax,
    /// Whether the text is a query or just words.
    pub reading: Reading,
    /// Whether words are found in their other forms too.
    pub forms: bool,
    /// Queries in ken's language that every hit matches too; they do not change scores.
    pub filters: Vec<String>,
    /// Only documents similar to this one are found.
    pub like: Option<Like>,
    /// The matches in this document, or in a file with all its members, are wanted instead of hits.
    pub inside: Option<PathBuf>,
    /// `relevance`, `path`, or the name of a field.
    pub sort: String,
    /// Whether the order is turned round.
    pub reverse: bool,
    /// Whether newer documents count a little more.
    pub recency: bool,
    /// Of which hits only the first is shown.
    pub group: Option<Group>,
    /// Hits that are left out at the start.
    pub offset: usize,
    /// Hits of the page; all if absent.
    pub limit: Option<usize>,
    /// Whether the number of all hits is wanted: counting looks at documents that no page shows.
    pub count: bool,
    /// Names of the columns that are wanted of each hit; all if there are none.
    pub fields: Vec<String>,
    /// How much of the text of each hit is wanted, besides snippets.
    pub text: Text,
    /// The passages that are wanted of each hit.
    pub snippets: Snippets,
    /// The properties by which hits are counted.
    pub facets: Facets,
    /// Whether it is wanted how the query was understood and how each hit got its score.
    pub explain: bool,
    /// Whether other spellings are wanted if little was found.
    pub suggest: bool,
    /// Milliseconds after which the search ends with what it has found; without an end if absent.
    pub deadline_ms: Option<u64>,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            query: "*".to_owned(),
            syntax: Syntax::Ken,
            reading: Reading::Operators,
            forms: true,
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
    /// Operators have their meaning; a mistake is an error.
    #[default]
    Operators,
    /// Operators have their meaning; what is wrong is left out. Only ken's language can be read so.
    Lenient,
    /// Words without operators, of which a document has any.
    Any,
    /// Words without operators, of which a document has all.
    All,
}

/// How much of the text of a document is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Text {
    /// Nothing.
    #[default]
    None,
    /// How many bytes it has.
    Length,
    /// All of it.
    Whole,
}

/// What hits are to be similar to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Like {
    /// A document of the index, by its address.
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
    /// How many at most.
    pub count: usize,
    /// How long each is, in characters, about.
    pub length: usize,
}

impl Default for Snippets {
    fn default() -> Self {
        let snippet::Settings { count, length } = snippet::Settings::default();
        Self { count, length }
    }
}

/// By what hits are counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Facets {
    /// Names of fields; of a date also `year`, `month`, `day` and `modified.year`.
    pub by: Vec<String>,
    /// Levels of folders below a root that are told apart.
    pub depth: usize,
    /// Values of each; all if absent.
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

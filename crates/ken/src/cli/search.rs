//! `ken search`, `ken tag` and `ken terms`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ken_search::parse::Syntax;

use super::{ResultArgs, budget};

#[derive(Args, Debug)]
pub(crate) struct SearchArgs {
    /// Words, "phrases", -not, OR, prefix*, field:value, dir:…, date:2025..2026, size:>1M
    #[arg(required_unless_present_any = ["like", "facets", "saved", "delete"])]
    pub(crate) query: Vec<String>,
    /// Find documents with any of the words, best first, and read no operators; - reads the words from
    /// standard input
    #[arg(long, conflicts_with = "all")]
    pub(crate) any: bool,
    /// Find documents with all of the words, and read no operators
    #[arg(long)]
    pub(crate) all: bool,
    /// Synonym file: one group of equivalent words per line
    #[arg(long, value_name = "FILE")]
    pub(crate) synonyms: Option<PathBuf>,
    /// Ignore the parts of a query that have mistakes, and say which
    #[arg(long, conflicts_with_all = ["any", "all"])]
    pub(crate) lenient: bool,
    /// Find words that begin with the last word too, for searches while typing
    #[arg(long, conflicts_with = "save")]
    pub(crate) prefix_last: bool,
    /// Save the query in the configuration file as query:NAME instead of searching; one of that name is replaced
    #[arg(long, value_name = "NAME", conflicts_with_all = ["any", "all", "lenient"])]
    pub(crate) save: Option<String>,
    /// Delete a saved query
    #[arg(long, value_name = "NAME", conflicts_with_all = ["query", "save"])]
    pub(crate) delete: Option<String>,
    /// List the saved queries
    #[arg(long, conflicts_with_all = ["query", "save", "delete"])]
    pub(crate) saved: bool,
    /// Query language
    #[arg(long, value_name = "LANGUAGE", default_value = "ken", conflicts_with_all = ["any", "all", "lenient", "save"])]
    pub(crate) syntax: SyntaxName,
    #[command(flatten)]
    pub(crate) results: ResultArgs,
    /// Print at most N hits; 0 means all [default: 10, or all with --paths and --in]
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Skip the first N hits
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: usize,
    /// Print one JSON object per hit
    #[arg(long, alias = "jsonl", conflicts_with_all = ["paths", "count"])]
    pub(crate) json: bool,
    /// With --json, print only these keys of each hit, of its snippet or its fields: --keys path,line,date
    #[arg(long, value_name = "KEYS", value_delimiter = ',', requires = "json")]
    pub(crate) keys: Vec<String>,
    /// Print a table with commas between values, with the columns of --fields
    #[arg(long, conflicts_with_all = ["json", "tsv", "paths", "null", "count", "explain", "facets", "inside"])]
    pub(crate) csv: bool,
    /// Print a table with tabs between values, quoted as with --csv
    #[arg(long, conflicts_with_all = ["json", "paths", "null", "count", "explain", "facets", "inside"])]
    pub(crate) tsv: bool,
    /// Print at most this number of bytes: the best hits, their number, and the command for the next ones
    #[arg(long, value_name = "BYTES", value_parser = budget,
        conflicts_with_all = ["paths", "null", "count", "explain", "facets", "inside"])]
    pub(crate) budget: Option<usize>,
    /// Print only paths, each file once
    #[arg(long, short = 'l', conflicts_with_all = ["count", "explain"])]
    pub(crate) paths: bool,
    /// End each path with a NUL byte; implies --paths unless --fields is given
    #[arg(long, short = '0', conflicts_with_all = ["json", "count", "explain"])]
    pub(crate) null: bool,
    /// Print only the number of matching documents
    #[arg(long, short = 'c', conflicts_with = "explain")]
    pub(crate) count: bool,
    /// Show how the query is understood and how each hit is scored
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print no snippets
    #[arg(long)]
    pub(crate) no_snippet: bool,
    /// Print the text of each hit too; only with --json
    #[arg(long, requires = "json", conflicts_with_all = ["facets", "inside"])]
    pub(crate) text: bool,
    /// Bring everything into the index first that changed before this search
    #[arg(long)]
    pub(crate) fresh: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SyntaxName {
    /// ken's own language
    Ken,
    /// Recoll's language
    Recoll,
    /// mu's language; finds messages
    Mu,
    /// notmuch's language; finds messages
    Notmuch,
}

impl From<SyntaxName> for Syntax {
    fn from(name: SyntaxName) -> Self {
        match name {
            SyntaxName::Ken => Self::Ken,
            SyntaxName::Recoll => Self::Recoll,
            SyntaxName::Mu => Self::Mu,
            SyntaxName::Notmuch => Self::Notmuch,
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct DocumentTagArgs {
    /// Tags to add (+tag) and remove (-tag), then a query or a number of the last list
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required_unless_present = "list"
    )]
    pub(crate) arguments: Vec<String>,
    /// List all tags with the number of documents that have each
    #[arg(long, conflicts_with = "arguments")]
    pub(crate) list: bool,
}

#[derive(Args, Debug)]
pub(crate) struct TermsArgs {
    /// Beginning of a term, pat*ern, /regular expression/, or ~word for similar terms
    #[arg(default_value = "", hide_default_value = true)]
    pub(crate) pattern: String,
    /// List terms of this field; can be repeated [default: all text fields]
    #[arg(long, short = 'f', value_name = "FIELD")]
    pub(crate) field: Vec<String>,
    /// Count each field separately
    #[arg(long)]
    pub(crate) by_field: bool,
    /// Order of the terms
    #[arg(long, value_name = "KEY", default_value = "term")]
    pub(crate) sort: TermSort,
    /// Print at most N terms; 0 means all [default: all, or 100 when sorted by a count]
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Print one JSON object per term
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TermSort {
    /// Alphabetically
    Term,
    /// By number of documents, most first
    #[value(alias = "count")]
    Documents,
    /// By number of occurrences, most first
    Occurrences,
}

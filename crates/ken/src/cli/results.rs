//! Options of `ken search` that say which hits are shown, in which order, and how.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ken_search::service::{check_column, check_facet, check_sort};

/// The order of hits by relevance, as `--sort` names it.
pub(crate) const RELEVANCE: &str = "relevance";

#[derive(Args, Debug)]
pub(crate) struct ResultArgs {
    /// Sort by relevance, path, or a field such as date, size, title or author
    #[arg(long, value_name = "KEY", default_value = RELEVANCE, value_parser = sort_key)]
    pub(crate) sort: String,
    /// Reverse the order
    #[arg(long)]
    pub(crate) reverse: bool,
    /// Show documents with the same content once
    #[arg(long, conflicts_with = "group")]
    pub(crate) unique: bool,
    /// Show one hit per group of near copies (the default for hits by relevance), file, or message with its attachments
    #[arg(long, value_name = "BY")]
    pub(crate) group: Option<GroupName>,
    /// Count the hits by fields instead of listing them: --facets type,dir,author,year
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', value_parser = facet,
        conflicts_with_all = ["paths", "null", "count", "explain", "fields", "inside"])]
    pub(crate) facets: Vec<String>,
    /// Levels of folders below a root that --facets dir distinguishes
    #[arg(long, value_name = "N", default_value_t = 1, requires = "facets")]
    pub(crate) depth: usize,
    /// Print these fields of each hit, separated by tabs: --fields date,author,title,path
    #[arg(long, value_name = "FIELDS", value_delimiter = ',', value_parser = column,
        conflicts_with_all = ["json", "paths", "count", "explain", "inside"])]
    pub(crate) fields: Vec<String>,
    /// Number of passages in the snippet of each hit
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        conflicts_with = "no_snippet"
    )]
    pub(crate) snippets: usize,
    /// Show every match in this document, with its page or line
    #[arg(long = "in", value_name = "PATH",
        conflicts_with_all = ["paths", "null", "count", "explain", "like", "unique", "group"])]
    pub(crate) inside: Option<PathBuf>,
    /// Find documents similar to this one; a query filters them
    #[arg(long, value_name = "PATH")]
    pub(crate) like: Option<PathBuf>,
}

/// What counts as one hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupName {
    /// Every document
    None,
    /// One hit for documents of nearly the same text
    Similar,
    /// One hit per file
    File,
    /// One hit per message, and per file otherwise
    Message,
}

fn sort_key(name: &str) -> Result<String, String> {
    check_sort(name).map(|()| name.to_owned())
}

fn facet(name: &str) -> Result<String, String> {
    check_facet(name).map(|()| name.to_owned())
}

fn column(name: &str) -> Result<String, String> {
    check_column(name).map(|()| name.to_owned())
}

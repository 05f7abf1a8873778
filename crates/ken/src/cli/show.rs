//! Options of `ken show` and `ken open`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use ken_search::service::{Numbers, PartRequest};

/// Fewer bytes have no room for an address and a line.
const MIN_BUDGET: usize = 256;

#[derive(Args, Debug)]
pub(crate) struct ReadArgs {
    /// Path, path|member, identifier, or the number of a hit in the last list on this terminal
    pub(crate) address: PathBuf,
    /// Show these pages
    #[arg(long, value_name = "N[-M]", alias = "pages", value_parser = numbers,
        conflicts_with_all = ["lines", "around", "all"])]
    pub(crate) page: Option<Numbers>,
    /// Show these lines
    #[arg(long, value_name = "N[-M]", alias = "line", value_parser = numbers, conflicts_with_all = ["around", "all"])]
    pub(crate) lines: Option<Numbers>,
    /// Show the lines around the matches of a query, those with the most matches first
    #[arg(long, value_name = "QUERY", conflicts_with = "all")]
    pub(crate) around: Option<String>,
    /// Lines before and after each match
    #[arg(
        long,
        short = 'C',
        value_name = "N",
        default_value_t = 3,
        requires = "around"
    )]
    pub(crate) context: usize,
    /// Treat the last word of the query as unfinished
    #[arg(long, requires = "around")]
    pub(crate) prefix_last: bool,
    /// Skip the first N groups of lines around matches
    #[arg(long, value_name = "N", default_value_t = 0, requires = "around")]
    pub(crate) offset: usize,
    /// Show the whole text
    #[arg(long)]
    pub(crate) all: bool,
    /// Print at most this number of bytes, in whole lines or pages, and the command for the rest
    #[arg(long, value_name = "BYTES", visible_alias = "max-bytes", value_parser = budget)]
    pub(crate) budget: Option<usize>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct OpenArgs {
    /// Path, path|member, identifier, or the number of a hit in the last list on this terminal
    pub(crate) address: PathBuf,
    /// Open at this page
    #[arg(long, value_name = "N", conflicts_with_all = ["line", "folder"])]
    pub(crate) page: Option<usize>,
    /// Open at this line
    #[arg(long, value_name = "N", conflicts_with = "folder")]
    pub(crate) line: Option<usize>,
    /// Open the folder of the file
    #[arg(long)]
    pub(crate) folder: bool,
    /// Open it with this program, with its arguments separated by spaces
    #[arg(long = "with", value_name = "COMMAND", conflicts_with = "folder")]
    pub(crate) program: Option<OsString>,
}

fn numbers(text: &str) -> Result<Numbers, String> {
    PartRequest::numbers(text).ok_or_else(|| "write a range of numbers such as 10-40".to_owned())
}

/// Reads the most bytes of an output.
pub(crate) fn budget(text: &str) -> Result<usize, String> {
    let n_bytes = text.parse::<usize>().ok();
    let n_bytes = n_bytes.filter(|n_bytes| *n_bytes >= MIN_BUDGET);
    n_bytes.ok_or_else(|| format!("write a number of bytes, at least {MIN_BUDGET}"))
}

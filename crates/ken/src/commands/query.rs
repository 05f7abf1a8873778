//! What was typed after `ken search` → the tree of a query.

use std::io::Read;

use ken_search::parse::{Tree, parse};
use ken_search::plan::Analyze;
use ken_search::words;

use crate::cli::SearchArgs;
use crate::failure::Failure;

/// The most text that is read from standard input; more is no question.
const MAX_INPUT: u64 = 1 << 20;

/// Returns the tree of the query, or of the words as they stand.
pub(crate) fn read(args: &SearchArgs, analyze: Analyze) -> Result<Tree, Failure> {
    let text = match args.query.as_slice() {
        [one] if one.trim() == "-" => input()?,
        words => words.join(" "),
    };
    let tree = if args.any {
        words::any(&text, analyze)
    } else if args.all {
        words::all(&text)
    } else {
        parse(&text)
    };
    Ok(tree?)
}

fn input() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_INPUT)
        .read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

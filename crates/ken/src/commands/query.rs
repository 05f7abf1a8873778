//! The query of `ken search`: its text, its name if it is saved, and its synonyms.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use ken_search::parse::{Names, Saved, parse_with};
use ken_search::service::ANALYSIS;
use ken_search::synonyms::Synonyms;

use crate::cli::{Global, SearchArgs};
use crate::config::{Settings, below_home, saved};
use crate::failure::{Failure, Kind};
use crate::output;

/// The most bytes that are read from standard input; a query is shorter.
const MAX_INPUT: u64 = 1 << 20;

/// Saves the query under a name, after checking it.
pub(crate) fn save(global: &Global, name: &str, args: &SearchArgs) -> Result<ExitCode, Failure> {
    let text = text(args)?;
    let mut known = Settings::load(global)?.queries;
    let check = |saved: &Saved| {
        let names = Names {
            saved,
            ..Names::default()
        };
        parse_with(&text, names).map(drop)
    };
    check(&known)?;
    // The query must not refer to its own name.
    known.insert(name.to_owned(), text.clone());
    check(&known)?;
    let file = saved::add(global, name, text.trim())?;
    let name = if name.contains(char::is_whitespace) {
        format!("\"{name}\"")
    } else {
        name.to_owned()
    };
    output::warn(&format!(
        "saved in \"{}\": ken search query:{name}",
        file.display()
    ));
    Ok(ExitCode::SUCCESS)
}

/// Returns the text of the query.
pub(super) fn text(args: &SearchArgs) -> Result<String, Failure> {
    match args.query.as_slice() {
        [one] if one.trim() == "-" => input(),
        words => Ok(words
            .iter()
            .map(|word| typed(word))
            .collect::<Vec<_>>()
            .join(" ")),
    }
}

/// Removes the space that hides a hyphen from clap.
fn typed(word: &str) -> &str {
    match word.strip_prefix(' ') {
        Some(rest) if rest.starts_with('-') => rest,
        _ => word,
    }
}

fn input() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_INPUT)
        .read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads a file of synonyms, by default that of the configuration.
pub(super) fn synonyms(
    file: Option<PathBuf>,
    settings: &Settings,
) -> Result<Arc<Synonyms>, Failure> {
    let set = settings.search.synonyms.as_deref().map(below_home);
    let Some(path) = file.or(set) else {
        return Ok(Arc::default());
    };
    let text = fs_err::read_to_string(&path)?;
    let synonyms = Synonyms::parse(&text, ANALYSIS).map_err(|error| {
        let message = format!("\"{}\": {error}", path.display());
        Failure::new(Kind::Usage, message)
            .hint("write one group of words per line, and put phrases in double quotes")
    })?;
    Ok(Arc::new(synonyms))
}

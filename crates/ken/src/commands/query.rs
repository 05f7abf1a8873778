//! The query of `ken search`: its text, its name if it is saved, and its synonyms.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

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

/// Prints the saved queries.
pub(crate) fn list(global: &Global, as_json: bool) -> Result<ExitCode, Failure> {
    let queries = Settings::load(global)?.queries;
    let mut text = Vec::new();
    for (name, query) in &queries {
        match as_json {
            true => {
                let object =
                    serde_json::json!({ "v": output::SCHEMA, "name": name, "query": query });
                text.extend(output::json_line(&object));
            }
            false => {
                let (name, query) = (output::clean(name), output::clean(query));
                text.extend(format!("{name}\t{query}\n").bytes());
            }
        }
    }
    output::print(&text)?;
    Ok(ExitCode::from(u8::from(queries.is_empty())))
}

/// Deletes a saved query.
pub(crate) fn delete(global: &Global, name: &str) -> Result<ExitCode, Failure> {
    match saved::remove(global, name)? {
        Some(file) => {
            output::warn(&format!("deleted from \"{}\"", file.display()));
            Ok(ExitCode::SUCCESS)
        }
        None => {
            output::warn(&format!("there is no saved query \"{name}\""));
            Ok(ExitCode::from(1))
        }
    }
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

//! What was typed after `ken search` → the tree of a query.

use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use ken_core::{Field, FieldNames};
use ken_index::Snapshot;
use ken_search::parse::{Names, Saved, Syntax, Tree, parse_lenient, parse_with};
use ken_search::plan::Analyze;
use ken_search::synonyms::Synonyms;
use ken_search::words;

use crate::cli::{Global, SearchArgs, SyntaxName};
use crate::config::{Settings, below_home, saved};
use crate::failure::{Failure, Kind};
use crate::output;

/// The most text that is read from standard input; more is no question.
const MAX_INPUT: u64 = 1 << 20;

/// Returns the tree of the query, or of the words as they stand.
pub(crate) fn read(
    settings: &Settings,
    args: &SearchArgs,
    fields: &FieldNames,
    analyze: Analyze,
) -> Result<Tree, Failure> {
    let text = text(args)?;
    if args.any {
        return Ok(words::any(&text, analyze)?);
    }
    if args.all {
        return Ok(words::all(&text)?);
    }
    let names = Names {
        saved: &settings.queries,
        fields,
    };
    if args.syntax != SyntaxName::Ken || !args.lenient {
        return Ok(syntax(args.syntax).parse_with(&text, names)?);
    }
    let mut lenient = parse_lenient(&text, names);
    match lenient.tree {
        Some(tree) => {
            for left in &lenient.left_out {
                let (text, message) = (&left.text, &left.error.message);
                output::warn(&format!("ignored {text}: {message}"));
            }
            Ok(tree)
        }
        None => Err(lenient.left_out.remove(0).error.into()),
    }
}

/// Returns the tree of any words with those that the fewest documents have, if they are too many, and
/// how many were left out.
pub(super) fn rarest(
    tree: Tree,
    snapshot: &Snapshot,
    analyze: Analyze,
) -> Result<(Tree, usize), Failure> {
    let mut count = |term: &str| snapshot.n_documents_with(Field::Body, term);
    Ok(words::rarest(tree, analyze, &mut count)?)
}

/// Gives the query a name, after a look whether it is one.
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
    // With its own name among the others, it must not ask for itself.
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

fn text(args: &SearchArgs) -> Result<String, Failure> {
    match args.query.as_slice() {
        [one] if one.trim() == "-" => input(),
        words => Ok(words
            .iter()
            .map(|word| typed(word))
            .collect::<Vec<_>>()
            .join(" ")),
    }
}

/// Takes away the blank that stands for clap before a hyphen.
fn typed(word: &str) -> &str {
    match word.strip_prefix(' ') {
        Some(rest) if rest.starts_with('-') => rest,
        _ => word,
    }
}

fn syntax(name: SyntaxName) -> Syntax {
    match name {
        SyntaxName::Ken => Syntax::Ken,
        SyntaxName::Recoll => Syntax::Recoll,
        SyntaxName::Mu => Syntax::Mu,
        SyntaxName::Notmuch => Syntax::Notmuch,
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

/// Reads the file of synonyms, if one is named.
pub(super) fn synonyms(
    args: &SearchArgs,
    settings: &Settings,
    analyze: Analyze,
) -> Result<Arc<Synonyms>, Failure> {
    synonyms_in(args.synonyms.clone(), settings, analyze)
}

/// Reads a file of synonyms; if none is given, the one of the configuration.
pub(super) fn synonyms_in(
    file: Option<PathBuf>,
    settings: &Settings,
    analyze: Analyze,
) -> Result<Arc<Synonyms>, Failure> {
    let set = settings.search.synonyms.as_deref().map(below_home);
    let Some(path) = file.or(set) else {
        return Ok(Arc::default());
    };
    let text = fs_err::read_to_string(&path)?;
    let synonyms = Synonyms::parse(&text, analyze).map_err(|error| {
        let message = format!("\"{}\": {error}", path.display());
        Failure::new(Kind::Usage, message)
            .hint("write one group of words per line, and put phrases in double quotes")
    })?;
    Ok(Arc::new(synonyms))
}

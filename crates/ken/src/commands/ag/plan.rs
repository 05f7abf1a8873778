//! Turns the arguments into what is searched and printed: ag's options change each other.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ken_grep::ag::rules::Rules;
use ken_grep::ag::{
    Display, FILE_TYPES, Names, Paths, Pattern, Query, Report, Selection, Settings,
};

use ken_grep::prefilter::Prefilter;

use super::typed::{Ignore, Numbers, PathStyle, Refusal, Typed};
use crate::output;

/// The environment of a search by ag.
#[derive(Debug)]
pub(super) struct Surroundings {
    /// Files with patterns that apply everywhere.
    pub(super) ignore: Vec<PathBuf>,
    /// Device and inode of the file that output goes to, unless it is a terminal.
    pub(super) output: Option<(u64, u64)>,
    pub(super) cores: usize,
}

/// The planned search.
pub(super) struct Plan {
    pub(super) settings: Settings,
    /// Whether standard input is searched.
    pub(super) is_stream: bool,
}

/// Makes the plan from the arguments and the environment.
pub(super) fn plan(
    mut typed: Typed,
    around: &Surroundings,
    report: &Report<'_>,
) -> Result<Plan, Refusal> {
    let names = names(&typed)?;
    let query = query(&mut typed)?;
    let paths: Vec<PathBuf> = typed
        .operands
        .iter()
        .map(|path| without_slash(path))
        .collect();
    let is_stream = settle(&mut typed) && paths.is_empty();
    let display = display(&typed, &paths);
    let pattern = Pattern::new(&query)?;
    let selection = Selection {
        hidden: typed.hidden,
        follow: typed.follow,
        recurse: typed.recurse,
        depth: typed.depth,
        one_device: typed.one_device,
        rules: Arc::new(rules(&typed, around, report)),
        uses_rules: !typed.all_files || names_a_file(&typed),
        vcs: typed.vcs,
        names,
        folder_filter: typed.folder_filter.take(),
        output: around.output,
        paths: match paths.is_empty() {
            true => vec![".".into()],
            false => paths,
        },
    };
    let settings = Settings {
        pattern,
        selection,
        display,
        list_names: typed.list_names,
        max_count: typed.max_count,
        invert: typed.invert,
        binary: typed.binary,
        compressed: typed.compressed,
        empty: typed.all_files,
        all_files: typed.print_all,
        without: typed.without,
        passthrough: typed.passthrough,
        counted: typed.stats,
        workers: match typed.workers {
            0 => around.cores,
            workers => workers,
        },
        prefilter: Prefilter::nothing(),
    };
    Ok(Plan {
        settings,
        is_stream,
    })
}

/// Takes the query from the operands.
fn query(typed: &mut Typed) -> Result<Query, Refusal> {
    if typed.needs_query && typed.operands.is_empty() {
        return Err(refused("What do you want to search for?"));
    }
    let everything = || OsString::from(".");
    let text = match typed.list_names || typed.operands.is_empty() {
        true => everything(),
        false => typed.operands.remove(0),
    };
    let text = match text.is_empty() && !typed.needs_query {
        true => everything(),
        false => text,
    };
    if text.is_empty() {
        return Err(refused("Error: No query. What do you want to search for?"));
    }
    Ok(Query {
        text: text.into_vec(),
        literal: typed.literal,
        case: typed.case,
        words: typed.words,
        by_line: typed.by_line,
    })
}

fn refused(message: &str) -> Refusal {
    Refusal::Query(message.to_owned())
}

/// Returns the names that files must have. A file type replaces a pattern.
fn names(typed: &Typed) -> Result<Option<Names>, Refusal> {
    if !typed.file_types.is_empty() {
        let wanted = FILE_TYPES
            .iter()
            .filter(|kind| typed.file_types.contains(&kind.name));
        let extensions = wanted.flat_map(|kind| kind.extensions());
        return Ok(Some(Names::extensions(extensions)));
    }
    let regex = |pattern: &OsString| Names::regex(pattern.as_bytes(), typed.case, typed.words);
    Ok(typed.names.as_ref().map(regex).transpose()?)
}

/// Applies the effects of options on each other. Returns whether a stream is searched if no path is given.
fn settle(typed: &mut Typed) -> bool {
    if typed.context > 0 {
        (typed.before, typed.after) = (typed.context, typed.context);
    }
    if typed.ackmate {
        (typed.color, typed.breaks, typed.group) = (false, true, true);
    }
    if typed.vimgrep {
        (typed.color, typed.breaks, typed.group) = (false, false, true);
        typed.path_style = PathStyle::Nothing;
    }
    if typed.path_style == PathStyle::Default && typed.breaks && !typed.group {
        (typed.path_style, typed.breaks) = (PathStyle::DefaultEachLine, false);
    }
    let is_stream = typed.stream && !typed.ackmate && !typed.vimgrep && !typed.parallel;
    if is_stream {
        // ag decides this too before it looks for paths.
        (typed.path_style, typed.breaks) = (PathStyle::Nothing, false);
        if typed.numbers == Numbers::Yes {
            typed.numbers = Numbers::No;
        }
    }
    is_stream
}

fn display(typed: &Typed, paths: &[PathBuf]) -> Display {
    let is_one_file = match paths {
        [path] => fs_err::metadata(path).is_ok_and(|metadata| !metadata.is_dir()),
        _ => false,
    };
    let paths = match typed.path_style {
        PathStyle::Default | PathStyle::DefaultEachLine if is_one_file => Paths::Nothing,
        PathStyle::Default | PathStyle::Top => Paths::Top,
        PathStyle::DefaultEachLine | PathStyle::EachLine => Paths::EachLine,
        PathStyle::Nothing => Paths::Nothing,
    };
    let is_bare = is_one_file && typed.only_matching && paths == Paths::Nothing;
    Display {
        paths,
        path_end: typed.path_end,
        breaks: typed.breaks,
        numbers: typed.numbers != Numbers::No && !is_bare,
        column: typed.column,
        before: typed.before,
        after: typed.after,
        width: typed.width,
        only_matching: typed.only_matching,
        colors: typed
            .color
            .then(|| typed.colors.set_off(output::mark().as_bytes())),
        ackmate: typed.ackmate,
        vimgrep: typed.vimgrep,
        counts: typed.counts,
        files: typed.files,
    }
}

/// Collects the patterns that apply everywhere.
fn rules(typed: &Typed, around: &Surroundings, report: &Report<'_>) -> Rules {
    let mut rules = Rules::root();
    for ignore in &typed.ignore {
        match ignore {
            Ignore::Pattern(pattern) => rules.add(pattern.as_bytes(), report),
            Ignore::File(path) => rules.load(path, report),
        }
    }
    for path in &around.ignore {
        rules.load(path, report);
    }
    rules
}

fn names_a_file(typed: &Typed) -> bool {
    let is_file = |ignore: &Ignore| matches!(ignore, Ignore::File(_));
    typed.ignore.iter().any(is_file)
}

/// Removes a slash at the end.
fn without_slash(path: &OsStr) -> PathBuf {
    match path.as_bytes() {
        [rest @ .., b'/'] if !rest.is_empty() => Path::new(OsStr::from_bytes(rest)).to_owned(),
        _ => path.into(),
    }
}

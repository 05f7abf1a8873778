//! Turns flags into a search: the combined effect of flags, terminal and standard input.

use std::collections::HashSet;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use grep_printer::{ColorSpecs, HyperlinkConfig, HyperlinkEnvironment, default_color_specs};
use ken_grep::conditions::{Conditions, Scope};
use ken_grep::format::{Format, Mode};
use ken_grep::output::Mark;
use ken_grep::pattern::{Matcher, PatternError, PatternOptions};
use ken_grep::walk::{WalkOptions, overrides};
use ken_grep::worker::{Binary, Context, Preprocessor, SearchOptions};

use super::typed::{Action, Around, Colors, PatternSource, Typed};
use crate::cli::{Global, When};
use crate::output::{self, Style};

/// The default number of threads for a walk that waits for a disk. On two cores a tree of 78,579 files, none of them
/// in memory, takes half the time with eight threads, and no less with more than sixteen.
const MAX_WAITING: usize = 16;

/// Everything that a search needs.
pub(super) struct Plan {
    pub(super) walk: WalkOptions,
    pub(super) pattern: PatternOptions,
    /// Further patterns that must match, and patterns that must not.
    others: (Vec<String>, Vec<String>),
    scope: Scope,
    pub(super) search: SearchOptions,
    pub(super) format: Format,
    pub(super) colors: Option<Mark>,
    /// The limit of output, which prints the most useful files first.
    pub(super) budget: Option<usize>,
    /// Whether the user named no path.
    pub(super) implicit_path: bool,
}

impl Plan {
    /// Returns whether anything can match at all.
    pub(super) fn can_match(&self) -> bool {
        let nothing = self.pattern.patterns.is_empty() && !self.search.invert;
        !nothing && self.search.max_count != Some(0)
    }

    /// Builds the conditions, whose patterns have the same syntax as the first one.
    pub(super) fn conditions(&self) -> Result<Conditions, PatternError> {
        let build = |patterns: &[String]| -> Result<Vec<Matcher>, PatternError> {
            let options = patterns.iter().map(|pattern| PatternOptions {
                patterns: vec![pattern.clone()],
                ..self.pattern.clone()
            });
            options.map(|options| options.build()).collect()
        };
        Ok(Conditions {
            all_of: build(&self.others.0)?,
            none_of: build(&self.others.1)?,
            scope: self.scope,
        })
    }
}

/// The environment of the process.
pub(super) struct Surroundings {
    pub(super) working_folder: PathBuf,
    pub(super) output_is_terminal: bool,
    pub(super) wants_colors: bool,
    /// Whether paths are clickable in any output.
    pub(super) wants_links: bool,
    pub(super) input_is_readable: bool,
    /// The path of Windows files under the Windows subsystem for Linux.
    pub(super) wsl_prefix: Option<String>,
}

impl Surroundings {
    #[allow(clippy::disallowed_methods)] // the binary reads its environment here
    pub(super) fn read(global: &Global) -> Result<Self, String> {
        let named = || std::env::var_os("PWD").filter(|folder| !folder.is_empty());
        let working_folder = std::env::current_dir().or_else(|error| {
            named().map(PathBuf::from).ok_or_else(|| {
                format!(
                    "failed to get current working directory: {error}\ndid your CWD get deleted?"
                )
            })
        })?;
        let distribution = std::env::var("WSL_DISTRO_NAME").ok();
        Ok(Self {
            working_folder,
            output_is_terminal: std::io::stdout().is_terminal(),
            wants_colors: Style::of(global).color,
            wants_links: global.hyperlinks == When::Always,
            input_is_readable: grep_cli::is_readable_stdin(),
            wsl_prefix: distribution.map(|name| format!("wsl$/{name}")),
        })
    }
}

/// The paths that are searched.
struct Paths {
    paths: Vec<PathBuf>,
    implicit: bool,
    /// Whether there is only one path, which is not a folder.
    one_file: bool,
}

impl Paths {
    /// Returns whether the paths are a few files and nothing else.
    fn few_files(&self) -> bool {
        self.paths.len() <= 10 && self.paths.iter().all(|path| path.is_file())
    }

    fn only_stdin(&self) -> bool {
        matches!(&self.paths[..], [path] if path == Path::new("-"))
    }
}

/// Makes the plan from the arguments.
pub(super) fn plan(typed: &mut Typed, around: &Surroundings) -> Result<Plan, String> {
    let mode = match typed.action {
        // With inverted matching lines are counted; if only matches are printed, matches are counted.
        Action::Search(Mode::CountMatches) if typed.invert => Some(Mode::Count),
        Action::Search(Mode::Count) if typed.only_matching => Some(Mode::CountMatches),
        Action::Search(mode) => Some(mode),
        _ => None,
    };
    let (patterns, stdin_is_read) = patterns(typed, mode)?;
    let paths = paths(typed, mode, stdin_is_read, around)?;
    let lines = mode == Some(Mode::Lines);
    let heading = !typed.vimgrep && typed.heading.unwrap_or(around.output_is_terminal);
    let column = typed.column.unwrap_or(typed.vimgrep);
    let line_number = typed.line_number.unwrap_or_else(|| match mode {
        _ if typed.quiet => false,
        Some(Mode::Json) => true,
        Some(Mode::Lines) => {
            let seen = around.output_is_terminal && !paths.only_stdin();
            seen || column || typed.vimgrep || typed.documents || typed.budget.is_some()
        }
        _ => false,
    });
    let context = match typed.around {
        Around::All => Context::All,
        Around::Lines {
            before,
            after,
            both,
        } => {
            let both = both.unwrap_or(0);
            Context::Lines(before.unwrap_or(both), after.unwrap_or(both))
        }
    };
    let file_separator = match context {
        _ if !lines => None,
        _ if heading => Some(Vec::new()),
        Context::All | Context::Lines(0, 0) => None,
        Context::Lines(..) => typed.context_separator.clone(),
    };
    let text = typed.line_end == ken_grep::pattern::LineEnd::Nul;
    let binary = if text { Binary::Text } else { typed.binary };
    Ok(Plan {
        walk: walk(typed, &paths, mode, around),
        pattern: PatternOptions {
            patterns,
            engine: typed.engine,
            case: typed.case,
            boundary: typed.boundary,
            fixed_strings: typed.fixed_strings,
            unicode: typed.unicode,
            multiline: typed.multiline,
            dotall: typed.multiline_dotall,
            line_end: typed.line_end,
            nul_is_binary: binary != Binary::Text,
            size_limit: typed.regex_size_limit,
            dfa_size_limit: typed.dfa_size_limit,
        },
        others: (typed.all_of.clone(), typed.none_of.clone()),
        scope: scope(typed)?,
        search: SearchOptions {
            line_end: typed.line_end,
            invert: typed.invert,
            line_number,
            multiline: typed.multiline,
            context,
            max_count: typed.max_count,
            stop_on_nonmatch: typed.stop_on_nonmatch,
            encoding: typed.encoding.clone(),
            binary,
            whole_files: typed.whole_files.unwrap_or_else(|| paths.few_files()),
            preprocessor: preprocessor(typed, around)?,
            decompress: typed.search_zip.then_some(super::compressed::open),
        },
        format: Format {
            mode: mode.unwrap_or_default(),
            quiet: typed.quiet,
            stats: mode.is_some() && (typed.stats || mode == Some(Mode::Json)),
            path: typed
                .with_filename
                .unwrap_or(typed.vimgrep || typed.documents || !paths.one_file),
            heading,
            column,
            byte_offset: typed.byte_offset,
            only_matching: typed.only_matching,
            per_match: typed.vimgrep,
            replacement: typed.replacement.clone(),
            max_columns: typed.max_columns,
            max_columns_preview: typed.max_columns_preview,
            trim: typed.trim,
            include_zero: typed.include_zero,
            context_separator: typed.context_separator.clone(),
            file_separator,
            field_match_separator: typed.field_match_separator.clone(),
            field_context_separator: typed.field_context_separator.clone(),
            path_separator: typed.path_separator,
            path_terminator: typed.null.then_some(0),
            colors: colors(typed),
            hyperlinks: hyperlinks(typed, around),
        },
        colors: match typed.colors {
            Colors::Never => false,
            Colors::Auto => around.wants_colors,
            Colors::Always => true,
        }
        .then(|| output::mark().as_bytes()),
        budget: budget(typed, mode, &paths)?,
        implicit_path: paths.implicit,
    })
}

/// Returns the limit of output. Ranking cannot be combined with another order of files.
fn budget(typed: &Typed, mode: Option<Mode>, paths: &Paths) -> Result<Option<usize>, String> {
    let ranks = typed.rank || typed.budget.is_some();
    if ranks && typed.sort.is_some() {
        return Err("--rank and --budget cannot be used with --sort".to_owned());
    }
    if ranks && (typed.invert || mode == Some(Mode::FilesWithoutMatch)) {
        return Err("--rank and --budget need matching lines".to_owned());
    }
    if ranks && paths.paths.iter().any(|path| path == Path::new("-")) {
        return Err("--rank and --budget do not read standard input".to_owned());
    }
    let prints_lines = matches!(mode, Some(Mode::Lines | Mode::Json)) && !typed.quiet;
    if typed.budget.is_some() && !prints_lines {
        return Err(
            "--budget prints lines and cannot be combined with another form of output".to_owned(),
        );
    }
    Ok(typed.budget)
}

fn scope(typed: &Typed) -> Result<Scope, String> {
    match (typed.near, typed.whole_file_scope) {
        (Some(_), true) => Err("--near and --scope file exclude each other".to_owned()),
        (Some(_), false) if typed.all_of.is_empty() => {
            Err("--near needs a pattern given by --and".to_owned())
        }
        (Some(distance), false) => Ok(Scope::Near(distance)),
        (None, true) => Ok(Scope::File),
        (None, false) => Ok(Scope::Line),
    }
}

fn walk(typed: &Typed, paths: &Paths, mode: Option<Mode>, around: &Surroundings) -> WalkOptions {
    let globs = typed
        .globs
        .iter()
        .map(|glob| (glob.clone(), typed.globs_any_case));
    let iglobs = typed.iglobs.iter().map(|glob| (glob.clone(), true));
    let threads = if typed.sort.is_some() || paths.one_file {
        1
    } else {
        typed
            .threads
            .unwrap_or_else(crate::commands::default_threads)
    };
    let more_threads = match typed.threads {
        None if typed.sort.is_none() => MAX_WAITING.saturating_sub(threads),
        _ => 0,
    };
    WalkOptions {
        paths: paths.paths.clone(),
        working_folder: around.working_folder.clone(),
        hidden: typed.hidden,
        follow: typed.follow,
        one_file_system: typed.one_file_system,
        max_depth: typed.max_depth,
        max_filesize: typed.max_filesize,
        dot_ignore: !typed.no_ignore_dot,
        git_exclude: !typed.no_ignore_exclude,
        git_global: !typed.no_ignore_global,
        git: !typed.no_ignore_vcs,
        parents: !typed.no_ignore_parent,
        require_git: !typed.no_require_git,
        ignore_files: if typed.no_ignore_files {
            Vec::new()
        } else {
            typed.ignore_files.clone()
        },
        ignore_case_insensitive: typed.ignore_files_any_case,
        globs: globs.chain(iglobs).collect(),
        types: typed.types.clone(),
        sort: typed.sort,
        threads,
        more_threads,
        skip_output: mode.is_some().then(output_file).flatten(),
    }
}

/// Collects the patterns without repetition, and returns whether they came from standard input.
fn patterns(typed: &mut Typed, mode: Option<Mode>) -> Result<(Vec<String>, bool), String> {
    if mode.is_none() {
        return Ok((Vec::new(), false));
    }
    if typed.patterns.is_empty() {
        if typed.positional.is_empty() {
            let name = typed.name.in_sentences();
            return Err(format!(
                "{name} requires at least one pattern to execute a search"
            ));
        }
        let pattern = typed.positional.remove(0).into_string();
        let pattern = pattern.map_err(|_| "pattern given is not valid UTF-8".to_owned())?;
        return Ok((vec![pattern], false));
    }
    let mut list = Vec::new();
    let mut stdin_is_read = false;
    for source in std::mem::take(&mut typed.patterns) {
        match source {
            PatternSource::Given(pattern) => list.push(pattern),
            PatternSource::File(path) if path == Path::new("-") => {
                if stdin_is_read {
                    let message = "error reading -f/--file from stdin: stdin has already been \
                                   consumed";
                    return Err(message.to_owned());
                }
                let lines = grep_cli::patterns_from_stdin();
                list.extend(lines.map_err(|error| error.to_string())?);
                stdin_is_read = true;
            }
            PatternSource::File(path) => {
                let lines = grep_cli::patterns_from_path(&path);
                list.extend(lines.map_err(|error| error.to_string())?);
            }
        }
    }
    let mut seen = HashSet::new();
    list.retain(|pattern| seen.insert(pattern.clone()));
    Ok((list, stdin_is_read))
}

fn paths(
    typed: &Typed,
    mode: Option<Mode>,
    stdin_is_read: bool,
    around: &Surroundings,
) -> Result<Paths, String> {
    let paths: Vec<PathBuf> = typed.positional.iter().map(PathBuf::from).collect();
    let stdin = Path::new("-");
    if stdin_is_read && paths.iter().any(|path| path == stdin) {
        let message = "error: attempted to read patterns from stdin while also searching stdin";
        return Err(message.to_owned());
    }
    if let Some(first) = paths.first() {
        let one_file = paths.len() == 1 && (first == stdin || !first.is_dir());
        return Ok(Paths {
            paths,
            implicit: false,
            one_file,
        });
    }
    let read_stdin =
        around.input_is_readable && !stdin_is_read && mode.is_some() && !typed.documents;
    Ok(Paths {
        paths: vec![PathBuf::from(if read_stdin { "-" } else { "./" })],
        implicit: true,
        one_file: read_stdin,
    })
}

fn preprocessor(typed: &Typed, around: &Surroundings) -> Result<Option<Preprocessor>, String> {
    let globs = typed.preprocessor_globs.iter();
    let globs: Vec<(String, bool)> = globs.map(|glob| (glob.clone(), false)).collect();
    let globs = overrides(&around.working_folder, &globs).map_err(|error| error.to_string())?;
    let Some(program) = &typed.preprocessor else {
        return Ok(None);
    };
    let command = grep_cli::resolve_binary(program).map_err(|error| error.to_string())?;
    Ok(Some(Preprocessor { command, globs }))
}

fn colors(typed: &Typed) -> ColorSpecs {
    let mut specs = default_color_specs();
    specs.extend(typed.color_specs.iter().cloned());
    ColorSpecs::new(&specs)
}

fn hyperlinks(typed: &Typed, around: &Surroundings) -> HyperlinkConfig {
    let mut environment = HyperlinkEnvironment::new();
    let mut format = typed.hyperlinks.clone();
    if format.is_empty() && around.wants_links {
        format = "file".parse().unwrap_or_default();
    }
    if !format.is_empty() {
        environment.host(hostname(typed.hostname_program.as_deref()));
        environment.wsl_prefix(around.wsl_prefix.clone());
    }
    HyperlinkConfig::new(environment, format)
}

/// Returns the name of this machine, from the output of the program or from the system.
fn hostname(program: Option<&Path>) -> Option<String> {
    let printed = program.and_then(|program| {
        let program = grep_cli::resolve_binary(program).ok()?;
        let mut command = std::process::Command::new(program);
        let output = command.stdin(std::process::Stdio::null()).output().ok()?;
        let name = String::from_utf8(output.stdout).ok()?;
        let name = name.trim();
        (output.status.success() && !name.is_empty()).then(|| name.to_owned())
    });
    printed.or_else(|| grep_cli::hostname().ok()?.into_string().ok())
}

/// Returns the device and inode of the file that standard output goes to, if it is a file.
fn output_file() -> Option<(u64, u64)> {
    let output = std::io::stdout().as_fd().try_clone_to_owned().ok()?;
    let metadata = std::fs::File::from(output).metadata().ok()?;
    metadata.is_file().then(|| (metadata.dev(), metadata.ino()))
}

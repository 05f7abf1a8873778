//! The command line, flag by flag: the last flag of each group counts.

use std::ffi::OsString;
use std::path::PathBuf;

use grep_printer::{HyperlinkFormat, UserColorSpec};
use ken_grep::format::Mode as Output;
use ken_grep::pattern::{Boundary, Case, Engine, LineEnd};
use ken_grep::walk::{Sort, TypeChange};
use ken_grep::worker::{Binary, TextEncoding};

use super::name::Name;
use crate::cli::When;

/// The action of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Search(Output),
    /// List the files that would be searched.
    Files,
    /// List the file types.
    Types,
    Help,
    /// Print the version; the features too, if the flag is the long one.
    Version {
        is_long: bool,
    },
    Pcre2Version,
    Generate(Generated),
}

/// What `rg --generate` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Generated {
    Man,
    Completions(clap_complete::Shell),
}

/// A source of patterns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PatternSource {
    Given(String),
    File(PathBuf),
}

/// Lines around a match. A number for one side takes precedence over a number for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    All,
    Lines {
        before: Option<usize>,
        after: Option<usize>,
        both: Option<usize>,
    },
}

impl Around {
    const NOTHING: Self = Self::Lines {
        before: None,
        after: None,
        both: None,
    };

    /// Lets `change` set the lines before, after or both, and cancels that all lines are printed.
    pub(super) fn set(
        &mut self,
        change: impl FnOnce(&mut Option<usize>, &mut Option<usize>, &mut Option<usize>),
    ) {
        if *self == Self::All {
            *self = Self::NOTHING;
        }
        if let Self::Lines {
            before,
            after,
            both,
        } = self
        {
            change(before, after, both);
        }
    }
}

/// When colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colors {
    Never,
    Auto,
    Always,
}

/// When output is flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Buffering {
    /// After each line if it goes to a terminal.
    Auto,
    Line,
    Block,
}

/// How much the search logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Logging {
    Debug,
    Trace,
}

/// The parsed command line.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is one flag
pub(super) struct Typed {
    pub(super) name: Name,
    pub(super) action: Action,
    /// The pattern, if no flag gives one, and the paths.
    pub(super) positional: Vec<OsString>,
    pub(super) patterns: Vec<PatternSource>,
    /// Further patterns that must match.
    pub(super) all_of: Vec<String>,
    /// Patterns that must not match.
    pub(super) none_of: Vec<String>,
    pub(super) whole_file_scope: bool,
    pub(super) near: Option<usize>,
    // The meaning of patterns.
    pub(super) engine: Engine,
    pub(super) case: Case,
    pub(super) boundary: Option<Boundary>,
    pub(super) fixed_strings: bool,
    pub(super) unicode: bool,
    pub(super) multiline: bool,
    pub(super) multiline_dotall: bool,
    pub(super) line_end: LineEnd,
    pub(super) dfa_size_limit: Option<usize>,
    pub(super) regex_size_limit: Option<usize>,
    // The way of reading files.
    pub(super) binary: Binary,
    pub(super) encoding: TextEncoding,
    pub(super) invert: bool,
    pub(super) max_count: Option<u64>,
    pub(super) stop_on_nonmatch: bool,
    pub(super) preprocessor: Option<PathBuf>,
    pub(super) preprocessor_globs: Vec<String>,
    pub(super) search_zip: bool,
    pub(super) threads: Option<usize>,
    pub(super) whole_files: Option<bool>,
    // The files to search.
    pub(super) follow: bool,
    pub(super) hidden: bool,
    pub(super) globs: Vec<String>,
    pub(super) globs_any_case: bool,
    pub(super) iglobs: Vec<String>,
    pub(super) ignore_files: Vec<PathBuf>,
    pub(super) ignore_files_any_case: bool,
    pub(super) max_depth: Option<usize>,
    pub(super) max_filesize: Option<u64>,
    pub(super) no_ignore_dot: bool,
    pub(super) no_ignore_exclude: bool,
    pub(super) no_ignore_files: bool,
    pub(super) no_ignore_global: bool,
    pub(super) no_ignore_parent: bool,
    pub(super) no_ignore_vcs: bool,
    pub(super) no_require_git: bool,
    pub(super) one_file_system: bool,
    pub(super) types: Vec<TypeChange>,
    pub(super) unrestricted: u8,
    // The output.
    pub(super) around: Around,
    pub(super) buffering: Buffering,
    pub(super) byte_offset: bool,
    pub(super) colors: Colors,
    pub(super) color_specs: Vec<UserColorSpec>,
    pub(super) column: Option<bool>,
    pub(super) context_separator: Option<Vec<u8>>,
    pub(super) field_context_separator: Vec<u8>,
    pub(super) field_match_separator: Vec<u8>,
    pub(super) heading: Option<bool>,
    pub(super) hostname_program: Option<PathBuf>,
    pub(super) hyperlinks: HyperlinkFormat,
    pub(super) include_zero: bool,
    pub(super) line_number: Option<bool>,
    pub(super) max_columns: Option<u64>,
    pub(super) max_columns_preview: bool,
    pub(super) null: bool,
    pub(super) only_matching: bool,
    pub(super) path_separator: Option<u8>,
    pub(super) quiet: bool,
    pub(super) rank: bool,
    /// The limit of output in bytes.
    pub(super) budget: Option<usize>,
    /// The number of files to skip at the start.
    pub(super) skip: usize,
    /// The number of lines of the first of them to skip.
    pub(super) skip_lines: usize,
    pub(super) replacement: Option<Vec<u8>>,
    pub(super) sort: Option<Sort>,
    pub(super) trim: bool,
    pub(super) vimgrep: bool,
    pub(super) with_filename: Option<bool>,
    // Messages.
    pub(super) logging: Option<Logging>,
    pub(super) no_ignore_messages: bool,
    pub(super) no_messages: bool,
    pub(super) stats: bool,
    pub(super) explain: bool,
    // The index.
    pub(super) no_index: bool,
    pub(super) trust_index: bool,
    pub(super) documents: bool,
    pub(super) data: Option<PathBuf>,
    // Options of every command of ken.
    pub(super) config: Option<PathBuf>,
    pub(super) set: Vec<String>,
    pub(super) clickable: Option<When>,
    pub(super) no_config: bool,
}

impl Default for Typed {
    fn default() -> Self {
        Self {
            name: Name::default(),
            action: Action::Search(Output::Lines),
            positional: Vec::new(),
            patterns: Vec::new(),
            all_of: Vec::new(),
            none_of: Vec::new(),
            whole_file_scope: false,
            near: None,
            engine: Engine::default(),
            case: Case::default(),
            boundary: None,
            fixed_strings: false,
            unicode: true,
            multiline: false,
            multiline_dotall: false,
            line_end: LineEnd::default(),
            dfa_size_limit: None,
            regex_size_limit: None,
            binary: Binary::default(),
            encoding: TextEncoding::default(),
            invert: false,
            max_count: None,
            stop_on_nonmatch: false,
            preprocessor: None,
            preprocessor_globs: Vec::new(),
            search_zip: false,
            threads: None,
            whole_files: None,
            follow: false,
            hidden: false,
            globs: Vec::new(),
            globs_any_case: false,
            iglobs: Vec::new(),
            ignore_files: Vec::new(),
            ignore_files_any_case: false,
            max_depth: None,
            max_filesize: None,
            no_ignore_dot: false,
            no_ignore_exclude: false,
            no_ignore_files: false,
            no_ignore_global: false,
            no_ignore_parent: false,
            no_ignore_vcs: false,
            no_require_git: false,
            one_file_system: false,
            types: Vec::new(),
            unrestricted: 0,
            around: Around::NOTHING,
            buffering: Buffering::Auto,
            byte_offset: false,
            colors: Colors::Auto,
            color_specs: Vec::new(),
            column: None,
            context_separator: Some(b"--".to_vec()),
            field_context_separator: b"-".to_vec(),
            field_match_separator: b":".to_vec(),
            heading: None,
            hostname_program: None,
            hyperlinks: HyperlinkFormat::default(),
            include_zero: false,
            line_number: None,
            max_columns: None,
            max_columns_preview: false,
            null: false,
            only_matching: false,
            path_separator: None,
            quiet: false,
            rank: false,
            budget: None,
            skip: 0,
            skip_lines: 0,
            replacement: None,
            sort: None,
            trim: false,
            vimgrep: false,
            with_filename: None,
            logging: None,
            no_ignore_messages: false,
            no_messages: false,
            stats: false,
            explain: false,
            no_index: false,
            trust_index: false,
            documents: false,
            data: None,
            config: None,
            set: Vec::new(),
            clickable: None,
            no_config: false,
        }
    }
}

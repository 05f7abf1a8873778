//! Flags for the output.

use std::ffi::OsStr;

use clap_complete::Shell;
use ken_grep::format::Mode;
use ken_grep::walk::{Sort, SortKey};

use super::Flag;
use super::values::{memory, number, optional_path, path, separator, text, unknown_choice};
use crate::cli::When;
use crate::commands::grep::typed::{Action, Around, Buffering, Colors, Generated, Logging};

/// The keys by which files can be sorted.
const SORT_KEYS: &[&str] = &["none", "path", "modified", "accessed", "created"];

pub(super) const FLAGS: &[Flag] = &[
    Flag::value(
        "after-context",
        "NUM",
        "Print this many lines after each match; overrides -C",
        |typed, value| {
            let lines = number(value)?;
            typed.around.set(|_, after, _| *after = Some(lines));
            Ok(())
        },
    )
    .short('A'),
    Flag::value(
        "before-context",
        "NUM",
        "Print this many lines before each match; overrides -C",
        |typed, value| {
            let lines = number(value)?;
            typed.around.set(|before, _, _| *before = Some(lines));
            Ok(())
        },
    )
    .short('B'),
    Flag::value(
        "context",
        "NUM",
        "Print this many lines before and after each match",
        |typed, value| {
            let lines = number(value)?;
            typed.around.set(|_, _, both| *both = Some(lines));
            Ok(())
        },
    )
    .short('C'),
    Flag::switch("passthru", "Print all lines", |typed, _| {
        typed.around = Around::All;
        Ok(())
    })
    .alias("passthrough"),
    Flag::switch("count", "Print how many lines match", |typed, _| {
        typed.action = Action::Search(Mode::Count);
        Ok(())
    })
    .short('c'),
    Flag::switch(
        "count-matches",
        "Print the number of matches",
        |typed, _| {
            typed.action = Action::Search(Mode::CountMatches);
            Ok(())
        },
    ),
    Flag::switch(
        "files-with-matches",
        "Print only the paths of files with a match",
        |typed, _| {
            typed.action = Action::Search(Mode::FilesWithMatches);
            Ok(())
        },
    )
    .short('l'),
    Flag::switch(
        "files-without-match",
        "Print only the paths of files without a match",
        |typed, _| {
            typed.action = Action::Search(Mode::FilesWithoutMatch);
            Ok(())
        },
    ),
    Flag::switch(
        "json",
        "Print JSON Lines: one object per file, line and end of file",
        |typed, yes| {
            if yes {
                typed.action = Action::Search(Mode::Json);
            } else if typed.action == Action::Search(Mode::Json) {
                typed.action = Action::Search(Mode::Lines);
            }
            Ok(())
        },
    )
    .negation("no-json"),
    Flag::switch("only-matching", "Print only what matches", |typed, _| {
        typed.only_matching = true;
        Ok(())
    })
    .short('o'),
    Flag::value(
        "replace",
        "REPLACEMENT",
        "Print this in place of each match; $1 and $name stand for groups; files are not changed",
        |typed, value| {
            typed.replacement = Some(text(value)?.as_bytes().to_vec());
            Ok(())
        },
    )
    .short('r'),
    Flag::switch(
        "quiet",
        "Print nothing; the exit code says whether there is a match",
        |typed, _| {
            typed.quiet = true;
            Ok(())
        },
    )
    .short('q'),
    Flag::switch("line-number", "Print line numbers", |typed, _| {
        typed.line_number = Some(true);
        Ok(())
    })
    .short('n'),
    Flag::switch("no-line-number", "Print no line numbers", |typed, _| {
        typed.line_number = Some(false);
        Ok(())
    })
    .short('N'),
    Flag::switch(
        "column",
        "Print the column of the first match",
        |typed, yes| {
            typed.column = Some(yes);
            Ok(())
        },
    )
    .negation("no-column"),
    Flag::switch(
        "byte-offset",
        "Print the byte offset of each line, or with -o of each match",
        |typed, yes| {
            typed.byte_offset = yes;
            Ok(())
        },
    )
    .short('b')
    .negation("no-byte-offset"),
    Flag::switch("with-filename", "Print paths", |typed, _| {
        typed.with_filename = Some(true);
        Ok(())
    })
    .short('H'),
    Flag::switch("no-filename", "Print no paths", |typed, _| {
        typed.with_filename = Some(false);
        Ok(())
    })
    .short('I'),
    Flag::switch(
        "heading",
        "Print each path once, above its lines (the default on a terminal)",
        |typed, yes| {
            typed.heading = Some(yes);
            Ok(())
        },
    )
    .negation("no-heading"),
    Flag::switch(
        "vimgrep",
        "Print every match on its own line, with path, line and column",
        |typed, _| {
            typed.vimgrep = true;
            Ok(())
        },
    ),
    Flag::switch(
        "pretty",
        "Same as --color=always --heading --line-number",
        |typed, _| {
            typed.colors = Colors::Always;
            typed.heading = Some(true);
            typed.line_number = Some(true);
            Ok(())
        },
    )
    .short('p'),
    Flag::value(
        "color",
        "WHEN",
        "When to color the output",
        |typed, value| {
            typed.colors = match text(value)? {
                "never" => Colors::Never,
                "auto" => Colors::Auto,
                "always" | "ansi" => Colors::Always,
                other => return unknown_choice(other),
            };
            Ok(())
        },
    )
    .choices(&["never", "auto", "always", "ansi"]),
    Flag::value(
        "colors",
        "COLOR_SPEC",
        "Set a color or style: match:fg:blue, path:style:bold, line:none",
        |typed, value| {
            let spec = text(value)?.parse();
            let spec = spec.map_err(|error: grep_printer::ColorError| error.to_string())?;
            typed.color_specs.push(spec);
            Ok(())
        },
    ),
    Flag::value(
        "hyperlink-format",
        "FORMAT",
        "Print paths as links: file, vscode and other names, or a template with {path}, {line}, \
         {column}, {host}",
        |typed, value| {
            typed.hyperlinks =
                text(value)?
                    .parse()
                    .map_err(|error: grep_printer::HyperlinkFormatError| {
                        format!("invalid hyperlink format: {error}")
                    })?;
            Ok(())
        },
    ),
    Flag::value(
        "hostname-bin",
        "COMMAND",
        "Command that prints this machine's host name, for --hyperlink-format",
        |typed, value| {
            typed.hostname_program = optional_path(value);
            Ok(())
        },
    ),
    Flag::value(
        "max-columns",
        "NUM",
        "Omit lines longer than this; 0 means no limit",
        |typed, value| {
            typed.max_columns = Some(number(value)?).filter(|&columns| columns > 0);
            Ok(())
        },
    )
    .short('M'),
    Flag::switch(
        "max-columns-preview",
        "Print the beginning of omitted long lines",
        |typed, yes| {
            typed.max_columns_preview = yes;
            Ok(())
        },
    )
    .negation("no-max-columns-preview"),
    Flag::switch(
        "trim",
        "Remove white space from the beginning of lines",
        |typed, yes| {
            typed.trim = yes;
            Ok(())
        },
    )
    .negation("no-trim"),
    Flag::switch("include-zero", "Print counts of 0 too", |typed, yes| {
        typed.include_zero = yes;
        Ok(())
    })
    .negation("no-include-zero"),
    Flag::switch("null", "Print a NUL byte after each path", |typed, _| {
        typed.null = true;
        Ok(())
    })
    .short('0'),
    Flag::value(
        "context-separator",
        "SEPARATOR",
        "Print this between groups of lines that are not adjacent [default: --]",
        |typed, value| {
            typed.context_separator = value.map(|_| separator(value)).transpose()?;
            Ok(())
        },
    )
    .negation("no-context-separator"),
    Flag::value(
        "field-context-separator",
        "SEPARATOR",
        "Field separator of context lines [default: -]",
        |typed, value| {
            typed.field_context_separator = separator(value)?;
            Ok(())
        },
    ),
    Flag::value(
        "field-match-separator",
        "SEPARATOR",
        "Field separator of matching lines [default: :]",
        |typed, value| {
            typed.field_match_separator = separator(value)?;
            Ok(())
        },
    ),
    Flag::value(
        "path-separator",
        "SEPARATOR",
        "Print this byte instead of / in paths",
        |typed, value| {
            let given = text(value)?;
            let bytes = grep_cli::unescape(given);
            typed.path_separator = match bytes[..] {
                [] => None,
                [byte] => Some(byte),
                _ => return Err(too_long(given, bytes.len())),
            };
            Ok(())
        },
    ),
    Flag::switch(
        "rank",
        "Print the most useful files first: by whether they define the match, by name, and by age",
        |typed, yes| {
            typed.rank = yes;
            Ok(())
        },
    )
    .negation("no-rank"),
    Flag::value(
        "budget",
        "BYTES",
        "Print the best lines of the best files within this many bytes, the total, and how to get the \
         rest: 4000, 10K",
        |typed, value| {
            typed.budget = Some(memory(value)?);
            Ok(())
        },
    ),
    Flag::value(
        "skip",
        "NUM",
        "With --budget, skip this many of the best files",
        |typed, value| {
            typed.skip = number(value)?;
            Ok(())
        },
    ),
    Flag::value(
        "skip-lines",
        "NUM",
        "With --budget, skip this many of the best lines of the first file",
        |typed, value| {
            typed.skip_lines = number(value)?;
            Ok(())
        },
    ),
    Flag::value(
        "sort",
        "SORTBY",
        "Sort the files; uses a single thread",
        |typed, value| {
            typed.sort = sort(value, false)?;
            Ok(())
        },
    )
    .choices(SORT_KEYS),
    Flag::value(
        "sortr",
        "SORTBY",
        "Sort the files in reverse; uses a single thread",
        |typed, value| {
            typed.sort = sort(value, true)?;
            Ok(())
        },
    )
    .choices(SORT_KEYS),
    Flag::switch("sort-files", "The old name of --sort=path", |typed, yes| {
        typed.sort = yes.then_some(Sort {
            key: SortKey::Path,
            reverse: false,
        });
        Ok(())
    })
    .negation("no-sort-files"),
    Flag::switch("line-buffered", "Write each line at once", |typed, yes| {
        typed.buffering = if yes {
            Buffering::Line
        } else {
            Buffering::Auto
        };
        Ok(())
    })
    .negation("no-line-buffered"),
    Flag::switch(
        "block-buffered",
        "Write output in large blocks",
        |typed, yes| {
            typed.buffering = if yes {
                Buffering::Block
            } else {
                Buffering::Auto
            };
            Ok(())
        },
    )
    .negation("no-block-buffered"),
    Flag::switch(
        "stats",
        "Print statistics about the search at the end",
        |typed, yes| {
            typed.stats = yes;
            Ok(())
        },
    )
    .negation("no-stats"),
    Flag::switch(
        "explain",
        "Print at the end how many files the index excluded, how many were scanned, and why",
        |typed, yes| {
            typed.explain = yes;
            Ok(())
        },
    )
    .negation("no-explain"),
    Flag::switch(
        "no-messages",
        "Do not report files that cannot be read",
        |typed, yes| {
            typed.no_messages = yes;
            Ok(())
        },
    )
    .negation("messages"),
    Flag::switch(
        "no-ignore-messages",
        "Do not report mistakes in ignore files",
        |typed, yes| {
            typed.no_ignore_messages = yes;
            Ok(())
        },
    )
    .negation("ignore-messages"),
    Flag::switch(
        "debug",
        "Print what ken does, such as why it skips a file",
        |typed, _| {
            typed.logging = Some(Logging::Debug);
            Ok(())
        },
    ),
    Flag::switch("trace", "Print more than --debug", |typed, _| {
        typed.logging = Some(Logging::Trace);
        Ok(())
    }),
    Flag::switch(
        "no-config",
        "Do not read the file that KEN_GREP_CONFIG_PATH names (RIPGREP_CONFIG_PATH for rg)",
        |typed, _| {
            typed.no_config = true;
            Ok(())
        },
    ),
    Flag::value(
        "data",
        "DIR",
        "Folder that holds the index [default: $XDG_DATA_HOME/ken]",
        |typed, value| {
            typed.data = Some(path(value)?);
            Ok(())
        },
    ),
    Flag::value(
        "config",
        "FILE",
        "ken's configuration file [default: $XDG_CONFIG_HOME/ken/config.toml]",
        |typed, value| {
            typed.config = Some(path(value)?);
            Ok(())
        },
    ),
    Flag::value(
        "set",
        "KEY=VALUE",
        "Set one setting, as in the configuration file",
        |typed, value| {
            typed.set.push(text(value)?.to_owned());
            Ok(())
        },
    ),
    Flag::value(
        "hyperlinks",
        "WHEN",
        "When to print paths as links; always is the same as --hyperlink-format=file",
        |typed, value| {
            typed.clickable = Some(match text(value)? {
                "auto" => When::Auto,
                "always" => When::Always,
                "never" => When::Never,
                other => return unknown_choice(other),
            });
            Ok(())
        },
    )
    .choices(&["auto", "always", "never"]),
    Flag::value(
        "generate",
        "KIND",
        "Write the man page or completions of rg to standard output",
        |typed, value| {
            typed.action = Action::Generate(match text(value)? {
                "man" => Generated::Man,
                "complete-bash" => Generated::Completions(Shell::Bash),
                "complete-zsh" => Generated::Completions(Shell::Zsh),
                "complete-fish" => Generated::Completions(Shell::Fish),
                "complete-powershell" => Generated::Completions(Shell::PowerShell),
                other => return unknown_choice(other),
            });
            Ok(())
        },
    )
    .choices(&[
        "man",
        "complete-bash",
        "complete-zsh",
        "complete-fish",
        "complete-powershell",
    ]),
    Flag::switch("pcre2-version", "Print the version of PCRE2", |typed, _| {
        typed.action = Action::Pcre2Version;
        Ok(())
    }),
];

fn too_long(separator: &str, length: usize) -> String {
    format!(
        "A path separator must be exactly one byte, but the given separator is {length} bytes: \
         {separator}\nIn some shells on Windows '/' is automatically expanded. Use '//' instead."
    )
}

fn sort(value: Option<&OsStr>, reverse: bool) -> Result<Option<Sort>, String> {
    let key = match text(value)? {
        "none" => return Ok(None),
        "path" => SortKey::Path,
        "modified" => SortKey::Modified,
        "accessed" => SortKey::Accessed,
        "created" => SortKey::Created,
        other => return unknown_choice(other),
    };
    Ok(Some(Sort { key, reverse }))
}

//! Flags for the meaning of patterns and the way of searching files.

use encoding_rs::Encoding;
use ken_grep::pattern::{Boundary, Case, Engine, LineEnd};
use ken_grep::worker::{Binary, TextEncoding};

use super::Flag;
use super::values::{memory, number, text, unknown_choice};

pub(super) const FLAGS: &[Flag] = &[
    Flag::switch(
        "case-sensitive",
        "Search case-sensitively (the default)",
        |typed, _| {
            typed.case = Case::Sensitive;
            Ok(())
        },
    )
    .short('s'),
    Flag::switch(
        "ignore-case",
        "Search case-insensitively",
        |typed, _| {
            typed.case = Case::Insensitive;
            Ok(())
        },
    )
    .short('i'),
    Flag::switch(
        "smart-case",
        "Search case-insensitively if the pattern has no capital letter",
        |typed, _| {
            typed.case = Case::Smart;
            Ok(())
        },
    )
    .short('S'),
    Flag::switch("fixed-strings", "Patterns are plain text", |typed, yes| {
        typed.fixed_strings = yes;
        Ok(())
    })
    .short('F')
    .negation("no-fixed-strings"),
    Flag::switch("word-regexp", "Match whole words only", |typed, _| {
        typed.boundary = Some(Boundary::Word);
        Ok(())
    })
    .short('w'),
    Flag::switch("line-regexp", "Match whole lines only", |typed, _| {
        typed.boundary = Some(Boundary::Line);
        Ok(())
    })
    .short('x'),
    Flag::switch(
        "invert-match",
        "Print lines that do not match",
        |typed, yes| {
            typed.invert = yes;
            Ok(())
        },
    )
    .short('v')
    .negation("no-invert-match"),
    Flag::value(
        "and",
        "PATTERN",
        "Keep only lines that this pattern matches too; can be repeated",
        |typed, value| {
            typed.all_of.push(text(value)?.to_owned());
            Ok(())
        },
    ),
    Flag::value(
        "not",
        "PATTERN",
        "Keep only lines that this pattern does not match; can be repeated",
        |typed, value| {
            typed.none_of.push(text(value)?.to_owned());
            Ok(())
        },
    ),
    Flag::value(
        "near",
        "NUM",
        "Let the patterns of --and match within this many lines",
        |typed, value| {
            typed.near = Some(number(value)?);
            Ok(())
        },
    ),
    Flag::value(
        "scope",
        "SCOPE",
        "Where the patterns of --and must match and those of --not must not: in the line, or anywhere in \
         the file",
        |typed, value| {
            typed.whole_file_scope = match text(value)? {
                "line" => false,
                "file" => true,
                other => return unknown_choice(other),
            };
            Ok(())
        },
    )
    .choices(&["line", "file"]),
    Flag::value(
        "max-count",
        "NUM",
        "Stop after this many matching lines per file",
        |typed, value| {
            typed.max_count = Some(number(value)?);
            Ok(())
        },
    )
    .short('m'),
    Flag::switch("multiline", "Let matches span lines", |typed, yes| {
        typed.multiline = yes;
        typed.stop_on_nonmatch &= !yes;
        Ok(())
    })
    .short('U')
    .negation("no-multiline"),
    Flag::switch(
        "multiline-dotall",
        "With -U, let . match line terminators too",
        |typed, yes| {
            typed.multiline_dotall = yes;
            Ok(())
        },
    )
    .negation("no-multiline-dotall"),
    Flag::switch(
        "pcre2",
        "Use PCRE2, which supports look-around and backreferences",
        |typed, yes| {
            typed.engine = if yes { Engine::Pcre2 } else { Engine::Usual };
            Ok(())
        },
    )
    .short('P')
    .negation("no-pcre2"),
    Flag::value(
        "engine",
        "ENGINE",
        "Regex engine; auto uses PCRE2 for patterns that the default engine refuses. Without this flag, \
         patterns with look-around or backreferences use PCRE2",
        |typed, value| {
            typed.engine = match text(value)? {
                "default" => Engine::Regex,
                "pcre2" => Engine::Pcre2,
                "auto" => Engine::Auto,
                other => return Err(format!("unrecognized regex engine '{other}'")),
            };
            Ok(())
        },
    )
    .choices(&["default", "pcre2", "auto"]),
    Flag::switch(
        "auto-hybrid-regex",
        "The old name of --engine=auto",
        |typed, yes| {
            typed.engine = if yes { Engine::Auto } else { Engine::Usual };
            Ok(())
        },
    )
    .negation("no-auto-hybrid-regex"),
    Flag::switch(
        "no-unicode",
        "Make character classes and case ASCII-only",
        |typed, yes| {
            typed.unicode = !yes;
            Ok(())
        },
    )
    .negation("unicode"),
    Flag::switch(
        "no-pcre2-unicode",
        "The old name of --no-unicode",
        |typed, yes| {
            typed.unicode = !yes;
            Ok(())
        },
    )
    .negation("pcre2-unicode"),
    Flag::switch(
        "crlf",
        "Treat CRLF as a line terminator",
        |typed, yes| {
            typed.line_end = match (yes, typed.line_end) {
                (true, _) => LineEnd::CrLf,
                (false, LineEnd::CrLf) => LineEnd::Lf,
                (false, other) => other,
            };
            Ok(())
        },
    )
    .negation("no-crlf"),
    Flag::switch(
        "null-data",
        "Use NUL as the line terminator instead of a line feed",
        |typed, _| {
            typed.line_end = LineEnd::Nul;
            Ok(())
        },
    ),
    Flag::switch(
        "text",
        "Search binary files as if they were text",
        |typed, yes| {
            typed.binary = if yes { Binary::Text } else { Binary::Usual };
            Ok(())
        },
    )
    .short('a')
    .negation("no-text"),
    Flag::value(
        "encoding",
        "ENCODING",
        "Encoding of the files; auto goes by the byte order mark, none searches the raw bytes",
        |typed, value| {
            typed.encoding = match value.map(|_| text(value)).transpose()? {
                None | Some("auto") => TextEncoding::Auto,
                Some("none") => TextEncoding::Raw,
                Some(label) => {
                    // The searcher has its own message for the mistake.
                    grep_searcher::Encoding::new(label).map_err(|error| error.to_string())?;
                    Encoding::for_label(label.as_bytes())
                        .map_or(TextEncoding::Auto, TextEncoding::From)
                }
            };
            Ok(())
        },
    )
    .short('E')
    .negation("no-encoding"),
    Flag::switch(
        "stop-on-nonmatch",
        "Stop at the first line that does not match after one that does",
        |typed, _| {
            typed.stop_on_nonmatch = true;
            typed.multiline = false;
            Ok(())
        },
    ),
    Flag::value(
        "threads",
        "NUM",
        "Number of threads that search; 0 means one per core",
        |typed, value| {
            typed.threads = Some(number(value)?).filter(|&threads| threads > 0);
            Ok(())
        },
    )
    .short('j'),
    Flag::switch(
        "mmap",
        "Read files of up to 64 MiB whole before searching them (the default for a few named files); \
         ken never maps files into memory",
        |typed, yes| {
            typed.whole_files = Some(yes);
            Ok(())
        },
    )
    .negation("no-mmap"),
    Flag::value(
        "dfa-size-limit",
        "NUM+SUFFIX?",
        "Upper limit for the regex engine's cache: 500, 10K, 2M, 1G",
        |typed, value| {
            typed.dfa_size_limit = Some(memory(value)?);
            Ok(())
        },
    ),
    Flag::value(
        "regex-size-limit",
        "NUM+SUFFIX?",
        "Upper limit for the size of a compiled pattern: 500, 10K, 2M, 1G",
        |typed, value| {
            typed.regex_size_limit = Some(memory(value)?);
            Ok(())
        },
    ),
    Flag::switch(
        "no-index",
        "Scan every file, even where the index rules it out",
        |typed, yes| {
            typed.no_index = yes;
            Ok(())
        },
    )
    .negation("index"),
    Flag::switch(
        "trust-index",
        "Trust the index without checking whether files changed since the last ken index",
        |typed, yes| {
            typed.trust_index = yes;
            Ok(())
        },
    )
    .negation("no-trust-index"),
    Flag::switch(
        "documents",
        "Search the indexed text of PDFs, office files, mail and members of archives; lines are printed \
         as path|member:page:line:text",
        |typed, yes| {
            typed.documents = yes;
            Ok(())
        },
    )
    .negation("no-documents"),
];

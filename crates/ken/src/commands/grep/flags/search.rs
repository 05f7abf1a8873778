//! Flags of what a pattern means and how files are searched.

use encoding_rs::Encoding;
use ken_grep::pattern::{Boundary, Case, Engine, LineEnd};
use ken_grep::worker::{Binary, TextEncoding};

use super::Flag;
use super::values::{memory, number, text, unknown_choice};

pub(super) const FLAGS: &[Flag] = &[
    Flag::switch(
        "case-sensitive",
        "Capital letters are different from small ones (the default)",
        |typed, _| {
            typed.case = Case::Sensitive;
            Ok(())
        },
    )
    .short('s'),
    Flag::switch(
        "ignore-case",
        "Capital letters are the same as small ones",
        |typed, _| {
            typed.case = Case::Insensitive;
            Ok(())
        },
    )
    .short('i'),
    Flag::switch(
        "smart-case",
        "As -i if the pattern has no capital letter",
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
        "Of the lines that match, take those that this pattern matches too; may come several times",
        |typed, value| {
            typed.all_of.push(text(value)?.to_owned());
            Ok(())
        },
    ),
    Flag::value(
        "not",
        "PATTERN",
        "Of the lines that match, take those that this pattern does not match; may come several times",
        |typed, value| {
            typed.none_of.push(text(value)?.to_owned());
            Ok(())
        },
    ),
    Flag::value(
        "near",
        "NUM",
        "Let patterns of --and match in lines that are this far away too",
        |typed, value| {
            typed.near = Some(number(value)?);
            Ok(())
        },
    ),
    Flag::value(
        "scope",
        "SCOPE",
        "Where patterns of --and must match, and those of --not must not: in the line or anywhere in \
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
        "Stop after this many lines of a file",
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
        "With -U, let the dot match the end of a line",
        |typed, yes| {
            typed.multiline_dotall = yes;
            Ok(())
        },
    )
    .negation("no-multiline-dotall"),
    Flag::switch(
        "pcre2",
        "Use PCRE2, which has look-around and back-references",
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
        "default: without PCRE2; auto: PCRE2 for what the default refuses; unless this is given, \
         look-around and back-references take PCRE2 by themselves",
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
        "Classes and case know ASCII only",
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
        "A carriage return before a line feed belongs to the line end",
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
        "Lines end with a NUL byte, not with a line feed",
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
        "Files are in this encoding; auto: by their byte order mark, none: search the bytes as \
         they are",
        |typed, value| {
            typed.encoding = match value.map(|_| text(value)).transpose()? {
                None | Some("auto") => TextEncoding::Auto,
                Some("none") => TextEncoding::Raw,
                Some(label) => {
                    // The searcher knows what is wrong in its own words.
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
        "Threads that search; 0: one for each core",
        |typed, value| {
            typed.threads = Some(number(value)?).filter(|&threads| threads > 0);
            Ok(())
        },
    )
    .short('j'),
    Flag::switch(
        "mmap",
        "Read files of up to 64 MiB as a whole before they are searched (the default for few files \
         by name); nothing is mapped into memory",
        |typed, yes| {
            typed.whole_files = Some(yes);
            Ok(())
        },
    )
    .negation("no-mmap"),
    Flag::value(
        "dfa-size-limit",
        "NUM+SUFFIX?",
        "Most memory of the cache of an automaton: 500, 10K, 2M, 1G",
        |typed, value| {
            typed.dfa_size_limit = Some(memory(value)?);
            Ok(())
        },
    ),
    Flag::value(
        "regex-size-limit",
        "NUM+SUFFIX?",
        "Most memory of a compiled pattern: 500, 10K, 2M, 1G",
        |typed, value| {
            typed.regex_size_limit = Some(memory(value)?);
            Ok(())
        },
    ),
    Flag::switch(
        "no-index",
        "Scan every file, also where an index could say that it cannot match",
        |typed, yes| {
            typed.no_index = yes;
            Ok(())
        },
    )
    .negation("index"),
    Flag::switch(
        "trust-index",
        "Do not check whether files have changed since they were indexed: for those who run ken \
         watch",
        |typed, yes| {
            typed.trust_index = yes;
            Ok(())
        },
    )
    .negation("no-trust-index"),
    Flag::switch(
        "documents",
        "Search the text that the index holds of PDFs, office files, mail, members of archives and all \
         else below the paths: path|way inside:page:line:text",
        |typed, yes| {
            typed.documents = yes;
            Ok(())
        },
    )
    .negation("no-documents"),
];

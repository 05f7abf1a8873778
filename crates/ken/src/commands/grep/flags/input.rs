//! Flags for the sources of patterns and texts.

use super::Flag;
use super::values::{optional_path, path, text};
use crate::commands::grep::typed::PatternSource;

pub(super) const FLAGS: &[Flag] = &[
    Flag::value(
        "regexp",
        "PATTERN",
        "Pattern to search for; can be repeated, and one of the patterns must match",
        |typed, value| {
            let pattern = text(value)?.to_owned();
            typed.patterns.push(PatternSource::Given(pattern));
            Ok(())
        },
    )
    .short('e'),
    Flag::value(
        "file",
        "PATTERNFILE",
        "Search for the patterns in this file, one per line; - is standard input",
        |typed, value| {
            typed.patterns.push(PatternSource::File(path(value)?));
            Ok(())
        },
    )
    .short('f'),
    Flag::value(
        "pre",
        "COMMAND",
        "Search the output of this command, which gets the path and the content of each file",
        |typed, value| {
            typed.preprocessor = optional_path(value);
            if typed.preprocessor.is_some() {
                typed.search_zip = false;
            }
            Ok(())
        },
    )
    .negation("no-pre"),
    Flag::value(
        "pre-glob",
        "GLOB",
        "Use the command of --pre only for files that match this glob",
        |typed, value| {
            typed.preprocessor_globs.push(text(value)?.to_owned());
            Ok(())
        },
    ),
    Flag::switch(
        "search-zip",
        "Also search inside files compressed with gzip, bzip2, xz, LZ4, LZMA, Brotli or Zstandard",
        |typed, yes| {
            typed.search_zip = yes;
            if yes {
                typed.preprocessor = None;
            }
            Ok(())
        },
    )
    .short('z')
    .negation("no-search-zip"),
];

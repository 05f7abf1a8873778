//! Flags of where patterns and texts come from.

use super::Flag;
use super::values::{optional_path, path, text};
use crate::commands::grep::typed::PatternSource;

pub(super) const FLAGS: &[Flag] = &[
    Flag::value(
        "regexp",
        "PATTERN",
        "Search for this; may come several times, and one of the patterns must match",
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
        "Search for the patterns in this file, one on each line; - is standard input",
        |typed, value| {
            typed.patterns.push(PatternSource::File(path(value)?));
            Ok(())
        },
    )
    .short('f'),
    Flag::value(
        "pre",
        "COMMAND",
        "Search what this program prints when it gets the path of a file and the file itself",
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
        "Use the program of --pre only for files that match this",
        |typed, value| {
            typed.preprocessor_globs.push(text(value)?.to_owned());
            Ok(())
        },
    ),
    Flag::switch(
        "search-zip",
        "Search in files compressed by gzip, bzip2, xz, LZ4, LZMA, Brotli and Zstandard too",
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

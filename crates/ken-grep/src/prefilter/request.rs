//! What a search asks of an index, and the reasons why the index cannot answer.

use std::fmt;

use ken_ngram::Need;

use super::need;
use super::trust::Trust;
use crate::conditions::Conditions;
use crate::format::{Format, Mode};
use crate::pattern::{LineEnd, Matcher, PatternOptions};
use crate::pieces::Around;
use crate::walk::WalkOptions;
use crate::worker::{Binary, Context, SearchOptions, TextEncoding};

/// A search, as far as it concerns the index.
pub struct Request<'a> {
    /// The patterns.
    pub pattern: &'a PatternOptions,
    /// The matcher built from them.
    pub matcher: &'a Matcher,
    /// How files are read.
    pub options: &'a SearchOptions,
    /// Further conditions for a match.
    pub conditions: &'a Conditions,
    /// What is printed.
    pub format: &'a Format,
    /// Which files are searched.
    pub walk: &'a WalkOptions,
    /// Whether the index is believed without a look at the files.
    pub trust: Trust,
}

/// Why an index rules out no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The index was not to be used.
    NotAsked,
    /// There is no index.
    NoIndex,
    /// The index cannot be read.
    Unreadable,
    /// The n-grams are damaged.
    Damaged,
    /// The index has no n-grams.
    NoNgrams,
    /// Files without a match are printed or counted too.
    AllFiles,
    /// The searched bytes are not those of the files.
    OtherBytes,
    /// The index does not support the engine.
    OtherEngine,
    /// No part that every match contains is long or rare enough.
    Everything,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotAsked => "the index was not to be asked",
            Self::NoIndex => "there is no index",
            Self::Unreadable => "the index cannot be read",
            Self::Damaged => "the n-grams of the index are damaged",
            Self::NoNgrams => "the index was made without n-grams",
            Self::AllFiles => "files without a match count too",
            Self::OtherBytes => "other bytes are searched than those of the files",
            Self::OtherEngine => "patterns of PCRE2 are not looked into",
            Self::Everything => "what every match holds is too short or too frequent",
        })
    }
}

impl Request<'_> {
    /// Returns what a file needs for a match. If every match holds non-ASCII characters, ASCII
    /// files need no search.
    ///
    /// # Errors
    /// Fails with the reason if the index cannot rule out any file.
    pub fn need(&self) -> Result<Need, Why> {
        let (options, format) = (self.options, self.format);
        let all_files = options.invert
            || options.context == Context::All
            || format.stats
            || format.mode == Mode::FilesWithoutMatch
            || (format.include_zero && matches!(format.mode, Mode::Count | Mode::CountMatches));
        if all_files {
            return Err(Why::AllFiles);
        }
        let is_usual = matches!(options.encoding, TextEncoding::Auto);
        if !is_usual || options.preprocessor.is_some() || options.decompress.is_some() {
            return Err(Why::OtherBytes);
        }
        if !matches!(self.matcher, Matcher::Regex(_)) {
            return Err(Why::OtherEngine);
        }
        match need::of(self.pattern) {
            Need::Anything => Err(Why::Everything),
            need => Ok(need),
        }
    }

    /// Returns the number of context lines around a match, if matches are within a line, and the
    /// output needs only such lines and their numbers.
    pub(super) fn by_pieces(&self) -> Option<Around> {
        let (options, format) = (self.options, self.format);
        let other = self.conditions.need_whole_file()
            || options.whole_files
            || options.multiline
            || options.line_end == LineEnd::Nul
            || format.byte_offset
            || format.mode == Mode::Json;
        match options.context {
            Context::Lines(before, after) if !other => Some((before, after)),
            _ => None,
        }
    }

    /// Returns whether the search may extend beyond a NUL.
    pub(super) fn needs_whole(&self) -> bool {
        let options = self.options;
        self.conditions.need_whole_file()
            || options.whole_files
            || options.multiline
            || options.binary != Binary::Usual
            || options.line_end == LineEnd::Nul
    }
}

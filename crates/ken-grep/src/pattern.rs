//! Builds a matcher from the patterns that were typed: ripgrep's two engines under one type.
//!
//! The default engine is `regex`, which is linear in its input. Look-around and back-references
//! need PCRE2, which is used on request, or when the pattern has one of these.

use grep_matcher::{LineTerminator, Matcher as Find};
#[cfg(feature = "pcre2")]
use grep_pcre2 as pcre2;
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use regex_syntax::ast::ErrorKind as Cause;
use regex_syntax::ast::parse::ParserBuilder;

/// The regular expression engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// `regex`; PCRE2 if the pattern has look-around or back-references.
    #[default]
    Usual,
    /// Only `regex`.
    Regex,
    /// PCRE2.
    Pcre2,
    /// `regex`; PCRE2 for every pattern that `regex` refuses.
    Auto,
}

/// How upper and lower case are matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// Case-sensitively.
    #[default]
    Sensitive,
    /// Case-insensitively.
    Insensitive,
    /// Case-insensitively if the pattern has no capital letter.
    Smart,
}

/// What a match must span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// Whole words.
    Word,
    /// The whole line.
    Line,
}

/// The terminator of lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineEnd {
    /// A line feed.
    #[default]
    Lf,
    /// A line feed, with or without a carriage return before it.
    CrLf,
    /// A NUL byte.
    Nul,
}

impl LineEnd {
    /// Returns the line end as the searcher's type.
    pub fn terminator(self) -> LineTerminator {
        match self {
            Self::Lf => LineTerminator::byte(b'\n'),
            Self::CrLf => LineTerminator::crlf(),
            Self::Nul => LineTerminator::byte(0),
        }
    }
}

/// The patterns, one of which must match, with their options.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is one flag of the command line
pub struct PatternOptions {
    /// The patterns.
    pub patterns: Vec<String>,
    /// The engine for the patterns.
    pub engine: Engine,
    /// How upper and lower case are matched.
    pub case: Case,
    /// What a match must span.
    pub boundary: Option<Boundary>,
    /// Whether the patterns are plain text.
    pub fixed_strings: bool,
    /// Whether classes and case follow Unicode.
    pub unicode: bool,
    /// Whether a match may span lines.
    pub multiline: bool,
    /// Whether the dot also matches the end of a line, if a match may span lines.
    pub dotall: bool,
    /// The terminator of lines.
    pub line_end: LineEnd,
    /// Whether a NUL byte marks a file as binary, so that no pattern can match one.
    pub nul_is_binary: bool,
    /// Maximum size of a compiled expression, in bytes.
    pub size_limit: Option<usize>,
    /// Maximum size of the cache of a lazy automaton, in bytes.
    pub dfa_size_limit: Option<usize>,
}

impl Default for PatternOptions {
    fn default() -> Self {
        Self {
            patterns: Vec::new(),
            engine: Engine::default(),
            case: Case::default(),
            boundary: None,
            fixed_strings: false,
            unicode: true,
            multiline: false,
            dotall: false,
            line_end: LineEnd::default(),
            nul_is_binary: true,
            size_limit: None,
            dfa_size_limit: None,
        }
    }
}

/// Why a pattern cannot be used, in a message for the user.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct PatternError(String);

impl PatternOptions {
    /// Builds the matcher.
    pub fn build(&self) -> Result<Matcher, PatternError> {
        match self.engine {
            Engine::Pcre2 => self.pcre2(),
            Engine::Regex => self.regex().map_err(|error| self.advise(&error)),
            Engine::Usual => self.regex().or_else(|error| match self.needs_pcre2() {
                true => self.pcre2(),
                false => Err(self.advise(&error)),
            }),
            Engine::Auto => self.regex().or_else(|error| {
                self.pcre2()
                    .map_err(|second| PatternError(both(&error.to_string(), &second.0)))
            }),
        }
    }

    fn regex(&self) -> Result<Matcher, grep_regex::Error> {
        let mut builder = RegexMatcherBuilder::new();
        builder
            .multi_line(true)
            .unicode(self.unicode)
            .octal(false)
            .fixed_strings(self.fixed_strings)
            .case_insensitive(self.case == Case::Insensitive)
            .case_smart(self.case == Case::Smart)
            .word(self.boundary == Some(Boundary::Word))
            .whole_line(self.boundary == Some(Boundary::Line))
            .ban_byte(self.nul_is_binary.then_some(0));
        if self.multiline {
            builder.dot_matches_new_line(self.dotall);
            if self.line_end == LineEnd::CrLf {
                builder.crlf(true).line_terminator(None);
            }
        } else {
            builder.line_terminator(Some(b'\n'));
            match self.line_end {
                LineEnd::Lf => {}
                LineEnd::CrLf => _ = builder.crlf(true),
                LineEnd::Nul => _ = builder.line_terminator(Some(0)),
            }
        }
        if let Some(limit) = self.size_limit {
            builder.size_limit(limit);
        }
        if let Some(limit) = self.dfa_size_limit {
            builder.dfa_size_limit(limit);
        }
        let matcher = builder.build_many(&self.patterns);
        matcher.map(Matcher::Regex)
    }

    /// Returns whether the first pattern that is refused has look-around or a back-reference.
    fn needs_pcre2(&self) -> bool {
        let mut patterns = self.patterns.iter().filter(|_| !self.fixed_strings);
        let refused =
            patterns.find_map(|pattern| ParserBuilder::new().build().parse(pattern).err());
        refused.is_some_and(|error| {
            matches!(
                error.kind(),
                Cause::UnsupportedLookAround | Cause::UnsupportedBackreference
            )
        })
    }

    /// Returns the message for an error, with advice where there is any.
    fn advise(&self, error: &grep_regex::Error) -> PatternError {
        let advice = match error.kind() {
            ErrorKind::NotAllowed(_) => {
                "Consider enabling multiline mode with the --multiline flag (or -U for short).\n\
                 When multiline mode is enabled, new line characters can be matched."
            }
            ErrorKind::Banned(0) => {
                "Consider enabling text mode with the --text flag (or -a for short). Otherwise,\n\
                 binary detection is enabled and matching a NUL byte is impossible."
            }
            _ if self.needs_pcre2() => {
                "Consider enabling PCRE2 with the --pcre2 flag, which can handle backreferences\n\
                 and look-around."
            }
            _ => return PatternError(error.to_string()),
        };
        PatternError(format!("{error}\n\n{advice}"))
    }

    #[cfg(feature = "pcre2")]
    fn pcre2(&self) -> Result<Matcher, PatternError> {
        /// Maximum stack; the engine refuses deeper patterns with a message.
        const STACK: usize = 10 << 20;
        let mut builder = pcre2::RegexMatcherBuilder::new();
        builder
            .multi_line(true)
            .fixed_strings(self.fixed_strings)
            .caseless(self.case == Case::Insensitive)
            .case_smart(self.case == Case::Smart)
            .word(self.boundary == Some(Boundary::Word))
            .whole_line(self.boundary == Some(Boundary::Line))
            .jit_if_available(true)
            .max_jit_stack_size(Some(STACK))
            .utf(self.unicode)
            .ucp(self.unicode)
            .crlf(self.line_end == LineEnd::CrLf)
            .dotall(self.multiline && self.dotall);
        let matcher = builder.build_many(&self.patterns);
        matcher
            .map(Matcher::Pcre2)
            .map_err(|error| PatternError(error.to_string()))
    }

    #[cfg(not(feature = "pcre2"))]
    fn pcre2(&self) -> Result<Matcher, PatternError> {
        let message = "this ken was built without PCRE2, which -P, look-around and \
                       back-references need";
        Err(PatternError(message.to_owned()))
    }
}

/// Returns the version of PCRE2, if it is linked in.
pub fn pcre2_version() -> Option<(u32, u32)> {
    #[cfg(feature = "pcre2")]
    return Some(pcre2::version());
    #[cfg(not(feature = "pcre2"))]
    None
}

/// Returns whether PCRE2's just-in-time compiler works on this machine.
pub fn pcre2_jit() -> bool {
    #[cfg(feature = "pcre2")]
    return pcre2::is_jit_available();
    #[cfg(not(feature = "pcre2"))]
    false
}

fn both(regex: &str, pcre2: &str) -> String {
    let line = "~".repeat(79);
    format!(
        "regex could not be compiled with either the default regex engine or with PCRE2.\n\n\
         default regex engine error:\n{line}\n{regex}\n{line}\n\nPCRE2 regex engine error:\n{pcre2}"
    )
}

/// A matcher of either engine.
#[derive(Clone, Debug)]
pub enum Matcher {
    /// Of `regex`.
    Regex(RegexMatcher),
    /// Of PCRE2.
    #[cfg(feature = "pcre2")]
    Pcre2(pcre2::RegexMatcher),
}

impl Matcher {
    /// Returns whether a line matches.
    pub(crate) fn is_match(&self, line: &[u8]) -> Result<bool, String> {
        match self {
            Self::Regex(matcher) => Find::is_match(matcher, line).map_err(|e| e.to_string()),
            #[cfg(feature = "pcre2")]
            Self::Pcre2(matcher) => Find::is_match(matcher, line).map_err(|e| e.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(pattern: &str) -> PatternOptions {
        PatternOptions {
            patterns: vec![pattern.to_owned()],
            ..PatternOptions::default()
        }
    }

    #[test]
    fn look_around_takes_the_other_engine_by_itself() {
        let mut options = options(r"(?<=a)b");
        assert_eq!(cfg!(feature = "pcre2"), options.build().is_ok());
        options.engine = Engine::Regex;
        assert!(options.build().unwrap_err().0.contains("--pcre2"));
    }

    #[test]
    fn mistakes_say_what_can_be_done() {
        let error = options("a\\nb").build().unwrap_err().0;
        assert!(error.contains("--multiline"), "{error}");
        let error = options("a\\x00b").build().unwrap_err().0;
        assert!(error.contains("--text"), "{error}");
        assert!(
            options("(")
                .build()
                .unwrap_err()
                .0
                .contains("unclosed group")
        );
    }

    #[test]
    fn either_engine_failing_shows_both_reasons() {
        let mut options = options("(?<=a)(");
        options.engine = Engine::Auto;
        let error = options.build().unwrap_err().0;
        assert!(error.contains("default regex engine error"), "{error}");
    }
}

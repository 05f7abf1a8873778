//! What is printed for a match (lines, counts, file names or JSON), and in which form.

use std::io;
use std::path::Path;

use grep_matcher::Matcher;
use grep_printer::{
    ColorSpecs, HyperlinkConfig, JSON, JSONBuilder, PathPrinter, PathPrinterBuilder, Standard,
    StandardBuilder, Stats, Summary, SummaryBuilder, SummaryKind,
};
use grep_searcher::{Searcher, Sink};
use termcolor::WriteColor;

use crate::rank::{Gauge, Gauged};

/// What is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The lines.
    #[default]
    Lines,
    /// The names of files with a match.
    FilesWithMatches,
    /// The names of files without one.
    FilesWithoutMatch,
    /// The number of matching lines in each file.
    Count,
    /// The number of matches in each file.
    CountMatches,
    /// One JSON object for each file, line and end of file.
    Json,
}

/// What is printed for a match, and in which form.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is one flag of the command line
pub struct Format {
    /// What is printed.
    pub mode: Mode,
    /// Print nothing; only whether there is a match matters.
    pub quiet: bool,
    /// Collect statistics of the search.
    pub stats: bool,
    /// Print the path.
    pub path: bool,
    /// Print the path once above the lines of the file.
    pub heading: bool,
    /// Print the column.
    pub column: bool,
    /// Print the byte offset.
    pub byte_offset: bool,
    /// Print only the matching text.
    pub only_matching: bool,
    /// Print each match on a separate line.
    pub per_match: bool,
    /// Print this in place of the matching text.
    pub replacement: Option<Vec<u8>>,
    /// Omit longer lines.
    pub max_columns: Option<u64>,
    /// Print the start of omitted lines.
    pub max_columns_preview: bool,
    /// Print lines without leading white space.
    pub trim: bool,
    /// Print counts of 0 too.
    pub include_zero: bool,
    /// Separator between lines of one file that are not adjacent.
    pub context_separator: Option<Vec<u8>>,
    /// Separator between the results of files.
    pub file_separator: Option<Vec<u8>>,
    /// Separator between the fields of a matching line.
    pub field_match_separator: Vec<u8>,
    /// Separator between the fields of a context line.
    pub field_context_separator: Vec<u8>,
    /// Replacement for the slash in paths.
    pub path_separator: Option<u8>,
    /// Byte after the path, in place of the separator or the line end.
    pub path_terminator: Option<u8>,
    /// The colours.
    pub colors: ColorSpecs,
    /// How paths become links.
    pub hyperlinks: HyperlinkConfig,
}

impl Default for Format {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            quiet: false,
            stats: false,
            path: true,
            heading: false,
            column: false,
            byte_offset: false,
            only_matching: false,
            per_match: false,
            replacement: None,
            max_columns: None,
            max_columns_preview: false,
            trim: false,
            include_zero: false,
            context_separator: Some(b"--".to_vec()),
            file_separator: None,
            field_match_separator: b":".to_vec(),
            field_context_separator: b"-".to_vec(),
            path_separator: None,
            path_terminator: None,
            colors: ColorSpecs::default(),
            hyperlinks: HyperlinkConfig::default(),
        }
    }
}

impl Format {
    /// Returns whether the first match decides the result.
    pub fn stops_at_first(&self) -> bool {
        self.quiet && !self.stats
    }

    /// Builds the printer. A caller that writes the results of each file at once adds the separator
    /// between files itself, and disables it here.
    pub(crate) fn printer<W: WriteColor>(&self, writer: W, separate_files: bool) -> Printer<W> {
        let kind = match self.mode {
            Mode::FilesWithoutMatch if self.quiet => SummaryKind::QuietWithoutMatch,
            _ if self.quiet => SummaryKind::QuietWithMatch,
            Mode::FilesWithMatches => SummaryKind::PathWithMatch,
            Mode::FilesWithoutMatch => SummaryKind::PathWithoutMatch,
            Mode::Count => SummaryKind::Count,
            Mode::CountMatches => SummaryKind::CountMatches,
            Mode::Json => return Printer::Json(Box::new(self.json(writer))),
            Mode::Lines => {
                return Printer::Lines(Box::new(self.lines(writer, separate_files)));
            }
        };
        let mut builder = SummaryBuilder::new();
        builder
            .kind(kind)
            .color_specs(self.colors.clone())
            .hyperlink(self.hyperlinks.clone())
            .stats(self.stats)
            .path(self.path)
            .exclude_zero(!self.include_zero)
            .separator_field(b":".to_vec())
            .separator_path(self.path_separator)
            .path_terminator(self.path_terminator);
        Printer::Summary(Box::new(builder.build(writer)))
    }

    /// Builds a printer of paths only.
    pub(crate) fn path_printer<W: WriteColor>(&self, writer: W) -> PathPrinter<W> {
        PathPrinterBuilder::new()
            .color_specs(self.colors.clone())
            .hyperlink(self.hyperlinks.clone())
            .separator(self.path_separator)
            .terminator(self.path_terminator.unwrap_or(b'\n'))
            .build(writer)
    }

    fn json<W: io::Write>(&self, writer: W) -> JSON<W> {
        JSONBuilder::new()
            .replacement(self.replacement.clone())
            .build(writer)
    }

    fn lines<W: WriteColor>(&self, writer: W, separate_files: bool) -> Standard<W> {
        let mut builder = StandardBuilder::new();
        builder
            .color_specs(self.colors.clone())
            .hyperlink(self.hyperlinks.clone())
            .stats(self.stats)
            .heading(self.heading)
            .path(self.path)
            .only_matching(self.only_matching)
            .per_match(self.per_match)
            .per_match_one_line(true)
            .replacement(self.replacement.clone())
            .max_columns(self.max_columns)
            .max_columns_preview(self.max_columns_preview)
            .column(self.column)
            .byte_offset(self.byte_offset)
            .trim_ascii(self.trim)
            .separator_context(self.context_separator.clone())
            .separator_field_match(self.field_match_separator.clone())
            .separator_field_context(self.field_context_separator.clone())
            .separator_path(self.path_separator)
            .path_terminator(self.path_terminator);
        if separate_files {
            builder.separator_search(self.file_separator.clone());
        }
        builder.build(writer)
    }
}

/// The outcome of one file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) matched: bool,
    pub(crate) stats: Option<Stats>,
    /// The ranking of the file, if it is wanted.
    pub(crate) gauged: Option<Gauged>,
}

/// The printers under one type.
#[derive(Clone, Debug)]
pub(crate) enum Printer<W> {
    Lines(Box<Standard<W>>),
    Summary(Box<Summary<W>>),
    Json(Box<JSON<W>>),
    /// Prints nothing: ranks the lines, and keeps this many of the best.
    Gauge(W, usize),
}

impl<W: WriteColor> Printer<W> {
    pub(crate) fn writer(&mut self) -> &mut W {
        match self {
            Self::Lines(printer) => printer.get_mut(),
            Self::Summary(printer) => printer.get_mut(),
            Self::Json(printer) => printer.get_mut(),
            Self::Gauge(writer, _) => writer,
        }
    }

    /// Searches one text and prints the results. `lines` decides which lines match; `shown` finds
    /// the text in them that is marked, counted and replaced.
    pub(crate) fn print<L: Matcher, M: Matcher, S: Source>(
        &mut self,
        searcher: &mut Searcher,
        (lines, shown): (&L, &M),
        path: &Path,
        source: S,
    ) -> io::Result<Outcome> {
        match self {
            Self::Lines(printer) => {
                let mut sink = printer.sink_with_path(shown, path);
                source.search(searcher, lines, &mut sink)?;
                Ok(Outcome {
                    matched: sink.has_match(),
                    stats: sink.stats().cloned(),
                    gauged: None,
                })
            }
            Self::Summary(printer) => {
                let mut sink = printer.sink_with_path(shown, path);
                source.search(searcher, lines, &mut sink)?;
                Ok(Outcome {
                    matched: sink.has_match(),
                    stats: sink.stats().cloned(),
                    gauged: None,
                })
            }
            Self::Json(printer) => {
                let mut sink = printer.sink_with_path(shown, path);
                source.search(searcher, lines, &mut sink)?;
                Ok(Outcome {
                    matched: sink.has_match(),
                    stats: Some(sink.stats().clone()),
                    gauged: None,
                })
            }
            Self::Gauge(_, keep) => {
                let mut gauge = Gauge::new(shown, *keep);
                source.search(searcher, lines, &mut gauge)?;
                let gauged = gauge.gauged();
                Ok(Outcome {
                    matched: gauged.lines > 0,
                    stats: None,
                    gauged: Some(gauged),
                })
            }
        }
    }
}

/// The source of a text.
pub(crate) trait Source {
    fn search<M: Matcher, S: Sink<Error = io::Error>>(
        self,
        searcher: &mut Searcher,
        matcher: M,
        sink: S,
    ) -> io::Result<()>;
}

impl Source for &Path {
    fn search<M: Matcher, S: Sink<Error = io::Error>>(
        self,
        searcher: &mut Searcher,
        matcher: M,
        sink: S,
    ) -> io::Result<()> {
        searcher.search_path(matcher, self, sink)
    }
}

/// A text that is read as a stream.
pub(crate) struct Stream<R>(pub(crate) R);

impl<R: io::Read> Source for Stream<R> {
    fn search<M: Matcher, S: Sink<Error = io::Error>>(
        self,
        searcher: &mut Searcher,
        matcher: M,
        sink: S,
    ) -> io::Result<()> {
        searcher.search_reader(matcher, self.0, sink)
    }
}

impl Source for &[u8] {
    fn search<M: Matcher, S: Sink<Error = io::Error>>(
        self,
        searcher: &mut Searcher,
        matcher: M,
        sink: S,
    ) -> io::Result<()> {
        searcher.search_slice(matcher, self, sink)
    }
}

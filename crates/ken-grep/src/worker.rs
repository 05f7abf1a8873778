//! One thread's search of one file: matcher, searcher and printer put together.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use grep_cli::{CommandReader, CommandReaderBuilder};
use grep_searcher::{BinaryDetection, Encoding, Searcher, SearcherBuilder};
use ignore::overrides::Override;
use termcolor::WriteColor;

use crate::format::{Outcome, Printer, Source, Stream};
use crate::input::Input;
use crate::pattern::{LineEnd, Matcher};

/// Which files count as binary, and what is done with them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Binary {
    /// A NUL byte ends the search of a file, but of one that the user named only the printing.
    #[default]
    Usual,
    /// A NUL byte ends only the printing, in all files.
    Search,
    /// There are no binary files.
    Text,
}

/// How the bytes of a file become text.
#[derive(Clone, Debug, Default)]
pub enum TextEncoding {
    /// By a byte order mark, if there is one.
    #[default]
    Auto,
    /// From this encoding.
    From(Encoding),
    /// Not at all: bytes are searched as they are.
    Raw,
}

/// Lines printed around a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// So many before and after it.
    Lines(usize, usize),
    /// All of them.
    All,
}

impl Default for Context {
    fn default() -> Self {
        Self::Lines(0, 0)
    }
}

/// A program that turns files into the text that is searched.
#[derive(Clone, Debug)]
pub struct Preprocessor {
    /// The program; gets the path as its argument and the file as its input.
    pub command: PathBuf,
    /// The files it is for: all of them if there are no globs.
    pub globs: Override,
}

/// How a file is read.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is one flag of the command line
pub struct SearchOptions {
    /// What ends a line.
    pub line_end: LineEnd,
    /// Lines that do not match are those looked for.
    pub invert: bool,
    /// Count lines.
    pub line_number: bool,
    /// A match may span lines.
    pub multiline: bool,
    /// Lines around a match.
    pub context: Context,
    /// Stop after so many lines.
    pub max_count: Option<u64>,
    /// Stop at the first line that does not match after one that does.
    pub stop_on_nonmatch: bool,
    /// How bytes become text.
    pub encoding: TextEncoding,
    /// What counts as binary.
    pub binary: Binary,
    /// Read a file that is not too large as a whole before it is searched.
    pub whole_files: bool,
    /// A program that turns files into text.
    pub preprocessor: Option<Preprocessor>,
    /// What opens compressed files.
    pub decompress: Option<Decompress>,
}

/// Opens a compressed file as what is in it; none if the file is not compressed.
pub type Decompress = fn(&Path) -> io::Result<Option<Box<dyn io::Read>>>;

impl SearchOptions {
    fn searcher(&self) -> Searcher {
        let mut builder = SearcherBuilder::new();
        builder
            .line_terminator(self.line_end.terminator())
            .invert_match(self.invert)
            .line_number(self.line_number)
            .multi_line(self.multiline)
            .max_matches(self.max_count)
            .stop_on_nonmatch(self.stop_on_nonmatch);
        match self.context {
            Context::All => _ = builder.passthru(true),
            Context::Lines(before, after) => {
                builder.before_context(before).after_context(after);
            }
        }
        match &self.encoding {
            TextEncoding::Auto => {}
            TextEncoding::From(encoding) => _ = builder.encoding(Some(encoding.clone())),
            TextEncoding::Raw => _ = builder.bom_sniffing(false),
        }
        builder.build()
    }

    fn binary_detection(&self, explicit: bool) -> BinaryDetection {
        match self.binary {
            Binary::Text => BinaryDetection::none(),
            Binary::Usual if !explicit => BinaryDetection::quit(0),
            Binary::Usual | Binary::Search => BinaryDetection::convert(0),
        }
    }
}

/// Searches file after file.
#[derive(Clone, Debug)]
pub(crate) struct Worker<'a, W> {
    options: &'a SearchOptions,
    matcher: Matcher,
    searcher: Searcher,
    printer: Printer<W>,
    /// What is in a file, if it is read as a whole.
    content: Vec<u8>,
}

impl<'a, W: WriteColor> Worker<'a, W> {
    pub(crate) fn new(options: &'a SearchOptions, matcher: Matcher, printer: Printer<W>) -> Self {
        Self {
            options,
            matcher,
            searcher: options.searcher(),
            printer,
            content: Vec::new(),
        }
    }

    /// Returns where the results are written.
    pub(crate) fn writer(&mut self) -> &mut W {
        self.printer.writer()
    }

    /// Searches one file and prints what it finds.
    pub(crate) fn search(&mut self, input: &Input) -> io::Result<Outcome> {
        let detection = self.options.binary_detection(input.is_explicit());
        self.searcher.set_binary_detection(detection);
        let path = input.path();
        if input.is_stdin() {
            return self.search_in(path, Stream(io::stdin().lock()));
        }
        let options = self.options;
        if let Some(preprocessor) = &options.preprocessor
            && preprocessor.is_for(path)
        {
            return self.search_preprocessed(path, preprocessor);
        }
        if let Some(decompress) = options.decompress
            && let Some(reader) = decompress(path)?
        {
            return self.search_in(path, Stream(reader));
        }
        if options.whole_files && self.read_whole(path)? {
            let content = std::mem::take(&mut self.content);
            let found = self.search_in(path, &content[..]);
            self.content = content;
            return found;
        }
        self.search_in(path, path)
    }

    /// Reads a file as a whole, unless it is none or too large.
    fn read_whole(&mut self, path: &Path) -> io::Result<bool> {
        let mut file = open(path)?;
        let metadata = file.metadata()?;
        let fits = (1..=MAX_WHOLE_BYTES).contains(&metadata.len());
        if !metadata.is_file() || !fits {
            return Ok(false);
        }
        self.content.clear();
        file.read_to_end(&mut self.content)?;
        Ok(true)
    }

    fn search_preprocessed(
        &mut self,
        path: &Path,
        preprocessor: &Preprocessor,
    ) -> io::Result<Outcome> {
        let mut command = preprocessor.command_for(path)?;
        let mut reader = start(&mut command)?;
        let found = self.search_in(path, Stream(&mut reader));
        // The reason why the program failed says more than that its output ended early.
        let closed = reader.close();
        let found = found.map_err(|error| {
            io::Error::other(format!(
                "preprocessor command failed: '{command:?}': {error}"
            ))
        });
        found.and_then(|outcome| closed.map(|()| outcome))
    }

    fn search_in<S: Source>(&mut self, path: &Path, source: S) -> io::Result<Outcome> {
        let (searcher, printer) = (&mut self.searcher, &mut self.printer);
        match &self.matcher {
            Matcher::Regex(matcher) => printer.print(searcher, (matcher, matcher), path, source),
            #[cfg(feature = "pcre2")]
            Matcher::Pcre2(matcher) => printer.print(searcher, (matcher, matcher), path, source),
        }
    }
}

impl Preprocessor {
    fn is_for(&self, path: &Path) -> bool {
        self.globs.is_empty() || !self.globs.matched(path, false).is_ignore()
    }

    fn command_for(&self, path: &Path) -> io::Result<Command> {
        let mut command = Command::new(&self.command);
        command.arg(path).stdin(Stdio::from(open(path)?));
        Ok(command)
    }
}

/// Larger files are never read as a whole, unless matches span lines.
const MAX_WHOLE_BYTES: u64 = 64 << 20;

#[allow(clippy::disallowed_methods)] // whoever reports the error names the path
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

fn start(command: &mut Command) -> io::Result<CommandReader> {
    let reader = CommandReaderBuilder::new()
        .async_stderr(true)
        .build(command);
    reader.map_err(|error| {
        let message = format!("preprocessor command could not start: '{command:?}': {error}");
        io::Error::other(message)
    })
}

//! One thread's search of one file: combines matcher, searcher and printer.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use encoding_rs::Encoding;
use grep_cli::{CommandReader, CommandReaderBuilder};
use grep_matcher::Matcher as Find;
use grep_searcher::{BinaryDetection, Encoding as SearcherEncoding, Searcher, SearcherBuilder};
use ignore::overrides::Override;
use termcolor::WriteColor;

use crate::conditions::{Conditional, Conditions};
use crate::format::{Outcome, Printer, Source, Stream};
use crate::input::Input;
use crate::pattern::{LineEnd, Matcher};

/// Which files count as binary, and how they are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Binary {
    /// A NUL byte ends the search of a file; in a file that the user named, it only ends the
    /// printing.
    #[default]
    Usual,
    /// A NUL byte ends only the printing, in all files.
    Search,
    /// There are no binary files.
    Text,
}

/// How the bytes of a file are decoded.
#[derive(Clone, Debug, Default)]
pub enum TextEncoding {
    /// By a byte order mark, if there is one.
    #[default]
    Auto,
    /// From this encoding.
    From(&'static Encoding),
    /// Not at all: bytes are searched unchanged.
    Raw,
}

/// Lines printed around a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// This many lines before and after it.
    Lines(usize, usize),
    /// All of them.
    All,
}

impl Default for Context {
    fn default() -> Self {
        Self::Lines(0, 0)
    }
}

/// A program that converts files into the text that is searched.
#[derive(Clone, Debug)]
pub struct Preprocessor {
    /// The program; gets the path as its argument and the file as its input.
    pub command: PathBuf,
    /// The files it applies to: all files if there are no globs.
    pub globs: Override,
}

/// Options for reading a file.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is one flag of the command line
pub struct SearchOptions {
    /// The terminator of lines.
    pub line_end: LineEnd,
    /// Whether to look for lines that do not match.
    pub invert: bool,
    /// Whether to count lines.
    pub line_number: bool,
    /// Whether a match may span lines.
    pub multiline: bool,
    /// Lines printed around a match.
    pub context: Context,
    /// Maximum number of lines.
    pub max_count: Option<u64>,
    /// Whether to stop at the first line that does not match after one that does.
    pub stop_on_nonmatch: bool,
    /// How bytes are decoded.
    pub encoding: TextEncoding,
    /// Which files count as binary.
    pub binary: Binary,
    /// Whether to read a file that is not too large as a whole before it is searched.
    pub whole_files: bool,
    /// A program that converts files into text.
    pub preprocessor: Option<Preprocessor>,
    /// Function that opens compressed files.
    pub decompress: Option<Decompress>,
}

/// Opens the content of a compressed file; returns none if the file is not compressed.
pub type Decompress = fn(&Path) -> io::Result<Option<Box<dyn io::Read>>>;

impl SearchOptions {
    fn searcher(&self, decoded: bool) -> Searcher {
        let mut builder = SearcherBuilder::new();
        builder
            .line_terminator(self.line_end.terminator())
            .heap_limit(Some(MAX_BYTES as usize))
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
            _ if decoded => _ = builder.bom_sniffing(false),
            TextEncoding::Auto => {}
            // The searcher knows every encoding by its own name.
            TextEncoding::From(encoding) => {
                builder.encoding(SearcherEncoding::new(encoding.name()).ok());
            }
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
    conditions: &'a Conditions,
    /// The content of a file that is read as a whole.
    content: Vec<u8>,
    /// The start of a file that was found.
    start: Vec<u8>,
    reads_at_once: bool,
    passes_over_ascii: bool,
}

impl<'a, W: WriteColor> Worker<'a, W> {
    pub(crate) fn new(
        options: &'a SearchOptions,
        matcher: Matcher,
        conditions: &'a Conditions,
        printer: Printer<W>,
        counts_bytes: bool,
    ) -> Self {
        Self {
            // When a search ends early, another number of bytes counts as searched.
            reads_at_once: !options.multiline && !counts_bytes,
            options,
            matcher,
            // Reading a file as a whole includes decoding it.
            searcher: options.searcher(conditions.need_whole_file()),
            printer,
            conditions,
            content: Vec::new(),
            start: Vec::new(),
            passes_over_ascii: false,
        }
    }

    /// Skips ASCII files, because every match contains other characters.
    pub(crate) fn passing_over_ascii(self, passes_over_ascii: bool) -> Self {
        Self {
            passes_over_ascii,
            ..self
        }
    }

    /// Returns the writer of the results.
    pub(crate) fn writer(&mut self) -> &mut W {
        self.printer.writer()
    }

    /// Searches one file and prints the matches.
    pub(crate) fn search(&mut self, input: &Input) -> io::Result<Outcome> {
        let detection = self.options.binary_detection(input.is_explicit());
        self.searcher.set_binary_detection(detection);
        let path = input.path();
        if input.is_stdin() {
            return self.search_reader(path, io::stdin().lock());
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
            return self.search_reader(path, reader);
        }
        if let Some(pieces) = input.pieces()
            && let Some(reader) = pieces.open(path)?
        {
            return self.search_in(path, Stream(reader), None);
        }
        if options.whole_files || self.conditions.need_whole_file() {
            let mut file = ken_walk::open_file(path)?;
            if self.may_read_whole(&file)? {
                return self.search_whole(path, &mut file);
            }
        }
        if self.reads_at_once && !input.is_explicit() {
            return self.search_found(path);
        }
        self.search_in(path, path, None)
    }

    /// Searches a file that was found. Searches a small one without NUL as a whole, which saves the
    /// searcher the check for a byte order mark and a copy. (How a NUL ends a search depends on how
    /// a file is read.)
    fn search_found(&mut self, path: &Path) -> io::Result<Outcome> {
        let mut file = ken_walk::open_file(path)?;
        let mut buffer = std::mem::take(&mut self.start);
        buffer.resize(AT_ONCE_BYTES, 0);
        let n_bytes = read_full(&mut file, &mut buffer)?;
        let has_all = n_bytes < buffer.len();
        if self.passes_over_ascii && is_ascii(&mut file, &mut buffer, n_bytes)? {
            self.start = buffer;
            return Ok(Outcome::default());
        }
        if self.passes_over_ascii && !has_all {
            // The content is overwritten.
            self.start = buffer;
            file.rewind()?;
            return self.search_in(path, Stream(file), None);
        }
        let start = &buffer[..n_bytes];
        let found = if n_bytes == buffer.len() {
            self.search_in(path, Stream(start.chain(file)), None)
        } else if memchr::memchr(0, start).is_some() {
            self.search_in(path, Stream(start), None)
        } else {
            self.search_in(path, start, None)
        };
        self.start = buffer;
        found
    }

    /// Searches a text in memory.
    pub(crate) fn search_text(&mut self, path: &Path, text: &[u8]) -> io::Result<Outcome> {
        let detection = self.options.binary_detection(true);
        self.searcher.set_binary_detection(detection);
        self.search_in(path, text, Some(text))
    }

    /// Searches the text from a reader, as a whole if the conditions need it.
    fn search_reader(&mut self, path: &Path, mut reader: impl Read) -> io::Result<Outcome> {
        if self.conditions.need_whole_file() {
            self.search_whole(path, &mut reader)
        } else {
            self.search_in(path, Stream(reader), None)
        }
    }

    /// Returns whether a file is read as a whole. It is not if it is not a regular file, has size 0
    /// (like files of the kernel) or is too large, unless that is needed.
    fn may_read_whole(&self, file: &File) -> io::Result<bool> {
        let metadata = file.metadata()?;
        let fits = metadata.is_file() && (1..=MAX_WHOLE_BYTES).contains(&metadata.len());
        Ok(fits || self.conditions.need_whole_file())
    }

    fn search_whole(&mut self, path: &Path, reader: &mut dyn Read) -> io::Result<Outcome> {
        let mut content = std::mem::take(&mut self.content);
        content.clear();
        reader.take(MAX_BYTES + 1).read_to_end(&mut content)?;
        if content.len() as u64 > MAX_BYTES {
            return Err(io::Error::other(
                "too large for conditions on more than a line",
            ));
        }
        let found = if self.conditions.need_whole_file() {
            let text = self.options.encoding.decode(&content);
            self.search_in(path, &text[..], Some(&text))
        } else {
            self.search_in(path, &content[..], None)
        };
        self.content = content;
        found
    }

    fn search_preprocessed(
        &mut self,
        path: &Path,
        preprocessor: &Preprocessor,
    ) -> io::Result<Outcome> {
        let mut command = preprocessor.command_for(path)?;
        let mut reader = start(&mut command)?;
        let found = self.search_reader(path, &mut reader);
        // The reason why the program failed says more than the early end of its output.
        let closed = reader.close();
        let found = found.map_err(|error| {
            io::Error::other(format!(
                "preprocessor command failed: '{command:?}': {error}"
            ))
        });
        found.and_then(|outcome| closed.map(|()| outcome))
    }

    fn search_in<S: Source>(
        &mut self,
        path: &Path,
        source: S,
        text: Option<&[u8]>,
    ) -> io::Result<Outcome> {
        let refused = match text {
            Some(text) => !self.conditions.admit(&mut self.searcher, text)?,
            None => false,
        };
        let view = View {
            conditions: self.conditions,
            line_end: self.options.line_end.terminator().as_byte(),
            text,
            refused,
        };
        let (searcher, printer) = (&mut self.searcher, &mut self.printer);
        match &self.matcher {
            Matcher::Regex(matcher) => view.print(printer, searcher, matcher, path, source),
            #[cfg(feature = "pcre2")]
            Matcher::Pcre2(matcher) => view.print(printer, searcher, matcher, path, source),
        }
    }
}

/// The conditions, applied to one file.
struct View<'a> {
    conditions: &'a Conditions,
    line_end: u8,
    text: Option<&'a [u8]>,
    refused: bool,
}

impl View<'_> {
    fn print<W: WriteColor, M: Find, S: Source>(
        &self,
        printer: &mut Printer<W>,
        searcher: &mut Searcher,
        matcher: &M,
        path: &Path,
        source: S,
    ) -> io::Result<Outcome> {
        if self.conditions.is_empty() {
            return printer.print(searcher, (matcher, matcher), path, source);
        }
        let lines = Conditional {
            matcher,
            conditions: self.conditions,
            line_end: self.line_end,
            text: self.text,
            refused: self.refused,
        };
        printer.print(searcher, (&lines, matcher), path, source)
    }
}

impl TextEncoding {
    /// Decodes the content of a whole file.
    fn decode<'a>(&self, content: &'a [u8]) -> Cow<'a, [u8]> {
        let encoding = match self {
            Self::Raw => None,
            Self::From(encoding) => Some(*encoding),
            Self::Auto => Encoding::for_bom(content).map(|(encoding, _)| encoding),
        };
        match encoding {
            None => Cow::Borrowed(content),
            Some(encoding) if encoding == encoding_rs::UTF_8 => Cow::Borrowed(content),
            Some(encoding) => match encoding.decode(content).0 {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            },
        }
    }
}

impl Preprocessor {
    fn is_for(&self, path: &Path) -> bool {
        self.globs.is_empty() || !self.globs.matched(path, false).is_ignore()
    }

    fn command_for(&self, path: &Path) -> io::Result<Command> {
        let mut command = Command::new(&self.command);
        command
            .arg(path)
            .stdin(Stdio::from(ken_walk::open_file(path)?));
        Ok(command)
    }
}

/// Smaller files are read at once.
const AT_ONCE_BYTES: usize = 128 << 10;
/// Larger files are never read as a whole, unless matches span lines.
const MAX_WHOLE_BYTES: u64 = 64 << 20;
/// Maximum size even if conditions need the whole file, and maximum length of a line.
const MAX_BYTES: u64 = 1 << 30;

/// Returns whether a file is ASCII without a NUL up to its end. The buffer holds the first
/// `n_bytes`, which is all of a small file; it is reused for the rest of a larger one.
fn is_ascii(file: &mut File, buffer: &mut [u8], mut n_bytes: usize) -> io::Result<bool> {
    while buffer[..n_bytes].is_ascii() {
        // The searcher stops there.
        if memchr::memchr(0, &buffer[..n_bytes]).is_some() {
            return Ok(false);
        }
        if n_bytes < buffer.len() {
            return Ok(true);
        }
        n_bytes = read_full(file, buffer)?;
    }
    Ok(false)
}

/// Fills the buffer, or reads to the end of the file.
fn read_full(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut n_bytes = 0;
    while n_bytes < buffer.len() {
        match file.read(&mut buffer[n_bytes..]) {
            Ok(0) => break,
            Ok(n) => n_bytes += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(n_bytes)
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

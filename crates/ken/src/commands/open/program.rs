//! The program that opens a document: one that the user names, the editor for text on a terminal, a viewer of PDFs that
//! takes a page, or what the desktop has for the type.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::{Command, ExitCode};

use ken_core::Document;
use ken_search::service::Place;

use super::no_desktop;
use crate::commands::desktop;
use crate::failure::{Failure, Kind};
use crate::output;

/// Viewers that take a page, by the names of their desktop files. `%f` is the file, `%p` the page.
const VIEWERS: [(&str, &str); 8] = [
    ("atril", "atril --page-index=%p %f"),
    ("evince", "evince --page-index=%p %f"),
    ("mupdf", "mupdf %f %p"),
    ("okular", "okular --page %p %f"),
    ("papers", "papers --page-index=%p %f"),
    ("qpdfview", "qpdfview --unique %f#%p"),
    ("xpdf", "xpdf %f %p"),
    ("zathura", "zathura --page=%p %f"),
];

/// How editors take a line that do not take `+line` before the file. `%l` is the line.
const EDITORS: [(&str, &str); 5] = [
    ("code", "--goto %f:%l"),
    ("codium", "--goto %f:%l"),
    ("helix", "%f:%l"),
    ("hx", "%f:%l"),
    ("subl", "%f:%l"),
];

/// A document that is to be opened.
pub(super) struct Opening<'a> {
    /// The file to open.
    pub(super) path: &'a Path,
    pub(super) document: &'a Document,
    pub(super) place: Option<Place>,
}

impl Opening<'_> {
    /// Opens the document. `settings` are command lines by media types, and `program` is a command line that was typed.
    pub(super) fn run(
        &self,
        settings: &BTreeMap<String, String>,
        program: Option<&OsStr>,
    ) -> Result<ExitCode, Failure> {
        if let Some(line) = program {
            return wait(&mut self.command(line.as_bytes())?);
        }
        if let Some(line) = self.of_settings(settings) {
            desktop::start(&mut self.command(line.as_bytes())?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let shows_lines = output::has_lines(self.document) && std::io::stdin().is_terminal();
        if let Some(line) = editor().filter(|_| shows_lines) {
            return wait(&mut self.command(&with_line(line))?);
        }
        if !desktop::is_there() {
            return Err(no_desktop());
        }
        match self.viewer() {
            Some(line) => desktop::start(&mut self.command(line.as_bytes())?)?,
            None => self.by_desktop()?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn by_desktop(&self) -> Result<(), Failure> {
        if !desktop::open(self.path, false)? {
            let path = self.path.display();
            output::warn(&format!(
                "opening \"{path}\" would run it, so its folder was opened; --with names a program"
            ));
        }
        Ok(())
    }

    /// Returns the command line of the settings for the type of the document: `application/pdf` before `application/*`.
    fn of_settings<'s>(&self, settings: &'s BTreeMap<String, String>) -> Option<&'s String> {
        let media_type = &self.document.media_type;
        let family = media_type.split('/').next().unwrap_or_default();
        let line = settings.get(media_type);
        line.or_else(|| settings.get(&format!("{family}/*")))
    }

    /// Returns the command line of the viewer that the desktop has for the type, if a page is wanted and it takes one.
    fn viewer(&self) -> Option<&'static str> {
        if !matches!(self.place, Some(Place::Page(_))) {
            return None;
        }
        let asked = Command::new("xdg-mime")
            .args(["query", "default", &self.document.media_type])
            .output();
        let answer = String::from_utf8(asked.ok()?.stdout).ok()?.to_lowercase();
        let known = VIEWERS.iter().find(|(name, _)| answer.contains(name));
        known.map(|(_, line)| *line)
    }

    /// Returns the command of a command line, in which `%f`, `%p` and `%l` stand for the file, the page and the line. The
    /// file comes last if the line does not say where. The line is split into words as a shell does.
    fn command(&self, line: &[u8]) -> Result<Command, Failure> {
        let fail = |what: &str| {
            let message = format!("the command to open it with {what}");
            Failure::new(Kind::Usage, message)
        };
        let words = shlex::bytes::split(line);
        let words = words.ok_or_else(|| fail("has a quote that does not end"))?;
        let mut words = words.iter();
        let program = words.next().ok_or_else(|| fail("is empty"))?;
        let mut command = Command::new(OsStr::from_bytes(program));
        let mut has_file = false;
        for word in words {
            has_file |= word.windows(2).any(|two| two == b"%f");
            command.arg(self.filled(word));
        }
        if !has_file {
            command.arg(self.path);
        }
        Ok(command)
    }

    /// Returns a word of a command line with what its signs stand for.
    fn filled(&self, word: &[u8]) -> OsString {
        let (page, line) = match self.place {
            Some(Place::Page(page)) => (page, 1),
            Some(Place::Line(line)) => (1, line),
            None => (1, 1),
        };
        let mut filled = Vec::with_capacity(word.len());
        let mut rest = word;
        while let [first, after @ ..] = rest {
            let value = match (first, after.first()) {
                (b'%', Some(b'f')) => self.path.as_os_str().as_bytes().to_vec(),
                (b'%', Some(b'p')) => page.to_string().into_bytes(),
                (b'%', Some(b'l')) => line.to_string().into_bytes(),
                _ => {
                    filled.push(*first);
                    rest = after;
                    continue;
                }
            };
            filled.extend(value);
            rest = &after[1..];
        }
        OsString::from_vec(filled)
    }
}

/// Runs a program to its end, on this terminal.
fn wait(command: &mut Command) -> Result<ExitCode, Failure> {
    let name = command.get_program().display().to_string();
    let status = command.status().map_err(|error| {
        let message = format!("{name}: {error}");
        Failure::new(Kind::Input, message)
    })?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(2)))
}

/// Returns the command line of the user's editor.
#[allow(
    clippy::disallowed_methods,
    reason = "the user names it in the environment"
)]
fn editor() -> Option<OsString> {
    let set = |name| std::env::var_os(name).filter(|line| !line.is_empty());
    set("VISUAL").or_else(|| set("EDITOR"))
}

/// Adds the line to the command line of an editor, as the editor takes it.
fn with_line(line: OsString) -> Vec<u8> {
    let mut line = line.into_vec();
    let program = shlex::bytes::Shlex::new(&line).next().unwrap_or_default();
    let name = program.rsplit(|byte| *byte == b'/').next();
    let known = EDITORS
        .iter()
        .find(|(editor, _)| Some(editor.as_bytes()) == name);
    let arguments = known.map_or("+%l %f", |(_, arguments)| arguments);
    line.push(b' ');
    line.extend_from_slice(arguments.as_bytes());
    line
}

#[cfg(test)]
mod tests {
    use ken_core::{Ipath, Kind as Type};

    use super::*;

    const FILE: &str = "/a/-b %p;$(x)";

    fn words(line: &str, place: Option<Place>) -> Vec<String> {
        let document = Document::new(Ipath::root(), "text/plain", Type::Document);
        let opening = Opening {
            path: Path::new(FILE),
            document: &document,
            place,
        };
        let command = opening.command(line.as_bytes()).unwrap();
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        words
            .map(|word| word.to_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn command_lines_get_file_page_and_line() {
        assert_eq!(words("cat", None), ["cat", FILE]);
        let page = Some(Place::Page(7));
        let evince = words(" evince --page-index=%p %f ", page);
        assert_eq!(evince, ["evince", "--page-index=7", FILE]);
        let line = |editor: &str| String::from_utf8(with_line(editor.into())).unwrap();
        let vi = words(&line("vi -R"), Some(Place::Line(12)));
        assert_eq!(vi, ["vi", "-R", "+12", FILE]);
        let code = words(&line("/usr/bin/code -w"), None);
        assert_eq!(code, ["/usr/bin/code", "-w", "--goto", "/a/-b %p;$(x):1"]);
        assert_eq!(words("a 100%", None), ["a", "100%", FILE]);
        let emacs = words(&line("emacsclient -t -a \"\""), Some(Place::Line(12)));
        assert_eq!(emacs, ["emacsclient", "-t", "-a", "", "+12", FILE]);
        let quoted = words("'/a b/code' -x 'it is' \"$HOME\" a\\ b", None);
        assert_eq!(quoted, ["/a b/code", "-x", "it is", "$HOME", "a b", FILE]);
    }

    #[test]
    fn a_quote_must_end() {
        let document = Document::new(Ipath::root(), "text/plain", Type::Document);
        let opening = Opening {
            path: Path::new(FILE),
            document: &document,
            place: None,
        };
        for line in ["vi 'a", " ", ""] {
            assert!(opening.command(line.as_bytes()).is_err(), "{line}");
        }
    }
}

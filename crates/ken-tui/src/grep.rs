//! Searches lines of files, by `ken grep`.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use base64ct::{Base64, Encoding};
use serde::Deserialize;

use crate::Setup;
use crate::mailbox::Letter;
use crate::row::{Found, Row, Target, path_text, pieces};
use crate::state::Ask;

/// The lines that are listed.
const ROWS: usize = 500;
/// The most bytes of a line that are shown.
const LINE: usize = 400;
/// The most bytes of an event: a line can be as long as its file.
const EVENT: u64 = 1 << 20;
/// What `ken grep --json` prints, as far as it is needed here.
#[derive(Deserialize)]
#[serde(tag = "type", content = "data", rename_all = "lowercase")]
enum Event {
    Match(Match),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Match {
    path: Bytes,
    lines: Bytes,
    line_number: Option<usize>,
    submatches: Vec<Submatch>,
}

#[derive(Deserialize)]
struct Submatch {
    start: usize,
    end: usize,
}

/// Text, or base64 of what is not UTF-8.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Bytes {
    Text(String),
    Bytes(String),
}

impl Bytes {
    fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.into_bytes(),
            Self::Bytes(code) => Base64::decode_vec(&code).unwrap_or_default(),
        }
    }
}

/// Finds the first lines that match.
pub(crate) fn find(setup: &Setup, ask: &Ask, letter: &Letter<Ask>) -> Found {
    if ask.query.is_empty() {
        return Found::default();
    }
    let here = &setup.access.context.cwd;
    let folder = ask.folder.as_ref().unwrap_or(here).as_os_str();
    let options = [
        "grep",
        "--json",
        "--smart-case",
        "--no-config",
        "-e",
        &ask.query,
        "--",
    ];
    let arguments = options.iter().map(OsStr::new).chain([folder]);
    let is_stale = || letter.is_stale.load(Ordering::Relaxed);
    let (mut rows, mut is_complete) = (Vec::new(), true);
    let ended = setup.program.read(arguments, &is_stale, &mut |output| {
        let mut output = BufReader::new(output);
        while let Some(event) = next(&mut output) {
            if let Ok(Event::Match(found)) = serde_json::from_slice(&event) {
                if rows.len() == ROWS || is_stale() {
                    is_complete = false;
                    // The rest of the search is stopped.
                    return Err(io::ErrorKind::Interrupted.into());
                }
                rows.push(row(setup, found));
            }
        }
        Ok(())
    });
    match ended {
        Err(error) if is_complete => return problem(setup, &error.to_string()),
        Ok((_, message)) if rows.is_empty() && !message.is_empty() => {
            return problem(setup, &first_line(&message));
        }
        _ => {}
    }
    // Files are searched in parallel, so the order of lines is not always the same.
    rows.sort_by(|a, b| a.address.cmp(&b.address).then(a.line.cmp(&b.line)));
    Found {
        total: rows.len(),
        rows,
        is_complete,
        ..Found::default()
    }
}

fn problem(setup: &Setup, text: &str) -> Found {
    Found {
        problem: Some((setup.visible)(text).into_owned()),
        ..Found::default()
    }
}

/// Reads an event; the end of one that is too long is passed over.
fn next(output: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut event = Vec::new();
    let n_bytes = output
        .by_ref()
        .take(EVENT)
        .read_until(b'\n', &mut event)
        .ok()?;
    if n_bytes as u64 == EVENT && !event.ends_with(b"\n") {
        output.skip_until(b'\n').ok()?;
    }
    (n_bytes > 0).then_some(event)
}

/// Returns the line that says most: regular expressions are shown with a mark below the mistake.
fn first_line(message: &str) -> String {
    let lines = message.lines().map(str::trim);
    let said = lines.clone().find_map(|line| line.strip_prefix("error: "));
    let first = || lines.clone().next().unwrap_or_default();
    let said = said.unwrap_or_else(first);
    said.strip_prefix("ken: ").unwrap_or(said).to_owned()
}

fn row(setup: &Setup, found: Match) -> Row {
    let path = PathBuf::from(OsString::from_vec(found.path.into_bytes()));
    let line = found.lines.into_bytes();
    let is_text = std::str::from_utf8(&line).is_ok();
    let text = String::from_utf8_lossy(&line);
    let text = text.trim_end();
    // The match is on the screen, also in a long line.
    let first = found.submatches.first().map_or(0, |first| first.start);
    let start = match first > LINE / 2 && is_text {
        true => text.floor_char_boundary(first - LINE / 4),
        false => text.len() - text.trim_start().len(),
    };
    let end = text.floor_char_boundary(start + LINE);
    let ranges = found
        .submatches
        .iter()
        .filter(|_| is_text)
        .filter_map(|of| {
            let shifted = of.start.checked_sub(start)?..of.end.checked_sub(start)?.min(end - start);
            (!shifted.is_empty()).then_some(shifted)
        });
    let visible = |text: &str| (setup.visible)(&text.replace('\t', " ")).into_owned();
    let home = setup.access.context.home.as_deref();
    let shown = path
        .strip_prefix(&setup.access.context.cwd)
        .unwrap_or(&path);
    Row {
        address: path.clone().into_os_string(),
        folder: path.parent().unwrap_or(&path).to_path_buf(),
        title: Vec::new(),
        about: visible(&path_text(shown, home)),
        passage: pieces(&text[start..end], ranges, &visible),
        line: found.line_number,
        page: None,
        target: Target::File(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_shortened_to_what_is_wrong() {
        let message = "ken: regex parse error:\n    (?:()\n    ^\nerror: unclosed group\n";
        assert_eq!(first_line(message), "unclosed group");
        assert_eq!(
            first_line("ken: /nowhere: No such file\n"),
            "/nowhere: No such file"
        );
        assert_eq!(first_line(""), "");
    }

    #[test]
    fn events_that_are_too_long_are_passed_over() {
        let mut output = vec![b'x'; EVENT as usize + 5];
        output.extend(b"\nshort\n");
        let mut output = output.as_slice();
        assert_eq!(next(&mut output).unwrap().len() as u64, EVENT);
        assert_eq!(next(&mut output).unwrap(), b"short\n");
        assert!(next(&mut output).is_none());
    }
}

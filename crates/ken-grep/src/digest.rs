//! The output within a budget: the best lines of file after file or document after document, as many as have room, then
//! how much there is in all and the command for the rest.

use std::borrow::Cow;

use ken_core::escape_bytes;
use serde_json::{Value, json};

use crate::documents::Name;
use crate::rank::{Gauged, Line, MAX_SHOWN};

/// Maximum number of bytes of a line.
const MAX_LINE: usize = 200;
/// Minimum number of bytes for a file, which otherwise gets a third of the remaining budget.
const LEAST_SHARE: usize = 400;
/// Version of the JSON.
const SCHEMA: u32 = 1;

/// A limit on the output.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    /// Total bytes.
    pub bytes: usize,
    /// Number of files that were printed earlier.
    pub skip: usize,
    /// Number of the best lines of the first file that were printed earlier.
    pub skip_lines: usize,
    /// Whether each file is an object of JSON.
    pub as_json: bool,
    /// Returns the command that prints more, after so many files and so many lines of the file behind them.
    pub next: &'a dyn Fn(usize, usize) -> String,
}

/// An output within a budget.
pub(crate) struct Digest<'a> {
    budget: &'a Budget<'a>,
    /// What is listed, in the plural.
    what: &'static str,
    /// The numbers of all files and their lines.
    all: (usize, u64),
    /// The numbers of those that are shown.
    shown: (usize, usize),
    /// The first file of which lines are left: how many files come before it, and how many of its lines were shown.
    unfinished: Option<(usize, usize)>,
    left: usize,
}

impl<'a> Digest<'a> {
    /// Returns an output of so many files and lines.
    pub(crate) fn new(
        budget: &'a Budget<'a>,
        what: &'static str,
        n_files: usize,
        n_lines: u64,
    ) -> Self {
        let mut digest = Self {
            budget,
            what,
            all: (n_files, n_lines),
            shown: (0, 0),
            unfinished: None,
            left: 0,
        };
        digest.left = budget.bytes.saturating_sub(digest.room_for_end());
        digest
    }

    /// Returns a file with its best lines, if there is room. A file that could not be read again has none.
    pub(crate) fn add(&mut self, name: &Name, n_lines: u64, gauged: Gauged) -> Option<Vec<u8>> {
        let share = self.left.min((self.left / 3).max(LEAST_SHARE));
        let mut by_score = gauged.shown;
        by_score.sort_by(Line::best_first);
        let n_kept = by_score.len();
        let n_earlier = match self.shown.0 {
            0 => self.budget.skip_lines.min(n_kept),
            _ => 0,
        };
        by_score.drain(..n_earlier);
        let is_unread = by_score.is_empty();
        let (mut text, mut n_shown) = (Vec::new(), 0);
        let mut room = share.saturating_sub(self.unit(name, n_lines, &[]).len());
        let n_fitting = by_score.iter().take_while(|line| {
            let n_bytes = self.line(line).len();
            let has_room = n_bytes <= room;
            room = room.saturating_sub(n_bytes);
            has_room
        });
        by_score.truncate(n_fitting.count());
        by_score.sort_by_key(|line| (line.page, line.number));
        if !by_score.is_empty() {
            text = self.unit(name, n_lines, &by_score);
            n_shown = by_score.len();
        }
        if text.is_empty() && !is_unread {
            return None;
        }
        let n_done = n_earlier + n_shown;
        let has_more = n_lines > n_kept as u64 && n_kept >= MAX_SHOWN;
        if !is_unread && (n_done < n_kept || has_more) && self.unfinished.is_none() {
            self.unfinished = Some((self.budget.skip + self.shown.0, n_done));
        }
        self.left = self.left.saturating_sub(text.len());
        self.shown.0 += 1;
        self.shown.1 += n_shown;
        Some(text)
    }

    /// Returns a file with these lines.
    fn unit(&self, name: &Name, n_lines: u64, lines: &[Line]) -> Vec<u8> {
        if self.budget.as_json {
            let mut object = json!({
                "v": SCHEMA,
                "path": escape_bytes(name.0.path.as_os_str().as_encoded_bytes()),
                "ipath": name.0.ipath.as_str(),
                "n_lines": n_lines,
            });
            object["lines"] = lines.iter().map(object_of).collect();
            return with_line_end(object.to_string());
        }
        let plural = if n_lines == 1 { "" } else { "s" };
        let name = name.shown(None);
        let mut text = format!("{} ({n_lines} line{plural})\n", name.display());
        for line in lines {
            text.push_str(&self.line(line));
        }
        text.into_bytes()
    }

    /// Returns the bytes of a line.
    fn line(&self, line: &Line) -> String {
        if self.budget.as_json {
            return format!("{},", object_of(line));
        }
        let page = line.page.map(|page| format!("{page}:"));
        let (text, is_cut) = short(line);
        let rest = if is_cut { "…" } else { "" };
        format!("{}{}:{text}{rest}\n", page.unwrap_or_default(), line.number)
    }

    /// Returns the last line; in a text, nothing if nothing was found.
    pub(crate) fn end(&self) -> Vec<u8> {
        self.end_with(self.shown)
    }

    fn room_for_end(&self) -> usize {
        let (n_files, n_lines) = self.all;
        // No number is longer than these.
        let most = (n_files, usize::try_from(n_lines).unwrap_or(usize::MAX));
        let all_files = self.budget.skip + n_files;
        let next = (self.budget.next)(all_files, 0).len();
        let more =
            (self.budget.next)(all_files, self.budget.skip_lines.saturating_add(MAX_SHOWN)).len();
        let words = "; next: \"next\":,; more lines: \"more_lines\":,".len();
        let has_room = self.end_with(most).len() + words + 2 * next + more;
        has_room.max(self.end_with((0, 0)).len())
    }

    fn end_with(&self, (n_files, n_lines): (usize, usize)) -> Vec<u8> {
        let (all_files, all_lines) = self.all;
        let until = self.budget.skip + n_files;
        let has_more = until < all_files;
        let next = (has_more && n_files > 0).then(|| (self.budget.next)(until, 0));
        let more = self.unfinished;
        let more = more.map(|(n_files, n_lines)| (self.budget.next)(n_files, n_lines));
        if self.budget.as_json {
            let mut object = json!({
                "v": SCHEMA,
                "shown": n_files,
                "total": all_files,
                "lines": { "shown": n_lines, "total": all_lines },
            });
            if let Some(next) = next {
                object["next"] = next.into();
            }
            if let Some(more) = more {
                object["more_lines"] = more.into();
            }
            return with_line_end(object.to_string());
        }
        if all_files == 0 {
            return Vec::new();
        }
        let more = more.map(|more| format!("; more lines: {more}"));
        let more = more.unwrap_or_default();
        let rest = match next {
            Some(next) => format!("; next: {next}"),
            None if has_more => "; the budget is too small for the next one".to_owned(),
            None => String::new(),
        };
        let what = self.what;
        let shown =
            format!("{n_lines} of {all_lines} lines, {n_files} of {all_files} {what} shown");
        with_line_end(format!("[{shown}{more}{rest}]"))
    }
}

fn with_line_end(mut text: String) -> Vec<u8> {
    text.push('\n');
    text.into_bytes()
}

fn object_of(line: &Line) -> Value {
    let (text, is_cut) = short(line);
    let mut object = json!({ "line": line.number, "text": text });
    if let Some(page) = line.page {
        object["page"] = page.into();
    }
    if is_cut {
        object["cut"] = true.into();
    }
    object
}

/// Returns the text of a line without white space around it, and whether it was cut.
fn short(line: &Line) -> (Cow<'_, str>, bool) {
    let text = String::from_utf8_lossy(line.text.trim_ascii());
    if text.len() <= MAX_LINE {
        return (text, false);
    }
    let end = text.floor_char_boundary(MAX_LINE);
    (text[..end].to_owned().into(), true)
}

//! `--rank` and `--budget`: many threads first judge all files. The most useful ones are then
//! searched again and printed, so that only paths and scores are kept.

use std::cmp::Ordering;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use ignore::WalkState;
use termcolor::WriteColor;

use crate::format::Printer;
use crate::input::Input;
use crate::output::Paint;
use crate::rank::{Gauged, Line};
use crate::run::{Search, Searched};
use crate::tally::{Summary, Tally};

/// Maximum number of bytes of a line that is printed within a budget.
const MAX_LINE: usize = 200;
/// Bytes that are reserved for the last line.
const FOOTER: usize = 120;
/// Maximum number of lines of one file that are considered within a budget.
const MAX_SHOWN: usize = 100;
/// Minimum number of bytes for a file, which otherwise gets a third of the remaining budget.
const LEAST_SHARE: usize = 400;

/// A limit on the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Total bytes.
    pub bytes: usize,
    /// Number of files that were printed earlier.
    pub skip: usize,
}

/// A file with matches.
struct Ranked {
    input: Input,
    lines: u64,
    score: f32,
}

impl Search<'_> {
    /// Searches and prints the most useful files first.
    ///
    /// # Errors
    /// Fails if the walk cannot start.
    pub fn ranked<W: WriteColor>(&self, writer: W) -> Result<Summary, ignore::Error> {
        let (ranked, judged) = self.rank()?;
        let tally = Tally::new(self.format.stats);
        let mut worker = self.worker(self.format.printer(writer, true));
        for file in &ranked {
            if self.search_one(&mut worker, &file.input, &tally) == Searched::Unread {
                break;
            }
            if tally.has_match() && self.format.stops_at_first() {
                break;
            }
        }
        // The reader of the output may be gone.
        let _ = worker.writer().flush();
        Ok(Summary {
            stats: tally.summary().stats,
            ..judged
        })
    }

    /// Searches and prints the best lines of the most useful files, within a budget.
    ///
    /// # Errors
    /// Fails if the walk cannot start.
    pub fn within<W: Write>(
        &self,
        budget: Budget,
        writer: &mut W,
    ) -> Result<Summary, ignore::Error> {
        let (ranked, judged) = self.rank()?;
        let mut left = budget.bytes.saturating_sub(FOOTER);
        let mut worker = self.worker(Printer::Gauge(Paint::new(io::sink(), None), MAX_SHOWN));
        let (mut files, mut lines) = (0, 0);
        for file in ranked.iter().skip(budget.skip) {
            let gauged = match worker.search(&file.input) {
                Ok(outcome) => outcome.gauged.unwrap_or_default(),
                Err(error) => {
                    self.failed(file.input.path(), &error);
                    continue;
                }
            };
            let share = left.min((left / 3).max(LEAST_SHARE));
            let (text, shown) = digest(file, gauged, share);
            if shown == 0 {
                break;
            }
            if writer.write_all(&text).is_err() {
                return Ok(judged);
            }
            left -= text.len();
            files += 1;
            lines += shown;
        }
        if !ranked.is_empty() {
            let all_lines: u64 = ranked.iter().map(|file| file.lines).sum();
            let until = budget.skip + files;
            let more = match until < ranked.len() {
                true if files > 0 => format!("; go on with --skip {until}"),
                true => "; the budget is too small for the next one".to_owned(),
                false => String::new(),
            };
            let all_files = ranked.len();
            let footer =
                format!("{lines} of {all_lines} lines, {files} of {all_files} files{more}\n");
            // The reader of the output may be gone.
            let _ = writer.write_all(footer.as_bytes());
        }
        let _ = writer.flush();
        Ok(judged)
    }

    /// Judges all files; returns those with matches, the most useful ones first.
    fn rank(&self) -> Result<(Vec<Ranked>, Summary), ignore::Error> {
        let tally = Tally::new(false);
        let ranked = Mutex::new(Vec::new());
        let worker = self.worker(Printer::Gauge(Paint::new(io::sink(), None), 0));
        self.each(&tally, || {
            let mut worker = worker.clone();
            let (tally, ranked) = (&tally, &ranked);
            move |input: Input| {
                match worker.search(&input) {
                    Ok(outcome) => {
                        tally.add(outcome.matched, None);
                        if let Some(gauged) = outcome.gauged.filter(|_| outcome.matched) {
                            let modified = input.metadata().and_then(|data| data.modified());
                            let score = gauged.score(input.path(), modified.ok());
                            let lines = gauged.lines;
                            let mut list = ranked.lock().unwrap_or_else(PoisonError::into_inner);
                            list.push(Ranked {
                                input,
                                lines,
                                score,
                            });
                        }
                    }
                    Err(error) => self.failed(input.path(), &error),
                }
                WalkState::Continue
            }
        })?;
        let mut ranked = ranked.into_inner().unwrap_or_else(PoisonError::into_inner);
        ranked.sort_by(order);
        Ok((ranked, tally.summary()))
    }
}

fn order(left: &Ranked, right: &Ranked) -> Ordering {
    let by_score = right.score.total_cmp(&left.score);
    by_score.then_with(|| left.input.path().cmp(right.input.path()))
}

/// Returns the path and the best lines of a file in at most `bytes`, and the number of lines.
fn digest(file: &Ranked, gauged: Gauged, bytes: usize) -> (Vec<u8>, usize) {
    let lines = file.lines;
    let plural = if lines == 1 { "" } else { "s" };
    let head = format!("{} ({lines} line{plural})\n", file.input.path().display());
    let mut left = bytes.saturating_sub(head.len());
    let mut by_score = gauged.shown;
    by_score.sort_by(|left, right| {
        right
            .score
            .total_cmp(&left.score)
            .then(left.number.cmp(&right.number))
    });
    let mut shown: Vec<(u64, String)> = Vec::new();
    for line in by_score {
        let text = one_line(&line);
        if text.len() > left {
            break;
        }
        left -= text.len();
        shown.push((line.number, text));
    }
    shown.sort_unstable();
    let mut text = head.into_bytes();
    for (_, line) in &shown {
        text.extend_from_slice(line.as_bytes());
    }
    (text, shown.len())
}

/// Formats a line: its number, and its text without leading white space.
fn one_line(line: &Line) -> String {
    let text = String::from_utf8_lossy(&line.text);
    let text = text.trim();
    if text.len() <= MAX_LINE {
        return format!("{}:{text}\n", line.number);
    }
    let end = text.floor_char_boundary(MAX_LINE);
    format!("{}:{}…\n", line.number, &text[..end])
}

//! `grep`: lines that match, as the files are now. ken's own command searches, so that it can be stopped at any time.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use ken_api::TakeLine;
use ken_api::message::bytes_of;
use ken_core::{Ipath, Location};
use ken_engine::Source;
use ken_search::scope::{Scope, Scoped};
use serde_json::Value;

use crate::call::Call;
use crate::text::{Page, address, counted, shown};
use crate::visible::is_mail_file;

const KNOWN: [&str; 10] = [
    "pattern",
    "in",
    "glob",
    "ignore_case",
    "context",
    "mode",
    "documents",
    "limit",
    "offset",
    "max_chars",
];
const MAX_LIMIT: usize = 2_000;
const MAX_CONTEXT: usize = 20;
/// The matching lines after which counting ends.
const MAX_MATCHES: usize = 1_000_000;
/// The places that are kept, and the files whose visibility is known.
const MAX_PLACES: usize = 20_000;
/// The lines of a place that are kept.
const MAX_KEPT: usize = 4 * MAX_LIMIT;
/// The characters of a line that are shown.
const MAX_LINE: usize = 300;
/// The characters that the last line needs.
const RESERVE: usize = 160;

pub(super) fn run(call: &Call<'_>) -> Result<String, String> {
    let arguments = &call.arguments;
    arguments.only(&KNOWN)?;
    let mode = arguments.choice("mode", &["lines", "files", "count"])?;
    let limit = arguments.number("limit", 200, MAX_LIMIT)?.max(1);
    let offset = arguments.number("offset", 0, MAX_MATCHES)?;
    let mut page = Page::new(arguments.max_chars()?)?;
    let scope = call.scope()?;
    let command = command(call, &scope)?;
    let snapshot = call.snapshot()?;
    let scoped = match &snapshot {
        Some(snapshot) => {
            let scoped = Scoped::new(&**snapshot, &scope).map_err(|error| error.to_string())?;
            Some((&**snapshot, scoped))
        }
        None => None,
    };
    let visibility = Visibility {
        scope: &scope,
        sources: scoped
            .as_ref()
            .map(|(inner, scoped)| (*inner, scoped as &dyn Source)),
    };
    let max_lines = if mode == "lines" { limit } else { 0 };
    let mut found = Found::new(visibility, max_lines, offset);
    let ended = call
        .setup()
        .program
        .write_lines(command, &|| call.is_over(), &mut found);
    match ended {
        Ok((0 | 1, _)) => {}
        // It was stopped.
        Ok(_) if call.is_over() => found.is_complete = false,
        Ok((_, errors)) if found.n_places == 0 => return Err(reason(&errors)),
        Ok(_) => {}
        Err(_) => found.is_complete = false,
    }
    let about = found.about(snapshot.is_some());
    if found.n_found() <= offset {
        page.say(&about);
        return Ok(page.finish(""));
    }
    page.head(&about);
    let n_shown = match mode {
        "lines" => found.lines(call, &mut page),
        mode => found.names(call, &mut page, 0, limit, mode == "count"),
    };
    Ok(page.finish(&found.next(n_shown)))
}

/// Returns the arguments of `ken grep`.
fn command(call: &Call<'_>, scope: &Scope) -> Result<Vec<OsString>, String> {
    let arguments = &call.arguments;
    let mut command: Vec<OsString> = ["grep", "--no-config", "--no-messages", "--json"]
        .map(OsString::from)
        .into();
    if arguments.flag("ignore_case")? {
        command.push("--ignore-case".into());
    }
    command.push(match arguments.flag("documents")? {
        true => "--documents".into(),
        false => "--rank".into(),
    });
    let context = arguments.number("context", 0, MAX_CONTEXT)?;
    command.push(format!("--context={context}").into());
    // With `=` a value that begins with a dash is no option.
    if let Some(glob) = arguments.text("glob")? {
        command.push(format!("--glob={glob}").into());
    }
    command.push(format!("--regexp={}", arguments.wanted("pattern")?).into());
    command.push("--".into());
    if scope.folders.is_empty() {
        return Err("nothing is visible".to_owned());
    }
    command.extend(scope.folders.iter().map(OsString::from));
    Ok(command)
}

/// Returns what the command says about a mistake, without its name.
fn reason(errors: &str) -> String {
    let text: Vec<String> = errors.lines().take(8).map(crate::text::line).collect();
    let text = text.join("\n");
    text.strip_prefix("ken: ").unwrap_or(&text).to_owned()
}

/// Decides which of the files that were searched are shown.
struct Visibility<'a> {
    scope: &'a Scope,
    /// The index, and the part of it that exists.
    sources: Option<(&'a dyn Source, &'a dyn Source)>,
}

impl Visibility<'_> {
    fn is_shown(&self, location: &Location) -> Result<bool, ken_engine::Error> {
        if !self.scope.covers(&location.path) {
            return Ok(false);
        }
        if self.scope.mail && location.ipath.is_root() {
            return Ok(true);
        }
        if let Some((inner, scoped)) = self.sources {
            let key = inner.meta().hasher.key(&location.path);
            if !inner.files().documents_of(key)?.is_empty() {
                for at in scoped.files().documents_of(key)? {
                    if scoped.location(at)?.ipath == location.ipath {
                        return Ok(true);
                    }
                }
                return Ok(false);
            }
        }
        Ok(!is_mail_file(self.scope, &location.path))
    }
}

/// A file, or a page of a document, with its lines.
struct Place {
    location: Location,
    page: Option<usize>,
    lines: Vec<Line>,
    n_matches: usize,
}

struct Line {
    text: String,
    is_match: bool,
}

impl Place {
    fn is_empty(&self) -> bool {
        n_matches(&self.lines) == 0
    }
}

fn n_matches(lines: &[Line]) -> usize {
    lines.iter().filter(|line| line.is_match).count()
}

fn text(lines: &[Line]) -> String {
    lines.iter().map(|line| line.text.as_str()).collect()
}

/// What the command has printed.
struct Found<'a> {
    visibility: Visibility<'a>,
    known: HashMap<Location, bool>,
    /// The places behind those that are skipped.
    places: Vec<Place>,
    n_places: usize,
    n_matches: usize,
    /// The matching lines that are kept, and the most of them; none if only places are wanted.
    n_lines: usize,
    max_lines: usize,
    /// The matching lines to skip, or the places if only these are wanted.
    offset: usize,
    is_complete: bool,
    /// Whether the file that is being printed is shown.
    is_shown: bool,
    /// Whether the place that is being printed is the last of those that are kept.
    is_kept: bool,
}

impl<'a> Found<'a> {
    fn new(visibility: Visibility<'a>, max_lines: usize, offset: usize) -> Self {
        Self {
            visibility,
            known: HashMap::new(),
            places: Vec::new(),
            n_places: 0,
            n_matches: 0,
            n_lines: 0,
            max_lines,
            offset,
            is_complete: true,
            is_shown: false,
            is_kept: false,
        }
    }

    fn begin(&mut self, data: &Value) -> Result<(), ken_engine::Error> {
        self.is_shown = false;
        let Some(path) = bytes_of(&data["path"]) else {
            return Ok(());
        };
        let internal = data["internal"].as_str().unwrap_or_default();
        let location = Location {
            path: PathBuf::from(OsString::from_vec(path)),
            ipath: Ipath::from_joined(internal),
        };
        self.is_shown = match self.known.get(&location) {
            Some(is_shown) => *is_shown,
            None => self.visibility.is_shown(&location)?,
        };
        if self.known.len() < MAX_PLACES {
            self.known.insert(location.clone(), self.is_shown);
        }
        if self.is_shown {
            self.n_places += 1;
            let is_skipped = self.max_lines == 0 && self.n_places <= self.offset;
            if self.max_lines > 0 && self.n_matches <= self.offset {
                // All their lines are skipped.
                self.places.clear();
            }
            self.is_kept = !is_skipped && self.places.len() < MAX_PLACES;
            if self.is_kept {
                self.places.push(Place {
                    location,
                    page: page_of(data),
                    lines: Vec::new(),
                    n_matches: 0,
                });
            }
        }
        Ok(())
    }

    fn line(&mut self, data: &Value, is_match: bool) {
        self.n_matches += usize::from(is_match);
        let is_kept = self.is_kept;
        let Some(place) = self.places.last_mut().filter(|_| is_kept) else {
            return;
        };
        place.n_matches += usize::from(is_match);
        let has_room = place.lines.len() < MAX_KEPT;
        let is_wanted = match is_match {
            true => self.n_matches > self.offset && self.n_lines < self.max_lines && has_room,
            false => {
                self.n_matches >= self.offset
                    && has_room
                    && (self.n_lines < self.max_lines
                        || self.max_lines > 0 && !place.lines.is_empty())
            }
        };
        if is_match && self.n_matches > self.offset && !is_wanted {
            // Those that are kept follow each other.
            self.n_lines = self.max_lines;
        }
        if is_wanted {
            self.n_lines += usize::from(is_match);
            let sign = if is_match { ':' } else { '-' };
            let number = data["line_number"].as_u64().unwrap_or_default();
            let start = data["submatches"][0]["start"].as_u64().unwrap_or_default();
            let start = usize::try_from(start).unwrap_or_default();
            let text = bytes_of(&data["lines"]).unwrap_or_default();
            place.lines.push(Line {
                text: format!("{number}{sign}{}\n", short(&text, start)),
                is_match,
            });
        }
    }

    fn about(&self, has_index: bool) -> String {
        let more = if self.is_complete { "" } else { "more than " };
        let index = if has_index { "" } else { " (without an index)" };
        match self.n_matches {
            0 if self.is_complete => format!("Nothing matches{index}."),
            0 => "Nothing was found in time.".to_owned(),
            n => format!(
                "{more}{} in {}{index}.",
                counted(n, "matching line", "matching lines"),
                counted(self.n_places, "place", "places"),
            ),
        }
    }

    /// Returns the number of what is counted: matching lines, or places if only these are wanted.
    fn n_found(&self) -> usize {
        match self.max_lines {
            0 => self.n_places,
            _ => self.n_matches,
        }
    }

    /// Returns a sentence about what comes after this many.
    fn next(&self, n_shown: usize) -> String {
        let next = self.offset + n_shown;
        let (one, many) = match self.max_lines {
            0 => ("more place", "more places"),
            _ => ("more matching line", "more matching lines"),
        };
        match self.n_found().saturating_sub(next) {
            0 => String::new(),
            // What would be asked for is what did not fit.
            n if n_shown == 0 => format!("{}.", counted(n, one, many)),
            n => format!("{}: grep with offset {next}.", counted(n, one, many)),
        }
    }

    /// Adds places with their lines, as many as fit, and the names of the others. Returns the number of matching lines
    /// that are shown.
    fn lines(&self, call: &Call<'_>, page: &mut Page) -> usize {
        let (mut n_shown, mut n_lines) = (0, 0);
        for place in self.places.iter().take_while(|place| !place.is_empty()) {
            let name = name(call, place);
            let unit = format!("{name}\n{}", page.fenced(&text(&place.lines)));
            if !page.add(&unit, RESERVE) {
                break;
            }
            n_shown += 1;
            n_lines += n_matches(&place.lines);
        }
        if let (0, Some(first)) = (n_shown, self.places.first()) {
            n_shown = 1;
            n_lines = some_lines(first, call, page);
        }
        if n_shown < self.places.len() {
            self.names(call, page, n_shown, MAX_LIMIT, true);
        }
        n_lines
    }

    /// Adds the names of places from one on, with the number of their matches if that is wanted. Returns the number of
    /// names.
    fn names(
        &self,
        call: &Call<'_>,
        page: &mut Page,
        from: usize,
        limit: usize,
        with_counts: bool,
    ) -> usize {
        let room = page.left().saturating_sub(RESERVE + 40);
        let mut text = String::new();
        let (mut n_chars, mut n_named) = (0, 0);
        for place in self.places.iter().skip(from).take(limit) {
            let count = match with_counts {
                true => format!(": {}", place.n_matches),
                false => String::new(),
            };
            let row = format!("{}{count}\n", name(call, place));
            n_chars += row.chars().count();
            if n_chars > room {
                break;
            }
            text.push_str(&row);
            n_named += 1;
        }
        if n_named > 0 {
            let fenced = page.fenced(&text);
            page.add(&fenced, 0);
        }
        n_named
    }
}

/// Adds the first lines of a place that has too many, and returns how many of them match. One does in any case: lines
/// before the first match are left out if need be, and the end of a line.
fn some_lines(place: &Place, call: &Call<'_>, page: &mut Page) -> usize {
    let name = name(call, place);
    let first = place.lines.iter().position(|line| line.is_match);
    let first = first.unwrap_or_default();
    let mut n_lines = place.lines.len();
    while n_lines > 0 {
        let from = if n_lines > first { 0 } else { first };
        let end = (from + n_lines).min(place.lines.len());
        let lines = &place.lines[from..end];
        let unit = format!("{name}, in part\n{}", page.fenced(&text(lines)));
        if page.add(&unit, RESERVE) {
            return n_matches(lines);
        }
        n_lines /= 2;
    }
    let Some(line) = place.lines.get(first) else {
        return 0;
    };
    let room = page
        .left()
        .saturating_sub(RESERVE + name.chars().count() + 60);
    let line: String = shown(&line.text).chars().take(room).collect();
    let unit = format!("{name}, in part\n{}", page.fenced(&line));
    usize::from(page.add(&unit, 0))
}

impl TakeLine for Found<'_> {
    fn pass_over(&mut self) {
        // It may be a match.
        self.is_complete &= !self.is_shown;
    }

    fn take(&mut self, line: &[u8]) -> io::Result<()> {
        let Ok(value) = serde_json::from_slice::<Value>(line) else {
            return Ok(());
        };
        let data = &value["data"];
        match value["type"].as_str() {
            Some("begin") => self.begin(data).map_err(io::Error::other)?,
            Some(kind @ ("match" | "context")) if self.is_shown => {
                self.line(data, kind == "match");
            }
            _ => {}
        }
        match self.n_matches < MAX_MATCHES {
            true => Ok(()),
            false => Err(io::ErrorKind::FileTooLarge.into()),
        }
    }
}

fn name(call: &Call<'_>, place: &Place) -> String {
    let page = place
        .page
        .map_or_else(String::new, |page| format!(", p. {page}"));
    format!("{}{page}", address(&place.location, call.here()))
}

fn page_of(data: &Value) -> Option<usize> {
    usize::try_from(data["page"].as_u64()?).ok()
}

/// Returns a line, or the surroundings of its match if it is long.
fn short(line: &[u8], start: usize) -> String {
    let end = line.strip_suffix(b"\n").unwrap_or(line);
    let end = end.strip_suffix(b"\r").unwrap_or(end);
    if end.len() <= MAX_LINE {
        return String::from_utf8_lossy(end).into_owned();
    }
    let from = start.min(end.len()).saturating_sub(MAX_LINE / 3);
    let to = (from + MAX_LINE).min(end.len());
    let text = String::from_utf8_lossy(&end[from..to]);
    let text = text.trim_matches('\u{fffd}');
    let before = if from > 0 { "…" } else { "" };
    let behind = if to < end.len() { "…" } else { "" };
    format!("{before}{text}{behind}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_around_the_match() {
        let line = format!("{}needle{}\n", "ä".repeat(1_000), "b".repeat(1_000));
        let text = short(line.as_bytes(), 2_000);
        assert!(
            text.contains("needle") && text.chars().count() <= MAX_LINE + 2,
            "{text}"
        );
        assert!(!text.contains('\u{fffd}'), "{text}");
        assert_eq!(short(b"short\r\n", 0), "short");
    }
}

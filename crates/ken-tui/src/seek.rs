//! Asks the index, on threads of its own: one finds hits, one reads the text of the chosen hit.

use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::Instant;

use ken_core::{Document, Field, FieldNames, Kind};
use ken_engine::Source;
use ken_search::parse::{Clause, Tree, Value};
use ken_search::service::{
    Error, Facets, Group, Hit, Reader, Relax, Request, Service, Snippets, Titles, day, title,
};
use ken_search::snippet::{self, Finder};

use crate::mailbox::{Letter, Mailbox};
use crate::row::{Found, Piece, Row, Target, Text, TextLine, path_text, pieces};
use crate::state::{Ask, Mode};
use crate::{Setup, grep};

/// The hits that are listed.
const ROWS: usize = 200;
/// The characters of a passage.
const PASSAGE: usize = 240;
/// The types that are counted.
const TYPES: usize = 8;
/// The bytes and lines of a text before the wanted line, and the bytes behind it.
const BEFORE: (usize, usize) = (64 << 10, 500);
const BEHIND: usize = 256 << 10;
/// The most bytes of a line that are shown.
const LINE: usize = 4000;
/// The most bytes that are read of a file that is not in the index.
const FILE: u64 = 4 << 20;

/// A wish for the text of a hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) target: Target,
    pub(crate) line: Option<usize>,
    pub(crate) ask: Ask,
}

/// What comes back, with the question of which it is the answer.
pub(crate) enum Reply {
    Found(Ask, Found),
    Text(Look, Text),
}

/// The threads, until dropped.
pub(crate) struct Seeker {
    inside: Arc<Inside>,
    finder: Option<JoinHandle<()>>,
}

struct Inside {
    setup: Setup,
    reader: Reader,
    asks: Mailbox<Ask>,
    looks: Mailbox<Look>,
}

impl Seeker {
    /// Starts the threads; replies are sent to `replies`.
    pub(crate) fn start(setup: Setup, replies: &Sender<Reply>) -> std::io::Result<Self> {
        let reader = setup.access.reader();
        let inside = Arc::new(Inside {
            setup,
            reader,
            asks: Mailbox::new(),
            looks: Mailbox::new(),
        });
        let (finder, to_finder) = (Arc::clone(&inside), replies.clone());
        let finder = spawn("finder", move || {
            while let Some(letter) = finder.asks.take() {
                let found = finder.find(&letter);
                if to_finder
                    .send(Reply::Found(letter.question, found))
                    .is_err()
                {
                    break;
                }
            }
        })?;
        let (reader, to_reader) = (Arc::clone(&inside), replies.clone());
        spawn("reader", move || {
            while let Some(letter) = reader.looks.take() {
                let text = reader.look(&letter);
                if to_reader.send(Reply::Text(letter.question, text)).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self {
            inside,
            finder: Some(finder),
        })
    }

    pub(crate) fn setup(&self) -> &Setup {
        &self.inside.setup
    }

    /// Asks another question; the answer to the one before is not waited for.
    pub(crate) fn ask(&self, ask: Ask) {
        self.inside.asks.put(ask);
    }

    /// Wants the text of a hit.
    pub(crate) fn look(&self, look: Look) {
        self.inside.looks.put(look);
    }
}

impl Drop for Seeker {
    fn drop(&mut self) {
        self.inside.asks.close();
        self.inside.looks.close();
        // It ends ken grep. The reader is not waited for: its file may be on a disk that does not answer.
        if let Some(finder) = self.finder.take() {
            // A panic of it was reported.
            let _ = finder.join();
        }
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
}

impl Inside {
    fn visible(&self, text: &str) -> String {
        (self.setup.visible)(text).into_owned()
    }

    fn find(&self, letter: &Letter<Ask>) -> Found {
        let (start, ask) = (Instant::now(), &letter.question);
        let mut found = match ask.mode {
            Mode::Grep => grep::find(&self.setup, ask, letter),
            Mode::Search
                if ask.query.trim().is_empty() && ask.folder.is_none() && ask.kind.is_none() =>
            {
                Found::default()
            }
            Mode::Search => self
                .search(ask, &letter.is_stale)
                .unwrap_or_else(|problem| Found {
                    problem: Some(self.visible(&problem)),
                    ..Found::default()
                }),
        };
        found.time = start.elapsed();
        found
    }

    fn search(&self, ask: &Ask, is_stale: &Arc<AtomicBool>) -> Result<Found, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let snapshot = self.reader.snapshot().map_err(|error| text(&error))?;
        let service = self.setup.access.service(&*snapshot, is_stale);
        self.hits(&service, ask).map_err(|error| text(&error))
    }

    fn request(&self, ask: &Ask, names: &FieldNames) -> Request {
        let folder = ask.folder.as_deref().map(|folder| {
            let folder = Value::Word(folder.to_string_lossy().into_owned());
            Tree::Clause(Clause::new(Some(Field::Dir), folder)).to_query(names)
        });
        let kind = ask.kind.iter().map(|kind| format!("type:{kind}"));
        Request {
            query: match ask.query.trim() {
                "" => "*".to_owned(),
                _ => ask.query.clone(),
            },
            prefix_last: true,
            relax: Relax::Few,
            filters: folder.into_iter().chain(kind).collect(),
            group: Some(Group::Similar),
            count: true,
            limit: Some(ROWS),
            snippets: Snippets {
                count: 1,
                length: PASSAGE,
            },
            facets: Facets {
                by: vec!["type".to_owned()],
                limit: Some(TYPES),
                ..Facets::default()
            },
            deadline_ms: self.setup.access.deadline_ms,
            ..Request::default()
        }
    }

    fn hits(&self, service: &Service<'_>, ask: &Ask) -> Result<Found, Error> {
        let mut request = self.request(ask, service.field_names());
        let query = service.understand_typing(&mut request)?;
        let left_out = query
            .left_out
            .first()
            .map(|left| left.error.message.clone());
        let titles = service.titles(&query)?;
        let answer = service.search(&request, query)?;
        let mut rows = Vec::new();
        answer.each_hit(
            |hit| hit,
            |hit| {
                rows.push(self.row(service, &titles, &hit));
                Ok::<_, Error>(())
            },
        )?;
        let total = answer.n_documents();
        let mut facets = answer.facets()?;
        if ask.kind.is_some() {
            // The other types are shown too, with what they would find.
            facets = self.other_types(service, ask)?;
        }
        let types = facets.into_iter().flat_map(|facet| facet.values);
        let types = types.map(|of| (of.value, of.count)).collect();
        let (_, missing) = answer.matched();
        let meant = match total {
            0 => answer.suggestions()?.into_iter().next(),
            _ => None,
        };
        let remark = match (meant, left_out) {
            _ if total == 0 && self.is_empty_folder(service, ask)? => {
                Some("the index has nothing below this folder".to_owned())
            }
            (Some(meant), _) => Some(format!("did you mean {}?", meant.query)),
            (None, Some(message)) => Some(message),
            (None, None) if !missing.is_empty() => {
                Some(format!("no document contains {}", missing.join(", ")))
            }
            _ => None,
        };
        Ok(Found {
            rows,
            total,
            is_complete: answer.is_complete(),
            types,
            remark: remark.map(|remark| self.visible(&remark)),
            ..Found::default()
        })
    }

    /// Returns whether the index has no document below the folder of the question. The disk is not asked.
    fn is_empty_folder(&self, service: &Service<'_>, ask: &Ask) -> Result<bool, Error> {
        if ask.folder.is_none() {
            return Ok(false);
        }
        let all = Ask {
            query: String::new(),
            kind: None,
            ..ask.clone()
        };
        let request = Request {
            limit: Some(0),
            facets: Facets::default(),
            ..self.request(&all, service.field_names())
        };
        let query = service.understand(&request)?;
        Ok(service.search(&request, query)?.n_documents() == 0)
    }

    fn other_types(
        &self,
        service: &Service<'_>,
        ask: &Ask,
    ) -> Result<Vec<ken_search::service::Facet>, Error> {
        let all = Ask {
            kind: None,
            ..ask.clone()
        };
        let mut request = Request {
            limit: Some(0),
            ..self.request(&all, service.field_names())
        };
        let query = service.understand_typing(&mut request)?;
        service.search(&request, query)?.facets()
    }

    fn row(&self, service: &Service<'_>, titles: &Titles, hit: &Hit) -> Row {
        let (document, location) = (&hit.document, &hit.location);
        let visible = |text: &str| self.visible(text);
        let best = hit.snippets.first();
        let found = best.filter(|best| !best.highlights.is_empty());
        let folder = location
            .path
            .parent()
            .unwrap_or(&location.path)
            .to_path_buf();
        let (title, marks) = match (hit.title(), location.ipath.is_root()) {
            (Some(title), _) => (title.to_owned(), titles.marks(document)),
            (None, true) => (location.file_name(), Vec::new()),
            (None, false) => (location.ipath.as_str().to_owned(), Vec::new()),
        };
        let place = found.and_then(|best| match (best.page, document.kind) {
            (Some(page), _) => Some(format!("p. {page}")),
            (None, Kind::Source) => Some(format!("line {}", best.line)),
            _ => None,
        });
        let sender = match document.kind {
            Kind::Message => document.text(Field::Author).map(str::to_owned),
            _ => None,
        };
        let context = service.context();
        let date = document
            .number(Field::Date)
            .map(|date| day(date, &context.zone));
        let folder_text = path_text(&folder, context.home.as_deref());
        let about = [sender, date, Some(folder_text), place];
        let about: Vec<String> = about.into_iter().flatten().collect();
        let passage = best.map(|best| {
            let mut passage = pieces(&best.text, best.highlights.clone(), &visible);
            if best.cut_start {
                passage.insert(0, plain("… "));
            }
            passage
        });
        Row {
            target: Target::Document(hit.id.clone()),
            address: location.address().into_os_string(),
            folder,
            title: pieces(&title, marks, &visible),
            about: visible(&about.join(" · ")),
            passage: passage.unwrap_or_default(),
            line: best.map(|best| best.line),
            page: best.and_then(|best| best.page),
        }
    }

    fn look(&self, letter: &Letter<Look>) -> Text {
        let look = &letter.question;
        let text = match &look.target {
            Target::Document(id) => self.document(id, look, &letter.is_stale),
            Target::File(path) => self
                .file(path, look.line)
                .map_err(|error| error.to_string()),
        };
        text.unwrap_or_else(|problem| Text {
            problem: Some(self.visible(&problem)),
            ..Text::default()
        })
    }

    fn document(&self, id: &str, look: &Look, is_stale: &Arc<AtomicBool>) -> Result<Text, String> {
        let snapshot = self.reader.snapshot().map_err(|error| error.to_string())?;
        let service = self.setup.access.service(&*snapshot, is_stale);
        let named = service.document(id).map_err(|error| error.to_string())?;
        let named = named.ok_or("the index does not have this document any more")?;
        let document = &named.stored.document;
        let finder = self.finder(&*snapshot, &service, &look.ask);
        let finder = finder.map_err(|error| error.to_string())?;
        let (window, first_line) = window(&document.body, look.line.unwrap_or(1));
        let is_over = || is_stale.load(std::sync::atomic::Ordering::Relaxed);
        let shown = &document.body[window];
        let ranges = finder.ranges(shown, &is_over);
        let home = service.context().home.clone();
        let mut head = vec![title(document).unwrap_or_default().to_owned()];
        head.push(path_text(&named.stored.location.path, home.as_deref()));
        head.extend(people(document));
        Ok(Text {
            head: head.iter().map(|line| self.visible(line)).collect(),
            lines: self.lines(shown, first_line, &ranges),
            first: look.line,
            problem: document.body.is_empty().then(|| "no text".to_owned()),
        })
    }

    /// Returns what finds the matches of a query in a text.
    fn finder(
        &self,
        snapshot: &dyn Source,
        service: &Service<'_>,
        ask: &Ask,
    ) -> Result<Finder, Error> {
        let mut request = self.request(ask, service.field_names());
        let query = service.understand_typing(&mut request)?;
        let plan = snapshot.expand(&query.plan, query.limits())?;
        let matchers = snippet::matchers(&plan, Field::Body);
        Ok(Finder::new(matchers, service.context().analyze))
    }

    /// Reads a file as it is, which the index may not have.
    fn file(&self, path: &Path, line: Option<usize>) -> std::io::Result<Text> {
        let mut bytes = Vec::new();
        fs_err::File::open(path)?
            .take(FILE)
            .read_to_end(&mut bytes)?;
        let body = String::from_utf8_lossy(&bytes);
        let (window, first_line) = window(&body, line.unwrap_or(1));
        let mut lines = self.lines(&body[window], first_line, &[]);
        let wanted = lines.iter_mut().find(|of| of.number == line);
        for piece in wanted.into_iter().flat_map(|of| &mut of.pieces) {
            piece.mark = true;
        }
        let home = self.setup.access.context.home.as_deref();
        Ok(Text {
            head: vec![self.visible(&path_text(path, home))],
            lines,
            first: line,
            problem: None,
        })
    }

    /// Returns the lines of a text, with a rule between pages.
    fn lines(&self, text: &str, first_line: usize, found: &[Range<usize>]) -> Vec<TextLine> {
        let visible = |text: &str| self.visible(&text.replace('\t', "    "));
        let (mut lines, mut at, mut next) = (Vec::new(), 0, 0);
        for (n, line) in text.split_inclusive('\n').enumerate() {
            for (m, page) in line.split('\u{c}').enumerate() {
                if m > 0 {
                    lines.push(TextLine::default());
                }
                let shown = page.trim_end_matches(['\n', '\r']);
                let end = shown.floor_char_boundary(LINE);
                while next < found.len() && found[next].end <= at {
                    next += 1;
                }
                let inside = found[next..]
                    .iter()
                    .take_while(|range| range.start < at + end);
                let inside = inside.filter(|range| range.start >= at);
                let inside = inside.map(|range| range.start - at..(range.end - at).min(end));
                let mut pieces = pieces(&shown[..end], inside, &visible);
                if end < shown.len() {
                    pieces.push(plain(" …"));
                }
                lines.push(TextLine {
                    number: Some(first_line + n),
                    pieces,
                });
                at += page.len() + 1;
            }
            // The last piece of a line has no mark behind it.
            at -= 1;
        }
        lines
    }
}

/// Returns who wrote a message, and to whom.
fn people(document: &Document) -> Vec<String> {
    if document.kind != Kind::Message {
        return Vec::new();
    }
    let fields = [("From", Field::Author), ("To", Field::To)];
    let line = |(name, field)| document.text(field).map(|value| format!("{name}: {value}"));
    fields.into_iter().filter_map(line).collect()
}

fn plain(text: &str) -> Piece {
    Piece {
        text: text.to_owned(),
        mark: false,
    }
}

/// Returns the bytes of a text that are shown around a line, and the number of their first line.
fn window(body: &str, line: usize) -> (Range<usize>, usize) {
    let starts = |n: usize| match n {
        0 | 1 => Some(0),
        n => body.match_indices('\n').nth(n - 2).map(|(at, _)| at + 1),
    };
    let at = starts(line).unwrap_or(0);
    let (mut start, mut n_before) = (at, 0);
    while n_before < BEFORE.1 && start > 0 {
        let before = body[..start - 1]
            .rfind('\n')
            .map_or(0, |newline| newline + 1);
        if at - before > BEFORE.0 {
            break;
        }
        (start, n_before) = (before, n_before + 1);
    }
    let end = body.floor_char_boundary(at.saturating_add(BEHIND));
    let first = if at == 0 { 1 } else { line - n_before };
    (start..end, first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_whole_lines_before_and_a_limit_behind() {
        let body = "one\ntwo\nthree\n";
        assert_eq!(window(body, 1), (0..14, 1));
        assert_eq!(window(body, 3), (0..14, 1));
        assert_eq!(window(body, 99), (0..14, 1));
        let long = "a line of text\n".repeat(100_000);
        let (shown, first) = window(&long, 50_000);
        assert_eq!(first, 49_500);
        assert_eq!(shown.start, 15 * 49_499);
        assert!(shown.len() <= BEFORE.0 + BEHIND);
        let one_line = "x".repeat(10 << 20);
        assert_eq!(window(&one_line, 1).0.len(), BEHIND);
    }
}

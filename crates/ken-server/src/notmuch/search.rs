//! `notmuch search`, `notmuch count` and `notmuch address`.

use std::collections::{BTreeSet, HashMap};

use ken_engine::Source;
use ken_mail::Mailbox;

use super::database::Database;
use super::message::Message;
use super::print::Printer;
use super::query::{Found, Query};
use super::thread::{Sort, Thread};
use super::{Error, when};

/// What `notmuch search` prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum Output {
    #[default]
    Summary,
    Threads,
    Messages,
    Files,
    Tags,
}

/// A request for `notmuch search`.
#[derive(Clone, Debug, Default)]
pub struct SearchRequest {
    /// The query.
    pub query: Query,
    /// What is printed.
    pub output: Output,
    /// The number of results to skip; a negative one counts from the end.
    pub offset: i64,
    /// The most results; all if absent.
    pub limit: Option<usize>,
    /// Print the file with this number of each message, and only messages that have so many.
    pub duplicate: Option<usize>,
    /// The version of the output.
    pub version: i64,
}

/// Which addresses `notmuch address` prints.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // each is a word of --output
pub struct AddressRequest {
    /// Those of senders.
    pub senders: bool,
    /// Those of recipients.
    pub recipients: bool,
    /// Print how often each comes.
    pub counts: bool,
    /// Print addresses without names.
    pub bare: bool,
    /// Which addresses are the same.
    pub same: Same,
}

/// Which addresses are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Same {
    /// None.
    Never,
    /// Those with the same name.
    #[default]
    Mailbox,
    /// All with the same address; the most frequent name is printed.
    Address,
}

impl Database {
    /// Prints what a search finds.
    ///
    /// # Errors
    /// Fails if the query has a mistake, or if the index cannot be read.
    pub fn search(&self, request: &SearchRequest, out: &mut Printer<'_>) -> Result<(), Error> {
        let source = self.source()?;
        let found = self.find(&*source, &request.query)?;
        match request.output {
            Output::Summary | Output::Threads => self.threads(&*source, &found, request, out),
            Output::Messages | Output::Files => self.list(&*source, &found, request, out),
            Output::Tags => {
                let mut tags = BTreeSet::new();
                for message in self.messages(&*source, &found)? {
                    tags.extend(message.tags);
                }
                out.begin_list()?;
                for tag in tags {
                    out.string(&tag)?;
                    out.separator()?;
                }
                Ok(out.end()?)
            }
        }
    }

    fn threads(
        &self,
        source: &dyn Source,
        found: &Found,
        request: &SearchRequest,
        out: &mut Printer<'_>,
    ) -> Result<(), Error> {
        let skipped = match request.offset {
            offset if offset < 0 => {
                let n_threads = self.n_threads(source, found)? as i64;
                n_threads.saturating_add(offset).max(0)
            }
            offset => offset,
        };
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        let end = skipped.saturating_add(request.limit.unwrap_or(usize::MAX));
        let mut number = 0;
        out.begin_list()?;
        if end > 0 {
            self.each_thread(source, found, &mut |thread| {
                number += 1;
                if number > skipped && number <= end {
                    match request.output {
                        Output::Threads => {
                            out.prefix("thread");
                            out.string(&thread.id())?;
                            out.separator()?;
                        }
                        _ => self.summary(&thread, request, out)?,
                    }
                }
                Ok(number < end)
            })?;
        }
        Ok(out.end()?)
    }

    fn summary(
        &self,
        thread: &Thread,
        request: &SearchRequest,
        out: &mut Printer<'_>,
    ) -> Result<(), Error> {
        let sort = request.query.sort;
        let date = thread.date(sort);
        let (now, zone) = self.clock();
        let relative = when::relative(date, now, zone);
        let (matched, total) = (thread.n_matched(), thread.messages.len());
        let (authors, subject) = (thread.authors(), thread.subject(sort));
        if out.is_text() {
            let files = match thread.n_files() {
                files if files == total => String::new(),
                files => format!("({files})"),
            };
            let id = thread.id();
            let (authors, subject) = (on_one_line(&authors), on_one_line(subject));
            let tags = thread.tags().join(" ");
            let line = format!(
                "thread:{id} {relative:>12} [{matched}/{total}{files}] {authors}; {subject} ({tags})\n"
            );
            return Ok(out.raw(line.as_bytes())?);
        }
        out.begin_map()?;
        out.entry("thread", &thread.id())?;
        out.key("timestamp")?;
        out.integer(date)?;
        out.entry("date_relative", &relative)?;
        out.key("matched")?;
        out.integer(matched as i64)?;
        out.key("total")?;
        out.integer(total as i64)?;
        out.entry("authors", &authors)?;
        out.entry("subject", subject)?;
        if request.version >= 2 {
            out.key("query")?;
            out.begin_list()?;
            for is_matched in [true, false] {
                match thread.query(is_matched) {
                    Some(query) => out.string(&query)?,
                    None => out.null()?,
                }
            }
            out.end()?;
        }
        out.key("tags")?;
        out.begin_list()?;
        for tag in thread.tags() {
            out.string(tag)?;
        }
        out.end()?;
        out.end()?;
        Ok(out.separator()?)
    }

    fn list(
        &self,
        source: &dyn Source,
        found: &Found,
        request: &SearchRequest,
        out: &mut Printer<'_>,
    ) -> Result<(), Error> {
        let skipped = match request.offset {
            offset if offset < 0 => (found.len() as i64).saturating_add(offset).max(0),
            offset => offset,
        };
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        let limit = request.limit.unwrap_or(usize::MAX);
        out.begin_list()?;
        for message in self.some_messages(source, found, skipped, limit)? {
            if request.output == Output::Messages {
                if request
                    .duplicate
                    .is_none_or(|n| n <= message.files.len().max(1))
                {
                    out.prefix("id");
                    out.string(&message.id)?;
                    out.separator()?;
                }
                continue;
            }
            for (number, file) in (1..).zip(&message.files) {
                if request.duplicate.is_none_or(|wanted| wanted == number) {
                    out.string(&file.to_string_lossy())?;
                    out.separator()?;
                }
            }
        }
        Ok(out.end()?)
    }

    /// Prints the addresses of the messages that a query finds.
    ///
    /// # Errors
    /// Fails if the query has a mistake, or if the index cannot be read.
    pub fn addresses(
        &self,
        query: &Query,
        request: AddressRequest,
        out: &mut Printer<'_>,
    ) -> Result<(), Error> {
        let source = self.source()?;
        let found = self.find(&*source, query)?;
        let mut seen = Seen::default();
        out.begin_list()?;
        for message in self.messages(&*source, &found)? {
            for text in wanted(&message, request) {
                let Some((name, address)) = read(text) else {
                    continue;
                };
                let is_new = request.same == Same::Never || seen.see(&name, &address);
                let is_known_at_the_end = request.counts || request.same == Same::Address;
                if is_new && !is_known_at_the_end {
                    print(&name, &address, 1, request, out)?;
                }
            }
        }
        if request.same != Same::Never && (request.counts || request.same == Same::Address) {
            for known in seen.counted(request.same) {
                print(&known.name, &known.address, known.count, request, out)?;
            }
        }
        Ok(out.end()?)
    }
}

/// The addresses that were seen, in the order in which they came.
#[derive(Default)]
struct Seen {
    order: Vec<String>,
    /// By the address in small letters.
    by_address: HashMap<String, Vec<Known>>,
}

/// An address with a name, and how often they came.
struct Known {
    name: String,
    address: String,
    count: u64,
}

impl Seen {
    /// Notes an address; returns whether it is new with this name.
    fn see(&mut self, name: &str, address: &str) -> bool {
        let key = address.to_lowercase();
        if !self.by_address.contains_key(&key) {
            self.order.push(key.clone());
        }
        let known = self.by_address.entry(key).or_default();
        let is_same = |of: &&mut Known| of.name == name && of.address == address;
        if let Some(same) = known.iter_mut().find(is_same) {
            same.count += 1;
            return false;
        }
        known.push(Known {
            name: name.to_owned(),
            address: address.to_owned(),
            count: 1,
        });
        true
    }

    fn counted(mut self, same: Same) -> Vec<Known> {
        let mut all = Vec::new();
        for key in self.order {
            let known = self.by_address.remove(&key).unwrap_or_default();
            if same == Same::Address {
                let count = known.iter().map(|of| of.count).sum();
                let most = known.into_iter().rev().max_by_key(|of| of.count);
                all.extend(most.map(|of| Known { count, ..of }));
                continue;
            }
            all.extend(known);
        }
        all
    }
}

fn wanted(message: &Message, request: AddressRequest) -> impl Iterator<Item = &String> {
    let senders = message.from.iter().filter(move |_| request.senders);
    let recipients = [&message.to, &message.cc, &message.bcc];
    let recipients = recipients.into_iter().flatten();
    senders.chain(recipients.filter(move |_| request.recipients))
}

/// Returns the name and the address of a value of a header; none for the name of a group.
fn read(text: &str) -> Option<(String, String)> {
    match Mailbox::read(text) {
        Some(mailbox) => Some((mailbox.name.to_owned(), mailbox.address.to_owned())),
        None => (!text.is_empty()).then(|| (String::new(), text.to_owned())),
    }
}

fn print(
    name: &str,
    address: &str,
    count: u64,
    request: AddressRequest,
    out: &mut Printer<'_>,
) -> Result<(), Error> {
    let full = Mailbox { name, address }.quoted();
    if out.is_text() {
        if request.counts {
            out.raw(format!("{count}\t").as_bytes())?;
        }
        out.string(if request.bare { address } else { &full })?;
        return Ok(out.separator()?);
    }
    out.begin_map()?;
    out.entry("name", name)?;
    out.entry("address", address)?;
    out.entry("name-addr", &full)?;
    if request.counts {
        out.key("count")?;
        out.integer(count as i64)?;
    }
    out.end()?;
    Ok(out.separator()?)
}

/// Returns a text without characters that change lines or the terminal.
pub(super) fn on_one_line(text: &str) -> String {
    let shown = |c| match c {
        '\n' | '\r' | '\t' => ' ',
        c if c.is_ascii_control() => '?',
        c => c,
    };
    text.chars().map(shown).collect()
}

/// Returns the order of a word of `--sort`.
pub fn sort(word: &str) -> Option<Sort> {
    match word {
        "oldest-first" => Some(Sort::OldestFirst),
        "newest-first" => Some(Sort::NewestFirst),
        _ => None,
    }
}

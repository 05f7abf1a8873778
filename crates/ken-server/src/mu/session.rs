//! The protocol of `mu server`: one request per line, answers in frames.
//!
//! Requests are answered one after the other. Indexing goes on at the same time, and its progress is sent whenever no
//! request waits.

mod change;
mod show;

pub use change::shared_flags;

use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded, never, select};
use ken_pipeline::updater::Outcome;

use super::docids::Docids;
use super::error::ErrorKind;
use super::plist::Plist;
use super::request::Request;
use super::{Error, Sexp, SexpError, Store};

/// How often the progress of indexing is sent.
const TICK: Duration = Duration::from_secs(2);
/// How long a session that is stopped waits for requests that are on their way.
const LAST_CALL: Duration = Duration::from_millis(50);
/// The most bytes of a request.
const MAX_REQUEST_BYTES: usize = 16 << 20;
/// The most requests that are read ahead.
const MAX_WAITING: usize = 100;

/// The version of mu that a session imitates.
#[derive(Clone, Debug)]
pub struct Version {
    text: String,
    is_new: bool,
}

impl Version {
    /// Reads a version: `1.8.13`, `1.12.15`. The protocol changes with 1.10.
    pub fn new(text: &str) -> Self {
        let mut numbers = text
            .split('.')
            .map(|number| number.parse().unwrap_or(0_u32));
        let (major, minor) = (numbers.next(), numbers.next());
        Self {
            text: text.to_owned(),
            is_new: (major, minor) >= (Some(1), Some(9)),
        }
    }

    /// Returns whether this is mu 1.10 or later, or on the way to it.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Returns the version as given.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A session with one client.
pub struct Session<W> {
    store: Store,
    version: Version,
    out: W,
    docids: Docids,
    /// The folder for attachments of forwarded messages.
    temporary: PathBuf,
    stop: (Sender<()>, Receiver<()>),
}

/// Stops a session from outside.
#[derive(Clone)]
pub struct Stopper(Sender<()>);

impl Stopper {
    /// Stops the session as soon as no request is being answered.
    pub fn stop(&self) {
        // A full channel already holds the order to stop.
        let _ = self.0.try_send(());
    }
}

/// A line from the client.
enum Line {
    Request(Vec<u8>),
    TooLong,
}

impl<W: Write> Session<W> {
    /// Creates a session that answers on `out`; its temporary files go below `temporary`.
    pub fn new(store: Store, version: Version, out: W, temporary: PathBuf) -> Self {
        Self {
            store,
            version,
            out,
            docids: Docids::default(),
            temporary,
            stop: bounded(1),
        }
    }

    /// Returns a handle that stops the session from outside, for instance on a signal.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.stop.0.clone())
    }

    /// Answers requests until the client ends the session.
    ///
    /// # Errors
    /// Fails if answers cannot be written.
    pub fn run(mut self, input: impl BufRead + Send + 'static) -> std::io::Result<()> {
        let lines = lines_of(input);
        self.welcome()?;
        loop {
            self.prompt()?;
            if !self.wait(&lines)? {
                break;
            }
        }
        self.store.close();
        Ok(())
    }

    fn welcome(&mut self) -> std::io::Result<()> {
        let version = &self.version.text;
        write!(
            self.out,
            ";; Welcome to the mu {version} command-server\n\
             ;; Use (help) to get a list of commands, (quit) to quit.\n"
        )
    }

    fn prompt(&mut self) -> std::io::Result<()> {
        self.out.write_all(b";; mu> ")?;
        self.out.flush()
    }

    /// Answers the next request; returns whether to wait for another.
    fn wait(&mut self, lines: &Receiver<Line>) -> std::io::Result<bool> {
        loop {
            let done = self.store.done().cloned().unwrap_or_else(never);
            let event = select! {
                recv(lines) -> line => match line {
                    Ok(Line::Request(line)) => return self.answer(&line),
                    Ok(Line::TooLong) => {
                        let message = "the request is too long";
                        self.error(&Error::new(ErrorKind::Syntax, message))?;
                        return Ok(true);
                    }
                    Err(_) => return Ok(false),
                },
                recv(self.stop.1) -> _ => {
                    // Earlier requests are still answered.
                    return match lines.recv_timeout(LAST_CALL) {
                        Ok(Line::Request(line)) => {
                            Stopper(self.stop.0.clone()).stop();
                            self.answer(&line)
                        }
                        _ => Ok(false),
                    };
                }
                recv(done) -> done => done.ok(),
                default(TICK) => None,
            };
            match event {
                Some(done) => self.job_done(&done)?,
                None => self.send_progress()?,
            }
            self.out.flush()?;
        }
    }

    fn answer(&mut self, line: &[u8]) -> std::io::Result<bool> {
        if line.trim_ascii().is_empty() {
            return Ok(true);
        }
        let answered = match Request::read(line) {
            Ok(request) if request.command == "quit" => return Ok(false),
            Ok(request) => self.dispatch(&request),
            Err(error) => Err(Failed::Request(error)),
        };
        match answered {
            Ok(()) => Ok(true),
            Err(Failed::Request(error)) => self.error(&error).map(|()| true),
            Err(Failed::Output(error)) => Err(error),
        }
    }

    fn dispatch(&mut self, request: &Request) -> Answered {
        match request.command.as_str() {
            "ping" => self.ping(request),
            "queries" => self.queries(request),
            "find" => self.find(request),
            "view" => self.view(request),
            "move" => self.relocate(request),
            "contacts" => self.contacts(request),
            "data" => self.data(request),
            "compose" => self.compose(request),
            "label" => self.label(request),
            "add" => self.add(request),
            "sent" => self.sent(request),
            "remove" => self.remove(request),
            "mkdir" => self.mkdir(request),
            "index" => self.index(request),
            "help" => self.help(),
            _ => Err(request.unknown().into()),
        }
    }

    fn index(&mut self, request: &Request) -> Answered {
        if !self.store.index(request.flag(":lazy-check")) {
            let message = "indexing is under way already";
            return Err(Error::new(ErrorKind::Request, message).into());
        }
        Ok(())
    }

    fn help(&mut self) -> Answered {
        self.out.write_all(HELP.as_bytes())?;
        Ok(())
    }

    /// Sends the progress of indexing.
    fn send_progress(&mut self) -> std::io::Result<()> {
        let Some(progress) = self.store.progress() else {
            return Ok(());
        };
        let checked = progress.walk.files.load(Ordering::Relaxed);
        let updated = progress.files_done.load(Ordering::Relaxed);
        self.index_info("running", checked, updated, 0)
    }

    fn job_done(&mut self, done: &Outcome) -> std::io::Result<()> {
        self.store.finished(done);
        match &done.summary {
            Ok(summary) if done.all => {
                let updated = summary.added + summary.changed + summary.moved;
                let checked = updated + summary.unchanged;
                self.index_info("complete", checked, updated, summary.gone)
            }
            Ok(_) => Ok(()),
            Err(error) => {
                let message = format!("the index was not brought up to date: {error}");
                self.error(&Error::new(ErrorKind::Index, message))
            }
        }
    }

    fn index_info(
        &mut self,
        status: &str,
        checked: u64,
        updated: u64,
        cleaned_up: u64,
    ) -> std::io::Result<()> {
        let mut list = Plist::default();
        list.add(":info", Sexp::symbol("index"));
        list.add(":status", Sexp::symbol(status));
        list.add(":checked", Sexp::number(checked));
        list.add(":updated", Sexp::number(updated));
        list.add(":cleaned-up", Sexp::number(cleaned_up));
        self.send(list)
    }

    fn error(&mut self, error: &Error) -> std::io::Result<()> {
        let code = match self.version.is_new {
            true => error.kind.new_code(),
            false => error.kind.code(),
        };
        let mut list = Plist::default();
        list.add(":error", Sexp::Number(code));
        list.add(":message", Sexp::string(&error.message));
        self.send(list)
    }

    fn send(&mut self, list: Plist) -> std::io::Result<()> {
        self.out.write_all(&Sexp::List(list.0).frame())
    }
}

type Answered = Result<(), Failed>;

/// Why a request failed.
enum Failed {
    /// The client gets the error.
    Request(Error),
    /// The client is gone.
    Output(std::io::Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Request(error)
    }
}

impl From<ken_mail::maildir::MoveError> for Failed {
    fn from(error: ken_mail::maildir::MoveError) -> Self {
        Self::Request(error.into())
    }
}

impl From<std::io::Error> for Failed {
    fn from(error: std::io::Error) -> Self {
        Self::Output(error)
    }
}

/// Reads requests on a separate thread: one per line, though strings may continue over several lines.
fn lines_of(mut input: impl BufRead + Send + 'static) -> Receiver<Line> {
    let (send, lines) = bounded(MAX_WAITING);
    std::thread::spawn(move || {
        let mut request = Vec::new();
        loop {
            let room = (MAX_REQUEST_BYTES - request.len()) as u64;
            let n_read = std::io::Read::take(&mut input, room).read_until(b'\n', &mut request);
            let is_last = !matches!(n_read, Ok(n_read) if n_read > 0);
            let is_open = Sexp::read(&request) == Err(SexpError::OpenString);
            let line = match () {
                () if request.len() >= MAX_REQUEST_BYTES => Line::TooLong,
                () if is_open && !is_last => continue,
                () if request.is_empty() => return,
                () => Line::Request(std::mem::take(&mut request)),
            };
            request.clear();
            if send.send(line).is_err() || is_last {
                return;
            }
        }
    });
    lines
}

const HELP: &str = ";; Commands are s-expressions of the form
;;   (<command-name> :param1 val1 :param2 val2 ...)
;;
;;  add      -- take a message into the index
;;  compose  -- what is needed to answer, forward or edit a message
;;  contacts -- names and addresses
;;  data     -- folders, labels
;;  find     -- messages that a query finds
;;  index    -- look for new, changed and removed messages
;;  label    -- give labels to a message, or take them away
;;  mkdir    -- make a folder of mail
;;  move     -- move messages, or change their flags
;;  ping     -- what the index holds
;;  queries  -- how many messages queries find
;;  quit     -- end
;;  remove   -- delete a message
;;  sent     -- take a message into the index that was sent
;;  view     -- one message
";

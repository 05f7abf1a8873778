//! Where foreign bytes are parsed: in this process, or in a sandboxed worker.
//!
//! An [`Extractor`] belongs to one thread. It has one worker process for the formats that are not
//! parsed in this process. A second worker is used where a member of such a file is another such
//! file (a document in an archive), while the outer worker waits. Workers are started when they are
//! first needed, and serve until they fail, have grown or have read many files.

mod answer;
mod client;
mod converted;
mod drawing;
mod drawn;
mod member;
mod protocol;
mod sandbox;
mod serve;

use std::cell::RefCell;
use std::io;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;

use ken_core::{Cause, Document, Failure, Operation};

use crate::detect::Detected;
use crate::helper::Helpers;
use crate::origin::Origin;
use crate::output::{Output, give_fields};
use crate::{Format, Input, Isolation, Limits, Member, Sink};

#[cfg(any(fuzzing, test))]
pub(crate) use answer::take_answers;
use answer::{Answer, NoAnswer};
pub use client::ARGUMENT;
use client::Worker;
pub use sandbox::{Landlock, Sandbox};
pub use serve::{Extract, serve};

/// Returns a message in which a worker hands on a part, for tests.
#[cfg(test)]
pub(crate) fn part_message(ipath: &str, length: usize) -> Vec<u8> {
    let ipath = ken_core::Ipath::from_joined(ipath);
    let mut head = protocol::Encoder::default();
    head.document(&Document::new(ipath, "a/b", ken_core::Kind::Other));
    let mut bytes = Vec::new();
    // Writing to a vector cannot fail.
    let _ = protocol::write(
        &mut bytes,
        protocol::Message::Part,
        &head.0,
        &vec![b'x'; length],
    );
    bytes
}

/// Which formats are parsed in a worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolate {
    /// Formats whose row says so.
    #[default]
    Auto,
    /// Every format.
    All,
    /// No format: slightly faster, for people who trust all their files.
    None,
}

impl Isolate {
    /// Every choice with its name in settings.
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::Auto, "auto"),
        (Self::All, "all"),
        (Self::None, "none"),
    ];
}

impl FromStr for Isolate {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        let found = Self::ALL.iter().find(|(_, known)| *known == name);
        found.map(|(isolate, _)| *isolate).ok_or(())
    }
}

/// Options of extraction.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// What one file may cost.
    pub limits: Limits,
    /// Which formats are parsed in a worker.
    pub isolate: Isolate,
    /// Absolute path of the program that calls [`serve`] when its only argument is [`ARGUMENT`]. If
    /// it is none, everything is parsed in this process.
    pub worker: Option<PathBuf>,
    /// Helpers for formats that ken has no parser for.
    pub helpers: Option<Arc<Helpers>>,
}

/// Extracts files, one after the other. Its workers die with the thread that created it.
pub struct Extractor<'o> {
    options: &'o Options,
    idle: RefCell<Vec<Worker>>,
    seed: Option<u64>,
}

impl<'o> Extractor<'o> {
    /// Creates an extractor without a worker.
    pub fn new(options: &'o Options) -> Self {
        Self {
            options,
            idle: RefCell::default(),
            seed: None,
        }
    }

    /// Makes the extractor also hash content ([`Document::content`]), with this seed.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        Self {
            seed: Some(seed),
            ..self
        }
    }

    /// Returns the limits in force.
    pub fn limits(&self) -> &'o Limits {
        &self.options.limits
    }

    /// Extracts one file or member, like [`crate::extract`], in this process or a worker, depending
    /// on its format.
    pub fn extract(&self, input: &mut Input<'_>, sink: &mut dyn Sink) {
        let limits = &self.options.limits;
        let Some(detected) = crate::detected(input, limits, sink) else {
            return;
        };
        let sink = &mut Origin::new(input, detected, self.seed, sink);
        if let Some(helpers) = &self.options.helpers
            && helpers.extract(input, detected, limits, sink)
        {
            return;
        }
        match &self.options.helpers {
            Some(helpers) => self.with_converted(helpers, input, detected, sink),
            None => self.extract_detected(input, detected, sink),
        }
    }

    fn extract_detected(&self, input: &mut Input<'_>, detected: Detected, sink: &mut dyn Sink) {
        match crate::formats::by_media_type(detected.media_type) {
            Some(format) if self.isolates(format) => {
                self.in_worker(input, detected, format, sink);
            }
            _ => crate::extract_detected(input, detected, &self.options.limits, sink),
        }
    }

    /// Extracts an input with all its members, depth first, on this thread.
    pub fn extract_all(&self, input: &mut Input<'_>, take: &mut dyn FnMut(Document)) {
        struct Inline<'a, 'o> {
            extractor: &'a Extractor<'o>,
            take: &'a mut dyn FnMut(Document),
        }
        impl Sink for Inline<'_, '_> {
            fn document(&mut self, document: Document) {
                (self.take)(document);
            }
            fn member(&mut self, member: Member) {
                self.extractor.extract(&mut Input::member(member), self);
            }
        }
        let extractor = self;
        self.extract(input, &mut Inline { extractor, take });
    }

    fn isolates(&self, format: &Format) -> bool {
        self.options.worker.is_some()
            && match self.options.isolate {
                Isolate::Auto => format.isolation == Isolation::Worker,
                Isolate::All => true,
                Isolate::None => false,
            }
    }

    fn in_worker(
        &self,
        input: &Input<'_>,
        detected: Detected,
        format: &Format,
        sink: &mut dyn Sink,
    ) {
        let limits = &self.options.limits;
        let started = Instant::now();
        let mut own = match self.answer(input, format, sink) {
            Ok(own) => own,
            Err(mut failure) => {
                failure.elapsed_ms =
                    u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
                return Output::new(input, detected, limits, sink).finish(Some(failure));
            }
        };
        give_fields(&mut own, &input.fields);
        sink.document(own);
    }

    /// Returns the own document of an input that a worker read.
    fn answer(
        &self,
        input: &Input<'_>,
        format: &Format,
        sink: &mut dyn Sink,
    ) -> Result<Document, Failure> {
        let limits = &self.options.limits;
        let account = input.account(limits);
        loop {
            let mut worker = self.worker().map_err(|error| {
                sink.try_again();
                Failure::new(Cause::system(Operation::StartWorker, &error))
            })?;
            let is_fresh = worker.n_files == 0;
            let mut n_delivered = 0;
            match worker.extract(input, &account, limits, sink, &mut n_delivered) {
                Ok(Answer { own, retire }) => {
                    if !retire {
                        self.idle.borrow_mut().push(worker);
                    }
                    return Ok(own);
                }
                // An earlier file may be the cause, so the input is tried once more in a new
                // worker.
                Err(NoAnswer::Died) if !is_fresh && n_delivered == 0 => {}
                Err(lost) => {
                    if matches!(lost, NoAnswer::Lacking(_)) {
                        sink.try_again();
                    }
                    let cause = worker.end(&lost, format.name, limits, input.size());
                    return Err(Failure::new(cause));
                }
            }
        }
    }

    /// Returns an idle worker, or a new one.
    fn worker(&self) -> io::Result<Worker> {
        if let Some(worker) = self.idle.borrow_mut().pop() {
            return Ok(worker);
        }
        let program = self.options.worker.as_ref();
        let program = program.ok_or(io::ErrorKind::NotFound)?;
        Worker::start(program, &self.options.limits)
    }

    /// Starts a worker and returns the state of its sandbox on this system; none if nothing is
    /// isolated.
    ///
    /// # Errors
    /// Fails if no worker can be started.
    pub fn sandbox(&self) -> Result<Option<Sandbox>, Cause> {
        if self.options.worker.is_none() || self.options.isolate == Isolate::None {
            return Ok(None);
        }
        let worker = self.worker();
        let mut worker = worker.map_err(|error| Cause::system(Operation::StartWorker, &error))?;
        let sandbox = worker.sandbox(&self.options.limits);
        sandbox
            .map(Some)
            .map_err(|lost| worker.end(&lost, "first", &self.options.limits, 0))
    }
}

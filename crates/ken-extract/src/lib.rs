//! What text and fields are in these bytes? [`extract`] detects the format of a file or member and
//! passes each [`Document`] and [`Member`] to a [`Sink`] as soon as it is found, so that a mailbox
//! of a million messages is never in memory as a whole. The caller decides where members are
//! extracted: immediately, or as separate jobs on other threads.
//!
//! Each input yields exactly one document with the input's own `ipath`, whatever happens. An input
//! that cannot be read yields a document without text but with a [`Failure`]; it can still be found
//! by its name.

pub mod beside;
mod child;
mod date;
pub mod detect;
mod draw;
mod error;
mod expansion;
mod formats;
#[cfg(any(fuzzing, test))]
pub mod fuzzing;
pub mod helper;
mod input;
mod limits;
mod opener;
mod origin;
mod output;
mod passwords;
pub mod picture;
mod pictures;
mod structure;
#[cfg(test)]
mod testing;
mod text;
pub mod worker;

use std::panic::{AssertUnwindSafe, catch_unwind};

use detect::Detected;
pub use error::Error;
pub use expansion::Expansion;
pub use formats::{
    ANY_TEXT, FORMATS, Format, Isolation, by_media_type as format_of, is_compressed, is_converted,
};
pub use input::Input;
use ken_core::{Cause, Crash, Document, Failure, Field, Ipath, Reader, Value};
pub use limits::Limits;
pub use opener::{OpenMessage, Opened, Opener};
pub use origin::whole_content;
use output::Output;
pub use output::add_file_name;
pub use passwords::Passwords;
pub use pictures::{Original, Pictures};
pub use structure::compression;
pub use worker::{Extractor, Isolate, Options};

/// Receives what extraction finds, in the order in which it is found. The members and inner
/// documents of a container come before the container's own document.
pub trait Sink {
    /// Receives a finished document.
    fn document(&mut self, document: Document);

    /// Announces that the caller is about to hold a member of this size in memory, until it hands on
    /// the member or announces the next one. May block until there is room.
    fn make_room(&mut self, _n_bytes: usize) {}

    /// Receives a member to be extracted now or later.
    fn member(&mut self, member: Member);

    /// Receives the content of the input, for a helper that may find its text. It comes before the
    /// input's own document, which is complete without it.
    fn content(&mut self, _content: Member) {}

    /// Returns whether the run is being stopped; containers then end early.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// Reports that something failed for a passing cause outside the file, so that the file should
    /// be tried again.
    fn try_again(&mut self) {}
}

/// A file inside a file: an archive member, an attachment, or a message of a mailbox.
#[derive(Clone, Debug, Default)]
pub struct Member {
    /// Member path: the way from the outermost file to this member.
    pub ipath: Ipath,
    /// File name without folders, which helps detection; may be empty.
    pub name: String,
    /// Media type that the container declares, if any.
    pub declared_type: Option<String>,
    /// Time of last change that the container declares, in seconds since 1970-01-01 UTC.
    pub modified: Option<i64>,
    /// Whether the member is attached to a message or document, rather than part of an archive.
    pub is_attachment: bool,
    /// Offset of the member in the outermost file, if it can be read from there.
    pub offset: Option<u64>,
    /// The content.
    pub bytes: Vec<u8>,
    /// What the container says about the member, besides its content.
    pub fields: Vec<(Field, Value)>,
    /// Number of components of `ipath` that lead to the enclosing message; set when the member is
    /// handed on.
    pub message: Option<u8>,
    /// The expansion account of the outermost file; set when the member is handed on.
    pub expansion: Option<Expansion>,
}

/// Extracts one file or member in this process; see the module's documentation.
///
/// Never panics and never fails as a whole: the input's own document carries the failure.
pub fn extract(input: &mut Input<'_>, limits: &Limits, sink: &mut dyn Sink) {
    if let Some(detected) = detected(input, limits, sink) {
        extract_detected(input, detected, limits, sink);
    }
}

/// Returns the detected format of an input. If the input cannot be read, finishes it with a
/// document that carries the failure, and returns none.
fn detected(input: &mut Input<'_>, limits: &Limits, sink: &mut dyn Sink) -> Option<Detected> {
    match input.detect() {
        Ok(detected) => Some(detected),
        Err(error) => {
            let mut output = Output::new(input, detect::UNKNOWN, limits, sink);
            let failure = output.failure(Error::Read(error));
            output.finish(Some(failure));
            None
        }
    }
}

fn extract_detected(
    input: &mut Input<'_>,
    detected: Detected,
    limits: &Limits,
    sink: &mut dyn Sink,
) {
    let format = formats::by_media_type(detected.media_type);
    // A module that unpacks by itself uses the same account as the members that it hands on.
    input.expansion = Some(input.account(limits));
    let mut output = Output::new(input, detected, limits, sink);
    let Some(format) = format else {
        return output.finish(None);
    };
    let result = catch_unwind(AssertUnwindSafe(|| (format.extract)(input, &mut output)));
    let failure = match result {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(output.failure(error)),
        Err(panic) => Some(Failure::new(Cause::Crashed {
            reader: Reader::Parser(format.name.to_owned()),
            how: Crash::Panicked,
            said: panic_text(&*panic).to_owned(),
        })),
    };
    output.finish(failure);
}

/// Upper bound of what a streaming format holds of its input at once, besides its output.
const STREAM_BYTES: u64 = 8 << 20;

/// Returns roughly how many bytes the extraction of a file holds, judging by its name.
pub fn held_bytes(name: &str, size: u64, limits: &Limits) -> u64 {
    let whole = size.min(limits.max_file_bytes);
    match formats::by_media_type(detect::by_name(name).media_type) {
        // A text is held up to the limit of what is searchable.
        Some(format) if format.streams && format.members.is_none() => {
            whole.min(limits.max_text_bytes as u64)
        }
        Some(format) if format.streams => whole.min(STREAM_BYTES),
        _ => whole,
    }
}

/// Extracts an input with all its members in this process, depth first, on this thread.
pub fn extract_all(input: &mut Input<'_>, limits: &Limits, take: &mut dyn FnMut(Document)) {
    struct Inline<'a> {
        limits: &'a Limits,
        take: &'a mut dyn FnMut(Document),
    }
    impl Sink for Inline<'_> {
        fn document(&mut self, document: Document) {
            (self.take)(document);
        }
        fn member(&mut self, member: Member) {
            extract(&mut Input::member(member), self.limits, self);
        }
    }
    extract(input, limits, &mut Inline { limits, take });
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_that_stream_hold_little() {
        let limits = Limits::default();
        assert_eq!(held_bytes("all.mbox", 1 << 30, &limits), STREAM_BYTES);
        assert_eq!(held_bytes("all.tar", 100, &limits), 100);
        let text = limits.max_text_bytes as u64;
        assert_eq!(held_bytes("all.txt", 1 << 30, &limits), text);
        assert_eq!(
            held_bytes("book.pdf", 1 << 30, &limits),
            limits.max_file_bytes
        );
        assert_eq!(held_bytes("unknown", 1 << 20, &limits), 1 << 20);
    }
}

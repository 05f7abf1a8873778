//! What a worker answers about an input, and why an answer may be missing.
//!
//! Nothing from a worker is trusted: lengths, paths and counts are checked, and the expansion
//! account of the outermost file stays here.

use std::io;

use ken_core::{Document, Ipath};

use super::protocol::{Broken, Decoder, Message};
#[cfg(any(fuzzing, test))]
use super::protocol::{PREFIX_BYTES, Prefix};
use crate::error::is_lack;
use crate::{Error, Expansion, Limits, Sink};

/// Why an answer is incomplete.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// The worker did not answer in time.
    TimedOut,
    /// The run is being stopped.
    Cancelled,
    /// The worker is gone, or the socket broke.
    Died,
    /// The system lacks the resources for the request.
    Lacking(io::Error),
    /// The worker sent something that is not allowed.
    Broken(Broken),
}

impl NoAnswer {
    /// Returns why a request could not be sent.
    pub(super) fn unasked(error: io::Error) -> Self {
        match error.kind() {
            // The worker does not receive it.
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Self::TimedOut,
            _ if is_lack(&error) => Self::Lacking(error),
            _ => Self::Died,
        }
    }
}

impl From<Broken> for NoAnswer {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

/// The result of a worker for its input.
pub(super) struct Answer {
    pub(super) own: Document,
    /// Whether the worker asks to be replaced.
    pub(super) retire: bool,
}

/// Checks what a worker finds in one input.
pub(super) struct AnswerCheck<'a> {
    ipath: &'a Ipath,
    limits: &'a Limits,
    account: &'a Expansion,
    n_expanded: u64,
    n_delivered: &'a mut u64,
    /// The first limit that was reached here. When several threads unpack one file, each knows only
    /// its own share.
    over: Option<Error>,
}

impl<'a> AnswerCheck<'a> {
    /// Creates the check of an answer about the input at `ipath`.
    pub(super) fn new(
        ipath: &'a Ipath,
        limits: &'a Limits,
        account: &'a Expansion,
        n_delivered: &'a mut u64,
    ) -> Self {
        Self {
            ipath,
            limits,
            account,
            n_expanded: 0,
            n_delivered,
            over: None,
        }
    }

    /// Takes a message; returns the answer when the message is the last one.
    pub(super) fn take(
        &mut self,
        message: Message,
        head: &[u8],
        blob: Vec<u8>,
        sink: &mut dyn Sink,
    ) -> Result<Option<Answer>, NoAnswer> {
        match message {
            Message::Part => self.part(head, blob, sink)?,
            Message::Member => self.member(head, blob, sink)?,
            Message::Content => self.content(head, blob, sink)?,
            Message::Own => return self.own(head, blob).map(Some),
            _ => return Err(Broken("a message that answers nothing").into()),
        }
        Ok(None)
    }

    fn part(&mut self, head: &[u8], blob: Vec<u8>, sink: &mut dyn Sink) -> Result<(), NoAnswer> {
        let mut document = Decoder(head).document()?;
        self.check(&document.ipath, blob.len() as u64)?;
        document.body = text(blob)?;
        sink.document(document);
        Ok(())
    }

    fn member(&mut self, head: &[u8], blob: Vec<u8>, sink: &mut dyn Sink) -> Result<(), NoAnswer> {
        let mut member = Decoder(head).member()?;
        self.check(&member.ipath, blob.len() as u64)?;
        if self.over.is_none() {
            self.over = self.account.spend(blob.len() as u64).err();
        }
        if self.over.is_some() {
            return Ok(());
        }
        member.bytes = blob;
        member.expansion = Some(self.account.clone());
        sink.member(member);
        Ok(())
    }

    /// Takes the content of the input, whose size its account already counts.
    fn content(&self, head: &[u8], blob: Vec<u8>, sink: &mut dyn Sink) -> Result<(), NoAnswer> {
        let mut content = Decoder(head).member()?;
        if content.ipath != *self.ipath {
            return Err(Broken("the content of another file").into());
        }
        content.bytes = blob;
        content.expansion = Some(self.account.clone());
        sink.content(content);
        Ok(())
    }

    fn own(&mut self, head: &[u8], blob: Vec<u8>) -> Result<Answer, NoAnswer> {
        let mut head = Decoder(head);
        let retire = head.flag()?;
        let n_unpacked = head.number()?;
        let mut own = head.document()?;
        if own.ipath != *self.ipath {
            return Err(Broken("a document of another file").into());
        }
        own.body = text(blob)?;
        let over = self.over.take();
        let over = over.or_else(|| self.account.spend(n_unpacked).err());
        own.failure = own.failure.or_else(|| over.map(Into::into));
        Ok(Answer { own, retire })
    }

    /// Counts a part; an honest worker stops before it breaks these limits.
    fn check(&mut self, ipath: &Ipath, n_bytes: u64) -> Result<(), NoAnswer> {
        *self.n_delivered += 1;
        self.n_expanded = self.n_expanded.saturating_add(n_bytes);
        let limits = self.limits;
        let inside = ipath.as_str().strip_prefix(self.ipath.as_str());
        let is_inside = inside.is_some_and(|rest| {
            !rest.is_empty() && (self.ipath.is_root() || rest.starts_with('|'))
        });
        if !is_inside || ipath.depth() > limits.max_depth.saturating_add(1) {
            return Err(Broken("a part that is not inside its file").into());
        }
        if *self.n_delivered > limits.max_members.saturating_add(1)
            || self.n_expanded > limits.max_expanded_bytes
        {
            return Err(Broken("more parts than the limits allow").into());
        }
        Ok(())
    }
}

fn text(blob: Vec<u8>) -> Result<String, Broken> {
    String::from_utf8(blob).map_err(|_| Broken("text that is not UTF-8"))
}

/// Takes the messages of a worker for one input, until it breaks the rules or finishes.
#[cfg(any(fuzzing, test))]
pub(crate) fn take_answers(mut bytes: &[u8], limits: &Limits, sink: &mut dyn Sink) {
    let account = Expansion::resume(0, limits.max_expanded_bytes, limits);
    let mut n_delivered = 0;
    let root = Ipath::root();
    let mut found = AnswerCheck::new(&root, limits, &account, &mut n_delivered);
    while let Some((prefix, rest)) = bytes.split_first_chunk::<PREFIX_BYTES>() {
        let Ok(prefix) = Prefix::read(*prefix, limits.max_text_bytes) else {
            return;
        };
        let Some((head, rest)) = rest.split_at_checked(prefix.n_head) else {
            return;
        };
        let Some((blob, rest)) = rest.split_at_checked(prefix.n_blob) else {
            return;
        };
        if !matches!(
            found.take(prefix.message, head, blob.to_vec(), sink),
            Ok(None)
        ) {
            return;
        }
        bytes = rest;
    }
}

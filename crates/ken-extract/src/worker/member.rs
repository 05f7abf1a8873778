//! Reads one member again: a message of a mailbox by its position, or a document at any depth by its
//! member path.

use std::fs::File;
use std::io;

use ken_core::{Document, Ipath, MessageSpan};

use super::Extractor;
use crate::origin;
use crate::{Input, Member, Sink};

/// Takes the first accepted member; anything after it is not read.
struct First<'a> {
    accepts: &'a dyn Fn(&Member) -> bool,
    found: Option<Member>,
}

impl Sink for First<'_> {
    fn document(&mut self, _: Document) {}

    fn member(&mut self, member: Member) {
        if self.found.is_none() && (self.accepts)(&member) {
            self.found = Some(member);
        }
    }

    fn is_cancelled(&self) -> bool {
        self.found.is_some()
    }
}

impl Extractor<'_> {
    /// Returns the position of a member in the outermost file, as its document will hold it.
    pub fn message_span(&self, member: &Member) -> Option<MessageSpan> {
        let seed = self.seed?;
        origin::message_span(member.offset, member.modified, &member.bytes, seed)
    }

    /// Reads the message of a mailbox that was indexed at this position; returns none if it is neither
    /// there nor nearby. A compressed mailbox is decompressed up to the message.
    ///
    /// # Errors
    /// Fails if the mailbox cannot be read.
    pub fn message_at(
        &self,
        name: &str,
        file: &File,
        span: MessageSpan,
        ipath: &Ipath,
    ) -> io::Result<Option<Member>> {
        let is_it = |member: &Member| {
            let found = self.message_span(member);
            found.is_some_and(|found| found.digest == span.digest)
        };
        let mut input = Input::file(name, file, file.metadata()?.len());
        if !crate::formats::is_compressed(crate::detect::detect(&input)?.media_type) {
            return crate::formats::message_near(file, span.offset, ipath, self.limits(), &is_it);
        }
        let mut first = First {
            accepts: &is_it,
            found: None,
        };
        self.extract(&mut input, &mut first);
        Ok(first.found.map(|found| Member {
            ipath: ipath.clone(),
            ..found
        }))
    }

    /// Reads the member at this path inside an input, through all containers on the way; returns none
    /// if there is no such member.
    pub fn member(&self, input: &mut Input<'_>, ipath: &Ipath) -> Option<Member> {
        let leads_there =
            |member: &Member| ipath.prefix(member.ipath.depth()) == member.ipath.as_str();
        let mut first = First {
            accepts: &leads_there,
            found: None,
        };
        self.extract(input, &mut first);
        while let Some(member) = first.found.take_if(|member| member.ipath != *ipath) {
            self.extract(&mut Input::member(member), &mut first);
        }
        first.found
    }
}

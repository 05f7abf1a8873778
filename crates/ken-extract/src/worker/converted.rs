//! Extracts files whose text a helper makes readable: the fields from the format and the text from
//! the helper become one document.

use std::time::Instant;

use ken_core::{Document, Failure, Field, Ipath};

use super::Extractor;
use crate::detect::{self, Detected};
use crate::formats::is_converted;
use crate::helper::{Converted, Helpers};
use crate::{Input, Member, Sink};

/// Holds back the input's own document and its content, and hands on everything else.
struct Kept<'s> {
    ipath: Ipath,
    sink: &'s mut dyn Sink,
    own: Option<Document>,
    content: Option<Member>,
}

impl<'s> Kept<'s> {
    fn new(ipath: &Ipath, sink: &'s mut dyn Sink) -> Self {
        Self {
            ipath: ipath.clone(),
            sink,
            own: None,
            content: None,
        }
    }
}

impl Sink for Kept<'_> {
    fn document(&mut self, document: Document) {
        if document.ipath == self.ipath {
            self.own = Some(document);
        } else {
            self.sink.document(document);
        }
    }
    fn make_room(&mut self, n_bytes: usize) {
        self.sink.make_room(n_bytes);
    }
    fn member(&mut self, member: Member) {
        self.sink.member(member);
    }
    fn content(&mut self, content: Member) {
        self.content = Some(content);
    }
    fn is_cancelled(&self) -> bool {
        self.sink.is_cancelled()
    }
    fn try_again(&mut self) {
        self.sink.try_again();
    }
}

impl Extractor<'_> {
    /// Extracts an input, and its text by a helper if the format needs one.
    pub(super) fn with_converted(
        &self,
        helpers: &Helpers,
        input: &mut Input<'_>,
        detected: Detected,
        sink: &mut dyn Sink,
    ) {
        let mut kept = Kept::new(&input.ipath, sink);
        self.extract_detected(input, detected, &mut kept);
        let Kept { own, content, .. } = kept;
        let Some(mut own) = own else { return };
        if is_converted(&own.media_type) {
            let content = content.map(Input::member);
            // For compressed files the content arrives, unless it could not be unpacked.
            let is_input = own.media_type == detected.media_type;
            if let Some(content) = content.as_ref().or(is_input.then_some(&*input)) {
                self.join_converted(helpers, content, &mut own, sink);
            }
        } else if let Some(content) = content {
            sink.content(content);
        }
        sink.document(own);
    }

    /// Adds the text of an input to its own document.
    fn join_converted(
        &self,
        helpers: &Helpers,
        input: &Input<'_>,
        own: &mut Document,
        sink: &mut dyn Sink,
    ) {
        let limits = self.limits();
        let started = Instant::now();
        let Some(converted) = helpers.convert(input, &own.media_type, limits) else {
            return;
        };
        let Converted {
            media_type,
            content,
            result,
        } = converted;
        let mut failure = result.err().map(|error| {
            if error.is_passing() {
                sink.try_again();
            }
            Failure::from(error)
        });
        if !content.is_empty()
            && let Some(text) = self.text_of(input, media_type, content, sink)
        {
            own.body = text.body;
            if let Some(pages) = text.fields.iter().find(|(field, _)| *field == Field::Pages)
                && own.number(Field::Pages).is_none()
            {
                own.fields.push(pages.clone());
            }
            failure = failure.or(text.failure);
        }
        if let Some(failure) = &mut failure {
            failure.elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        }
        own.failure = own.failure.take().or(failure);
    }

    fn text_of(
        &self,
        input: &Input<'_>,
        media_type: String,
        content: Vec<u8>,
        sink: &mut dyn Sink,
    ) -> Option<Document> {
        let mut content = Input::member(Member {
            ipath: input.ipath.clone(),
            declared_type: Some(media_type),
            bytes: content,
            expansion: Some(input.account(self.limits())),
            ..Member::default()
        });
        let detected = detect::detect(&content).ok()?;
        let mut kept = Kept::new(&input.ipath, sink);
        self.extract_detected(&mut content, detected, &mut kept);
        kept.own
    }
}

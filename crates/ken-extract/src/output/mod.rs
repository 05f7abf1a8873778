//! The output of format modules: applies limits, and ensures one own document per input.

pub(crate) mod body;
pub(crate) mod first_values;
mod grid;
pub(crate) mod members;
pub(crate) mod metadata;

use std::collections::HashSet;
use std::time::Instant;

use ken_core::{Document, Failure, Field, Ipath, Kind, Setting, Value, unescape_bytes};

use crate::detect::Detected;
use crate::{Error, Expansion, Input, Limits, Member, Sink};

/// Number of values that are reserved for the fields of every document.
const MAX_OWN_VALUES: usize = 100;

/// Adds a container's fields to a document, unless the document has the same values.
pub(crate) fn give_fields(document: &mut Document, fields: &[(Field, Value)]) {
    for given in fields {
        if !document.fields.contains(given) {
            document.fields.push(given.clone());
        }
    }
}

/// Adds the name of a file, as [`escape_bytes`](ken_core::escape_bytes) writes it. A name in another
/// charset than UTF-8 is added as text first, so that it is shown and found by its words.
pub fn add_file_name(document: &mut Document, name: &str) {
    if let Some(bytes) = unescape_bytes(name.as_bytes())
        && std::str::from_utf8(&bytes).is_err()
    {
        document.add_text(Field::Filename, &crate::text::names::decode(&bytes));
    }
    document.add_text(Field::Filename, name);
}

/// Receives what a format module finds in one input.
pub(crate) struct Output<'s> {
    sink: &'s mut dyn Sink,
    limits: &'s Limits,
    ipath: Ipath,
    name: String,
    modified: Option<i64>,
    fields: Vec<(Field, Value)>,
    is_attachment: bool,
    size: u64,
    detected: Detected,
    own: Option<Document>,
    n_members: u64,
    expanded_bytes: u64,
    expansion: Expansion,
    started: Instant,
    /// Types of the members, for `has:`.
    has: HashSet<String>,
}

/// Maximum number of different types; containers with members of any type are found by
/// `has:member`.
const MAX_SORTS: usize = 100;

impl<'s> Output<'s> {
    pub(crate) fn new(
        input: &Input<'_>,
        detected: Detected,
        limits: &'s Limits,
        sink: &'s mut dyn Sink,
    ) -> Self {
        Self {
            sink,
            limits,
            ipath: input.ipath.clone(),
            name: input.name.clone(),
            modified: input.modified,
            fields: input.fields.clone(),
            is_attachment: input.is_attachment,
            size: input.size(),
            detected,
            own: None,
            n_members: 0,
            expanded_bytes: 0,
            expansion: input.account(limits),
            started: Instant::now(),
            has: HashSet::new(),
        }
    }

    pub(crate) fn limits(&self) -> &'s Limits {
        self.limits
    }

    /// Returns the detected format, for modules that read several media types.
    pub(crate) fn detected(&self) -> Detected {
        self.detected
    }

    /// Changes the detected format before the own document is made: the content of a compressed
    /// file takes the place of the file.
    pub(crate) fn set_detected(&mut self, detected: Detected) {
        self.detected = detected;
    }

    /// Returns the input's own document, to be filled; creates it at the first call.
    pub(crate) fn own(&mut self) -> &mut Document {
        self.own.get_or_insert_with(|| {
            Document::new(
                self.ipath.clone(),
                self.detected.media_type,
                self.detected.kind,
            )
        })
    }

    /// Returns the member path of the input.
    pub(crate) fn ipath(&self) -> &Ipath {
        &self.ipath
    }

    /// Returns the member path of a member called `component`.
    pub(crate) fn child_ipath(&self, component: &str) -> Ipath {
        self.ipath.child(component)
    }

    /// Announces a member of `n_bytes` that is about to be in memory; blocks until there is room.
    /// Formats that workers read need not announce members, because the parent does so for what a
    /// worker sends.
    pub(crate) fn make_room(&mut self, n_bytes: u64) {
        self.sink
            .make_room(usize::try_from(n_bytes).unwrap_or(usize::MAX));
    }

    /// Hands on a member, which is extracted separately.
    ///
    /// # Errors
    /// Fails when a limit on depth, number or total size is reached, or the run is stopped. The
    /// module then returns that error.
    pub(crate) fn member(&mut self, mut member: Member) -> Result<(), Error> {
        self.check(member.bytes.len() as u64)?;
        self.note(
            &member.name,
            member.declared_type.as_deref(),
            member.is_attachment,
        );
        member.expansion = Some(self.expansion.clone());
        self.sink.member(member);
        Ok(())
    }

    /// Hands on the unpacked content of the input, for a helper that finds its text.
    pub(crate) fn content(&mut self, content: Member) {
        self.sink.content(content);
    }

    /// Hands on a member whose content is too large, encrypted or damaged; it is found by its name.
    pub(crate) fn failed_member(
        &mut self,
        component: &str,
        name: &str,
        error: Error,
    ) -> Result<(), Error> {
        self.check(0)?;
        self.note(name, None, false);
        let detected = crate::detect::by_name(name);
        let mut document = Document::new(
            self.child_ipath(component),
            detected.media_type,
            detected.kind,
        );
        add_file_name(&mut document, name);
        document.failure = Some(Failure {
            container: self.detected.media_type.to_owned(),
            ..error.into()
        });
        self.sink.document(document);
        Ok(())
    }

    /// Records the type of a member, by what is known before it is read.
    fn note(&mut self, name: &str, declared: Option<&str>, is_attachment: bool) {
        if self.has.len() >= MAX_SORTS {
            return;
        }
        // A name often says more than the type `application/octet-stream`; but what is declared a message is read as one.
        let detected = match declared.and_then(crate::detect::by_media_type) {
            Some(detected) if name.is_empty() || detected.kind == Kind::Message => detected,
            _ => crate::detect::by_name(name),
        };
        let is_known = detected.kind != Kind::Other;
        let extension = ken_core::extension(name);
        let values = [
            Some("member"),
            is_attachment.then_some("attachment"),
            is_known.then_some(detected.kind.name()),
            is_known.then_some(detected.media_type),
            extension.as_deref(),
        ];
        for value in values.into_iter().flatten() {
            if !self.has.contains(value) {
                self.has.insert(value.to_owned());
            }
        }
    }

    /// Counts content that was unpacked in place of the input.
    ///
    /// # Errors
    /// Fails when everything inside the outermost file expands too far.
    pub(crate) fn unpacked(&self, n_bytes: u64) -> Result<(), Error> {
        self.expansion.spend(n_bytes)
    }

    fn check(&mut self, expanded: u64) -> Result<(), Error> {
        if self.sink.is_cancelled() {
            return Err(Error::Cancelled);
        }
        self.n_members += 1;
        self.expanded_bytes += expanded;
        let limits = self.limits;
        if self.ipath.depth() >= limits.max_depth {
            return Err(limits.reached(Setting::MaxDepth));
        }
        if self.n_members > limits.max_members {
            return Err(limits.reached(Setting::MaxMembers));
        }
        if self.expanded_bytes > limits.max_expanded_bytes {
            return Err(limits.reached(Setting::MaxExpandedBytes));
        }
        self.expansion.spend(expanded)
    }

    /// Returns the failure of an error; reports a passing one to the sink.
    pub(crate) fn failure(&mut self, error: Error) -> Failure {
        if error.is_passing() {
            self.sink.try_again();
        }
        error.into()
    }

    /// Limits the own text, sets the fields of every document, and hands the document on.
    pub(crate) fn finish(&mut self, mut failure: Option<Failure>) {
        self.own();
        let Some(mut document) = self.own.take() else {
            return;
        };
        if document.body.len() > self.limits.max_text_bytes {
            let end = document
                .body
                .floor_char_boundary(self.limits.max_text_bytes);
            document.body.truncate(end);
            document.body.shrink_to_fit();
            failure = failure.or_else(|| Some(self.limits.reached(Setting::MaxTextBytes).into()));
        }
        if document.is_full() {
            document
                .fields
                .truncate(Document::MAX_VALUES - MAX_OWN_VALUES);
            let what = format!(
                "of more than {} values only some are searchable",
                Document::MAX_VALUES
            );
            failure = failure.or_else(|| Some(Error::built_in(what).into()));
        }
        document.fields.retain(|value| !is_no_time(value));
        if document.text(Field::Filename).is_none() {
            add_file_name(&mut document, &self.name);
        }
        if document.number(Field::Size).is_none() {
            document.add_number(Field::Size, i64::try_from(self.size).unwrap_or(i64::MAX));
        }
        if let Some(modified) = self.modified
            && document.number(Field::Modified).is_none()
        {
            document.add_number(Field::Modified, modified);
        }
        give_fields(&mut document, &self.fields);
        let mut has: Vec<String> = self.has.drain().collect();
        has.sort_unstable();
        for value in has {
            let value = (Field::Has, Value::Text(value));
            // A part of a message may have the same type as a file.
            if !document.fields.contains(&value) {
                document.fields.push(value);
            }
        }
        if self.is_attachment {
            document.add_text(Field::Is, "attachment");
        }
        document.failure = failure.or(document.failure);
        if let Some(failure) = &mut document.failure
            && failure.elapsed_ms == 0
        {
            let elapsed_ms = self.started.elapsed().as_millis();
            failure.elapsed_ms = u64::try_from(elapsed_ms).unwrap_or(u64::MAX);
        }
        self.sink.document(document);
    }
}

/// Returns whether a value is a date that a program wrote for none.
fn is_no_time((field, value): &(Field, Value)) -> bool {
    let is_date = matches!(field, Field::Created | Field::Date);
    is_date && matches!(value, Value::Number(seconds) if crate::date::is_none(*seconds))
}

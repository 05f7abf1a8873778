//! `notmuch show`: messages with their parts, as `devel/schemata` of notmuch describes them.
//!
//! Headers and parts are read from the file, tags and the place in a thread come from the index. Parts are numbered
//! depth first; the message itself is 0.

use std::io::Read;
use std::path::Path;

use ken_mail::{Mailbox, TreeInner, TreePart};

use super::crypto::{self, Gnupg, Verdicts};
use super::database::Database;
use super::message::Message;
use super::print::Printer;
use super::query::Query;
use super::thread::{Branch, Links, Thread, trees};
use super::{Error, detect, gzip, when};

/// The most bytes of a message's file.
const MAX_FILE_BYTES: u64 = 512 << 20;

/// The format of `notmuch show`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum ShowFormat {
    Structured,
    Text,
    Mbox,
    Raw,
}

/// A request for `notmuch show`.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools)] // each is an option
pub struct ShowRequest {
    /// The query.
    pub query: Query,
    /// The format.
    pub format: ShowFormat,
    /// The version of structured output.
    pub version: i64,
    /// The number of the part that is shown; all if absent.
    pub part: Option<usize>,
    /// The number of the file that is shown, from 1.
    pub duplicate: Option<usize>,
    /// Whether messages of the thread that do not match are shown.
    pub entire_thread: bool,
    /// Whether messages stand alone, without their threads.
    pub unthreaded: bool,
    /// Whether excluded messages are left out.
    pub omits_excluded: bool,
    /// Whether the parts are shown.
    pub body: bool,
    /// Whether the text of HTML is shown.
    pub include_html: bool,
    /// Headers that are shown besides the usual ones.
    pub extra_headers: Vec<String>,
}

impl Database {
    /// Prints messages. Returns false if something could not be shown, after telling `warn`.
    ///
    /// # Errors
    /// Fails if the query has a mistake, or if the index cannot be read.
    pub fn show(
        &self,
        request: &ShowRequest,
        gnupg: Gnupg<'_>,
        out: &mut Printer<'_>,
        warn: &mut dyn FnMut(&str),
    ) -> Result<bool, Error> {
        let source = self.source()?;
        let found = self.find(&*source, &request.query)?;
        let mut show = Show {
            database: self,
            request,
            gnupg,
            out,
            warn,
            is_good: true,
            stashed: Vec::new(),
        };
        let is_single = request.part.is_some()
            || request.duplicate.is_some()
            || request.format == ShowFormat::Raw;
        if is_single {
            if found.len() != 1 {
                let message = format!(
                    "Error: search term did not match precisely one message (matched {} messages).",
                    found.len()
                );
                return Err(Error::said(message));
            }
            for message in self.messages(&*source, &found)? {
                show.message(&message, 0)?;
            }
            return show.end();
        }
        show.out.begin_list()?;
        if request.unthreaded {
            for message in self.messages(&*source, &found)? {
                show.alone(&message)?;
            }
        } else {
            self.each_thread(&*source, &found, &mut |thread| {
                show.thread(&thread)?;
                Ok(true)
            })?;
        }
        show.out.end()?;
        show.end()
    }

    /// Reads a file of a message: one with a number, else the first that is there.
    pub(super) fn read_file(
        &self,
        message: &Message,
        number: Option<usize>,
    ) -> Result<Vec<u8>, Error> {
        let is_meant = |at: usize| number.is_none_or(|number| number == at + 1);
        let files = message.files.iter().enumerate();
        let files = files.filter(|(at, _)| is_meant(*at)).map(|(_, file)| file);
        let mut failed = None;
        for file in files {
            match read(&self.real_path(file)) {
                Ok(bytes) => return Ok(bytes),
                Err(error) => {
                    let cause = ken_search::service::system_words(&error);
                    failed = Some(format!("Error opening {}: {cause}", file.display()));
                }
            }
        }
        Err(Error::Said(failed.unwrap_or_else(|| {
            "Error: Cannot get message filename.".to_owned()
        })))
    }
}

fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = ken_pipeline::open_named(path)?;
    file.take(MAX_FILE_BYTES).read_to_end(&mut bytes)?;
    Ok(gzip::unpacked(&bytes).into_owned())
}

struct Show<'s, 'o> {
    database: &'s Database,
    request: &'s ShowRequest,
    gnupg: Gnupg<'s>,
    out: &'s mut Printer<'o>,
    warn: &'s mut dyn FnMut(&str),
    is_good: bool,
    /// The messages that were decrypted, with their session keys.
    stashed: Vec<(Message, Vec<String>)>,
}

impl Show<'_, '_> {
    /// Keeps the session keys if that is wanted. Returns whether everything was shown.
    fn end(self) -> Result<bool, Error> {
        if let Some(decrypt) = self.gnupg.decrypt {
            self.database.stash(&self.stashed, decrypt)?;
        }
        Ok(self.is_good)
    }

    fn alone(&mut self, message: &Message) -> Result<(), Error> {
        self.out.begin_list()?;
        self.out.begin_list()?;
        if message.is_excluded && self.request.omits_excluded {
            self.out.null()?;
        } else {
            self.message(message, 0)?;
        }
        self.out.end()?;
        Ok(self.out.end()?)
    }

    fn thread(&mut self, thread: &Thread) -> Result<(), Error> {
        let links: Vec<Links> = thread
            .messages
            .iter()
            .map(|message| self.links(message))
            .collect();
        self.branches(&trees(&links), &thread.messages, 0)
    }

    fn links(&self, message: &Message) -> Links {
        let bytes = self.database.read_file(message, None).unwrap_or_default();
        let tree = TreePart::read(&bytes, &detect);
        Links {
            id: message.id.clone(),
            in_reply_to: tree.ids("In-Reply-To", &detect).into_iter().next_back(),
            references: tree.ids("References", &detect),
        }
    }

    fn branches(
        &mut self,
        branches: &[Branch],
        messages: &[Message],
        depth: usize,
    ) -> Result<(), Error> {
        self.out.begin_list()?;
        for branch in branches {
            let message = &messages[branch.at];
            let is_left_out = message.is_excluded && self.request.omits_excluded;
            let is_wanted = message.is_matched && !is_left_out || self.request.entire_thread;
            self.out.begin_list()?;
            if is_wanted {
                self.message(message, depth)?;
            } else {
                self.out.null()?;
            }
            self.branches(&branch.answers, messages, depth + usize::from(is_wanted))?;
            self.out.end()?;
        }
        Ok(self.out.end()?)
    }

    /// Shows a message, or one of its parts. A file that cannot be read is reported.
    fn message(&mut self, message: &Message, depth: usize) -> Result<(), Error> {
        let bytes = match self.database.read_file(message, self.request.duplicate) {
            Ok(bytes) => bytes,
            Err(error) => {
                (self.warn)(&error.to_string());
                self.is_good = false;
                return Ok(());
            }
        };
        let tree = TreePart::read(&bytes, &detect);
        let keys = || self.database.session_keys(&message.id);
        let mut verdicts = Verdicts::of(&tree, self.gnupg, &keys);
        if self.gnupg.keeps_session_keys && !verdicts.session_keys.is_empty() {
            let keys = std::mem::take(&mut verdicts.session_keys);
            self.stashed.push((message.clone(), keys));
        }
        let part = self.request.part.unwrap_or(0);
        match self.request.format {
            ShowFormat::Mbox => self.mbox(message, &tree, &bytes),
            ShowFormat::Raw if part == 0 => Ok(self.out.raw(&bytes)?),
            ShowFormat::Structured if part == 0 => {
                let tree = (&tree, &verdicts);
                structured_message(self.database, message, tree, self.request, self.out)
            }
            _ if part == 0 => self.text(message, &tree, &verdicts, depth),
            _ => self.sought(&tree, &verdicts, part, &mut 0, true),
        }
    }

    /// Shows the part with a number, which is searched for depth first. `is_top` is whether its header is that of a
    /// message.
    fn sought(
        &mut self,
        part: &TreePart<'_>,
        verdicts: &Verdicts,
        wanted: usize,
        number: &mut usize,
        is_top: bool,
    ) -> Result<(), Error> {
        *number += 1;
        if *number == wanted {
            let mut before = *number - 1;
            return match self.request.format {
                ShowFormat::Raw => self.raw(part, is_top),
                ShowFormat::Structured => {
                    structured_part(part, verdicts, &mut before, self.request, self.out)
                }
                _ => self.text_part(part, verdicts, &mut before),
            };
        }
        if *number > wanted {
            return Ok(());
        }
        if let TreeInner::Message(inner) = &part.inner {
            return self.sought(inner, verdicts, wanted, number, true);
        }
        each_child(part, verdicts, &mut |child| {
            self.sought(child, verdicts, wanted, number, false)
        })
    }

    fn line(&mut self, line: &str) -> Result<(), Error> {
        self.out.raw(line.as_bytes())?;
        Ok(self.out.raw(b"\n")?)
    }

    fn text(
        &mut self,
        message: &Message,
        tree: &TreePart<'_>,
        verdicts: &Verdicts,
        depth: usize,
    ) -> Result<(), Error> {
        let file = message.files.first().map(|file| file.display().to_string());
        self.line(&format!(
            "\u{c}message{{ id:{} depth:{depth} match:{} excluded:{} filename:{}",
            message.id,
            u8::from(message.is_matched),
            u8::from(message.is_excluded),
            file.unwrap_or_default()
        ))?;
        let (now, zone) = self.database.clock();
        let date = when::relative(message.date, now, zone);
        let from = tree
            .header("From", &detect)
            .into_iter()
            .next()
            .unwrap_or_default();
        let tags = message.tags.join(" ");
        self.text_headers(tree, Some(&format!("{from} ({date}) ({tags})")))?;
        if self.request.body {
            self.line("\u{c}body{")?;
            self.text_part(tree, verdicts, &mut 0)?;
            self.line("\u{c}body}")?;
        }
        self.line("\u{c}message}")
    }

    fn text_headers(&mut self, tree: &TreePart<'_>, summary: Option<&str>) -> Result<(), Error> {
        self.line("\u{c}header{")?;
        if let Some(summary) = summary {
            self.line(summary)?;
        }
        let headers = Headers::of(tree);
        self.line(&format!(
            "Subject: {}",
            headers.subject.as_deref().unwrap_or("(null)")
        ))?;
        let from = if headers.from.is_empty() {
            "(null)"
        } else {
            &headers.from
        };
        self.line(&format!("From: {from}"))?;
        for (name, value) in [("To", &headers.to), ("Cc", &headers.cc)] {
            if !value.is_empty() {
                self.line(&format!("{name}: {value}"))?;
            }
        }
        self.line(&format!("Date: {}", headers.date))?;
        self.line("\u{c}header}")
    }

    fn text_part(
        &mut self,
        part: &TreePart<'_>,
        verdicts: &Verdicts,
        number: &mut usize,
    ) -> Result<(), Error> {
        *number += 1;
        let kind = if part.is_attachment() {
            "attachment"
        } else {
            "part"
        };
        let is_leaf = matches!(part.inner, TreeInner::Leaf);
        let mut line = format!("\u{c}{kind}{{ ID: {number}");
        if let Some(name) = part.file_name.as_ref().filter(|_| is_leaf) {
            line.push_str(&format!(", Filename: {name}"));
        }
        if let Some(id) = &part.content_id {
            line.push_str(&format!(", Content-id: {id}"));
        }
        self.line(&format!("{line}, Content-type: {}", part.media_type))?;
        match &part.inner {
            TreeInner::Message(inner) => {
                self.text_headers(inner, None)?;
                self.line("\u{c}body{")?;
                self.text_part(inner, verdicts, number)?;
                self.line("\u{c}body}")?;
            }
            TreeInner::Multipart(_) => {
                each_child(part, verdicts, &mut |child| {
                    self.text_part(child, verdicts, number)
                })?;
            }
            TreeInner::Leaf if is_shown_text(part, self.request.include_html) => {
                self.out.raw(part.text(&detect).as_bytes())?;
            }
            TreeInner::Leaf => {
                self.line(&format!("Non-text part: {}", part.media_type))?;
                each_child(part, verdicts, &mut |child| {
                    self.text_part(child, verdicts, number)
                })?;
            }
        }
        self.line(&format!("\u{c}{kind}}}"))
    }

    fn mbox(&mut self, message: &Message, tree: &TreePart<'_>, bytes: &[u8]) -> Result<(), Error> {
        let from = tree.addresses("From", &detect).into_iter().next();
        let from = from.as_deref().and_then(Mailbox::read);
        let from = from.map_or("MAILER-DAEMON", |from| from.address);
        self.line(&format!("From {from} {}", when::of_mailbox(message.date)))?;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let quotes = line.iter().take_while(|byte| **byte == b'>').count();
            if line[quotes..].starts_with(b"From ") {
                self.out.raw(b">")?;
            }
            self.out.raw(line)?;
        }
        Ok(self.out.raw(b"\n")?)
    }

    fn raw(&mut self, part: &TreePart<'_>, is_top: bool) -> Result<(), Error> {
        let bytes = match &part.inner {
            // The message without the header of the part that it is in.
            TreeInner::Message(inner) => inner.whole.into(),
            TreeInner::Leaf => part.content(),
            TreeInner::Multipart(_) if is_top => part.without_message_header().into(),
            TreeInner::Multipart(_) => part.whole.into(),
        };
        Ok(self.out.raw(&bytes)?)
    }
}

/// Calls `each` with the parts of a part. What was decrypted stands for its cipher.
fn each_child(
    part: &TreePart<'_>,
    verdicts: &Verdicts,
    each: &mut dyn FnMut(&TreePart<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let parts = match &part.inner {
        TreeInner::Multipart(parts) => parts.as_slice(),
        _ => &[],
    };
    match verdicts.content(part) {
        Some(content) => {
            parts.iter().take(1).try_for_each(&mut *each)?;
            each(verdicts.without_legacy_display(&content))
        }
        None => parts.iter().try_for_each(each),
    }
}

fn is_shown_text(part: &TreePart<'_>, include_html: bool) -> bool {
    part.is("text", "*") && (include_html || !part.is("text", "html"))
}

/// The headers that are shown of a message.
pub(super) struct Headers {
    pub(super) subject: Option<String>,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) cc: String,
    pub(super) bcc: String,
    pub(super) reply_to: String,
    pub(super) date: String,
}

impl Headers {
    pub(super) fn of(tree: &TreePart<'_>) -> Self {
        let list = |name| people(&tree.addresses(name, &detect));
        let (seconds, ahead) = tree.date(&detect).unwrap_or((0, 0));
        Self {
            subject: tree.header("Subject", &detect).into_iter().next(),
            from: list("From"),
            to: list("To"),
            cc: list("Cc"),
            bcc: list("Bcc"),
            reply_to: list("Reply-To"),
            date: when::of_header(seconds, ahead),
        }
    }
}

/// Returns addresses as in a header.
pub(super) fn people(addresses: &[String]) -> String {
    let quoted = addresses.iter().map(|text| match Mailbox::read(text) {
        Some(mailbox) => mailbox.quoted(),
        None => text.clone(),
    });
    quoted.collect::<Vec<_>>().join(", ")
}

/// Prints a message as an object.
pub(super) fn structured_message(
    database: &Database,
    message: &Message,
    (tree, verdicts): (&TreePart<'_>, &Verdicts),
    request: &ShowRequest,
    out: &mut Printer<'_>,
) -> Result<(), Error> {
    out.begin_map()?;
    out.entry("id", &message.id)?;
    out.key("match")?;
    out.boolean(message.is_matched)?;
    out.key("excluded")?;
    out.boolean(message.is_excluded)?;
    out.key("filename")?;
    if request.version >= 3 {
        out.begin_list()?;
        for file in &message.files {
            out.string(&file.to_string_lossy())?;
        }
        out.end()?;
    } else {
        let first = message.files.first();
        out.string(&first.map(|file| file.to_string_lossy()).unwrap_or_default())?;
    }
    out.key("timestamp")?;
    out.integer(message.date)?;
    let (now, zone) = database.clock();
    out.entry("date_relative", &when::relative(message.date, now, zone))?;
    out.key("tags")?;
    out.begin_list()?;
    for tag in &message.tags {
        out.string(tag)?;
    }
    out.end()?;
    out.key("duplicate")?;
    out.integer(request.duplicate.unwrap_or(1) as i64)?;
    if request.body {
        out.key("body")?;
        out.begin_list()?;
        structured_part(tree, verdicts, &mut 0, request, out)?;
        out.end()?;
    }
    let (envelope, mut headers) = (verdicts.envelope(tree), Headers::of(tree));
    if request.version >= 4 {
        out.key("crypto")?;
        envelope.print(headers.subject.as_deref(), out)?;
    }
    out.key("headers")?;
    headers.subject = envelope.subject.or(headers.subject);
    structured_headers(tree, &headers, &request.extra_headers, out)?;
    Ok(out.end()?)
}

fn structured_headers(
    tree: &TreePart<'_>,
    headers: &Headers,
    extra: &[String],
    out: &mut Printer<'_>,
) -> Result<(), Error> {
    out.begin_map()?;
    out.entry("Subject", headers.subject.as_deref().unwrap_or_default())?;
    out.entry("From", &headers.from)?;
    for (name, value) in [
        ("To", &headers.to),
        ("Cc", &headers.cc),
        ("Bcc", &headers.bcc),
        ("Reply-To", &headers.reply_to),
    ] {
        if !value.is_empty() {
            out.entry(name, value)?;
        }
    }
    out.entry("Date", &headers.date)?;
    for name in extra {
        if let Some((name, value)) = tree.folded_header(name, &detect) {
            out.entry(&name, &value)?;
        }
    }
    Ok(out.end()?)
}

fn structured_part(
    part: &TreePart<'_>,
    verdicts: &Verdicts,
    number: &mut usize,
    request: &ShowRequest,
    out: &mut Printer<'_>,
) -> Result<(), Error> {
    *number += 1;
    out.begin_map()?;
    out.key("id")?;
    out.integer(*number as i64)?;
    if let Some(is_good) = verdicts.is_decrypted(part) {
        out.key("encstatus")?;
        out.begin_list()?;
        out.begin_map()?;
        out.entry("status", if is_good { "good" } else { "bad" })?;
        out.end()?;
        out.end()?;
    }
    if let Some(signatures) = verdicts.signatures(part) {
        out.key("sigstatus")?;
        crypto::print(signatures, request.version >= 4, out)?;
    }
    out.entry("content-type", &part.media_type)?;
    if let Some(disposition) = &part.disposition {
        out.entry("content-disposition", disposition)?;
    }
    if let Some(id) = &part.content_id {
        out.entry("content-id", id)?;
    }
    match &part.inner {
        TreeInner::Message(inner) => {
            out.key("content")?;
            out.begin_list()?;
            out.begin_map()?;
            out.key("headers")?;
            structured_headers(inner, &Headers::of(inner), &request.extra_headers, out)?;
            out.key("body")?;
            out.begin_list()?;
            structured_part(inner, verdicts, number, request, out)?;
            out.end()?;
            out.end()?;
            out.end()?;
        }
        TreeInner::Leaf if verdicts.content(part).is_none() => leaf(part, request, out)?,
        _ => {
            out.key("content")?;
            out.begin_list()?;
            each_child(part, verdicts, &mut |child| {
                structured_part(child, verdicts, number, request, out)
            })?;
            out.end()?;
        }
    }
    Ok(out.end()?)
}

fn leaf(part: &TreePart<'_>, request: &ShowRequest, out: &mut Printer<'_>) -> Result<(), Error> {
    if let Some(name) = &part.file_name {
        out.entry("filename", name)?;
    }
    if is_shown_text(part, request.include_html) {
        return Ok(out.entry("content", &part.text(&detect))?);
    }
    if let Some(charset) = &part.charset {
        out.entry("content-charset", charset)?;
    }
    if let Some(encoding) = &part.encoding {
        out.entry("content-transfer-encoding", encoding)?;
    }
    out.key("content-length")?;
    Ok(out.integer(part.body.len() as i64)?)
}

//! `ken mail show`: prints messages for reading.

use std::process::ExitCode;

use ken_search::service::mail::{Message, MessageRequest, Messages, Part, Related};
use ken_search::service::{MessageForm, PartRequest, Service};
use serde_json::Value as Json;

use super::header::{brief, header, header_line, short_header};
use super::{Mail, limit, which_or_number};
use crate::cli::{Global, ShowArgs};
use crate::commands::bounded::{Bounded, End, next_part, whole_message};
use crate::commands::original::Reader;
use crate::failure::{Failure, Kind};
use crate::output::{self, Style};

/// The tries to fit a message into the room for it.
const MAX_TRIES: usize = 20;

pub(super) fn run(global: &Global, args: &ShowArgs) -> Result<ExitCode, Failure> {
    let mail = Mail::open(global)?;
    let service = mail.service();
    let limit = limit(args.limit).map(|limit| limit.saturating_add(args.offset));
    let mut messages = service.messages(&MessageRequest {
        which: which_or_number(&service, &args.query)?,
        limit: limit.filter(|_| args.budget.is_none()),
        once: args.skip_dups,
        related: match args.thread {
            true => Related::ByThread,
            false => Related::None,
        },
        ..MessageRequest::default()
    })?;
    if !args.thread && args.budget.is_none() {
        // People read from top to bottom.
        messages.reverse();
    }
    let page = Page {
        reader: Reader::new(&*mail.snapshot, mail.settings.extraction()?),
        style: Style::of(global),
        service: &service,
        args,
    };
    let paging = match args.raw || args.part.is_some() {
        // Bytes of a file are for programs.
        true => None,
        false => Some(output::page(global)),
    };
    let n_failed = match args.budget {
        Some(budget) => page.within(budget, &messages)?,
        None => page.all(&messages)?,
    };
    drop(paging);
    Ok(ExitCode::from(match (messages.is_empty(), n_failed) {
        (true, _) => 1,
        (false, 0) => 0,
        (false, _) => 2,
    }))
}

/// How much is shown above the text of a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    Whole,
    Short,
}

struct Page<'a> {
    service: &'a Service<'a>,
    args: &'a ShowArgs,
    reader: Reader<'a>,
    style: Style,
}

impl Page<'_> {
    /// Prints all messages; returns how many could not be read.
    fn all(&self, messages: &Messages<'_>) -> Result<usize, Failure> {
        let mut n_failed = 0;
        // In the order of reading, those to skip are the last ones.
        let n_shown = match self.args.thread {
            true => messages.len(),
            false => messages.len().saturating_sub(self.args.offset),
        };
        let n_skipped = if self.args.thread {
            self.args.offset
        } else {
            0
        };
        let shown = messages.iter().take(n_shown).skip(n_skipped);
        for (position, message) in shown.enumerate() {
            let printed = message.map_err(Failure::from);
            match printed.and_then(|message| self.message(&message, position)) {
                Ok(bytes) => output::print(&bytes)?,
                Err(failure) if messages.len() == 1 => return Err(failure),
                Err(failure) => {
                    n_failed += 1;
                    failure.report();
                }
            }
        }
        Ok(n_failed)
    }

    /// Prints the first messages in a number of bytes, each whole; of one that is too long for all of them, the beginning.
    /// Returns how many could not be read.
    fn within(&self, budget: usize, messages: &Messages<'_>) -> Result<usize, Failure> {
        let end = End {
            what: "messages",
            total: messages.len(),
            offset: self.args.offset,
            as_json: self.args.json,
        };
        let mut bounded = Bounded::new(budget, end.room(messages.len()));
        let mut n_failed = 0;
        for (position, message) in messages.iter().skip(self.args.offset).enumerate() {
            let message = message?;
            let mut whole = match self.message(&message, position) {
                Ok(whole) => whole,
                Err(failure) if messages.len() == 1 => return Err(failure),
                Err(failure) => {
                    n_failed += 1;
                    failure.report();
                    continue;
                }
            };
            let mut beginning = Vec::new();
            if position == 0 && whole.len() > bounded.left() {
                beginning = self.beginning(message, bounded.left(), budget)?;
            }
            whole = bounded.take(whole, beginning);
            if whole.is_empty() {
                break;
            }
            output::print(&whole)?;
        }
        output::print(&end.line(bounded.n_shown()))?;
        Ok(n_failed)
    }

    /// Returns the first lines of a message in a number of bytes, and the command for the rest of it. The head is shortened
    /// if it leaves no room for text. Returns nothing if not even that helps.
    fn beginning(
        &self,
        mut message: Message,
        room: usize,
        budget: usize,
    ) -> Result<Vec<u8>, Failure> {
        let body = std::mem::take(&mut message.document.body);
        for head in [Head::Whole, Head::Short] {
            let shown = self.beginning_with(head, &mut message, &body, room, budget)?;
            if let Some(shown) = shown {
                return Ok(shown);
            }
        }
        Ok(Vec::new())
    }

    /// Returns the same with a head, if it leaves room for text. The text of the message is in `body`.
    fn beginning_with(
        &self,
        head: Head,
        message: &mut Message,
        body: &str,
        room: usize,
        budget: usize,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let mut n_bytes = room;
        for _ in 0..MAX_TRIES {
            let part = self.service.part(
                body,
                &PartRequest {
                    max_bytes: Some(n_bytes),
                    ..PartRequest::default()
                },
            )?;
            let text = part.stretches.iter().map(|stretch| stretch.text);
            message.document.body = text.collect();
            let is_all = message.document.body.len() == body.len() && head == Head::Whole;
            let location = &message.location;
            let next = match &part.next {
                Some(next) => Some(next_part(location, next, budget, self.args.json)),
                // The rest is that of a line, or of the head.
                None if !is_all => Some(whole_message(location, self.args.json)),
                None => None,
            };
            let shown = self.shortened(head, message, body.len(), next.as_deref())?;
            let has_text = !message.document.body.is_empty() || body.is_empty();
            match shown.len().checked_sub(room) {
                None | Some(0) if has_text => return Ok(Some(shown)),
                None | Some(0) => break,
                Some(_) if n_bytes == 0 => break,
                Some(over) => n_bytes = n_bytes.saturating_sub(over),
            }
        }
        Ok(None)
    }

    /// Returns a message of which only the beginning of the text is there.
    fn shortened(
        &self,
        head: Head,
        message: &Message,
        n_bytes: usize,
        next: Option<&str>,
    ) -> Result<Vec<u8>, Failure> {
        let mut shown = match head {
            Head::Whole => self.message(message, 0)?,
            Head::Short => self.with_short_head(message)?,
        };
        let Some(next) = next else {
            return Ok(shown);
        };
        if self.args.json {
            // It is an object.
            let mut object: Json = serde_json::from_slice(&shown).unwrap_or_default();
            object["n_bytes"] = n_bytes.into();
            object["next"] = next.into();
            return Ok(output::json_line(&object));
        }
        let of = |n: usize| output::size(n as i64);
        let (shown_bytes, all) = (of(message.document.body.len()), of(n_bytes));
        let short = match head {
            Head::Whole => "",
            Head::Short => ", with a short head",
        };
        let rest = format!("[{shown_bytes} of {all} of this message shown{short}; next: {next}]\n");
        shown.extend(rest.into_bytes());
        Ok(shown)
    }

    fn message(&self, message: &Message, position: usize) -> Result<Vec<u8>, Failure> {
        if let Some(number) = &self.args.part {
            let files = self.service.parts(message)?.items;
            return match files.iter().find(|file| file.number == *number) {
                Some(file) => self.reader.read(&file.location),
                None => {
                    let message = format!("\"{}\" has no part {number}", message.location);
                    let numbers: Vec<_> = files.iter().map(|file| &*file.number).collect();
                    let hint = match numbers.as_slice() {
                        [] => "it has none".to_owned(),
                        numbers => format!("it has {}", numbers.join(", ")),
                    };
                    Err(Failure::new(Kind::Input, message).hint(&hint))
                }
            };
        }
        if self.args.raw {
            return self.reader.read(&message.location);
        }
        let files = self.service.parts(message)?.items;
        if self.args.json {
            return Ok(output::json_line(&MessageForm::new(
                message,
                &files,
                self.service.field_names(),
            )));
        }
        let mut text = String::new();
        if position > 0 {
            text.push_str("\n\n");
        }
        if self.args.headers {
            let bytes = self.reader.read(&message.location)?;
            self.add_raw_header(&bytes, &mut text);
        } else {
            text.push_str(&header(message, &self.service.context().zone, self.style));
        }
        for file in &files {
            self.add_file(file, &mut text);
        }
        text.push('\n');
        self.add_text(message, &mut text);
        Ok(text.into_bytes())
    }

    /// Returns a message with a head that has few bytes whatever the number of its recipients and parts.
    fn with_short_head(&self, message: &Message) -> Result<Vec<u8>, Failure> {
        if self.args.json {
            let files = self.service.parts(message)?.items;
            let form = MessageForm::new(message, &files, self.service.field_names());
            // Every key is text.
            let mut object = serde_json::to_value(form).unwrap_or_default();
            shorten_head(&mut object, files.len());
            return Ok(output::json_line(&object));
        }
        let mut text = short_header(message, &self.service.context().zone, self.style);
        text.push('\n');
        self.add_text(message, &mut text);
        Ok(text.into_bytes())
    }

    /// Adds the text of a message, and what is missing in it.
    fn add_text(&self, message: &Message, text: &mut String) {
        for line in message.document.body.lines() {
            text.push_str(&line.replace(|c: char| c.is_control() && c != '\t', "\u{fffd}"));
            text.push('\n');
        }
        if let Some(failure) = &message.document.failure {
            let message = output::clean(&output::cause_text(&failure.cause)).into_owned();
            text.push_str(&format!("\n{}\n", self.style.dim(&format!("[{message}]"))));
        }
    }

    fn add_raw_header(&self, bytes: &[u8], text: &mut String) {
        let header = String::from_utf8_lossy(bytes);
        for line in header.lines().take_while(|line| !line.trim().is_empty()) {
            match line.split_once(':') {
                Some((name, value)) if !line.starts_with([' ', '\t']) => {
                    text.push_str(&header_line(&output::clean(name), value.trim(), self.style));
                }
                _ => text.push_str(&format!("  {}\n", output::clean(line.trim()))),
            }
        }
    }

    fn add_file(&self, file: &Part, text: &mut String) {
        let size = file.n_bytes.map(output::size).unwrap_or_default();
        let name = output::clean(&file.name).into_owned();
        let line = format!("{} {name} ({}, {size})", file.number, file.media_type);
        text.push_str(&format!("{} {line}\n", self.style.bold("Part:")));
    }
}

/// Leaves out what makes the object of a message long: its recipients, and the list of its parts, of which the number
/// remains.
fn shorten_head(message: &mut Json, n_parts: usize) {
    const KEPT: [&str; 3] = ["author", "date", "title"];
    if let Some(fields) = message["fields"].as_object_mut() {
        fields.retain(|name, _| KEPT.contains(&name.as_str()));
        for value in fields.values_mut() {
            let text = match &*value {
                Json::Array(values) => values.first().and_then(Json::as_str),
                value => value.as_str(),
            };
            if let Some(text) = text.map(|text| brief(text).into_owned()) {
                *value = text.into();
            }
        }
    }
    if let Some(message) = message.as_object_mut() {
        message.remove("parts");
        message.insert("n_parts".to_owned(), n_parts.into());
    }
}

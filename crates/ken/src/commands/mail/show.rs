//! `ken mail show`: prints messages for reading.

use std::process::ExitCode;

use ken_search::service::mail::{Message, MessageRequest, Part, Related};
use ken_search::service::{MessageForm, Service};

use super::header::{header, header_line};
use super::{Mail, limit, which};
use crate::cli::{Global, ShowArgs};
use crate::commands::original::Reader;
use crate::failure::{Failure, Kind};
use crate::output::{self, Style};

pub(super) fn run(global: &Global, args: &ShowArgs) -> Result<ExitCode, Failure> {
    let mail = Mail::open(global)?;
    let service = mail.service();
    let mut messages = service.messages(&MessageRequest {
        which: which(&args.query)?,
        limit: limit(args.limit),
        once: args.skip_dups,
        related: match args.thread {
            true => Related::ByThread,
            false => Related::None,
        },
        ..MessageRequest::default()
    })?;
    if !args.thread {
        // People read from top to bottom.
        messages.reverse();
    }
    let page = Page {
        reader: Reader::new(&mail.snapshot, mail.settings.extraction()?),
        style: Style::of(global),
        service: &service,
        args,
    };
    let paging = match args.raw || args.part.is_some() {
        // Bytes of a file are for programs.
        true => None,
        false => Some(output::page(global)),
    };
    let mut n_failed = 0;
    for (position, message) in messages.iter().enumerate() {
        let printed = message.map_err(Failure::from);
        match printed.and_then(|message| page.message(&message, position)) {
            Ok(bytes) => output::print(&bytes)?,
            Err(failure) if messages.len() == 1 => return Err(failure),
            Err(failure) => {
                n_failed += 1;
                failure.report();
            }
        }
    }
    drop(paging);
    Ok(ExitCode::from(match (messages.is_empty(), n_failed) {
        (true, _) => 1,
        (false, 0) => 0,
        (false, _) => 2,
    }))
}

struct Page<'a> {
    service: &'a Service<'a>,
    args: &'a ShowArgs,
    reader: Reader<'a>,
    style: Style,
}

impl Page<'_> {
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
        for line in message.document.body.lines() {
            text.push_str(&line.replace(|c: char| c.is_control() && c != '\t', "\u{fffd}"));
            text.push('\n');
        }
        if let Some(failure) = &message.document.failure {
            let message = output::clean(&output::cause_text(&failure.cause)).into_owned();
            text.push_str(&format!("\n{}\n", self.style.dim(&format!("[{message}]"))));
        }
        Ok(text.into_bytes())
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

//! `ken mail show`: a message to be read.

use std::collections::HashSet;
use std::process::ExitCode;

use ken_core::{Document, Field, FieldNames, Value};
use ken_index::{Address, Stored};
use serde_json::json;

use super::parts::{Attached, attached};
use super::read::Reader;
use super::{Mail, all_if_zero};
use crate::cli::{Global, ShowArgs};
use crate::failure::{Failure, Kind};
use crate::output::{self, Style};

pub(super) fn run(global: &Global, args: &ShowArgs) -> Result<ExitCode, Failure> {
    let mail = Mail::open(global)?;
    let limit = if args.skip_dups { 0 } else { args.limit };
    let mut found = mail.find(&mail.read(&args.query)?, false, limit)?;
    if args.skip_dups {
        mail.skip_dups(&mut found, &HashSet::new())?;
        found.truncate(all_if_zero(args.limit));
    }
    if args.thread {
        let matched = found.iter().copied().collect();
        found = whole_threads(&mail, &found)?;
        if args.skip_dups {
            mail.skip_dups(&mut found, &matched)?;
        }
    } else {
        // To be read from above.
        found.reverse();
    }
    let page = Page {
        reader: Reader::new(&mail)?,
        style: Style::of(global),
        mail: &mail,
        args,
    };
    let mut n_failed = 0;
    for (position, address) in found.iter().enumerate() {
        match page.message(*address, position) {
            Ok(bytes) => output::print(&bytes)?,
            Err(failure) if found.len() == 1 => return Err(failure),
            Err(failure) => {
                n_failed += 1;
                failure.report();
            }
        }
    }
    Ok(ExitCode::from(match (found.is_empty(), n_failed) {
        (true, _) => 1,
        (false, 0) => 0,
        (false, _) => 2,
    }))
}

/// Returns all messages of some threads, thread by thread, each from old to new.
fn whole_threads(mail: &Mail, of: &[Address]) -> Result<Vec<Address>, Failure> {
    let mut shown = HashSet::new();
    let mut all = Vec::new();
    for address in of {
        if shown.contains(address) {
            continue;
        }
        let mut thread = Vec::new();
        for address in mail.snapshot.threads(&[*address])? {
            let document = mail.snapshot.document(address)?.document;
            thread.push((document.number(Field::Date), address));
        }
        thread.sort_unstable();
        let addresses = thread.into_iter().map(|(_, address)| address);
        all.extend(addresses.filter(|address| shown.insert(*address)));
    }
    Ok(all)
}

struct Page<'a> {
    mail: &'a Mail,
    args: &'a ShowArgs,
    reader: Reader<'a>,
    style: Style,
}

impl Page<'_> {
    fn message(&self, at: Address, position: usize) -> Result<Vec<u8>, Failure> {
        let snapshot = &self.mail.snapshot;
        let stored = snapshot.document(at)?;
        if let Some(number) = &self.args.part {
            let files = attached(snapshot, at, &stored)?;
            return match files.iter().find(|file| file.number == *number) {
                Some(file) => self.reader.read(&file.location),
                None => {
                    let message = format!("\"{}\" has no part {number}", stored.location);
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
            return self.reader.read(&stored.location);
        }
        let files = attached(snapshot, at, &stored)?;
        if self.args.json {
            return Ok(json_of(&stored, &files, &self.mail.fields));
        }
        let mut text = String::new();
        if position > 0 {
            text.push_str("\n\n");
        }
        if self.args.headers {
            let bytes = self.reader.read(&stored.location)?;
            self.add_raw_header(&bytes, &mut text);
        } else {
            self.add_header(&stored, &mut text);
        }
        for file in &files {
            self.add_file(file, &mut text);
        }
        text.push('\n');
        for line in stored.document.body.lines() {
            text.push_str(&line.replace(|c: char| c.is_control() && c != '\t', "\u{fffd}"));
            text.push('\n');
        }
        if let Some(failure) = &stored.document.failure {
            let message = output::clean(&failure.message).into_owned();
            text.push_str(&format!("\n{}\n", self.style.dim(&format!("[{message}]"))));
        }
        Ok(text.into_bytes())
    }

    fn add_header(&self, stored: &Stored, text: &mut String) {
        let document = &stored.document;
        for (name, field) in [
            ("From", Field::Author),
            ("To", Field::To),
            ("Cc", Field::Cc),
            ("Bcc", Field::Bcc),
            ("Reply-To", Field::Replyto),
            ("Subject", Field::Title),
        ] {
            self.add_line(name, &values(document, field).join(", "), text);
        }
        let date = document.number(Field::Date).and_then(|seconds| {
            let time = jiff::Timestamp::from_second(seconds).ok()?;
            let time = time.to_zoned(self.mail.context.zone.clone());
            Some(time.strftime("%a, %-d %b %Y %H:%M:%S %z").to_string())
        });
        self.add_line("Date", &date.unwrap_or_default(), text);
        self.add_line("List", &values(document, Field::List).join(", "), text);
        self.add_line(
            "Priority",
            document.text(Field::Prio).unwrap_or_default(),
            text,
        );
        self.add_line("State", &values(document, Field::Is).join(", "), text);
        self.add_line("Tags", &values(document, Field::Tag).join(", "), text);
        self.add_line(
            "Message-ID",
            document.text(Field::Msgid).unwrap_or_default(),
            text,
        );
        self.add_line("File", &stored.location.to_string(), text);
    }

    fn add_line(&self, name: &str, value: &str, text: &mut String) {
        if !value.is_empty() {
            let name = self.style.bold(&format!("{name}:"));
            text.push_str(&format!("{name} {}\n", output::clean(value)));
        }
    }

    fn add_raw_header(&self, bytes: &[u8], text: &mut String) {
        let header = String::from_utf8_lossy(bytes);
        for line in header.lines().take_while(|line| !line.trim().is_empty()) {
            match line.split_once(':') {
                Some((name, value)) if !line.starts_with([' ', '\t']) => {
                    self.add_line(&output::clean(name), value.trim(), text);
                }
                _ => text.push_str(&format!("  {}\n", output::clean(line.trim()))),
            }
        }
    }

    fn add_file(&self, file: &Attached, text: &mut String) {
        let size = file.n_bytes.map(output::size).unwrap_or_default();
        let name = output::clean(&file.name).into_owned();
        let line = format!("{} {name} ({}, {size})", file.number, file.media_type);
        text.push_str(&format!("{} {line}\n", self.style.bold("Part:")));
    }
}

pub(super) fn values(document: &Document, field: Field) -> Vec<&str> {
    let values = document
        .fields
        .iter()
        .filter_map(|(of, value)| match value {
            Value::Text(text) if *of == field => Some(text.as_str()),
            _ => None,
        });
    values.collect()
}

fn json_of(stored: &Stored, files: &[Attached], names: &FieldNames) -> Vec<u8> {
    let mut object = output::document_json(&stored.document, names, true);
    object["path"] = json!(stored.location.path.to_string_lossy());
    let files = files.iter().map(|file| {
        json!({
            "number": file.number,
            "name": file.name,
            "mime": file.media_type,
            "size": file.n_bytes,
            "ipath": file.location.ipath,
        })
    });
    object["parts"] = files.collect();
    output::json_line(&object)
}

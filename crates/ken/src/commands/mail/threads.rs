//! `ken mail threads`: lists threads instead of messages.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use jiff::tz::TimeZone;
use ken_search::service::mail::{MessageRequest, Thread};

use super::line::Line;
use super::{Mail, limit, sender, which_or_number};
use crate::cli::{Global, ThreadsArgs};
use crate::commands::bounded::{Bounded, End};
use crate::failure::Failure;
use crate::output::{self, Style};

/// The most names that are shown for a thread.
const MAX_NAMES: usize = 5;

pub(super) fn run(global: &Global, args: &ThreadsArgs) -> Result<ExitCode, Failure> {
    let mail = Mail::open(global)?;
    let style = Style::of(global);
    let service = mail.service();
    let request = MessageRequest {
        which: which_or_number(&service, &args.query)?,
        reverse: args.reverse,
        limit: match args.budget {
            Some(_) => None,
            None => limit(args.limit).map(|limit| limit.saturating_add(args.offset)),
        },
        once: args.skip_dups,
        ..MessageRequest::default()
    };
    let _paging = output::page(global);
    let mut out = BufWriter::new(output::stdout());
    let mut total = 0;
    let mut first = First::default();
    service.each_thread(&request, &mut |thread| {
        total += 1;
        if total <= args.offset || args.budget.is_some_and(|budget| first.n_bytes > budget) {
            return Ok(());
        }
        let printed = match args.json {
            true => output::json_line(&thread),
            false => text(&thread, &mail.context.zone, style, args.tree).into_bytes(),
        };
        match args.budget {
            Some(_) => first.keep(printed),
            None => out.write_all(&printed)?,
        }
        Ok::<_, Failure>(())
    })?;
    if let Some(budget) = args.budget {
        let end = End {
            what: "threads",
            total,
            offset: args.offset,
            as_json: args.json,
        };
        out.write_all(&first.within(budget, &end))?;
    }
    out.flush()?;
    Ok(ExitCode::from(u8::from(total == 0)))
}

/// The first threads, until they have more bytes than there is room for: how many there are in all is known at the end.
#[derive(Default)]
struct First {
    printed: Vec<Vec<u8>>,
    n_bytes: usize,
}

impl First {
    fn keep(&mut self, printed: Vec<u8>) {
        self.n_bytes += printed.len();
        self.printed.push(printed);
    }

    /// Returns those that have room, and the line about the rest.
    fn within(self, budget: usize, end: &End) -> Vec<u8> {
        let mut bounded = Bounded::new(budget, end.room(end.total));
        let printed = self.printed.into_iter();
        let mut text: Vec<u8> = printed
            .flat_map(|thread| bounded.take(thread, Vec::new()))
            .collect();
        text.extend(end.line(bounded.n_shown()));
        text
    }
}

fn senders(thread: &Thread) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (_, message) in thread.in_order() {
        if !names.contains(&sender(message)) {
            names.push(sender(message));
        }
    }
    let more = names.len() > MAX_NAMES;
    names.truncate(MAX_NAMES);
    format!("{}{}", names.join(", "), if more { " …" } else { "" })
}

fn text(thread: &Thread, zone: &TimeZone, style: Style, tree: bool) -> String {
    let columns = output::columns();
    let date = |seconds| output::day(seconds, zone);
    let counts = format!("[{}/{}]", thread.n_matched(), thread.n_messages());
    let (newest, counts) = (date(thread.newest()), format!("  {counts:>7}  "));
    let mut text = Line {
        start: format!("{}{counts}", style.dim(&newest)),
        start_width: output::width(&newest) + output::width(&counts),
        people: senders(thread),
        subject: Some(thread.subject().to_owned()),
        marks: thread.marks().into_iter().map(str::to_owned).collect(),
    }
    .text(columns, style, style.emphatic());
    if !tree {
        return text;
    }
    for (at, message) in thread.in_order() {
        let mark = if message.is_matched { '*' } else { ' ' };
        let date = date(message.date());
        let indent = 2 * at.level;
        let line = Line {
            start: format!("  {}{mark} {:indent$}", style.dim(&date), ""),
            start_width: output::width(&date) + 4 + indent,
            people: sender(message).to_owned(),
            subject: at.has_new_subject.then(|| message.subject().to_owned()),
            marks: Vec::new(),
        };
        text.push_str(&line.text(columns, style, style));
    }
    text
}

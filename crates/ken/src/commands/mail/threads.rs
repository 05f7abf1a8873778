//! `ken mail threads`: lists threads instead of messages.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use jiff::tz::TimeZone;
use ken_search::service::mail::{MessageRequest, Thread};

use super::{Mail, limit, sender, which};
use crate::cli::{Global, ThreadsArgs};
use crate::failure::Failure;
use crate::output::{self, Style};

/// The most names that are shown for a thread.
const MAX_NAMES: usize = 5;

pub(super) fn run(global: &Global, args: &ThreadsArgs) -> Result<ExitCode, Failure> {
    let mail = Mail::open(global)?;
    let style = Style::of(global);
    let service = mail.service();
    let request = MessageRequest {
        which: which(&service, &args.query)?,
        reverse: args.reverse,
        limit: limit(args.limit),
        once: args.skip_dups,
        ..MessageRequest::default()
    };
    let _paging = output::page(global);
    let mut out = BufWriter::new(output::stdout());
    let mut any = false;
    service.each_thread(&request, &mut |thread| {
        any = true;
        let printed = match args.json {
            true => output::json_line(&thread),
            false => text(&thread, &mail.context.zone, style, args.tree).into_bytes(),
        };
        Ok::<_, Failure>(out.write_all(&printed)?)
    })?;
    out.flush()?;
    Ok(ExitCode::from(u8::from(!any)))
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
    let date = |seconds| output::day(seconds, zone);
    let counts = format!("[{}/{}]", thread.n_matched(), thread.n_messages());
    let mut text = format!(
        "{}  {counts:>7}  {}  {}",
        style.dim(&date(thread.newest())),
        output::clean(&senders(thread)),
        style.bold(&output::clean(thread.subject())),
    );
    let marks = thread.marks();
    if !marks.is_empty() {
        let marks = format!("({})", output::clean(&marks.join(" ")));
        text.push_str(&format!("  {}", style.dim(&marks)));
    }
    text.push('\n');
    if !tree {
        return text;
    }
    for (at, message) in thread.in_order() {
        let mark = if message.is_matched { '*' } else { ' ' };
        let subject = match at.has_new_subject {
            true => format!("  {}", output::clean(message.subject())),
            false => String::new(),
        };
        text.push_str(&format!(
            "  {}{mark} {:indent$}{}{subject}\n",
            style.dim(&date(message.date())),
            "",
            output::clean(sender(message)),
            indent = 2 * at.level,
        ));
    }
    text
}

//! `ken mail list`: messages, one on each line.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use jiff::tz::TimeZone;
use ken_search::service::mail::{Message, MessageRequest, Related};

use super::{Mail, limit, sender, which};
use crate::cli::{Global, ListArgs};
use crate::commands::last::List;
use crate::failure::Failure;
use crate::output::{self, Style};

pub(super) fn run(global: &Global, args: &ListArgs) -> Result<ExitCode, Failure> {
    let mail = Mail::open(global)?;
    let style = Style::of(global);
    let messages = mail.service().messages(&MessageRequest {
        which: which(&args.query)?,
        reverse: args.reverse,
        limit: limit(args.limit),
        once: args.skip_dups,
        related: match args.include_related {
            true => Related::ByDate,
            false => Related::None,
        },
        deadline_ms: None,
    })?;
    let is_numbered = !args.json && output::columns().is_some();
    let n_digits = messages.len().to_string().len();
    let mut list = List::default();
    let paging = output::page(global);
    let mut out = BufWriter::new(output::stdout());
    for (number, message) in (1..).zip(messages.iter()) {
        let message = message?;
        if args.json {
            out.write_all(&output::json_line(&message))?;
            continue;
        }
        if is_numbered {
            list.add(number, &message.location, None);
            let number = style.dim(&format!("{number:>n_digits$}"));
            write!(out, "{number}  ")?;
        }
        let is_marked = args.include_related && message.is_matched;
        let line = line(&message, is_marked, &mail.context.zone, style);
        out.write_all(line.as_bytes())?;
    }
    out.flush()?;
    if is_numbered {
        list.keep();
    }
    drop(paging);
    Ok(ExitCode::from(u8::from(messages.is_empty())))
}

fn line(message: &Message, is_marked: bool, zone: &TimeZone, style: Style) -> String {
    let date = output::day(message.date(), zone);
    let mark = if is_marked { "* " } else { "" };
    let mut line = format!(
        "{}  {mark}{}  {}",
        style.dim(&date),
        output::clean(sender(message)),
        style.bold(&output::clean(message.subject())),
    );
    let marks = message.marks();
    if !marks.is_empty() {
        let marks = format!("({})", output::clean(&marks.join(" ")));
        line.push_str(&format!("  {}", style.dim(&marks)));
    }
    line.push('\n');
    line
}

//! `ken mail list`: messages, one on each line.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use jiff::tz::TimeZone;
use ken_search::service::mail::{Message, MessageRequest, Related};

use super::line::Line;
use super::{Mail, limit, sender, which_or_number};
use crate::cli::{Global, ListArgs};
use crate::commands::bounded::{Bounded, End};
use crate::commands::last::List;
use crate::failure::Failure;
use crate::output::{self, Style};

/// How the lines look.
struct Look<'a> {
    style: Style,
    zone: &'a TimeZone,
    columns: Option<usize>,
}

pub(super) fn run(global: &Global, args: &ListArgs) -> Result<ExitCode, Failure> {
    let mail = Mail::open(global)?;
    let look = Look {
        style: Style::of(global),
        zone: &mail.context.zone,
        columns: output::columns(),
    };
    let service = mail.service();
    let messages = service.messages(&MessageRequest {
        which: which_or_number(&service, &args.query)?,
        reverse: args.reverse,
        limit: match args.budget {
            Some(_) => None,
            None => limit(args.limit).map(|limit| limit.saturating_add(args.offset)),
        },
        once: args.skip_dups,
        related: match args.include_related {
            true => Related::ByDate,
            false => Related::None,
        },
        deadline_ms: None,
    })?;
    let is_numbered = !args.json && look.columns.is_some();
    let n_digits = messages.len().to_string().len();
    let mut list = List::default();
    let paging = output::page(global);
    let mut out = BufWriter::new(output::stdout());
    let end = End {
        what: "messages",
        total: messages.len(),
        offset: args.offset,
        as_json: args.json,
    };
    let bounded = args.budget;
    let mut bounded = bounded.map(|budget| Bounded::new(budget, end.room(messages.len())));
    for (number, message) in (1..).zip(messages.iter()).skip(args.offset) {
        let message = message?;
        let is_marked = args.include_related && message.is_matched;
        let mut shown = match args.json {
            true => output::json_line(&message),
            false => {
                let number = match is_numbered {
                    true => format!("{number:>n_digits$}  "),
                    false => String::new(),
                };
                line(&message, is_marked, &number, &look).into_bytes()
            }
        };
        if let Some(bounded) = &mut bounded {
            shown = bounded.take(shown, Vec::new());
            if shown.is_empty() {
                break;
            }
        }
        if is_numbered {
            list.add(number, &message.location, None);
        }
        out.write_all(&shown)?;
    }
    if let Some(bounded) = bounded {
        out.write_all(&end.line(bounded.n_shown()))?;
    }
    out.flush()?;
    if is_numbered {
        list.keep();
    }
    drop(paging);
    if messages.is_empty() {
        output::remark("no message matches");
    }
    Ok(ExitCode::from(u8::from(messages.is_empty())))
}

/// Returns the line of a message; on a terminal, with its number.
fn line(message: &Message, is_marked: bool, number: &str, look: &Look<'_>) -> String {
    let style = look.style;
    let date = output::day(message.date(), look.zone);
    let mark = if is_marked { "* " } else { "" };
    let start_width = output::width(number) + output::width(&date) + 2;
    Line {
        start: format!("{}{}  ", style.dim(number), style.dim(&date)),
        start_width,
        people: format!("{mark}{}", sender(message)),
        subject: Some(message.subject().to_owned()),
        marks: message.marks().into_iter().map(str::to_owned).collect(),
    }
    .text(look.columns, style, style.emphatic())
}

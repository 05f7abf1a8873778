//! `ken mail list`: messages, one on each line.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use jiff::tz::TimeZone;
use ken_search::service::mail::{Message, MessageRequest, Related};

use super::{Mail, limit, sender, which};
use crate::cli::{Global, ListArgs};
use crate::commands::bounded::{Bounded, End};
use crate::commands::last::List;
use crate::failure::Failure;
use crate::output::{self, Style};

pub(super) fn run(global: &Global, args: &ListArgs) -> Result<ExitCode, Failure> {
    let mail = Mail::open(global)?;
    let style = Style::of(global);
    let service = mail.service();
    let messages = service.messages(&MessageRequest {
        which: which(&service, &args.query)?,
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
    let is_numbered = !args.json && output::columns().is_some();
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
            false => line(&message, is_marked, &mail.context.zone, style).into_bytes(),
        };
        if is_numbered {
            let number = style.dim(&format!("{number:>n_digits$}"));
            shown.splice(..0, format!("{number}  ").into_bytes());
        }
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

//! `ken mail list`: messages, one on a line.

use std::collections::HashSet;
use std::process::ExitCode;

use ken_index::DocAddress;
use serde_json::json;

use super::message::Message;
use super::{Mail, all_if_zero};
use crate::cli::{Global, ListArgs};
use crate::failure::Failure;
use crate::output::{self, Style};

pub(super) fn run(global: &Global, args: &ListArgs) -> Result<ExitCode, Failure> {
    let mail = Mail::open(global)?;
    let style = Style::of(global);
    let query = mail.read(&args.query)?;
    let limit = if args.skip_dups { 0 } else { args.limit };
    let mut found = mail.find(&query, args.reverse, limit)?;
    if args.skip_dups {
        mail.skip_dups(&mut found, &HashSet::new())?;
        found.truncate(all_if_zero(args.limit));
    }
    let matched: HashSet<DocAddress> = found.iter().copied().collect();
    if args.include_related {
        found = mail.with_related(&found, args.reverse)?;
        if args.skip_dups {
            mail.skip_dups(&mut found, &matched)?;
        }
    }
    for address in &found {
        let message = Message::read(&mail, *address, matched.contains(address))?;
        if args.json {
            let mut object = message.json();
            object["v"] = json!(output::SCHEMA);
            output::print(&output::json_line(&object))?;
        } else {
            let is_marked = args.include_related && message.is_matched;
            output::print(line(&message, is_marked, &mail, style).as_bytes())?;
        }
    }
    Ok(ExitCode::from(u8::from(found.is_empty())))
}

fn line(message: &Message, is_marked: bool, mail: &Mail, style: Style) -> String {
    let date = output::day(message.date(), &mail.context.zone);
    let mark = if is_marked { "* " } else { "" };
    let mut line = format!(
        "{}  {mark}{}  {}",
        style.dim(&date),
        output::clean(message.sender()),
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

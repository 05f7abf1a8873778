//! `mu fields`: what can be asked for and printed.

use std::process::ExitCode;

use ken_core::{MESSAGE_STATES, MessageStateInfo};

use super::Outcome;
use super::table::table;
use crate::output;

/// Name, other name, letter, whether it is searched (as words, whole or by range) and printed, and a
/// query.
const FIELDS: [[&str; 7]; 21] = [
    [
        "bcc",
        "",
        "h",
        "words",
        "yes",
        "bcc:anna@example.org",
        "who got a blind copy",
    ],
    ["body", "", "b", "words", "no", "body:reindeer", "text"],
    ["cc", "", "c", "words", "yes", "cc:team", "who got a copy"],
    [
        "changed",
        "",
        "k",
        "range",
        "yes",
        "changed:2w..",
        "last change of the file",
    ],
    [
        "date",
        "",
        "d",
        "range",
        "yes",
        "date:2026..",
        "when it was sent",
    ],
    [
        "embed",
        "",
        "e",
        "words",
        "no",
        "embed:invoice",
        "text of attachments",
    ],
    [
        "file",
        "",
        "j",
        "words",
        "no",
        "file:report*",
        "names of attachments",
    ],
    ["flags", "flag", "g", "whole", "yes", "flag:unread", "state"],
    ["from", "", "f", "words", "yes", "from:anna", "sender"],
    [
        "maildir",
        "",
        "m",
        "whole",
        "yes",
        "maildir:/inbox",
        "folder",
    ],
    [
        "list",
        "",
        "v",
        "whole",
        "yes",
        "list:r-help.r-project.org",
        "mailing list",
    ],
    [
        "message-id",
        "msgid",
        "i",
        "whole",
        "yes",
        "msgid:1@example.org",
        "identifier",
    ],
    [
        "mime",
        "",
        "y",
        "whole",
        "no",
        "mime:application/pdf",
        "media types of parts",
    ],
    [
        "path",
        "",
        "l",
        "whole",
        "yes",
        "path:/home/a/Mail/cur/1",
        "file",
    ],
    [
        "priority",
        "prio",
        "p",
        "whole",
        "yes",
        "prio:high",
        "high, normal or low",
    ],
    [
        "references",
        "ref",
        "r",
        "whole",
        "yes",
        "ref:1@example.org",
        "messages before it",
    ],
    ["size", "", "z", "range", "yes", "size:1M..", "bytes"],
    [
        "subject",
        "",
        "s",
        "words",
        "yes",
        "subject:budget",
        "subject",
    ],
    ["tags", "tag", "x", "whole", "yes", "tag:todo", "tags"],
    [
        "thread",
        "",
        "w",
        "whole",
        "no",
        "thread:1@example.org",
        "messages of one thread",
    ],
    ["to", "", "t", "words", "yes", "to:anna", "recipient"],
];

pub(super) fn run() -> Outcome {
    output::print(text().as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the tables of fields and flags.
pub(super) fn text() -> String {
    let heads = [
        "field-name",
        "alias",
        "short",
        "search",
        "value",
        "example query",
        "description",
    ];
    let fields = rows(heads, &FIELDS);
    let heads = ["flag", "shortcut", "category", "description"].map(str::to_owned);
    let flags: Vec<Vec<String>> = std::iter::once(heads)
        .chain(MESSAGE_STATES.iter().map(flag))
        .map(Vec::from)
        .collect();
    format!(
        "#\n# message fields\n#\n{}\n#\n# message flags\n#\n{}",
        table(&fields),
        table(&flags)
    )
}

fn rows<const N: usize>(heads: [&str; N], rows: &[[&str; N]]) -> Vec<Vec<String>> {
    let all = std::iter::once(&heads).chain(rows);
    all.map(|row| row.iter().map(|&cell| cell.to_owned()).collect())
        .collect()
}

fn flag(row: &MessageStateInfo) -> [String; 4] {
    let letter = char::from(row.letter).to_string();
    [row.mu, &letter, row.source.name(), row.meaning].map(str::to_owned)
}

/// Returns the letter of a flag, by its name.
pub(super) fn flag_letter(name: &str) -> Option<char> {
    let row = MESSAGE_STATES.iter().find(|row| row.mu == name)?;
    Some(char::from(row.letter))
}

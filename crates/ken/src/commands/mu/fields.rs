//! `mu fields`: the fields for searching and printing.

use std::process::ExitCode;

use ken_core::{MESSAGE_STATES, MessageStateInfo};
use ken_server::mu::{MAIL_FIELDS, MailField};

use super::Outcome;
use super::table::table;
use crate::output;

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
    let fields = rows(heads, MAIL_FIELDS.iter().map(field));
    let heads = ["flag", "shortcut", "category", "description"];
    let flags = rows(heads, MESSAGE_STATES.iter().map(flag));
    format!(
        "#\n# message fields\n#\n{}\n#\n# message flags\n#\n{}",
        table(&fields),
        table(&flags)
    )
}

fn rows<const N: usize>(
    heads: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> Vec<Vec<String>> {
    let heads = heads.map(str::to_owned);
    std::iter::once(heads).chain(rows).map(Vec::from).collect()
}

fn field(row: &MailField) -> [String; 7] {
    let letter = row.letter.to_string();
    let value = if row.column.is_some() { "yes" } else { "no" };
    [
        row.name,
        row.alias,
        &letter,
        row.search,
        value,
        row.example,
        row.meaning,
    ]
    .map(str::to_owned)
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

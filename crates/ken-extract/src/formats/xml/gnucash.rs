//! GnuCash books (gzipped XML): accounts, and a line for each transaction with its memos and amounts.

use ken_core::Document;

use super::{Dialect, Role};
use crate::output::Output;
use crate::structure::xml::Start;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("GnuCash", &["application/x-gnucash"], extract);

const DIALECT: Dialect = Dialect {
    role,
    is_text: super::no_attribute,
};

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    super::extract(input, output, &DIALECT).map(drop)
}

fn role(_: &str, tag: &Start<'_>, _: &mut Document) -> Role {
    let value_type = tag.attribute("type");
    match (tag.full_name(), value_type.as_deref()) {
        // References between elements.
        (_, Some("guid")) => Role::Skip,
        ("slot:value", Some("string" | "frame")) => Role::Line,
        ("slot:value" | "slot:key", _) => Role::Skip,
        (
            "gnc:count-data"
            | "act:commodity-scu"
            | "split:reconciled-state"
            | "split:reconcile-date"
            | "trn:date-entered"
            | "cmdty:space"
            | "cmdty:quote_source"
            | "split:quantity"
            | "gnc:schedxaction",
            _,
        ) => Role::Skip,
        ("split:value", _) => Role::TurnedCell(amount),
        ("ts:date", _) => Role::TurnedCell(day),
        ("trn:slots" | "act:slots" | "book:slots" | "slot", _) => Role::Inline,
        ("trn:splits" | "trn:split" | "trn:date-posted" | "trn:currency", _) => Role::Inline,
        ("trn:description" | "split:memo" | "split:action" | "trn:num" | "cmdty:id", _) => {
            Role::Cell
        }
        ("gnc:transaction", _) => Role::Row,
        _ => Role::Line,
    }
}

/// Formats an amount: `12345/100` is 123.45.
fn amount(fraction: &str) -> String {
    let parsed = fraction.trim().split_once('/').and_then(|(above, below)| {
        let zeros = below.strip_prefix('1')?;
        let is_power = zeros.len() <= 9 && zeros.bytes().all(|byte| byte == b'0');
        let above: i64 = above.parse().ok()?;
        is_power.then_some((above, zeros.len()))
    });
    let Some((above, decimals)) = parsed else {
        return fraction.trim().to_owned();
    };
    let sign = if above < 0 { "-" } else { "" };
    let digits = format!("{:0>width$}", above.unsigned_abs(), width = decimals + 1);
    let (whole, part) = digits.split_at(digits.len() - decimals);
    let point = if part.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{part}")
}

/// Returns the day of a time such as `2024-02-29 00:00:00 +0000`.
fn day(time: &str) -> String {
    let day = time.split_whitespace().next();
    day.unwrap_or_default().to_owned()
}

//! Formats of a message: lines of fields, XML, JSON, s-expressions.

use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ken_mail::thread::Threaded;
use ken_server::mu::{Address, Found, Mail, MailColumn, Sexp, json_of, mail_plist};

use super::fields::flag_letter;
use crate::output;

/// Returns a time as GLib prints it in the locale C: a day of one digit has a leading space of the width of a digit.
pub(super) fn time(seconds: i64, zone: &TimeZone) -> String {
    let time = Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH);
    let time = time.to_zoned(zone.clone());
    let text = time.strftime("%a %b %e %H:%M:%S %Y").to_string();
    text.replacen("  ", " \u{2007}", 1)
}

/// Returns addresses as shown on one line.
pub(super) fn people(people: &[Address]) -> String {
    let shown: Vec<String> = people.iter().map(Address::display).collect();
    shown.join(", ")
}

/// Returns a line of fields: letters mean fields, other characters are literal.
pub(super) fn plain(found: &Found, letters: &str, root: &Path, zone: &TimeZone) -> String {
    let mut line = found.threaded.as_ref().map(branch).unwrap_or_default();
    for letter in letters.chars() {
        match field(&found.mail, letter, root, zone) {
            Some(value) => line.push_str(&value),
            None => line.push(letter),
        }
    }
    output::clean(&line).into_owned()
}

/// Returns the drawing of a message's position in its thread.
fn branch(node: &Threaded) -> String {
    if node.level == 0 {
        return String::new();
    }
    let indent = "  ".repeat(node.level - 1);
    let turn = if node.is_first_child { '\\' } else { '/' };
    let link = match node {
        _ if node.is_duplicate => '=',
        _ if node.is_orphan => '*',
        _ => '-',
    };
    format!("{indent}{turn}{link}> ")
}

/// Returns the value of the field with a letter.
fn field(mail: &Mail, letter: char, root: &Path, zone: &TimeZone) -> Option<String> {
    Some(match MailColumn::from_letter(letter)? {
        MailColumn::Cc => people(&mail.cc),
        MailColumn::Date => time(mail.date, zone),
        MailColumn::From => people(&mail.from),
        MailColumn::Flags => mail.flags().into_iter().filter_map(flag_letter).collect(),
        MailColumn::Bcc => people(&mail.bcc),
        MailColumn::MessageId => mail.id.clone(),
        MailColumn::Changed => time(mail.changed, zone),
        MailColumn::Path => mail.path.to_string_lossy().into_owned(),
        MailColumn::Maildir => mail.maildir(root),
        MailColumn::Priority => mail.priority.clone(),
        MailColumn::References => mail.references.join(","),
        MailColumn::Subject => mail.subject.clone(),
        MailColumn::To => people(&mail.to),
        MailColumn::List => mail.list.clone(),
        MailColumn::Tags => mail.tags.join(","),
        MailColumn::Size => mail.size.to_string(),
    })
}

/// Returns the list of properties on one line.
pub(super) fn sexp(mail: &Mail, root: &Path) -> Vec<u8> {
    Sexp::List(mail_plist(mail, root)).to_bytes()
}

/// Returns the list of properties as JSON; names have colons as in mu's first JSON, or not.
pub(super) fn json(mail: &Mail, root: &Path, with_colons: bool) -> String {
    json_of(&Sexp::List(mail_plist(mail, root)), with_colons)
}

pub(super) const XML_START: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<messages>\n";
pub(super) const XML_END: &str = "</messages>\n";

/// Returns the message as an XML element.
pub(super) fn xml(mail: &Mail, root: &Path) -> String {
    let mut text = "\t<message>\n".to_owned();
    for (name, value) in [
        ("from", people(&mail.from)),
        ("to", people(&mail.to)),
        ("cc", people(&mail.cc)),
        ("bcc", people(&mail.bcc)),
        ("subject", mail.subject.clone()),
        ("date", mail.date.to_string()),
        ("size", mail.size.to_string()),
        ("msgid", mail.id.clone()),
        ("path", mail.path.to_string_lossy().into_owned()),
        ("maildir", mail.maildir(root)),
    ] {
        if !value.is_empty() {
            text.push_str(&format!("\t\t<{name}>{}</{name}>\n", escaped(&value)));
        }
    }
    text.push_str("\t</message>\n");
    text
}

/// Returns text escaped for XML, without characters that XML cannot have.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}

/// Returns the first lines of a text that are not blank, as one line.
pub(super) fn summary(body: &str, n_lines: usize) -> String {
    let lines = body.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.take(n_lines).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_stand_for_fields() {
        let found = Found {
            mail: Mail {
                path: "/m/inbox/cur/1:2,FS".into(),
                date: 1_767_607_200,
                subject: "Plan\u{1b}[1m".to_owned(),
                from: vec![Address::read("Ann <a@b>"), Address::read("c@d")],
                ..Mail::default()
            },
            threaded: Some(Threaded {
                level: 2,
                is_orphan: true,
                ..Threaded::default()
            }),
            is_related: false,
        };
        let line = plain(&found, "d f (s) g m", Path::new("/m"), &TimeZone::UTC);
        let expected =
            "  /*> Mon Jan \u{2007}5 10:00:00 2026 Ann <a@b>, c@d (Plan\u{fffd}[1m) FS /inbox";
        assert_eq!(line, expected);
        assert!(xml(&found.mail, Path::new("/m")).contains("<from>Ann &lt;a@b&gt;, c@d</from>"));
    }
}

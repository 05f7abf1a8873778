//! `mu cfind`: contacts in the formats of other programs.

use std::process::ExitCode;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ken_mail::Contact;
use ken_server::mu::{Address, ContactQuery};
use serde_json::json;

use super::options::Typed;
use super::{NO_CONTACTS, Outcome, Refusal, home};
use crate::cli::Global;
use crate::commands::contact_lines;
use crate::output;

/// The formats of contacts.
const FORMATS: [&str; 9] = [
    "plain",
    "mutt-alias",
    "mutt-ab",
    "wl",
    "org-contact",
    "bbdb",
    "csv",
    "json",
    "debug",
];

pub(super) fn run(global: &Global, typed: &Typed) -> Outcome {
    let format = typed.text("format").unwrap_or_else(|| "plain".to_owned());
    if !FORMATS.contains(&format.as_str()) {
        return Err(Refusal::Usage(format!("invalid output format {format}")));
    }
    let limit = typed.number("maxnum").map_err(Refusal::Usage)?;
    let query = ContactQuery {
        pattern: Some(typed.joined()).filter(|pattern| !pattern.is_empty()),
        personal: typed.has("personal"),
        after: typed.number("after").map_err(Refusal::Usage)?.unwrap_or(0),
        limit: limit
            .filter(|limit| *limit > 0)
            .and_then(|limit| limit.try_into().ok()),
    };
    let contacts = home::store(global, typed)?.contacts(&query)?;
    if contacts.is_empty() {
        output::warn("no matching contacts found");
        return Ok(ExitCode::from(NO_CONTACTS));
    }
    output::print(formatted(&contacts, &format).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn formatted(contacts: &[Contact], format: &str) -> String {
    let start = match format {
        "mutt-ab" => "Matching addresses in the mu database:\n",
        "bbdb" => contact_lines::BBDB_HEAD,
        "json" => "[\n",
        _ => "",
    };
    let lines: Vec<String> = contacts
        .iter()
        .map(|contact| one(contact, format))
        .collect();
    match format {
        "json" => format!("{start}{}\n]\n", lines.join(",\n")),
        _ => format!("{start}{}", lines.concat()),
    }
}

fn one(contact: &Contact, format: &str) -> String {
    let (name, email) = (
        output::clean(&contact.name),
        output::clean(&contact.address),
    );
    let is_named = !name.is_empty();
    match format {
        // These formats need a name.
        "mutt-alias" | "wl" | "org-contact" if !is_named => String::new(),
        "mutt-alias" => format!(
            "alias {} {name} <{email}>\n",
            contact_lines::nickname(&name)
        ),
        "wl" => contact_lines::wl(&name, &email),
        "org-contact" => contact_lines::org(&name, &email),
        "mutt-ab" => format!("{email}\t{name}\t\n"),
        "bbdb" => contact_lines::bbdb(&name, &email, contact.last),
        "csv" if is_named => format!("{},{}\n", quoted(&name), quoted(&email)),
        "csv" => format!(",{}\n", quoted(&email)),
        "json" => json(contact),
        "debug" => debug(contact),
        _ if is_named => format!("{name} {email}\n"),
        _ => format!("{email}\n"),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn strftime(seconds: i64, pattern: &str) -> String {
    let time = Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH);
    time.to_zoned(TimeZone::UTC).strftime(pattern).to_string()
}

fn json(contact: &Contact) -> String {
    let name = Some(&contact.name).filter(|name| !name.is_empty());
    let pairs = [
        ("email", json!(contact.address)),
        ("name", json!(name)),
        ("display", json!(shown(contact))),
        ("last-seen", json!(contact.last)),
        (
            "last-seen-iso",
            json!(strftime(contact.last, "%Y-%m-%dT%H:%M:%SZ")),
        ),
        ("personal", json!(contact.is_personal)),
        ("frequency", json!(contact.count)),
    ];
    let lines = pairs.map(|(name, value)| format!("    {:<15} : {value}", format!("\"{name}\"")));
    format!("  {{\n{}\n  }}", lines.join(",\n"))
}

/// Returns name and address as in a header.
fn shown(contact: &Contact) -> String {
    let address = Address {
        name: contact.name.clone(),
        email: contact.address.clone(),
    };
    address.quoted()
}

fn debug(contact: &Contact) -> String {
    let name = match contact.name.as_str() {
        "" => "<none>",
        name => name,
    };
    format!(
        "{}\n\tname: {name}\n\t{}\n\tpersonal: {}\n\tfreq: {}\n\tlast-seen: {}\n",
        contact.address,
        shown(contact),
        if contact.is_personal { "yes" } else { "no" },
        contact.count,
        strftime(contact.last, "%Y-%m-%d %H:%M:%S"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contacts_are_printed_as_other_programs_read_them() {
        let contact = |name: &str, address: &str| Contact {
            name: name.to_owned(),
            address: address.to_owned(),
            is_personal: true,
            last: 1_767_873_600,
            count: 4,
        };
        let named = contact("Anna \"A\" Example", "anna@example.org");
        let unnamed = contact("", "x@example.org");
        for (format, expected) in [
            ("plain", "Anna \"A\" Example anna@example.org\n"),
            (
                "mutt-alias",
                "alias AnnaE Anna \"A\" Example <anna@example.org>\n",
            ),
            ("mutt-ab", "anna@example.org\tAnna \"A\" Example\t\n"),
            ("wl", "anna@example.org \"AnnaE\" \"Anna \"A\" Example\"\n"),
            ("csv", "\"Anna \"\"A\"\" Example\",\"anna@example.org\"\n"),
        ] {
            assert_eq!(one(&named, format), expected, "{format}");
        }
        assert_eq!(one(&unnamed, "csv"), ",\"x@example.org\"\n");
        assert_eq!(one(&unnamed, "wl"), "");
        let bbdb = one(&named, "bbdb");
        assert!(
            bbdb.starts_with("[\"Anna \\\"A\\\"\" \"Example\" nil"),
            "{bbdb}"
        );
        assert!(bbdb.contains("(time-stamp . \"2026-01-08\")"), "{bbdb}");
    }
}

//! `ken mail contacts`: senders and recipients of messages.

use std::collections::HashMap;
use std::fmt::Write;
use std::process::ExitCode;

use ken_mail::{Contact, Mailbox};
use ken_search::service::ContactForm;
use ken_search::service::mail::ContactRequest;

use super::{Mail, limit};
use crate::cli::{ContactFormat, ContactsArgs, Global};
use crate::commands::contact_lines;
use crate::failure::{Failure, Kind};
use crate::output;

pub(super) fn run(global: &Global, args: &ContactsArgs) -> Result<ExitCode, Failure> {
    let mail = Mail::open(global)?;
    if args.personal && mail.settings.mail.addresses.is_empty() {
        let message = "ken does not know your mail addresses".to_owned();
        let hint = "add them to the configuration file: [mail] addresses = [\"you@example.org\"]";
        return Err(Failure::new(Kind::Usage, message).hint(hint));
    }
    let mut request = ContactRequest {
        pattern: args.pattern.clone(),
        personal: args.personal,
        limit: limit(args.limit),
        ..ContactRequest::default()
    };
    if let Some(date) = &args.after {
        request.query = format!("date:{date}..");
    }
    let contacts = mail.service().contacts(&request)?.items;
    let mut text = String::new();
    let mut nicks = HashMap::new();
    match args.format {
        ContactFormat::Bbdb => text.push_str(contact_lines::BBDB_HEAD),
        // mutt and neomutt take the first line for a message (query_command in their manuals).
        ContactFormat::MuttAb => text.push_str("Contacts of your mail:\n"),
        _ => {}
    }
    let n_head = text.len();
    for contact in &contacts {
        if args.json || args.format == ContactFormat::Json {
            let line = output::json_line(&ContactForm::new(contact));
            text.push_str(&String::from_utf8_lossy(&line));
        } else {
            add(contact, args.format, &mut nicks, &mut text);
        }
    }
    output::print(text.as_bytes())?;
    Ok(ExitCode::from(u8::from(text.len() == n_head)))
}

fn add(
    contact: &Contact,
    format: ContactFormat,
    nicks: &mut HashMap<String, u32>,
    text: &mut String,
) {
    let name = output::clean(&contact.name);
    let address = output::clean(&contact.address);
    let mailbox = Mailbox {
        name: &name,
        address: &address,
    };
    let written = mailbox.quoted();
    // Writing to a String cannot fail.
    let _ = match format {
        ContactFormat::Plain => writeln!(text, "{written}"),
        ContactFormat::MuttAlias => {
            writeln!(
                text,
                "alias {} {}",
                unique(nick(&name, &address), nicks),
                as_mutt_reads(&written)
            )
        }
        ContactFormat::MuttAb => writeln!(text, "{address}\t{name}\t"),
        ContactFormat::Csv => writeln!(text, "{},{}", quoted(&name), quoted(&address)),
        ContactFormat::Vcard => write!(
            text,
            "BEGIN:VCARD\r\nVERSION:4.0\r\nFN:{}\r\nEMAIL:{}\r\nEND:VCARD\r\n",
            escaped(if name.is_empty() { &address } else { &name }),
            escaped(&address),
        ),
        // These formats need a name.
        ContactFormat::Wl | ContactFormat::OrgContact if name.is_empty() => Ok(()),
        ContactFormat::Wl => text.write_str(&contact_lines::wl(&name, &address)),
        ContactFormat::OrgContact => text.write_str(&contact_lines::org(&name, &address)),
        ContactFormat::Bbdb => text.write_str(&contact_lines::bbdb(&name, &address, contact.last)),
        // JSON is written where each contact is an object.
        ContactFormat::Json => Ok(()),
    };
}

/// Returns a short name without spaces: `annae` for Anna Example.
fn nick(name: &str, address: &str) -> String {
    let letters = |word: &str| -> String { word.chars().filter(|c| c.is_alphanumeric()).collect() };
    let mut words = name
        .split_whitespace()
        .map(letters)
        .filter(|word| !word.is_empty());
    let Some(first) = words.next() else {
        return letters(address.split('@').next().unwrap_or(address)).to_lowercase();
    };
    let last = words.next_back().and_then(|word| word.chars().next());
    first.chars().chain(last).collect::<String>().to_lowercase()
}

/// Returns a nickname that no other contact has.
fn unique(nick: String, nicks: &mut HashMap<String, u32>) -> String {
    let n_before = nicks.entry(nick.clone()).or_default();
    *n_before += 1;
    match *n_before {
        1 => nick,
        number => format!("{nick}{number}"),
    }
}

/// Returns a text that mutt takes literally. In its configuration mutt runs text between backticks and expands
/// variables.
fn as_mutt_reads(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if "`$\\'\"#;".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

fn quoted(value: &str) -> String {
    if value.contains([',', '"']) {
        return format!("\"{}\"", value.replace('"', "\"\""));
    }
    value.to_owned()
}

/// Returns a value escaped for a vCard (RFC 6350 section 3.4).
fn escaped(value: &str) -> String {
    let value = value.replace('\\', "\\\\").replace(',', "\\,");
    value.replace(';', "\\;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_as_others_read_it() {
        let contact = |name: &str| Contact {
            name: name.to_owned(),
            address: "a@x.org".to_owned(),
            count: 1,
            last: 0,
            is_personal: false,
        };
        for (format, name, expected) in [
            (ContactFormat::Plain, "Doe, Ann", "\"Doe, Ann\" <a@x.org>\n"),
            (ContactFormat::Plain, "", "a@x.org\n"),
            (
                ContactFormat::MuttAlias,
                "Ann B. Doe",
                "alias annd \\\"Ann B. Doe\\\" <a@x.org>\n",
            ),
            (ContactFormat::MuttAlias, "", "alias a a@x.org\n"),
            (
                ContactFormat::MuttAlias,
                "`id`; $HOME",
                "alias idh \\\"\\`id\\`\\; \\$HOME\\\" <a@x.org>\n",
            ),
            (ContactFormat::MuttAb, "Ann", "a@x.org\tAnn\t\n"),
            (
                ContactFormat::Csv,
                "Doe, \"Ann\"",
                "\"Doe, \"\"Ann\"\"\",a@x.org\n",
            ),
            (
                ContactFormat::Wl,
                "Ann Doe",
                "a@x.org \"AnnD\" \"Ann Doe\"\n",
            ),
            (ContactFormat::Wl, "", ""),
            (
                ContactFormat::OrgContact,
                "Ann",
                "* Ann\n:PROPERTIES:\n:EMAIL: a@x.org\n:END:\n\n",
            ),
            (
                ContactFormat::Vcard,
                "Doe, Ann",
                "BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Doe\\, Ann\r\nEMAIL:a@x.org\r\nEND:VCARD\r\n",
            ),
        ] {
            let mut text = String::new();
            add(&contact(name), format, &mut HashMap::new(), &mut text);
            assert_eq!(text, expected);
        }
        let mut text = String::new();
        add(
            &contact("A \"B\" C"),
            ContactFormat::Bbdb,
            &mut HashMap::new(),
            &mut text,
        );
        assert!(text.starts_with("[\"A \\\"B\\\"\" \"C\" nil"), "{text}");
        assert!(
            text.ends_with("(time-stamp . \"1970-01-01\")) nil]\n"),
            "{text}"
        );
    }
}

//! `notmuch reply`: the headers of an answer, and the message that it quotes.

use base64ct::Encoding;
use ken_mail::{Mailbox, TreeInner, TreePart};

use super::crypto::{Gnupg, Verdicts};
use super::database::Database;
use super::message::Message;
use super::print::Printer;
use super::query::Query;
use super::show::{Headers, ShowFormat, ShowRequest, people, structured_message};
use super::{Error, detect};

/// The most characters of a line of a header.
const LINE: usize = 76;

/// The format of `notmuch reply`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplyFormat {
    /// A message to be edited.
    #[default]
    Default,
    /// JSON or an s-expression.
    Structured,
    /// Only the headers that say to whom.
    HeadersOnly,
}

/// A request for `notmuch reply`.
#[derive(Clone, Debug, Default)]
pub struct ReplyRequest {
    /// The query.
    pub query: Query,
    /// The format.
    pub format: ReplyFormat,
    /// The version of structured output.
    pub version: i64,
    /// Whether all recipients get the answer.
    pub to_all: bool,
    /// The number of the file that is answered, from 1.
    pub duplicate: Option<usize>,
    /// The user's name.
    pub name: String,
    /// The user's addresses, the usual one first.
    pub own: Vec<String>,
    /// Headers that are shown besides the usual ones.
    pub extra_headers: Vec<String>,
}

/// The headers of an answer.
#[derive(Debug, Default)]
struct Reply {
    subject: Option<String>,
    from: Option<String>,
    to: Vec<String>,
    cc: Vec<String>,
    bcc: Vec<String>,
    in_reply_to: String,
    references: String,
}

impl Database {
    /// Prints answers to the messages that a query finds.
    ///
    /// # Errors
    /// Fails if the query has a mistake, if structured output is asked for more or less than one message, or if a message
    /// cannot be read.
    pub fn reply(
        &self,
        request: &ReplyRequest,
        gnupg: Gnupg<'_>,
        out: &mut Printer<'_>,
    ) -> Result<(), Error> {
        let source = self.source()?;
        let found = self.find(&*source, &request.query)?;
        if request.format == ReplyFormat::Structured && found.len() != 1 {
            let message = format!(
                "Error: search term did not match precisely one message (matched {} messages).",
                found.len()
            );
            return Err(Error::said(message));
        }
        for mut message in self.messages(&*source, &found)? {
            message.is_matched = false;
            let bytes = self.read_file(&message, request.duplicate)?;
            let tree = TreePart::read(&bytes, &detect);
            let keys = || self.session_keys(&message.id);
            let verdicts = Verdicts::of(&tree, gnupg, &keys);
            let reply = reply(&message, &tree, request);
            if request.format == ReplyFormat::Structured {
                out.begin_map()?;
                out.key("reply-headers")?;
                structured(&reply, out)?;
                out.key("original")?;
                let show = show_request(request);
                structured_message(self, &message, (&tree, &verdicts), &show, out)?;
                out.end()?;
                continue;
            }
            headers(&reply, out)?;
            if request.format == ReplyFormat::Default {
                let first = |name| {
                    tree.header(name, &detect)
                        .into_iter()
                        .next()
                        .unwrap_or_default()
                };
                let line = format!("On {}, {} wrote:\n", first("Date"), first("From"));
                out.raw(line.as_bytes())?;
                quote(&tree, &verdicts, out)?;
            }
        }
        Ok(())
    }
}

fn show_request(request: &ReplyRequest) -> ShowRequest {
    ShowRequest {
        query: request.query.clone(),
        format: ShowFormat::Structured,
        version: request.version,
        part: None,
        duplicate: request.duplicate,
        entire_thread: false,
        unthreaded: false,
        omits_excluded: false,
        body: true,
        include_html: false,
        extra_headers: request.extra_headers.clone(),
    }
}

fn reply(message: &Message, tree: &TreePart<'_>, request: &ReplyRequest) -> Reply {
    let in_reply_to = format!("<{}>", message.id);
    let references = tree.header("References", &detect).into_iter().next();
    let references = match references {
        Some(before) if !before.is_empty() => format!("{before} {in_reply_to}"),
        _ => in_reply_to.clone(),
    };
    let mut reply = Reply {
        in_reply_to,
        references,
        ..Reply::default()
    };
    let mut from = add_recipients(tree, request, &mut reply);
    if request.format == ReplyFormat::HeadersOnly {
        return reply;
    }
    let guesses = [delivered_to, received];
    for guess in guesses {
        from = from.or_else(|| guess(tree, &request.own));
    }
    let from = from.or_else(|| request.own.first().cloned());
    reply.from = from.map(|from| format!("{} <{from}>", request.name));
    let subject = tree.header("Subject", &detect).into_iter().next();
    reply.subject = subject.map(|subject| {
        let is_answer = subject
            .get(..3)
            .is_some_and(|start| start.eq_ignore_ascii_case("re:"));
        match is_answer {
            true => subject,
            false => format!("Re: {subject}"),
        }
    });
    reply
}

fn address(text: &str) -> &str {
    Mailbox::read(text).map_or(text, |mailbox| mailbox.address)
}

/// Adds the recipients of the answer; returns the user's own address to which the message was sent.
fn add_recipients(
    tree: &TreePart<'_>,
    request: &ReplyRequest,
    reply: &mut Reply,
) -> Option<String> {
    let lists = ["To", "Cc", "Bcc"].map(|name| tree.addresses(name, &detect));
    let [to, cc, bcc] = &lists;
    let sender = sender(tree, &lists);
    let mut own = None;
    let mut n_added = 0;
    let mut adds = true;
    for (position, addresses) in [&sender, to, cc, bcc].into_iter().enumerate() {
        let list = match position {
            0 | 1 => &mut reply.to,
            2 => &mut reply.cc,
            _ => &mut reply.bcc,
        };
        // The names of groups are no addresses.
        for text in addresses
            .iter()
            .filter(|text| Mailbox::read(text).is_some())
        {
            let is_own = request
                .own
                .iter()
                .find(|own| own.eq_ignore_ascii_case(address(text)));
            match is_own {
                Some(_) => own = own.or_else(|| Some(address(text).to_owned())),
                None if adds => {
                    list.push(text.clone());
                    n_added += 1;
                }
                None => {}
            }
        }
        if !request.to_all && n_added > 0 {
            adds = false;
            if own.is_some() {
                break;
            }
        }
    }
    if n_added == 0
        && let Some(own) = &own
    {
        reply.to.push(own.clone());
    }
    own
}

/// Returns to whom an answer to the sender goes. A `Reply-To` that is a recipient anyway comes from a list.
fn sender(tree: &TreePart<'_>, recipients: &[Vec<String>; 3]) -> Vec<String> {
    let reply_to = tree.addresses("Reply-To", &detect);
    let is_redundant = match reply_to.as_slice() {
        [only] => {
            let mut all = recipients.iter().flatten();
            all.any(|text| address(text) == address(only))
        }
        _ => false,
    };
    match reply_to.is_empty() || is_redundant {
        true => tree.addresses("From", &detect),
        false => reply_to,
    }
}

/// Returns the user's address in headers that say to whom a message was delivered.
fn delivered_to(tree: &TreePart<'_>, own: &[String]) -> Option<String> {
    ["Envelope-To", "X-Original-To", "Delivered-To"]
        .into_iter()
        .find_map(|name| own_in(&tree.header(name, &detect).join(" "), own))
}

fn own_in(text: &str, own: &[String]) -> Option<String> {
    let text = text.to_lowercase();
    own.iter()
        .find(|own| text.contains(&own.to_lowercase()))
        .cloned()
}

/// Returns the user's address by the headers `Received`: ` for <address>`, else ` by host` in the domain of an address.
fn received(tree: &TreePart<'_>, own: &[String]) -> Option<String> {
    let text = tree.header("Received", &detect).join(" ");
    if let Some(at) = text.find(" for ")
        && let Some(found) = own_in(&text[at..], own)
    {
        return Some(found);
    }
    text.split(" by ").skip(1).find_map(|after| {
        let host = after.split_whitespace().next()?;
        let labels: Vec<&str> = host.split('.').filter(|label| !label.is_empty()).collect();
        let [.., domain, top] = labels.as_slice() else {
            return None;
        };
        let domain = format!("{domain}.{top}").to_lowercase();
        own.iter()
            .find(|own| own.to_lowercase().contains(&domain))
            .cloned()
    })
}

fn headers(reply: &Reply, out: &mut Printer<'_>) -> Result<(), Error> {
    let list = |list: &[String]| {
        list.iter()
            .map(|text| encoded_person(text))
            .collect::<Vec<_>>()
    };
    let list = |people: &[String]| list(people).join(", ");
    let mut line = |name: &str, value: &str| -> Result<(), Error> {
        match value {
            "" => Ok(()),
            value => Ok(out.raw(folded(name, value).as_bytes())?),
        }
    };
    line(
        "From",
        &encoded_person(reply.from.as_deref().unwrap_or_default()),
    )?;
    if let Some(subject) = &reply.subject {
        line("Subject", &encoded(subject))?;
    }
    let to = [("To", &reply.to), ("Cc", &reply.cc), ("Bcc", &reply.bcc)];
    let to = to.map(|(name, people)| (name, list(people)));
    let before = [
        ("In-Reply-To", reply.in_reply_to.clone()),
        ("References", reply.references.clone()),
    ];
    // Clients that only want to know to whom read them in this order.
    let all = match reply.from {
        Some(_) => to.into_iter().chain(before).collect::<Vec<_>>(),
        None => before.into_iter().chain(to).collect(),
    };
    all.iter().try_for_each(|(name, value)| line(name, value))?;
    Ok(out.raw(b"\n")?)
}

/// Returns an address as in a header, with its name encoded.
fn encoded_person(text: &str) -> String {
    match Mailbox::read(text) {
        Some(person) if !person.name.is_ascii() => {
            format!("{} <{}>", encoded(person.name), person.address)
        }
        _ => people(&[text.to_owned()]),
    }
}

/// Returns a text in which words that are not ASCII are encoded (RFC 2047): runs of them are one word, in Latin-1 if
/// that has all letters.
fn encoded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let words: Vec<&str> = text.split(' ').collect();
    let is_plain = |word: &&str| word.is_ascii();
    let start = words.iter().take_while(|word| is_plain(word)).count();
    let end = words.len() - words.iter().rev().take_while(|word| is_plain(word)).count();
    let run = words[start..end].join(" ");
    let is_latin = run.chars().all(|c| u32::from(c) < 0x100);
    let (charset, bytes) = match is_latin {
        true => ("iso-8859-1", run.chars().map(|c| c as u8).collect()),
        false => ("UTF-8", run.into_bytes()),
    };
    let run = format!(
        "=?{charset}?b?{}?=",
        base64ct::Base64::encode_string(&bytes)
    );
    let all = [&words[..start], &[&*run], &words[end..]];
    all.concat().join(" ")
}

/// Returns a header in lines of at most [`LINE`] characters, where its words allow it.
fn folded(name: &str, value: &str) -> String {
    let mut header = format!("{name}:");
    let mut column = header.len();
    for (number, word) in value.split(' ').enumerate() {
        let is_over = column + 1 + word.len() > LINE;
        if is_over && number > 0 {
            header.push('\n');
            column = 0;
        }
        header.push(' ');
        header.push_str(word);
        column += 1 + word.len();
    }
    header.push('\n');
    header
}

fn structured(reply: &Reply, out: &mut Printer<'_>) -> Result<(), Error> {
    out.begin_map()?;
    out.entry("Subject", reply.subject.as_deref().unwrap_or_default())?;
    out.entry("From", reply.from.as_deref().unwrap_or_default())?;
    for (name, list) in [("To", &reply.to), ("Cc", &reply.cc), ("Bcc", &reply.bcc)] {
        if !list.is_empty() {
            out.entry(name, &people(list))?;
        }
    }
    out.entry("In-reply-to", &reply.in_reply_to)?;
    out.entry("References", &reply.references)?;
    Ok(out.end()?)
}

/// Quotes the text of a message.
fn quote(part: &TreePart<'_>, verdicts: &Verdicts, out: &mut Printer<'_>) -> Result<(), Error> {
    if let Some(content) = verdicts.content(part) {
        return quote(&content, verdicts, out);
    }
    match &part.inner {
        TreeInner::Message(inner) => {
            let headers = Headers::of(inner);
            let mut text = format!("> From: {}\n", headers.from);
            for (name, value) in [("To", &headers.to), ("Cc", &headers.cc)] {
                if !value.is_empty() {
                    text.push_str(&format!("> {name}: {value}\n"));
                }
            }
            let subject = headers.subject.unwrap_or_default();
            text.push_str(&format!(
                "> Subject: {subject}\n> Date: {}\n>\n",
                headers.date
            ));
            out.raw(text.as_bytes())?;
            quote(inner, verdicts, out)
        }
        TreeInner::Multipart(parts) => parts.iter().try_for_each(|part| quote(part, verdicts, out)),
        TreeInner::Leaf if is_envelope(part) => Ok(()),
        TreeInner::Leaf if part.is("text", "*") && !part.is("text", "html") => {
            let text = part.text(&detect);
            let lines = text.lines().map(|line| format!("> {line}\n"));
            Ok(out.raw(lines.collect::<String>().as_bytes())?)
        }
        TreeInner::Leaf if part.is_attachment() => {
            let name = part.file_name.as_deref().unwrap_or("(null)");
            let line = format!("Attachment: {name} ({})\n", part.media_type);
            Ok(out.raw(line.as_bytes())?)
        }
        TreeInner::Leaf => Ok(out.raw(format!("Non-text part: {}\n", part.media_type).as_bytes())?),
    }
}

/// Returns whether a part only holds a signature or encrypted content.
fn is_envelope(part: &TreePart<'_>) -> bool {
    ["pgp-encrypted", "pgp-signature", "pkcs7-mime"]
        .iter()
        .any(|subtype| part.is("application", subtype))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(message: &str, to_all: bool) -> Reply {
        let request = ReplyRequest {
            to_all,
            name: "Me".to_owned(),
            own: vec!["me@home.example".to_owned(), "me@work.example".to_owned()],
            ..ReplyRequest::default()
        };
        let tree = TreePart::read(message.as_bytes(), &detect);
        let message = Message {
            id: "1@x".to_owned(),
            ..Message::default()
        };
        reply(&message, &tree, &request)
    }

    #[test]
    fn the_sender_and_all_others_are_answered() {
        let text = "From: Anna <a@x>\nTo: me@work.example, b@x\nCc: c@x\nSubject: Plan\n\n";
        let reply = answered(text, true);
        assert_eq!(
            (reply.to, reply.cc),
            (
                vec!["Anna <a@x>".to_owned(), "b@x".to_owned()],
                vec!["c@x".to_owned()]
            )
        );
        assert_eq!(reply.from.as_deref(), Some("Me <me@work.example>"));
        assert_eq!(reply.subject.as_deref(), Some("Re: Plan"));
        let reply = answered(text, false);
        assert_eq!(
            (reply.to, reply.cc.len()),
            (vec!["Anna <a@x>".to_owned()], 0)
        );
    }

    #[test]
    fn a_list_does_not_get_what_is_for_the_sender() {
        let text = "From: a@x\nTo: list@x\nReply-To: list@x\n\n";
        assert_eq!(answered(text, false).to, ["a@x"]);
        let text = "From: a@x\nTo: me@home.example\nReply-To: other@x\n\n";
        assert_eq!(answered(text, false).to, ["other@x"]);
        let text = "From: me@home.example\nTo: me@home.example\n\n";
        assert_eq!(answered(text, true).to, ["me@home.example"]);
    }

    #[test]
    fn headers_are_encoded_and_folded() {
        assert_eq!(encoded("Re: àßç now"), "Re: =?iso-8859-1?b?4N/n?= now");
        assert_eq!(encoded_person("☃ <s@x>"), "=?UTF-8?b?4piD?= <s@x>");
        let long = format!("{} end", "word".repeat(18));
        assert_eq!(
            folded("A", &long),
            format!("A: {}\n end\n", "word".repeat(18))
        );
    }

    #[test]
    fn own_addresses_are_guessed() {
        for header in [
            "Delivered-To: me@work.example",
            "Received: from x by y for <me@work.example>; now",
            "Received: from x by mail.work.example with SMTP",
        ] {
            let text = format!("From: a@x\nTo: list@x\n{header}\n\n");
            assert_eq!(
                answered(&text, true).from.as_deref(),
                Some("Me <me@work.example>")
            );
        }
        let reply = answered("From: a@x\nTo: list@x\n\n", true);
        assert_eq!(reply.from.as_deref(), Some("Me <me@home.example>"));
    }
}

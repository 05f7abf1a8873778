//! Messages (RFC 5322): header fields, body, and attachments as members.
//!
//! [`ken_mail::Message`] parses them; this module turns their parts into fields. Attachments are
//! numbered from 1 in the order of the message, so that their member paths stay the same.

use ken_core::{Document, Encryption, Field, Setting, TEXT_SEPARATOR};
use ken_mail::{Attachment, Html, Message, Priority, Text, made_id};

use crate::formats::mail::calendar::invitation_text;
use crate::formats::web::html::shown_within;
use crate::opener::Opened;
use crate::output::Output;
use crate::text::encoded::without_data;
use crate::{Error, Format, Input, Member};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("message", &["message/rfc822"], extract)
    .fields(&[
        Field::Title,
        Field::Author,
        Field::To,
        Field::Cc,
        Field::Bcc,
        Field::Date,
        Field::Msgid,
        Field::Is,
        Field::References,
        Field::List,
        Field::Replyto,
        Field::Prio,
        Field::Tag,
        Field::Has,
    ])
    .members("attachments, numbered from 1")
    .version(14);

/// Extracts a message.
pub(crate) fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let bytes = input.bytes(output.limits())?;
    let mut message = Message::parse(bytes, &detect_charset);
    if message.id.is_empty() {
        message.id = made_id(bytes);
    }
    // An attached message may claim any identifier.
    let is_own = output.own().ipath.is_root();
    let opened = match message.is_encrypted && is_own {
        true => output.limits().opener.open(&message.id, bytes),
        false => Opened::default(),
    };
    let contents = opened.contents.iter();
    let contents: Vec<Message<'_>> = contents
        .map(|content| Message::parse(content, &detect_charset))
        .collect();
    if let Some(subject) = opened.subject {
        message.subject = subject;
    }
    for content in &contents {
        message.is_signed |= content.is_signed;
        let known = &mut message.media_types;
        let types = content.media_types.iter().cloned();
        let new: Vec<String> = types.filter(|kind| !known.contains(kind)).collect();
        known.extend(new);
    }
    add_fields(&message, output);
    add_own_headers(bytes, output);
    // What is inside stands behind what everybody can read.
    let parts = || std::iter::once(&message).chain(&contents);
    parts().for_each(|part| add_body(part, output));
    for (position, attachment) in parts().flat_map(|part| &part.attachments).enumerate() {
        hand_on(attachment, position + 1, output)?;
    }
    if message.is_encrypted && !opened.is_whole {
        return Err(Error::sealed(Encryption::Key));
    }
    if parts().any(|part| part.is_cut) {
        return Err(Error::built_in("the message has too many parts"));
    }
    Ok(())
}

fn add_fields(message: &Message<'_>, output: &mut Output<'_>) {
    let own = output.own();
    own.add_text(Field::Title, &message.subject);
    own.add_text(Field::Msgid, &message.id);
    for (field, values) in [
        (Field::Author, &message.from),
        (Field::To, &message.to),
        (Field::Cc, &message.cc),
        (Field::Bcc, &message.bcc),
    ] {
        values.iter().for_each(|value| own.add_text(field, value));
    }
    if let Some(date) = message.date {
        own.add_number(Field::Date, date);
    }
    if message.is_signed {
        own.add_text(Field::Is, "signed");
    }
    if message.is_bulk {
        own.add_text(Field::Is, "bulk");
    }
    for state in &message.states {
        own.add_text(Field::Is, state.name());
    }
    for media_type in &message.media_types {
        own.add_text(Field::Has, media_type);
    }
    add_header(message, own);
}

/// Adds the fields that come only from a header.
pub(super) fn add_header(header: &Message<'_>, own: &mut Document) {
    for (field, values) in [
        (Field::References, &header.references),
        (Field::Replyto, &header.reply_to),
        (Field::Tag, &header.tags),
    ] {
        values.iter().for_each(|value| own.add_text(field, value));
    }
    for id in &header.in_reply_to {
        if !header.references.contains(id) {
            own.add_text(Field::References, id);
        }
    }
    own.add_text(Field::List, &header.list_id);
    if header.priority != Priority::Normal {
        own.add_text(Field::Prio, header.priority.name());
    }
}

/// Adds the custom fields.
pub(super) fn add_own_headers(header: &[u8], output: &mut Output<'_>) {
    if output.limits().headers.is_empty() {
        return;
    }
    let wanted = output.limits().headers.clone();
    let names: Vec<&str> = wanted.iter().map(|own| own.header.as_str()).collect();
    for (number, value) in ken_mail::header_values(header, &names, &detect_charset) {
        output.own().add_text(wanted[number].field, &value);
    }
}

fn add_body(message: &Message<'_>, output: &mut Output<'_>) {
    let max_bytes = output.limits().max_text_bytes;
    let body = &mut output.own().body;
    for text in &message.texts {
        start_part(body);
        match text {
            Text::Plain(text) => add_lines(&without_data(text), body),
            Text::Html(html) => {
                let left = max_bytes.saturating_sub(body.len());
                add_lines(&page_text(html, left), body);
            }
        }
    }
    for invitation in message
        .attachments
        .iter()
        .filter(|file| is_invitation(file))
    {
        start_part(body);
        let left = max_bytes.saturating_sub(body.len());
        body.push_str(&invitation_text(&invitation.content.decode(), left));
    }
}

/// Adds text with line feeds as line ends; a form feed would count as the end of a page.
fn add_lines(text: &str, body: &mut String) {
    body.reserve(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'\r', b'\x0c', rest.as_bytes()) {
        body.push_str(&rest[..at]);
        let is_line_end = rest.as_bytes()[at] == b'\r' && rest[at + 1..].starts_with('\n');
        if !is_line_end {
            body.push('\n');
        }
        rest = &rest[at + 1..];
    }
    body.push_str(rest);
}

/// Returns whether an attachment is an invitation: a calendar without a file name is another form of the message.
fn is_invitation(file: &Attachment<'_>) -> bool {
    file.media_type == "text/calendar" && file.name.is_empty()
}

/// Begins a part behind another: they do not continue each other.
fn start_part(body: &mut String) {
    if body.is_empty() {
        return;
    }
    if !body.ends_with('\n') {
        body.push('\n');
    }
    body.push_str(TEXT_SEPARATOR);
    body.push('\n');
}

fn hand_on(
    attachment: &Attachment<'_>,
    number: usize,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let component = number.to_string();
    let max = output.limits().max_member_bytes;
    if attachment.content.max_bytes() as u64 > max {
        let error = output.limits().reached(Setting::MaxMemberBytes);
        return output.failed_member(&component, &attachment.name, error);
    }
    output.make_room(attachment.content.max_bytes() as u64);
    let media_type = &attachment.media_type;
    output.member(Member {
        is_attachment: true,
        ipath: output.child_ipath(&component),
        name: attachment.name.clone(),
        declared_type: (!media_type.is_empty()).then(|| media_type.clone()),
        bytes: attachment.content.decode().into_owned(),
        ..Member::default()
    })
}

/// Decodes bytes in an unknown character set.
fn detect_charset(bytes: &[u8]) -> String {
    crate::text::decode(bytes, None).into_owned()
}

fn page_text(html: &Html<'_>, max_bytes: usize) -> String {
    let (page, charset) = html.page();
    shown_within(&page, charset, max_bytes).body
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Reason, Value};

    use super::*;
    use crate::Limits;
    use crate::detect::Detected;
    use crate::testing::{Extracted, run, run_limited, survives};

    const MESSAGE: Detected = Detected {
        media_type: "message/rfc822",
        kind: Kind::Message,
    };

    const MULTIPART: &[u8] = include_bytes!("../../../tests/data/mail/attachments.eml");
    const HTML_ONLY: &[u8] = include_bytes!("../../../tests/data/mail/html-only.eml");
    const FORWARDED: &[u8] = include_bytes!("../../../tests/data/mail/forwarded.eml");
    const ENCRYPTED: &[u8] = include_bytes!("../../../tests/data/mail/encrypted.eml");

    fn found(bytes: &[u8]) -> Extracted {
        run(extract, MESSAGE, "1.eml", bytes)
    }

    #[test]
    fn fields_and_body_are_those_of_the_message() {
        let found = found(MULTIPART);
        let own = found.own();
        assert_eq!(own.text(Field::Title), Some("Minutes of the meeting"));
        assert_eq!(
            own.text(Field::Author),
            Some("Anna Example <anna@example.org>")
        );
        let values = |field| {
            let values = own.fields.iter().filter(move |(of, _)| *of == field);
            values.map(|(_, value)| value.clone()).collect::<Vec<_>>()
        };
        let texts = |texts: [&str; 2]| texts.map(|text| Value::Text(text.to_owned()));
        assert_eq!(
            values(Field::To),
            texts(["Bob <bob@example.org>", "carol@example.org"])
        );
        assert_eq!(values(Field::Cc), texts(["Team", "dave@example.org"]));
        assert_eq!(own.text(Field::Msgid), Some("minutes.1@example.org"));
        assert_eq!(own.text(Field::List), Some("team.example.org"));
        assert_eq!(own.number(Field::Date), Some(1_767_607_200));
        assert_eq!(own.body, "The albatross agenda is attached.\n");
        assert_eq!(own.failure, None);
    }

    #[test]
    fn types_of_parts_and_of_files_are_there_once() {
        let text = "Content-Type: multipart/mixed; boundary=b\n\n\
            --b\n\ntext\n--b\nContent-Type: text/html\n\n<p>page\n\
            --b\nContent-Type: text/plain; name=a.txt\n\nfile\n--b--\n";
        let found = found(text.as_bytes());
        let types = found.own().fields.iter();
        let types = types.filter_map(|(field, value)| match (field, value) {
            (Field::Has, Value::Text(value)) if value.contains('/') => Some(value.as_str()),
            _ => None,
        });
        assert_eq!(
            types.collect::<Vec<_>>(),
            ["multipart/mixed", "text/plain", "text/html"]
        );
    }

    #[test]
    fn answers_name_what_they_answer_once() {
        let found = found(b"Message-ID: <3@x>\nIn-Reply-To: <2@x>\nReferences: <1@x> <2@x>\n\n");
        let references = found.own().fields.iter();
        let references: Vec<_> = references
            .filter(|(field, _)| *field == Field::References)
            .collect();
        assert_eq!(references.len(), 2);
        let found = self::found(b"In-Reply-To: <2@x>\n\n");
        assert_eq!(found.own().text(Field::References), Some("2@x"));
    }

    #[test]
    fn states_are_read_where_a_mailbox_keeps_them() {
        let states = |header: &str| {
            let found = found(format!("{header}\n\ntext").as_bytes());
            let fields = found.own().fields.iter();
            let states = fields.filter_map(|(field, value)| match value {
                Value::Text(text) if *field == Field::Is => Some(text.clone()),
                _ => None,
            });
            states.collect::<Vec<_>>()
        };
        assert_eq!(states("Status: RO\nX-Status: A"), ["seen", "replied"]);
        assert_eq!(states("Status: O"), ["unread"]);
        assert_eq!(states("Subject: R"), Vec::<String>::new());
    }

    #[test]
    fn headers_are_fields_if_the_settings_say_so() {
        let own = |field, header: &str| ken_core::CustomField {
            field,
            name: header.to_lowercase(),
            header: header.to_owned(),
        };
        let limits = Limits {
            headers: vec![
                own(Field::Custom3, "X-Project"),
                own(Field::Custom1, "Subject"),
            ],
            ..Limits::default()
        };
        let message =
            b"x-project: =?utf-8?q?B=C3=A4r?=\nSubject: a\nX-PROJECT: den\n\nX-Project: no";
        let found = run_limited(extract, MESSAGE, "1.eml", message, &limits);
        let texts = |field| {
            let fields = found.own().fields.iter();
            let values = fields.filter(move |(of, _)| *of == field);
            values.map(|(_, value)| value.clone()).collect::<Vec<_>>()
        };
        assert_eq!(
            texts(Field::Custom3),
            ["Bär", "den"].map(|t| Value::Text(t.into()))
        );
        assert_eq!(texts(Field::Custom1), [Value::Text("a".into())]);
        assert_eq!(texts(Field::Custom2), []);
        assert_eq!(self::found(message).own().text(Field::Custom3), None);
    }

    /// Opens messages whose identifier begins with `mine`.
    struct Mine;

    impl crate::OpenMessage for Mine {
        fn open(&self, id: &str, message: &[u8]) -> Opened {
            assert!(message.starts_with(b"Message-ID: "));
            let inside =
                b"Content-Type: multipart/mixed; boundary=c\n\n--c\n\nthe secret pangolin\n\
                --c\nContent-Type: text/csv; name=a.csv\n\na,b\n--c--\n";
            match id.starts_with("mine") {
                true => Opened {
                    contents: vec![inside.to_vec()],
                    is_whole: true,
                    subject: Some("Inside".to_owned()),
                },
                false => Opened::default(),
            }
        }
    }

    #[test]
    fn what_somebody_can_decrypt_is_text_of_the_message() {
        let message = |id: &str, kind: &str| {
            format!(
                "Message-ID: <{id}@x>\nSubject: ...\nContent-Type: multipart/{kind}; boundary=b\n\n--b\n\
                Content-Type: application/pgp-encrypted\n\nVersion: 1\n--b\n\
                Content-Type: application/octet-stream\n\ncipher\n--b--\n"
            )
        };
        let limits = Limits {
            opener: crate::Opener::new(std::sync::Arc::new(Mine)),
            ..Limits::default()
        };
        let found = |text: &str| run_limited(extract, MESSAGE, "1.eml", text.as_bytes(), &limits);
        let opened = found(&message("mine1", "encrypted"));
        assert_eq!(opened.own().failure, None);
        assert_eq!(opened.own().text(Field::Title), Some("Inside"));
        assert_eq!(opened.own().body, "the secret pangolin");
        assert_eq!(opened.members[0].name, "a.csv");
        let closed = found(&message("other", "encrypted"));
        assert!(closed.own().failure.is_some() && closed.members.is_empty());
        assert_eq!(closed.own().text(Field::Title), Some("..."));
        // Nobody is asked about a message that is not encrypted.
        let plain = found(&message("mine2", "mixed"));
        assert_eq!(plain.own().text(Field::Title), Some("..."));
    }

    #[test]
    fn attachments_are_members_in_order() {
        let found = found(MULTIPART);
        let members: Vec<_> = found
            .members
            .iter()
            .map(|member| {
                (
                    member.ipath.as_str(),
                    &*member.name,
                    member.declared_type.as_deref(),
                )
            })
            .collect();
        let expected = [
            ("1", "pangolin notes.txt", Some("text/plain")),
            ("2", "café.csv", Some("text/csv")),
        ];
        assert_eq!(members, expected);
        assert!(found.members[0].bytes.starts_with(b"The pangolin"));
        assert_eq!(found.members[1].bytes, b"animal,count\nquokka,3\n");
    }

    #[test]
    fn attachments_are_marked_and_the_message_is_not() {
        let mut states = Vec::new();
        let mut input = Input::bytes_of("a.eml", MULTIPART);
        crate::extract_all(&mut input, &Limits::default(), &mut |document| {
            let state = document.text(Field::Is).map(str::to_owned);
            states.push((document.ipath.as_str().to_owned(), state));
        });
        let attachment = Some("attachment".to_owned());
        let expected = [("1", attachment.clone()), ("2", attachment), ("", None)];
        assert_eq!(
            states,
            expected.map(|(ipath, state)| (ipath.to_owned(), state))
        );
    }

    #[test]
    fn a_page_is_stripped_when_there_is_nothing_else() {
        let found = found(HTML_ONLY);
        assert_eq!(found.own().text(Field::Title), Some("Einladung für Jürgen"));
        assert!(found.own().body.contains("axolotl"), "{}", found.own().body);
        assert!(!found.own().body.contains('<'));
        assert!(found.members.is_empty());
    }

    #[test]
    fn a_forwarded_message_is_a_member() {
        let found = found(FORWARDED);
        assert_eq!(found.own().body, "See the narwhal below.\n");
        assert_eq!(found.members.len(), 1);
        assert_eq!(
            found.members[0].declared_type.as_deref(),
            Some("message/rfc822")
        );
        let inner = run(extract, MESSAGE, "", &found.members[0].bytes);
        assert_eq!(inner.own().text(Field::Title), Some("Original"));
        assert_eq!(inner.own().body, "It was about the okapi.\n");
    }

    #[test]
    fn an_invitation_is_text_of_its_message() {
        let message = b"Content-Type: multipart/alternative; boundary=b\n\n--b\n\nHello\n\
            --b\nContent-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nBEGIN:VEVENT\n\
            SUMMARY:Okapi day\nLOCATION:Zoo\nEND:VEVENT\nEND:VCALENDAR\n--b--\n";
        let found = found(message);
        assert_eq!(found.own().body, "Hello\n\u{2029}\nOkapi day\nZoo");
        assert_eq!(found.members.len(), 1);
    }

    #[test]
    fn what_is_encrypted_is_found_by_its_header() {
        let found = found(ENCRYPTED);
        assert_eq!(found.own().text(Field::Title), Some("The vaquita plan"));
        assert_eq!(found.own().body, "");
        let failure = found.own().failure.as_ref().unwrap();
        assert_eq!(failure.reason(), Reason::Encrypted);
        assert!(found.members.is_empty());
    }

    #[test]
    fn large_attachments_are_found_by_name() {
        let limits = Limits {
            max_member_bytes: 40,
            ..Limits::default()
        };
        let found = run_limited(extract, MESSAGE, "1.eml", MULTIPART, &limits);
        assert_eq!(found.members.len(), 1);
        let failed = &found.documents[0];
        assert_eq!(failed.text(Field::Filename), Some("pangolin notes.txt"));
        assert_eq!(failed.failure.as_ref().unwrap().reason(), Reason::Limit);
    }

    #[test]
    fn bytes_without_charset_are_detected() {
        let message =
            b"Subject: gr\xfc\xdfe aus m\xfcnchen\n\nsch\xf6ne gr\xfc\xdfe\r\n\x0cbis bald";
        let found = found(message);
        assert_eq!(found.own().text(Field::Title), Some("grüße aus münchen"));
        assert_eq!(found.own().body, "schöne grüße\n\nbis bald");
    }

    #[test]
    fn hostile_messages_are_survived() {
        for good in [MULTIPART, HTML_ONLY, FORWARDED, ENCRYPTED] {
            survives(extract, MESSAGE, "1.eml", good);
        }
    }
}

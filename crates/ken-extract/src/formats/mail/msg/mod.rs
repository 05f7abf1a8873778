//! Outlook messages (.msg): MS-OXMSG, MAPI properties in a compound file.
//!
//! A message is a storage of streams, each of which is a property. Recipients and attachments are
//! storages inside it; an attached message is a storage like that of the outer message. The text is
//! plain, HTML or compressed RTF.

mod compressed_rtf;
pub(in crate::formats) mod properties;

use ken_core::{Encryption, Field, Setting};
use ken_mail::Message;

use crate::formats::Format;
use crate::formats::mail::message::{add_header, add_own_headers};
use crate::formats::office::rtf;
use crate::formats::web::html::shown_within;
use crate::output::Output;
use crate::structure::compound::summary::filetime;
use crate::structure::compound::{Compound, objects};
use crate::structure::compound::{EntryId, ROOT};
use crate::{Error, Input, Member};
use properties::{Properties, tag};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("Outlook message", &["application/vnd.ms-outlook"], extract)
        .fields(&[
            Field::Title,
            Field::Author,
            Field::To,
            Field::Cc,
            Field::Bcc,
            Field::Date,
            Field::Msgid,
            Field::References,
            Field::List,
            Field::Replyto,
            Field::Prio,
            Field::Tag,
        ])
        .members("attachments, numbered from 1")
        .in_worker()
        .version(6);

/// The kind of attachment that is a message.
const IS_MESSAGE: u32 = 5;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let limits = output.limits();
    let file = Compound::open(input.bytes(limits)?)?;
    let message = Properties::read(&file, ROOT)
        .ok_or_else(|| Error::Malformed("there is no stream of properties".into()))?;
    add_fields(&message, output);
    add_recipients(&file, message.code_page(), output);
    output.own().body = body(&message, output);
    let attachments = numbered(&file, "__attach_version1.0_#");
    for (position, storage) in attachments.enumerate() {
        hand_on(&file, storage, position + 1, message.code_page(), output)?;
    }
    let class = message.text(tag::MESSAGE_CLASS).unwrap_or_default();
    if class.eq_ignore_ascii_case("IPM.Note.SMIME") {
        return Err(Error::sealed(Encryption::Key));
    }
    file.finish()
}

/// Returns the storages inside the message whose names begin with `prefix`, in order.
fn numbered<'a>(file: &'a Compound<'_>, prefix: &'a str) -> impl Iterator<Item = EntryId> + 'a {
    let mut found: Vec<EntryId> = file
        .children(ROOT)
        .iter()
        .copied()
        .filter(|&id| !file.is_stream(id) && file.name(id).starts_with(prefix))
        .collect();
    found.sort_by_key(|&id| file.name(id).to_owned());
    found.into_iter()
}

fn add_fields(message: &Properties<'_>, output: &mut Output<'_>) {
    let header = message.text(tag::TRANSPORT_HEADERS).unwrap_or_default();
    add_own_headers(header.as_bytes(), output);
    let header = Message::parse(header.as_bytes(), &|bytes| {
        String::from_utf8_lossy(bytes).into_owned()
    });
    let own = output.own();
    own.add_text(
        Field::Title,
        &message.text(tag::SUBJECT).unwrap_or_default(),
    );
    match sender(message) {
        Some(sender) => own.add_text(Field::Author, &sender),
        None => {
            let senders = header.from.iter();
            senders.for_each(|sender| own.add_text(Field::Author, sender));
        }
    }
    let id = message.text(tag::MESSAGE_ID);
    let id = id.as_deref().unwrap_or(&header.id);
    own.add_text(Field::Msgid, id.trim_matches(['<', '>']));
    add_header(&header, own);
    let times = [tag::SENT, tag::DELIVERED, tag::CREATED];
    let date = times
        .iter()
        .find_map(|&time| filetime(message.number(time)?));
    if let Some(date) = header.date.or(date) {
        own.add_number(Field::Date, date);
    }
}

fn sender(message: &Properties<'_>) -> Option<String> {
    let first = |tags: &[u16]| tags.iter().find_map(|&tag| message.text(tag));
    let name = first(&[tag::SENT_FOR_NAME, tag::SENDER_NAME]);
    // Addresses of Exchange's directory are useless outside of it.
    let is_address = |address: &String| address.contains('@');
    let addresses = [
        tag::SENDER_SMTP,
        tag::SENT_FOR_SMTP,
        tag::SENDER_ADDRESS,
        tag::SENT_FOR_ADDRESS,
    ];
    let address = addresses
        .iter()
        .filter_map(|&tag| message.text(tag))
        .find(is_address);
    person(name, address)
}

/// Returns a contact in the form of a message header.
fn person(name: Option<String>, address: Option<String>) -> Option<String> {
    let name = name.filter(|name| !name.trim().is_empty());
    match (name, address) {
        (Some(name), Some(address)) if name.trim_matches('\'') != address => {
            Some(format!("{} <{address}>", name.trim()))
        }
        (_, Some(address)) => Some(address),
        (name, None) => name,
    }
}

fn add_recipients(file: &Compound<'_>, code_page: u16, output: &mut Output<'_>) {
    let mut lists = [const { Vec::new() }; 3];
    for storage in numbered(file, "__recip_version1.0_#") {
        let Some(recipient) = Properties::read(file, storage) else {
            continue;
        };
        let recipient = recipient.in_code_page(code_page);
        let addresses = [tag::SMTP_ADDRESS, tag::ADDRESS];
        let address = addresses.iter().filter_map(|&tag| recipient.text(tag));
        let address = address.into_iter().find(|address| address.contains('@'));
        let kind = recipient.number(tag::RECIPIENT_KIND).unwrap_or(1) & 3;
        let index = (kind as usize).clamp(1, 3) - 1;
        lists[index].extend(person(recipient.text(tag::DISPLAY_NAME), address));
    }
    let own = output.own();
    for (field, list) in [Field::To, Field::Cc, Field::Bcc].into_iter().zip(lists) {
        list.iter().for_each(|person| own.add_text(field, person));
    }
}

/// Returns the text: the plain text if there is one, otherwise that of the HTML or the RTF.
fn body(message: &Properties<'_>, output: &Output<'_>) -> String {
    if let Some(text) = message
        .text(tag::BODY)
        .filter(|text| !text.trim().is_empty())
    {
        return lines(&text);
    }
    let max_bytes = output.limits().max_text_bytes;
    if let Some(page) = message.bytes(tag::HTML) {
        let charset = message.html_charset();
        return shown_within(&page, charset, max_bytes).body;
    }
    if let Some(page) = message.text(tag::HTML) {
        return shown_within(page.as_bytes(), Some("utf-8"), max_bytes).body;
    }
    let rtf = message
        .bytes(tag::RTF)
        .and_then(|rtf| compressed_rtf::unpack(&rtf));
    rtf.map_or_else(String::new, |rtf| rtf::text(&rtf, output.limits()))
}

/// Returns text with line feeds as line ends; a form feed would end a page.
fn lines(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace(['\r', '\u{c}'], "\n");
    text.trim_end_matches('\0').to_owned()
}

fn hand_on(
    file: &Compound<'_>,
    storage: EntryId,
    number: usize,
    code_page: u16,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let Some(attachment) = Properties::read(file, storage) else {
        return Ok(());
    };
    let attachment = attachment.in_code_page(code_page);
    let names = [tag::LONG_FILE_NAME, tag::FILE_NAME, tag::DISPLAY_NAME];
    let mut name = names
        .iter()
        .find_map(|&tag| attachment.text(tag))
        .unwrap_or_default();
    let mut declared_type = attachment.text(tag::MIME_TYPE);
    let inside = file.find(storage, "__substg1.0_3701000D");
    let content = match inside.filter(|&id| !file.is_stream(id)) {
        Some(id) if attachment.number(tag::ATTACH_METHOD) == Some(u64::from(IS_MESSAGE)) => {
            declared_type = Some(FORMAT.media_types[0].to_owned());
            Some(objects::rebuilt(file, id))
        }
        Some(id) => objects::unwrap(file, id).map(|(own_name, bytes)| {
            if !own_name.is_empty() {
                name = own_name;
            }
            bytes
        }),
        None => attachment.bytes(tag::ATTACH_DATA),
    };
    let component = number.to_string();
    let max = output.limits().max_member_bytes;
    match content {
        Some(bytes) if bytes.len() as u64 > max => {
            let error = output.limits().reached(Setting::MaxMemberBytes);
            output.failed_member(&component, &name, error)
        }
        Some(bytes) => output.member(Member {
            is_attachment: true,
            ipath: output.child_ipath(&component),
            name,
            declared_type,
            bytes,
            ..Member::default()
        }),
        // A link to a file elsewhere, or a picture of an object.
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;

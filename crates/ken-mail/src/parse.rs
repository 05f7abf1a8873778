//! Parses a message: its header here, its text and files in [`content`].

use crate::decode::Detect;
use crate::header::{Fields, add_addresses, add_ids, clean, id, words};
use crate::message::{Message, Priority};
use crate::part::PartInfo;
use crate::states::States;
use crate::words::decoded;
use crate::{content, date};

/// The most tags that are kept.
const MAX_TAGS: usize = 100;

/// The most values of custom fields that are kept.
const MAX_VALUES: usize = 100;

impl<'a> Message<'a> {
    /// Parses a message. Any bytes give a message, possibly an empty one.
    ///
    /// `detect` decodes bytes without a declared character set. Parsing takes time linear in the number of bytes, and
    /// borrows text and files that need no decoding.
    pub fn parse(bytes: &'a [u8], detect: Detect<'_>) -> Self {
        let mut message = Self::default();
        let mut header = Header::default();
        let mut info = PartInfo::default();
        let mut fields = Fields::new(without_empty_lines(bytes));
        for (name, value) in fields.by_ref() {
            info.take(name, value, detect);
            header.take(name, value, detect, &mut message);
        }
        message.date = header.sent.or(header.received);
        message.states = header.states.finish();
        message.is_bulk = header.is_to_many && !header.is_discussion;
        content::read(info, fields.body(), &mut message, detect);
        message
    }
}

/// Returns the values of the named headers, decoded and each on one line, with the position of the name in `names`.
/// Only the first [`MAX_VALUES`] values are returned.
pub fn header_values(bytes: &[u8], names: &[&str], detect: Detect<'_>) -> Vec<(usize, String)> {
    let mut values = Vec::new();
    for (name, value) in Fields::new(without_empty_lines(bytes)) {
        let is_name = |wanted: &&str| wanted.as_bytes().eq_ignore_ascii_case(name);
        for (number, _) in names.iter().enumerate().filter(|(_, name)| is_name(name)) {
            if values.len() == MAX_VALUES {
                return values;
            }
            values.push((number, words(&clean(value, detect), detect)));
        }
    }
    values
}

pub(crate) fn without_empty_lines(bytes: &[u8]) -> &[u8] {
    let start = bytes
        .iter()
        .position(|byte| !matches!(byte, b'\r' | b'\n'))
        .unwrap_or(bytes.len());
    &bytes[start..]
}

/// Facts of a header of which the best source counts.
#[derive(Default)]
struct Header {
    sent: Option<i64>,
    received: Option<i64>,
    states: States,
    /// The rank of the field with the priority; 0 if there is none.
    priority: u8,
    /// Whether a field says that the message was sent to many, or by a program.
    is_to_many: bool,
    /// Whether readers may answer to all who got the message: it is of a discussion.
    is_discussion: bool,
}

impl Header {
    fn take(&mut self, name: &[u8], value: &[u8], detect: Detect<'_>, message: &mut Message<'_>) {
        let mut lower = [0; 16];
        let Some(lower) = lower.get_mut(..name.len()) else {
            return;
        };
        lower.copy_from_slice(name);
        lower.make_ascii_lowercase();
        let value = || clean(value, detect);
        let text = || words(&value(), detect);
        match &*lower {
            b"subject" if message.subject.is_empty() => message.subject = text(),
            b"from" => add_addresses(&value(), detect, &mut message.from),
            b"to" => add_addresses(&value(), detect, &mut message.to),
            b"cc" => add_addresses(&value(), detect, &mut message.cc),
            b"bcc" => add_addresses(&value(), detect, &mut message.bcc),
            b"reply-to" => add_addresses(&value(), detect, &mut message.reply_to),
            b"date" if self.sent.is_none() => self.sent = date::parse(&decoded(&value(), detect)),
            b"received" if self.received.is_none() => self.received = received(&value()),
            b"message-id" if message.id.is_empty() => message.id = id(&decoded(&value(), detect)),
            b"in-reply-to" => add_ids(&decoded(&value(), detect), &mut message.in_reply_to),
            b"references" => add_ids(&decoded(&value(), detect), &mut message.references),
            b"list-id" => message.list_id = id(&value()),
            b"precedence" => {
                let value = value();
                let word = value.trim();
                self.is_to_many |= ["bulk", "junk"]
                    .iter()
                    .any(|of| of.eq_ignore_ascii_case(word));
                self.take_priority(1, &value, message);
            }
            b"list-unsubscribe" | b"feedback-id" => self.is_to_many = true,
            b"auto-submitted" => self.is_to_many |= !is_no(&value()),
            b"list-post" => self.is_discussion = !is_no(&value()),
            b"x-priority" => self.take_priority(2, &value(), message),
            b"importance" => self.take_priority(3, &value(), message),
            b"priority" => self.take_priority(4, &value(), message),
            b"x-label" => add_tags(text().split_whitespace(), &mut message.tags),
            b"x-keywords" | b"keywords" => add_tags(text().split(','), &mut message.tags),
            b"x-mozilla-keys" => self.take_labels(text().split_whitespace(), message),
            b"x-gmail-labels" => self.take_labels(list_items(&text()), message),
            b"status" | b"x-status" => self.states.take_status(&value()),
            b"x-mozilla-status" => self.states.take_mozilla(&value()),
            _ => {}
        }
    }

    /// Takes labels as tags; some also mean a state.
    fn take_labels<'l>(
        &mut self,
        labels: impl Iterator<Item = &'l str>,
        message: &mut Message<'_>,
    ) {
        let labels = labels.inspect(|label| self.states.take_label(label));
        add_tags(labels, &mut message.tags);
    }

    /// Takes the priority from the field that mu asks first: a list or a robot comes before the sender.
    fn take_priority(&mut self, rank: u8, value: &str, message: &mut Message<'_>) {
        let priority = Priority::read(value);
        if priority != Priority::Normal && (self.priority == 0 || rank < self.priority) {
            self.priority = rank;
            message.priority = priority;
        }
    }
}

fn add_tags<'t>(found: impl Iterator<Item = &'t str>, tags: &mut Vec<String>) {
    for tag in found.map(str::trim) {
        if !tag.is_empty() && tags.len() < MAX_TAGS && !tags.iter().any(|known| known == tag) {
            tags.push(tag.to_owned());
        }
    }
}

/// Returns the items of a list with commas; an item that contains a comma is in quotes.
fn list_items(list: &str) -> impl Iterator<Item = &str> {
    let mut is_quoted = false;
    let items = list.split(move |c| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    });
    items.map(|item| item.trim().trim_matches('"'))
}

/// Returns whether the keyword of a field is `no`; a comment or parameters may follow (RFC 3834).
fn is_no(value: &str) -> bool {
    let end = |c: char| c.is_whitespace() || matches!(c, ';' | '(');
    value
        .trim()
        .split(end)
        .next()
        .is_some_and(|word| word.eq_ignore_ascii_case("no"))
}

/// Returns the date at the end of a Received field.
fn received(value: &str) -> Option<i64> {
    date::parse(value.rsplit_once(';')?.1)
}

#[cfg(test)]
mod tests {
    use ken_core::MessageState;
    use proptest::prelude::*;

    use super::*;
    use crate::message::Text;

    /// Pieces of messages, and pieces that break them.
    const PIECES: [&[u8]; 44] = [
        b"begin 644 a\n",
        b"M\n",
        b"end\n",
        b"Content-Transfer-Encoding: x-uuencode\n",
        b"\n",
        b"\r\n",
        b"\n\n",
        b" ",
        b"\t",
        b";",
        b":",
        b"=",
        b"\"",
        b"\\",
        b"(",
        b")",
        b"<",
        b">",
        b",",
        b"@",
        b"--b",
        b"--b--",
        b"--b\n",
        b"'",
        b"*0*=",
        b"*1=",
        b"%C3",
        b"=C3=A9",
        b"=?utf-8?Q?",
        b"=?iso-2022-jp?B?",
        b"?=",
        b"\xe9",
        b"\xff\xfe",
        b"Subject: ",
        b"\nTo: ",
        b"\nDate: ",
        b"Content-Type: multipart/alternative; boundary=b\n\n--b\n",
        b"\nContent-Type: text/plain; charset=utf-7; format=flowed",
        b"Content-Type: message/rfc822\n\n",
        b"\nContent-Disposition: attachment; filename",
        b"\nContent-Transfer-Encoding: base64\n\n",
        b"\nContent-Transfer-Encoding: quoted-printable\n\n",
        b"Fri, 31 Jan 2003 12:34:56 +0000",
        b"a",
    ];

    proptest! {
        #[test]
        fn anything_is_survived(pieces in proptest::collection::vec(0..PIECES.len(), 0..40)) {
            let bytes: Vec<u8> = pieces.into_iter().flat_map(|piece| PIECES[piece]).copied().collect();
            let message = Message::parse(&bytes, &latin1);
            for file in &message.attachments {
                prop_assert!(file.content.decode().len() <= file.content.max_bytes());
            }
        }
    }

    fn latin1(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| char::from(*byte)).collect()
    }

    fn parse(message: &str) -> Message<'_> {
        Message::parse(message.as_bytes(), &latin1)
    }

    #[test]
    fn header_fields_are_read_whatever_their_case_and_order() {
        let text = "\r\nSUBJECT: One\nsubject: two\nfrom: a@example.org\nTo: b@example.org\n\
            to: c@example.org\nMESSAGE-Id: <1@x>\nIn-Reply-To: <0@x>\nReferences: <9@x>\n <0@x>\n\
            List-ID: A list <a.example.org>\n\ntext";
        let message = parse(text);
        assert_eq!(message.subject, "One");
        assert_eq!(message.to, ["b@example.org", "c@example.org"]);
        assert_eq!(message.id, "1@x");
        assert_eq!(message.in_reply_to, ["0@x"]);
        assert_eq!(message.references, ["9@x", "0@x"]);
        assert_eq!(message.list_id, "a.example.org");
        assert_eq!(message.texts, [Text::Plain("text".into())]);
    }

    #[test]
    fn bulk_mail_is_known_by_its_header() {
        for (header, expected) in [
            ("List-Unsubscribe: <https://x.example/off>", true),
            ("precedence: Bulk", true),
            ("Auto-Submitted: auto-generated", true),
            ("Auto-Submitted: no", false),
            ("Auto-Submitted: No (by hand); x=y", false),
            (
                "List-Unsubscribe: <a@b.c>\nList-Post: <mailto:l@b.c>",
                false,
            ),
            ("List-Unsubscribe: <a@b.c>\nList-Post: NO", true),
            ("List-Id: <a.example.org>", false),
            ("Subject: bulk", false),
        ] {
            let bytes = format!("{header}\n\ntext");
            let message = Message::parse(bytes.as_bytes(), &|bytes| {
                String::from_utf8_lossy(bytes).into_owned()
            });
            assert_eq!(message.is_bulk, expected, "{header}");
        }
    }

    #[test]
    fn what_a_header_says_of_weight_and_tags_is_read() {
        for (header, expected) in [
            ("X-Priority: 1 (Highest)", Priority::High),
            ("Importance: high", Priority::High),
            ("Priority: non-urgent", Priority::Low),
            ("Precedence: bulk", Priority::Low),
            ("X-Priority: 3\nImportance: High", Priority::High),
            ("X-Priority: 3", Priority::Normal),
            ("Precedence: special-delivery", Priority::Normal),
        ] {
            let text = format!("{header}\n\n");
            assert_eq!(parse(&text).priority, expected, "{header}");
        }
        let text = "X-Label: to-do later\nKeywords: tax, =?utf-8?Q?B=C3=BCro?=, tax,\n\n";
        assert_eq!(parse(text).tags, ["to-do", "later", "tax", "Büro"]);
        let text = "X-Gmail-Labels: Inbox,\"Work, old\",\n =?utf-8?Q?=C3=85pnet,_Kategori:_?=\n \
            =?utf-8?Q?Reklame?=\nX-Mozilla-Keys: $label1 tax      \nX-Mozilla-Status: 0001\n\n";
        let message = parse(text);
        let expected = [
            "Inbox",
            "Work, old",
            "Åpnet",
            "Kategori: Reklame",
            "$label1",
            "tax",
        ];
        assert_eq!(message.tags, expected);
        assert_eq!(message.states, [MessageState::Seen]);
        assert_eq!(
            parse("X-Gmail-Labels: Unread\n\n").states,
            [MessageState::Unread]
        );
    }

    #[test]
    fn what_a_message_answers_may_be_encoded() {
        let text = "Message-ID: =?utf-8?Q?=3C3=40x=3E?=\nIn-Reply-To: =?us-ascii?Q?=3C2=40x=3E?=\n\
            References: =?utf-8?B?PDFAeD4=?=\n =?utf-8?B?PDJAeD4=?=\nReferences: <0@x\n\n";
        let message = parse(text);
        assert_eq!(message.id, "3@x");
        assert_eq!(message.in_reply_to, ["2@x"]);
        assert_eq!(message.references, ["1@x", "2@x", "0@x"]);
    }

    #[test]
    fn a_broken_date_gives_way_to_the_time_of_arrival() {
        let received = "Received: from a by b; Fri, 31 Jan 2003 12:34:56 +0000\n\
            Received: from c by a; Fri, 31 Jan 2003 11:11:11 +0000\n";
        for (date, expected) in [
            ("Date: Thu, 1 Jan 1970 00:00:09 +0000\n", Some(9)),
            ("Date: yesterday\n", Some(1_044_016_496)),
            ("", Some(1_044_016_496)),
        ] {
            assert_eq!(
                parse(&format!("{received}{date}\n")).date,
                expected,
                "{date}"
            );
        }
        assert_eq!(parse("Date: soon\n\n").date, None);
    }
}

//! Tests of events and cards.

use ken_core::{Kind, Value};

use super::*;
use crate::detect::{Detected, detect};
use crate::testing::{Extracted, run, survives};

const CALENDAR_TYPE: Detected = Detected {
    media_type: "text/calendar",
    kind: Kind::Data,
};
const CARD_TYPE: Detected = Detected {
    media_type: "text/vcard",
    kind: Kind::Data,
};
const HARBOUR: &[u8] = include_bytes!("../../../../tests/data/text/harbour.ics");
const CREW: &[u8] = include_bytes!("../../../../tests/data/text/crew.vcf");

fn texts(document: &Document, field: Field) -> Vec<&str> {
    let of = document.fields.iter().filter(|(known, _)| *known == field);
    of.filter_map(|(_, value)| match value {
        Value::Text(text) => Some(text.as_str()),
        Value::Number(_) => None,
    })
    .collect()
}

/// Reads a member as the pipeline does.
fn member(found: &Extracted, position: usize, detected: Detected) -> Document {
    let member = &found.members[position];
    let mut input = Input::member(member.clone());
    assert_eq!(detect(&input).unwrap(), detected);
    input.declared_type = None;
    let inner = run(extract, detected, "", &member.bytes);
    assert!(inner.members.is_empty());
    inner.own().clone()
}

#[test]
fn each_event_of_several_is_a_document() {
    let found = run(extract, CALENDAR_TYPE, "harbour.ics", HARBOUR);
    let own = found.own();
    assert_eq!(own.failure, None);
    assert_eq!(own.text(Field::Title), Some("Harbour board"));
    assert_eq!(own.body, "");
    assert_eq!(found.members.len(), 3);

    let event = member(&found, 0, CALENDAR_TYPE);
    assert_eq!(event.text(Field::Title), Some("Dredging, third round"));
    assert_eq!(
        texts(&event, Field::Author),
        ["Mette Holm <mette@example.org>"]
    );
    assert_eq!(
        texts(&event, Field::To),
        ["Jürgen Müller <jm@example.org>", "room-3@example.org"]
    );
    assert_eq!(texts(&event, Field::Keywords), ["harbour", "works"]);
    // 12:30 in Oslo, in winter.
    assert_eq!(event.number(Field::Date), Some(1_709_209_800 - 3600));
    assert_eq!(event.number(Field::Duration), Some(5400));
    assert_eq!(
        event.body,
        "Dredging, third round\n2024-02-29 12:30\nQuay 3; the old one\nBring:\nthe chart of the \
         lumpsuckers' ground\nharbour,works\nMette Holm <mette@example.org>\n\
         Jürgen Müller <jm@example.org>\nroom-3@example.org"
    );
    let task = member(&found, 1, CALENDAR_TYPE);
    assert_eq!(task.text(Field::Title), Some("Paint the buoys"));
    assert_eq!(task.number(Field::Date), Some(1_714_521_600));
    // The last item has no end.
    assert_eq!(member(&found, 2, CALENDAR_TYPE).body, "Torn off");
}

#[test]
fn a_single_event_is_the_file() {
    let text = "BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nTZID:X\r\nCOMMENT:no\r\nBEGIN:STANDARD\r\n\
        DTSTART:19701025T030000\r\nEND:STANDARD\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\nSUMMARY:One\r\n\
        DTSTART;VALUE=DATE:20240229\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";
    let found = run(extract, CALENDAR_TYPE, "one.ics", text.as_bytes());
    assert!(found.members.is_empty());
    assert_eq!(found.own().body, "One\n2024-02-29");
    assert_eq!(found.own().number(Field::Date), Some(1_709_164_800));
}

#[test]
fn each_card_of_several_is_a_document() {
    let found = run(extract, CARD_TYPE, "crew.vcf", CREW);
    assert_eq!(found.members.len(), 3);
    let new = member(&found, 0, CARD_TYPE);
    assert_eq!(new.text(Field::Title), Some("Ylva Strand"));
    assert_eq!(
        new.text(Field::Description),
        Some("Knows every lumpsucker, by name")
    );
    assert_eq!(
        new.body,
        "Ylva Strand\nFjord Institute Kelp\nQuay 3 Rosendal 5470 Norway\n+47 555 01 00\n\
         ylva@example.org\nKnows every lumpsucker, by name"
    );
    let old = member(&found, 1, CARD_TYPE);
    assert_eq!(old.text(Field::Title), Some("Jürgen Müller"));
    assert_eq!(
        old.body,
        "Jürgen Müller\nGrößte Straße 7 in the long street Kiel"
    );
    // Without a display name and without an end.
    assert_eq!(member(&found, 2, CARD_TYPE).body, "555\nJo Vik");
}

#[test]
fn hostile_lines_are_survived() {
    survives(extract, CALENDAR_TYPE, "harbour.ics", HARBOUR);
    survives(extract, CARD_TYPE, "crew.vcf", CREW);
    let torn = "BEGIN:VEVENT\nDTSTART:202405\u{203a}1T000000Z";
    assert_eq!(
        run(extract, CALENDAR_TYPE, "a.ics", torn.as_bytes())
            .own()
            .body,
        ""
    );
    let many = "BEGIN:VCARD\n".repeat(10_000);
    let found = run(extract, CARD_TYPE, "a.vcf", many.as_bytes());
    assert_eq!(found.members.len(), 10_000);
    run(
        extract,
        CARD_TYPE,
        "a.vcf",
        " \n".repeat(100_000).as_bytes(),
    );
}

//! Tests of the reader of Outlook's stores, on a store that is created here: no program on Linux
//! writes such files.

use ken_core::{Cause, Field, Kind, Reason};

use super::crypt::Hiding;
use super::*;
use crate::Limits;
use crate::detect::Detected;
use crate::testing::{Extracted, run, survives};

const STORE: Detected = Detected {
    media_type: "application/vnd.ms-outlook-pst",
    kind: Kind::Message,
};

/// The file is created by [`sample`].
const SAMPLE: &[u8] = include_bytes!("../../../../tests/data/office/sample.pst");

fn found(bytes: &[u8]) -> Extracted {
    run(extract, STORE, "a.pst", bytes)
}

fn wide(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Returns a heap of these pieces, the first of which is its root.
fn heap(pieces: &[Vec<u8>]) -> Vec<u8> {
    let mut block = vec![0, 0, 0xec, 0, 0x20, 0, 0, 0, 0, 0, 0, 0];
    let mut map = (pieces.len() as u32).to_le_bytes().to_vec();
    map.extend((block.len() as u16).to_le_bytes());
    for piece in pieces {
        block.extend(piece);
        map.extend((block.len() as u16).to_le_bytes());
    }
    let offset = block.len() as u16;
    block[..2].copy_from_slice(&offset.to_le_bytes());
    block.extend(map);
    block
}

/// Returns the identifier of a piece of a heap.
fn piece(number: usize) -> u32 {
    (number as u32) << 5
}

/// Tag and type of a property, and its value.
type Value = (u16, u16, Result<u32, Vec<u8>>);

/// Returns a heap of properties; numbers are stored inline, bytes in separate pieces.
fn properties(values: &[Value]) -> Vec<u8> {
    let mut pieces = vec![vec![0xb5, 2, 6, 0, 0x40, 0, 0, 0], Vec::new()];
    for (tag, kind, value) in values {
        let value = match value {
            Ok(number) => *number,
            Err(bytes) => {
                pieces.push(bytes.clone());
                piece(pieces.len())
            }
        };
        pieces[1].extend(tag.to_le_bytes());
        pieces[1].extend(kind.to_le_bytes());
        pieces[1].extend(value.to_le_bytes());
    }
    heap(&pieces)
}

/// Returns the heap of a table of one recipient.
fn recipients() -> Vec<u8> {
    let mut table = vec![0x7c, 3];
    for end in [12_u16, 12, 12, 13] {
        table.extend(end.to_le_bytes());
    }
    for id in [0, piece(2), 0] {
        table.extend(id.to_le_bytes());
    }
    let columns = [
        (0x0c15_u16, 3_u16, 0_u16),
        (0x3001, 0x1f, 4),
        (0x39fe, 0x1f, 8),
    ];
    for (tag, kind, at) in columns {
        for number in [kind, tag, at, 4] {
            table.extend(number.to_le_bytes());
        }
    }
    let mut row = Vec::new();
    for value in [1, piece(3), piece(4)] {
        row.extend(value.to_le_bytes());
    }
    row.push(0xff);
    heap(&[table, row, wide("Bo Ek"), wide("bo@example.org")])
}

/// Puts blocks and nodes into a store with numbers of 64 bits.
struct Writer {
    blocks: Vec<(u64, Vec<u8>)>,
    nodes: Vec<[u64; 3]>,
}

impl Writer {
    /// Adds a block; `internal` is 2 for lists and 0 for data.
    fn block(&mut self, internal: u64, content: Vec<u8>) -> u64 {
        let number = (self.blocks.len() as u64 + 1) * 4 + internal;
        self.blocks.push((number, content));
        number
    }

    fn finish(self) -> Vec<u8> {
        let mut file = b"!BDN".to_vec();
        file.resize(1024, 0);
        file[10] = 23;
        file[513] = 1;
        file[224..232].copy_from_slice(&1024_u64.to_le_bytes());
        file[240..248].copy_from_slice(&1536_u64.to_le_bytes());
        let nodes = self.nodes.iter().map(|[id, data, parts]| {
            [
                id.to_le_bytes(),
                data.to_le_bytes(),
                parts.to_le_bytes(),
                [0; 8],
            ]
            .concat()
        });
        file.extend(page(&nodes.collect::<Vec<_>>()));
        let mut at = 2048;
        let mut entries = Vec::new();
        for (number, content) in &self.blocks {
            let length = (content.len() as u64).to_le_bytes();
            let offset: [u8; 8] = (at as u64).to_le_bytes();
            entries.push([&number.to_le_bytes()[..], &offset, &length].concat());
            at += content.len();
        }
        file.extend(page(&entries));
        for (number, mut content) in self.blocks {
            if number & 2 == 0 {
                Hiding::permute(&mut content);
            }
            file.extend(content);
        }
        file
    }
}

/// Returns a page without pages below it.
fn page(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut page = entries.concat();
    page.resize(512, 0);
    page[488] = entries.len() as u8;
    page[490] = entries[0].len() as u8;
    page
}

/// Returns a list of the parts of a node.
fn parts(nodes: &[[u64; 3]]) -> Vec<u8> {
    let mut list = vec![2, 0, nodes.len() as u8, 0, 0, 0, 0, 0];
    for number in nodes.iter().flatten() {
        list.extend(number.to_le_bytes());
    }
    list
}

/// Returns the content of `sample.pst`.
fn sample() -> Vec<u8> {
    sample_with(&[])
}

/// Returns that store with additional properties of the message, which come before its sender.
fn sample_with(more: &[Value]) -> Vec<u8> {
    let mut store = Writer {
        blocks: Vec::new(),
        nodes: Vec::new(),
    };
    let time = 133_536_834_000_000_000_u64.to_le_bytes().to_vec();
    let mut values = vec![
        (
            0x0037,
            0x1f,
            Err(wide("\u{1}\u{4}Re: The fulmarskerry count")),
        ),
        (0x0039, 0x40, Err(time)),
    ];
    values.extend_from_slice(more);
    values.extend([
        (0x0c1a, 0x1f, Err(wide("Åse Lie"))),
        (0x1000, 0x1f, Ok(0x61)),
    ]);
    let message = store.block(0, properties(&values));
    // The body is a separate part, in two blocks.
    let body = wide("Gannets breed on the gannetholm.\r\nБаклан too.\r\n");
    let (first, second) = body.split_at(20);
    let blocks = [
        store.block(0, first.to_vec()),
        store.block(0, second.to_vec()),
    ];
    let mut list = vec![1, 1, 2, 0];
    list.extend((body.len() as u32).to_le_bytes());
    list.extend(blocks.iter().copied().flat_map(u64::to_le_bytes));
    let body = store.block(2, list);
    let recipients = store.block(0, recipients());
    let file = store.block(
        0,
        properties(&[
            (0x3701, 0x102, Err(b"The skua list.\n".to_vec())),
            (0x3705, 3, Ok(1)),
            (0x3707, 0x1f, Err(wide("skua.txt"))),
        ]),
    );
    let inner = store.block(
        0,
        properties(&[
            (0x0037, 0x1f, Err(wide("Older"))),
            (0x1000, 0x1f, Err(wide("About the petrelbay"))),
        ]),
    );
    let attached = store.block(
        0,
        properties(&[
            (0x3701, 0x0d, Err(vec![0xa4, 0, 0, 0, 0, 0, 0, 0])),
            (0x3705, 3, Ok(5)),
        ]),
    );
    let inner_list = store.block(2, parts(&[[0xa4, inner, 0]]));
    let list = store.block(
        2,
        parts(&[
            [0x61, body, 0],
            [0x692, recipients, 0],
            [0x8025, file, 0],
            [0x8045, attached, inner_list],
        ]),
    );
    store.nodes = vec![[0x21, 0, 0], [0x20_0024, message, list]];
    store.finish()
}

#[test]
fn messages_are_files_of_outlook() {
    assert_eq!(sample(), SAMPLE);
    let found = found(SAMPLE);
    assert_eq!(found.own().failure, None);
    assert_eq!(found.members.len(), 1);
    assert_eq!(found.members[0].ipath.as_str(), "2097188");
    let mut documents = Vec::new();
    let mut input = Input::bytes_of("a.pst", SAMPLE);
    crate::extract_all(&mut input, &Limits::default(), &mut |document| {
        documents.push(document);
    });
    let [file, inner, message, store] = &documents[..] else {
        panic!("{documents:?}");
    };
    assert_eq!(
        message.text(Field::Title),
        Some("Re: The fulmarskerry count")
    );
    assert_eq!(message.text(Field::Author), Some("Åse Lie"));
    assert_eq!(message.text(Field::To), Some("Bo Ek <bo@example.org>"));
    assert_eq!(message.number(Field::Date), Some(1_709_209_800));
    assert_eq!(
        message.body,
        "Gannets breed on the gannetholm.\nБаклан too.\n"
    );
    assert_eq!(file.ipath.as_str(), "2097188|1");
    assert_eq!(file.text(Field::Filename), Some("skua.txt"));
    assert_eq!(file.body, "The skua list.\n");
    assert_eq!(inner.text(Field::Title), Some("Older"));
    assert_eq!(inner.body, "About the petrelbay");
    assert!(store.ipath.is_root());
}

#[test]
fn headers_are_fields_if_the_settings_say_so() {
    let header = "From: a@example.org\r\nX-Project: The puffinholm\r\n\r\n";
    let store = sample_with(&[(0x007d, 0x1f, Err(wide(header)))]);
    let limits = Limits {
        headers: vec![ken_core::CustomField {
            field: Field::Custom2,
            name: "project".to_owned(),
            header: "X-Project".to_owned(),
        }],
        ..Limits::default()
    };
    let mut values = Vec::new();
    let mut input = Input::bytes_of("a.pst", &store);
    crate::extract_all(&mut input, &limits, &mut |document| {
        values.extend(document.text(Field::Custom2).map(str::to_owned));
    });
    assert_eq!(values, ["The puffinholm"]);
}

#[test]
fn a_damaged_message_does_not_hide_others() {
    let mut store = Writer {
        blocks: Vec::new(),
        nodes: Vec::new(),
    };
    let good = store.block(0, properties(&[(0x37, 0x1f, Err(wide("Good")))]));
    let bad = store.block(0, b"no heap at all".to_vec());
    store.nodes = vec![[0x24, bad, 0], [0x44, 4000, 0], [0x64, good, 0]];
    let found = found(&store.finish());
    assert_eq!(found.members.len(), 1);
    let reasons = found
        .documents
        .iter()
        .filter_map(|document| document.failure.as_ref());
    let reasons: Vec<_> = reasons.map(|failure| failure.reason()).collect();
    assert_eq!(reasons, [Reason::Malformed, Reason::Malformed]);
}

#[test]
fn a_damaged_part_does_not_hide_its_message() {
    let mut store = Writer {
        blocks: Vec::new(),
        nodes: Vec::new(),
    };
    let message = store.block(
        0,
        properties(&[
            (0x37, 0x1f, Err(wide("Kept"))),
            (0x1000, 0x1f, Err(wide("Of the dunlinmarsh"))),
        ]),
    );
    let bad = store.block(0, b"no heap at all".to_vec());
    let file = store.block(
        0,
        properties(&[
            (0x3701, 0x102, Err(b"The skua list.\n".to_vec())),
            (0x3705, 3, Ok(1)),
            (0x3707, 0x1f, Err(wide("skua.txt"))),
        ]),
    );
    let list = parts(&[[0x692, bad, 0], [0x8025, bad, 0], [0x8045, file, 0]]);
    let list = store.block(2, list);
    store.nodes = vec![[0x24, message, list]];
    let mut documents = Vec::new();
    let bytes = store.finish();
    let mut input = Input::bytes_of("a.pst", &bytes);
    crate::extract_all(&mut input, &Limits::default(), &mut |document| {
        documents.push(document);
    });
    let [file, message, store] = &documents[..] else {
        panic!("{documents:?}");
    };
    assert_eq!(message.text(Field::Title), Some("Kept"));
    assert_eq!(message.body, "Of the dunlinmarsh");
    assert_eq!(file.ipath.as_str(), "36|2");
    assert_eq!(file.body, "The skua list.\n");
    let failure = store.failure.as_ref().unwrap();
    let what = "message 36 lacks a part: a heap is damaged".into();
    assert_eq!(failure.cause, Cause::Damaged { what });
}

#[test]
fn a_damaged_list_of_parts_does_not_hide_its_message() {
    let mut store = Writer {
        blocks: Vec::new(),
        nodes: Vec::new(),
    };
    let message = store.block(0, properties(&[(0x37, 0x1f, Err(wide("Kept")))]));
    // Two nodes with the same number.
    store.nodes = vec![[0x24, message, 4000], [0x24, message, 0]];
    let found = found(&store.finish());
    let ipaths: Vec<_> = found.members.iter().map(|m| m.ipath.as_str()).collect();
    assert_eq!(ipaths, ["36", "36#2"]);
    let what = "message 36 lacks a part: a block is missing".into();
    let failure = found.own().failure.as_ref().unwrap();
    assert_eq!(failure.cause, Cause::Damaged { what });
}

#[test]
fn hostile_files_are_survived() {
    survives(extract, STORE, "a.pst", SAMPLE);
    // Trees of pages that contain themselves.
    let mut store = SAMPLE.to_vec();
    for (page, at) in [(1024, 1024_u64), (1536, 1536)] {
        store[page + 488] = 20;
        store[page + 490] = 24;
        store[page + 491] = 1;
        for entry in 0..20 {
            let offset = page + entry * 24;
            store[offset..offset + 24].fill(0);
            store[offset + 16..offset + 24].copy_from_slice(&at.to_le_bytes());
        }
    }
    assert!(found(&store).own().failure.is_some());
}

#[test]
fn encrypted_stores_say_so() {
    let mut store = SAMPLE.to_vec();
    store[513] = 0x10;
    let found = found(&store);
    assert_eq!(
        found.own().failure.as_ref().unwrap().reason(),
        Reason::Encrypted
    );
}

//! Tests of the reader of Word documents.

use ken_core::{Field, Kind, Reason};

use super::*;
use crate::detect::Detected;
use crate::structure::compound::rebuild::compound_of;
use crate::testing::{Extracted, run, survives};

const WORD: Detected = Detected {
    media_type: "application/msword",
    kind: Kind::Document,
};

const SAMPLE: &[u8] = include_bytes!("../../../../tests/data/office/sample.doc");

fn found(bytes: &[u8]) -> Extracted {
    run(extract, WORD, "a.doc", bytes)
}

#[test]
fn a_file_of_libreoffice_is_read() {
    let found = found(SAMPLE);
    let own = found.own();
    assert_eq!(own.failure, None);
    assert_eq!(own.text(Field::Title), Some("Whimbrel survey"));
    assert_eq!(own.text(Field::Author), Some("Ragnhild Moe"));
    assert_eq!(
        own.text(Field::Description),
        Some("Counted on the saltmarsh")
    );
    assert_eq!(own.number(Field::Created), Some(1_709_209_800));
    assert_eq!(
        own.body,
        "The curlewbrook estuary is quiet.\nGröße → Привет 日本語\nSee the birds here.\n\
         http://example.org/birds\nsite\tcount\nnorth bank\t14\nBeside the box.\nSecond page\n\
         \ta footnote on godwits\nsaltmarsh header\nOla: a comment on dunlins\na box of sanderlings"
    );
}

/// Returns a Word 97 document whose text is in pieces, in this order.
fn fast_saved(pieces: &[(&str, bool)], flags: u16) -> Vec<u8> {
    let mut main = vec![0; 0x400];
    let mut ends = vec![0_u32];
    let mut descriptors = Vec::new();
    // The pieces are stored from the last to the first.
    for (text, is_8_bit) in pieces.iter().rev() {
        let at = main.len() as u32;
        let offset = if *is_8_bit {
            (at * 2) | 0x4000_0000
        } else {
            at
        };
        match is_8_bit {
            true => main.extend(text.bytes()),
            false => main.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
        }
        let mut descriptor = vec![0; 8];
        descriptor[2..6].copy_from_slice(&offset.to_le_bytes());
        descriptors.insert(0, descriptor);
    }
    for (text, _) in pieces {
        ends.push(ends.last().unwrap() + text.chars().count() as u32);
    }
    let mut plc: Vec<u8> = ends.iter().copied().flat_map(u32::to_le_bytes).collect();
    plc.extend(descriptors.concat());
    let mut table = b"\x01\x02\0ab\x02".to_vec();
    table.extend((plc.len() as u32).to_le_bytes());
    table.extend(plc);
    for (at, number) in [
        (0x1a2, 0),
        (0x1a6, table.len() as u32),
        (0x4c, *ends.last().unwrap()),
    ] {
        main[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }
    for (at, number) in [(0, 0xa5ec_u16), (2, 193), (10, flags)] {
        main[at..at + 2].copy_from_slice(&number.to_le_bytes());
    }
    compound_of(&[("WordDocument", &main), ("0Table", &table)])
}

#[test]
fn pieces_are_put_in_order_and_fields_resolved() {
    let file = fast_saved(
        &[
            ("one \x13 HYPERLINK \x13 x \x14 y \x15 \x14", true),
            ("link \u{2192}\x15\r", false),
            ("a\x07b\x07\x07\x0cend\x1e\x1fx\r", true),
        ],
        0,
    );
    let found = found(&file);
    assert_eq!(found.own().failure, None);
    assert_eq!(found.own().body, "one link \u{2192}\na\tb\u{c}end-x");
}

#[test]
fn a_field_without_an_end_hides_no_text() {
    let file = fast_saved(
        &[(
            "one \x13two \x13 PAGE \x147\x15\rthree \x13 x \x14four\r",
            true,
        )],
        0,
    );
    let found = found(&file);
    assert_eq!(found.own().failure, None);
    assert_eq!(found.own().body, "one two 7\nthree four");
}

#[test]
fn encrypted_files_say_so() {
    let found = found(&fast_saved(&[("secret", true)], 0x100));
    assert_eq!(
        found.own().failure.as_ref().unwrap().reason(),
        Reason::Encrypted
    );
    assert_eq!(found.own().body, "");
}

#[test]
fn embedded_documents_are_members() {
    let file = Compound::open(SAMPLE).unwrap();
    let main = file.stream(ROOT, "WordDocument").unwrap();
    let table = file.stream(ROOT, "1Table").unwrap();
    let native = b"\0\0\0\0\x02\0a.txt\0p\0\0\0\x03\0\x01\0\0\0\0\x02\0\0\0hi";
    let outer = compound_of(&[
        ("WordDocument", &main),
        ("1Table", &table),
        ("ObjectPool/_1/WordDocument", &main),
        ("ObjectPool/_1/1Table", &table),
        ("ObjectPool/_2/\u{1}Ole10Native", native),
        ("ObjectPool/_3/Package", b"PK"),
        ("ObjectPool/_4/\u{1}CompObj", b""),
    ]);
    let found = found(&outer);
    let members: Vec<_> = found
        .members
        .iter()
        .map(|m| (m.ipath.as_str(), &*m.name))
        .collect();
    assert_eq!(members, [("_1", ""), ("_2", "a.txt"), ("_3", "")]);
    assert_eq!(found.members[1].bytes, b"hi");
    let inner = run(extract, WORD, "", &found.members[0].bytes);
    assert!(inner.own().body.starts_with("The curlewbrook"));
}

#[test]
fn hostile_files_are_survived() {
    survives(extract, WORD, "a.doc", SAMPLE);
    // Each piece is the whole text.
    let pieces = vec![("0123456789", true); 1000];
    let mut file = fast_saved(&pieces, 0);
    let offset = memchr::memmem::rfind(&file, &1_u32.to_le_bytes());
    assert!(offset.is_some());
    file.truncate(file.len() - 600);
    assert!(found(&file).own().body.len() < 100_000);
}

#[test]
fn pieces_that_overlap_are_reported() {
    let texts = ["a", "b", "c"].map(|letter| letter.repeat(2000));
    let pieces = texts.each_ref().map(|text| (&**text, true));
    let mut file = fast_saved(&pieces, 0);
    let ends = |ends: [u32; 4]| ends.map(u32::to_le_bytes).concat();
    let at = memchr::memmem::find(&file, &ends([0, 2000, 4000, 6000])).unwrap();
    // The second piece overlaps the first; no room is left for the third.
    file[at..at + 16].copy_from_slice(&ends([0, 2000, 6000, 10_000]));
    let found = found(&file);
    let failure = found.own().failure.as_ref();
    assert_eq!(failure.map(|f| f.reason()), Some(Reason::Malformed));
    // The pages have 6000 characters.
    let [a, b, _] = &texts;
    assert!(found.own().body == format!("{a}{b}{a}"));
}

#[test]
fn word_95_has_code_pages() {
    for (language, flags, text, expected) in [
        (0x419_u16, 0_u16, &b"\xcf\xf0\xe8\r"[..], "При"),
        (0x411, 0x1000, b"\xfa\x93\x7b\x96a\0\r\0", "日本a"),
        // Cyrillic, written in an English program.
        (
            0x409,
            0,
            b"\xce\xf2\xf7\xb8\xf2 \xe7\xe0 \xe3\xee\xe4\r",
            "Отчёт за год",
        ),
        (0x409, 0, b"Gr\xfc\xdfe\r", "Grüße"),
        // Of the Macintosh.
        (0x40c, 1, b"d\x8ej\x88\r", "déjà"),
    ] {
        let mut main = vec![0; 0x400];
        main[0x12] = (flags & 1) as u8;
        let end = main.len() + text.len();
        for (at, number) in [(0, 0xa5dc), (2, 104), (6, language), (10, flags)] {
            main[at..at + 2].copy_from_slice(&number.to_le_bytes());
        }
        for (at, number) in [(0x18, 0x400), (0x1c, end as u32), (0x34, text.len() as u32)] {
            main[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        main.extend(text);
        let found = found(&compound_of(&[("WordDocument", &main)]));
        assert_eq!(found.own().failure, None);
        assert_eq!(found.own().body, expected);
    }
}

/// Words of two bytes stand between Western quotation marks, which are single.
#[test]
fn chinese_of_word_95_has_western_marks() {
    let text =
        "单击要创建的文件类型，单击“确定”，然后开始键入内容。要保存新文件，请单击“文件”菜单。";
    for (encoding, shown) in [
        (encoding_rs::GBK, text.to_owned()),
        (encoding_rs::BIG5, in_big5(text)),
    ] {
        let mut bytes = Vec::new();
        for character in shown.chars() {
            match character {
                '“' => bytes.extend([0x93, 0]),
                '”' => bytes.extend([0x94, 0]),
                _ => bytes.extend(
                    encoding
                        .encode(character.encode_utf8(&mut [0; 4]))
                        .0
                        .iter()
                        .rev(),
                ),
            }
        }
        bytes.extend(b"\r\0");
        let mut main = vec![0; 0x400];
        let end = main.len() + bytes.len();
        for (at, number) in [(0, 0xa699_u16), (2, 101), (6, 0x409), (10, 0x1000)] {
            main[at..at + 2].copy_from_slice(&number.to_le_bytes());
        }
        let length = bytes.len() as u32;
        for (at, number) in [(0x18, 0x400), (0x1c, end as u32), (0x34, length)] {
            main[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        main.extend(bytes);
        let found = found(&compound_of(&[("WordDocument", &main)]));
        assert_eq!(found.own().failure, None);
        assert_eq!(found.own().body, shown.replace(['“', '”'], "\""));
    }
}

/// The same in Traditional characters.
fn in_big5(text: &str) -> String {
    let pairs = [
        "单單", "击擊", "创創", "类類", "确確", "后後", "开開", "键鍵", "内內", "请請", "单單",
    ];
    let pairs = pairs.iter().map(|pair| {
        let mut pair = pair.chars();
        (pair.next().unwrap(), pair.next().unwrap())
    });
    let pairs: std::collections::HashMap<_, _> = pairs.collect();
    text.chars()
        .map(|character| *pairs.get(&character).unwrap_or(&character))
        .collect()
}

#[test]
fn comments_have_their_authors() {
    let text = "A page\r\u{5}first remark\r\u{5}second remark\r";
    let mut bytes = fast_saved(&[(text, false)], 0);
    let file = Compound::open(&bytes).unwrap();
    let mut main = file.stream(ROOT, "WordDocument").unwrap();
    let mut table = file.stream(ROOT, "0Table").unwrap();
    let longs = |numbers: &[u32]| -> Vec<u8> {
        numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect()
    };
    let descriptor = |author: u8| {
        let mut descriptor = vec![0; 30];
        descriptor[20] = author;
        descriptor
    };
    let name = |name: &str| -> Vec<u8> {
        let units = name.encode_utf16().flat_map(u16::to_le_bytes);
        [(name.len() as u16).to_le_bytes().to_vec(), units.collect()].concat()
    };
    for (at, structure) in [
        (
            0xba,
            [longs(&[0, 1, 7]), descriptor(1), descriptor(0)].concat(),
        ),
        (0xc2, longs(&[0, 14, 29, 29])),
        (0x1ba, [name("Ragna Moe"), name("Ivar Dahl")].concat()),
    ] {
        let start = table.len() as u32;
        table.extend(&structure);
        main[at..at + 8].copy_from_slice(&longs(&[start, structure.len() as u32]));
    }
    // Seven characters of the page, and those of comments.
    main[0x4c..0x50].copy_from_slice(&longs(&[7]));
    main[0x5c..0x60].copy_from_slice(&longs(&[29]));
    bytes = compound_of(&[("WordDocument", &main), ("0Table", &table)]);
    let found = found(&bytes);
    assert_eq!(
        found.own().body,
        "A page\nIvar Dahl: first remark\nRagna Moe: second remark"
    );
}

#[test]
fn large_first_letters_join_their_words() {
    let text = "Before\rT\rhe dunlin\rZ\rlast\r";
    let bytes = fast_saved(&[(text, false)], 0);
    let file = Compound::open(&bytes).unwrap();
    let mut main = file.stream(ROOT, "WordDocument").unwrap();
    let mut table = file.stream(ROOT, "0Table").unwrap();
    let start = 0x400_u32;
    main.resize(0x600, 0);
    // A page of properties for four paragraphs, of which the second is a drop cap of three lines.
    let mut page = vec![0; 512];
    for (number, position) in [0_u32, 7, 9, 20, 22].into_iter().enumerate() {
        page[4 * number..4 * number + 4].copy_from_slice(&(start + 2 * position).to_le_bytes());
    }
    for (run, (at, value)) in [(200, 0_u16), (220, 0x19), (240, 0), (260, 0)]
        .into_iter()
        .enumerate()
    {
        page[20 + 13 * run] = (at / 2) as u8;
        page[at] = 5;
        // A style, the alignment of the paragraph, and the drop cap.
        page[at + 3..at + 6].copy_from_slice(&[0x03, 0x24, 1]);
        page[at + 6..at + 8].copy_from_slice(&0x442c_u16.to_le_bytes());
        page[at + 8..at + 10].copy_from_slice(&value.to_le_bytes());
    }
    page[511] = 4;
    main.extend(page);
    let pages: Vec<u8> = [start, start + 48, 3]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    let range = [table.len() as u32, pages.len() as u32];
    main[0x102..0x10a].copy_from_slice(&range.map(u32::to_le_bytes).concat());
    table.extend(pages);
    let found = found(&compound_of(&[("WordDocument", &main), ("0Table", &table)]));
    assert_eq!(found.own().body, "Before\nThe dunlin\nZ\nlast");
}

/// Returns a Word 97 document with 8-bit text, one page of properties of characters, and a stream `Data`.
fn with_properties(text: &str, runs: &[(usize, &[u8])], data: &[u8]) -> Vec<u8> {
    let mut main = vec![0; 0x400];
    let at = main.len();
    main.extend(text.bytes());
    main.resize(main.len().next_multiple_of(512), 0);
    let number = (main.len() / 512) as u32;
    let mut page = vec![0; 512];
    let mut end = 511;
    let mut ends = vec![at as u32];
    let mut places = Vec::new();
    for (n_characters, properties) in runs {
        ends.push(ends.last().unwrap() + *n_characters as u32);
        end = (end - properties.len() - 1) & !1;
        page[end] = properties.len() as u8;
        page[end + 1..end + 1 + properties.len()].copy_from_slice(properties);
        places.push(if properties.is_empty() {
            0
        } else {
            (end / 2) as u8
        });
    }
    let head: Vec<u8> = ends
        .iter()
        .copied()
        .flat_map(u32::to_le_bytes)
        .chain(places)
        .collect();
    page[..head.len()].copy_from_slice(&head);
    page[511] = runs.len() as u8;
    main.extend(page);
    let mut table = Vec::new();
    let range_of_pages = table.len();
    for number in [at as u32, (at + text.len()) as u32, number] {
        table.extend(number.to_le_bytes());
    }
    let pieces = table.len();
    table.extend([2, 16, 0, 0, 0]);
    table.extend(0_u32.to_le_bytes());
    table.extend((text.len() as u32).to_le_bytes());
    table.extend([0, 0]);
    table.extend(((at as u32 * 2) | 0x4000_0000).to_le_bytes());
    table.extend([0, 0]);
    for (at, number) in [
        (0xfa, range_of_pages),
        (0xfe, pieces),
        (0x1a2, pieces),
        (0x1a6, table.len() - pieces),
        (0x4c, text.len()),
    ] {
        main[at..at + 4].copy_from_slice(&(number as u32).to_le_bytes());
    }
    for (at, number) in [(0, 0xa5ec_u16), (2, 193)] {
        main[at..at + 2].copy_from_slice(&number.to_le_bytes());
    }
    compound_of(&[("WordDocument", &main), ("0Table", &table), ("Data", data)])
}

#[test]
fn deleted_text_is_left_out() {
    const DELETED: &[u8] = &[0x35, 0x08, 1, 0x00, 0x08, 1];
    // The opposite of the style, and the same.
    const OTHERWISE: &[u8] = &[0x00, 0x08, 0x81];
    const AS_STYLE: &[u8] = &[0x00, 0x08, 0x80];
    let runs: [(usize, &[u8]); 6] = [
        (5, &[]),
        (4, DELETED),
        (4, OTHERWISE),
        (2, &[0x00, 0x08, 0]),
        (2, AS_STYLE),
        (1, &[]),
    ];
    let bytes = with_properties("kept goneawaystay\r", &runs, b"");
    assert_eq!(found(&bytes).own().failure, None);
    assert_eq!(found(&bytes).own().body, "kept stay");
    survives(extract, WORD, "a.doc", &bytes);
}

#[test]
fn runs_that_overlap_delete_what_they_hold() {
    const DELETED: &[u8] = &[0x00, 0x08, 1];
    let mut bytes = with_properties("0123456789\r", &[(1, DELETED); 10], b"");
    let ends = |ends: [u32; 11]| ends.map(u32::to_le_bytes).concat();
    let whole = ends(std::array::from_fn(|number| 0x400 + number as u32));
    let at = memchr::memmem::find(&bytes, &whole).unwrap();
    // One of them ends before the text begins, and those beside it do not.
    let overlapping = ends([
        0x100, 0x405, 0x180, 0x405, 0x200, 0x300, 0x405, 0x310, 0x405, 0x320, 0x405,
    ]);
    bytes[at..at + overlapping.len()].copy_from_slice(&overlapping);
    assert_eq!(found(&bytes).own().body, "56789");
}

#[test]
fn form_fields_give_their_choices() {
    let mut data = vec![0, 0, 0, 0, 4 + 2, 0];
    data.extend([0xff; 4]);
    // The second choice of three.
    data.extend((2_u16 | (1 << 2)).to_le_bytes());
    data.extend([0; 4]);
    let string = |text: &str| -> Vec<u8> {
        let units = text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes);
        (text.len() as u16)
            .to_le_bytes()
            .into_iter()
            .chain(units)
            .collect()
    };
    data.extend(string("Field1"));
    data.extend([0; 2]);
    data.extend(
        [
            string(""),
            string("help"),
            string(""),
            string(""),
            string(""),
        ]
        .concat(),
    );
    data.extend([0xff, 0xff, 3, 0, 0, 0]);
    for choice in ["red", "green", "blue"] {
        let string = string(choice);
        data.extend(&string[..string.len() - 2]);
    }
    let n_bytes = data.len() as u32;
    data[..4].copy_from_slice(&n_bytes.to_le_bytes());
    let text = "is \x13 FORMDROPDOWN \x01\x14\x15.\r";
    const FORM: &[u8] = &[0x03, 0x6a, 0, 0, 0, 0, 0x06, 0x08, 1];
    let runs: [(usize, &[u8]); 3] = [(18, &[]), (1, FORM), (4, &[])];
    let bytes = with_properties(text, &runs, &data);
    assert_eq!(found(&bytes).own().body, "is green.\nred\nblue");
    survives(extract, WORD, "a.doc", &bytes);
}

#[test]
fn descriptions_of_pictures_follow_the_text() {
    let tables =
        ["Heron at dusk", "heron.png", "Heron at dusk"].map(|text| art::tests::table(1, text));
    let bytes = with_properties("words\r", &[(6, &[])], &tables.concat());
    assert_eq!(found(&bytes).own().body, "words\nHeron at dusk");
}

#[test]
fn pictures_of_objects_count_if_the_object_is_not_read() {
    const PICTURE: &[u8] = include_bytes!("../../../../tests/data/drawing/pump.emf");
    let mut head = vec![0; 16 + 34];
    head[16 + 32] = 0xfe;
    let content = [&head, PICTURE].concat();
    let mut data = vec![0; 4];
    data.extend(0x3d40_u16.to_le_bytes());
    data.extend(0xf01a_u16.to_le_bytes());
    data.extend((content.len() as u32).to_le_bytes());
    data.extend(content);
    let n_bytes = data.len() as u32;
    data[..4].copy_from_slice(&n_bytes.to_le_bytes());
    // Behind something else.
    let data = [&[7; 6][..], &data].concat();
    let place: &[u8] = &[0x03, 0x6a, 6, 0, 0, 0];
    let body = |kind: &str| {
        let text = format!("a\x13 EMBED {kind} \x14\x01\x15b\r");
        let before = text.find('\x01').unwrap();
        let bytes = with_properties(&text, &[(before, &[]), (1, place), (3, &[])], &data);
        found(&bytes).own().body.clone()
    };
    assert_eq!(body("Excel.Sheet.8"), "ab");
    assert_eq!(body("Paint.Picture"), "ab\nPump house north\nValve closed");
}

//! Tests of the RTF reader.

use ken_core::{Field, Kind, Reason};

use super::*;
use crate::detect::Detected;
use crate::structure::compound::rebuild::compound_of;
use crate::testing::{Extracted, run, survives};

const RTF: Detected = Detected {
    media_type: "application/rtf",
    kind: Kind::Document,
};

const SAMPLE: &[u8] = include_bytes!("../../../../tests/data/office/sample.rtf");

fn found(bytes: &[u8]) -> Extracted {
    run(extract, RTF, "a.rtf", bytes)
}

/// Returns the text of a file with this content.
fn body(content: &str) -> String {
    let found = found(format!("{{\\rtf1\\ansi {content}}}").as_bytes());
    assert_eq!(found.own().failure, None);
    found.own().body.clone()
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
    assert_eq!(own.text(Field::Keywords), Some("waders"));
    assert_eq!(own.number(Field::Created), Some(1_709_209_800));
    for text in [
        "The curlewbrook estuary",
        "Größe → Привет 日本語",
        "site\tcount\nnorth bank\t14",
        "a footnote on godwits",
        "saltmarsh header",
        "a comment on dunlins",
        "\u{c}Second page",
    ] {
        assert!(own.body.contains(text), "{text}: {}", own.body);
    }
}

#[test]
fn raised_numbers_of_notes_are_no_part_of_the_word() {
    assert_eq!(
        body("giraffe{\\super 1}, km{\\super 2}, 1{\\super st} zebra\\up6 2\\up0 , lion3"),
        "giraffe 1, km2, 1st zebra 2, lion3"
    );
}

#[test]
fn buttons_show_their_words() {
    let button = "{\\field{\\*\\fldinst {MACROBUTTON  NoMacro [Click {\\b here}]}}{\\fldrslt }}";
    let link = "{\\field{\\*\\fldinst HYPERLINK \"x\"}{\\fldrslt there}}";
    assert_eq!(
        body(&format!("{button} or {link}")),
        "[Click here] or there\nx"
    );
}

#[test]
fn characters_of_fonts_and_of_unicode() {
    let fonts = "{\\fonttbl{\\f0\\fcharset0 A;}{\\f1\\fcharset204 B;}{\\f2\\fcharset128 C;}\
                 {\\f3\\fcharset2 Symbol;}{\\f4\\fcharset238 D{\\*\\falt E};}}";
    assert_eq!(
        body(&format!(
            "{fonts}\\f0 \\'e4 {{\\f1 \\'cf}} {{\\f2 \\'93\\'fa\\'96\\'7b}} {{\\f3 a}}{{\\f4 \\'b9}}"
        )),
        "ä П 日本 ą"
    );
    assert_eq!(body("\\u228 a\\u-10179?\\u-8704?b"), "ä😀b");
    assert_eq!(body("\\uc2\\u8364\\'80xy{\\uc0\\u8364}z"), "€y€z");
    assert_eq!(body("\\ansicpg1250 \\'b9"), "ą");
    assert_eq!(
        body("a\\~b\\_c\\-d\\emdash\\tab\\{\\}\\\\"),
        "a b-cd—\t{}\\"
    );
}

#[test]
fn groups_of_no_text_are_passed_over() {
    assert_eq!(
        body(
            "a{\\*\\unknown x}{\\pict 00ff}{\\stylesheet{\\s1 Heading;}}\
             {\\field{\\*\\fldinst HYPERLINK x}{\\fldrslt link}}{\\*\\bkmkstart m}\
             {\\upr{old}{\\*\\ud{new}}}{\\deleted gone}b\\bin3 }}}"
        ),
        "alinknewb\nx"
    );
}

#[test]
fn texts_of_metafiles_follow_their_paragraph() {
    const EMF: &[u8] = include_bytes!("../../../../tests/data/drawing/pump.emf");
    const WMF: &[u8] = include_bytes!("../../../../tests/data/drawing/room.wmf");
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    let picture = format!(
        "{{\\pict{{\\*\\blipuid 01020304}}\\emfblip\\picw10 {}}}",
        hex(EMF)
    );
    let pump = "Pump house north\nValve closed";
    assert_eq!(
        body(&format!(
            "be{{\\*\\shppict{picture}}}{{\\nonshppict{picture}}}fore\\par after{picture}"
        )),
        format!("before\n{pump}\nafter")
    );
    assert_eq!(body(&format!("a{{\\deleted x{picture}}}b")), "ab");
    // Metafiles of Windows have no header in RTF.
    let room = body(&format!("a{{\\pict\\wmetafile8 {}}}", hex(&WMF[22..])));
    assert_eq!(room.lines().next(), Some("a"));
    assert!(room.lines().count() > 1, "{room}");
    // Pictures of other kinds are not collected.
    assert_eq!(body(&format!("a{{\\pict\\pngblip {}}}", hex(EMF))), "a");
}

#[test]
fn pages_rows_and_asides() {
    assert_eq!(
        body("a\\par b\\page c\\par\\sect d\\sect\\sectd\\sbknone e"),
        "a\nb\u{c}c\u{c}d\ne"
    );
    assert_eq!(
        body("\\trowd a\\cell b\\par b\\cell\\row\\trowd\\cell c\\cell\\row d"),
        "a\tb\nb\nc\nd"
    );
    assert_eq!(
        body("be{\\footnote note\\par}fore\\par after"),
        "before\nnote\nafter"
    );
}

#[test]
fn embedded_files_are_members() {
    let mut ole = Vec::new();
    for number in [0x501_u32, 2, 8] {
        ole.extend(number.to_le_bytes());
    }
    ole.extend(b"Package\0\0\0\0\0\0\0\0\0");
    let mut native = b"\x02\0notes.txt\0C:\\notes.txt\0\0\0\x03\0".to_vec();
    native.extend(2_u32.to_le_bytes());
    native.extend(b"x\0");
    native.extend(5_u32.to_le_bytes());
    native.extend(b"hello");
    ole.extend((native.len() as u32).to_le_bytes());
    ole.extend(native);
    let digits: String = ole.iter().map(|byte| format!("{byte:02x}")).collect();
    let text = format!("{{\\rtf1 {{\\object{{\\*\\objdata {digits}}}{{\\result icon}}}}}}");
    let found = found(text.as_bytes());
    assert_eq!(found.members[0].name, "notes.txt");
    assert_eq!(found.members[0].bytes, b"hello");
    assert_eq!(found.members[0].ipath.as_str(), "1");
    assert_eq!(found.own().body, "icon");
}

/// Returns a file with an object of OLE 1.0 of this class.
fn with_object(class: &str, native: &[u8]) -> Vec<u8> {
    let mut ole = Vec::new();
    for number in [0x501_u32, 2, class.len() as u32 + 1] {
        ole.extend(number.to_le_bytes());
    }
    ole.extend(class.as_bytes());
    ole.extend([0; 9]);
    ole.extend((native.len() as u32).to_le_bytes());
    ole.extend(native);
    let binary = [format!("\\bin{} ", ole.len()).as_bytes(), &ole].concat();
    [
        b"{\\rtf1 {\\object{\\*\\objdata ",
        &binary[..],
        b"}{\\result icon}}}",
    ]
    .concat()
}

#[test]
fn objects_are_unwrapped() {
    let pdf = b"%PDF-1.4";
    let wrapped = compound_of(&[("CONTENTS", pdf)]);
    let word = compound_of(&[("WordDocument", b"x")]);
    for (class, native, expected) in [
        ("AcroExch.Document.7", &wrapped[..], &pdf[..]),
        ("Word.Document.8", &word, &word),
        ("AcroExch.Document", pdf, pdf),
    ] {
        let found = found(&with_object(class, native));
        assert_eq!(found.members[0].bytes, expected, "{class}");
        assert_eq!(found.own().body, "icon");
    }
    for (class, native) in [("PBrush", &b"BM"[..]), ("Equation.3", b"\x1c\0\0\0")] {
        assert!(found(&with_object(class, native)).members.is_empty());
    }
}

#[test]
fn properties_are_in_the_code_page_of_the_file() {
    let title = |head: &str| {
        let text =
            format!("{{\\rtf1\\ansi{head}{{\\info{{\\title \\'ce\\'f2\\'f7\\'b8\\'f2}}}}x}}");
        found(text.as_bytes())
            .own()
            .text(Field::Title)
            .map(str::to_owned)
    };
    let western = "\\deff0{\\fonttbl{\\f0\\fcharset0 A;}}";
    let cyrillic = "\\deff0{\\fonttbl{\\f0\\fcharset204 A;}}";
    assert_eq!(
        title(&format!("\\ansicpg1251{western}")).as_deref(),
        Some("Отчёт")
    );
    assert_eq!(title(cyrillic).as_deref(), Some("Отчёт"));
}

#[test]
fn marks_of_optional_words_hide_no_text() {
    assert_eq!(
        body("The {\\*\\cs15 quick} {\\*\\cs15\\b brown} {\\*\\ts3 fox}{\\*\\unknown x}"),
        "The quick brown fox"
    );
}

#[test]
fn comments_forms_and_drop_caps() {
    assert_eq!(
        body(
            "a{\\*\\atnid IF}{\\*\\atnauthor Ina Falk}\\chatn{\\*\\annotation check\\par}b\\par \
             {\\field{\\*\\fldinst FORMDROPDOWN {\\*\\formfield{\\fftype2{\\*\\ffname x}\
             {\\*\\ffl red}{\\*\\ffl blue}}}}{\\fldrslt }}\\par \
             \\pard\\dropcapli2\\dropcapt1 O\\par\\pard nce upon"
        ),
        "ab\nIna Falk: check\nred\nblue\nOnce upon"
    );
}

#[test]
fn hostile_files_are_survived() {
    survives(extract, RTF, "a.rtf", SAMPLE);
    let deep = [&b"{\\rtf1 "[..], &vec![b'{'; 1 << 20], b"deep"].concat();
    let found = found(&deep);
    assert_eq!(found.own().body, "deep");
    let failure = found.own().failure.as_ref().unwrap();
    assert_eq!(failure.reason(), Reason::Malformed);
}

#[test]
fn descriptions_of_pictures_and_texts_of_shapes_are_read() {
    let picture = "{\\*\\shppict{\\pict{\\*\\picprop{\\sp{\\sn wzDescription}{\\sv A red kite}}\
                   {\\sp{\\sn wzName}{\\sv Pic1}}}\\pngblip 0011}}";
    let shape = "{\\shp{\\*\\shpinst{\\sp{\\sn fillColor}{\\sv 255}}\
                 {\\sp{\\sn gtextUNICODE}{\\sv Gro\\'dfe}}{\\sp{\\sn wzDescription}{\\sv scan.png}}}}";
    assert_eq!(
        body(&format!("one{picture} line\\par two{shape}\\par")),
        "one line\nA red kite\ntwo\nGro\u{df}e"
    );
    assert_eq!(
        body("{\\deleted{\\shp{\\sp{\\sn wzDescription}{\\sv gone}}}}x"),
        "x"
    );
}

#[test]
fn numbers_of_lists_are_left_out() {
    assert_eq!(
        body("{\\listtext\\tab 1.\\tab}first\\par {\\pntext 2.\\tab}second"),
        "first\nsecond"
    );
}

#[test]
fn characters_with_readings_are_text() {
    let field =
        "{\\field{\\*\\fldinst EQ \\\\* jc2 \\\\o\\\\ad(\\\\s\\\\up 9(tou),\\u26481?)}{\\fldrslt}}";
    assert_eq!(
        body(&format!("a {field}\\u20140? z\\par")),
        "a \u{6771}\u{4eac} z\ntou"
    );
}

#[test]
fn all_properties_are_read() {
    let file = "{\\rtf1{\\info{\\author Ann; Bob}{\\author Carl}{\\operator Dora}{\\company Works}{\\manager Boss}}\
        {\\*\\userprops{\\propname Client}\\proptype30{\\staticval Acme}{\\propname Count}\\proptype3\
        {\\staticval 7}{\\propname AppVersion}\\proptype30{\\staticval 12}}x}";
    let found = found(file.as_bytes());
    let own = found.own();
    let of = |field| -> Vec<&str> {
        let all = own.fields.iter().filter(|(known, _)| *known == field);
        all.filter_map(|(_, value)| match value {
            ken_core::Value::Text(text) => Some(text.as_str()),
            ken_core::Value::Number(_) => None,
        })
        .collect()
    };
    assert_eq!(of(Field::Author), ["Ann", "Bob", "Carl", "Dora"]);
    assert_eq!(of(Field::Description), ["Works", "Boss", "Acme"]);
    assert_eq!(own.body, "x");
}

#[test]
fn links_of_deleted_text_are_left_out() {
    let link = "{\\field{\\*\\fldinst HYPERLINK \"https://a.b\"}{\\fldrslt here}}";
    assert_eq!(body(&format!("x {{\\deleted {link}}}y")), "x y");
    assert_eq!(body(&format!("x {link}")), "x here\nhttps://a.b");
}

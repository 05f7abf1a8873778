//! Tests of small documents, and of samples made by LibreOffice.

use ken_core::{Kind, Reason};

use base64ct::{Base64, Encoding};

use super::*;
use crate::detect::Detected;
use crate::structure::package::tests::zip_of;
use crate::testing::{self, Extracted};

const ODT: &[u8] = include_bytes!("../../../../tests/data/sample.odt");
const ODS: &[u8] = include_bytes!("../../../../tests/data/sample.ods");
const ODP: &[u8] = include_bytes!("../../../../tests/data/sample.odp");
const DETECTED: Detected = Detected {
    media_type: "application/vnd.oasis.opendocument.text",
    kind: Kind::Document,
};

fn run(bytes: &[u8]) -> Extracted {
    testing::run(extract, DETECTED, "x", bytes)
}

fn text_of(content: &str) -> String {
    let found = run(&zip_of(&[("content.xml", content.as_bytes())]));
    assert_eq!(found.own().failure, None);
    found.own().body.clone()
}

#[test]
fn a_text_with_everything_is_read() {
    let found = run(ODT);
    let own = found.own();
    assert_eq!(own.failure, None);
    assert_eq!(
        own.body,
        "Counting numbatfell\nThe herd of numbatfell counts\tseven\nheads.\nName\tAge\n\
         Rudolf\t12\nCommented run\nBo: Check this remark\nKept inserted\nFirst half\u{c}second half\n\
         Council of Inari\nConfidential footer"
    );
    assert_eq!(own.text(Field::Title), Some("Marsupial ledger"));
    assert_eq!(own.text(Field::Headings), Some("Counting numbatfell"));
    assert_eq!(own.text(Field::Author), Some("Oskar Lindqvist"));
    assert_eq!(own.text(Field::Lang), Some("en-GB"));
    assert_eq!(own.number(Field::Created), Some(1_770_091_506));
    assert_eq!(own.number(Field::Pages), Some(2));
}

#[test]
fn flat_xml_that_ends_early_keeps_its_text() {
    let text = "<office:document><office:meta/><office:body><text:p>Of the quollmere";
    let found = run(text.as_bytes());
    let failure = found.own().failure.as_ref();
    assert_eq!(failure.map(|f| f.reason()), Some(Reason::Malformed));
    assert_eq!(found.own().body, "Of the quollmere");
}

#[test]
fn sheets_and_slides_are_pages() {
    let sheets = run(ODS);
    assert_eq!(
        sheets.own().body,
        "Crossings\nDate\tHarbour\tFare\tShare\tWhen\n\
         01.03.2024\tkelpiesund\t1,234.50 €\t12.5%\t2024-03-01 18:30\n\
         Harbour closed in winter\n2\tTRUE\u{c}Crew\n\tCaptain Nemo\nFerry header"
    );
    assert_eq!(sheets.own().number(Field::Pages), Some(2));
    assert_eq!(sheets.own().text(Field::Title), Some("Harbour dues"));
    let slides = run(ODP);
    assert_eq!(
        slides.own().body,
        "Moraine ptarmigan\nFirst slide\nSpeak slowly here\u{c}\
         Table of ice\nYear\tMetres\n1999\t42\nMelting\nMelting\nArctic\t1.5\nAlps\t2.5"
    );
    assert_eq!(slides.own().number(Field::Pages), Some(2));
    assert_eq!(slides.own().text(Field::Title), Some("Tundra lecture"));
}

#[test]
fn links_authors_choices_and_names_are_read() {
    assert_eq!(
        text_of(
            "<office:document-content><office:body><office:text><text:p>See <text:a \
             xlink:href='https://example.org/a'>here</text:a><office:annotation><dc:creator>Ina\
             </dc:creator><dc:date>2024</dc:date><text:p>check</text:p></office:annotation>.\
             </text:p></office:text></office:body></office:document-content>"
        ),
        "See here.\nIna: check\nhttps://example.org/a"
    );
    assert_eq!(
        text_of(
            "<office:document-content><office:body><office:spreadsheet>\
             <table:content-validations><table:content-validation table:condition='of:\
             cell-content-is-in-list(&quot;red&quot;;&quot;blue&quot;)'/></table:content-validations>\
             <table:table table:name='S'><table:table-row><table:table-cell><text:p>1</text:p>\
             </table:table-cell></table:table-row></table:table><table:named-expressions>\
             <table:named-range table:name='Umsatz'/></table:named-expressions>\
             </office:spreadsheet></office:body></office:document-content>"
        ),
        "red\nblue\nS\n1\nUmsatz"
    );
}

#[test]
fn what_pages_repeat_stands_once() {
    let styles = "<office:document-styles><office:master-styles><style:master-page>\
         <draw:frame presentation:class='title'><text:p>Click to edit</text:p></draw:frame>\
         <draw:frame><draw:text-box><text:p>our logo</text:p></draw:text-box></draw:frame>\
         </style:master-page><style:master-page><draw:frame><draw:text-box><text:p>our logo\
         </text:p></draw:text-box></draw:frame></style:master-page></office:master-styles>\
         </office:document-styles>";
    let content = "<office:document-content><office:body><office:presentation><draw:page>\
         <text:p>slide</text:p></draw:page></office:presentation></office:body>\
         </office:document-content>";
    let zip = zip_of(&[
        ("content.xml", content.as_bytes()),
        ("styles.xml", styles.as_bytes()),
    ]);
    assert_eq!(run(&zip).own().body, "slide\nour logo");
}

#[test]
fn objects_are_unwrapped() {
    use crate::structure::compound::rebuild::compound_of;
    let ole = compound_of(&[("CONTENTS", b"%PDF-1.4")]);
    let content = "<office:document-content><office:body><office:text><draw:object-ole \
         xlink:href='./ole-1'/></office:text></office:body></office:document-content>";
    let zip = zip_of(&[("content.xml", content.as_bytes()), ("ole-1", &ole)]);
    assert_eq!(run(&zip).members[0].bytes, b"%PDF-1.4");
    let flat = format!(
        "<office:document><office:body><office:text><draw:object-ole><office:binary-data>{}\
         </office:binary-data></draw:object-ole></office:text></office:body></office:document>",
        Base64::encode_string(&ole)
    );
    assert_eq!(run(flat.as_bytes()).members[0].bytes, b"%PDF-1.4");
}

#[test]
fn spaces_notes_and_boxes_keep_their_positions() {
    let content = "<office:document-content><office:body><office:text>\
        <text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>\
        <text:p>a<text:s text:c='3'/>b\n  c<text:tab/>d<text:line-break/>e<text:note>\
        <text:note-citation>1</text:note-citation><text:note-body><text:p>note</text:p>\
        </text:note-body></text:note>f</text:p>\
        <draw:text-box><text:p>box</text:p></draw:text-box>\
        <office:annotation><dc:creator>Me</dc:creator><text:p>remark</text:p>\
        </office:annotation></office:text></office:body></office:document-content>";
    assert_eq!(text_of(content), "a   b c\td\nef\nnote\nbox\nMe: remark");
}

#[test]
fn readings_follow_and_raised_numbers_stand_apart() {
    let ruby = |characters, reading| {
        format!(
            "<text:ruby><text:ruby-base>{characters}</text:ruby-base>\
             <text:ruby-text>{reading}</text:ruby-text></text:ruby>"
        )
    };
    let raised = "<text:span text:style-name='T1'>2</text:span>";
    let content = format!(
        "<c><style:style style:name='T1'><style:text-properties \
         style:text-position='super 58%'/></style:style><style:style style:name='T2'>\
         <style:text-properties style:text-position='0% 100%'/></style:style><office:text>\
         <text:p>{}{}へ</text:p><text:p>word{raised}, km{raised}, \
         word<text:span text:style-name='T2'>2</text:span></text:p></office:text></c>",
        ruby("東", "とう"),
        ruby("京", "きょう"),
    );
    assert_eq!(text_of(&content), "東京へ\nとうきょう\nword 2, km2, word2");
}

#[test]
fn repeated_cells_and_spaces_do_not_explode() {
    let content = "<c><office:spreadsheet><table:table table:name='T'>\
        <table:table-row table:number-rows-repeated='1048576'>\
        <table:table-cell table:number-columns-repeated='16384'><text:p>x<text:s \
        text:c='999999999'/>y</text:p></table:table-cell></table:table-row>\
        </table:table></office:spreadsheet></c>";
    let text = text_of(content);
    assert!(text.starts_with("T\nx  "), "{text}");
    assert!(text.len() < 100);
}

#[test]
fn pages_begin_where_styles_and_soft_breaks_say() {
    let content = "<c><style:style style:name='P1'><style:paragraph-properties \
        fo:break-before='page'/></style:style><office:text><text:p text:style-name='P1'>1\
        </text:p><text:p>1</text:p><text:p text:style-name='P1'>2</text:p>\
        <text:p>2 <text:soft-page-break/>3</text:p></office:text></c>";
    assert_eq!(text_of(content), "1\n1\u{c}2\n2 \u{c}3");
}

#[test]
fn flat_xml_is_read() {
    let flat = b"<?xml version='1.0'?><office:document><office:meta><dc:title>T</dc:title>\
        </office:meta><office:body><office:text><text:p>flat</text:p></office:text>\
        </office:body></office:document>";
    let found = run(flat);
    assert_eq!(found.own().body, "flat");
    assert_eq!(found.own().text(Field::Title), Some("T"));
    assert!(run(b"no XML").own().failure.is_some());
}

#[test]
fn objects_are_read_or_handed_on() {
    let found = run(&zip_of(&[
        ("content.xml", b"<c><text:p>a</text:p></c>"),
        ("Object 1/content.xml", b"<c><text:p>chart</text:p></c>"),
        ("Object 2", b"\xd0\xcf\x11\xe0"),
    ]));
    assert_eq!(found.own().body, "a\nchart");
    assert_eq!(found.members[0].name, "Object 2");
}

#[test]
fn pdfs_that_are_shown_as_pictures_are_handed_on() {
    let found = run(&zip_of(&[
        ("content.xml", b"<c><text:p>a</text:p></c>"),
        ("Pictures/10.pdf", b"%PDF-1.4\n"),
        ("Pictures/10.png", b"\x89PNG"),
        ("Thumbnails/thumbnail.pdf", b"%PDF-1.4\n"),
    ]));
    let names: Vec<_> = found.members.iter().map(|member| &member.name).collect();
    assert_eq!(names, ["Pictures/10.pdf"]);
}

#[test]
fn encrypted_files_say_so_and_keep_their_title() {
    let found = run(&zip_of(&[
        ("content.xml", b"\x01\x02\x03"),
        ("meta.xml", b"<m><dc:title>Open</dc:title></m>"),
        (
            "META-INF/manifest.xml",
            b"<m><manifest:file-entry manifest:full-path='content.xml'>\
              <manifest:encryption-data/></manifest:file-entry></m>",
        ),
    ]));
    let failure = found.own().failure.as_ref().unwrap();
    assert_eq!(failure.reason(), Reason::Encrypted);
    assert_eq!(found.own().text(Field::Title), Some("Open"));
    assert_eq!(found.own().body, "");
}

#[test]
fn files_of_openoffice_1_are_read() {
    let content = b"<office:document-content office:class='text'><office:body><text:p>a\
        <text:footnote><text:footnote-citation>1</text:footnote-citation>\
        <text:footnote-body><text:p>note</text:p></text:footnote-body></text:footnote>b\
        </text:p></office:body></office:document-content>";
    assert_eq!(
        run(&zip_of(&[("content.xml", content)])).own().body,
        "ab\nnote"
    );
    let content = b"<office:document-content office:class='spreadsheet'><office:body>\
        <table:table table:name='S'><table:table-row><table:table-cell><text:p>x</text:p>\
        </table:table-cell></table:table-row></table:table><table:table table:name='T'/>\
        </office:body></office:document-content>";
    let found = run(&zip_of(&[("content.xml", content)]));
    assert_eq!(found.own().body, "S\nx\u{c}T");
    assert_eq!(found.own().number(Field::Pages), Some(2));
}

#[test]
fn hostile_files_end_in_a_failure() {
    for good in [ODT, ODS, ODP] {
        testing::survives(extract, DETECTED, "x", good);
    }
}

#[test]
fn formulas_are_read_from_any_folder() {
    // As pandoc writes them.
    let formula: &[u8] =
        b"<math xmlns='http://www.w3.org/1998/Math/MathML'><mrow><mi>E</mi><mo>=</mo>\
        <mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></mrow></math>";
    let found = run(&zip_of(&[
        (
            "content.xml",
            b"<office:text><text:p>Energy</text:p></office:text>",
        ),
        ("Formula-0/content.xml", formula),
    ]));
    assert_eq!(found.own().failure, None);
    assert_eq!(found.own().body, "Energy\nE=mc2");
}

#[test]
fn what_describes_pictures_is_beside_the_text() {
    let text = text_of(
        "<office:text><text:p>Box<draw:frame><svg:title>Title</svg:title><svg:desc>It is red</svg:desc></draw:frame>\
         es</text:p><draw:frame><svg:desc>Alone</svg:desc></draw:frame></office:text>",
    );
    assert_eq!(text, "Boxes\nTitle\nIt is red\nAlone");
}

#[test]
fn flat_files_have_headers_and_properties() {
    let text = "<office:document><office:meta><meta:initial-creator>Ann; Bob</meta:initial-creator>\
        <meta:keyword>a, b</meta:keyword><meta:user-defined meta:name='Client'>Acme</meta:user-defined>\
        <meta:user-defined meta:name='AppVersion'>12</meta:user-defined>\
        <meta:user-defined meta:name='n' meta:value-type='float'>7</meta:user-defined></office:meta>\
        <office:master-styles><style:master-page><style:header><text:p>Top</text:p></style:header>\
        </style:master-page></office:master-styles>\
        <office:body><office:text><text:p>Middle</text:p></office:text></office:body></office:document>";
    let found = run(text.as_bytes());
    let own = found.own();
    assert_eq!(own.body, "Middle\nTop");
    let of = |field| -> Vec<String> {
        let all = own.fields.iter().filter(|(known, _)| *known == field);
        all.map(|(_, value)| format!("{value:?}")).collect()
    };
    assert_eq!(of(Field::Author).len(), 2);
    assert_eq!(of(Field::Keywords).len(), 2);
    assert_eq!(own.text(Field::Description), Some("Acme"));
}

#[test]
fn copies_of_cells_of_other_files_are_no_sheets() {
    let cell = "<table:table-row><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row>";
    let content = format!(
        "<office:spreadsheet><table:table table:name=\"It's #1\">{cell}</table:table>\
        <table:table table:name=\"'file:///home/a/b.ods'#S\">{cell}</table:table></office:spreadsheet>"
    );
    let found = run(&zip_of(&[("content.xml", content.as_bytes())]));
    assert_eq!(found.own().body, "It's #1\nx");
    assert_eq!(found.own().number(Field::Pages), Some(1));
}

#[test]
fn headers_of_sheets_are_read_unless_the_program_made_them() {
    let content = "<office:spreadsheet><table:content-validations><table:content-validation>\
        <table:help-message table:title='Which'><text:p>Choose</text:p></table:help-message>\
        </table:content-validation></table:content-validations>\
        <table:table table:name='S'/></office:spreadsheet>";
    let styles = "<s><style:master-page><style:header><text:p><text:sheet-name>???</text:sheet-name></text:p>\
        </style:header><style:footer><text:p>Page <text:page-number>1</text:page-number> / <text:page-count>9</text:page-count></text:p>\
        <text:p><text:date>1.1.</text:date>, <text:time>9:00</text:time>\
        </text:p></style:footer>\
        </style:master-page><style:master-page><style:header><style:region-left><text:p>Inventory</text:p>\
        </style:region-left><style:region-right><text:p>Printed on <text:date>1.1.</text:date></text:p>\
        </style:region-right></style:header></style:master-page></s>";
    let parts = [
        ("content.xml", content.as_bytes()),
        ("styles.xml", styles.as_bytes()),
    ];
    let found = run(&zip_of(&parts));
    assert_eq!(found.own().failure, None);
    assert_eq!(found.own().body, "Which\nChoose\nS\nInventory\nPrinted on");
}

#[test]
fn pictures_of_objects_count_if_nothing_else_is_known_of_them() {
    const PICTURE: &[u8] = include_bytes!("../../../../tests/data/drawing/pump.emf");
    let content: &[u8] = b"<office:text><text:p>Shown</text:p></office:text>";
    let alone = run(&zip_of(&[
        ("content.xml", content),
        ("ObjectReplacements/Object 1", PICTURE),
    ]));
    let shown = alone
        .own()
        .body
        .strip_prefix("Shown\n")
        .expect("text of the picture")
        .to_owned();
    let with = |name: &str, object: &[u8]| {
        run(&zip_of(&[
            ("content.xml", content),
            (name, object),
            ("ObjectReplacements/Object 1", PICTURE),
        ]))
        .own()
        .body
        .clone()
    };
    assert_eq!(
        with(
            "Object 1/content.xml",
            b"<office:chart><text:p>Own</text:p></office:chart>"
        ),
        "Shown\nOwn"
    );
    assert_eq!(with("Object 1", b"%PDF-1.4\n"), "Shown");
    assert_eq!(
        with("Object 1", b"\0\x01\xff\xfe\x02\x80"),
        format!("Shown\n{shown}")
    );
}

//! Tests of Word documents.

use ken_core::{Reason, Value};

use super::super::tests::{check_hostile, run, run_main};
use super::*;
use crate::structure::compound::rebuild::compound_of;
use crate::structure::package::tests::zip_of;

const SAMPLE: &[u8] = include_bytes!("../../../../../tests/data/sample.docx");

/// Returns the text of a document with these body elements.
fn text_of(body: &str) -> String {
    let document = format!("<w:document><w:body>{body}</w:body></w:document>");
    run_main(&FORMAT, "word/document.xml", &document).body
}

#[test]
fn descriptions_and_readings_by_formula() {
    let text = text_of(
        "<w:p><w:r><w:t>a</w:t><w:drawing><wp:docPr title='Map' descr='Of the fjord'/></w:drawing></w:r>\
         <w:r><w:fldChar w:fldCharType='begin'/><w:instrText>EQ \\* jc2 \\o\\ad(\\s\\up 9(</w:instrText>\
         <w:instrText>tou),\u{6771})</w:instrText><w:fldChar w:fldCharType='end'/><w:t>\u{4eac}</w:t></w:r></w:p>",
    );
    assert_eq!(text, "a\u{6771}\u{4eac}\nMap\nOf the fjord tou");
}

#[test]
fn a_document_with_everything_is_read() {
    let found = run(&FORMAT, SAMPLE);
    let own = found.own();
    assert_eq!(own.failure, None);
    assert_eq!(
        own.body,
        "Counting quokkaberg\nThe herd of quokkaberg counts\tseven\nheads.\nName\tAge\n\
         Rudolf\t12\nCommented run\nKept inserted\nFirst half \u{c}second half\n\
         Council of Inari\nConfidential footer\nBo: Check this remark"
    );
    assert_eq!(own.text(Field::Title), Some("Reindeer census"));
    assert_eq!(own.text(Field::Headings), Some("Counting quokkaberg"));
    assert_eq!(own.text(Field::Author), Some("Aino Virtanen"));
    let keywords = Value::Text("herds tundra".into());
    assert!(own.fields.contains(&(Field::Keywords, keywords)));
    assert_eq!(own.text(Field::Description), Some("Draft for the council"));
    assert_eq!(own.text(Field::Lang), Some("en-GB"));
    assert_eq!(own.number(Field::Created), Some(1_770_091_506));
    assert_eq!(own.number(Field::Date), Some(1_770_177_906));
    assert_eq!(own.number(Field::Pages), Some(2));
}

#[test]
fn what_is_no_text_of_the_document_is_left_out() {
    assert_eq!(
        text_of(
            "<w:p><w:pPr><w:tabs><w:tab/></w:tabs></w:pPr><w:r><w:t>a</w:t></w:r>\
             <w:del><w:r><w:delText>gone</w:delText></w:r></w:del>\
             <w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>\
             <w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>b</w:t></w:r></w:p>"
        ),
        "ab"
    );
}

#[test]
fn readings_follow_and_raised_numbers_stand_apart() {
    let ruby = |characters, reading| {
        format!(
            "<w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>{reading}</w:t></w:r></w:rt><w:rubyBase>\
             <w:r><w:t>{characters}</w:t></w:r></w:rubyBase></w:ruby></w:r>"
        )
    };
    assert_eq!(
        text_of(&format!(
            "<w:p>{}{}<w:r><w:t>へ</w:t></w:r></w:p><w:p><w:t>next</w:t></w:p>",
            ruby("東", "とう"),
            ruby("京", "きょう")
        )),
        "東京へ\nとうきょう\nnext"
    );
    let raised = "<w:r><w:rPr><w:b/><w:vertAlign w:val='superscript'/></w:rPr><w:t>2</w:t></w:r>";
    assert_eq!(
        text_of(&format!(
            "<w:p><w:r><w:t>word</w:t></w:r>{raised}<w:r><w:t>, km</w:t></w:r>{raised}\
             <w:r><w:t>, word2</w:t></w:r></w:p>"
        )),
        "word 2, km2, word2"
    );
}

#[test]
fn targets_of_links_are_text() {
    let zip = zip_of(&[
        (
            "word/document.xml",
            b"<d><p><r><t>See </t></r><hyperlink r:id='r1'><r><t>here</t></r></hyperlink>\
              <r><t> or </t><fldChar fldCharType='begin'/><instrText>HYPERLINK \
              \"https://example.org/field\"</instrText><fldChar fldCharType='separate'/>\
              <t>there</t><fldChar fldCharType='end'/></r></p></d>",
        ),
        (
            "word/_rels/document.xml.rels",
            b"<r><Relationship Id='r1' Type='x/hyperlink' TargetMode='External' \
              Target='https://example.org/findmyurl'/></r>",
        ),
    ]);
    assert_eq!(
        run(&FORMAT, &zip).own().body,
        "See here or there\nhttps://example.org/findmyurl\nhttps://example.org/field"
    );
}

#[test]
fn drop_caps_and_choices_of_forms() {
    assert_eq!(
        text_of(
            "<w:p><w:pPr><w:framePr w:dropCap='drop' w:lines='3'/></w:pPr><w:r><w:t>O</w:t>\
             </w:r></w:p><w:p><w:r><w:t>nce upon</w:t></w:r></w:p>\
             <w:p><w:r><w:fldChar w:fldCharType='begin'><w:ffData><w:ddList><w:result w:val='1'/>\
             <w:listEntry w:val='red'/><w:listEntry w:val='blue'/></w:ddList></w:ffData>\
             </w:fldChar><w:t> sky</w:t></w:r></w:p>"
        ),
        "Once upon\nblue sky\nred"
    );
}

#[test]
fn headers_stand_once_and_comments_have_authors() {
    let zip = zip_of(&[
        ("word/document.xml", b"<d><p><t>body</t></p></d>"),
        (
            "word/_rels/document.xml.rels",
            b"<r><Relationship Id='1' Type='x/header' Target='h1.xml'/>\
              <Relationship Id='2' Type='x/header' Target='h2.xml'/>\
              <Relationship Id='3' Type='x/footer' Target='f.xml'/>\
              <Relationship Id='4' Type='x/comments' Target='c.xml'/></r>",
        ),
        ("word/h1.xml", b"<h><p><t>head</t></p></h>"),
        ("word/h2.xml", b"<h><p><t>head</t></p></h>"),
        ("word/f.xml", b"<h><p><t>foot</t></p></h>"),
        (
            "word/c.xml",
            b"<c><comment w:author='Ina Falk'><p><t>check</t></p></comment></c>",
        ),
    ]);
    let found = run(&FORMAT, &zip);
    assert_eq!(found.own().body, "body\nhead\nfoot\nIna Falk: check");
}

#[test]
fn parts_that_word_shows_in_the_document_are_members() {
    let pdf = compound_of(&[("CONTENTS", b"%PDF-1.4")]);
    let zip = zip_of(&[
        ("word/document.xml", b"<d><p><t>body</t></p></d>"),
        (
            "word/_rels/document.xml.rels",
            b"<r><Relationship Id='1' Type='x/aFChunk' Target='/chunks/chunk1'/>\
              <Relationship Id='2' Type='x/oleObject' Target='odd/a.bin'/></r>",
        ),
        (
            "[Content_Types].xml",
            b"<t><Override PartName='/chunks/chunk1' ContentType='text/html'/></t>",
        ),
        ("chunks/chunk1", b"<p>chunk</p>"),
        ("word/odd/a.bin", &pdf),
    ]);
    let found = run(&FORMAT, &zip);
    let members: Vec<_> = found
        .members
        .iter()
        .map(|member| {
            (
                member.ipath.as_str(),
                member.declared_type.as_deref(),
                &*member.bytes,
            )
        })
        .collect();
    assert_eq!(
        members,
        [
            ("chunks/chunk1", Some("text/html"), &b"<p>chunk</p>"[..]),
            ("word/odd/a.bin", None, b"%PDF-1.4"),
        ]
    );
}

#[test]
fn hyphens_tabs_and_breaks_are_kept() {
    assert_eq!(
        text_of(
            "<w:p><w:r><w:t>a</w:t><w:noBreakHyphen/><w:t>b</w:t><w:softHyphen/><w:t>c</w:t>\
             <w:tab/><w:t>d</w:t><w:br/><w:t>e</w:t><w:br w:type='page'/></w:r></w:p>\
             <w:p><w:r><w:lastRenderedPageBreak/><w:t>f</w:t></w:r></w:p>"
        ),
        "a-bc\td\ne\u{c}f"
    );
}

#[test]
fn a_text_box_stands_once_and_after_its_paragraph() {
    let content = "<w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent>";
    let text = format!(
        "<w:p><w:r><w:t>be</w:t><mc:AlternateContent><mc:Choice>{content}</mc:Choice>\
         <mc:Fallback>{content}</mc:Fallback></mc:AlternateContent><w:t>fore</w:t></w:r></w:p>\
         <w:p><w:r><w:t>after</w:t></w:r></w:p>"
    );
    assert_eq!(text_of(&text), "before\nbox\nafter");
}

#[test]
fn pictures_are_found_by_their_description() {
    assert_eq!(
        text_of(
            "<w:p><w:r><w:t>a</w:t><w:drawing><wp:docPr id='1' name='x' descr='A cat'/>\
             <wp:docPr id='2' name='y' descr='C:\\cat.JPG'/></w:drawing><w:t>b</w:t></w:r></w:p>"
        ),
        "ab\nA cat"
    );
}

#[test]
fn footnotes_follow_and_embedded_files_are_members() {
    let zip = zip_of(&[
        ("word/document.xml", b"<d><p><t>body</t></p></d>"),
        (
            "word/_rels/document.xml.rels",
            b"<r><Relationship Id='1' Type='x/endnotes' Target='end.xml'/>\
              <Relationship Id='2' Type='x/footnotes' Target='/word/foot.xml'/>\
              <Relationship Id='3' Type='x/footer' Target='gone.xml'/></r>",
        ),
        ("word/foot.xml", b"<f><p><t>foot</t></p></f>"),
        ("word/end.xml", b"<f><p><t>end</t></p></f>"),
        ("word/embeddings/table.xlsx", b"PK"),
        ("word/media/image1.png", b"png"),
    ]);
    let found = run(&FORMAT, &zip);
    assert_eq!(found.own().body, "body\nfoot\nend");
    assert_eq!(found.members.len(), 1);
    assert_eq!(found.members[0].name, "table.xlsx");
    assert_eq!(
        found.members[0].ipath.as_str(),
        "word/embeddings/table.xlsx"
    );
}

#[test]
fn damage_in_one_part_leaves_the_others() {
    let zip = zip_of(&[
        ("word/document.xml", b"<d><p><t>body</t></p><t>tail</t>< "),
        ("docProps/core.xml", b"<c><dc:title>Title</dc:title></c>"),
    ]);
    let found = run(&FORMAT, &zip);
    assert_eq!(found.own().body, "body\ntail");
    assert_eq!(found.own().text(Field::Title), Some("Title"));
    let failure = found.own().failure.as_ref().unwrap();
    assert_eq!(failure.reason(), Reason::Malformed);
}

#[test]
fn text_in_utf16_is_read() {
    let text = "<?xml version='1.0' encoding='UTF-16'?><d><p><t>žlutý</t></p></d>";
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let zip = zip_of(&[("word/document.xml", &[b"\xff\xfe", &bytes[..]].concat())]);
    assert_eq!(run(&FORMAT, &zip).own().body, "žlutý");
}

#[test]
fn hostile_files_end_in_a_failure() {
    check_hostile(&FORMAT, SAMPLE);
}

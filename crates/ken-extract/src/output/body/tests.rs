//! Tests of the text of a document.

use super::*;

#[test]
fn separators_stand_only_between_texts() {
    let mut body = Body::new(1000);
    body.end_paragraph();
    body.push("a");
    body.end_paragraph();
    body.end_paragraph();
    for row in [["b", "", ""], ["", "", ""], ["", "c", "d"]] {
        body.begin_row();
        for cell in row {
            body.begin_cell();
            body.push(cell);
            body.end_paragraph();
            body.end_cell();
        }
        body.end_row();
    }
    body.end_paragraph();
    assert_eq!(body.finish(), "a\nb\nc\td");
}

fn grid(max_bytes: usize, rows: &[&[(usize, &str)]]) -> Body {
    let mut body = Body::new(max_bytes);
    body.line("Sheet");
    for row in rows {
        body.begin_row();
        for (column, text) in *row {
            body.begin_cell_at(*column);
            body.push(text);
            body.end_paragraph();
            body.end_cell();
        }
        body.end_row();
    }
    body
}

#[test]
fn values_of_grids_stay_in_their_columns_and_rows() {
    let mut body = grid(
        1000,
        &[
            &[(1, "b"), (4, "e"), (5, ""), (6, "g")],
            &[(0, ""), (1, "two\r\nlines\n"), (2, "\n"), (3, "a\tb\u{c}")],
            &[(3, "")],
            &[(0, "x"), (500, "far"), (501, "y")],
            // A column that goes back is the next one.
            &[(7, "h"), (2, "c"), (usize::MAX, "z")],
        ],
    );
    body.begin_row();
    body.begin_cell_at(2);
    body.push_folded(" one ");
    body.end_paragraph();
    body.push_folded("two");
    body.begin_aside();
    body.line("note");
    body.line("of two lines");
    body.end_aside();
    body.end_cell();
    body.end_row();
    body.end_page();
    body.begin_row();
    body.begin_cell_at(1);
    body.push("last");
    body.end_cell();
    body.end_row();
    assert_eq!(
        body.finish(),
        "Sheet\n\tb\t\t\te\t\tg\n\ttwo lines\t\ta b\nx\t\tfar\ty\n\t\t\t\t\t\t\th\tc\t\tz\n\
         \t\tone two\nnote\nof two lines\u{c}\tlast"
    );
}

#[test]
fn empty_cells_displace_no_text() {
    let row: &[(usize, &str)] = &[(60, "aaaa"), (120, "b")];
    let shown = grid(1000, &[row; 20]).finish();
    assert!(shown.len() < 1000);
    assert_eq!(shown.matches("aaaa").count(), 20);
    // A text that is full is one without empty cells.
    let shown = grid(100, &[row; 40]).finish();
    assert!(
        shown.starts_with("Sheet\n\taaaa\tb\n\taaaa\tb\n"),
        "{shown}"
    );
    assert!(shown.len() > 100);
}

#[test]
fn asides_follow_their_paragraph_or_row() {
    let mut body = Body::new(1000);
    body.push("be");
    body.begin_aside();
    body.push("note");
    body.end_paragraph();
    body.end_aside();
    body.push("fore");
    body.end_paragraph();
    body.begin_row();
    body.begin_cell();
    body.begin_aside();
    body.push("comment");
    body.end_aside();
    body.push("1");
    body.end_paragraph();
    body.end_cell();
    body.push("2");
    body.end_row();
    body.push("end");
    assert_eq!(body.finish(), "before\nnote\n1\t2\ncomment\nend");
}

#[test]
fn readings_follow_their_paragraph() {
    let mut body = Body::new(1000);
    for (before, characters, reading) in [
        ("", "東", "とう"),
        ("", "京", "きょう"),
        ("へ", "川", "かわ"),
    ] {
        body.push(before);
        body.begin_ruby();
        body.begin_reading();
        body.push(reading);
        body.end_reading();
        body.push(characters);
        body.end_ruby();
    }
    body.end_paragraph();
    body.push("end");
    assert_eq!(body.finish(), "東京へ川\nとうきょう かわ\nend");
}

#[test]
fn targets_of_links_follow_their_paragraph_once() {
    let mut body = Body::new(1000);
    for (label, target) in [
        ("here", "https://example.org/Gr%C3%B6%C3%9Fe"),
        (" there", "https://example.org/Gr%C3%B6%C3%9Fe"),
        (" http://shown.example", "http://shown.example/"),
        (" mail", "mailto:ina@example.org?subject=x"),
        (" top", "#top"),
    ] {
        body.push(label);
        body.link(target);
    }
    body.end_paragraph();
    body.push("end");
    assert_eq!(
        body.finish(),
        "here there http://shown.example mail top\nhttps://example.org/Größe\n\
         ina@example.org\nend"
    );
}

#[test]
fn link_targets_have_no_password() {
    for (target, text) in [
        (
            "https://ina:secret@example.org/a@b",
            "https://example.org/a@b",
        ),
        ("ftp://ina:se@cret@example.org", "ftp://example.org"),
        (
            "https://example.org?to=ina@berg.example",
            "https://example.org?to=ina@berg.example",
        ),
        ("mailto:ina@example.org", "ina@example.org"),
    ] {
        assert_eq!(link_text(target), text);
    }
}

#[test]
fn what_pages_repeat_stands_once() {
    let mut body = Body::new(1000);
    for text in ["head", "head", " ", "foot"] {
        body.once(text);
    }
    assert_eq!(body.finish(), "head\nfoot");
}

#[test]
fn white_space_is_folded_across_pieces() {
    let mut body = Body::new(1000);
    body.push_folded("\n  a \n b ");
    body.push_folded(" c");
    body.push_folded(" ");
    body.push_folded("d ");
    body.end_paragraph();
    body.push_folded("  ");
    body.push_folded("e");
    assert_eq!(body.finish(), "a b c d\ne");
}

#[test]
fn pages_end_with_form_feeds() {
    let mut body = Body::new(1000);
    body.break_page();
    body.push("1");
    body.end_paragraph();
    body.break_page();
    body.break_page();
    body.end_paragraph();
    body.push("2");
    body.end_page();
    body.end_page();
    body.push("4");
    assert_eq!(body.finish(), "1\u{c}2\u{c}\u{c}4");
}

#[test]
fn headings_are_noted_and_stay_in_the_text() {
    let mut body = Body::new(1000);
    body.heading("One");
    body.push("text");
    body.end_paragraph();
    body.begin_heading();
    body.push_folded("T");
    body.push_folded("wo ");
    body.end_heading();
    body.end_paragraph();
    body.begin_heading();
    body.push(&"x".repeat(MAX_HEADING_BYTES + 1));
    body.end_heading();
    body.end_heading();
    let mut document = Document::new(ken_core::Ipath::root(), "", ken_core::Kind::Document);
    body.finish_into(&mut document);
    let headings: Vec<_> = document.fields.iter().map(|(_, value)| value).collect();
    let text = |text: &str| ken_core::Value::Text(text.to_owned());
    assert_eq!(headings, [&text("One"), &text("Two")]);
    assert!(document.body.starts_with("One\ntext\nTwo\nxx"));
}

#[test]
fn a_full_body_takes_no_more() {
    let mut body = Body::new(3);
    body.push("abcd");
    assert!(body.is_full());
    body.push("e");
    assert_eq!(body.finish(), "abcd");
}

//! Tests of spaces, lines and hyphens.

use super::*;

#[test]
fn spacing_that_moves_undo_parts_no_letters() {
    let content = "BT /F1 1 Tf -0.385 Tc 21 0 0 21 50 700 Tm \
                   [(R)-385(A)-385(N)-381(G)-353(E)-385(R)-385(S)]TJ \
                   [-785(A)-385(T)-785(B)-385(E)]TJ ET";
    assert_eq!(page_text(content), "RANGERS AT BE");
}

#[test]
fn lines_of_a_negative_size_run_backwards() {
    let mut sample = Sample::pages(&[
        "BT /F1 -10 Tf 1 0 0 1 500 700 Tm (from) Tj 1 0 0 1 474 700 Tm (right to left) Tj ET",
    ]);
    sample.page = "/Rotate 180".into();
    assert_eq!(sample.text(), "from right to left");
    let mirrored = "BT /F1 10 Tf -100 Tz -1 0 0 1 50 700 Tm [(twice)-600(mirrored)] TJ ET";
    assert_eq!(page_text(mirrored), "twice mirrored");
}

#[test]
fn small_lines_may_be_tight_below_large_ones() {
    let below = "BT /F1 20 Tf 50 700 Td (Ordinate Ltd) Tj 0 -12 Td /F1 10 Tf (Ben) Tj \
                 0 -11 Td (Street) Tj ET";
    assert_eq!(page_text(below), "Ordinate Ltd\nBen\nStreet");
    let above = "BT /F1 10 Tf 50 700 Td (Annual) Tj 0 -12 Td /F1 20 Tf (Report) Tj ET";
    assert_eq!(page_text(above), "Annual\nReport");
    let index = "BT /F1 10 Tf 50 700 Td (x) Tj /F1 6 Tf 5 -3 Td (max) Tj 0 7 Td (n) Tj \
                 /F1 10 Tf 12 -4 Td (is) Tj ET";
    assert_eq!(page_text(index), "xmaxn is");
}

#[test]
fn hyphens_that_hang_remain() {
    let lines = |lines: [&str; 4]| {
        let lines: String = lines.iter().map(|line| format!("({line}) ' ")).collect();
        page_text(&format!("BT /F1 10 Tf 12 TL 50 700 Td {lines} ET"))
    };
    assert_eq!(
        lines(["Berg- und", "Tal, Hoch-", "und Tief-", "bau"]),
        "Berg- und\nTal, Hoch-\nund Tiefbau"
    );
    assert_eq!(
        lines(["a self-", "made Anglo-", "American and under-", "oder"]),
        "a selfmade Anglo-\nAmerican and under-\noder"
    );
    assert_eq!(
        lines([
            "a state-of-",
            "the-art non-govern-",
            "mental day-to-",
            "day pro-"
        ]),
        "a state-of-the-art non-governmental day-to-day pro-"
    );
}

#[test]
fn what_is_cut_from_the_sheet_counts_and_what_is_beside_it_does_not() {
    let mut sample = Sample::pages(
        &["BT /F1 10 Tf 50 700 Td (margin) Tj 0 -400 Td (middle) Tj \
         0 600 Td (outside) Tj ET"],
    );
    sample.page = "/CropBox[0 200 600 500]".into();
    assert_eq!(sample.text(), "margin\n\nmiddle");
    sample.page = "/MediaBox[0 0 0 0]/CropBox[0 0 0 0]".into();
    assert!(sample.text().contains("middle"));
}

#[test]
fn digits_of_right_to_left_scripts_run_to_the_right() {
    let seen = format!("BT /F3 10 Tf 50 700 Td <{}> Tj ET", hex("٢٠٢٤ ماع"));
    assert_eq!(with_unicode_font(&seen, "Identity-H").text(), "عام ٢٠٢٤");
}

#[test]
fn letters_that_are_spaced_out_may_be_kerned() {
    // Chromium places each letter for itself.
    let places = [
        (0, 'T'),
        (7, 'o'),
        (15, 'u'),
        (23, 's'),
        (33, 'l'),
        (38, 'e'),
        (46, 's'),
    ];
    let shown = places.map(|(x, letter)| format!("1 0 0 1 {} 700 Tm ({letter}) Tj ", 50 + x));
    let spaced = format!("BT /F1 10 Tf {} ET", shown.concat());
    assert_eq!(page_text(&spaced), "Tous les");
    let dots = "BT /F1 10 Tf 50 700 Td [(Contents)-200(.)-200(.)-200(.)-200(.)-200(.)-200(.)-200(.)-200(.)\
                -200(.)-200(.)-200(9)] TJ ET";
    assert_eq!(page_text(dots), "Contents . . . . . . . . . . 9");
    let numbers = "BT /F1 10 Tf 50 700 Td [(1)-300(2)-300(3)-300(4)-300(5)-300(6)] TJ ET";
    assert_eq!(page_text(numbers), "1 2 3 4 5 6");
}

#[test]
fn marks_before_notes_are_no_part_of_the_word() {
    let noted = |text: &str| {
        page_text(&format!(
            "BT /F1 10 Tf 50 700 Td (Text.) Tj /F1 6 Tf 0 -30 Td (1) Tj /F1 8 Tf 3.5 -3 Td ({text}) Tj ET"
        ))
    };
    assert_eq!(noted("There it is"), "Text.\n\n1 There it is");
    assert_eq!(noted("In it"), "Text.\n\n1 In it");
    assert_eq!(noted("He"), "Text.\n\n1He");
}

#[test]
fn letters_far_apart_are_a_word_where_spaces_are_drawn() {
    let spaced = "[(s)-300(p)-300(a)-300(c)-300(e)-300(d)-300( )-300(w)-300(o)-300(r)-300(d)] TJ";
    let page = format!("BT /F1 10 Tf 50 700 Td (drawn space) Tj 0 -40 Td {spaced} ET");
    assert_eq!(page_text(&page), "drawn space\n\nspaced word");
    // Without a drawn space, gaps are spaces.
    let list = "BT /F1 10 Tf 50 700 Td [(a)-300(b)-300(c)-300(d)-300(e)-300(f)] TJ ET";
    assert_eq!(page_text(list), "a b c d e f");
    let uneven =
        "BT /F1 10 Tf 50 700 Td (x y) Tj 0 -40 Td [(a)-300(b)-500(c)-300(d)-700(e)-400(f)] TJ ET";
    assert_eq!(page_text(uneven), "x y\n\na b c d e f");
}

#[test]
fn glyphs_of_another_font_fill_the_gaps_of_their_line() {
    // Courier is 6 wide at size 10, and the line goes on after the letter that its font lacks.
    let word = "BT /F2 10 Tf 50 700 Td [(a)-600(b c)-1200( end)] TJ ET \
                BT /F2 10 Tf 1 0 0 1 56 700 Tm (X) Tj ET BT /F2 10 Tf 1 0 0 1 86 700 Tm (Y) Tj ET \
                BT /F2 10 Tf 50 688 Td (below) Tj ET";
    assert_eq!(page_text(word), "aXb c Y end\nbelow");
    // Drawn once more for bold, it stands once.
    let bold = "BT /F1 10 Tf 50 700 Td [(a)-1200(c)] TJ ET \
                BT /F2 10 Tf 1 0 0 1 56 700 Tm (X) Tj ET BT /F2 10 Tf 50 688 Td (below) Tj ET \
                BT /F2 10 Tf 1 0 0 1 56 700 Tm (X) Tj ET";
    assert_eq!(page_text(bold), "aX c\nbelow");
    // A wide gap parts the line, and the symbol is between its parts.
    let symbol = "BT /F2 10 Tf 50 700 Td (one) Tj 36 0 Td (two) Tj ET \
                  BT /F2 10 Tf 1 0 0 1 74 700 Tm (X) Tj ET";
    assert_eq!(page_text(symbol), "one X two");
    let words = Sample::pages(&[word]).bytes();
    survives(extract, PDF, "gaps.pdf", &words);
}

#[test]
fn a_long_line_is_filled_some_times_only() {
    // The glyphs have hardly any width, so that the gap has room for the next one. The point elsewhere parts them.
    let fill = |number: usize| {
        format!(
            "BT /F2 0.2 Tf 1 Tz 1 0 0 1 530.01 700 Tm (X{number}) Tj 1 0 0 1 50 100 Tm (.) Tj ET\n"
        )
    };
    let line = "a".repeat(4_000);
    let page = format!("BT /F2 0.2 Tf 50 700 Td [({line})-1200(b)] TJ ET\n");
    let first_line = |n_fills| {
        let fills: String = (0..n_fills).map(fill).collect();
        let text = page_text(&format!("{page}{fills}"));
        text.lines().next().unwrap_or_default().to_owned()
    };
    assert!(first_line(3).ends_with("aX0X1X2 b"));
    let filled = first_line(1_500);
    let filled = filled.split_once(" b").unwrap().0;
    assert!(filled.contains("aX0X1") && !filled.contains("X1498"));
}

#[test]
fn a_large_first_letter_joins_its_word() {
    let lines = "BT /F1 36 Tf 50 670 Td (D) Tj /F1 12 Tf 28 16 Td (ropcap begins here,) Tj \
                 0 -14 Td (goes on) Tj -28 -14 Td (and ends.) Tj ET";
    assert_eq!(page_text(lines), "Dropcap begins here,\ngoes on\nand ends.");
    let power = "BT /F1 20 Tf 50 700 Td (X) Tj /F1 10 Tf 14 8 Td (2) Tj ET";
    assert_eq!(page_text(power), "X2");
}

#[test]
fn letters_of_notes_are_no_part_of_the_word() {
    let note = |mark: &str| {
        let end = "/F1 10 Tf 4 -4 Td ( after) Tj ET";
        page_text(&format!(
            "BT /F1 10 Tf 50 700 Td (about) Tj /F1 6 Tf 25.6 4 Td ({mark}) Tj {end}"
        ))
    };
    assert_eq!(note("a"), "about a after");
    assert_eq!(note("iv"), "about iv after");
    assert_eq!(note("er"), "abouter after");
}

#[test]
fn lines_from_left_to_right_may_hold_words_from_right_to_left() {
    let mut sample = Sample::pages(&["BT /F3 10 Tf 50 700 Td <41422021222043> Tj ET"]);
    sample.fonts = "/F3 100 0 R".into();
    let map = "1 begincodespacerange <00> <ff> endcodespacerange 5 beginbfchar <20> <0020> <21> <05D1> \
               <22> <05D0> <41> <0041> <43> <0043> endbfchar 1 beginbfchar <42> <0042> endbfchar";
    let font = "<</Type/Font/Subtype/Type1/BaseFont/Courier/ToUnicode 101 0 R>>";
    sample.objects = vec![font.into(), stream("", map)];
    assert_eq!(sample.text(), "AB \u{5D0}\u{5D1} C");
}

//! Tests of what the codes of a font are as text.

use super::*;

/// A page with a font `/F3`, and objects from number 101.
fn with_font(content: &str, font: &str, objects: &[&str]) -> Sample {
    let mut sample = Sample::pages(&[content]);
    sample.fonts = "/F3 100 0 R".into();
    sample.objects = vec![format!("<</Type/Font{font}>>")];
    sample
        .objects
        .extend(objects.iter().map(|&object| object.to_owned()));
    sample
}

/// A composite font that is not embedded, with more entries.
fn composite(content: &str, more: &str, collection: &str, objects: &[&str]) -> Sample {
    let font = format!(
        "/Subtype/Type0/BaseFont/Arial/Encoding/Identity-H/DescendantFonts[<</Type/Font\
         /Subtype/CIDFontType2/BaseFont/Arial/DW 500/CIDSystemInfo<</Registry(Adobe)\
         /Ordering({collection})/Supplement 0>>>>]{more}"
    );
    with_font(content, &font, objects)
}

const HELVETICA: &str = "/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding";

fn mapped(content: &str, map: &str) -> String {
    let font = format!("{HELVETICA}/ToUnicode 101 0 R");
    with_font(content, &font, &[&stream("", map)]).text()
}

#[test]
fn a_map_that_is_called_identity_maps_codes_to_themselves() {
    let content = format!("BT /F3 10 Tf 50 700 Td <{}> Tj ET", hex("Výbava přání"));
    let sample = composite(&content, "/ToUnicode/Identity-H", "Identity", &[]);
    assert_eq!(sample.text(), "Výbava přání");
    // The map of this name, in the file itself, maps codes to glyphs.
    let map = "/CMapName /Identity-H def 1 begincidrange <0000> <ffff> 0 endcidrange endcmap";
    let maps = [stream("", map)];
    let sample = composite(&content, "/ToUnicode 101 0 R", "Identity", &[&maps[0]]);
    assert_eq!(sample.text(), "Výbava přání");
}

#[test]
fn a_stray_character_in_a_map_loses_nothing_else() {
    let map = "begincmap 1 begincodespacerange <00> <FF> endcodespacerange 3 beginbfchar <41> <03B1>\n\
               \u{1} ) <42> <03B2> endbfchar 1 beginbfchar <43> <03B3> endbfchar";
    assert_eq!(mapped("BT /F3 10 Tf 50 700 Td (ABCD) Tj ET", map), "αβγD");
}

#[test]
fn a_space_needs_no_glyph() {
    let font = "/Subtype/Type1/BaseFont/Times-Roman/Encoding<</Differences[32/.notdef]>>";
    let sample = with_font("BT /F3 10 Tf 50 700 Td (two words) Tj ET", font, &[]);
    assert_eq!(sample.text(), "two words");
    let map = "begincmap 1 beginbfchar <0041> <0041> endbfchar";
    let content = "BT /F3 10 Tf 50 700 Td <0041004130000041> Tj ET";
    let sample = composite(
        content,
        "/ToUnicode 101 0 R",
        "Identity",
        &[&stream("", map)],
    );
    assert_eq!(sample.text(), "AA A");
}

#[test]
fn soft_hyphens_are_seen_at_line_ends_only() {
    let map = "begincmap 1 beginbfchar <7E> <00AD> endbfchar";
    let content = "BT /F3 10 Tf 12 TL 50 700 Td (Sonder~angebot SS~25~B Berg~ und) Tj \
                   T* (Poli~) Tj T* (tik, Nord~) Tj T* (See, last~) Tj ET";
    assert_eq!(
        mapped(content, map),
        "Sonderangebot SS-25-B Berg- und\nPolitik, NordSee, last-"
    );
    // Chromium and WeasyPrint draw another hyphen at the end of a line.
    let map = "begincmap 2 beginbfchar <7E> <00AD> <7B> <00AD2010> endbfchar";
    let content = "BT /F3 10 Tf 12 TL 50 700 Td (Po~-) Tj T* (li{) Tj T* (tik) Tj ET";
    assert_eq!(mapped(content, map), "Politik");
    // Word calls the hyphen of a font a soft one.
    let map = "begincmap 2 beginbfchar <0001> <0061> <0002> <00AD> endbfchar";
    let content = "BT /F3 10 Tf 50 700 Td <000100020001> Tj ET";
    let sample = composite(
        content,
        "/ToUnicode 101 0 R",
        "Identity",
        &[&stream("", map)],
    );
    assert_eq!(sample.text(), "a-a");
}

#[test]
fn ligatures_of_right_to_left_scripts_are_read_in_their_own_order() {
    let map = "begincmap 5 beginbfchar <41> <0645> <42> <06440627> <43> <0633> <44> <0644> \
               <45> <0627> endbfchar";
    assert_eq!(mapped("BT /F3 10 Tf 50 700 Td (ABCDE) Tj ET", map), "السلام");
    let map = "begincmap 2 beginbfchar <41> <0645> <42> <FEFC> endbfchar";
    assert_eq!(mapped("BT /F3 10 Tf 50 700 Td (ABA) Tj ET", map), "ملام");
}

#[test]
fn codes_of_fonts_without_a_map_are_glyphs_in_the_usual_order() {
    let content = "BT /F3 10 Tf 50 700 Td <00390032002f0028003700030070> Tj ET";
    let text = composite(content, "", "Identity", &[]).text();
    assert_eq!(text, "VOLET é");
    // Signs have no usual order.
    let mut sample = composite(content, "", "Identity", &[]);
    sample.objects[0] = sample.objects[0].replace("Arial", "Wingdings-Regular");
    assert_eq!(sample.text(), "");
}

#[test]
fn glyphs_of_a_collection_need_no_map() {
    let content = "BT /F3 10 Tf 50 700 Td <04650466> Tj ET";
    let empty = stream(
        "",
        "begincmap 1 begincodespacerange <00> <ff> endcodespacerange endcmap",
    );
    let sample = composite(content, "/ToUnicode 101 0 R", "Japan1", &[&empty]);
    assert_eq!(sample.text(), "亜唖");
}

#[test]
fn encodings_without_a_base_are_those_of_the_platform() {
    let font = "/Subtype/TrueType/BaseFont/Arial";
    let sample = with_font("BT /F3 10 Tf 50 700 Td (Gr\\374\\337e) Tj ET", font, &[]);
    assert_eq!(sample.text(), "Grüße");
}

#[test]
fn numbers_in_the_names_of_glyphs_are_characters() {
    for (names, text) in [
        ("/G4B/G61/G72/G6C", "Karl"),
        ("/C75/C97/C114/C108", "Karl"),
        ("/g002E/g0044/g0055/g004F", "Karl"),
        ("/qq/zz/x1/y2", ""),
    ] {
        let font = format!("/Subtype/Type1/BaseFont/Any/Encoding<</Differences[1{names}]>>");
        let sample = with_font("BT /F3 10 Tf 50 700 Td <01020304> Tj ET", &font, &[]);
        assert_eq!(sample.text(), text, "{names}");
    }
}

#[test]
fn the_size_of_bitmap_fonts_is_that_of_their_glyphs() {
    let font = "/Subtype/Type3/FontBBox[0 -8 34 40]/FontMatrix[1 0 0 1 0 0]/FirstChar 97/LastChar 100\
                /Widths[34 34 34 34]/CharProcs<<>>/Encoding<</Differences[97/a/b/c/d]>>";
    let content = "0.24 0 0 0.24 0 0 cm BT /F3 1 Tf 200 2000 Td [(a)] TJ 36 0 Td [(bc)] TJ \
                   90 0 Td (d) Tj ET";
    assert_eq!(with_font(content, font, &[]).text(), "abc d");
}

#[test]
fn glyphs_of_bitmap_fonts_that_are_numbered_by_use_have_no_text() {
    let text = |names: &str| {
        let font = format!(
            "/Subtype/Type3/FontBBox[0 0 1 1]/FontMatrix[1 0 0 1 0 0]/FirstChar 0/LastChar 70\
             /Widths[]/CharProcs<<>>/Encoding<</Differences[{names}]>>"
        );
        let content = "BT /F3 10 Tf 50 700 Td <0C41> Tj ET";
        with_font(content, &font, &[]).text()
    };
    // TeX's encoding.
    assert_eq!(text("12/a12 65/a65"), "fiA");
    assert_eq!(text("0/0/1/2/3/4/5/6/7/8/9/.notdef/11/12 65/65"), "");
}

#[test]
fn a_missing_font_is_read_as_latin() {
    let sample = Sample::pages(&["BT /F9 10 Tf 50 700 Td (no font) Tj ET"]);
    assert_eq!(sample.text(), "no font");
}

#[test]
fn a_form_finds_in_its_page_what_it_lacks() {
    let mut sample = Sample::pages(&["q 1 0 0 1 50 700 cm /X Do Q"]);
    sample.resources = "/XObject<</X 100 0 R>>".into();
    let of_form = "/Subtype/Form/BBox[0 0 9 9]/Resources<</ProcSet[/PDF]>>";
    sample.objects = vec![stream(of_form, "BT /F1 10 Tf (of the page) Tj ET")];
    assert_eq!(sample.text(), "of the page");
}

//! Tests of handmade PDF files and their expected text.

mod codes;
mod encryption;
mod forms;
mod lines;

use std::fmt::Write;

use hayro_syntax::Pdf;
use hayro_syntax::object::{Dict, Stream};
use ken_core::{Cause, Field, Kind, Reason, Setting};

use super::extract;
use super::stream::decode;
use crate::detect::Detected;
use crate::testing::{Extracted, run, run_limited, survives};
use crate::{Limits, Passwords};

const PDF: Detected = Detected {
    media_type: "application/pdf",
    kind: Kind::Document,
};

/// A PDF file: pages with Helvetica as `/F1` and Courier as `/F2`, and other objects.
#[derive(Default)]
pub(crate) struct Sample {
    pub(crate) pages: Vec<String>,
    /// Additional entries of the catalogue, the trailer, the pages and their resources.
    pub(crate) catalog: String,
    pub(crate) trailer: String,
    pub(crate) page: String,
    pub(crate) fonts: String,
    pub(crate) resources: String,
    /// Objects from number 100.
    pub(crate) objects: Vec<String>,
}

impl Sample {
    pub(crate) fn pages(contents: &[&str]) -> Self {
        Self {
            pages: contents
                .iter()
                .map(|content| (*content).to_owned())
                .collect(),
            ..Self::default()
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let fonts = ["Helvetica", "Courier"].map(|name| {
            format!("<</Type/Font/Subtype/Type1/BaseFont/{name}/Encoding/WinAnsiEncoding>>")
        });
        let kids: String = (0..self.pages.len())
            .map(|n| format!("{} 0 R ", 10 + 2 * n))
            .collect();
        let mut objects = vec![
            (1, format!("<</Type/Catalog/Pages 2 0 R{}>>", self.catalog)),
            (
                2,
                format!("<</Type/Pages/Kids[{kids}]/Count {}>>", self.pages.len()),
            ),
            (3, fonts[0].clone()),
            (4, fonts[1].clone()),
        ];
        for (n, content) in self.pages.iter().enumerate() {
            let (page, resources, more) = (10 + 2 * n, &self.resources, &self.page);
            objects.push((
                page,
                format!(
                    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {} 0 R\
                 /Resources<</Font<</F1 3 0 R/F2 4 0 R{}>>{resources}>>{more}>>",
                    page + 1,
                    self.fonts
                ),
            ));
            objects.push((page + 1, stream("", content)));
        }
        for (n, object) in self.objects.iter().enumerate() {
            objects.push((100 + n, object.clone()));
        }
        assemble(&objects, &self.trailer)
    }

    fn found(&self) -> Extracted {
        run(extract, PDF, "sample.pdf", &self.bytes())
    }

    fn text(&self) -> String {
        let found = self.found();
        assert_eq!(found.own().failure, None);
        found.own().body.clone()
    }
}

pub(crate) fn stream(dict: &str, content: &str) -> String {
    format!(
        "<</Length {}{dict}>>\nstream\n{content}\nendstream",
        content.len()
    )
}

fn assemble(objects: &[(usize, String)], trailer: &str) -> Vec<u8> {
    let mut file = String::from("%PDF-1.7\n");
    let mut table = String::from("xref\n0 1\n0000000000 65535 f \n");
    for (number, object) in objects {
        let _ = write!(table, "{number} 1\n{:010} 00000 n \n", file.len());
        let _ = write!(file, "{number} 0 obj\n{object}\nendobj\n");
    }
    let start = file.len();
    let _ = write!(
        file,
        "{table}trailer\n<</Size 1000/Root 1 0 R{trailer}>>\nstartxref\n{start}\n%%EOF\n"
    );
    file.into_bytes()
}

fn page_text(content: &str) -> String {
    Sample::pages(&[content]).text()
}

#[test]
fn pages_are_parted_by_form_feeds() {
    let sample = Sample::pages(&[
        "BT /F1 12 Tf 50 700 Td (First page) Tj ET",
        "",
        "BT /F1 12 Tf 50 700 Td (Third) Tj ET",
    ]);
    assert_eq!(sample.text(), "First page\u{C}\u{C}Third");
    assert_eq!(sample.found().own().number(Field::Pages), Some(3));
}

#[test]
fn gaps_are_spaces_and_kerning_is_not() {
    assert_eq!(
        page_text("BT /F1 10 Tf 50 700 Td [(T)80(eX)-278(moves)-333(the)-20( )(pen)] TJ ET"),
        "TeX moves the pen"
    );
    // One string for each word, placed separately.
    assert_eq!(
        page_text("BT /F1 10 Tf 1 0 0 1 50 700 Tm (one) Tj 1 0 0 1 70 700 Tm (two) Tj ET"),
        "one two"
    );
    // Spaced letters, by the text state and by moves. Ghostscript writes the output of groff this
    // way: the gap between two words as the spacing of their letters.
    assert_eq!(
        page_text(
            "BT -0.7 Tc /F1 10 Tf 50 700 Td -1.25 Tw (Te x) Tj 3.6 Tc 14.7 0 Td (tb) Tj \
             0 Tc 12.0 0 Td (efore) Tj ET"
        ),
        "Text before"
    );
    assert_eq!(
        page_text("BT /F1 10 Tf 2 Tc 50 700 Td (WIDE) Tj 6 Tw ( WORDS) Tj ET"),
        "WIDE WORDS"
    );
    assert_eq!(
        page_text(
            "BT /F1 10 Tf 50 700 Td [(S)-150(P)-150(A)-150(C)-150(E)-150(D)-600(O)-150(U)-150(T)] TJ ET"
        ),
        "SPACED OUT"
    );
    assert_eq!(
        page_text("BT /F1 10 Tf 5 0 0 5 50 700 Tm [(scaled)-300(text)] TJ ET"),
        "scaled text"
    );
}

#[test]
fn lines_exponents_and_hyphens() {
    let content = "BT /F1 10 Tf 12 TL 50 700 Td (A hyphen-) Tj (ated word, a self-) ' (Made one,) ' \
                   (E = mc) ' /F1 7 Tf 4 Ts (2) Tj 0 Ts /F1 10 Tf ( holds.) Tj ET";
    let text = "A hyphenated word, a self-\nMade one,\nE = mc2 holds.";
    assert_eq!(page_text(content), text);
}

#[test]
fn raised_numbers_of_notes_are_no_part_of_the_word() {
    let raised = |number| format!("/F1 7 Tf 4 Ts ({number}) Tj 0 Ts /F1 10 Tf");
    let (note, power) = (raised("12"), raised("2"));
    let content = format!(
        "BT /F1 10 Tf 50 700 Td (The giraffe) Tj {note} (, x) Tj {power} (, in 1995) Tj {power} \
         (, H) Tj /F1 7 Tf -3 Ts (2) Tj 0 Ts /F1 10 Tf (O.) Tj ET"
    );
    assert_eq!(page_text(&content), "The giraffe 12, x2, in 1995 2, H2O.");
}

#[test]
fn columns_and_margins_do_not_interrupt_each_other() {
    let left = "BT /F1 10 Tf 12 TL 50 700 Td (left one) Tj (left two) ' (left three) ' ET ";
    let right = "BT /F1 10 Tf 12 TL 300 700 Td (right one) Tj (right two) ' ET";
    let columns = format!("{left}{right}");
    assert_eq!(
        page_text(&columns),
        "left one\nleft two\nleft three\n\nright one\nright two"
    );
    let rows = "BT /F1 10 Tf 1 0 0 1 50 700 Tm (left one) Tj 1 0 0 1 300 700 Tm (right one) Tj \
                1 0 0 1 50 688 Tm (left two) Tj 1 0 0 1 300 688 Tm (right two) Tj ET";
    assert_eq!(
        page_text(rows),
        "left one\nleft two\n\nright one\nright two"
    );
}

#[test]
fn a_page_drawn_from_its_foot_is_read_from_its_head() {
    let mut content = String::from("BT /F1 10 Tf ");
    for (line, word) in ["six", "five", "four", "three", "two", "one"]
        .iter()
        .enumerate()
    {
        let _ = write!(content, "1 0 0 1 50 {} Tm ({word}) Tj ", 100 + 12 * line);
    }
    assert_eq!(
        page_text(&format!("{content} ET")),
        "one\ntwo\nthree\nfour\nfive\nsix"
    );
}

#[test]
fn rotated_text_and_rotated_pages() {
    let upwards =
        "BT /F1 10 Tf 0 1 -1 0 100 100 Tm [(going)-300(up)] TJ 0 -12 Td (next line) Tj ET";
    assert_eq!(page_text(upwards), "going up\nnext line");
    let mut sample = Sample::pages(&["BT /F1 10 Tf 0 1 -1 0 100 100 Tm (upright now) Tj ET"]);
    sample.page = "/Rotate 90".into();
    assert_eq!(sample.text(), "upright now");
}

#[test]
fn hidden_print_counts_and_print_off_the_page_does_not() {
    assert_eq!(
        page_text("BT /F1 10 Tf 3 Tr 50 700 Td (scanned) Tj ET"),
        "scanned"
    );
    assert_eq!(
        page_text("BT /F1 10 Tf 50 700 Td (on) Tj 0 900 Td (off) Tj ET"),
        "on"
    );
}

#[test]
fn overprinted_text_is_read_once() {
    let glyph = "BT /F1 10 Tf 50 700 Td (b) Tj 1 0 0 1 50.3 700 Tm (b) Tj (old) Tj ET";
    assert_eq!(page_text(glyph), "bold");
    let string = "BT /F1 10 Tf 50 700 Td (Shadow) Tj 1 0 0 1 50.5 699.5 Tm (Shadow) Tj ET";
    assert_eq!(page_text(string), "Shadow");
}

#[test]
fn accents_are_joined_and_ligatures_taken_apart() {
    let accent = "BT /F1 10 Tf 50 700 Td [(M\\250)333(uller)] TJ ET";
    assert_eq!(page_text(&accent.replace("333", "440")), "Müller");
    let mut sample = Sample::pages(&["BT /F3 10 Tf 50 700 Td (o\\001ce) Tj ET"]);
    sample.fonts = "/F3 100 0 R".into();
    sample.objects.push(
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding<</Differences[1/ffi]>>>>".into(),
    );
    assert_eq!(sample.text(), "office");
}

#[test]
fn a_font_with_widths_for_billions_of_codes_is_not_read() {
    let with = |widths: &str| {
        let content = "BT /F3 9 Tf 9 9 Td <00680069> Tj /F1 9 Tf 99 0 Td (after) Tj ET";
        let mut sample = with_unicode_font(content, "Identity-H");
        sample.objects[0] = sample.objects[0].replace("/DW 1000", widths);
        let found = run(extract, PDF, "a.pdf", &sample.bytes());
        found.own().body.trim().to_owned()
    };
    assert_eq!(with("/W[1 65535 500 7 [1 2 3]]"), "hi\n\nafter");
    assert_eq!(with("/W[0 2147483647 500]"), "after");
    assert_eq!(with("/W2[0 2147483647 5 5 5]"), "after");
    let often = format!("/W[{}]", "0 65535 500 ".repeat(200));
    assert_eq!(with(&often), "after");
}

#[test]
fn a_form_costs_what_its_dictionaries_cost() {
    let mut sample = Sample::pages(&["/X Do ".repeat(400).as_str()]);
    sample.resources = "/XObject<</X 100 0 R>>".into();
    let fonts: String = (0..60_000).map(|n| format!("/G{n} 3 0 R")).collect();
    sample.objects = vec![stream(
        &format!("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</Font<</F1 3 0 R{fonts}>>>>"),
        "BT /F1 9 Tf (x) Tj ET",
    )];
    let cause = run(extract, PDF, "a.pdf", &sample.bytes())
        .own()
        .failure
        .clone()
        .expect("too much");
    assert!(matches!(cause.cause, Cause::BuiltIn { .. }), "{cause:?}");
}

/// A composite font whose two-byte codes are UTF-16, to write what Helvetica cannot.
fn with_unicode_font(content: &str, encoding: &str) -> Sample {
    let mut sample = Sample::pages(&[content]);
    sample.fonts = "/F3 100 0 R".into();
    sample.objects = vec![
        format!(
            "<</Type/Font/Subtype/Type0/BaseFont/Any/Encoding/{encoding}\
             /DescendantFonts[<</Type/Font/Subtype/CIDFontType2/BaseFont/Any/DW 1000\
             /CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>>>]/ToUnicode 101 0 R>>"
        ),
        stream(
            "",
            "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange \
                <0000> <ffff> endcodespacerange 1 beginbfrange <0000> <ffff> <0000> endbfrange \
                endcmap",
        ),
    ];
    sample
}

fn hex(text: &str) -> String {
    text.encode_utf16().fold(String::new(), |mut hex, unit| {
        let _ = write!(hex, "{unit:04x}");
        hex
    })
}

#[test]
fn chinese_has_no_spaces_and_may_run_down() {
    let (first, second) = (hex("漢字"), hex("仮名"));
    let across = format!(
        "BT /F3 10 Tf 12 TL 50 700 Td [<{first}>-300<{second}>] TJ (x) Tj T* <{second}> Tj ET"
    );
    assert_eq!(
        with_unicode_font(&across, "Identity-H").text(),
        "漢字仮名仮名"
    );
    let down = format!("BT /F3 10 Tf 300 700 Td <{first}> Tj -15 0 Td <{second}> Tj ET");
    assert_eq!(with_unicode_font(&down, "Identity-V").text(), "漢字仮名");
}

#[test]
fn hebrew_reads_from_the_right() {
    // Drawn from left to right, in visual order.
    let seen = format!(
        "BT /F3 10 Tf 50 700 Td [<{}>-400<{}>] TJ ET",
        hex("םלוע"),
        hex("םולש")
    );
    assert_eq!(with_unicode_font(&seen, "Identity-H").text(), "שלום עולם");
}

#[test]
fn actual_text_stands_for_its_glyphs() {
    let content =
        "BT /F1 10 Tf 50 700 Td (a ) Tj /Span<</ActualText(fish)>> BDC (ghoti) Tj EMC ( b) Tj ET";
    assert_eq!(page_text(content), "a fish b");
}

#[test]
fn forms_are_read_in_place_and_recursion_ends() {
    let mut sample = Sample::pages(&["q 1 0 0 1 50 700 cm /X Do Q"]);
    sample.resources = "/XObject<</X 100 0 R>>".into();
    sample.objects.push(stream(
        "/Subtype/Form/BBox[0 0 9 9]/Resources<</Font<</F1 3 0 R>>/XObject<</X 100 0 R>>>>",
        "BT /F1 10 Tf (inside) Tj ET 1 0 0 1 0 -15 cm /X Do",
    ));
    assert_eq!(sample.text(), "inside");
}

#[test]
fn hidden_layers_are_left_out() {
    let mut sample =
        Sample::pages(&["BT /F1 10 Tf 50 700 Td /OC/L BDC (draft) Tj EMC (final) Tj ET"]);
    sample.catalog = "/OCProperties<</OCGs[100 0 R]/D<</OFF[100 0 R]>>>>".into();
    sample.resources = "/Properties<</L 100 0 R>>".into();
    sample.objects.push("<</Type/OCG/Name(draft)>>".into());
    assert_eq!(sample.text(), "final");
}

#[test]
fn fields_and_notes_follow_the_page() {
    let mut sample = Sample::pages(&["BT /F1 10 Tf 50 700 Td (Name:) Tj ET"]);
    sample.page = "/Annots[100 0 R 102 0 R 103 0 R]".into();
    sample.objects = vec![
        "<</Subtype/Widget/Rect[85 697 200 712]/AP<</N 101 0 R>>>>".into(),
        stream(
            "/Subtype/Form/BBox[0 0 115 15]/Resources<</Font<</F1 3 0 R>>>>",
            "BT /F1 10 Tf 0 3 Td (Knuth) Tj ET",
        ),
        "<</Subtype/Text/Rect[0 0 9 9]/Contents(please check)>>".into(),
        "<</Subtype/Text/F 2/Rect[0 0 9 9]/Contents(hidden)>>".into(),
    ];
    assert_eq!(sample.text(), "Name: Knuth\nplease check");
}

#[test]
fn metadata_of_the_information_dictionary_comes_before_xmp() {
    let mut sample = Sample::pages(&[""]);
    sample.trailer = "/Info 100 0 R".into();
    sample.catalog = "/Lang(de-AT)/Metadata 101 0 R".into();
    sample.objects = vec![
        "<</Title<FEFF00DC0062006500720020004B0065006E>/Subject(  )\
         /CreationDate(D:20240229120000+01'00')/ModDate(D:2024)>>"
            .into(),
        stream(
            "/Type/Metadata/Subtype/XML",
            "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF><rdf:Description pdf:Keywords='a &amp; b' \
             xmp:CreateDate='2001-01-01'><dc:title><rdf:Alt><rdf:li>Other</rdf:li></rdf:Alt></dc:title>\
             <dc:creator><rdf:Seq><rdf:li>A. One</rdf:li><rdf:li>B. &#x54;wo</rdf:li></rdf:Seq></dc:creator>\
             <dc:description><rdf:Alt><rdf:li>short</rdf:li><rdf:li>kurz</rdf:li></rdf:Alt></dc:description>\
             </rdf:Description></rdf:RDF></x:xmpmeta>",
        ),
    ];
    let found = sample.found();
    let document = found.own();
    assert_eq!(document.text(Field::Title), Some("Über Ken"));
    assert_eq!(document.text(Field::Description), Some("short"));
    assert_eq!(document.text(Field::Keywords), Some("a & b"));
    assert_eq!(document.text(Field::Lang), Some("de-AT"));
    assert_eq!(document.number(Field::Created), Some(1_709_204_400));
    assert_eq!(document.number(Field::Date), Some(1_704_067_200));
    let authors = document
        .fields
        .iter()
        .filter(|(field, _)| *field == Field::Author);
    assert_eq!(authors.count(), 2);
}

#[test]
fn attachments_are_members() {
    let mut sample = Sample::pages(&[""]);
    sample.catalog =
        "/Names<</EmbeddedFiles<</Names[(a) 100 0 R (b) 100 0 R (c) 102 0 R]>>>>".into();
    sample.objects = vec![
        "<</Type/Filespec/F(dir/data.csv)/EF<</F 101 0 R>>>>".into(),
        stream("/Subtype/text#2Fcsv", "1,2,3"),
        "<</Type/Filespec/F(x.csv)/UF(data.csv)/EF<</F 103 0 R>>>>".into(),
        stream("", "4"),
    ];
    let found = sample.found();
    let members: Vec<_> = found
        .members
        .iter()
        .map(|m| (m.ipath.as_str(), &m.name[..], &m.bytes[..]))
        .collect();
    assert_eq!(
        members,
        [
            ("data.csv", "data.csv", &b"1,2,3"[..]),
            ("data.csv (2)", "data.csv", b"4")
        ]
    );
    assert_eq!(found.members[0].declared_type.as_deref(), Some("text/csv"));
}

#[test]
fn text_beyond_the_limit_is_not_read() {
    let sample = Sample::pages(&["BT /F1 10 Tf 50 700 Td (enough) Tj ET"; 3]);
    let limits = Limits {
        max_text_bytes: 8,
        ..Limits::default()
    };
    let found = run_limited(extract, PDF, "sample.pdf", &sample.bytes(), &limits);
    assert_eq!(found.own().body, "enough\u{C}e");
    let reason = found.own().failure.as_ref().map(|failure| failure.reason());
    assert_eq!(reason, Some(Reason::Limit));
}

#[test]
fn streams_are_cut_whatever_their_encoding() {
    let pdf = Pdf::new(Sample::pages(&["BT (long enough) Tj ET"]).bytes()).unwrap();
    let hex = Sample {
        objects: vec![stream("/Filter/ASCIIHexDecode", "41424344454647>")],
        catalog: "/Metadata 100 0 R".into(),
        ..Sample::pages(&[""])
    };
    let hex = Pdf::new(hex.bytes()).unwrap();
    let catalog: Dict<'_> = hex.xref().get(hex.xref().root_id()).unwrap();
    let plain: Stream<'_> = pdf.pages()[0].raw().get(b"Contents").unwrap();
    let encoded: Stream<'_> = catalog.get(b"Metadata").unwrap();
    assert_eq!(&*decode(&plain, 4).unwrap(), b"BT (");
    assert_eq!(&*decode(&encoded, 4).unwrap(), b"ABCD");
}

#[test]
fn a_damaged_table_of_objects_is_rebuilt() {
    let mut bytes = Sample::pages(&["BT /F1 10 Tf 50 700 Td (still here) Tj ET"]).bytes();
    bytes.truncate(bytes.len() - 150);
    assert_eq!(
        run(extract, PDF, "cut.pdf", &bytes).own().body,
        "still here"
    );
}

#[test]
fn encrypted_files_open_without_password_or_say_so() {
    let open = include_bytes!("../../../../tests/data/pdf/encrypted-empty-password.pdf");
    assert_eq!(
        run(extract, PDF, "open.pdf", open).own().body.trim(),
        "Open secret"
    );
    let locked = include_bytes!("../../../../tests/data/pdf/encrypted-password.pdf");
    let found = run(extract, PDF, "locked.pdf", locked);
    let failure = found.own().failure.as_ref().expect("no password");
    assert_eq!(failure.cause, Cause::Password { tried: false });
    let limits = Limits {
        passwords: Passwords::new(["wrong", "user"].map(str::to_owned)),
        ..Limits::default()
    };
    let found = run_limited(extract, PDF, "locked.pdf", locked, &limits);
    assert!(found.own().failure.is_none(), "{:?}", found.own());
    assert_eq!(found.own().body.trim(), "Open secret");
}

#[test]
fn hostile_files_do_no_harm() {
    let mut sample = Sample::pages(&[
        "BT /F1 10 Tf 50 700 Td (hello) Tj T* [(a)-300(b)] TJ ET /X Do",
        "BT /F2 10 Tf 50 700 Td (there) Tj ET",
    ]);
    sample.catalog = "/Names<</EmbeddedFiles<</Names[(a) 101 0 R]>>>>".into();
    sample.trailer = "/Info<</Title(t)/CreationDate(D:20240101)>>".into();
    sample.resources = "/XObject<</X 100 0 R>>".into();
    sample.objects = vec![
        stream("/Subtype/Form/BBox[0 0 9 9]", "BT /F1 10 Tf (in) Tj ET"),
        "<</F(a.txt)/EF<</F 102 0 R>>>>".into(),
        stream("", "attached"),
    ];
    survives(extract, PDF, "sample.pdf", &sample.bytes());
    survives(
        extract,
        PDF,
        "encrypted.pdf",
        include_bytes!("../../../../tests/data/pdf/encrypted-empty-password.pdf"),
    );
}

#[test]
fn pages_beyond_the_limit_are_left_out() {
    let sample = Sample::pages(&[
        "BT /F1 12 Tf (one) Tj ET",
        "BT /F1 12 Tf (two) Tj ET",
        "BT /F1 12 Tf (three) Tj ET",
    ]);
    let limits = Limits {
        max_pages: 2,
        ..Limits::default()
    };
    let found = run_limited(extract, PDF, "sample.pdf", &sample.bytes(), &limits);
    assert_eq!(found.own().body, "one\u{C}two");
    let failure = found.own().failure.as_ref().unwrap();
    assert_eq!(failure.cause, Cause::limit(limits.limit(Setting::MaxPages)));
    assert_eq!(found.own().number(Field::Pages), Some(3));
}

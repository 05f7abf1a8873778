//! Tests of forms, notes, links, bookmarks and associated files.

use super::*;

/// A page that says *Name:* with annotations.
fn with_annotations(annotations: &str) -> Sample {
    let mut sample = Sample::pages(&["BT /F1 10 Tf 50 700 Td (Name: Knuth, www.tug.org) Tj ET"]);
    sample.page = format!("/Annots[{annotations}]");
    sample
}

fn texts(annotations: &str) -> String {
    with_annotations(annotations).text()
}

#[test]
fn values_of_fields_that_are_not_drawn_are_read() {
    let drawn = "Name: Knuth, www.tug.org";
    let field = |entries: &str| texts(&format!("<</Subtype/Widget/Rect[0 0 9 9]{entries}>>"));
    let with = |value: &str| format!("{drawn}\n{value}");
    assert_eq!(field("/FT/Tx/V(Donald)"), with("Donald"));
    assert_eq!(field("/FT/Tx/V(Knuth,)"), drawn);
    assert_eq!(
        field("/Parent<</FT/Tx/Parent<</V(Donald)>>>>"),
        with("Donald")
    );
    let options = "/Opt[[(de)(German)][(fr)(French)](Dutch)]";
    assert_eq!(field(&format!("/FT/Ch/V(de){options}")), with("German"));
    assert_eq!(
        field(&format!("/FT/Ch/V[(fr)(Dutch)]{options}")),
        with("French\nDutch")
    );
    assert_eq!(field("/FT/Tx/Ff 8192/V(secret)"), drawn);
    assert_eq!(field("/FT/Btn/V/Yes"), drawn);
    assert_eq!(field("/F 2/FT/Tx/V(hidden)"), drawn);
}

#[test]
fn what_the_page_says_is_not_said_again() {
    let notes = "<</Subtype/Highlight/Contents(Knuth,\\nwww.TUG.org)>>\
                 <</Subtype/Highlight/Contents(knuth www)>>\
                 <</Subtype/Text/Contents(please check)>><</Subtype/Text/Contents(please check)>>";
    let found = texts(notes).replace("\nKnuth,\nwww.TUG.org", "");
    assert_eq!(found, "Name: Knuth, www.tug.org\nknuth www\nplease check");
    assert_eq!(
        texts("<</Subtype/Text/Contents(KNUTH)>><</Subtype/Text/Contents(Knuth)>>"),
        "Name: Knuth, www.tug.org\nKNUTH"
    );
}

#[test]
fn remarks_have_their_authors_and_may_be_rich() {
    let drawn = "Name: Knuth, www.tug.org";
    let rich = "/RC(<body xmlns='http://www.w3.org/1999/xhtml'><p>rich <b>re</b>mark</p></body>)";
    for (annotation, note) in [
        (
            "/T(Ida Moe)/Contents(please check)",
            "\nIda Moe: please check",
        ),
        (&*format!("/T(Ida Moe){rich}"), "\nIda Moe: rich remark"),
        (&*format!("/Contents(plain){rich}"), "\nplain"),
        // The page says it already.
        ("/T(Ida Moe)/Contents(Knuth)", ""),
        ("/T(Ida Moe)", ""),
    ] {
        assert_eq!(
            texts(&format!("<</Subtype/Text{annotation}>>")),
            format!("{drawn}{note}")
        );
    }
}

#[test]
fn the_same_remark_of_two_people_stands_twice() {
    let remark =
        |author: &str, text: &str| format!("<</Subtype/Text/T({author})/Contents({text})>>");
    let remarks = [("Ida", "nut"), ("Bo", "nut"), ("Bo", "nut"), ("Ida", "tug")]
        .map(|(author, text)| remark(author, text));
    assert_eq!(
        texts(&remarks.concat()),
        "Name: Knuth, www.tug.org\nIda: nut\nBo: nut"
    );
    // The page shows it already, as whole words.
    assert_eq!(
        texts(&remark("Ida", "name, Knuth")),
        "Name: Knuth, www.tug.org\nIda: name, Knuth"
    );
    assert_eq!(
        texts(&remark("Ida", "Name Knuth")),
        "Name: Knuth, www.tug.org"
    );
}

#[test]
fn addresses_behind_links_are_read() {
    let link = |address: &str| texts(&format!("<</Subtype/Link/A<</S/URI/URI({address})>>>>"));
    let drawn = "Name: Knuth, www.tug.org";
    assert_eq!(
        link("https://ctan.org/knuth"),
        format!("{drawn}\nhttps://ctan.org/knuth")
    );
    assert_eq!(
        link("mailto:info@ctan.org"),
        format!("{drawn}\ninfo@ctan.org")
    );
    assert_eq!(link("https://www.tug.org/"), drawn);
    assert_eq!(texts("<</Subtype/Link/Dest/here>>"), drawn);
    let mut sample = Sample::pages(&["BT /F1 10 Tf 50 700 Td (page) Tj ET"; 2]);
    sample.page = "/Annots[<</Subtype/Link/A<</URI(ctan.org)>>>>]".into();
    assert_eq!(sample.text(), "page\nctan.org\u{C}page");
}

#[test]
fn bookmarks_are_headings() {
    let mut sample = Sample::pages(&[""]);
    sample.catalog = "/Outlines 100 0 R".into();
    sample.objects = vec![
        "<</Type/Outlines/First 101 0 R>>".into(),
        "<</Title(First  chapter)/First 102 0 R/Next 103 0 R>>".into(),
        "<</Title(Its part)/Next 101 0 R/Parent 101 0 R>>".into(),
        "<</Title<FEFF004C00FC>>>".into(),
    ];
    let found = sample.found();
    let fields = &found.own().fields;
    let headings = fields.iter().filter(|(field, _)| *field == Field::Headings);
    let headings: Vec<_> = headings.map(|(_, value)| format!("{value:?}")).collect();
    assert_eq!(headings.len(), 3, "{headings:?}");
    for (heading, title) in headings.iter().zip(["First chapter", "Its part", "Lü"]) {
        assert!(heading.contains(title), "{heading}");
    }
}

#[test]
fn forms_in_xml_add_what_the_pages_lack() {
    let template = "<template><subform><draw><value><text>Please  sign</text></value></draw>\
                    <draw><value><text>Name:</text></value></draw>\
                    <field><caption><value><exData><body><p>Date <b>of birth</b></p></body></exData>\
                    </value></caption><event><script>run()</script></event>\
                    <items><text>choice</text></items></field></subform></template>";
    let data = "<xfa:datasets><xfa:data><form><place>Stanford</place><empty/><n>Knuth</n></form>\
                </xfa:data></xfa:datasets>";
    let text = "Name: Knuth, www.tug.org\nPlease sign\nDate of birth\nStanford";
    let mut sample = with_annotations("");
    sample.catalog = "/AcroForm<</XFA 100 0 R>>".into();
    let whole = format!("<xdp:xdp xmlns:xdp='x'>{template}{data}</xdp:xdp>");
    sample.objects = vec![stream("", &whole)];
    assert_eq!(sample.text(), text);
    sample.catalog =
        "/AcroForm<</XFA[(a)100 0 R(template)101 0 R(datasets)102 0 R(b)103 0 R]>>".into();
    let parts = ["<xdp:xdp xmlns:xdp='x'>", template, data, "</xdp:xdp>"];
    sample.objects = parts.iter().map(|part| stream("", part)).collect();
    assert_eq!(sample.text(), text);
    sample.objects[2] = stream("", "<datasets><data><a>Stan");
    assert_eq!(sample.text(), text.strip_suffix("ford").unwrap());
}

#[test]
fn associated_files_are_members() {
    let mut sample = Sample::pages(&[""]);
    sample.catalog = "/AF[100 0 R]".into();
    sample.page = "/AF[100 0 R 102 0 R]".into();
    sample.objects = vec![
        "<</Type/Filespec/F(factur-x.xml)/EF<</F 101 0 R>>>>".into(),
        stream("", "<a/>"),
        "<</Type/Filespec/F(b.txt)/EF<</F 103 0 R>>>>".into(),
        stream("", "b"),
    ];
    let found = sample.found();
    let names: Vec<_> = found
        .members
        .iter()
        .map(|member| &member.name[..])
        .collect();
    assert_eq!(names, ["factur-x.xml", "b.txt"]);
}

#[test]
fn actual_text_may_be_a_soft_hyphen() {
    let content = "BT /F1 10 Tf 12 TL 50 700 Td (Poli) Tj /Span<</ActualText<FEFF00AD>>> BDC (-) Tj EMC \
                   (tik) ' /Span<</ActualText<FEFF00AD>>> BDC (-) Tj EMC (er) Tj ET";
    assert_eq!(page_text(content), "Politiker");
}

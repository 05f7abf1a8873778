//! Tests of each dialect's output.

use std::io::Write;

use ken_core::{Field, Kind, Reason, Value};

use crate::detect::{Detected, detect};
use crate::formats::by_media_type;
use crate::structure::package::tests::zip_of;
use crate::testing::{Extracted, run, run_limited, survives};
use crate::{Input, Limits};

fn detected(name: &str, bytes: &[u8]) -> Detected {
    detect(&Input::bytes_of(name, bytes)).unwrap()
}

/// Extracts bytes with the format that is detected.
fn read(name: &str, bytes: &[u8]) -> Extracted {
    let detected = detected(name, bytes);
    let format = by_media_type(detected.media_type).expect(detected.media_type);
    run(format.extract, detected, name, bytes)
}

fn data(name: &str) -> Vec<u8> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/text/");
    fs_err::read(format!("{folder}{name}")).unwrap()
}

fn texts(found: &Extracted, field: Field) -> Vec<&str> {
    let own = found.own();
    let of = own.fields.iter().filter(|(known, _)| *known == field);
    of.filter_map(|(_, value)| match value {
        Value::Text(text) => Some(text.as_str()),
        Value::Number(_) => None,
    })
    .collect()
}

const LEAP_DAY: i64 = 1_709_164_800;

#[test]
fn other_xml_gives_text_and_words_of_attributes() {
    let found = read(
        "parts.xml",
        "<?xml version='1.0' encoding='ISO-8859-1'?><list xmlns:x='http://example.org/words' \
         xml:lang='de'><part id='17' name='Gro\u{df}er Anker' colour='#facade'><x>a</x><y>b</y>\
         </part><p>Ein <b>r</b>oter <i>Faden</i></p><!-- no --><e/><q>caf&#233;&eacute;</q></list>"
            .chars()
            .map(|c| c as u8)
            .collect::<Vec<_>>()
            .as_slice(),
    );
    let own = found.own();
    assert_eq!(own.body, "Großer Anker\na\nb\nEin roter Faden\ncaféé");
    assert_eq!(own.text(Field::Lang), Some("de"));
    assert_eq!(own.failure, None);
}

#[test]
fn what_xml_says_about_itself_is_no_text() {
    let found = read(
        "core.xml",
        b"<core xmlns:xsi='x'><made xsi:type='dcterms:W3CDTF' style='position:absolute' title='Blue'>today</made></core>",
    );
    assert_eq!(found.own().body, "Blue\ntoday");
    for root in ["Types", "Relationships"] {
        let part = format!(
            "<{root} xmlns='http://schemas.openxmlformats.org/package/2006/x'><a Target='word/document.xml'/></{root}>"
        );
        assert_eq!(read("parts.xml", part.as_bytes()).own().body, "");
    }
}

#[test]
fn xml_that_ends_early_keeps_its_text_and_says_so() {
    for end in ["", "</p>", "<b", "<title>"] {
        let bytes = format!("<?xml version='1.0'?><list><p>A knotwren here{end}");
        let found = read("cut.xml", bytes.as_bytes());
        let failure = found.own().failure.as_ref();
        assert_eq!(
            failure.map(|f| f.reason()),
            Some(Reason::Malformed),
            "{end}"
        );
        assert!(found.own().body.starts_with("A knotwren here"), "{end}");
    }
    let careless = read("x.xml", b"<?xml version='1.0'?><list><p>a<br>b</list>\n");
    assert_eq!(careless.own().failure, None);
}

#[test]
fn a_title_of_the_whole_is_one() {
    let found = read(
        "a.xml",
        b"<?xml version='1.0'?><doc><head><title>T</title></head>x</doc>",
    );
    assert_eq!(found.own().text(Field::Title), Some("T"));
    assert_eq!(found.own().body, "T\nx");
    let list = b"<?xml version='1.0'?><l><book><title>T</title></book></l>";
    assert_eq!(read("a.xml", list).own().text(Field::Title), None);
}

#[test]
fn declared_entities_expand_to_nothing() {
    let mut bomb = String::from("<?xml version='1.0'?><!DOCTYPE l [<!ENTITY a0 'ha'>");
    for level in 1..30 {
        let inner = format!("&a{};", level - 1).repeat(10);
        bomb.push_str(&format!("<!ENTITY a{level} '{inner}'>"));
    }
    bomb.push_str("<!ENTITY f SYSTEM 'file:///etc/passwd'>]><l>before &a29; &f; after</l>");
    let found = read("bomb.xml", bomb.as_bytes());
    assert_eq!(found.own().body, "before after");
    assert_eq!(found.own().failure, None);
}

#[test]
fn damaged_xml_keeps_its_text() {
    let found = read(
        "a.xml",
        b"<?xml version='1.0'?><a><b>one</b><![CDATA[two three",
    );
    assert_eq!(found.own().body, "one\n<![CDATA[two three");
    let failure = found.own().failure.as_ref().unwrap();
    assert_eq!(failure.reason(), Reason::Malformed);
}

#[test]
fn large_xml_is_read_from_its_start() {
    let limits = Limits {
        max_file_bytes: 60,
        max_text_bytes: 50,
        ..Limits::default()
    };
    let text = format!("<?xml version='1.0'?><a>{}</a>", "word ".repeat(100));
    let detected = detected("a.xml", text.as_bytes());
    let found = run_limited(
        super::general::FORMAT.extract,
        detected,
        "a.xml",
        text.as_bytes(),
        &limits,
    );
    assert!(
        found.own().body.starts_with("word word"),
        "{}",
        found.own().body
    );
    assert_eq!(
        found.own().failure.as_ref().unwrap().reason(),
        Reason::Limit
    );
}

#[test]
fn svg_gives_text_titles_and_metadata() {
    let found = read("harbour.svg", &data("harbour.svg"));
    let own = found.own();
    assert_eq!(own.kind, Kind::Image);
    assert_eq!(own.body, "Quay names\nHammerquay\nnorth side\nBreakwater");
    assert_eq!(own.text(Field::Title), Some("Harbour map"));
    assert_eq!(
        own.text(Field::Description),
        Some("Berths of the old harbour")
    );
    assert_eq!(texts(&found, Field::Author), ["Mette Holm"]);
    assert_eq!(texts(&found, Field::Keywords), ["berths", "moorings"]);
    assert_eq!(own.text(Field::Lang), Some("da"));
    assert_eq!(own.number(Field::Date), Some(1_683_158_400));
    // 210 mm is not a number of pixels.
    assert_eq!(own.number(Field::Width), None);
    let sized = read(
        "a.svg",
        b"<svg width='31.6' height='20px'><text>x</text></svg>",
    );
    assert_eq!(sized.own().number(Field::Width), Some(32));
    assert_eq!(sized.own().number(Field::Height), Some(20));
}

#[test]
fn books_give_chapters_and_no_pictures() {
    let book = data("survey.fb2");
    assert!(String::from_utf8_lossy(&book).contains("<binary"));
    let found = read("survey.fb2", &book);
    let own = found.own();
    assert_eq!(own.media_type, "application/x-fictionbook+xml");
    assert_eq!(own.text(Field::Title), Some("Fjord survey"));
    assert_eq!(texts(&found, Field::Author), ["Ylva Strand"]);
    assert_eq!(own.text(Field::Lang), Some("en"));
    assert_eq!(own.number(Field::Date), Some(LEAP_DAY));
    let chapters: Vec<_> = own.body.split('\u{c}').collect();
    assert!(
        chapters[0].contains("lumpsucker clings to kelp & stone"),
        "{chapters:?}"
    );
    assert!(chapters[1].starts_with("Open water\n"), "{chapters:?}");
    assert!(chapters[2].contains("called a sucker"), "{chapters:?}");
    assert!(!own.body.contains("iVBOR"));
    assert!(found.members.is_empty());
}

#[test]
fn a_zipped_book_is_in_an_archive() {
    let zip = zip_of(&[("survey.fb2", &data("survey.fb2"))]);
    let mut found = Vec::new();
    let mut input = Input::bytes_of("survey.fb2.zip", &zip);
    crate::extract_all(&mut input, &Limits::default(), &mut |document| {
        found.push(document);
    });
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].ipath.as_str(), "survey.fb2");
    assert_eq!(found[0].text(Field::Title), Some("Fjord survey"));
    assert_eq!(found[1].media_type, "application/zip");
}

#[test]
fn feeds_lose_their_markup() {
    let found = read("news.xml", &data("feed.rss"));
    let own = found.own();
    assert_eq!(own.media_type, "application/rss+xml");
    assert_eq!(
        own.body,
        "Notes from the quay\nWeather & fish\nA shoal of sprat\nYlva Strand\nfish\n\
         Thousands of sprat & herring\nThey came at dawn.\nGone by noon.\nFog\nNo boats today"
    );
    assert_eq!(own.text(Field::Title), Some("Notes from the quay"));
    assert_eq!(own.text(Field::Lang), Some("en-gb"));
    assert_eq!(own.number(Field::Date), Some(1_709_206_215));

    let found = read("", &data("feed.atom"));
    let own = found.own();
    assert_eq!(own.media_type, "application/atom+xml");
    assert_eq!(
        own.body,
        "Loggbok\nFra brygga\nStille vær\nvær\nHavblikk hele dagen\nIngen vind"
    );
    assert_eq!(texts(&found, Field::Author), ["Siri Vik"]);
    assert_eq!(own.text(Field::Lang), Some("nb"));
    assert_eq!(own.number(Field::Date), Some(1_709_231_402));
}

#[test]
fn outlines_are_in_attributes() {
    let found = read("survey.opml", &data("survey.opml"));
    let own = found.own();
    assert!(
        own.body.starts_with("Kelp forests\nThe **lumpsucker**"),
        "{}",
        own.body
    );
    assert_eq!(own.text(Field::Title), Some("Fjord survey"));
    assert_eq!(own.text(Field::Author), Some("Ylva Strand"));
}

#[test]
fn docbook_is_recognised_by_namespace_or_doctype() {
    let found = read("survey.xml", &data("survey.dbk"));
    let own = found.own();
    assert_eq!(own.media_type, "application/docbook+xml");
    assert_eq!(own.text(Field::Title), Some("Fjord survey"));
    assert_eq!(texts(&found, Field::Author), ["Ylva Strand"]);
    assert_eq!(own.number(Field::Date), Some(LEAP_DAY));
    assert!(
        own.body.contains("The lumpsucker clings to kelp & stone"),
        "{}",
        own.body
    );
    assert!(own.body.contains("3 m\twolffish\n"), "{}", own.body);

    let page = b"<?xml version='1.0'?><!DOCTYPE refentry PUBLIC '-//OASIS//DTD DocBook XML V4.5//EN' \
        'http://www.oasis-open.org/docbook/xml/4.5/docbookx.dtd'><refentry><refmeta><refentrytitle>\
        kelp</refentrytitle><manvolnum>1</manvolnum></refmeta><refnamediv><refname>kelp</refname>\
        <refpurpose>grow</refpurpose></refnamediv><refsect1><title>Use</title><para>Run <command>kelp\
        </command>.</para></refsect1></refentry>";
    let found = read("kelp.1.docbook", page);
    assert_eq!(found.own().text(Field::Title), Some("kelp"));
    assert_eq!(found.own().text(Field::Description), Some("grow"));
    assert!(
        found.own().body.contains("Use\nRun kelp."),
        "{}",
        found.own().body
    );
}

#[test]
fn tei_gives_fields_and_lines() {
    let found = read("survey-tei.xml", &data("survey-tei.xml"));
    let own = found.own();
    assert_eq!(own.media_type, "application/tei+xml");
    assert_eq!(own.text(Field::Title), Some("Fjord survey"));
    assert_eq!(texts(&found, Field::Author), ["Ylva Strand"]);
    assert_eq!(
        texts(&found, Field::Headings),
        ["Kelp forests", "Open water"]
    );
    for text in [
        "The lumpsucker clings to kelp & stone",
        "3 m\twolffish\n",
        "A sprat_shoal() swims",
    ] {
        assert!(own.body.contains(text), "{text}: {}", own.body);
    }
    for word in ["simple", "level1", "unordered", "label"] {
        assert!(!own.body.contains(word), "{word}: {}", own.body);
    }
    let verse = b"<?xml version='1.0'?><TEI><text><body><l>O wan<lb break='no'/>derer<lb/>of <persName ref='#p'>Tro\
        <hi>y</hi></persName></l><p>Do <ref target='https://example.org/t'>see</ref>.</p></body></text></TEI>";
    assert_eq!(
        read("a.xml", verse).own().body,
        "O wanderer\nof Troy\nDo see.\nhttps://example.org/t"
    );
}

#[test]
fn articles_of_journals_have_fields() {
    let article = b"<?xml version='1.0'?><!DOCTYPE article PUBLIC '-//NLM//DTD JATS (Z39.96) Journal Archiving DTD v1.2//EN' \
        'a.dtd'><article article-type='research-article' xmlns:xlink='x'><front><journal-meta><journal-id>jid\
        </journal-id><journal-title>Fjord Letters</journal-title></journal-meta><article-meta><article-id>10.1/x\
        </article-id><title-group><article-title>The heron of <italic>Oslo</italic></article-title></title-group>\
        <contrib-group><contrib contrib-type='author'><name><surname>Lund</surname><given-names>Ada</given-names>\
        </name><xref ref-type='aff'>1</xref></contrib></contrib-group><aff>Institute of Birds</aff><pub-date \
        iso-8601-date='2024-02-29'><day>29</day></pub-date><abstract><p>Herons eat.</p></abstract><kwd-group><title>\
        Keywords</title><kwd>bird</kwd></kwd-group></article-meta></front><body><sec id='s1'><title>Method</title><p>Some \
        <bold>her</bold>ons in H<sub>2</sub>O <xref ref-type='bibr' rid='b1'>[1]</xref>.</p><table><tr><th>a</th><th>b</th>\
        </tr><tr><td>1</td><td>2</td></tr></table></sec></body></article>";
    let found = read("a.nxml", article);
    let own = found.own();
    assert_eq!(own.media_type, "application/jats+xml");
    assert_eq!(own.text(Field::Title), Some("The heron of Oslo"));
    assert_eq!(texts(&found, Field::Author), ["Lund Ada"]);
    assert_eq!(own.text(Field::Description), Some("Herons eat."));
    assert_eq!(own.text(Field::Keywords), Some("bird"));
    assert_eq!(own.number(Field::Date), Some(LEAP_DAY));
    assert_eq!(
        own.body,
        "Fjord Letters\nThe heron of Oslo\nInstitute of Birds\nMethod\nSome herons in H2O [1].\na\tb\n1\t2"
    );
}

#[test]
fn stories_of_indesign_are_their_content() {
    let story = b"<?xml version='1.0'?><?aid style='50'?><Document DOMVersion='8.0' Self='d'><RootParagraphStyleGroup>\
        <ParagraphStyle Name='Header1'><Properties><Leading type='unit'>10</Leading></Properties></ParagraphStyle>\
        </RootParagraphStyleGroup><Story Self='s' StoryTitle='Of birds'> <ParagraphStyleRange \
        AppliedParagraphStyle='ParagraphStyle/Header1'>\n <CharacterStyleRange> <Content>Her</Content>\n </CharacterStyleRange>\
        <CharacterStyleRange><Content>on of </Content>\n <Content>Oslo</Content><Br/></CharacterStyleRange>\
        </ParagraphStyleRange><Table> <Cell Name='0:0'> <Content>a</Content> </Cell> <Cell Name='2:0'><Content>c</Content>\
        </Cell><Cell Name='0:1'><Content>d</Content></Cell></Table></Story></Document>";
    let found = read("a.icml", story);
    let own = found.own();
    assert_eq!(own.media_type, "application/x-indesign-story+xml");
    assert_eq!(own.text(Field::Title), Some("Of birds"));
    assert_eq!(own.body, "Heron of Oslo\na\t\tc\nd");
}

#[test]
fn books_of_docbook_have_chapters() {
    let book = b"<book xmlns='http://docbook.org/ns/docbook'><info><title>Knots</title><abstract><para>\
        All knots</para></abstract></info><preface><para>Hello</para></preface><chapter><info><title>\
        Bowline</title><author><personname>Nobody</personname></author></info><para>Text</para></chapter>\
        </book>";
    let found = read("", book);
    let own = found.own();
    assert_eq!(own.body, "Knots\nHello\u{c}Bowline\nNobody\nText");
    assert_eq!(texts(&found, Field::Title), ["Knots"]);
    assert_eq!(own.text(Field::Description), Some("All knots"));
    assert!(texts(&found, Field::Author).is_empty());
}

#[test]
fn abiword_gives_paragraphs_and_tables() {
    let found = read("survey.abw", &data("survey.abw"));
    let own = found.own();
    assert_eq!(own.media_type, "application/x-abiword");
    assert_eq!(own.text(Field::Title), Some("Fjord survey"));
    assert_eq!(own.text(Field::Author), Some("Ylva Strand"));
    assert!(
        own.body.contains("The lumpsucker clings to kelp & stone"),
        "{}",
        own.body
    );
    assert!(
        own.body.contains("depth\tfish\n3 m\twolffish\n"),
        "{}",
        own.body
    );
    assert!(!own.body.contains("PG1hdGgg"));
    let keyed = b"<abiword><metadata><m key='dc.creator'>Ida</m><m key='x'>y</m></metadata>\
        <section><p>one</p><pbr/><p>two</p></section></abiword>";
    let found = read("a.abw", keyed);
    assert_eq!(found.own().text(Field::Author), Some("Ida"));
}

#[test]
fn compressed_xml_is_what_it_holds() {
    let zip = |text: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    };
    let found = read("survey.zabw", &zip(&data("survey.abw")));
    assert_eq!(found.own().media_type, "application/x-abiword");
    let found = read("boat.gnucash", &zip(&data("boat.gnucash")));
    assert_eq!(found.own().media_type, "application/x-gnucash");
    let found = read("ferry.gnumeric", &zip(&data("ferry.gnumeric")));
    assert_eq!(found.own().media_type, "application/x-gnumeric");
    assert_eq!(found.own().number(Field::Pages), Some(2));
    let found = read("harbour.svgz", &zip(&data("harbour.svg")));
    assert_eq!(found.own().media_type, "image/svg+xml");
    assert_eq!(found.own().text(Field::Title), Some("Harbour map"));
}

#[test]
fn gnumeric_gives_sheets_rows_and_comments() {
    let found = read("ferry.gnumeric", &data("ferry.gnumeric"));
    let own = found.own();
    assert_eq!(own.kind, Kind::Spreadsheet);
    assert_eq!(own.text(Field::Title), Some("Ferry budget"));
    assert_eq!(own.text(Field::Author), Some("Erik Ahlgren"));
    assert_eq!(own.text(Field::Keywords), Some("ferry"));
    assert_eq!(own.number(Field::Pages), Some(2));
    let sheets: Vec<_> = own.body.split('\u{c}').collect();
    assert!(sheets[0].starts_with("Crossings\n"), "{sheets:?}");
    assert!(sheets[0].contains("Harbour closed in winter"), "{sheets:?}");
    assert!(
        sheets[0].contains("\nDate\tHarbour\tFare\tShare\tWhen\n"),
        "{sheets:?}"
    );
    assert!(!sheets[0].contains("=1+1"), "{sheets:?}");
    assert_eq!(sheets[1], "Crew\n\tCaptain Nemo");
}

#[test]
fn gnucash_gives_a_line_for_a_transaction() {
    let found = read("boat.gnucash", &data("boat.gnucash"));
    let own = found.own();
    assert_eq!(own.media_type, "application/x-gnucash");
    assert_eq!(
        own.body,
        "Boat upkeep\nEXPENSE\nNOK\nEverything for the Havhesten\ninsured until May\n\
         NOK\t17\t2024-02-29\tAntifouling paint\ttwo tins\t-1299.50"
    );
}

#[test]
fn kword_and_kspread_are_packages() {
    let text = data("quiet.kwd");
    let found = read("", &text);
    let own = found.own();
    assert_eq!(own.media_type, "application/x-kword");
    assert_eq!(own.body, "A quiet butterfish hides\nbelow the pier.");
    assert_eq!(own.text(Field::Title), Some("Below the pier"));
    assert_eq!(own.text(Field::Author), Some("Ida Berg"));
    assert_eq!(own.text(Field::Description), Some("A short note"));

    let sheet = zip_of(&[(
        "maindoc.xml",
        b"<?xml version='1.0'?><spreadsheet><map><table name='Dues'><cell row='1' column='1'>\
            <format/><text>Boat</text></cell><cell row='1' column='2'><text>Fee</text></cell>\
            <cell row='2' column='1'><text>=A1+1</text><result>7</result></cell></table>\
            <table name='More'/></map></spreadsheet>",
    )]);
    let found = read("old.ksp", &sheet);
    assert_eq!(found.own().kind, Kind::Spreadsheet);
    assert_eq!(found.own().body, "Dues\nBoat\tFee\n7\u{c}More");
}

#[test]
fn xps_gives_lines_of_pages() {
    let found = read("print.oxps", &data("print.oxps"));
    let own = found.own();
    assert_eq!(own.media_type, "application/oxps");
    assert_eq!(
        own.body,
        "Gunnel eggs & nests\n{in braces}\u{c}The second page"
    );
    assert_eq!(own.text(Field::Title), Some("Printed nests"));
    assert_eq!(own.text(Field::Author), Some("Ida Berg"));
    assert_eq!(own.number(Field::Pages), Some(2));
}

#[test]
fn hostile_markup_is_survived() {
    for name in [
        "survey-tei.xml",
        "survey-jats.xml",
        "survey.icml",
        "timetable.xml",
        "harbour.svg",
        "survey.fb2",
        "feed.rss",
        "feed.atom",
        "survey.opml",
        "survey.dbk",
        "survey.abw",
        "ferry.gnumeric",
        "boat.gnucash",
        "quiet.kwd",
        "print.oxps",
    ] {
        let bytes = data(name);
        let detected = detected(name, &bytes);
        let format = by_media_type(detected.media_type).unwrap();
        survives(format.extract, detected, name, &bytes);
    }
}

#[test]
fn a_long_name_costs_its_elements_nothing() {
    let text = format!(
        "<?xml version='1.0'?><{}>{}<b>kelp</b>",
        "a".repeat(5_000_000),
        "<b/>".repeat(500_000)
    );
    assert_eq!(read("a.xml", text.as_bytes()).own().body, "kelp");
}

#[test]
fn documents_of_2003_are_read_by_what_they_mean() {
    let sheet = read("a.xls", &data("excel-2003.xml"));
    assert_eq!(sheet.own().failure, None);
    assert_eq!(sheet.own().body, "h\nSheet of the hoopoe\nsecond\t12");
    let text = read("a.doc", &data("word-2003.xml"));
    assert_eq!(text.own().failure, None);
    assert_eq!(
        text.own().body,
        "The hoopoe of the orchard nests in a wall."
    );
    let more = "<?xml version='1.0'?><Workbook xmlns='urn:schemas-microsoft-com:office:spreadsheet' \
        xmlns:ss='urn:schemas-microsoft-com:office:spreadsheet'><DocumentProperties><Title>Census</Title>\
        <Author>Ina</Author></DocumentProperties><Styles><Style ss:ID='Default' ss:Name='Normal'><Font \
        ss:FontName='Calibri'/></Style></Styles><Names><NamedRange ss:Name='Umsatz' \
        ss:RefersTo='=S!R1C1'/></Names><Worksheet ss:Name='Herd'><Table><Row><Cell><Data \
        ss:Type='String'>Rudolf <B>the</B> deer</Data><Comment ss:Author='Bo'><Data>check</Data></Comment>\
        </Cell><Cell ss:Index='3' ss:MergeAcross='1'><Data>male</Data></Cell><Cell><Data>12</Data></Cell></Row></Table><WorksheetOptions><Print><ValidPrinterInfo/></Print></WorksheetOptions>\
        </Worksheet></Workbook>";
    let found = read("a.xml", more.as_bytes());
    assert_eq!(found.own().text(Field::Title), Some("Census"));
    assert_eq!(found.own().text(Field::Author), Some("Ina"));
    assert_eq!(found.own().number(Field::Pages), Some(1));
    for word in [
        "Umsatz",
        "Herd\n",
        "Rudolf the deer",
        "Bo",
        "check\t\tmale\t\t12",
    ] {
        assert!(
            found.own().body.contains(word),
            "{word}: {}",
            found.own().body
        );
    }
    for word in ["Normal", "Calibri", "String", "Default"] {
        assert!(!found.own().body.contains(word), "{word}");
    }
    for name in ["excel-2003.xml", "word-2003.xml"] {
        let bytes = data(name);
        let detected = detected(name, &bytes);
        survives(
            by_media_type(detected.media_type).unwrap().extract,
            detected,
            name,
            &bytes,
        );
    }
}

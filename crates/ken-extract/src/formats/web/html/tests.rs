//! Tests of the exact text of small pages, and of the words of random soup against the tokenizer
//! `html5gum`.

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use ken_core::Kind;
use proptest::prelude::*;

use super::elements::{self, Element};
use super::*;
use crate::detect::Detected;
use crate::testing::{run, survives};

const HTML: Detected = Detected {
    media_type: "text/html",
    kind: Kind::Document,
};

const PAGE: &str = "<!DOCTYPE html>\n<html lang=en-GB><head>\n<meta charset=utf-8>\n\
    <title>On &lt;reindeer&gt;\n &amp; snow</title>\n\
    <meta name=author content='Anna &Ouml;berg'><meta content='arctic, snow' name=Keywords>\n\
    <meta property=og:description content=ignored><meta name=description content='All of it'>\n\
    <meta name=dcterms.date content=2024-02-29>\n\
    <style>p > a { color: red }</style><script>if (a<b) document.write('<p>no')</script></head>\n\
    <body><h1>Head<em>line</em></h1><p>First <b>par</b>agraph,\n  folded.<p>Second<br>line\n\
    <!-- no > comment --><ul><li>one<li>two</ul><table><tr><td>a<td>b<tr><td>c</table>\n\
    <img src=x alt='A &quot;picture&quot;'>after<pre>\nkeep\n  these lines\n</pre>caf&eacute &#8364;\n\
    <template><p>hidden</template><textarea>typed <b></textarea></body></html>\n";

fn body(page: &str) -> String {
    html_to_text(page.as_bytes(), None).body
}

#[test]
fn a_page_yields_text_title_and_fields() {
    let found = run(extract, HTML, "a.html", PAGE.as_bytes());
    let own = found.own();
    assert_eq!(own.text(Field::Title), Some("On <reindeer> & snow"));
    assert_eq!(own.text(Field::Headings), Some("Headline"));
    assert_eq!(own.text(Field::Author), Some("Anna Öberg"));
    assert_eq!(own.text(Field::Keywords), Some("arctic"));
    let snow = Value::Text("snow".into());
    assert!(own.fields.contains(&(Field::Keywords, snow)));
    assert_eq!(own.text(Field::Description), Some("All of it"));
    assert_eq!(own.text(Field::Lang), Some("en-GB"));
    assert_eq!(own.number(Field::Date), Some(1_709_164_800));
    assert_eq!(
        own.body,
        "Headline\nFirst paragraph, folded.\nSecond\nline\none\ntwo\na b\nc\n\
         A \"picture\" after\n\nkeep\n  these lines\ncafé €\ntyped <b>"
    );
}

#[test]
fn targets_of_links_to_other_sites_follow_the_text() {
    let linked = |page: &str| html_within(page.as_bytes(), None, 1000).body;
    let page = "<p>See <a href='https://example.org/f%C3%BCr?a=1&amp;b=2'>this</a>, \
        <A class=x HREF=https://example.org/two>that</A> and <a href='https://example.org/two'>it</a> again.</p>\
        <a href=/own>own</a> <a href='#here'>here</a> <a href='javascript:go()'>go</a> \
        <a href='https://shown.example/'>https://shown.example</a> <a href='mailto:ida@berg.example?subject=x'>mail</a>";
    assert_eq!(
        linked(page),
        "See this, that and it again.\nown here go https://shown.example mail\n\
         https://example.org/für?a=1&b=2\nhttps://example.org/two\nida@berg.example"
    );
    let frame = "<iframe srcdoc=\"text <a href='https://framed.example/x'>label</a>\"></iframe>";
    assert_eq!(linked(frame), "text label\nhttps://framed.example/x");
    let long = format!(
        "<a href='https://count.example/{}'>read</a>",
        "x".repeat(300)
    );
    assert_eq!(linked(&long), "read");
    let odd = "<a href='mailto:'>a <a href='mailto:%20'>b <a href='https://ina:secret@else.example/'>c</a>";
    assert_eq!(linked(odd), "a b c\nhttps://else.example/");
    // Descriptions in feeds and books are too short for them.
    assert_eq!(body(page).lines().count(), 2);
}

#[test]
fn targets_within_the_site_of_a_page_are_left_out() {
    for head in [
        "<link rel=canonical href='https://www.site.example/page'>",
        "<base href=http://site.example/>",
        "<base href=http://ina:secret@site.example:8080/>",
        "<meta property='og:url' content='https://site.example/page'>",
    ] {
        let page = format!(
            "{head}<link rel=icon href='https://cdn.example/i.png'>\
             <a href='https://site.example/other'>a</a> <a href='https://else.example/'>b</a>"
        );
        let found = html_within(page.as_bytes(), None, 1000).body;
        assert_eq!(found, "a b\nhttps://else.example/");
    }
    let page = b"<a href='https://site.example/other'>a</a> <a href='https://else.example/'>b</a>";
    let found = html_from("https://www.site.example/?x", page, None, 1000).body;
    assert_eq!(found, "a b\nhttps://else.example/");
}

#[test]
fn a_member_named_by_its_address_is_a_page_of_that_site() {
    let page = b"<a href='https://site.example/other'>a</a> <a href='https://else.example/'>b</a>";
    let archive = [
        &b"WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: https://site.example/a|b\r\n\
           Content-Type: text/html\r\nContent-Length: "[..],
        page.len().to_string().as_bytes(),
        b"\r\n\r\n",
        page,
        b"\r\n\r\n",
    ]
    .concat();
    let mut bodies = Vec::new();
    let mut input = Input::bytes_of("a.warc", &archive);
    crate::extract_all(&mut input, &crate::Limits::default(), &mut |document| {
        bodies.push(document.body);
    });
    assert!(
        bodies.contains(&"a b\nhttps://else.example/".to_owned()),
        "{bodies:?}"
    );
}

#[test]
fn fallbacks_stand_in_for_missing_metadata() {
    let page = html_to_text(
        b"<meta property=og:title content=T><meta property=og:description content=D>text",
        None,
    );
    assert_eq!(page.title.as_deref(), Some("T"));
    assert_eq!(page.fields, [(Field::Description, Value::Text("D".into()))]);
}

#[test]
fn charsets_by_declaration_meta_and_detection() {
    let meta = b"<meta charset='koi8-r'><p>\xf7\xd3\xc5";
    assert_eq!(html_to_text(meta, None).body, "Все");
    let old =
        b"<META http-equiv=Content-Type content=\"text/html; charset=Shift_JIS\">\x93\xfa\x96\x7b";
    assert_eq!(html_to_text(old, None).body, "日本");
    assert_eq!(html_to_text(b"<p>\xf7\xd3\xc5", Some("koi8-r")).body, "Все");
    assert_eq!(
        html_to_text(b"<?xml version='1.0' encoding='ISO-8859-2'?><p>\xb3", None).body,
        "ł"
    );
    assert_eq!(
        html_to_text(b"<p>na\xefve caf\xe9", None).body,
        "naïve café"
    );
    let wide: Vec<u8> = "<p>wide"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(html_to_text(&wide, None).body, "wide");
}

#[test]
fn readings_follow_the_line_and_leave_words_whole() {
    for (page, text) in [
        (
            "<p>in <ruby>東<rp>(</rp><rt>とう</rt><rp>)</rp>京<rt>きょう</rt></ruby>へ行く<p>next",
            "in 東京へ行く とうきょう\nnext",
        ),
        (
            "<ruby>東<rt>とう</ruby><ruby>京<rt>きょう</ruby>",
            "東京 とうきょう",
        ),
        (
            "<ruby><rb>東<rb>京<rt>とう<rt>きょう</ruby>と<ruby>川<rp>(<rt>かわ<rp>)</ruby>",
            "東京と川 とうきょう かわ",
        ),
        ("<p><ruby>東<rt>never ends<p>next", "東 never ends\nnext"),
        ("a<rt>b</rt>c", "a b c"),
    ] {
        assert_eq!(body(page), text, "{page}");
    }
}

#[test]
fn numbers_of_notes_are_no_part_of_the_word() {
    for (page, text) in [
        (
            "word<sup>1</sup>, x<sup>2</sup> km<sup>2</sup>",
            "word 1, x2 km2",
        ),
        ("1<sup>st</sup> in 1995<sup>3</sup>", "1st in 1995 3"),
        (
            "H<sub>2</sub>O und Uhr<sup><a href='#n'>4</a></sup>",
            "H2O und Uhr 4",
        ),
        ("Uhr<a class=x href=\"#n\"><sup>4</sup></a>", "Uhr 4"),
        (
            "Uhr<a epub:type=\"noteref\" href=\"n.xhtml#n\">4</a>",
            "Uhr 4",
        ),
        ("model<a href='/x'>5</a>", "model5"),
        ("exam<wbr>ple exam&shy;ple", "example exam\u{ad}ple"),
    ] {
        assert_eq!(body(page), text, "{page}");
    }
}

#[test]
fn soup_is_read_as_browsers_do() {
    for (page, text) in [
        ("a < b <3 c", "a < b <3 c"),
        ("a<b title='>'>c</b >d", "acd"),
        ("x</>y</ z>w", "xyw"),
        ("<p>unclosed <b", "unclosed"),
        ("text <!-- unclosed", "text"),
        ("text <script>never ends", "text"),
        ("<title>never &amp; ends", "never & ends"),
        ("<p>a<?php echo '>' ?>b", "a' ?>b"),
        ("<![CDATA[a > b]]>", "b]]>"),
        (
            "<?xml version='1.0'?><script src='x'/><p><![CDATA[a < b]]>",
            "a < b",
        ),
        ("<title>T</title><svg><title>icon</title></svg>", "icon"),
        ("a\0b&#0;c&#12;d", "a b\u{fffd}c d"),
        ("&nbsp;&lt;p&gt;", "\u{a0}<p>"),
        ("</pre>a  b<PRE>c  d</PRE>", "a b\nc  d"),
        ("<template><title>no</title>", ""),
        ("<plaintext><b>x", "<b>x"),
        ("", ""),
    ] {
        assert_eq!(body(page), text, "{page}");
    }
}

#[test]
fn hostile_pages_are_survived() {
    survives(extract, HTML, "a.html", PAGE.as_bytes());
    // Each of these takes quadratic time in a careless parser.
    for piece in [
        "<",
        "<!--",
        "</",
        "<a b='",
        "&",
        "&#",
        "<script>",
        "<!-- <script>",
        "<pre>",
        "<meta name=author content=a><html>",
        "]]>",
    ] {
        let page = piece.repeat(200_000);
        html_to_text(page.as_bytes(), None);
    }
}

/// Returns the words of a page by `html5gum`'s tokenizer, with our rules for elements.
fn oracle(page: &str) -> Vec<String> {
    let mut text = String::new();
    let mut element = Element::Inline;
    let mut hidden = false;
    let mut has_title = false;
    let mut open_title = String::new();
    let mut templates = 0_u32;
    let mut label: [Option<String>; 2] = [None, None];
    let mut attribute = String::new();
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<()> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                element = elements::by_name(name);
                label = [None, None];
            }
            CallbackEvent::AttributeName { name } => {
                attribute = String::from_utf8_lossy(name).into_owned();
            }
            CallbackEvent::AttributeValue { value } => {
                let slot = match attribute.as_str() {
                    "alt" => &mut label[0],
                    "title" => &mut label[1],
                    _ => return None,
                };
                if slot.is_none() {
                    *slot = Some(String::from_utf8_lossy(value).into_owned());
                }
            }
            CallbackEvent::CloseStartTag { .. } => {
                hidden = matches!(element, Element::Hidden | Element::Frame | Element::Script)
                    || element == Element::Title && !has_title && templates == 0;
                match element {
                    Element::Template => templates += 1,
                    Element::Inline | Element::Note => {}
                    Element::Meta | Element::Html => {}
                    Element::Image if templates == 0 => {
                        let of = |slot: &Option<String>| slot.clone().unwrap_or_default();
                        let alt = of(&label[0]);
                        let label = if alt.is_empty() { of(&label[1]) } else { alt };
                        text.push_str(&format!(" {label} "));
                    }
                    Element::Image => {}
                    _ => text.push(' '),
                }
            }
            CallbackEvent::EndTag { name } => {
                hidden = false;
                open_title.clear();
                match elements::by_name(name) {
                    Element::Template => templates = templates.saturating_sub(1),
                    Element::Inline | Element::Note => {}
                    Element::Meta | Element::Html | Element::Image => {}
                    _ => text.push(' '),
                }
            }
            CallbackEvent::String { value } => {
                let value = String::from_utf8_lossy(value);
                if hidden && element == Element::Title {
                    has_title |= !value.trim().is_empty();
                    open_title.push_str(&value);
                } else if hidden {
                } else if templates == 0 {
                    text.push_str(&value);
                }
            }
            _ => {}
        }
        None
    });
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(page, emitter) {
        let Ok(()) = token;
    }
    text.push_str(&open_title);
    words(&text)
}

fn words(text: &str) -> Vec<String> {
    let is_gap = |c: char| c.is_whitespace() || c.is_ascii_control();
    let words = text.split(is_gap).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Pieces that reach the edges of every rule; without `noscript` and `noframes`, which the oracle
/// reads as raw text whether or not scripts run.
const PIECES: &[&str] = &[
    "<",
    ">",
    "</",
    "/>",
    "<!",
    "<!--",
    "-->",
    "--!>",
    "<!-->",
    "-",
    "!",
    "?",
    "<?",
    "=",
    "\"",
    "'",
    "/",
    "&",
    "&#",
    "&#x",
    ";",
    "x",
    "41",
    "word",
    " ",
    "\n",
    "\t",
    "\r\n",
    "\u{c}",
    "é",
    "世界",
    "&amp;",
    "&ampx",
    "&notit;",
    "&eacute",
    "&nbsp;",
    "&#233;",
    "&#x80;",
    "&#1;",
    "<p>",
    "</p>",
    "<b>",
    "</b>",
    "<br/>",
    "<a href='x>y'>",
    "</a>",
    "<img alt=\"a &amp b\" title=t>",
    "<img title='&copy=1'>",
    " alt=",
    " title='",
    "<script>",
    "</script>",
    "</SCRIPT >",
    "<style>",
    "</style",
    "</style>",
    "<title>",
    "</title>",
    "<textarea>",
    "</textarea>",
    "<template>",
    "</template>",
    "<pre>",
    "</pre>",
    "<td>",
    "<div class=\"c\" id=d>",
    "<xmp>",
    "</xmp>",
    "<iframe>",
    "</iframe>",
    "<![CDATA[",
    "]]>",
    "<!doctype html>",
    "<plaintext",
    "<sCript/",
    "<unknown-element attribute>",
    "\u{a0}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_soup_has_the_words_of_the_oracle(
        pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40),
    ) {
        let page = pieces.concat();
        prop_assert_eq!(words(&strip::strip(&page, "", usize::MAX).body), oracle(&page), "{}", page);
    }

    #[test]
    fn any_text_has_the_words_of_the_oracle(page in "[<>&#;!/='\"a-z0-9\\- é]{0,80}") {
        prop_assert_eq!(words(&strip::strip(&page, "", usize::MAX).body), oracle(&page), "{}", page);
    }

    #[test]
    fn any_bytes_are_survived(bytes: Vec<u8>) {
        html_to_text(&bytes, None);
    }
}

#[test]
fn reading_stops_when_there_is_enough_text() {
    let page = "<p>otter</p>".repeat(1000);
    let text = strip::strip(&page, "", 100).body;
    assert!((100..120).contains(&text.len()), "{}", text.len());
}

#[test]
fn formulas_stand_once() {
    let formula = "<math><semantics><mrow><mi>E</mi><mo>=</mo><mi>m</mi><mtext>if</mtext></mrow>\
        <annotation encoding=x>E = m \\text{if}</annotation><annotation-xml><b>no</b></annotation-xml></semantics></math>";
    assert_eq!(body(&format!("<p>so {formula} holds")), "so E=m if holds");
}

#[test]
fn marks_before_notes_are_no_part_of_the_word() {
    assert_eq!(
        body(
            "<p><a href='#anc1'>1</a>kelp <p><a href=\"#x\">iv</a>fronds<p><a href='#s'>Algae</a>s <a href=#t>3</a>rd"
        ),
        "1 kelp\niv fronds\nAlgaes 3rd"
    );
}

#[test]
fn pictures_described_by_the_name_of_their_file_are_not() {
    assert_eq!(
        body(
            "a<img src='../images/i1.png' alt='OEBPS/images/i1.png'>b<img src=c.png alt='c.png' title=Red>c\
              <img src=d.png alt='D. Png'>d"
        ),
        "a b Red c D. Png d"
    );
}

#[test]
fn addresses_of_mail_in_frames_are_links() {
    let page = "<iframe srcdoc='&lt;a href=mailto:ann@a.b&gt;Ann&lt;/a&gt;'></iframe><a href=mailto:ann@a.b>me</a>";
    assert_eq!(
        html_within(page.as_bytes(), None, usize::MAX).body,
        "Ann\nme\nann@a.b"
    );
}

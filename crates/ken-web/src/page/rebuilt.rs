//! HTML of others, rebuilt from what an allowlist admits.
//!
//! The page is read as tokens and written anew: only elements of [`ALLOWED`], without attributes but a few whose values
//! are checked, and text that is escaped. Nothing of the page is copied as it is, so what a browser makes of it does not
//! depend on how it mends mistakes. There are no styles, no pictures and no addresses but those of links. What is left is
//! shown in a frame without scripts and without an origin, whose policy forbids every load, in case this has a hole.

use html5gum::{DefaultEmitter, EndTag, HtmlString, StartTag, Token, Tokenizer};

use super::text::Piece;

/// The elements that are written.
const ALLOWED: &[&str] = &[
    "a",
    "abbr",
    "address",
    "article",
    "aside",
    "b",
    "blockquote",
    "br",
    "caption",
    "center",
    "cite",
    "code",
    "dd",
    "del",
    "details",
    "dfn",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "i",
    "ins",
    "kbd",
    "li",
    "main",
    "mark",
    "nav",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "samp",
    "section",
    "small",
    "span",
    "strike",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "time",
    "tr",
    "tt",
    "u",
    "ul",
    "var",
    "wbr",
];
/// Elements that have no content.
const VOID: &[&str] = &["br", "hr", "wbr"];
/// Elements that are left out with all that is in them.
const DROPPED: &[&str] = &[
    "applet", "audio", "canvas", "datalist", "embed", "frameset", "iframe", "math", "noembed",
    "noframes", "noscript", "object", "script", "select", "style", "svg", "template", "textarea",
    "title", "video", "xmp",
];
/// The deepest nesting.
const MAX_DEPTH: usize = 200;
/// The most bytes that are written.
const MAX_BYTES: usize = 2 << 20;
/// The most columns or rows of a cell.
const MAX_SPAN: u32 = 100;

/// Finds what is marked in a text.
pub(super) type Mark<'m> = &'m dyn Fn(&str) -> Vec<Piece>;

/// Returns a page rebuilt, as a document for a frame.
pub(super) fn rebuilt(page: &str, mark: Mark<'_>) -> String {
    let mut writer = Writer {
        text: String::from(
            "<!doctype html><html><head><meta charset=\"utf-8\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:\">\
             <meta name=\"referrer\" content=\"no-referrer\"><meta name=\"color-scheme\" content=\"light dark\">\
             </head><body><font face=\"system-ui, sans-serif\">",
        ),
        open: Vec::new(),
        dropped: None,
        mark,
    };
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let tokens = Tokenizer::new_with_emitter(page, emitter);
    for token in tokens {
        // Reading a text cannot fail.
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => writer.start(&tag),
            Token::EndTag(tag) => writer.end(&tag),
            Token::String(text) => writer.text(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
        if writer.text.len() > MAX_BYTES {
            break;
        }
    }
    writer.finished()
}

struct Writer<'m> {
    text: String,
    /// The elements that are open.
    open: Vec<&'static str>,
    /// The element that is being left out, and how often it is open.
    dropped: Option<(String, usize)>,
    mark: Mark<'m>,
}

impl Writer<'_> {
    fn start(&mut self, tag: &StartTag<()>) {
        let name = String::from_utf8_lossy(&tag.name);
        if let Some((dropped, depth)) = &mut self.dropped {
            *depth += usize::from(*dropped == name && !tag.self_closing);
            return;
        }
        if DROPPED.contains(&&*name) {
            // In these `/>` ends the element; elsewhere it means nothing.
            let is_empty = tag.self_closing && matches!(&*name, "svg" | "math");
            if !is_empty && name != "embed" {
                self.dropped = Some((name.into_owned(), 1));
            }
            return;
        }
        if name == "img" {
            self.picture(tag);
            return;
        }
        let Some(name) = ALLOWED.iter().find(|allowed| **allowed == name) else {
            return;
        };
        let is_void = VOID.contains(name);
        if !is_void && self.open.len() >= MAX_DEPTH {
            return;
        }
        self.text.push('<');
        self.text.push_str(name);
        for (attribute, value) in &tag.attributes {
            let value = String::from_utf8_lossy(value);
            self.attribute(name, attribute, &value);
        }
        self.text.push('>');
        if !is_void {
            self.open.push(name);
        }
    }

    fn attribute(&mut self, element: &str, attribute: &HtmlString, value: &str) {
        let attribute = match (element, &***attribute) {
            ("a", b"href") => {
                if let Some(address) = address(value) {
                    self.put("href", address);
                    self.text
                        .push_str(" target=\"_blank\" rel=\"noopener noreferrer\"");
                }
                return;
            }
            ("td" | "th", b"colspan") => "colspan",
            ("td" | "th", b"rowspan") => "rowspan",
            (_, b"dir") if ["ltr", "rtl", "auto"].contains(&value) => {
                self.put("dir", value);
                return;
            }
            _ => return,
        };
        if let Some(number) = value
            .parse::<u32>()
            .ok()
            .filter(|number| *number <= MAX_SPAN)
        {
            self.put(attribute, &number.to_string());
        }
    }

    fn put(&mut self, name: &str, value: &str) {
        self.text.push(' ');
        self.text.push_str(name);
        self.text.push_str("=\"");
        escape(&mut self.text, value);
        self.text.push('"');
    }

    /// Writes what stands for a picture, which is not loaded.
    fn picture(&mut self, tag: &StartTag<()>) {
        let description = tag.attributes.get(b"alt".as_slice());
        let description = description.map(|text| String::from_utf8_lossy(text));
        let description = description.as_deref().map(str::trim).unwrap_or_default();
        if !description.is_empty() {
            self.text.push_str("<i>[");
            escape(&mut self.text, description);
            self.text.push_str("]</i>");
        }
    }

    fn end(&mut self, tag: &EndTag<()>) {
        let name = String::from_utf8_lossy(&tag.name);
        if let Some((dropped, depth)) = &mut self.dropped {
            *depth -= usize::from(*dropped == name);
            if *depth == 0 {
                self.dropped = None;
            }
            return;
        }
        // An end without a start means nothing.
        if let Some(at) = self.open.iter().rposition(|open| *open == name) {
            self.close_to(at);
        }
    }

    fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth
            && let Some(name) = self.open.pop()
        {
            self.text.push_str("</");
            self.text.push_str(name);
            self.text.push('>');
        }
    }

    fn text(&mut self, text: &str) {
        if self.dropped.is_some() {
            return;
        }
        for piece in (self.mark)(text) {
            self.text.push_str(if piece.mark { "<mark>" } else { "" });
            escape(&mut self.text, &piece.text);
            self.text.push_str(if piece.mark { "</mark>" } else { "" });
        }
    }

    fn finished(mut self) -> String {
        self.close_to(0);
        self.text.push_str("</font></body></html>");
        self.text
    }
}

/// Returns an address that a link may have.
fn address(value: &str) -> Option<&str> {
    let value = value.trim();
    let (scheme, rest) = value.split_once(':')?;
    let is_known = ["http", "https", "mailto"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known));
    let is_whole = scheme.eq_ignore_ascii_case("mailto") || rest.starts_with("//");
    (is_known && is_whole && !value.contains(char::is_control)).then_some(value)
}

fn escape(to: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '<' => to.push_str("&lt;"),
            '>' => to.push_str("&gt;"),
            '&' => to.push_str("&amp;"),
            '"' => to.push_str("&quot;"),
            '\'' => to.push_str("&#39;"),
            // Browsers replace it, or not.
            '\0' => to.push('\u{fffd}'),
            _ => to.push(character),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn body(page: &str) -> String {
        let shown = rebuilt(page, &|text| super::super::text::pieces(text, &[]));
        let start = shown.find("sans-serif\">").unwrap() + "sans-serif\">".len();
        let end = shown.rfind("</font>").unwrap();
        shown[start..end].to_owned()
    }

    #[test]
    fn text_and_structure_stay() {
        for (page, expected) in [
            (
                "<p>One <b>two</b> &lt;three&gt; &amp; \"four\"",
                "<p>One <b>two</b> &lt;three&gt; &amp; &quot;four&quot;</p>",
            ),
            ("<ul><li>a<li>b</ul>c", "<ul><li>a<li>b</li></li></ul>c"),
            ("<td colspan=2 rowspan=x>1", "<td colspan=\"2\">1</td>"),
            (
                "<a href='https://example.org/?a=1&b=2'>x</a>",
                "<a href=\"https://example.org/?a=1&amp;b=2\" target=\"_blank\" rel=\"noopener noreferrer\">x</a>",
            ),
            ("<img alt=' A dog ' src=x>", "<i>[A dog]</i>"),
            ("</b><p dir=rtl>x</p></p>", "<p dir=\"rtl\">x</p>"),
        ] {
            assert_eq!(body(page), expected, "{page}");
        }
    }

    #[test]
    fn nothing_that_acts_or_loads_stays() {
        for page in [
            "<script>alert(1)</script>",
            "<SCRIPT/x>alert(1)</SCRIPT >",
            "<svg><script>alert(1)</script><svg></svg></svg>",
            "<math><mtext><style><img src=x onerror=alert(1)></style></mtext></math>",
            "<style>@import 'http://evil.example'</style>",
            "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
            "<object data=x><embed src=x></object>",
            "<template><img src=x onerror=alert(1)></template>",
            "<noscript><img src=x onerror=alert(1)></noscript>",
            "<title><img src=x onerror=alert(1)></title>",
            "<textarea><img src=x onerror=alert(1)></textarea>",
            "<xmp><img src=x onerror=alert(1)></xmp>",
            "<link rel=stylesheet href=http://evil.example>",
            "<meta http-equiv=refresh content='0;url=http://evil.example'>",
            "<base href=http://evil.example>",
            "<input onfocus=alert(1) autofocus>",
            "<!--><img src=x onerror=alert(1)>-->",
            "<img src=x onerror=alert(1)>",
            "<embed src=x>",
        ] {
            let shown = body(page);
            assert!(!shown.contains('<'), "{page}: {shown}");
        }
        for page in [
            "<p onclick=alert(1) style='background:url(http://evil.example)' id=x class=y>x",
            "<p <b onmouseover=alert(1)>x",
        ] {
            let shown = body(page);
            assert!(shown.starts_with("<p>"), "{page}: {shown}");
        }
        for address in [
            "javascript:alert(1)",
            " javascript:alert(1)",
            "java\tscript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "data:text/html,x",
            "vbscript:x",
            "//evil.example",
            "/relative",
            "http:evil",
            "&#106;avascript:alert(1)",
            "file:///etc/passwd",
        ] {
            assert_eq!(
                body(&format!("<a href='{address}'>x</a>")),
                "<a>x</a>",
                "{address}"
            );
        }
    }

    #[test]
    fn depth_and_length_are_bounded() {
        let deep = body(&"<div>".repeat(100_000));
        assert_eq!(deep.matches("<div>").count(), MAX_DEPTH);
        assert_eq!(deep.matches("</div>").count(), MAX_DEPTH);
        let long = body(&"<p>x".repeat(MAX_BYTES / 4));
        assert!(long.len() < MAX_BYTES + 10_000);
    }

    proptest! {
        #[test]
        fn whatever_comes_only_allowed_tags_are_written(
            page in "(<|>|/|!|-|=|\"|'| |&|a|b|p|script|svg|style|title|img|onerror|href|javascript:|x){0,40}"
        ) {
            let shown = body(&page);
            for tag in shown.split('<').skip(1) {
                let name = tag.trim_start_matches('/').split([' ', '>']).next().unwrap();
                prop_assert!(ALLOWED.contains(&name), "{page}: {shown}");
                let tag = tag.split('>').next().unwrap();
                prop_assert!(!tag.contains("javascript:") && !tag.contains("onerror"), "{page}: {shown}");
            }
        }
    }
}

//! Reads XML as a stream of starts, ends and text, for formats that need no tree.
//!
//! Names come without their prefix, empty elements as a start and an end, CDATA and character
//! references as text. Entities that a document declares itself are left out and never expanded.
//! Nesting is bounded, and end tags need not match: text matters, not validity.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesEnd, BytesRef, BytesStart, Event};

use crate::Error;
use crate::text::entities;

/// Elements nested deeper are hostile; programs that write XML stay below a hundred.
const MAX_DEPTH: usize = 4096;

/// A piece of XML.
pub(crate) enum Node<'a> {
    Start(Start<'a>),
    End(End<'a>),
    Text(Cow<'a, str>),
}

/// A start tag.
pub(crate) struct Start<'a>(BytesStart<'a>);

/// The end of an element.
pub(crate) enum End<'a> {
    Tag(BytesEnd<'a>),
    Empty(BytesStart<'a>),
}

/// A reader of one XML text.
pub(crate) struct Xml<'a> {
    text: &'a str,
    reader: Reader<&'a [u8]>,
    /// An empty element whose end is not returned yet.
    empty: Option<BytesStart<'a>>,
    depth: usize,
    /// The name of the outermost element.
    root: Option<String>,
    /// Whether the text ended before the end of the outermost element.
    is_cut: bool,
}

impl<'a> Xml<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        config.allow_dangling_amp = true;
        Self {
            text,
            reader,
            empty: None,
            depth: 0,
            root: None,
            is_cut: false,
        }
    }

    /// Returns the next piece; `None` at the end.
    ///
    /// # Errors
    /// Fails on bytes that are not XML, and on hostile nesting.
    pub(crate) fn next(&mut self) -> Result<Option<Node<'a>>, Error> {
        if let Some(empty) = self.empty.take() {
            return Ok(Some(Node::End(End::Empty(empty))));
        }
        loop {
            let node = match self.reader.read_event().map_err(Error::malformed)? {
                Event::Start(tag) => {
                    self.deeper()?;
                    self.root.get_or_insert_with(|| tag.name().0.to_owned());
                    Node::Start(Start(tag))
                }
                Event::Empty(tag) => {
                    self.empty = Some(tag.clone());
                    Node::Start(Start(tag))
                }
                Event::End(tag) => {
                    self.depth = self.depth.saturating_sub(1);
                    Node::End(End::Tag(tag))
                }
                Event::Text(text) => Node::Text(text.into_inner()),
                Event::CData(text) => Node::Text(text.into_inner()),
                Event::GeneralRef(reference) => Node::Text(character(&reference)),
                Event::Eof => {
                    self.is_cut = self.depth > 0 && !self.ends_with_root();
                    return Ok(None);
                }
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => continue,
            };
            return Ok(Some(node));
        }
    }

    /// Checks, after the last piece, whether the XML was complete.
    ///
    /// # Errors
    /// Fails if the outermost element has no end.
    pub(crate) fn whole(&self) -> Result<(), Error> {
        if self.is_cut {
            return Err(Error::Malformed("the XML is cut off".into()));
        }
        Ok(())
    }

    /// Returns whether the text ends with the end tag of the root. Inner elements may lack their
    /// end tags: that is careless, not cut off.
    fn ends_with_root(&self) -> bool {
        let end = self.text.trim_end().strip_suffix('>');
        let name = end.and_then(|end| Some(end.rsplit_once("</")?.1.trim_end()));
        name.is_some() && name == self.root.as_deref()
    }

    fn deeper(&mut self) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Error::built_in(format!(
                "XML elements are nested deeper than {MAX_DEPTH}"
            )));
        }
        Ok(())
    }

    /// Skips the rest of the element whose start was read last.
    pub(crate) fn skip(&mut self) -> Result<(), Error> {
        if self.empty.take().is_some() {
            return Ok(());
        }
        let outside = self.depth.saturating_sub(1);
        while self.depth > outside && self.next()?.is_some() {}
        Ok(())
    }

    /// Returns the text that is not read yet; after an error, from where the damage begins.
    pub(crate) fn rest(&self) -> &'a str {
        let at = usize::try_from(self.reader.error_position()).unwrap_or(self.text.len());
        &self.text[self.text.floor_char_boundary(at)..]
    }

    /// Returns the text of the element whose start was read last, with that of its children.
    pub(crate) fn text(&mut self) -> Result<String, Error> {
        self.pieces("")
    }

    /// Returns the same text as [`Self::text`], with a space at each tag.
    pub(crate) fn words(&mut self) -> Result<String, Error> {
        self.pieces(" ")
    }

    fn pieces(&mut self, separator: &str) -> Result<String, Error> {
        let mut text = String::new();
        if self.empty.take().is_some() {
            return Ok(text);
        }
        let outside = self.depth.saturating_sub(1);
        while self.depth > outside
            && let Some(node) = self.next()?
        {
            match node {
                Node::Text(piece) => text.push_str(&piece),
                Node::Start(_) | Node::End(_) => text.push_str(separator),
            }
        }
        Ok(text)
    }
}

impl Start<'_> {
    /// Returns the name without its prefix.
    pub(crate) fn name(&self) -> &str {
        self.0.local_name().into_inner()
    }

    /// Returns the name with its prefix.
    pub(crate) fn full_name(&self) -> &str {
        self.0.name().0
    }

    /// Returns the value of the first attribute with this name, whatever its prefix.
    pub(crate) fn attribute(&self, name: &str) -> Option<Cow<'_, str>> {
        self.find(|key| {
            key.strip_suffix(name)
                .is_some_and(|prefix| prefix.is_empty() || prefix.ends_with(':'))
        })
    }

    /// Returns the value of the first attribute with this name that has a prefix.
    pub(crate) fn prefixed_attribute(&self, name: &str) -> Option<Cow<'_, str>> {
        self.find(|key| key.split_once(':').is_some_and(|(_, local)| local == name))
    }

    /// Returns the full names and the values of all attributes.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let mut attributes = self.0.attributes();
        attributes.with_checks(false);
        attributes
            .flatten()
            .map(|attribute| (attribute.key.0, unescaped(attribute.value)))
    }

    fn find(&self, wanted: impl Fn(&str) -> bool) -> Option<Cow<'_, str>> {
        let mut attributes = self.0.attributes();
        let found = attributes
            .with_checks(false)
            .flatten()
            .find(|attribute| wanted(attribute.key.0))?;
        Some(unescaped(found.value))
    }

    /// Returns the names and raw values of all attributes, for values without references.
    pub(crate) fn raw_attributes(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let mut attributes = self.0.attributes();
        attributes.with_checks(false);
        attributes
            .flatten()
            .map(|attribute| (attribute.key.0, attribute.value))
    }

    /// Returns the value of an attribute as a number.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        self.attribute(name)?.trim().parse().ok()
    }
}

impl End<'_> {
    /// Returns the name without its prefix.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Tag(tag) => tag.local_name().into_inner(),
            Self::Empty(tag) => tag.local_name().into_inner(),
        }
    }

    /// Returns the name with its prefix.
    pub(crate) fn full_name(&self) -> &str {
        match self {
            Self::Tag(tag) => tag.name().0,
            Self::Empty(tag) => tag.name().0,
        }
    }
}

/// Resolves the references in a value. A value with a reference that cannot be resolved is kept
/// unchanged.
fn unescaped(value: Cow<'_, str>) -> Cow<'_, str> {
    match quick_xml::escape::unescape(&value) {
        Ok(Cow::Borrowed(_)) | Err(_) => value,
        Ok(Cow::Owned(unescaped)) => Cow::Owned(unescaped),
    }
}

fn character<'a>(reference: &BytesRef<'_>) -> Cow<'a, str> {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return Cow::Owned(character.to_string());
    }
    Cow::Borrowed(match &**reference {
        "nbsp" => " ",
        "shy" => "",
        // Other names are those of HTML, which XML declares by reference to separate files.
        name => resolve_predefined_entity(name)
            .or_else(|| entities::by_name(name))
            .unwrap_or_default(),
    })
}

/// Decodes XML by its byte order mark, its first bytes or its declaration, otherwise as UTF-8.
/// Bytes that cannot be decoded become U+FFFD.
pub(crate) fn decode_xml(mut bytes: Vec<u8>) -> String {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    let encoding = match bytes.get(..4) {
        Some([0xff, 0xfe, ..] | [b'<', 0, _, 0]) => encoding_rs::UTF_16LE,
        Some([0xfe, 0xff, ..] | [0, b'<', 0, _]) => encoding_rs::UTF_16BE,
        _ => declared_encoding(&bytes).unwrap_or(encoding_rs::UTF_8),
    };
    if encoding == encoding_rs::UTF_8 {
        return match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
    }
    match encoding.decode(&bytes).0 {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(text) => text,
    }
}

fn declared_encoding(bytes: &[u8]) -> Option<&'static encoding_rs::Encoding> {
    let head = &bytes[..bytes.len().min(128)];
    let declaration = head.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..declaration.iter().position(|&byte| byte == b'>')?];
    let label = memchr::memmem::find(declaration, b"encoding")? + "encoding".len();
    let mut quoted = declaration[label..].split(|byte| matches!(byte, b'"' | b'\''));
    encoding_rs::Encoding::for_label(quoted.nth(1)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mut shown = String::new();
        let mut xml = Xml::new(text);
        while let Some(node) = xml.next().unwrap() {
            match node {
                Node::Start(tag) => shown.push_str(&format!("({}", tag.name())),
                Node::End(tag) => shown.push_str(&format!("{})", tag.name())),
                Node::Text(text) => shown.push_str(&text),
            }
        }
        shown
    }

    #[test]
    fn empty_elements_cdata_and_references_need_no_care() {
        let text = "<?xml version='1.0'?><w:a>x<b/>&amp;&#x41;<![CDATA[<]]>&own; & y&eacute;</w:a>";
        assert_eq!(shown(text), "(ax(bb)&A< & yéa)");
    }

    #[test]
    fn declared_entities_are_never_expanded() {
        let text = "<!DOCTYPE a [<!ENTITY b \"boom\"><!ENTITY c \"&b;&b;\">]><a>x&c;y</a>";
        assert_eq!(shown(text), "(axya)");
    }

    #[test]
    fn attributes_are_found_with_and_without_prefix() {
        let mut xml = Xml::new("<a uid='0' id='1' r:id='2&amp;3' x:n=' 7 '/>");
        let Some(Node::Start(tag)) = xml.next().unwrap() else {
            panic!("a start is expected");
        };
        assert_eq!(tag.attribute("id").as_deref(), Some("1"));
        assert_eq!(tag.prefixed_attribute("id").as_deref(), Some("2&3"));
        assert_eq!(tag.number("n"), Some(7));
        assert_eq!(tag.attribute("none"), None);
    }

    #[test]
    fn skip_and_text_end_with_their_element() {
        let mut xml = Xml::new("<a><b>x<c>y</c></b>z<d/>w</a>");
        xml.next().unwrap();
        xml.next().unwrap();
        assert_eq!(xml.text().unwrap(), "xy");
        assert!(matches!(xml.next().unwrap(), Some(Node::Text(text)) if text == "z"));
        xml.next().unwrap();
        xml.skip().unwrap();
        assert!(matches!(xml.next().unwrap(), Some(Node::Text(text)) if text == "w"));
    }

    #[test]
    fn what_follows_damage_is_left() {
        let mut xml = Xml::new("<a>x</a><b>y<![CDATA[z and more");
        while !matches!(xml.next(), Err(_) | Ok(None)) {}
        assert_eq!(xml.rest(), "<![CDATA[z and more");
    }

    #[test]
    fn xml_that_is_cut_off_says_so() {
        let is_whole = |text: &str| {
            let mut xml = Xml::new(text);
            while xml.next().unwrap().is_some() {}
            xml.whole().is_ok()
        };
        assert!(is_whole(
            "<?xml version='1.0'?><a x='<'><b/>c</a> <!-- d -->"
        ));
        assert!(is_whole("<x:a>b<br>c</x:a >\n"));
        assert!(!is_whole("<a><b>c</b>"));
        assert!(!is_whole("<a><b>c"));
        assert!(!is_whole("<a>"));
    }

    #[test]
    fn hostile_nesting_ends_with_an_error() {
        let deep = "<a>".repeat(100_000);
        let mut xml = Xml::new(&deep);
        let error = loop {
            match xml.next() {
                Ok(node) => assert!(node.is_some()),
                Err(error) => break error,
            }
        };
        assert!(error.is_limit());
    }

    #[test]
    fn xml_is_decoded_by_mark_first_bytes_or_declaration() {
        let text = "<?xml version='1.0'?><a>é</a>";
        let le: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let be: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decode_xml(le.clone()), text);
        assert_eq!(decode_xml([b"\xff\xfe".to_vec(), le].concat()), text);
        assert_eq!(decode_xml([b"\xfe\xff".to_vec(), be].concat()), text);
        assert_eq!(decode_xml(format!("\u{feff}{text}").into_bytes()), text);
        let latin = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>";
        assert!(decode_xml(latin.to_vec()).ends_with("<a>é</a>"));
        assert_eq!(decode_xml(b"<a>\xff</a>".to_vec()), "<a>\u{fffd}</a>");
    }
}

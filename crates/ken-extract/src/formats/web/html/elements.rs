//! The effect of each element on text: splitting lines or words, hiding, keeping lines, carrying
//! metadata.

/// The effect of an element on the text around and in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// None: `w<b>or</b>d` is one word. Also for unknown elements.
    Inline,
    /// Like [`Element::Inline`], unless it is the number of a note: `word<sup>1</sup>`.
    Note,
    /// Holds characters and their readings.
    Ruby,
    /// Content is the reading of the characters before it.
    Reading,
    /// Content is a parenthesis for programs that do not know [`Element::Ruby`].
    ReadingFallback,
    /// Begins and ends a line.
    Block,
    /// Begins and ends a line, which is a heading.
    Heading,
    /// Splits words but not lines.
    Cell,
    /// Keeps its lines and spaces.
    Pre,
    /// Content is hidden, with the markup in it.
    Template,
    /// Content is text without markup: the title.
    Title,
    /// Content is text without markup, and shown.
    Textarea,
    /// Content is raw and shown.
    Xmp,
    /// Content is raw and hidden, up to the end tag.
    Hidden,
    /// Like [`Element::Hidden`], within a line: a formula again, in another notation.
    Annotation,
    /// Like [`Element::Hidden`], but the page in its `srcdoc` is shown.
    Frame,
    /// Like [`Element::Hidden`], with its own rule for the end.
    Script,
    /// Everything that follows is raw text.
    Plaintext,
    Meta,
    Html,
    /// May name the address of the page.
    Address,
    /// Has an `alt` or `title`.
    Image,
}

/// Longer names are unknown.
const MAX_NAME_BYTES: usize = 14;

/// Returns the effect of the element called `name`, in any case.
pub(super) fn by_name(name: &[u8]) -> Element {
    // Every second tag is one of these.
    match name {
        b"span" | b"code" => return Element::Inline,
        b"a" => return Element::Note,
        _ => {}
    }
    let mut folded = [0; MAX_NAME_BYTES];
    let Some(folded) = folded.get_mut(..name.len()) else {
        return Element::Inline;
    };
    folded.copy_from_slice(name);
    folded.make_ascii_lowercase();
    match &*folded {
        b"address" | b"article" | b"aside" | b"blockquote" | b"body" | b"br" | b"caption"
        | b"center" | b"dd" | b"details" | b"dialog" | b"dir" | b"div" | b"dl" | b"dt"
        | b"fieldset" | b"figcaption" | b"figure" | b"footer" | b"form" | b"frame" | b"head"
        | b"header" | b"hgroup" | b"hr" | b"legend" | b"li" | b"main" | b"menu" | b"nav"
        | b"ol" | b"optgroup" | b"option" | b"p" | b"search" | b"section" | b"select"
        | b"summary" | b"table" | b"tbody" | b"tfoot" | b"thead" | b"tr" | b"ul" | b"video"
        | b"audio" | b"object" => Element::Block,
        b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => Element::Heading,
        b"td" | b"th" | b"button" | b"input" | b"mtext" => Element::Cell,
        b"a" | b"sup" => Element::Note,
        b"ruby" => Element::Ruby,
        b"rt" => Element::Reading,
        b"rp" => Element::ReadingFallback,
        b"pre" | b"listing" => Element::Pre,
        b"template" => Element::Template,
        b"title" => Element::Title,
        b"textarea" => Element::Textarea,
        b"xmp" => Element::Xmp,
        b"iframe" => Element::Frame,
        b"style" | b"noembed" | b"noframes" => Element::Hidden,
        b"annotation" | b"annotation-xml" => Element::Annotation,
        b"script" => Element::Script,
        b"plaintext" => Element::Plaintext,
        b"meta" => Element::Meta,
        b"html" => Element::Html,
        b"base" | b"link" => Element::Address,
        b"img" | b"area" => Element::Image,
        _ => Element::Inline,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_any_case() {
        assert_eq!(by_name(b"BlockQuote"), Element::Block);
        assert_eq!(by_name(b"span"), Element::Inline);
        assert_eq!(by_name(b""), Element::Inline);
        assert_eq!(by_name(&[b'p'; 1000]), Element::Inline);
    }
}

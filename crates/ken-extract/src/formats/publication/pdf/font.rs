//! Fonts, as far as text needs them: the text of a character code, and its advance.
//!
//! `hayro-font` reads font dictionaries and programs and maps codes to Unicode (`ToUnicode`, glyph
//! names, ISO 32000-2, 9.10.2). It needs hash look-ups and allocations for both answers, so they
//! are cached here for each code. Glyph outlines are never read.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use hayro_cmap::BfString;
use hayro_font::{
    CMapResolverFn, Font, FontCache, FontGlyph, FontResolverFn, GlyphId, StandardFont,
};
use hayro_syntax::object::{Array, Dict, Name, ObjRef, Object};

use super::collection::{Collection, descendant};
use super::glyph_name::{self, Encoding};
use super::normal::{Text, normalise, normalise_char};
use super::program::Program;
use super::to_unicode::ToUnicode;
use super::type3;

/// Fonts whose widths would exceed this number, with those of the fonts before, are not read.
const MAX_WIDTHS: usize = 8 << 20;

/// How far glyphs reach below and above their baseline, as shares of the font size.
const REACH: [f32; 2] = [-0.22, 0.78];
/// The same to both sides of a vertical line.
const VERTICAL_REACH: [f32; 2] = [-0.5, 0.5];

/// A character code's text and advance.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) text: Text,
    /// Advance along the writing direction, in text space units for size 1.
    pub(super) advance: f32,
}

/// A font of a document.
pub(super) struct LoadedFont<'a> {
    font: Font<'a>,
    cmap_resolver: CMapResolverFn,
    collection: OnceCell<Option<Collection>>,
    dict: Dict<'a>,
    simple: bool,
    type3: bool,
    to_unicode: OnceCell<Option<ToUnicode>>,
    program: OnceCell<Option<Program>>,
    encoding: OnceCell<Encoding>,
    /// Whether lines run from left to right; otherwise from top to bottom.
    pub(super) horizontal: bool,
    /// How far glyphs reach to both sides of the baseline, as shares of the height of glyphs.
    pub(super) reach: [f32; 2],
    /// The height of glyphs for size 1.
    pub(super) em: f32,
    bytes: RefCell<Vec<Option<Code>>>,
    others: RefCell<HashMap<u32, Code>>,
}

impl<'a> LoadedFont<'a> {
    fn new(font: Font<'a>, dict: &Dict<'a>, resolver: &CMapResolverFn) -> Self {
        let subtype = dict.get::<Name<'_>>(b"Subtype");
        let simple = subtype.as_deref() != Some(b"Type0");
        let type3 = subtype.as_deref() == Some(b"Type3");
        let em = if type3 { type3::em(dict) } else { 1.0 };
        let reach = match font.is_horizontal() {
            true => REACH,
            false => VERTICAL_REACH,
        };
        Self {
            horizontal: font.is_horizontal(),
            reach,
            em,
            cmap_resolver: Arc::clone(resolver),
            collection: OnceCell::new(),
            font,
            dict: dict.clone(),
            simple,
            type3,
            to_unicode: OnceCell::new(),
            program: OnceCell::new(),
            encoding: OnceCell::new(),
            bytes: RefCell::new(vec![None; 256]),
            others: RefCell::default(),
        }
    }

    /// Calls `take` with each code of a shown string, and with whether it is the one-byte code 32,
    /// to which word spacing applies.
    pub(super) fn codes(&self, string: &[u8], mut take: impl FnMut(&Code, bool)) {
        if self.simple {
            let mut bytes = self.bytes.borrow_mut();
            for &byte in string {
                let code = bytes[usize::from(byte)].get_or_insert_with(|| self.code(byte.into()));
                take(code, byte == b' ');
            }
            return;
        }
        let mut others = self.others.borrow_mut();
        let mut at = 0;
        while at < string.len() {
            let (number, length) = self.font.read_code(string, at);
            at += length.max(1);
            let code = others.entry(number).or_insert_with(|| self.code(number));
            take(code, number == 32 && length == 1);
        }
    }

    fn code(&self, code: u32) -> Code {
        let advance = self.font.code_advance(code);
        let advance = if self.horizontal {
            advance.x
        } else {
            advance.y
        };
        Code {
            text: self.text(code),
            advance: finite(advance as f32 / hayro_font::UNITS_PER_EM),
        }
    }

    fn text(&self, code: u32) -> Text {
        let ways: [fn(&Self, u32) -> Text; 7] = [
            Self::text_of_simple_map,
            Self::text_of_simple_program,
            Self::text_of_font,
            Self::text_of_map,
            Self::text_of_collection,
            Self::text_of_program,
            Self::guess,
        ];
        let mut texts = ways.iter().map(|way| way(self, code));
        texts
            .find(|text| *text != Text::Unknown)
            .unwrap_or(Text::Unknown)
    }

    fn to_unicode(&self) -> Option<&ToUnicode> {
        let map = self
            .to_unicode
            .get_or_init(|| ToUnicode::of_font(&self.dict));
        map.as_ref()
    }

    /// Without their map, simple fonts have the text of their glyphs' names, which may be others.
    fn text_of_simple_map(&self, code: u32) -> Text {
        match self.simple {
            true => self.text_of_map(code),
            false => Text::Unknown,
        }
    }

    /// Without an encoding, the names of a TrueType font's glyphs are those in its program.
    fn text_of_simple_program(&self, code: u32) -> Text {
        let has_names = self.simple && !self.type3 && self.encoding().is_of_program();
        match has_names {
            true => self.text_of_program(code),
            false => Text::Unknown,
        }
    }

    fn encoding(&self) -> &Encoding {
        self.encoding.get_or_init(|| Encoding::of_font(&self.dict))
    }

    fn text_of_map(&self, code: u32) -> Text {
        let text = self.to_unicode().and_then(|map| map.text(code));
        text.map_or(Text::Unknown, |text| self.mapped(&text))
    }

    fn text_of_font(&self, code: u32) -> Text {
        // The glyph's number matters only for outlines.
        let unicode = match self.font.glyph(GlyphId::NOTDEF, code) {
            FontGlyph::Outline(glyph) => glyph.as_unicode(),
            FontGlyph::Type3(glyph) => glyph.as_unicode(),
        };
        match unicode {
            None => Text::Unknown,
            Some(BfString::Char(char)) => self.mapped(char.encode_utf8(&mut [0; 4])),
            Some(BfString::String(string)) => self.mapped(&string),
        }
    }

    fn text_of_collection(&self, code: u32) -> Text {
        if self.simple {
            return Text::Unknown;
        }
        let read = || Collection::of_font(&self.dict, &self.cmap_resolver);
        let collection = self.collection.get_or_init(read).as_ref();
        match collection.and_then(|collection| collection.unicode(code)) {
            None => Text::Unknown,
            Some(BfString::Char(char)) => normalise_char(char),
            Some(BfString::String(string)) => normalise(&string),
        }
    }

    /// Returns the character that the embedded font itself gives to the glyph of a code.
    fn text_of_program(&self, code: u32) -> Text {
        let glyph = self.font.map_code(code);
        let FontGlyph::Outline(glyph) = self.font.glyph(glyph, code) else {
            return Text::Unknown;
        };
        let program = self
            .program
            .get_or_init(|| Program::of_font(&self.dict, &glyph));
        match program {
            Some(program) => program.text(glyph.glyph_id().to_u32()),
            None => Text::Unknown,
        }
    }

    /// Returns what a code most likely is that nothing gives a text.
    fn guess(&self, code: u32) -> Text {
        let char = match u8::try_from(code) {
            _ if !self.simple => self.guess_composite(code),
            Ok(code) => self.guess_simple(code),
            Err(_) => None,
        };
        match char {
            None if self.type3 && !self.encoding().is_by_use => type3::bitmap_char(code),
            None => Text::Unknown,
            Some(char) => normalise_char(char),
        }
    }

    fn guess_composite(&self, code: u32) -> Option<char> {
        // Codes that are often Unicode: blanks, narrow and wide, need no glyph.
        let blank = || matches!(code, 0x20 | 0x3000).then_some(' ');
        let char = match self.to_unicode() {
            Some(map) if map.is_identity => char::from_u32(code),
            _ if self.shows_glyphs() => glyph_name::usual_char(code),
            _ => None,
        };
        char.or_else(blank)
    }

    fn guess_simple(&self, code: u8) -> Option<char> {
        let encoding = self.encoding();
        let numbered = encoding.numbered(code);
        // A space needs no glyph, nor a name.
        let blank = || (code == b' ').then_some(' ');
        let unnamed = || match self.is_true_type() {
            true => encoding.unnamed(code, self.program.get().is_some_and(Option::is_some)),
            false => None,
        };
        numbered.or_else(blank).or_else(unnamed)
    }

    fn is_true_type(&self) -> bool {
        let subtype = self.dict.get::<Name<'_>>(b"Subtype");
        subtype.is_some_and(|subtype| &*subtype == b"TrueType")
    }

    /// Returns whether the codes of a composite font are the numbers of the glyphs of a TrueType font
    /// in the usual order.
    fn shows_glyphs(&self) -> bool {
        let encoding = self.dict.get::<Name<'_>>(b"Encoding");
        let is_identity = encoding.is_some_and(|name| name.starts_with(b"Identity"));
        let name = self.dict.get::<Name<'_>>(b"BaseFont");
        if let Some(Some(program)) = self.program.get()
            && !program.has_usual_order()
        {
            return false;
        }
        if name.is_some_and(|name| !glyph_name::is_for_text(&name)) {
            return false;
        }
        let subtype = descendant(&self.dict).and_then(|font| font.get::<Name<'_>>(b"Subtype"));
        is_identity && subtype.is_some_and(|subtype| &*subtype == b"CIDFontType2")
    }

    /// Normalises a text that the font gives to a code.
    fn mapped(&self, text: &str) -> Text {
        if text == "\u{AD}" && self.is_hyphen_soft() {
            return Text::Char('\u{AD}');
        }
        normalise(text)
    }

    /// Returns whether a soft hyphen is one. Word gives the only hyphen of a font this name.
    fn is_hyphen_soft(&self) -> bool {
        let has_hyphen =
            |map: &ToUnicode| ['-', '\u{2010}'].iter().any(|&char| map.begins_with(char));
        self.simple || self.to_unicode().is_some_and(has_hyphen)
    }
}

fn finite(number: f32) -> f32 {
    if number.is_finite() { number } else { 0.0 }
}

/// The fonts of one document, each of which is read once.
pub(super) struct Fonts<'a> {
    cache: FontCache<'a>,
    /// How many widths the fonts may still have.
    n_widths_left: usize,
    by_reference: HashMap<ObjRef, Option<Rc<LoadedFont<'a>>>>,
    missing: Option<Rc<LoadedFont<'a>>>,
    font_resolver: FontResolverFn,
    cmap_resolver: CMapResolverFn,
}

impl<'a> Fonts<'a> {
    pub(super) fn new() -> Self {
        Self {
            cache: FontCache::new(),
            n_widths_left: MAX_WIDTHS,
            by_reference: HashMap::new(),
            missing: None,
            font_resolver: Arc::new(|query| {
                Some(match query {
                    hayro_font::FontQuery::Standard(font) => font.get_font_data(),
                    hayro_font::FontQuery::Fallback(query) => {
                        query.pick_standard_font().get_font_data()
                    }
                })
            }),
            cmap_resolver: Arc::new(hayro_cmap::load_embedded),
        }
    }

    /// Returns Helvetica, which stands for a font that is missing.
    pub(super) fn missing(&mut self) -> Option<Rc<LoadedFont<'a>>> {
        if self.missing.is_none() {
            let font = self
                .cache
                .standard_font(StandardFont::Helvetica, &self.font_resolver)?;
            let font = LoadedFont::new(font, &Dict::default(), &self.cmap_resolver);
            self.missing = Some(Rc::new(font));
        }
        self.missing.clone()
    }

    /// Returns the font of a font resource, if it is readable.
    pub(super) fn get(&mut self, fonts: &Dict<'a>, name: &[u8]) -> Option<Rc<LoadedFont<'a>>> {
        let Some(reference) = fonts.get_ref(name) else {
            return self.load(&fonts.get::<Dict<'a>>(name)?);
        };
        if let Some(known) = self.by_reference.get(&reference) {
            return known.clone();
        }
        let font = fonts
            .get::<Dict<'a>>(name)
            .and_then(|dict| self.load(&dict));
        self.by_reference.insert(reference, font.clone());
        font
    }

    fn load(&mut self, dict: &Dict<'a>) -> Option<Rc<LoadedFont<'a>>> {
        self.n_widths_left = self.n_widths_left.checked_sub(n_widths(dict))?;
        let font = self
            .cache
            .font(dict, &self.font_resolver, &self.cmap_resolver)?;
        Some(Rc::new(LoadedFont::new(font, dict, &self.cmap_resolver)))
    }
}

/// Returns how many widths a font has. A few bytes can give the same width to billions of codes, and
/// the parser keeps one for each.
fn n_widths(font: &Dict<'_>) -> usize {
    // A simple font has widths for all codes up to its first as well.
    let simple = match font.contains_key(b"Widths") {
        true => font.get::<usize>(b"FirstChar").unwrap_or(0),
        false => 0,
    };
    let descendant = descendant(font);
    let n_in = |key: &[u8], n_numbers| {
        let widths = descendant.as_ref()?.get::<Array<'_>>(key)?;
        Some(n_in_ranges(&widths, n_numbers))
    };
    simple
        .saturating_add(n_in(b"W", 3).unwrap_or(0))
        .saturating_add(n_in(b"W2", 5).unwrap_or(0))
}

/// Returns how many widths an array gives: after the first code, an array of one for each code, or
/// the last code and their common width in `n_numbers` numbers (ISO 32000-2, 9.7.4.3).
fn n_in_ranges(widths: &Array<'_>, n_numbers: usize) -> usize {
    let mut objects = widths.iter::<Object<'_>>();
    let mut n_widths = 0_usize;
    while let (Some(first), Some(second)) = (objects.next(), objects.next()) {
        let n_codes = match (first, second) {
            (_, Object::Array(each)) => each.data().len() / 2,
            (Object::Number(first), Object::Number(last)) => {
                objects.by_ref().take(n_numbers - 2).for_each(drop);
                (last.as_f64() - first.as_f64() + 1.0).max(0.0) as usize
            }
            _ => break,
        };
        n_widths = n_widths.saturating_add(n_codes);
    }
    n_widths
}

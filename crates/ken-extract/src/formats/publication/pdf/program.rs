//! What the program of an embedded font says of its glyphs: their characters, and which are blank.
//!
//! Composite fonts without a map to Unicode show glyphs by number. The font's own table of
//! characters, read backwards, gives them their text (OpenType, `cmap` and `loca`).

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use hayro_font::OutlineGlyph;
use hayro_syntax::object::Dict;
use skrifa::raw::TableProvider;
use skrifa::raw::ps::agl;
use skrifa::{FontRef, GlyphId, MetadataProvider};

use super::collection::descendant;
use super::normal::{Text, normalise, normalise_char};

/// Characters of a font beyond this number are left out.
const MAX_CHARS: usize = 1 << 17;

/// The texts of the glyphs of a font.
#[derive(Default)]
pub(super) struct Program {
    texts: HashMap<u32, Text>,
}

impl Program {
    /// Reads the program of a font, one of whose glyphs is given; none if the font is not embedded.
    pub(super) fn of_font(font: &Dict<'_>, glyph: &OutlineGlyph) -> Option<Self> {
        let descendant = descendant(font);
        let font = descendant.as_ref().unwrap_or(font);
        let descriptor = font.get::<Dict<'_>>(b"FontDescriptor")?;
        let keys: [&[u8]; 3] = [b"FontFile2", b"FontFile3", b"FontFile"];
        if !keys.iter().any(|key| descriptor.contains_key(key)) {
            return None;
        }
        Self::parse((*glyph.font_data()?.data).as_ref())
    }

    fn parse(program: &[u8]) -> Option<Self> {
        let font = FontRef::from_index(program, 0).ok()?;
        let mut texts = HashMap::new();
        for (char, glyph) in font.charmap().mappings().take(MAX_CHARS) {
            let text = char::from_u32(char).map_or(Text::Unknown, normalise_char);
            // Of several characters with one glyph, the first one is the usual one.
            if text != Text::Unknown {
                texts.entry(glyph.to_u32()).or_insert(text);
            }
        }
        add_names(&font, &mut texts);
        add_blanks(&font, &mut texts);
        Some(Self { texts })
    }

    /// Returns whether glyphs may have their usual numbers: the space, which has no outline, has 3. A
    /// part of a font whose glyphs are numbered anew mostly has a letter there.
    pub(super) fn has_usual_order(&self) -> bool {
        self.text(3) == Text::Space
    }

    /// Returns the text of a glyph.
    pub(super) fn text(&self, glyph: u32) -> Text {
        self.texts.get(&glyph).cloned().unwrap_or(Text::Unknown)
    }
}

/// Gives the text of their names to glyphs without a character.
fn add_names(font: &FontRef<'_>, texts: &mut HashMap<u32, Text>) {
    for (glyph, name) in font.glyph_names().iter().take(MAX_CHARS) {
        if name.is_synthesized() {
            return;
        }
        if let Entry::Vacant(entry) = texts.entry(glyph.to_u32()) {
            let text = normalise(&agl::name_to_chars(name.as_str()).collect::<String>());
            if text != Text::Unknown {
                entry.insert(text);
            }
        }
    }
}

/// Makes glyphs without an outline spaces.
fn add_blanks(font: &FontRef<'_>, texts: &mut HashMap<u32, Text>) {
    let (Ok(places), Ok(outlines)) = (font.loca(None), font.glyf()) else {
        return;
    };
    for glyph in 0..places.len() as u32 {
        if matches!(places.get_glyf(GlyphId::new(glyph), &outlines), Ok(None)) {
            texts.entry(glyph).or_insert(Text::Space);
        }
    }
}

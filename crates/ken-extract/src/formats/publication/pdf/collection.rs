//! The character collections of Adobe, whose glyphs have numbers that tell their characters (ISO
//! 32000-2, 9.7.3).

use std::sync::Arc;

use hayro_cmap::{BfString, CMap, CMapName, CidFamily};
use hayro_font::CMapResolverFn;
use hayro_syntax::object::{Array, Dict, Name, String as PdfString};

/// Returns the font whose glyphs a composite font shows.
pub(super) fn descendant<'a>(font: &Dict<'a>) -> Option<Dict<'a>> {
    let descendants = font.get::<Array<'a>>(b"DescendantFonts")?;
    descendants.iter::<Dict<'a>>().next()
}

/// The characters of a composite font that has the glyphs of a character collection of Adobe.
pub(super) struct Collection {
    /// The map from codes to character identifiers; none if they are the same.
    encoding: Option<CMap>,
    /// The map from character identifiers to Unicode.
    unicode: CMap,
}

impl Collection {
    pub(super) fn of_font(font: &Dict<'_>, resolver: &CMapResolverFn) -> Option<Self> {
        let info = descendant(font)?.get::<Dict<'_>>(b"CIDSystemInfo")?;
        let family = CidFamily::from_registry_ordering(
            &info.get::<PdfString<'_>>(b"Registry")?,
            &info.get::<PdfString<'_>>(b"Ordering")?,
        );
        let parse = |name: CMapName<'_>| {
            let resolver = Arc::clone(resolver);
            CMap::parse(resolver(name)?, move |name: CMapName<'_>| resolver(name))
        };
        let encoding = font.get::<Name<'_>>(b"Encoding")?;
        Some(Self {
            encoding: match encoding.starts_with(b"Identity") {
                true => None,
                false => Some(parse(CMapName::from_bytes(&encoding))?),
            },
            unicode: parse(family.ucs2_cmap()?)?,
        })
    }

    pub(super) fn unicode(&self, code: u32) -> Option<BfString> {
        let identifier = match &self.encoding {
            None => code,
            Some(map) => (1..=4).find_map(|n_bytes| map.lookup_cid_code(code, n_bytes))?,
        };
        self.unicode.lookup_bf_string(identifier)
    }
}

//! Character sets, under the names that mailers write.

mod asian;
pub mod code_page;
mod shifted;
mod tables;

use std::borrow::Cow;

use encoding_rs::{
    BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, ISO_2022_JP, ISO_8859_6, ISO_8859_13,
    ISO_8859_14, ISO_8859_15, ISO_8859_16, KOI8_R, KOI8_U, MACINTOSH, SHIFT_JIS, UTF_8, UTF_16BE,
    UTF_16LE, WINDOWS_874, WINDOWS_1252, WINDOWS_1255, X_MAC_CYRILLIC,
};
use memchr::memchr_iter;

pub(crate) use shifted::sextet;
use tables::own;

/// The character set that is declared for a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// No known character set; or ASCII, which says nothing about other bytes.
    #[default]
    Unknown,
    /// A character set that the web uses too.
    Web(&'static Encoding),
    /// A code page of DOS, the Macintosh, a mainframe or a single country.
    CodePage(u16),
    /// UTF-7 (RFC 2152).
    Utf7,
    /// HZ (RFC 1843): Chinese in ASCII.
    Hz,
    /// ISO-2022-KR (RFC 1557): Korean in ASCII.
    Iso2022Kr,
    /// Johab: Korean of DOS and early Windows.
    Johab,
    /// EUC-TW: Chinese of Unix in Taiwan.
    EucTw,
}

impl Charset {
    /// Returns the character set with this name. The name may be misspelt, quoted, or followed by junk.
    pub fn named(name: &str) -> Self {
        let is_junk = |c: char| !c.is_ascii_alphanumeric();
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        let name = name.trim_matches(is_junk);
        let name = &name[..name.find(|c| !is_part(c)).unwrap_or(name.len())];
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        if ["us-ascii", "ascii", "ansi_x3.4-1968"].into_iter().any(is) {
            return Self::Unknown;
        }
        match Encoding::for_label_no_replacement(name.as_bytes()) {
            Some(encoding) => Self::Web(encoding),
            None => Self::misspelt(&name.to_ascii_lowercase()),
        }
    }

    /// Returns the character set with a name that no standard has, by a part of the name.
    fn misspelt(name: &str) -> Self {
        let compact: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        let row = PARTS.iter().find(|(part, _)| compact.contains(part));
        row.map(|(_, charset)| *charset)
            .or_else(|| iso_8859(name))
            .or_else(|| numbered(&compact))
            .unwrap_or_default()
    }

    /// Returns whether ASCII bytes in this charset mean ASCII characters.
    pub(crate) fn is_superset_of_ascii(self) -> bool {
        match self {
            Self::Unknown | Self::Johab | Self::EucTw => true,
            Self::CodePage(page) => !code_page::is_mainframe(page),
            Self::Web(encoding) => encoding.is_ascii_compatible(),
            Self::Utf7 | Self::Hz | Self::Iso2022Kr => false,
        }
    }

    /// Returns whether text declared in this charset may be UTF-8. Valid UTF-8 outside ASCII is hardly ever
    /// meaningful Latin-1.
    pub(crate) fn may_be_utf8(self) -> bool {
        match self {
            Self::Unknown => true,
            Self::Web(encoding) => encoding == UTF_8 || encoding == WINDOWS_1252,
            _ => false,
        }
    }

    /// Decodes bytes; `None` for UTF-8 and for an unknown charset, which the caller handles.
    pub fn decode(self, bytes: &[u8]) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Unknown => return None,
            Self::Web(encoding) if encoding == UTF_8 => return None,
            Self::Web(encoding) if encoding == UTF_16LE => encoding.decode(bytes).0,
            Self::Web(encoding) if encoding == ISO_2022_JP => {
                let bytes = shifted::without_idle_escapes(bytes);
                encoding
                    .decode_without_bom_handling(&bytes)
                    .0
                    .into_owned()
                    .into()
            }
            Self::Web(encoding) => encoding.decode_without_bom_handling(bytes).0,
            Self::CodePage(number) => code_page::decode(bytes, number),
            Self::Utf7 => shifted::utf7(bytes).into(),
            Self::Hz => shifted::hz(bytes).into(),
            Self::Iso2022Kr => shifted::iso_2022_kr(bytes).into(),
            Self::Johab => asian::johab(bytes).into(),
            Self::EucTw => asian::euc_tw(bytes).into(),
        })
    }

    /// Returns the character set of ASCII bytes with the escape sequences of ISO 2022, which switch to other
    /// characters.
    pub fn by_escapes(bytes: &[u8]) -> Option<Self> {
        memchr_iter(0x1b, bytes).find_map(|at| match bytes[at + 1..] {
            [b'$', b'B' | b'@', ..] | [b'(', b'J' | b'I', ..] | [b'$', b'(', b'D', ..] => {
                Some(Self::Web(ISO_2022_JP))
            }
            [b'$', b')', b'C', ..] => Some(Self::Iso2022Kr),
            _ => None,
        })
    }
}

/// Parts of misspelt names, with letters and digits only. The first part in a name decides.
const PARTS: [(&str, Charset); 64] = [
    ("utf8", Charset::Web(UTF_8)),
    ("utf7", Charset::Utf7),
    ("utf16be", Charset::Web(UTF_16BE)),
    ("utf16", Charset::Web(UTF_16LE)),
    ("ucs2", Charset::Web(UTF_16LE)),
    ("2022jp", Charset::Web(ISO_2022_JP)),
    ("2022kr", Charset::Iso2022Kr),
    ("hzgb", Charset::Hz),
    ("gb18030", Charset::Web(GB18030)),
    ("gb2312", Charset::Web(GBK)),
    ("gbk", Charset::Web(GBK)),
    ("euccn", Charset::Web(GBK)),
    ("big5", Charset::Web(BIG5)),
    ("shiftjis", Charset::Web(SHIFT_JIS)),
    ("sjis", Charset::Web(SHIFT_JIS)),
    ("mskanji", Charset::Web(SHIFT_JIS)),
    ("windows31j", Charset::Web(SHIFT_JIS)),
    ("eucjp", Charset::Web(EUC_JP)),
    ("ujis", Charset::Web(EUC_JP)),
    ("euckr", Charset::Web(EUC_KR)),
    ("johab", Charset::Johab),
    ("euctw", Charset::EucTw),
    ("cns11643", Charset::EucTw),
    ("5601", Charset::Web(EUC_KR)),
    ("uhc", Charset::Web(EUC_KR)),
    ("koi8t", Charset::CodePage(own::TAJIK)),
    ("koi8u", Charset::Web(KOI8_U)),
    ("koi8ru", Charset::Web(KOI8_U)),
    ("koi8", Charset::Web(KOI8_R)),
    ("tis620", Charset::Web(WINDOWS_874)),
    ("maccyrillic", Charset::Web(X_MAC_CYRILLIC)),
    ("macukrain", Charset::Web(X_MAC_CYRILLIC)),
    ("macjapan", Charset::Web(SHIFT_JIS)),
    ("mackorea", Charset::Web(EUC_KR)),
    ("macchinesetrad", Charset::Web(BIG5)),
    ("macchinesesimp", Charset::Web(GBK)),
    ("macthai", Charset::Web(WINDOWS_874)),
    ("machebrew", Charset::Web(WINDOWS_1255)),
    ("macarabic", Charset::CodePage(10004)),
    ("macgreek", Charset::CodePage(10006)),
    ("macromania", Charset::CodePage(10010)),
    ("macce", Charset::CodePage(10029)),
    ("maciceland", Charset::CodePage(10079)),
    ("macturkish", Charset::CodePage(10081)),
    ("maccroatian", Charset::CodePage(10082)),
    ("macroman", Charset::Web(MACINTOSH)),
    ("hproman8", Charset::CodePage(1051)),
    ("asmo708", Charset::Web(ISO_8859_6)),
    ("viscii", Charset::CodePage(own::VISCII)),
    ("tcvn", Charset::CodePage(own::TCVN)),
    ("armscii8", Charset::CodePage(own::ARMSCII)),
    ("georgianps", Charset::CodePage(own::GEORGIAN)),
    ("ptcp154", Charset::CodePage(own::KAZAKH)),
    ("keybcs2", Charset::CodePage(895)),
    ("kamenicky", Charset::CodePage(895)),
    ("ebcdicde", Charset::CodePage(273)),
    ("ebcdiccp", Charset::CodePage(37)),
    ("macintosh", Charset::Web(MACINTOSH)),
    ("latin7", Charset::Web(ISO_8859_13)),
    ("latin8", Charset::Web(ISO_8859_14)),
    ("latin9", Charset::Web(ISO_8859_15)),
    ("latin10", Charset::Web(ISO_8859_16)),
    ("isolatin1", Charset::Web(WINDOWS_1252)),
    ("latin1", Charset::Web(WINDOWS_1252)),
];

/// Reads `8859-15`, `iso8859_2:1987`, `x-iso-8859.9`.
fn iso_8859(name: &str) -> Option<Charset> {
    let (_, rest) = name.split_once("8859")?;
    let rest = rest.trim_start_matches(['-', '_', '.', ':']);
    let n_digits = rest.bytes().take_while(u8::is_ascii_digit).count().min(2);
    let label = format!("iso-8859-{}", &rest[..n_digits]);
    Encoding::for_label(label.as_bytes()).map(Charset::Web)
}

/// Reads the number of a code page and ignores the letters around it: `cp-850`, `win1252`, `x-ibm-437`.
fn numbered(compact: &str) -> Option<Charset> {
    let digits = compact.trim_matches(|c: char| !c.is_ascii_digit());
    match digits.parse().ok()? {
        65000 => Some(Charset::Utf7),
        1361 => Some(Charset::Johab),
        51950 => Some(Charset::EucTw),
        number if code_page::has_table(number) => Some(Charset::CodePage(number)),
        number => code_page::encoding(number).map(Charset::Web),
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::{IBM866, ISO_8859_2, ISO_8859_8, ISO_8859_8_I, WINDOWS_1250, WINDOWS_1251};

    use super::*;

    #[test]
    fn names_are_known_however_they_are_written() {
        let (web, page) = (Charset::Web, Charset::CodePage);
        for (name, charset) in [
            ("utf-8", web(UTF_8)),
            ("\"UTF8\"", web(UTF_8)),
            ("utf_8", web(UTF_8)),
            ("x-johab", Charset::Johab),
            ("ksc5601-johab", Charset::Johab),
            ("cp1361", Charset::Johab),
            ("EUC-TW", Charset::EucTw),
            ("x-euc_tw", Charset::EucTw),
            ("utf-8;", web(UTF_8)),
            ("utf-8 (Unicode)", web(UTF_8)),
            ("x-utf-8", web(UTF_8)),
            ("UTF-8*en", web(UTF_8)),
            ("'unicode-1-1-utf-8'", web(UTF_8)),
            ("unicode-1-1-utf-7", Charset::Utf7),
            ("csUnicode11UTF7", Charset::Utf7),
            ("UTF7", Charset::Utf7),
            ("us-ascii", Charset::Unknown),
            ("ANSI_X3.4-1968", Charset::Unknown),
            ("iso646-us", Charset::Unknown),
            ("x-unknown", Charset::Unknown),
            ("unknown-8bit", Charset::Unknown),
            ("", Charset::Unknown),
            ("cp-850", page(850)),
            ("IBM850", page(850)),
            ("x-cp437", page(437)),
            ("KEYBCS2", page(895)),
            ("cp858", page(858)),
            ("cp-866", web(IBM866)),
            ("cp-1252", web(WINDOWS_1252)),
            ("windows1252", web(WINDOWS_1252)),
            ("win-1251", web(WINDOWS_1251)),
            ("x-windows-1250", web(WINDOWS_1250)),
            ("cp65001", web(UTF_8)),
            ("8859-15", web(ISO_8859_15)),
            ("iso8859_15", web(ISO_8859_15)),
            ("iso-8859-2-windows-latin-2", web(ISO_8859_2)),
            ("iso-8859-1-windows-3.1-latin-1", web(WINDOWS_1252)),
            ("ISO 8859-2", Charset::Unknown),
            ("iso-8859-8-i", web(ISO_8859_8_I)),
            ("iso-8859-8-e", web(ISO_8859_8)),
            ("latin-9", web(ISO_8859_15)),
            ("ISOLatin10", web(ISO_8859_16)),
            ("x-sjis", web(SHIFT_JIS)),
            ("cp932", web(SHIFT_JIS)),
            ("windows-31j", web(SHIFT_JIS)),
            ("Shift_JIS-2004", web(SHIFT_JIS)),
            ("ks_c_5601-1987", web(EUC_KR)),
            ("KSC5601", web(EUC_KR)),
            ("cp949", web(EUC_KR)),
            ("gb2312", web(GBK)),
            ("GB2312_CHARSET", web(GBK)),
            ("cp936", web(GBK)),
            ("x-gbk", web(GBK)),
            ("cp950", web(BIG5)),
            ("iso-2022-jp-ms", web(ISO_2022_JP)),
            ("csISO2022JP", web(ISO_2022_JP)),
            ("iso-2022-kr", Charset::Iso2022Kr),
            ("HZ-GB-2312", Charset::Hz),
            ("koi8-ru", web(KOI8_U)),
            ("x-mac-ce", page(10029)),
            ("x-mac-romanian", page(10010)),
            ("x-mac-roman", web(MACINTOSH)),
            ("x-mac-japanese", web(SHIFT_JIS)),
            ("DOS-862", page(862)),
            ("ibm737", page(737)),
            ("IBM01140", page(1140)),
            ("ibm-1047", page(1047)),
            ("ebcdic-cp-us", page(37)),
            ("VISCII", page(own::VISCII)),
            ("koi8-t", page(own::TAJIK)),
            ("ASMO-708", web(ISO_8859_6)),
            ("99999999999", Charset::Unknown),
        ] {
            assert_eq!(Charset::named(name), charset, "{name}");
        }
    }

    #[test]
    fn bytes_are_decoded() {
        for (name, bytes, text) in [
            ("cp850", &b"\x81ber"[..], "über"),
            ("KOI8-R", b"\xf0\xd2\xc9", "При"),
            ("gbk", b"\xc4\xa3", "模"),
            ("ISO-2022-JP", b"\x1b$B%O%m!<\x1b(B", "ハロー"),
            ("ISO-2022-JP", b"\x1b$B%O\x1b(B\x1b$B%m\x1b(B", "ハロ"),
            ("UTF-7", b"+ZYeB9A-", "文致"),
            ("utf-16le", b"\xe9\0", "é"),
            ("utf-16", b"\xfe\xff\0\xe9", "é"),
        ] {
            let decoded = Charset::named(name).decode(bytes);
            assert_eq!(decoded.as_deref(), Some(text), "{name}");
        }
        assert_eq!(Charset::named("utf-8").decode(b"a"), None);
    }

    #[test]
    fn escapes_show_the_charset() {
        let by_escapes = Charset::by_escapes;
        assert_eq!(by_escapes(b"a \x1b$BF|"), Some(Charset::Web(ISO_2022_JP)));
        assert_eq!(by_escapes(b"\x1b$)C"), Some(Charset::Iso2022Kr));
        assert_eq!(by_escapes(b"\x1b[1mbold\x1b[0m \x1b"), None);
    }
}

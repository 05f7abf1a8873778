//! The properties of a message, recipient or attachment (MS-OXMSG 2.1 and 2.4): numbers are in one
//! stream, longer values in streams of their own, named by tag and type.

use std::collections::HashMap;

use crate::structure::compound::Compound;
use crate::structure::compound::EntryId;
use crate::structure::cursor::Cursor;
use crate::text::code_page::{self, WESTERN};
use crate::text::names;

/// Tags of properties (MS-OXPROPS).
pub(in crate::formats) mod tag {
    pub(in crate::formats::mail) const MESSAGE_CLASS: u16 = 0x001a;
    pub(in crate::formats) const SUBJECT: u16 = 0x0037;
    pub(in crate::formats::mail) const SENT: u16 = 0x0039;
    pub(in crate::formats::mail) const SENT_FOR_NAME: u16 = 0x0042;
    pub(in crate::formats::mail) const SENT_FOR_ADDRESS: u16 = 0x0065;
    pub(in crate::formats::mail) const TRANSPORT_HEADERS: u16 = 0x007d;
    pub(in crate::formats::mail) const RECIPIENT_KIND: u16 = 0x0c15;
    pub(in crate::formats::mail) const SENDER_NAME: u16 = 0x0c1a;
    pub(in crate::formats::mail) const SENDER_ADDRESS: u16 = 0x0c1f;
    pub(in crate::formats::mail) const DELIVERED: u16 = 0x0e06;
    pub(in crate::formats::mail) const BODY: u16 = 0x1000;
    pub(in crate::formats) const RTF: u16 = 0x1009;
    pub(in crate::formats) const HTML: u16 = 0x1013;
    pub(in crate::formats::mail) const MESSAGE_ID: u16 = 0x1035;
    pub(in crate::formats::mail) const DISPLAY_NAME: u16 = 0x3001;
    pub(in crate::formats::mail) const ADDRESS: u16 = 0x3003;
    pub(in crate::formats::mail) const CREATED: u16 = 0x3007;
    pub(in crate::formats::mail) const ATTACH_DATA: u16 = 0x3701;
    pub(in crate::formats::mail) const FILE_NAME: u16 = 0x3704;
    pub(in crate::formats::mail) const ATTACH_METHOD: u16 = 0x3705;
    pub(in crate::formats::mail) const LONG_FILE_NAME: u16 = 0x3707;
    pub(in crate::formats::mail) const MIME_TYPE: u16 = 0x370e;
    pub(in crate::formats::mail) const SMTP_ADDRESS: u16 = 0x39fe;
    pub(in crate::formats::mail) const INTERNET_CODE_PAGE: u16 = 0x3fde;
    pub(in crate::formats::mail) const LOCALE: u16 = 0x3ff1;
    pub(in crate::formats::mail) const CODE_PAGE: u16 = 0x3ffd;
    pub(in crate::formats::mail) const SENDER_SMTP: u16 = 0x5d01;
    pub(in crate::formats::mail) const SENT_FOR_SMTP: u16 = 0x5d02;

    /// Returns whether the reader of messages uses this property.
    pub(in crate::formats::mail) fn is_used(tag: u16) -> bool {
        matches!(
            tag,
            MESSAGE_CLASS
                | SUBJECT
                | SENT
                | SENT_FOR_NAME
                | SENT_FOR_ADDRESS
                | TRANSPORT_HEADERS
                | RECIPIENT_KIND
                | SENDER_NAME
                | SENDER_ADDRESS
                | DELIVERED
                | BODY
                | RTF
                | HTML
                | MESSAGE_ID
                | DISPLAY_NAME
                | ADDRESS
                | CREATED
                | ATTACH_DATA
                | FILE_NAME
                | ATTACH_METHOD
                | LONG_FILE_NAME
                | MIME_TYPE
                | SMTP_ADDRESS
                | INTERNET_CODE_PAGE
                | CODE_PAGE
                | SENDER_SMTP
                | SENT_FOR_SMTP
        )
    }
}

/// Returns the code page of Windows for the charset in which a message was sent; none if the charset
/// says nothing about the language, or is Western, as many programs write whatever the language is.
fn of_internet(page: u16) -> Option<u16> {
    Some(match page {
        28592 => 1250,
        20866 | 21866 | 28595 => 1251,
        28597 => 1253,
        28599 => 1254,
        28598 | 38598 => 1255,
        28596 => 1256,
        28594 | 28603 => 1257,
        50220..=50222 | 51932 => 932,
        20936 | 52936 | 54936 => 936,
        51949 => 949,
        874 | 932 | 936 | 949 | 950 | 1250 | 1251 | 1253..=1258 => page,
        _ => return None,
    })
}

/// The properties in one storage.
pub(super) struct Properties<'a> {
    file: &'a Compound<'a>,
    storage: EntryId,
    numbers: HashMap<u16, u64>,
    code_page: u16,
}

impl<'a> Properties<'a> {
    /// Reads the properties of a storage; returns none if it has none.
    pub(super) fn read(file: &'a Compound<'a>, storage: EntryId) -> Option<Self> {
        let stream = file.stream(storage, "__properties_version1.0")?;
        // Entries of 16 bytes follow a header of 32, 24 or 8 bytes, which holds nothing useful.
        let header = match stream.len() % 16 {
            0 => 32,
            _ if file.find(storage, "__nameid_version1.0").is_some() => 32,
            _ => 8,
        };
        let mut entries = Cursor(stream.get(header..).unwrap_or_default());
        let mut numbers = HashMap::new();
        while let (Some(kind), Some(tag), Some(_flags), Some(value)) = (
            entries.le_u16(),
            entries.le_u16(),
            entries.le_u32(),
            entries.le_u64(),
        ) {
            let value = match kind {
                // Half of the bytes are not used.
                0x02 => value & 0xffff,
                0x03 => value & 0xffff_ffff,
                0x0b => value & 1,
                0x14 | 0x40 => value,
                _ => continue,
            };
            numbers.insert(tag, value);
        }
        let mut properties = Self {
            file,
            storage,
            code_page: WESTERN,
            numbers,
        };
        properties.code_page = properties.find_code_page();
        Some(properties)
    }

    /// Returns the code page of text that is not Unicode: the declared one, that of the charset in which
    /// the message was sent, that of the language, or the one that the text shows.
    fn find_code_page(&self) -> u16 {
        let short = |tag| {
            self.number(tag)
                .and_then(|number| u16::try_from(number).ok())
        };
        let is_western = |page: &u16| *page == WESTERN;
        let of_language = |language| Some(code_page::of_language(language));
        let declared = short(tag::CODE_PAGE).filter(|page| !matches!(page, 0 | 1200 | 65_001));
        declared
            .or_else(|| of_internet(short(tag::INTERNET_CODE_PAGE)?))
            .or_else(|| of_language(short(tag::LOCALE)?).filter(|page| !is_western(page)))
            .or_else(|| {
                let texts = [tag::SUBJECT, tag::BODY, tag::DISPLAY_NAME, tag::SENDER_NAME];
                let texts = texts.iter().filter_map(|&tag| self.stream(tag, 0x1e));
                names::page_of(&texts.flatten().collect::<Vec<u8>>())
            })
            .unwrap_or(WESTERN)
    }

    /// Sets the code page that the message declares for its recipients and attachments.
    pub(super) fn in_code_page(mut self, code_page: u16) -> Self {
        self.code_page = code_page;
        self
    }

    pub(super) fn code_page(&self) -> u16 {
        self.code_page
    }

    /// Returns the character set of the HTML body, if the message declares one.
    pub(super) fn html_charset(&self) -> Option<&'static str> {
        match self.number(tag::INTERNET_CODE_PAGE)? {
            65001 => Some("utf-8"),
            20866 => Some("koi8-r"),
            1250 => Some("windows-1250"),
            1251 => Some("windows-1251"),
            28592 => Some("iso-8859-2"),
            932 => Some("shift_jis"),
            50220..=50222 => Some("iso-2022-jp"),
            936 | 54936 => Some("gb18030"),
            950 => Some("big5"),
            949 => Some("euc-kr"),
            // HTML bodies mostly declare their own, or are Western.
            _ => None,
        }
    }

    /// Returns a number or a time.
    pub(super) fn number(&self, tag: u16) -> Option<u64> {
        self.numbers.get(&tag).copied()
    }

    /// Returns a non-empty text.
    pub(super) fn text(&self, tag: u16) -> Option<String> {
        let text = match self.stream(tag, 0x1f) {
            Some(bytes) => code_page::utf16(&bytes).into_owned(),
            None => code_page::decode(&self.stream(tag, 0x1e)?, self.code_page).into_owned(),
        };
        let text = text.trim_end_matches('\0');
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Returns bytes.
    pub(super) fn bytes(&self, tag: u16) -> Option<Vec<u8>> {
        self.stream(tag, 0x102)
    }

    fn stream(&self, tag: u16, kind: u16) -> Option<Vec<u8>> {
        let name = format!("__substg1.0_{tag:04X}{kind:04X}");
        self.file.stream(self.storage, &name)
    }
}

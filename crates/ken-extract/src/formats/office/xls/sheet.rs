//! Interprets the records of a workbook, in order (MS-XLS 2.4).

use std::collections::HashMap;

use super::link;
use super::record::{CONTINUE, Records};
use super::string::{Continued, Encoding};
use crate::Error;
use crate::formats::office::art;
use crate::formats::office::spreadsheet::number_format::NumberFormat;
use crate::formats::office::spreadsheet::value::{boolean, error, packed, shown};
use crate::formats::office::spreadsheet::workbook::{
    MAX_STYLES, Workbook, add_cell_names, without_codes,
};
use crate::output::body::Body;
use crate::structure::cursor::Cursor;
use crate::text::charset;
use crate::text::code_page::{UTF16, WESTERN};

/// The first version with Unicode.
const BIFF_8: u16 = 0x600;

/// Reads a workbook.
pub(super) struct SheetReader {
    body: Body,
    encoding: Encoding,
    shared: Workbook,
    /// Format codes by number.
    codes: HashMap<u16, String>,
    /// Code pages of fonts, and of cell styles by their fonts: in Excel 5 each font has one.
    font_pages: Vec<Option<u16>>,
    style_pages: Vec<Option<u16>>,
    /// Names of sheets, in order.
    names: Vec<String>,
    n_sheets: usize,
    /// Whether sheets are parts of a workbook.
    is_in_workbook: bool,
    /// Number of open parts of the stream: charts are inside sheets.
    depth: usize,
    /// The row of the last cell.
    row: Option<u16>,
    /// The column of the last cell.
    column: u16,
    /// The style of the last cell, if that was a formula whose text follows.
    awaits_text: Option<u16>,
    /// Text below the cells: comments, text boxes, with the number of its object.
    below: Vec<(u16, String)>,
    /// The number of the last object.
    object: u16,
    /// Text that sheets repeat: headers, choices of rules for cells; and targets of links.
    repeated: Vec<String>,
    links: Vec<String>,
    /// The names that the user gave to cells.
    cell_names: Vec<String>,
    pictures: Vec<u8>,
}

impl SheetReader {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            body: Body::new(max_bytes),
            encoding: Encoding {
                is_unicode: true,
                code_page: WESTERN,
            },
            shared: Workbook::default(),
            codes: HashMap::new(),
            font_pages: Vec::new(),
            style_pages: Vec::new(),
            names: Vec::new(),
            n_sheets: 0,
            is_in_workbook: false,
            depth: 0,
            row: None,
            column: 0,
            awaits_text: None,
            below: Vec::new(),
            object: 0,
            repeated: Vec::new(),
            links: Vec::new(),
            cell_names: Vec::new(),
            pictures: Vec::new(),
        }
    }

    pub(super) fn read(&mut self, mut records: Records<'_>) -> Result<(), Error> {
        let mut n_records = 0;
        while let Some((number, data)) = records.next() {
            n_records += 1;
            match number {
                0xfc => self.read_shared_strings(data, &mut records),
                0x1b6 => self.read_text_box(data, &mut records),
                0xeb => self.add_pictures(data, &mut records),
                0x3d..=0x3f | CONTINUE => {}
                _ => {
                    // A record that is too short for its kind is ignored.
                    let _ = self.record(number, Cursor(data));
                }
            }
            if self.body.is_full() {
                return Ok(());
            }
        }
        self.end_sheet();
        if n_records == 0 || !(self.depth == 0 || records.is_at_end()) {
            return Err(Error::Malformed("the workbook is cut off".into()));
        }
        Ok(())
    }

    /// Returns the text and the number of sheets.
    pub(super) fn finish(mut self) -> (String, usize) {
        add_cell_names(&self.cell_names, &mut self.body);
        (self.body.finish(), self.n_sheets)
    }

    fn record(&mut self, number: u16, mut data: Cursor<'_>) -> Option<()> {
        match number {
            0x809 => self.begin(data.le_u16()?, data.le_u16()?),
            0x0a => self.end(),
            0x42 => {
                // Excel 97 writes the code page of Unicode into files of Excel 5, too.
                let page = data.le_u16()?;
                self.encoding.code_page = if page == UTF16 { WESTERN } else { page };
            }
            0x31 if self.font_pages.len() < MAX_STYLES => {
                let charset = *data.0.get(12)?;
                let page = charset::of_charset(i32::from(charset));
                self.font_pages.push(page.filter(|&page| page != WESTERN));
                // Fonts have no number 4.
                if self.font_pages.len() == 4 {
                    self.font_pages.push(None);
                }
            }
            0x22 => self.shared.from_1904 = data.le_u16()? == 1,
            0x85 => {
                data.take(6)?;
                self.names.push(self.encoding.read_short(&mut data)?);
            }
            0x41e => {
                let format = data.le_u16()?;
                let code = match self.encoding.is_unicode {
                    true => self.encoding.read_long(&mut data)?,
                    false => self.encoding.read_short(&mut data)?,
                };
                self.codes.insert(format, code);
            }
            0xe0 if self.shared.formats.len() < MAX_STYLES => {
                let font = data.le_u16()?;
                let page = self.font_pages.get(usize::from(font)).copied();
                self.style_pages.push(page.flatten());
                let format = data.le_u16()?;
                self.shared.formats.push(match self.codes.get(&format) {
                    Some(code) => NumberFormat::parse(code),
                    None => NumberFormat::built_in(usize::from(format)),
                });
            }
            0x14 | 0x15 => {
                let text = match self.encoding.is_unicode {
                    true => self.encoding.read_long(&mut data)?,
                    false => self.encoding.read_short(&mut data)?,
                };
                self.repeated.push(without_codes(&text));
            }
            0x18 => self.cell_name(&mut data)?,
            0x1be => self.validation(&mut data)?,
            0xec => {
                let descriptions = art::descriptions(data.0).into_iter();
                self.below.extend(descriptions.map(|text| (0, text)));
            }
            0x1b8 => self.links.extend(link::target(data.0)),
            0x5d => {
                data.take(6)?;
                self.object = data.le_u16()?;
            }
            0x1c if !self.encoding.is_unicode => {
                data.take(4)?;
                let text = self.encoding.read_long(&mut data)?;
                self.below.push((0, text));
            }
            0x1c => {
                data.take(6)?;
                let object = data.le_u16()?;
                let author = self.encoding.read_long(&mut data)?;
                self.author(object, author.trim());
            }
            // The text of a chart's series, title or axis.
            0x100d => {
                data.take(2)?;
                let text = self.encoding.read_short(&mut data)?;
                self.below.push((0, text));
            }
            0x207 => {
                let text = self.encoding.read_long(&mut data)?;
                if let Some(style) = self.awaits_text.take() {
                    self.text(style, &text);
                }
            }
            _ => self.cell_record(number, data)?,
        }
        Some(())
    }

    fn begin(&mut self, version: u16, kind: u16) {
        // Sheets of an earlier version may have no workbook around them. Within one, sheets of Excel 95 may declare the
        // version of Excel 97.
        let is_workbook = kind == 5;
        if self.depth == 0 && (is_workbook || !self.is_in_workbook && self.n_sheets == 0) {
            self.encoding.is_unicode = version >= BIFF_8;
        }
        self.is_in_workbook |= is_workbook;
        self.depth += 1;
        if self.depth > 1 || is_workbook {
            return;
        }
        self.end_sheet();
        if self.n_sheets > 0 {
            self.body.end_page();
        }
        if let Some(name) = self.names.get(self.n_sheets) {
            self.body.line(name);
        }
        self.n_sheets += 1;
    }

    fn end(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.depth == 0 {
            self.end_sheet();
        }
    }

    fn end_sheet(&mut self) {
        if self.row.take().is_some() {
            self.body.end_row();
        }
        for target in std::mem::take(&mut self.links) {
            self.body.link(&target);
        }
        self.body.end_paragraph();
        for (_, text) in std::mem::take(&mut self.below) {
            self.body.line(&text);
        }
        for text in std::mem::take(&mut self.repeated) {
            self.body.once(text.trim());
        }
    }

    fn cell_record(&mut self, number: u16, mut data: Cursor<'_>) -> Option<()> {
        if !matches!(
            number,
            0x06 | 0xfd | 0x204 | 0xd6 | 0x203 | 0x27e | 0xbd | 0x205
        ) || self.depth > 1
        {
            return None;
        }
        self.go_to_row(data.le_u16()?);
        self.column = data.le_u16()?;
        if number == 0xbd {
            while data.0.len() >= 8 {
                let style = data.le_u16()?;
                self.number(style, packed(data.le_u32()?));
                self.column = self.column.saturating_add(1);
            }
            return Some(());
        }
        let style = data.le_u16()?;
        match number {
            0xfd => {
                let number = data.le_u32()? as usize;
                let text = self
                    .format(style)
                    .show_text(self.shared.strings.get(number));
                self.body.begin_cell_at(self.column.into());
                self.body.push(&text);
                self.body.end_cell();
            }
            0x204 | 0xd6 => {
                let mut encoding = self.encoding;
                if let Some(Some(page)) = self.style_pages.get(usize::from(style)) {
                    encoding.code_page = *page;
                }
                let text = encoding.read_long(&mut data)?;
                self.text(style, &text);
            }
            0x203 => self.number(style, f64::from_bits(data.le_u64()?)),
            0x27e => self.number(style, packed(data.le_u32()?)),
            0x205 => {
                let (value, is_error) = (data.byte()?, data.byte()?);
                self.cell(if is_error == 0 {
                    boolean(value)
                } else {
                    error(value)
                });
            }
            _ => self.formula(style, data.le_u64()?),
        }
        Some(())
    }

    /// Shows the last result of a formula.
    fn formula(&mut self, style: u16, result: u64) {
        self.awaits_text = None;
        if result >> 48 != 0xffff {
            return self.number(style, f64::from_bits(result));
        }
        let value = (result >> 16) as u8;
        match result as u8 {
            0 => self.awaits_text = Some(style),
            1 => self.cell(boolean(value)),
            2 => self.cell(error(value)),
            _ => {}
        }
    }

    fn number(&mut self, style: u16, value: f64) {
        let text = self
            .format(style)
            .show(&shown(value), self.shared.from_1904);
        self.cell(&text);
    }

    fn text(&mut self, style: u16, text: &str) {
        let text = self.format(style).show_text(text).into_owned();
        self.cell(&text);
    }

    fn format(&self, style: u16) -> &NumberFormat {
        let format = self.shared.formats.get(usize::from(style));
        format.unwrap_or(&NumberFormat::General)
    }

    fn cell(&mut self, text: &str) {
        self.body.begin_cell_at(self.column.into());
        self.body.push(text);
        self.body.end_cell();
    }

    fn go_to_row(&mut self, row: u16) {
        if self.row == Some(row) {
            return;
        }
        if self.row.replace(row).is_some() {
            self.body.end_row();
        }
        self.body.begin_row();
    }

    fn read_shared_strings<'a>(&mut self, data: &'a [u8], records: &mut Records<'a>) {
        let mut strings = Continued::new(data.get(8..).unwrap_or_default(), records);
        while let Some(text) = strings.string() {
            self.shared.strings.push(&text);
        }
    }

    /// Collects the pictures of all sheets, whose records go on in the following ones of either kind.
    fn add_pictures<'a>(&mut self, data: &'a [u8], records: &mut Records<'a>) {
        self.pictures.extend_from_slice(data);
        while let Some(data) = records.next_continued() {
            self.pictures.extend_from_slice(data);
        }
    }

    /// Returns the pictures that the sheets show, as records of OfficeArt.
    pub(super) fn take_pictures(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.pictures)
    }

    /// Reads the text of a comment, text box or button.
    fn read_text_box<'a>(&mut self, data: &'a [u8], records: &mut Records<'a>) {
        let Some(&[low, high]) = data.get(10..12) else {
            return;
        };
        let n_characters = usize::from(u16::from_le_bytes([low, high]));
        if n_characters == 0 {
            return;
        }
        // All characters are in records that continue this one.
        let text = Continued::new(&[], records).characters(n_characters, 0);
        self.below.push((self.object, text));
    }

    /// Puts the author of a comment before its text, unless the text begins with it.
    fn author(&mut self, object: u16, author: &str) {
        let mut comments = self.below.iter_mut();
        if let Some((_, text)) = comments.find(|(number, _)| *number == object)
            && !author.is_empty()
            && !text.trim_start().starts_with(author)
        {
            *text = format!("{author}: {text}");
        }
    }

    /// Reads the name that the user gave to cells (MS-XLS 2.4.150).
    fn cell_name(&mut self, data: &mut Cursor<'_>) -> Option<()> {
        const IS_HIDDEN: u16 = 0x01;
        /// A function, or a procedure of Basic or of the sheet itself.
        const IS_MACRO: u16 = 0x0e;
        const IS_BUILT_IN: u16 = 0x20;
        let flags = data.le_u16()?;
        let _key = data.byte()?;
        let n_characters = usize::from(data.byte()?);
        data.take(10)?;
        let name = self.encoding.read(n_characters, data)?;
        let is_of_user =
            flags & (IS_HIDDEN | IS_MACRO | IS_BUILT_IN) == 0 && !name.starts_with('_');
        if is_of_user && self.cell_names.len() < MAX_STYLES {
            self.cell_names.push(name);
        }
        Some(())
    }

    /// Reads the messages and the choices of a rule for cells (MS-XLS 2.4.91).
    fn validation(&mut self, data: &mut Cursor<'_>) -> Option<()> {
        const IS_LIST_OF_TEXT: u32 = 0x80;
        const STRING: u8 = 0x17;
        let flags = data.le_u32()?;
        for _ in 0..4 {
            let message = self.encoding.read_long(data)?;
            self.repeated.push(message.replace('\0', ""));
        }
        data.take(4)?;
        if flags & IS_LIST_OF_TEXT != 0 && data.byte()? == STRING {
            let choices = self.encoding.read_short(data)?;
            self.repeated.push(choices.replace('\0', "\n"));
        }
        Some(())
    }
}

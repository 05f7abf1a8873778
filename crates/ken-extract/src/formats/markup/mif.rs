//! The interchange format of FrameMaker (Adobe's *MIF Reference*): statements in angle brackets, of which the strings and characters of
//! paragraphs are text. Catalogues of formats, which are most of a file, are left out.

use crate::input::text::read_bytes;
use crate::output::Output;
use crate::output::body::Body;
use crate::text::code_page;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("FrameMaker MIF", &["application/vnd.mif"], extract);

/// Statements are never nested so deep.
const MAX_DEPTH: usize = 256;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let (bytes, whole) = read_bytes(input, output.limits())?;
    let mut reader = Reader {
        body: Body::new(output.limits().max_text_bytes),
        open: Vec::new(),
        n_deeper: 0,
    };
    let is_whole = reader.read(&bytes);
    output.own().body = reader.body.finish();
    whole?;
    match is_whole {
        true => Ok(()),
        false => Err(Error::Malformed("a statement has no end".into())),
    }
}

struct Reader<'a> {
    body: Body,
    /// The names of the open statements.
    open: Vec<&'a [u8]>,
    /// Statements that are open beyond the deepest one.
    n_deeper: usize,
}

impl<'a> Reader<'a> {
    /// Reads all statements; returns whether each has its end.
    fn read(&mut self, bytes: &'a [u8]) -> bool {
        let mut rest = bytes;
        while let Some(at) = rest
            .iter()
            .position(|byte| matches!(byte, b'<' | b'>' | b'`' | b'#'))
        {
            let after = &rest[at + 1..];
            rest = match rest[at] {
                b'<' => self.begin(after),
                b'>' => {
                    self.end();
                    after
                }
                b'`' => self.string(after),
                // A comment, up to the end of the line.
                _ => &after[memchr::memchr(b'\n', after).unwrap_or(after.len())..],
            };
            if self.body.is_full() {
                return true;
            }
        }
        self.open.is_empty()
    }

    /// Begins a statement; returns what follows its name.
    fn begin(&mut self, after: &'a [u8]) -> &'a [u8] {
        let is_end = |byte: &u8| !byte.is_ascii_alphanumeric();
        let end = after.iter().position(is_end).unwrap_or(after.len());
        let (name, rest) = after.split_at(end);
        if self.open.len() >= MAX_DEPTH {
            self.n_deeper += 1;
            return rest;
        }
        self.open.push(name);
        match name {
            b"Row" => self.body.begin_row(),
            b"Cell" => self.body.begin_cell(),
            b"Char" => {
                let word = rest.trim_ascii_start();
                let end = word.iter().position(is_end).unwrap_or(word.len());
                self.body.push(character(&word[..end]));
            }
            _ => {}
        }
        rest
    }

    fn end(&mut self) {
        if self.n_deeper > 0 {
            self.n_deeper -= 1;
            return;
        }
        match self.open.pop() {
            Some(b"Para" | b"TextLine") => self.body.end_paragraph(),
            Some(b"Cell") => self.body.end_cell(),
            Some(b"Row") => self.body.end_row(),
            _ => {}
        }
    }

    /// Reads a string up to its quote; returns what follows.
    fn string(&mut self, after: &'a [u8]) -> &'a [u8] {
        let end = memchr::memchr(b'\'', after).unwrap_or(after.len());
        let is_text = matches!(
            self.open.as_slice(),
            [.., b"ParaLine" | b"TextLine", b"String"]
        );
        if is_text {
            self.body.push(&unescaped(&after[..end]));
        }
        after.get(end + 1..).unwrap_or_default()
    }
}

/// Resolves escapes. Text is UTF-8 since version 8, and was in a code page of its own before.
fn unescaped(bytes: &[u8]) -> String {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'\\' {
            plain.push(*first);
            continue;
        }
        match rest {
            [b'x', high, low, after @ ..] => {
                let digits = [*high, *low];
                let number = std::str::from_utf8(&digits).ok();
                let number = number.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                plain.extend(number);
                // A space ends the digits.
                rest = after.strip_prefix(b" ").unwrap_or(after);
            }
            [letter, after @ ..] => {
                plain.push(match letter {
                    b't' => b'\t',
                    b'q' => b'\'',
                    b'Q' => b'`',
                    other => *other,
                });
                rest = after;
            }
            [] => {}
        }
    }
    match String::from_utf8(plain) {
        Ok(text) => text,
        Err(error) => code_page::decode(error.as_bytes(), 10000).into_owned(),
    }
}

/// Returns a character by its name.
fn character(name: &[u8]) -> &'static str {
    match name {
        b"Tab" => "\t",
        b"HardReturn" => "\n",
        b"HardSpace" | b"NumberSpace" | b"ThinSpace" | b"EnSpace" | b"EmSpace" => " ",
        b"HardHyphen" => "-",
        b"EmDash" => "\u{2014}",
        b"EnDash" => "\u{2013}",
        b"Cent" => "\u{a2}",
        b"Pound" => "\u{a3}",
        b"Yen" => "\u{a5}",
        b"Dagger" => "\u{2020}",
        b"DoubleDagger" => "\u{2021}",
        b"Bullet" => "\u{2022}",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Reason};

    use super::*;
    use crate::detect::Detected;
    use crate::testing::{run, survives};

    const MIF: Detected = Detected {
        media_type: "application/vnd.mif",
        kind: Kind::Document,
    };

    const FILE: &str = "<MIFFile 2015> # of a test\n<PgfCatalog <Pgf <PgfTag `Body'> <PgfFont <FFamily `Times'> > > >\n\
        <Tbls <Tbl <TblBody <Row <Cell <CellContent <Para <ParaLine <String `a'> > > > > <Cell <CellContent \
        <Para <ParaLine <String `b'> > > > > > > > >\n<TextFlow <Para <PgfTag `Body'> <ParaLine <String \
        `It\\qs Größe '> <Char Tab> <String `x \\> y'> > <ParaLine <String `more'> <Marker <MText \
        `hidden'> > > > >\n";

    #[test]
    fn strings_of_paragraphs_are_text() {
        let found = run(extract, MIF, "a.mif", FILE.as_bytes());
        assert_eq!(found.own().failure, None);
        assert_eq!(found.own().body, "a\tb\nIt's Größe \tx > ymore");
        survives(extract, MIF, "a.mif", FILE.as_bytes());
        let cut = run(extract, MIF, "a.mif", &FILE.as_bytes()[..FILE.len() - 6]);
        let failure = cut.own().failure.as_ref();
        assert_eq!(
            failure.map(|failure| failure.reason()),
            Some(Reason::Malformed)
        );
    }

    #[test]
    fn older_files_have_the_code_page_of_the_macintosh() {
        assert_eq!(unescaped(b"Gr\\x9a \\xa7 e"), "Größe");
        assert_eq!(unescaped(b"\\"), "");
    }
}

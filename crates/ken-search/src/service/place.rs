//! The place of a match, as ken prints it behind an address: `:12` for a line, ` p. 3` for a page.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A place in a document, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of the text.
    Line(usize),
    /// A page.
    Page(usize),
}

/// Splits an address from the place behind it: `notes.txt:12`, `notes.txt:12:5`, `paper.pdf p. 3`, `paper.pdf, p. 3`.
pub(super) fn place_behind(typed: &Path) -> Option<(&Path, Place)> {
    let bytes = typed.as_os_str().as_bytes();
    let (rest, number) = number_behind(bytes)?;
    let (rest, place) = if let Some(rest) = rest.strip_suffix(b" p. ") {
        (rest.strip_suffix(b",").unwrap_or(rest), Place::Page(number))
    } else {
        let rest = rest.strip_suffix(b":")?;
        // With a column, as grep prints it, the first number is the line.
        let with_column = number_behind(rest).and_then(|(path, line)| {
            let path = path.strip_suffix(b":")?;
            Some((path, Place::Line(line)))
        });
        with_column.unwrap_or((rest, Place::Line(number)))
    };
    let is_place = number > 0 && !rest.is_empty();
    is_place.then(|| (Path::new(OsStr::from_bytes(rest)), place))
}

/// Returns the ways to split an address from the name of a sheet behind it: `budget.ods sheet Rents 2026`.
pub(super) fn sheet_behind(typed: &Path) -> impl Iterator<Item = (&Path, &str)> {
    const BETWEEN: &[u8] = b" sheet ";
    let bytes = typed.as_os_str().as_bytes();
    let starts = bytes.windows(BETWEEN.len()).enumerate();
    starts
        .filter(|(at, between)| *at > 0 && *between == BETWEEN)
        .filter_map(|(at, _)| {
            let name = std::str::from_utf8(&bytes[at + BETWEEN.len()..]).ok()?;
            Some((Path::new(OsStr::from_bytes(&bytes[..at])), name))
        })
}

/// Splits bytes from the number at their end.
fn number_behind(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let n_digits = bytes.iter().rev().take_while(|byte| byte.is_ascii_digit());
    let (rest, digits) = bytes.split_at(bytes.len() - n_digits.count());
    let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((rest, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_stand_behind_addresses() {
        for (typed, expected) in [
            ("a.txt:12", Some(("a.txt", Place::Line(12)))),
            ("a.txt:12:5", Some(("a.txt", Place::Line(12)))),
            ("a b.pdf p. 3", Some(("a b.pdf", Place::Page(3)))),
            ("a b.pdf, p. 3", Some(("a b.pdf", Place::Page(3)))),
            ("a.zip|b:1", Some(("a.zip|b", Place::Line(1)))),
            ("a.txt", None),
            ("a:0", None),
            (":3", None),
            ("1", None),
            ("a:99999999999999999999999", None),
        ] {
            let expected = expected.map(|(path, place)| (Path::new(path), place));
            assert_eq!(place_behind(Path::new(typed)), expected, "{typed}");
        }
    }
}

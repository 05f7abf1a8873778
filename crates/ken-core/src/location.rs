//! The location of a document: the path of a file and the member path inside it.
//!
//! Paths are bytes. Unix names need not be UTF-8, and ken must be able to open every file that it finds.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The member path: the way from a file to a document inside it, empty for the file itself.
///
/// Components are joined by `|`; a `|` or `\` inside a component is written `\|` or `\\`. Examples: `12` (message 12
/// of an mbox), `docs/a.zip|b.txt` (a member of a member).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ipath(String);

impl Ipath {
    /// Returns the member path of the file itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// Returns a member path from its joined form, as [`Ipath::as_str`] returns it.
    pub fn from_joined(joined: &str) -> Self {
        Self(joined.to_owned())
    }

    /// Returns the member path with one more component.
    pub fn child(&self, component: &str) -> Self {
        let mut joined = String::with_capacity(self.0.len() + component.len() + 1);
        joined.push_str(&self.0);
        if !self.0.is_empty() {
            joined.push('|');
        }
        for character in component.chars() {
            match character {
                // NUL separates path and member path in the index.
                '\0' => joined.push('\u{fffd}'),
                '|' | '\\' => {
                    joined.push('\\');
                    joined.push(character);
                }
                _ => joined.push(character),
            }
        }
        // An empty component must not look like the file itself.
        if component.is_empty() {
            joined.push_str("\\ ");
        }
        Self(joined)
    }

    /// Returns whether this is the file itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the joined form.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the number of containers around the document: 0 for the file itself.
    pub fn depth(&self) -> usize {
        if self.0.is_empty() {
            return 0;
        }
        self.separators().count() + 1
    }

    /// Returns the joined form of the first components, or of all if there are fewer.
    pub fn prefix(&self, components: usize) -> &str {
        match components.checked_sub(1) {
            None => "",
            Some(before) => {
                let end = self.separators().nth(before).unwrap_or(self.0.len());
                &self.0[..end]
            }
        }
    }

    /// Returns the joined form of the last component; it is empty for the file itself.
    pub fn last(&self) -> &str {
        let start = self.separators().last().map_or(0, |bar| bar + 1);
        &self.0[start..]
    }

    /// Returns the offsets of the bars between components.
    fn separators(&self) -> impl Iterator<Item = usize> {
        let mut escaped = false;
        self.0.bytes().enumerate().filter_map(move |(at, byte)| {
            let plain = !std::mem::take(&mut escaped);
            escaped = plain && byte == b'\\';
            (plain && byte == b'|').then_some(at)
        })
    }
}

impl fmt::Display for Ipath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The location of a document: the path of the file and the member path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// Absolute path of the file, as the file system gave it.
    pub path: PathBuf,
    /// The member path.
    pub ipath: Ipath,
}

impl Location {
    /// Returns the location of a file itself.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            ipath: Ipath::root(),
        }
    }

    /// Returns the address of the document, as a user types it: the path, with `|` and the member path behind it if there is
    /// one.
    pub fn address(&self) -> PathBuf {
        let mut address = self.path.clone().into_os_string();
        if !self.ipath.is_root() {
            address.push("|");
            address.push(self.ipath.as_str());
        }
        address.into()
    }

    /// Returns the location as one byte string: the path, followed by a NUL and the member path if there is one. No
    /// path can hold a NUL. In byte order a file comes before its members.
    pub fn to_bytes(&self) -> Vec<u8> {
        let path = self.path.as_os_str().as_bytes();
        let mut bytes = Vec::with_capacity(path.len() + 1 + self.ipath.as_str().len());
        bytes.extend_from_slice(path);
        if !self.ipath.is_root() {
            bytes.push(0);
            bytes.extend_from_slice(self.ipath.as_str().as_bytes());
        }
        bytes
    }

    /// Reads what [`Location::to_bytes`] wrote.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let (path, ipath) = match bytes.iter().position(|&byte| byte == 0) {
            Some(nul) => (&bytes[..nul], &bytes[nul + 1..]),
            None => (bytes, &[][..]),
        };
        Self {
            path: Path::new(OsStr::from_bytes(path)).to_path_buf(),
            ipath: Ipath(String::from_utf8_lossy(ipath).into_owned()),
        }
    }

    /// Returns the file's name for people, with `\xNN` for bytes that are not UTF-8.
    pub fn file_name(&self) -> String {
        self.path
            .file_name()
            .map(|name| escape_bytes(name.as_bytes()).into_owned())
            .unwrap_or_default()
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape_bytes(self.path.as_os_str().as_bytes()))?;
        if !self.ipath.is_root() {
            write!(f, "|{}", self.ipath)?;
        }
        Ok(())
    }
}

/// Returns the extension of a file name, in lower case, if it looks like one.
pub fn extension(name: &str) -> Option<String> {
    let (stem, extension) = name.rsplit_once('.')?;
    let plausible = !stem.is_empty()
        && (1..=16).contains(&extension.len())
        && extension
            .chars()
            .all(|c| c.is_alphanumeric() || "_-+~".contains(c));
    plausible.then(|| extension.to_lowercase())
}

/// Returns bytes as text, with `\xNN` for bytes that are not UTF-8.
pub fn escape_bytes(bytes: &[u8]) -> Cow<'_, str> {
    use std::fmt::Write;

    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let mut text = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a String cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    Cow::Owned(text)
}

/// Returns the original bytes of a text of [`escape_bytes`]; `None` if it has no `\xNN`.
pub fn unescape_bytes(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut read = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        let escaped = rest.strip_prefix(b"\\x").and_then(|rest| {
            let (digits, after) = rest.split_first_chunk::<2>()?;
            let digits = std::str::from_utf8(digits).ok()?;
            let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            let byte = u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
            Some((byte, after))
        });
        let (byte, after) = escaped.unwrap_or((*first, after));
        read.push(byte);
        rest = after;
    }
    (read.len() < bytes.len()).then_some(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_bytes_are_read_again() {
        for bytes in [&b"caf\xe9.txt"[..], b"\xff\xfe", b"a\xc3b\xa9"] {
            let escaped = escape_bytes(bytes);
            assert_eq!(unescape_bytes(escaped.as_bytes()).as_deref(), Some(bytes));
        }
        for plain in [&b"caf\xe9"[..], b"", br"C:\xylophone", br"a\x4", br"a\x+4"] {
            assert_eq!(unescape_bytes(plain), None);
        }
    }

    #[test]
    fn extensions_of_names() {
        for (name, expected) in [
            ("a.PDF", Some("pdf")),
            ("a.tar.gz", Some("gz")),
            (".bashrc", None),
            ("a.", None),
            ("Dr. Smith's letter", None),
            ("1234.M5P6.host:2,S", None),
        ] {
            assert_eq!(extension(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn children_are_joined_and_escaped() {
        let ipath = Ipath::root().child("a|b").child("c\\d").child("");
        assert_eq!(ipath.as_str(), "a\\|b|c\\\\d|\\ ");
        assert_eq!(ipath.depth(), 3);
        let prefixes = ["", "a\\|b", "a\\|b|c\\\\d", ipath.as_str(), ipath.as_str()];
        for (components, prefix) in prefixes.into_iter().enumerate() {
            assert_eq!(ipath.prefix(components), prefix);
        }
        assert!(!Ipath::root().child("").is_root());
        assert_eq!(Ipath::root().depth(), 0);
    }

    #[test]
    fn locations_survive_their_byte_form() {
        let odd = OsStr::from_bytes(b"/tmp/caf\xe9|x.zip");
        let location = Location {
            path: PathBuf::from(odd),
            ipath: Ipath::root().child("in/side.txt").child("nul\0"),
        };
        assert_eq!(Location::from_bytes(&location.to_bytes()), location);
        let file = Location::file("/a/b");
        assert_eq!(Location::from_bytes(&file.to_bytes()), file);
        assert!(file.to_bytes() < location.to_bytes());
    }

    #[test]
    fn undecodable_bytes_are_shown_not_lost() {
        let location = Location::file(OsStr::from_bytes(b"/tmp/caf\xe9"));
        assert_eq!(location.to_string(), "/tmp/caf\\xe9");
        assert_eq!(location.file_name(), "caf\\xe9");
    }
}

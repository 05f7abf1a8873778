//! Reads a zip file whose parts make one document: OOXML, OpenDocument, EPUB.
//!
//! Names of parts are matched leniently (case, backslashes, a leading slash), because writers
//! differ. Parts are read under limits. A part that is damaged or too large yields what can be read
//! of it. The first such failure becomes the failure of the whole document, so that the rest of its
//! text stays searchable.

use std::collections::BTreeSet;
use std::io::{BufReader, Cursor, Read};

use flate2::read::DeflateDecoder;
use zip::ZipArchive;
use zip::read::Config;
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;

use ken_core::{Encryption, Setting};

use super::encryption::odf::Keys;
use super::rescue::rescued;
use super::xml::decode_xml;
use crate::expansion::{FREE_BYTES, max_expanded};
use crate::input::ReadSeek;
use crate::{Error, Expansion, Input, Limits};

/// Files up to this size are read at once, which is cheaper than seeking and takes little memory.
const WHOLE_BYTES: u64 = 8 << 20;
/// More parts than any program writes; each takes memory while the package is open.
const MAX_PARTS: usize = 100_000;

/// A number of bytes that may be read, and the setting that it follows from.
#[derive(Clone, Copy)]
struct Bound {
    bytes: u64,
    setting: Setting,
}

impl Bound {
    /// Returns the bound by the size of compressed data.
    fn of_expansion(n_compressed: u64, limits: &Limits) -> Self {
        Self {
            bytes: max_expanded(n_compressed, limits.max_expansion),
            setting: Setting::MaxExpansion,
        }
    }

    /// Returns the lower bound of the two.
    fn and(self, bytes: u64, setting: Setting) -> Self {
        match bytes < self.bytes {
            true => Self { bytes, setting },
            false => self,
        }
    }

    /// Reads up to the bound; fails if there is more.
    fn read(self, reader: impl Read, limits: &Limits, bytes: &mut Vec<u8>) -> Result<(), Error> {
        let result = reader.take(self.bytes + 1).read_to_end(bytes);
        if bytes.len() as u64 > self.bytes {
            bytes.truncate(self.bytes as usize);
            return Err(limits.reached(self.setting));
        }
        result.map(drop).map_err(Error::Read)
    }
}

/// An open package.
pub(crate) struct Package<'a> {
    archive: Archive<'a>,
    /// Folded name, original name and position in the archive, sorted.
    parts: Vec<(String, String, usize)>,
    limits: &'a Limits,
    /// What all parts together may still expand to.
    budget: Bound,
    /// The account of the outermost file.
    account: Expansion,
    /// Keys of encrypted parts.
    keys: Option<Keys>,
    /// Parts that the document refers to as files inside it, as its reader finds them.
    embedded: BTreeSet<String>,
    /// Positions of the parts whose text was asked for.
    are_read: BTreeSet<usize>,
    /// Whether the list of parts was made from what is left of a damaged file.
    is_rescued: bool,
    trouble: Option<Error>,
}

impl<'a> Package<'a> {
    /// Opens a package.
    ///
    /// # Errors
    /// Fails if the input is not a zip file, or its directory is damaged.
    pub(crate) fn open(input: &'a mut Input<'_>, limits: &'a Limits) -> Result<Self, Error> {
        let size = input.size();
        let account = input.account(limits);
        if size <= WHOLE_BYTES {
            input.bytes(limits)?;
        }
        let input = &*input;
        let (archive, trouble) = match open_archive(input) {
            Ok(archive) => (archive, None),
            Err(error @ Error::Malformed(_)) => (repaired(input, limits, &error)?, Some(error)),
            Err(error) => return Err(error),
        };
        let mut parts = Vec::with_capacity(archive.len());
        for (position, name) in archive.file_names_raw().enumerate() {
            let name = String::from_utf8_lossy(name).replace('\\', "/");
            let name = name.trim_start_matches('/');
            parts.push((name.to_ascii_lowercase(), name.to_owned(), position));
        }
        parts.sort_unstable();
        Ok(Self {
            archive,
            parts,
            limits,
            budget: Bound::of_expansion(size, limits)
                .and(limits.max_expanded_bytes, Setting::MaxExpandedBytes),
            account,
            keys: None,
            embedded: BTreeSet::new(),
            are_read: BTreeSet::new(),
            is_rescued: trouble.is_some(),
            trouble,
        })
    }

    /// Decrypts parts from now on.
    pub(crate) fn set_keys(&mut self, keys: Keys) {
        self.keys = Some(keys);
    }

    /// Remembers a part that is a file inside the document.
    pub(crate) fn embed(&mut self, name: &str) {
        let name = self.find(name).map(|(_, name, _)| name.clone());
        self.embedded.extend(name);
    }

    /// Returns the parts that are files inside the document, in alphabetical order.
    pub(crate) fn take_embedded(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.embedded)
    }

    /// Returns the XML parts of a damaged package that were not read, because the part that refers to
    /// them is lost; none of a whole package.
    pub(crate) fn loose_parts(&self) -> Vec<String> {
        let is_loose = |(name, _, position): &&(String, String, usize)| {
            self.is_rescued && name.ends_with(".xml") && !self.are_read.contains(position)
        };
        let parts = self.parts.iter().filter(is_loose);
        parts.map(|(_, name, _)| name.clone()).collect()
    }

    /// Returns the names of all parts, in alphabetical order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|(_, name, _)| name.as_str())
    }

    /// Returns whether there is a part of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.position(name).is_some()
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.find(name).map(|(_, _, position)| *position)
    }

    fn find(&self, name: &str) -> Option<&(String, String, usize)> {
        let folded = name.trim_start_matches('/').to_ascii_lowercase();
        let found = self
            .parts
            .binary_search_by(|(known, _, _)| known.as_str().cmp(&folded))
            .ok()?;
        Some(&self.parts[found])
    }

    /// Returns the text of an XML part, or `None` if there is no such part. Damage is remembered.
    pub(crate) fn xml(&mut self, name: &str) -> Option<String> {
        let position = self.position(name)?;
        self.are_read.insert(position);
        let (bytes, trouble) = self.read(position);
        self.tolerate(trouble.map_or(Ok(()), Err));
        Some(decode_xml(bytes))
    }

    /// Returns all bytes of a part.
    ///
    /// # Errors
    /// Fails if the part is absent, damaged, encrypted or too large.
    pub(crate) fn bytes(&mut self, name: &str) -> Result<Vec<u8>, Error> {
        let position = self
            .position(name)
            .ok_or_else(|| Error::Malformed(format!("there is no part {name}")))?;
        match self.read(position) {
            (bytes, None) => Ok(bytes),
            (_, Some(trouble)) => Err(trouble),
        }
    }

    /// Returns what can be read of a part, and why that is not everything.
    fn read(&mut self, position: usize) -> (Vec<u8>, Option<Error>) {
        let mut bytes = Vec::new();
        let mut part = match self.archive.by_index(position) {
            Ok(part) => part,
            Err(error) => return (bytes, Some(zip_error(error))),
        };
        let allowed = Bound::of_expansion(part.compressed_size(), self.limits)
            .and(self.limits.max_member_bytes, Setting::MaxMemberBytes)
            .and(self.budget.bytes, self.budget.setting);
        // The announced size may be wrong, so it is believed for the first MiB only.
        bytes.reserve_exact(part.size().min(allowed.bytes).min(FREE_BYTES) as usize);
        let mut trouble = allowed.read(&mut part, self.limits, &mut bytes).err();
        drop(part);
        if trouble.is_none() {
            (bytes, trouble) = self.unsealed(position, bytes, allowed);
        }
        self.budget.bytes -= (bytes.len() as u64).min(self.budget.bytes);
        if let Err(over) = self.account.spend(bytes.len() as u64) {
            self.budget = Bound {
                bytes: 0,
                setting: self.account.setting(),
            };
            trouble = Some(over);
        }
        (bytes, trouble)
    }

    /// Decrypts and unpacks a part if it is encrypted.
    fn unsealed(
        &mut self,
        position: usize,
        bytes: Vec<u8>,
        allowed: Bound,
    ) -> (Vec<u8>, Option<Error>) {
        let Some(keys) = &mut self.keys else {
            return (bytes, None);
        };
        let name = self.archive.name_for_index(position).and_then(Result::ok);
        let deflated = match keys.open(&name.unwrap_or_default(), &bytes) {
            Ok(None) => return (bytes, None),
            Ok(Some(deflated)) => deflated,
            Err(error) => return (Vec::new(), Some(error)),
        };
        inflated(&deflated, allowed, self.limits)
    }

    /// Remembers the first failure of a part; later ones are ignored.
    pub(crate) fn tolerate(&mut self, result: Result<(), Error>) {
        if let Err(error) = result {
            self.trouble.get_or_insert(error);
        }
    }

    /// Returns the first failure that was tolerated.
    pub(crate) fn failure(&mut self) -> Result<(), Error> {
        self.trouble.take().map_or(Ok(()), Err)
    }

    /// Ends reading.
    ///
    /// # Errors
    /// Returns the first failure that was tolerated.
    pub(crate) fn finish(self) -> Result<(), Error> {
        self.trouble.map_or(Ok(()), Err)
    }
}

/// Unpacks a part that was encrypted.
fn inflated(deflated: &[u8], allowed: Bound, limits: &Limits) -> (Vec<u8>, Option<Error>) {
    let allowed =
        Bound::of_expansion(deflated.len() as u64, limits).and(allowed.bytes, allowed.setting);
    let mut bytes = Vec::new();
    let result = allowed.read(DeflateDecoder::new(deflated), limits, &mut bytes);
    (bytes, result.err())
}

type Archive<'a> = ZipArchive<Box<dyn ReadSeek + 'a>>;

/// Opens the archive; fails if its list of parts is damaged, or too long.
fn open_archive<'a>(input: &'a Input<'_>) -> Result<Archive<'a>, Error> {
    // A buffer before memory would copy much that a seek then drops.
    let mut source: Box<dyn ReadSeek + 'a> = match input.in_memory() {
        Some(bytes) => Box::new(Cursor::new(bytes)),
        None => Box::new(BufReader::new(input.seekable()?)),
    };
    check_parts(&mut source, MAX_PARTS)?;
    ZipArchive::new(source).map_err(zip_error)
}

/// Opens what can be found without the list of parts, whose damage is `error`.
fn repaired<'a>(input: &Input<'_>, limits: &Limits, error: &Error) -> Result<Archive<'a>, Error> {
    let size = input.size();
    if size > limits.max_file_bytes {
        return Err(limits.too_large(size));
    }
    let bytes = input.range(0, size as usize)?;
    let Some(zip) = rescued(&bytes, limits) else {
        return Err(Error::Malformed(error.to_string()));
    };
    ZipArchive::new(Box::new(Cursor::new(zip)) as Box<dyn ReadSeek>).map_err(zip_error)
}

/// Fails if there are so many parts that their directory alone would fill the memory.
fn check_parts(source: &mut impl ReadSeek, max: usize) -> Result<(), Error> {
    let archive = ZipIterable::try_new(&mut *source, Config::default()).map_err(zip_error)?;
    let n_parts = archive.len();
    if n_parts > max {
        return Err(Error::built_in(format!(
            "the file has {n_parts} parts, more than {max}"
        )));
    }
    Ok(())
}

fn zip_error(error: ZipError) -> Error {
    match error {
        ZipError::Io(error) => Error::Read(error),
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => {
            Error::sealed(Encryption::Parts)
        }
        ZipError::InvalidArchive(cause) => Error::Malformed(zip_damage(&cause)),
        error => Error::malformed(error),
    }
}

/// Returns the message for a damaged zip file, which ends with its list of parts, the "end of
/// central directory".
pub(crate) fn zip_damage(cause: &str) -> String {
    match cause.contains("find EOCD") {
        true => "the list of parts at the end is missing: cut off or damaged".to_owned(),
        false => cause.to_owned(),
    }
}

/// Returns the name of the part that `target`, found in the part `base`, refers to.
pub(crate) fn resolve(base: &str, target: &str) -> String {
    let mut folders: Vec<&str> = match (target.starts_with('/'), base.rfind('/')) {
        (false, Some(end)) => base[..end].split('/').collect(),
        _ => Vec::new(),
    };
    for segment in target.split(['/', '\\']) {
        match segment {
            "" | "." => {}
            ".." => {
                folders.pop();
            }
            _ => folders.push(segment),
        }
    }
    folders.join("/")
}

#[cfg(test)]
pub(crate) mod tests {
    use ken_core::Cause;

    use std::io::Write;

    use zip::CompressionMethod;
    use zip::write::{SimpleFileOptions, ZipWriter};

    use super::*;

    /// Returns a zip file of these parts.
    pub(crate) fn zip_of(parts: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        for (name, content) in parts {
            writer.start_file(*name, options).unwrap();
            writer.write_all(content).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn with_package<T>(zip: &[u8], limits: &Limits, act: impl FnOnce(Package<'_>) -> T) -> T {
        let mut input = Input::bytes_of("x", zip);
        act(Package::open(&mut input, limits).unwrap())
    }

    #[test]
    fn names_are_found_as_odd_writers_spell_them() {
        let zip = zip_of(&[("Word\\Document.XML", b"<a/>"), ("/xl/b.xml", b"<b/>")]);
        with_package(&zip, &Limits::default(), |mut package| {
            assert_eq!(package.xml("word/document.xml").as_deref(), Some("<a/>"));
            assert_eq!(package.xml("/XL/b.xml").as_deref(), Some("<b/>"));
            assert!(package.xml("word").is_none());
            assert!(package.finish().is_ok());
        });
    }

    #[test]
    fn parts_of_a_file_that_is_cut_off_are_read() {
        let parts: [(&str, &[u8]); 3] = [("a.xml", b"<a/>"), ("b.xml", b"<b/>"), ("c", b"c")];
        let zip = zip_of(&parts);
        let cut = &zip[..memchr::memmem::find(&zip, b"PK\x01\x02").unwrap()];
        with_package(cut, &Limits::default(), |mut package| {
            assert_eq!(package.xml("a.xml").as_deref(), Some("<a/>"));
            assert_eq!(package.loose_parts(), ["b.xml"]);
            assert!(package.finish().is_err());
        });
        with_package(&zip, &Limits::default(), |package| {
            assert!(package.loose_parts().is_empty());
        });
    }

    #[test]
    fn a_bomb_is_cut_and_reported() {
        let zip = zip_of(&[("a", &vec![b' '; 3 << 20])]);
        let limits = Limits {
            max_expansion: 100,
            ..Limits::default()
        };
        with_package(&zip, &limits, |mut package| {
            assert!(package.xml("a").unwrap().len() < 2 << 20);
            assert!(package.finish().is_err_and(|error| error.is_limit()));
        });
    }

    #[test]
    fn a_part_read_again_and_again_uses_up_the_budget() {
        let zip = zip_of(&[("a", &vec![b' '; 3 << 20])]);
        with_package(&zip, &Limits::default(), |mut package| {
            for _ in 0..10 {
                package.xml("a");
            }
            assert!(package.finish().is_err_and(|error| error.is_limit()));
        });
    }

    #[test]
    fn packages_inside_one_file_share_its_account() {
        let zip = zip_of(&[("a", &vec![b' '; 3 << 20])]);
        let limits = Limits::default();
        let account = Expansion::resume(0, 10 << 20, &limits);
        let mut n_read = 0;
        for _ in 0..5 {
            let mut input = Input::bytes_of("x", &zip);
            input.expansion = Some(account.clone());
            let mut package = Package::open(&mut input, &limits).unwrap();
            package.xml("a");
            n_read += u32::from(package.finish().is_ok());
        }
        assert_eq!(n_read, 3, "of 3 MiB each in an account of 10");
    }

    #[test]
    fn large_parts_name_their_limit() {
        let zip = zip_of(&[("a", b"123456789")]);
        let limits = Limits {
            max_member_bytes: 4,
            ..Limits::default()
        };
        with_package(&zip, &limits, |mut package| {
            let error = package.bytes("a").unwrap_err();
            let limit = limits.limit(Setting::MaxMemberBytes);
            assert_eq!(Cause::from(error), Cause::limit(limit));
            assert_eq!(package.xml("a").as_deref(), Some("1234"));
        });
    }

    #[test]
    fn parts_that_exceed_a_limit_together_name_it() {
        let zip = zip_of(&[("a", b"12345678"), ("b", b"12345678")]);
        let limits = Limits {
            max_expanded_bytes: 10,
            ..Limits::default()
        };
        with_package(&zip, &limits, |mut package| {
            assert!(package.bytes("a").is_ok());
            let error = package.bytes("b").unwrap_err();
            let limit = limits.limit(Setting::MaxExpandedBytes);
            assert_eq!(Cause::from(error), Cause::limit(limit));
        });
    }

    #[test]
    fn too_many_parts_are_refused_before_their_names_are_read() {
        let zip = zip_of(&[("a", b""), ("b", b"")]);
        assert!(check_parts(&mut Cursor::new(&zip), 2).is_ok());
        let refused = check_parts(&mut Cursor::new(&zip), 1);
        assert!(refused.is_err_and(|error| error.is_limit()));
    }

    #[test]
    fn targets_are_resolved() {
        assert_eq!(
            resolve("ppt/slides/s1.xml", "../notes/n.xml"),
            "ppt/notes/n.xml"
        );
        assert_eq!(resolve("ppt/slides/s1.xml", "/xl/a.xml"), "xl/a.xml");
        assert_eq!(resolve("", "word/document.xml"), "word/document.xml");
        assert_eq!(resolve("a/b.xml", "../../../c"), "c");
    }
}

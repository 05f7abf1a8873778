//! The address of a document as ken prints it: `PATH`, `PATH|member`, its URL or its identifier, with `\xNN` for bytes
//! that are not UTF-8. The place of a match may stand behind it: `PATH:12`, `PATH p. 3`,
//! `PATH sheet Rents`.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use ken_core::{Field, Ipath, Location, Order, Pattern, Plan, Root, covering, unescape_bytes};
use ken_engine::DocAddress;
use ken_mail::maildir::MaildirPath;

use super::hit::sheet_named;
use super::place::sheet_behind;
use super::{Error, Named, Place, Service, is_id, place_behind};

/// The most documents whose names are compared with an address that is not in the index.
const MAX_COMPARED: usize = 100;
/// How similar an address must be to be suggested, of 1 for the same.
const MIN_SIMILARITY: f64 = 0.6;

/// A document that somebody named.
#[derive(Clone, Debug)]
pub struct Addressed {
    /// The document, with its text.
    pub named: Named,
    /// The place in the document, if the address names one.
    pub place: Option<Place>,
}

/// The document with an address, and its members.
pub(super) struct Target {
    pub(super) location: Location,
    pub(super) addresses: Vec<DocAddress>,
}

impl Service<'_> {
    /// Returns the document with an address: an identifier, a path, a URL of a file, or `path|member`, with or without the
    /// place of a match behind it. The cost is that of one look into the index, whatever the number of its documents.
    ///
    /// # Errors
    /// Fails if the index does not have the document or cannot be read.
    pub fn addressed(&self, typed: &Path) -> Result<Addressed, Error> {
        let (target, place) = match self.target_and_place(typed) {
            Err(Error::NotIndexed(path)) => return self.sheet(typed, path),
            found => found?,
        };
        match self.snapshot.document_at(&target.location)? {
            Some(at) => {
                let (id, stored) = (self.id(&target.location), self.snapshot.document(at)?);
                let named = Named { at, id, stored };
                Ok(Addressed { named, place })
            }
            None => Err(Error::NotIndexed(self.absolute(typed)?)),
        }
    }

    /// Returns the sheet of a spreadsheet with a typed address. `absolute` is its path, if it is none.
    fn sheet(&self, typed: &Path, absolute: PathBuf) -> Result<Addressed, Error> {
        for (rest, name) in sheet_behind(typed) {
            if self.target_alone(rest)?.is_none() {
                continue;
            }
            let found = self.addressed(rest)?;
            if let Some(number) = sheet_named(&found.named.stored.document, name) {
                let place = Some(Place::Page(number));
                return Ok(Addressed { place, ..found });
            }
        }
        Err(Error::NotIndexed(absolute))
    }

    /// Returns the locations of documents whose names are similar to an address that the index does not have, the most
    /// similar first. They are found by the words of the file's name.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn similar_to_address(&self, typed: &Path) -> Result<Vec<Location>, Error> {
        let typed = place_behind(typed).map_or(typed, |(rest, _)| rest);
        let wanted = self.absolute(typed)?;
        let wanted = wanted.to_string_lossy().to_lowercase();
        let name = wanted.rsplit(['/', '|']).next().unwrap_or_default();
        for patterns in [as_beginning, as_misspelt] {
            let plan = self.with_name(name, patterns);
            let found = self
                .snapshot
                .run(&plan, Order::default(), 0, MAX_COMPARED)?;
            let mut similar = Vec::new();
            for hit in found.hits {
                let location = self.snapshot.location(hit.address)?;
                let own = location.to_string().to_lowercase();
                let similarity = strsim::normalized_damerau_levenshtein(&own, &wanted);
                if similarity >= MIN_SIMILARITY || own.starts_with(&wanted) {
                    similar.push((similarity, location));
                }
            }
            similar.sort_by(|(a, _), (b, _)| b.total_cmp(a));
            if !similar.is_empty() {
                return Ok(similar.into_iter().map(|(_, location)| location).collect());
            }
        }
        Ok(Vec::new())
    }

    /// Returns a plan for documents with the words of a name in the names of their files.
    fn with_name(&self, name: &str, pattern: fn(String) -> Pattern) -> Plan {
        let field = Field::Filename;
        let mut parts = Vec::new();
        (self.context.analyze)(field, name, &mut |term, _, _| {
            let pattern = pattern(term.to_owned());
            parts.push(Plan::Match { field, pattern });
        });
        match parts.is_empty() {
            true => Plan::Nothing,
            false => Plan::And(parts),
        }
    }

    /// Finds the document with an address, and its members.
    pub(super) fn target(&self, typed: &Path) -> Result<Target, Error> {
        Ok(self.target_and_place(typed)?.0)
    }

    fn target_and_place(&self, typed: &Path) -> Result<(Target, Option<Place>), Error> {
        if let Some(target) = self.target_alone(typed)? {
            return Ok((target, None));
        }
        if let Some((rest, place)) = place_behind(typed)
            && let Some(target) = self.target_alone(rest)?
        {
            return Ok((target, Some(place)));
        }
        Err(Error::NotIndexed(self.absolute(typed)?))
    }

    /// Finds the document with an address that has no place behind it.
    fn target_alone(&self, typed: &Path) -> Result<Option<Target>, Error> {
        if let Some(location) = self.location_with_id(typed)? {
            return self.target_at(&location.path, location.ipath);
        }
        let path = path_of_url(typed);
        let typed = path.as_deref().unwrap_or(typed);
        if let Some(target) = self.target_as_written(typed)? {
            return Ok(Some(target));
        }
        if let Some(bytes) = unescape_bytes(typed.as_os_str().as_bytes())
            && let Some(target) = self.target_as_written(Path::new(OsStr::from_bytes(&bytes)))?
        {
            return Ok(Some(target));
        }
        self.message_with_other_flags(typed)
    }

    /// Finds a message, or a part of one, by the path that it had: a change of flags changes the name of its file.
    fn message_with_other_flags(&self, typed: &Path) -> Result<Option<Target>, Error> {
        let bytes = typed.as_os_str().as_bytes();
        let name = bytes.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        let bar = bytes[name..].iter().position(|byte| *byte == b'|');
        let end = bar.map_or(bytes.len(), |bar| name + bar);
        let path = self.absolute(Path::new(OsStr::from_bytes(&bytes[..end])))?;
        let member = bytes.get(end + 1..).unwrap_or_default();
        let found = MaildirPath::of_path(&path).map(|message| message.find());
        match found {
            Some(Ok(Some(now))) if now != path => {
                let ipath = Ipath::from_joined(&String::from_utf8_lossy(member));
                self.target_at(&now, ipath)
            }
            _ => Ok(None),
        }
    }

    fn location_with_id(&self, typed: &Path) -> Result<Option<Location>, Error> {
        match typed.to_str().filter(|text| is_id(text)) {
            Some(id) => Ok(self.document(id)?.map(|named| named.stored.location)),
            None => Ok(None),
        }
    }

    fn target_as_written(&self, named: &Path) -> Result<Option<Target>, Error> {
        if let Some(whole) = self.target_at(named, Ipath::root())? {
            return Ok(Some(whole));
        }
        let bytes = named.as_os_str().as_bytes();
        let bars = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'|');
        for (bar, _) in bars {
            let path = Path::new(OsStr::from_bytes(&bytes[..bar]));
            let inside = String::from_utf8_lossy(&bytes[bar + 1..]);
            if let Some(target) = self.target_at(path, Ipath::from_joined(&inside))? {
                return Ok(Some(target));
            }
        }
        Ok(None)
    }

    fn target_at(&self, named: &Path, ipath: Ipath) -> Result<Option<Target>, Error> {
        let path = self.absolute(named)?;
        let location = Location { path, ipath };
        let addresses = self.snapshot.documents_below(&location)?;
        Ok((!addresses.is_empty()).then_some(Target {
            location,
            addresses,
        }))
    }

    fn absolute(&self, named: &Path) -> io::Result<PathBuf> {
        resolve(&self.context.cwd.join(named), self.roots())
    }
}

fn as_beginning(term: String) -> Pattern {
    Pattern::Prefix(term)
}

fn as_misspelt(term: String) -> Pattern {
    let n_mistakes = u8::from(term.chars().count() > 3);
    Pattern::Fuzzy(term, n_mistakes)
}

/// Returns the path in a URL of a file, as [`super::file_url`] writes it.
fn path_of_url(typed: &Path) -> Option<PathBuf> {
    let url = typed.as_os_str().as_bytes().strip_prefix(b"file://")?;
    let mut path = Vec::with_capacity(url.len());
    let mut rest = url;
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| byte == b'%');
        let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        path.push(escaped.unwrap_or(byte));
        rest = if escaped.is_some() {
            &after[2..]
        } else {
            after
        };
    }
    Some(OsStr::from_bytes(&path).into())
}

/// Returns a path as the walk names it. Roots have no symbolic links, but a link may lead to a file below a root.
///
/// # Errors
/// Fails if the path is empty.
pub fn resolve(path: &Path, roots: &[Root]) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    let is_plain = !absolute
        .components()
        .any(|part| part == Component::ParentDir);
    if is_plain && covering(roots, &absolute).is_some() {
        return Ok(absolute);
    }
    // The last part stays unchanged, as a link is a file of its own.
    let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) else {
        return Ok(fs_err::canonicalize(&absolute).unwrap_or(absolute));
    };
    Ok(fs_err::canonicalize(parent).map_or_else(|_| absolute.clone(), |parent| parent.join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_files_are_paths() {
        let of = |url: &str| path_of_url(Path::new(url));
        assert_eq!(of("file:///a/b%20c%7Cd%4"), Some("/a/b c|d%4".into()));
        assert_eq!(of("/a"), None);
        let path = Path::new(OsStr::from_bytes(b"/a b/\xff%41"));
        assert_eq!(of(&crate::service::file_url(path)).as_deref(), Some(path));
    }
}

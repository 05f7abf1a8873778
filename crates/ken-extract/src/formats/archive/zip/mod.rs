//! Zip archives, also under the names of programs, packages, comics and maps that are zip archives.
//!
//! The central directory is read entry by entry, so that memory does not grow with the number of
//! members, and members that share a name are all kept. Each member is checked against its CRC-32.
//! A member that is damaged, encrypted or compressed by an unknown method is found by name. Without
//! a list of members, those that can be found are read. Source:
//! PKWARE's APPNOTE.TXT 6.3.10.

use std::cell::Cell;
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;

use jiff::civil;
use jiff::tz::TimeZone;
use ken_core::Cause;
use zip::read::{Config, ZipFile, ZipFileEntry};
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;
use zip::{ExtraField, ZipReadOptions};

use crate::input::carry::{CountingReader, release};
use crate::output::Output;
use crate::output::members::{Budget, MemberNames, hand_on, read_up_to};
use crate::structure::package::zip_damage;
use crate::structure::rescue::rescued;
use crate::{Error, Format, Input, Limits};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("zip", MEDIA_TYPES, extract)
    .members("members, by their path")
    .in_worker()
    .version(6)
    .streams();

pub(super) const MEDIA_TYPES: &[&str] = &[
    "application/zip",
    "application/java-archive",
    "application/vnd.android.package-archive",
    "application/x-xpinstall",
    "application/x-wheel+zip",
    "application/vnd.nuget.package",
    "application/x-ios-app",
    "application/x-cbz",
    "application/x-npz",
    "application/vnd.google-earth.kmz",
    "application/vnd.etsi.asic-e+zip",
    "image/x-kra",
    "image/openraster",
];

/// Archives up to this size are read at once, since each member needs several small reads.
const WHOLE_BYTES: u64 = 16 << 20;

/// Extracts the members of a zip archive.
pub(in crate::formats) fn extract(
    input: &mut Input<'_>,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    if input.size() <= WHOLE_BYTES {
        input.bytes(output.limits())?;
    }
    match check_directory(input) {
        Err(error @ Error::Malformed(_)) => read_rescued(input, output, error),
        Err(error) => Err(error),
        Ok(()) => read(input, output),
    }
}

/// Reads the list of members to its end, before any member is handed on.
fn check_directory(input: &Input<'_>) -> Result<(), Error> {
    let reader = CountingReader::new(input.seekable()?);
    let mut archive = ZipIterable::try_new(reader, Config::default()).map_err(in_words)?;
    let entries = archive.files().map_err(in_words)?;
    for entry in entries.by_ref() {
        entry.map_err(in_words)?;
    }
    Ok(())
}

/// Hands on the members that are found without the list of members, whose damage is `error`.
fn read_rescued(input: &mut Input<'_>, output: &mut Output<'_>, error: Error) -> Result<(), Error> {
    let limits = output.limits();
    if let Ok(bytes) = input.bytes(limits)
        && let Some(zip) = rescued(bytes, limits)
    {
        read(&Input::bytes_of("", &zip), output)?;
    }
    Err(error)
}

fn read(input: &Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let password = password_of(input, output.limits())?;
    let mut budget = Budget::new(input.size(), output.limits());
    let reader = Gate::new(CountingReader::new(input.seekable()?));
    let is_open = Rc::clone(&reader.is_open);
    let mut archive = ZipIterable::try_new(reader, Config::default()).map_err(in_words)?;
    let entries = archive.files().map_err(in_words)?;
    let mut names = MemberNames::default();
    let mut are_names_known = false;
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(in_words)?;
        if entry.is_file() {
            let raw = entry.name_raw();
            if !are_names_known && std::str::from_utf8(raw).is_err() {
                note_names(input, &mut names)?;
                are_names_known = true;
            }
            let path = names.path(raw);
            let content = read_entry(entry, entries.reader_mut(), password, &mut budget);
            is_open.set(true);
            let content = content.map_err(|error| match error {
                error if error.is_encrypted() => Error::encrypted(&output.limits().passwords),
                error => error,
            });
            let (content, modified) = match content {
                Ok((bytes, modified)) => (Ok(bytes), modified),
                Err(error) => (Err(error), None),
            };
            hand_on(&path, modified, content, &mut names, output)?;
            budget.check()?;
        }
    }
    Ok(())
}

/// Returns the password of the first encrypted member. A password is certain only if the member's
/// checksum is right: the old encryption accepts one of 256 wrong ones.
fn password_of<'l>(input: &Input<'_>, limits: &'l Limits) -> Result<Option<&'l str>, Error> {
    for password in limits.passwords.iter() {
        let reader = Gate::new(CountingReader::new(input.seekable()?));
        let is_open = Rc::clone(&reader.is_open);
        let mut archive = ZipIterable::try_new(reader, Config::default()).map_err(in_words)?;
        let entries = archive.files().map_err(in_words)?;
        let mut budget = Budget::new(input.size(), limits);
        let mut is_encrypted = false;
        while let Some(entry) = entries.next() {
            let entry = entry.map_err(in_words)?;
            if entry.encrypted() && entry.is_file() && entry.size() <= limits.max_member_bytes {
                is_encrypted = true;
                let reader = entries.reader_mut();
                if read_entry(entry, reader, Some(password), &mut budget).is_ok() {
                    return Ok(Some(password));
                }
                is_open.set(true);
                break;
            }
        }
        if !is_encrypted {
            break;
        }
    }
    Ok(None)
}

/// The content of a member and its time of last change.
type Content = (Vec<u8>, Option<i64>);

fn read_entry<R: Read + Seek>(
    entry: ZipFileEntry<'_>,
    reader: &mut Gate<R>,
    password: Option<&str>,
    budget: &mut Budget,
) -> Result<Content, Error> {
    if entry.encrypted() && password.is_none() {
        return Err(Error::Failed(Cause::Password { tried: false }));
    }
    // The reader yields at most the declared size, so the CRC detects a wrong size.
    let (size, compressed) = (entry.size(), entry.compressed_size());
    budget.check_member(size, compressed)?;
    let is_open = Rc::clone(&reader.is_open);
    let options = ZipReadOptions::new().password(password.map(str::as_bytes));
    let mut file = entry.with_reader(reader, options).map_err(in_words)?;
    let modified = modified(&file);
    let content = read_up_to(&mut file, size, size)
        .and_then(|bytes| bytes.ok_or_else(|| Error::malformed("a member is longer than it says")));
    is_open.set(false);
    let n_expanded = content.as_ref().map_or(size, |bytes| bytes.len() as u64);
    budget.spend(n_expanded.max(compressed));
    Ok((content?, modified))
}

/// Returns the time of last change: in UTC if the archive holds it, otherwise a local time in an
/// unknown zone, which is taken as UTC.
fn modified<R: Read>(file: &ZipFile<'_, R>) -> Option<i64> {
    let universal = file.extra_data_fields().find_map(|field| match field {
        ExtraField::ExtendedTimestamp(times) => times.mod_time(),
        _ => None,
    });
    universal.map(i64::from).or_else(|| {
        let local = file.last_modified()?;
        let civil = civil::DateTime::new(
            i16::try_from(local.year()).ok()?,
            i8::try_from(local.month()).ok()?,
            i8::try_from(local.day()).ok()?,
            i8::try_from(local.hour()).ok()?,
            i8::try_from(local.minute()).ok()?,
            i8::try_from(local.second()).ok()?,
            0,
        );
        let zoned = civil.ok()?.to_zoned(TimeZone::UTC).ok()?;
        Some(zoned.timestamp().as_second())
    })
}

/// Notes all names of an archive, whose charset is decided by all of them. The name is UTF-8 if it
/// is valid, whatever its flag says; the field of Info-ZIP for names in UTF-8 takes precedence.
fn note_names(input: &Input<'_>, names: &mut MemberNames) -> Result<(), Error> {
    let reader = CountingReader::new(input.seekable()?);
    let mut archive = ZipIterable::try_new(reader, Config::default()).map_err(in_words)?;
    let entries = archive.files().map_err(in_words)?;
    while let Some(Ok(entry)) = entries.next() {
        names.note(entry.name_raw());
    }
    Ok(())
}

fn in_words(error: ZipError) -> Error {
    match error {
        ZipError::Io(error) => release(error),
        ZipError::InvalidPassword => Error::Failed(Cause::Password { tried: false }),
        ZipError::InvalidArchive(cause) => Error::Malformed(zip_damage(&cause)),
        error => Error::malformed(error),
    }
}

/// A reader that can be closed. A dropped member reads its rest, which for abandoned members may be
/// the whole archive each time.
struct Gate<R> {
    inner: R,
    is_open: Rc<Cell<bool>>,
}

impl<R> Gate<R> {
    fn new(inner: R) -> Self {
        Self {
            inner,
            is_open: Rc::new(Cell::new(true)),
        }
    }
}

impl<R: Read> Read for Gate<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_open.get() {
            self.inner.read(buffer)
        } else {
            Ok(0)
        }
    }
}

impl<R: Seek> Seek for Gate<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

#[cfg(test)]
mod tests;

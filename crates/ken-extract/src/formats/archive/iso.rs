//! Disc images: ISO 9660 (ECMA-119) with the longer names of Rock Ridge (IEEE P1282) and Joliet.
//!
//! Names of Rock Ridge take precedence, then those of Joliet, then the short ones. Each folder is
//! read once, so that folders that contain each other end. Discs with only a UDF file system are
//! reported as such.

use std::collections::HashSet;

use jiff::civil;
use jiff::tz::TimeZone;
use ken_core::{Field, Setting};

use crate::output::Output;
use crate::output::members::{MemberNames, hand_on, over};
use crate::structure::cursor::Cursor;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("disc image", &["application/x-iso9660-image"], extract)
        .fields(&[Field::Title, Field::Author, Field::Created])
        .members("files, by their path")
        .in_worker()
        .version(2)
        .streams();

const SECTOR_BYTES: u64 = 2048;
const FIRST_DESCRIPTOR: u64 = 16;
const MAX_DESCRIPTORS: u64 = 64;
const MAX_FOLDER_BYTES: u64 = 16 << 20;
const MAX_FOLDERS: usize = 1 << 20;
/// Maximum length of a path that anything can open.
const MAX_PATH_BYTES: usize = 4096;
/// Maximum number of continuations of a Rock Ridge entry, which has only a few.
const MAX_CONTINUATIONS: u32 = 16;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let input = &*input;
    let volumes = Volumes::read(input)?;
    let primary = volumes.primary.ok_or_else(|| match volumes.is_udf {
        true => Error::unsupported("ken does not read the file system UDF"),
        false => Error::malformed("there is no file system of ISO 9660"),
    })?;
    let own = output.own();
    own.add_text(Field::Title, &primary.name);
    own.add_text(Field::Author, &primary.publisher);
    if let Some(created) = primary.created {
        own.add_number(Field::Created, created);
    }
    let rock_ridge = RockRidge::of(input, &primary.root)?;
    let (root, naming) = match (rock_ridge, volumes.joliet) {
        (Some(rock_ridge), _) => (primary.root, Naming::RockRidge(rock_ridge)),
        (None, Some(joliet)) => (joliet.root, Naming::Joliet),
        (None, None) => (primary.root, Naming::Short),
    };
    let mut walk = Walk {
        input,
        naming,
        names: MemberNames::default(),
        is_seen: HashSet::new(),
        folders: vec![(String::new(), root)],
        budget: input.size(),
        failure: None,
    };
    while let Some((path, folder)) = walk.folders.pop() {
        walk.read_folder(&path, &folder, output)?;
    }
    walk.failure.map_or(Ok(()), Err)
}

/// A range of the disc.
#[derive(Clone, Copy)]
struct Extent {
    sector: u64,
    n_bytes: u64,
}

impl Extent {
    fn at(&self) -> u64 {
        self.sector * SECTOR_BYTES
    }
}

/// The description of a file system.
struct Volume {
    name: String,
    publisher: String,
    created: Option<i64>,
    root: Extent,
}

#[derive(Default)]
struct Volumes {
    primary: Option<Volume>,
    joliet: Option<Volume>,
    is_udf: bool,
}

impl Volumes {
    fn read(input: &Input<'_>) -> Result<Self, Error> {
        let mut volumes = Self::default();
        for number in 0..MAX_DESCRIPTORS {
            let at = (FIRST_DESCRIPTOR + number) * SECTOR_BYTES;
            let sector = input.range(at, SECTOR_BYTES as usize)?;
            match (sector.first(), sector.get(1..6)) {
                (Some(1), Some(b"CD001")) => volumes.primary = Volume::read(&sector),
                (Some(2), Some(b"CD001")) if is_joliet(&sector) => {
                    volumes.joliet = Volume::read(&sector);
                }
                (_, Some(b"NSR02" | b"NSR03")) => volumes.is_udf = true,
                // The last descriptor; those of UDF may follow.
                (_, Some(b"CD001" | b"BEA01" | b"TEA01")) => {}
                _ => break,
            }
        }
        Ok(volumes)
    }
}

/// Returns whether the volume is Joliet, which writes UCS-2 and declares it by an escape sequence.
fn is_joliet(sector: &[u8]) -> bool {
    matches!(sector.get(88..91), Some([b'%', b'/', b'@' | b'C' | b'E']))
}

impl Volume {
    fn read(sector: &[u8]) -> Option<Self> {
        let text = |from: usize, n: usize| {
            let bytes = sector.get(from..from + n).unwrap_or_default();
            String::from_utf8_lossy(bytes).trim().to_owned()
        };
        Some(Self {
            name: text(40, 32),
            publisher: text(318, 128),
            created: digits_date(sector.get(813..830)?),
            root: Record::read(sector.get(156..190)?)?.extent,
        })
    }
}

/// Parses `YYYYMMDDhhmmss`, hundredths, and the zone in quarters of an hour.
fn digits_date(field: &[u8]) -> Option<i64> {
    let number = |from: usize, n: usize| -> Option<i16> {
        std::str::from_utf8(&field[from..from + n])
            .ok()?
            .parse()
            .ok()
    };
    let date = [
        (number(4, 2)?, number(6, 2)?),
        (number(8, 2)?, number(10, 2)?),
    ];
    let seconds = seconds_of(number(0, 4)?, date, number(12, 2)?)?;
    Some(seconds - i64::from(field[16] as i8) * 900)
}

fn seconds_of(year: i16, date: [(i16, i16); 2], second: i16) -> Option<i64> {
    let small = |n: i16| i8::try_from(n).ok();
    let [(month, day), (hour, minute)] = date;
    let civil = civil::DateTime::new(
        year,
        small(month)?,
        small(day)?,
        small(hour)?,
        small(minute)?,
        small(second)?,
        0,
    );
    let zoned = civil.ok()?.to_zoned(TimeZone::UTC).ok()?;
    Some(zoned.timestamp().as_second())
}

/// An entry of a folder.
struct Record<'a> {
    extent: Extent,
    modified: Option<i64>,
    is_folder: bool,
    /// Whether the file continues in the next entry.
    is_continued: bool,
    name: &'a [u8],
    /// The area that Rock Ridge uses.
    system: &'a [u8],
}

impl<'a> Record<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let length = usize::from(*bytes.first()?);
        let bytes = bytes.get(..length)?;
        let name_bytes = usize::from(*bytes.get(32)?);
        let name = bytes.get(33..33 + name_bytes)?;
        let flags = bytes[25];
        // Numbers are stored in both byte orders.
        let number = |at: usize| Cursor(&bytes[at..]).le_u32().map(u64::from);
        let system = bytes.get(33 + (name_bytes | 1)..).unwrap_or_default();
        Some(Self {
            extent: Extent {
                sector: number(2)?,
                n_bytes: number(10)?,
            },
            modified: binary_date(&bytes[18..25]),
            is_folder: flags & 2 != 0,
            is_continued: flags & 0x80 != 0,
            name,
            system,
        })
    }

    /// Returns whether the entry is the folder itself or its parent.
    fn is_dot(&self) -> bool {
        matches!(self.name, [0 | 1])
    }
}

/// Parses years since 1900, month, day, hour, minute, second, and the zone in quarters of an hour.
fn binary_date(field: &[u8]) -> Option<i64> {
    let part = |n: usize| i16::from(field[n]);
    let date = [(part(1), part(2)), (part(3), part(4))];
    let seconds = seconds_of(1900 + part(0), date, part(5))?;
    Some(seconds - i64::from(field[6] as i8) * 900)
}

enum Naming {
    RockRidge(RockRidge),
    Joliet,
    Short,
}

/// The POSIX extensions, with the number of bytes of each system area that belong to others.
struct RockRidge {
    n_skipped: usize,
}

impl RockRidge {
    /// Looks for the Rock Ridge mark in the first entry of the root folder.
    fn of(input: &Input<'_>, root: &Extent) -> Result<Option<Self>, Error> {
        let sector = input.range(root.at(), SECTOR_BYTES as usize)?;
        Ok(Record::read(&sector).and_then(|first| {
            let at = memchr::memmem::find(first.system, b"SP\x07\x01\xbe\xef")?;
            let n_skipped = usize::from(*first.system.get(at + 6)?);
            Some(Self { n_skipped })
        }))
    }

    /// Returns the name in the `NM` entries, if there are any.
    fn name(&self, input: &Input<'_>, system: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let mut name = None;
        let mut area = system.get(self.n_skipped..).unwrap_or_default().to_vec();
        for _ in 0..MAX_CONTINUATIONS {
            let mut next = None;
            let mut rest = &area[..];
            while let [a, b, length, _version, ..] = *rest {
                let Some((entry, after)) = rest.split_at_checked(usize::from(length)) else {
                    break;
                };
                match ([a, b], entry) {
                    // Flags: continued, this folder, the parent folder.
                    ([b'N', b'M'], [_, _, _, _, flags, part @ ..]) if flags & 6 == 0 => {
                        name.get_or_insert_with(Vec::new).extend_from_slice(part);
                    }
                    ([b'C', b'E'], [_, _, _, _, entry_data @ ..]) => {
                        next = continuation(entry_data)
                    }
                    ([b'S', b'T'], _) | (_, []) => break,
                    _ => {}
                }
                rest = after;
            }
            let Some((at, n_bytes)) = next else {
                break;
            };
            area = input.range(at, n_bytes)?.into_owned();
        }
        Ok(name)
    }
}

fn continuation(bytes: &[u8]) -> Option<(u64, usize)> {
    let number = |at: usize| Cursor(bytes.get(at..)?).le_u32();
    let at = u64::from(number(0)?) * SECTOR_BYTES + u64::from(number(8)?);
    Some((at, number(16)?.min(SECTOR_BYTES as u32) as usize))
}

struct Walk<'a> {
    input: &'a Input<'a>,
    naming: Naming,
    names: MemberNames,
    /// Positions of the folders that were visited.
    is_seen: HashSet<u64>,
    folders: Vec<(String, Extent)>,
    /// Number of bytes of folders that may still be read, since folders may overlap.
    budget: u64,
    failure: Option<Error>,
}

impl Walk<'_> {
    fn read_folder(
        &mut self,
        path: &str,
        folder: &Extent,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        if !self.is_seen.insert(folder.sector) || self.is_seen.len() > MAX_FOLDERS {
            self.note();
            return Ok(());
        }
        let n_bytes = folder.n_bytes.min(MAX_FOLDER_BYTES).min(self.budget);
        let bytes = self.input.range(folder.at(), n_bytes as usize)?;
        self.budget -= bytes.len() as u64;
        if (bytes.len() as u64) < folder.n_bytes {
            self.note();
        }
        let mut goes_on = false;
        // No entry crosses the end of a sector; zeros pad the sector.
        for sector in bytes.chunks(SECTOR_BYTES as usize) {
            let mut rest = sector;
            while let Some(record) = Record::read(rest).filter(|_| rest[0] > 33) {
                rest = &rest[usize::from(rest[0])..];
                let is_rest = std::mem::replace(&mut goes_on, record.is_continued);
                if !record.is_dot() && !is_rest {
                    self.entry(path, &record, output)?;
                }
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        folder: &str,
        record: &Record<'_>,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let path = format!("{folder}{}", self.name(record)?);
        if path.len() > MAX_PATH_BYTES {
            self.note();
        } else if record.is_folder {
            self.folders.push((format!("{path}/"), record.extent));
        } else {
            let content = self.content(record, output);
            hand_on(&path, record.modified, content, &mut self.names, output)?;
        }
        Ok(())
    }

    fn name(&mut self, record: &Record<'_>) -> Result<String, Error> {
        Ok(match &self.naming {
            Naming::RockRidge(rock_ridge) => match rock_ridge.name(self.input, record.system)? {
                Some(name) => self.names.path(&name),
                None => self.short_name(record),
            },
            Naming::Joliet => {
                let units = record.name.as_chunks::<2>().0.iter();
                let units = units.map(|&pair| u16::from_be_bytes(pair));
                let name: String = char::decode_utf16(units)
                    .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect();
                without_version(&name).to_owned()
            }
            Naming::Short => self.short_name(record),
        })
    }

    fn short_name(&mut self, record: &Record<'_>) -> String {
        without_version(&self.names.path(record.name)).to_owned()
    }

    fn content(&self, record: &Record<'_>, output: &mut Output<'_>) -> Result<Vec<u8>, Error> {
        let limit = output.limits().limit(Setting::MaxMemberBytes);
        let n_bytes = record.extent.n_bytes;
        if n_bytes > limit.in_force || record.is_continued {
            return Err(over(limit));
        }
        // Checked before reading, since many entries may share one long extent.
        if record.extent.at() + n_bytes > self.input.size() {
            return Err(Error::Malformed("the image ends inside a file".into()));
        }
        output.make_room(n_bytes);
        let bytes = self.input.range(record.extent.at(), n_bytes as usize)?;
        Ok(bytes.into_owned())
    }

    fn note(&mut self) {
        let damaged = || Error::Malformed("some folders of the image are damaged".into());
        self.failure.get_or_insert_with(damaged);
    }
}

/// Removes the version from names such as `LETTER.TXT;1` and `README.;1`.
fn without_version(name: &str) -> &str {
    let name = name.split_once(';').map_or(name, |(name, _)| name);
    name.strip_suffix('.').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Reason};

    use super::*;
    use crate::Limits;
    use crate::detect::Detected;
    use crate::testing::{Extracted, run, run_limited, survives};

    const DETECTED: Detected = Detected {
        media_type: "application/x-iso9660-image",
        kind: Kind::Archive,
    };

    const ROCK_RIDGE: &[u8] = include_bytes!("../../../tests/data/archive/rock-ridge.iso");
    const JOLIET: &[u8] = include_bytes!("../../../tests/data/archive/joliet.iso");

    fn paths(found: &Extracted) -> Vec<&str> {
        let mut paths: Vec<_> = found.members.iter().map(|m| m.ipath.as_str()).collect();
        paths.sort_unstable();
        paths
    }

    #[test]
    fn files_are_read_by_their_long_names() {
        for image in [ROCK_RIDGE, JOLIET] {
            let found = run(extract, DETECTED, "a.iso", image);
            let own = found.own();
            assert!(own.failure.is_none(), "{own:?}");
            assert_eq!(own.text(Field::Title), Some("KEN_SAMPLE"));
            assert_eq!(own.text(Field::Author), Some("DISCO DINGO"));
            let expected = ["a letter with a long name.txt", "deep/er/größe.txt"];
            assert_eq!(paths(&found), expected);
            let letter = found
                .members
                .iter()
                .find(|m| m.name.starts_with("a letter"));
            let letter = letter.unwrap();
            assert!(letter.bytes.starts_with(b"The isoibex"));
            assert_eq!(letter.modified, Some(1_714_979_290));
        }
    }

    #[test]
    fn short_names_lose_their_version() {
        let mut image = ROCK_RIDGE.to_vec();
        // Without the mark, there is no Rock Ridge.
        let at = memchr::memmem::find(&image, b"SP\x07\x01\xbe\xef").unwrap();
        image[at] = b'X';
        let found = run(extract, DETECTED, "a.iso", &image);
        assert_eq!(paths(&found)[0], "A_LETTER.TXT");
    }

    #[test]
    fn what_is_too_large_or_cut_off_is_named() {
        let limits = Limits {
            max_member_bytes: 3,
            ..Limits::default()
        };
        let image = ROCK_RIDGE;
        let found = run_limited(extract, DETECTED, "a.iso", image, &limits);
        assert!(found.members.is_empty());
        let failure = found.documents[0].failure.as_ref().unwrap();
        assert_eq!(failure.reason(), Reason::Limit);
        let at = memchr::memmem::find(image, b"The isoibex").unwrap();
        let found = run(extract, DETECTED, "a.iso", &image[..at]);
        assert_eq!(found.documents.len() + found.members.len(), 3);
    }

    #[test]
    fn folders_that_hold_themselves_end() {
        let mut image = ROCK_RIDGE.to_vec();
        // Makes the folder "er" the one that contains it.
        let root = image[FIRST_DESCRIPTOR as usize * 2048 + 158];
        for at in memchr::memmem::find_iter(&image.clone(), b"\x02ER") {
            image[at - 30] = root;
        }
        let found = run(extract, DETECTED, "a.iso", &image);
        let failure = found.own().failure.as_ref().unwrap();
        assert_eq!(failure.reason(), Reason::Malformed);
    }

    #[test]
    fn other_discs_are_reported() {
        let mut image = vec![0; 40 << 10];
        image[32 << 10..][..6].copy_from_slice(b"\0BEA01");
        image[34 << 10..][..6].copy_from_slice(b"\0NSR02");
        let found = run(extract, DETECTED, "a.iso", &image);
        let failure = found.own().failure.as_ref().unwrap();
        assert!(format!("{failure:?}").contains("UDF"), "{failure:?}");
    }

    #[test]
    fn hostile_bytes_are_survived() {
        survives(extract, DETECTED, "a.iso", ROCK_RIDGE);
    }
}

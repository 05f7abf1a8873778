//! cpio archives: "new ASCII" (with or without checksums), the portable ASCII format of POSIX, and
//! the old binary format in either byte order.
//!
//! They are read as a stream, since most are inside something else: RPM packages, boot images of
//! Linux. Source: cpio(5). Folders, links and devices have no content and are left out.

use std::io::{self, BufReader, Read};

use ken_core::Setting;

use crate::input::carry::{CountingReader, release};
use crate::output::Output;
use crate::output::members::{MemberNames, hand_on, over, read_member};
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new("cpio", &["application/x-cpio"], extract)
    .members("members, by their path")
    .version(2)
    .streams();

/// Maximum length of a path.
const MAX_NAME_BYTES: u64 = 64 << 10;
const TRAILER: &[u8] = b"TRAILER!!!";
const FILE_TYPE: u64 = 0o170_000;
const REGULAR: u64 = 0o100_000;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    extract_stream(CountingReader::new(input.reader()?), output)
}

/// Extracts the members of a streamed archive, whose failures carry an [`Error`].
pub(in crate::formats) fn extract_stream(
    reader: impl Read,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let mut archive = Archive {
        reader: BufReader::new(reader),
        position: 0,
    };
    let mut names = MemberNames::default();
    let mut is_ended = false;
    loop {
        // Archives may follow each other, with zeros between them.
        let magic = match archive.magic(is_ended)? {
            Some(magic) => magic,
            None if is_ended => return Ok(()),
            None => return Err(Error::Malformed("the archive has no end".into())),
        };
        let Some(header) = archive.header(magic)? else {
            let what = if is_ended {
                "something else follows the archive"
            } else {
                "a member has no header"
            };
            return Err(Error::Malformed(what.into()));
        };
        let name = archive.name(&header)?;
        is_ended = name == TRAILER;
        if !is_ended {
            archive.member(&header, &name, &mut names, output)?;
        }
        if is_ended {
            archive.skip(header.size)?;
        }
        archive.align(header.alignment)?;
    }
}

/// The header of a member.
struct Header {
    mode: u64,
    n_links: u64,
    modified: u64,
    name_bytes: u64,
    size: u64,
    /// Name and content begin at multiples of this number.
    alignment: u64,
}

impl Header {
    /// Reads numbers of eight hexadecimal digits.
    fn new_ascii(fields: &[u8; 104]) -> Option<Self> {
        let number = |n: usize| digits(&fields[8 * n..8 * n + 8], 16);
        Some(Self {
            mode: number(1)?,
            n_links: number(4)?,
            modified: number(5)?,
            size: number(6)?,
            name_bytes: number(11)?,
            alignment: 4,
        })
    }

    /// Reads numbers of six or eleven octal digits.
    fn portable(fields: &[u8; 70]) -> Option<Self> {
        let number = |at: usize, n: usize| digits(&fields[at..at + n], 8);
        Some(Self {
            mode: number(12, 6)?,
            n_links: number(30, 6)?,
            modified: number(42, 11)?,
            name_bytes: number(53, 6)?,
            size: number(59, 11)?,
            alignment: 1,
        })
    }

    /// Reads words of two bytes; a long number has its higher word first, in either byte order.
    fn binary(fields: &[u8; 20], word: fn([u8; 2]) -> u16) -> Self {
        // The magic number and three words precede these fields.
        let short = |n: usize| u64::from(word([fields[2 * n], fields[2 * n + 1]]));
        let long = |n: usize| short(n) << 16 | short(n + 1);
        Self {
            mode: short(0),
            n_links: short(3),
            modified: long(5),
            name_bytes: short(7),
            size: long(8),
            alignment: 2,
        }
    }
}

fn digits(bytes: &[u8], radix: u32) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(bytes).ok()?, radix).ok()
}

/// The stream, and the current position in it.
struct Archive<R> {
    reader: BufReader<R>,
    position: u64,
}

impl<R: Read> Archive<R> {
    /// Reads the start of a header, after zeros if they are allowed; returns none at the end.
    fn magic(&mut self, skip_zeros: bool) -> Result<Option<[u8; 6]>, Error> {
        let mut magic = [0; 6];
        let mut first = self.read_up_to(&mut magic[..1])?;
        while skip_zeros && first == 1 && magic[0] == 0 {
            first = self.read_up_to(&mut magic[..1])?;
        }
        if first == 0 {
            return Ok(None);
        }
        let rest = self.read_up_to(&mut magic[1..])?;
        Ok((rest == 5 || skip_zeros).then_some(magic))
    }

    fn header(&mut self, magic: [u8; 6]) -> Result<Option<Header>, Error> {
        Ok(match &magic {
            b"070701" | b"070702" => Header::new_ascii(&self.array()?),
            b"070707" => Header::portable(&self.array()?),
            // The bytes read for the magic number include the device and half of the inode number.
            [0xc7, 0x71, ..] => Some(self.binary(u16::from_le_bytes)?),
            [0x71, 0xc7, ..] => Some(self.binary(u16::from_be_bytes)?),
            _ => None,
        })
    }

    fn binary(&mut self, word: fn([u8; 2]) -> u16) -> Result<Header, Error> {
        Ok(Header::binary(&self.array()?, word))
    }

    fn name(&mut self, header: &Header) -> Result<Vec<u8>, Error> {
        if header.name_bytes > MAX_NAME_BYTES {
            return Err(Error::Malformed("a name is too long".into()));
        }
        let mut name = vec![0; header.name_bytes as usize];
        if self.read_up_to(&mut name)? < name.len() {
            return Err(ends_early());
        }
        self.align(header.alignment)?;
        let end = memchr::memchr(0, &name).unwrap_or(name.len());
        name.truncate(end);
        Ok(name)
    }

    fn member(
        &mut self,
        header: &Header,
        name: &[u8],
        names: &mut MemberNames,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        // In the new format, the last of several names of a file holds the content.
        let is_link = header.n_links > 1 && header.size == 0 && header.alignment == 4;
        if header.mode & FILE_TYPE != REGULAR || is_link {
            return self.skip(header.size);
        }
        let path = names.path(name);
        let modified = i64::try_from(header.modified).ok();
        let limit = output.limits().limit(Setting::MaxMemberBytes);
        if header.size > limit.in_force {
            let failure = Err(over(limit));
            hand_on(&path, modified, failure, names, output)?;
            return self.skip(header.size);
        }
        output.make_room(header.size);
        let mut content = (&mut self.reader).take(header.size);
        let bytes = read_member(&mut content, header.size, limit);
        let bytes = bytes.and_then(|bytes| {
            let is_whole = bytes.len() as u64 == header.size;
            is_whole.then_some(bytes).ok_or_else(ends_early)
        });
        self.position += header.size;
        match bytes {
            Ok(bytes) => hand_on(&path, modified, Ok(bytes), names, output),
            // A stream that failed once yields nothing more.
            Err(error) => {
                hand_on(&path, modified, Err(ends_early()), names, output)?;
                Err(error)
            }
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        if self.read_up_to(&mut bytes)? < N {
            return Err(ends_early());
        }
        Ok(bytes)
    }

    fn read_up_to(&mut self, buffer: &mut [u8]) -> Result<usize, Error> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.reader.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(release(error)),
            }
        }
        self.position += filled as u64;
        Ok(filled)
    }

    fn align(&mut self, alignment: u64) -> Result<(), Error> {
        self.skip(self.position.next_multiple_of(alignment) - self.position)
    }

    fn skip(&mut self, n_bytes: u64) -> Result<(), Error> {
        let mut rest = (&mut self.reader).take(n_bytes);
        self.position += io::copy(&mut rest, &mut io::sink()).map_err(release)?;
        Ok(())
    }
}

fn ends_early() -> Error {
    Error::Malformed("the archive ends or is damaged inside a member".into())
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Reason};

    use super::*;
    use crate::Limits;
    use crate::detect::Detected;
    use crate::testing::{Extracted, run, run_limited, survives};

    const DETECTED: Detected = Detected {
        media_type: "application/x-cpio",
        kind: Kind::Archive,
    };
    const NEWC: &[u8] = include_bytes!("../../../tests/data/archive/newc.cpio");
    const SAMPLES: [&[u8]; 4] = [
        NEWC,
        include_bytes!("../../../tests/data/archive/crc.cpio"),
        include_bytes!("../../../tests/data/archive/odc.cpio"),
        include_bytes!("../../../tests/data/archive/bin.cpio"),
    ];

    fn names(found: &Extracted) -> Vec<&str> {
        found.members.iter().map(|m| m.ipath.as_str()).collect()
    }

    /// Converts the binary format to the other byte order.
    fn swapped(archive: &[u8]) -> Vec<u8> {
        let mut swapped = archive.to_vec();
        let mut at = 0;
        loop {
            let word = |n: usize| {
                usize::from(u16::from_le_bytes([
                    archive[at + 2 * n],
                    archive[at + 2 * n + 1],
                ]))
            };
            let (n_name, n_content) = (word(10), word(11) << 16 | word(12));
            let is_last = archive[at + 26..].starts_with(TRAILER);
            swapped[at..at + 26]
                .chunks_exact_mut(2)
                .for_each(<[u8]>::reverse);
            at += 26 + n_name.next_multiple_of(2) + n_content.next_multiple_of(2);
            if is_last {
                return swapped;
            }
        }
    }

    #[test]
    fn members_of_every_format_are_read() {
        let big = swapped(SAMPLES[3]);
        for archive in SAMPLES.into_iter().chain([&big[..]]) {
            let found = run(extract, DETECTED, "a.cpio", archive);
            assert!(found.own().failure.is_none(), "{:?}", found.own());
            assert_eq!(names(&found), ["letters/größe.txt", "letters/spring.txt"]);
            let spring = &found.members[1];
            assert!(spring.bytes.starts_with(b"The cpiocaiman"));
            assert!(spring.bytes.ends_with(b"archive.\n"));
            assert_eq!(spring.modified, Some(1_714_979_290));
        }
    }

    #[test]
    fn archives_may_follow_each_other() {
        let found = run(extract, DETECTED, "a.cpio", &[NEWC, NEWC].concat());
        assert!(found.own().failure.is_none(), "{:?}", found.own());
        assert_eq!(found.members.len(), 4);
        assert_eq!(names(&found)[3], "letters/spring.txt#2");
        let found = run(
            extract,
            DETECTED,
            "a.cpio",
            &[NEWC, b"\x1f\x8b compressed"].concat(),
        );
        let failure = found.own().failure.as_ref().unwrap();
        assert_eq!(failure.reason(), Reason::Malformed);
        assert_eq!(found.members.len(), 2);
    }

    #[test]
    fn members_that_are_too_large_or_cut_off_are_named() {
        let limits = Limits {
            max_member_bytes: 40,
            ..Limits::default()
        };
        let found = run_limited(extract, DETECTED, "a.cpio", NEWC, &limits);
        assert_eq!(names(&found), ["letters/spring.txt"]);
        let failure = found.documents[0].failure.as_ref().unwrap();
        assert_eq!(failure.reason(), Reason::Limit);

        let at = memchr::memmem::find(NEWC, b"caiman").unwrap();
        let found = run(extract, DETECTED, "a.cpio", &NEWC[..at]);
        assert_eq!(names(&found), ["letters/größe.txt"]);
        assert_eq!(found.documents[0].ipath.as_str(), "letters/spring.txt");
        assert!(found.own().failure.is_some());
    }

    #[test]
    fn hostile_bytes_are_survived() {
        for archive in SAMPLES {
            survives(extract, DETECTED, "a.cpio", archive);
        }
    }
}

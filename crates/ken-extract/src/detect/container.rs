//! Recognises what a zip archive or an OLE2 compound file holds, by the names of its parts.
//!
//! Office programs write the decisive part first, so the first bytes nearly always suffice.
//! Otherwise the central directory of the zip archive (APPNOTE.TXT 4.3.12) or the first sectors of
//! the compound file's directory (MS-CFB 2.6) are read.

use std::io::{self, Read, Seek, SeekFrom};

use ken_core::Kind::{Archive, Document, Message, Other, Presentation, Spreadsheet};
use memchr::memmem;

use super::{Detected, UNKNOWN, names};
use crate::Input;

/// Number of bytes at the end of a zip archive that are searched for its directory.
const TAIL_BYTES: u64 = 128 << 10;

const ZIP: Detected = Detected {
    media_type: "application/zip",
    kind: Archive,
};

/// What the name of one member says about a zip archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    /// An Office Open XML document with this extension, unless the name is more exact.
    Office(&'static str),
    /// Some Office Open XML document.
    SomeOffice,
    /// A Keynote presentation; its extension `.key` is also that of keys.
    Keynote,
    /// A program with this extension, unless the name is more exact.
    Program(&'static str),
}

/// Returns the format of a zip archive.
pub(super) fn zip(head: &[u8], input: &Input<'_>, named: Option<Detected>) -> io::Result<Detected> {
    if let Some(declared) = mimetype_member(head) {
        return Ok(declared);
    }
    let named = named.filter(|named| is_zip_based(named.media_type));
    let mut inside = strongest(member_names(head, b"PK\x03\x04", 26, 30));
    // Office documents never have a name that ends in .zip; any other format must be proved.
    let is_sure = matches!(
        inside,
        Some(Inside::Office(_) | Inside::Keynote | Inside::Program(_))
    ) || (inside == Some(Inside::SomeOffice)
        && named.is_some_and(|named| is_office(named.media_type)))
        || (inside.is_none() && named.is_some_and(|named| !is_office(named.media_type)));
    if !is_sure {
        let tail = tail(input)?;
        inside = strongest(member_names(&tail, b"PK\x01\x02", 28, 46)).or(inside);
    }
    Ok(match (inside, named) {
        (Some(Inside::Office(extension)), named) => named
            .filter(|named| office_family(named.media_type) == office_family_of(extension))
            .or_else(|| names::by_extension(extension))
            .unwrap_or(ZIP),
        (Some(Inside::Keynote), _) => names::by_extension("keynote").unwrap_or(ZIP),
        (Some(Inside::Program(extension)), named) => named
            .filter(|named| named.kind == Archive && named.media_type != ZIP.media_type)
            .or_else(|| names::by_extension(extension))
            .unwrap_or(ZIP),
        (Some(Inside::SomeOffice), Some(named)) => named,
        (None, Some(named)) if !is_office(named.media_type) => named,
        _ => ZIP,
    })
}

/// Recognises OpenDocument, EPUB and others, which store their media type as the first member,
/// uncompressed.
fn mimetype_member(head: &[u8]) -> Option<Detected> {
    if head.get(30..38) != Some(b"mimetype") {
        return None;
    }
    let extra = usize::from(u16::from_le_bytes([*head.get(28)?, *head.get(29)?]));
    let content = head.get(38 + extra..)?;
    let content = &content[..content.len().min(80)];
    let end = memmem::find(content, b"PK").unwrap_or(content.len());
    names::by_media_type(std::str::from_utf8(content[..end].trim_ascii()).ok()?)
}

/// Yields the names in the headers in `bytes`; a wrong length ends at the end of the bytes.
fn member_names<'a>(
    bytes: &'a [u8],
    signature: &'static [u8; 4],
    length_at: usize,
    name_at: usize,
) -> impl Iterator<Item = &'a [u8]> {
    memmem::find_iter(bytes, signature).filter_map(move |at| {
        let header = &bytes[at..];
        let length = header.get(length_at..length_at + 2)?;
        let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
        let name = header.get(name_at..)?;
        Some(&name[..name.len().min(length)])
    })
}

fn strongest<'a>(names: impl Iterator<Item = &'a [u8]>) -> Option<Inside> {
    let mut weak = None;
    for name in names {
        match inside(name) {
            Some(Inside::SomeOffice) => weak = Some(Inside::SomeOffice),
            Some(Inside::Program("jar")) if weak.is_none() => weak = Some(Inside::Program("jar")),
            Some(Inside::Program("jar")) | None => {}
            found => return found,
        }
    }
    weak
}

/// The length of the longest name that says what an archive is.
const LONGEST_NAME: usize = "[Content_Types].xml".len() + 1;

fn inside(member: &[u8]) -> Option<Inside> {
    // Some writers use backslashes, or small letters.
    let start = member.iter().take(LONGEST_NAME).map(|byte| match byte {
        b'\\' => b'/',
        byte => byte.to_ascii_lowercase(),
    });
    let start: Vec<u8> = start.collect();
    let starts = |prefix: &str| start.starts_with(prefix.as_bytes());
    Some(if starts("word/") {
        Inside::Office("docx")
    } else if starts("xl/") {
        Inside::Office("xlsx")
    } else if starts("ppt/") {
        Inside::Office("pptx")
    } else if starts("visio/") {
        Inside::Office("vsdx")
    } else if starts("[content_types].xml") || starts("_rels/.rels") || starts("docprops/") {
        Inside::SomeOffice
    } else if starts("index/slide") && member.ends_with(b".iwa") || start == b"index.apxl" {
        Inside::Keynote
    } else if member == b"AndroidManifest.xml" {
        Inside::Program("apk")
    } else if starts("meta-inf/manifest.mf") {
        Inside::Program("jar")
    } else {
        return None;
    })
}

fn is_office(media_type: &str) -> bool {
    office_family(media_type).is_some()
}

fn office_family(media_type: &str) -> Option<&'static str> {
    let has = |part: &str| media_type.contains(part);
    if has("wordprocessingml") || has("vnd.ms-word.") {
        Some("word")
    } else if has("spreadsheetml") || (has("vnd.ms-excel.") && has("macroenabled")) {
        Some("xl")
    } else if has("presentationml") || (has("vnd.ms-powerpoint.") && has("macroenabled")) {
        Some("ppt")
    } else if has("ms-visio.drawing") {
        Some("visio")
    } else {
        None
    }
}

fn office_family_of(extension: &str) -> Option<&'static str> {
    names::by_extension(extension).and_then(|found| office_family(found.media_type))
}

fn is_zip_based(media_type: &str) -> bool {
    is_office(media_type)
        || media_type.starts_with("application/vnd.oasis.opendocument.")
            && !media_type.ends_with("-flat-xml")
        || media_type.starts_with("application/vnd.sun.xml.")
        || media_type.starts_with("application/vnd.apple.")
        || media_type.ends_with("+zip")
        || matches!(
            media_type,
            "application/zip"
                | "application/java-archive"
                | "application/vnd.android.package-archive"
                | "application/x-xpinstall"
                | "application/vnd.nuget.package"
                | "application/x-ios-app"
                | "application/x-cbz"
                | "application/oxps"
                | "application/x-kword"
                | "application/x-kspread"
                | "application/x-kpresenter"
                | "application/vnd.google-earth.kmz"
                | "application/x-npz"
                | "image/x-kra"
                | "image/openraster"
        )
}

fn tail(input: &Input<'_>) -> io::Result<Vec<u8>> {
    let length = input.size().min(TAIL_BYTES);
    read_at(input, input.size() - length, length)
}

fn read_at(input: &Input<'_>, at: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut reader = input.seekable()?;
    reader.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    reader.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Names of streams that identify a compound file, with an extension of that format.
const STREAMS: [(&str, &str); 8] = [
    ("WordDocument", "doc"),
    ("Workbook", "xls"),
    ("PowerPoint Document", "ppt"),
    ("__substg1.0", "msg"),
    ("__properties_v", "msg"),
    ("VisioDocument", "vsd"),
    ("HwpSummaryInfor", "hwp"),
    ("Book", "xls"),
];

/// Returns whether a directory has an entry whose name begins so.
fn has_stream(directory: &[u8], name: &str) -> bool {
    let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
    memmem::find(directory, &name).is_some()
}

/// Returns the format that a stream in a directory identifies.
fn by_stream(directory: &[u8]) -> Option<Detected> {
    STREAMS
        .iter()
        .find(|(name, _)| has_stream(directory, name))
        .and_then(|(_, extension)| names::by_extension(extension))
}

/// Reads the first sector of a directory and what stands behind it, which nearly always is the next one.
fn first_of_directory(head: &[u8], input: &Input<'_>) -> io::Result<Vec<u8>> {
    match (head.get(30..32), le_u32(head, 48)) {
        (Some(&[shift @ 9..=12, 0]), Some(sector)) => {
            read_at(input, (u64::from(sector) + 1) << shift, 4096)
        }
        _ => Ok(Vec::new()),
    }
}

/// Sectors of a directory that are looked at: of a document, its stream is among the first few dozen.
const DIRECTORY_SECTORS: usize = 16;

/// Reads the first sectors of the directory of a compound file, wherever they are: the table of sectors (FAT) names the one that
/// follows another (MS-CFB 2.3), and the header the sectors of the table (2.2).
fn directory(head: &[u8], input: &Input<'_>) -> io::Result<Vec<u8>> {
    let mut directory = Vec::new();
    let (Some(&[shift @ 9..=12, 0]), Some(mut sector)) = (head.get(30..32), le_u32(head, 48))
    else {
        return Ok(directory);
    };
    let at = |sector: u32| (u64::from(sector) + 1) << shift;
    for _ in 0..DIRECTORY_SECTORS {
        directory.extend(read_at(input, at(sector), 1 << shift)?);
        let entry = (sector << 2) & ((1 << shift) - 1);
        let table = (sector >> (shift - 2)) as usize;
        // Only the first 109 sectors of the table are in the header.
        let table = (table < 109).then(|| le_u32(head, 76 + 4 * table));
        let Some(table) = table.flatten() else { break };
        let next = read_at(input, at(table) + u64::from(entry), 4)?;
        match le_u32(&next, 0) {
            Some(next) if next < LAST_SECTOR => sector = next,
            _ => break,
        }
    }
    Ok(directory)
}

/// Numbers from here on are no sectors.
const LAST_SECTOR: u32 = 0xffff_fffa;

fn le_u32(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}

/// Returns the format of an OLE2 compound file.
pub(super) fn ole2(
    head: &[u8],
    input: &Input<'_>,
    named: Option<Detected>,
) -> io::Result<Detected> {
    let first = first_of_directory(head, input)?;
    if has_stream(&first, "EncryptedPackage") {
        // Only the encrypted part knows which Office format it is.
        let is_office = |named: &Detected| {
            matches!(named.kind, Document | Spreadsheet | Presentation)
                && is_zip_based(named.media_type)
        };
        let named = named.filter(is_office).or(names::by_extension("docx"));
        return Ok(named.unwrap_or(UNKNOWN));
    }
    let is_ole2_name = |named: &Detected| {
        matches!(named.kind, Document | Spreadsheet | Presentation | Message)
            && named.media_type.starts_with("application/")
            && !is_zip_based(named.media_type)
            || named.media_type == "application/x-msi"
            || named.media_type == "application/vnd.ms-project"
    };
    let by_name = named.filter(is_ole2_name);
    if let Some(known) = by_stream(&first).or(by_name) {
        return Ok(known);
    }
    Ok(by_stream(&directory(head, input)?).unwrap_or(Detected {
        media_type: "application/x-ole-storage",
        kind: Other,
    }))
}

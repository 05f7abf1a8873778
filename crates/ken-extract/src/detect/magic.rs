//! Magic numbers: the formats that the first bytes prove.
//!
//! The tables hold only formats whose start cannot be text by accident. Signatures are compared by
//! their first byte first, so that a miss costs one comparison. Signatures of fewer than four
//! printable characters (`BM`, `MZ`) count only in binary content.

use ken_core::Kind::{self, Archive, Audio, Data, Document, Image, Other, Spreadsheet, Video};

use super::Detected;
use crate::text;

/// What the first bytes prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Magic {
    /// The format itself.
    Format(Detected),
    /// A zip archive, which may be an office document, a book or a program.
    Zip,
    /// An OLE2 compound file: an old office document, a message or an installer.
    Ole2,
}

const fn format(media_type: &'static str, kind: Kind) -> Magic {
    Magic::Format(Detected { media_type, kind })
}

/// Offset of the signature, the signature, the format.
type Signature = (usize, &'static [u8], Magic);

#[rustfmt::skip] // a table reads better as one
const SIGNATURES: &[Signature] = &[
    (0, b"PK\x03\x04", Magic::Zip),
    (0, b"PK\x05\x06", Magic::Zip),
    (0, b"PK00PK\x03\x04", Magic::Zip),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Magic::Ole2),
    (0, b"\x1f\x8b\x08", format("application/gzip", Archive)),
    (0, b"\xfd7zXZ\0", format("application/x-xz", Archive)),
    (0, b"\x28\xb5\x2f\xfd", format("application/zstd", Archive)),
    (0, b"\x1f\x9d", format("application/x-compress", Archive)),
    (0, b"\x1f\xa0", format("application/x-compress", Archive)),
    (0, b"LZIP\x01", format("application/x-lzip", Archive)),
    (0, b"\x04\x22\x4d\x18", format("application/x-lz4", Archive)),
    (0, b"7z\xbc\xaf\x27\x1c", format("application/x-7z-compressed", Archive)),
    (0, b"Rar!\x1a\x07", format("application/vnd.rar", Archive)),
    (0, b"!<arch>\ndebian-binary", format("application/vnd.debian.binary-package", Archive)),
    (0, b"!<arch>\n", format("application/x-archive", Archive)),
    (0, b"!<thin>\n", format("application/x-archive", Archive)),
    (0, b"\xed\xab\xee\xdb", format("application/x-rpm", Archive)),
    (0, b"MSCF\0\0\0\0", format("application/vnd.ms-cab-compressed", Archive)),
    (0, b"070701", format("application/x-cpio", Archive)),
    (0, b"070702", format("application/x-cpio", Archive)),
    (0, b"070707", format("application/x-cpio", Archive)),
    (0, b"\xc7\x71", format("application/x-cpio", Archive)),
    (0, b"\x71\xc7", format("application/x-cpio", Archive)),
    (0, b"\x60\xea", format("application/x-arj", Archive)),
    (0, b"\xff\x06\0\0sNaPpY", format("application/x-snappy-framed", Archive)),
    (0, b"\xd9\xd9\xf7", format("application/cbor", Data)),
    (2, b"-lh", format("application/x-lzh-compressed", Archive)),
    (0, b"hsqs", format("application/vnd.squashfs", Archive)),
    (0, b"QFI\xfb", format("application/x-qemu-disk", Archive)),
    (0, b"WARC/1.", format("application/warc", Archive)),
    (0, b"\x78\x9f\x3e\x22", format("application/vnd.ms-tnef", Archive)),
    (0, b"ITSF\x03\0\0\0", format("application/x-chm", Document)),
    (0, b"AT&TFORM", format("image/vnd.djvu", Document)),
    (60, b"BOOKMOBI", format("application/x-mobipocket-ebook", Document)),
    (60, b"TEXtREAd", format("application/x-mobipocket-ebook", Document)),
    (0, b"ITOLITLS", format("application/x-ms-reader", Document)),
    (0, b"\xf7\x02\x01\x83\x92\xc0\x1c\x3b", format("application/x-dvi", Document)),
    (0, b"\xffWPC", format("application/vnd.wordperfect", Document)),
    (0, b"\xc5\xd0\xd3\xc6", format("application/postscript", Document)),
    (0, b"bplist00", format("application/x-plist", Data)),
    (0, b"!BDN", format("application/vnd.ms-outlook-pst", Kind::Archive)),
    (0, b"\x89PNG\r\n\x1a\n", format("image/png", Image)),
    (0, b"\xff\xd8\xff", format("image/jpeg", Image)),
    (0, b"GIF87a", format("image/gif", Image)),
    (0, b"GIF89a", format("image/gif", Image)),
    (0, b"II*\0", format("image/tiff", Image)),
    (0, b"MM\0*", format("image/tiff", Image)),
    (0, b"II+\0", format("image/tiff", Image)),
    (0, b"MM\0+", format("image/tiff", Image)),
    (0, b"BM", format("image/bmp", Image)),
    (0, b"\0\0\0\x0cjP  \r\n\x87\n", format("image/jp2", Image)),
    (0, b"\xff\x4f\xff\x51", format("image/jp2", Image)),
    (0, b"\0\0\0\x0cJXL \r\n\x87\n", format("image/jxl", Image)),
    (0, b"\xff\x0a", format("image/jxl", Image)),
    (0, b"8BPS", format("image/vnd.adobe.photoshop", Image)),
    (0, b"gimp xcf ", format("image/x-xcf", Image)),
    (0, b"\x76\x2f\x31\x01", format("image/x-exr", Image)),
    (0, b"DDS ", format("image/x-dds", Image)),
    (0, b"qoif", format("image/x-qoi", Image)),
    (0, b"AC10", format("image/vnd.dwg", Image)),
    (0, b"\xd7\xcd\xc6\x9a", format("image/wmf", Image)),
    (0, b"\x01\0\x09\0\0\x01", format("image/wmf", Image)),
    (0, b"\x01\0\x09\0\0\x03", format("image/wmf", Image)),
    (0, b"\x02\0\x09\0\0\x03", format("image/wmf", Image)),
    (0, b"AutoCAD Binary DXF\r\n\x1a\0", format("image/vnd.dxf", Image)),
    (0, b"HWP Document File V", format("application/x-hwp", Document)),
    (40, b" EMF", format("image/emf", Image)),
    (0, b"IIRO", format("image/x-olympus-orf", Image)),
    (0, b"IIU\0", format("image/x-panasonic-rw2", Image)),
    (0, b"FUJIFILMCCD-RAW", format("image/x-fuji-raf", Image)),
    (128, b"DICM", format("application/dicom", Image)),
    (0, b"SIMPLE  =", format("application/fits", Image)),
    (0, b"ID3", format("audio/mpeg", Audio)),
    (0, b"fLaC", format("audio/flac", Audio)),
    (0, b"MThd\0\0\0", format("audio/midi", Audio)),
    (0, b".snd\0\0\0", format("audio/basic", Audio)),
    (0, b"MAC \x96\x0f", format("audio/x-ape", Audio)),
    (0, b"wvpk", format("audio/x-wavpack", Audio)),
    (0, b"#!AMR", format("audio/amr", Audio)),
    (0, b"DSD \x1c", format("audio/x-dsf", Audio)),
    (0, b"caff\0\x01", format("audio/x-caf", Audio)),
    (0, b"\x0b\x77", format("audio/ac3", Audio)),
    (0, b"\0\0\x01\xba", format("video/mpeg", Video)),
    (0, b"\0\0\x01\xb3", format("video/mpeg", Video)),
    (0, b"FLV\x01", format("video/x-flv", Video)),
    (0, b".RMF", format("application/vnd.rn-realmedia", Video)),
    (0, b"FWS", format("application/x-shockwave-flash", Video)),
    (0, b"CWS", format("application/x-shockwave-flash", Video)),
    (0, b"\x8aMNG\r\n\x1a\n", format("video/x-mng", Video)),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", format("video/x-ms-asf", Video)),
    (0, b"\0\x01\0\0\0", format("font/ttf", Other)),
    (0, b"OTTO\0", format("font/otf", Other)),
    (0, b"ttcf\0", format("font/collection", Other)),
    (0, b"wOFF", format("font/woff", Other)),
    (0, b"wOF2", format("font/woff2", Other)),
    (0, b"\x80\x01", format("application/x-font-type1", Other)),
    (0, b"\x01fcp", format("application/x-font-pcf", Other)),
    (0, b"MZ", format("application/vnd.microsoft.portable-executable", Other)),
    (0, b"\xca\xfe\xba\xbe\0\0\0", format("application/java-vm", Other)),
    (0, b"\xfe\xed\xfa\xce", format("application/x-mach-binary", Other)),
    (0, b"\xfe\xed\xfa\xcf", format("application/x-mach-binary", Other)),
    (0, b"\xce\xfa\xed\xfe", format("application/x-mach-binary", Other)),
    (0, b"\xcf\xfa\xed\xfe", format("application/x-mach-binary", Other)),
    (0, b"\0asm", format("application/wasm", Other)),
    (0, b"dex\n03", format("application/vnd.android.dex", Other)),
    (0, b"L\0\0\0\x01\x14\x02\0", format("application/x-ms-shortcut", Other)),
    (0, b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d\xae\xb1\x53\x78\xd0\x29\x96\xd3", format("application/onenote", Document)),
    (0, b"\xa1\x2f\xff\x43\xd9\xef\x76\x4c\x9e\xe2\x10\xea\x57\x22\x76\x5f", format("application/onenote", Document)),
    (0, b"SQLite format 3\0", format("application/vnd.sqlite3", Data)),
    (0, b"\0\x01\0\0Standard ", format("application/x-msaccess", Data)),
    (0, b"\x89HDF\r\n\x1a\n", format("application/x-hdf5", Data)),
    (0, b"CDF\x01", format("application/x-netcdf", Data)),
    (0, b"PAR1", format("application/vnd.apache.parquet", Data)),
    (0, b"\x93NUMPY", format("application/x-numpy", Data)),
    (0, b"d8:announce", format("application/x-bittorrent", Data)),
    (0, b"\xde\x12\x04\x95", format("application/x-gettext-translation", Data)),
    (0, b"\x95\x04\x12\xde", format("application/x-gettext-translation", Data)),
    (0, b"TZif", format("application/tzif", Data)),
    (0, b"\x1a\x01", format("application/x-terminfo", Data)),
    (0, b"\x1e\x02", format("application/x-terminfo", Data)),
    (0, b"Xcur", format("image/x-xcursor", Image)),
    (0, b"BC\xc0\xde", format("application/x-llvm-bitcode", Other)),
    (36, b"acsp", format("application/vnd.iccprofile", Other)),
];

/// Returns what the first bytes prove, if anything.
pub(super) fn by_content(head: &[u8]) -> Option<Magic> {
    let found = SIGNATURES.iter().find(|(at, signature, _)| {
        head.get(*at) == Some(&signature[0])
            && head[*at..].starts_with(signature)
            && (!is_short_text(signature) || text::has_binary_bytes(head))
    });
    if let Some((_, _, magic)) = found {
        return Some(*magic);
    }
    families(head).or_else(|| structures(head))
}

fn is_short_text(signature: &[u8]) -> bool {
    signature.len() < 4 && signature.iter().all(u8::is_ascii_graphic)
}

/// Recognises formats that share a container, by the type a few bytes after the start.
fn families(head: &[u8]) -> Option<Magic> {
    Some(match head {
        [b'R', b'I', b'F', b'F' | b'X', _, _, _, _, form @ ..] => riff(form)?,
        [b'F', b'O', b'R', b'M', _, _, _, _, b'A', b'I', b'F', ..] => format("audio/x-aiff", Audio),
        [b'O', b'g', b'g', b'S', ..] => ogg(head),
        [0x1a, 0x45, 0xdf, 0xa3, ..] => matroska(head),
        // The first box is small, so the bytes of its length are not text.
        [0, _, _, _, b'f', b't', b'y', b'p', brand @ ..] => iso_media(brand),
        [0, _, _, _, b'm', b'o', b'o', b'v', ..] | [0, _, _, _, b'w', b'i', b'd', b'e', ..] => {
            format("video/quicktime", Video)
        }
        // Icons and cursors; the count is at least one, whereas Targa pictures have a zero there.
        [0, 0, 1 | 2, 0, n0, n1, ..] if (*n0, *n1) != (0, 0) => {
            format("image/vnd.microsoft.icon", Image)
        }
        [0x7f, b'E', b'L', b'F', ..] => elf(head),
        [b'B', b'Z', b'h', b'1'..=b'9', b'1' | 0x17, b'A' | b'r', ..] => {
            format("application/x-bzip2", Archive)
        }
        _ => return None,
    })
}

fn riff(form: &[u8]) -> Option<Magic> {
    Some(match form.get(..4)? {
        b"WAVE" => format("audio/x-wav", Audio),
        b"AVI " => format("video/x-msvideo", Video),
        b"WEBP" => format("image/webp", Image),
        b"RMID" => format("audio/midi", Audio),
        b"CDDA" => format("audio/x-cdda", Audio),
        _ => return None,
    })
}

fn ogg(head: &[u8]) -> Magic {
    let start = &head[..head.len().min(256)];
    match memchr::memmem::find(start, b"theora") {
        Some(_) => format("video/ogg", Video),
        None => format("audio/ogg", Audio),
    }
}

fn matroska(head: &[u8]) -> Magic {
    let start = &head[..head.len().min(64)];
    match memchr::memmem::find(start, b"webm") {
        Some(_) => format("video/webm", Video),
        None => format("video/x-matroska", Video),
    }
}

/// Recognises the ISO base media file format (ISO/IEC 14496-12) by the major brand.
fn iso_media(brand: &[u8]) -> Magic {
    match brand.get(..4).unwrap_or_default() {
        b"M4A " | b"M4B " | b"M4P " => format("audio/mp4", Audio),
        b"qt  " => format("video/quicktime", Video),
        b"heic" | b"heix" | b"heim" | b"heis" | b"mif1" | b"msf1" | b"hevc" | b"hevx" => {
            format("image/heic", Image)
        }
        b"avif" | b"avis" => format("image/avif", Image),
        b"crx " => format("image/x-canon-cr3", Image),
        [b'3', b'g', b'2', ..] => format("video/3gpp2", Video),
        [b'3', b'g', ..] => format("video/3gpp", Video),
        _ => format("video/mp4", Video),
    }
}

fn elf(head: &[u8]) -> Magic {
    // The type is at byte 16, in the byte order that byte 5 declares.
    match (head.get(5), head.get(16..18)) {
        (Some(1), Some([1, 0])) | (Some(2), Some([0, 1])) => format("application/x-object", Other),
        (Some(1), Some([3, 0])) | (Some(2), Some([0, 3])) => {
            format("application/x-sharedlib", Other)
        }
        (Some(1), Some([4, 0])) | (Some(2), Some([0, 4])) => format("application/x-core", Other),
        _ => format("application/x-executable", Other),
    }
}

/// Recognises formats without a magic number at a fixed offset.
fn structures(head: &[u8]) -> Option<Magic> {
    // The first member of a tar archive may be a PDF, whose header would be in the first KiB.
    if is_old_workbook(head) {
        Some(format("application/vnd.ms-excel", Spreadsheet))
    } else if is_arc(head) {
        Some(format("application/x-arc", Archive))
    } else if is_tar(head) {
        Some(format("application/x-tar", Archive))
    } else if is_pdf(head) {
        Some(format("application/pdf", Document))
    } else if let Some(cms) = cms(head) {
        Some(cms)
    } else if is_transport_stream(head) {
        Some(format("video/mp2t", Video))
    } else if is_mpeg_audio(head) {
        Some(format("audio/mpeg", Audio))
    } else {
        None
    }
}

/// Returns whether the start is that of a PDF. Up to a KiB of junk may precede the header, as PDF
/// viewers allow; text that shows a PDF is none.
fn is_pdf(head: &[u8]) -> bool {
    pdf_header(head).is_some_and(|at| {
        let is_line = at > 0 && matches!(head[at - 1], b'\n' | b'\r' | 0);
        at == 0 || text::has_binary_bytes(head) && (is_line || has_object(&head[at..]))
    })
}

/// Returns whether content of a file whose name is that of a PDF, or tells nothing, is a PDF in plain
/// text with junk before it.
pub(super) fn is_plain_pdf(head: &[u8], is_named: bool) -> bool {
    let is_headed = pdf_header(head).is_some_and(|at| is_named || has_object(&head[at..]));
    is_headed || is_named && has_object(head)
}

/// Returns where the header of a PDF is, in the first KiB.
fn pdf_header(head: &[u8]) -> Option<usize> {
    memchr::memmem::find(&head[..head.len().min(1024)], b"%PDF-")
}

/// Returns whether a line of the first KiB begins an object of a PDF: `1 0 obj`.
fn has_object(head: &[u8]) -> bool {
    let mut lines = head[..head.len().min(1024)].split(|byte| matches!(byte, b'\n' | b'\r'));
    lines.any(|line| {
        let mut words = line.split(|&byte| byte == b' ');
        let mut is_number = || {
            words
                .next()
                .is_some_and(|word| !word.is_empty() && word.iter().all(u8::is_ascii_digit))
        };
        is_number() && is_number() && words.next().is_some_and(|word| word.starts_with(b"obj"))
    })
}

/// Recognises a sequence that begins with the identifier of signed, encrypted or time-stamped data (RFC
/// 5652, RFC 5544).
fn cms(head: &[u8]) -> Option<Magic> {
    const CMS: &[u8] = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07";
    const STAMPED: &[u8] = b"\x06\x0b\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x1f";
    let (&[tag, length], after) = head.split_first_chunk()?;
    let n_digits = if length > 0x80 {
        usize::from(length & 0x7f)
    } else {
        0
    };
    let inside = after
        .get(n_digits..)
        .filter(|_| tag == 0x30 && n_digits <= 8)?;
    if inside.starts_with(STAMPED) {
        return Some(format("application/timestamped-data", Archive));
    }
    let kind = inside.strip_prefix(CMS)?.first()?;
    matches!(kind, 2 | 3).then_some(format("application/pkcs7-mime", Archive))
}

/// Returns whether there is the first record of a workbook of Excel 2 to 4, with a kind that Excel knows.
fn is_old_workbook(head: &[u8]) -> bool {
    matches!(
        head,
        [0x09, 0, 4, 0, _, 0, 0x10 | 0x20 | 0x40, 0, ..]
            | [0x09, 2 | 4, 6, 0, _, _, 0x10 | 0x20 | 0x40, 0, ..]
            | [0x09, 4, 6, 0, _, _, 0, 1, ..]
    )
}

/// Returns whether there is the header of a member of an archive of ARC: a method, and a name of DOS.
fn is_arc(head: &[u8]) -> bool {
    let Some([0x1a, 2..=11, name @ ..]) = head.get(..15) else {
        return false;
    };
    let end = name.iter().position(|&byte| byte == 0);
    end.is_some_and(|end| end > 0 && name[..end].iter().all(u8::is_ascii_graphic))
}

/// Returns whether there is a `ustar` header, or one of before 1988 with a correct checksum.
fn is_tar(head: &[u8]) -> bool {
    let Some(header) = head.get(..512) else {
        return false;
    };
    if &header[257..262] == b"ustar" {
        return true;
    }
    let field = header[148..156]
        .trim_ascii()
        .split(|&byte| byte == 0)
        .next();
    let Some(Ok(digits)) = field.map(std::str::from_utf8) else {
        return false;
    };
    let Ok(expected) = u32::from_str_radix(digits.trim_ascii(), 8) else {
        return false;
    };
    let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
    let own: u32 = header[148..156].iter().map(|&byte| u32::from(byte)).sum();
    header[0] != 0 && expected == sum - own + 8 * u32::from(b' ')
}

/// Returns whether this is an MPEG-2 transport stream (ISO/IEC 13818-1): packets of 188 bytes (192
/// on discs) that begin with 0x47, which is `G` in text.
fn is_transport_stream(head: &[u8]) -> bool {
    let is_sync = |first: usize, step: usize| {
        head.len() > first + 3 * step && (0..4).all(|packet| head[first + packet * step] == 0x47)
    };
    (is_sync(0, 188) || is_sync(4, 192)) && text::has_binary_bytes(head)
}

/// Returns whether binary content starts with an MPEG audio frame header (ISO/IEC 11172-3) without
/// reserved values.
fn is_mpeg_audio(head: &[u8]) -> bool {
    let [0xff, second, third, ..] = head else {
        return false;
    };
    let layer = second >> 1 & 3;
    second & 0xe0 == 0xe0
        && second >> 3 & 3 != 1
        && layer != 0
        && third >> 4 != 15
        && third >> 2 & 3 != 3
        && text::has_binary_bytes(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn media_type(head: &[u8]) -> &'static str {
        match by_content(head) {
            Some(Magic::Format(detected)) => detected.media_type,
            Some(Magic::Zip) => "zip",
            Some(Magic::Ole2) => "ole2",
            None => "",
        }
    }

    #[test]
    fn every_signature_is_found() {
        for (at, signature, magic) in SIGNATURES {
            let mut head = vec![b' '; *at];
            head.extend_from_slice(signature);
            head.extend([0; 40]);
            // A shorter signature must not hide a later, longer one with the same start.
            assert_eq!(by_content(&head), Some(*magic), "{signature:x?}");
        }
    }

    #[test]
    fn containers_say_what_they_hold() {
        let cases: [(&[u8], &str); 12] = [
            (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
            (b"RIFF\0\0\0\0WAVEfmt ", "audio/x-wav"),
            (b"OggS\0\x02 \x01vorbis", "audio/ogg"),
            (b"OggS\0\x02 \x80theora", "video/ogg"),
            (b"\x1a\x45\xdf\xa3\x42\x82\x84webm", "video/webm"),
            (b"\x1a\x45\xdf\xa3\x42\x82\x88matroska", "video/x-matroska"),
            (b"\0\0\0\x18ftypisom", "video/mp4"),
            (b"\0\0\0\x18ftypM4A ", "audio/mp4"),
            (b"\0\0\0\x18ftypheic", "image/heic"),
            (
                b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0",
                "application/x-sharedlib",
            ),
            (b"\xff\xfb\x90\x64\0\0\0\0", "audio/mpeg"),
            (b"BZh91AY&SY", "application/x-bzip2"),
        ];
        for (head, expected) in cases {
            assert_eq!(media_type(head), expected);
        }
    }

    #[test]
    fn text_that_looks_like_magic_is_text() {
        let texts: [&[u8]; 6] = [
            b"BMW is a car maker",
            b"MZ was a motorcycle maker",
            b"FWS and CWS are acronyms",
            b"ID3 is an algorithm",
            b"A PDF starts with\n%PDF-1.7",
            b"Good morning",
        ];
        for text in texts {
            assert_eq!(media_type(text), "");
        }
    }

    #[test]
    fn old_archives_have_a_name_of_dos() {
        assert_eq!(
            media_type(b"\x1a\x08READ.ME\0\0\0\0\0\0abcdef"),
            "application/x-arc"
        );
        assert_eq!(media_type(b"\x1a\x08\0\0READ.ME\0\0\0\0abcdef"), "");
    }

    #[test]
    fn pdf_may_follow_junk() {
        assert_eq!(media_type(b"%PDF-1.7\n"), "application/pdf");
        assert_eq!(media_type(b"\0\0junk\n%PDF-1.4\n\0"), "application/pdf");
        assert_eq!(
            media_type(b"\0\0junk%PDF-1.4\n1 0 obj\n"),
            "application/pdf"
        );
        assert_eq!(media_type(b"\0\0junk%PDF-1.4\n"), "");
        assert!(is_plain_pdf(b"junk %PDF-1.4 <</Root 1 0 R", true));
        assert!(is_plain_pdf(b"%abc\n1 0 obj <<", true));
        assert!(is_plain_pdf(b"junk %PDF-1.4\n1 0 obj <<", false));
        assert!(!is_plain_pdf(
            b"A PDF starts with %PDF-1.4, then 1 0 obj",
            false
        ));
        assert!(!is_plain_pdf(b"<!doctype html><p>Not found", true));
    }

    #[test]
    fn tar_by_magic_or_checksum() {
        let mut header = [0; 512];
        header[..5].copy_from_slice(b"a.txt");
        header[148..156].copy_from_slice(b"        ");
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        assert_eq!(media_type(&header), "application/x-tar");
        header[0] = b'b';
        assert_eq!(media_type(&header), "");
        header[257..262].copy_from_slice(b"ustar");
        assert_eq!(media_type(&header), "application/x-tar");
        let with_pdf = [&header[..], b"%PDF-1.4\n"].concat();
        assert_eq!(media_type(&with_pdf), "application/x-tar");
        assert_eq!(media_type(&header[..511]), "");
    }

    #[test]
    fn transport_streams_are_distinguished_from_typescript() {
        let mut stream = vec![0; 188 * 5];
        for packet in 0..5 {
            stream[packet * 188] = 0x47;
        }
        assert_eq!(media_type(&stream), "video/mp2t");
        stream[188] = 0;
        assert_eq!(media_type(&stream), "");
    }
}

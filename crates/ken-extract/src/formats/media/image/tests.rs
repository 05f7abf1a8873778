//! Tests of pictures from real programs, listed in `tests/data/media/README.md`.

use ken_core::{Cause, Kind, Value};

use super::*;
use crate::detect::{self, Detected};
use crate::testing::{self, Extracted};

macro_rules! sample {
    ($name:literal) => {
        include_bytes!(concat!("../../../../tests/data/media/", $name))
    };
}

const JPEG: &[u8] = sample!("heron.jpg");
const PNG: &[u8] = sample!("chart.png");
const GIF: &[u8] = sample!("buoy.gif");
const TIFF: &[u8] = sample!("scan.tif");

const SAMPLES: &[(&str, &[u8])] = &[
    ("image/jpeg", JPEG),
    ("image/png", PNG),
    ("image/gif", GIF),
    ("image/tiff", TIFF),
    ("image/webp", sample!("lake.webp")),
    ("image/heic", sample!("fern.heic")),
    ("image/avif", sample!("fern.avif")),
    ("image/vnd.adobe.photoshop", sample!("poster.psd")),
    ("image/jp2", sample!("plain.jp2")),
    ("image/bmp", sample!("plain.bmp")),
    ("image/vnd.microsoft.icon", sample!("plain.ico")),
];

fn detected(media_type: &'static str) -> Detected {
    Detected {
        media_type,
        kind: Kind::Image,
    }
}

fn run(media_type: &'static str, bytes: &[u8]) -> Extracted {
    testing::run(extract, detected(media_type), "x", bytes)
}

/// Returns the fields as lines, without the file's own.
fn shown(media_type: &'static str, bytes: &[u8]) -> String {
    let found = run(media_type, bytes);
    assert_eq!(found.own().failure, None, "{media_type}");
    let mut shown = String::new();
    for (field, value) in &found.own().fields {
        match value {
            _ if matches!(field, Field::Filename | Field::Size) => {}
            Value::Text(text) => shown.push_str(&format!("{}: {text}\n", field.name())),
            Value::Number(number) => shown.push_str(&format!("{}: {number}\n", field.name())),
        }
    }
    shown
}

#[test]
fn a_photograph_gives_all_that_it_holds_once() {
    // A caption as EXIF, IPTC and XMP; the zone is two hours east.
    assert_eq!(
        shown("image/jpeg", JPEG),
        "description: A grey heron\n\
         author: Aino Virtanen\n\
         description: Virtanen Fotografi\n\
         description: caught a fish, größer\n\
         created: 1620446828\n\
         date: 1620446828\n\
         description: A grey heron waits\n\
         keywords: heron\n\
         keywords: riverbank\n\
         title: Heron at dawn\n\
         keywords: Animals\n\
         keywords: Birds\n\
         keywords: Vogel für Kinder\n\
         keywords: Porvoo\n\
         description: Fishing heron\n\
         description: developed at home\n\
         width: 16\n\
         height: 12\n\
         camera: NIKON D90\n"
    );
}

#[test]
fn text_chunks_of_png_are_read() {
    assert_eq!(
        shown("image/png", PNG),
        "description: Hochwasser für März\n\
         keywords: harbour\n\
         author: Maren Dahl\n\
         description: drawn by hand\n\
         created: 1580702706\n\
         title: Tide table\n\
         width: 8\n\
         height: 8\n\
         camera: ScanSnap iX500\n"
    );
}

#[test]
fn compressed_chunks_of_png_are_read() {
    let mut png = PNG[..33].to_vec();
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, b"a packed ferry").unwrap();
    let packed = packed.finish().unwrap();
    for (kind, head) in [
        (b"zTXt", &b"Comment\0\0"[..]),
        (b"iTXt", b"Title\0\x01\0de\0\0"),
    ] {
        let content = [head, &packed].concat();
        png.extend((content.len() as u32).to_be_bytes());
        png.extend(kind);
        png.extend(content);
        png.extend([0; 4]);
    }
    assert_eq!(
        shown("image/png", &png),
        "description: a packed ferry\ntitle: a packed ferry\nwidth: 8\nheight: 8\n"
    );
}

#[test]
fn a_scan_has_pages() {
    assert_eq!(
        shown("image/tiff", TIFF),
        "title: Lease contract\n\
         description: unterschrieben für 3 Jahre\n\
         keywords: flat\n\
         keywords: Miete\n\
         date: 1551675967\n\
         author: Oskar Lindqvist\n\
         keywords: contract\n\
         width: 20\n\
         height: 30\n\
         pages: 3\n\
         camera: Canon CanoScan 9000F\n"
    );
}

/// Returns a TIFF file of directories, each with numbers as inline values and its next directory.
fn tiff_of(directories: &[(&[(u16, u32)], u32)]) -> Vec<u8> {
    let mut bytes = b"II*\0\x08\0\0\0".to_vec();
    for (entries, next) in directories {
        bytes.extend((entries.len() as u16).to_le_bytes());
        for (tag, value) in *entries {
            bytes.extend(tag.to_le_bytes());
            bytes.extend([4, 0, 1, 0, 0, 0]);
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend(next.to_le_bytes());
    }
    bytes
}

#[test]
fn a_raw_picture_is_as_large_as_its_largest_part() {
    // A preview that points to the full size, as in NEF.
    let raw = tiff_of(&[
        (&[(0x100, 160), (0x101, 120), (0x14a, 50)], 0),
        (&[(0x100, 4288), (0x101, 2848)], 0),
    ]);
    assert_eq!(
        shown("image/x-nikon-nef", &raw),
        "width: 4288\nheight: 2848\n"
    );
}

#[test]
fn directories_in_a_circle_are_read_once() {
    let circle = tiff_of(&[(&[(0x100, 4), (0x101, 5), (0x14a, 8)], 8)]);
    assert_eq!(
        shown("image/tiff", &circle),
        "width: 4\nheight: 5\npages: 1\n"
    );
}

#[test]
fn other_formats_hold_the_same_blocks() {
    for (media_type, bytes, expected) in [
        (
            "image/gif",
            GIF,
            "title: Buoy\ndescription: blinking buoy\nwidth: 10\nheight: 6\n",
        ),
        (
            "image/webp",
            sample!("lake.webp"),
            "title: Lake\nwidth: 14\nheight: 9\ncamera: Google Pixel 7\n",
        ),
        (
            "image/heic",
            sample!("fern.heic"),
            "created: 1688205600\ndate: 1688205600\nkeywords: fern\nwidth: 64\nheight: 48\n\
             camera: Apple iPhone 14\n",
        ),
        (
            "image/avif",
            sample!("fern.avif"),
            "keywords: fern\nwidth: 64\nheight: 48\ncamera: Apple iPhone 14\n",
        ),
        (
            "image/vnd.adobe.photoshop",
            sample!("poster.psd"),
            "title: Poster\nkeywords: concert\nwidth: 12\nheight: 7\n",
        ),
        ("image/bmp", sample!("plain.bmp"), "width: 12\nheight: 7\n"),
        (
            "image/bmp",
            b"BM\0\0\0\0\0\0\0\0\0\0\0\0\x0c\0\0\0\x21\0\x15\0\x01\0",
            "width: 33\nheight: 21\n",
        ),
        (
            "image/x-portable-pixmap",
            b"P3 # made by hand\n33 21 255\n0 0 0",
            "width: 33\nheight: 21\n",
        ),
        // A variant without a size is not a failure.
        ("image/x-portable-anymap", b"P7\nDEPTH 4\n", ""),
        (
            "image/vnd.microsoft.icon",
            sample!("plain.ico"),
            "width: 16\nheight: 16\n",
        ),
        ("image/jp2", sample!("plain.jp2"), "width: 15\nheight: 11\n"),
        (
            "image/x-xcf",
            b"gimp xcf v011\0\0\0\0\x20\0\0\0\x10\0\0\0\0\0\0\0\x96\
              \0\0\0\x15\0\0\0\x21\0\0\0\x0dgimp-comment\0\0\0\0\x01\0\0\0\x08sketchy\0\
              \0\0\0\0\0\0\0\0",
            "description: sketchy\nwidth: 32\nheight: 16\n",
        ),
    ] {
        assert_eq!(shown(media_type, bytes), expected, "{media_type}");
    }
}

#[test]
fn raw_pictures_of_canon_and_fujifilm_are_read() {
    let boxed = |kind: &[u8], content: &[u8]| {
        let length = (8 + content.len() as u32).to_be_bytes();
        [&length[..], kind, content].concat()
    };
    let first = boxed(b"CMT1", &tiff_of(&[(&[(0x100, 6000), (0x101, 4000)], 0)]));
    let canon = [
        b"\x85\xc0\xb6\x87\x82\x0f\x11\xe0\x81\x11\xf4\xce\x46\x2b\x6a\x48",
        &*first,
    ];
    let moov = boxed(b"moov", &boxed(b"uuid", &canon.concat()));
    let cr3 = [boxed(b"ftyp", b"crx \0\0\0\x01"), moov].concat();
    assert_eq!(
        shown("image/x-canon-cr3", &cr3),
        "width: 6000\nheight: 4000\n"
    );

    let mut raf = b"FUJIFILMCCD-RAW ".to_vec();
    raf.resize(84, b' ');
    raf.extend(100_u32.to_be_bytes());
    raf.resize(100, 0);
    raf.extend(JPEG);
    assert!(shown("image/x-fuji-raf", &raf).contains("title: Heron at dawn\n"));
}

#[test]
fn the_name_does_not_matter() {
    for (media_type, bytes) in SAMPLES {
        let input = Input::bytes_of("a.txt", bytes);
        assert_eq!(detect::detect(&input).unwrap().media_type, *media_type);
    }
}

#[test]
fn a_picture_without_size_is_malformed() {
    let found = run("image/png", b"\x89PNG\r\n\x1a\nnothing more");
    let failure = found.own().failure.as_ref().unwrap();
    let what = "the size of the picture is missing".into();
    assert_eq!(failure.cause, Cause::Damaged { what });
}

#[test]
fn hostile_files_end_in_a_failure() {
    for (media_type, bytes) in SAMPLES {
        testing::survives(extract, detected(media_type), "x", bytes);
    }
}

#[test]
fn overlapping_directories_cost_no_time() {
    // Each directory begins 24 bytes after the last and holds 40,092 entries.
    let mut bytes = b"II*\0\x08\0\0\0".to_vec();
    bytes.resize(600_000, 0x9c);
    for at in (8..20_000).step_by(24) {
        let next = (at as u32 + 24).to_le_bytes();
        let end = at + 2 + 12 * 0x9c9c;
        bytes[end..end + 4].copy_from_slice(&next);
    }
    let found = run("image/tiff", &bytes);
    let failure = found.own().failure.as_ref().unwrap();
    let what = "the directories overlap".into();
    assert_eq!(failure.cause, Cause::Damaged { what });
}

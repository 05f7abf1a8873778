//! What is drawn and where the words are, by the pixels of pictures drawn in this process.

use image::metadata::Orientation;
use image::{DynamicImage, GrayImage, ImageEncoder, Rgb, RgbImage};
use ken_core::{Document, Field, Reason};

use super::*;
use crate::Limits;
use crate::draw::draw as drawn;
use crate::formats::pdf::tests::{Sample, stream};
use crate::picture::{Area, Encoding};
use crate::structure::package::tests::zip_of;

const WIDTH: u32 = 900;

fn draw(name: &str, bytes: &[u8], order: Order) -> Result<Drawn, Cause> {
    drawn(&mut Input::bytes_of(name, bytes), order, &Limits::default())
}

#[track_caller]
fn picture(name: &str, bytes: &[u8], order: Order) -> Picture {
    match draw(name, bytes, order) {
        Ok(Drawn::Picture(picture)) => picture,
        other => panic!("{name}: {other:?}"),
    }
}

#[track_caller]
fn thumbnail(name: &str, bytes: &[u8], width: u32) -> Picture {
    picture(name, bytes, Order::Thumbnail { width })
}

fn page(width: u32) -> Order {
    Order::Page { page: 0, width }
}

fn pixels(picture: &Picture) -> DynamicImage {
    let image = image::load_from_memory(&picture.bytes).unwrap();
    assert_eq!(
        (image.width(), image.height()),
        (picture.width, picture.height)
    );
    image
}

#[track_caller]
fn words(bytes: &[u8]) -> PageText {
    match draw("page.pdf", bytes, Order::Text { page: 0 }) {
        Ok(Drawn::Text(text)) => text,
        other => panic!("{other:?}"),
    }
}

/// Returns the number of dark pixels of each area, and of everything outside of all areas.
fn ink(image: &GrayImage, areas: &[Area]) -> (Vec<usize>, usize) {
    let (width, height) = (image.width() as f32, image.height() as f32);
    let mut inside = vec![0; areas.len()];
    let mut outside = 0;
    for (x, y, pixel) in image
        .enumerate_pixels()
        .filter(|(.., pixel)| pixel.0[0] < 128)
    {
        let (x, y) = ((x as f32 + 0.5) / width, (y as f32 + 0.5) / height);
        let holds = |area: &&Area| {
            (area.left..area.left + area.width).contains(&x)
                && (area.top..area.top + area.height).contains(&y)
        };
        match areas.iter().position(|area| holds(&area)) {
            Some(found) => inside[found] += 1,
            None => outside += usize::from(pixel.0[0] < 128),
        }
    }
    (inside, outside)
}

/// Checks that all ink of a page is in the areas of its words, and that each word has some.
#[track_caller]
fn assert_words_are_where_they_are_drawn(sample: &Sample, expected: &[&str]) {
    let bytes = sample.bytes();
    let text = words(&bytes);
    let found: Vec<_> = text
        .words
        .iter()
        .map(|word| &text.text[word.range.clone()])
        .collect();
    assert_eq!(found, expected);
    let drawn = pixels(&picture("page.pdf", &bytes, page(WIDTH)));
    let areas: Vec<_> = text.words.iter().map(|word| word.area).collect();
    let (inside, outside) = ink(&drawn.into_luma8(), &areas);
    assert!(
        inside.iter().all(|n_dark| *n_dark > 60),
        "{inside:?}, {areas:?}"
    );
    assert!(
        outside * 100 < inside.iter().sum(),
        "{outside} of {inside:?}, {areas:?}"
    );
}

const LINES: &str = "BT /F1 20 Tf 24 TL 120 600 Td (The otter hunts) Tj (under ice) ' ET \
                     BT /F2 14 Tf 300 200 Td (and sleeps) Tj ET";
const WORDS: [&str; 7] = ["The", "otter", "hunts", "under", "ice", "and", "sleeps"];

#[test]
fn words_are_where_they_are_drawn() {
    assert_words_are_where_they_are_drawn(&Sample::pages(&[LINES]), &WORDS);
}

#[test]
fn rotated_and_cropped_pages_are_shown_as_a_reader_sees_them() {
    let upright = picture("page.pdf", &Sample::pages(&[LINES]).bytes(), page(600));
    assert_eq!((upright.width, upright.height), (600, 800));
    for (entry, height) in [
        ("/Rotate 90", 675),
        ("/Rotate 180", 1_200),
        ("/Rotate 270", 675),
        ("/CropBox[100 150 550 650]", 1_000),
        ("/CropBox[100 150 550 650]/Rotate 90", 810),
    ] {
        let mut sample = Sample::pages(&[LINES]);
        sample.page = entry.into();
        let drawn = picture("page.pdf", &sample.bytes(), page(WIDTH));
        assert_eq!((drawn.width, drawn.height), (WIDTH, height), "{entry}");
        // On its side or upside down, another line comes first.
        let found = words_of(&sample);
        assert_eq!(found.len(), WORDS.len(), "{entry}: {found:?}");
        assert_words_are_where_they_are_drawn(&sample, &found);
    }
}

/// Returns the words of a sample, of which there are as many as in [`WORDS`].
fn words_of(sample: &Sample) -> Vec<&'static str> {
    let text = words(&sample.bytes());
    let words = text.words.iter().map(|word| &text.text[word.range.clone()]);
    let known = words.filter_map(|word| WORDS.iter().find(|known| **known == word));
    known.copied().collect()
}

#[test]
fn matrices_of_text_and_forms_move_the_words() {
    let mut form = Sample::pages(&["q 1.5 0 0 1.5 50 -100 cm /X Do Q"]);
    form.resources = "/XObject<</X 100 0 R>>".into();
    form.objects = vec![stream(
        "/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Matrix[0.8 0 0 0.8 20 60]\
         /Resources<</Font<</F1 3 0 R/F2 4 0 R>>>>",
        LINES,
    )];
    assert_words_are_where_they_are_drawn(&form, &WORDS);
    let slanted = "BT /F1 24 Tf 0.9 0.3 -0.3 0.9 150 300 Tm (slanted) Tj ET \
                   BT /F1 24 Tf 0 1 -1 0 500 300 Tm (upwards) Tj ET \
                   BT /F1 24 Tf 150 Tz 3 Tc 100 700 Td (wide) Tj ET";
    let slanted = Sample::pages(&[slanted]);
    assert_words_are_where_they_are_drawn(&slanted, &["slanted", "upwards", "wide"]);
    let spaced = "BT /F1 20 Tf 100 700 Td [(S)-150(P)-150(A)-150(C)-150(E)-150(D)-600(O)-150(U)\
                  -150(T)] TJ ET";
    assert_words_are_where_they_are_drawn(&Sample::pages(&[spaced]), &["SPACED", "OUT"]);
}

#[test]
fn bitmap_fonts_have_the_height_of_their_glyphs() {
    // Two letters of 60 units, shown at a size of 0.5, as old TeX files do.
    let mut sample = Sample::pages(&["BT /F3 0.5 Tf 100 700 Td (A) Tj 60 0 Td (B) Tj ET"]);
    sample.fonts = "/F3 100 0 R".into();
    sample.objects = vec![
        "<</Type/Font/Subtype/Type3/FontMatrix[1 0 0 1 0 0]/FontBBox[0 0 60 60]/FirstChar 65\
         /LastChar 66/Widths[45 45]/CharProcs<</A 101 0 R/B 101 0 R>>\
         /Encoding<</Type/Encoding/Differences[65/A/B]>>>>"
            .into(),
        stream("", "45 0 0 0 40 40 d1 0 0 40 40 re f"),
    ];
    assert_words_are_where_they_are_drawn(&sample, &["A", "B"]);
}

#[test]
fn the_text_is_that_of_extraction_and_hyphenated_words_have_two_places() {
    let content = "BT /F1 20 Tf 24 TL 100 700 Td (A hyphen-) Tj (ated word,) ' (done.) ' ET";
    let bytes = Sample::pages(&[content]).bytes();
    let text = words(&bytes);
    let mut found = Vec::new();
    crate::extract_all(
        &mut Input::bytes_of("a.pdf", &bytes),
        &Limits::default(),
        &mut |document: Document| found.push(document.body),
    );
    assert_eq!(found, [&*text.text]);
    assert_eq!(text.text, "A hyphenated word,\ndone.");
    let parts = ["A", "hyphen", "ated", "word,", "done."];
    // The hyphen itself is drawn, and belongs to the first part.
    assert_words_are_where_they_are_drawn(&Sample::pages(&[content]), &parts);
}

#[test]
fn every_word_of_a_right_to_left_line_has_its_place() {
    let line = |text: &str| {
        let hex: String = text
            .encode_utf16()
            .map(|unit| format!("{unit:04x}"))
            .collect();
        format!("<{hex}>")
    };
    // Drawn from left to right, as most programs do: the last word comes first.
    let content = format!(
        "BT /F3 20 Tf 100 700 Td [{} -500 {}] TJ ET",
        line("\u{5d1}\u{5d0}"),
        line("\u{5d3}\u{5d2}")
    );
    let mut sample = Sample::pages(&[&content]);
    sample.fonts = "/F3 100 0 R".into();
    sample.objects = vec![
        "<</Type/Font/Subtype/Type0/BaseFont/Any/Encoding/Identity-H\
         /DescendantFonts[<</Type/Font/Subtype/CIDFontType2/BaseFont/Any/DW 1000\
         /CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>>>]/ToUnicode 101 0 R>>"
            .into(),
        stream(
            "",
            "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <ffff> \
             endcodespacerange 1 beginbfrange <0000> <ffff> <0000> endbfrange endcmap",
        ),
    ];
    let text = words(&sample.bytes());
    assert_eq!(text.text, "\u{5d2}\u{5d3} \u{5d0}\u{5d1}");
    let [first, second] = &text.words[..] else {
        panic!("{text:?}");
    };
    assert_eq!(&text.text[first.range.clone()], "\u{5d2}\u{5d3}");
    assert_eq!(&text.text[second.range.clone()], "\u{5d0}\u{5d1}");
    assert!(first.area.left > second.area.left + second.area.width);
}

#[test]
fn what_cannot_be_drawn_is_an_error_with_its_cause() {
    let sample = Sample::pages(&[LINES]).bytes();
    let failed = |name: &str, bytes: &[u8], order| draw(name, bytes, order).unwrap_err();
    let missing = failed("page.pdf", &sample, Order::Page { page: 7, width: 9 });
    assert!(
        format!("{missing:?}").contains("there is no page 8 of 1"),
        "{missing:?}"
    );
    let encrypted = include_bytes!("../../tests/data/pdf/encrypted-password.pdf");
    let cause = failed("a.pdf", encrypted, page(100));
    assert_eq!(cause, Cause::Password { tried: false });
    for (name, bytes, order) in [
        (
            "a.svg",
            &b"<svg xmlns='http://www.w3.org/2000/svg'/>"[..],
            page(100),
        ),
        (
            "a.svg",
            b"<svg xmlns='http://www.w3.org/2000/svg'/>",
            Order::Thumbnail { width: 9 },
        ),
        ("a.txt", b"some text", page(100)),
        ("a.txt", b"some text", Order::Text { page: 0 }),
    ] {
        let cause = failed(name, bytes, order);
        assert!(
            matches!(cause, Cause::Unsupported { .. }),
            "{name}: {cause:?}"
        );
    }
    let cut = failed("page.pdf", &sample[..200], page(100));
    assert_eq!(cut.reason(), Reason::Malformed);
}

fn image_file(name: &str) -> Vec<u8> {
    fs_err::read(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/data/media")
            .join(name),
    )
    .unwrap()
}

#[test]
fn pictures_of_every_format_are_encoded_anew_and_never_enlarged() {
    for name in [
        "heron.jpg",
        "chart.png",
        "buoy.gif",
        "lake.webp",
        "plain.bmp",
        "scan.tif",
    ] {
        let bytes = image_file(name);
        let original = image::load_from_memory(&bytes).unwrap();
        let drawn = picture(name, &bytes, page(MAX_WIDTH));
        assert_ne!(drawn.bytes, bytes, "{name}");
        let largest = pixels(&drawn);
        let sides = [
            original.width().max(original.height()),
            largest.width().max(largest.height()),
        ];
        assert_eq!(sides[0], sides[1], "{name}");
        let small = thumbnail(name, &bytes, 8);
        assert!(small.width <= 8 && small.height <= 12, "{name}: {small:?}");
        pixels(&small);
    }
}

/// A picture that is red on the left and blue on the right.
fn two_sides() -> RgbImage {
    RgbImage::from_fn(64, 32, |x, _| {
        if x < 32 {
            Rgb([255, 0, 0])
        } else {
            Rgb([0, 0, 255])
        }
    })
}

#[test]
fn photographs_are_upright() {
    let photograph = |orientation: u8| {
        let mut bytes = Vec::new();
        let mut encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut bytes, 95);
        let exif = [
            &b"II*\0\x08\0\0\0\x01\0"[..],
            &[0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0],
            &[0; 4],
        ];
        encoder.set_exif_metadata(exif.concat()).unwrap();
        encoder
            .encode_image(&DynamicImage::from(two_sides()))
            .unwrap();
        bytes
    };
    let red = |image: &RgbImage, x, y| image.get_pixel(x, y).0[0] > 200;
    for (orientation, size, reds) in [
        (1, (64, 32), [(8, 8), (8, 24)]),
        (3, (64, 32), [(56, 8), (56, 24)]),
        (6, (32, 64), [(8, 8), (24, 8)]),
        (8, (32, 64), [(8, 56), (24, 56)]),
    ] {
        assert!(Orientation::from_exif(orientation).is_some());
        let bytes = photograph(orientation);
        let drawn = pixels(&picture("a.jpg", &bytes, page(1_000))).into_rgb8();
        assert_eq!(drawn.dimensions(), size, "{orientation}");
        assert!(
            reds.iter().all(|(x, y)| red(&drawn, *x, *y)),
            "{orientation}"
        );
        assert!(
            !red(&drawn, size.0 - 1 - reds[0].0, size.1 - 1 - reds[0].1),
            "{orientation}"
        );
        let small = thumbnail("a.jpg", &bytes, 16);
        let expected = if size.0 > size.1 { (16, 8) } else { (12, 24) };
        assert_eq!((small.width, small.height), expected, "{orientation}");
    }
}

#[test]
fn transparency_stays_and_photographs_become_jpeg() {
    let encoded = |image: DynamicImage| {
        let mut bytes = std::io::Cursor::new(Vec::new());
        image.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        picture("a.png", &bytes.into_inner(), page(MAX_WIDTH))
    };
    let mut random = fastrand::Rng::with_seed(1);
    let photograph = RgbImage::from_fn(300, 300, |x, y| {
        Rgb([x / 2, y / 2, (x + y) / 4].map(|value| value as u8 + random.u8(..6)))
    });
    assert_eq!(encoded(photograph.into()).encoding, Encoding::Jpeg);
    assert_eq!(encoded(two_sides().into()).encoding, Encoding::Png);
    let mut glass = DynamicImage::from(two_sides()).into_rgba8();
    assert!(
        !pixels(&encoded(glass.clone().into())).color().has_alpha(),
        "it is opaque"
    );
    glass.get_pixel_mut(3, 3).0[3] = 0;
    let drawn = pixels(&encoded(glass.into())).into_rgba8();
    assert_eq!(
        (drawn.get_pixel(3, 3).0[3], drawn.get_pixel(4, 4).0[3]),
        (0, 255)
    );
}

#[test]
fn a_bomb_is_refused_before_it_is_decoded() {
    let mut bytes = Vec::new();
    let encoder = image::codecs::png::PngEncoder::new(&mut bytes);
    let white = vec![255; 20_000 * 6_000];
    encoder
        .write_image(&white, 20_000, 6_000, image::ExtendedColorType::L8)
        .unwrap();
    assert!(bytes.len() < 1 << 20);
    let cause = draw("a.png", &bytes, page(100)).unwrap_err();
    assert!(format!("{cause:?}").contains("20000 × 6000 pixels are more than ken draws"));
    let small = Limits {
        worker_memory: 1 << 20,
        ..Limits::default()
    };
    let photograph = image_file("heron.jpg");
    let mut input = Input::bytes_of("a.jpg", &photograph);
    let cause = drawn(&mut input, page(100), &small);
    let pixels = image::load_from_memory(&photograph).unwrap().into_rgb8();
    assert_eq!(pixels.len() > 1 << 19, cause.is_err(), "{cause:?}");
}

#[test]
fn books_and_office_documents_show_the_picture_that_they_hold() {
    let cover = image_file("chart.png");
    let container =
        b"<container><rootfiles><rootfile full-path='o/b.opf'/></rootfiles></container>";
    let book = |opf: &str| {
        zip_of(&[
            ("mimetype", b"application/epub+zip"),
            ("META-INF/container.xml", container),
            ("o/b.opf", opf.as_bytes()),
            ("o/img/c 1.png", &cover),
        ])
    };
    let item = "<item id='i' media-type='image/png' href='img/c%201.png'";
    let second = book(&format!(
        "<package><metadata><meta name='cover' content='i'/></metadata>\
         <manifest>{item}/></manifest></package>"
    ));
    let third = book(&format!(
        "<package><manifest>{item} properties='svg cover-image'/></manifest></package>"
    ));
    let text = zip_of(&[
        ("mimetype", b"application/vnd.oasis.opendocument.text"),
        ("content.xml", b"<office:document-content/>"),
        ("Thumbnails/thumbnail.png", &cover),
    ]);
    let expected = thumbnail("chart.png", &cover, 20);
    for (name, bytes) in [("a.epub", second), ("a.epub", third), ("a.odt", text)] {
        assert_eq!(thumbnail(name, &bytes, 20), expected, "{name}");
    }
    let without = book("<package><manifest/></package>");
    let cause = draw("a.epub", &without, Order::Thumbnail { width: 20 }).unwrap_err();
    assert!(matches!(cause, Cause::Unsupported { .. }), "{cause:?}");
}

#[test]
fn members_are_drawn_and_gone_ones_are_not() {
    let sample = Sample::pages(&[LINES]).bytes();
    let inner = zip_of(&[("b.txt", b"x"), ("page.pdf", &sample)]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outer.zip");
    fs_err::write(&path, zip_of(&[("a.txt", b"x"), ("inner.zip", &inner)])).unwrap();
    let file = fs_err::File::open(&path).unwrap();
    let pictures = Pictures::new(Options::default());
    let drawn = |ipath: &Ipath| {
        let original = Original {
            path: &path,
            file: file.file(),
            ipath,
            message: None,
        };
        pictures.page(&original, 0, WIDTH)
    };
    let inside = Ipath::root().child("inner.zip").child("page.pdf");
    let expected = picture("page.pdf", &sample, page(WIDTH));
    assert_eq!(drawn(&inside), Ok(expected));
    let gone = drawn(&Ipath::root().child("inner.zip").child("other.pdf"));
    assert!(
        matches!(gone, Err(Cause::System { errno: Some(2), .. })),
        "{gone:?}"
    );
}

#[test]
fn the_message_of_a_mailbox_is_read_where_it_was_indexed() {
    let sample = image_file("plain.bmp");
    let encoded = <base64ct::Base64 as base64ct::Encoding>::encode_string(&sample);
    let message = |subject: &str| {
        format!(
            "From a@b Thu Jan  1 00:00:00 2026\nSubject: {subject}\nMIME-Version: 1.0\n\
             Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: image/bmp\n\
             Content-Transfer-Encoding: base64\n\
             Content-Disposition: attachment; filename=plain.bmp\n\n{encoded}\n--x--\n\n"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("all.mbox");
    fs_err::write(&path, message("one") + &message("two")).unwrap();
    let file = fs_err::File::open(&path).unwrap();
    let options = Options::default();
    let seed = 7;
    let extractor = Extractor::new(&options).with_seed(seed);
    let mut documents = Vec::new();
    let size = file.metadata().unwrap().len();
    let mut input = Input::at(&path, file.file(), size);
    extractor.extract_all(&mut input, &mut |document| documents.push(document));
    let with_span = |document: &&Document| document.span.is_some();
    let second = documents.iter().filter(with_span).nth(1).unwrap();
    let mut attached = documents.iter().filter(|document| {
        let name = document.text(Field::Filename);
        name == Some("plain.bmp") && document.ipath.prefix(1) == second.ipath.as_str()
    });
    let attached = attached.next_back().unwrap();
    let original = Original {
        path: &path,
        file: file.file(),
        ipath: &attached.ipath,
        message: second.span.map(|span| (span, seed)),
    };
    let drawn = Pictures::new(options.clone()).thumbnail(&original, 16);
    assert_eq!(drawn, Ok(thumbnail("plain.bmp", &sample, 16)));
}

#[test]
fn a_picture_is_drawn_once_and_kept_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("pictures");
    let pictures = Pictures::new(Options::default()).with_cache(folder.clone(), 1 << 20);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/media/chart.png");
    let file = fs_err::File::open(&path).unwrap();
    let ipath = Ipath::root();
    let original = Original {
        path: &path,
        file: file.file(),
        ipath: &ipath,
        message: None,
    };
    let drawn = pictures.thumbnail(&original, 30).unwrap();
    let kept = || -> Vec<_> {
        let entries = fs_err::read_dir(&folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let [only] = &kept()[..] else {
        panic!("{:?}", kept());
    };
    assert!(!ken_private::is_open(&folder) && !ken_private::is_open(only));
    let mut other = drawn.clone();
    other.width += 1;
    fs_err::write(only, other.to_bytes()).unwrap();
    assert_eq!(
        pictures.thumbnail(&original, 30),
        Ok(other),
        "it is not drawn again"
    );
    fs_err::write(only, "half a pic").unwrap();
    assert_eq!(
        pictures.thumbnail(&original, 30),
        Ok(drawn),
        "but when it is damaged"
    );
    pictures.thumbnail(&original, 31).unwrap();
    assert_eq!(kept().len(), 2, "each size is a picture");
    // A file that changed just now may change again within the same tick of the clock.
    let fresh = folder.with_file_name("fresh.png");
    fs_err::copy(&path, &fresh).unwrap();
    let file = fs_err::File::open(&fresh).unwrap();
    let original = Original {
        path: &fresh,
        file: file.file(),
        ..original
    };
    pictures.thumbnail(&original, 30).unwrap();
    assert_eq!(kept().len(), 2);
}

#[test]
fn damaged_bytes_are_drawn_or_refused() {
    let sample = Sample::pages(&[LINES]).bytes();
    let mut files = vec![("page.pdf", sample)];
    for name in [
        "heron.jpg",
        "chart.png",
        "buoy.gif",
        "lake.webp",
        "plain.bmp",
        "scan.tif",
    ] {
        files.push((name, image_file(name)));
    }
    let mut random = fastrand::Rng::with_seed(1);
    for (name, good) in files {
        for _ in 0..20 {
            let mut bytes = good.clone();
            for _ in 0..8 {
                let at = random.usize(..bytes.len());
                bytes[at] = random.u8(..);
            }
            bytes.truncate(random.usize(..=bytes.len() * 2).min(bytes.len()));
            for order in [Order::Thumbnail { width: 40 }, Order::Text { page: 0 }] {
                let cause = draw(name, &bytes, order).err();
                let crashed = matches!(cause, Some(Cause::Crashed { .. }));
                assert!(!crashed, "{name}: {cause:?}");
            }
        }
    }
}

//! Targets whose bytes are one part of a package (a zip archive): the sample's other parts stand beside it, and
//! nothing is compressed, so that what the fuzzer changes reaches the parser of the part instead of the unpacker.

use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::check::check;

/// A part of a package: the name of its target, the sample, and the name of the part.
pub(crate) struct Part {
    pub(crate) target: &'static str,
    pub(crate) sample: &'static str,
    pub(crate) name: &'static str,
    bytes: &'static [u8],
}

/// Names a part of a sample in `tests/data` of the extractors.
macro_rules! part {
    ($target:literal, $sample:literal, $name:literal) => {
        Part {
            target: $target,
            sample: $sample,
            name: $name,
            bytes: include_bytes!(concat!("../../crates/ken-extract/tests/data/", $sample)),
        }
    };
}

pub(crate) const PARTS: &[Part] = &[
    part!("docx_document", "sample.docx", "word/document.xml"),
    part!("epub_package", "sample.epub", "OEBPS/book.opf"),
    part!(
        "hwpx_section",
        "office/sample.hwpx",
        "Contents/section0.xml"
    ),
    part!("keynote_slide", "iwork/talk.key", "Index/Slide-9.iwa"),
    part!(
        "numbers_document",
        "iwork/fares.numbers",
        "Index/Document.iwa"
    ),
    part!(
        "numbers_list",
        "iwork/fares.numbers",
        "Index/Tables/DataList.iwa"
    ),
    part!(
        "numbers_tile",
        "iwork/fares.numbers",
        "Index/Tables/Tile.iwa"
    ),
    part!("ods_content", "sample.ods", "content.xml"),
    part!("odt_content", "sample.odt", "content.xml"),
    part!("pages_objects", "iwork/letter.pages", "Index/Document.iwa"),
    part!("pptx_slide", "sample.pptx", "ppt/slides/slide2.xml"),
    part!("vsdx_page", "office/sample.vsdx", "visio/pages/page1.xml"),
    part!("xlsb_sheet", "office/sample.xlsb", "xl/worksheets/a.bin"),
    part!("xlsx_sheet", "sample.xlsx", "xl/worksheets/sheet1.xml"),
    part!("xlsx_styles", "sample.xlsx", "xl/styles.xml"),
];

impl Part {
    /// Returns the target.
    pub(crate) fn run(&self) -> impl Fn(&[u8]) + Send + Sync + 'static {
        let Self { sample, name, .. } = *self;
        let package = Package::without(name, self.bytes);
        move |bytes| {
            let packed = match name.ends_with(".iwa") {
                true => package.with(&iwa(bytes)),
                false => package.with(bytes),
            };
            check(sample, &packed);
        }
    }
}

/// A sample with a gap where one part was.
struct Package {
    part: &'static str,
    others: Vec<(String, Vec<u8>)>,
}

impl Package {
    /// Takes the part out of a sample.
    ///
    /// # Panics
    /// If the sample is damaged.
    fn without(part: &'static str, sample: &[u8]) -> Self {
        let mut archive = ZipArchive::new(Cursor::new(sample)).unwrap();
        let mut others = Vec::new();
        for n in 0..archive.len() {
            let mut file = archive.by_index(n).unwrap();
            let mut content = Vec::new();
            file.read_to_end(&mut content).unwrap();
            // Styles of a hundred times the size of the text are read each time.
            let name = file.name().unwrap().into_owned();
            if name != part && content.len() < 32 << 10 {
                others.push((name, content));
            }
        }
        Self { part, others }
    }

    /// Puts bytes in place of the part.
    ///
    /// # Panics
    /// If they are larger than 4 GiB.
    fn with(&self, bytes: &[u8]) -> Vec<u8> {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let others = self.others.iter();
        let others = others.map(|(name, content)| (name.as_str(), content.as_slice()));
        for (name, content) in others.chain([(self.part, bytes)]) {
            writer.start_file(name, options).unwrap();
            writer.write_all(content).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }
}

/// Packs the objects of a file of iWork.
fn iwa(objects: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    // A chunk holds at most 64 KiB.
    for chunk in objects.chunks(1 << 16) {
        let chunk = snap::raw::Encoder::new().compress_vec(chunk).unwrap();
        packed.push(0);
        packed.extend(&(chunk.len() as u32).to_le_bytes()[..3]);
        packed.extend(chunk);
    }
    packed
}

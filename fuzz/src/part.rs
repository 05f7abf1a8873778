//! Targets whose bytes are one part of a package (a zip archive): the sample's other parts stand beside it, and
//! nothing is compressed, so that what the fuzzer changes reaches the parser of the part instead of the unpacker.

use std::io::{Cursor, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// A sample with a gap where one part was.
pub struct Package {
    part: &'static str,
    others: Vec<(String, Vec<u8>)>,
}

impl Package {
    /// Takes the part out of a sample.
    ///
    /// # Panics
    /// If the sample is damaged.
    pub fn without(part: &'static str, sample: &[u8]) -> Self {
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
    pub fn with(&self, bytes: &[u8]) -> Vec<u8> {
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
pub fn iwa(objects: &[u8]) -> Vec<u8> {
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

/// Defines a target that takes its bytes for a part of the package of this name, in `tests/data` of the extractors.
#[macro_export]
macro_rules! extracts_part {
    ($sample:literal, $part:literal) => {
        $crate::extracts_part!($sample, $part, |bytes: &[u8]| bytes.to_vec());
    };
    ($sample:literal, $part:literal, $packed:expr) => {
        $crate::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
            static PACKAGE: std::sync::LazyLock<$crate::Package> = std::sync::LazyLock::new(|| {
                let sample =
                    include_bytes!(concat!("../../crates/ken-extract/tests/data/", $sample));
                $crate::Package::without($part, sample)
            });
            $crate::check($sample, &PACKAGE.with(&$packed(bytes)));
        });
    };
}

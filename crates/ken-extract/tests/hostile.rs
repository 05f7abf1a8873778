//! The hostile set: every format, with a sample in `data` and bytes that its parser does not
//! expect. A format without a sample fails.

mod common;

use std::io::{Cursor, Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use common::check::{check, limits};
use common::{Sample, samples};
use fastrand::Rng;
use ken_core::{Document, Reason};
use ken_extract::{FORMATS, Format, Input, detect, extract_all, format_of};

fn format_of_sample(sample: &Sample) -> Option<&'static Format> {
    let input = Input::bytes_of(&*sample.name, &sample.bytes);
    format_of(detect::detect(&input).unwrap().media_type)
}

/// Runs `test` on all samples, on a few threads; names the sample if it panics.
fn for_each_sample(test: impl Fn(&Sample) + Sync) {
    let samples = samples();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(sample) = samples.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(sample)));
            assert!(outcome.is_ok(), "{}", sample.path);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(work);
        }
    });
}

#[test]
fn every_format_has_a_sample() {
    let samples = samples();
    // The document of compressed content has the type of that content.
    let of_content = |sample: &Sample| format_of(&check(&sample.name, &sample.bytes).media_type);
    let formats = samples.iter().filter_map(format_of_sample);
    let formats: Vec<_> = formats
        .chain(samples.iter().filter_map(of_content))
        .collect();
    let missing: Vec<_> = FORMATS
        .iter()
        .map(|format| format.name)
        .filter(|name| !formats.iter().any(|format| format.name == *name))
        .collect();
    assert!(
        missing.is_empty(),
        "no sample in crates/ken-extract/tests/data is read by: {missing:?}"
    );
}

#[test]
fn good_samples_are_read() {
    for_each_sample(|sample| {
        let own = check(&sample.name, &sample.bytes);
        let is_bad = sample.path.starts_with("hostile/") || sample.name.starts_with("encrypted");
        assert!(is_bad || own.failure.is_none(), "{:?}", own.failure);
    });
}

#[test]
fn truncated_and_empty_files_do_no_harm() {
    for_each_sample(|sample| {
        for n in 0..20 {
            check(&sample.name, &sample.bytes[..sample.bytes.len() * n / 20]);
        }
    });
}

#[test]
fn random_bytes_under_a_good_name_do_no_harm() {
    for_each_sample(|sample| {
        let mut random = Rng::with_seed(sample.bytes.len() as u64);
        let noise: Vec<u8> = (0..4096).map(|_| random.u8(..)).collect();
        check(&sample.name, &noise);
        // After a good start, so that the content also selects the parser.
        for kept in [16, 64, 512] {
            let mut bytes = sample.bytes.clone();
            bytes.truncate(kept);
            bytes.extend(&noise);
            check(&sample.name, &bytes);
        }
    });
}

#[test]
fn damaged_bytes_do_no_harm() {
    for_each_sample(|sample| {
        let mut random = Rng::with_seed(!sample.bytes.len() as u64);
        for _ in 0..20 {
            let mut bytes = sample.bytes.clone();
            for _ in 0..8 {
                let at = random.usize(..bytes.len().max(1));
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.u8(..);
                }
            }
            check(&sample.name, &bytes);
        }
    });
}

#[test]
fn wrong_extensions_do_no_harm() {
    let extensions: Vec<&str> = FORMATS
        .iter()
        .filter_map(|format| {
            let mut types = format.media_types.iter();
            types.find_map(|media_type| detect::extensions(media_type).next())
        })
        .chain(["txt", "bin", "html"])
        .collect();
    for_each_sample(|sample| {
        check("sample", &sample.bytes);
        for extension in &extensions {
            check(&format!("sample.{extension}"), &sample.bytes);
        }
    });
}

#[test]
fn encrypted_samples_are_reported() {
    for_each_sample(|sample| {
        if !sample.name.starts_with("encrypted") || sample.name.contains("empty-password") {
            return;
        }
        let mut reasons = Vec::new();
        let mut input = Input::bytes_of(&*sample.name, &sample.bytes);
        extract_all(&mut input, &limits(), &mut |document| {
            reasons.extend(document.failure.map(|failure| failure.reason()));
        });
        assert_eq!(reasons, [Reason::Encrypted]);
    });
}

/// Replaces each member of a zip archive in turn by a bomb of 20 MiB.
fn zip_bombs(bytes: &[u8]) -> Vec<Vec<u8>> {
    let n_members = zip::ZipArchive::new(Cursor::new(bytes)).unwrap().len();
    (0..n_members).map(|index| zip_bomb(bytes, index)).collect()
}

fn zip_bomb(bytes: &[u8], index: usize) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    for at in 0..archive.len() {
        let mut member = archive.by_index(at).unwrap();
        let name = member.name().unwrap().into_owned();
        writer.start_file(name, options).unwrap();
        let mut content = Vec::new();
        member.read_to_end(&mut content).unwrap();
        if at == index {
            // After the good content, so that the parser gets there.
            for _ in 0..20 {
                writer.write_all(&content).unwrap();
                writer.write_all(&vec![b'x'; 1 << 20]).unwrap();
            }
        } else {
            writer.write_all(&content).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

fn is_stopped(document: &Document) -> bool {
    let failure = document.failure.as_ref();
    failure.is_some_and(|failure| matches!(failure.reason(), Reason::Limit | Reason::Malformed))
}

#[test]
fn bombs_in_packages_do_no_harm() {
    for_each_sample(|sample| {
        if !sample.bytes.starts_with(b"PK\x03\x04") || sample.name.starts_with("encrypted") {
            return;
        }
        let owns: Vec<_> = zip_bombs(&sample.bytes)
            .iter()
            .map(|bomb| check(&sample.name, bomb))
            .collect();
        let is_archive = format_of_sample(sample).is_some_and(|format| format.members.is_some());
        assert!(
            is_archive || owns.iter().any(is_stopped),
            "no bomb was reported"
        );
    });
}

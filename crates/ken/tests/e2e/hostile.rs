//! A folder of broken files among good ones: all good files are found, all broken ones are listed.

use std::collections::BTreeSet;

use fastrand::Rng;

use crate::samples::{all_fixtures, fixture, message, pdf, tar};
use crate::world::World;

const SAMPLES: &[&str] = &[
    "sample.docx",
    "sample.xlsx",
    "sample.pptx",
    "sample.odt",
    "sample.ods",
    "sample.odp",
    "sample.epub",
    "archive/folders.zip",
    "archive/gnu.tar",
    "archive/tree.tar.xz",
    "archive/tree.tgz",
    "archive/zstd.txt.zst",
    "archive/bzip2.txt.bz2",
    "mail/three.mbox",
    "mail/attachments.eml",
    "pdf/encrypted-empty-password.pdf",
];

#[test]
fn broken_files_do_no_harm() {
    let world = World::new();
    let mut random = Rng::with_seed(0x5eed);
    for (number, sample) in SAMPLES.iter().enumerate() {
        let good = fixture(sample);
        let name = sample.rsplit('/').next().unwrap();
        for cut in 0..4 {
            let length = random.usize(..good.len());
            world.write(format!("cut/{cut}-{name}"), &good[..length]);
        }
        for flip in 0..4 {
            let mut bytes = good.clone();
            for _ in 0..6 {
                let at = random.usize(..bytes.len());
                bytes[at] = random.u8(..);
            }
            world.write(format!("flipped/{flip}-{name}"), bytes);
        }
        world.write(format!("good/{number}.txt"), format!("stoatword{number}"));
        world.add_fixture(sample);
    }
    let summary = world.index_docs();
    let files = SAMPLES.len() * 10;
    assert_eq!(summary["added"], files);
    let run = world.ken(["status", "--json"]);
    assert_eq!(run.objects()[0]["files"], files);
    assert_eq!(world.hits("stoatword*").len(), SAMPLES.len());
    for query in [
        "quokkaberg",
        "stalagtoad",
        "dugong",
        "narwhalium",
        "zstdzorse",
    ] {
        let found = world.found(query);
        assert!(
            found
                .iter()
                .any(|location| !location.contains("cut/") && !location.contains("flipped/")),
            "{query}"
        );
    }
    assert_eq!(
        world.index(&[])["committed"],
        false,
        "failures are not tried again"
    );
}

#[test]
fn the_worst_files_are_failures_and_nothing_more() {
    let world = World::new();
    let deep = "<div>".repeat(200_000) + "otter";
    world.write("deep.html", deep);
    let mut nested = message(0, "core", "stoat");
    for level in 0..40 {
        nested = format!(
            "From: a@example.org\nSubject: level {level}\nMIME-Version: 1.0\n\
             Content-Type: message/rfc822\n\n{nested}"
        );
    }
    world.write("nested.eml", nested);
    let mut archive = tar(&[("a.txt", "marten")]);
    for _ in 0..12 {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_ustar();
        header.set_size(archive.len() as u64);
        header.set_mode(0o644);
        builder
            .append_data(&mut header, "in.tar", &archive[..])
            .unwrap();
        archive = builder.into_inner().unwrap();
    }
    world.write("nested.tar", archive);
    world.write(
        "loop.pdf",
        String::from_utf8(pdf("T", "A", &["x"]))
            .unwrap()
            .replace("/Kids[10 0 R ]", "/Kids[2 0 R 2 0 R]"),
    );
    world.write("zeros.zip", vec![0; 100_000]);
    world.write("zeros.txt", vec![0; 100_000]);
    world.write("one-line.txt", "x".repeat(3_000_000));
    world.write(
        "commas.eml",
        format!("From: {}\n\nbadger\n", "a@b.c,".repeat(20_000)),
    );
    world.write("good.txt", "the beaver builds");
    let summary = world.index_docs();
    assert_eq!(summary["added"], 9);
    assert_eq!(world.found("beaver"), ["good.txt"]);
    assert_eq!(world.hits("ext:pdf").len(), 1);
    let failed = world.failed();
    assert!(
        failed.values().any(|reason| reason == "limit"),
        "{failed:?}"
    );
    assert!(
        failed.values().all(|reason| reason != "crashed"),
        "{failed:?}"
    );
}

/// Files that cannot be read, with the listed reason.
fn hostile_files(random: &mut Rng) -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let half = |name: &str| {
        let mut bytes = fixture(name);
        bytes.truncate(bytes.len() / 2);
        bytes
    };
    let mut noise = || (0..3000).map(|_| random.u8(..)).collect::<Vec<_>>();
    vec![
        ("half.docx", half("sample.docx"), "malformed"),
        ("half.ods", half("sample.ods"), "malformed"),
        ("half.epub", half("sample.epub"), "malformed"),
        ("half.zip", half("archive/folders.zip"), "malformed"),
        ("half.txt.gz", half("archive/gzip.txt.gz"), "malformed"),
        ("half.txt.xz", half("archive/xz.txt.xz"), "malformed"),
        ("half.chm", half("media/manual.chm"), "malformed"),
        ("noise.pptx", noise(), "malformed"),
        ("noise.pdf", noise(), "malformed"),
        ("noise.odt", noise(), "malformed"),
        ("noise.zip", noise(), "malformed"),
        ("locked.docx", fixture("encrypted.docx"), "encrypted"),
        (
            "locked.pdf",
            fixture("pdf/encrypted-password.pdf"),
            "encrypted",
        ),
        ("locked.zip", fixture("archive/encrypted.zip"), "encrypted"),
    ]
}

#[test]
fn every_tenth_file_is_hostile_and_no_other_is_lost() {
    let world = World::new();
    let hostile = hostile_files(&mut Rng::with_seed(0xbad));
    let good = all_fixtures();
    let mut expected = BTreeSet::new();
    let mut names = BTreeSet::new();
    for number in 0..10 * hostile.len() {
        if number % 10 == 9 {
            let (name, bytes, reason) = &hostile[number / 10];
            world.write(format!("{number}-{name}"), bytes);
            expected.insert((format!("{number}-{name}"), (*reason).to_owned()));
        } else {
            let (name, bytes) = &good[number % good.len()];
            world.write(format!("{number}-{name}"), bytes);
            names.insert(format!("{number}-{name}"));
        }
    }
    assert_eq!(world.index_docs()["added"], 10 * hostile.len());
    let failed: BTreeSet<_> = world
        .failed()
        .into_iter()
        // A member of a good container may fail. A failed member of a hostile container counts for the container.
        .map(|(location, reason)| match location.split_once('|') {
            Some((file, _)) if !names.contains(file) => (file.to_owned(), reason),
            _ => (location, reason),
        })
        .filter(|(location, _)| !location.contains('|'))
        .collect();
    assert_eq!(failed, expected);
    let found: BTreeSet<_> = world.found("dir:docs").into_iter().collect();
    let lost: Vec<_> = names.difference(&found).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

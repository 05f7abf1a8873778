//! Archives and compressed files as in practice: detected, opened, and opened again inside.

use std::io::{Cursor, Write};

use ken_core::{Document, Field, Kind, Reason};
use ken_extract::{Input, Limits, extract_all};

const FOLDERS: &[u8] = include_bytes!("data/archive/folders.zip");
const TREE_TGZ: &[u8] = include_bytes!("data/archive/tree.tgz");
const TREE_XZ: &[u8] = include_bytes!("data/archive/tree.tar.xz");
const NOTE_GZ: &[u8] = include_bytes!("data/archive/gzip.txt.gz");

fn documents_within(limits: &Limits, name: &str, bytes: &[u8]) -> Vec<Document> {
    let mut documents = Vec::new();
    let mut input = Input::bytes_of(name, bytes);
    extract_all(&mut input, limits, &mut |document| documents.push(document));
    documents
}

fn documents(name: &str, bytes: &[u8]) -> Vec<Document> {
    documents_within(&Limits::default(), name, bytes)
}

fn ipaths(documents: &[Document]) -> Vec<&str> {
    documents.iter().map(|d| d.ipath.as_str()).collect()
}

fn reason(document: &Document) -> Option<Reason> {
    document.failure.as_ref().map(|failure| failure.reason())
}

fn zip_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn archives_of_archives_do_not_unfold_without_end() {
    let text = vec![b'a'; 1 << 20];
    let mut bytes = zip_of(&[("a.txt", &text)]);
    for name in ["b.zip", "c.zip", "d.zip"] {
        let names: Vec<String> = (0..10).map(|n| format!("{n}{name}")).collect();
        let members: Vec<(&str, &[u8])> = names.iter().map(|name| (&**name, &bytes[..])).collect();
        bytes = zip_of(&members);
    }
    let mut n_bytes = 0;
    let mut last = None;
    let mut input = Input::bytes_of("bomb.zip", &bytes);
    extract_all(&mut input, &Limits::default(), &mut |document| {
        n_bytes += document.body.len();
        last = Some(document);
    });
    assert_eq!(reason(&last.unwrap()), Some(Reason::Limit));
    let most = (64 << 20) + 1_000 * bytes.len();
    assert!(
        n_bytes <= most && n_bytes < 1_000 << 20,
        "{n_bytes} bytes of text"
    );
}

#[test]
fn a_compressed_text_is_the_text() {
    for (name, bytes, word) in [
        ("gzip.txt.gz", NOTE_GZ, "gzipzebra"),
        (
            "bzip2.txt.bz2",
            include_bytes!("data/archive/bzip2.txt.bz2"),
            "bzipbison",
        ),
        (
            "xz.txt.xz",
            include_bytes!("data/archive/xz.txt.xz"),
            "xzoxen",
        ),
        (
            "zstd.txt.zst",
            include_bytes!("data/archive/zstd.txt.zst"),
            "zstdzorse",
        ),
        (
            "lzma.txt.lzma",
            include_bytes!("data/archive/lzma.txt.lzma"),
            "lzmalemming",
        ),
    ] {
        let documents = documents(name, bytes);
        assert_eq!(ipaths(&documents), [""], "{name}");
        assert!(documents[0].body.contains(word), "{name}: {documents:?}");
        assert_eq!(documents[0].media_type, "text/plain", "{name}");
        assert_eq!(documents[0].kind, Kind::Document, "{name}");
        assert_eq!(documents[0].text(Field::Filename), Some(name));
        assert_eq!(documents[0].number(Field::Size), Some(bytes.len() as i64));
        assert_eq!(reason(&documents[0]), None);
    }
}

#[test]
fn a_compressed_tar_is_the_tar() {
    for (name, bytes) in [
        ("tree.tgz", TREE_TGZ),
        ("tree.tar.xz", TREE_XZ),
        ("tree", TREE_TGZ),
    ] {
        let documents = documents(name, bytes);
        assert_eq!(ipaths(&documents), ["a/b/meadow.txt", ""], "{name}");
        assert!(documents[0].body.contains("tapirgrass"));
        assert_eq!(documents[1].media_type, "application/x-tar");
        assert_eq!(documents[1].kind, Kind::Archive);
    }
}

#[test]
fn archives_inside_archives_are_opened() {
    let documents = documents("folders.zip", FOLDERS);
    let mut expected = ["letters/größe.txt", "letters/spring.txt"].to_vec();
    expected.extend(["backup.tar.gz|deep/cave.txt", "backup.tar.gz", ""]);
    assert_eq!(ipaths(&documents), expected);
    for (document, word) in documents
        .iter()
        .zip(["marmotberry", "quokkaberry", "stalagtoad"])
    {
        assert!(document.body.contains(word), "{word}");
    }
    assert_eq!(documents[0].number(Field::Modified), Some(1_714_979_290));
}

#[test]
fn an_archive_that_is_compressed_keeps_its_ipaths() {
    let compressed = documents("folders.zip.gz", &gzipped(FOLDERS));
    assert_eq!(
        ipaths(&compressed),
        ipaths(&documents("folders.zip", FOLDERS))
    );
}

#[test]
fn layers_of_compression_are_peeled_off_up_to_four() {
    let mut bytes = NOTE_GZ.to_vec();
    for _ in 0..3 {
        bytes = gzipped(&bytes);
    }
    let peeled = documents("note.txt.gz.gz.gz.gz", &bytes);
    assert!(peeled[0].body.contains("gzipzebra"), "{peeled:?}");
    let refused = documents("note.txt.gz", &gzipped(&bytes));
    assert_eq!(ipaths(&refused), [""]);
    assert_eq!(reason(&refused[0]), Some(Reason::Limit));
}

#[test]
fn nesting_ends_at_max_depth() {
    let mut bytes = b"reindeer".to_vec();
    for depth in 0..12 {
        let name = if depth == 0 { "a.txt" } else { "a.zip" };
        bytes = zip_of(&[(name, &bytes)]);
    }
    let documents = documents("a.zip", &bytes);
    assert_eq!(documents.len(), Limits::default().max_depth + 1);
    assert_eq!(documents[0].ipath.depth(), Limits::default().max_depth);
    assert_eq!(reason(&documents[0]), Some(Reason::Limit));
    assert!(documents[1..].iter().all(|d| d.failure.is_none()));
}

#[test]
fn a_nested_bomb_ends_at_the_limits() {
    // Like 42.zip: sixteen members, each with sixteen members, each large and of one repeated byte.
    let limits = Limits {
        max_member_bytes: 1 << 20,
        max_expansion: 100,
        ..Limits::default()
    };
    let mut bytes = vec![0; 4 << 20];
    for _ in 0..3 {
        let names: Vec<String> = (0..16).map(|n| format!("{n}.zip")).collect();
        let members: Vec<(&str, &[u8])> = names.iter().map(|n| (&**n, &*bytes)).collect();
        bytes = zip_of(&members);
    }
    let documents = documents_within(&limits, "bomb.zip", &bytes);
    assert!(documents.iter().any(|d| reason(d) == Some(Reason::Limit)));
    assert!(documents.iter().all(|d| d.body.is_empty()));
    assert!(documents.len() < 16 * 16 * 17 * 2);
}

#[test]
fn what_is_damaged_is_searchable_up_to_the_damage() {
    let text = "reindeer graze here, said the herder number ".to_owned();
    let long: String = (0..5000).map(|n| format!("{text}{n}\n")).collect();
    let bytes = gzipped(long.as_bytes());
    let documents = documents("long.txt.gz", &bytes[..bytes.len() / 2]);
    assert_eq!(reason(&documents[0]), Some(Reason::Malformed));
    assert!(documents[0].body.starts_with("reindeer") && documents[0].body.len() > 1000);
    for n in 0..20 {
        let cut = &bytes[..bytes.len() * n / 20];
        assert_eq!(ipaths(&self::documents("long.txt.gz", cut)), [""], "{n}");
    }
}

#[test]
fn large_content_is_searchable_up_to_the_limit() {
    let limits = Limits {
        // In the middle of a character.
        max_member_bytes: 10_002,
        ..Limits::default()
    };
    let fits = gzipped("größer ".repeat(1_111).as_bytes());
    let larger = gzipped("größer ".repeat(2_000).as_bytes());
    let documents = documents_within(&limits, "a.txt.gz", &fits);
    assert_eq!(reason(&documents[0]), None);
    let documents = documents_within(&limits, "a.txt.gz", &larger);
    assert_eq!(reason(&documents[0]), Some(Reason::Limit));
    let body = &documents[0].body;
    assert!(body.len() > 9_000 && body.ends_with("größer gr"), "{body}");
}

#[test]
fn content_that_ken_cannot_read_is_named_only() {
    let documents = documents("core.gz", &gzipped(&[0, 1, 2, 255, 254, 0, 7]));
    assert_eq!(ipaths(&documents), [""]);
    assert_eq!(documents[0].media_type, "application/gzip");
    assert_eq!(documents[0].kind, Kind::Archive);
    assert_eq!(documents[0].failure, None);
}

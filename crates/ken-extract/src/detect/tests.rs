//! Tests of whole decisions: name against content.

use std::io::Write;

use super::*;

fn media_type(name: &str, bytes: &[u8]) -> &'static str {
    detect(&Input::bytes_of(name, bytes)).unwrap().media_type
}

fn zip_of(members: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
    let stored =
        zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, content) in members {
        writer.start_file(*name, stored).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

fn ole2_of(stream: &str) -> Vec<u8> {
    let mut bytes = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    bytes.resize(512 * 3, 0);
    bytes[30] = 9;
    bytes[48] = 1;
    let name: Vec<u8> = stream.encode_utf16().flat_map(u16::to_le_bytes).collect();
    bytes[1024..1024 + name.len()].copy_from_slice(&name);
    bytes
}

#[test]
fn content_wins_over_a_wrong_name() {
    assert_eq!(media_type("a.txt", b"%PDF-1.7\n"), "application/pdf");
    let behind_junk = b"HTTP/1.1 200 OK\n\n%PDF-1.7\n1 0 obj <</Type/Catalog>> endobj\n";
    assert_eq!(media_type("a.pdf", behind_junk), "application/pdf");
    assert_eq!(media_type("download", behind_junk), "application/pdf");
    let script = b"cat >a.pdf <<END\n%PDF-1.7\n1 0 obj <</Type/Catalog>> endobj\n";
    assert_ne!(media_type("make.sh", script), "application/pdf");
    assert_eq!(
        media_type("a.doc", b"\xff\xd8\xff\xe0\0\x10JFIF"),
        "image/jpeg"
    );
    assert_eq!(media_type("a.doc", b"only text"), "text/plain");
    assert_eq!(media_type("a.doc", b"{\\rtf1 text}"), "application/rtf");
    assert_eq!(
        media_type("a.pdf", b"<!doctype html><p>Not found"),
        "text/html"
    );
    assert_eq!(
        media_type("a.rs", b"\x7fELF\x02\x01\x01\0"),
        "application/x-executable"
    );
    assert_eq!(
        media_type("a.rs", b"\0\x01\x02"),
        "application/octet-stream"
    );
    assert_eq!(
        media_type("a.txt", b"\x01\x02\x03\x04\x05"),
        "application/octet-stream"
    );
}

#[test]
fn names_show_what_content_cannot() {
    assert_eq!(media_type("a.rs", b"fn main() {}"), "text/x-rust");
    assert_eq!(media_type("a.php", b"<html><?php ?>"), "text/x-php");
    assert_eq!(media_type("a.vue", b"<template></template>"), "text/x-vue");
    assert_eq!(media_type("a.md", b"<p align=center>"), "text/markdown");
    assert_eq!(media_type("a.pdf", b"\0\0 damaged"), "application/pdf");
    assert_eq!(media_type("a.nef", b"II*\0\x08\0\0\0"), "image/x-nikon-nef");
    assert_eq!(
        media_type("a.tar.gz", b"\x1f\x8b\x08\0"),
        "application/gzip"
    );
    assert_eq!(media_type("a.tgz", b"\x1f\x8b\x08\0"), "application/gzip");
    assert_eq!(
        media_type("a.xhtml", b"<?xml version='1.0'?><html>"),
        "application/xhtml+xml"
    );
    assert_eq!(
        media_type("a.html", b"<?xml version='1.0'?><html>"),
        "text/html"
    );
}

#[test]
fn icons_are_distinguished_from_targa() {
    let icon = b"\0\0\x01\0\x01\0\x10\x10\0\0\x01\0";
    assert_eq!(media_type("a.tga", icon), "image/vnd.microsoft.icon");
    let targa = b"\0\0\x02\0\0\0\0\0\0\0\0\0\x21\0\x15\0\x18\0";
    assert_eq!(media_type("a.tga", targa), "image/x-tga");
}

#[test]
fn section_numbers_are_not_versions() {
    assert_eq!(media_type("printf.3", b".TH PRINTF 3\n"), "text/troff");
    assert_eq!(media_type("ls.1", b"'\\\" t\n.\\\" x\n"), "text/troff");
    assert_eq!(media_type("kelp.3", b".so man3/fish.3\n"), "text/troff");
    assert_eq!(
        media_type("COPYING.LGPLv2.1", b"GNU LESSER\n"),
        "text/plain"
    );
    let notes = b"Ignored are\n.gitignore and\n.dockerignore, and\n'tis all\n";
    assert_eq!(media_type("notes-1.2", notes), "text/plain");
}

#[test]
fn tables_translations_and_settings_are_text() {
    for (name, text, expected) in [
        ("a.csv", "name,age\nIda,7\n", "text/csv"),
        ("a.tsv", "name\tage\nIda\t7\n", "text/tab-separated-values"),
        ("a.csv", "\"quoted, name\";7\r\n", "text/csv"),
        (
            "de.po",
            "msgid \"\"\nmsgstr \"\"\n",
            "text/x-gettext-translation",
        ),
        ("a.desktop", "[Desktop Entry]\nName=Ken\n", "text/x-ini"),
        ("a.properties", "greeting=Hei\n", "text/x-properties"),
        ("a.sub", "{0}{25}Hei\n", "text/x-microdvd"),
    ] {
        assert_eq!(media_type(name, text.as_bytes()), expected);
        let format = crate::formats::by_media_type(expected).unwrap();
        assert!(!format.name.is_empty());
    }
    assert_eq!(
        media_type("a.csv", b"\0\x01\x02"),
        "application/octet-stream"
    );
    assert_eq!(media_type("a.sub", b"\0\0\x01\xba\0"), "video/mpeg");
    let wide: Vec<u8> = "a;b\r\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(
        media_type("a.csv", &[b"\xff\xfe", &wide[..]].concat()),
        "text/csv"
    );
}

#[test]
fn formats_of_text_or_bytes() {
    assert_eq!(
        media_type("a.pnm", b"P1\n3 2\n1 0 1"),
        "image/x-portable-anymap"
    );
    assert_eq!(
        media_type("a.gpg", b"\x99\x01\0\0"),
        "application/pgp-encrypted"
    );
    assert_eq!(
        media_type("a.crt", b"-----BEGIN CERTIFICATE-----"),
        "application/pkix-cert"
    );
    assert_eq!(media_type("changelog", b"-*- mode: text"), "text/plain");
    assert_eq!(media_type("x", b"\0\0\x01\x08moov"), "video/quicktime");
    assert_eq!(media_type("a.stl", b"\0\0\0"), "model/stl");
    assert_eq!(media_type("a.html", b"<html><p>stray \0 byte"), "text/html");
    assert_eq!(
        media_type("a.conf", b"<?xml version='1.0'?><a/>"),
        "application/xml"
    );
}

#[test]
fn content_shows_what_no_name_does() {
    assert_eq!(media_type("", b"just text"), "text/plain");
    assert_eq!(
        media_type("script", b"#!/usr/bin/env python3\n"),
        "text/x-python"
    );
    assert_eq!(media_type("page", b"\n <HTML><body>"), "text/html");
    assert_eq!(
        media_type("", b"<?xml version='1.0'?><a/>"),
        "application/xml"
    );
    assert_eq!(media_type("", b"BZh91AY&SY"), "application/x-bzip2");
    let wide: Vec<u8> = "<!doctype html>"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(media_type("", &wide), "text/html");
}

#[test]
fn extensions_with_two_meanings() {
    let mut stream = vec![0; 188 * 5];
    for packet in 0..5 {
        stream[packet * 188] = 0x47;
    }
    assert_eq!(media_type("a.ts", &stream), "video/mp2t");
    assert_eq!(media_type("a.ts", b"let x: number"), "text/x-typescript");
    assert_eq!(
        media_type("a.ts", b"<?xml version='1.0'?><!DOCTYPE TS><TS/>"),
        "application/xml"
    );
}

#[test]
fn zip_archives_are_refined() {
    let docx = zip_of(&[("[Content_Types].xml", ""), ("word/document.xml", "")]);
    assert!(media_type("", &docx).ends_with("wordprocessingml.document"));
    assert!(media_type("a.zip", &docx).ends_with("wordprocessingml.document"));
    let odd = zip_of(&[("[content_types].xml", ""), ("xl\\workbook.xml", "")]);
    assert!(media_type("a.bin", &odd).ends_with("spreadsheetml.sheet"));
    assert!(media_type("a.xlsx", &docx).ends_with("wordprocessingml.document"));
    assert!(media_type("a.dotx", &docx).ends_with("wordprocessingml.template"));
    assert!(media_type("a.docm", &docx).ends_with("ms-word.document.macroenabled.12"));
    let odt = zip_of(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        ("content.xml", ""),
    ]);
    assert_eq!(
        media_type("a.zip", &odt),
        "application/vnd.oasis.opendocument.text"
    );
    let epub = zip_of(&[("mimetype", "application/epub+zip\n"), ("x", "")]);
    assert_eq!(media_type("", &epub), "application/epub+zip");
    let jar = zip_of(&[("META-INF/MANIFEST.MF", ""), ("A.class", "")]);
    assert_eq!(media_type("a.zip", &jar), "application/java-archive");
    assert_eq!(media_type("a.xpi", &jar), "application/x-xpinstall");
    // Keys end in `.key`, too.
    let talk = zip_of(&[("index.apxl", ""), ("QuickLook/Thumbnail.png", "")]);
    assert_eq!(media_type("a.key", &talk), "application/vnd.apple.keynote");
    let keys = zip_of(&[("index.txt", "")]);
    assert_eq!(media_type("a.key", &keys), "application/zip");
    let plain = zip_of(&[("a.txt", "x")]);
    assert_eq!(media_type("a.docx", &plain), "application/zip");
    assert_eq!(media_type("a.zip", &plain), "application/zip");
    assert_eq!(media_type("a.txt", &plain), "application/zip");
    assert_eq!(
        media_type("a.kmz", &plain),
        "application/vnd.google-earth.kmz"
    );
}

#[test]
fn the_central_directory_decides_when_the_start_does_not() {
    let filler = "x".repeat(20_000);
    let late = zip_of(&[("customXml/item1.xml", &filler), ("xl/workbook.xml", "")]);
    assert!(media_type("", &late).ends_with("spreadsheetml.sheet"));
    assert!(media_type("a.xlsm", &late).ends_with("ms-excel.sheet.macroenabled.12"));
}

#[test]
fn the_directory_of_a_compound_file_is_followed() {
    let mut bytes = ole2_of("Pictures");
    // The table of sectors is sector 0; the directory goes on in sector 20, far behind the first one.
    bytes.resize(512 * 22, 0);
    let (table, other) = (512 + 4, 512 * 21);
    bytes[table] = 20;
    bytes[512 + 4 * 20..512 + 4 * 21].copy_from_slice(&0xffff_fffe_u32.to_le_bytes());
    let ppt = ole2_of("PowerPoint Document");
    bytes[other..].copy_from_slice(&ppt[1024..]);
    assert_eq!(
        media_type("oleObject1.bin", &bytes),
        "application/vnd.ms-powerpoint"
    );
    // A directory that follows itself ends.
    bytes[table] = 1;
    assert_eq!(media_type("", &bytes), "application/x-ole-storage");
}

#[test]
fn compound_files_are_refined() {
    assert_eq!(
        media_type("", &ole2_of("WordDocument")),
        "application/msword"
    );
    assert_eq!(
        media_type("a.doc", &ole2_of("Workbook")),
        "application/vnd.ms-excel"
    );
    assert_eq!(
        media_type("a.msg", &ole2_of("__properties_version1.0")),
        "application/vnd.ms-outlook"
    );
    assert_eq!(
        media_type("a.ppt", &ole2_of("other")),
        "application/vnd.ms-powerpoint"
    );
    assert_eq!(
        media_type("a.txt", &ole2_of("other")),
        "application/x-ole-storage"
    );
    // The file is encrypted, so only its name says which Office format it is.
    assert_eq!(
        media_type("a.xlsx", &ole2_of("EncryptedPackage")),
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    );
    assert_eq!(
        media_type("a.bin", &ole2_of("EncryptedPackage")),
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    );
    assert_eq!(
        media_type("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        "application/msword"
    );
}

#[test]
fn messages_are_found_under_any_name() {
    let mail = b"Received: x\nFrom: a@example.org\nSubject: hello\n\ntext";
    for name in [
        "1204680122.M5P6.example.pl:2,S",
        "1204680122.M5P6.example.pl",
        "7",
        "a.txt",
        "a.eml",
        "a.bin",
    ] {
        assert_eq!(media_type(name, mail), "message/rfc822", "{name}");
    }
    assert_eq!(
        media_type(
            "a.patch",
            b"From abc Mon Sep 17\nFrom: a\nDate: b\nSubject: c\n\n"
        ),
        "text/x-patch"
    );
    assert_eq!(
        media_type("2001.txt", b"From a at b Mon Jan 1\nFrom: a\nDate: b\n\n"),
        "application/mbox"
    );
    let mut declared = Input::bytes_of("", b"no header at all");
    declared.declared_type = Some("Message/RFC822".into());
    assert_eq!(detect(&declared).unwrap().media_type, "message/rfc822");
}

#[test]
fn declared_types_help_where_names_say_nothing() {
    let mut input = Input::bytes_of("attachment", b"a,b\n1,2\n");
    input.declared_type = Some("text/csv; charset=utf-8".into());
    assert_eq!(detect(&input).unwrap().media_type, "text/csv");
    input.declared_type = Some("application/octet-stream".into());
    assert_eq!(detect(&input).unwrap().media_type, "text/plain");
}

#[test]
fn empty_files_are_not_parsed() {
    assert_eq!(media_type("a.rs", b""), "text/x-rust");
    assert_eq!(media_type("a.pdf", b""), "application/x-empty");
    assert_eq!(media_type("", b""), "application/x-empty");
}

#[test]
fn names_alone() {
    assert_eq!(by_name("a.PDF").media_type, "application/pdf");
    assert_eq!(by_name("a.PDF").kind, Kind::Document);
    assert_eq!(by_name("a.unknown"), UNKNOWN);
    assert_eq!(by_name("1204680122.M5P6.example.pl"), UNKNOWN);
    assert_eq!(by_name("1204680122.v2.csv").media_type, "text/csv");
}

#[test]
fn truncated_and_random_starts_are_survived() {
    let samples = [
        zip_of(&[("[Content_Types].xml", ""), ("word/document.xml", "")]),
        ole2_of("WordDocument"),
        b"<?xml version='1.0'?><!DOCTYPE a><a>".to_vec(),
        b"From a\nFrom: b\nDate: c\n\n".to_vec(),
    ];
    for sample in samples {
        for end in 0..sample.len() {
            media_type("a.docx", &sample[..end]);
            let mut flipped = sample.clone();
            flipped[end] ^= 0xff;
            media_type("", &flipped);
        }
    }
}

//! The manual's table of formats is the program's.

#![allow(clippy::disallowed_methods)] // tests read files of the repository

use std::path::{Path, PathBuf};

use ken_extract::{ANY_TEXT, FORMATS, Format, Isolation, detect};

const START: &str = "<!-- formats: made from the table of formats by a test; \
                     UPDATE_DOCS=1 cargo test -p ken-extract --test docs -->\n";
const END: &str = "<!-- end of formats -->";

fn manual() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md")
}

fn table() -> String {
    let mut table = String::from(
        "| extractor | extensions | metadata | form feeds end | documents inside | read in \
         | media types |\n|---|---|---|---|---|---|---|\n",
    );
    for format in FORMATS {
        table.push_str(&row(format));
    }
    table
}

fn row(format: &Format) -> String {
    let metadata: Vec<_> = format.fields.iter().map(|field| field.name()).collect();
    let isolation = match format.isolation {
        Isolation::Process => "the process",
        Isolation::Worker => "a worker",
    };
    format!(
        "| {} | {} | {} | {} | {} | {isolation} | {} |\n",
        format.name,
        extensions(format),
        metadata.join(", "),
        format.sections.unwrap_or_default(),
        format.members.unwrap_or_default(),
        quoted(format.media_types.iter().copied()),
    )
}

fn extensions(format: &Format) -> String {
    if format.media_types.contains(&ANY_TEXT) {
        return "all of text, whatever the extension".to_owned();
    }
    let mut all: Vec<_> = format
        .media_types
        .iter()
        .flat_map(|media_type| detect::extensions(media_type))
        .collect();
    all.sort_unstable();
    all.dedup();
    quoted(all.into_iter())
}

fn quoted<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<_> = words.map(|word| format!("`{word}`")).collect();
    words.join(" ")
}

#[test]
fn the_manual_has_the_table_of_formats() {
    let text = std::fs::read_to_string(manual()).unwrap();
    let (before, rest) = text.split_once(START).expect("start of the table");
    let (committed, after) = rest.split_once(END).expect("end of the table");
    let table = table();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(manual(), format!("{before}{START}{table}{END}{after}")).unwrap();
        return;
    }
    assert_eq!(
        committed, table,
        "docs/formats.md is old: run UPDATE_DOCS=1 cargo test -p ken-extract --test docs"
    );
}

#[test]
fn every_format_is_found_by_an_extension_or_its_content() {
    for format in FORMATS {
        assert!(!format.media_types.is_empty(), "{}", format.name);
        assert!(format.version > 0, "{}: 0 is no version", format.name);
        for media_type in format.media_types {
            for extension in detect::extensions(media_type) {
                let detected = detect::by_name(&format!("a.{extension}"));
                assert_eq!(detected.media_type, *media_type, "{extension}");
            }
        }
    }
}

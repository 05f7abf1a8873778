//! Other forms of a word: of which language they are.

use std::path::Path;

use ken_core::{Document, Field, Ipath, Kind, Location, Pattern, Plan, Span, Word};
use ken_engine::{Record, Sink, Source};
use ken_index::{Snapshot, Writer, WriterOptions};
use tempfile::TempDir;

/// So many documents of each language, with a text; no language is none.
fn index(documents: &[(usize, &str, &str)]) -> (TempDir, Snapshot) {
    let folder = tempfile::tempdir().unwrap();
    let options = WriterOptions {
        memory_bytes: 30 << 20,
        threads: 1,
    };
    let writer = Writer::open(folder.path(), options).unwrap();
    for (n_documents, language, text) in documents {
        for number in 0..*n_documents {
            let path = format!("/{language}/{number}-{}", text.len());
            let mut document = Document::new(Ipath::default(), "text/plain", Kind::Document);
            document.body = (*text).to_owned();
            if !language.is_empty() {
                document.add_text(Field::Lang, language);
            }
            let record = Record {
                key: writer.meta().hasher.key(Path::new(&path)),
                location: Location {
                    path: path.into(),
                    ipath: Ipath::default(),
                },
                state: None,
                document,
            };
            writer.add(record).unwrap();
        }
    }
    writer.commit(&writer.meta().clone()).unwrap();
    writer.close().unwrap();
    let snapshot = Snapshot::open(folder.path()).unwrap();
    (folder, snapshot)
}

/// Returns the terms that a word is looked for by.
fn forms(snapshot: &dyn Source, word: &str) -> Vec<String> {
    let pattern = Pattern::Stem(word.to_owned());
    let plan = Plan::Word(Word::new(None, Span::Match(pattern)));
    let Plan::Word(word) = snapshot.expand(&plan, None).unwrap() else {
        panic!("a word stays one");
    };
    let terms = word.forms.into_iter().map(|form| match form.span {
        Span::Match(Pattern::Term(term)) => term,
        span => panic!("{span:?}"),
    });
    terms.collect()
}

#[test]
fn a_word_has_forms_in_the_languages_of_its_documents() {
    let (_folder, snapshot) = index(&[
        (60, "en", "mode modes models"),
        (12, "ca", "moda models"),
        (12, "pt", "modo nota"),
        (12, "es", "moda"),
        (12, "it", "moda"),
        (6, "nl", "positie posities"),
        (1, "ca", "mode"),
    ]);
    // By Catalan rules `models` is one.
    assert_eq!(forms(&snapshot, "mode"), ["mode", "modes"]);
    // Four languages have more documents.
    assert_eq!(forms(&snapshot, "positie"), ["positie", "posities"]);
}

#[test]
fn a_word_of_two_languages_has_forms_in_both() {
    let (_folder, snapshot) = index(&[
        (30, "en", "die died wand wands"),
        (30, "de", "die wand wandes"),
    ]);
    assert_eq!(forms(&snapshot, "wand"), ["wand", "wandes", "wands"]);
    // An article has no other forms, a verb has.
    assert_eq!(forms(&snapshot, "die"), ["die", "died"]);
}

#[test]
fn words_that_serve_the_sentence_have_no_forms() {
    let (_folder, snapshot) = index(&[
        (30, "en", "not nots own owned"),
        (30, "pt", "nota notas not"),
    ]);
    assert!(!forms(&snapshot, "not").contains(&"nots".to_owned()));
    let (_folder, snapshot) = index(&[(30, "en", "not note nots"), (30, "pt", "nota notas")]);
    assert_eq!(forms(&snapshot, "not"), ["not"]);
}

#[test]
fn where_documents_do_not_say_it_the_languages_of_most_are_taken() {
    let (_folder, snapshot) = index(&[
        (40, "de", "haus"),
        (20, "en", "house"),
        (2, "", "quittung quittungen receipt receipts"),
    ]);
    assert_eq!(forms(&snapshot, "quittung"), ["quittung", "quittungen"]);
    assert_eq!(forms(&snapshot, "receipts"), ["receipts", "receipt"]);
    // Nor do documents without the word.
    assert_eq!(forms(&snapshot, "houses"), ["houses", "house"]);
}

#[test]
fn the_languages_that_were_asked_for_count() {
    let (folder, snapshot) = index(&[(20, "en", "positie posities receipt receipts")]);
    assert_eq!(forms(&snapshot, "receipt"), ["receipt", "receipts"]);
    let asked = |languages: &[&str]| {
        let languages: Vec<String> = languages.iter().map(|of| (*of).to_owned()).collect();
        let snapshot = Snapshot::open(folder.path()).unwrap();
        snapshot.with_stemming(&languages)
    };
    let dutch = asked(&["nl"]).unwrap();
    assert_eq!(forms(&dutch, "positie"), ["positie", "posities"]);
    assert_eq!(forms(&asked(&[]).unwrap(), "receipt"), ["receipt"]);
    assert_eq!(asked(&["de", "xx"]).err(), Some("xx".to_owned()));
}

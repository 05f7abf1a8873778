//! Writing, committing, reading and searching through the public face of the crate.

mod common;

use common::{OPTIONS, add, found, paths, record, term};
use ken_core::{
    Bound, Field, FileKey, Glob, GlobPart, Ipath, Order, Pattern, Plan, SortKey, Span, Written,
};
use ken_engine::{Error, Files, Scope, Sink, Source};
use ken_index::{Snapshot, Writer, WriterOptions};

#[test]
fn what_is_committed_is_found_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    assert!(matches!(
        Snapshot::open(folder.path()),
        Err(Error::Missing(_))
    ));
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    let a = add(&writer, "/d/a.txt", "Alpha", "the quick brown fox");
    assert!(matches!(
        Snapshot::open(folder.path()),
        Err(Error::Missing(_))
    ));
    writer.commit(&writer.meta().clone()).unwrap();
    add(&writer, "/d/b.txt", "Beta", "a lazy dog");
    let snapshot = Snapshot::open(folder.path()).unwrap();
    assert_eq!(found(&snapshot, &Plan::All), ["/d/a.txt"]);

    writer.delete(a, Scope::File);
    writer.commit(&writer.meta().clone()).unwrap();
    assert_eq!(
        found(&snapshot, &Plan::All),
        ["/d/a.txt"],
        "a snapshot stays as it is"
    );
    let snapshot = Snapshot::open(folder.path()).unwrap();
    assert_eq!(found(&snapshot, &Plan::All), ["/d/b.txt"]);
    assert_eq!(snapshot.files().rows().unwrap().len(), 1);
}

#[test]
fn there_is_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    assert!(matches!(
        Writer::open(folder.path(), OPTIONS),
        Err(Error::Busy(_))
    ));
    drop(writer);
    Writer::open(folder.path(), OPTIONS).unwrap();
}

#[test]
fn documents_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    let ipath = Ipath::root().child("1").child("x|y");
    let mut sent = record(&writer, "/d/mail", ipath, "Größe", "page one\u{c}page two");
    sent.document.add_text(Field::Is, "attachment");
    sent.document.failure = Some(ken_core::Failure::new(ken_core::Cause::Password {
        tried: true,
    }));
    let (location, expected, key) = (sent.location.clone(), sent.document.clone(), sent.key);
    writer.add(sent).unwrap();
    writer.commit(&writer.meta().clone()).unwrap();

    let snapshot = Snapshot::open(folder.path()).unwrap();
    let addresses = snapshot.files().documents_of(key).unwrap();
    let stored = snapshot.document(addresses[0]).unwrap();
    assert_eq!(stored.location, location);
    assert_eq!(stored.document.body, expected.body);
    assert_eq!(stored.document.failure, expected.failure);
    assert_eq!(stored.document.media_type, expected.media_type);
    assert_eq!(stored.document.text(Field::Title), Some("Größe"));
    assert_eq!(
        stored.document.number(Field::Size),
        expected.number(Field::Size)
    );
    assert_eq!(stored.state, None);
    let states = stored
        .document
        .fields
        .iter()
        .filter(|(field, _)| *field == Field::Is);
    assert_eq!(states.count(), 1, "derived states are not kept twice");
    for state in ["failed", "encrypted", "member", "attachment"] {
        assert_eq!(
            found(&snapshot, &term(Field::Is, state)).len(),
            1,
            "{state}"
        );
    }
    assert_eq!(
        snapshot.files().paths(&[key]).unwrap(),
        [Some("/d/mail".into())]
    );
    assert_eq!(snapshot.files().paths(&[FileKey(1)]).unwrap(), [None]);
}

#[test]
fn a_file_without_its_own_document_is_not_finished() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    writer
        .add(record(&writer, "/d/box", Ipath::root().child("1"), "", "x"))
        .unwrap();
    writer
        .add(record(&writer, "/d/box", Ipath::root().child("2"), "", "x"))
        .unwrap();
    writer.commit(&writer.meta().clone()).unwrap();
    let rows = Snapshot::open(folder.path()).unwrap().rows().unwrap();
    assert_eq!(
        rows.iter().map(|row| row.token).collect::<Vec<_>>(),
        [ken_core::Token::UNFINISHED]
    );

    add(&writer, "/d/box", "", "the mailbox itself");
    writer.commit(&writer.meta().clone()).unwrap();
    let rows = Snapshot::open(folder.path()).unwrap().rows().unwrap();
    assert_eq!(
        rows.iter()
            .map(|row| (row.token, row.identity))
            .collect::<Vec<_>>(),
        [(ken_core::Token::from_number(7), 8)]
    );
}

#[test]
fn plans_find_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    add(
        &writer,
        "/home/a/x.txt",
        "Annual report",
        "The budget of the year",
    );
    add(
        &writer,
        "/home/a/sub/y.md",
        "Notes",
        "budgets and the year of plenty",
    );
    add(
        &writer,
        "/srv/z.pdf",
        "Annual budget",
        "parseHTTPHeader über alles",
    );
    writer.commit(&writer.meta().clone()).unwrap();
    let snapshot = Snapshot::open(folder.path()).unwrap();
    let (x, y, z) = ("/home/a/x.txt", "/home/a/sub/y.md", "/srv/z.pdf");
    let fixed = |term: &str| Pattern::Term(term.to_owned());
    let phrase = |field, terms: &[&str], prefix_last: bool| {
        let mut terms: Vec<(u32, Pattern)> = (0..).zip(terms.iter().copied().map(fixed)).collect();
        if let (true, Some((_, Pattern::Term(last)))) = (prefix_last, terms.last().cloned()) {
            terms.last_mut().unwrap().1 = Pattern::Prefix(last);
        }
        Plan::Span {
            field,
            span: Span::Phrase(terms),
        }
    };
    let together = |terms: &[&str]| Plan::Span {
        field: Field::Body,
        span: Span::Phrase(terms.iter().map(|term| (0, fixed(term))).collect()),
    };
    let prefix = |field, prefix: &str| Plan::Match {
        field,
        pattern: Pattern::Prefix(prefix.to_owned()),
    };
    for (plan, expected) in [
        (term(Field::Body, "budget"), vec![x]),
        (prefix(Field::Body, "budg"), vec![y, x]),
        (phrase(Field::Body, &["the", "year"], false), vec![y, x]),
        (phrase(Field::Body, &["year", "of"], false), vec![y]),
        (phrase(Field::Body, &["year", "of", "pl"], true), vec![y]),
        (term(Field::Body, "parsehttpheader"), vec![z]),
        (term(Field::Body, "http"), vec![z]),
        (term(Field::Body, "uber"), vec![z]),
        (together(&["parse", "header"]), vec![z]),
        (together(&["parse", "alles"]), vec![]),
        (phrase(Field::Dir, &["/", "home", "a"], false), vec![y, x]),
        (phrase(Field::Dir, &["sub"], false), vec![y]),
        (phrase(Field::Dir, &["home", "sub"], false), vec![]),
        (prefix(Field::Mime, "text/"), vec![y, x, z]),
        (
            Plan::And(vec![
                term(Field::Title, "annual"),
                Plan::Not(Box::new(term(Field::Title, "budget"))),
            ]),
            vec![x],
        ),
        (Plan::Not(Box::new(term(Field::Title, "annual"))), vec![y]),
        (
            Plan::And(vec![Plan::All, Plan::Not(Box::new(Plan::All))]),
            vec![],
        ),
        (
            Plan::Or(vec![term(Field::Title, "notes"), term(Field::Body, "uber")]),
            vec![y, z],
        ),
        (
            Plan::Range {
                field: Field::Size,
                from: Bound::Excluded(22),
                to: Bound::Unbounded,
            },
            vec![y, z],
        ),
        (
            Plan::Range {
                field: Field::Size,
                from: Bound::Unbounded,
                to: Bound::Included(22),
            },
            vec![x],
        ),
        (
            Plan::Range {
                field: Field::Size,
                from: Bound::Unbounded,
                to: Bound::Unbounded,
            },
            vec![y, x, z],
        ),
        (
            Plan::Range {
                field: Field::Pages,
                from: Bound::Unbounded,
                to: Bound::Unbounded,
            },
            vec![],
        ),
        (
            Plan::Filter(Box::new(term(Field::Ext, "txt"))),
            vec![y, x, z],
        ),
        (Plan::Nothing, vec![]),
        (Plan::Or(vec![]), vec![]),
    ] {
        assert_eq!(found(&snapshot, &plan), expected, "{plan}");
    }
}

#[test]
fn hits_come_in_the_order_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    add(&writer, "/d/b", "", "word word word");
    writer.commit(&writer.meta().clone()).unwrap();
    add(&writer, "/d/a", "", "word and several others beside it");
    add(&writer, "/d/c", "", "word");
    writer.commit(&writer.meta().clone()).unwrap();
    let snapshot = Snapshot::open(folder.path()).unwrap();
    let plan = term(Field::Body, "word");
    let order = |key, reverse| paths(&snapshot, &plan, Order { key, reverse });
    assert_eq!(order(SortKey::Path, false), ["/d/a", "/d/b", "/d/c"]);
    assert_eq!(order(SortKey::Path, true), ["/d/c", "/d/b", "/d/a"]);
    assert_eq!(order(SortKey::SIZE, false), ["/d/a", "/d/b", "/d/c"]);
    assert_eq!(order(SortKey::DATE, true), ["/d/c", "/d/b", "/d/a"]);
    let mut upwards = order(SortKey::Relevance, true);
    upwards.reverse();
    assert_eq!(order(SortKey::Relevance, false), upwards);
    let page = snapshot
        .run(
            &plan,
            Order {
                key: SortKey::Path,
                reverse: false,
            },
            1,
            1,
        )
        .unwrap();
    assert_eq!((page.total, page.hits.len()), (3, 1));
    assert_eq!(
        snapshot.location(page.hits[0].address).unwrap().to_string(),
        "/d/b"
    );
    let none = snapshot
        .run(&plan, Order::default(), 9, usize::MAX)
        .unwrap();
    assert_eq!((none.total, none.hits.len()), (3, 0));
}

#[test]
fn readers_never_fail_while_a_writer_commits_and_deletes() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    let key = add(&writer, "/d/a", "", "word");
    writer.commit(&writer.meta().clone()).unwrap();
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    for turn in 0..60 {
                        let snapshot = match turn % 2 {
                            0 => Snapshot::open(folder.path()).unwrap(),
                            _ => Snapshot::open_for_one_query(folder.path()).unwrap(),
                        };
                        assert_eq!(found(&snapshot, &term(Field::Body, "word")), ["/d/a"]);
                    }
                })
            })
            .collect();
        while readers.iter().any(|reader| !reader.is_finished()) {
            writer.delete(key, Scope::File);
            add(&writer, "/d/a", "", "word");
            writer.commit(&writer.meta().clone()).unwrap();
        }
    });
}

/// A file of a segment that the writer deletes while a reader opens it: the engine does without some of them, and
/// fails only when it is asked.
#[test]
fn a_segment_without_one_of_its_files_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    add(&writer, "/d/a.txt", "first", "the heron");
    writer.commit(&writer.meta().clone()).unwrap();
    drop(writer);
    Snapshot::open(folder.path()).unwrap();
    let entries = fs_err::read_dir(folder.path()).unwrap();
    let files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    for end in ["term", "idx", "pos", "fast", "fieldnorm", "store"] {
        let is_it = |path: &&std::path::PathBuf| path.extension().is_some_and(|own| own == end);
        let file = files.iter().find(is_it).unwrap();
        let aside = file.with_extension("aside");
        fs_err::rename(file, &aside).unwrap();
        for open in [Snapshot::open, Snapshot::open_for_one_query] {
            let snapshot = open(folder.path()).unwrap();
            let counts = (snapshot.n_documents(), snapshot.n_left_out());
            assert_eq!(counts, (0, 1), "{end}");
        }
        fs_err::rename(&aside, file).unwrap();
        fs_err::remove_file(folder.path().join(".damaged")).unwrap();
    }
    assert_eq!(Snapshot::open(folder.path()).unwrap().n_documents(), 1);
}

#[test]
fn what_a_killed_writer_left_is_not_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    // One segment, of which a part is deleted later.
    let options = WriterOptions {
        threads: 1,
        ..OPTIONS
    };
    let writer = Writer::open(folder.path(), options).unwrap();
    let key = add(&writer, "/d/a.txt", "Alpha", "text");
    for n in 0..40 {
        add(&writer, &format!("/d/{n}.txt"), "Beta", "text");
    }
    writer.commit(&writer.meta().clone()).unwrap();
    writer.close().unwrap();
    let committed = fs_err::read(folder.path().join("meta.json")).unwrap();
    for _ in 0..2 {
        let writer = Writer::open(folder.path(), options).unwrap();
        writer.delete(key, Scope::File);
        writer.commit(&writer.meta().clone()).unwrap();
        writer.close().unwrap();
        let snapshot = Snapshot::open(folder.path()).unwrap();
        assert_eq!(snapshot.n_documents(), 40);
        // As if the writer had been killed just before its commit counted.
        fs_err::write(folder.path().join("meta.json"), &committed).unwrap();
    }
}

/// Returns `n` words of which some are in every text, and most in none but this one.
fn words(text: usize, n: usize) -> String {
    let word = |at: usize| match at % 3 {
        0 => format!("common{} ", at % 1000),
        _ => format!("w{text}x{at} "),
    };
    (0..n).map(word).collect()
}

#[test]
fn more_than_memory_has_room_for_is_one_segment() {
    let folder = tempfile::tempdir().unwrap();
    let options = WriterOptions {
        memory_bytes: 0,
        threads: 1,
    };
    let writer = Writer::open(folder.path(), options).unwrap();
    for text in 0..30 {
        let path = format!("/d/{text}");
        add(&writer, &path, "Text", &words(text, 50_000));
    }
    let names = || -> Vec<String> {
        let files = fs_err::read_dir(folder.path()).unwrap();
        let names = files.map(|entry| entry.unwrap().file_name().into_string());
        names.map(Result::unwrap).collect()
    };
    // What is written out has no name, so that nothing is left of it if the process is killed now.
    let before = names();
    assert!(
        !before.iter().any(|name| name.starts_with(".tmp")),
        "{before:?}"
    );
    writer.commit(&writer.meta().clone()).unwrap();
    writer.close().unwrap();
    let after = names();
    let n_segments = after.iter().filter(|name| name.ends_with(".store"));
    assert_eq!(n_segments.count(), 1, "{after:?}");
    let snapshot = Snapshot::open(folder.path()).unwrap();
    for text in [0, 13, 29] {
        for at in [1, 49_999] {
            let plan = term(Field::Body, &format!("w{text}x{at}"));
            assert_eq!(found(&snapshot, &plan), [format!("/d/{text}")]);
        }
    }
    assert_eq!(found(&snapshot, &term(Field::Body, "common999")).len(), 30);
}

#[test]
fn a_document_that_is_there_twice_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    let commit = || writer.commit(&writer.meta().clone()).unwrap();
    let doubled = || {
        Snapshot::open(folder.path())
            .unwrap()
            .files()
            .duplicated()
            .unwrap()
    };
    let first = add(&writer, "/d/a", "Alpha", "");
    let second = add(&writer, "/d/b", "Beta", "");
    commit();
    assert!(doubled().is_empty());
    writer.delete(first, Scope::File);
    add(&writer, "/d/a", "Alpha", "");
    commit();
    assert!(doubled().is_empty());
    add(&writer, "/d/b", "Beta", "");
    commit();
    assert_eq!(doubled(), [second], "in two segments");
    add(&writer, "/d/a", "Alpha", "");
    add(&writer, "/d/a", "Alpha", "");
    commit();
    let mut both = vec![first, second];
    both.sort();
    assert_eq!(doubled(), both, "and in one");
}

#[test]
fn an_index_of_another_format_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    add(&writer, "/d/a", "", "word");
    writer.commit(&writer.meta().clone()).unwrap();
    writer.close().unwrap();
    let path = folder.path().join("meta.json");
    let sealed = fs_err::read_to_string(&path).unwrap();
    // Without its checksum, as a program that knows of none would write it.
    let (meta, _) = sealed.split_once("\n#crc32 ").unwrap();
    let (before, after) = meta.split_once(r#"\"format\":"#).unwrap();
    let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
    let changed = format!(r#"{before}\"format\":999{after}"#);
    assert_ne!(changed, meta);
    fs_err::write(&path, changed).unwrap();
    for error in [
        Snapshot::open(folder.path()).err(),
        Writer::open(folder.path(), OPTIONS).err(),
    ] {
        assert!(
            matches!(error, Some(Error::Version { found: 999, .. })),
            "{error:?}"
        );
    }
}

#[test]
fn a_deletion_spares_what_is_added_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let commit = |writer: &dyn Sink| writer.commit(&writer.meta().clone()).unwrap();
    let titles = || {
        let snapshot = Snapshot::open(folder.path()).unwrap();
        let of = |title| snapshot.run(&term(Field::Title, title), Order::default(), 0, 9);
        ["one", "two", "three", "four"].map(|title| of(title).unwrap().total)
    };
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    let key = add(&writer, "/d/a", "one", "");
    writer.delete(key, Scope::File);
    add(&writer, "/d/a", "two", "");
    commit(&writer);
    assert_eq!(titles(), [0, 1, 0, 0], "in one segment");
    writer.delete(key, Scope::File);
    writer.delete(key, Scope::File);
    add(&writer, "/d/a", "three", "");
    commit(&writer);
    assert_eq!(titles(), [0, 0, 1, 0], "in an older one");
    writer.close().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    add(&writer, "/d/b", "four", "");
    writer.delete(key, Scope::File);
    commit(&writer);
    assert_eq!(titles(), [0, 0, 0, 1], "of a writer before");
}

#[test]
fn a_writer_that_cannot_write_says_why_and_commits_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    let writer = Writer::open(&index, OPTIONS).unwrap();
    // As on a full disk, no file can be made any more.
    fs_err::remove_dir_all(&index).unwrap();
    let record = || record(&writer, "/d/a.txt", Ipath::root(), "Title", "some words");
    let error = writer.add(record()).unwrap_err().to_string();
    assert!(error.contains("No such file or directory"), "{error}");
    fs_err::create_dir(&index).unwrap();
    assert_eq!(writer.add(record()).unwrap_err().to_string(), error);
    assert_eq!(writer.commit(writer.meta()).unwrap_err().to_string(), error);
    assert!(!fs_err::exists(index.join("meta.json")).unwrap());
}

#[test]
fn neighbouring_values_share_a_border() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    let mut record = record(&writer, "/d/a", Ipath::root(), "", "");
    for author in ["…", "Anna Berg", "Bert Tal", "—", "Carl See"] {
        record.document.add_text(Field::Author, author);
    }
    writer.add(record).unwrap();
    writer.commit(&writer.meta().clone()).unwrap();
    writer.close().unwrap();
    let snapshot = Snapshot::open(folder.path()).unwrap();
    for (phrase, is_found) in [
        ("^anna berg$", true),
        ("^bert tal$", true),
        ("^carl see$", true),
        ("berg$ ^bert", false),
        ("berg bert", false),
        ("tal carl", false),
        ("^berg", false),
        ("bert$", false),
    ] {
        let mut terms = Vec::new();
        for word in phrase.split(' ') {
            terms.extend(word.starts_with('^').then_some(Pattern::Border));
            terms.push(Pattern::Term(word.trim_matches(['^', '$']).to_owned()));
            terms.extend(word.ends_with('$').then_some(Pattern::Border));
        }
        let plan = Plan::Span {
            field: Field::Author,
            span: Span::Phrase((0..).zip(terms).collect()),
        };
        assert_eq!(!found(&snapshot, &plan).is_empty(), is_found, "{phrase}");
    }
    let exact = Pattern::Written(Written {
        terms: Box::new(Pattern::Term("carl".to_owned())),
        text: Glob(vec![GlobPart::Literal("Carl".to_owned())]),
        case: true,
        diacritics: false,
    });
    let plan = Plan::Span {
        field: Field::Author,
        span: Span::Phrase(vec![(0, exact), (1, Pattern::Term("see".to_owned()))]),
    };
    assert_eq!(found(&snapshot, &plan), ["/d/a"]);
}

#[test]
fn forms_and_borders_are_exact() {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::open(folder.path(), OPTIONS).unwrap();
    add(
        &writer,
        "/d/a",
        "Polish the car",
        "We polish. Résumé of the year",
    );
    add(
        &writer,
        "/d/b",
        "The Polish car",
        "resume the work, RESUME it",
    );
    writer.commit(&writer.meta().clone()).unwrap();
    writer.close().unwrap();
    let snapshot = Snapshot::open(folder.path()).unwrap();
    let form = |term: &str, text: &str, letters: &str| {
        Pattern::Written(Written {
            terms: Box::new(Pattern::Term(term.to_owned())),
            text: Glob(vec![GlobPart::Literal(text.to_owned())]),
            case: letters.contains('C'),
            diacritics: letters.contains('D'),
        })
    };
    let forms = |start: &str, text: &str, letters: &str| {
        let mut glob = Glob(Vec::new());
        for letter in text.chars() {
            glob.push(match letter {
                '*' => GlobPart::Many,
                '?' => GlobPart::One,
                letter => GlobPart::Literal(letter.into()),
            });
        }
        Pattern::Written(Written {
            terms: Box::new(Pattern::Prefix(start.to_owned())),
            text: glob,
            case: letters.contains('C'),
            diacritics: letters.contains('D'),
        })
    };
    let border = || Pattern::Border;
    let word = |word: &str| Pattern::Term(word.to_owned());
    for (field, terms, expected) in [
        (
            Field::Title,
            vec![form("polish", "Polish", "C")],
            "/d/a /d/b",
        ),
        (
            Field::Title,
            vec![word("the"), form("polish", "Polish", "C")],
            "/d/b",
        ),
        (
            Field::Title,
            vec![word("the"), form("polish", "polish", "C")],
            "",
        ),
        (Field::Body, vec![form("polish", "polish", "CD")], "/d/a"),
        (Field::Body, vec![form("polish", "Polish", "C")], ""),
        (Field::Body, vec![forms("re", "Ré*", "CD")], "/d/a"),
        (
            Field::Body,
            vec![forms("re", "RE*", "C"), word("it")],
            "/d/b",
        ),
        (Field::Body, vec![forms("re", "Re?u*", "C")], "/d/a"),
        (Field::Body, vec![forms("re", "Q*", "C")], ""),
        (Field::Body, vec![form("resume", "Resume", "D")], "/d/b"),
        (Field::Body, vec![form("resume", "RÉSUMÉ", "D")], "/d/a"),
        (Field::Body, vec![form("resume", "RESUME", "C")], "/d/b"),
        (Field::Body, vec![form("resume", "Resume", "C")], "/d/a"),
        (
            Field::Body,
            vec![form("resume", "RESUME", "CD"), word("it")],
            "/d/b",
        ),
        (Field::Title, vec![border(), word("polish")], "/d/a"),
        (Field::Title, vec![word("car"), border()], "/d/a /d/b"),
        (Field::Title, vec![word("polish"), border()], ""),
        (
            Field::Title,
            vec![border(), form("the", "The", "C")],
            "/d/b",
        ),
        (
            Field::Title,
            vec![Pattern::Prefix(String::new())],
            "/d/a /d/b",
        ),
        (Field::Title, vec![Pattern::Regex("^.$".to_owned())], ""),
        (Field::Author, vec![Pattern::Prefix(String::new())], ""),
    ] {
        let plan = Plan::Span {
            field,
            span: Span::Phrase((0..).zip(terms).collect()),
        };
        assert_eq!(found(&snapshot, &plan).join(" "), expected, "{plan}");
    }
}

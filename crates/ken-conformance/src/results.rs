//! The order of hits, their groups, their counts, and the choice of documents.

use std::path::Path;
use std::sync::Arc;

use ken_core::{
    Document, Field, Folders, Glob, GlobPart, Ipath, Kind, Location, Order, Pattern, Plan, SortKey,
    Span, Value,
};
use ken_engine::{Collapse, DocAddress, FacetBy, Request, Scope, Source, Stored};

use crate::{Index, New, add};

/// A document: path, internal path, author, size, content, components of its message.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    i64,
    Option<u64>,
    Option<u8>,
);

const ROWS: &[&[Row]] = &[
    &[
        ("/d/a/1", "", "Zoe", 10, Some(1), None),
        ("/d/b/2", "", "anna", 20, Some(2), None),
        ("/d/b/box", "1", "Émile", 30, Some(3), Some(1)),
        ("/d/b/box", "1|att", "", 0, Some(1), Some(1)),
    ],
    &[
        ("/d/b/box", "2", "Anna", 40, Some(4), Some(1)),
        ("/d/b/box", "2|att", "Anna", 0, None, Some(1)),
        ("/d/b/box", "", "", 50, None, None),
        ("/e/3", "", "emile", 10, Some(1), None),
    ],
];

/// Files in folders with names of every kind.
const PLACES: [&str; 6] = [
    "/home/My Docs/a.txt",
    "/home/my docs/deep/b.txt",
    "/home/Äpfel/c.txt",
    "/home/apfel/d;x/e f.txt",
    "/mail/lists/cur/1",
    "/mail/sent/new/2",
];

/// Folders and paths are found by their names, and values by expressions over all of them.
pub fn folders_and_paths_are_found_by_their_names(new: New<'_>) {
    let index = new();
    let writer = index.sink(1);
    for path in PLACES {
        let mut document = Document::new(Ipath::root(), "text/plain", Kind::Document);
        document.add_text(Field::Author, &format!("Ann <ann{}@x.org>", path.len()));
        add(&*writer, path, document, true);
        let member = Document::new(
            Ipath::from_joined("in/side.txt"),
            "text/plain",
            Kind::Document,
        );
        if path.ends_with("c.txt") {
            add(&*writer, path, member, false);
        }
    }
    writer.commit(&writer.meta().clone()).unwrap();
    writer.close().unwrap();
    let source = index.source();
    let literal = |text: &str| GlobPart::Literal(text.to_owned());
    let name = |text: &str| Pattern::Name(Glob(vec![literal(text)]));
    let begins = |text: &str| Pattern::Name(Glob(vec![literal(text), GlobPart::Many]));
    let of = |field, pattern| Plan::Match { field, pattern };
    let folder = |expression: &str, is_maildir| {
        Pattern::Folder(Folders {
            expression: expression.to_owned(),
            all_mail: None,
            is_maildir,
        })
    };
    let phrase = |names: &[&str]| {
        let names = names.iter().map(|text| name(text));
        Plan::Span {
            field: Field::Dir,
            span: Span::Phrase((0..).zip(names).collect()),
        }
    };
    let glob = |parts: &[GlobPart]| Pattern::Glob(Glob(parts.to_vec()));
    let one = GlobPart::One;
    for (plan, expected) in [
        (of(Field::Dir, name("MY DOCS")), &[0, 1][..]),
        (of(Field::Dir, name("apfel")), &[2, 2, 3]),
        (of(Field::Dir, name("docs")), &[]),
        (of(Field::Dir, begins("my ")), &[0, 1]),
        (of(Field::Dir, begins("d")), &[1, 3]),
        (
            of(
                Field::Dir,
                Pattern::Name(Glob(vec![literal("my"), one.clone(), literal("docs")])),
            ),
            &[0, 1],
        ),
        (of(Field::Dir, Pattern::Term("My Docs".to_owned())), &[0]),
        (of(Field::Dir, Pattern::Prefix("My ".to_owned())), &[0]),
        (of(Field::Dir, Pattern::Regex("^d;".to_owned())), &[3]),
        (phrase(&["home", "my docs"]), &[0, 1]),
        (phrase(&["my docs", "deep"]), &[1]),
        (phrase(&["home", "deep"]), &[]),
        (
            of(
                Field::Path,
                glob(&[GlobPart::Many, literal("docs"), GlobPart::Many]),
            ),
            &[1],
        ),
        (of(Field::Path, name("/home/apfel/d;x/E F.txt")), &[3]),
        (
            of(Field::Path, Pattern::Prefix("/home/\u{c4}".to_owned())),
            &[2, 2],
        ),
        (
            of(Field::Path, Pattern::Term("/mail/sent/new/2".to_owned())),
            &[5],
        ),
        (
            of(Field::Path, Pattern::Regex("/[mn]a.l/".to_owned())),
            &[4, 5],
        ),
        (
            of(
                Field::Path,
                glob(&[GlobPart::Many, literal("c.txt|in/"), GlobPart::Many]),
            ),
            &[2],
        ),
        (
            of(
                Field::Path,
                glob(&[literal("/home/"), one, literal("pfel/c.txt")]),
            ),
            &[2],
        ),
        (of(Field::Dir, folder("^lists$", true)), &[4]),
        (of(Field::Dir, folder("^(deep|sent/new)$", false)), &[1, 5]),
        (
            of(Field::Author, Pattern::Address(vec!["^ann19@".to_owned()])),
            &[0],
        ),
    ] {
        let found = source.run(&plan, Order::default(), 0, 100).unwrap();
        let path = |at: DocAddress| source.location(at).unwrap().path;
        let mut paths: Vec<_> = found.hits.iter().map(|hit| path(hit.address)).collect();
        paths.sort();
        let mut expected: Vec<_> = expected.iter().map(|at| Path::new(PLACES[*at])).collect();
        expected.sort();
        assert_eq!(paths, expected, "{plan}");
        let negated = Plan::Not(Box::new(plan));
        let found = source.run(&negated, Order::default(), 0, 100).unwrap();
        assert_eq!(found.total, PLACES.len() + 1 - expected.len(), "{negated}");
    }
}

/// Writes each list of [`ROWS`] in a commit of its own.
fn written(new: New<'_>) -> (Box<dyn Index>, Arc<dyn Source>) {
    let index = new();
    let writer = index.sink(1);
    for rows in ROWS {
        for (path, ipath, author, size, content, message) in *rows {
            let mut document =
                Document::new(Ipath::from_joined(ipath), "text/plain", Kind::Document);
            document.add_text(Field::Author, author);
            if *size > 0 {
                document.add_number(Field::Size, *size);
            }
            document.body = "word ".repeat(*size as usize);
            document.body.push_str("all");
            document.content = *content;
            document.message = *message;
            add(&*writer, path, document, ipath.is_empty());
        }
        writer.commit(&writer.meta().clone()).unwrap();
    }
    writer.close().unwrap();
    let snapshot = index.source();
    (index, snapshot)
}

fn by(key: SortKey, reverse: bool) -> Order {
    Order { key, reverse }
}

fn locations(snapshot: &dyn Source, request: &Request<'_>) -> Vec<String> {
    let hits = snapshot.find(request).unwrap().hits;
    let location = |address| snapshot.location(address).unwrap().to_string();
    hits.iter().map(|hit| location(hit.address)).collect()
}

/// The name says what holds.
pub fn messages_of_a_maildir_come_in_the_order_of_their_paths(new: New<'_>) {
    let index = new();
    let writer = index.sink(1);
    for (path, kind) in [
        ("/m/cur/3.host:2,S", Kind::Message),
        ("/a/zebra.eml", Kind::Message),
        ("/m/new/1.host", Kind::Message),
        ("/z/cur/apple", Kind::Document),
        ("/m/cur/2.host:2,S", Kind::Message),
    ] {
        let mut document = Document::new(Ipath::root(), "text/plain", kind);
        let name = path.rsplit('/').next().unwrap();
        document.add_text(Field::Filename, name);
        add(&*writer, path, document, false);
    }
    writer.commit(&writer.meta().clone()).unwrap();
    writer.close().unwrap();
    let snapshot = index.source();
    let order = |reverse| {
        let request = Request {
            order: by(SortKey::Field(Field::Filename), reverse),
            ..Request::new(&Plan::All)
        };
        locations(&*snapshot, &request)
    };
    let named = ["/z/cur/apple", "/a/zebra.eml"];
    let numbered = ["/m/cur/2.host:2,S", "/m/cur/3.host:2,S", "/m/new/1.host"];
    assert_eq!(order(false), [&named[..], &numbered[..]].concat());
    let upwards = named.iter().rev().chain(numbered.iter().rev());
    assert_eq!(order(true), upwards.copied().collect::<Vec<_>>());
    // Such a name is a number and the name of a machine, and is not searched.
    let n_named = |name: &str| {
        let by_name = Plan::Match {
            field: Field::Filename,
            pattern: Pattern::Term(name.to_owned()),
        };
        snapshot.find(&Request::new(&by_name)).unwrap().total
    };
    assert_eq!((n_named("host"), n_named("zebra")), (0, 1));
}

/// The name says what holds.
pub fn texts_sort_without_case_and_missing_values_come_last(new: New<'_>) {
    let (_index, snapshot) = written(new);
    let order = |key, reverse| {
        let request = Request {
            order: by(key, reverse),
            ..Request::new(&Plan::All)
        };
        locations(&*snapshot, &request)
    };
    let without = ["/d/b/box", "/d/b/box|1|att"];
    let author = SortKey::Field(Field::Author);
    let sorted = order(author, false);
    assert_eq!(
        sorted[..6],
        [
            "/d/b/2",
            "/d/b/box|2",
            "/d/b/box|2|att",
            "/e/3",
            "/d/b/box|1",
            "/d/a/1"
        ]
    );
    assert_eq!(sorted[6..], without);
    let reversed = order(author, true);
    assert_eq!(reversed[..2], ["/d/a/1", "/d/b/box|1"]);
    assert_eq!(reversed[6..], without);
    let sizes = order(SortKey::SIZE, true);
    assert_eq!(sizes[..3], ["/d/a/1", "/e/3", "/d/b/2"], "equals by path");
    assert_eq!(sizes[6..], ["/d/b/box|1|att", "/d/b/box|2|att"]);
    let folders = order(SortKey::Field(Field::Dir), true);
    assert_eq!(folders[0], "/e/3");
    // A field without a column leaves the order of paths.
    assert_eq!(
        order(SortKey::Field(Field::Body), true),
        order(SortKey::Path, false)
    );
}

/// The name says what holds.
pub fn pages_are_parts_of_the_whole(new: New<'_>) {
    let (_index, snapshot) = written(new);
    for collapse in [
        None,
        Some(Collapse::Content),
        Some(Collapse::Similar),
        Some(Collapse::File),
        Some(Collapse::Message),
    ] {
        for key in [
            SortKey::Relevance,
            SortKey::Path,
            SortKey::Field(Field::Author),
        ] {
            let plan = Plan::Match {
                field: Field::Body,
                pattern: Pattern::Term("all".to_owned()),
            };
            let all = Request {
                order: by(key, false),
                collapse,
                ..Request::new(&plan)
            };
            let whole = locations(&*snapshot, &all);
            let page = |offset| Request {
                offset,
                limit: 3,
                ..all
            };
            let pages = [0, 3, 6, 9].map(|offset| locations(&*snapshot, &page(offset)));
            assert_eq!(pages.concat(), whole, "{collapse:?} {key:?}");
        }
    }
}

/// The name says what holds.
pub fn hits_that_belong_together_are_one(new: New<'_>) {
    let (_index, snapshot) = written(new);
    for (collapse, expected) in [
        (
            Collapse::Content,
            vec![
                ("/d/a/1", 2),
                ("/d/b/2", 0),
                ("/d/b/box", 0),
                ("/d/b/box|1", 0),
                ("/d/b/box|2", 0),
                ("/d/b/box|2|att", 0),
            ],
        ),
        (
            Collapse::File,
            vec![("/d/a/1", 0), ("/d/b/2", 0), ("/d/b/box", 4), ("/e/3", 0)],
        ),
        (
            Collapse::Message,
            vec![
                ("/d/a/1", 0),
                ("/d/b/2", 0),
                ("/d/b/box", 0),
                ("/d/b/box|1", 1),
                ("/d/b/box|2", 1),
                ("/e/3", 0),
            ],
        ),
    ] {
        let request = Request {
            order: by(SortKey::Path, false),
            collapse: Some(collapse),
            ..Request::new(&Plan::All)
        };
        let found = snapshot.find(&request).unwrap();
        assert_eq!((found.total, found.groups), (8, expected.len()));
        let location = |address| snapshot.location(address).unwrap().to_string();
        let hits: Vec<_> = found
            .hits
            .iter()
            .map(|hit| (location(hit.address), hit.more))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(at, more)| ((*at).to_owned(), *more))
            .collect();
        assert_eq!(hits, expected, "{collapse:?}");
    }
}

/// The name says what holds.
pub fn copies_are_duplicates_wherever_they_are(new: New<'_>) {
    let (_index, snapshot) = written(new);
    let plan = Plan::Filter(Box::new(Plan::Match {
        field: Field::Is,
        pattern: Pattern::Term("duplicate".to_owned()),
    }));
    let request = Request {
        order: by(SortKey::Path, false),
        ..Request::new(&plan)
    };
    assert_eq!(
        locations(&*snapshot, &request),
        ["/d/a/1", "/d/b/box|1|att", "/e/3"]
    );
    let others = Plan::Not(Box::new(plan));
    assert_eq!(snapshot.find(&Request::new(&others)).unwrap().total, 5);
}

/// The name says what holds.
pub fn some_documents_may_be_asked_and_others_left_out(new: New<'_>) {
    let (_index, snapshot) = written(new);
    let all = snapshot.find(&Request::new(&Plan::All)).unwrap().hits;
    let addresses: Vec<DocAddress> = all.iter().map(|hit| hit.address).collect();
    let count = |only, without| {
        let request = Request {
            only,
            without,
            ..Request::new(&Plan::All)
        };
        snapshot.find(&request).unwrap().total
    };
    assert_eq!(count(Some(&addresses[2..6]), &[]), 4);
    assert_eq!(count(Some(&addresses[2..6]), &addresses[5..]), 3);
    assert_eq!(count(None, &addresses[5..]), 5);
    assert_eq!(count(Some(&[]), &[]), 0);
}

/// The name says what holds.
pub fn hits_are_counted_by_values_and_ranges(new: New<'_>) {
    let (_index, snapshot) = written(new);
    let count = |by| {
        let facets = snapshot.facets(&Request::new(&Plan::All), &[by]).unwrap();
        let [counts] = &facets[..] else {
            panic!("one facet")
        };
        let text = |(value, count): &(Value, u64)| match value {
            Value::Text(text) => format!("{text} {count}"),
            Value::Number(number) => format!("{number} {count}"),
        };
        counts.iter().map(text).collect::<Vec<_>>()
    };
    assert_eq!(
        count(FacetBy::Values(Field::Author)),
        ["Anna 3", "emile 2", "Zoe 1"],
        "case does not matter, most hits first"
    );
    assert_eq!(
        count(FacetBy::Values(Field::Dir)),
        ["/d/b 6", "/d/a 1", "/e 1"]
    );
    assert_eq!(
        count(FacetBy::Values(Field::Size)),
        ["10 2", "20 1", "30 1", "40 1", "50 1"]
    );
    assert_eq!(
        count(FacetBy::Ranges(Field::Size, vec![15, 40, 60])),
        ["15 2", "40 2"]
    );
    assert!(count(FacetBy::Values(Field::Album)).is_empty());
    assert!(count(FacetBy::Values(Field::Body)).is_empty());
    assert_eq!(snapshot.extent(Field::Size).unwrap(), Some((10, 50)));
    assert_eq!(snapshot.extent(Field::Pages).unwrap(), None);
    assert_eq!(snapshot.extent(Field::Author).unwrap(), None);
}

/// The name says what holds.
pub fn content_and_message_are_kept(new: New<'_>) {
    let (_index, snapshot) = written(new);
    for hit in snapshot.find(&Request::new(&Plan::All)).unwrap().hits {
        let stored = snapshot.document(hit.address).unwrap();
        let row = ROWS.iter().copied().flatten().find(|(path, ipath, ..)| {
            Path::new(path) == stored.location.path && *ipath == stored.location.ipath.as_str()
        });
        let (.., content, message) = row.unwrap();
        assert_eq!(
            (stored.document.content, stored.document.message),
            (*content, *message)
        );
    }
}

/// All documents can be had one after the other with their texts, each of them once, until somebody has enough.
pub fn each_document_is_given_once(new: New<'_>) {
    let index = new();
    let writer = index.sink(1);
    // More than a page, and in several commits; some are deleted again.
    for range in [0..300, 300..450] {
        for number in range {
            for name in ["1", ""] {
                let mut document =
                    Document::new(Ipath::from_joined(name), "text/plain", Kind::Document);
                document.body = format!("text {number} {name}");
                add(&*writer, &format!("/d/{number}"), document, name.is_empty());
            }
        }
        writer.commit(&writer.meta().clone()).unwrap();
    }
    for number in (0..450).step_by(3) {
        let key = writer.meta().hasher.key(Path::new(&format!("/d/{number}")));
        writer.delete(key, Scope::File);
    }
    writer.commit(&writer.meta().clone()).unwrap();
    writer.close().unwrap();
    let source = index.source();
    let mut given = Vec::new();
    let mut take = |stored: Stored| {
        assert_eq!(stored.state.is_some(), stored.location.ipath.is_root());
        given.push(stored.document.body);
        Ok(true)
    };
    source.each_document(&mut take).unwrap();
    let kept = (0..450).filter(|number| number % 3 != 0);
    let mut expected: Vec<String> = kept
        .flat_map(|number| ["1", ""].map(|name| format!("text {number} {name}")))
        .collect();
    given.sort();
    expected.sort();
    assert_eq!(given, expected);
    let mut n_given = 0;
    let mut take = |_| {
        n_given += 1;
        Ok(n_given < 3)
    };
    source.each_document(&mut take).unwrap();
    assert_eq!(n_given, 3);
}

/// A location names one document, and the documents in it, however the names of others begin.
pub fn locations_name_documents_and_their_members(new: New<'_>) {
    const NAMES: [&str; 9] = [
        "1", "1|a", "1|a|b", "1 more", "10", "10|a", "1\\|a", "1}", "",
    ];
    let index = new();
    let writer = index.sink(1);
    // In two commits, so that documents of a file are not together.
    for names in [&NAMES[..4], &NAMES[4..]] {
        for path in ["/d/box", "/d/box2", "/d/bo"] {
            for name in names {
                let mut document =
                    Document::new(Ipath::from_joined(name), "text/plain", Kind::Document);
                document.body = "text".to_owned();
                add(&*writer, path, document, name.is_empty());
            }
        }
        writer.commit(&writer.meta().clone()).unwrap();
    }
    writer.close().unwrap();
    let source = index.source();
    for name in NAMES.into_iter().chain(["1|", "1|c", "2", "11"]) {
        let location = Location {
            path: "/d/box".into(),
            ipath: Ipath::from_joined(name),
        };
        let is_there = NAMES.contains(&name);
        let at = source.document_at(&location).unwrap();
        assert_eq!(at.is_some(), is_there, "{name}");
        if let Some(at) = at {
            assert_eq!(source.location(at).unwrap(), location);
        }
        let below = source.documents_below(&location).unwrap();
        let mut found = source.locations(&below).unwrap();
        found.sort();
        let mut expected: Vec<Location> = NAMES
            .into_iter()
            .map(Ipath::from_joined)
            .filter(|of| of.prefix(location.ipath.depth()) == location.ipath.as_str())
            .map(|ipath| Location {
                path: "/d/box".into(),
                ipath,
            })
            .collect();
        expected.sort();
        assert_eq!(found, expected, "{name}");
    }
    let nowhere = Location::file("/d/b");
    assert_eq!(source.document_at(&nowhere).unwrap(), None);
    assert!(source.documents_below(&nowhere).unwrap().is_empty());
}

//! Reading, where it differs from what every engine must do: commits meanwhile, and more than ken looks at.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ken_core::{Document, Field, Ipath, Kind, Location, Order, Pattern, Plan, Span, Token, Word};
use ken_engine::{Collapse, Engine, FileState, Reading, Record, Request, Sink, Source};

use super::window::SMALL;
use super::{ClusterSource, lock};
use crate::client::Client;
use crate::fake::Fake;
use crate::layout::Names;
use crate::root;
use crate::{Call, Cluster, Http, Method, Patience, Reply, Shape};

fn cluster(http: Arc<dyn Http>) -> Cluster {
    let nodes = vec!["http://fake".to_owned()];
    Cluster::new(http, nodes, "t", Shape::default(), Patience::default())
}

fn add(sink: &dyn Sink, path: &str, body: String) {
    add_of(Kind::Document, sink, path, body);
}

fn add_of(kind: Kind, sink: &dyn Sink, path: &str, body: String) {
    let mut document = Document::new(Ipath::root(), "text/plain", kind);
    document.body = body;
    document.content = Some(path.len() as u64);
    let state = FileState {
        token: Token::from_number(1),
        identity: 1,
    };
    sink.add(Record {
        key: sink.meta().hasher.key(Path::new(path)),
        location: Location {
            path: path.into(),
            ipath: Ipath::root(),
        },
        state: Some(state),
        document,
    })
    .unwrap();
}

fn write(cluster: &Cluster, documents: impl IntoIterator<Item = (String, String)>) {
    let sink = cluster.sink().unwrap();
    for (path, body) in documents {
        add(&*sink, &path, body);
    }
    sink.commit(&sink.meta().clone()).unwrap();
    sink.close().unwrap();
}

fn word(text: &str) -> Plan {
    let term = Pattern::Term(text.to_owned());
    Plan::Word(Word::new(Some(Field::Body), Span::Match(term)))
}

/// Does something before the first point in time is opened.
struct Before {
    fake: Arc<Fake>,
    deed: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Http for Before {
    fn send(&self, node: &str, call: &Call) -> std::io::Result<Reply> {
        if call.method == Method::Post && call.path.contains("point_in_time") {
            let deed = self.deed.lock().unwrap().take();
            deed.into_iter().for_each(|deed| deed());
        }
        self.fake.send(node, call)
    }
}

#[test]
fn a_commit_while_a_source_is_opened_is_the_one_that_it_shows() {
    let fake = Arc::new(Fake::default());
    let writer = cluster(Arc::clone(&fake) as Arc<dyn Http>);
    write(&writer, [("/a".to_owned(), "a".to_owned())]);
    let other = writer.clone();
    let deed = Box::new(move || write(&other, [("/b".to_owned(), "b".to_owned())]));
    let reader = cluster(Arc::new(Before {
        fake,
        deed: Mutex::new(Some(deed)),
    }));
    let source = reader.source(&Reading::default()).unwrap();
    assert_eq!(source.n_documents(), 2);
    assert_eq!(source.commit(), writer.last().unwrap().0);
}

#[test]
fn pages_of_more_than_ken_looks_at_have_every_document_once() {
    let writer = cluster(Arc::new(Fake::default()));
    let n = SMALL as usize + 100;
    let documents = (0..n).map(|number| {
        // Some are long, and some have the word more often than others.
        let n_words = if number % 250 == 3 {
            60_000
        } else {
            20 + number % 7
        };
        let body = format!(
            "{}{}",
            "some ".repeat(1 + number % 3),
            "other ".repeat(n_words)
        );
        // Paths of one length count as copies.
        (
            format!("/{}", "x".repeat(number / 2) + &(number % 2).to_string()),
            body,
        )
    });
    let all: Vec<(String, String)> = documents.collect();
    write(&writer, all.iter().cloned());
    let source = writer.source(&Reading::default()).unwrap();
    let plan = word("some");
    for collapse in [None, Some(Collapse::Content)] {
        let mut seen = BTreeSet::new();
        let mut n_shown = 0;
        let expected = if collapse.is_some() { n / 2 } else { n };
        for offset in (0..expected).step_by(150) {
            let page = source
                .find(&Request {
                    collapse,
                    offset,
                    limit: 150,
                    ..Request::new(&plan)
                })
                .unwrap();
            assert_eq!((page.total, page.groups), (n, expected));
            let more = if collapse.is_some() { 1 } else { 0 };
            assert!(page.hits.iter().all(|hit| hit.more == more));
            n_shown += page.hits.len();
            seen.extend(page.hits.iter().map(|hit| hit.address.number()));
        }
        assert_eq!((n_shown, seen.len()), (expected, expected), "{collapse:?}");
    }
    // The fake gives all the same score, so it finds them in the order of their paths.
    let first = source.run(&plan, Order::default(), 0, 10).unwrap();
    let path = |rank: usize| source.location(first.hits[rank].address).unwrap().path;
    let long = all.iter().filter(|(_, body)| body.len() > 100_000);
    let mut paths: Vec<&String> = all.iter().map(|(path, _)| path).collect();
    paths.sort();
    for (long, _) in long {
        let rank = paths.iter().position(|path| *path == long).unwrap();
        if rank < first.hits.len() {
            assert_eq!(path(rank), Path::new(long), "a long text keeps its rank");
        }
    }
}

#[test]
fn few_messages_may_have_had_a_key() {
    let cluster = cluster(Arc::new(Fake::default()));
    let sink = cluster.sink().unwrap();
    for number in 0..400 {
        let path = format!("/m/cur/{number}.host:2,RS");
        add_of(Kind::Message, &*sink, &path, String::new());
    }
    add(&*sink, "/m/cur/text.host:2,S", String::new());
    sink.commit(&sink.meta().clone()).unwrap();
    sink.close().unwrap();
    let source = cluster.source(&Reading::default()).unwrap();
    let formerly = |path: &str| {
        let key = source.meta().hasher.key(Path::new(path));
        let few = source.mail().formerly(key).unwrap().unwrap();
        // Of so many messages 0.03 have some path with such a key by chance.
        assert!(few.len() < 5, "{path}: {few:?}");
        let locations = source.locations(&few).unwrap();
        locations
            .iter()
            .any(|of| of.path == Path::new("/m/cur/17.host:2,RS"))
    };
    for path in [
        "/m/new/17.host",
        "/m/cur/17.host:2,",
        "/m/cur/17.host:2,FST",
    ] {
        assert!(formerly(path), "{path}");
    }
    formerly("/m/cur/4000.host:2,S");
    formerly("/m/new/text.host");
}

/// A cluster of which no node can be reached.
struct Nowhere;

impl Http for Nowhere {
    fn send(&self, _: &str, _: &Call) -> std::io::Result<Reply> {
        Err(std::io::ErrorKind::ConnectionRefused.into())
    }
}

#[test]
fn an_error_names_the_node() {
    let patience = Patience {
        pause: Duration::ZERO,
        total: Duration::ZERO,
    };
    let nodes = vec!["http://fake".to_owned()];
    let cluster = Cluster::new(Arc::new(Nowhere), nodes, "t", Shape::default(), patience);
    let error = cluster.last().unwrap_err().to_string();
    assert!(error.contains("http://fake: "), "{error}");
}

/// A copy of an index of any size takes no more memory than a page.
#[test]
fn documents_that_are_given_one_after_the_other_leave_nothing_behind() {
    let fake = Arc::new(Fake::default());
    let cluster = cluster(Arc::clone(&fake) as Arc<dyn Http>);
    let documents = (0..500).map(|n| (format!("/{n}"), format!("text {n}")));
    write(&cluster, documents);
    let nodes = vec!["http://fake".to_owned()];
    let client = Arc::new(Client::new(fake, nodes, "t", Patience::default()));
    let names = Names::new("t");
    let root = root::read(&client, &names).unwrap().unwrap().root;
    let source = ClusterSource::open(&client, &names, root, Reading::default(), None).unwrap();
    let mut n_given = 0;
    let mut take = |_| {
        n_given += 1;
        Ok(true)
    };
    source.each_document(&mut take).unwrap();
    assert_eq!(n_given, 500);
    assert_eq!(lock(&source.addresses).ids.len(), 0);
}

//! Tests the search service: a request as JSON in, a response as JSON out.

#![allow(clippy::disallowed_methods)] // the index is a folder

mod support;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ken_core::{Document, Field, FileKey, Ipath, Kind, Location};
use ken_engine::{Record, Sink};
use ken_index::{Snapshot, Writer, WriterOptions};
use ken_search::parse::Saved;
use ken_search::service::mail::{ContactRequest, MessageRequest, Related};
use ken_search::service::{
    Error, Inside, PartRequest, Place, Request, Service, TermOrder, TermRequest,
};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

/// Builds an index of two texts, a message with an attached file, a duplicate of it in another folder, and a reply.
fn index() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let options = WriterOptions {
        memory_bytes: 30 << 20,
        threads: 1,
    };
    let writer = Writer::open(folder.path(), options).unwrap();
    let mut plan = document(
        "",
        "text/plain",
        Kind::Document,
        "a budget\nfor the garden\u{c}budget of May",
    );
    plan.add_text(Field::Title, "Plan");
    plan.add_number(Field::Date, 1_767_607_200);
    let list = document("", "text/plain", Kind::Document, "garden tools");
    let mail = message("1@x", &[], "Budget");
    let attached = document("2", "text/plain", Kind::Document, "figures of the budget");
    let answer = message("2@x", &["1@x"], "Re: Budget");
    let all = [
        ("/home/anna/plan.txt", plan),
        ("/home/anna/list.txt", list),
        ("/mail/inbox/cur/1", mail.clone()),
        ("/mail/inbox/cur/1", attached),
        ("/mail/old/cur/1", mail),
        ("/mail/inbox/cur/2", answer),
    ];
    let hasher = writer.meta().hasher;
    for (path, document) in all {
        let location = Location {
            path: path.into(),
            ipath: document.ipath.clone(),
        };
        let key: FileKey = hasher.key(Path::new(path));
        let state = None;
        writer
            .add(Record {
                location,
                key,
                state,
                document,
            })
            .unwrap();
    }
    writer.commit(writer.meta()).unwrap();
    writer.close().unwrap();
    folder
}

fn document(ipath: &str, media_type: &str, kind: Kind, body: &str) -> Document {
    let mut document = Document::new(Ipath::from_joined(ipath), media_type, kind);
    document.body = body.to_owned();
    if media_type != "text/plain" {
        document.message = Some(0);
    }
    if !ipath.is_empty() {
        document.message = Some(0);
        document.add_text(Field::Is, "member");
    }
    document
}

fn message(id: &str, references: &[&str], subject: &str) -> Document {
    let mut message = document("", "message/rfc822", Kind::Message, "see what is attached");
    message.add_text(Field::Msgid, id);
    message.add_text(Field::Title, subject);
    message.add_text(Field::Author, "Bob <bob@example.org>");
    message.add_number(Field::Date, 1_767_607_200 + i64::from(id.as_bytes()[0]));
    for reference in references {
        message.add_text(Field::References, reference);
    }
    message
}

/// Answers a request in JSON with JSON.
fn ask(request: Json) -> Json {
    let request: Request = serde_json::from_value(request).unwrap();
    with_service(|service| serde_json::to_value(service.ask(&request).unwrap()).unwrap())
}

fn with_service<T>(asked: impl FnOnce(&Service<'_>) -> T) -> T {
    let folder = index();
    let snapshot = Snapshot::open(folder.path()).unwrap();
    let saved = Saved::from([("green".to_owned(), "garden".to_owned())]);
    asked(&Service::new(&snapshot, support::context(), saved))
}

/// Does the same with a service that a flag cancels.
fn with_service_until<T>(cancel: &Arc<AtomicBool>, asked: impl FnOnce(&Service<'_>) -> T) -> T {
    let folder = index();
    let snapshot = Snapshot::open(folder.path()).unwrap();
    let service = Service::new(&snapshot, support::context(), Saved::new());
    asked(&service.with_cancel(Arc::clone(cancel)))
}

fn paths(answer: &Json) -> Vec<&str> {
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["path"].as_str().unwrap()).collect()
}

#[test]
fn a_hit_has_fields_snippet_and_page() {
    let answer = ask(json!({ "query": "budget -type:message -figures", "count": true }));
    assert_eq!(answer["total"], 1);
    let hit = &answer["hits"][0];
    assert_eq!(hit["path"], "/home/anna/plan.txt");
    assert_eq!(hit["title"], "Plan");
    assert_eq!(hit["fields"]["date"], "2026-01-05T10:00:00Z");
    assert_eq!(hit["snippet"]["page"], 1);
    assert_eq!(hit["snippet"]["highlights"], json!([[2, 8]]));
    assert!(hit.get("body").is_none());
    assert_eq!(
        answer["understood"]["query"],
        "budget -type:message -figures"
    );
}

#[test]
fn a_page_is_cut_out_of_the_order() {
    let all = ask(json!({ "query": "*", "sort": "path", "limit": null }));
    let page = ask(json!({ "query": "*", "sort": "path", "offset": 2, "limit": 2 }));
    assert_eq!(paths(&page), &paths(&all)[2..4]);
    assert_eq!(page["hits"][0]["rank"], 3);
    let turned = ask(json!({ "query": "*", "sort": "path", "reverse": true, "limit": 1 }));
    assert_eq!(paths(&turned)[0], *paths(&all).last().unwrap());
}

#[test]
fn filters_narrow_without_a_change_of_scores() {
    let score = |answer: &Json| answer["hits"][0]["score"].clone();
    let narrow = ask(json!({ "query": "garden", "filters": ["tools", "type:document"] }));
    assert_eq!(paths(&narrow), ["/home/anna/list.txt"]);
    let wide = ask(json!({ "query": "garden" }));
    assert_eq!(score(&wide), score(&narrow));
}

#[test]
fn a_filter_changes_neither_nothing_nor_all() {
    for (query, filter, expected) in [
        ("!!", "garden", &[][..]),
        ("!!", "*", &[]),
        ("garden", "!!", &[]),
        ("*", "tools", &["/home/anna/list.txt"]),
        ("tools", "*", &["/home/anna/list.txt"]),
        ("*", "-type:message tools", &["/home/anna/list.txt"]),
    ] {
        let request = json!({ "query": query, "filters": [filter] });
        assert_eq!(paths(&ask(request.clone())), expected, "{query} {filter}");
        let request: Request = serde_json::from_value(request).unwrap();
        let understood = with_service(|service| service.understand(&request).unwrap());
        assert_eq!(
            understood.finds_nothing(),
            query == "!!",
            "{query} {filter}"
        );
    }
}

#[test]
fn text_is_read_only_if_it_is_wanted() {
    let answer = ask(json!({ "query": "tools", "text": "whole", "snippets": { "count": 0 } }));
    assert_eq!(answer["hits"][0]["body"], "garden tools");
    assert!(answer["hits"][0].get("snippet").is_none());
    let answer = ask(json!({ "query": "tools", "fields": ["path"] }));
    assert_eq!(answer["hits"][0]["fields"], json!({}));
}

#[test]
fn matches_in_one_document_stand_in_its_order() {
    let answer = ask(json!({ "query": "budget", "inside": "/home/anna/plan.txt" }));
    let matches = answer["matches"].as_array().unwrap();
    let pages: Vec<_> = matches.iter().map(|found| &found["page"]).collect();
    assert_eq!(pages, [&json!(1), &json!(2)]);
    let request = Request {
        inside: Some("/home/anna/none".into()),
        ..Request::default()
    };
    let error = with_service(|service| service.ask(&request).unwrap_err());
    assert!(matches!(error, Error::NotIndexed(_)), "{error}");
}

#[test]
fn similar_documents_are_not_the_document_itself() {
    let answer = ask(json!({ "like": { "document": "/home/anna/list.txt" } }));
    assert_eq!(paths(&answer), ["/home/anna/plan.txt"]);
    let answer = ask(json!({ "like": { "text": "tools" } }));
    assert_eq!(paths(&answer), ["/home/anna/list.txt"]);
}

#[test]
fn hits_are_counted_by_facets() {
    let answer = ask(json!({ "query": "*", "limit": 0, "facets": { "by": ["type", "year"] } }));
    assert_eq!(answer["hits"], json!([]));
    let types = json!([{ "value": "document", "count": 3 }, { "value": "message", "count": 3 }]);
    assert_eq!(
        answer["facets"][0],
        json!({ "facet": "type", "values": types })
    );
    let years = json!([{ "value": "2026", "count": 4 }]);
    assert_eq!(answer["facets"][1]["values"], years);
}

#[test]
fn a_misspelt_query_gets_suggestions() {
    let answer = ask(json!({ "query": "gardem", "suggest": true }));
    let suggestion = json!({ "query": "garden", "documents": 2 });
    assert_eq!(answer["did_you_mean"], json!([suggestion]));
}

#[test]
fn what_is_left_out_of_a_query_is_reported() {
    let answer = ask(json!({ "query": "tools AND (", "reading": "lenient" }));
    assert_eq!(paths(&answer), ["/home/anna/list.txt"]);
    assert!(
        !answer["understood"]["left_out"][0]["message"]
            .as_str()
            .unwrap()
            .is_empty()
    );
    let answer = ask(json!({ "query": "query:green", "fields": ["path"] }));
    assert_eq!(answer["hits"].as_array().unwrap().len(), 2);
}

#[test]
fn every_language_asks_the_same_index() {
    for (syntax, query, n) in [
        ("recoll", "mime:text/plain tools", 1),
        ("mu", "subject:budget", 3),
        ("notmuch", "from:bob", 3),
    ] {
        let answer = ask(json!({ "query": query, "syntax": syntax }));
        assert_eq!(paths(&answer).len(), n, "{query}");
    }
}

#[test]
fn wrong_names_are_reported_with_those_that_are_known() {
    for request in [
        json!({ "sort": "nonsense" }),
        json!({ "fields": ["nonsense"] }),
        json!({ "facets": { "by": ["nonsense"] } }),
    ] {
        let asked: Request = serde_json::from_value(request.clone()).unwrap();
        let error = with_service(|service| service.ask(&asked).unwrap_err());
        assert!(
            error.to_string().contains("known are"),
            "{request}: {error}"
        );
    }
    let unknown = json!({ "nonsense": 1 });
    assert!(serde_json::from_value::<Request>(unknown).is_err());
}

#[test]
fn the_manual_has_every_key_of_a_response() {
    let manual =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json.md"))
            .unwrap();
    let (_, section) = manual.split_once("## The search service").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let answer = ask(json!({
        "query": "budget", "count": true, "explain": true, "suggest": true
    }));
    let keys = answer.as_object().unwrap().keys();
    let of_understood = answer["understood"].as_object().unwrap().keys();
    for key in keys.chain(of_understood).filter(|key| *key != "v") {
        assert!(section.contains(&format!("`{key}`")), "{key}");
    }
}

#[test]
fn words_that_no_document_has_may_be_left_out() {
    let strict = ask(json!({ "query": "budget zebra" }));
    assert_eq!(
        (paths(&strict).len(), &strict["matched"]),
        (0, &json!("all"))
    );
    let relaxed = ask(json!({ "query": "budget zebra", "relax": "few" }));
    assert!(!paths(&relaxed).is_empty());
    assert_eq!(relaxed["matched"], "most");
    assert_eq!(relaxed["missing"], json!(["zebra"]));
    let late = ask(json!({ "query": "budget zebra", "relax": "few", "deadline_ms": 0 }));
    assert_eq!((paths(&late).len(), &late["missing"]), (0, &json!([])));
}

#[test]
fn an_answer_need_not_have_all_words_of_a_sentence() {
    let found = |query: &str, relax: &str| {
        let answer = ask(json!({ "query": query, "relax": relax, "count": true }));
        let matched = answer["matched"].as_str().unwrap().to_owned();
        let paths: Vec<String> = paths(&answer).into_iter().map(str::to_owned).collect();
        (paths, matched)
    };
    let question = "what is the budget of the garden";
    let (strict, matched) = found(question, "few");
    assert_eq!((strict.len(), matched.as_str()), (1, "all"));
    let (wide, matched) = found(question, "sentence");
    assert_eq!(matched, "any");
    assert!(wide.contains(&strict[0]), "{wide:?}");
    assert!(
        wide.iter().any(|path| path == "/home/anna/list.txt"),
        "{wide:?}"
    );
    // Words are no sentence, and what was joined stays so.
    for query in ["budget garden", "what is the (budget AND garden)"] {
        assert_eq!(found(query, "sentence"), found(query, "few"), "{query}");
    }
}

#[test]
fn a_request_survives_json() {
    let request = Request::default();
    let json = serde_json::to_string(&request).unwrap();
    assert_eq!(serde_json::from_str::<Request>(&json).unwrap(), request);
    assert_eq!(serde_json::from_str::<Request>("{}").unwrap(), request);
}

#[test]
fn a_search_past_its_deadline_says_so() {
    let answer = ask(json!({ "query": "budget", "deadline_ms": 0 }));
    assert_eq!(answer["complete"], false);
    let answer = ask(json!({ "query": "budget", "deadline_ms": 60_000 }));
    assert_eq!(answer["complete"], true);
    assert!(!paths(&answer).is_empty());
}

#[test]
fn every_part_of_a_request_past_its_deadline_ends_with_what_it_has() {
    let inside = json!({ "query": "budget", "inside": "/home/anna/plan.txt", "deadline_ms": 0 });
    let answer = ask(inside);
    assert_eq!(answer["matches"], json!([]));
    assert_eq!(answer["complete"], false);
    let answer = ask(json!({ "query": "gardem", "suggest": true, "deadline_ms": 0 }));
    assert_eq!(answer["did_you_mean"], json!([]));
    assert_eq!(answer["complete"], false);
    let like = json!({ "document": "/home/anna/list.txt" });
    let answer = ask(json!({ "like": like, "explain": true, "deadline_ms": 0 }));
    assert_eq!(answer["explanation"]["plan"], "(nothing)");
    assert_eq!(answer["complete"], false);
    let facets = json!({ "by": ["type"] });
    let answer = ask(json!({ "query": "budget", "facets": facets, "deadline_ms": 0 }));
    assert_eq!(answer["facets"][0]["values"], json!([]));
}

#[test]
fn messages_and_terms_past_their_deadline_are_few_and_say_so() {
    let request = |related| MessageRequest {
        related,
        deadline_ms: Some(0),
        ..MessageRequest::default()
    };
    let terms = |sort| TermRequest {
        sort,
        deadline_ms: Some(0),
        ..TermRequest::default()
    };
    let contacts = ContactRequest {
        deadline_ms: Some(0),
        ..ContactRequest::default()
    };
    with_service(|service| {
        for related in [Related::None, Related::ByDate, Related::ByThread] {
            let found = service.messages(&request(related)).unwrap();
            assert!(found.is_empty() && !found.is_complete());
        }
        let found = service.contacts(&contacts).unwrap();
        assert!(found.items.is_empty() && !found.complete);
        let mut n_given = 0;
        let complete = service.each_thread(&request(Related::None), &mut |_| {
            n_given += 1;
            Ok::<_, Error>(())
        });
        assert!(!complete.unwrap());
        for sort in [TermOrder::Term, TermOrder::Documents] {
            let complete = service.each_term(&terms(sort), &mut |_| {
                n_given += 1;
                Ok::<_, Error>(())
            });
            assert!(!complete.unwrap());
        }
        assert_eq!(n_given, 0);
    });
}

#[test]
fn a_cancellation_ends_what_has_no_deadline() {
    let cancel = Arc::new(AtomicBool::new(false));
    with_service_until(&cancel, |service| {
        let found = service.messages(&MessageRequest::default()).unwrap();
        let message = found.iter().next().unwrap().unwrap();
        let all = service.messages_with_id(message.id()).unwrap();
        assert!(!all.is_empty() && all.is_complete());
        assert!(service.tags().unwrap().complete);
        cancel.store(true, Ordering::Relaxed);
        assert!(!service.tags().unwrap().complete);
        assert!(!service.parts(&message).unwrap().complete);
        let all = service.messages_with_id(message.id()).unwrap();
        assert!(all.is_empty() && !all.is_complete());
    });
}

#[test]
fn the_documents_of_hits_are_related_and_read_until_the_cancellation() {
    let cancel = Arc::new(AtomicBool::new(false));
    let request: Request = serde_json::from_value(json!({ "query": "type:message" })).unwrap();
    with_service_until(&cancel, |service| {
        let query = service.understand(&request).unwrap();
        let addresses = service.search(&request, query).unwrap().addresses();
        let read = |list: &[_]| service.read_messages(list, 2, |message| message).unwrap();
        assert!(service.related(&addresses[..1]).unwrap().complete);
        assert_eq!(read(&addresses).items.len(), addresses.len());
        cancel.store(true, Ordering::Relaxed);
        let related = service.related(&addresses[..1]).unwrap();
        assert!(related.items.is_empty() && !related.complete);
        let read = read(&addresses);
        assert!(read.items.is_empty() && !read.complete);
    });
}

#[test]
fn the_best_score_is_looked_for_within_limits() {
    let cancel = Arc::new(AtomicBool::new(false));
    let request = Request {
        query: "budget".to_owned(),
        offset: 1,
        ..Request::default()
    };
    with_service_until(&cancel, |service| {
        let query = service.understand(&request).unwrap();
        let answer = service.search(&request, query).unwrap();
        assert!(answer.best_score().unwrap() > 0.0 && answer.is_complete());
        cancel.store(true, Ordering::Relaxed);
        assert!(answer.best_score().unwrap() <= 0.0);
        assert!(!answer.is_complete());
    });
}

#[test]
fn suggestions_are_looked_for_within_limits() {
    let cancel = Arc::new(AtomicBool::new(false));
    let request = Request {
        query: "budgit".to_owned(),
        ..Request::default()
    };
    with_service_until(&cancel, |service| {
        let query = service.understand(&request).unwrap();
        let answer = service.search(&request, query).unwrap();
        assert_eq!(answer.suggestions().unwrap()[0].query, "budget");
        assert!(answer.is_complete());
        cancel.store(true, Ordering::Relaxed);
        assert_eq!(answer.suggestions().unwrap(), []);
        assert!(!answer.is_complete());
    });
}

#[test]
fn hits_that_were_found_in_time_are_read_after_it() {
    let cancel = Arc::new(AtomicBool::new(false));
    let request: Request = serde_json::from_value(json!({ "query": "budget" })).unwrap();
    with_service_until(&cancel, |service| {
        let query = service.understand(&request).unwrap();
        let answer = service.search(&request, query).unwrap();
        cancel.store(true, Ordering::Relaxed);
        let mut n_read = 0;
        let count = |_| {
            n_read += 1;
            Ok::<_, Error>(())
        };
        answer.each_hit(|hit| hit, count).unwrap();
        assert!(n_read > 0);
    });
}

/// Makes an index of many documents, each with many matches far apart.
fn many() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let options = WriterOptions {
        memory_bytes: 30 << 20,
        threads: 1,
    };
    let writer = Writer::open(folder.path(), options).unwrap();
    let body = format!("budget {}", "x ".repeat(200)).repeat(300);
    for number in 0..30 {
        let path = PathBuf::from(format!("/many/{number}.txt"));
        let record = Record {
            key: writer.meta().hasher.key(&path),
            location: Location::file(&path),
            state: None,
            document: document("", "text/plain", Kind::Document, &body),
        };
        writer.add(record).unwrap();
    }
    writer.commit(writer.meta()).unwrap();
    writer.close().unwrap();
    folder
}

#[test]
fn long_pages_and_long_documents_end_soon() {
    let folder = many();
    let snapshot = Snapshot::open(folder.path()).unwrap();
    let cancel = Arc::new(AtomicBool::new(false));
    let service = Service::new(&snapshot, support::context(), Saved::new());
    let service = service.with_cancel(Arc::clone(&cancel));
    let request = Request {
        query: "budget".to_owned(),
        limit: None,
        ..Request::default()
    };
    let query = service.understand(&request).unwrap();
    let answer = service.search(&request, query).unwrap();
    let n_read = || {
        let mut n_read = 0;
        let count = |_| {
            n_read += 1;
            Ok::<_, Error>(())
        };
        answer.each_hit(|hit| hit, count).unwrap();
        n_read
    };
    assert_eq!(n_read(), 30);
    assert!(answer.is_complete());
    cancel.store(true, Ordering::Relaxed);
    assert_eq!(n_read(), 10);
    assert!(!answer.is_complete());

    cancel.store(false, Ordering::Relaxed);
    let query = service.understand(&request).unwrap();
    let mut n_matches = 0;
    let named = Path::new("/many/3.txt");
    let any = service.each_match(&query, named, None, &mut |found| {
        n_matches += usize::from(matches!(found, Inside::Match(_)));
        cancel.store(true, Ordering::Relaxed);
        Ok::<_, Error>(())
    });
    assert!(any.unwrap() && !query.is_complete());
    assert!((1..100).contains(&n_matches), "{n_matches} of 300");
}

/// Returns the messages that a request finds: the file of each, and whether the query matches it.
fn messages(request: Json) -> Vec<(String, bool)> {
    let request: MessageRequest = serde_json::from_value(request).unwrap();
    with_service(|service| {
        let found = service.messages(&request).unwrap();
        let found = found.iter().map(|message| {
            let json = serde_json::to_value(message.unwrap()).unwrap();
            let path = json["path"].as_str().unwrap().to_owned();
            (path, json["matched"] == true)
        });
        found.collect()
    })
}

#[test]
fn messages_are_found_by_what_they_carry_and_shown_once() {
    let found = messages(json!({ "which": { "query": "figures" } }));
    assert_eq!(found, [("/mail/inbox/cur/1".to_owned(), true)]);
    let all = messages(json!({}));
    assert_eq!(all.len(), 3);
    assert_eq!(all[0].0, "/mail/inbox/cur/2", "the newest comes first");
    assert_eq!(messages(json!({ "once": true })).len(), 2);
    let file = messages(json!({ "which": { "at": "/mail/old/cur/1" } }));
    assert_eq!(file.len(), 1);
}

#[test]
fn the_rest_of_a_thread_is_no_match() {
    let related = messages(json!({
        "which": { "query": "msgid:2@x" }, "related": "bydate", "once": true,
    }));
    let matched: Vec<bool> = related.iter().map(|(_, matched)| *matched).collect();
    assert_eq!(matched, [true, false]);
}

#[test]
fn threads_are_in_the_order_of_answers() {
    let request = MessageRequest::default();
    let mut threads = Vec::new();
    with_service(|service| {
        service.each_thread(&request, &mut |thread| {
            let mut messages = thread.in_order();
            assert!(messages.all(|(_, message)| message.document.body.is_empty()));
            threads.push(serde_json::to_value(&thread).unwrap());
            Ok::<_, Error>(())
        })
    })
    .unwrap();
    assert_eq!(threads.len(), 1);
    assert_eq!(
        (&threads[0]["total"], &threads[0]["subject"]),
        (&json!(3), &json!("Budget"))
    );
    let levels = threads[0]["messages"].as_array().unwrap().iter();
    let levels: Vec<_> = levels
        .map(|message| message["level"].as_u64().unwrap())
        .collect();
    assert!(levels[0] == 0 && levels.contains(&1), "{levels:?}");
}

#[test]
fn contacts_and_parts_come_from_the_index() {
    with_service(|service| {
        let contacts = service.contacts(&ContactRequest::default()).unwrap().items;
        assert_eq!((&*contacts[0].name, contacts[0].count), ("Bob", 3));
        let none = ContactRequest {
            pattern: Some("^alice".to_owned()),
            ..ContactRequest::default()
        };
        assert!(service.contacts(&none).unwrap().items.is_empty());
        let request = MessageRequest {
            which: ken_search::service::mail::Which::Query("figures".to_owned()),
            ..MessageRequest::default()
        };
        let found = service.messages(&request).unwrap();
        let message = found.iter().next().unwrap().unwrap();
        let parts = service.parts(&message).unwrap().items;
        assert_eq!((parts.len(), &*parts[0].number), (1, "2"));
    });
}

#[test]
fn every_printed_address_names_its_document() {
    with_service(|service| {
        let find = |typed: &str| service.addressed(Path::new(typed));
        let plan = find("/home/anna/plan.txt").unwrap();
        assert_eq!((plan.named.title(), plan.place), (Some("Plan"), None));
        let id = plan.named.id;
        for (typed, place) in [
            (id.as_str(), None),
            ("file:///home/anna/pl%61n.txt", None),
            ("/home/anna/plan.txt:2", Some(Place::Line(2))),
            ("/home/anna/plan.txt p. 2", Some(Place::Page(2))),
        ] {
            let found = find(typed).unwrap();
            assert_eq!((&found.named.id, found.place), (&id, place), "{typed}");
        }
        let attached = find("/mail/inbox/cur/1|2:1").unwrap();
        assert_eq!(attached.named.stored.document.body, "figures of the budget");
        let by_id = find(&attached.named.id).unwrap();
        assert_eq!(by_id.named.at, attached.named.at);
        for missing in [
            "/home/anna/plan",
            "/home/anna",
            "/mail/inbox/cur/1|3",
            "0123456789abcdef",
            "7",
            "",
        ] {
            let error = find(missing);
            assert!(
                matches!(error, Err(Error::NotIndexed(_) | Error::Io(_))),
                "{missing}"
            );
        }
    });
}

#[test]
fn a_part_is_read_around_a_query() {
    with_service(|service| {
        let found = service.addressed(Path::new("/home/anna/plan.txt")).unwrap();
        let body = &found.named.stored.document.body;
        let request = PartRequest {
            query: Some("gardens".to_owned()),
            around: Some(0),
            ..PartRequest::default()
        };
        let part = service.part(body, &request).unwrap();
        let [garden] = part.stretches.as_slice() else {
            panic!("{part:?}");
        };
        assert_eq!(&garden.text[garden.matches[0].clone()], "garden");
        assert_eq!((garden.first_line, garden.first_page), (2, 1));
        assert_eq!((part.n_lines, part.n_pages, part.n_matches), (2, 2, 1));
        let wrong = PartRequest {
            query: Some("(garden".to_owned()),
            ..PartRequest::default()
        };
        assert!(matches!(service.part(body, &wrong), Err(Error::Query(_))));
    });
}

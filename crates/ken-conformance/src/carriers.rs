//! Carriers: a message is found by its parts, in whatever commits these are, and no other message is.

use std::collections::BTreeSet;

use ken_core::{Document, Field, Ipath, Kind, Order, Pattern, Plan};

use proptest::prelude::*;

use crate::{New, add};

/// A file of some messages, or one that holds no messages: the words of its documents, each with the way to
/// it. The last is the file's own.
#[derive(Clone, Debug)]
struct Given {
    is_mail: bool,
    /// By message: its own word, those of its parts, and whether one of these is a message.
    messages: Vec<(u8, Vec<u8>, bool)>,
}

fn given() -> impl Strategy<Value = Given> {
    let message = (
        0..4_u8,
        proptest::collection::vec(0..4_u8, 0..4),
        any::<bool>(),
    );
    let messages = proptest::collection::vec(message, 1..4);
    (any::<bool>(), messages).prop_map(|(is_mail, messages)| Given { is_mail, messages })
}

fn document(ipath: Ipath, word: u8, kind: Kind, message: Option<u8>) -> Document {
    let mut document = Document::new(ipath, "text/plain", kind);
    document.body = format!("word{word}");
    document.message = message;
    document
}

/// Returns the documents of a file, the file's own last, with whether each is a message by itself.
fn documents(given: &Given) -> Vec<(Document, bool)> {
    let mut all = Vec::new();
    for (number, (own, parts, has_inner)) in given.messages.iter().enumerate() {
        let at = Ipath::root().child(&number.to_string());
        let depth = given.is_mail.then_some(1);
        for (part, word) in parts.iter().enumerate() {
            let is_inner = *has_inner && part == 0 && given.is_mail;
            let kind = if is_inner {
                Kind::Message
            } else {
                Kind::Document
            };
            let mut inner = document(at.child(&part.to_string()), *word, kind, depth);
            inner.add_text(Field::Is, "attachment");
            all.push((inner, false));
        }
        let kind = if given.is_mail {
            Kind::Message
        } else {
            Kind::Document
        };
        all.push((document(at, *own, kind, depth), given.is_mail));
    }
    all.push((document(Ipath::root(), 9, Kind::Archive, None), false));
    all
}

/// Random messages are found by the words of their parts.
pub fn messages_are_found_by_their_parts(new: New<'_>) {
    let commits = proptest::collection::vec(proptest::collection::vec(given(), 1..4), 1..3);
    proptest!(ProptestConfig::with_cases(24), |(commits in commits, word in 0..4_u8)| {
        let index = new();
            let writer = index.sink(1);
        let mut expected = BTreeSet::new();
        let mut n_files = 0;
        for files in &commits {
            for given in files {
                let path = format!("/{n_files}");
                n_files += 1;
                let documents = documents(given);
                let n_documents = documents.len();
                for (number, (document, _)) in documents.into_iter().enumerate() {
                    add(&*writer, &path, document, number + 1 == n_documents);
                }
                let carrying = given.messages.iter().enumerate();
                let carrying = carrying.filter(|(_, (_, parts, _))| parts.contains(&word));
                expected.extend(carrying.filter(|_| given.is_mail).map(|(n, _)| format!("{path}|{n}")));
            }
            writer.commit(&writer.meta().clone()).unwrap();
        }
        writer.close().unwrap();
        let snapshot = index.source();
        let plan = Plan::Carrier(Box::new(Plan::Match {
            field: Field::Body,
            pattern: Pattern::Term(format!("word{word}")),
        }));
        let found = snapshot.run(&plan, Order::default(), 0, 1000).unwrap();
        let found: BTreeSet<String> = found
            .hits
            .iter()
            .map(|hit| snapshot.location(hit.address).unwrap().to_string())
            .collect();
        prop_assert_eq!(found, expected);
    });
}

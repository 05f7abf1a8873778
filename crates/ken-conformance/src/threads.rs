//! Threads: messages that name each other are in one thread, and only those, whatever the order of arrival.

use std::collections::BTreeSet;
use std::sync::Arc;

use ken_core::{Document, Field, Ipath, Kind, Order, Pattern, Plan};
use ken_engine::{DocAddress, Source};
use proptest::prelude::*;

use crate::{Index, New, add};

/// A message: its identifier, if it has one, and those that it names.
type Message = (Option<u8>, Vec<u8>);

/// Writes each list of messages in a commit of its own. The path of a message is its number.
fn written(new: New<'_>, commits: &[Vec<Message>]) -> (Box<dyn Index>, Arc<dyn Source>) {
    let index = new();
    let writer = index.sink(1);
    let mut number = 0;
    for messages in commits {
        for (id, names) in messages {
            let mut document = Document::new(Ipath::root(), "message/rfc822", Kind::Message);
            if let Some(id) = id {
                document.add_text(Field::Msgid, &format!("{id}@x"));
            }
            for name in names {
                document.add_text(Field::References, &format!("{name}@x"));
            }
            add(&*writer, &format!("/{number}"), document, true);
            number += 1;
        }
        writer.commit(&writer.meta().clone()).unwrap();
    }
    writer.close().unwrap();
    let snapshot = index.source();
    (index, snapshot)
}

/// Returns the numbers of the messages in one thread with a message, by the definition.
fn thread(messages: &[Message], of: usize) -> BTreeSet<usize> {
    let names =
        |(id, names): &Message| -> BTreeSet<u8> { names.iter().chain(id).copied().collect() };
    let mut known = names(&messages[of]);
    let mut found = BTreeSet::from([of]);
    loop {
        let n_found = found.len();
        for (number, message) in messages.iter().enumerate() {
            let of_message = names(message);
            if found.contains(&number) || !of_message.is_disjoint(&known) {
                found.insert(number);
                known.extend(of_message);
            }
        }
        if found.len() == n_found {
            return found;
        }
    }
}

fn numbers(snapshot: &dyn Source, found: &[DocAddress]) -> BTreeSet<usize> {
    let number = |address: &DocAddress| {
        let location = snapshot.location(*address).unwrap();
        let name = location.file_name();
        name.parse().unwrap()
    };
    found.iter().map(number).collect()
}

fn message() -> impl Strategy<Value = Message> {
    let names = proptest::collection::vec(0..40_u8, 0..3);
    (proptest::option::weighted(0.9, 0..40_u8), names)
}

/// The threads of random messages are those of the definition.
pub fn threads_are_those_of_the_definition(new: New<'_>) {
    let commits = proptest::collection::vec(proptest::collection::vec(message(), 1..20), 1..4);
    proptest!(ProptestConfig::with_cases(24), |(commits in commits)| {
        let (_index, snapshot) = written(new, &commits);
        let messages: Vec<Message> = commits.concat();
        let all = snapshot.run(&Plan::All, Order::default(), 0, 1000).unwrap();
        prop_assert_eq!(all.total, messages.len());
        for hit in all.hits {
            let [number] = numbers(&*snapshot, &[hit.address]).into_iter().collect::<Vec<_>>()[..] else {
                panic!("one message is one message");
            };
            let found = snapshot.mail().threads(&[hit.address], None).unwrap();
            let expected = thread(&messages, number);
            prop_assert_eq!(numbers(&*snapshot, &found), expected.clone());
            let Some(id) = messages[number].0 else {
                continue;
            };
            let plan = Plan::Thread(Box::new(Plan::Match {
                field: Field::Msgid,
                pattern: Pattern::Term(format!("{id}@x")),
            }));
            let found = snapshot.run(&plan, Order::default(), 0, 1000).unwrap();
            let found: Vec<DocAddress> = found.hits.iter().map(|hit| hit.address).collect();
            prop_assert_eq!(numbers(&*snapshot, &found), expected);
        }
    });
}

/// A long thread is whole, whether it is asked for by one message or by all.
pub fn many_messages_have_the_threads_of_few(new: New<'_>) {
    // One chain, each answering the one before; every message is found from all of them.
    let chain: Vec<Message> = (1..=200).map(|n| (Some(n), vec![n - 1])).collect();
    let (_index, snapshot) = written(new, &[chain[..100].to_vec(), chain[100..].to_vec()]);
    let all = snapshot.run(&Plan::All, Order::default(), 0, 1000).unwrap();
    let all: Vec<DocAddress> = all.hits.iter().map(|hit| hit.address).collect();
    assert_eq!(snapshot.mail().threads(&all[..1], None).unwrap().len(), 200);
    assert_eq!(snapshot.mail().threads(&all, None).unwrap().len(), 200);
}

//! An index in the fake passes the tests that every engine must pass, but for those that ask what the fake is not.

use std::path::PathBuf;
use std::sync::Arc;

use ken_conformance::Index;
use ken_engine::{Engine, Reading, Sink, Source};

use crate::fake::Fake;
use crate::{Cluster, Patience, Shape};

struct InFake(Cluster);

impl Index for InFake {
    fn sink(&self, _: usize) -> Box<dyn Sink> {
        self.0.sink().unwrap()
    }

    fn source(&self) -> Arc<dyn Source> {
        self.0.source(&Reading::default()).unwrap()
    }
}

fn new() -> Box<dyn Index> {
    let fake = Arc::new(Fake::default());
    let nodes = vec!["http://fake".to_owned()];
    let (shape, patience) = (Shape::default(), Patience::default());
    let cluster = Cluster::new(fake, nodes, "t", shape, patience);
    // In memory, where there is such a folder.
    let memory = PathBuf::from("/dev/shm");
    Box::new(InFake(match memory.is_dir() {
        true => cluster.with_scratch(memory),
        false => cluster,
    }))
}

// But for the one test about limits that asks a request to look at them often; see `tests/conformance.rs`.
ken_conformance::suite! {
    new;
    carriers::messages_are_found_by_their_parts
    limits::a_deadline_and_a_cancellation_end_every_kind_of_request
    limits::the_end_of_a_listing_comes_soon
    queries::expressions_that_are_wrong_or_too_large_are_errors
    queries::plans_find_what_their_definition_says
    results::locations_name_documents_and_their_members
    results::content_and_message_are_kept
    results::copies_are_duplicates_wherever_they_are
    results::hits_are_counted_by_values_and_ranges
    results::hits_that_belong_together_are_one
    results::messages_of_a_maildir_come_in_the_order_of_their_paths
    results::pages_are_parts_of_the_whole
    results::some_documents_may_be_asked_and_others_left_out
    results::texts_sort_without_case_and_missing_values_come_last
    threads::many_messages_have_the_threads_of_few
    threads::threads_are_those_of_the_definition
}

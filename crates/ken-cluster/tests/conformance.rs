//! An index in a real OpenSearch passes the tests that every engine must pass: `scripts/cluster test`.
//!
//! `KEN_TEST_CLUSTER` is the address of a node, and `KEN_TEST_SHARDS` the number of shards of an index (1).

#![allow(
    clippy::disallowed_methods,
    reason = "the tests are told where a cluster is"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ken_cluster::{Auth, Certificates, Cluster, Patience, Shape, Tcp};
use ken_conformance::Index;
use ken_engine::{Engine, Reading, Sink, Source};

struct InCluster(Cluster);

impl InCluster {
    fn new() -> Self {
        static N: AtomicU64 = AtomicU64::new(0);
        let node = std::env::var("KEN_TEST_CLUSTER").unwrap_or_default();
        let shards = std::env::var("KEN_TEST_SHARDS").ok();
        let nodes = vec![node];
        let http = Tcp::new(&nodes, Auth::None, &Certificates::default()).unwrap();
        let shape = Shape {
            shards: shards.and_then(|n| n.parse().ok()).unwrap_or(1),
            replicas: 0,
            is_durable: true,
        };
        let n = N.fetch_add(1, Ordering::Relaxed);
        let name = format!("ken-test-{}-{n}", std::process::id());
        Self(Cluster::new(
            Arc::new(http),
            nodes,
            &name,
            shape,
            Patience::default(),
        ))
    }
}

impl Index for InCluster {
    fn sink(&self, _: usize) -> Box<dyn Sink> {
        self.0.sink().unwrap()
    }

    fn source(&self) -> Arc<dyn Source> {
        self.0.source(&Reading::default()).unwrap()
    }
}

impl Drop for InCluster {
    fn drop(&mut self) {
        let _ = self.0.delete();
    }
}

/// Makes a test function for each test. It is not run, and says so, if there is no cluster.
macro_rules! tests {
    ($($module:ident::$test:ident)*) => {
        $(
            #[test]
            fn $test() {
                if std::env::var_os("KEN_TEST_CLUSTER").is_none() {
                    eprintln!("NOT TESTED: KEN_TEST_CLUSTER names no cluster");
                    return;
                }
                ken_conformance::$module::$test(&|| Box::new(InCluster::new()) as Box<dyn Index>);
            }
        )*
    };
}

// All of the suite, but for the one about limits that asks a request to look at them often: a cluster is asked a few
// questions for a request, and the limits before each of them.
tests! {
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

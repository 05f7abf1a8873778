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

/// Returns whether there is a cluster; says so if not.
#[allow(clippy::print_stderr, reason = "a test that does not run says so")]
fn is_there() -> bool {
    let is_there = std::env::var_os("KEN_TEST_CLUSTER").is_some();
    if !is_there {
        eprintln!("NOT TESTED: KEN_TEST_CLUSTER names no cluster");
    }
    is_there
}

ken_conformance::suite!(elsewhere || Box::new(InCluster::new()) as Box<dyn Index>, if is_there());

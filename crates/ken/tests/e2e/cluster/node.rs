//! Where the index of a test is: in the fake, or in a node of OpenSearch.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ken_cluster::fake::{Fake, Server};
use serde_json::Value;

/// Basic authentication as ken:correct-horse-battery.
const AUTHORIZATION: &str = "Basic a2VuOmNvcnJlY3QtaG9yc2UtYmF0dGVyeQ==";

/// A node, and the name of the test's index in it.
pub(super) enum Node {
    Fake { fake: Arc<Fake>, server: Server },
    Real { address: String, name: String },
}

impl Node {
    /// Returns the node whose address is in `KEN_TEST_CLUSTER`, or the fake.
    #[allow(
        clippy::disallowed_methods,
        reason = "the tests are told where a cluster is"
    )]
    pub(super) fn new() -> Self {
        static N: AtomicU64 = AtomicU64::new(0);
        let Ok(address) = std::env::var("KEN_TEST_CLUSTER") else {
            return Self::fake();
        };
        let n = N.fetch_add(1, Ordering::Relaxed);
        let name = format!("ken-e2e-{}-{n}", std::process::id());
        Self::Real { address, name }
    }

    pub(super) fn fake() -> Self {
        let fake = Arc::new(Fake::default());
        let server = Server::start(&fake, Some(AUTHORIZATION)).unwrap();
        Self::Fake { fake, server }
    }

    /// Returns the fake, in a test that is over it.
    pub(super) fn as_fake(&self) -> &Fake {
        match self {
            Self::Fake { fake, .. } => fake,
            Self::Real { .. } => panic!("this test is over the fake"),
        }
    }

    /// Returns the name of the index.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Fake { .. } => "archive",
            Self::Real { name, .. } => name,
        }
    }

    /// Returns the settings of the engine, but for who asks.
    pub(super) fn settings(&self) -> String {
        let (node, more) = match self {
            Self::Fake { server, .. } => (server.node(), String::new()),
            // There is one node, so copies of shards have no place.
            Self::Real { address, .. } => (address.clone(), "replicas = 0\n".to_owned()),
        };
        let name = self.name();
        format!("[engine]\nkind = \"opensearch\"\nnodes = [\"{node}\"]\nname = \"{name}\"\n{more}")
    }

    /// Returns the root document, if there is one.
    pub(super) fn root(&self) -> Option<Value> {
        match self {
            Self::Fake { fake, .. } => fake.root(self.name()),
            Self::Real { address, name } => {
                let found = get(address, &format!("/{name}-root/_doc/root"))?;
                serde_json::from_str(found["_source"]["root"].as_str()?).ok()
            }
        }
    }
}

/// Returns the object that a node answers with.
fn get(address: &str, path: &str) -> Option<Value> {
    let host = address.strip_prefix("http://")?;
    let mut stream = TcpStream::connect(host).ok()?;
    write!(
        stream,
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()
}

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

ken_conformance::suite!(elsewhere new);

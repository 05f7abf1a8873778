//! The embedded engine passes the tests that every engine must pass.

use std::sync::Arc;

use ken_conformance::Index;
use ken_engine::{Sink, Source};
use ken_index::{Snapshot, Writer, WriterOptions};
use tempfile::TempDir;

struct Embedded(TempDir);

impl Index for Embedded {
    fn sink(&self, threads: usize) -> Box<dyn Sink> {
        let options = WriterOptions {
            memory_bytes: 30 << 20,
            threads,
        };
        Box::new(Writer::open(self.0.path(), options).unwrap())
    }

    fn source(&self) -> Arc<dyn Source> {
        Arc::new(Snapshot::open(self.0.path()).unwrap())
    }
}

ken_conformance::suite!(|| Box::new(Embedded(tempfile::tempdir().unwrap())) as Box<dyn Index>);

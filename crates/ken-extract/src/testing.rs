//! Runs one format module on bytes, for unit tests.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fastrand::Rng;
use ken_core::Document;

use crate::detect::Detected;
use crate::formats::Extract;
use crate::output::Output;
use crate::{Input, Limits, Member, Sink};

/// What a module found: its own document, and the parts and members in order.
#[derive(Debug, Default)]
pub(crate) struct Extracted {
    pub(crate) documents: Vec<Document>,
    pub(crate) members: Vec<Member>,
}

impl Sink for Extracted {
    fn document(&mut self, document: Document) {
        self.documents.push(document);
    }
    fn member(&mut self, member: Member) {
        self.members.push(member);
    }
}

impl Extracted {
    /// Returns the input's own document.
    pub(crate) fn own(&self) -> &Document {
        self.documents.last().expect("each input yields a document")
    }
}

/// Runs `extract` on bytes with the format `detected`. A panic is not caught, so it fails the test.
pub(crate) fn run(extract: Extract, detected: Detected, name: &str, bytes: &[u8]) -> Extracted {
    run_limited(extract, detected, name, bytes, &Limits::default())
}

/// Does the same as [`run`], under limits.
pub(crate) fn run_limited(
    extract: Extract,
    detected: Detected,
    name: &str,
    bytes: &[u8],
    limits: &Limits,
) -> Extracted {
    let mut found = Extracted::default();
    let mut input = Input::bytes_of(name, bytes);
    let mut output = Output::new(&input, detected, limits, &mut found);
    let result = extract(&mut input, &mut output);
    output.finish(result.err().map(Into::into));
    found
}

/// Runs the hostile set made from a good sample: empty, cut at twenty offsets, random bytes, flipped
/// bytes. Each must end with one own document and without a panic.
pub(crate) fn survives(extract: Extract, detected: Detected, name: &str, good: &[u8]) {
    let mut hostile: Vec<Vec<u8>> = vec![Vec::new()];
    hostile.extend((0..20).map(|n| good[..good.len() * n / 20].to_vec()));
    let mut random = Rng::with_seed(1);
    hostile.push((0..4096).map(|_| random.u8(..)).collect());
    for _ in 0..40 {
        let mut flipped = good.to_vec();
        for _ in 0..8 {
            let at = random.usize(..=flipped.len());
            if let Some(byte) = flipped.get_mut(at) {
                *byte = random.u8(..);
            }
        }
        hostile.push(flipped);
    }
    for bytes in hostile {
        let outcome = catch_unwind(AssertUnwindSafe(|| run(extract, detected, name, &bytes)));
        let found = outcome.unwrap_or_else(|_| panic!("{name}: panic on {} bytes", bytes.len()));
        assert!(found.own().ipath.is_root());
    }
}

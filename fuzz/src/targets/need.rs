//! Expressions and texts: where one matches, the text holds what is needed.

use std::path::Path;

use ken_ngram::{Builder, Covers, Need, NgramSet, Segment, Version};
use libfuzzer_sys::arbitrary::{Arbitrary, Unstructured};

pub(super) fn run(bytes: &[u8]) {
    let input = Unstructured::new(bytes);
    let Ok((pattern, text)) = <(&str, &str)>::arbitrary_take_rest(input) else {
        return;
    };
    let text = text.replace('\0', " ");
    let mut parser = regex_syntax::ParserBuilder::new()
        .utf8(false)
        .nest_limit(50)
        .build();
    let Ok(expression) = parser.parse(pattern) else {
        return;
    };
    let mut builder = regex_automata::meta::Builder::new();
    builder.configure(regex_automata::meta::Config::new().nfa_size_limit(Some(1 << 20)));
    let Ok(regex) = builder.build_from_hir(&expression) else {
        return;
    };
    let mut ngrams = NgramSet::default();
    ngrams.add(text.as_bytes());
    let mut builder = Builder::default();
    let version = Version { key: 1, stamp: 1 };
    builder.add(version, Path::new("/text"), "", Covers::default(), &ngrams);
    let bytes = builder.finish(Vec::new()).expect("a vector takes all");
    let segment = Segment::open(Box::new(bytes)).expect("it was written whole");
    let may_match = segment.candidates(&Need::of(&expression)).contains(0);
    assert!(may_match || !regex.is_match(text.as_bytes()));
}

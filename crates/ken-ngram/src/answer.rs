//! Finds which documents of a segment may match, by looking up the need of an expression in
//! postings.
//!
//! The rarest n-grams come first. Reading a list takes time for each document in it, and searching
//! a file takes thousands of times longer; a list is read while it promises to save more than it
//! costs.

use crate::Need;
use crate::ngram::ngrams_of;
use crate::segment::{Postings, Segment};

/// Time to read a document of a list, in nanoseconds.
const READ_NS: u64 = 4;
/// Time to open and search a file.
const SEARCH_NS: u64 = 15_000;
/// Divisor for the share of documents that a list is expected to rule out: n-grams of one word are
/// correlated.
const TRUST: u64 = 8;

/// Share of the time to search all files that is risked while nothing is known.
const RISK: u64 = 64;

/// Time to look up a string.
const LOOKUP_NS: u64 = 500;
/// Number of strings of a need that are always looked up.
const MIN_STRINGS: usize = 4 << 10;

/// The documents of a segment that may match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidates {
    /// None means all.
    docs: Option<Vec<u32>>,
    bits: Vec<u64>,
    /// Number of documents of the segment.
    n_docs: u32,
}

impl Candidates {
    fn new(docs: Option<Vec<u32>>, n_docs: u32) -> Self {
        let mut bits = Vec::new();
        if let Some(docs) = &docs {
            bits.resize((n_docs as usize).div_ceil(64), 0);
            for doc in docs {
                bits[(doc >> 6) as usize] |= 1 << (doc & 63);
            }
        }
        Self { docs, bits, n_docs }
    }

    /// Returns whether a document may match.
    pub fn contains(&self, doc: u32) -> bool {
        let word = self.bits.get((doc >> 6) as usize);
        self.docs.is_none() || word.is_some_and(|word| word >> (doc & 63) & 1 == 1)
    }

    /// Returns the documents, in order; none if any document may match.
    pub fn docs(&self) -> Option<&[u32]> {
        self.docs.as_deref()
    }

    /// Returns how many documents may match.
    pub fn n(&self) -> usize {
        self.docs().map_or(self.n_docs as usize, <[u32]>::len)
    }

    /// Returns the documents that may match, even if these are all of them.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        let all = self.docs.is_none().then_some(0..self.n_docs);
        let docs = self.docs().unwrap_or_default().iter().copied();
        docs.chain(all.into_iter().flatten())
    }
}

/// A need in terms of one segment.
enum Node {
    Anything,
    Nothing,
    /// Rarest first.
    Lists(Vec<Postings>),
    All(Vec<Self>),
    Any(Vec<Self>),
}

impl Segment {
    /// Returns the documents that may have what is needed; all if the segment is damaged.
    pub fn candidates(&self, need: &Need) -> Candidates {
        let (node, _) = self.node(need, self.max_strings());
        let docs = match self.estimate(&node) >= u64::from(self.n_docs()) {
            true => None,
            false => self.answer(&node, None),
        };
        let docs = docs.filter(|_| !self.is_damaged());
        Candidates::new(docs, self.n_docs())
    }

    /// Returns how many strings may be looked up before reading the files would take less time.
    fn max_strings(&self) -> usize {
        let affordable = u64::from(self.n_docs()) * SEARCH_NS / (RISK * LOOKUP_NS);
        MIN_STRINGS.max(affordable as usize)
    }

    /// Looks up at most `room` strings of a need; the others are treated as matching anything. Also
    /// returns the number of strings that were looked up.
    fn node(&self, need: &Need, room: usize) -> (Node, usize) {
        if need.least_strings() > room {
            return (Node::Anything, 0);
        }
        match need {
            Need::Anything => (Node::Anything, 0),
            Need::Nothing => (Node::Nothing, 0),
            Need::Bytes(bytes) => (self.lists(bytes), 1),
            Need::All(needs) => {
                let (nodes, used) = self.all(needs, room);
                (Node::All(nodes), used)
            }
            Need::Any(needs) => {
                let (nodes, used) = self.any(needs, room);
                (Node::Any(nodes), used)
            }
        }
    }

    fn lists(&self, bytes: &[u8]) -> Node {
        let lists = ngrams_of(bytes)
            .into_iter()
            .map(|ngram| self.look_up(ngram));
        let Some(mut lists) = lists.collect::<Option<Vec<_>>>() else {
            return Node::Nothing;
        };
        lists.sort_unstable_by_key(|list| list.n);
        match lists.is_empty() {
            true => Node::Anything,
            false => Node::Lists(lists),
        }
    }

    /// Looks up needs that must all be met, those with the fewest strings first.
    fn all(&self, needs: &[Need], room: usize) -> (Vec<Node>, usize) {
        let mut fewest_first: Vec<_> = needs.iter().collect();
        fewest_first.sort_by_cached_key(|need| need.n_strings());
        let mut used = 0;
        let nodes = fewest_first.into_iter().map(|need| {
            let (node, more) = self.node(need, room - used);
            used += more;
            node
        });
        (self.rarest_first(nodes.collect()), used)
    }

    /// Looks up needs of which one must be met. One that matches anything makes all others useless,
    /// so each gets the room that it requires, and an equal share of the rest.
    fn any(&self, needs: &[Need], room: usize) -> (Vec<Node>, usize) {
        let least = needs.iter().map(Need::least_strings);
        let mut spare = room - least.sum::<usize>();
        let mut used = 0;
        let mut nodes = Vec::with_capacity(needs.len());
        for (need, n_left) in needs.iter().zip((1..=needs.len()).rev()) {
            let least = need.least_strings();
            let (node, more) = self.node(need, least + spare / n_left);
            used += more;
            spare -= more.saturating_sub(least);
            nodes.push(node);
        }
        (self.rarest_first(nodes), used)
    }

    fn rarest_first(&self, mut nodes: Vec<Node>) -> Vec<Node> {
        nodes.sort_by_cached_key(|node| self.estimate(node));
        nodes
    }

    /// Estimates the number of documents. For one list, or several that are all needed, it is a
    /// maximum; for alternatives, it is the number for independent lists. It is all documents if
    /// nothing is known.
    fn estimate(&self, node: &Node) -> u64 {
        let all = u64::from(self.n_docs());
        match node {
            Node::Anything => all,
            Node::Nothing => 0,
            // A damaged file may claim more documents than there are.
            Node::Lists(lists) => lists.first().map_or(all, |list| all.min(list.n.into())),
            Node::All(nodes) => nodes.first().map_or(all, |node| self.estimate(node)),
            Node::Any(nodes) => {
                let lacked = nodes
                    .iter()
                    .map(|node| 1.0 - self.share(self.estimate(node)));
                all - (all as f64 * lacked.product::<f64>()) as u64
            }
        }
    }

    /// Returns the share of all documents.
    fn share(&self, n: u64) -> f64 {
        n as f64 / f64::from(self.n_docs().max(1))
    }

    /// Returns the minimum cost of the answer, in documents read.
    fn cost(&self, node: &Node) -> u64 {
        match node {
            Node::Any(nodes) => nodes.iter().map(|node| self.cost(node)).sum(),
            Node::All(nodes) => nodes.first().map_or(0, |node| self.cost(node)),
            node => self.estimate(node),
        }
    }

    /// Returns whether reading lists of `n_read` documents, of which `n_left` remain, is worth it.
    fn pays(&self, n_read: u64, n_left: u64, n_candidates: usize) -> bool {
        let all = u64::from(self.n_docs()).max(1);
        let saved = n_candidates as u64 * all.saturating_sub(n_left) / all / TRUST;
        saved * SEARCH_NS > n_read * READ_NS
    }

    /// Returns whether reading lists of `n_read` documents takes little time compared to searching
    /// all files.
    fn is_cheap(&self, n_read: u64) -> bool {
        n_read * READ_NS * RISK <= u64::from(self.n_docs()) * SEARCH_NS
    }

    /// Returns the documents among those of `before`, if given; none means all.
    fn answer(&self, node: &Node, before: Option<&[u32]>) -> Option<Vec<u32>> {
        match node {
            Node::Anything => None,
            Node::Nothing => Some(Vec::new()),
            Node::Lists(lists) => self.narrow(lists, before, |list, before| {
                let docs = self.compared_documents(list);
                Some(match before {
                    None => docs.collect(),
                    Some(before) => both(docs, before),
                })
            }),
            Node::All(nodes) => {
                self.narrow(nodes, before, |node, before| self.answer(node, before))
            }
            Node::Any(nodes) => {
                let mut any = Union::new(self.n_docs());
                for node in nodes {
                    any.add(self.answer(node, before)?);
                }
                Some(any.docs())
            }
        }
    }

    /// Applies one after the other as long as it pays off.
    fn narrow<T: Listed>(
        &self,
        parts: &[T],
        before: Option<&[u32]>,
        apply: impl Fn(&T, Option<&[u32]>) -> Option<Vec<u32>>,
    ) -> Option<Vec<u32>> {
        let mut docs: Option<Vec<u32>> = None;
        for part in parts {
            let known = docs.as_deref().or(before);
            let n_known = known.map_or(self.n_docs() as usize, <[u32]>::len);
            let cost = part.cost(self);
            let pays = self.pays(cost, part.estimate(self), n_known);
            if pays || known.is_none() && self.is_cheap(cost) {
                docs = apply(part, known).or(docs);
            }
        }
        docs
    }
}

/// Documents that are in any of several lists.
struct Union {
    docs: Vec<u32>,
    /// One bit for each document, in place of many numbers.
    bits: Vec<u64>,
    n_docs: u32,
}

impl Union {
    fn new(n_docs: u32) -> Self {
        Self {
            docs: Vec::new(),
            bits: Vec::new(),
            n_docs,
        }
    }

    fn add(&mut self, more: Vec<u32>) {
        if self.docs.is_empty() {
            self.docs = more;
        } else {
            self.docs.extend(more);
        }
        if self.docs.len() > self.n_docs as usize / 64 {
            self.bits.resize((self.n_docs as usize).div_ceil(64), 0);
            for doc in self.docs.drain(..) {
                self.bits[(doc >> 6) as usize] |= 1 << (doc & 63);
            }
        }
    }

    /// Returns the documents in order.
    fn docs(mut self) -> Vec<u32> {
        for (word, bits) in (0..).zip(&self.bits) {
            let mut bits = *bits;
            while bits != 0 {
                self.docs.push((word << 6) | bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
        self.docs.sort_unstable();
        self.docs.dedup();
        self.docs
    }
}

/// An item with a known cost.
trait Listed {
    fn cost(&self, segment: &Segment) -> u64;
    fn estimate(&self, segment: &Segment) -> u64;
}

impl Listed for Node {
    fn cost(&self, segment: &Segment) -> u64 {
        segment.cost(self)
    }
    fn estimate(&self, segment: &Segment) -> u64 {
        segment.estimate(self)
    }
}

impl Listed for Postings {
    fn cost(&self, _: &Segment) -> u64 {
        self.n.into()
    }
    fn estimate(&self, _: &Segment) -> u64 {
        self.n.into()
    }
}

/// Returns those of `docs` that are in a list; both are in order.
fn both(list: impl Iterator<Item = u32>, docs: &[u32]) -> Vec<u32> {
    let mut docs = docs.iter().copied();
    let mut found = Vec::new();
    let Some(mut doc) = docs.next() else {
        return found;
    };
    for other in list {
        while doc < other {
            match docs.next() {
                Some(next) => doc = next,
                None => return found,
            }
        }
        if doc == other {
            found.push(doc);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Builder, Covers, NgramSet, Version};

    #[test]
    fn lists_that_say_too_much_are_all_documents() {
        let mut builder = Builder::default();
        let version = Version { key: 1, stamp: 1 };
        let ngrams = NgramSet::default();
        builder.add(version, Path::new("/a"), "", Covers::default(), &ngrams);
        let segment = Segment::open(Box::new(builder.finish(Vec::new()).unwrap())).unwrap();
        let list = || Postings {
            n: 127,
            bytes: 0..0,
            block: 0,
        };
        let any = Node::Any(vec![Node::Lists(vec![list()]), Node::Lists(vec![list()])]);
        assert_eq!(segment.estimate(&any), 1);
    }
}

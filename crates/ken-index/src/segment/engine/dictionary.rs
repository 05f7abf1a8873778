//! The dictionary of a field: a finite state transducer from each term to its rank, as `tantivy-fst` reads it.
//!
//! Terms come in order, so a node of the path of the last term is complete when the next term leaves the path before
//! it. It is written then, unless one like it was, which stands for both: equal ends of terms are kept once (Daciuk et
//! al., "Incremental construction of minimal acyclic finite-state automata", 2000). Which ones were is known of some of
//! the last nodes, in tables of fixed size. The rank of a term is the sum of the outputs on its path. As ranks rise by
//! one, the output of a way is known when it is made, and no node has one of its own. The first way of a node has the
//! output 0, as it is that of the first term through it; or 1, if the node is the end of a term before that.
//!
//! ```text
//! all         version, kind (u64 each), nodes, how many terms there are, address of the root (u64 each)
//! node        its last byte is the address of the node; 0 is that of the end of a term from which nothing goes on
//!   one way   byte, if it is no common one; state: two bits, number of the common byte; goes to the node before
//!   one way   distance, sizes, byte, if it is no common one, state
//!   others    outputs, if there are any, that of a final node before; distances, bytes, each the last one first; an
//!             index of bytes, if there are more than 32; sizes; how many, if these are 64 or more, or none; state: is
//!             final, how many
//! ```

use std::io::{self, Write};
use std::sync::OnceLock;

use tantivy_fst::raw::{Builder, Fst};

use super::BUFFER_BYTES;

const VERSION: u64 = 2;
const KIND: u64 = 0;
/// The address of a node from which nothing goes on.
const END: u64 = 0;
/// Is the address of no node.
const NO_NODE: u64 = 1;

/// States, by their highest bits.
const TO_THE_NODE_BEFORE: u8 = 0b1100_0000;
const ONE_WAY: u8 = 0b1000_0000;
const IS_FINAL: u8 = 0b0100_0000;
/// More ways, and common bytes, have no number in a state.
const MAX_IN_STATE: usize = 0b11_1111;
/// More ways have an index of bytes.
const MAX_WITHOUT_INDEX: usize = 32;

/// A dictionary of many terms knows twice as many nodes with one way, with a few ones, with many.
const CHAINS: usize = 1 << 13;
const FORKS: usize = 1 << 11;
const WIDE: usize = 1 << 8;
/// The first tables have so many places, and there are as many for each term as long as they are not large.
const PLACES_PER_TERM: usize = 4;
/// A node with more ways has many.
const FEW_WAYS: usize = 6;

/// A way from a node to the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Way {
    to: u64,
    output: u32,
    byte: u8,
}

/// A node of the path of the last term.
struct Node {
    /// Where its ways begin, but the one that the path takes.
    ways: usize,
    /// The sum of the outputs on the path to it.
    sum: u32,
    /// The output of the way that the path takes.
    output: u32,
    is_final: bool,
}

/// The ways of a node that has no more.
type FewWays = [Way; FEW_WAYS];

/// The addresses of some of the last nodes that were written, or found again: of those of one hash the last two.
struct NodeCache<K> {
    places: Vec<[(K, u64); 2]>,
    max_places: usize,
}

impl<K: Clone + Default> NodeCache<K> {
    fn new(max_places: usize) -> Self {
        Self {
            places: vec![Default::default(); PLACES_PER_TERM],
            max_places,
        }
    }

    /// Makes room for the nodes of so many terms. What was known is forgotten, and soon known again.
    fn make_room(&mut self, n_terms: usize) {
        let n_places = self.max_places.min(n_terms * PLACES_PER_TERM);
        if self.places.len() < n_places {
            self.places = vec![Default::default(); n_places];
        }
    }

    /// Returns where the address of a node belongs, and whether it is known: it stands there then. If it is not, its
    /// key is to be set.
    fn look_up(
        &mut self,
        hash: u64,
        is_key: impl Fn(&K) -> bool,
        set_key: impl FnOnce(&mut K),
    ) -> (&mut u64, bool) {
        // There are a power of two.
        let place = hash as usize & (self.places.len() - 1);
        let [first, second] = &mut self.places[place];
        // No node has the address 0, which stands in a free place.
        let is_known = |(key, address): &(K, u64)| *address > 0 && is_key(key);
        if is_known(first) {
            return (&mut first.1, true);
        }
        std::mem::swap(first, second);
        let is_known = is_known(first);
        if !is_known {
            set_key(&mut first.0);
        }
        (&mut first.1, is_known)
    }
}

/// A dictionary that is being built.
pub(super) struct Dictionary {
    nodes: Nodes,
    /// Of the last term: the root, and a node behind each of its bytes.
    path: Vec<Node>,
    last: Vec<u8>,
    /// Of all nodes of the path, complete ones only.
    ways: Vec<Way>,
    chains: NodeCache<Way>,
    forks: NodeCache<FewWays>,
    wide: NodeCache<Vec<Way>>,
    n_terms: u32,
}

impl Dictionary {
    pub(super) fn new() -> Self {
        let root = Node {
            ways: 0,
            sum: 0,
            output: 0,
            is_final: false,
        };
        Self {
            nodes: Nodes::new(),
            path: vec![root],
            last: Vec::new(),
            ways: Vec::new(),
            chains: NodeCache::new(CHAINS),
            forks: NodeCache::new(FORKS),
            wide: NodeCache::new(WIDE),
            n_terms: 0,
        }
    }

    /// Adds a term.
    ///
    /// # Errors
    /// Fails if it is not greater than the last one, as of a damaged part of the postings.
    pub(super) fn add(&mut self, term: &[u8]) -> io::Result<()> {
        let rank = self.n_terms;
        let n_same = self.last.iter().zip(term).take_while(|(a, b)| a == b);
        let n_same = n_same.count();
        if rank > 0 && self.last.get(n_same) >= term.get(n_same) {
            return Err(io::Error::other("a term is not in order"));
        }
        self.complete(n_same);
        if let Some(branch) = self.path.last_mut() {
            branch.output = rank - branch.sum;
        }
        for _ in n_same..term.len() {
            self.path.push(Node {
                ways: self.ways.len(),
                sum: rank,
                output: 0,
                is_final: false,
            });
        }
        if let Some(end) = self.path.last_mut() {
            end.is_final = true;
        }
        self.last.truncate(n_same);
        self.last.extend_from_slice(&term[n_same..]);
        self.n_terms += 1;
        if self.n_terms.is_power_of_two() {
            self.chains.make_room(self.n_terms as usize);
            self.forks.make_room(self.n_terms as usize);
            self.wide.make_room(self.n_terms as usize);
        }
        Ok(())
    }

    /// Writes the nodes of the path behind so many bytes.
    fn complete(&mut self, n_bytes: usize) {
        while self.path.len() > n_bytes + 1 {
            let Some(node) = self.path.pop() else { return };
            let to = self.address(&node);
            self.ways.truncate(node.ways);
            let at = self.path.len() - 1;
            self.ways.push(Way {
                to,
                output: self.path[at].output,
                byte: self.last[at],
            });
        }
    }

    /// Returns the address of a node, all of whose ways are there; it is written if none like it is known.
    fn address(&mut self, node: &Node) -> u64 {
        let ways = &self.ways[node.ways..];
        // Whether it is final the output of its first way tells.
        let (address, is_known) = match ways {
            [] if node.is_final => return END,
            [way] if !node.is_final => {
                let set = |key: &mut Way| *key = *way;
                self.chains.look_up(hash(ways), |key| key == way, set)
            }
            _ if ways.len() <= FEW_WAYS => {
                // What stands for no way is none: only the first one may have the output 0.
                let mut key = FewWays::default();
                key[..ways.len()].copy_from_slice(ways);
                let set = |known: &mut FewWays| *known = key;
                self.forks.look_up(hash(ways), |known| *known == key, set)
            }
            _ => {
                let set = |key: &mut Vec<Way>| {
                    key.clear();
                    key.extend_from_slice(ways);
                };
                self.wide.look_up(hash(ways), |key| key == ways, set)
            }
        };
        if !is_known {
            self.nodes.write(ways, node.is_final);
            *address = self.nodes.last;
        }
        *address
    }

    /// Writes what is complete, if it is much.
    pub(super) fn write_if_large(&mut self, to: &mut impl Write) -> io::Result<()> {
        let Nodes {
            bytes, n_written, ..
        } = &mut self.nodes;
        if bytes.len() >= BUFFER_BYTES {
            to.write_all(bytes)?;
            *n_written += bytes.len() as u64;
            bytes.clear();
        }
        Ok(())
    }

    /// Writes all that is left.
    pub(super) fn finish(mut self, to: &mut impl Write) -> io::Result<()> {
        self.complete(0);
        if let Some(root) = self.path.pop() {
            // Also one like another node: the root is the last one.
            self.nodes.write(&self.ways, root.is_final);
        }
        let Nodes { bytes, last, .. } = &mut self.nodes;
        bytes.extend_from_slice(&u64::from(self.n_terms).to_le_bytes());
        bytes.extend_from_slice(&last.to_le_bytes());
        to.write_all(bytes)
    }
}

/// The nodes that were written.
struct Nodes {
    bytes: Vec<u8>,
    /// How many bytes were taken from there.
    n_written: u64,
    /// The address of the last one.
    last: u64,
    common: &'static [u8; 256],
}

impl Nodes {
    fn new() -> Self {
        Self {
            bytes: [VERSION.to_le_bytes(), KIND.to_le_bytes()].concat(),
            n_written: 0,
            last: NO_NODE,
            common: common(),
        }
    }

    fn write(&mut self, ways: &[Way], is_final: bool) {
        let start = self.n_written + self.bytes.len() as u64;
        match ways {
            [way] if !is_final => self.write_chain(start, way),
            _ => write_fork(start, ways, is_final, &mut self.bytes),
        }
        self.last = self.n_written + self.bytes.len() as u64 - 1;
    }

    fn write_chain(&mut self, start: u64, way: &Way) {
        let out = &mut self.bytes;
        let goes_back = way.to == self.last;
        if !goes_back {
            let distance = distance(start, way.to);
            put(distance, n_bytes(distance), out);
            out.push(n_bytes(distance) << 4);
        }
        let common = self.common[way.byte as usize];
        if common == 0 {
            out.push(way.byte);
        }
        let state = if goes_back {
            TO_THE_NODE_BEFORE
        } else {
            ONE_WAY
        };
        out.push(state | common);
    }
}

/// Writes a node that is final or has not one way.
fn write_fork(start: u64, ways: &[Way], is_final: bool, out: &mut Vec<u8>) {
    let n_distance = ways
        .iter()
        .map(|way| n_bytes(distance(start, way.to)))
        .max();
    let n_distance = n_distance.unwrap_or_default();
    let n_output = match ways.iter().map(|way| way.output).max() {
        None | Some(0) => 0,
        Some(output) => n_bytes(output.into()),
    };
    if n_output > 0 {
        if is_final {
            put(0, n_output, out);
        }
        for way in ways.iter().rev() {
            put(way.output.into(), n_output, out);
        }
    }
    for way in ways.iter().rev() {
        put(distance(start, way.to), n_distance, out);
    }
    out.extend(ways.iter().rev().map(|way| way.byte));
    if ways.len() > MAX_WITHOUT_INDEX {
        let mut index = [u8::MAX; 256];
        for (at, way) in ways.iter().enumerate() {
            index[way.byte as usize] = at as u8;
        }
        out.extend_from_slice(&index);
    }
    out.push(n_distance << 4 | n_output);
    let mut state = if is_final { IS_FINAL } else { 0 };
    match ways.len() {
        n @ 1..=MAX_IN_STATE => state |= n as u8,
        // One way never stands there.
        256 => out.push(1),
        n => out.push(n as u8),
    }
    out.push(state);
}

/// Returns how far before it a node is; 0 is the end.
fn distance(start: u64, to: u64) -> u64 {
    match to {
        END => 0,
        to => start - to,
    }
}

/// Returns how many bytes a number takes, at least one.
fn n_bytes(number: u64) -> u8 {
    (u64::BITS - (number | 1).leading_zeros()).div_ceil(u8::BITS) as u8
}

fn put(number: u64, n_bytes: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_le_bytes()[..n_bytes as usize]);
}

/// Returns a number of which each bit depends on many of the ways.
fn hash(ways: &[Way]) -> u64 {
    ways.iter().fold(0_u64, |hash, way| {
        let way = way.to << 8 ^ u64::from(way.output) << 32 ^ u64::from(way.byte);
        (hash.rotate_left(5) ^ way).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
    })
}

/// Returns of each byte its number among the common ones, 0 if it is none: they are part of the format, but known to
/// `tantivy-fst` only, so it is asked to write each of them.
pub(super) fn common() -> &'static [u8; 256] {
    static COMMON: OnceLock<[u8; 256]> = OnceLock::new();
    COMMON.get_or_init(|| {
        let mut numbers = [0; 256];
        let mut builder = Builder::memory();
        for byte in u8::MIN..=u8::MAX {
            // From the node behind the first byte one way goes on. Without its number it is only longer.
            if builder.add([byte, byte]).is_err() {
                return numbers;
            }
        }
        let Ok(fst) = builder.into_inner().and_then(Fst::new) else {
            return numbers;
        };
        let bytes = fst.to_vec();
        let root = fst.root();
        for way in root.transitions() {
            let state = bytes.get(way.addr).copied().unwrap_or_default();
            if state & TO_THE_NODE_BEFORE == ONE_WAY {
                numbers[way.inp as usize] = state & MAX_IN_STATE as u8;
            }
        }
        numbers
    })
}

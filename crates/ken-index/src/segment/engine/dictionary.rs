//! The dictionary of a field: a finite state transducer from each term to its rank, in the format
//! that `tantivy-fst` reads.
//!
//! Terms arrive in order, so a node on the path of the last term is complete when the next term
//! leaves the path before it. The node is then written, unless an equal one was, which then
//! represents both: equal endings of terms are stored once (Daciuk et al., "Incremental
//! construction of minimal acyclic finite-state automata", 2000). Tables of fixed size remember
//! some of the last nodes. The rank of a term is the sum of the outputs on its path. As ranks rise
//! by one, the output of a way is known when the way is created, and no node has an output of its
//! own. The first way of a node has the output 0, since it belongs to the first term through it; or
//! 1, if the node is the end of an earlier term.
//!
//! ```text
//! all         version, kind (u64 each), nodes, number of terms, address of the root (u64 each)
//! node        its last byte is the address of the node; 0 is the address of a final node without ways
//!   one way   byte, unless it is a common one; state: two bits, number of the common byte; leads to the preceding node
//!   one way   distance, sizes, byte, unless it is a common one, state
//!   others    outputs, if there are any, with that of a final node first; distances, bytes, both in reverse order; an
//!             index of bytes, if there are more than 32; sizes; the number of ways, if it is 0 or at least 64; state:
//!             whether the node is final, number of ways
//! ```

use std::io::{self, Write};
use std::sync::OnceLock;

use tantivy_fst::raw::{Builder, Fst};

use super::BUFFER_BYTES;

const VERSION: u64 = 2;
const KIND: u64 = 0;
/// The address of a node without ways.
const END: u64 = 0;
/// The address of no node.
const NO_NODE: u64 = 1;

/// States, by their highest bits.
const TO_THE_NODE_BEFORE: u8 = 0b1100_0000;
const ONE_WAY: u8 = 0b1000_0000;
const IS_FINAL: u8 = 0b0100_0000;
/// More ways, and more common bytes, have no number in a state.
const MAX_IN_STATE: usize = 0b11_1111;
/// Nodes with more ways have an index of bytes.
const MAX_WITHOUT_INDEX: usize = 32;

/// Maximum numbers of slots, each of which remembers two nodes: for nodes with one way, with a few,
/// with many.
const CHAINS: usize = 1 << 13;
const FORKS: usize = 1 << 11;
const WIDE: usize = 1 << 8;
/// Number of sets in the first tables, and for each term while the tables are not large.
const SETS_PER_TERM: usize = 4;
/// Maximum number of ways of a node with few.
const FEW_WAYS: usize = 6;

/// A way from a node to the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Way {
    to: u64,
    output: u32,
    byte: u8,
}

/// A node on the path of the last term.
struct Node {
    /// The start of its ways, except the one on the path.
    ways: usize,
    /// The sum of the outputs on the path to it.
    sum: u32,
    /// The output of the way on the path.
    output: u32,
    is_final: bool,
}

/// The ways of a node with few.
type FewWays = [Way; FEW_WAYS];

/// The addresses of some of the last nodes that were written or reused: for each hash, the last
/// two.
struct NodeCache<K> {
    sets: Vec<[(K, u64); 2]>,
    max_sets: usize,
}

impl<K: Clone + Default> NodeCache<K> {
    fn new(max_sets: usize) -> Self {
        Self {
            sets: vec![Default::default(); SETS_PER_TERM],
            max_sets,
        }
    }

    /// Makes room for the nodes of `n_terms`. This drops the known nodes, which are soon known
    /// again.
    fn make_room(&mut self, n_terms: usize) {
        let n_sets = self.max_sets.min(n_terms * SETS_PER_TERM);
        if self.sets.len() < n_sets {
            self.sets = vec![Default::default(); n_sets];
        }
    }

    /// Returns the slot for the address of a node, and whether the node is known, in which case the
    /// slot has its address. If it is not known, the caller must set the key.
    fn look_up(
        &mut self,
        hash: u64,
        is_key: impl Fn(&K) -> bool,
        set_key: impl FnOnce(&mut K),
    ) -> (&mut u64, bool) {
        // The number of sets is a power of two.
        let set = hash as usize & (self.sets.len() - 1);
        let [first, second] = &mut self.sets[set];
        // No node has the address 0, which marks a free slot.
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

/// A dictionary under construction.
pub(super) struct Dictionary {
    nodes: Nodes,
    /// The path of the last term: the root, and a node after each of its bytes.
    path: Vec<Node>,
    last: Vec<u8>,
    /// The ways of all nodes on the path, only complete ones.
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
    /// Fails if the term is not greater than the last one, as in a damaged part of the postings.
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

    /// Writes the nodes of the path after `n_bytes`.
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

    /// Returns the address of a node with all its ways, writing it if no equal one is known.
    fn address(&mut self, node: &Node) -> u64 {
        let ways = &self.ways[node.ways..];
        // The output of its first way shows whether the node is final.
        let (address, is_known) = match ways {
            [] if node.is_final => return END,
            [way] if !node.is_final => {
                let set = |key: &mut Way| *key = *way;
                self.chains.look_up(hash(ways), |key| key == way, set)
            }
            _ if ways.len() <= FEW_WAYS => {
                // The padding is not a way: only the first way may have the output 0.
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

    /// Writes complete nodes, if there are many bytes of them.
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

    /// Writes everything that is left.
    pub(super) fn finish(mut self, to: &mut impl Write) -> io::Result<()> {
        self.complete(0);
        if let Some(root) = self.path.pop() {
            // Even if it equals another node: the root is the last one.
            self.nodes.write(&self.ways, root.is_final);
        }
        let Nodes { bytes, last, .. } = &mut self.nodes;
        bytes.extend_from_slice(&u64::from(self.n_terms).to_le_bytes());
        bytes.extend_from_slice(&last.to_le_bytes());
        to.write_all(bytes)
    }
}

/// The nodes as bytes.
struct Nodes {
    bytes: Vec<u8>,
    /// Number of bytes that were already moved out of the buffer.
    n_written: u64,
    /// The address of the last node.
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

/// Writes a node that is final or does not have exactly one way.
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
        // A node with one way is never written here.
        256 => out.push(1),
        n => out.push(n as u8),
    }
    out.push(state);
}

/// Returns the distance back to a node; 0 for the end.
fn distance(start: u64, to: u64) -> u64 {
    match to {
        END => 0,
        to => start - to,
    }
}

/// Returns the number of bytes that a number takes, at least one.
fn n_bytes(number: u64) -> u8 {
    (u64::BITS - (number | 1).leading_zeros()).div_ceil(u8::BITS) as u8
}

fn put(number: u64, n_bytes: u8, out: &mut Vec<u8>) {
    out.extend_from_slice(&number.to_le_bytes()[..n_bytes as usize]);
}

/// Returns a number in which each bit depends on many of the ways.
fn hash(ways: &[Way]) -> u64 {
    ways.iter().fold(0_u64, |hash, way| {
        let way = way.to << 8 ^ u64::from(way.output) << 32 ^ u64::from(way.byte);
        (hash.rotate_left(5) ^ way).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
    })
}

/// Returns the number of each byte among the common ones, or 0. The numbers are part of the format,
/// but only `tantivy-fst` knows them, so it is made to write each byte.
pub(super) fn common() -> &'static [u8; 256] {
    static COMMON: OnceLock<[u8; 256]> = OnceLock::new();
    COMMON.get_or_init(|| {
        let mut numbers = [0; 256];
        let mut builder = Builder::memory();
        for byte in u8::MIN..=u8::MAX {
            // One way leads on from the node after the first byte. Without a common number it is
            // just longer.
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

//! Nodes and blocks (MS-PST 2.2): trees of pages locate the blocks of a node.
//!
//! There are three versions of the file format: with numbers of 32 bits (ANSI), with numbers of 64
//! bits, and with pages of 4 KiB and compressed blocks (stores of Outlook 2013). Trees are followed
//! to a bounded depth and number of pages, so that loops end.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io::Read;

use flate2::read::ZlibDecoder;

use ken_core::{Encryption, Limit};

use super::crypt::Hiding;
use crate::output::members::over;
use crate::structure::cursor::Cursor;
use crate::{Error, Input};

const MAX_DEPTH: usize = 8;
/// Maximum number of cached pages.
const MAX_CACHED_PAGES: usize = 2048;
/// Maximum size of a block, even unpacked.
const MAX_BLOCK_BYTES: usize = 64 << 10;
/// More subnodes than a message has.
const MAX_SUBNODES: usize = 1 << 16;

/// A node, or a part of one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) id: u32,
    data: u64,
    subnodes: u64,
}

/// The width of numbers.
#[derive(Clone, Copy, PartialEq)]
enum Age {
    Ansi,
    Unicode,
    LargePages,
}

/// An open store.
pub(super) struct Store<'a> {
    input: &'a Input<'a>,
    age: Age,
    hiding: Hiding,
    nodes_root: u64,
    blocks_root: u64,
    pages: RefCell<HashMap<u64, Vec<u8>>>,
    max_node: Limit,
    is_damaged: Cell<bool>,
}

/// A page of a tree.
struct Page {
    bytes: Vec<u8>,
    n_entries: usize,
    entry_bytes: usize,
    level: u8,
}

impl Page {
    fn entries(&self) -> impl Iterator<Item = &[u8]> {
        let entries = self.bytes.chunks_exact(self.entry_bytes.max(1));
        entries.take(self.n_entries)
    }
}

impl<'a> Store<'a> {
    pub(super) fn open(input: &'a Input<'_>, max_node: Limit) -> Result<Self, Error> {
        let head = input.range(0, 564)?;
        let cut_off = || Error::Malformed("the header is cut off".into());
        if head.len() < 564 || !head.starts_with(b"!BDN") {
            return Err(cut_off());
        }
        let age = match u16::from_le_bytes([head[10], head[11]]) {
            14 | 15 => Age::Ansi,
            36.. => Age::LargePages,
            _ => Age::Unicode,
        };
        let (hiding, roots) = match age {
            Age::Ansi => (head[461], 184),
            _ => (head[513], 216),
        };
        let hiding = match hiding {
            0 => Hiding::None,
            1 => Hiding::Permute,
            2 => Hiding::Cyclic,
            _ => return Err(Error::sealed(Encryption::UnknownMethod)),
        };
        let mut roots = Cursor(&head[roots..]);
        let mut store = Self {
            input,
            age,
            hiding,
            nodes_root: 0,
            blocks_root: 0,
            pages: RefCell::default(),
            max_node,
            is_damaged: Cell::new(false),
        };
        store.number(&mut roots).ok_or_else(cut_off)?;
        store.nodes_root = store.number(&mut roots).ok_or_else(cut_off)?;
        store.number(&mut roots).ok_or_else(cut_off)?;
        store.blocks_root = store.number(&mut roots).ok_or_else(cut_off)?;
        Ok(store)
    }

    /// Returns whether something could not be read.
    pub(super) fn is_damaged(&self) -> bool {
        self.is_damaged.get()
    }

    pub(super) fn has_large_pages(&self) -> bool {
        self.age == Age::LargePages
    }

    /// Reads a number with the width of the file.
    fn number(&self, cursor: &mut Cursor<'_>) -> Option<u64> {
        match self.age {
            Age::Ansi => cursor.le_u32().map(u64::from),
            _ => cursor.le_u64(),
        }
    }

    fn page(&self, at: u64) -> Result<Option<Page>, Error> {
        let (page_bytes, table) = match self.age {
            Age::Ansi => (512, 496),
            Age::Unicode => (512, 488),
            Age::LargePages => (4096, 4056),
        };
        if !self.pages.borrow().contains_key(&at) {
            let bytes = self.input.range(at, page_bytes)?.into_owned();
            let mut pages = self.pages.borrow_mut();
            if pages.len() >= MAX_CACHED_PAGES {
                pages.clear();
            }
            pages.insert(at, bytes);
        }
        let pages = self.pages.borrow();
        let bytes = &pages[&at];
        let Some(tail) = bytes.get(table..table + 8) else {
            self.is_damaged.set(true);
            return Ok(None);
        };
        let (n_entries, entry_bytes, level) = match self.age {
            Age::LargePages => (
                usize::from(u16::from_le_bytes([tail[0], tail[1]])),
                tail[4],
                tail[5],
            ),
            _ => (usize::from(tail[0]), tail[2], tail[3]),
        };
        Ok(Some(Page {
            bytes: bytes[..table].to_vec(),
            n_entries,
            entry_bytes: usize::from(entry_bytes),
            level,
        }))
    }

    /// Returns all nodes, in the order of their numbers.
    pub(super) fn nodes(&self) -> Result<Vec<Node>, Error> {
        // A node takes at least 16 bytes of the file.
        let max_nodes = (self.input.size() / 16) as usize;
        let mut nodes = Vec::new();
        let mut n_pages = self.input.size() / 512 + 1;
        let mut open = vec![(self.nodes_root, MAX_DEPTH)];
        while let Some((at, depth)) = open.pop() {
            if n_pages == 0 || depth == 0 || nodes.len() > max_nodes {
                self.is_damaged.set(true);
                break;
            }
            n_pages -= 1;
            let Some(page) = self.page(at)? else {
                continue;
            };
            let first = open.len();
            for entry in page.entries() {
                let mut entry = Cursor(entry);
                if page.level > 0 {
                    open.extend(self.child(&mut entry).map(|(_, at)| (at, depth - 1)));
                } else {
                    nodes.extend(self.node(&mut entry));
                }
            }
            open[first..].reverse();
        }
        Ok(nodes)
    }

    /// Reads an entry of an inner page: the first key below it, and its position.
    fn child(&self, entry: &mut Cursor<'_>) -> Option<(u64, u64)> {
        let key = self.number(entry)?;
        self.number(entry)?;
        Some((key, self.number(entry)?))
    }

    fn node(&self, entry: &mut Cursor<'_>) -> Option<Node> {
        Some(Node {
            id: self.number(entry)? as u32,
            data: self.number(entry)?,
            subnodes: self.number(entry)?,
        })
    }

    /// Finds a block by its number and reads it.
    fn block(&self, number: u64) -> Result<Vec<u8>, Error> {
        // The lowest bit of a number is not part of it.
        let number = number & !1;
        let missing = || Error::Malformed("a block is missing".into());
        let mut at = self.blocks_root;
        for _ in 0..MAX_DEPTH {
            let page = self.page(at)?.ok_or_else(missing)?;
            if page.level == 0 {
                let mut entries = page.entries().map(Cursor);
                let mut found = entries
                    .find(|entry| self.number(&mut entry.clone()).map(|n| n & !1) == Some(number))
                    .ok_or_else(missing)?;
                return self.read_block(number, &mut found).ok_or_else(missing)?;
            }
            let children = page
                .entries()
                .map_while(|entry| self.child(&mut Cursor(entry)));
            let before = children.take_while(|(key, _)| *key & !1 <= number);
            at = before.last().ok_or_else(missing)?.1;
        }
        Err(missing())
    }

    fn read_block(&self, number: u64, entry: &mut Cursor<'_>) -> Option<Result<Vec<u8>, Error>> {
        self.number(entry)?;
        let at = self.number(entry)?;
        let n_bytes = usize::from(entry.le_u16()?);
        let n_unpacked = usize::from(entry.le_u16()?);
        let bytes = match self.input.range(at, n_bytes) {
            Ok(bytes) => bytes.into_owned(),
            Err(error) => return Some(Err(error.into())),
        };
        if bytes.len() < n_bytes {
            return None;
        }
        let is_packed = self.age == Age::LargePages && n_unpacked != n_bytes;
        let mut bytes = if is_packed { inflate(&bytes)? } else { bytes };
        let is_internal = number & 2 != 0;
        if !is_internal {
            self.hiding.undo(&mut bytes, number);
        }
        Some(Ok(bytes))
    }

    /// Returns the blocks of a node's data.
    pub(super) fn data(&self, node: &Node) -> Result<Vec<Vec<u8>>, Error> {
        let mut blocks = Vec::new();
        let mut n_left = self.max_node.in_force as usize;
        self.add_data(node.data, 2, &mut n_left, &mut blocks)?;
        Ok(blocks)
    }

    fn add_data(
        &self,
        number: u64,
        depth: usize,
        n_left: &mut usize,
        blocks: &mut Vec<Vec<u8>>,
    ) -> Result<(), Error> {
        if number == 0 {
            return Ok(());
        }
        let block = self.block(number)?;
        *n_left = n_left
            .checked_sub(block.len())
            .ok_or_else(|| over(self.max_node))?;
        if number & 2 == 0 {
            blocks.push(block);
            return Ok(());
        }
        let mut list = Cursor(&block);
        if depth == 0 || list.byte() != Some(1) {
            return Err(Error::Malformed("a list of blocks is damaged".into()));
        }
        let _level = list.byte();
        let n_blocks = list.le_u16().unwrap_or(0);
        let _total = list.le_u32();
        for _ in 0..n_blocks {
            let Some(number) = self.number(&mut list) else {
                break;
            };
            self.add_data(number, depth - 1, n_left, blocks)?;
        }
        Ok(())
    }

    /// Returns the parts of a node, by number, and why they may be incomplete.
    pub(super) fn subnodes(&self, node: &Node) -> (Vec<Node>, Option<Error>) {
        let mut found = Vec::new();
        let damage = self.add_subnodes(node.subnodes, 2, &mut found).err();
        (found, damage)
    }

    fn add_subnodes(&self, number: u64, depth: usize, found: &mut Vec<Node>) -> Result<(), Error> {
        if number == 0 {
            return Ok(());
        }
        let block = self.block(number)?;
        let mut list = Cursor(&block);
        if depth == 0 || list.byte() != Some(2) {
            return Err(Error::Malformed("a list of subnodes is damaged".into()));
        }
        let level = list.byte().unwrap_or(0);
        let n_entries = list.le_u16().unwrap_or(0);
        if self.age != Age::Ansi {
            let _padding = list.le_u32();
        }
        for _ in 0..n_entries {
            if found.len() >= MAX_SUBNODES {
                break;
            }
            if level == 0 {
                found.extend(self.node(&mut list));
            } else {
                let _first = self.number(&mut list);
                let below = self.number(&mut list).unwrap_or(0);
                self.add_subnodes(below, depth - 1, found)?;
            }
        }
        Ok(())
    }
}

fn inflate(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut unpacked = Vec::new();
    let mut decoder = ZlibDecoder::new(bytes).take(MAX_BLOCK_BYTES as u64);
    decoder.read_to_end(&mut unpacked).ok()?;
    Some(unpacked)
}

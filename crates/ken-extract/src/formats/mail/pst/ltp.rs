//! Lists, tables and properties (MS-PST 2.3): a heap in the blocks of a node, a tree of records in
//! the heap, and tables whose rows may be in a part of the node.

use super::ndb::{Node, Store};
use crate::Error;
use crate::structure::cursor::Cursor;

/// Maximum depth of a tree in a heap.
const MAX_DEPTH: usize = 8;
/// More properties or rows than a message has.
const MAX_RECORDS: usize = 1 << 16;

const IS_HEAP: u8 = 0xec;
const IS_TREE: u8 = 0xb5;
const IS_TABLE: u8 = 0x7c;

/// A node with its heap and its parts.
pub(super) struct Heap<'a> {
    store: &'a Store<'a>,
    blocks: Vec<Vec<u8>>,
    pub(super) parts: Vec<Node>,
    /// Why parts may be missing.
    pub(super) damage: Option<Error>,
    root: u32,
}

/// A property: its tag, its type, and its value or where that is.
#[derive(Clone, Copy)]
pub(super) struct Property {
    pub(super) tag: u16,
    pub(super) kind: u16,
    pub(super) value: u32,
}

impl<'a> Heap<'a> {
    pub(super) fn open(store: &'a Store<'a>, node: &Node) -> Result<Self, Error> {
        let blocks = store.data(node)?;
        let damaged = || Error::Malformed("a heap is damaged".into());
        let head = blocks
            .first()
            .and_then(|block| block.get(..8))
            .ok_or_else(damaged)?;
        if head[2] != IS_HEAP {
            return Err(damaged());
        }
        let root = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let (parts, damage) = store.subnodes(node);
        Ok(Self {
            store,
            parts,
            damage,
            root,
            blocks,
        })
    }

    /// Returns the bytes that an identifier of the heap refers to.
    fn get(&self, id: u32) -> Option<&[u8]> {
        let (index, block) = match self.store.has_large_pages() {
            true => (id >> 5 & 0x3fff, id >> 19),
            false => (id >> 5 & 0x7ff, id >> 16),
        };
        let block = self.blocks.get(block as usize)?;
        let map = usize::from(u16::from_le_bytes(*block.first_chunk()?));
        let mut offsets = Cursor(block.get(map..)?);
        let n_offsets = u32::from(offsets.le_u16()?);
        if index == 0 || index > n_offsets {
            return None;
        }
        let mut offset = Cursor(offsets.0.get(2 * index as usize..)?);
        block.get(usize::from(offset.le_u16()?)..usize::from(offset.le_u16()?))
    }

    /// Returns the bytes that an identifier refers to, in the heap or in a part of the node.
    pub(super) fn bytes(&self, id: u32) -> Result<Vec<u8>, Error> {
        if id == 0 {
            return Ok(Vec::new());
        }
        if id & 0x1f == 0 {
            return Ok(self.get(id).unwrap_or_default().to_vec());
        }
        match self.part(id) {
            Some(part) => Ok(self.store.data(part)?.concat()),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the part of a node with this number.
    pub(super) fn part(&self, id: u32) -> Option<&Node> {
        self.parts.iter().find(|part| part.id == id)
    }

    /// Returns the properties of a node.
    pub(super) fn properties(&self) -> Vec<Property> {
        let mut records = Vec::new();
        if self
            .get(self.root)
            .is_some_and(|head| head.first() == Some(&IS_TREE))
        {
            self.walk(self.root, &mut records);
        }
        let read = |record: &&[u8]| {
            let mut record = Cursor(record);
            Some(Property {
                tag: record.le_u16()?,
                kind: record.le_u16()?,
                value: record.le_u32()?,
            })
        };
        records.iter().filter_map(read).collect()
    }

    /// Collects the records of a tree.
    fn walk<'h>(&'h self, root: u32, records: &mut Vec<&'h [u8]>) -> Option<()> {
        let mut head = Cursor(self.get(root)?);
        let _kind = head.byte()?;
        let key_bytes = usize::from(head.byte()?);
        let data_bytes = usize::from(head.byte()?);
        let level = usize::from(head.byte()?).min(MAX_DEPTH);
        let mut open = vec![(head.le_u32()?, level)];
        while let Some((id, level)) = open.pop() {
            let record_bytes = if level == 0 {
                key_bytes + data_bytes
            } else {
                key_bytes + 4
            };
            for record in self.get(id)?.chunks_exact(record_bytes.max(1)) {
                if records.len() + open.len() >= MAX_RECORDS {
                    return None;
                }
                match level {
                    0 => records.push(record),
                    _ => open.push((Cursor(record.get(key_bytes..)?).le_u32()?, level - 1)),
                }
            }
        }
        Some(())
    }

    /// Returns the rows of a table, each as its properties.
    pub(super) fn rows(&self) -> Result<Vec<Vec<Property>>, Error> {
        let damaged = || Error::Malformed("a table is damaged".into());
        let head = self.get(self.root).ok_or_else(damaged)?;
        let table = Table::read(head).ok_or_else(damaged)?;
        let in_heap;
        let blocks = match self.part(table.rows) {
            Some(part) => self.store.data(part)?,
            None => {
                in_heap = self.get(table.rows).unwrap_or_default().to_vec();
                vec![in_heap]
            }
        };
        let mut rows = Vec::new();
        for block in &blocks {
            let of_block = block.chunks_exact(table.row_bytes);
            rows.extend(of_block.take(MAX_RECORDS - rows.len().min(MAX_RECORDS)));
        }
        Ok(rows.into_iter().map(|row| table.properties(row)).collect())
    }
}

/// A table's columns.
struct Table {
    rows: u32,
    row_bytes: usize,
    columns: Vec<Column>,
}

struct Column {
    tag: u16,
    kind: u16,
    at: usize,
    n_bytes: usize,
}

impl Table {
    fn read(head: &[u8]) -> Option<Self> {
        let mut head = Cursor(head);
        if head.byte()? != IS_TABLE {
            return None;
        }
        let n_columns = head.byte()?;
        head.take(6)?;
        let row_bytes = usize::from(head.le_u16()?).max(1);
        let _index = head.le_u32()?;
        let rows = head.le_u32()?;
        let _unused = head.le_u32()?;
        let mut columns = Vec::new();
        for _ in 0..n_columns {
            let (kind, tag) = (head.le_u16()?, head.le_u16()?);
            let at = usize::from(head.le_u16()?);
            let n_bytes = usize::from(head.byte()?);
            let _bit = head.byte()?;
            columns.push(Column {
                tag,
                kind,
                at,
                n_bytes,
            });
        }
        Some(Self {
            rows,
            row_bytes,
            columns,
        })
    }

    fn properties(&self, row: &[u8]) -> Vec<Property> {
        let read = |column: &Column| {
            let cell = row.get(column.at..)?.first_chunk()?;
            (column.n_bytes == 4).then_some(Property {
                tag: column.tag,
                kind: column.kind,
                value: u32::from_le_bytes(*cell),
            })
        };
        self.columns.iter().filter_map(read).collect()
    }
}

//! The revision store that OneNote keeps on disk (MS-ONESTORE 2.3 to 2.5): lists of nodes, in which each space of objects has its
//! revisions, and each revision the objects that it changed.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use ken_core::Encryption;

use super::object::{Guids, Id, References, Space, Stored};
use crate::Error;
use crate::structure::cursor::Cursor;

/// Where the reference to the first list is.
const ROOT_OFFSET: usize = 172;
const FRAGMENT: u64 = 0xa456_7ab1_f5f7_f4c4;
/// A list continues in this many fragments at most.
const MAX_FRAGMENTS: usize = 1 << 16;
/// A revision has this many GUIDs at most.
const MAX_GUIDS: usize = 1 << 16;

/// Kinds of nodes (MS-ONESTORE 2.4.3).
mod kind {
    pub(super) const ROOT_SPACE: u16 = 0x004;
    pub(super) const SPACE: u16 = 0x008;
    pub(super) const REVISIONS: u16 = 0x010;
    pub(super) const START_4: u16 = 0x01b;
    pub(super) const END: u16 = 0x01c;
    pub(super) const START_6: u16 = 0x01e;
    pub(super) const START_7: u16 = 0x01f;
    pub(super) const GUIDS_START: u16 = 0x021;
    pub(super) const GUIDS_START_2: u16 = 0x022;
    pub(super) const GUID: u16 = 0x024;
    pub(super) const GUID_AS_BEFORE: u16 = 0x025;
    pub(super) const GUIDS_AS_BEFORE: u16 = 0x026;
    pub(super) const OBJECT: u16 = 0x02d;
    pub(super) const OBJECT_LARGE: u16 = 0x02e;
    pub(super) const OBJECT_CHANGED: u16 = 0x041;
    pub(super) const OBJECT_CHANGED_LARGE: u16 = 0x042;
    pub(super) const ROOT_SHORT: u16 = 0x059;
    pub(super) const ROOT: u16 = 0x05a;
    pub(super) const ROLE: u16 = 0x05c;
    pub(super) const FILE: u16 = 0x072;
    pub(super) const FILE_LARGE: u16 = 0x073;
    pub(super) const KEY: u16 = 0x07c;
    pub(super) const FILES: u16 = 0x090;
    pub(super) const FILE_CONTENT: u16 = 0x094;
    pub(super) const OBJECT_2: u16 = 0x0a4;
    pub(super) const OBJECT_2_LARGE: u16 = 0x0a5;
    pub(super) const GROUP: u16 = 0x0b0;
    pub(super) const OBJECT_FIXED: u16 = 0x0c4;
    pub(super) const OBJECT_FIXED_LARGE: u16 = 0x0c5;
    pub(super) const LAST: u16 = 0x0ff;
}

/// The role of the revision that is shown.
const SHOWN: u32 = 1;

/// A part of the file.
#[derive(Clone, Copy)]
struct Chunk {
    offset: u64,
    n_bytes: u64,
}

struct Node<'a> {
    kind: u16,
    /// What the node refers to, if it begins with a reference.
    chunk: Option<Chunk>,
    data: Cursor<'a>,
}

/// A revision: what it changed, and which revision it changed.
struct Revision<'a> {
    before: Id,
    nodes: Vec<Node<'a>>,
}

pub(super) struct Desktop<'a> {
    bytes: &'a [u8],
    root: Id,
    spaces: HashMap<Id, Chunk>,
    /// The spaces in the order of the file.
    ids: Vec<Id>,
    files: HashMap<[u8; 16], &'a [u8]>,
    /// Offsets of the fragments that were read; each is read once.
    read: HashSet<u64>,
    /// Bytes of fragments that may still be read; hostile fragments overlap.
    left_to_read: usize,
    /// GUIDs that revisions may still take over from those before them.
    left_to_copy: usize,
    pub(super) is_whole: bool,
}

impl<'a> Desktop<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            root: Id::default(),
            spaces: HashMap::new(),
            ids: Vec::new(),
            files: HashMap::new(),
            read: HashSet::new(),
            left_to_read: bytes.len().saturating_mul(2),
            left_to_copy: bytes.len().saturating_mul(2),
            is_whole: true,
        }
    }

    pub(super) fn open(bytes: &'a [u8]) -> Result<Self, Error> {
        let damaged = || Error::Malformed("the first list of the revision store is damaged".into());
        let mut header = Cursor(bytes.get(ROOT_OFFSET..).ok_or_else(damaged)?);
        let root = Chunk {
            offset: header.le_u64().ok_or_else(damaged)?,
            n_bytes: header.le_u32().ok_or_else(damaged)?.into(),
        };
        let mut store = Self::new(bytes);
        let nodes = store.list(root);
        if nodes.is_empty() {
            return Err(damaged());
        }
        for mut node in nodes {
            match (node.kind, node.chunk) {
                (kind::ROOT_SPACE, _) => store.root = Id::read(&mut node.data).unwrap_or_default(),
                (kind::SPACE, Some(chunk)) => {
                    if let Some(id) = Id::read(&mut node.data)
                        && store.spaces.insert(id, chunk).is_none()
                    {
                        store.ids.push(id);
                    }
                }
                (kind::FILES, Some(chunk)) => store.read_files(chunk),
                _ => {}
            }
        }
        Ok(store)
    }

    pub(super) fn root(&self) -> Id {
        self.root
    }

    pub(super) fn ids(&self) -> Vec<Id> {
        self.ids.clone()
    }

    fn chunk(&self, chunk: Chunk) -> Option<&'a [u8]> {
        let start = usize::try_from(chunk.offset).ok()?;
        let end = start.checked_add(usize::try_from(chunk.n_bytes).ok()?)?;
        self.bytes.get(start..end)
    }

    /// Returns the nodes of a list, from all its fragments (MS-ONESTORE 2.4.1); none of a list that was read before.
    fn list(&mut self, first: Chunk) -> Vec<Node<'a>> {
        let mut nodes = Vec::new();
        let mut next = Some(first);
        for _ in 0..MAX_FRAGMENTS {
            let Some(chunk) = next else { break };
            let Some(fragment) = self.fragment(chunk) else {
                self.is_whole = false;
                break;
            };
            self.is_whole &= fragment.add_nodes(&mut nodes).is_some();
            next = fragment.next;
        }
        nodes
    }

    /// Returns a fragment that was not read before, unless those read so far are longer than the file twice.
    fn fragment(&mut self, chunk: Chunk) -> Option<Fragment<'a>> {
        let bytes = self.chunk(chunk)?;
        let fragment = Fragment::open(bytes)?;
        self.left_to_read = self.left_to_read.checked_sub(bytes.len())?;
        self.read.insert(chunk.offset).then_some(fragment)
    }

    /// Reads the contents of embedded files (MS-ONESTORE 2.5.21, 2.6.13).
    fn read_files(&mut self, chunk: Chunk) {
        for mut node in self.list(chunk) {
            if node.kind == kind::FILE_CONTENT
                && let Some(content) = node
                    .chunk
                    .and_then(|chunk| self.chunk(chunk))
                    .and_then(content)
                && let Some(guid) = node.data.take(16).and_then(|guid| guid.first_chunk())
            {
                self.files.insert(*guid, content);
            }
        }
    }

    /// Returns the objects of a space in the revision that is shown.
    ///
    /// # Errors
    /// Fails if the space is encrypted.
    pub(super) fn space(&mut self, id: &Id) -> Result<Option<Space<'a>>, Error> {
        let Some(chunk) = self.spaces.get(id).copied() else {
            return Ok(None);
        };
        // The last of several lists counts.
        let manifest = self.list(chunk);
        let mut lists = manifest.iter().filter(|node| node.kind == kind::REVISIONS);
        let Some(revisions) = lists.next_back().and_then(|node| node.chunk) else {
            return Ok(None);
        };
        let (mut revisions, shown) = revisions_of(self.list(revisions))?;
        let mut chain = Vec::new();
        let mut at = shown;
        while let Some(revision) = revisions.remove(&at) {
            at = revision.before;
            chain.push(revision);
        }
        self.is_whole &= at.is_none();
        let mut space = Space::default();
        let mut guids = Rc::default();
        for revision in chain.into_iter().rev() {
            guids = self.load(revision.nodes, &guids, &mut space, false);
        }
        Ok(Some(space))
    }

    /// Adds the objects that a revision or a group declares; returns its GUIDs. A group holds no groups.
    fn load(
        &mut self,
        nodes: Vec<Node<'a>>,
        before: &Rc<Guids>,
        space: &mut Space<'a>,
        is_group: bool,
    ) -> Rc<Guids> {
        let mut guids: Rc<Guids> = before.clone();
        for mut node in nodes {
            if node.kind == kind::GROUP {
                self.is_whole &= !is_group;
                if let Some(chunk) = node.chunk.filter(|_| !is_group) {
                    let nodes = self.list(chunk);
                    self.load(nodes, &Rc::default(), space, true);
                }
                continue;
            }
            let is_read = match node.kind {
                kind::GUIDS_START | kind::GUIDS_START_2 => {
                    guids = Rc::default();
                    Some(())
                }
                kind::GUID | kind::GUID_AS_BEFORE | kind::GUIDS_AS_BEFORE => {
                    // Objects that share the list were declared before its end.
                    Rc::get_mut(&mut guids).and_then(|guids| {
                        add_guids(&mut node, before, guids, &mut self.left_to_copy)
                    })
                }
                kind::ROOT | kind::ROOT_SHORT => add_root(&mut node, &guids, space),
                kind::FILE | kind::FILE_LARGE => self.add_file(&mut node, &guids, space),
                kind::OBJECT
                | kind::OBJECT_LARGE
                | kind::OBJECT_CHANGED
                | kind::OBJECT_CHANGED_LARGE
                | kind::OBJECT_2
                | kind::OBJECT_2_LARGE
                | kind::OBJECT_FIXED
                | kind::OBJECT_FIXED_LARGE => self.add_object(&mut node, &guids, space),
                _ => Some(()),
            };
            self.is_whole &= is_read.is_some();
        }
        guids
    }

    /// Adds an object with properties (MS-ONESTORE 2.5.23 to 2.5.26).
    fn add_object(
        &self,
        node: &mut Node<'a>,
        guids: &Rc<Guids>,
        space: &mut Space<'a>,
    ) -> Option<()> {
        let data = self.chunk(node.chunk?)?;
        let id = Id::of_compact(node.data.le_u32()?, guids)?;
        let class = match node.kind {
            kind::OBJECT_CHANGED | kind::OBJECT_CHANGED_LARGE => space.objects.get(&id)?.class,
            kind::OBJECT | kind::OBJECT_LARGE => (node.data.le_u32()? & 0x3ff) as u16,
            _ => (node.data.le_u32()? & 0xffff) as u16,
        };
        let stored = Stored {
            class,
            data,
            references: References::Short(guids.clone()),
            file: None,
        };
        space.objects.insert(id, stored);
        Some(())
    }

    /// Adds an object that is a file (MS-ONESTORE 2.5.27); a file beside the section is not read.
    fn add_file(
        &self,
        node: &mut Node<'a>,
        guids: &Rc<Guids>,
        space: &mut Space<'a>,
    ) -> Option<()> {
        let id = Id::of_compact(node.data.le_u32()?, guids)?;
        let class = (node.data.le_u32()? & 0xffff) as u16;
        node.data
            .take(if node.kind == kind::FILE { 1 } else { 4 })?;
        let n_units = node.data.le_u32()? as usize;
        let reference = node.data.take(n_units.checked_mul(2)?)?;
        let file = guid_within(reference).and_then(|guid| self.files.get(&guid).copied());
        let stored = Stored {
            class,
            data: &[],
            references: References::Short(guids.clone()),
            file,
        };
        space.objects.insert(id, stored);
        Some(())
    }
}

/// A fragment of a list of nodes.
struct Fragment<'a> {
    nodes: &'a [u8],
    next: Option<Chunk>,
}

impl<'a> Fragment<'a> {
    fn open(bytes: &'a [u8]) -> Option<Self> {
        const HEADER_BYTES: usize = 16;
        const FOOTER_BYTES: usize = 20;
        let mut header = Cursor(bytes);
        if header.le_u64()? != FRAGMENT {
            return None;
        }
        let end = bytes.len().checked_sub(FOOTER_BYTES)?;
        let mut footer = Cursor(bytes.get(end..)?);
        let next = Chunk {
            offset: footer.le_u64()?,
            n_bytes: footer.le_u32()?.into(),
        };
        let is_last = next.n_bytes == 0 || next.offset == u64::MAX || next.offset == 0;
        Some(Self {
            nodes: bytes.get(HEADER_BYTES..end)?,
            next: (!is_last).then_some(next),
        })
    }

    /// Adds the nodes (MS-ONESTORE 2.4.3); returns none if one is damaged.
    fn add_nodes(&self, nodes: &mut Vec<Node<'a>>) -> Option<()> {
        const HEADER_BYTES: usize = 4;
        let mut rest = Cursor(self.nodes);
        while rest.0.len() >= HEADER_BYTES {
            let header = rest.le_u32()?;
            let kind = (header & 0x3ff) as u16;
            if kind == 0 || kind == kind::LAST {
                break;
            }
            let n_bytes = (header >> 10 & 0x1fff) as usize;
            let mut data = Cursor(rest.take(n_bytes.checked_sub(HEADER_BYTES)?)?);
            let refers = header >> 27 & 0xf != 0;
            let chunk = match refers {
                true => chunk_of(&mut data, header >> 23 & 0x3, header >> 25 & 0x3)?,
                false => None,
            };
            nodes.push(Node { kind, chunk, data });
        }
        Some(())
    }
}

/// Reads a reference, whose offset and length have one of four forms each (MS-ONESTORE 2.2.4.2); none inside if it is nil.
fn chunk_of(data: &mut Cursor<'_>, offset_form: u32, length_form: u32) -> Option<Option<Chunk>> {
    let (offset, is_nil) = match offset_form {
        0 => data.le_u64().map(|offset| (offset, offset == u64::MAX))?,
        1 => data
            .le_u32()
            .map(|offset| (offset.into(), offset == u32::MAX))?,
        2 => data
            .le_u16()
            .map(|offset| (u64::from(offset) * 8, offset == u16::MAX))?,
        _ => data
            .le_u32()
            .map(|offset| (u64::from(offset) * 8, offset == u32::MAX))?,
    };
    let n_bytes = match length_form {
        0 => data.le_u32()?.into(),
        1 => data.le_u64()?,
        2 => u64::from(data.byte()?) * 8,
        _ => u64::from(data.le_u16()?) * 8,
    };
    Some((!is_nil).then_some(Chunk { offset, n_bytes }))
}

/// Returns the revisions in a list, and the name of the one that is shown (MS-ONESTORE 2.5.5 to 2.5.13). Former versions of a page have
/// a context; they are left out.
fn revisions_of(nodes: Vec<Node<'_>>) -> Result<(HashMap<Id, Revision<'_>>, Id), Error> {
    let mut revisions = HashMap::new();
    let mut shown = Id::default();
    let mut current: Option<(Id, Revision<'_>)> = None;
    for mut node in nodes {
        match node.kind {
            kind::KEY => return Err(Error::sealed(Encryption::UnknownMethod)),
            kind::START_4 | kind::START_6 | kind::START_7 => {
                revisions.extend(current.take());
                let Some((id, before, is_shown)) = start(&mut node) else {
                    continue;
                };
                if is_shown {
                    shown = id;
                }
                let nodes = Vec::new();
                current = Some((id, Revision { before, nodes }));
            }
            kind::END => revisions.extend(current.take()),
            kind::ROLE => {
                let id = Id::read(&mut node.data);
                if let (Some(id), Some(SHOWN)) = (id, node.data.le_u32()) {
                    shown = id;
                }
            }
            _ => {
                if let Some((_, revision)) = &mut current {
                    revision.nodes.push(node);
                }
            }
        }
    }
    revisions.extend(current);
    Ok((revisions, shown))
}

/// Returns the name of a revision, of the one before it, and whether it is shown.
fn start(node: &mut Node<'_>) -> Option<(Id, Id, bool)> {
    let data = &mut node.data;
    let id = Id::read(data)?;
    let before = Id::read(data)?;
    if node.kind == kind::START_4 {
        // The time of creation.
        data.le_u64()?;
    }
    let role = data.le_u32()?;
    data.le_u16()?;
    let has_context = node.kind == kind::START_7 && !Id::read(data)?.is_none();
    Some((id, before, role == SHOWN && !has_context))
}

/// Adds the first object of a role.
fn add_root(node: &mut Node<'_>, guids: &Guids, space: &mut Space<'_>) -> Option<()> {
    let id = match node.kind {
        kind::ROOT => Id::read(&mut node.data)?,
        _ => Id::of_compact(node.data.le_u32()?, guids)?,
    };
    space.roots.insert(node.data.le_u32()?, id);
    Some(())
}

/// Adds GUIDs to those of a revision, or some of the revision before it (MS-ONESTORE 2.5.10 to 2.5.12).
/// `left` more may be taken over.
fn add_guids(
    node: &mut Node<'_>,
    before: &Guids,
    guids: &mut Guids,
    left: &mut usize,
) -> Option<()> {
    let data = &mut node.data;
    if guids.len() >= MAX_GUIDS {
        return None;
    }
    let first = data.le_u32()?;
    match node.kind {
        kind::GUID => {
            guids.insert(first, *data.take(16)?.first_chunk()?);
        }
        kind::GUID_AS_BEFORE => {
            guids.insert(data.le_u32()?, *before.get(&first)?);
        }
        _ => {
            let (n_guids, to) = (data.le_u32()?, data.le_u32()?);
            *left = left.checked_sub(before.len())?;
            let shifted = before.iter().filter_map(|(index, guid)| {
                let step = index.checked_sub(first).filter(|step| *step < n_guids)?;
                Some((to.checked_add(step)?, *guid))
            });
            guids.extend(shifted);
        }
    }
    Some(())
}

/// Returns the content in a file's object (MS-ONESTORE 2.6.13).
fn content(object: &[u8]) -> Option<&[u8]> {
    let mut object = Cursor(object);
    object.take(16)?;
    let n_bytes = usize::try_from(object.le_u64()?).ok()?;
    object.take(12)?;
    object.take(n_bytes)
}

/// Returns the GUID in a reference to a file, `<ifndf>{00112233-4455-6677-8899-aabbccddeeff}` in UTF-16, in the order in which it is stored.
fn guid_within(reference: &[u8]) -> Option<[u8; 16]> {
    let text: Vec<u8> = reference.chunks_exact(2).map(|unit| unit[0]).collect();
    let start = memchr::memchr(b'{', &text)?;
    let digits: Vec<u8> = text[start..]
        .iter()
        .filter_map(|digit| char::from(*digit).to_digit(16))
        .map(|digit| digit as u8)
        .take(32)
        .collect();
    let mut guid = [0; 16];
    if digits.len() < 32 {
        return None;
    }
    for (byte, pair) in guid.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = pair[0] << 4 | pair[1];
    }
    guid[..4].reverse();
    guid[4..6].reverse();
    guid[6..8].reverse();
    Some(guid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_no_groups() {
        const FRAGMENT_BYTES: u32 = 48;
        const N_GROUPS: u32 = 100_000;
        // A reference of two times four bytes.
        let header = u32::from(kind::GROUP) | 12 << 10 | 1 << 23 | 2 << 27 | 1 << 31;
        let mut bytes = Vec::new();
        for number in 1..=N_GROUPS {
            bytes.extend(FRAGMENT.to_le_bytes());
            bytes.extend([0; 8]);
            for part in [header, number * FRAGMENT_BYTES, FRAGMENT_BYTES] {
                bytes.extend(part.to_le_bytes());
            }
            bytes.extend([0; 20]);
        }
        let mut store = Desktop::new(&bytes);
        let nodes = store.list(Chunk {
            offset: 0,
            n_bytes: FRAGMENT_BYTES.into(),
        });
        assert_eq!(nodes.len(), 1);
        store.load(nodes, &Rc::default(), &mut Space::default(), false);
        assert_eq!(store.read.len(), 2);
        assert!(!store.is_whole);
    }

    #[test]
    fn fragments_that_overlap_are_read_as_long_as_the_file_twice() {
        let bytes = FRAGMENT.to_le_bytes().repeat(100);
        let mut store = Desktop::new(&bytes);
        let mut is_read = |offset: u64| {
            let n_bytes = 800 - offset;
            store.fragment(Chunk { offset, n_bytes }).is_some()
        };
        assert_eq!([0, 8, 16].map(&mut is_read), [true, true, false]);
    }

    #[test]
    fn guids_are_taken_over_within_bounds() {
        let before: Guids = (0..10).map(|index| (index, [index as u8; 16])).collect();
        let range: Vec<u8> = [4_u32, 3, 20]
            .iter()
            .flat_map(|n| n.to_le_bytes())
            .collect();
        let mut guids = Guids::new();
        let mut left = 15;
        let mut take_over = || {
            let mut node = Node {
                kind: kind::GUIDS_AS_BEFORE,
                chunk: None,
                data: Cursor(&range),
            };
            add_guids(&mut node, &before, &mut guids, &mut left)
        };
        assert!(take_over().is_some());
        assert!(take_over().is_none());
        let mut indices: Vec<u32> = guids.into_keys().collect();
        indices.sort_unstable();
        assert_eq!(indices, [20, 21, 22]);
    }
}

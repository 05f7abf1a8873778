//! Writes a message of a store as an Outlook file: its properties, with recipients and attachments,
//! under the names of MS-OXMSG 2.4.

use super::ltp::{Heap, Property};
use super::ndb::{Node, Store};
use crate::Error;
use crate::formats::mail::msg::properties::tag;
use crate::structure::compound::rebuild::{Builder, STORAGE_ROOT};

/// The number of the table of recipients in a message.
const RECIPIENTS: u32 = 0x692;
/// The type of parts that are attachments.
const ATTACHMENT: u32 = 5;
/// Attached messages nested deeper are left out.
const MAX_DEPTH: usize = 8;
/// A message with more parts is an attack.
const MAX_PARTS: usize = 10_000;

/// Returns a message as a file, with the first damage if a part of it is missing.
///
/// # Errors
/// Fails if the message itself cannot be read.
pub(super) fn as_file(store: &Store<'_>, node: &Node) -> Result<(Vec<u8>, Option<Error>), Error> {
    let mut file = File {
        store,
        builder: Builder::new(),
        damage: None,
    };
    let message = file.noted(Heap::open(store, node)?);
    file.add_message(&message, STORAGE_ROOT, MAX_DEPTH);
    Ok((file.builder.finish(), file.damage))
}

/// The output for one message; unreadable parts are left out.
struct File<'a> {
    store: &'a Store<'a>,
    builder: Builder,
    damage: Option<Error>,
}

impl<'a> File<'a> {
    /// Returns the value of a successful result; notes the error of a failed one.
    fn kept<T>(&mut self, result: Result<T, Error>) -> Option<T> {
        match result {
            Ok(read) => Some(read),
            Err(error) => {
                // A passing error decides whether the store is read again.
                if self.damage.is_none() || error.is_passing() {
                    self.damage = Some(error);
                }
                None
            }
        }
    }

    /// Opens a part, if possible.
    fn open(&mut self, node: &Node) -> Option<Heap<'a>> {
        let heap = self.kept(Heap::open(self.store, node))?;
        Some(self.noted(heap))
    }

    /// Notes the damage of a heap.
    fn noted(&mut self, mut heap: Heap<'a>) -> Heap<'a> {
        if let Some(damage) = heap.damage.take() {
            self.kept::<()>(Err(damage));
        }
        heap
    }

    fn add_message(&mut self, heap: &Heap<'_>, storage: usize, depth: usize) {
        self.add_properties(heap, &heap.properties(), 32, storage);
        if let Some(table) = heap.part(RECIPIENTS) {
            self.add_recipients(table, storage);
        }
        let attachments = heap
            .parts
            .iter()
            .filter(|part| part.id & 0x1f == ATTACHMENT);
        for (number, part) in attachments.take(MAX_PARTS).enumerate() {
            // A damaged attachment counts too, so that the others keep their numbers.
            let name = format!("__attach_version1.0_#{number:08X}");
            let storage = self.builder.storage(storage, &name);
            if let Some(attachment) = self.open(part) {
                self.add_attachment(&attachment, storage, depth);
            }
        }
    }

    fn add_recipients(&mut self, table: &Node, storage: usize) {
        let Some(recipients) = self.open(table) else {
            return;
        };
        let rows = self.kept(recipients.rows()).unwrap_or_default();
        for (number, row) in rows.iter().take(MAX_PARTS).enumerate() {
            let name = format!("__recip_version1.0_#{number:08X}");
            let storage = self.builder.storage(storage, &name);
            self.add_properties(&recipients, row, 8, storage);
        }
    }

    fn add_attachment(&mut self, attachment: &Heap<'_>, storage: usize, depth: usize) {
        let properties = attachment.properties();
        self.add_properties(attachment, &properties, 8, storage);
        let object = properties
            .iter()
            .find(|property| property.tag == tag::ATTACH_DATA && property.kind == 0x0d);
        if let Some(object) = object
            && depth > 0
            && let Some(Some(inner)) = self.kept(attached(attachment, object))
            && let Some(inner) = self.open(&inner)
        {
            let storage = self.builder.storage(storage, "__substg1.0_3701000D");
            self.add_message(&inner, storage, depth - 1);
        }
    }

    /// Writes properties as [`crate::formats::mail::msg`] reads them.
    fn add_properties(
        &mut self,
        heap: &Heap<'_>,
        properties: &[Property],
        header_bytes: usize,
        storage: usize,
    ) {
        let mut numbers = vec![0; header_bytes];
        for property in properties
            .iter()
            .filter(|property| tag::is_used(property.tag))
        {
            let number = match property.kind {
                0x02 | 0x03 | 0x0b => u64::from(property.value),
                0x14 | 0x40 => {
                    let bytes = self.kept(heap.bytes(property.value)).unwrap_or_default();
                    match bytes.first_chunk() {
                        Some(bytes) => u64::from_le_bytes(*bytes),
                        None => continue,
                    }
                }
                0x1e | 0x1f | 0x102 => {
                    if let Some(bytes) = self.kept(heap.bytes(property.value)) {
                        let bytes = without_mark(property, bytes);
                        let name = format!("__substg1.0_{:04X}{:04X}", property.tag, property.kind);
                        self.builder.stream(storage, &name, bytes);
                    }
                    continue;
                }
                _ => continue,
            };
            numbers.extend(property.kind.to_le_bytes());
            numbers.extend(property.tag.to_le_bytes());
            numbers.extend([0; 4]);
            numbers.extend(number.to_le_bytes());
        }
        self.builder
            .stream(storage, "__properties_version1.0", numbers);
    }
}

/// Returns the part of an attachment that is a message.
fn attached(attachment: &Heap<'_>, object: &Property) -> Result<Option<Node>, Error> {
    let bytes = attachment.bytes(object.value)?;
    let Some(id) = bytes.first_chunk() else {
        return Ok(None);
    };
    Ok(attachment.part(u32::from_le_bytes(*id)).copied())
}

/// Returns a subject without the two leading characters that hold the length of its prefix (MS-PST
/// 2.5.3.1.1.1).
fn without_mark(property: &Property, mut bytes: Vec<u8>) -> Vec<u8> {
    if property.tag == tag::SUBJECT {
        let mark: &[u8] = if property.kind == 0x1f {
            b"\x01\0"
        } else {
            b"\x01"
        };
        if bytes.starts_with(mark) {
            bytes.drain(..(2 * mark.len()).min(bytes.len()));
        }
    }
    bytes
}

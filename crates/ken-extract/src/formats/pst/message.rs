//! A message of a store as a file of Outlook: its properties under the names that MS-OXMSG gives
//! them (2.4 there), with its recipients and attachments.

use super::super::msg::properties::tag;
use super::super::ole::rebuild::{Builder, STORAGE_ROOT};
use super::ltp::{Heap, Property};
use super::ndb::{Node, Store};
use crate::Error;

/// The number of the table of recipients in a message.
const RECIPIENTS: u32 = 0x692;
/// The sort of parts that are attachments.
const ATTACHMENT: u32 = 5;
/// Messages attached to each other deeper than that are left out.
const MAX_DEPTH: usize = 8;
/// A message with more of them is an attack.
const MAX_PARTS: usize = 10_000;

/// Returns a message as a file.
pub(super) fn as_file(store: &Store<'_>, node: &Node) -> Result<Vec<u8>, Error> {
    let mut builder = Builder::new();
    add_message(store, node, STORAGE_ROOT, MAX_DEPTH, &mut builder)?;
    Ok(builder.finish())
}

fn add_message(
    store: &Store<'_>,
    node: &Node,
    storage: usize,
    depth: usize,
    builder: &mut Builder,
) -> Result<(), Error> {
    let heap = Heap::open(store, node)?;
    add_properties(&heap, &heap.properties(), 32, storage, builder)?;
    if let Some(table) = heap.part(RECIPIENTS) {
        let recipients = Heap::open(store, table)?;
        for (number, row) in recipients.rows()?.iter().take(MAX_PARTS).enumerate() {
            let storage = builder.storage(storage, &format!("__recip_version1.0_#{number:08X}"));
            add_properties(&recipients, row, 8, storage, builder)?;
        }
    }
    let attachments = heap
        .parts
        .iter()
        .filter(|part| part.id & 0x1f == ATTACHMENT);
    for (number, part) in attachments.take(MAX_PARTS).enumerate() {
        let attachment = Heap::open(store, part)?;
        let properties = attachment.properties();
        let storage = builder.storage(storage, &format!("__attach_version1.0_#{number:08X}"));
        add_properties(&attachment, &properties, 8, storage, builder)?;
        let object = properties
            .iter()
            .find(|property| property.tag == tag::ATTACH_DATA && property.kind == 0x0d);
        if let Some(object) = object
            && depth > 0
            && let Some(inner) = attached(&attachment, object)?
        {
            let storage = builder.storage(storage, "__substg1.0_3701000D");
            add_message(store, &inner, storage, depth - 1, builder)?;
        }
    }
    Ok(())
}

/// Returns the part of an attachment that is a message.
fn attached(attachment: &Heap<'_>, object: &Property) -> Result<Option<Node>, Error> {
    let bytes = attachment.bytes(object.value)?;
    let Some(id) = bytes.first_chunk() else {
        return Ok(None);
    };
    Ok(attachment.part(u32::from_le_bytes(*id)).copied())
}

/// Writes properties as [`super::super::msg`] reads them.
fn add_properties(
    heap: &Heap<'_>,
    properties: &[Property],
    header_bytes: usize,
    storage: usize,
    builder: &mut Builder,
) -> Result<(), Error> {
    let mut numbers = vec![0; header_bytes];
    for property in properties
        .iter()
        .filter(|property| tag::is_used(property.tag))
    {
        let number = match property.kind {
            0x02 | 0x03 | 0x0b => u64::from(property.value),
            0x14 | 0x40 => match heap.bytes(property.value)?.first_chunk() {
                Some(bytes) => u64::from_le_bytes(*bytes),
                None => continue,
            },
            0x1e | 0x1f | 0x102 => {
                let bytes = without_mark(property, heap.bytes(property.value)?);
                let name = format!("__substg1.0_{:04X}{:04X}", property.tag, property.kind);
                builder.stream(storage, &name, bytes);
                continue;
            }
            _ => continue,
        };
        numbers.extend(property.kind.to_le_bytes());
        numbers.extend(property.tag.to_le_bytes());
        numbers.extend([0; 4]);
        numbers.extend(number.to_le_bytes());
    }
    builder.stream(storage, "__properties_version1.0", numbers);
    Ok(())
}

/// Returns a subject without the two characters before it that tell the length of its prefix
/// (MS-PST 2.5.3.1.1.1).
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

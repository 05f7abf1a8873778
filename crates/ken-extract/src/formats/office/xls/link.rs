//! The target of a link (MS-OSHARED 2.3.7.1), in the record HLINK.

use crate::structure::cursor::Cursor;
use crate::text::{code_page, names};

const HAS_MONIKER: u32 = 0x01;
const HAS_DISPLAY_NAME: u32 = 0x10;
const HAS_FRAME_NAME: u32 = 0x80;
const IS_STRING: u32 = 0x100;
/// The identifier of an address, and of a path.
const URL: &[u8] = b"\xe0\xc9\xea\x79\xf9\xba\xce\x11\x8c\x82\x00\xaa\x00\x4b\xa9\x0b";
const FILE: &[u8] = b"\x03\x03\x00\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x46";

/// Returns the target in a record; none if it is a place in the workbook.
pub(super) fn target(record: &[u8]) -> Option<String> {
    // The cells and an identifier come first.
    let mut data = Cursor(record.get(24..)?);
    let _version = data.le_u32()?;
    let flags = data.le_u32()?;
    for name in [HAS_DISPLAY_NAME, HAS_FRAME_NAME] {
        if flags & name != 0 {
            units(&mut data)?;
        }
    }
    if flags & HAS_MONIKER == 0 {
        return None;
    }
    if flags & IS_STRING != 0 {
        return units(&mut data);
    }
    match data.take(16)? {
        URL => {
            let length = data.le_u32()? as usize;
            let address = data.take(length.min(data.0.len()))?;
            Some(until_zero(&code_page::utf16(address)))
        }
        FILE => {
            let _levels = data.le_u16()?;
            let length = data.le_u32()? as usize;
            Some(until_zero(&names::decode(data.take(length)?)))
        }
        _ => None,
    }
    .filter(|target| !target.is_empty())
}

fn units(data: &mut Cursor<'_>) -> Option<String> {
    let length = data.le_u32()? as usize;
    Some(until_zero(&code_page::utf16(
        data.take(length.checked_mul(2)?)?,
    )))
}

fn until_zero(text: &str) -> String {
    text.split('\0').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(flags: u32, rest: &[&[u8]]) -> Vec<u8> {
        let mut record = vec![0; 24];
        record.extend(2_u32.to_le_bytes());
        record.extend(flags.to_le_bytes());
        record.extend(rest.concat());
        record
    }

    fn wide(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn targets_are_addresses_or_paths() {
        let label = [&2_u32.to_le_bytes()[..], &wide("x\0")].concat();
        let address = wide("https://example.org\0");
        let length = (address.len() as u32).to_le_bytes();
        let url = record(0x13, &[&label, URL, &length, &address]);
        assert_eq!(target(&url).as_deref(), Some("https://example.org"));
        let file = record(1, &[FILE, &[0, 0, 6, 0, 0, 0], b"a.doc\0"]);
        assert_eq!(target(&file).as_deref(), Some("a.doc"));
        let string = record(0x101, &[&[3, 0, 0, 0], &wide("b/\0")]);
        assert_eq!(target(&string).as_deref(), Some("b/"));
        assert_eq!(target(&record(8, &[])), None);
        assert_eq!(target(&url[..60]), None);
    }
}

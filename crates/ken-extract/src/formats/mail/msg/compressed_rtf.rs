//! Compressed RTF (MS-OXRTFCP): repetitions refer to the last 4 KiB, which initially hold text that
//! every RTF of Outlook contains.

use crate::structure::cursor::Cursor;

const DICTIONARY: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \
\\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\
\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";
const WINDOW: usize = 4096;
const COMPRESSED: &[u8] = b"LZFu";
const STORED: &[u8] = b"MELA";

/// Unpacks RTF; a cut file is unpacked as far as possible.
pub(super) fn unpack(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut cursor = Cursor(bytes);
    let _packed_bytes = cursor.le_u32()?;
    let n_bytes = cursor.le_u32()? as usize;
    let kind = cursor.take(4)?;
    let _checksum = cursor.le_u32()?;
    if kind == STORED {
        return Some(cursor.0[..n_bytes.min(cursor.0.len())].to_vec());
    }
    (kind == COMPRESSED).then(|| {
        let mut unpacked = Vec::new();
        // Each two bytes yield at most 17, so the length of the input bounds that of the output.
        let _ = inflate(&mut cursor, &mut unpacked);
        unpacked.truncate(n_bytes);
        unpacked
    })
}

/// Unpacks until the end of the data, or until they are cut off.
fn inflate(cursor: &mut Cursor<'_>, unpacked: &mut Vec<u8>) -> Option<()> {
    let mut window = [b' '; WINDOW];
    window[..DICTIONARY.len()].copy_from_slice(DICTIONARY);
    let mut end = DICTIONARY.len();
    loop {
        let flags = cursor.byte()?;
        for bit in 0..8 {
            if flags >> bit & 1 == 0 {
                let byte = cursor.byte()?;
                unpacked.push(byte);
                window[end] = byte;
                end = (end + 1) % WINDOW;
                continue;
            }
            let reference = usize::from(cursor.be_u16()?);
            let start = reference >> 4;
            if start == end {
                return Some(());
            }
            for step in 0..(reference & 15) + 2 {
                let byte = window[(start + step) % WINDOW];
                unpacked.push(byte);
                window[end] = byte;
                end = (end + 1) % WINDOW;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_specification_is_unpacked() {
        // MS-OXRTFCP 3.1.1 and 3.1.2.
        let packed = b"\x2d\0\0\0\x2b\0\0\0LZFu\xf1\xc5\xc7\xa7\x03\0\x0a\0rcpg125\x42\x32\x0a\xf3\
                       \x20hel\x09\0\x20bw\x05\xb0ld}\x0a\x80\x0f\xa0";
        let rtf = b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n";
        assert_eq!(unpack(packed).unwrap(), rtf);
        let crossing =
            b"\x1a\0\0\0\x1c\0\0\0LZFu\xe2\xd4\x4b\x51\x41\0\x04\x20WXYZ\x0d\x6e\x7d\x01\
                         \x0e\xb0";
        assert_eq!(unpack(crossing).unwrap(), b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}");
        assert_eq!(
            unpack(&packed[..40]).unwrap(),
            b"{\\rtf1\\ansi\\ansicpg1252\\pard hello w"
        );
        assert_eq!(DICTIONARY.len(), 207);
    }

    #[test]
    fn stored_rtf_is_returned_as_it_is() {
        assert_eq!(
            unpack(b"\0\0\0\0\x03\0\0\0MELA\0\0\0\0abcd").unwrap(),
            b"abc"
        );
        assert_eq!(unpack(b"\0\0\0\0\x03\0\0\0ABCD\0\0\0\0abcd"), None);
        assert_eq!(unpack(b"\0\0\0\0"), None);
    }
}

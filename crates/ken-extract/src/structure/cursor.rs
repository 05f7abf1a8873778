//! A cursor over bytes, in either byte order; its methods return `None` when the bytes end.

/// Returns the byte that three octal digits encode, as after a backslash in PostScript and DjVu,
/// and the rest.
pub(crate) fn octal(bytes: &[u8]) -> Option<(u8, &[u8])> {
    match bytes {
        [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..] => {
            Some(((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'), rest))
        }
        _ => None,
    }
}

/// The bytes that are not read yet.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl<'a> Cursor<'a> {
    /// Returns the next bytes.
    pub(crate) fn take(&mut self, n_bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n_bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    pub(crate) fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    pub(crate) fn be_u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn be_u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn be_u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// Returns a big-endian number of up to eight bytes.
    pub(crate) fn be_number(&mut self, n_bytes: usize) -> Option<u64> {
        let bytes = self.take(n_bytes)?;
        Some(
            bytes
                .iter()
                .fold(0, |number, &byte| number << 8 | u64::from(byte)),
        )
    }

    pub(crate) fn le_u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn le_u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn le_u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_until_the_bytes_end() {
        let mut cursor = Cursor(&[1, 2, 3, 4, 5, 6, 7, 8, 9]);
        assert_eq!(cursor.byte(), Some(1));
        assert_eq!(cursor.be_u16(), Some(0x0203));
        assert_eq!(cursor.clone().be_number(3), Some(0x0004_0506));
        assert_eq!(cursor.le_u32(), Some(0x0706_0504));
        assert_eq!(cursor.be_u32(), None);
        assert_eq!(cursor.take(2), Some(&[8, 9][..]));
        assert_eq!(cursor.take(1), None);
    }
}

//! Columns of numbers, each with as many bytes per number as its greatest one needs.

/// Number of bits of a [`Width`].
pub(super) const BITS: u32 = 2;

/// The size of each number in a column: 0, 1, 2 or 4 bytes, by the values of [`BITS`].
#[derive(Clone, Copy)]
pub(super) struct Width(u8);

impl Width {
    /// Returns the width for the greatest number.
    #[inline]
    pub(super) fn of(column: &[u32]) -> Self {
        Self(match column.iter().fold(0, |bits, number| bits | number) {
            0 => 0,
            1..=0xff => 1,
            0x100..=0xffff => 2,
            _ => 3,
        })
    }

    /// Returns the width in the lowest bits.
    pub(super) fn from_bits(bits: u8) -> Self {
        Self(bits & ((1 << BITS) - 1))
    }

    pub(super) fn bits(self) -> u8 {
        self.0
    }

    /// Returns the size of a number in bytes.
    pub(super) fn n_bytes(self) -> usize {
        (1 << self.0) >> 1
    }

    #[inline]
    pub(super) fn put(self, column: &[u32], out: &mut Vec<u8>) {
        match self.0 {
            0 => {}
            1 => put::<1>(column, out),
            2 => put::<2>(column, out),
            _ => put::<4>(column, out),
        }
    }

    /// Reads numbers from their bytes.
    #[inline]
    pub(super) fn take(self, bytes: &[u8], numbers: &mut [u32]) {
        match self.0 {
            0 => numbers.fill(0),
            1 => take::<1>(bytes, numbers),
            2 => take::<2>(bytes, numbers),
            _ => take::<4>(bytes, numbers),
        }
    }
}

#[inline]
fn put<const N: usize>(column: &[u32], out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + column.len() * N, 0);
    let slots = out[start..].as_chunks_mut::<N>().0;
    for (slot, number) in slots.iter_mut().zip(column) {
        slot.copy_from_slice(&number.to_le_bytes()[..N]);
    }
}

#[inline]
fn take<const N: usize>(bytes: &[u8], numbers: &mut [u32]) {
    for (number, bytes) in numbers.iter_mut().zip(bytes.as_chunks::<N>().0) {
        let mut whole = [0; size_of::<u32>()];
        whole[..N].copy_from_slice(bytes);
        *number = u32::from_le_bytes(whole);
    }
}

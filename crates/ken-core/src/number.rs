//! Numbers as stored in the files next to the index, and tables that are sorted by a hash.

/// Returns the 8 bytes at an offset as a number, lowest byte first; 0 if there are fewer.
pub fn number_at(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes.get(at..).and_then(|bytes| bytes.first_chunk::<8>());
    bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

/// Appends a number with 7 bits in each byte, lowest first.
#[inline]
pub fn put_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number that [`put_number`] wrote; `None` if the bytes end too early.
#[inline]
pub fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    // Most numbers have one byte.
    let (first, rest) = bytes.split_first()?;
    if *first < 0x80 {
        *bytes = rest;
        return Some((*first).into());
    }
    take_long_number(bytes)
}

fn take_long_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// The number of guesses at the position of a row before the search begins.
const GUESSES: usize = 2;
/// The number of rows around the guess that are compared at once, without unpredictable branches. In tables of up to
/// some millions of rows they include the row in more than half of all cases.
const NEAR: usize = 8;

/// Returns the number of the first row whose hash is not less than `hash`. The table is sorted by the hashes at the
/// start of its rows.
///
/// Hashes are spread evenly, so the size of a hash gives its approximate position, and the hash found there gives the
/// distance that remains. In a table of 78,000 rows this reads two rows and the eight adjacent rows around the third
/// position, where a binary search reads seventeen.
pub fn first_from<const ROW: usize>(rows: &[[u8; ROW]], hash: u64) -> usize {
    let mut index = distance(rows, hash);
    (0..GUESSES).for_each(|_| index = nearer(rows, hash, index));
    first_near(rows, hash, index)
}

/// Puts the [`first_from`] of each hash in `indexes`. All searches wait for the memory of the table together, not one
/// after the other.
pub fn first_from_each<const ROW: usize>(
    rows: &[[u8; ROW]],
    hashes: &[u64],
    indexes: &mut Vec<usize>,
) {
    let first = indexes.len();
    indexes.extend(hashes.iter().map(|hash| distance(rows, *hash)));
    let indexes = &mut indexes[first..];
    for _ in 0..GUESSES {
        for (index, hash) in indexes.iter_mut().zip(hashes) {
            *index = nearer(rows, *hash, *index);
        }
    }
    for (index, hash) in indexes.iter_mut().zip(hashes) {
        *index = first_near(rows, *hash, *index);
    }
}

/// Returns the expected number of rows between hashes with this difference.
fn distance<const ROW: usize>(rows: &[[u8; ROW]], difference: u64) -> usize {
    ((u128::from(difference) * rows.len() as u128) >> 64) as usize
}

/// Returns a better guess, by the hash at the current one.
fn nearer<const ROW: usize>(rows: &[[u8; ROW]], hash: u64, guess: usize) -> usize {
    let Some(row) = rows.get(guess) else {
        return guess;
    };
    let there = number_at(row, 0);
    let distance = distance(rows, there.abs_diff(hash));
    match there < hash {
        true => (guess + distance).min(rows.len() - 1),
        false => guess.saturating_sub(distance),
    }
}

/// Searches for a hash near a guess.
fn first_near<const ROW: usize>(rows: &[[u8; ROW]], hash: u64, guess: usize) -> usize {
    let last = rows.len().saturating_sub(NEAR);
    let start = guess.saturating_sub(NEAR / 2).min(last);
    if let Some(near) = rows.get(start..).and_then(<[_]>::first_chunk::<NEAR>) {
        let less = near.iter().filter(|row| number_at(*row, 0) < hash);
        let n_less = less.count();
        if (n_less > 0 || start == 0) && (n_less < NEAR || start == last) {
            return start + n_less;
        }
    }
    first_far(rows, hash, guess)
}

/// Searches for a hash from a guess on, in steps that grow.
#[cold]
fn first_far<const ROW: usize>(rows: &[[u8; ROW]], hash: u64, guess: usize) -> usize {
    let hash_of = |row: usize| number_at(&rows[row], 0);
    let (mut low, mut high, mut step) = (guess, guess, 2);
    while low > 0 && hash_of(low) >= hash {
        (high, low) = (low, low.saturating_sub(step));
        step *= 2;
    }
    while high < rows.len() && hash_of(high) < hash {
        (low, high) = (high, (high + step).min(rows.len()));
        step *= 2;
    }
    let between = rows.get(low..high).unwrap_or_default();
    low + between.partition_point(|row| number_at(row, 0) < hash)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_read_as_written(numbers: Vec<u64>) {
            let mut bytes = Vec::new();
            numbers.iter().for_each(|number| put_number(*number, &mut bytes));
            let mut left = bytes.as_slice();
            let read: Vec<u64> = std::iter::from_fn(|| take_number(&mut left)).collect();
            prop_assert_eq!(read, numbers);
        }

        /// Hashes are spread evenly, but those of a damaged or tiny table may not be.
        #[test]
        fn rows_are_found_however_they_are_spread(
            mut hashes in prop::collection::vec(prop_oneof![any::<u64>(), 0..20_u64, Just(u64::MAX)], 0..300),
            asked in prop_oneof![any::<u64>(), 0..22_u64, Just(u64::MAX)],
        ) {
            hashes.sort_unstable();
            let rows: Vec<[u8; 8]> = hashes.iter().map(|hash| hash.to_le_bytes()).collect();
            let all: Vec<u64> = hashes.iter().copied().chain([asked]).collect();
            let mut indexes = vec![7];
            first_from_each(&rows, &all, &mut indexes);
            prop_assert_eq!(indexes[0], 7);
            for (hash, index) in all.iter().zip(&indexes[1..]) {
                let expected = hashes.partition_point(|other| other < hash);
                prop_assert_eq!((first_from(&rows, *hash), *index), (expected, expected));
            }
        }

        /// The guess may be arbitrarily bad.
        #[test]
        fn rows_are_found_from_every_guess(
            mut hashes in prop::collection::vec(0..12_u64, 0..40), asked in 0..14_u64,
        ) {
            hashes.sort_unstable();
            let rows: Vec<[u8; 8]> = hashes.iter().map(|hash| hash.to_le_bytes()).collect();
            let expected = hashes.partition_point(|other| *other < asked);
            for guess in 0..rows.len() {
                prop_assert_eq!(first_near(&rows, asked, guess), expected);
            }
        }

        #[test]
        fn a_damaged_table_leads_nowhere_else(
            hashes: Vec<u64>, small in prop::collection::vec(0..9_u64, 0..40), asked: u64,
        ) {
            for (hashes, asked) in [(hashes, asked), (small, asked % 11)] {
                let rows: Vec<[u8; 8]> = hashes.iter().map(|hash| hash.to_le_bytes()).collect();
                prop_assert!(first_from(&rows, asked) <= rows.len());
            }
        }
    }
}

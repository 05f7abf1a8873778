//! Archives that contain themselves, which would be unpacked for ever without limits.
//!
//! They are built here by the method of Russ Cox ("Zip Files All The Way Down", 2010): deflate as a
//! language with two commands, to print the bytes that follow and to repeat bytes that were
//! printed. A checksum over data that contain the checksum is no obstacle: CRC-32 is linear, so 32
//! equations yield it.

use flate2::Crc;
use ken_core::{Document, Reason};
use ken_extract::{Input, Limits, extract_all};

/// Returns a byte-aligned run of deflate that prints `n_bytes`.
fn print(n_bytes: usize) -> Vec<u8> {
    let length = (n_bytes as u16).to_le_bytes();
    vec![0, length[0], length[1], !length[0], !length[1]]
}

/// Bits, lowest first.
#[derive(Default)]
struct Bits(Vec<bool>);

impl Bits {
    fn number(&mut self, value: usize, n_bits: usize) {
        self.0.extend((0..n_bits).map(|n| value >> n & 1 == 1));
    }

    /// Adds a Huffman code, which begins with its highest bit.
    fn code(&mut self, value: usize, n_bits: usize) {
        self.0
            .extend((0..n_bits).rev().map(|n| value >> n & 1 == 1));
    }

    /// Copies bytes from `distance` before.
    fn copy(&mut self, length: usize, distance: usize) {
        let (symbol, base, extra) = match length {
            3..=10 => (254 + length, length, 0),
            35..=42 => (273, 35, 3),
            83..=98 => (278, 83, 4),
            _ => panic!("no code for {length}"),
        };
        self.code(symbol - 256, 7);
        self.number(length - base, extra);
        let (symbol, base, extra) = match distance {
            17..=24 => (8, 17, 3),
            33..=48 => (10, 33, 4),
            65..=96 => (12, 65, 5),
            _ => panic!("no code for {distance}"),
        };
        self.code(symbol, 5);
        self.number(distance - base, extra);
    }

    fn bytes(mut self, n_bytes: usize) -> Vec<u8> {
        // The header of the next block begins with zeros, and may do so here.
        assert!(8 * n_bytes - self.0.len() <= 2, "{}", self.0.len());
        self.0.resize(8 * n_bytes, false);
        let byte = |bits: &[bool]| (0..8).fold(0, |byte, n| byte | u8::from(bits[n]) << n);
        self.0.chunks(8).map(byte).collect()
    }
}

/// Returns five bytes that repeat the last `n_bytes`.
fn repeat(n_bytes: usize) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.number(0b010, 3);
    if n_bytes <= 20 {
        bits.copy(n_bytes / 2, n_bytes);
        bits.copy(n_bytes - n_bytes / 2, n_bytes);
        bits.code(0, 7);
    } else {
        bits.copy(n_bytes, n_bytes);
        bits.code(0, 7);
        // An empty block as padding.
        bits.number(0b010, 3);
        bits.code(0, 7);
    }
    bits.bytes(5)
}

/// Returns nine bytes that repeat the last `n_bytes` and end with a block that prints nothing.
fn repeat_many(n_bytes: usize) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.number(0b010, 3);
    bits.copy(n_bytes, n_bytes);
    bits.code(0, 7);
    bits.number(0, 3);
    bits.0.resize(40, false);
    let mut bytes = bits.bytes(5);
    bytes.extend(&print(0)[1..]);
    bytes
}

/// Ends the stream and prints nothing.
const END: [u8; 5] = [1, 0, 0, 0xff, 0xff];

/// Returns a deflate stream that prints `head`, itself and `tail`.
fn quine(head: &[u8], tail: &[u8]) -> Vec<u8> {
    let tail = [&END, tail].concat();
    let with_head = head.len() + 5;
    let last = match tail.len() + 5 {
        n @ 17..=20 => repeat(n),
        _ => repeat_many(tail.len() + 9),
    };
    let with_tail = last.len() + tail.len();
    let (print_head, repeat_head) = (print(with_head), repeat(with_head));
    let (print_1, print_4, repeat_4) = (print(5), print(20), repeat(20));
    let (print_0, print_tail) = (print(0), print(with_tail));
    let parts: &[&[u8]] = &[
        head,
        &print_head,
        head,
        &print_head,  // prints the head and what printed it
        &repeat_head, // again
        &print_1,
        &repeat_head,
        &print_1,
        &print_1,
        &print_4,
        &repeat_head,
        &print_1,
        &print_1,
        &print_4,
        &repeat_4,
        &print_4,
        &repeat_4,
        &print_4,
        &repeat_4,
        &print_4,
        &repeat_4,
        &print_4,
        &repeat_4,
        &print_0,
        &print_0,
        &print_tail,
        &repeat_4,
        &print_0,
        &print_0,
        &print_tail,
        &last,
        &tail,
        &last,
        &tail,
    ];
    parts.concat()
}

/// Returns the file whose checksum is the one that it holds; `file` makes it of a checksum.
fn with_own_checksum(file: impl Fn(u32) -> Vec<u8>) -> Vec<u8> {
    let crc = |checksum: u32| {
        let mut crc = Crc::new();
        crc.update(&file(checksum));
        crc.sum()
    };
    // crc(x) = base ^ A x; wanted is x with (A ^ 1) x = base. A row: its bits of x, then of base.
    let base = crc(0);
    let columns: Vec<u32> = (0..32).map(|bit| crc(1 << bit) ^ base ^ 1 << bit).collect();
    let mut rows: Vec<u64> = (0..32)
        .map(|row| {
            let bits = columns.iter().enumerate();
            let left = bits.fold(0, |left, (at, column)| {
                left | u64::from(column >> row & 1) << at
            });
            left | u64::from(base >> row & 1) << 32
        })
        .collect();
    for at in 0..32 {
        let pivot = (at..32).find(|&row| rows[row] >> at & 1 == 1);
        rows.swap(
            at,
            pivot.expect("equations that can be solved; change the name"),
        );
        for row in 0..32 {
            if row != at && rows[row] >> at & 1 == 1 {
                rows[row] ^= rows[at];
            }
        }
    }
    let checksum = (0..32).fold(0, |sum, at| sum | ((rows[at] >> 32 & 1) as u32) << at);
    assert_eq!(crc(checksum), checksum);
    file(checksum)
}

/// A gzip file that unpacks to itself.
fn gzip() -> Vec<u8> {
    let head = b"\x1f\x8b\x08\x08\0\0\0\0\0\xffq.gz\0";
    let file = |checksum: u32, size: u32| {
        let tail = [checksum.to_le_bytes(), size.to_le_bytes()].concat();
        quine(head, &tail)
    };
    let size = file(0, 0).len() as u32;
    with_own_checksum(|checksum| file(checksum, size))
}

/// A zip archive whose only member is itself.
fn zip() -> Vec<u8> {
    let name = b"q.zip";
    let file = |checksum: u32, size: u32| {
        // Version, flags, method, time, date; then checksum and sizes.
        let packed = size.saturating_sub(35 + 51 + 22);
        let mut entry = vec![20, 0, 0, 0, 8, 0, 0, 0, 0x21, 0x5c];
        for number in [checksum, packed, size] {
            entry.extend(number.to_le_bytes());
        }
        entry.extend([name.len() as u8, 0, 0, 0]);
        let head = [b"PK\x03\x04", &entry[..], name].concat();
        let central = [b"PK\x01\x02\x14\0", &entry[..], &[0; 14], name].concat();
        let at = size.saturating_sub(51 + 22);
        let mut tail = central;
        tail.extend(b"PK\x05\x06\0\0\0\0\x01\0\x01\0");
        tail.extend(51_u32.to_le_bytes());
        tail.extend(at.to_le_bytes());
        tail.extend([0, 0]);
        quine(&head, &tail)
    };
    let size = file(0, 0).len() as u32;
    with_own_checksum(|checksum| file(checksum, size))
}

fn documents(name: &str, bytes: &[u8]) -> Vec<Document> {
    let mut documents = Vec::new();
    let mut input = Input::bytes_of(name, bytes);
    extract_all(&mut input, &Limits::default(), &mut |document| {
        documents.push(document);
    });
    documents
}

#[test]
fn a_gzip_file_that_unpacks_to_itself_ends_with_its_limit() {
    use std::io::Read;
    let quine = gzip();
    let mut unpacked = Vec::new();
    let mut decoder = flate2::read::GzDecoder::new(&quine[..]);
    decoder.read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, quine);
    let documents = documents("q.gz", &quine);
    assert_eq!(documents.len(), 1);
    let failure = documents[0].failure.as_ref().unwrap();
    assert_eq!(failure.reason(), Reason::Limit);
    assert!(format!("{failure:?}").contains("more than 4 times"));
}

#[test]
fn a_zip_archive_that_holds_itself_ends_with_its_limit() {
    use std::io::Read;
    let quine = zip();
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(&quine)).unwrap();
    let mut unpacked = Vec::new();
    let mut member = archive.by_index(0).unwrap();
    member.read_to_end(&mut unpacked).unwrap();
    assert_eq!(unpacked, quine);
    let documents = documents("q.zip", &quine);
    let max_depth = Limits::default().max_depth;
    assert_eq!(documents.len(), max_depth + 1);
    let failed: Vec<_> = documents.iter().filter(|d| d.failure.is_some()).collect();
    assert_eq!(failed.len(), 1);
    assert_eq!(failed[0].ipath.depth(), max_depth);
    let failure = failed[0].failure.as_ref().unwrap();
    assert_eq!(failure.reason(), Reason::Limit);
    assert!(format!("{failure:?}").contains("MaxDepth"), "{failure:?}");
}

//! Generates the table of common trigrams: those in more than 5 % of the files, as the mean over
//! kinds of text.
//!
//! `cargo run --release -p ken-ngram --example common LIST… > crates/ken-ngram/src/common.bin`
//!
//! Each list names the files of one kind, one on each line. The table in use was made from up to
//! 1,500 files each of C, Go, HTML, Java, JavaScript, mail, Markdown, Python, Rust, shell and Perl,
//! and plain text; they did not include files of the tree that grep is measured on. The table is
//! part of the format.

use std::io::{self, Write};

const SHARE: f64 = 0.05;
/// Maximum size of a file: larger ones contain everything.
const MAX_BYTES: usize = 60_000;
const MIN_BYTES: usize = 300;

fn main() -> io::Result<()> {
    let lists: Vec<String> = std::env::args().skip(1).collect();
    let mut mean = vec![0_f64; 1 << 24];
    for list in &lists {
        let mut n_files = 0;
        let mut counts = vec![0_u32; 1 << 24];
        for path in fs_err::read_to_string(list)?.lines() {
            // A link may be dangling.
            let Ok(text) = fs_err::read(path) else {
                continue;
            };
            let text = &text[..text.len().min(MAX_BYTES)];
            let text = &text[..memchr::memchr(0, text).unwrap_or(text.len())];
            if text.len() < MIN_BYTES {
                continue;
            }
            n_files += 1;
            let number = |bytes: &[u8]| {
                bytes
                    .iter()
                    .fold(0, |all, byte| all << 8 | usize::from(*byte))
            };
            let mut trigrams: Vec<_> = text.windows(3).map(number).collect();
            trigrams.sort_unstable();
            trigrams.dedup();
            for trigram in trigrams {
                counts[trigram] += 1;
            }
        }
        for (mean, count) in mean.iter_mut().zip(counts) {
            *mean += f64::from(count) / f64::from(n_files.max(1)) / lists.len() as f64;
        }
    }
    let mut out = io::stdout().lock();
    for (trigram, _) in (0_u32..).zip(mean).filter(|(_, mean)| *mean > SHARE) {
        out.write_all(&trigram.to_be_bytes()[1..])?;
    }
    Ok(())
}

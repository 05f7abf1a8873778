//! Builds n-gram segments for a folder in memory, merges them, and prints size, checksum, times and
//! candidates.
//!
//! `cargo run --release -p ken-ngram --example measure FOLDER PATTERNS` (a file, one on each line)

use std::hash::{DefaultHasher, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use ken_ngram::{Builder, Covers, Need, NgramSet, Pieces, Segment, Version, merge};

/// The CPU time of this thread, since the machine may be busy.
struct Clock(Duration);

impl Clock {
    fn start() -> Self {
        Self(Self::now())
    }

    fn now() -> Duration {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
    }

    fn elapsed(&self) -> Duration {
        Self::now() - self.0
    }
}

const BUILDER_BYTES: usize = 32 << 20;
/// Larger files have pieces as well.
const MAX_SMALL_BYTES: usize = 256 << 10;

fn files(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            self::files(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn open(bytes: Vec<u8>) -> Option<Segment> {
    Segment::open(Box::new(bytes))
}

/// Not a CRC: the CRC of all bytes is the same for any file that ends with its own.
fn sum<'a>(files: impl Iterator<Item = &'a Vec<u8>>) -> u64 {
    let mut hasher = DefaultHasher::new();
    files.for_each(|file| hasher.write(file));
    hasher.finish()
}

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (folder, patterns) = (arguments.next(), arguments.next());
    let mut paths = Vec::new();
    files(Path::new(&folder.unwrap_or_default()), &mut paths)?;
    paths.sort();
    let (mut read, mut taken, mut added, mut written) =
        (0, Duration::ZERO, Duration::ZERO, Duration::ZERO);
    let (mut builder, mut ngrams, mut built) =
        (Builder::default(), NgramSet::default(), Vec::new());
    let mut pieces = Pieces::with_ngrams(BUILDER_BYTES / 8);
    for (number, path) in paths.iter().enumerate() {
        let text = fs_err::read(path)?;
        read += text.len();
        let end = memchr::memchr(0, &text).unwrap_or(text.len());
        let start = Clock::start();
        ngrams.clear();
        pieces.clear();
        if end <= MAX_SMALL_BYTES {
            ngrams.add(&text[..end]);
        } else {
            pieces.add(&text[..end], &mut ngrams);
            pieces.end(&mut ngrams);
        }
        taken += start.elapsed();
        let start = Clock::start();
        let key = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let covers = Covers {
            start: true,
            ..Covers::default()
        };
        builder.add(Version { key, stamp: 1 }, path, "", covers, &ngrams);
        builder.pieces(&pieces);
        added += start.elapsed();
        if builder.is_full(BUILDER_BYTES) || number + 1 == paths.len() {
            let start = Clock::start();
            built.push(builder.finish(Vec::new())?);
            written += start.elapsed();
        }
    }
    let n_built = built.len();
    let sum = sum(built.iter());
    let segments: Vec<_> = built.into_iter().filter_map(open).collect();
    let start = Clock::start();
    let merged = merge(&segments, &|_| true, 1, Vec::new())?;
    let merging = start.elapsed();
    drop(segments);
    let total = (taken + added + written + merging).as_secs_f64();
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{} files, {read} bytes; {n_built} files of ngrams ({sum:016x}), merged {} bytes ({:.2} %, {:016x})",
        paths.len(),
        merged.len(),
        merged.len() as f64 * 100.0 / read as f64,
        self::sum([&merged].into_iter())
    )?;
    writeln!(
        out,
        "ngrams {taken:.2?}, adding {added:.2?}, writing {written:.2?}, merging {merging:.2?}: {:.0} MB/s",
        read as f64 / 1e6 / total
    )?;
    let Some(segment) = open(merged) else {
        return Err(io::Error::other("the file cannot be read"));
    };
    for pattern in fs_err::read_to_string(patterns.unwrap_or_default())?.lines() {
        let mut parser = regex_syntax::ParserBuilder::new()
            .utf8(false)
            .multi_line(true)
            .build();
        let parsed = parser.parse(pattern).map_err(io::Error::other)?;
        let start = Clock::start();
        let candidates = segment.candidates(&Need::of(&parsed));
        let elapsed = start.elapsed();
        let n = candidates.docs().map_or(paths.len(), <[u32]>::len);
        writeln!(out, "{n:8} {elapsed:10.0?}  {pattern}")?;
    }
    Ok(())
}

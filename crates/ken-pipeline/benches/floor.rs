//! Measures each stage of indexing by itself, on one thread: the lower bound of what a run takes.
//! `bench/run floor` compares it with a real run.
//!
//! ```text
//! floor FOLDER INDEX SCRATCH     all files below FOLDER; as many bytes as INDEX has, written to SCRATCH
//! ```

#![allow(clippy::print_stdout, clippy::disallowed_methods, missing_docs)] // a program of its own

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ken_core::{Field, FieldKind, Kind, Value};
use ken_extract::{Input, Limits, detect, extract_all};
use ken_index::analysis::analyze;
use ken_ngram::NgramSet;
use serde_json::json;

fn main() -> io::Result<()> {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| arg != "--bench")
        .collect();
    let [folder, index, scratch] = args.as_slice() else {
        return Err(io::Error::other("floor FOLDER INDEX SCRATCH"));
    };
    let files = files_below(Path::new(folder))?;
    let (read, n_bytes) = read_all(&files)?;
    // By default a run takes the n-grams of plain text and source only.
    let texts: Vec<PathBuf> = files.iter().filter(|path| is_text(path)).cloned().collect();
    let (read_texts, _) = read_all(&texts)?;
    let ngrams = take_ngrams(&texts)?;
    let stages = Stages::of(&files)?;
    let (write, n_index_bytes) = write_all(&files_below(Path::new(index))?, Path::new(scratch))?;
    println!(
        "{}",
        json!({
            "files": files.len(),
            "bytes": n_bytes,
            "text_bytes": stages.n_text_bytes,
            "terms": stages.n_terms,
            "index_bytes": n_index_bytes,
            "seconds": {
                "read": read.as_secs_f64(),
                "parse": (stages.parse.saturating_sub(read)).as_secs_f64(),
                "tokenise": stages.tokenise.as_secs_f64(),
                "grams": (ngrams.saturating_sub(read_texts)).as_secs_f64(),
                "write": write.as_secs_f64(),
            },
        })
    );
    Ok(())
}

fn files_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut folders, mut files) = (vec![folder.to_path_buf()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Reads all files into the same buffer.
fn each_read(files: &[PathBuf], mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut bytes = Vec::new();
    for path in files {
        bytes.clear();
        File::open(path)?.read_to_end(&mut bytes)?;
        each(&bytes);
    }
    Ok(())
}

fn read_all(files: &[PathBuf]) -> io::Result<(Duration, u64)> {
    // The first pass brings the files into the cache.
    each_read(files, |_| ())?;
    let mut n_bytes = 0;
    let started = Instant::now();
    each_read(files, |bytes| n_bytes += bytes.len() as u64)?;
    Ok((started.elapsed(), n_bytes))
}

fn is_text(path: &Path) -> bool {
    let detected = detect::by_name(&path.file_name().unwrap_or_default().to_string_lossy());
    detected.media_type == "text/plain" || detected.kind == Kind::Source
}

/// Takes the n-grams of files, unless they hold a NUL.
fn take_ngrams(files: &[PathBuf]) -> io::Result<Duration> {
    let mut set = NgramSet::default();
    let started = Instant::now();
    each_read(files, |bytes| {
        if !bytes.contains(&0) {
            set.add(bytes);
        }
        set.clear();
    })?;
    Ok(started.elapsed())
}

#[derive(Default)]
struct Stages {
    parse: Duration,
    tokenise: Duration,
    n_text_bytes: u64,
    n_terms: u64,
}

impl Stages {
    fn of(files: &[PathBuf]) -> io::Result<Self> {
        let limits = Limits::default();
        let mut this = Self::default();
        let started = Instant::now();
        for path in files {
            let file = File::open(path)?;
            let size = file.metadata()?.len();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let mut input = Input::file(name, &file, size);
            extract_all(&mut input, &limits, &mut |document| {
                let started = Instant::now();
                this.add(Field::Body, &document.body);
                for (field, value) in &document.fields {
                    if let (FieldKind::Text, Value::Text(text)) = (field.info().kind, value) {
                        this.add(*field, text);
                    }
                }
                this.tokenise += started.elapsed();
            });
        }
        this.parse = started.elapsed().saturating_sub(this.tokenise);
        Ok(this)
    }

    fn add(&mut self, field: Field, text: &str) {
        self.n_text_bytes += text.len() as u64;
        analyze(field, text, |_, _, _| self.n_terms += 1);
    }
}

/// Writes the bytes of all files into one file on disk.
fn write_all(files: &[PathBuf], scratch: &Path) -> io::Result<(Duration, u64)> {
    let mut all = Vec::new();
    for path in files {
        File::open(path)?.read_to_end(&mut all)?;
    }
    let started = Instant::now();
    let mut out = File::create(scratch)?;
    for part in all.chunks(1 << 20) {
        out.write_all(part)?;
    }
    out.sync_all()?;
    let taken = started.elapsed();
    fs_err::remove_file(scratch)?;
    Ok((taken, all.len() as u64))
}

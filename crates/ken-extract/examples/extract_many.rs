//! Extracts files repeatedly and prints the cost, to measure the cost of isolation without an
//! index.
//!
//! `extract_many MODE TIMES < LIST` where MODE is `auto`, `all` or `none`, and LIST has one path on
//! each line. The program is its own worker.

// A measuring program prints its results, and takes everything from its caller.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Instant;

use ken_extract::{Extractor, Input, Options, worker};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments
        .get(1)
        .is_some_and(|first| first == worker::ARGUMENT)
    {
        let socket = io::stdin().as_fd().try_clone_to_owned()?;
        return Ok(worker::serve(socket, ken_extract::extract)?);
    }
    let [_, mode, times] = &arguments[..] else {
        return Err("extract_many MODE TIMES < LIST".into());
    };
    let options = Options {
        isolate: mode.parse().map_err(|()| "MODE is auto, all or none")?,
        worker: Some(PathBuf::from("/proc/self/exe")),
        ..Options::default()
    };
    let files: Vec<String> = io::stdin().lines().collect::<Result<_, _>>()?;
    let (mut n_documents, mut n_failed, mut n_bytes) = (0_u64, 0_u64, 0_u64);
    let started = Instant::now();
    let extractor = Extractor::new(&options);
    for _ in 0..times.parse()? {
        for path in &files {
            let file = fs_err::File::open(path)?;
            let size = file.metadata()?.len();
            let name = Path::new(path).file_name().unwrap_or_default();
            let mut input = Input::file(name.to_string_lossy(), file.file(), size);
            extractor.extract_all(&mut input, &mut |document| {
                n_documents += 1;
                n_failed += u64::from(document.failure.is_some());
                n_bytes += document.body.len() as u64;
            });
        }
    }
    drop(extractor);
    let seconds = started.elapsed().as_secs_f64();
    println!("{n_documents} documents, {n_failed} failed, {n_bytes} bytes of text, {seconds:.3} s");
    Ok(())
}

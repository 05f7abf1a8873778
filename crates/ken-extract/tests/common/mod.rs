//! Shared code of the hostile set and the mutator: all samples in this folder's `data`, and
//! invariants that hold for any bytes.

#![allow(dead_code, unreachable_pub)] // each user needs a part of it

pub mod check;
pub mod mutation;

use std::path::Path;

/// A file of `data`.
pub struct Sample {
    /// Its path below `data`, for people.
    pub path: String,
    /// Its file name, which selects the parser.
    pub name: String,
    pub bytes: Vec<u8>,
}

/// Returns all samples, sorted by path.
pub fn samples() -> Vec<Sample> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut samples = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                folders.push(path);
            } else if !name.starts_with("README") {
                let bytes = fs_err::read(&path).unwrap();
                let path = path.strip_prefix(&root).unwrap();
                let path = path.to_str().unwrap().to_owned();
                samples.push(Sample { path, name, bytes });
            }
        }
    }
    samples.sort_by(|a, b| a.path.cmp(&b.path));
    samples
}

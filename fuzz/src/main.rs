//! All fuzz targets in one program, which the variable `KEN_FUZZ_TARGET` tells which one it is. Without it, the program
//! prints the targets and where their first inputs come from.
//!
//! Most targets hand their bytes to extraction under a file name, whose format they are then taken for, and check what
//! must hold whatever the bytes are. Extraction catches panics; libFuzzer's panic hook aborts before they are caught, so
//! they are seen here.
#![no_main]

#[path = "../../crates/ken-extract/tests/common/check.rs"]
mod check;
mod files;
mod parts;
mod targets;

use std::sync::OnceLock;

use files::FILES;
use parts::PARTS;
use targets::{OTHERS, Seeds};

type Target = Box<dyn Fn(&[u8]) + Send + Sync>;

static TARGET: OnceLock<Target> = OnceLock::new();

libfuzzer_sys::fuzz_target!(init: choose(), |bytes: &[u8]| {
    if let Some(target) = TARGET.get() {
        target(bytes);
    }
});

fn choose() {
    let Ok(name) = std::env::var("KEN_FUZZ_TARGET") else {
        list();
        std::process::exit(0);
    };
    let Some(target) = target(&name) else {
        eprintln!("no fuzz target is called {name:?}");
        std::process::exit(2);
    };
    let _ = TARGET.set(target);
}

fn target(name: &str) -> Option<Target> {
    if let Some((_, file, _)) = FILES.iter().find(|of| of.0 == name) {
        return Some(Box::new(|bytes| _ = check::check(file, bytes)));
    }
    if let Some(part) = PARTS.iter().find(|part| part.target == name) {
        return Some(Box::new(part.run()));
    }
    let (_, run, _) = OTHERS.iter().find(|of| of.0 == name)?;
    Some(Box::new(run))
}

/// Prints a line for each target: its name, and either `part` with a sample and a part of it, or `samples` with the
/// extensions of samples.
fn list() {
    let samples = |name: &str, of: &[&str]| println!("{name} samples {}", of.join(" "));
    let part = |target: &str, sample: &str, name: &str| println!("{target} part {sample} {name}");
    FILES.iter().for_each(|(name, _, of)| samples(name, of));
    PARTS
        .iter()
        .for_each(|of| part(of.target, of.sample, of.name));
    for (name, _, seeds) in OTHERS {
        match seeds {
            Seeds::Samples(of) => samples(name, of),
            Seeds::Part(sample, of) => part(name, sample, of),
        }
    }
}

//! Links the program at a fixed address.
//!
//! A position-independent program has 65,000 pointers in its tables (stemmers, names of glyphs, entities),
//! which the loader writes anew at each start: 340 pages are copied, 0.6 ms of the 1.7 that a command takes that
//! does nothing. Relative relocations in packed form (RELR) save nothing of that. What is lost is that the program's
//! own code lies elsewhere each time; stack, heap and libraries still do. Set `KEN_PIE=1` when building to have it.

#![allow(clippy::disallowed_methods)] // a build script is told by its environment

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=KEN_PIE");
    let target = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let is_linux = target("OS") == "linux" && target("ENV") == "gnu";
    let is_static = target("FEATURE")
        .split(',')
        .any(|feature| feature == "crt-static");
    if is_linux && !is_static && env::var_os("KEN_PIE").is_none() {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}

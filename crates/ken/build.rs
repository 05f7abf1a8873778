//! Links the program at a fixed address.
//!
//! A position-independent program has 65,000 pointers in its tables (stemmers, names of glyphs, entities),
//! which the loader rewrites at each start: 340 pages are copied, which is 0.6 of the 1.7 ms that the shortest command
//! takes. Packed relative relocations (RELR) save none of that. The cost is a fixed address of the program's own code;
//! stack, heap and libraries still have random addresses. Set `KEN_PIE=1` when building for a random address.

#![allow(clippy::disallowed_methods)] // a build script gets its settings from the environment

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

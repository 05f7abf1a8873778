//! How do other programs use ken? This crate implements their protocols, with requests in and answers out.
//!
//! A protocol is a module that reads requests from any reader and writes to any writer. Sockets, pipes and settings
//! belong to the binary.

pub mod mu;
pub mod notmuch;

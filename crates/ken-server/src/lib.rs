//! Protocols by which other programs ask ken: requests in, answers out.
//!
//! A protocol is a module that reads requests from any reader and writes to any writer; sockets,
//! pipes and settings are the binary's.

pub mod mu;

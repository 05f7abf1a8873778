//! An index in a cluster of OpenSearch 3, for archives that outgrow one machine or that several machines read.
//!
//! A [`Cluster`] opens the two sides of the border that `ken-engine` draws: a [`ken_engine::Sink`] that writes in an order
//! which survives every crash, and a [`ken_engine::Source`] whose answers are those of the embedded engine.

mod bulk;
mod client;
mod clock;
mod cluster;
#[cfg(test)]
mod conformance;
mod encode;
#[cfg(any(test, feature = "fake"))]
pub mod fake;
mod guest;
mod http;
mod kept;
mod layout;
mod lease;
mod location;
mod pattern;
mod root;
mod schema;
mod search;
mod shares;
mod sink;
mod source;
mod tags;
#[cfg(test)]
mod tests;

pub use client::{Notice, Patience};
pub use cluster::Cluster;
pub use http::{Auth, Call, Certificates, Http, Method, Reply, Tcp, TokenSource};
pub use layout::Shape;

//! How do other programs talk to `ken serve`? By HTTP/1.1 on a Unix socket that only its user can reach, and on a port of
//! loopback that asks for a token.
//!
//! [`message`] has what is asked about the index as a whole, and answered, as JSON. [`serve`] answers: one thread reads
//! and writes all connections, and hands each request on with its [`Reply`], so a slow client holds nothing but its
//! connection. [`Question`] reads a request about how fresh the index is; others are answered by `ken-web`. [`Guard`]
//! looks at what comes in at the port, and [`Places`] share what many people use. [`Client`] asks, and [`Program`] runs ken's own commands for an answer. The commands of ken use it, and any HTTP client can do the same.

mod client;
mod fair;
mod guard;
pub mod message;
mod program;
mod route;
mod server;
mod socket;

pub use client::{Client, Error, Lines};
pub use fair::{Place, Places, Taken};
pub use guard::{Guard, Passed, Secret};
pub use program::{Ended, Program, TakeLine};
pub use route::{Question, Refusal};
pub use server::{Door, Peer, Reply, Server, Stream, serve};
pub use socket::{bind, bind_shared, socket_path};

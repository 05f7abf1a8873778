//! How do other programs talk to `ken serve`? By HTTP/1.1 on a Unix socket that only its user can reach.
//!
//! [`message`] has what is asked and answered, as JSON. [`serve`] answers on a socket: one thread reads and writes all
//! connections, and hands each [`Question`] on with its [`Reply`], so a slow client holds nothing but its connection.
//! [`Client`] asks. The commands of ken use it, and any HTTP client can do the same.

mod client;
pub mod message;
mod route;
mod server;
mod socket;

pub use client::{Client, Error, Lines};
pub use route::Question;
pub use server::{Reply, Server, Stream, serve};
pub use socket::{bind, socket_path};

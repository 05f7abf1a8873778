//! Who asks? The user of the server gets everything, other people get what they may read, and nobody gets nothing.
//!
//! The system names who is at the other end of a socket. A proxy that the settings trust asks for others and names them in a
//! header; the same header from anybody else is refused, since it would only be a claim. What a person may read depends on
//! their groups, which the [directory](Directory) of the system is asked for.

use std::time::Instant;

use hyper::Request;
use hyper::body::Bytes;
use hyper::header::HeaderName;
use ken_api::{Door, Peer, Refusal};
use ken_core::access::Asker;
use nix::unistd::Uid;

use super::directory::{Directory, Known, Name};
use crate::config::AccessSettings;
use crate::failure::Failure;

/// Somebody who gets answers.
#[derive(Clone, Debug)]
pub(super) struct Person {
    /// The person, if what they may read is all that they get.
    pub(super) asker: Option<Asker>,
    pub(super) signature: Signature,
}

impl Person {
    /// Returns for whom the answer is; none if it is for the user of the server.
    pub(super) fn guest(&self) -> Guest {
        let asker = self.asker.as_ref();
        asker.map(|asker| Name::Number(asker.uid()))
    }
}

/// For whom something is done; none if it is for the user of the server.
pub(super) type Guest = Option<Name>;

/// Who asked, as the audit has it. It gives no right to anything.
#[derive(Clone, Debug)]
pub(super) struct Signature {
    pub(super) uid: u32,
    pub(super) name: Option<String>,
    /// Where the question came in.
    pub(super) from: &'static str,
}

impl Signature {
    /// Returns that of a process at the other end of the shared socket.
    pub(super) fn of_peer(peer: Peer) -> Self {
        Self {
            uid: peer.uid,
            name: None,
            from: SHARED,
        }
    }
}

/// Who sent a request.
pub(super) enum Sender {
    /// It is known at once.
    Known(Person),
    /// The directory must be asked, which may take long.
    Named(Name, &'static str),
}

/// How people are told apart.
pub(super) struct People {
    is_enforced: bool,
    header: Option<HeaderName>,
    proxies: Vec<u32>,
    directory: Directory,
}

/// How the audit names the shared socket.
const SHARED: &str = "shared socket";

impl People {
    pub(super) fn new(settings: &AccessSettings) -> Result<Self, Failure> {
        Ok(Self {
            is_enforced: settings.enforce,
            header: settings.header()?,
            proxies: settings.proxies()?,
            directory: Directory::of_system(),
        })
    }

    /// Returns who sent a request that was let in at a door. It waits for nothing.
    ///
    /// # Errors
    /// Fails if the request claims what it must not.
    pub(super) fn who(&self, request: &Request<Bytes>, door: Door) -> Result<Sender, Refusal> {
        let header = self
            .header
            .as_ref()
            .and_then(|name| request.headers().get(name));
        match (door, header) {
            (Door::Shared(peer), Some(name)) if self.is_proxy(peer.uid) => {
                let names = self
                    .header
                    .as_ref()
                    .map(|name| request.headers().get_all(name));
                match (names.map_or(0, |names| names.iter().count()), name.to_str()) {
                    (1, Ok(name)) => Ok(Sender::Named(Name::Text(name.to_owned()), "proxy")),
                    _ => Err(refused("the proxy names several people")),
                }
            }
            (Door::Shared(peer), None) if self.is_proxy(peer.uid) => {
                Err(refused("the proxy names nobody"))
            }
            (Door::Shared(_) | Door::Port(_) | Door::Socket, Some(_)) => {
                Err(refused("only a proxy at the shared socket names people"))
            }
            (Door::Shared(peer), None) if peer.uid == Uid::effective().as_raw() => {
                Ok(owner(SHARED))
            }
            (Door::Shared(peer), None) => Ok(Sender::Named(Name::Number(peer.uid), SHARED)),
            (Door::Socket, None) => Ok(owner("socket")),
            (Door::Port(_), None) => Ok(owner("port")),
        }
    }

    /// Returns the person with a name, if it is known at the moment. It waits for nothing.
    pub(super) fn remembered(
        &self,
        name: &Name,
        from: &'static str,
    ) -> Option<Result<Person, Refusal>> {
        let known = self.directory.remembered(name)?;
        Some(person(known, from))
    }

    /// Returns the person with a name. Waits for the directory until a moment.
    ///
    /// # Errors
    /// Fails if the directory does not know the person, or does not answer.
    pub(super) fn ask(
        &self,
        name: &Name,
        from: &'static str,
        until: Instant,
    ) -> Result<Person, Refusal> {
        match self.directory.ask(name, until) {
            Some(known) => person(known, from),
            // Whoever it is may read less than others.
            None => Err((
                503,
                "the system does not say who asks; ask again later".to_owned(),
            )),
        }
    }

    /// Returns whether a user of the shared socket speaks for others.
    pub(super) fn is_proxy(&self, uid: u32) -> bool {
        self.proxies.contains(&uid)
    }

    /// Returns whether people get what they may read, and nothing else.
    pub(super) fn is_enforced(&self) -> bool {
        self.is_enforced
    }
}

fn refused(why: &str) -> Refusal {
    (403, why.to_owned())
}

/// Returns the user of this server.
fn owner(from: &'static str) -> Sender {
    Sender::Known(Person {
        asker: None,
        signature: Signature {
            uid: Uid::effective().as_raw(),
            name: None,
            from,
        },
    })
}

/// Returns a person whom the system knows. Of others the groups are not known, and some of them may deny. The user of the
/// server is a person like others to a proxy.
fn person(known: Option<Known>, from: &'static str) -> Result<Person, Refusal> {
    let Known { name, asker } =
        known.ok_or_else(|| refused("the system does not know this person"))?;
    Ok(Person {
        signature: Signature {
            uid: asker.uid(),
            name: Some(name),
            from,
        },
        asker: Some(asker),
    })
}

//! Who asks? The user of the server gets everything, other people get what they may read, and nobody gets nothing.
//!
//! The system names who is at the other end of a socket. A proxy that the settings trust asks for others and names them in a
//! header; the same header from anybody else is refused, since it would only be a claim.

use hyper::Request;
use hyper::body::Bytes;
use hyper::header::HeaderName;
use ken_api::{Door, Peer, Refusal};
use ken_core::access::Asker;
use nix::unistd::{Gid, Uid, User, getgrouplist};

use crate::config::AccessSettings;
use crate::failure::Failure;

/// Somebody who asks.
#[derive(Clone, Debug)]
pub(super) struct Person {
    /// The person, if what they may read is all that they get.
    pub(super) asker: Option<Asker>,
    pub(super) uid: u32,
    pub(super) name: Option<String>,
    /// Where the question came in.
    pub(super) from: &'static str,
}

impl Person {
    /// Returns who is at the other end of the shared socket, for the audit: the request itself is refused.
    pub(super) fn refused(peer: Peer) -> Self {
        Self {
            asker: None,
            uid: peer.uid,
            name: None,
            from: "shared socket",
        }
    }
}

/// How people are told apart.
pub(super) struct People {
    is_enforced: bool,
    header: Option<HeaderName>,
    proxies: Vec<u32>,
}

impl People {
    pub(super) fn new(settings: &AccessSettings) -> Result<Self, Failure> {
        Ok(Self {
            is_enforced: settings.enforce,
            header: settings.header()?,
            proxies: settings.proxies()?,
        })
    }

    /// Returns who sent a request that was let in at a door.
    ///
    /// # Errors
    /// Fails if nobody knows, or the request claims what it must not.
    pub(super) fn who(&self, request: &Request<Bytes>, door: Door) -> Result<Person, Refusal> {
        let header = self
            .header
            .as_ref()
            .and_then(|name| request.headers().get(name));
        match (door, header) {
            (Door::Shared(peer), Some(name)) if self.proxies.contains(&peer.uid) => {
                let names = self
                    .header
                    .as_ref()
                    .map(|name| request.headers().get_all(name));
                match (names.map_or(0, |names| names.iter().count()), name.to_str()) {
                    (1, Ok(name)) => named(name),
                    _ => Err(refused("the proxy names several people")),
                }
            }
            (Door::Shared(peer), None) if self.proxies.contains(&peer.uid) => {
                Err(refused("the proxy names nobody"))
            }
            (Door::Shared(_) | Door::Port(_) | Door::Socket, Some(_)) => {
                Err(refused("only a proxy at the shared socket names people"))
            }
            (Door::Shared(peer), None) => at_socket(peer),
            (Door::Socket, None) => Ok(owner("socket")),
            (Door::Port(_), None) => Ok(owner("port")),
        }
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
fn owner(from: &'static str) -> Person {
    Person {
        asker: None,
        uid: Uid::effective().as_raw(),
        name: None,
        from,
    }
}

/// Returns the person at the other end of the shared socket.
fn at_socket(peer: Peer) -> Result<Person, Refusal> {
    if peer.uid == Uid::effective().as_raw() {
        return Ok(owner("shared socket"));
    }
    let known = User::from_uid(Uid::from_raw(peer.uid)).ok().flatten();
    person(known, "shared socket")
}

fn named(name: &str) -> Result<Person, Refusal> {
    // The user of the server is a person like others to a proxy.
    person(User::from_name(name).ok().flatten(), "proxy")
}

/// Returns a person whom the system knows. Of others the groups are not known, and some of them may deny.
fn person(user: Option<User>, from: &'static str) -> Result<Person, Refusal> {
    let known = user.and_then(|user| Some((asker(&user)?, user)));
    let (asker, user) = known.ok_or_else(|| refused("the system does not know this person"))?;
    Ok(Person {
        asker: Some(asker),
        uid: user.uid.as_raw(),
        name: Some(user.name),
        from,
    })
}

/// Returns a user with the groups that the system knows at the moment.
fn asker(user: &User) -> Option<Asker> {
    let name = std::ffi::CString::new(user.name.as_str()).ok()?;
    let groups = getgrouplist(&name, user.gid).ok()?.into_iter();
    let groups = groups.chain([user.gid]).map(Gid::as_raw);
    Some(Asker::new(user.uid.as_raw(), groups.collect()))
}

//! `[access]`: who may read what a server finds, and how others than its user reach it.

use std::path::{Path, PathBuf};

use hyper::header::HeaderName;
use nix::unistd::{Group, User};
use serde::{Deserialize, Serialize};

use super::below_home;
use crate::failure::{Failure, Kind};

/// Permissions, which are off for a person alone.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AccessSettings {
    /// Whether the index keeps who may read each file, and the server shows nobody anything else.
    pub(crate) enforce: bool,
    /// The socket at which other people reach the server, in a folder that exists.
    pub(crate) socket: Option<PathBuf>,
    /// The group of that socket.
    pub(crate) group: Option<String>,
    /// Its mode, in octal.
    pub(crate) mode: String,
    /// The header in which a proxy names the person who asks.
    pub(crate) header: Option<String>,
    /// The users as whom such proxies run.
    pub(crate) proxies: Vec<String>,
    /// The file with a line for each question.
    pub(crate) audit: Option<PathBuf>,
}

impl Default for AccessSettings {
    fn default() -> Self {
        Self {
            enforce: false,
            socket: None,
            group: None,
            mode: "0600".to_owned(),
            header: None,
            proxies: Vec::new(),
            audit: None,
        }
    }
}

/// A socket for several people.
pub(crate) struct SharedSocket {
    pub(crate) path: PathBuf,
    pub(crate) group: Option<u32>,
    pub(crate) mode: u32,
}

impl AccessSettings {
    /// Checks what needs no look at the system.
    pub(super) fn checked(&self) -> Result<(), Failure> {
        self.mode()?;
        self.header()?;
        if self.header.is_some() && self.proxies.is_empty() {
            return Err(wrong("header", "no proxy is trusted to set it")
                .hint("example: access.proxies = [\"www-data\"]"));
        }
        if self.socket.is_some() && !self.enforce {
            return Err(wrong("socket", "others would read everything")
                .hint("access.enforce = true shows everybody what they may read"));
        }
        for (name, path) in [("socket", &self.socket), ("audit", &self.audit)] {
            if path
                .as_deref()
                .is_some_and(|path| !below_home(path).is_absolute())
            {
                return Err(wrong(name, "it is not an absolute path"));
            }
        }
        Ok(())
    }

    fn mode(&self) -> Result<u32, Failure> {
        let mode = u32::from_str_radix(&self.mode, 8).ok();
        mode.filter(|mode| *mode <= 0o777).ok_or_else(|| {
            let message = format!("\"{}\" is no mode", self.mode);
            wrong("mode", &message).hint("example: access.mode = \"0660\"")
        })
    }

    /// Returns the header that names the person who asks.
    pub(crate) fn header(&self) -> Result<Option<HeaderName>, Failure> {
        let header = self.header.as_ref().map(|name| {
            name.parse()
                .map_err(|_| wrong("header", &format!("\"{name}\" is no name of a header")))
        });
        header.transpose()
    }

    /// Returns the numbers of the users as whom proxies run.
    pub(crate) fn proxies(&self) -> Result<Vec<u32>, Failure> {
        let uids = self.proxies.iter().map(|name| match User::from_name(name) {
            Ok(Some(user)) => Ok(user.uid.as_raw()),
            _ => Err(wrong("proxies", &format!("there is no user \"{name}\""))),
        });
        uids.collect()
    }

    /// Returns the socket for several people, if there is one.
    pub(crate) fn shared_socket(&self) -> Result<Option<SharedSocket>, Failure> {
        let Some(path) = self.socket.as_deref().filter(|_| self.enforce) else {
            return Ok(None);
        };
        let group = self
            .group
            .as_ref()
            .map(|name| match Group::from_name(name) {
                Ok(Some(group)) => Ok(group.gid.as_raw()),
                _ => Err(wrong("group", &format!("there is no group \"{name}\""))),
            });
        Ok(Some(SharedSocket {
            path: below_home(path),
            group: group.transpose()?,
            mode: self.mode()?,
        }))
    }

    /// Returns the file with a line for each question.
    pub(crate) fn audit(&self) -> Option<PathBuf> {
        self.audit
            .as_deref()
            .map(Path::to_path_buf)
            .map(|path| below_home(&path))
    }
}

fn wrong(name: &str, why: &str) -> Failure {
    Failure::new(Kind::Usage, format!("access.{name}: {why}"))
}

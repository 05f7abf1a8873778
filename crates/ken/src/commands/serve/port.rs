//! The port of loopback on which a browser finds ken: opened when somebody first asks for it, and with each start from
//! then on, so that bookmarks stay true.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::Path;

use ken_api::Secret;
use serde::{Deserialize, Serialize};

/// The file in the data folder that has the port and the token. Only the user can read it.
const FILE: &str = "web.json";

/// Where a browser finds ken, and what lets it in.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Port {
    number: u16,
    pub(super) secret: Secret,
}

impl Port {
    /// Returns the port that was opened before; none if nobody ever asked for it.
    pub(super) fn known(data: &Path) -> io::Result<Option<Self>> {
        match fs_err::read(data.join(FILE)) {
            Ok(text) => Ok(serde_json::from_slice(&text).ok()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns a new one, which the system chooses when it is opened.
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            number: 0,
            secret: Secret::new()?,
        })
    }

    /// Opens it. If another program has it, the system chooses another one. That program may be another user's, and may
    /// have heard the secret from a browser, so there is a new one.
    pub(super) fn open(&mut self, data: &Path) -> io::Result<TcpListener> {
        let bind = |number| TcpListener::bind((Ipv4Addr::LOCALHOST, number));
        let listener = match bind(self.number) {
            Ok(listener) => listener,
            Err(_) => {
                self.secret = Secret::new()?;
                bind(0)?
            }
        };
        let number = listener.local_addr()?.port();
        if number != self.number {
            self.number = number;
            ken_private::write(&data.join(FILE), &serde_json::to_vec(self)?)?;
        }
        Ok(listener)
    }

    /// Returns its number, once it is open.
    pub(super) fn number(&self) -> u16 {
        self.number
    }

    /// Returns the address that lets its user in. What follows `#` stays in the browser.
    pub(super) fn address(&self) -> String {
        let Secret { token, folder } = &self.secret;
        format!("http://127.0.0.1:{}/{folder}/#t={token}", self.number)
    }
}

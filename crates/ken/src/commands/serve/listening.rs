//! The socket that `ken serve` answers on: one that systemd opened, or its own.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use hyper::Request;
use hyper::body::Bytes;
use ken_api::{Door, Reply, Server};

use crate::cli::Global;
use crate::config::{SharedSocket, runtime_folder};

/// A socket that clients can connect to, until this is dropped.
pub(super) struct Listening {
    listener: Option<UnixListener>,
    server: Option<Server>,
    path: PathBuf,
    /// Whether the socket goes with the server.
    is_own: bool,
    /// Where other people ask.
    shared: Option<PathBuf>,
}

impl Listening {
    /// Listens.
    pub(super) fn start(global: &Global, data: &Path) -> io::Result<Self> {
        if let Some((listener, path)) = given()? {
            return Ok(Self {
                listener: Some(listener),
                server: None,
                path,
                is_own: false,
                shared: None,
            });
        }
        let path = path(global, data);
        Ok(Self {
            listener: Some(ken_api::bind(&path)?),
            server: None,
            path,
            is_own: true,
            shared: None,
        })
    }

    /// Answers connections.
    pub(super) fn serve(
        mut self,
        handle: impl Fn(Request<Bytes>, Door, Reply) + Send + Sync + 'static,
    ) -> io::Result<Self> {
        if let Some(listener) = self.listener.take() {
            self.server = Some(ken_api::serve(listener, handle)?);
        }
        Ok(self)
    }

    /// Answers connections at a port, too.
    pub(super) fn listen(&self, port: TcpListener) -> io::Result<()> {
        match &self.server {
            Some(server) => server.listen(port),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Answers other people, too.
    pub(super) fn share(
        &mut self,
        socket: &SharedSocket,
        is_proxy: impl Fn(u32) -> bool + Send + Sync + 'static,
    ) -> io::Result<()> {
        let Some(server) = &self.server else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let listener = ken_api::bind_shared(&socket.path, socket.group, socket.mode)?;
        self.shared = Some(socket.path.clone());
        server.share(listener, is_proxy)
    }

    /// Returns where the socket is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        drop(self.server.take());
        if let Some(path) = &self.shared {
            let _ = fs_err::remove_file(path);
        }
        if self.is_own {
            // The next server replaces one that stays.
            let _ = fs_err::remove_file(&self.path);
        }
    }
}

/// Returns the socket that systemd opened for this process, if there is one.
fn given() -> io::Result<Option<(UnixListener, PathBuf)>> {
    let Some(listener) = listenfd::ListenFd::from_env().take_unix_listener(0)? else {
        return Ok(None);
    };
    let address = listener.local_addr()?;
    let path = address.as_pathname().map(Path::to_path_buf);
    Ok(path.map(|path| (listener, path)))
}

/// Returns where the server of an index answers: at the usual place, unless that is another index or somebody answers
/// there.
fn path(global: &Global, data: &Path) -> PathBuf {
    let runtime = runtime_folder();
    let usual = ken_api::socket_path(runtime.as_deref(), data, None);
    if global.data.is_none() && !is_taken(&usual) {
        return usual;
    }
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    let name = format!("ken-{:016x}", hasher.finish());
    ken_api::socket_path(runtime.as_deref(), data, Some(&name))
}

/// Returns whether a process listens on a socket. A connection would tell, too, but start the service whose socket it is.
fn is_taken(path: &Path) -> bool {
    let sockets = fs_err::read_to_string("/proc/net/unix").unwrap_or_default();
    let path = path.to_string_lossy();
    sockets
        .lines()
        .any(|line| line.ends_with(&format!(" {path}")))
}

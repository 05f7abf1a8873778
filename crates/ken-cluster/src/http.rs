//! The way to the nodes: one call, one reply.
//!
//! The trait has one method, so tests put a cluster of their own in its place.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64ct::{Base64, Encoding};
use ureq::Agent;
use ureq::tls::{Certificate, ClientCert, PrivateKey, RootCerts, TlsConfig, TlsProvider};

/// The longest time that a node may take to accept a connection.
const CONNECT: Duration = Duration::from_secs(3);
/// The longest time that a node may take to answer a question.
pub(crate) const ANSWER: Duration = Duration::from_secs(180);
/// The same for a write. OpenSearch itself waits a minute for a shard that is nowhere.
pub(crate) const WRITTEN: Duration = Duration::from_secs(75);
/// The same for what is small: a node that says nothing must not cost the lease.
pub(crate) const SMALL: Duration = Duration::from_secs(5);
/// The status of a call without a valid proof of who sends it.
const UNAUTHORIZED: u16 = 401;
/// The most bytes of a reply.
const MAX_REPLY_BYTES: u64 = 256 << 20;
/// Where Linux keeps the authorities that the system trusts.
const SYSTEM_AUTHORITIES: [&str; 2] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
];

/// A method of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Asks, or writes.
    Post,
    /// Creates.
    Put,
    /// Deletes.
    Delete,
}

/// A call to a node.
#[derive(Clone, Debug)]
pub struct Call {
    /// The method.
    pub method: Method,
    /// The path, with the parameters.
    pub path: String,
    /// JSON, or lines of JSON; empty for none.
    pub body: Vec<u8>,
    /// Whether the body has a value of JSON on each line.
    pub is_lines: bool,
    /// How long the node may take to answer.
    pub within: Duration,
}

/// The reply of a node.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status of HTTP.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// Sends calls to nodes.
pub trait Http: Send + Sync {
    /// Sends a call to the node at an address such as `https://os1:9200`, and waits for its reply.
    ///
    /// # Errors
    /// Fails if there is no whole reply. The node may have done what was asked all the same.
    fn send(&self, node: &str, call: &Call) -> io::Result<Reply>;
}

/// Gets a token, each time that one is needed.
pub type TokenSource = Arc<dyn Fn() -> io::Result<String> + Send + Sync>;

/// How ken proves to the cluster who it is.
#[derive(Clone, Default)]
pub enum Auth {
    /// It does not.
    #[default]
    None,
    /// By a name and a password.
    Basic {
        /// The name.
        user: String,
        /// The password.
        password: String,
    },
    /// By a key of the cluster's interface.
    ApiKey(String),
    /// By a token that a command prints.
    Token(TokenSource),
}

/// Where the certificates are.
#[derive(Clone, Debug, Default)]
pub struct Certificates {
    /// The authorities that are trusted, in PEM; those of the system if absent.
    pub ca: Option<PathBuf>,
    /// The certificate of ken itself and its key, in PEM, if the cluster asks for one.
    pub own: Option<(PathBuf, PathBuf)>,
}

/// Sends calls over TCP, by the crate `ureq`.
pub struct Tcp {
    agent: Agent,
    auth: Auth,
    /// The last token, until the cluster refuses it.
    token: Mutex<Option<String>>,
}

impl Tcp {
    /// Returns a sender. The certificates are read if a node's address begins with `https:`.
    ///
    /// # Errors
    /// Fails if a certificate cannot be read.
    pub fn new(nodes: &[String], auth: Auth, certificates: &Certificates) -> io::Result<Self> {
        let mut config = Agent::config_builder()
            .timeout_connect(Some(CONNECT))
            .max_redirects(0)
            // A proxy of the environment must not see the secrets of a node that is reached without TLS.
            .proxy(None)
            .http_status_as_error(false);
        if nodes.iter().any(|node| node.starts_with("https:")) {
            config = config.tls_config(tls(certificates)?);
        }
        Ok(Self {
            agent: config.build().into(),
            auth,
            token: Mutex::default(),
        })
    }

    fn authorization(&self) -> io::Result<Option<String>> {
        Ok(match &self.auth {
            Auth::None => None,
            Auth::Basic { user, password } => {
                let both = Base64::encode_string(format!("{user}:{password}").as_bytes());
                Some(format!("Basic {both}"))
            }
            Auth::ApiKey(key) => Some(format!("ApiKey {key}")),
            Auth::Token(source) => {
                let mut token = lock(&self.token);
                if token.is_none() {
                    *token = Some(source()?);
                }
                token.as_ref().map(|token| format!("Bearer {token}"))
            }
        })
    }
}

fn tls(certificates: &Certificates) -> io::Result<TlsConfig> {
    let ca = match &certificates.ca {
        Some(ca) => fs_err::read(ca)?,
        None => {
            let known = SYSTEM_AUTHORITIES
                .iter()
                .find_map(|at| fs_err::read(at).ok());
            known.ok_or_else(|| io::Error::other("this system has no list of authorities"))?
        }
    };
    let mut config = TlsConfig::builder()
        .provider(TlsProvider::Rustls)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .root_certs(RootCerts::new_with_certs(&all_of(&ca)?));
    if let Some((certificate, key)) = &certificates.own {
        let chain = all_of(&fs_err::read(certificate)?)?;
        let key = PrivateKey::from_pem(&fs_err::read(key)?).map_err(io::Error::other)?;
        config = config.client_cert(Some(ClientCert::new_with_certs(&chain, key)));
    }
    Ok(config.build())
}

fn all_of(pem: &[u8]) -> io::Result<Vec<Certificate<'static>>> {
    let items = ureq::tls::parse_pem(pem).filter_map(|item| match item {
        Ok(ureq::tls::PemItem::Certificate(certificate)) => Some(Ok(certificate)),
        Ok(_) => None,
        Err(error) => Some(Err(io::Error::other(error))),
    });
    items.collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Http for Tcp {
    fn send(&self, node: &str, call: &Call) -> io::Result<Reply> {
        let has_token = lock(&self.token).is_some();
        let reply = self.send_once(node, call)?;
        if reply.status != UNAUTHORIZED || !has_token {
            return Ok(reply);
        }
        // It has expired.
        *lock(&self.token) = None;
        self.send_once(node, call)
    }
}

impl Tcp {
    fn send_once(&self, node: &str, call: &Call) -> io::Result<Reply> {
        let url = format!("{}{}", node.trim_end_matches('/'), call.path);
        let method = match call.method {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Delete => "DELETE",
        };
        let kind = match call.is_lines {
            true => "application/x-ndjson",
            false => "application/json",
        };
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(url)
            .header("content-type", kind);
        if let Some(value) = self.authorization()? {
            request = request.header("authorization", value);
        }
        let request = request.body(&call.body[..]).map_err(io::Error::other)?;
        let agent = self.agent.configure_request(request);
        let request = agent
            .allow_non_standard_methods(true)
            .timeout_global(Some(call.within))
            .build();
        let mut reply = self.agent.run(request).map_err(ureq::Error::into_io)?;
        let status = reply.status().as_u16();
        let body = reply.body_mut().with_config().limit(MAX_REPLY_BYTES);
        Ok(Reply {
            status,
            body: body.read_to_vec().map_err(ureq::Error::into_io)?,
        })
    }
}

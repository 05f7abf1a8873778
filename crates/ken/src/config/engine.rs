//! `[engine]`: where the index is, and who reaches it there.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use ken_engine::Engine;
use serde::{Deserialize, Serialize};

use super::secrets::PasswordSettings;
use crate::choices::{DurabilityName, EngineName};
use crate::failure::{Failure, Kind};

/// The most shards of an index.
const MAX_SHARDS: u32 = 1_024;
/// How long a cluster that does not answer is asked.
const OF_PEOPLE: Duration = Duration::from_secs(10);
const OF_RUNS: Duration = Duration::from_secs(120);
/// The longest name of an index.
const MAX_NAME: usize = 200;

/// Where the index is: in the data folder, or in a cluster of OpenSearch.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct EngineSettings {
    /// `embedded`, or `opensearch`.
    pub(crate) kind: EngineName,
    /// The addresses of the cluster's nodes.
    pub(crate) nodes: Vec<String>,
    /// The name of the index in the cluster.
    pub(crate) name: String,
    /// The authorities that nodes must be certified by, in PEM; those of the system if not set.
    pub(crate) ca: Option<PathBuf>,
    /// Whether nodes on other machines may be reached without TLS.
    pub(crate) insecure: bool,
    /// The shards of a new index.
    pub(crate) shards: u32,
    /// The copies of each shard of a new index, besides the first.
    pub(crate) replicas: u32,
    /// When a node has what it acknowledged on disk.
    pub(crate) durability: DurabilityName,
    /// How ken proves who it is.
    pub(crate) auth: AuthSettings,
}

/// How ken proves to a cluster who it is. Secrets are in files, or printed by commands.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AuthSettings {
    /// The name of a user.
    pub(crate) user: Option<String>,
    /// Where the user's password is.
    pub(crate) password: PasswordSettings,
    /// Where a key of the cluster's interface is.
    pub(crate) api_key: PasswordSettings,
    /// Where a token is. A command is asked again when the cluster refuses the last one.
    pub(crate) token: PasswordSettings,
    /// The certificate of ken itself, in PEM.
    pub(crate) certificate: Option<PathBuf>,
    /// The key of that certificate, in PEM.
    pub(crate) key: Option<PathBuf>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            kind: EngineName::Embedded,
            nodes: Vec::new(),
            name: "ken".to_owned(),
            ca: None,
            insecure: false,
            shards: 1,
            replicas: 1,
            durability: DurabilityName::Full,
            auth: AuthSettings::default(),
        }
    }
}

fn wrong(message: &str, hint: &str) -> Failure {
    Failure::new(Kind::Usage, format!("engine.{message}")).hint(hint)
}

impl EngineSettings {
    /// Fails if the settings describe no cluster.
    pub(super) fn checked(&self) -> Result<(), Failure> {
        if self.kind == EngineName::Embedded {
            return Ok(());
        }
        if self.nodes.is_empty() {
            let hint = "example: nodes = [\"https://search.example:9200\"]";
            return Err(wrong("nodes: no node is named", hint));
        }
        self.nodes
            .iter()
            .try_for_each(|node| self.check_node(node))?;
        if !is_name(&self.name) {
            let message = format!("name: \"{}\" is not the name of an index", self.name);
            let hint = "write lower-case letters, digits, - and _, a letter or digit first";
            return Err(wrong(&message, hint));
        }
        if !(1..=MAX_SHARDS).contains(&self.shards) {
            let message = format!("shards: {} is not a number of shards", self.shards);
            return Err(wrong(&message, "write a number from 1 to 1024"));
        }
        self.auth.checked()
    }

    fn check_node(&self, node: &str) -> Result<(), Failure> {
        let hint = "example: nodes = [\"https://search.example:9200\"]";
        let no_address = || wrong(&format!("nodes: \"{node}\" is not an address"), hint);
        let (scheme, rest) = node.split_once("://").ok_or_else(no_address)?;
        if rest.contains('@') {
            // Not repeated: it may hold a password.
            let hint = "set engine.auth.user and engine.auth.password";
            return Err(wrong("nodes: an address names a user", hint));
        }
        let host = rest.trim_end_matches('/');
        if host.is_empty() || host.contains(['/', '?', '#', ' ']) {
            return Err(no_address());
        }
        match scheme {
            "https" => Ok(()),
            "http" if self.insecure || is_here(host) => Ok(()),
            "http" => {
                let message = format!("nodes: \"{node}\" is on another machine and has no TLS");
                Err(wrong(
                    &message,
                    "write https:, or set engine.insecure = true",
                ))
            }
            _ => Err(no_address()),
        }
    }

    /// Returns the same settings for an engine.
    ///
    /// # Errors
    /// Fails if they do not describe it.
    pub(crate) fn of(&self, kind: EngineName) -> Result<Self, Failure> {
        let of_kind = Self {
            kind,
            ..self.clone()
        };
        of_kind.checked()?;
        Ok(of_kind)
    }

    /// Returns the index in the cluster, for a question; none if it is in the data folder.
    ///
    /// # Errors
    /// Fails if a secret or a certificate cannot be read, and if this ken has no engine for a cluster.
    pub(crate) fn engine(&self) -> Result<Option<Arc<dyn Engine>>, Failure> {
        self.within(OF_PEOPLE)
    }

    /// Returns the index in the cluster, for a run, which outlasts the restart of a node.
    ///
    /// # Errors
    /// Fails as [`EngineSettings::engine`] does.
    pub(crate) fn engine_of_run(&self) -> Result<Option<Arc<dyn Engine>>, Failure> {
        self.within(OF_RUNS)
    }

    fn within(&self, patience: Duration) -> Result<Option<Arc<dyn Engine>>, Failure> {
        match self.kind {
            EngineName::Embedded => Ok(None),
            EngineName::OpenSearch => self.cluster(patience).map(Some),
        }
    }

    #[cfg(not(feature = "cluster"))]
    fn cluster(&self, _: Duration) -> Result<Arc<dyn Engine>, Failure> {
        let message = "engine.kind: this ken was built without the engine for OpenSearch";
        Err(Failure::new(Kind::Usage, message.to_owned()).hint(
            "the packages of ken have it; from source: cargo install --path crates/ken --features cluster",
        ))
    }

    #[cfg(feature = "cluster")]
    fn cluster(&self, patience: Duration) -> Result<Arc<dyn Engine>, Failure> {
        use std::io::IsTerminal;

        use ken_cluster::{Certificates, Cluster, Patience, Shape, Tcp};

        use super::below_home;
        use crate::output;

        let path = |path: &Option<PathBuf>| path.as_deref().map(below_home);
        let auth = &self.auth;
        let certificates = Certificates {
            ca: path(&self.ca),
            own: path(&auth.certificate).zip(path(&auth.key)),
        };
        let http = Tcp::new(&self.nodes, auth.proof()?, &certificates)
            .map_err(|error| Failure::new(Kind::Usage, format!("engine: {error}")))?;
        let shape = Shape {
            shards: self.shards,
            replicas: self.replicas,
            is_durable: self.durability == DurabilityName::Full,
        };
        let patience = Patience {
            total: patience,
            ..Patience::default()
        };
        let nodes = self.nodes.clone();
        let cluster = Cluster::new(Arc::new(http), nodes, &self.name, shape, patience);
        let mut cluster = cluster.with_holder(holder());
        if std::io::stderr().is_terminal() {
            cluster = cluster.with_notice(Arc::new(|node| {
                output::remark(&format!("waiting for {node}"));
            }));
        }
        Ok(Arc::new(match in_memory() {
            Some(folder) => cluster.with_scratch(folder),
            None => cluster,
        }))
    }
}

/// Returns a folder whose files are in memory, for what is indexed for one request: on a disk, half of the time of a search
/// went into its syncs.
#[cfg(feature = "cluster")]
fn in_memory() -> Option<PathBuf> {
    let of_user = super::runtime_folder().map(|folder| folder.join("ken"));
    let of_all = Some(PathBuf::from("/dev/shm")).filter(|folder| folder.is_dir());
    of_user.or(of_all)
}

/// Names this machine and process, for those that wait for it.
#[cfg(feature = "cluster")]
fn holder() -> String {
    let host = fs_err::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("process {} on {}", std::process::id(), host.trim())
}

/// Returns whether an index may have this name.
fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.len() <= MAX_NAME
        && name.starts_with(is_letter)
        && name.chars().all(|c| is_letter(c) || "-_".contains(c))
}

/// Returns whether a host, perhaps with a port, is this machine.
fn is_here(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

impl AuthSettings {
    fn checked(&self) -> Result<(), Failure> {
        let ways = [
            self.user.is_some(),
            self.api_key.is_set(),
            self.token.is_set(),
        ];
        if ways.iter().filter(|is_set| **is_set).count() > 1 {
            let hint = "set one of user, api_key and token";
            return Err(wrong("auth: there are several proofs", hint));
        }
        if self.user.is_some() != self.password.is_set() {
            let hint = "auth = { user = \"ken\", password = { command = \"pass ken\" } }";
            return Err(wrong("auth: a user needs a password", hint));
        }
        if self.certificate.is_some() != self.key.is_some() {
            let hint = "set engine.auth.certificate and engine.auth.key";
            return Err(wrong("auth: a certificate needs its key", hint));
        }
        Ok(())
    }

    #[cfg(feature = "cluster")]
    fn proof(&self) -> Result<ken_cluster::Auth, Failure> {
        use std::sync::atomic::{AtomicBool, Ordering};

        use ken_cluster::Auth;

        if let Some(user) = &self.user {
            return Ok(Auth::Basic {
                user: user.clone(),
                password: self.password.secret("engine.auth.password")?,
            });
        }
        if self.api_key.is_set() {
            let key = self.api_key.secret("engine.auth.api_key")?;
            return Ok(Auth::ApiKey(key));
        }
        if !self.token.is_set() {
            return Ok(Auth::None);
        }
        let (token, is_asked) = (self.token.clone(), AtomicBool::new(false));
        Ok(Auth::Token(Arc::new(move || {
            // The cluster refused the one before.
            let secret = match is_asked.swap(true, Ordering::Relaxed) {
                true => token.next_secret("engine.auth.token"),
                false => token.secret("engine.auth.token"),
            };
            secret.map_err(|failure| std::io::Error::other(failure.message().to_owned()))
        })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<(), String> {
        let settings: EngineSettings = toml::from_str(text).unwrap();
        settings
            .checked()
            .map_err(|failure| failure.message().to_owned())
    }

    #[test]
    fn a_cluster_is_described_in_full() {
        let cluster = |rest: &str| {
            checked(&format!(
                "kind = \"opensearch\"\nnodes = [\"https://a:9200\"]\n{rest}"
            ))
        };
        assert_eq!(cluster(""), Ok(()));
        assert_eq!(checked("nodes = [\"?\"]"), Ok(()), "nobody asks it");
        for (rest, problem) in [
            ("name = \"Archive\"", "name"),
            ("name = \"_a\"", "name"),
            ("shards = 0", "shards"),
            ("[auth]\nuser = \"a\"", "needs a password"),
            ("[auth]\nkey = \"k\"", "needs its key"),
            (
                "[auth]\nuser = \"a\"\npassword = { file = \"p\" }\ntoken = { command = \"t\" }",
                "several",
            ),
        ] {
            let error = cluster(rest).unwrap_err();
            assert!(
                error.starts_with("engine.") && error.contains(problem),
                "{rest}: {error}"
            );
        }
        assert!(checked("kind = \"opensearch\"").is_err());
    }

    #[test]
    fn nodes_elsewhere_need_tls() {
        let node = |node: &str, rest: &str| {
            checked(&format!(
                "kind = \"opensearch\"\nnodes = [\"{node}\"]\n{rest}"
            ))
        };
        for good in [
            "https://a:9200",
            "http://127.0.0.1:9200",
            "http://[::1]:9200/",
            "http://localhost",
        ] {
            assert_eq!(node(good, ""), Ok(()), "{good}");
        }
        for bad in [
            "http://a:9200",
            "a:9200",
            "ftp://a",
            "https://",
            "https://a/b",
        ] {
            assert!(node(bad, "").is_err(), "{bad}");
        }
        assert_eq!(node("http://a:9200", "insecure = true"), Ok(()));
        let error = node("https://ken:secret@a:9200", "").unwrap_err();
        assert!(!error.contains("secret"), "{error}");
    }
}

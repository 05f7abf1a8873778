//! A cluster as the settings describe it, and the index in it.

use std::collections::HashSet;
use std::fmt::{self, Debug, Formatter};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ken_engine::{Engine, Error, Guest, Meta, Reading, Sink, Source};
use serde_json::Value;

use crate::client::{Client, Notice, Patience, kind};
use crate::guest::ClusterGuest;
use crate::http::{Http, Method};
use crate::layout::{self, Names, Shape};
use crate::lease::{TTL, Taker, Watch};
use crate::root::{self, Held, Root};
use crate::sink::ClusterSink;
use crate::source::ClusterSource;
use crate::tags;

/// How often a commit is opened again because there is a newer one.
const MAX_TRIES: u32 = 20;
/// How long a first answer is waited for before somebody is told.
const NOTICE_AFTER: Duration = Duration::from_secs(1);
/// The oldest OpenSearch that ken works with.
const OLDEST: u64 = 3;

/// An index in a cluster.
#[derive(Clone)]
pub struct Cluster {
    client: Arc<Client>,
    names: Names,
    shape: Shape,
    ttl: Duration,
    watch: Arc<Mutex<Watch>>,
    /// Who writes: this machine and process.
    holder: String,
    scratch: Option<PathBuf>,
}

impl Debug for Cluster {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "Cluster({})", self.client.name().display())
    }
}

impl Cluster {
    /// Returns the index with a name in the cluster of these nodes. Nothing is asked yet.
    pub fn new(
        http: Arc<dyn Http>,
        nodes: Vec<String>,
        name: &str,
        shape: Shape,
        patience: Patience,
    ) -> Self {
        Self {
            client: Arc::new(Client::new(http, nodes, name, patience)),
            names: Names::new(name),
            shape,
            ttl: TTL,
            watch: Arc::default(),
            holder: format!("{:016x}", fastrand::u64(..)),
            scratch: None,
        }
    }

    /// Has somebody told which node is waited for, if none has answered a second after the first question.
    #[must_use]
    pub fn with_notice(self, notice: Notice) -> Self {
        self.client.notify(NOTICE_AFTER, notice);
        self
    }

    /// Names the machine and process that write.
    #[must_use]
    pub fn with_holder(mut self, holder: String) -> Self {
        self.holder = holder;
        self
    }

    /// Indexes documents for one request in this folder; that of the system for temporary files otherwise.
    #[must_use]
    pub fn with_scratch(mut self, folder: PathBuf) -> Self {
        self.scratch = Some(folder);
        self
    }

    /// Takes a lease that is not renewed for lost after this time.
    #[must_use]
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Deletes the index with all that it holds.
    ///
    /// # Errors
    /// Fails if the cluster does not answer.
    pub fn delete(&self) -> Result<(), Error> {
        let root = root::read(&self.client, &self.names)?.map(|seen| seen.root);
        let later = root.into_iter();
        let later = later.flat_map(|root| [root.documents, root.growing, root.former]);
        let names = self.names.clone();
        let first = [names.documents, names.words, names.root];
        let mut aliases = later.flatten().chain(first);
        aliases.try_for_each(|alias| layout::delete(&self.client, &alias))
    }

    fn committed(&self) -> Result<Root, Error> {
        let root = self.committed_of_any_schema()?;
        root.schema.check(&self.client)?;
        Ok(root)
    }

    fn committed_of_any_schema(&self) -> Result<Root, Error> {
        let seen = root::read(&self.client, &self.names)?;
        let root = seen.map(|seen| seen.root).filter(|root| root.commit > 0);
        root.ok_or_else(|| Error::Missing(self.client.name()))
    }

    /// Makes what is missing, and opens the index for writing, whatever its schema.
    fn open(&self) -> Result<ClusterSink, Error> {
        self.check_version()?;
        let (names, shape) = (&self.names, self.shape);
        self.make(&names.root, &layout::root(names, shape))?;
        self.make(&names.words, &layout::words(names, shape))?;
        let root = root::read(&self.client, names)?.map(|seen| seen.root);
        if root.is_none_or(|root| root.documents.is_none()) {
            self.make(&names.documents, &layout::documents(names, shape))?;
        }
        let sink = ClusterSink::open(&self.taker())?;
        sink.clean()?;
        Ok(sink)
    }

    fn check_version(&self) -> Result<(), Error> {
        let answer = self.client.ask(Method::Get, "/", &Value::Null)?;
        let version = &answer["version"];
        let number = version["number"].as_str().unwrap_or_default();
        let major = number
            .split('.')
            .next()
            .and_then(|major| major.parse::<u64>().ok());
        let is_opensearch = version["distribution"] == "opensearch";
        if is_opensearch && major.is_some_and(|major| major >= OLDEST) {
            return Ok(());
        }
        let name = version["distribution"].as_str().unwrap_or("another engine");
        Err(self.client.error(format!(
            "the cluster runs {name} {number}, but ken needs OpenSearch {OLDEST} or newer"
        )))
    }

    fn taker(&self) -> Taker<'_> {
        Taker {
            client: &self.client,
            names: &self.names,
            holder: &self.holder,
            ttl: self.ttl,
            watch: &self.watch,
        }
    }

    fn make(&self, alias: &str, body: &Value) -> Result<(), Error> {
        let (status, _) =
            self.client
                .call(Method::Get, &format!("/_alias/{alias}"), &Value::Null)?;
        if status == 200 {
            return Ok(());
        }
        let path = format!("/{}", layout::behind(alias));
        let (status, value) = self.client.call(Method::Put, &path, body)?;
        match status {
            200 => Ok(()),
            // Another machine was faster, or an answer was lost.
            400 if kind(&value) == Some("resource_already_exists_exception") => Ok(()),
            status => Err(self.client.refused(status, &value)),
        }
    }
}

/// Returns who holds a lease, and how far it is.
fn of_lease(lease: &Held) -> String {
    let (n, seconds) = lease.written;
    let holder = &lease.holder;
    let speed = match n / seconds.max(1) {
        0 => String::new(),
        speed => format!(", {speed} a second"),
    };
    let far = match lease.far.as_str() {
        "" => String::new(),
        far => format!("; the whole run: {far}"),
    };
    format!("{holder}: {n} documents written in {seconds} s{speed}{far}")
}

impl Engine for Cluster {
    fn name(&self) -> String {
        self.client.name().display().to_string()
    }

    fn state(&self) -> Result<Vec<(&'static str, String)>, Error> {
        let health = self
            .client
            .ask(Method::Get, "/_cluster/health", &Value::Null)?;
        let n = |name: &str| health[name].as_u64().unwrap_or(0);
        let (nodes, unassigned) = (n("number_of_nodes"), n("unassigned_shards"));
        let colour = health["status"].as_str().unwrap_or("unknown");
        let nodes = if nodes == 1 {
            "1 node".to_owned()
        } else {
            format!("{nodes} nodes")
        };
        let mut lines = vec![(
            "cluster",
            format!("{colour}, {nodes}, {unassigned} shards without a node"),
        )];
        let seen = root::read(&self.client, &self.names)?;
        if let Some(root) = seen.map(|seen| seen.root) {
            lines.extend(root.run().map(|run| ("writer", of_lease(run))));
            let others = root.leases.iter().filter(|lease| lease.share.is_some());
            let others: Vec<String> = others.map(of_lease).collect();
            if !others.is_empty() {
                lines.push(("others", others.join("; ")));
            }
            let n = root.work.offered.len();
            if n > 0 {
                lines.push(("shares", format!("{n} wait for a machine")));
            }
        }
        Ok(lines)
    }

    fn source(&self, reading: &Reading) -> Result<Arc<dyn Source>, Error> {
        let mut root = self.committed()?;
        let mut n_tries = 0;
        loop {
            n_tries += 1;
            // Shares that begin and end in between change nothing.
            let state = |root: &Root| (root.commit, root.run().map(|run| run.term));
            let before = state(&root);
            let source = ClusterSource::open(
                &self.client,
                &self.names,
                root,
                reading.clone(),
                self.scratch.clone(),
            )?;
            // A commit between the two would show its documents under the number of the former one. Where many machines commit
            // all the time, the files of such a commit count as not finished here.
            root = self.committed()?;
            if state(&root) == before || n_tries == MAX_TRIES {
                return Ok(Arc::new(source));
            }
            std::thread::sleep(Duration::from_millis(fastrand::u64(..50)) * n_tries);
        }
    }

    fn last(&self) -> Result<(u64, Meta), Error> {
        let root = self.committed()?;
        Ok((root.commit, root.meta))
    }

    /// Fails too if the cluster is too old.
    fn sink(&self) -> Result<Box<dyn Sink>, Error> {
        if let Some(seen) = root::read(&self.client, &self.names)? {
            seen.root.schema.check(&self.client)?;
        }
        let sink = self.open()?;
        // Another machine may have put an index in its place before this one got the lease.
        sink.check_schema()?;
        Ok(Box::new(sink))
    }

    fn beside(&self, shards: u32) -> Result<Box<dyn Sink>, Error> {
        self.committed_of_any_schema()?;
        let shape = Shape {
            shards,
            ..self.shape
        };
        // What an earlier one left is away before this one begins.
        self.open()?.end(None)?;
        let sink = ClusterSink::open_beside(&self.taker(), |names| {
            self.make(&names.documents, &layout::documents(names, shape))
        })?;
        Ok(Box::new(sink))
    }

    fn source_to_copy(&self) -> Result<Arc<dyn Source>, Error> {
        let source = ClusterSource::open(
            &self.client,
            &self.names,
            self.committed_of_any_schema()?,
            Reading::default(),
            self.scratch.clone(),
        )?;
        Ok(Arc::new(source))
    }

    fn guest(&self) -> Option<Box<dyn Guest>> {
        Some(Box::new(ClusterGuest {
            client: Arc::clone(&self.client),
            names: self.names.clone(),
            holder: self.holder.clone(),
            ttl: self.ttl,
            watch: Arc::clone(&self.watch),
            refused: HashSet::new(),
        }))
    }

    fn tag_log(&self) -> Result<Vec<u8>, Error> {
        let log = tags::read(&self.client, &self.names)?;
        Ok(log.unwrap_or_default().lines)
    }

    fn add_to_tag_log(&self, lines: &str) -> Result<(), Error> {
        let log = match tags::read(&self.client, &self.names)? {
            Some(log) => log,
            None => {
                self.check_version()?;
                self.make(&self.names.root, &layout::root(&self.names, self.shape))?;
                tags::read(&self.client, &self.names)?
                    .ok_or_else(|| Error::Missing(self.client.name()))?
            }
        };
        tags::add(&self.client, &self.names, &log, lines)
    }
}

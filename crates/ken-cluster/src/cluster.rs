//! A cluster as the settings describe it, and the index in it.

use std::sync::Arc;
use std::time::Duration;

use ken_engine::{Error, Sink, Source};
use serde_json::Value;

use crate::client::{Client, Patience, kind};
use crate::http::{Http, Method};
use crate::layout::{self, Names, Shape};
use crate::root;
use crate::sink::ClusterSink;
use crate::source::{ClusterSource, Reading};

/// The oldest OpenSearch that ken works with.
const OLDEST: u64 = 3;

/// An index in a cluster.
#[derive(Clone)]
pub struct Cluster {
    client: Arc<Client>,
    names: Names,
    shape: Shape,
    ttl: Duration,
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
            ttl: root::TTL,
        }
    }

    /// Takes a lease that is not renewed for lost after this time.
    #[must_use]
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Opens the last commit.
    ///
    /// # Errors
    /// Fails with [`Error::Missing`] if nothing was committed, and if the cluster does not answer.
    pub fn source(&self, reading: Reading) -> Result<Arc<dyn Source>, Error> {
        match root::read(&self.client, &self.names)? {
            Some(seen) if seen.root.commit > 0 => {
                let source = ClusterSource::open(&self.client, &self.names, seen.root, reading)?;
                Ok(Arc::new(source))
            }
            _ => Err(Error::Missing(self.client.name())),
        }
    }

    /// Returns the number of the last commit; none if there is none.
    ///
    /// # Errors
    /// Fails if the cluster does not answer.
    pub fn commit(&self) -> Result<Option<u64>, Error> {
        let seen = root::read(&self.client, &self.names)?;
        Ok(seen
            .map(|seen| seen.root.commit)
            .filter(|commit| *commit > 0))
    }

    /// Opens the index for writing, and makes it if it is not there. `holder` names this machine and process.
    ///
    /// # Errors
    /// Fails with [`Error::Busy`] if another machine writes, and if the cluster does not answer or is too old.
    pub fn sink(&self, holder: &str) -> Result<Box<dyn Sink>, Error> {
        self.check_version()?;
        let (names, shape) = (&self.names, self.shape);
        self.make(&names.root, &layout::root(names, shape))?;
        self.make(&names.words, &layout::words(names, shape))?;
        self.make(&names.documents, &layout::documents(names, shape))?;
        Ok(Box::new(ClusterSink::open(
            &self.client,
            names,
            holder,
            self.ttl,
        )?))
    }

    /// Deletes the index with all that it holds.
    ///
    /// # Errors
    /// Fails if the cluster does not answer.
    pub fn delete(&self) -> Result<(), Error> {
        for alias in [&self.names.root, &self.names.words, &self.names.documents] {
            let path = format!("/{}", layout::behind(alias));
            let (status, value) = self.client.call(Method::Delete, &path, &Value::Null)?;
            if !matches!(status, 200 | 404) {
                return Err(self.client.refused(status, &value));
            }
        }
        Ok(())
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

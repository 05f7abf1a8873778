//! The shares of a run: the documents that describe them, and who works on them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ken_engine::Error;
use serde_json::{Value, json};

use crate::client::Client;
use crate::http::Method;
use crate::layout::Names;
use crate::lease::{Watch, lock};
use crate::root::Root;

/// What the machine of a run knows of its shares.
pub(crate) struct RunShares {
    n: AtomicU64,
    watch: Mutex<Watch>,
    ttl: Duration,
}

impl RunShares {
    pub(crate) fn new(ttl: Duration) -> Self {
        Self {
            n: AtomicU64::new(0),
            watch: Mutex::default(),
            ttl,
        }
    }

    /// Returns the number of the next share.
    pub(crate) fn next(&self) -> u64 {
        self.n.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the leases on shares whose machines are gone, each with its last beat.
    pub(crate) fn gone(&self, root: &Root) -> Vec<(u64, u64)> {
        let mut watch = lock(&self.watch);
        let shares = root.leases.iter().filter(|lease| lease.share.is_some());
        let gone = shares.filter(|lease| watch.is_over(lease, self.ttl));
        gone.map(|lease| (lease.term, lease.beat)).collect()
    }
}

fn path(names: &Names, run: u64, number: u64) -> String {
    format!("/{}/_doc/share-{run}-{number}", names.root)
}

/// Writes the description of a share of the run with a term.
pub(crate) fn write(
    client: &Client,
    names: &Names,
    run: u64,
    number: u64,
    work: &str,
) -> Result<(), Error> {
    let at = format!(
        "{}?op_type=create&require_alias=true",
        path(names, run, number)
    );
    match client.call(Method::Put, &at, &json!({ "work": work }))? {
        // Nobody else writes it: the answer to the first call was lost.
        (200 | 201 | 409, _) => Ok(()),
        (status, value) => Err(client.refused(status, &value)),
    }
}

/// Reads the description of a share; none if its run has ended.
pub(crate) fn read(
    client: &Client,
    names: &Names,
    run: u64,
    number: u64,
) -> Result<Option<String>, Error> {
    let (status, found) = client.call(Method::Get, &path(names, run, number), &Value::Null)?;
    match (status, found["_source"]["work"].as_str()) {
        (200, Some(work)) => Ok(Some(work.to_owned())),
        (404, _) => Ok(None),
        (200, None) => Err(client.error(format!("share {number} is empty"))),
        (status, _) => Err(client.refused(status, &found)),
    }
}

/// Deletes the descriptions of all shares of a run.
pub(crate) fn forget(client: &Client, names: &Names, run: u64, n: u64) -> Result<(), Error> {
    for number in 1..=n {
        let (status, value) =
            client.call(Method::Delete, &path(names, run, number), &Value::Null)?;
        if !matches!(status, 200 | 404) {
            return Err(client.refused(status, &value));
        }
    }
    Ok(())
}

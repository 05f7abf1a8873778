//! The shares of a run: the documents that describe them, and who works on them.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ken_engine::Error;
use serde_json::{Value, json};

use crate::bulk::{self, Deed, Item, Outcome};
use crate::client::Client;
use crate::http::Method;
use crate::layout::Names;
use crate::lease::{Watch, lock};
use crate::root::Root;

/// The version of the deletion of a description, which has the version 1, and one more for each outcome.
const AFTER_DESCRIPTION: u64 = 1 << 30;
/// The longest outcome in bytes that is kept in the root document, which each machine reads again and again.
pub(crate) const SHORT: usize = 1_000;
/// The descriptions that are deleted at once.
const AT_ONCE: usize = 10_000;

/// What the machine of a run knows of its shares.
pub(crate) struct RunShares {
    n: AtomicU64,
    /// The shares whose descriptions are there.
    described: Mutex<BTreeSet<u64>>,
    watch: Mutex<Watch>,
    ttl: Duration,
}

impl RunShares {
    pub(crate) fn new(ttl: Duration) -> Self {
        Self {
            n: AtomicU64::new(0),
            described: Mutex::default(),
            watch: Mutex::default(),
            ttl,
        }
    }

    /// Returns the number of the next share.
    pub(crate) fn next(&self) -> u64 {
        let number = self.n.fetch_add(1, Ordering::Relaxed) + 1;
        self.described().insert(number);
        number
    }

    /// Returns the shares whose descriptions are there.
    pub(crate) fn all_described(&self) -> Vec<u64> {
        self.described().iter().copied().collect()
    }

    /// Notes that some descriptions are gone.
    pub(crate) fn note_forgotten(&self, numbers: &[u64]) {
        let mut described = self.described();
        for number in numbers {
            described.remove(number);
        }
    }

    fn described(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.described
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the leases on shares whose machines are gone, each with its last beat.
    pub(crate) fn gone(&self, root: &Root) -> Vec<(u64, u64)> {
        let mut watch = lock(&self.watch);
        let shares = root.leases.iter().filter(|lease| lease.share.is_some());
        let gone = shares.filter(|lease| watch.is_over(lease, self.ttl));
        gone.map(|lease| (lease.term, lease.beat)).collect()
    }
}

fn id(run: u64, number: u64) -> String {
    format!("share-{run}-{number}")
}

fn outcome_of(term: u64) -> String {
    format!("outcome-{term}")
}

fn path(names: &Names, run: u64, number: u64) -> String {
    format!("/{}/_doc/{}", names.root, id(run, number))
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
    described(client, names, run, number, "work")
}

/// Reads a part of the description of a share; none if it is not there.
fn described(
    client: &Client,
    names: &Names,
    run: u64,
    number: u64,
    part: &str,
) -> Result<Option<String>, Error> {
    let at = format!("{}?_source_includes={part}", path(names, run, number));
    let (status, found) = client.call(Method::Get, &at, &Value::Null)?;
    match status {
        200 => Ok(found["_source"][part].as_str().map(str::to_owned)),
        404 => Ok(None),
        status => Err(client.refused(status, &found)),
    }
}

/// Keeps the outcome of a share with its description, under the term of the lease; returns whether it did. A node may refuse one
/// that is too large for it. If the run has ended, nobody needs it.
pub(crate) fn keep_outcome(
    client: &Client,
    names: &Names,
    run: u64,
    number: u64,
    (term, outcome): (u64, &str),
) -> Result<bool, Error> {
    let at = format!(
        "/{}/_update/{}?require_alias=true&retry_on_conflict=3",
        names.root,
        id(run, number)
    );
    let body = json!({ "doc": { (outcome_of(term)): outcome } });
    match client.call(Method::Post, &at, &body)? {
        (200 | 201 | 404, _) => Ok(true),
        (413, _) => Ok(false),
        (status, value) => Err(client.refused(status, &value)),
    }
}

/// Reads the outcome of a share that a lease left; nothing if there is none.
pub(crate) fn outcome(
    client: &Client,
    names: &Names,
    run: u64,
    number: u64,
    term: u64,
) -> Result<String, Error> {
    let outcome = described(client, names, run, number, &outcome_of(term))?;
    Ok(outcome.unwrap_or_default())
}

/// Deletes descriptions of shares of a run, for as long as this machine may.
pub(crate) fn forget(
    client: &Client,
    names: &Names,
    run: u64,
    numbers: &[u64],
    may_write: &dyn Fn() -> Result<(), Error>,
) -> Result<(), Error> {
    let deletion = |number: &u64| Item {
        index: names.root.clone(),
        id: id(run, *number),
        routing: None,
        deed: Deed::Delete {
            version: AFTER_DESCRIPTION,
        },
    };
    for numbers in numbers.chunks(AT_ONCE) {
        let items: Vec<Item> = numbers.iter().map(deletion).collect();
        for outcome in bulk::write(client, &items, may_write)? {
            if let Outcome::Refused(reason) = outcome {
                return Err(client.error(format!("the deletion of a share: {reason}")));
            }
        }
    }
    Ok(())
}

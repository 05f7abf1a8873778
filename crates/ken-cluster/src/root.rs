//! The one document that describes the index as a whole, and says who may write.
//!
//! It holds what the payload of a commit holds in the embedded engine, and the leases. It is changed by comparing and
//! exchanging (`if_seq_no`), so of two machines one wins, and the other one looks again. Each lease has a greater *term* than all
//! before it, and all versions of its writes are greater than those of earlier terms: what a machine sends that lost its
//! lease is refused wherever a newer write was.
//!
//! One lease is that of the run, which walks and commits the meta. The others are on shares of its work. They live no longer than
//! that of the run: who takes the run takes all of them away.

use ken_engine::{Error, Meta};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::client::Client;
use crate::http::{Method, SMALL};
use crate::layout::Names;
use crate::schema::Schema;

/// The bits of the number of a commit that count the commits of one term.
const COMMITS: u32 = 24;

/// The state of an index.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Root {
    pub(crate) meta: Meta,
    /// The number of the last commit, whichever lease made it.
    pub(crate) commit: u64,
    /// The number of leases so far.
    pub(crate) term: u64,
    /// Who may write.
    #[serde(default)]
    pub(crate) leases: Vec<Held>,
    /// Commits that a lost lease had under way. Files of them count as not finished.
    #[serde(default)]
    pub(crate) aborted: Vec<u64>,
    /// What the run shares with other machines.
    #[serde(default)]
    pub(crate) work: Work,
    /// What the last run said at its end.
    #[serde(default)]
    pub(crate) ended: String,
    /// That of the index of documents.
    #[serde(default)]
    pub(crate) schema: Schema,
    /// The alias of the index of documents, if it is not the first one.
    #[serde(default)]
    pub(crate) documents: Option<String>,
    /// The alias of an index that is being filled beside it.
    #[serde(default)]
    pub(crate) growing: Option<String>,
    /// The alias of the index that was there before, which readers may still have open.
    #[serde(default)]
    pub(crate) former: Option<String>,
}

/// A lease.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Held {
    pub(crate) term: u64,
    /// The machine and process, for people; nobody if the lease is over.
    pub(crate) holder: String,
    /// A random number, by which the holder knows its own lease.
    pub(crate) by: u64,
    /// The share of the work; absent for the lease of the run.
    #[serde(default)]
    pub(crate) share: Option<u64>,
    /// The number of its commits.
    pub(crate) commits: u64,
    /// Changes with each renewal.
    pub(crate) beat: u64,
    /// The documents that the holder had written at its last renewal, and the seconds that it took.
    pub(crate) written: (u64, u64),
    /// How far its run is, all machines together, for people.
    #[serde(default)]
    pub(crate) far: String,
}

/// The work that a run shares.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Work {
    /// The number of shares so far.
    pub(crate) n_shares: u64,
    /// Shares that nobody has claimed.
    pub(crate) offered: Vec<u64>,
    /// Shares that are done, until the run has seen their outcomes.
    pub(crate) done: Vec<(u64, Outcome)>,
}

/// What became of a share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Outcome {
    /// A short one.
    Here(String),
    /// It is with the description of the share, under the term of the lease: a machine that lost the share may write another
    /// one.
    Kept(u64),
}

/// Returns the number by which documents name the commit that holds them.
pub(crate) fn commit_of(term: u64, n: u64) -> u64 {
    term << COMMITS | n
}

impl Root {
    /// Returns the state of a new index.
    pub(crate) fn new() -> Self {
        Self {
            meta: Meta::new(),
            commit: 0,
            term: 0,
            leases: Vec::new(),
            aborted: Vec::new(),
            work: Work::default(),
            ended: String::new(),
            schema: Schema::own(),
            documents: None,
            growing: None,
            former: None,
        }
    }

    /// Returns whether what was written for a commit is a part of the index.
    pub(crate) fn holds(&self, made: u64) -> bool {
        let (term, n) = (made >> COMMITS, made & ((1 << COMMITS) - 1));
        let is_committed = match self.lease(term) {
            Some(lease) => n <= lease.commits,
            None => term <= self.term,
        };
        is_committed && !self.aborted.contains(&made)
    }

    /// Returns the names of the indices.
    pub(crate) fn names(&self, names: &Names) -> Names {
        let documents = self.documents.as_ref().unwrap_or(&names.documents);
        Names {
            documents: documents.clone(),
            ..names.clone()
        }
    }

    /// Puts the index that was filled beside the other one in its place. Its documents name one commit only.
    pub(crate) fn exchange(&mut self, names: &Names, new: &str) {
        self.former = Some(self.names(names).documents);
        self.documents = Some(new.to_owned());
        self.growing = None;
        self.schema = Schema::own();
        self.aborted.clear();
    }

    /// Returns a lease by its term.
    pub(crate) fn lease(&self, term: u64) -> Option<&Held> {
        self.leases.iter().find(|lease| lease.term == term)
    }

    /// Returns a lease by its term, to change it.
    pub(crate) fn lease_mut(&mut self, term: u64) -> Option<&mut Held> {
        self.leases.iter_mut().find(|lease| lease.term == term)
    }

    /// Returns the lease of the run.
    pub(crate) fn run(&self) -> Option<&Held> {
        self.leases.iter().find(|lease| lease.share.is_none())
    }

    /// Gives a lease to a holder.
    pub(crate) fn begin(&mut self, holder: &str, by: u64, share: Option<u64>) {
        self.term += 1;
        self.leases.push(Held {
            term: self.term,
            holder: holder.to_owned(),
            by,
            share,
            commits: 0,
            beat: 0,
            written: (0, 0),
            far: String::new(),
        });
    }

    /// Counts a commit of a lease.
    pub(crate) fn commit(&mut self, term: u64) {
        self.commit += 1;
        if let Some(lease) = self.lease_mut(term) {
            lease.commits += 1;
        }
    }

    /// Ends a lease. Unless it is clean, it may have written what its last commit does not have.
    pub(crate) fn end(&mut self, term: u64, is_clean: bool) {
        let Some(at) = self.leases.iter().position(|lease| lease.term == term) else {
            return;
        };
        let lease = self.leases.remove(at);
        if !is_clean {
            self.aborted.push(commit_of(term, lease.commits + 1));
        }
    }

    /// Ends a lease whose holder is gone, unless it was renewed since, and offers its share again.
    pub(crate) fn take_back(&mut self, term: u64, beat: u64) {
        let lease = self.lease(term).filter(|lease| lease.beat == beat);
        if let Some(share) = lease.and_then(|lease| lease.share) {
            self.end(term, false);
            self.work.offered.push(share);
        }
    }

    /// Ends the lease of the run with all shares of its work.
    pub(crate) fn end_run(&mut self, is_clean: bool) {
        let run = self.run().map(|lease| lease.term);
        let terms: Vec<u64> = self.leases.iter().map(|lease| lease.term).collect();
        for term in terms {
            self.end(term, is_clean && Some(term) == run);
        }
        self.work = Work::default();
        self.ended.clear();
    }
}

/// A document with what a change compares.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) root: Root,
    seq_no: u64,
    primary_term: u64,
}

fn path(names: &Names) -> String {
    format!("/{}/_doc/root", names.root)
}

/// Reads the document; none if the index was never made.
pub(crate) fn read(client: &Client, names: &Names) -> Result<Option<Seen>, Error> {
    let (status, value) = client.call_within(SMALL, Method::Get, &path(names), &Value::Null)?;
    match status {
        200 => {}
        404 => return Ok(None),
        status => return Err(client.refused(status, &value)),
    }
    let number = |name: &str| value.get(name).and_then(Value::as_u64).unwrap_or_default();
    let source = value.get("_source").and_then(|source| source.get("root"));
    let root = source.and_then(Value::as_str).unwrap_or_default();
    let root = serde_json::from_str(root).map_err(|error| Error::Damaged {
        path: client.name(),
        message: format!("its root document: {error}"),
    })?;
    Ok(Some(Seen {
        root,
        seq_no: number("_seq_no"),
        primary_term: number("_primary_term"),
    }))
}

/// Puts a document in place of the one that was seen, or where there was none. None if there is another one now, which may
/// be this one: an answer that was lost makes the second call a conflict with the first.
pub(crate) fn exchange(
    client: &Client,
    names: &Names,
    root: &Root,
    seen: Option<&Seen>,
) -> Result<Option<Seen>, Error> {
    let condition = match seen {
        Some(seen) => format!(
            "if_seq_no={}&if_primary_term={}",
            seen.seq_no, seen.primary_term
        ),
        None => "op_type=create".to_owned(),
    };
    let text = serde_json::to_string(root).map_err(|error| client.error(error.to_string()))?;
    let at = format!("{}?{condition}&require_alias=true", path(names));
    let body = json!({ "root": text });
    let (status, value) = client.call_within(SMALL, Method::Put, &at, &body)?;
    let number = |name: &str| value.get(name).and_then(Value::as_u64).unwrap_or_default();
    match status {
        200 | 201 => Ok(Some(Seen {
            root: root.clone(),
            seq_no: number("_seq_no"),
            primary_term: number("_primary_term"),
        })),
        409 => Ok(None),
        status => Err(client.refused(status, &value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_holds_what_its_leases_committed() {
        let mut root = Root::new();
        root.begin("a", 1, None);
        root.commit(1);
        root.begin("b", 2, Some(1));
        assert!(root.holds(commit_of(1, 1)) && !root.holds(commit_of(1, 2)));
        assert!(!root.holds(commit_of(2, 1)) && !root.holds(commit_of(3, 1)));
        root.commit(2);
        root.end(2, false);
        assert!(root.holds(commit_of(2, 1)) && !root.holds(commit_of(2, 2)));
        root.begin("b", 3, Some(2));
        root.end_run(true);
        assert!(root.leases.is_empty() && !root.holds(commit_of(3, 1)));
        assert_eq!(root.aborted, [commit_of(2, 2), commit_of(3, 1)]);
        assert_eq!(root.commit, 2);
    }
}

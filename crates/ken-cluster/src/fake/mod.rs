//! A cluster in memory that answers by the rules of OpenSearch, and fails as tests ask it to.
//!
//! It keeps identifiers, versions, sequence numbers and tombstones, and what searches see only since the last refresh. The
//! rules are those of <https://docs.opensearch.org/latest/api-reference/document-apis/bulk/> and of the decision that
//! measured them on a node.

#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "it is a part of tests, which panic where something is wrong"
)]
#![cfg_attr(
    not(test),
    allow(dead_code, reason = "tests of other crates use the half of it")
)]

mod answer;
mod bulk;
mod query;
mod search;
mod server;

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

pub use server::Server;

/// What happens to a bulk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    /// Nothing.
    None,
    /// The connection breaks before the node has read the call.
    ResetBefore,
    /// The connection breaks after the node did what was asked.
    ResetAfter,
    /// The answer ends in the middle, after the node did what was asked.
    Torn,
    /// The node refuses the whole call for a while.
    Busy,
    /// The node takes no call of more than this number of items.
    AtMost(usize),
    /// Each item whose number this divides is refused for a while.
    SomeItems(usize),
    /// Writes are blocked, as a disk is nearly full.
    Blocked,
    /// The call is under way for long, and its sender hears nothing.
    Late,
}

/// A document, or the tombstone of one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Stored {
    pub(crate) version: u64,
    /// None for a tombstone.
    pub(crate) source: Option<Value>,
    seq_no: u64,
}

/// The documents of one index, by identifier.
pub(crate) type Documents = BTreeMap<String, Stored>;

/// Looks at all documents after one was written.
pub(crate) type Watch = Box<dyn Fn(&Documents, &str) + Send + Sync>;

/// The cluster.
#[derive(Default)]
pub struct Fake {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The documents by the alias of their index.
    indices: BTreeMap<String, Documents>,
    /// The indices that writes made by themselves: their name is what should be an alias.
    by_mistake: HashSet<String>,
    /// What searches see of them.
    visible: BTreeMap<String, Arc<Documents>>,
    /// The points in time that are open.
    points: HashMap<String, Arc<Documents>>,
    seq_no: u64,
    faults: VecDeque<Fault>,
    /// Nodes that cannot be reached.
    cut_off: HashSet<String>,
    /// Bulks that did not reach the node yet.
    late: Vec<Vec<u8>>,
    watch: Option<Watch>,
    n_bulks: usize,
    /// Whether the answer to the next document that is put alone is lost.
    loses_answer: bool,
    has_no_root: bool,
    /// A number in the root document that grows whenever it is read.
    grows: Option<&'static str>,
}

impl Fake {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes bulks fail in this way, one after the other.
    pub(crate) fn fail(&self, faults: impl IntoIterator<Item = Fault>) {
        self.state().faults.extend(faults);
    }

    /// Ends the failures of bulks.
    pub(crate) fn forgive(&self) {
        self.state().faults.clear();
    }

    /// Calls this after each document that is written.
    pub(crate) fn watch(&self, watch: Watch) {
        self.state().watch = Some(watch);
    }

    /// Returns whether there is an index behind an alias.
    pub(crate) fn has_index(&self, alias: &str) -> bool {
        self.state().indices.contains_key(alias)
    }

    /// Returns the aliases of all indices.
    pub(crate) fn indices(&self) -> Vec<String> {
        self.state().indices.keys().cloned().collect()
    }

    /// Has every change of the root document fail, or not.
    pub(crate) fn cut_off_root(&self, is_cut_off: bool) {
        self.state().has_no_root = is_cut_off;
    }

    /// Has a number in the root document grow whenever it is read.
    pub(crate) fn grow(&self, number: Option<&'static str>) {
        self.state().grows = number;
    }

    /// Returns the identifiers of the documents beside the root document, and its own.
    pub(crate) fn root_documents(&self) -> Vec<String> {
        let mut state = self.state();
        let documents = state.index("t-root").iter();
        let there = documents.filter(|(_, stored)| stored.source.is_some());
        there.map(|(id, _)| id.clone()).collect()
    }

    /// Loses the answer to the next document that is put alone.
    pub(crate) fn lose_answer(&self) {
        self.state().loses_answer = true;
    }

    /// Returns the indices that writes made by themselves.
    pub(crate) fn by_mistake(&self) -> Vec<String> {
        self.state().by_mistake.iter().cloned().collect()
    }

    /// Cuts off a node. Bulks that are sent to it are kept.
    pub(crate) fn cut_off(&self, node: &str) {
        self.state().cut_off.insert(node.to_owned());
    }

    /// Lets a node be reached again.
    pub(crate) fn join(&self, node: &str) {
        self.state().cut_off.remove(node);
    }

    /// Delivers the bulks that were sent to nodes that were cut off.
    pub(crate) fn deliver_late(&self) -> usize {
        let mut state = self.state();
        let late = std::mem::take(&mut state.late);
        late.iter()
            .for_each(|body| _ = state.bulk(body, Fault::None));
        late.len()
    }

    /// Returns the files of the shares that a run has described.
    pub fn shared_files(&self, name: &str) -> Vec<PathBuf> {
        let mut state = self.state();
        let shares = state.index(&format!("{name}-root")).iter();
        let shares = shares.filter(|(id, _)| id.starts_with("share-"));
        let works = shares.filter_map(|(_, share)| {
            let work = share.source.as_ref()?["work"].as_str()?;
            serde_json::from_str::<Value>(work).ok()
        });
        let files = works.flat_map(|work| work["files"].as_array().cloned().unwrap_or_default());
        files
            .filter_map(|file| file["path"].as_str().map(PathBuf::from))
            .collect()
    }

    /// Returns the root document of an index, once there is one.
    pub fn root(&self, name: &str) -> Option<Value> {
        let mut state = self.state();
        let root = state
            .index(&format!("{name}-root"))
            .get("root")?
            .source
            .clone()?;
        serde_json::from_str(root["root"].as_str()?).ok()
    }

    /// Changes the root document of an index, as another machine does.
    pub fn change_root(&self, name: &str, change: impl FnOnce(&mut Value)) {
        let mut state = self.state();
        let alias = format!("{name}-root");
        let mut source = state.index(&alias)["root"].source.clone().unwrap();
        let mut root: Value = serde_json::from_str(source["root"].as_str().unwrap()).unwrap();
        change(&mut root);
        source["root"] = json!(root.to_string());
        let seq_no = state.next_seq_no();
        let stored = Stored {
            version: 1,
            source: Some(source),
            seq_no,
        };
        state.index(&alias).insert("root".to_owned(), stored);
    }

    /// Ends the lease of a process that died, as if its time had passed.
    pub(crate) fn end_lease(&self) {
        self.change_root("t", |root| {
            for lease in root["leases"].as_array_mut().unwrap() {
                lease["holder"] = json!("");
            }
        });
    }

    /// Returns the commits that lost leases had under way.
    pub(crate) fn aborted(&self) -> Vec<u64> {
        let root = self.state().index("t-root")["root"].source.clone().unwrap();
        let root: Value = serde_json::from_str(root["root"].as_str().unwrap()).unwrap();
        serde_json::from_value(root["aborted"].clone()).unwrap()
    }

    pub(crate) fn n_bulks(&self) -> usize {
        self.state().n_bulks
    }

    /// Returns the documents that are there, whether searches see them or not, without tombstones.
    pub(crate) fn documents(&self) -> Documents {
        let mut documents = self.state().index("t-documents").clone();
        documents.retain(|_, stored| stored.source.is_some());
        documents
    }

    /// Returns the words that are there.
    pub(crate) fn words(&self) -> HashSet<String> {
        let words = self.state().index("t-words").clone().into_values();
        let terms = words.filter_map(|stored| Some(stored.source?["term"].as_str()?.to_owned()));
        terms.collect()
    }
}

impl State {
    fn index(&mut self, alias: &str) -> &mut Documents {
        self.indices.entry(alias.to_owned()).or_default()
    }

    fn next_seq_no(&mut self) -> u64 {
        self.seq_no += 1;
        self.seq_no
    }
}

//! Documents of the cluster, indexed by the embedded engine for one request.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use ken_core::{Field, Location, Plan, Value};
use ken_engine::{DocAddress, Error, Meta, Reading, Record, Sink, Source};
use ken_index::{Counts, Snapshot, Writer, WriterOptions};
use tempfile::TempDir;

/// Some documents in an index of their own, which is deleted with the value.
pub(super) struct Local {
    snapshot: Snapshot,
    ids: HashMap<Vec<u8>, String>,
    /// The plan for these documents.
    plan: Plan,
    _folder: TempDir,
}

/// What a plan asks for that depends on other documents is marked in those that have it, in a field that documents do not
/// have otherwise but for who may read them, which is written otherwise ([`ken_core::access`]).
pub(super) const MARK: Field = Field::Thread;

/// Returns the mark of one of the relations of a plan.
pub(super) fn mark(relation: usize) -> String {
    format!("relation {relation}")
}

impl Local {
    /// Indexes documents, each with its identifier and the numbers of the relations that it has.
    pub(super) fn new(
        documents: Vec<(String, Record, Vec<usize>)>,
        (reading, scratch): (&Reading, Option<&Path>),
        counts: Arc<dyn Counts>,
        (plan, meta): (Plan, &Meta),
    ) -> Result<Self, Error> {
        let folder = match scratch {
            Some(scratch) => {
                fs_err::create_dir_all(scratch)?;
                TempDir::new_in(scratch)?
            }
            None => TempDir::new()?,
        };
        let ids = write(folder.path(), documents, meta)?;
        let snapshot = Snapshot::open(folder.path())?
            .with_ranking(reading.ranking.clone())
            .with_counts(counts);
        Ok(Self {
            snapshot,
            ids,
            plan,
            _folder: folder,
        })
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the address here of the document with an identifier, if it is here.
    pub(super) fn address(&self, id: &str) -> Result<Option<DocAddress>, Error> {
        let found = self.ids.iter().find(|(_, known)| *known == id);
        let location = found.map(|(location, _)| Location::from_bytes(location));
        location.map_or(Ok(None), |at| self.snapshot.document_at(&at))
    }

    pub(super) fn source(&self) -> &dyn Source {
        &self.snapshot
    }

    /// Returns the identifiers of documents in the cluster, by their addresses here.
    pub(super) fn ids(&self, at: &[DocAddress]) -> Result<Vec<String>, Error> {
        let locations = self.snapshot.locations(at)?.into_iter();
        let ids = locations.map(|location| self.ids.get(&location.to_bytes()).cloned());
        Ok(ids.map(Option::unwrap_or_default).collect())
    }
}

fn write(
    folder: &Path,
    documents: Vec<(String, Record, Vec<usize>)>,
    meta: &Meta,
) -> Result<HashMap<Vec<u8>, String>, Error> {
    let few = WriterOptions {
        memory_bytes: 0,
        threads: 1,
    };
    let writer = Writer::open(folder, few)?;
    writer.set_synced(false);
    writer.set_bulk(true);
    let mut ids = HashMap::new();
    for (id, mut record, relations) in documents {
        ids.insert(record.location.to_bytes(), id);
        let marks = relations
            .into_iter()
            .map(|relation| (MARK, Value::Text(mark(relation))));
        record.document.fields.extend(marks);
        writer.add(record)?;
    }
    // With the keys of the cluster, by which documents are found.
    writer.commit(meta)?;
    writer.close()?;
    Ok(ids)
}

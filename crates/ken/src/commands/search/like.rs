//! `ken search --like PATH`: documents similar to one, whether the index knows that or not.

use std::path::Path;

use ken_core::{Field, Ipath, Location, Plan};
use ken_extract::{Extractor, Input};
use ken_index::{DocAddress, Snapshot};
use ken_search::plan::Analyze;

use super::target::Target;
use crate::cli::Global;
use crate::config::Settings;
use crate::failure::{Failure, Kind};

/// What a document has in common with others.
pub(crate) struct Like {
    pub(crate) plan: Plan,
    /// The document itself, which is not similar but the same.
    pub(crate) own: Vec<DocAddress>,
}

impl Like {
    pub(crate) fn of(
        global: &Global,
        snapshot: &Snapshot,
        named: &Path,
        analyze: Analyze,
    ) -> Result<Self, Failure> {
        let target = Target::find(snapshot, named)?;
        let text = if target.addresses.is_empty() {
            extracted(global, named)?
        } else {
            kept(snapshot, &target)?
        };
        let mut frequency = |term: &str| snapshot.n_documents_with(Field::Body, term);
        let n_documents = snapshot.n_documents();
        let plan = ken_search::like::like(&text, analyze, n_documents, &mut frequency)?;
        Ok(Self {
            plan,
            own: target.addresses,
        })
    }

    /// Returns the plan for what is similar and is found by a query too.
    pub(crate) fn among(&self, query: Plan) -> Plan {
        match query {
            Plan::All => self.plan.clone(),
            query => Plan::And(vec![self.plan.clone(), Plan::Filter(Box::new(query))]),
        }
    }
}

/// Returns the text that the index keeps of a document, with that of its parts if it has none.
fn kept(snapshot: &Snapshot, target: &Target) -> Result<String, Failure> {
    let mut own = String::new();
    let mut parts = String::new();
    for address in &target.addresses {
        let stored = snapshot.document(*address)?;
        let is_own = stored.location.ipath == target.ipath;
        add(
            if is_own { &mut own } else { &mut parts },
            &stored.document.body,
        );
    }
    Ok(if own.trim().is_empty() { parts } else { own })
}

fn extracted(global: &Global, path: &Path) -> Result<String, Failure> {
    let settings = Settings::load(global)?;
    let mut options = settings.extraction()?;
    options.helpers = settings.helpers(global)?;
    let file = fs_err::File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        let message = format!("\"{}\" is not a regular file", path.display());
        return Err(Failure::new(Kind::Input, message));
    }
    let name = Location::file(path).file_name();
    let mut input = Input::file(name, file.file(), metadata.len());
    let mut own = String::new();
    let mut parts = String::new();
    Extractor::new(&options).extract_all(&mut input, &mut |document| {
        let is_own = document.ipath == Ipath::root();
        add(if is_own { &mut own } else { &mut parts }, &document.body);
    });
    Ok(if own.trim().is_empty() { parts } else { own })
}

/// Texts of many parts are not joined beyond this.
const TEXT_BYTES: usize = 1 << 20;

fn add(text: &mut String, body: &str) {
    if text.len() < TEXT_BYTES {
        text.push_str(body);
        text.push('\n');
    }
}

//! `ken status --missing-helpers`: helpers that files wait for.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use ken_core::{Cause, Field, Order, Pattern, Plan, SortKey};
use ken_engine::Source;
use ken_extract::helper::packages;
use serde_json::json;

use crate::failure::Failure;
use crate::output;

/// The files that wait for one helper.
#[derive(Default)]
struct Waiting {
    files: BTreeSet<std::path::PathBuf>,
    types: BTreeSet<String>,
}

/// Lists the helpers; ends with 1 if there are none, as a search does.
pub(super) fn run(snapshot: &dyn Source, as_json: bool) -> Result<ExitCode, Failure> {
    let plan = Plan::Filter(Box::new(Plan::Match {
        field: Field::Is,
        pattern: Pattern::Term("missing".to_owned()),
    }));
    let order = Order {
        key: SortKey::Path,
        reverse: false,
    };
    let mut all: BTreeMap<String, Waiting> = BTreeMap::new();
    for hit in &snapshot.run(&plan, order, 0, usize::MAX)?.hits {
        let stored = snapshot.document(hit.address)?;
        let failure = stored.document.failure;
        if let Some(Cause::Missing { what, .. }) = failure.map(|failure| failure.cause) {
            let waiting = all.entry(what).or_default();
            waiting.files.insert(stored.location.path);
            waiting.types.insert(stored.document.media_type);
        }
    }
    for (what, waiting) in &all {
        output::print(&line(what, waiting, as_json))?;
    }
    Ok(ExitCode::from(u8::from(all.is_empty())))
}

fn line(what: &str, waiting: &Waiting, as_json: bool) -> Vec<u8> {
    let n_files = waiting.files.len();
    if as_json {
        return output::json_line(&json!({
            "v": output::SCHEMA,
            "helper": what,
            "packages": packages(what),
            "files": n_files,
            "types": waiting.types,
        }));
    }
    let types: Vec<_> = waiting.types.iter().map(String::as_str).collect();
    let unit = if n_files == 1 { "file" } else { "files" };
    format!(
        "{}\t{n_files} {unit}\t{}\n    {}\n",
        output::clean(what),
        output::clean(&types.join(" ")),
        output::clean(&output::install(what)),
    )
    .into_bytes()
}

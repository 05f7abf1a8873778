//! `ken status`: what is indexed, what failed.

use std::process::ExitCode;

use ken_core::{Field, Order, Plan, SortKey, escape_bytes};
use ken_index::{Snapshot, Statistics};
use serde_json::json;

use crate::cli::{Global, StatusArgs};
use crate::config;
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(global: &Global, args: &StatusArgs) -> Result<ExitCode, Failure> {
    let data = config::data_folder(global)?;
    let snapshot = Snapshot::open(&data.join("index"))?;
    if args.failed {
        return failed(args, &snapshot);
    }
    let statistics = snapshot.statistics()?;
    let meta = snapshot.meta();
    let roots = meta.roots.iter().map(|root| {
        let path = escape_bytes(root.path.as_os_str().as_encoded_bytes()).into_owned();
        output::clean(&path).into_owned()
    });
    let roots: Vec<String> = roots.collect();
    if args.json {
        let object = json!({
            "v": output::SCHEMA,
            "data": data.to_string_lossy(),
            "roots": meta.roots,
            "completed": meta.completed.map(output::time),
            "documents": statistics.documents,
            "files": statistics.files,
            "failed": statistics.failed,
            "types": statistics.kinds,
            "segments": statistics.segments,
            "bytes": statistics.bytes,
        });
        output::print(&output::json_line(&object))?;
    } else {
        let completed = meta.completed.map(output::time);
        output::print(text(&data.to_string_lossy(), &roots, completed, &statistics).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(
    data: &str,
    roots: &[String],
    completed: Option<String>,
    statistics: &Statistics,
) -> String {
    let mut text = format!("data       {data}\n");
    for root in roots {
        text.push_str(&format!("root       {root}\n"));
    }
    let completed = completed.unwrap_or_else(|| "never: run ken index to its end".to_owned());
    text.push_str(&format!("complete   {completed}\n"));
    text.push_str(&format!("files      {}\n", statistics.files));
    text.push_str(&format!("documents  {}\n", statistics.documents));
    for (kind, count) in &statistics.kinds {
        text.push_str(&format!("  {kind:<14} {count}\n"));
    }
    text.push_str(&format!("failed     {}\n", statistics.failed));
    let bytes = output::size(i64::try_from(statistics.bytes).unwrap_or(i64::MAX));
    text.push_str(&format!(
        "index      {bytes} in {} segments\n",
        statistics.segments
    ));
    text
}

/// Lists what could not be read; like a search, ends with 1 if there is nothing.
fn failed(args: &StatusArgs, snapshot: &Snapshot) -> Result<ExitCode, Failure> {
    let plan = Plan::Filter(Box::new(Plan::Term {
        field: Field::Is,
        term: "failed".to_owned(),
    }));
    let order = Order {
        key: SortKey::Path,
        reverse: false,
    };
    let found = snapshot.run(&plan, order, 0, usize::MAX)?;
    for hit in &found.hits {
        let stored = snapshot.document(hit.address)?;
        let Some(failure) = &stored.document.failure else {
            continue;
        };
        let path = escape_bytes(stored.location.path.as_os_str().as_encoded_bytes()).into_owned();
        let line = if args.json {
            output::json_line(&json!({
                "v": output::SCHEMA,
                "path": path,
                "ipath": stored.location.ipath,
                "mime": stored.document.media_type,
                "reason": failure.reason,
                "message": failure.message,
            }))
        } else {
            let location = stored.location.to_string();
            format!(
                "{}\t{}\t{}\n",
                output::clean(&location),
                failure.reason.name(),
                output::clean(&failure.message)
            )
            .into_bytes()
        };
        output::print(&line)?;
    }
    Ok(ExitCode::from(u8::from(found.hits.is_empty())))
}

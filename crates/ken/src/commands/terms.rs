//! `ken terms`: the words of the index and how often they are there.
//!
//! Sorted by term they are printed as they are read, however many there are. Sorted by a count,
//! those of the page are kept in a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;

use ken_core::{FIELDS, Field, FieldKind, FieldNames};
use ken_index::{Snapshot, TermCount, TermList};
use serde_json::json;

use crate::cli::{Global, TermSort, TermsArgs};
use crate::config::data_folder;
use crate::failure::{Failure, Kind};
use crate::output;

/// Terms that are printed when they are sorted by a count and no limit is given.
const DEFAULT_LIMIT: usize = 100;

pub(crate) fn run(global: &Global, args: &TermsArgs) -> Result<ExitCode, Failure> {
    let snapshot = Snapshot::open_for_one_query(&data_folder(global)?.join("index"))?;
    let names = snapshot.meta().field_names();
    let fields = fields(&args.field, &names)?;
    let analyze = |field, text: &str, each: &mut dyn FnMut(&str, u32, std::ops::Range<usize>)| {
        ken_index::analysis::analyze(field, text, each);
    };
    let first = fields.first().copied().unwrap_or(Field::Body);
    let pattern = ken_search::terms::pattern(&args.pattern, first, analyze)?;
    let list = TermList {
        fields: &fields,
        pattern: &pattern,
        by_field: args.by_field,
    };
    let mut printer = Printer {
        out: BufWriter::new(std::io::stdout().lock()),
        names: &names,
        json: args.json,
        n_printed: 0,
    };
    let n_printed = match args.sort {
        TermSort::Term => in_order(&snapshot, &list, args.limit, &mut printer)?,
        sort => by_count(&snapshot, &list, sort, args.limit, &mut printer)?,
    };
    printer.out.flush()?;
    Ok(ExitCode::from(u8::from(n_printed == 0)))
}

/// Returns the fields by their names, or all of text.
fn fields(typed: &[String], names: &FieldNames) -> Result<Vec<Field>, Failure> {
    if typed.is_empty() {
        let text = FIELDS.iter().filter(|info| info.kind == FieldKind::Text);
        return Ok(text.map(|info| info.field).collect());
    }
    let field = |name: &String| {
        let field = names
            .field(name)
            .ok_or_else(|| Failure::new(Kind::Usage, format!("there is no field {name:?}")))?;
        match field.info().kind {
            FieldKind::Text | FieldKind::Keyword | FieldKind::Path => Ok(field),
            _ => Err(Failure::new(
                Kind::Usage,
                format!("the field {name:?} holds numbers, not terms"),
            )),
        }
    };
    let mut fields = typed
        .iter()
        .map(field)
        .collect::<Result<Vec<Field>, Failure>>()?;
    fields.sort_unstable();
    fields.dedup();
    Ok(fields)
}

fn in_order(
    snapshot: &Snapshot,
    list: &TermList<'_>,
    limit: Option<usize>,
    printer: &mut Printer<'_>,
) -> Result<usize, Failure> {
    let limit = limit.filter(|limit| *limit > 0).unwrap_or(usize::MAX);
    let mut result = Ok(());
    snapshot.list_terms(list, &mut |count| {
        result = printer.print(&Row::of(count));
        match result {
            Ok(()) if printer.n_printed < limit => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        }
    })?;
    result?;
    Ok(printer.n_printed)
}

fn by_count(
    snapshot: &Snapshot,
    list: &TermList<'_>,
    sort: TermSort,
    limit: Option<usize>,
    printer: &mut Printer<'_>,
) -> Result<usize, Failure> {
    let limit = match limit.unwrap_or(DEFAULT_LIMIT) {
        0 => usize::MAX,
        limit => limit,
    };
    // The least of those that are kept is on top: the smaller count, then the later term.
    let mut best: BinaryHeap<Reverse<(u64, Reverse<Row>)>> = BinaryHeap::new();
    snapshot.list_terms(list, &mut |count| {
        let key = match sort {
            TermSort::Occurrences => count.occurrences,
            _ => count.documents,
        };
        let is_full = best.len() >= limit;
        // Terms come in order, so one with the same count is a later one.
        if is_full && best.peek().is_some_and(|least| key <= least.0.0) {
            return ControlFlow::Continue(());
        }
        if is_full {
            best.pop();
        }
        best.push(Reverse((key, Reverse(Row::of(count)))));
        ControlFlow::Continue(())
    })?;
    for Reverse((_, Reverse(row))) in best.into_sorted_vec() {
        printer.print(&row)?;
    }
    Ok(printer.n_printed)
}

/// A line of the output; the order is that of the terms.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    term: String,
    field: Option<Field>,
    documents: u64,
    occurrences: u64,
}

impl Row {
    fn of(count: TermCount<'_>) -> Self {
        Self {
            term: count.term.to_owned(),
            field: count.field,
            documents: count.documents,
            occurrences: count.occurrences,
        }
    }
}

struct Printer<'a> {
    out: BufWriter<std::io::StdoutLock<'a>>,
    names: &'a FieldNames,
    json: bool,
    n_printed: usize,
}

impl Printer<'_> {
    fn print(&mut self, row: &Row) -> std::io::Result<()> {
        self.n_printed += 1;
        let (documents, occurrences) = (row.documents, row.occurrences);
        if self.json {
            let mut object = json!({
                "v": output::SCHEMA,
                "term": row.term,
                "documents": documents,
                "occurrences": occurrences,
            });
            if let Some(field) = row.field {
                object["field"] = json!(self.names.name(field));
            }
            return self.out.write_all(&output::json_line(&object));
        }
        let term = output::clean(&row.term);
        let (field, colon) = row
            .field
            .map_or(("", ""), |field| (self.names.name(field), ":"));
        writeln!(
            self.out,
            "{documents:>8} {occurrences:>9} {field}{colon}{term}"
        )
    }
}

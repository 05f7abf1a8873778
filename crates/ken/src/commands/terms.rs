//! `ken terms`: lists the terms of the index and their counts.

use std::io::{BufWriter, Write};
use std::process::ExitCode;

use ken_search::parse::Saved;
use ken_search::service::{Service, TermOrder, TermRequest, TermRow};

use super::context::context;
use crate::cli::{Global, TermSort, TermsArgs};
use crate::config::{Settings, data_folder};
use crate::failure::Failure;
use crate::opened::Opened;
use crate::output;

pub(crate) fn run(global: &Global, args: &TermsArgs) -> Result<ExitCode, Failure> {
    let snapshot = Opened::new(&data_folder(global)?, &Settings::load(global)?)?;
    let service = Service::new(&*snapshot, context(), Saved::new());
    let request = TermRequest {
        pattern: args.pattern.clone(),
        fields: args.field.clone(),
        by_field: args.by_field,
        sort: match args.sort {
            TermSort::Term => TermOrder::Term,
            TermSort::Documents => TermOrder::Documents,
            TermSort::Occurrences => TermOrder::Occurrences,
        },
        limit: args.limit,
        deadline_ms: None,
    };
    let mut out = BufWriter::new(output::stdout());
    let mut any = false;
    service.each_term(&request, &mut |row| {
        any = true;
        match args.json {
            true => out.write_all(&output::json_line(&service.term_form(row)))?,
            false => out.write_all(line(row, &service).as_bytes())?,
        }
        Ok::<_, Failure>(())
    })?;
    out.flush()?;
    Ok(ExitCode::from(u8::from(!any)))
}

fn line(row: &TermRow, service: &Service<'_>) -> String {
    let TermRow {
        documents,
        occurrences,
        ..
    } = row;
    let term = output::clean(&row.term);
    let name = |field| service.field_names().name(field);
    let (field, colon) = row.field.map_or(("", ""), |field| (name(field), ":"));
    format!("{documents:>8} {occurrences:>9} {field}{colon}{term}\n")
}

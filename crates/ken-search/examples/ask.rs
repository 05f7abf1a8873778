//! Searches an index: `cargo run -p ken-search --example ask -- ~/.local/share/ken/index 'title:budget'`.
//!
//! The answer is one JSON object. A second argument that begins with `{` is a whole request.

#![allow(clippy::print_stdout, clippy::disallowed_methods)] // a program of its own

use std::error::Error;
use std::path::Path;

use jiff::{Timestamp, tz::TimeZone};
use ken_index::Snapshot;
use ken_search::parse::Saved;
use ken_search::plan::Context;
use ken_search::service::{ANALYSIS, Request, Service};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(index), Some(asked)) = (args.next(), args.next()) else {
        println!("usage: ask INDEX QUERY | ask INDEX '{{\"query\": …}}'");
        return Ok(());
    };
    let request: Request = match asked.starts_with('{') {
        true => serde_json::from_str(&asked)?,
        false => Request {
            query: asked,
            ..Request::default()
        },
    };
    let snapshot = Snapshot::open(Path::new(&index))?;
    let service = Service::new(&snapshot, context()?, Saved::new());
    let response = service.ask(&request)?;
    println!("{}", serde_json::to_string_pretty(&response)?);
    Ok(())
}

/// Returns the context of a query for the user of this program.
fn context() -> Result<Context, Box<dyn Error>> {
    Ok(Context {
        now: Timestamp::now(),
        zone: TimeZone::UTC,
        month_first: false,
        home: std::env::home_dir(),
        cwd: std::env::current_dir()?,
        mail_root: None,
        own_addresses: Vec::new(),
        // The service takes them from the index.
        roots: Vec::new(),
        analyze: ANALYSIS,
        synonyms: Default::default(),
    })
}

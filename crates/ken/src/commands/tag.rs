//! `ken tag`: changes the tags of documents of all types.

use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;

use ken_core::{Document, Field, Kind, Location};
use ken_mail::{TagChange, Tagged};
use ken_search::service::{Error, Facets, Request, Service};

use super::mail::{apply_tags, split_tags};
use super::{access_to, address, context::context};
use crate::cli::{DocumentTagArgs, Global};
use crate::config::{Settings, data_folder};
use crate::failure::Failure;
use crate::opened::Opened;
use crate::output;

pub(crate) fn run(global: &Global, args: &DocumentTagArgs) -> Result<ExitCode, Failure> {
    let data = data_folder(global)?;
    let settings = Settings::load(global)?;
    let snapshot = Opened::new(&data, &settings)?;
    let access = access_to(&snapshot, &data, &settings, context())?;
    let service = access.service(&*snapshot, &std::sync::Arc::default());
    if args.list {
        return list(&service);
    }
    let (tags, query) = split_tags(&args.arguments, "ken tag +tax dir:receipts")?;
    let mut changes = Vec::new();
    let mut ids = HashSet::new();
    let mut tag = |document: &Document, location: &Location| {
        let id = document.text(Field::Msgid).unwrap_or_default();
        let on = match (document.kind, id) {
            // A message that comes back under another name has its tags again.
            (Kind::Message, id) if !id.is_empty() => Tagged::Message(id.to_owned()),
            _ => Tagged::Document(Tagged::address(location)),
        };
        if ids.insert(on.clone()) {
            let tags = tags.clone();
            changes.push(TagChange { on, tags });
        }
    };
    match query {
        [one] if address::is_address(one) || is_named(&service, one) => {
            let stored = address::find(&service, Path::new(one))?.named.stored;
            tag(&stored.document, &stored.location);
        }
        words => {
            let request = Request {
                query: words.join(" "),
                limit: None,
                fields: vec!["msgid".to_owned(), "type".to_owned()],
                ..Request::default()
            };
            let query = service.understand(&request)?;
            let answer = service.search(&request, query)?;
            answer.each_hit(
                |hit| hit,
                |hit| {
                    tag(&hit.document, &hit.location);
                    Ok::<_, Error>(())
                },
            )?;
        }
    }
    apply_tags(global, &changes)?;
    output::remark(&match changes.len() {
        0 => "no document matches".to_owned(),
        n => format!("{} tagged", output::counted(n, "document")),
    });
    Ok(ExitCode::from(u8::from(changes.is_empty())))
}

/// Returns whether a word is the path or the identifier of a document; a bare name may be a word of a query.
fn is_named(service: &Service<'_>, word: &str) -> bool {
    let is_path = word.contains(['/', '|']);
    let is_id = word.len() >= 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_path || is_id) && service.addressed(Path::new(word)).is_ok()
}

/// Prints all tags with the number of documents that have each.
fn list(service: &Service<'_>) -> Result<ExitCode, Failure> {
    let request = Request {
        limit: Some(0),
        facets: Facets {
            by: vec!["tag".to_owned()],
            ..Facets::default()
        },
        ..Request::default()
    };
    let query = service.understand(&request)?;
    let mut text = String::new();
    for facet in service.search(&request, query)?.facets()? {
        for value in facet.values {
            let (count, tag) = (value.count, output::clean(&value.value));
            text.push_str(&format!("{count:>8}  {tag}\n"));
        }
    }
    output::print(text.as_bytes())?;
    Ok(ExitCode::from(u8::from(text.is_empty())))
}

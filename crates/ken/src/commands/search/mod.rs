//! `ken search`: turns the arguments into a request, and prints the response.

mod like;
mod print;

use std::process::ExitCode;

use ken_engine::Source;
use ken_search::service::{
    Answer, Error as ServiceError, Facets, Group, HIT_KEYS, Like, Query, Reading, Relax, Request,
    Service, Snippets, Text,
};

use crate::cli::{Global, GroupName, RELEVANCE, SearchArgs};
use crate::commands::context::context;
use crate::commands::{bounded, last, query, serve};
use crate::config::{Settings, data_folder};
use crate::failure::{Failure, Kind};
use crate::opened::Opened;
use crate::output::{self, Paging, Style};
use print::{Printer, says_how_many};

/// The columns of a table if none are named.
const TABLE: [&str; 7] = ["rank", "date", "type", "title", "author", "path", "ipath"];
/// The most hits that someone reads as a page.
const MAX_PAGE: usize = 50;

/// Refuses keys that no hit has.
fn check_keys(keys: &[String], service: &Service<'_>) -> Result<(), Failure> {
    let is_known = |key: &String| {
        HIT_KEYS.contains(&key.as_str()) || service.field_names().field(key).is_some()
    };
    match keys.iter().find(|key| !is_known(key)) {
        None => Ok(()),
        Some(key) => Err(
            Failure::new(Kind::Usage, format!("--keys: no hit has the key {key}")).hint(&format!(
                "the keys are {}, and the names of fields",
                HIT_KEYS.join(", ")
            )),
        ),
    }
}

pub(crate) fn run(global: &Global, args: &SearchArgs) -> Result<ExitCode, Failure> {
    if args.saved {
        return query::list(global, args.json);
    }
    if let Some(name) = &args.delete {
        return query::delete(global, name);
    }
    if let Some(name) = &args.save {
        return query::save(global, name, args);
    }
    let settings = Settings::load(global)?;
    if args.fresh {
        serve::make_fresh(global)?;
    }
    let snapshot = Opened::new(&data_folder(global)?, &settings)?.until_the_end();
    let mut request = request(args, &settings)?;
    let service = service(&*snapshot, args, &settings)?;
    check_keys(&args.keys, &service)?;
    let query = match (service.understand(&request), &args.results.like) {
        // A file that is not in the index is read now.
        (Err(ServiceError::NotIndexed(_)), Some(path)) => {
            request.like = Some(Like::Text(like::text(global, &settings, path)?));
            service.understand(&request)?
        }
        (query, _) => query?,
    };
    warn(&query);
    let printer = Printer {
        args,
        service: &service,
        request: &request,
        style: Style::of(global),
        columns: output::columns().filter(|_| !args.json && request.fields.is_empty()),
    };
    let paging = output::page(global);
    print(&printer, query, paging).map(exit_code)
}

/// Returns the request.
fn request(args: &SearchArgs, settings: &Settings) -> Result<Request, Failure> {
    let results = &args.results;
    let mut request = Request {
        like: results
            .like
            .as_deref()
            .map(last::address)
            .transpose()?
            .map(Like::Document),
        inside: results.inside.as_deref().map(last::address).transpose()?,
        sort: results.sort.clone(),
        reverse: results.reverse,
        group: group(args, settings),
        offset: args.offset,
        limit: limit(args, settings),
        count: args.count || says_how_many(args) || args.budget.is_some(),
        fields: match args {
            _ if shows_paths(args) => vec!["path".to_owned()],
            _ if results.fields.is_empty() && (args.csv || args.tsv) => {
                TABLE.map(str::to_owned).into()
            }
            _ => results.fields.clone(),
        },
        text: if args.text { Text::Whole } else { Text::None },
        snippets: Snippets {
            count: if args.no_snippet { 0 } else { results.snippets },
            ..Snippets::default()
        },
        facets: Facets {
            by: results.facets.clone(),
            depth: results.depth,
            limit: limit(args, settings),
        },
        explain: args.explain,
        prefix_last: args.prefix_last,
        relax: relax(args, settings),
        deadline_ms: settings.search.deadline_ms(),
        ..Request::default()
    };
    if !results.facets.is_empty() {
        // Facets are printed instead of hits.
        (request.limit, request.count) = (Some(0), false);
    }
    if !args.query.is_empty() {
        request.query = query::text(args)?;
        request.syntax = args.syntax.into();
        request.reading = match args {
            _ if args.any => Reading::Any,
            _ if args.all => Reading::All,
            _ if args.lenient => Reading::Lenient,
            _ => Reading::Operators,
        };
    }
    Ok(request)
}

fn limit(args: &SearchArgs, settings: &Settings) -> Option<usize> {
    let default = match shows_paths(args) || args.results.inside.is_some() {
        true => 0,
        false => match args.budget {
            Some(budget) => budget / bounded::LEAST_HIT,
            None => settings.limit,
        },
    };
    match args.limit.unwrap_or(default) {
        _ if args.count => Some(0),
        0 => None,
        limit => Some(limit),
    }
}

/// Returns whether only the paths are printed.
fn shows_paths(args: &SearchArgs) -> bool {
    (args.paths || args.null) && args.results.fields.is_empty()
}

/// Returns when documents with some of the words are shown. A count and a facet are of what the query says.
fn relax(args: &SearchArgs, settings: &Settings) -> Relax {
    match args {
        _ if args.all || args.count || !args.results.facets.is_empty() => Relax::Never,
        _ if is_page(args, settings) => Relax::Few,
        _ => Relax::None,
    }
}

/// Returns whether the hits are a page that someone reads, and not a long list for a program. A number of bytes is a page,
/// however many hits may have room.
fn is_page(args: &SearchArgs, settings: &Settings) -> bool {
    let limit = match args.budget.is_some() && args.limit.is_none() {
        true => Some(MAX_PAGE),
        false => limit(args, settings),
    };
    !shows_paths(args) && limit.is_some_and(|limit| (1..=MAX_PAGE).contains(&limit))
}

/// Returns which documents are one hit. Unless the user says otherwise, near copies are one hit on a page.
fn group(args: &SearchArgs, settings: &Settings) -> Option<Group> {
    let results = &args.results;
    match results.group {
        _ if results.unique => Some(Group::Content),
        Some(GroupName::File) => Some(Group::File),
        Some(GroupName::Message) => Some(Group::Message),
        Some(GroupName::Similar) => Some(Group::Similar),
        Some(GroupName::None) => None,
        None if !is_page(args, settings) || !results.facets.is_empty() => None,
        // Versions are what is asked for.
        None if results.like.is_some() => None,
        None => (results.sort == RELEVANCE && !results.reverse).then_some(Group::Similar),
    }
}

/// Returns the search service for the user.
fn service<'s>(
    snapshot: &'s dyn Source,
    args: &SearchArgs,
    settings: &Settings,
) -> Result<Service<'s>, Failure> {
    let mut context = context();
    settings.mail.apply_to(&mut context)?;
    context.synonyms = query::synonyms(args.synonyms.clone(), settings)?;
    Ok(Service::new(snapshot, context, settings.queries.clone()))
}

/// Prints what is left out of the query.
fn warn(query: &Query) {
    for left in &query.left_out {
        let (text, message) = (&left.text, &left.error.message);
        output::warn(&format!("ignored {text}: {message}"));
    }
    if query.finds_nothing() {
        output::warn("the query has no words: the index holds no signs without letters or digits");
    }
}

/// Searches and prints the answer; returns whether anything was found.
fn print(printer: &Printer<'_>, query: Query, paging: Paging) -> Result<bool, Failure> {
    let args = printer.args;
    if let Some(path) = &printer.request.inside {
        return printer.matches(&query, path);
    }
    let titles = match printer.style.color {
        true => Some(printer.service.titles(&query)?),
        false => None,
    };
    let answer = printer.service.search(printer.request, query)?;
    if !args.results.facets.is_empty() {
        let found = printer.facets(&answer)?;
        return complete(&answer, found);
    }
    printer.say_what_matched(&answer);
    if args.count {
        output::print(format!("{}\n", answer.n_groups()).as_bytes())?;
    } else if shows_paths(args) {
        printer.paths(&answer)?;
    } else {
        printer.hits(&answer, titles.as_ref())?;
    }
    // What remains to be said is seen when the pager is left.
    drop(paging);
    if !args.count && !shows_paths(args) {
        printer.say_how_many(&answer);
        printer.suggest(&answer)?;
    }
    complete(&answer, answer.n_documents() > 0)
}

/// Says whether the time was over before the search was. Nothing found until then is no answer.
fn complete(answer: &Answer<'_>, found: bool) -> Result<bool, Failure> {
    const ENDED: &str = "the time of the search was over, so there may be more hits";
    const HINT: &str = "--set search.seconds=N gives it more time, 0 all it needs";
    match (answer.is_complete(), found) {
        (true, _) => Ok(found),
        (false, true) => {
            output::warn(ENDED);
            output::hint(HINT);
            Ok(true)
        }
        (false, false) => Err(Failure::new(Kind::Index, ENDED.to_owned()).hint(HINT)),
    }
}

fn exit_code(found: bool) -> ExitCode {
    ExitCode::from(u8::from(!found))
}

//! `ken search`: query → plan → hits.

mod facets;
mod inside;
mod like;
mod target;

use std::collections::HashSet;
use std::convert::Infallible;
use std::io::{IsTerminal, Write};
use std::mem::ManuallyDrop;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::ExitCode;

use ken_core::{Field, FieldNames, Order, Plan};
use ken_index::{Collapse, Found, Hit, Request, Snapshot, spread};
use ken_search::parse::Tree;
use ken_search::plan::{Context, plan};
use ken_search::snippet::{self, Finder, Settings as SnippetSettings};
use serde_json::Value as Json;

use crate::cli::{Column, Global, Group, ResultArgs, SearchArgs};
use crate::commands::explain::{Explanation, score_lines};
use crate::commands::{query, spelling};
use crate::config::{self, Settings, data_folder, home};
use crate::failure::{Failure, Kind};
use crate::output::{self, HitView, Style};
use facets::Facets;
use inside::Inside;
use like::Like;

pub(crate) fn run(global: &Global, args: &SearchArgs) -> Result<ExitCode, Failure> {
    if let Some(name) = &args.save {
        return query::save(global, name, args);
    }
    let settings = Settings::load(global)?;
    let snapshot = Snapshot::open_for_one_query(&data_folder(global)?.join("index"))?;
    // The index knows what custom fields are called.
    let names = snapshot.meta().field_names();
    let mut context = context();
    let tree = if args.query.is_empty() {
        Tree::All
    } else {
        query::read(&settings, args, &names, context.analyze)?
    };
    settings.mail.tell(&mut context)?;
    let (tree, left_out) = match args.any {
        true => query::rarest(tree, &snapshot, context.analyze)?,
        false => (tree, 0),
    };
    let snapshot = config::apply(snapshot, &settings.ranking, &settings.analysis)?;
    // The process ends after it: the kernel lets all files go at once faster than one by one.
    let snapshot = ManuallyDrop::new(snapshot);
    let roots = snapshot.meta().roots.iter();
    context.roots = roots.map(|root| root.path.clone()).collect();
    context.synonyms = query::synonyms(args, &settings, context.analyze)?;
    let plan = plan(&tree, &context);
    if plan == Plan::Nothing {
        output::warn("the query has no words: the index holds no signs without letters or digits");
    }
    let mut plan = snapshot.expand(&plan)?;
    let results = &args.results;
    let columns = results.fields.iter().map(|column| column.resolve(&names));
    let columns: Vec<Column> = columns.collect::<Result<_, _>>().map_err(usage)?;
    let paths = (args.paths || args.null) && results.fields.is_empty();
    let default_limit = if paths || results.inside.is_some() {
        0
    } else {
        settings.limit
    };
    let limit = match args.limit.unwrap_or(default_limit) {
        0 => usize::MAX,
        limit => limit,
    };
    let limit = if args.count { 0 } else { limit };
    let style = Style::of(global);
    if let Some(path) = &results.inside {
        let inside = Inside {
            snapshot: &snapshot,
            plan: &plan,
            context: &context,
            limit,
            json: args.json,
            style,
        };
        return Ok(exit_code(inside.print(path)?));
    }
    let mut own = Vec::new();
    if let Some(path) = &results.like {
        let like = Like::of(global, &snapshot, path, context.analyze)?;
        plan = like.among(plan);
        own = like.own;
    }
    let request = Request {
        without: &own,
        collapse: collapse(results),
        order: Order {
            key: results.sort_key(&names).map_err(usage)?,
            reverse: results.reverse,
        },
        offset: args.offset,
        limit,
        now: Some(context.now.as_second()),
        counted: args.count || args.offset > 0 || says_how_many(args),
        ..Request::new(&plan)
    };
    if !results.facets.is_empty() {
        let facets = Facets {
            snapshot: &snapshot,
            facets: &results.facets(&names).map_err(usage)?,
            depth: results.depth,
            zone: &context.zone,
            limit,
        };
        return Ok(exit_code(facets.print(&request, args.json, style)?));
    }
    let found = snapshot.find(&request)?;
    if args.count {
        output::print(format!("{}\n", found.groups).as_bytes())?;
    } else if paths {
        print_paths(args, &snapshot, &found)?;
    } else {
        if args.explain {
            Explanation::of(&tree, left_out, &plan, &snapshot, &names)?.print(args.json)?;
        }
        let page = Page {
            args,
            snapshot: &snapshot,
            plan: &plan,
            finder: Finder::new(snippet::matchers(&plan, Field::Body), context.analyze),
            names: &names,
            context: &context,
            columns: &columns,
            style,
        };
        page.print(&found)?;
        spelling::say(args, &tree, found.total, &snapshot, &context)?;
    }
    Ok(exit_code(found.total > 0))
}

fn exit_code(found: bool) -> ExitCode {
    ExitCode::from(u8::from(!found))
}

#[allow(clippy::disallowed_methods)] // the binary reads its environment
pub(super) fn context() -> Context {
    Context {
        now: jiff::Timestamp::now(),
        zone: crate::zone::system(),
        home: home(),
        cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
        mail_root: None,
        own_addresses: Vec::new(),
        roots: Vec::new(),
        analyze: |field, text, each| ken_index::analysis::analyze(field, text, each),
        synonyms: std::sync::Arc::default(),
    }
}

fn usage(message: String) -> Failure {
    Failure::new(Kind::Usage, message)
}

fn collapse(results: &ResultArgs) -> Option<Collapse> {
    match results.group {
        _ if results.unique => Some(Collapse::Content),
        Group::File => Some(Collapse::File),
        Group::Message => Some(Collapse::Message),
        Group::None => None,
    }
}

/// Returns what the hits are that one stands for; nothing if each stands for itself.
fn more_of(results: &ResultArgs) -> &'static str {
    match collapse(results) {
        Some(Collapse::Content) => "of the same content",
        Some(Collapse::File) => "in this file",
        Some(Collapse::Message) => "in this message or file",
        None => "",
    }
}

/// Prints each file once, however many of its documents were found.
fn print_paths(args: &SearchArgs, snapshot: &Snapshot, found: &Found) -> Result<(), Failure> {
    let end = if args.null { b'\0' } else { b'\n' };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut printed = HashSet::new();
    for hit in &found.hits {
        let path = snapshot.location(hit.address)?.path;
        if !printed.contains(&path) {
            out.write_all(path.as_os_str().as_bytes())?;
            out.write_all(&[end])?;
            printed.insert(path);
        }
    }
    out.flush()?;
    Ok(())
}

/// So many hits are made ready by several threads before they are printed.
const HITS_AT_ONCE: usize = 256;
/// To find and to print a document without a body takes as long as to read so many words.
const WORDS_OF_NONE: u64 = 5000;
/// More threads do not unpack texts, each of which may take a hundred megabytes.
pub(super) const MAX_READERS: usize = 8;
/// More do not unpack one of them.
pub(super) const MAX_UNPACKERS: usize = 4;

/// Prints what `shown` makes of each hit and its place among them. To unpack documents and to find the words in them
/// takes longer than to find the documents, so up to so many threads do it where it is worth it.
pub(super) fn print_hits(
    out: &mut impl Write,
    snapshot: &Snapshot,
    hits: &[Hit],
    max_threads: usize,
    shown: impl Fn(usize, &Hit) -> Result<Vec<u8>, Failure> + Sync,
) -> Result<(), Failure> {
    for (first, hits) in (0..).step_by(HITS_AT_ONCE).zip(hits.chunks(HITS_AT_ONCE)) {
        // What is before a hit that cannot be read is printed.
        let shown = |at, hit: &Hit| Ok::<_, Infallible>(shown(first + at, hit));
        let size = |hit: &Hit| WORDS_OF_NONE + u64::from(snapshot.n_words(hit.address));
        let Ok(all) = spread::each(hits, size, max_threads, shown);
        for shown in all {
            out.write_all(&shown?)?;
        }
    }
    Ok(())
}

/// Returns whether it is said how many hits there are beyond those printed.
fn says_how_many(args: &SearchArgs) -> bool {
    !args.json && std::io::stderr().is_terminal()
}

/// What is needed to print the hits of one page.
struct Page<'a> {
    args: &'a SearchArgs,
    snapshot: &'a Snapshot,
    plan: &'a Plan,
    finder: Finder,
    /// What fields are called.
    names: &'a FieldNames,
    context: &'a Context,
    /// What of each hit is printed on a line; empty for all of it.
    columns: &'a [Column],
    style: Style,
}

impl Page<'_> {
    fn print(&self, found: &Found) -> Result<(), Failure> {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        // To explain a score is a search, which may use several threads itself.
        let max_threads = if self.args.explain { 1 } else { MAX_READERS };
        let shown = |at, hit: &Hit| self.shown(at, hit);
        print_hits(&mut out, self.snapshot, &found.hits, max_threads, shown)?;
        out.flush()?;
        self.say_how_many(found);
        Ok(())
    }

    /// Returns what is printed of a hit.
    fn shown(&self, position: usize, hit: &Hit) -> Result<Vec<u8>, Failure> {
        let (stored, body) = (self.snapshot).document_and_body(hit.address, MAX_UNPACKERS)?;
        let fragments = self.fragments(body.as_str());
        let view = HitView {
            rank: self.args.offset + position + 1,
            score: hit.score,
            stored: &stored,
            names: self.names,
            roots: &self.snapshot.meta().roots,
            fragments: &fragments,
            several: self.args.results.snippets > 1,
            more: hit.more,
            more_of: more_of(&self.args.results),
        };
        if !self.columns.is_empty() {
            let exact = self.args.null;
            let mut line = output::hit_fields(&view, self.columns, exact);
            line.push(if exact { b'\0' } else { b'\n' });
            return Ok(line);
        }
        if self.args.json {
            let mut json = output::hit_json(&view);
            if self.args.explain {
                json["explanation"] = self.score(hit)?;
            }
            return Ok(output::json_line(&json));
        }
        let mut text = output::hit_text(&view, self.style, &self.context.zone);
        if self.args.explain {
            text.push_str(&score_lines(&self.score(hit)?));
            text.push('\n');
        }
        Ok(text.into_bytes())
    }

    /// Returns the parts of a hit's score.
    fn score(&self, hit: &Hit) -> Result<Json, Failure> {
        let score = self.snapshot.explain(self.plan, hit)?;
        // The engine wrote it.
        Ok(serde_json::from_str(&score).unwrap_or_default())
    }

    fn fragments(&self, body: &str) -> Vec<snippet::Fragment> {
        if self.args.no_snippet || !self.needs_snippet() {
            return Vec::new();
        }
        let settings = SnippetSettings {
            count: self.args.results.snippets,
            ..SnippetSettings::default()
        };
        self.finder.fragments(body, settings)
    }

    fn needs_snippet(&self) -> bool {
        let fields = &self.args.results.fields;
        let of_snippet = [Column::Snippet, Column::Line, Column::Page];
        fields.is_empty() || fields.iter().any(|column| of_snippet.contains(column))
    }

    /// On a terminal: how many there are beyond those printed.
    fn say_how_many(&self, found: &Found) {
        if !says_how_many(self.args) {
            return;
        }
        let shown = found.hits.len();
        match found.groups {
            0 => output::warn("no document matches"),
            total if total > shown => output::warn(&format!(
                "{shown} of {total} hits shown; --limit and --offset show more"
            )),
            _ => {}
        }
    }
}

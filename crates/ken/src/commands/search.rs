//! `ken search`: query → plan → hits.

use std::collections::HashSet;
use std::io::{IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::ExitCode;

use jiff::tz::TimeZone;
use ken_core::{Field, Order, Plan, SortKey};
use ken_index::{Address, Found, Snapshot};
use ken_search::plan::{Context, plan};
use ken_search::snippet::{self, Settings as SnippetSettings, TermMatcher};
use serde_json::Value as Json;

use crate::cli::{Global, SearchArgs, Sort};
use crate::commands::explain::{Explanation, score_lines};
use crate::commands::{query, spelling};
use crate::config::{self, Settings, data_folder, home};
use crate::failure::Failure;
use crate::output::{self, HitView, Style};

pub(crate) fn run(global: &Global, args: &SearchArgs) -> Result<ExitCode, Failure> {
    if let Some(name) = &args.save {
        return query::save(global, name, args);
    }
    let mut context = context();
    let tree = query::read(global, args, context.analyze)?;
    let settings = Settings::load(global)?;
    let snapshot = Snapshot::open(&data_folder(global)?.join("index"))?;
    let snapshot = config::apply(snapshot, &settings.ranking, &settings.analysis)?;
    let roots = snapshot.meta().roots.iter();
    context.roots = roots.map(|root| root.path.clone()).collect();
    context.synonyms = query::synonyms(args, &settings, context.analyze)?;
    let plan = snapshot.expand(&plan(&tree, &context))?;
    let paths = args.paths || args.null;
    let default_limit = if paths { 0 } else { settings.limit };
    let limit = match args.limit.unwrap_or(default_limit) {
        0 => usize::MAX,
        limit => limit,
    };
    let limit = if args.count { 0 } else { limit };
    let order = order(args);
    let found = snapshot.run(&plan, order, args.offset, limit)?;
    if args.count {
        output::print(format!("{}\n", found.total).as_bytes())?;
    } else if paths {
        print_paths(args, &snapshot, &found)?;
    } else {
        if args.explain {
            Explanation::of(&tree, &plan, &snapshot)?.print(args.json)?;
        }
        let page = Page {
            args,
            snapshot: &snapshot,
            plan: &plan,
            matchers: snippet::matchers(&plan, Field::Body),
            context: &context,
            style: Style::of(global),
        };
        page.print(&found)?;
        spelling::say(args, &tree, found.total, &snapshot, &context)?;
    }
    Ok(ExitCode::from(u8::from(found.total == 0)))
}

#[allow(clippy::disallowed_methods)] // the binary reads its environment
pub(super) fn context() -> Context {
    Context {
        now: jiff::Timestamp::now(),
        zone: TimeZone::system(),
        home: home(),
        cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
        roots: Vec::new(),
        analyze: |field, text, each| ken_index::analysis::analyze(field, text, each),
        synonyms: std::sync::Arc::default(),
    }
}

fn order(args: &SearchArgs) -> Order {
    Order {
        key: match args.sort {
            Sort::Relevance => SortKey::Relevance,
            Sort::Date => SortKey::DATE,
            Sort::Size => SortKey::SIZE,
            Sort::Path => SortKey::Path,
        },
        reverse: args.reverse,
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

/// What is needed to print the hits of one page.
struct Page<'a> {
    args: &'a SearchArgs,
    snapshot: &'a Snapshot,
    plan: &'a Plan,
    matchers: Vec<TermMatcher>,
    context: &'a Context,
    style: Style,
}

impl Page<'_> {
    fn print(&self, found: &Found) -> Result<(), Failure> {
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        for (position, hit) in found.hits.iter().enumerate() {
            let stored = self.snapshot.document(hit.address)?;
            let fragments = self.fragments(&stored.document.body);
            let view = HitView {
                rank: self.args.offset + position + 1,
                score: hit.score,
                stored: &stored,
                fragment: fragments.first(),
            };
            if self.args.json {
                let mut json = output::hit_json(&view);
                if self.args.explain {
                    json["explanation"] = self.score(hit.address)?;
                }
                out.write_all(&output::json_line(&json))?;
                continue;
            }
            let text = output::hit_text(&view, self.style, &self.context.zone);
            out.write_all(text.as_bytes())?;
            if self.args.explain {
                writeln!(out, "{}", score_lines(&self.score(hit.address)?))?;
            }
        }
        out.flush()?;
        drop(out);
        self.say_how_many(found);
        Ok(())
    }

    /// Returns the parts of a hit's score.
    fn score(&self, address: Address) -> Result<Json, Failure> {
        let score = self.snapshot.explain(self.plan, address)?;
        // The engine wrote it.
        Ok(serde_json::from_str(&score).unwrap_or_default())
    }

    fn fragments(&self, body: &str) -> Vec<snippet::Fragment> {
        if self.args.no_snippet {
            return Vec::new();
        }
        let settings = SnippetSettings::default();
        snippet::fragments(body, &self.matchers, self.context.analyze, settings)
    }

    /// On a terminal: how many there are beyond those printed.
    fn say_how_many(&self, found: &Found) {
        if self.args.json || !std::io::stderr().is_terminal() {
            return;
        }
        let shown = found.hits.len();
        match found.total {
            0 => output::warn("no document matches"),
            total if total > shown => output::warn(&format!(
                "{shown} of {total} documents shown; --limit and --offset show more"
            )),
            _ => {}
        }
    }
}

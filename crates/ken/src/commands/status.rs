//! `ken status`: what is indexed, and what failed.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

use ken_api::message::Freshness;
use ken_core::{BytesPath, Field, Order, Pattern, Plan, Root, SortKey, escape_bytes};
use ken_engine::{Source, Statistics, Stored, Tally};
use ken_extract::helper::Helpers;
use ken_extract::worker::Sandbox;
use ken_extract::{Extractor, detect};
use ken_pipeline::background::{self, Pause};
use ken_pipeline::{RECOGNISED, TEXTLESS};
use ken_walk::{Availability, Mounts};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::extractor::extractor;
use super::serve::client;
use crate::cli::{Global, StatusArgs};
use crate::config::{self, Settings};
use crate::failure::Failure;
use crate::opened::Opened;
use crate::output;

/// Number of folders that are named of those that are not watched.
const SWEPT: usize = 3;

pub(crate) fn run(global: &Global, args: &StatusArgs) -> Result<ExitCode, Failure> {
    let data = config::data_folder(global)?;
    let settings = Settings::load(global)?;
    let snapshot = Opened::new(&data, &settings)?;
    if args.missing_helpers {
        return super::missing::run(&*snapshot, args.json);
    }
    let extract = ken_extract::Options {
        helpers: settings.helpers(global)?,
        ..settings.isolation()?
    };
    if let Some(path) = &args.why {
        let path = super::why::path(global, path)?;
        return super::why::run(global, &settings, &extract, &*snapshot, &path, args.json);
    }
    let helpers = extract.helpers.as_deref();
    if args.failed {
        return failed(args, helpers, &*snapshot);
    }
    let count = |wanted: &str| -> Result<usize, Failure> {
        Ok(snapshot.files().with_values(Field::Is, &[wanted])?.len())
    };
    let overview = Overview {
        helpers,
        paused: background::paused(&data),
        freshness: client(&data).and_then(|client| client.status().ok()),
        is_open_to_others: ken_pipeline::is_open_to_others(&data),
        data: data.to_string_lossy().into_owned(),
        engine: snapshot.engine().map(|engine| engine.name()),
        state: snapshot
            .engine()
            .map_or(Ok(Vec::new()), |engine| engine.state())?,
        statistics: snapshot.statistics()?,
        snapshot: &*snapshot,
        isolation: Isolation::now(&settings)?,
        textless: count(TEXTLESS)?,
        recognised: count(RECOGNISED)?,
    };
    if args.json {
        output::print(&output::json_line(&overview.json()))?;
    } else {
        output::print(overview.text(args.types).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The numbers of files and documents of a type.
#[derive(Clone, Debug, Default, Serialize)]
struct Counts {
    /// Files; `read`, `name_only` and `failed` are subsets.
    files: u64,
    /// Files with content that was read.
    read: u64,
    /// Files of a type without an extractor.
    name_only: u64,
    /// Files that could not be read, or not in full.
    failed: u64,
    /// Documents, including files.
    documents: u64,
    /// Documents that could not be read, or not in full.
    failed_documents: u64,
}

impl Counts {
    fn add(&mut self, tally: &Tally, helpers: Option<&Helpers>) {
        let sound = tally.files - tally.failed_files;
        let media_type = &tally.media_type;
        let is_read = media_type == detect::EMPTY || extractor(media_type, helpers).is_some();
        self.files += tally.files;
        self.read += if is_read { sound } else { 0 };
        self.name_only += if is_read { 0 } else { sound };
        self.failed += tally.failed_files;
        self.documents += tally.documents;
        self.failed_documents += tally.failed_documents;
    }
}

/// The protection against the parsers of foreign bytes, on this machine and with these settings.
struct Isolation {
    isolate: String,
    /// The sandbox of the first worker, or why there is none, in words.
    sandbox: Result<Option<Sandbox>, String>,
}

impl Isolation {
    fn now(settings: &Settings) -> Result<Self, Failure> {
        let options = settings.isolation()?;
        let sandbox = Extractor::new(&options).sandbox();
        Ok(Self {
            isolate: settings.extract.isolate.clone(),
            sandbox: sandbox.map_err(|cause| output::cause_text(&cause)),
        })
    }

    fn json(&self) -> Json {
        let sandbox = self.sandbox.as_ref().ok().copied().flatten();
        json!({
            "isolate": self.isolate,
            "landlock": sandbox.map(|sandbox| sandbox.landlock.name()),
            "seccomp": sandbox.map(|sandbox| sandbox.seccomp),
            "memory_limit": sandbox.map(|sandbox| sandbox.memory_limit),
            "error": self.sandbox.as_ref().err(),
        })
    }

    fn text(&self) -> String {
        match &self.sandbox {
            Err(words) => format!("off: {words}"),
            Ok(None) => "off (extract.isolate = none)".to_owned(),
            Ok(Some(sandbox)) => match sandbox.missing()[..] {
                [] => "on: what reads files has no network and sees no other files".to_owned(),
                ref missing => format!("on in part: this kernel lacks {}", missing.join(", ")),
            },
        }
    }
}

struct Overview<'s> {
    helpers: Option<&'s Helpers>,
    paused: Option<Pause>,
    /// What `ken serve` says, if it runs.
    freshness: Option<Freshness>,
    /// Whether other users can read the data folder.
    is_open_to_others: bool,
    data: String,
    /// The name of the index, if it is not in the data folder.
    engine: Option<String>,
    /// How the engine is.
    state: Vec<(&'static str, String)>,
    isolation: Isolation,
    /// Files with pictures or pages whose text is not known.
    textless: usize,
    /// Files whose pictures were searched for text.
    recognised: usize,
    statistics: Statistics,
    snapshot: &'s dyn Source,
}

impl Overview<'_> {
    fn by(&self, name: impl Fn(&Tally) -> String) -> BTreeMap<String, Counts> {
        let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
        for tally in &self.statistics.tallies {
            counts
                .entry(name(tally))
                .or_default()
                .add(tally, self.helpers);
        }
        counts
    }

    fn by_type(&self) -> BTreeMap<String, Counts> {
        self.by(|tally| tally.kind.to_owned())
    }

    fn by_mime(&self) -> BTreeMap<String, Counts> {
        self.by(|tally| tally.media_type.clone())
    }

    fn all(&self) -> Counts {
        self.by(|_| String::new()).remove("").unwrap_or_default()
    }

    fn completed(&self) -> Option<i64> {
        self.snapshot.meta().completed
    }

    /// Returns the roots; `unavailable` says why one cannot be walked now.
    fn roots(&self) -> Vec<Json> {
        let roots = self.snapshot.meta().roots.iter().map(|root| {
            let mut object = json!(root);
            if let Some(state) = unavailable(root) {
                object["unavailable"] = json!(state);
            }
            object
        });
        roots.collect()
    }

    fn json(&self) -> Json {
        let all = self.all();
        let by_type = self.by_type();
        let documents = by_type
            .iter()
            .map(|(name, counts)| (name, counts.documents));
        let types: BTreeMap<_, _> = documents.collect();
        json!({
            "v": output::SCHEMA,
            "data": self.data,
            "engine": self.engine,
            "engine_state": self.state.iter().cloned().collect::<BTreeMap<_, _>>(),
            "open_to_others": self.is_open_to_others,
            "roots": self.roots(),
            "sandbox": self.isolation.json(),
            "completed": self.completed().map(output::time),
            "watched": self.freshness.as_ref().map(|fresh| fresh.watched),
            "swept": self.freshness.as_ref().map(|fresh| fresh.swept),
            "swept_seconds_ago": self.freshness.as_ref().and_then(|fresh| fresh.swept_seconds_ago),
            "sweep_in_seconds": self.freshness.as_ref().and_then(|fresh| fresh.sweep_in_seconds),
            "complete_seconds_ago": self.freshness.as_ref().and_then(|fresh| fresh.complete_seconds_ago),
            "pending": self.freshness.as_ref().map(|fresh| fresh.pending),
            "paused": self.paused.is_some(),
            "paused_until": self.paused.and_then(end).map(output::time),
            "documents": all.documents,
            "files": all.files,
            "read": all.read,
            "name_only": all.name_only,
            "failed": all.failed_documents,
            "textless": self.textless,
            "ocr": self.recognised,
            "types": types,
            "by_type": by_type,
            "by_mime": self.by_mime(),
            "segments": self.statistics.segments,
            "bytes": self.statistics.bytes,
        })
    }

    fn text(&self, by_mime: bool) -> String {
        let mut text = format!("data       {}\n", self.data);
        if let Some(engine) = &self.engine {
            text.push_str(&format!("engine     {}\n", output::clean(engine)));
        }
        for (title, line) in &self.state {
            text.push_str(&format!("{title:10} {}\n", output::clean(line)));
        }
        if self.is_open_to_others {
            text.push_str("           other users can read it: run ken index, which closes it, or chmod -R go= it\n");
        }
        for root in &self.snapshot.meta().roots {
            let path = escape_bytes(root.path.as_os_str().as_encoded_bytes()).into_owned();
            let state = unavailable(root).map_or("", |availability| match availability {
                Availability::Absent => " (absent; what is known of it is kept)",
                Availability::Unmounted => " (not mounted; what is known of it is kept)",
                _ => " (cannot be read; what is known of it is kept)",
            });
            text.push_str(&format!(
                "root       {}{state}\n",
                output::clean_address(&path)
            ));
        }
        let zone = crate::zone::system();
        let local = |seconds| output::local_time(seconds, &zone);
        let completed = self.completed().map(local);
        let completed =
            completed.unwrap_or_else(|| "never (no run of ken index has finished)".to_owned());
        text.push_str(&format!("complete   {completed}\n"));
        if let Some(freshness) = &self.freshness {
            text.push_str(&format!("served     {}\n", served(freshness)));
            if let Some(swept) = swept(freshness) {
                text.push_str(&format!("swept      {swept}\n"));
            }
        }
        if let Some(pause) = self.paused {
            let end = end(pause).map(local);
            let end = end.map_or_else(String::new, |end| format!("until {end}, or "));
            text.push_str(&format!("paused     {end}until ken index --resume\n"));
        }
        let bytes = output::size(i64::try_from(self.statistics.bytes).unwrap_or(i64::MAX));
        let segments = output::counted(self.statistics.segments, "segment");
        text.push_str(&format!("index      {bytes} in {segments}\n"));
        let sandbox = self.isolation.text();
        text.push_str(&format!("sandbox    {}\n", output::clean(&sandbox)));
        if self.textless + self.recognised > 0 {
            let (done, waiting) = (self.recognised, self.textless);
            text.push_str(&format!(
                "pictures   {done} read by OCR, {waiting} not yet (ken index --ocr)\n"
            ));
        }
        text.push('\n');
        let rows = match by_mime {
            true => self.by_mime(),
            false => self.by_type(),
        };
        text.push_str(&table(&rows, &self.all()));
        text
    }
}

/// Returns why a root cannot be walked now. A root whose file system may not answer is not asked.
fn unavailable(root: &Root) -> Option<Availability> {
    if Mounts::read().are_above(&root.path) {
        return None;
    }
    let now = ken_walk::availability(root);
    (now != Availability::Available).then_some(now)
}

/// Returns what `ken serve` does, for people.
fn served(freshness: &Freshness) -> String {
    let mut text = match freshness.coverage.as_str() {
        // The server of an older ken does not say it.
        "" => format!("watching {}", output::counted(freshness.watched, "folder")),
        coverage => output::clean(coverage).into_owned(),
    };
    match freshness.complete_seconds_ago {
        Some(age) => text.push_str(&format!("; complete as of {age:.1} s ago")),
        None => text.push_str("; everything is being compared"),
    }
    match freshness.pending {
        0 => {}
        1 => text.push_str(", 1 change waits"),
        n => text.push_str(&format!(", {n} changes wait")),
    }
    text
}

/// Returns some of the folders and roots that are not watched, but looked at now and then.
fn swept(freshness: &Freshness) -> Option<String> {
    let named = freshness.unwatched.iter().take(SWEPT);
    let named: Vec<String> = named
        .map(|BytesPath(path)| {
            let path = escape_bytes(path.as_os_str().as_encoded_bytes());
            output::clean_address(&path).into_owned()
        })
        .collect();
    let others = freshness.swept.saturating_sub(named.len());
    let mut text = match (named.is_empty(), others) {
        (true, _) => return None,
        (false, 0) => named.join(", "),
        (false, n) => format!("{} and {n} more", named.join(", ")),
    };
    if let Some(sweep) = freshness.sweep() {
        text.push_str(&format!("; {sweep}"));
    }
    Some(text)
}

/// Returns when a pause ends, in seconds since 1970-01-01 UTC.
fn end(pause: Pause) -> Option<i64> {
    let Pause::Until(time) = pause else {
        return None;
    };
    let seconds = time.duration_since(UNIX_EPOCH).ok()?.as_secs();
    i64::try_from(seconds).ok()
}

/// Returns the counts as a table, with the sum in the last row.
fn table(rows: &BTreeMap<String, Counts>, all: &Counts) -> String {
    const HEADS: [&str; 6] = [
        "files",
        "read",
        "name only",
        "failed",
        "documents",
        "failed",
    ];
    let width = rows.keys().map(String::len).max().unwrap_or(0).max(14);
    let line = |name: &str, cells: [String; 6]| {
        let cells = cells.map(|cell| format!("{cell:>9}")).join("  ");
        format!("{name:<width$}  {cells}\n")
    };
    let counts = |counts: &Counts| {
        let all = [counts.files, counts.read, counts.name_only, counts.failed];
        let [files, read, name_only, failed] = all.map(|count| count.to_string());
        let documents = counts.documents.to_string();
        let failed_documents = counts.failed_documents.to_string();
        [files, read, name_only, failed, documents, failed_documents]
    };
    let mut text = line("", HEADS.map(str::to_owned));
    for (name, row) in rows {
        text.push_str(&line(&output::clean(name), counts(row)));
    }
    text.push_str(&line("all", counts(all)));
    text
}

/// Lists failures; ends with 1 if there are none, as a search does.
fn failed(
    args: &StatusArgs,
    helpers: Option<&Helpers>,
    snapshot: &dyn Source,
) -> Result<ExitCode, Failure> {
    let plan = Plan::Filter(Box::new(Plan::Match {
        field: Field::Is,
        pattern: Pattern::Term("failed".to_owned()),
    }));
    let order = Order {
        key: SortKey::Path,
        reverse: false,
    };
    let found = snapshot.run(&plan, order, 0, usize::MAX)?;
    for hit in &found.hits {
        let stored = snapshot.document(hit.address)?;
        if let Some(failure) = &stored.document.failure {
            output::print(&failure_line(args, helpers, &stored, failure))?;
        }
    }
    Ok(ExitCode::from(u8::from(found.hits.is_empty())))
}

fn failure_line(
    args: &StatusArgs,
    helpers: Option<&Helpers>,
    stored: &Stored,
    failure: &ken_core::Failure,
) -> Vec<u8> {
    let path = &stored.location.path;
    let media_type = &stored.document.media_type;
    let extractor = extractor(stored.document.extracted_type(), helpers);
    let remedy = output::remedy(&failure.cause, path);
    if args.json {
        return output::json_line(&json!({
            "v": output::SCHEMA,
            "path": escape_bytes(path.as_os_str().as_encoded_bytes()),
            "ipath": stored.location.ipath,
            "mime": media_type,
            "extractor": extractor,
            "reason": failure.reason(),
            "message": output::cause_text(&failure.cause),
            "cause": failure.cause,
            "seconds": failure.elapsed_ms as f64 / 1000.0,
            "remedy": remedy,
        }));
    }
    let location = stored.location.to_string();
    format!(
        "{}\t{}\t{}\n    {}{}; {}\n",
        output::clean_address(&location),
        failure.reason().name(),
        output::clean(&output::cause_text(&failure.cause)),
        extractor.unwrap_or(media_type),
        output::after(failure),
        output::clean(&remedy),
    )
    .into_bytes()
}

//! `ken status --why PATH`: everything that ken knows of a path.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ken_core::{Document, Field, escape_bytes, unescape_bytes};
use ken_engine::Source;
use ken_extract::helper::Helpers;
use ken_extract::{detect, format_of};
use ken_pipeline::{Known, Next, Stale, Why, afford, why};
use ken_search::service::resolve;
use ken_walk::Verdict;
use serde_json::{Value as Json, json};

use super::extractor::extractor;
use super::run_options::usual_memory;
use super::{address, last, walk, walk_options};
use crate::cli::Global;
use crate::config::Settings;
use crate::failure::Failure;
use crate::output;

/// The most documents that are listed for people.
const MAX_LINES: usize = 20;

pub(super) fn run(
    global: &Global,
    settings: &Settings,
    extract: &ken_extract::Options,
    snapshot: &dyn Source,
    path: &Path,
    as_json: bool,
) -> Result<ExitCode, Failure> {
    let folders = settings.folders()?;
    let mut extract = extract.clone();
    afford(&mut extract.limits, usual_memory(settings)?);
    let path = resolve(path, &snapshot.meta().roots)?;
    let why = why(snapshot, &folders, &extract, &walk_options(global)?, &path)?;
    let view = View {
        helpers: extract.helpers.as_deref(),
        path: &path,
        why,
        snapshot,
    };
    match as_json {
        true => output::print(&output::json_line(&view.json()?))?,
        false => output::print(view.text()?.as_bytes())?,
    }
    Ok(ExitCode::from(u8::from(view.why.documents.is_empty())))
}

/// Returns the path of the file that an argument names: a path, or any other address that ken prints.
pub(super) fn path(global: &Global, typed: &Path) -> Result<PathBuf, Failure> {
    let path = named(&last::address(typed)?);
    if !is_there(&path)
        && let Some(location) = address::location(global, typed)?
    {
        return Ok(location.path);
    }
    Ok(path)
}

/// Returns the path of the argument, which may have the form that ken prints for a path that is not UTF-8.
fn named(path: &Path) -> PathBuf {
    let unescaped = unescape_bytes(path.as_os_str().as_bytes()).map(OsString::from_vec);
    match unescaped.map(PathBuf::from) {
        Some(meant) if !is_there(path) && is_there(&meant) => meant,
        _ => path.to_path_buf(),
    }
}

fn is_there(path: &Path) -> bool {
    fs_err::symlink_metadata(path).is_ok()
}

struct View<'w> {
    helpers: Option<&'w Helpers>,
    path: &'w Path,
    why: Why,
    snapshot: &'w dyn Source,
}

impl View<'_> {
    fn text(&self) -> Result<String, Failure> {
        let mut text = String::new();
        let mut line = |name: &str, value: &str| {
            text.push_str(&format!("{name:<10} {}\n", output::clean(value)));
        };
        line("path", &shown(self.path));
        line("root", &self.root());
        line("walk", &self.walk());
        line("index", self.index());
        line("next run", self.next());
        let n_documents = self.why.documents.len();
        let listed = self.documents().take(MAX_LINES);
        let listed: Vec<Document> = listed.collect::<Result<_, _>>()?;
        if let Some(own) = listed.first().filter(|first| first.ipath.is_root()) {
            line("extractor", &self.extractor(own));
        }
        line("documents", &n_documents.to_string());
        for document in &listed {
            text.push_str(&self.document_text(document));
        }
        if n_documents > listed.len() {
            let more = n_documents - listed.len();
            text.push_str(&format!("  and {more} more; --json lists them\n"));
        }
        Ok(text)
    }

    fn documents(&self) -> impl Iterator<Item = Result<Document, Failure>> {
        let addresses = self.why.documents.iter();
        addresses.map(|address| Ok(self.snapshot.document(*address)?.document))
    }

    fn extractor(&self, document: &Document) -> String {
        let media_type = &document.media_type;
        let helper = self
            .helpers
            .and_then(|helpers| helpers.reader_of(media_type));
        let converter = self
            .helpers
            .and_then(|helpers| helpers.converter_of(media_type));
        match (helper, format_of(media_type)) {
            (Some(name), _) => format!("{name}, a helper"),
            (None, Some(format)) => {
                let own = format!("{}, version {}", format.name, format.version);
                match converter {
                    Some(name) => format!("{own}; {name}, a helper, for the text"),
                    None => own,
                }
            }
            (None, None) if media_type == detect::EMPTY => "none; the file is empty".to_owned(),
            (None, None) => format!("none for {media_type}; ken finds the file by name only"),
        }
    }

    fn root(&self) -> String {
        let Some(root) = &self.why.root else {
            return "none; ken index PATH adds it".to_owned();
        };
        let options = [
            (root.hidden, "--hidden"),
            (root.no_ignore, "--no-ignore"),
            (root.follow_links, "--follow"),
            (root.one_file_system, "--one-file-system"),
        ];
        let set = options.into_iter().filter(|(is_set, _)| *is_set);
        let options: String = set.map(|(_, name)| format!(" {name}")).collect();
        format!("{}{options}", shown(&root.path))
    }

    fn walk(&self) -> String {
        match &self.why.verdict {
            None => "below no root".to_owned(),
            Some(Verdict::File(_)) => "includes the file".to_owned(),
            Some(Verdict::Folder) => "enters the folder".to_owned(),
            Some(Verdict::Absent) => "there is no such file".to_owned(),
            Some(Verdict::Failed(error)) => error.to_string(),
            Some(Verdict::Unavailable(state)) => {
                format!("the root is {}", format!("{state:?}").to_lowercase())
            }
            Some(Verdict::LeftOut { at, skip }) => {
                format!("skips {}: {}", shown(at), walk::reason(skip))
            }
        }
    }

    fn index(&self) -> &'static str {
        match self.why.known {
            Known::Not if matches!(self.why.verdict, Some(Verdict::Folder)) => {
                "lists files, not folders; ask about a file in it"
            }
            Known::Not => "not in the index",
            Known::Unfinished => "incomplete",
            Known::Unchanged => "up to date",
            Known::Changed => "outdated: the file has changed since",
            Known::Unseen if self.why.next == Next::Keep => "in the index as it was",
            Known::Unseen => "in the index, but the walk does not find it now",
        }
    }

    fn next(&self) -> &'static str {
        match self.why.next {
            Next::Nothing if self.why.has_failed => {
                "skips it: nothing changed (--retry-failed reads it)"
            }
            Next::Nothing => "not affected",
            Next::Read => "reads it",
            Next::ReadAgain(Stale::Extractor) => "reads it: its extractor changed",
            Next::ReadAgain(Stale::Fields) => "reads it: the settings of its folder changed",
            Next::ReadAgain(Stale::Settings) => "reads it: the setting that made it fail changed",
            Next::ReadAgain(Stale::Helper) => "reads it: a helper that it needs was installed",
            Next::ReadAgain(Stale::Retry) => "reads it: it failed",
            Next::ReadAgain(Stale::Doubtful) => {
                "reads it: the index was damaged and may lack parts of it"
            }
            Next::Forget => "removes it",
            Next::Keep => "keeps it",
        }
    }

    fn document_text(&self, document: &Document) -> String {
        let member = match document.ipath.is_root() {
            true => "(the file)",
            false => document.ipath.as_str(),
        };
        let size = document.number(Field::Size).map(output::size);
        let title = output::title(document).unwrap_or_default();
        let facts = [
            document.media_type.as_str(),
            &size.unwrap_or_default(),
            title,
        ]
        .join("\t");
        let mut text = format!("  {}\t{}\n", output::clean(member), clean_row(&facts));
        if let Some(failure) = &document.failure {
            text.push_str(&format!(
                "    {}{}: {}; {}\n",
                failure.reason().name(),
                output::after(failure),
                output::clean(&output::cause_text(&failure.cause)),
                output::clean(&output::remedy(&failure.cause, self.path)),
            ));
        }
        text
    }

    fn json(&self) -> Result<Json, Failure> {
        let mut documents = Vec::new();
        for document in self.documents() {
            documents.push(self.document_json(&document?));
        }
        let root = self.why.root.as_ref().map(|root| shown(&root.path));
        let mut object = json!({
            "v": output::SCHEMA,
            "path": shown(self.path),
            "root": root,
            "walk": self.walk_json(),
            "index": known_name(self.why.known),
            "next": next_name(self.why.next),
            "documents": documents,
        });
        if let Some(Verdict::File(stamp)) = &self.why.verdict {
            object["stamp"] = json!(stamp);
        }
        Ok(object)
    }

    fn walk_json(&self) -> Json {
        match &self.why.verdict {
            None => json!({ "verdict": "not_covered" }),
            Some(Verdict::File(_)) => json!({ "verdict": "file" }),
            Some(Verdict::Folder) => json!({ "verdict": "folder" }),
            Some(Verdict::Absent) => json!({ "verdict": "absent" }),
            Some(Verdict::Failed(error)) => {
                json!({ "verdict": "failed", "message": error.to_string() })
            }
            Some(Verdict::Unavailable(state)) => {
                json!({ "verdict": "unavailable", "root": state })
            }
            Some(Verdict::LeftOut { at, skip }) => {
                json!({ "verdict": "left_out", "at": shown(at), "skipped": skip })
            }
        }
    }

    fn document_json(&self, document: &Document) -> Json {
        let mut object =
            output::document_json(document, &self.snapshot.meta().field_names(), false);
        if let Some(keys) = object.as_object_mut() {
            keys.remove("v");
        }
        object["extractor"] = json!(extractor(document.extracted_type(), self.helpers));
        if let Some(failure) = &document.failure {
            object["failure"]["seconds"] = json!(failure.elapsed_ms as f64 / 1000.0);
            object["failure"]["remedy"] = json!(output::remedy(&failure.cause, self.path));
        }
        object
    }
}

fn known_name(known: Known) -> &'static str {
    match known {
        Known::Not => "absent",
        Known::Unfinished => "unfinished",
        Known::Unchanged => "unchanged",
        Known::Changed => "changed",
        Known::Unseen => "unseen",
    }
}

fn next_name(next: Next) -> &'static str {
    match next {
        Next::Nothing => "nothing",
        Next::Read => "read",
        Next::ReadAgain(Stale::Extractor) => "read_extractor",
        Next::ReadAgain(Stale::Fields) => "read_fields",
        Next::ReadAgain(Stale::Settings) => "read_settings",
        Next::ReadAgain(Stale::Helper) => "read_helper",
        Next::ReadAgain(Stale::Retry) => "read_failed",
        Next::ReadAgain(Stale::Doubtful) => "read_doubtful",
        Next::Forget => "forget",
        Next::Keep => "keep",
    }
}

fn shown(path: &Path) -> String {
    escape_bytes(path.as_os_str().as_encoded_bytes()).into_owned()
}

/// Returns text without control characters except the tabs between its columns.
fn clean_row(row: &str) -> String {
    let columns: Vec<_> = row.split('\t').map(output::clean).collect();
    columns.join("\t")
}

//! `/api/v1/grep`: what `ken grep --json` prints, as it is found.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use ken_api::TakeLine;
use ken_api::message::bytes_of;
use ken_core::{Order, Root, covering};
use ken_engine::Source;
use ken_search::service::resolve;
use serde_json::{Value, json};

use super::parameter::{Parameter, one};
use crate::answer::{Answer, Body, Error, whole};
use crate::{Asked, Web};

/// The flag for the text in the index.
const DOCUMENTS: &str = "--documents";
/// How often the command is started for somebody who does not get all, if the index has another commit each time.
const MAX_TRIES: usize = 5;
/// Parameters that are flags of `ken grep` by the same name.
const FLAGS: [(&str, &str); 6] = [
    ("fixed_strings", "--fixed-strings"),
    ("ignore_case", "--ignore-case"),
    ("smart_case", "--smart-case"),
    ("word_regexp", "--word-regexp"),
    ("multiline", "--multiline"),
    ("documents", DOCUMENTS),
];
/// Parameters that are options with a value.
const OPTIONS: [(&str, &str); 4] = [
    ("glob", "--glob"),
    ("type", "--type"),
    ("context", "--context"),
    ("max_count", "--max-count"),
];

pub(super) fn parameters() -> Vec<Parameter> {
    let mut all = vec![
        one("pattern", "string", "The regular expression").required(),
        one(
            "in",
            "string",
            "A folder or file below a root; all roots if absent",
        )
        .many(),
    ];
    all.extend(FLAGS.map(|(name, flag)| one(name, "boolean", &format!("As ken grep {flag}"))));
    all.extend(
        OPTIONS.map(|(name, flag)| one(name, "string", &format!("As ken grep {flag}")).many()),
    );
    all
}

pub(super) fn answer(web: &Web, asked: &Asked, _: &str) -> Result<Answer, Error> {
    let (options, within) = arguments(web, asked)?;
    let program = web.setup.program.clone();
    // What is wrong with the pattern or an option has a status of its own, and it shows on a file without a line.
    // The index has no text of that file.
    let tried = options.iter().filter(|option| *option != DOCUMENTS);
    let tried = tried.cloned().chain(["/dev/null".into()]);
    let tried = program.run(tried).map_err(|error| Error {
        status: 500,
        message: error.to_string(),
    })?;
    if !matches!(tried.code, 0 | 1) {
        let errors = tried.errors.trim();
        let message = errors.strip_prefix("ken: ").unwrap_or(errors);
        return Err(Error::wrong(message.to_owned()));
    }
    let mut answer = whole(200, "application/x-ndjson", Vec::new());
    // Who may read nothing has no roots, and a command without a path would search the folder of this process.
    if within.is_empty() {
        return Ok(answer);
    }
    let arguments: Vec<OsString> = options.into_iter().chain(within).collect();
    let is_gone = Arc::clone(&asked.is_gone);
    // Somebody gets what the command finds in files that they may read.
    let commits = asked.asker.clone().map(|asker| web.commits_for(asker));
    *answer.body_mut() = Body::Written(Box::new(move |to| {
        let is_gone = || is_gone.load(Ordering::Relaxed);
        let ended = match commits {
            Some(commits) => {
                let run = |to: &mut dyn TakeLine| program.write_lines(&arguments, &is_gone, to);
                // Errors name files.
                let errors = "not all files could be searched".to_owned();
                shown(&commits, run, to).map(|code| (code, errors))
            }
            None => program.write(arguments, &is_gone, to),
        };
        let message = match ended {
            Ok((0 | 1, _)) => return Ok(()),
            Ok((_, errors)) => errors,
            // What is missing must not look as if it were not there.
            Err(error) => format!("the search ended early: {error}"),
        };
        let line = json!({ "type": "error", "data": { "message": message } });
        writeln!(to, "{line}")
    }));
    Ok(answer)
}

/// Returns the options of `ken grep`, and where it searches.
fn arguments(web: &Web, asked: &Asked) -> Result<(Vec<OsString>, Vec<OsString>), Error> {
    let known = ["pattern", "in"].into_iter();
    let known = known.chain(FLAGS.iter().chain(&OPTIONS).map(|(name, _)| *name));
    let known: Vec<&str> = known.collect();
    if let Some((name, _)) = asked.parameters().find(|(name, _)| !known.contains(name)) {
        return Err(Error::wrong(format!("there is no parameter {name}")));
    }
    let pattern = asked
        .get("pattern")
        .ok_or_else(|| Error::wrong("pattern: it is missing".to_owned()))?;
    let mut arguments: Vec<OsString> = ["grep", "--no-config", "--line-buffered", "--json"]
        .map(OsString::from)
        .into();
    for (name, flag) in FLAGS {
        // For others no file is opened: a path may lead to another file than the one that they may read.
        let is_needed = flag == DOCUMENTS && asked.asker.is_some();
        if asked.flag(name)? || is_needed {
            arguments.push(flag.into());
        }
    }
    for (name, option) in OPTIONS {
        // With `=` a value that begins with a dash is no option.
        arguments.extend(
            asked
                .all(name)
                .map(|value| format!("{option}={value}").into()),
        );
    }
    arguments.extend([OsString::from(format!("--regexp={pattern}")), "--".into()]);
    let source = web.at(asked, None)?;
    let roots = &source.meta().roots.clone();
    let within: Result<Vec<OsString>, Error> = asked
        .all("in")
        .map(|path| match asked.asker {
            Some(_) if !is_shown_below(&*source, path)? => Err(no_path(path)),
            _ => below(path, roots),
        })
        .collect();
    let mut within = within?;
    if within.is_empty() {
        within = roots.iter().map(|root| root.path.clone().into()).collect();
    }
    Ok((arguments, within))
}

/// Returns a path that is below a root. Nothing else is searched.
fn below(path: &str, roots: &[Root]) -> Result<OsString, Error> {
    let path = std::path::Path::new(path);
    let is_absolute = path.is_absolute();
    let resolved = resolve(path, roots).ok().filter(|path| {
        // A link on the way may lead elsewhere.
        let real = fs_err::canonicalize(path);
        is_absolute && real.is_ok_and(|real| covering(roots, &real).is_some())
    });
    resolved
        .map(Into::into)
        .ok_or_else(|| no_path(&path.to_string_lossy()))
}

fn no_path(path: &str) -> Error {
    Error::wrong(format!("in: \"{path}\" is no path below a root"))
}

/// Returns whether a source has a document at or below a path.
fn is_shown_below(source: &dyn Source, path: &str) -> Result<bool, Error> {
    let path = Path::new(path);
    let key = source.meta().hasher.key(path);
    if !source.files().documents_of(key)?.is_empty() {
        return Ok(true);
    }
    let found = source.run(&ken_search::scope::below(path), Order::default(), 0, 0)?;
    Ok(found.total > 0)
}

/// Runs the command and hands on what it prints about files that somebody may read. Returns its exit code.
///
/// What it prints is the text of one commit, and only that commit says who may read it.
fn shown(
    commits: &dyn Fn() -> io::Result<Arc<dyn Source>>,
    run: impl Fn(&mut dyn TakeLine) -> io::Result<(i32, String)>,
    to: &mut dyn Write,
) -> io::Result<i32> {
    for _ in 0..MAX_TRIES {
        let source = commits()?;
        let is_last = || Ok(commits()?.commit() == source.commit());
        let mut shown = Shown::new(&*source, &is_last, to);
        let ended = run(&mut shown);
        if !shown.is_of_another {
            let code = ended?.0;
            return match shown.lacks_lines {
                true => Err(io::Error::other("a line is too long to be shown")),
                false => Ok(code),
            };
        }
    }
    Err(io::Error::other(
        "the index changed each time; ask again later",
    ))
}

/// Hands on what the command prints about files that a source has, and nothing else: not the figures at the end, which are
/// those of all files.
struct Shown<'a> {
    source: &'a dyn Source,
    /// Returns whether the source is the last commit. If it is one before the command starts and when the command has
    /// opened the index, the command reads the same one.
    is_last: &'a dyn Fn() -> io::Result<bool>,
    /// Whether that is known, and whether the command may read another commit.
    is_sure: bool,
    is_of_another: bool,
    to: &'a mut dyn Write,
    /// Whether the current file is shown.
    is_shown: bool,
    /// Whether a line of a file that is shown was too long.
    lacks_lines: bool,
}

impl<'a> Shown<'a> {
    fn new(
        source: &'a dyn Source,
        is_last: &'a dyn Fn() -> io::Result<bool>,
        to: &'a mut dyn Write,
    ) -> Self {
        Self {
            source,
            is_last,
            is_sure: false,
            is_of_another: false,
            to,
            is_shown: false,
            lacks_lines: false,
        }
    }

    fn has(&self, path: &Value) -> io::Result<bool> {
        let path = bytes_of(path).unwrap_or_default();
        let path = PathBuf::from(OsString::from_vec(path));
        let key = self.source.meta().hasher.key(&path);
        let documents = self.source.files().documents_of(key);
        Ok(!documents.map_err(io::Error::other)?.is_empty())
    }
}

impl TakeLine for Shown<'_> {
    fn pass_over(&mut self) {
        self.lacks_lines |= self.is_shown;
    }

    fn take(&mut self, line: &[u8]) -> io::Result<()> {
        let event: Value = serde_json::from_slice(line)?;
        match event["type"].as_str() {
            Some("begin") => {
                if !self.is_sure && !(self.is_last)()? {
                    self.is_of_another = true;
                    return Err(io::Error::other("the command reads another commit"));
                }
                self.is_sure = true;
                self.is_shown = self.has(&event["data"]["path"])?;
            }
            Some("match" | "context" | "end") => {}
            _ => return Ok(()),
        }
        match self.is_shown {
            true => self.to.write_all(line),
            false => Ok(()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

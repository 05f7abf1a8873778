//! Commands that run when files come that match a query.
//!
//! They run on a thread of their own, one after the other: a slow command delays only the next one.

use std::collections::{BTreeSet, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use ken_search::service::{Request, Service};

use crate::commands::context::context;
use crate::config::{HookSettings, Settings, home};
use crate::failure::{Failure, Kind};
use crate::opened::Opened;
use crate::output;

/// Number of hits that a command gets.
const MAX_HITS: usize = 1_000;
/// Number of folders by which a query is narrowed.
const MAX_FOLDERS: usize = 100;
/// How often a running command is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// The hooks of a server; without any, nothing runs.
pub(super) struct Hooks(Option<Sender<Vec<PathBuf>>>);

impl Hooks {
    /// Starts the thread, if there are hooks.
    pub(super) fn start(data: &Path, settings: &Settings) -> Self {
        if settings.hook.is_empty() {
            return Self(None);
        }
        let (to, batches) = mpsc::channel();
        let (data, settings) = (data.to_path_buf(), settings.clone());
        std::thread::spawn(move || run_all(&data, &settings, &batches));
        Self(Some(to))
    }

    /// Returns whether there are hooks, which need the names of files that come.
    pub(super) fn are_any(&self) -> bool {
        self.0.is_some()
    }

    /// Takes the files that a batch brought into the index.
    pub(super) fn take(&self, added: Vec<PathBuf>) {
        if let Some(to) = self.0.as_ref().filter(|_| !added.is_empty()) {
            // The thread ends after this.
            let _ = to.send(added);
        }
    }
}

fn run_all(data: &Path, settings: &Settings, batches: &Receiver<Vec<PathBuf>>) {
    while let Ok(first) = batches.recv() {
        // While a command ran, more batches may have come.
        let added: HashSet<PathBuf> = first
            .into_iter()
            .chain(batches.try_iter().flatten())
            .collect();
        for hook in &settings.hook {
            if let Err(failure) = run(data, settings, hook, &added) {
                let message = failure.message();
                output::warn(&format!("hook \"{}\": {message}", hook.query));
            }
        }
    }
}

/// Runs the command of a hook if files that came match its query.
fn run(
    data: &Path,
    settings: &Settings,
    hook: &HookSettings,
    added: &HashSet<PathBuf>,
) -> Result<(), Failure> {
    let hits = hits(data, settings, hook, added)?;
    if hits.is_empty() {
        return Ok(());
    }
    let in_home = |argument: &String| match (argument.strip_prefix("~/"), home()) {
        (Some(rest), Some(home)) => home.join(rest).into_os_string(),
        _ => argument.into(),
    };
    let mut command = hook.command.iter().map(in_home);
    let program = command.next().unwrap_or_default();
    let cannot = |error: std::io::Error| {
        let program = hook.command.first().map_or("", String::as_str);
        Failure::new(Kind::Input, format!("{program}: {error}"))
    };
    let mut child = Command::new(program)
        .args(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .map_err(cannot)?;
    if let Some(mut input) = child.stdin.take() {
        // A command may end without reading it, or read late.
        std::thread::spawn(move || input.write_all(&hits));
    }
    wait(&mut child, Duration::from_secs(hook.seconds)).map_err(cannot)
}

/// Returns the files that came and match, as lines of JSON like those of `ken search --json`.
fn hits(
    data: &Path,
    settings: &Settings,
    hook: &HookSettings,
    added: &HashSet<PathBuf>,
) -> Result<Vec<u8>, Failure> {
    let snapshot = Opened::new(data, settings)?;
    let mut context = context();
    settings.mail.apply_to(&mut context)?;
    let service = Service::new(&*snapshot, context, settings.queries.clone());
    let request = Request {
        query: hook.query.clone(),
        filters: folders(added).into_iter().collect(),
        limit: None,
        ..Request::default()
    };
    let query = service.understand(&request)?;
    let answer = service.search(&request, query)?;
    let (mut lines, mut n) = (Vec::new(), 0);
    answer.each_hit(
        |hit| {
            let came = added.contains(&hit.location.path);
            came.then(|| output::json_line(&hit))
        },
        |line| {
            if let Some(line) = line.filter(|_| n < MAX_HITS) {
                n += 1;
                lines.extend(line);
            }
            Ok::<_, Failure>(())
        },
    )?;
    Ok(lines)
}

/// Returns a query for the folders of files, if it can be short.
fn folders(files: &HashSet<PathBuf>) -> Option<String> {
    let folders: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
    if folders.len() > MAX_FOLDERS {
        return None;
    }
    let terms: Option<Vec<String>> = folders
        .into_iter()
        .map(|folder| {
            let name = folder.to_str()?;
            // Such characters have a meaning in a query.
            let is_plain = !name.contains(['"', '\\', '*', '?', '[']);
            is_plain.then(|| format!("dir:\"{name}\""))
        })
        .collect();
    terms.map(|terms| terms.join(" OR "))
}

/// Waits until a command ends, and stops it when its time is over.
fn wait(child: &mut Child, most: Duration) -> std::io::Result<()> {
    let end = Instant::now() + most;
    loop {
        if let Some(status) = child.try_wait()? {
            return match status.success() {
                true => Ok(()),
                false => Err(std::io::Error::other(format!("failed: {status}"))),
            };
        }
        if end <= Instant::now() {
            child.kill()?;
            child.wait()?;
            let seconds = most.as_secs();
            return Err(std::io::Error::other(format!("stopped after {seconds} s")));
        }
        std::thread::sleep(LOOK);
    }
}

//! `ken config check`: the settings, and what they need of this machine.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::cli::Global;
use crate::commands::query;
use crate::config::sources::Sources;
use crate::config::{Settings, below_home};
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(global: &Global) -> Result<ExitCode, Failure> {
    // Fails if any setting has no meaning.
    let sources = Sources::read(global)?;
    let found = problems(global, &sources.settings);
    for (key, problem) in &found {
        let parts: Vec<&str> = key.split('.').collect();
        output::warn(&format!("{}: {key}: {problem}", sources.origin(&parts)));
    }
    let place = match &sources.file {
        Some(file) => format!("\"{}\"", file.path.display()),
        None => "there is no configuration file, and the defaults".to_owned(),
    };
    match found.len() {
        0 => output::print(format!("{}: no mistakes\n", output::clean(&place)).as_bytes())?,
        _ => return Ok(ExitCode::from(1)),
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns what the settings need and this machine lacks, by the name of the setting.
fn problems(global: &Global, settings: &Settings) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let mut add =
        |key, problem: Option<String>| found.extend(problem.map(|problem| (key, problem)));
    let failed =
        |result: Result<(), Failure>| result.err().map(|failure| failure.message().to_owned());
    for path in &settings.exclude {
        add("exclude", missing(path));
    }
    for folder in &settings.folder {
        add("folder", missing(&folder.path));
    }
    add("mail.root", settings.mail.root.as_deref().and_then(missing));
    add(
        "passwords.file",
        settings.passwords.file.as_deref().and_then(missing),
    );
    add("web.password", failed(settings.web.password().map(drop)));
    add(
        "search.synonyms",
        failed(query::synonyms(None, settings).map(drop)),
    );
    add("engine", failed(reached(settings)));
    let access = &settings.access;
    add("access.proxies", failed(access.proxies().map(drop)));
    add("access.group", failed(access.shared_socket().map(drop)));
    add("adapter", failed(settings.helpers(global).map(drop)));
    for name in settings.programs() {
        let is_there = program(Path::new(&name)).is_some();
        add(
            "adapter",
            (!is_there).then(|| format!("there is no program \"{name}\"")),
        );
    }
    for hook in &settings.hook {
        let name = hook.command.first().map(String::as_str).unwrap_or_default();
        let is_there = program(&below_home(Path::new(name))).is_some();
        add(
            "hook",
            (!is_there).then(|| format!("there is no program \"{name}\"")),
        );
    }
    for line in settings.open.values() {
        let name = shlex::split(line).and_then(|words| words.into_iter().next());
        let name = name.unwrap_or_default();
        let is_there = program(&below_home(Path::new(&name))).is_some();
        add(
            "open",
            (!is_there).then(|| format!("there is no program \"{name}\"")),
        );
    }
    if settings.ocr(false).is_ok_and(|ocr| ocr.is_some()) {
        add("ocr.languages", unknown_languages(settings));
    }
    found
}

/// Fails if the index is elsewhere and does not answer.
fn reached(settings: &Settings) -> Result<(), Failure> {
    match settings.engine.engine()? {
        Some(engine) => Ok(engine.state().map(drop)?),
        None => Ok(()),
    }
}

fn missing(path: &Path) -> Option<String> {
    let path = below_home(path);
    match fs_err::metadata(&path) {
        Ok(_) => None,
        Err(error) => Some(format!(
            "\"{}\": {}",
            path.display(),
            output::system_words(&error)
        )),
    }
}

/// Returns the path of a program, if it is there.
#[allow(clippy::disallowed_methods)] // the binary reads its environment
fn program(name: &Path) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return name.is_file().then(|| name.to_path_buf());
    }
    let path = std::env::var_os("PATH")?;
    let mut paths = std::env::split_paths(&path).map(|folder| folder.join(name));
    paths.find(|path| path.is_file())
}

/// Returns what Tesseract says of languages that it lacks.
fn unknown_languages(settings: &Settings) -> Option<String> {
    let Ok(output) = Command::new("tesseract").arg("--list-langs").output() else {
        return Some("tesseract is missing".to_owned());
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let known: Vec<&str> = text.lines().skip(1).map(str::trim).collect();
    let languages = settings.ocr.checked_languages().unwrap_or_default();
    let unknown: Vec<&str> = languages
        .iter()
        .map(String::as_str)
        .filter(|name| !known.contains(name))
        .collect();
    (!unknown.is_empty()).then(|| format!("tesseract lacks {}", unknown.join(", ")))
}

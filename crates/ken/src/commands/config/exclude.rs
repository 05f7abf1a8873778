//! `ken exclude`: which files and folders the index leaves out.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use toml_edit::{Array, Item, value};

use crate::cli::{ExcludeArgs, Global};
use crate::config::file::edit;
use crate::config::{Settings, below_home, data_folder, home};
use crate::failure::{Failure, Kind};
use crate::{opened, output};

pub(crate) fn run(global: &Global, args: &ExcludeArgs) -> Result<ExitCode, Failure> {
    let settings = Settings::load(global)?;
    if args.paths.is_empty() {
        for path in &settings.exclude {
            let shown = path.display().to_string();
            output::print(format!("{}\n", output::clean(&shown)).as_bytes())?;
        }
        return Ok(ExitCode::from(u8::from(settings.exclude.is_empty())));
    }
    let paths = args.paths.iter().map(std::path::absolute);
    let paths: Vec<PathBuf> = paths.collect::<Result<_, _>>()?;
    let known: Vec<PathBuf> = settings
        .exclude
        .iter()
        .map(|path| below_home(path))
        .collect();
    if args.remove {
        for path in &paths {
            if !known.contains(path) {
                let message = format!("\"{}\" is not left out", path.display());
                return Err(Failure::new(Kind::Usage, message).hint("ken exclude lists what is"));
            }
        }
        write(
            global,
            known.into_iter().filter(|path| !paths.contains(path)),
        )?;
        output::warn("no longer left out; run ken index to add it to the index again");
        return Ok(ExitCode::SUCCESS);
    }
    for path in &paths {
        check(global, path)?;
    }
    let new = paths.iter().filter(|path| !known.contains(path)).cloned();
    write(global, known.iter().cloned().chain(new))?;
    output::warn("left out from now on; run ken index to remove it from the index");
    Ok(ExitCode::SUCCESS)
}

/// Refuses what cannot be left out by a setting, and warns if nothing lies there.
fn check(global: &Global, path: &Path) -> Result<(), Failure> {
    let meta = opened::meta(&data_folder(global)?, &Settings::load(global)?);
    let roots = meta.map(|meta| meta.roots).unwrap_or_default();
    let real = fs_err::canonicalize(path);
    let real = real.as_deref().unwrap_or(path);
    if roots.iter().any(|root| root.path == real) {
        let message = format!("\"{}\" is a root of the index", path.display());
        return Err(Failure::new(Kind::Usage, message)
            .hint(&format!("ken index --forget \"{}\"", path.display())));
    }
    if matches!(fs_err::exists(path), Ok(false)) {
        output::warn(&format!("there is nothing at \"{}\" yet", path.display()));
    } else if !roots.is_empty() && !roots.iter().any(|root| real.starts_with(&root.path)) {
        output::warn(&format!(
            "\"{}\" is below no root of the index",
            path.display()
        ));
    }
    Ok(())
}

fn write(global: &Global, paths: impl Iterator<Item = PathBuf>) -> Result<(), Failure> {
    let home = home();
    let mut wanted = Vec::new();
    for path in paths {
        let below = home
            .as_deref()
            .and_then(|home| path.strip_prefix(home).ok());
        let shown = below.map_or_else(|| path.clone(), |below| Path::new("~").join(below));
        let text = shown.to_str().ok_or_else(|| {
            let message = format!(
                "\"{}\" is not UTF-8, which the configuration file must be",
                path.display()
            );
            Failure::new(Kind::Usage, message).hint("put a file .noindex into the folder")
        })?;
        wanted.push(text.to_owned());
    }
    edit(global, |document| {
        if wanted.is_empty() {
            document.remove("exclude");
            return Ok(());
        }
        let is_list = |item: &Item| item.as_array().is_some();
        if !document.get("exclude").is_some_and(is_list) {
            document["exclude"] = value(Array::new());
        }
        // What stays keeps its place and its comment.
        if let Some(list) = document["exclude"].as_array_mut() {
            let is_same = |text: &str, path: &str| text == path || expanded(text) == expanded(path);
            list.retain(|old| {
                let old = old.as_str().unwrap_or_default();
                wanted.iter().any(|path| is_same(old, path))
            });
            for path in &wanted {
                let is_there = list
                    .iter()
                    .filter_map(|old| old.as_str())
                    .any(|old| is_same(old, path));
                if !is_there {
                    list.push(path);
                }
            }
        }
        Ok(())
    })
    .map(drop)
}

/// Returns a path of the settings without `~`.
fn expanded(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), home()) {
        (Some(below), Some(home)) => home.join(below),
        _ => PathBuf::from(path),
    }
}

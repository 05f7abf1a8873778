//! `ken extract`: the second stage of indexing alone.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ken_core::{Document, FieldNames, Ipath};
use ken_extract::{Extractor, Input};
use ken_walk::Sidecar;

use super::{address, last};
use crate::cli::{ExtractArgs, Global};
use crate::config::Settings;
use crate::failure::{Failure, Kind};
use crate::output;

pub(crate) fn run(global: &Global, args: &ExtractArgs) -> Result<ExitCode, Failure> {
    let settings = Settings::load(global)?;
    let mut options = settings.extraction()?;
    options.helpers = settings.helpers(global)?;
    let names = FieldNames::new(&options.limits.headers);
    let (path, member) = named(global, &args.file)?;
    // Opening a FIFO would wait for a writer.
    let metadata = fs_err::metadata(&path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::new(
            Kind::Input,
            format!("there is no file \"{}\"", path.display()),
        ),
        _ => error.into(),
    })?;
    if !metadata.is_file() {
        let message = format!("\"{}\" is not a regular file", path.display());
        return Err(Failure::new(Kind::Input, message));
    }
    let file = ken_walk::open_named(&path)?;
    let mut input = Input::at(&path, file.file(), metadata.len());
    let log = log_beside(&path);
    if let Some((log, n_bytes)) = &log {
        input = input.with_log(Input::file("", log.file(), *n_bytes));
    }
    let (mut failed, mut is_found) = (false, member.is_root());
    let mut result = Ok(());
    Extractor::new(&options).extract_all(&mut input, &mut |document| {
        if document.ipath.prefix(member.depth()) != member.as_str() {
            return;
        }
        is_found = true;
        failed |= document.failure.is_some();
        if result.is_ok() {
            result = print(args, &document, &names);
        }
    });
    result?;
    if !is_found {
        let message = format!("\"{}\" has no member {member}", path.display());
        return Err(Failure::new(Kind::Input, message));
    }
    Ok(ExitCode::from(if failed { 2 } else { 0 }))
}

/// Returns the file and the member that an address names. What is no file may be an address of the index.
fn named(global: &Global, typed: &Path) -> Result<(PathBuf, Ipath), Failure> {
    let (path, member) = file_and_member(&last::address(typed)?);
    if !fs_err::exists(&path).unwrap_or(true)
        && let Some(location) = address::location(global, typed)?
    {
        return Ok((location.path, location.ipath));
    }
    Ok((path, member))
}

/// Splits an address into a file that exists and a member path.
fn file_and_member(address: &Path) -> (PathBuf, Ipath) {
    let bytes = address.as_os_str().as_bytes();
    let bars = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'|');
    let mut files = bars.map(|(bar, _)| (Path::new(OsStr::from_bytes(&bytes[..bar])), bar));
    match files.find(|(path, _)| path.is_file()) {
        Some((path, bar)) if !fs_err::exists(address).unwrap_or(true) => {
            let member = String::from_utf8_lossy(&bytes[bar + 1..]);
            (path.to_owned(), Ipath::from_joined(&member))
        }
        _ => (address.to_owned(), Ipath::root()),
    }
}

/// Opens the write-ahead log of a database, if there is one next to the file.
fn log_beside(path: &Path) -> Option<(fs_err::File, u64)> {
    let names = ken_walk::sidecar_names(path.file_name()?.as_bytes());
    let (name, _) = names.into_iter().find(|(_, kind)| *kind == Sidecar::Log)?;
    let path = path.with_file_name(OsStr::from_bytes(&name));
    // Opening a FIFO would wait for a writer.
    let metadata = fs_err::metadata(&path).ok().filter(Metadata::is_file)?;
    Some((ken_walk::open_named(&path).ok()?, metadata.len()))
}

fn print(args: &ExtractArgs, document: &Document, names: &FieldNames) -> std::io::Result<()> {
    if let Some(failure) = &document.failure {
        let inside = match document.ipath.is_root() {
            true => String::new(),
            false => format!("|{}", document.ipath),
        };
        output::warn(&format!(
            "\"{}{inside}\": {}: {}",
            args.file.display(),
            failure.reason().name(),
            output::cause_text(&failure.cause)
        ));
    }
    if args.json {
        return output::print(&output::json_line(&output::document_json(
            document, names, true,
        )));
    }
    let mut text = String::new();
    if !document.ipath.is_root() {
        text.push_str(&format!(
            "==> {} <==\n",
            output::clean(document.ipath.as_str())
        ));
    }
    text.push_str(&document.body);
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    output::print(text.as_bytes())
}

//! `ken mail save`: writes attached files into a folder.

use std::collections::HashSet;
use std::fs::Permissions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ken_core::{Kind as Type, Location};
use ken_search::service::Service;
use ken_search::service::mail::{MessageRequest, Part, Which};
use regex_automata::meta::Regex;

use super::{Mail, which_or_number};
use crate::cli::{Global, SaveArgs};
use crate::commands::original::Reader;
use crate::failure::{Failure, Kind};
use crate::output;

/// The most bytes of a name: file systems take 255, and a number may be added.
const MAX_NAME_BYTES: usize = 240;

/// The most names that are tried for one file: `a.pdf`, `a-2.pdf`, …
const MAX_NAMES: usize = 10_000;

pub(super) fn run(global: &Global, args: &SaveArgs) -> Result<ExitCode, Failure> {
    let mail = Mail::open(global)?;
    let reader = Reader::new(&*mail.snapshot, mail.settings.extraction()?);
    let pattern = args.name.as_deref().map(compiled).transpose()?;
    fs_err::create_dir_all(&args.to)?;
    let mut saved = HashSet::new();
    let mut n_saved = 0;
    let mut n_failed = 0;
    let service = mail.service();
    let which = which_or_number(&service, &args.query)?;
    let addressed = addressed_part(&service, &which)?;
    let messages = service.messages(&MessageRequest {
        which,
        reverse: true,
        once: args.skip_dups,
        ..MessageRequest::default()
    })?;
    for message in messages.iter() {
        let files = service.parts(&message?)?.items;
        let only = addressed.as_ref().map(|part| number_of(part, &files));
        for file in files {
            let name = file_name(&file);
            let is_other = |wanted: &String| file.number != *wanted;
            if only
                .as_ref()
                .is_some_and(|only| only.as_ref() != Some(&file.number))
            {
                continue;
            }
            if pattern
                .as_ref()
                .is_some_and(|pattern| !pattern.is_match(&name))
                || args.part.as_ref().is_some_and(is_other)
            {
                continue;
            }
            let written = reader.read(&file.location).and_then(|bytes| {
                let path = args.to.join(&name);
                Ok(write(&path, &bytes, args.overwrite, &mut saved)?)
            });
            match written {
                Ok(path) => {
                    n_saved += 1;
                    output::print(format!("{}\n", path.display()).as_bytes())?;
                }
                Err(failure) => {
                    n_failed += 1;
                    failure.report();
                }
            }
        }
    }
    if n_saved == 0 && n_failed == 0 {
        output::remark(match messages.is_empty() {
            true => "no message matches",
            false => "no message that matches has such a file",
        });
    }
    Ok(ExitCode::from(match (n_failed, n_saved) {
        (0, 0) => 1,
        (0, _) => 0,
        _ => 2,
    }))
}

/// Returns the location of what is inside a message, if an address names it.
fn addressed_part(service: &Service<'_>, which: &Which) -> Result<Option<Location>, Failure> {
    let Which::At(address) = which else {
        return Ok(None);
    };
    let stored = service.addressed(address)?.named.stored;
    let is_part = !stored.location.ipath.is_root() && stored.document.kind != Type::Message;
    Ok(is_part.then_some(stored.location))
}

/// Returns the number of the attachment that has a location, or in which it is.
fn number_of(location: &Location, files: &[Part]) -> Option<String> {
    let holds = |file: &&Part| {
        let ipath = &file.location.ipath;
        file.location.path == location.path
            && location.ipath.prefix(ipath.depth()) == ipath.as_str()
    };
    let nearest = files.iter().filter(holds);
    let nearest = nearest.max_by_key(|file| file.location.ipath.depth());
    nearest.map(|file| file.number.clone())
}

fn compiled(pattern: &str) -> Result<Regex, Failure> {
    Regex::new(&format!("(?i){pattern}")).map_err(|error| {
        let message = format!("invalid regular expression: {error}");
        Failure::new(Kind::Usage, message).hint("see https://docs.rs/regex for the syntax")
    })
}

/// Returns a safe file name: the sender chose the original, which may point to other folders.
fn file_name(file: &Part) -> String {
    let name = file.name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name.chars().filter(|c| !output::steers(*c)).collect();
    match name.trim_start_matches('.').trim() {
        "" => format!("part-{}", file.number),
        name if name.len() <= MAX_NAME_BYTES => name.to_owned(),
        name => {
            let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
            let extension = &extension[..extension.floor_char_boundary(16)];
            let stem = &stem[..stem.floor_char_boundary(MAX_NAME_BYTES - 17)];
            format!("{stem}.{extension}")
        }
    }
}

/// Writes a file under a name that no other file of this run has, and returns its path. An existing file is only
/// overwritten if allowed, as the sender chose the name.
fn write(
    path: &Path,
    bytes: &[u8],
    overwrite: bool,
    written: &mut HashSet<PathBuf>,
) -> std::io::Result<PathBuf> {
    let folder = path.parent().unwrap_or(path);
    let mut file = tempfile::Builder::new()
        // The usual permissions of new files, and not only for the owner.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    file.write_all(bytes)?;
    for number in 1..=MAX_NAMES {
        let path = numbered(path, number);
        let outcome = if overwrite && !written.contains(&path) {
            // Replaces a link and does not follow it.
            file.persist(&path)
        } else {
            file.persist_noclobber(&path)
        };
        match outcome {
            Ok(_) => {
                written.insert(path.clone());
                return Ok(path);
            }
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => file = error.file,
            Err(error) => return Err(error.error),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

fn numbered(path: &Path, number: usize) -> PathBuf {
    if number == 1 {
        return path.to_owned();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path
        .extension()
        .map(|extension| extension.to_string_lossy());
    let extension = extension
        .map(|extension| format!(".{extension}"))
        .unwrap_or_default();
    path.with_file_name(format!("{stem}-{number}{extension}"))
}

//! `ken mail save`: attached files, written into a folder.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fs_err::OpenOptions;

use super::Mail;
use super::contacts::compiled;
use super::read::Reader;
use super::show::{Attached, attached};
use crate::cli::{Global, SaveArgs};
use crate::failure::Failure;
use crate::output;

/// Names that are tried for one file: `a.pdf`, `a-2.pdf`, …
const MAX_NAMES: usize = 10_000;

pub(super) fn run(global: &Global, args: &SaveArgs) -> Result<ExitCode, Failure> {
    let mail = Mail::open(global)?;
    let reader = Reader::new(&mail.settings)?;
    let pattern = args.name.as_deref().map(compiled).transpose()?;
    let mut n_saved = 0;
    let mut n_failed = 0;
    for address in mail.find(&mail.messages(&args.query)?, true, 0)? {
        let stored = mail.snapshot.document(address)?;
        for file in attached(&mail.snapshot, address, &stored)? {
            let name = file_name(&file);
            if pattern
                .as_ref()
                .is_some_and(|pattern| !pattern.is_match(&name))
            {
                continue;
            }
            let written = reader
                .read(&file.location)
                .and_then(|bytes| Ok(write(&args.to.join(&name), &bytes, args.overwrite)?));
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
    Ok(ExitCode::from(match (n_failed, n_saved) {
        (0, 0) => 1,
        (0, _) => 0,
        _ => 2,
    }))
}

/// Returns a name that is one in a folder and no other: the sender chose it.
fn file_name(file: &Attached) -> String {
    let name = file.name.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    match name.trim_start_matches('.').trim() {
        "" => format!("part-{}", file.number),
        name => name.to_owned(),
    }
}

/// Writes a new file, or over one if it may. Returns its path.
fn write(path: &Path, bytes: &[u8], overwrite: bool) -> std::io::Result<PathBuf> {
    let mut options = OpenOptions::new();
    options.write(true);
    if overwrite {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    for number in 1..=MAX_NAMES {
        let path = numbered(path, number);
        match options.open(&path) {
            Ok(mut file) => {
                file.write_all(bytes)?;
                return Ok(path);
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
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

//! `ken walk`: the first stage of indexing alone.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use ken_core::{Root, Stamp, escape_bytes};
use ken_walk::{Progress, Skip, Visitor};
use serde_json::json;

use super::walk_options;
use crate::cli::{Global, WalkArgs, WalkOptions};
use crate::failure::{Failure, Kind};
use crate::output;

/// Returns the root at a path with the options of the command line.
pub(super) fn root(path: &Path, walk: WalkOptions) -> Result<Root, Failure> {
    let root = ken_walk::root_at(path).map_err(|error| {
        let cause = output::system_words(&error);
        Failure::new(
            Kind::Input,
            format!("cannot index \"{}\": {cause}", path.display()),
        )
    })?;
    Ok(Root {
        hidden: walk.hidden,
        no_ignore: walk.no_ignore,
        follow_links: walk.follow,
        one_file_system: walk.one_file_system,
        ..root
    })
}

pub(crate) fn run(global: &Global, args: &WalkArgs) -> Result<ExitCode, Failure> {
    let root = root(&args.path, args.walk)?;
    let options = walk_options(global)?;
    // Threads find files in any order, but people and diffs need them sorted.
    let lines: Mutex<Vec<Vec<u8>>> = Mutex::default();
    let add = |line: Vec<u8>| {
        lines
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line);
    };
    let file = |path: &Path, stamp: Stamp| add(file_line(args, path, &stamp));
    let skipped = |path: &Path, skip: Skip| add(skip_line(args, path, &skip));
    let visitor = Visitor {
        file: &file,
        skipped: if args.explain { Some(&skipped) } else { None },
        recorder: None,
    };
    let summary = ken_walk::walk(&[root], &options, &Progress::default(), visitor);
    let mut lines = lines.into_inner().unwrap_or_else(PoisonError::into_inner);
    lines.sort_unstable();
    output::print(&lines.concat())?;
    for error in &summary.errors {
        output::warn(&error.to_string());
    }
    Ok(if summary.n_errors > 0 {
        ExitCode::from(2)
    } else if summary.files == 0 {
        ExitCode::from(1)
    } else {
        ExitCode::SUCCESS
    })
}

fn file_line(args: &WalkArgs, path: &Path, stamp: &Stamp) -> Vec<u8> {
    let bytes = path.as_os_str().as_bytes();
    if args.json {
        return output::json_line(&json!({
            "v": output::SCHEMA,
            "path": escape_bytes(bytes),
            "stamp": stamp,
        }));
    }
    let end = if args.null { b'\0' } else { b'\n' };
    [bytes, &[end]].concat()
}

fn skip_line(args: &WalkArgs, path: &Path, skip: &Skip) -> Vec<u8> {
    let shown = escape_bytes(path.as_os_str().as_bytes());
    if args.json {
        return output::json_line(&json!({
            "v": output::SCHEMA,
            "path": shown,
            "skipped": skip,
        }));
    }
    let end = if args.null { '\0' } else { '\n' };
    format!("{shown}\t{}{end}", reason(skip)).into_bytes()
}

/// Returns why a path is left out, in words.
pub(super) fn reason(skip: &Skip) -> String {
    match skip {
        Skip::Hidden => "hidden (--hidden includes it)".to_owned(),
        Skip::Ignored { file, pattern } => {
            format!("ignored by {pattern:?} in {file} (--no-ignore includes it)")
        }
        Skip::Marked => "its folder has a .noindex file".to_owned(),
        Skip::Held => "its folder has a .noupdate file; ken does not update it".to_owned(),
        Skip::Undelivered => "in the tmp folder of a Maildir; not delivered yet".to_owned(),
        Skip::Loose => {
            "beside the folders of a Maildir; mu takes only what is in cur and new".to_owned()
        }
        Skip::Special => "not a regular file".to_owned(),
        Skip::Link => "a symbolic link (--follow includes it)".to_owned(),
        Skip::Loop => "a link to a parent folder".to_owned(),
        Skip::FileSystem => "on another file system".to_owned(),
        Skip::Excluded => {
            "left out by the settings (ken exclude lists it), or a part of ken's own data"
                .to_owned()
        }
        Skip::Root => "another root".to_owned(),
    }
}

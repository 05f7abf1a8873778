//! `ken open`: opens a document in the program for it, at its page or line where that program can.

mod program;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use fs_err::os::unix::fs::OpenOptionsExt;
use ken_core::{Field, Location};
use ken_engine::Source;
use ken_search::service::{Named, Place, Service};

use super::context::context;
use super::original::{FileState, Reader, changed_words, state};
use super::{address, desktop, last};
use crate::cli::{Global, OpenArgs};
use crate::config::{Settings, data_folder, state_home};
use crate::failure::{Failure, Kind};
use crate::opened::Opened;
use crate::output;
use program::Opening;

/// How long an unpacked member is kept for the program that shows it.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// The mode of an unpacked member.
const READ_ONLY: u32 = 0o400;
/// The most bytes of the name of a file.
const MAX_NAME: usize = 200;

pub(crate) fn run(global: &Global, args: &OpenArgs) -> Result<ExitCode, Failure> {
    let settings = Settings::load(global)?;
    let snapshot = Opened::new(&data_folder(global)?, &settings)?;
    let service = Service::new(&*snapshot, context(), settings.queries.clone());
    let found = address::find(&service, &args.address)?;
    let location = &found.named.stored.location;
    match state(&*snapshot, &location.path)? {
        FileState::Gone => return Err(gone(location)),
        FileState::Changed => output::warn(&changed_words(location)),
        FileState::Same | FileState::Unknown => {}
    }
    if args.folder {
        if !desktop::is_there() {
            return Err(no_desktop());
        }
        desktop::open(&location.path, true)?;
        return Ok(ExitCode::SUCCESS);
    }
    let path = match location.ipath.is_root() {
        true => location.path.clone(),
        false => unpacked(&*snapshot, &settings, &found.named)?,
    };
    let typed = args.page.map(Place::Page);
    let typed = typed.or_else(|| args.line.map(Place::Line));
    let of_list = || last::numbered(&args.address).and_then(|hit| hit.place);
    Opening {
        path: &path,
        document: &found.named.stored.document,
        place: typed.or(found.place).or_else(of_list),
    }
    .run(&settings.open, args.program.as_deref())
}

fn gone(location: &Location) -> Failure {
    let message = format!("\"{}\" no longer exists", location.path.display());
    Failure::new(Kind::Input, message)
        .hint("ken show prints the text that the index has; ken index updates the index")
}

fn no_desktop() -> Failure {
    let message = "there is no desktop to open it on".to_owned();
    Failure::new(Kind::Input, message).hint("ken show prints its text; --with names a program")
}

/// Writes a member of a file into a folder of its own, which only the user can read, and returns its path. Members of
/// earlier days are removed.
fn unpacked(snapshot: &dyn Source, settings: &Settings, named: &Named) -> Result<PathBuf, Failure> {
    let bytes = Reader::new(snapshot, settings.extraction()?).read(&named.stored.location)?;
    let folder = state_home().ok_or_else(|| {
        let message = "there is no home folder to unpack it into".to_owned();
        Failure::new(Kind::Usage, message)
    })?;
    let folder = folder.join("ken/opened");
    remove_old(&folder);
    let own = folder.join(format!("{}-{}", named.id, std::process::id()));
    ken_private::create_folder(&own)?;
    let path = own.join(file_name(named));
    let mut options = ken_private::options();
    let options = options.write(true).create_new(true).mode(READ_ONLY);
    options.open(&path)?.write_all(&bytes)?;
    Ok(path)
}

/// Returns a name for the file of a member: its own, without what leads out of a folder.
fn file_name(named: &Named) -> String {
    let name = named.stored.document.text(Field::Filename);
    let name = name.map_or_else(|| named.stored.location.file_name(), str::to_owned);
    let name = name.rsplit('/').next().unwrap_or_default();
    let name: String = name.chars().filter(|c| !output::steers(*c)).collect();
    let name = name.trim_start_matches('.');
    // The extension tells programs the type.
    let start = name.ceil_char_boundary(name.len().saturating_sub(MAX_NAME));
    let name = match &name[start..] {
        "" => "member",
        name => name,
    };
    let is_message = named.stored.document.media_type == "message/rfc822";
    let ends_so = Path::new(name)
        .extension()
        .is_some_and(|of| of.eq_ignore_ascii_case("eml"));
    match is_message && !ends_so {
        // A message in a mailbox has the name of the mailbox.
        true => format!("{name}.eml"),
        false => name.to_owned(),
    }
}

/// Removes the folders of members that were opened long ago. What cannot be removed stays for the next time.
fn remove_old(folder: &Path) {
    let Ok(entries) = fs_err::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.map(|at| SystemTime::now().duration_since(at));
        if matches!(age, Ok(Ok(age)) if age > KEPT) {
            let _ = fs_err::remove_dir_all(entry.path());
        }
    }
}

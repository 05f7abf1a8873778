//! Opens a document in its program, or its folder, on the desktop where the server runs.

use std::path::Path;
use std::process::{Command, Stdio};

use http::header::CONTENT_TYPE;
use serde::Deserialize;
use serde_json::json;

use super::look::Looker;
use super::state::State;
use crate::answer::{Answer, Error, object};
use crate::{Asked, Web, original};

/// What to open.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wish {
    id: String,
    /// Whether the folder is wanted, and not the document.
    #[serde(default)]
    folder: bool,
}

/// Opens what the request names. Only a page of ours can send JSON: forms cannot.
pub(super) fn open(web: &Web, asked: &Asked) -> Result<Answer, Error> {
    let mime = asked.headers.get(CONTENT_TYPE);
    let is_json = mime.is_some_and(|mime| mime.as_bytes().starts_with(b"application/json"));
    if !is_json {
        return Err(Error::wrong("the body must be JSON".to_owned()));
    }
    let wish: Wish =
        serde_json::from_slice(&asked.body).map_err(|error| Error::wrong(error.to_string()))?;
    let Some(opener) = &web.setup.opener else {
        return Err(Error {
            status: 409,
            message: "ken serve runs without a desktop".to_owned(),
        });
    };
    let (state, snapshot) = (State::default(), web.index.at(None)?);
    let looker = Looker::new(web, asked, &*snapshot, &state);
    let location = looker.document(&wish.id)?.stored.location;
    let path = location.path.as_path();
    // What took the place of the file since it was indexed is not opened.
    let file = original::open(&*snapshot, &location)?;
    let runs = runs(path, &file);
    let opened = match wish.folder || runs {
        true => path.parent().unwrap_or(path),
        false => path,
    };
    start(opener, opened)?;
    Ok(object(
        &json!({ "opened": if opened == path { "document" } else { "folder" } }),
    ))
}

/// Returns whether opening a file would run it as a program.
fn runs(path: &Path, file: &std::fs::File) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let is_starter = path
        .extension()
        .is_some_and(|extension| extension == "desktop");
    let mode = file
        .metadata()
        .map(|metadata| metadata.permissions().mode());
    is_starter || mode.is_ok_and(|mode| mode & 0o111 != 0)
}

/// Starts the program that opens things, and does not wait for what it opens.
fn start(opener: &Path, path: &Path) -> Result<(), Error> {
    let started = Command::new(opener)
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut started = started.map_err(|error| Error {
        status: 500,
        message: format!("{}: {error}", opener.display()),
    })?;
    std::thread::spawn(move || started.wait());
    Ok(())
}

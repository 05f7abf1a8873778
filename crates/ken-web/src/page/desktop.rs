//! Opens a document in its program, or its folder, on the desktop where the server runs.

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
    asked.only_the_owner()?;
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
    let (state, snapshot) = (State::default(), web.at(asked, None)?);
    let looker = Looker::new(web, asked, &*snapshot, &state);
    let location = looker.document(&wish.id)?.stored.location;
    let path = location.path.as_path();
    // What took the place of the file since it was indexed is not opened.
    original::open(&*snapshot, &location, None)?;
    let is_document = opener(path, wish.folder).map_err(|message| Error {
        status: 500,
        message,
    })?;
    Ok(object(
        &json!({ "opened": if is_document { "document" } else { "folder" } }),
    ))
}

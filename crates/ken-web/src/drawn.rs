//! What the drawer of pages and pictures needs to know, and what it could not do.

use ken_core::{Cause, Ipath};
use ken_engine::{MessageId, Source, Stored};
use ken_extract::Original;
use ken_search::service::cause_text;

use crate::answer::Error;

/// Returns what the drawer needs to know of a document.
pub(crate) fn wanted<'a>(
    source: &dyn Source,
    stored: &'a Stored,
    file: &'a std::fs::File,
) -> Result<Original<'a>, Error> {
    let (path, ipath) = (&stored.location.path, &stored.location.ipath);
    let hasher = source.meta().hasher;
    let message = match ipath.is_root() {
        true => None,
        false => {
            let message = MessageId::of(&Ipath::from_joined(ipath.prefix(1)), 1);
            source.mail().message_span(hasher.key(path), message)?
        }
    };
    Ok(Original {
        path,
        file,
        ipath,
        message: message.map(|span| (span, hasher.seed())),
    })
}

/// Says why there is no picture.
pub(crate) fn undrawn(cause: &Cause) -> Error {
    Error {
        status: 404,
        message: format!("this page cannot be drawn: {}", cause_text(cause)),
    }
}

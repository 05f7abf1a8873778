//! `/api/v1`: answers for programs, as JSON (docs/json.md).

mod search;

use crate::answer::{Answer, Error};
use crate::{Asked, From, Web};

pub(crate) fn answer(web: &Web, asked: &Asked, route: &str) -> Result<Answer, Error> {
    if asked.from == From::Anybody {
        return Err(Error {
            status: 401,
            message: "ken web prints the address to open".to_owned(),
        });
    }
    match route {
        "search" => search::answer(web, asked),
        _ => Err(Error::not_found(&asked.path)),
    }
}

//! `GET /api/v1/search`.

use std::sync::Arc;

use jiff::Timestamp;
use ken_search::plan::Context;
use ken_search::service::{Reading, Request, Service};

use crate::answer::{Answer, Error, object};
use crate::{Asked, Web};

pub(super) fn answer(web: &Web, asked: &Asked) -> Result<Answer, Error> {
    let snapshot = web.index.at(asked.parsed("commit", "a number")?)?;
    let context = Context {
        now: Timestamp::now(),
        ..web.setup.context.clone()
    };
    let service = Service::new(&*snapshot, context, web.setup.saved.clone())
        .with_cancel(Arc::clone(&asked.is_gone));
    let response = service.ask(&request(web, asked)?)?;
    Ok(object(&response))
}

fn request(web: &Web, asked: &Asked) -> Result<Request, Error> {
    let usual = Request::default();
    Ok(Request {
        query: asked.get("q").map_or(usual.query, str::to_owned),
        reading: Reading::Lenient,
        filters: asked.all("filter").map(str::to_owned).collect(),
        offset: asked.parsed("offset", "a number")?.unwrap_or(0),
        limit: asked.parsed("limit", "a number")?.or(usual.limit),
        count: true,
        deadline_ms: web.setup.deadline_ms,
        ..Request::default()
    })
}

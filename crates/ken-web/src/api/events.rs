//! What is indexed, how fresh it is, and pauses.

use std::io;
use std::time::Duration;

use serde_json::json;

use crate::answer::{Answer, Body, Error, object, whole};
use crate::{Asked, Web};

/// How often the freshness is looked at while somebody listens.
const TICK: Duration = Duration::from_secs(1);
/// How often something is sent although nothing changed, so that a client that is gone is noticed.
const ALIVE: u32 = 15;

pub(super) fn answer(web: &Web, asked: &Asked, _: &str) -> Result<Answer, Error> {
    asked.only_the_owner()?;
    let server = web.setup.server.clone();
    let is_gone = std::sync::Arc::clone(&asked.is_gone);
    let mut answer = whole(200, "text/event-stream", Vec::new());
    *answer.body_mut() = Body::Written(Box::new(move |to| {
        let mut told = String::new();
        for tick in 0.. {
            if is_gone.load(std::sync::atomic::Ordering::Relaxed) {
                break;
            }
            let Ok(freshness) = server.status() else {
                break;
            };
            // A moment more or less is nothing new.
            let rounded = ken_api::message::Freshness {
                complete_seconds_ago: freshness.complete_seconds_ago.map(f64::floor),
                ..freshness
            };
            let text = serde_json::to_string(&rounded).map_err(io::Error::from)?;
            if text != told {
                write!(to, "event: freshness\ndata: {text}\n\n")?;
                told = text;
            } else if tick % ALIVE == 0 {
                to.write_all(b": still here\n\n")?;
            }
            to.flush()?;
            std::thread::sleep(TICK);
        }
        Ok(())
    }));
    Ok(answer)
}

pub(super) fn overview(web: &Web, asked: &Asked, _: &str) -> Result<Answer, Error> {
    asked.only_the_owner()?;
    let ended = run(web, &["status", "--json"])?;
    Ok(whole(200, "application/json", ended))
}

pub(super) fn pause(web: &Web, asked: &Asked, _: &str) -> Result<Answer, Error> {
    asked.only_the_owner()?;
    run(web, &["index", "--pause"])?;
    Ok(object(&json!({ "paused": true })))
}

pub(super) fn resume(web: &Web, asked: &Asked, _: &str) -> Result<Answer, Error> {
    asked.only_the_owner()?;
    run(web, &["index", "--resume"])?;
    Ok(object(&json!({ "paused": false })))
}

/// Runs one of ken's commands, and returns what it prints.
fn run(web: &Web, arguments: &[&str]) -> Result<Vec<u8>, Error> {
    let failed = |message: String| Error {
        status: 500,
        message,
    };
    let ended = web.setup.program.run(arguments);
    let ended = ended.map_err(|error| failed(error.to_string()))?;
    match ended.code {
        0 | 1 => Ok(ended.output),
        _ => Err(failed(ended.errors)),
    }
}

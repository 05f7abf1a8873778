//! The log of tags, which all machines share.
//!
//! Each addition is a document beside the root document, `tags-1`, `tags-2` and so on, that is created only where there is
//! none. So two machines that add at once get two numbers, all machines read the same lines in the same order, and an addition
//! that arrives twice changes nothing. No document of the log is ever changed.
//!
//! A node that was cut off may show a document that its cluster does not keep, so a number may stay free. The end of the log
//! is where a whole page of numbers is free.

use ken_engine::Error;
use serde_json::{Value, json};

use crate::client::{Client, kind};
use crate::http::{Method, SMALL};
use crate::layout::Names;

/// The documents that are read at once; together they are smaller than the largest answer that is read.
const PAGE: u64 = 100;
/// The bytes of lines that one document has, unless a single line has more.
const MAX_BYTES: usize = 1 << 20;

/// The log as it was read.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct TagLog {
    pub(crate) lines: Vec<u8>,
    /// The number that the next addition gets.
    next: u64,
}

/// Reads the log. None if there is no index.
pub(crate) fn read(client: &Client, names: &Names) -> Result<Option<TagLog>, Error> {
    let mut log = TagLog {
        lines: Vec::new(),
        next: 1,
    };
    let path = format!("/{}/_mget", names.root);
    for first in (1..).step_by(PAGE as usize) {
        let ids: Vec<String> = (first..first + PAGE).map(id).collect();
        let (status, answer) = client.call(Method::Post, &path, &json!({ "ids": ids }))?;
        match status {
            200 => {}
            404 => return Ok(None),
            status => return Err(client.refused(status, &answer)),
        }
        let Some(documents) = answer["docs"].as_array() else {
            return Err(client.error("an answer names no documents of the tags".to_owned()));
        };
        for (number, document) in (first..).zip(documents) {
            if kind(document) == Some("index_not_found_exception") {
                return Ok(None);
            }
            if let Some(cause) = document.get("error") {
                return Err(client.error(format!(
                    "{}: {}",
                    id(number),
                    crate::client::reason(cause)
                )));
            }
            if let Some(lines) = document["_source"]["lines"].as_str() {
                log.lines.extend_from_slice(lines.as_bytes());
                log.next = number + 1;
            }
        }
        if log.next <= first {
            break;
        }
    }
    Ok(Some(log))
}

/// Adds lines to a log that was read.
pub(crate) fn add(client: &Client, names: &Names, log: &TagLog, lines: &str) -> Result<(), Error> {
    let mut next = log.next;
    for some in pieces(lines) {
        // Tells an answer that was lost from another machine that was faster.
        let by = format!("{:016x}", fastrand::u64(..));
        while !create(client, names, next, &by, some)? {
            next += 1;
        }
        next += 1;
    }
    Ok(())
}

/// Creates the document with a number; returns false if another one has it.
fn create(
    client: &Client,
    names: &Names,
    number: u64,
    by: &str,
    lines: &str,
) -> Result<bool, Error> {
    let document = format!("/{}/_doc/{}", names.root, id(number));
    let path = format!("{document}?op_type=create&require_alias=true");
    let body = json!({ "by": by, "lines": lines });
    let (status, answer) = client.call_within(SMALL, Method::Put, &path, &body)?;
    match status {
        200 | 201 => Ok(true),
        409 => {
            let (status, answer) =
                client.call_within(SMALL, Method::Get, &document, &Value::Null)?;
            match status {
                200 => Ok(answer["_source"]["by"] == by),
                status => Err(client.refused(status, &answer)),
            }
        }
        status => Err(client.refused(status, &answer)),
    }
}

fn id(number: u64) -> String {
    format!("tags-{number}")
}

/// Returns lines in pieces of whole lines.
fn pieces(lines: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = lines;
    while !rest.is_empty() {
        let most = rest.floor_char_boundary(MAX_BYTES);
        let end = match rest.len() <= MAX_BYTES {
            true => rest.len(),
            false => {
                let end = rest[..most].rfind('\n');
                let end = end.or_else(|| rest.find('\n'));
                end.map_or(rest.len(), |at| at + 1)
            }
        };
        let (piece, left) = rest.split_at(end);
        pieces.push(piece);
        rest = left;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_lines() {
        let long = "x".repeat(MAX_BYTES + 5);
        let text = format!("+a -- id:1\n{long}\n{}", "+b -- id:2\n".repeat(200_000));
        let pieces = pieces(&text);
        assert_eq!(pieces.concat(), text);
        assert!(pieces.iter().all(|piece| piece.ends_with('\n')));
        let large = pieces.iter().filter(|piece| piece.len() > MAX_BYTES);
        assert_eq!(large.count(), 1);
        assert!(super::pieces("").is_empty());
    }
}

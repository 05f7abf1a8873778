//! The last list of hits on this terminal, whose numbers are addresses.
//!
//! Each terminal has a file of its own below `$XDG_STATE_HOME/ken/lists`. Its name is made of the terminal, the session
//! on it, and the time at which the session began, so that a new terminal with the number of an old one has no list.

use std::path::{Path, PathBuf};

use ken_core::Location;
use ken_private::Cache;
use ken_search::service::Place;
use serde::{Deserialize, Serialize};

use crate::config::state_home;
use crate::failure::{Failure, Kind};

/// The most hits of a list that are kept.
const MAX_HITS: usize = 1000;
/// The most bytes of the lists of all terminals.
const MAX_BYTES: u64 = 1 << 20;

/// A list of hits, with numbers.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct List {
    /// The query that found them, in ken's language.
    pub(super) query: Option<String>,
    hits: Vec<Listed>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Listed {
    number: usize,
    address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<usize>,
}

impl List {
    pub(super) fn new(query: Option<String>) -> Self {
        Self {
            query,
            hits: Vec::new(),
        }
    }

    /// Adds a hit under its number.
    pub(super) fn add(&mut self, number: usize, location: &Location, place: Option<Place>) {
        if self.hits.len() == MAX_HITS {
            return;
        }
        let (line, page) = match place {
            Some(Place::Line(line)) => (Some(line), None),
            Some(Place::Page(page)) => (None, Some(page)),
            None => (None, None),
        };
        self.hits.push(Listed {
            number,
            address: location.to_string(),
            line,
            page,
        });
    }

    /// Keeps the list as the last one of this terminal. Where it cannot be kept, there are no numbers later.
    pub(super) fn keep(&self) {
        let Some((lists, terminal)) = lists().zip(terminal()) else {
            return;
        };
        if let Ok(bytes) = serde_json::to_vec(self) {
            lists.put(&terminal, &bytes);
            lists.prune();
        }
    }

    fn read() -> Option<Self> {
        let bytes = lists()?.get(&terminal()?)?;
        serde_json::from_slice(&bytes).ok()
    }
}

/// A hit of the last list.
pub(super) struct Numbered {
    /// The place of its first match.
    pub(super) place: Option<Place>,
    /// The query that found it.
    pub(super) query: Option<String>,
}

/// Returns the hit of the last list that a typed number means; none for another address.
pub(super) fn numbered(typed: &Path) -> Option<Numbered> {
    let list = List::read()?;
    let number = number(typed)?;
    let hit = list.hits.iter().find(|hit| hit.number == number)?;
    let page = hit.page.map(Place::Page);
    Some(Numbered {
        place: page.or_else(|| hit.line.map(Place::Line)),
        query: list.query,
    })
}

/// Returns the address that was typed: that of a hit for its number.
pub(super) fn address(typed: &Path) -> Result<PathBuf, Failure> {
    let Some(number) = number(typed) else {
        return Ok(crate::config::below_home(typed));
    };
    let fail = |message: String| {
        let hint = format!("to name the file {number}, type ./{number}");
        Failure::new(Kind::Input, message).hint(&hint)
    };
    let list = List::read().unwrap_or_default();
    match list.hits.iter().find(|hit| hit.number == number) {
        Some(hit) => Ok(hit.address.clone().into()),
        None => Err(fail(match (list.hits.first(), list.hits.last()) {
            (Some(first), Some(last)) => format!(
                "the last list on this terminal has the numbers {} to {}",
                first.number, last.number
            ),
            _ => "there is no list of hits on this terminal yet".to_owned(),
        })),
    }
}

/// Returns whether an address is the number of a hit.
pub(super) fn is_number(typed: &Path) -> bool {
    number(typed).is_some()
}

/// Reads the number of a hit, which has no more than seven digits.
fn number(typed: &Path) -> Option<usize> {
    let text = typed.to_str()?;
    let is_number = (1..8).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// Returns the lists of all terminals.
fn lists() -> Option<Cache> {
    Some(Cache::new(state_home()?.join("ken/lists"), MAX_BYTES))
}

/// Returns a name for the session on the terminal of this process.
fn terminal() -> Option<String> {
    let own = process("self")?;
    let own: Vec<&str> = own.split_ascii_whitespace().collect();
    let (session, terminal) = (own.get(3)?, own.get(4)?);
    if *terminal == "0" {
        return None;
    }
    let leader = process(session).unwrap_or_default();
    let began = leader.split_ascii_whitespace().nth(19).unwrap_or("0");
    Some(format!("{terminal}-{session}-{began}"))
}

/// Returns what proc_pid_stat(5) tells of a process, from the third field on.
fn process(id: &str) -> Option<String> {
    let stat = fs_err::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name of the program may have spaces and parentheses.
    Some(stat.rsplit_once(')')?.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_numbers_are_numbers_of_hits() {
        let of = |text: &str| number(Path::new(text));
        assert_eq!((of("3"), of("0012")), (Some(3), Some(12)));
        for other in ["", "./3", "-3", "3.txt", "12345678", "+3"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}

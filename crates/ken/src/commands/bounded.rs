//! `--budget`: the first of a list in a number of bytes, and the command for the next ones.

use std::ffi::OsString;

use ken_core::Location;
use ken_search::service::{Next, Numbers, SCHEMA};
use serde_json::json;

use crate::cli::{command_at, personality};
use crate::output;

/// No hit has fewer bytes, which bounds the hits that are searched for.
pub(super) const LEAST_HIT: usize = 20;

/// An output of hits that is bounded in bytes.
pub(super) struct Bounded {
    left: usize,
    /// The number of hits that were printed.
    n_shown: usize,
    is_full: bool,
}

impl Bounded {
    /// Returns an output of so many bytes, of which some are needed at its end.
    pub(super) fn new(budget: usize, at_end: usize) -> Self {
        Self {
            left: budget.saturating_sub(at_end),
            n_shown: 0,
            is_full: false,
        }
    }

    /// Takes the room for a hit; returns what of it has room: all, or else, for the first hit, its shorter form.
    pub(super) fn take(&mut self, whole: Vec<u8>, short: Vec<u8>) -> Vec<u8> {
        let taken = match self.left {
            _ if self.is_full => Vec::new(),
            left if whole.len() <= left => whole,
            left if self.n_shown == 0 && short.len() <= left => short,
            _ => Vec::new(),
        };
        // A hit that is worse does not take the place of one that is too long.
        self.is_full |= taken.is_empty();
        self.n_shown += usize::from(!taken.is_empty());
        self.left -= taken.len();
        taken
    }

    /// Returns the bytes for which there is room.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    /// Returns the number of hits that were printed.
    pub(super) fn n_shown(&self) -> usize {
        self.n_shown
    }
}

/// The last line of an output that is bounded in bytes.
pub(super) struct End {
    /// What is listed, in the plural.
    pub(super) what: &'static str,
    /// The number of them all.
    pub(super) total: usize,
    /// How many were skipped.
    pub(super) offset: usize,
    pub(super) as_json: bool,
}

impl End {
    /// Returns the bytes that the line needs at most if so many are printed at most.
    pub(super) fn room(&self, most: usize) -> usize {
        // The line that says that nothing has room has all of it.
        self.line(1).len() + most.to_string().len() * 2
    }

    /// Says how many are shown of how many, and how to get the next ones.
    pub(super) fn line(&self, n_shown: usize) -> Vec<u8> {
        let &Self {
            what,
            total,
            offset,
            as_json,
        } = self;
        let is_too_small = n_shown == 0 && offset < total;
        // One that has no room is skipped.
        let until = offset + n_shown.max(1);
        let next = (until < total).then(|| next_command("offset", until));
        if as_json {
            let mut object = json!({ "v": SCHEMA, "shown": n_shown, "total": total });
            if let Some(next) = next {
                object["next"] = next.into();
            }
            return output::json_line(&object);
        }
        let why = match is_too_small {
            true => "; the budget is too small for the next one",
            false => "",
        };
        let next = next.map(|next| format!("; next: {next}"));
        let next = next.unwrap_or_default();
        format!("[{n_shown} of {total} {what} shown{why}{next}]\n").into_bytes()
    }
}

/// Returns the command that shows the next part of a document in as many bytes.
pub(super) fn next_part(location: &Location, next: &Next, budget: usize, as_json: bool) -> String {
    let address = location.to_string();
    let json = if as_json { " --json" } else { "" };
    let option = match next {
        Next::Lines(lines) => format!("--lines {}", range(lines)),
        Next::Pages(pages) => format!("--page {}", range(pages)),
        Next::Around(offset) => format!("--offset {offset}"),
    };
    format!(
        "ken show {} {option} --budget {budget}{json}",
        output::shell_word(&address)
    )
}

/// Returns the command that shows a whole message.
pub(super) fn whole_message(location: &Location, as_json: bool) -> String {
    let address = location.to_string();
    let json = if as_json { " --json" } else { "" };
    format!("ken mail show {}{json}", output::shell_word(&address))
}

/// Returns numbers as an option takes them.
pub(super) fn range(numbers: &Numbers) -> String {
    match *numbers.end() {
        usize::MAX => format!("{}-", numbers.start()),
        last => format!("{}-{last}", numbers.start()),
    }
}

/// Returns the command line of this process with another value of an option.
pub(super) fn next_command(option: &str, value: usize) -> String {
    next_command_with(&[(option, value)])
}

/// Returns the command line of this process with other values of some options, where 0 is the usual one.
#[allow(clippy::disallowed_methods)] // the binary reads its arguments
pub(super) fn next_command_with(values: &[(&str, usize)]) -> String {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let command = command_at(&arguments);
    let program = personality(&arguments).unwrap_or("ken");
    let is_one = |argument: &str| {
        values
            .iter()
            .any(|(name, _)| argument == format!("--{name}"))
    };
    let mut words = vec![program.to_owned()];
    let mut options_end = false;
    let mut rest = arguments.into_iter().enumerate();
    while let Some((at, argument)) = rest.next() {
        let argument = argument.to_string_lossy();
        let is_attached = argument
            .split_once('=')
            .is_some_and(|(name, _)| is_one(name));
        match &*argument {
            _ if at == 0 => {}
            other if options_end => words.push(output::shell_word(other).into_owned()),
            _ if is_one(&argument) => _ = rest.next(),
            _ if is_attached => {}
            other => words.push(output::shell_word(other).into_owned()),
        }
        options_end |= argument == "--";
        if at == command {
            let values = values.iter().filter(|(_, value)| *value > 0);
            words.extend(values.map(|(name, value)| format!("--{name} {value}")));
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_whole_and_in_order() {
        let mut bounded = Bounded::new(25, 5);
        let bytes = |n| vec![b'x'; n];
        assert_eq!(bounded.take(bytes(12), bytes(3)).len(), 12);
        assert_eq!(bounded.take(bytes(9), bytes(3)).len(), 0);
        assert_eq!(bounded.take(bytes(1), bytes(1)).len(), 0);
        let mut bounded = Bounded::new(25, 5);
        assert_eq!(bounded.take(bytes(30), bytes(20)).len(), 20);
        assert_eq!((bounded.n_shown, bounded.left), (1, 0));
    }

    #[test]
    fn what_has_no_room_does_not_end_the_list() {
        let line = |total| {
            let end = End {
                what: "messages",
                total,
                offset: 0,
                as_json: false,
            };
            String::from_utf8(end.line(0)).unwrap()
        };
        let start = "[0 of 3 messages shown; the budget is too small for the next one; next: ";
        assert!(line(3).starts_with(start), "{}", line(3));
        assert!(line(1).ends_with("for the next one]\n"), "{}", line(1));
    }
}

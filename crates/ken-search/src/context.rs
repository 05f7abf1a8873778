//! What a query depends on besides its text.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::analyze::Analyze;
use crate::synonyms::Synonyms;

/// What the meaning of a query depends on: the user, the time and the current folder.
#[derive(Clone, Debug)]
pub struct Context {
    /// The current time.
    pub now: Timestamp,
    /// The time zone in which days begin.
    pub zone: TimeZone,
    /// Whether the user writes the month first: `5/6/2024` is a day in May rather than in June.
    pub month_first: bool,
    /// What `~` means in `dir:`.
    pub home: Option<PathBuf>,
    /// What `.` means in `dir:`.
    pub cwd: PathBuf,
    /// The folder of all mail, at which `maildir:/…` starts; without one it may be any folder.
    pub mail_root: Option<PathBuf>,
    /// Regular expressions that match the user's own addresses, for `is:personal`.
    pub own_addresses: Vec<String>,
    /// The roots of the index, for `root:`.
    pub roots: Vec<PathBuf>,
    /// The analysis of the index.
    pub analyze: Analyze,
    /// Words that a search treats as equal.
    pub synonyms: Arc<Synonyms>,
}

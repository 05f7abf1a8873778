//! What queries depend on besides their text.

use std::path::PathBuf;

use ken_search::plan::Context;
use ken_search::service::ANALYSIS;

use crate::config::home;

/// Returns the context of queries, from this process and its environment.
#[allow(clippy::disallowed_methods)] // the binary reads its environment
pub(super) fn context() -> Context {
    Context {
        now: jiff::Timestamp::now(),
        zone: crate::zone::system(),
        month_first: crate::locale::writes_month_first(),
        home: home(),
        cwd: std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/")),
        mail_root: None,
        own_addresses: Vec::new(),
        roots: Vec::new(),
        analyze: ANALYSIS,
        synonyms: std::sync::Arc::default(),
    }
}

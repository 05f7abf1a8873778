//! One call of a tool, and what it may look at.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ken_engine::{Error, Source};
use ken_search::scope::{Scope, Scoped};
use ken_search::service::Service;
use serde_json::{Map, Value};

use crate::arguments::Arguments;
use crate::visible::named_folder;
use crate::{Mcp, Setup};

/// The time that a tool has. Then it answers with what it has found.
const TIME: Duration = Duration::from_secs(20);

/// A call of a tool.
pub(crate) struct Call<'a> {
    mcp: &'a Mcp,
    pub(crate) arguments: Arguments<'a>,
    is_cancelled: &'a Arc<AtomicBool>,
    began: Instant,
}

impl Mcp {
    pub(crate) fn call<'a>(
        &'a self,
        arguments: &'a Map<String, Value>,
        is_cancelled: &'a Arc<AtomicBool>,
    ) -> Call<'a> {
        Call {
            mcp: self,
            arguments: Arguments(arguments),
            is_cancelled,
            began: Instant::now(),
        }
    }
}

impl Call<'_> {
    pub(crate) fn setup(&self) -> &Setup {
        &self.mcp.shared.setup
    }

    /// Returns the working folder.
    pub(crate) fn here(&self) -> &Path {
        &self.setup().access.context.cwd
    }

    /// Returns what may be seen at all.
    pub(crate) fn whole_scope(&self) -> &Scope {
        &self.mcp.scope
    }

    /// Returns the scope of the call: all of it, or what is below the folder of the argument `in`.
    pub(crate) fn scope(&self) -> Result<Scope, String> {
        let scope = &self.mcp.scope;
        match self.arguments.text("in")? {
            None => Ok(scope.clone()),
            Some(named) => Ok(scope.within(&named_folder(scope, self.here(), named)?)),
        }
    }

    /// Returns whether the call ends: nobody waits for it, or its time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed) || self.began.elapsed() > TIME
    }

    /// Returns the milliseconds that a search may take.
    pub(crate) fn deadline_ms(&self) -> Option<u64> {
        let left = TIME.saturating_sub(self.began.elapsed()).as_millis();
        let left = u64::try_from(left).unwrap_or(u64::MAX);
        Some(
            self.setup()
                .access
                .deadline_ms
                .map_or(left, |set| set.min(left)),
        )
    }

    /// Returns the index as it is now, if there is one.
    pub(crate) fn snapshot(&self) -> Result<Option<Arc<dyn Source>>, String> {
        match self.mcp.shared.reader.snapshot() {
            Ok(snapshot) => Ok(Some(snapshot)),
            Err(Error::Missing(_)) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Asks the index about a scope.
    pub(crate) fn ask<T>(
        &self,
        scope: &Scope,
        ask: impl FnOnce(&Service<'_>, &dyn Source) -> Result<T, String>,
    ) -> Result<T, String> {
        let snapshot = self.snapshot()?.ok_or_else(|| {
            "there is no index yet. The user makes one with: ken index FOLDER. Until then only grep and read work, on \
             files of text"
                .to_owned()
        })?;
        // Leaving out what is outside costs more than the search, also where nothing is.
        let scoped = match scope.is_all_of(snapshot.meta()) {
            true => None,
            false => Some(Scoped::new(&*snapshot, scope).map_err(|error| error.to_string())?),
        };
        let source = match &scoped {
            Some(scoped) => scoped as &dyn Source,
            None => &*snapshot,
        };
        let service = self.setup().access.service(source, self.is_cancelled);
        ask(&service, source)
    }
}

//! Keeps the index open for writing between the batches of an updater.

use std::path::PathBuf;
use std::time::Instant;

use crate::lock;
use crate::prepare::Scope;
use crate::run::{Session, accompanied, of_paths, run_in, through_pauses};
use crate::{Error, Options, Progress, Summary};

use super::UpdaterOptions;
use super::added::Notify;

/// A session that stays open between batches.
pub(super) struct Kept {
    options: Options,
    respects_pause: bool,
    makes_whole: bool,
    session: Option<Session>,
    /// Whether files may be missing that no batch names.
    lacks_files: bool,
    /// When the last batch ended.
    since: Instant,
    n_opened: u64,
}

impl Kept {
    pub(super) fn new(options: &UpdaterOptions) -> Self {
        Self {
            options: of_paths(&options.update),
            respects_pause: options.respects_pause,
            makes_whole: options.makes_whole,
            session: None,
            lacks_files: false,
            since: Instant::now(),
            n_opened: 0,
        }
    }

    /// Returns since when an open session has been idle.
    pub(super) fn open_since(&self) -> Option<Instant> {
        self.session.as_ref().map(|_| self.since)
    }

    /// Returns how many times the index was opened.
    pub(super) fn n_opened(&self) -> u64 {
        self.n_opened
    }

    /// Updates paths. After an error the session is dropped, with everything that it has not committed. A pause that
    /// is heeded closes the session, and the rest of the work follows after it.
    pub(super) fn run(
        &mut self,
        paths: &[PathBuf],
        progress: &Progress,
        notify: &Notify<'_>,
    ) -> Result<Summary, Error> {
        let options = self.options.clone();
        let respects_pause = self.respects_pause;
        let mut part = || {
            let part = accompanied(&options, respects_pause, progress, || {
                self.run_part(paths, progress, notify)
            })?;
            if part.interrupted {
                self.close(false);
            }
            Ok(part)
        };
        match respects_pause {
            true => through_pauses(&options.data, progress, &mut part),
            false => part(),
        }
    }

    fn run_part(
        &mut self,
        paths: &[PathBuf],
        progress: &Progress,
        notify: &Notify<'_>,
    ) -> Result<Summary, Error> {
        let session = match self.session.take() {
            Some(session) => Some(session),
            None => self.open(progress)?,
        };
        let Some(mut session) = session else {
            return Ok(Summary {
                interrupted: true,
                ..Summary::default()
            });
        };
        let scope = match self.lacks_files {
            true => Scope::All,
            false => Scope::Paths(paths),
        };
        let summary = run_in(&mut session, &self.options, &[], scope, progress, notify)?;
        self.lacks_files = false;
        self.session = Some(session);
        self.since = Instant::now();
        Ok(summary)
    }

    /// Waits for merges and closes the index. If another process wants the index, it gets it before
    /// the next batch.
    pub(super) fn close(&mut self, is_wanted: bool) {
        if let Some(mut session) = self.session.take() {
            // Another run merges what a failed merge leaves; all batches are committed.
            let _ = session.close_writer();
            drop(session);
            if is_wanted {
                lock::let_others_go_first();
            }
        }
    }

    fn open(&mut self, progress: &Progress) -> Result<Option<Session>, Error> {
        let mut session = Session::open(&self.options, progress)?;
        if let Some(session) = &mut session {
            self.n_opened += 1;
            // While the session is open, nobody else writes.
            let meta = self.options.meta();
            let was_stopped = meta.is_ok_and(|meta| meta.under_way.is_some());
            self.lacks_files = self.makes_whole && was_stopped;
            // Later batches may need more threads than this one.
            session.slot(&self.options);
        }
        Ok(session)
    }
}

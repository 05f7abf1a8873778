//! The commits of a run: when they are made, and what they say.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ken_index::{Meta, Snapshot, Writer};

use super::{Run, Summary};
use crate::extract::Pool;
use crate::progress::Stage;
use crate::{Durability, Error, Ngrams};

/// How often it is looked whether enough bytes were read for a commit.
const LOOK_AT_BYTES: Duration = Duration::from_millis(20);

impl Run<'_> {
    /// Commits every so often while the pool works.
    pub(super) fn commit_regularly(&self, ended: &AtomicBool, pool: &Pool<'_>) {
        let interval = self.options.commit_interval;
        let mut next = Instant::now() + interval;
        let mut n_bytes = 0;
        while !ended.load(Ordering::Relaxed) {
            let mut wait = next.saturating_duration_since(Instant::now());
            if self.options.commit_bytes > 0 {
                wait = wait.min(LOOK_AT_BYTES);
            }
            std::thread::park_timeout(wait);
            let n_done = self.progress.bytes_done.load(Ordering::Relaxed);
            let limit = Some(self.options.commit_bytes).filter(|limit| *limit > 0);
            let is_full = limit.is_some_and(|limit| n_done - n_bytes >= limit);
            if Instant::now() < next && !is_full {
                continue;
            }
            n_bytes = n_done;
            let _span = self.progress.span(Stage::Commit, None);
            if let Some(writer) = self.writer.opened() {
                pool.note(writer.commit_with(|| self.meta(writer, None, false, false)));
            }
            next = Instant::now() + interval;
        }
    }

    /// Returns what a commit says, the `last` one of a run or not, with the grams written of all that it tells of.
    fn meta(
        &self,
        writer: &Writer,
        completed: Option<i64>,
        all: bool,
        last: bool,
    ) -> Result<Meta, ken_index::Error> {
        let mut meta = writer.meta().clone();
        self.stale.note(&mut meta, self.noticed(), all);
        meta.roots.clone_from(&self.roots);
        meta.tags = self.tags.n_bytes;
        meta.tags_hash = self.tags.hash;
        meta.completed = completed.or(meta.completed);
        if all {
            meta.began = Some(self.began);
        } else if self.only.is_none() {
            // What a stopped run left undone lies in folders that do not change.
            meta.began = None;
        }
        meta.all_seen = completed.is_some() || meta.all_seen && !self.roots_changed;
        let all_anew = self.options.full && all;
        let are_known = self.snapshot.is_none() || all_anew || meta.gram_files.is_some();
        meta.gram_files = None;
        if self.options.ngrams != Ngrams::None {
            let files = self.grams(meta.hasher).flush(!all_anew, last)?;
            meta.gram_files = are_known.then(|| self.with_lost(files, all));
        }
        Ok(meta)
    }

    /// Returns which files of grams a commit names: also those that are lost, until `all` files were seen
    /// and those read again that need it.
    fn with_lost(&self, mut files: BTreeSet<u64>, all: bool) -> BTreeSet<u64> {
        if let Some(lost) = self.lost.as_ref().filter(|_| !all) {
            files.extend(&lost.files);
        }
        files
    }

    /// Commits if there is anything to commit, and waits for merges.
    pub(super) fn finish(self, summary: &Summary, saw_all: bool) -> Result<bool, Error> {
        let complete = !summary.interrupted && self.only.is_none();
        // Also by what was taken back.
        let changed = self.writer.opened().is_some()
            || summary.added + summary.changed + summary.moved + summary.gone > 0;
        let first_end = complete && self.never_ended;
        let all = complete && summary.kept == 0 && saw_all;
        let changed = changed || !self.tags.pending.is_empty() || self.tags.is_another;
        let is_noticed = all && (self.lost.is_some() || self.is_read_otherwise());
        // Grams that are wanted no more are named no more.
        let meta = self.snapshot.as_ref().map(Snapshot::meta);
        let names_grams = meta.is_some_and(|meta| meta.gram_files.is_some());
        let is_noticed = is_noticed || names_grams && self.options.ngrams == Ngrams::None;
        if !(changed || self.roots_changed || first_end || is_noticed) {
            return Ok(false);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_secs() as i64);
        let writer = self.writer.get()?;
        if self.options.durability == Durability::Normal {
            writer.set_synced(true);
        }
        // A stopped run goes on another time.
        writer.set_patient(summary.interrupted);
        let mut committed = None;
        let committing = self.progress.span(Stage::Commit, None);
        writer.commit_with(|| {
            let meta = self.meta(writer, complete.then_some(now), all, !summary.interrupted)?;
            committed = Some(meta.clone());
            Ok(meta)
        })?;
        drop(committing);
        // What a stopped run deleted and did not add again would lose its grams.
        if let Some(meta) = committed.filter(|_| !summary.interrupted) {
            self.merge_grams(writer, meta, all)?;
        }
        let _span = self.progress.span(Stage::Merge, None);
        self.writer.close()?;
        Ok(true)
    }

    /// Has few files of grams, and tells so in a commit.
    fn merge_grams(&self, writer: &Writer, mut meta: Meta, all: bool) -> Result<(), Error> {
        if self.options.ngrams == Ngrams::None {
            return Ok(());
        }
        let _span = self.progress.span(Stage::Grams, None);
        let grams = self.grams(meta.hasher);
        if let Some(files) = grams.merge(&self.options.data.join("index"))? {
            let named = meta.gram_files.map(|_| self.with_lost(files, all));
            meta.gram_files = named;
            writer.commit(&meta)?;
        }
        Ok(grams.sweep()?)
    }

    /// Returns whether the last commit tells of other extractors or fields than this run.
    pub(super) fn is_read_otherwise(&self) -> bool {
        self.snapshot.as_ref().is_none_or(|snapshot| {
            let mut meta = snapshot.meta().clone();
            self.stale.note(&mut meta, self.noticed(), true);
            meta != *snapshot.meta()
        })
    }
}

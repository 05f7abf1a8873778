//! The commits of a run: when they are made, and what they hold.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ken_engine::{Meta, Sink};
use ken_index::layout::ngrams_folder;

use ken_core::KeyHasher;
use ken_extract::helper::Helpers;

use super::{Run, Summary};
use crate::ngrams::{NgramWriter, NgramWriterOptions};
use crate::progress::Stage;
use crate::write::FirstError;
use crate::{Durability, Error, Ngrams, under_way};

/// How often the bytes read since the last commit are checked.
const LOOK_AT_BYTES: Duration = Duration::from_millis(20);

impl Run<'_> {
    /// Commits at intervals while the pool works.
    pub(super) fn commit_regularly(&self, ended: &AtomicBool, errors: &FirstError<'_>) {
        let options = &self.prepared.options;
        let interval = options.commit_interval;
        let mut next = Instant::now() + interval;
        let mut n_bytes = 0;
        while !ended.load(Ordering::Relaxed) {
            let mut wait = next.saturating_duration_since(Instant::now());
            if options.commit_bytes > 0 {
                wait = wait.min(LOOK_AT_BYTES);
            }
            std::thread::park_timeout(wait);
            let n_done = self.progress.bytes_done.load(Ordering::Relaxed);
            let limit = Some(options.commit_bytes).filter(|limit| *limit > 0);
            let is_full = limit.is_some_and(|limit| n_done - n_bytes >= limit);
            if Instant::now() < next && !is_full {
                continue;
            }
            n_bytes = n_done;
            let _span = self.progress.span(Stage::Commit, None);
            // If the log cannot be written, the last commit of the run says so.
            let tags = &self.prepared.tags;
            let is_logged = || tags.write_moved(&self.prepared.options).is_ok();
            if let Some(writer) = self.writer.used().filter(|_| is_logged()) {
                errors.note(writer.commit_with(&mut || self.meta(writer, None, false, false)));
            }
            next = Instant::now() + interval;
        }
    }

    /// Returns the metadata of a commit; `last` says whether it is the last one of a run. Writes
    /// the n-grams of all its files first.
    pub(super) fn meta(
        &self,
        writer: &dyn Sink,
        completed: Option<i64>,
        all: bool,
        last: bool,
    ) -> Result<Meta, ken_engine::Error> {
        let prepared = self.prepared;
        // The writer may have been opened for an earlier run.
        let mut meta = prepared.meta().unwrap_or(writer.meta()).clone();
        prepared.stale.note(&mut meta, self.noticed(), all);
        meta.roots.clone_from(&prepared.roots);
        // Only a run over all files that comes to its end has read again what another log may give no more.
        if completed.is_some() || !prepared.tags.is_another {
            meta.tags = prepared.tags.n_bytes;
            meta.tags_hash = prepared.tags.hash;
        }
        meta.completed = completed.or(meta.completed);
        if all {
            meta.began = Some(prepared.began);
        } else if self.is_of_all || !last {
            // Work that a run leaves undone if it is stopped later is in folders that do not change.
            meta.began = None;
        }
        match last {
            false => under_way::mark(&mut meta),
            true if completed.is_some() => meta.under_way = None,
            // It has not looked for what a run before left out.
            true => {}
        }
        meta.all_seen = completed.is_some() || meta.all_seen && !prepared.roots_changed;
        let reads_all = prepared.options.full && all && prepared.scope.is_all();
        let are_known = prepared.snapshot.is_none() || reads_all || meta.ngram_files.is_some();
        meta.ngram_files = None;
        if prepared.options.ngrams != Ngrams::None {
            let files = self.ngrams(meta.hasher).flush(!reads_all, last)?;
            meta.ngram_files = are_known.then(|| self.with_missing(files, all));
        }
        Ok(meta)
    }

    /// Returns the n-gram segments that a commit names. Missing ones are included until `all` files
    /// were seen and, where needed, read again.
    fn with_missing(&self, mut files: BTreeSet<u64>, all: bool) -> BTreeSet<u64> {
        if let Some(missing) = self.prepared.missing_ngrams.as_ref().filter(|_| !all) {
            files.extend(&missing.files);
        }
        files
    }

    /// Commits if there is anything to commit.
    pub(super) fn commit(&self, summary: &Summary, saw_all: bool) -> Result<bool, Error> {
        // Files that other machines left are read in a second pass.
        let is_whole = !summary.interrupted && !summary.has_left;
        let complete = is_whole && self.is_of_all;
        let all = complete && summary.kept == 0 && saw_all;
        if !self.has_news(summary, complete, all) {
            return Ok(false);
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| now.as_secs() as i64);
        let writer = self.writer.get()?;
        if self.prepared.options.durability == Durability::Normal {
            writer.set_synced(true);
        }
        // Another run continues where this one was stopped.
        writer.set_bulk(summary.interrupted);
        self.prepared.tags.write_moved(&self.prepared.options)?;
        let mut committed = None;
        let committing = self.progress.span(Stage::Commit, None);
        writer.commit_with(&mut || {
            let meta = self.meta(writer, complete.then_some(now), all, is_whole)?;
            committed = Some(meta.clone());
            Ok(meta)
        })?;
        drop(committing);
        // Files that a stopped run deleted and did not add again would lose their n-grams.
        if let Some(meta) = committed.filter(|_| !summary.interrupted) {
            self.merge_ngrams(writer, meta, all)?;
        }
        Ok(true)
    }

    /// Returns whether there is anything to commit: the run was `complete`, and saw `all` files.
    fn has_news(&self, summary: &Summary, complete: bool, all: bool) -> bool {
        let prepared = self.prepared;
        // A used writer may also have undone an addition.
        let changed = self.writer.used().is_some()
            || summary.added + summary.changed + summary.moved + summary.gone > 0
            || !prepared.tags.pending.is_empty()
            || prepared.tags.is_another
            || prepared.roots_changed;
        let reads_otherwise = || prepared.missing_ngrams.is_some() || self.is_read_otherwise();
        // A commit without n-grams names no n-gram segments.
        let names_ngrams = prepared
            .meta()
            .is_some_and(|meta| meta.ngram_files.is_some());
        let drops_ngrams = names_ngrams && prepared.options.ngrams == Ngrams::None;
        let was_stopped = prepared.meta().is_some_and(|meta| meta.under_way.is_some());
        changed
            || complete && (prepared.never_ended || was_stopped)
            || drops_ngrams
            || all && reads_otherwise()
    }

    /// Returns the writer of this run's n-grams.
    pub(super) fn ngrams(&self, hasher: KeyHasher) -> &NgramWriter {
        let prepared = self.prepared;
        let options = &prepared.options;
        self.ngrams.get_or_init(|| {
            let named = prepared.meta().and_then(|meta| meta.ngram_files.clone());
            NgramWriter::new(NgramWriterOptions {
                folder: ngrams_folder(&prepared.index()),
                named: named.unwrap_or_default(),
                of: options.ngrams,
                memory_bytes: options.shares().ngrams,
                threads: options.threads,
                seed: hasher.seed(),
                max_file_bytes: options.extract.limits.max_file_bytes,
            })
        })
    }

    /// Returns the helpers that files of this run wait for.
    fn noticed(&self) -> BTreeSet<String> {
        let helpers = self.prepared.options.extract.helpers.as_deref();
        helpers.map(Helpers::noticed).unwrap_or_default()
    }

    /// Merges n-gram segments, and names the new ones in a commit.
    fn merge_ngrams(&self, writer: &dyn Sink, mut meta: Meta, all: bool) -> Result<(), Error> {
        if self.prepared.options.ngrams == Ngrams::None {
            return Ok(());
        }
        let _span = self.progress.span(Stage::Ngrams, None);
        let ngrams = self.ngrams(meta.hasher);
        if let Some(files) = ngrams.merge(&self.prepared.index())? {
            let named = meta.ngram_files.map(|_| self.with_missing(files, all));
            meta.ngram_files = named;
            writer.commit(&meta)?;
        }
        Ok(ngrams.sweep()?)
    }

    /// Returns whether the last commit has another extraction profile than this run.
    pub(super) fn is_read_otherwise(&self) -> bool {
        self.prepared.meta().is_none_or(|known| {
            let mut meta = known.clone();
            self.prepared.stale.note(&mut meta, self.noticed(), true);
            meta != *known
        })
    }
}

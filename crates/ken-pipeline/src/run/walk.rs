//! The walk of a run: compares files with the index and passes on the differences.

use std::path::Path;
use std::sync::atomic::Ordering;

use ken_core::{Change, FileKey, FileRow, KeyHasher};
use ken_walk::{Catalogue, Comparison, Listings, Recorder, WalkOptions};

use super::Run;
use crate::Ngrams;
use crate::prepare::{CLOCK_MARGIN_NS, Scope};

impl Run<'_> {
    /// Walks the scope and passes on the changes.
    pub(super) fn walk(
        &self,
        catalogue: &Catalogue,
        hasher: KeyHasher,
        emit: &(dyn Fn(Change) + Sync),
    ) -> ken_walk::Summary {
        if let Some(given) = &self.given {
            given.iter().cloned().for_each(emit);
            return ken_walk::Summary::default();
        }
        let prepared = self.prepared;
        let path_of = |keys: &[FileKey]| match &prepared.snapshot {
            Some(snapshot) => snapshot
                .files()
                .paths(keys)
                .unwrap_or_else(|_| vec![None; keys.len()]),
            None => vec![None; keys.len()],
        };
        let walk = self.walk_options(catalogue);
        let recorder = self.recorder(hasher, &walk);
        let access = prepared.access.as_ref();
        let is_reclassified =
            access.map(|access| move |path: &Path, row: &FileRow| access.differs(path, row.key));
        let comparison = Comparison {
            hasher,
            catalogue,
            full: prepared.options.full,
            is_stale: &|path, row| {
                let is_stale = prepared.is_stale(path, row);
                self.n_stale
                    .fetch_add(u64::from(is_stale), Ordering::Relaxed);
                is_stale
            },
            is_reclassified: is_reclassified.as_ref().map(|is| is as _),
            path_of: &path_of,
            emit,
            recorder: recorder.as_ref(),
        };
        let (roots, progress) = (&prepared.roots, &self.progress.walk);
        let walked = match prepared.scope {
            Scope::Paths(paths) => ken_walk::changes_of(paths, roots, &walk, progress, &comparison),
            Scope::All => ken_walk::changes(roots, &walk, progress, &comparison),
        };
        if let Some(recorder) = recorder
            // A folder that cannot be read has no listing; the listings of others are kept.
            && let Err(error) = recorder.finish(walked.walk.unavailable.is_empty() && !walked.walk.cancelled)
        {
            // Without listings, searches list the folders themselves.
            let _ = self.listings_error.set(error);
        }
        walked
    }

    fn walk_options(&self, catalogue: &Catalogue) -> WalkOptions {
        let prepared = self.prepared;
        let options = &prepared.options;
        let lazy = prepared.lazy(catalogue, || self.is_read_otherwise());
        WalkOptions {
            threads: options.walk_threads(),
            excluded: options.excluded_paths(),
            global_ignore: options.global_ignore.clone(),
            lazy_since: lazy.as_ref().map(|lazy| lazy.since),
            looked_again: lazy.map(|lazy| lazy.again).unwrap_or_default(),
            // A path that is given is looked at. If no run ever saw all files, the index has
            // nothing of a marked folder that could stay.
            respects_noupdate: !options.full && prepared.scope.is_all() && !prepared.never_ended,
            order: options.order,
        }
    }

    /// Returns the recorder of folder listings, for searches that look for new files; none if this
    /// walk does not list all folders.
    fn recorder(&self, hasher: KeyHasher, walk: &WalkOptions) -> Option<Recorder> {
        let options = &self.prepared.options;
        let lists_all = self.prepared.scope.is_all() && walk.lazy_since.is_none();
        if !lists_all || options.dry_run || options.ngrams == Ngrams::None {
            return None;
        }
        let index = self.prepared.index();
        let known = Listings::open(&index, hasher, ken_index::map);
        let since = self.prepared.began - CLOCK_MARGIN_NS;
        Some(Recorder::new(&index, known, hasher, since))
    }

    /// Announces a change that the walk found.
    pub(super) fn announce(&self, change: &Change) {
        if let Change::Added { stamp, .. }
        | Change::Changed { stamp, .. }
        | Change::Access { stamp, .. }
        | Change::Moved { stamp, .. } = change
        {
            let progress = self.progress;
            // The walk has counted those of its own shares.
            if self.given.is_some() && self.guest.is_none() {
                return;
            }
            progress.files_to_do.fetch_add(1, Ordering::Relaxed);
            progress
                .bytes_to_do
                .fetch_add(stamp.size, Ordering::Relaxed);
        }
        (self.notify)(change);
    }
}

//! Checks whether an index agrees with itself and with the disk, and repairs it.
//!
//! It answers four questions, each by reading rather than by trusting. Are the bytes of the index's
//! files those that were written? Is each document there once, and each file's own document with
//! its parts? Is each file unchanged since it was indexed? Is everything below the roots either
//! known, or left out for a reason that the walk gives ([`below`])?

mod below;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use ken_core::{Change, FileKey, Root};
use ken_engine::{Scope, Sink, Source};
use ken_index::layout::{index_folder, ngrams_folder};
use ken_index::{Snapshot, Soundness, Writer, WriterOptions};
use ken_walk::Listings;

pub use below::Below;

use crate::lock::RunLock;
use crate::{Error, Options, Progress, Summary, replace, under_way, update};

/// The results of a check.
#[derive(Debug, Default)]
pub struct Report {
    /// Soundness of the files of the index.
    pub index: Soundness,
    /// Numbers of n-gram segments that are damaged or gone.
    pub ngrams: BTreeSet<u64>,
    /// Whether the file with the listings of folders is damaged.
    pub listings: bool,
    /// Files with duplicated documents, with their paths where known.
    pub duplicated: Vec<(FileKey, Option<PathBuf>)>,
    /// Number of files with parts but no own document, because a run was stopped while it read
    /// them.
    pub unfinished: u64,
    /// Number of documents; none if the index is damaged, in which case the following values are
    /// not set either.
    pub documents: Option<u64>,
    /// What the next run would do.
    pub next: Summary,
    /// What exists below the roots.
    pub below: Below,
}

impl Report {
    /// Returns whether index and disk agree.
    pub fn is_sound(&self) -> bool {
        let next = &self.next;
        self.is_whole()
            && self.unfinished + next.added + next.changed + next.moved + next.gone == 0
            && next.errors == 0
            && self.below.unexplained.is_empty()
    }

    /// Returns how many files of the index are damaged.
    pub fn n_damaged(&self) -> usize {
        self.index.damages.len() + self.ngrams.len() + usize::from(self.listings)
    }

    /// Returns whether the index agrees with itself, whatever happened to the files.
    pub fn is_whole(&self) -> bool {
        self.n_damaged() == 0 && self.duplicated.is_empty()
    }
}

/// Checks the whole index, and all files below its roots. Writes nothing.
///
/// # Errors
/// Fails if the index cannot be read at all.
pub fn check(
    options: &Options,
    progress: &Progress,
    notify: &(dyn Fn(&Change) + Sync),
) -> Result<Report, Error> {
    let index = index_folder(&options.data);
    let mut report = Report {
        index: ken_index::check(&index, options.threads)?,
        ..Report::default()
    };
    report.ngrams = damaged_ngrams(&index)?;
    report.listings = has_damaged_listings(&index)?;
    // The content of damaged files is meaningless.
    if report
        .index
        .damages
        .iter()
        .any(|damage| damage.documents > 0)
    {
        return Ok(report);
    }
    let snapshot = Snapshot::open(&index)?;
    report.documents = Some(snapshot.n_documents());
    let duplicated = snapshot.files().duplicated()?;
    let paths = snapshot.files().paths(&duplicated)?;
    report.duplicated = duplicated.into_iter().zip(paths).collect();
    for row in snapshot
        .files()
        .rows()?
        .iter()
        .filter(|row| !row.token.is_finished())
    {
        // A file that is tried again, because its failure may pass, has an own document.
        report.unfinished += u64::from(snapshot.files().row(row.key)?.is_none());
    }
    let roots = snapshot.meta().roots.clone();
    drop(snapshot);
    let dry = Options {
        dry_run: true,
        full: false,
        lazy: false,
        retry_failed: false,
        ocr: None,
        ..options.clone()
    };
    report.next = update(&dry, &[], progress, notify)?;
    report.below = below::compare(&roots, options, progress);
    Ok(report)
}

/// Returns the n-gram segments in the last commit that are damaged or gone.
fn damaged_ngrams(index: &Path) -> Result<BTreeSet<u64>, Error> {
    let mut named = ken_index::read_meta(index)?.ngram_files;
    loop {
        let Some(files) = named else {
            return Ok(BTreeSet::new());
        };
        let opened = ken_ngram::open(&ngrams_folder(index), ken_index::map)?;
        let missing = opened.missing(&files);
        named = ken_index::read_meta(index)?.ngram_files;
        // Another run may have merged them.
        if missing.is_empty() || named.as_ref() == Some(&files) {
            let damaged = opened.damaged().into_iter();
            return Ok(damaged
                .filter(|file| files.contains(file))
                .chain(missing)
                .collect());
        }
    }
}

/// Returns whether the file with the listings of folders is damaged. A file that cannot be opened
/// does no harm: it may be in another format, and the next run that lists enough folders replaces
/// it.
fn has_damaged_listings(index: &Path) -> Result<bool, Error> {
    let hasher = ken_index::read_meta(index)?.hasher;
    let listings = Listings::open(index, hasher, ken_index::map);
    Ok(listings.is_some_and(|listings| !listings.is_sound()))
}

/// The outcome of a repair.
#[derive(Debug)]
pub struct Repaired {
    /// The run that read again what was removed.
    pub run: Summary,
    /// Damaged files that another run merged into sound ones before they could be removed: their
    /// content is in the index, and cannot be distinguished from the rest.
    pub merged: Vec<PathBuf>,
}

/// Removes everything damaged or duplicated from the index, then updates it, which reads the
/// missing files again. `report` is the result of the check; this looks again while no other
/// process writes.
///
/// # Errors
/// Fails as [`update`] does.
pub fn repair(options: &Options, report: &Report, progress: &Progress) -> Result<Repaired, Error> {
    let index = index_folder(&options.data);
    let wait = || {
        progress.waiting.store(true, Ordering::Relaxed);
        !progress.is_cancelled()
    };
    let Some(lock) = RunLock::take(&options.data, &wait)? else {
        let run = Summary {
            interrupted: true,
            ..Summary::default()
        };
        return Ok(Repaired {
            run,
            merged: Vec::new(),
        });
    };
    let now = ken_index::note_damage(&index, options.threads)?;
    let known = report.index.damages.iter();
    let merged = known.filter(|damage| damage.documents > 0 && !now.contains(damage));
    let merged: Vec<PathBuf> = merged.map(|damage| damage.file.clone()).collect();
    ken_index::drop_damaged(&index)?;
    for number in damaged_ngrams(&index)? {
        ken_ngram::remove(&ngrams_folder(&index), number)?;
    }
    if has_damaged_listings(&index)? {
        fs_err::remove_file(Listings::path(&index))?;
    }
    let duplicated = Snapshot::open(&index)?.files().duplicated()?;
    if !now.is_empty() || !duplicated.is_empty() {
        // Closing it also creates missing lists of terms.
        let writer = Writer::open(
            &index,
            WriterOptions {
                memory_bytes: options.shares().segments,
                threads: 1,
            },
        )?;
        if !duplicated.is_empty() {
            let keys = duplicated.into_iter();
            keys.for_each(|key| writer.delete(key, Scope::File));
            let mut meta = writer.meta().clone();
            meta.all_seen = false;
            meta.began = None;
            under_way::mark(&mut meta);
            writer.commit(&meta)?;
        }
        writer.close()?;
    }
    drop(lock);
    Ok(Repaired {
        run: update(options, &[], progress, &|_| ())?,
        merged,
    })
}

/// Replaces an index whose list of segments is damaged by a new one with the same roots. Does
/// nothing if the roots cannot be read, or one of them does not exist.
///
/// # Errors
/// Fails as [`update`] does.
pub fn restart(options: &Options, progress: &Progress) -> Result<Option<Summary>, Error> {
    let index = index_folder(&options.data);
    let roots = ken_index::salvage_roots(&index).unwrap_or_default();
    // A flipped bit may be in the path of a root.
    let is_there = |root: &Root| fs_err::exists(&root.path).unwrap_or(false);
    if roots.is_empty() || !roots.iter().all(is_there) {
        return Ok(None);
    }
    let Some(lock) = RunLock::take(&options.data, &|| !progress.is_cancelled())? else {
        return Ok(None);
    };
    replace::replace(&index, roots)?;
    drop(lock);
    update(options, &[], progress, &|_| ()).map(Some)
}

#[cfg(test)]
mod tests {
    use ken_core::{Field, Order, Pattern, Plan};

    use super::*;
    use crate::RootChange;
    use crate::run::tests::{folder_of_files, options};

    /// Returns an index of a few documents in several segments, one of which has deletions.
    fn indexed() -> (tempfile::TempDir, Options) {
        let folder = folder_of_files(6);
        let options = options(&folder.path().join("data"), 64 << 20);
        for round in 0..3 {
            let name = format!("docs/{round}.md");
            fs_err::write(
                folder.path().join(name),
                format!("# Title {round}\n\nother"),
            )
            .unwrap();
            if round == 2 {
                fs_err::write(folder.path().join("docs/0.txt"), "changed").unwrap();
            }
            let add = RootChange::Add(Root::new(folder.path().join("docs")));
            update(&options, &[add], &Progress::default(), &|_| ()).unwrap();
        }
        (folder, options)
    }

    /// Returns everything that an index answers, as text.
    fn answers(index: &Path) -> String {
        let snapshot = Snapshot::open(index).unwrap();
        let word = |word: &str| Plan::Match {
            field: Field::Body,
            pattern: Pattern::Term(word.to_owned()),
        };
        let mut text = format!(
            "{:?} {:?}",
            snapshot.meta(),
            snapshot.files().rows().unwrap()
        );
        for row in snapshot.files().rows().unwrap() {
            for address in snapshot.files().documents_of(row.key).unwrap() {
                let stored = snapshot.document(address).unwrap();
                text.push_str(&format!("{:?} {:?}\n", stored.location, stored.document));
            }
        }
        for plan in [word("words"), word("other"), word("2")] {
            let found = snapshot.run(&plan, Order::default(), 0, 99).unwrap();
            text.push_str(&format!("{}\n", found.total));
        }
        let opened = ken_ngram::open(&ngrams_folder(index), ken_index::map).unwrap();
        for segment in &opened.segments {
            text.push_str(&format!("{:?}\n", segment.rows().collect::<Vec<_>>()));
        }
        text
    }

    fn files_below(folder: &Path) -> Vec<PathBuf> {
        let mut files = Vec::new();
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => files.extend(files_below(&path)),
                false => files.push(path),
            }
        }
        files.sort();
        files
    }

    #[test]
    fn a_flipped_bit_is_found_or_does_no_harm() {
        let (_folder, options) = indexed();
        let index = index_folder(&options.data);
        let before = answers(&index);
        let files = files_below(&index);
        let sizes: Vec<usize> = files
            .iter()
            .map(|file| fs_err::read(file).unwrap().len())
            .collect();
        assert!(files.len() > 20, "{files:?}");
        let mut random = fastrand::Rng::with_seed(1);
        let mut harmless = BTreeSet::new();
        for round in 0..3000 {
            // Each file equally often, however small.
            let at = round % files.len();
            if sizes[at] == 0 {
                continue;
            }
            let whole = fs_err::read(&files[at]).unwrap();
            let mut flipped = whole.clone();
            let bit = random.usize(..whole.len() * 8);
            flipped[bit / 8] ^= 1 << (bit % 8);
            fs_err::write(&files[at], &flipped).unwrap();
            let found = check(&options, &Progress::default(), &|_| ());
            if found.is_ok_and(|report| report.is_whole()) {
                harmless.insert(files[at].file_name().unwrap().to_owned());
                assert_eq!(
                    answers(&index),
                    before,
                    "bit {bit} of {}",
                    files[at].display()
                );
            }
            fs_err::write(&files[at], &whole).unwrap();
        }
        // The version of the engine at the end of its files, and its list of files.
        let none_of = |extension: &str| {
            let mut names = harmless.iter().filter_map(|name| name.to_str());
            names.all(|name| !name.ends_with(extension))
        };
        assert!(none_of("meta.json") && none_of(".grams"), "{harmless:?}");
        assert!(
            check(&options, &Progress::default(), &|_| ())
                .unwrap()
                .is_sound()
        );
    }

    #[test]
    fn what_is_below_the_roots_is_found_or_left_out_for_a_reason() {
        let folder = folder_of_files(2);
        let docs = folder.path().join("docs");
        let write = |name: &str, text: &str| {
            let path = docs.join(name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        };
        write(".hidden/a.txt", "a");
        write(".hidden/b/c.txt", "c");
        write(".ignore", "*.log\nbuild/\n");
        write("x.log", "x");
        write("build/deep/y.txt", "y");
        write("marked/.noindex", "");
        write("marked/z.txt", "z");
        fs_err::os::unix::fs::symlink("0.txt", docs.join("link")).unwrap();
        let options = options(&folder.path().join("data"), 64 << 20);
        let add = RootChange::Add(Root::new(docs.clone()));
        update(&options, &[add], &Progress::default(), &|_| ()).unwrap();
        let report = check(&options, &Progress::default(), &|_| ()).unwrap();
        assert!(report.is_sound(), "{report:?}");
        assert_eq!(report.below.found, 2);
        let left_out: Vec<_> = report.below.left_out.into_iter().collect();
        let expected = [
            ("hidden", 3),
            ("ignored", 2),
            ("in a folder with .noindex", 2),
            ("link", 1),
        ];
        assert_eq!(left_out, expected);
    }
}

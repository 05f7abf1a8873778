//! Copies an index from one engine to another, without a look at the files.
//!
//! The copy has the documents, the stamps and the extraction profile of the index, so the next run reads nothing again. It is
//! committed once, at its end: after a crash there is no copy, and the next one begins anew.

use std::sync::atomic::Ordering::Relaxed;

use ken_engine::{Record, Sink, Source};
use ken_index::layout::index_folder;

use crate::run::Session;
use crate::{Error, Options, Progress, Summary, replace, tags};

/// Copies the index of `from` to where `to` has its own, which must not be there yet.
///
/// # Errors
/// Fails if there is no index to copy, or one at the other place, and if either cannot be read or written.
pub fn copy(from: &Options, to: &Options, progress: &Progress) -> Result<Summary, Error> {
    let mut summary = Summary {
        interrupted: true,
        ..Summary::default()
    };
    let Some(_session) = Session::open(to, progress)? else {
        return Ok(summary);
    };
    match to.meta() {
        Err(ken_engine::Error::Missing(_)) => {}
        Err(error) => return Err(error.into()),
        Ok(_) => return Err(Error::Occupied(to.place())),
    }
    let source = from.source()?;
    if to.engine.is_none() {
        // What a copy left that came to no commit.
        replace::remove(&index_folder(&to.data))?;
    }
    let sink = to.sink(1)?;
    summary.interrupted = !copy_documents(&*source, &*sink, progress)?;
    if !summary.interrupted {
        let mut meta = source.meta().clone();
        // They lie beside the index that is left.
        meta.ngram_files = None;
        // Before the commit: an index that is there is not copied again.
        copy_tags(from, to)?;
        sink.commit(&meta)?;
        summary.committed = true;
    }
    sink.close()?;
    summary.added = progress.files_done.load(Relaxed);
    summary.documents = progress.documents.load(Relaxed);
    Ok(summary)
}

/// Fills an index of another number of shards, and of the schema that this ken has, beside the one in a cluster, and puts it in its
/// place. No file is read, and questions are answered meanwhile.
///
/// # Errors
/// Fails if the index is in the data folder, or cannot be read or written.
pub fn grow(options: &Options, shards: u32, progress: &Progress) -> Result<Summary, Error> {
    let mut summary = Summary {
        interrupted: true,
        ..Summary::default()
    };
    let Some(engine) = &options.engine else {
        return Err(Error::NoShards);
    };
    let Some(_session) = Session::open(options, progress)? else {
        return Ok(summary);
    };
    let sink = engine.beside(shards)?;
    // It has the run now, so nobody writes what the copy would lack.
    let source = engine.source_to_copy()?;
    summary.interrupted = !copy_documents(&*source, &*sink, progress)?;
    if !summary.interrupted {
        sink.commit(source.meta())?;
        summary.committed = true;
    }
    sink.close()?;
    summary.added = progress.files_done.load(Relaxed);
    summary.documents = progress.documents.load(Relaxed);
    Ok(summary)
}

/// Adds those lines to the log of tags that only the other one has.
fn copy_tags(from: &Options, to: &Options) -> Result<(), Error> {
    let (log, there) = (tags::bytes(from)?, tags::bytes(to)?);
    let new = String::from_utf8_lossy(lacking(&log, &there));
    match &to.engine {
        _ if new.is_empty() => Ok(()),
        Some(engine) => Ok(engine.add_to_tag_log(&new)?),
        None => tags::append_lines(&to.data, new.into_owned()),
    }
}

/// Returns the lines of a log that another one lacks. A log in a data folder stays when the index leaves it, so both begin
/// alike; lines that an earlier copy added, which came to no commit, are in the other one as they are in the log.
fn lacking<'l>(log: &'l [u8], there: &'l [u8]) -> &'l [u8] {
    // Anything after the last line end is still being written.
    let end = |log: &[u8]| log.iter().rposition(|byte| *byte == b'\n');
    let [log, there] = [log, there].map(|log| end(log).map_or(&[][..], |at| &log[..=at]));
    let lines = |log| <[u8]>::split_inclusive(log, |byte| *byte == b'\n');
    let alike = lines(log).zip(lines(there));
    let alike = alike.take_while(|(one, other)| one == other);
    let n_alike: usize = alike.map(|(line, _)| line.len()).sum();
    let (new, mut rest) = (&log[n_alike..], &there[n_alike..]);
    for line in lines(rest) {
        if rest.starts_with(new) {
            return &[];
        }
        rest = &rest[line.len()..];
    }
    new
}

/// Copies all documents; returns false if the user stops it.
fn copy_documents(
    source: &dyn Source,
    sink: &dyn Sink,
    progress: &Progress,
) -> Result<bool, Error> {
    let hasher = source.meta().hasher;
    source.each_document(&mut |stored| {
        let is_file = stored.state.is_some();
        sink.add(Record {
            key: hasher.key(&stored.location.path),
            location: stored.location,
            state: stored.state,
            document: stored.document,
        })?;
        progress.documents.fetch_add(1, Relaxed);
        progress.files_done.fetch_add(u64::from(is_file), Relaxed);
        Ok(!progress.is_cancelled())
    })?;
    Ok(!progress.is_cancelled())
}

#[cfg(test)]
mod tests {
    use ken_core::Root;

    use super::*;
    use crate::run::tests::{folder_of_files, options};
    use crate::{RootChange, update};

    #[test]
    fn an_index_is_copied_with_its_tags_or_not_at_all() {
        let folder = folder_of_files(2);
        let of = |name: &str| options(&folder.path().join(name), 64 << 20);
        let (from, to, progress) = (of("from"), of("to"), Progress::default());
        let add = RootChange::Add(Root::new(folder.path().join("docs")));
        update(&from, &[add], &progress, &|_| ()).unwrap();
        tags::append_lines(&from.data, "+a -- id:1\n".to_owned()).unwrap();
        // No log can be written here.
        let log = tags::path(&to.data);
        fs_err::create_dir_all(&log).unwrap();
        assert!(copy(&from, &to, &progress).is_err());
        assert!(to.meta().is_err());
        fs_err::remove_dir(&log).unwrap();
        assert!(copy(&from, &to, &progress).unwrap().committed);
        assert_eq!(fs_err::read_to_string(&log).unwrap(), "+a -- id:1\n");
    }

    #[test]
    fn logs_that_both_grew_get_the_lines_that_they_lack() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| Options::new(&folder.path().join(name)));
        let log = |of: &Options| String::from_utf8(tags::bytes(of).unwrap()).unwrap();
        let (both, here, there) = ("+a -- id:1\n-a -- id:2\n", "+b -- id:1\n", "-a -- id:1\n");
        tags::append_lines(&from.data, format!("{both}{here}")).unwrap();
        tags::append_lines(&to.data, format!("{both}{there}")).unwrap();
        // A copy whose commit failed is made again.
        for _ in 0..2 {
            copy_tags(&from, &to).unwrap();
            assert_eq!(log(&to), format!("{both}{there}{here}"));
        }
    }
}

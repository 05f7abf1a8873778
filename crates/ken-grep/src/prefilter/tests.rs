//! Tests of the answers of an index for one pattern.

use ken_engine::Sink;
use ken_index::layout::{index_folder, ngrams_folder};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicUsize, Ordering};

use ken_index::{Writer, WriterOptions};
use ken_ngram::{Builder, NgramSet, Store, Version};

use super::*;

/// Commits an empty index, and opens its n-gram segments.
fn empty(index: &Path) -> (Meta, Store) {
    let options = WriterOptions {
        memory_bytes: 0,
        threads: 1,
    };
    let writer = Writer::open(index, options).unwrap();
    let meta = writer.meta().clone();
    writer.commit(&meta).unwrap();
    let none = std::collections::BTreeSet::new();
    let store = Store::open(&ngrams_folder(index), &none, ken_index::map).unwrap();
    (meta, store)
}

#[test]
fn a_file_is_known_by_whichever_segment_is_of_now() {
    let folder = tempfile::tempdir().unwrap();
    let index = index_folder(folder.path());
    let (meta, store) = empty(&index);
    let path = |name: &str| folder.path().join(name);
    let covers = Covers {
        start: true,
        ..Covers::default()
    };
    let add = |builder: &mut Builder, name: &str, is_of_now: bool, text: &[u8]| {
        let stamp = LastFolder::default().stamp(&path(name)).unwrap();
        let version = Version {
            key: meta.hasher.key(&path(name)).0,
            stamp: stamp.token(&meta.hasher, 0).stamp_hash() ^ u64::from(!is_of_now),
        };
        let mut ngrams = NgramSet::default();
        ngrams.add(text);
        builder.add(version, &path(name), "", covers, &ngrams);
    };
    let names = ["a", "b", "c", "d", "e", "f"];
    for name in names {
        fs_err::write(path(name), name).unwrap();
    }
    let files: [&[(&str, bool, &[u8])]; 3] = [
        &[("a", true, b""), ("b", false, b""), ("d", false, b"quux")],
        &[("b", true, b"quux"), ("c", true, b"")],
        &[("d", true, b""), ("e", false, b"")],
    ];
    for rows in files {
        let mut builder = Builder::default();
        for (name, is_of_now, text) in rows {
            add(&mut builder, name, *is_of_now, text);
        }
        store.write(&mut builder).unwrap();
    }

    let need = Need::Bytes(b"quux".to_vec());
    let paths = [folder.path().to_owned()];
    let roots = TypedPaths::new(&paths, folder.path());
    let reading = Reading {
        whole: false,
        by_pieces: None,
    };
    let tables = IndexTables::new(&index);
    let mut prefilter = Prefilter::ask(&tables, &need, roots, reading, Trust::Stamps).unwrap();
    let open = fs_err::File::open(folder.path()).unwrap();
    let stamped = [true, false, true, true, false, false];
    // If a file has several versions, all must rule it out.
    let trusted = [true, false, true, false, true, false];
    for (trust, expected) in [(Trust::Stamps, stamped), (Trust::User, trusted)] {
        prefilter.index.as_mut().unwrap().trust = trust;
        let alone = names.map(|name| {
            let last = &mut LastFolder::default();
            prefilter.excludes(&path(name), false, last)
        });
        assert_eq!(alone, expected);
        for first in 0..files.len() {
            let mut likely = first;
            let mut known = prefilter.in_folder(folder.path()).unwrap();
            known.look_up(names.iter().map(|name| name.as_bytes()), &mut likely);
            let together = std::array::from_fn(|number| {
                let name = CString::new(names[number]).unwrap();
                let systems = &mut FileSystems::default();
                let verdict = known.judge(number, open.as_fd(), &name, systems);
                matches!(verdict, Verdict::Excluded)
            });
            assert_eq!(together, expected, "{first} is asked first");
        }
    }

    prefilter.index.as_mut().unwrap().trust = Trust::Stamps;
    let mut known = prefilter.in_folder(folder.path()).unwrap();
    let mut likely = 0;
    known.look_up(
        [b"c", b"d", b"e"].into_iter().map(|name| &name[..]),
        &mut likely,
    );
    assert_eq!(likely, 0, "each of them has one");
    known.look_up([b"d", b"e"].into_iter().map(|name| &name[..]), &mut likely);
    assert_eq!(likely, 0, "it was found before");
    known.look_up([b"e", b"c"].into_iter().map(|name| &name[..]), &mut likely);
    let found = |number: usize| known.found[number].map(|at| at.segment);
    assert_eq!((found(0), found(1), likely), (Some(2), Some(1), 1));
    known.look_up([b"b", b"f"].into_iter().map(|name| &name[..]), &mut likely);
    let found = |number: usize| known.found[number].map(|at| at.segment);
    assert_eq!(
        (found(0), found(1)),
        (Some(1), None),
        "the likely one is asked first"
    );
}

#[test]
fn texts_are_known_if_all_n_grams_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    let (mut meta, store) = empty(index);
    let mut builder = Builder::default();
    let of = Version { key: 1, stamp: 1 };
    let covers = Covers::default();
    builder.add(of, Path::new("/a"), "", covers, &NgramSet::default());
    store.write(&mut builder).unwrap();
    let need = Need::Bytes(b"quux".to_vec());
    let tables = IndexTables::new(index);
    let prefilter = Prefilter::of_whole_files(&tables, &need, &[], index).unwrap();
    assert!(!prefilter.is_empty() && !prefilter.knows_texts(&meta));
    meta.ngram_files = Some([0].into());
    assert!(prefilter.knows_texts(&meta));
    meta.ngram_files = Some([0, 1].into());
    assert!(!prefilter.knows_texts(&meta), "one is lost");
}

#[test]
fn a_server_is_not_believed_while_a_run_is_under_way() {
    let folder = tempfile::tempdir().unwrap();
    let index = index_folder(folder.path());
    let (mut meta, store) = empty(&index);
    let mut builder = Builder::default();
    let of = Version { key: 1, stamp: 1 };
    let covers = Covers::default();
    let path = folder.path().join("a");
    builder.add(of, &path, "", covers, &NgramSet::default());
    store.write(&mut builder).unwrap();
    meta.ngram_files = Some([0].into());
    meta.all_seen = true;
    meta.roots = vec![ken_core::Root::new(folder.path())];
    let options = WriterOptions {
        memory_bytes: 0,
        threads: 1,
    };
    for (under_way, is_trusted) in [(None, true), (Some(1), false)] {
        meta.under_way = under_way;
        let writer = Writer::open(&index, options).unwrap();
        writer.commit(&meta).unwrap();
        drop(writer);
        let need = Need::Bytes(b"quux".to_vec());
        let paths = [folder.path().to_owned()];
        let roots = TypedPaths::new(&paths, folder.path());
        let trust = Trust::Watched(std::collections::BTreeSet::new());
        let tables = IndexTables::new(&index);
        let prefilter = Prefilter::ask(&tables, &need, roots, Reading::WHOLE, trust).unwrap();
        assert_eq!(prefilter.is_trusted(), is_trusted);
    }
}

/// Number of n-gram segments that were opened.
static N_OPENED: AtomicUsize = AtomicUsize::new(0);

fn counting_map(path: &Path) -> std::io::Result<ken_ngram::Bytes> {
    let folder = path.parent().unwrap();
    N_OPENED.fetch_add(usize::from(folder.ends_with("ngrams")), Ordering::Relaxed);
    ken_index::map(path)
}

#[test]
fn tables_stay_open_until_the_next_commit() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path();
    let (mut meta, store) = empty(index);
    let write = |key| {
        let mut builder = Builder::default();
        let of = Version { key, stamp: 1 };
        let covers = Covers::default();
        builder.add(of, Path::new("/a"), "", covers, &NgramSet::default());
        store.write(&mut builder).unwrap();
    };
    write(1);
    let tables = IndexTables::opened_by(index, counting_map);
    let need = Need::Bytes(b"quux".to_vec());
    let search = || {
        let before = N_OPENED.load(Ordering::Relaxed);
        let prefilter = Prefilter::of_whole_files(&tables, &need, &[], index).unwrap();
        let is_complete = prefilter.index.as_ref().unwrap().tables.is_complete;
        (N_OPENED.load(Ordering::Relaxed) - before, is_complete)
    };
    assert_eq!(search(), (1, false));
    assert_eq!(search(), (0, false), "the segment is open");
    write(2);
    meta.ngram_files = Some([0, 1].into());
    let options = WriterOptions {
        memory_bytes: 0,
        threads: 1,
    };
    Writer::open(index, options).unwrap().commit(&meta).unwrap();
    assert_eq!(search(), (2, true), "there is a new commit");
    assert_eq!(search(), (0, true));
    fs_err::remove_dir_all(index).unwrap();
    let gone = Prefilter::of_whole_files(&tables, &need, &[], index).unwrap();
    assert_eq!(gone.why, Some(Why::NoIndex));
}

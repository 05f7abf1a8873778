//! What the store knows while the writer works, and when it fails.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use ken_core::Root;
use ken_mail::TagChange;
use ken_pipeline::{RootChange, update};

use super::*;

const LONG: Duration = Duration::from_secs(60);

/// Returns a store of the mail in a folder, which its index has.
fn store(folder: &Path) -> Store {
    let maildir = folder.join("mail");
    fs_err::create_dir_all(maildir.join("inbox/cur")).unwrap();
    let options = Options::new(&folder.join("data"));
    let add = [RootChange::Add(Root::new(&maildir))];
    update(&options, &add, &Progress::default(), &|_| ()).unwrap();
    let context = Context {
        now: Timestamp::UNIX_EPOCH,
        zone: TimeZone::UTC,
        month_first: false,
        home: None,
        cwd: maildir.clone(),
        mail_root: None,
        own_addresses: Vec::new(),
        roots: Vec::new(),
        analyze: ken_search::service::ANALYSIS,
        synonyms: Arc::default(),
    };
    let personal = Vec::new();
    Store::new(StoreOptions {
        update: options,
        context,
        maildir,
        personal,
    })
    .unwrap()
}

/// Waits for the end of a job, and notes it.
fn finish_one(store: &mut Store) -> Outcome {
    let job = store.done().unwrap().recv_timeout(LONG).unwrap();
    store.finished(&job);
    job
}

#[test]
fn a_run_over_all_mail_goes_on_when_an_earlier_batch_ends() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(folder.path());
    store.added(&store.maildir().join("inbox/cur/1"));
    assert!(store.index(false));
    assert!(!finish_one(&mut store).all);
    assert!(store.progress().is_some());
    assert!(!store.index(false), "one is under way");
    assert!(finish_one(&mut store).all);
    assert!(store.progress().is_none());
}

#[test]
fn a_message_that_moved_is_where_it_is_until_the_index_knows_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(folder.path());
    let path = |name: &str| folder.path().join("mail/inbox/cur").join(name);
    let (index, away) = (store.data().join("index"), store.data().join("away"));
    fs_err::rename(&index, &away).unwrap();
    fs_err::write(&index, "no folder").unwrap();
    store.moved(&path("1"), Some(&path("2")));
    store.moved(&path("2"), Some(&path("1")));
    store.moved(&path("1"), Some(&path("3")));
    store.moved(&path("4"), None);
    let knows = |store: &Store| ["1", "2", "3", "4"].map(|name| store.now(path(name)));
    let three = Some(path("3"));
    let expected = [three.clone(), three.clone(), three, None];
    assert_eq!(knows(&store), expected);
    store.close();
    assert_eq!(knows(&store), expected, "no batch succeeded");
    fs_err::remove_file(&index).unwrap();
    fs_err::rename(&away, &index).unwrap();
    store.added(&path("5"));
    store.settle();
    assert_eq!(
        knows(&store),
        ["1", "2", "3", "4"].map(|name| Some(path(name)))
    );
}

#[test]
fn a_move_is_forgotten_when_its_own_batch_ends() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(folder.path());
    let path = |name: &str| folder.path().join("mail/inbox/cur").join(name);
    for (from, to) in [("1", "2"), ("3", "4")] {
        store.moved(&path(from), Some(&path(to)));
        assert_eq!(store.now(path(from)), Some(path(to)));
        finish_one(&mut store);
        assert_eq!(store.now(path(from)), Some(path(from)));
    }
}

#[test]
fn a_label_goes_through_the_writer_that_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = store(folder.path());
    let path = store.maildir().join("inbox/cur/1:2,S");
    fs_err::write(&path, "Message-ID: <1@x>\nSubject: one\n\nA message.\n").unwrap();
    store.added(&path);
    for label in ["first", "second"] {
        let change = TagChange::of_message("1@x".to_owned(), vec![(label.to_owned(), true)]);
        store.label_and_wait(&[change]).unwrap();
    }
    assert_eq!(store.labels().unwrap(), ["first", "second"]);
    store.added(&path);
    store.settle();
    assert_eq!(store.writer().updater.n_opened(), 1);
}

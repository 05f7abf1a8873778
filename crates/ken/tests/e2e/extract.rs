//! `ken extract`: the text of one file, without an index.

use crate::samples::{fixture, pdf};
use crate::world::{Run, World};

#[test]
fn text_of_a_file_and_of_what_is_in_it() {
    let world = World::new();
    world.add_fixture("mail/attachments.eml");
    let run = world.ken(["extract", "docs/attachments.eml"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert_eq!(
        run.text(),
        "==> 1 <==\nThe pangolin was discussed at length and nothing was decided.\n\
         ==> 2 <==\nanimal,count\nquokka,3\nThe albatross agenda is attached.\n"
    );
    world.write("pages.pdf", pdf("T", "A", &["one", "two"]));
    let run = world.ken(["extract", "docs/pages.pdf"]);
    assert_eq!(run.text(), "one\u{c}two\n");
    assert!(!world.home().join("data").exists());
}

#[test]
fn json_has_metadata_text_and_children() {
    let world = World::new();
    world.add_fixture("archive/folders.zip");
    let run = world.ken(["extract", "--json", "docs/folders.zip"]);
    let objects = run.objects();
    let mut ipaths: Vec<_> = objects
        .iter()
        .map(|o| o["ipath"].as_str().unwrap())
        .collect();
    ipaths.sort_unstable();
    assert_eq!(
        ipaths,
        [
            "",
            "backup.tar.gz",
            "backup.tar.gz|deep/cave.txt",
            "letters/größe.txt",
            "letters/spring.txt"
        ]
    );
    let cave = objects
        .iter()
        .find(|o| o["ipath"] == "backup.tar.gz|deep/cave.txt")
        .unwrap();
    let keys: Vec<_> = cave
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(keys, ["body", "fields", "ipath", "mime", "type", "v"]);
    assert!(cave["body"].as_str().unwrap().contains("stalagtoad"));
    assert_eq!(cave["fields"]["filename"], "cave.txt");
}

#[test]
fn failures_are_reported_and_end_with_2() {
    let world = World::new();
    world.add_fixture("archive/encrypted.zip");
    let run = world.ken(["extract", "docs/encrypted.zip"]);
    assert_eq!(run.code, 2);
    assert_eq!(
        run.err,
        "ken: \"docs/encrypted.zip|secret.txt\": encrypted: encrypted, and no password is known\n"
    );
    assert!(run.text().contains("openotter"), "the rest is read");

    let run = world.ken(["extract", "--json", "docs/encrypted.zip"]);
    let objects = run.objects();
    let secret = objects.iter().find(|o| o["ipath"] == "secret.txt").unwrap();
    assert_eq!(secret["failure"]["reason"], "encrypted");

    world.write("torn.docx", &fixture("sample.docx")[..3000]);
    for (args, message) in [
        (
            &["extract", "docs/torn.docx"][..],
            "\"docs/torn.docx\": malformed: ",
        ),
        (&["extract", "docs/none.txt"], "docs/none.txt"),
        (&["extract", "docs"], "\"docs\" is not a regular file"),
        (&["extract"], "Usage: ken extract"),
    ] {
        let run = world.ken(args);
        assert_eq!(run.code, 2, "{args:?}");
        assert!(run.err.contains(message), "{args:?}: {}", run.err);
    }
}

#[test]
fn limits_are_settings() {
    let world = World::new();
    world.add_fixture("archive/folders.zip");
    let run = world.ken([
        "extract",
        "--set",
        "extract.max_depth=1",
        "docs/folders.zip",
    ]);
    assert_eq!(run.code, 2);
    assert!(
        run.err
            .contains("limit: containers are nested deeper than extract.max_depth = 1"),
        "{}",
        run.err
    );
    assert!(!run.text().contains("stalagtoad"));
    assert!(run.text().contains("quokkaberry"));
}

#[test]
fn fifos_are_not_waited_for() {
    use std::time::{Duration, Instant};

    let world = World::new();
    world.write("a.txt", "numbat");
    world.index_docs();
    let fifo = |name: &str| {
        let path = world.docs().join(name);
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.unwrap().success());
    };
    fifo("pipe");
    fifo("base.db-wal");
    world.write("base.db", "SQLite format 3\0");
    for (args, message) in [
        (&["extract", "docs/pipe"][..], "is not a regular file"),
        (&["search", "--like", "docs/pipe"], "is not a regular file"),
        (&["extract", "docs/base.db"], "base.db"),
    ] {
        let mut child = world.spawn(args);
        let start = Instant::now();
        while child.try_wait().unwrap().is_none() {
            if start.elapsed() > Duration::from_secs(60) {
                child.kill().unwrap();
                panic!("{args:?} waits for a FIFO");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let run = Run::of_child(child);
        assert_eq!(run.code, 2, "{args:?}");
        assert!(run.err.contains(message), "{}", run.err);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn reading_leaves_access_times() {
    use std::os::unix::fs::MetadataExt;

    let world = World::new();
    let text = world.write("letters/a.txt", "numbat\n");
    let mail = world.write("letters/cur/1:2,", "Subject: x\n\nnumbat\n");
    let folder = world.docs().join("letters");
    let paths = [&text, &mail, &folder];
    let times = std::fs::FileTimes::new().set_accessed(std::time::SystemTime::UNIX_EPOCH);
    for path in paths {
        fs_err::File::open(path)
            .unwrap()
            .file()
            .set_times(times)
            .unwrap();
    }
    world.index_docs();
    for args in [
        &["search", "--like", "docs/letters/a.txt"][..],
        &["search", "--in", "docs/letters/a.txt", "numbat"],
        &["grep", "numbat", "docs"],
        &["extract", "docs/letters/a.txt"],
        &["mail", "show", "numbat"],
    ] {
        let run = world.ken(args);
        assert!(run.code < 2, "{args:?}: {}", run.err);
    }
    for path in paths {
        assert_eq!(fs_err::metadata(path).unwrap().atime(), 0, "{path:?}");
    }
}

//! Runs two programs on one Maildir: one delivers and renames messages, the other changes flags and moves them. No
//! message is lost or duplicated, and the last change of each program holds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ken_mail::maildir::{MaildirPath, MoveError, Target, make, relocate};

const MESSAGES: usize = 300;
/// Names the Maildirs to the other process.
const FOLDER: &str = "KEN_TEST_RACE";

/// The other program renames messages as a mail reader does.
#[test]
#[ignore = "started by the test below"]
#[allow(clippy::disallowed_methods)]
fn the_other_program() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let inbox = PathBuf::from(folder).join("inbox");
    for number in 0..MESSAGES {
        let base = format!("{number}.other.host");
        let temporary = inbox.join("tmp").join(&base);
        std::fs::write(&temporary, &base).unwrap();
        std::fs::rename(&temporary, inbox.join("new").join(&base)).unwrap();
        let old = number.saturating_sub(3);
        let Some(message) = MaildirPath::of_path(&inbox.join(format!("new/{old}.other.host")))
        else {
            continue;
        };
        if let Some(path) = message.find().unwrap() {
            let mut replied = MaildirPath::of_path(&path).unwrap();
            replied.flags = replied.flags.changed("-N+R").unwrap();
            // The first program may be faster.
            let _ = std::fs::rename(&path, replied.path());
        }
    }
}

#[test]
#[allow(clippy::disallowed_methods)]
fn no_message_is_lost_between_two_programs() {
    let folder = tempfile::tempdir().unwrap();
    let (inbox, archive) = (folder.path().join("inbox"), folder.path().join("archive"));
    make(&inbox, 0o755).unwrap();
    make(&archive, 0o755).unwrap();
    let mut other = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "the_other_program"])
        .env(FOLDER, folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut number = 0;
    while number < MESSAGES {
        let running = other.try_wait().unwrap().is_none();
        match move_one(&inbox, &archive, number) {
            true => number += 1,
            false => assert!(running, "message {number} was never delivered"),
        }
    }
    assert!(other.wait().unwrap().success());
    let mut found: BTreeMap<String, usize> = BTreeMap::new();
    for part in ["inbox/new", "inbox/cur", "archive/new", "archive/cur"] {
        for entry in fs_err::read_dir(folder.path().join(part)).unwrap() {
            let text = fs_err::read_to_string(entry.unwrap().path()).unwrap();
            *found.entry(text).or_default() += 1;
        }
    }
    let expected = (0..MESSAGES).map(|number| (format!("{number}.other.host"), 1));
    assert_eq!(found, expected.collect());
    let n_archived = fs_err::read_dir(archive.join("cur")).unwrap().count();
    assert_eq!(n_archived, MESSAGES / 2);
}

/// Marks a message as read, and moves every second one; returns whether the message was there.
fn move_one(inbox: &Path, archive: &Path, number: usize) -> bool {
    let delivered = inbox.join(format!("new/{number}.other.host"));
    let target = Target {
        maildir: (number % 2 == 1).then_some(archive),
        flags: Some("+S-u-N"),
        rename: false,
    };
    match relocate(&delivered, &target) {
        Ok(path) => {
            assert!(path.to_str().unwrap().ends_with('S'), "{}", path.display());
            true
        }
        Err(MoveError::Gone(_)) => false,
        Err(error) => panic!("{error}"),
    }
}

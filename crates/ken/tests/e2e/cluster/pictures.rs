//! Several machines recognise text in the pictures of one index. The helper's cache has other texts than the pictures, so that
//! what it sent is known from what the run recognised itself.

use std::time::Duration;

use serde_json::Value;

use super::Both;
use super::machines::{Machine, n_claimed, n_offered, sharing_over, wait_for};
use crate::world::Run;

const N_PICTURES: usize = 30;
const OCR: &[&str] = &["--ocr"];
/// On the data folder of the helper, not in the cluster.
const EMBEDDED: &str = "--set=engine.kind=embedded";

fn add_pictures(both: &Both, n: usize) {
    both.world.add_fixture("ocr/picture.png");
    let path = both.world.docs().join("picture.png");
    let picture = fs_err::read(&path).unwrap();
    for n in 1..n {
        // What follows the end of a picture is not looked at.
        let other = [&picture[..], n.to_string().as_bytes()].concat();
        let to = both.world.docs().join(format!("picture{n}.png"));
        fs_err::write(to, other).unwrap();
    }
}

/// Returns a world of pictures, and the machine that has begun to share them, and is stopped.
fn sharing() -> (Both, Machine) {
    let both = Both::new();
    both.fill();
    add_pictures(&both, N_PICTURES);
    let done = |run: Run| assert_eq!(run.code, 0, "{}", run.err);
    done(both.on("b", &[EMBEDDED, "index", "--ocr", "docs"]));
    fs_err::remove_dir_all(both.world.home().join("b/index")).unwrap();
    for entry in fs_err::read_dir(both.world.home().join("b/ocr")).unwrap() {
        fs_err::write(entry.unwrap().path(), "weasel").unwrap();
    }
    done(both.on("c", &["index", "docs"]));
    let run = Machine::start_with(&both, "a", OCR);
    wait_for(&both, "a share", |root| n_offered(root) > 0);
    run.signal("-STOP");
    (both, run)
}

fn has_no_share(root: &Value) -> bool {
    n_offered(root) + n_claimed(root) == 0
}

fn count(both: &Both, query: &str) -> usize {
    let run = both.on("c", &["search", "--count", query]);
    run.text().trim().parse().unwrap()
}

/// All pictures have a text, of the helper or of the run, and nothing waits.
#[track_caller]
fn assert_all_are_read(both: &Both, by_helper: std::ops::RangeInclusive<usize>) {
    assert_eq!(count(both, "is:ocr"), N_PICTURES);
    assert_eq!(count(both, "is:textless"), 0);
    let (of_helper, of_run) = (count(both, "weasel"), count(both, "newspaper"));
    assert_eq!(of_helper + of_run, N_PICTURES);
    assert!(by_helper.contains(&of_helper), "{of_helper}");
    let again = both.on("c", &["index", "--json", "--ocr"]);
    let summary = again.summary();
    assert_eq!(
        (&summary["recognised"], &summary["unchanged"]),
        (&0.into(), &(N_PICTURES as u64 + 8).into())
    );
}

#[test]
fn machines_read_pictures_together() {
    let (both, run) = sharing();
    let helper = Machine::start_with(&both, "b", OCR);
    wait_for(&both, "no share", has_no_share);
    run.signal("-CONT");
    let (run, helped) = (run.end(), helper.end());
    let codes = (run.code, helped.code);
    assert_eq!(codes, (0, 0), "{} {}", run.err, helped.err);
    let n_helped = helped.summary()["recognised"].as_u64().unwrap() as usize;
    assert!(n_helped > 0, "{}", helped.err);
    assert_eq!(run.summary()["recognised"], N_PICTURES);
    assert_all_are_read(&both, n_helped..=n_helped);
}

#[test]
fn what_a_machine_takes_along_is_read_by_the_run() {
    let (both, run) = sharing();
    let helper = Machine::start_with(&both, "b", OCR);
    wait_for(&both, "a claim", |root| n_claimed(root) > 0);
    helper.signal("-STOP");
    run.signal("-CONT");
    let run = run.end();
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(run.summary()["recognised"], N_PICTURES);
    assert_all_are_read(&both, 0..=N_PICTURES - 3);
    // What it sends late is of no use, and does no harm.
    helper.signal("-CONT");
    let helped = helper.end();
    assert_eq!(helped.code, 0, "{}", helped.err);
    assert_all_are_read(&both, 0..=N_PICTURES - 3);
}

#[test]
fn a_pass_whose_machine_dies_is_ended_by_another() {
    let (both, run) = sharing();
    let helper = Machine::start_with(&both, "b", OCR);
    wait_for(&both, "no share", has_no_share);
    run.signal("-KILL");
    let helped = helper.end();
    assert_eq!(helped.code, 0, "{}", helped.err);
    assert_all_are_read(&both, 0..=N_PICTURES);
}

#[test]
fn a_machine_that_reads_other_text_takes_no_pictures() {
    let (both, run) = sharing();
    let of_others: [(&str, &[&str]); 2] = [
        ("b", &[]),
        ("d", &["--ocr", "--set=ocr.languages=[\"eng\",\"osd\"]"]),
    ];
    let others = of_others.map(|(data, more)| Machine::start_with(&both, data, more));
    std::thread::sleep(Duration::from_secs(3));
    let root = both.node.root().unwrap();
    assert_eq!((n_claimed(&root), n_offered(&root) > 0), (0, true));
    run.signal("-CONT");
    let run = run.end();
    assert_eq!(run.code, 0, "{}", run.err);
    for other in others {
        let other = other.end();
        assert_eq!(other.code, 0, "{}", other.err);
    }
    assert_eq!(run.summary()["recognised"], N_PICTURES);
}

/// Whichever machine gets the pass: the other one leaves the pictures to it.
#[test]
fn machines_with_other_languages_do_not_read_each_others_pictures_again() {
    let both = Both::new();
    add_pictures(&both, 8);
    let (both, run) = sharing_over(both, OCR);
    let other = ["--ocr", "--set=ocr.languages=[\"eng\",\"osd\"]"];
    let helper = Machine::start_with(&both, "d", &other);
    wait_for(&both, "no share", has_no_share);
    run.signal("-CONT");
    let (run, helped) = (run.end(), helper.end());
    let codes = (run.code, helped.code);
    assert_eq!(codes, (0, 0), "{} {}", run.err, helped.err);
    let n_read = |run: &Run| run.summary()["recognised"].as_u64().unwrap();
    let mut n_each = [n_read(&run), n_read(&helped)];
    n_each.sort_unstable();
    assert_eq!(n_each, [0, 8], "{} {}", run.err, helped.err);
    assert_eq!(
        (count(&both, "is:ocr"), count(&both, "is:textless")),
        (8, 0)
    );
}

//! What `ken search` prints for queries that cannot be answered as typed, and for names that are not
//! text.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use crate::world::{Run, World};

fn pets() -> World {
    let world = World::new();
    world.write("pets/both.txt", "the cats and dogs");
    world.write("pets/cats.txt", "the cats alone");
    world.write("pets/dogs.txt", "only dogs");
    world.index_docs();
    world
}

#[test]
fn expressions_that_cannot_be_used_are_mistakes_of_the_query() {
    let world = pets();
    let run = world.ken(["search", "/x{1000}{1000}/"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("it takes more than 8 MiB\n  /x{1000}"));
    let run = world.ken(["search", "--lenient", "--paths", "/x{1000}{1000}/ alone"]);
    assert_eq!((run.code, run.lines().len()), (0, 1), "{}", run.err);
    let run = world.ken(["terms", "/[/"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("unclosed character class"), "{}", run.err);
    // A mistake that is detected late.
    let run = world.ken(["search", "\"a*b????????????????????????c d\""]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("the query cannot be answered"));
}

#[test]
fn what_holds_for_one_of_two_is_explained() {
    let world = pets();
    // One word of the alternative that finds nothing.
    world.write("pets/half.txt", "the dogs");
    world.index_docs();
    let run = world.ken(["search", "--explain", "the cats XOR dogs"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.text().contains("body:\"dogs\" 1 times"));
    assert!(run.text().contains("body:\"the\" 1 times"));
}

#[test]
fn signs_alone_are_said_to_find_nothing() {
    let world = pets();
    for signs in ["//", "→", "\"*\""] {
        let run = world.ken(["search", signs]);
        assert_eq!(run.code, 1);
        assert!(run.err.contains("signs without letters"), "{signs}");
    }
    assert_eq!(world.ken(["search", "absent"]).err, "");
}

#[test]
fn a_query_is_shown_as_it_was_typed() {
    let run = pets().ken(["search", "-(cats"]);
    assert!(run.err.contains("\n  -(cats\n   ^\n"), "{}", run.err);
}

#[test]
fn of_a_long_text_the_rarest_words_are_looked_for() {
    let world = pets();
    let numbers: String = (0..2000).map(|number| format!("w{number} ")).collect();
    let letter = world.home().join("letter.txt");
    std::fs::write(&letter, format!("{numbers} dogs")).unwrap();
    let mut command = world.command(["search", "--any", "--explain", "-"]);
    let input = std::fs::File::open(letter).unwrap();
    let run = Run::of(command.stdin(input).output().unwrap());
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.text().contains("\nwithout 977 words"));
    assert!(run.text().contains("pets/dogs.txt"));
}

#[test]
fn names_that_are_no_text_are_read_as_they_are_printed() {
    let world = World::new();
    let name = OsStr::from_bytes(b"weird/caf\xe9\t.txt");
    world.write(name, "an okapi");
    world.index_docs();
    let run = world.ken(["search", "--fields", "root,path", "-0", "okapi"]);
    let root = world.docs();
    let path = root.join(name);
    let expected = [root.as_os_str(), path.as_os_str()].map(OsStr::as_bytes);
    assert_eq!(run.out, [&expected.join(&b'\t')[..], b"\0"].concat());
    let world = World::new();
    world.write(OsStr::from_bytes(b"weird/caf\xe9.txt"), "an okapi");
    world.index_docs();
    let run = world.ken(["search", "okapi", "--in", r"docs/weird/caf\xe9.txt"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let run = world.ken(["status", "--why", r"docs/weird/caf\xe9.txt"]);
    assert_eq!(run.code, 0, "{}", run.err);
}

#[test]
fn roots_are_counted_and_shown() {
    let world = pets();
    let run = world.ken(["search", "--facets", "root", "dogs"]);
    let root = world.docs().display().to_string();
    assert_eq!(run.lines()[1].trim(), format!("2  {root}"));
    for wrong in [["--facets", "path"], ["--sort", "root"]] {
        assert_eq!(world.ken(["search", wrong[0], wrong[1], "dogs"]).code, 2);
    }
}

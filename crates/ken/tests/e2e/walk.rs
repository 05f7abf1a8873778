//! `ken walk`: which files would be indexed, and why others would not.

use crate::world::World;

fn tree() -> World {
    let world = World::new();
    world.write("b.txt", "x");
    world.write("a/c.txt", "xyz");
    world.write("a/no.log", "x");
    world.write(".hidden", "x");
    world.write(".kenignore", "*.log\n");
    world
}

#[test]
fn files_are_listed_sorted() {
    let world = tree();
    let docs = world.docs().display().to_string();
    let run = world.ken(["walk", "docs"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert_eq!(run.text(), format!("{docs}/a/c.txt\n{docs}/b.txt\n"));
    let run = world.ken(["walk", "-0", "docs"]);
    assert_eq!(run.text(), format!("{docs}/a/c.txt\0{docs}/b.txt\0"));
    let run = world.ken(["walk", "--hidden", "--no-ignore", "docs"]);
    assert_eq!(run.lines().len(), 5);
    assert!(!world.home().join("data").exists());
}

#[test]
fn json_gives_the_stamp() {
    let world = tree();
    world.set_modified("a/c.txt", 1_700_000_000);
    let run = world.ken(["walk", "--json", "docs"]);
    let objects = run.objects();
    assert_eq!(objects.len(), 2);
    assert_eq!(
        objects[0]["path"],
        world.docs().join("a/c.txt").to_str().unwrap()
    );
    assert_eq!(objects[0]["stamp"]["size"], 3);
    assert_eq!(
        objects[0]["stamp"]["mtime_ns"],
        1_700_000_000_000_000_000_u64
    );
}

#[test]
fn explain_says_why_files_are_left_out() {
    let world = tree();
    let run = world.ken(["walk", "--explain", "docs"]);
    let docs = world.docs().display().to_string();
    let lines = run.lines();
    let hidden = format!("{docs}/.hidden\thidden (--hidden includes it)");
    let ignored = format!(
        "{docs}/a/no.log\tignored by \"*.log\" in {docs}/.kenignore (--no-ignore includes it)"
    );
    for line in [&hidden, &ignored, &format!("{docs}/b.txt")] {
        assert!(lines.contains(&line.as_str()), "{line}: {lines:?}");
    }
    let run = world.ken(["walk", "--explain", "--json", "docs"]);
    let skipped = run
        .objects()
        .iter()
        .filter(|o| o.get("skipped").is_some())
        .count();
    assert_eq!(skipped, 3, "{}", run.text());
}

#[test]
fn nothing_found_is_1_and_nothing_there_is_2() {
    let world = World::new();
    assert_eq!(world.ken(["walk", "docs"]).code, 1);
    let run = world.ken(["walk", "none"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("\"none\": no such file or directory"),
        "{}",
        run.err
    );
}

#[test]
fn a_single_file_is_a_root_too() {
    let world = tree();
    let run = world.ken(["walk", "docs/b.txt"]);
    assert_eq!(run.text(), format!("{}/b.txt\n", world.docs().display()));
}

#[test]
fn walking_and_indexing_see_the_same_files() {
    let world = tree();
    let walked = world.ken(["walk", "docs"]);
    world.index_docs();
    let indexed = world.ken(["search", "-l", "--sort", "path", "*"]);
    assert_eq!(walked.text(), indexed.text());
}

//! A damaged index: no command panics, what is sound is found, and the next run mends the rest.

use std::path::PathBuf;

use crate::world::World;

/// Two segments, of two documents and of one.
fn world() -> World {
    let world = World::new();
    world.write("a.txt", "A young otter in the river.");
    world.write("b.txt", "An old otter in the lake.");
    world.index_docs();
    world.write("c.txt", "A late otter on the shore.");
    world.index_docs();
    assert_eq!(world.found("otter"), ["a.txt", "b.txt", "c.txt"]);
    world
}

/// Returns the files of the segment with the most or the fewest documents with this extension, the largest first.
fn parts(world: &World, extension: &str) -> Vec<PathBuf> {
    let mut files = world.files_below(world.data().join("index"));
    files.retain(|(path, _)| path.extension().is_some_and(|of| of == extension));
    files.sort_by_key(|(_, metadata)| std::cmp::Reverse(metadata.len()));
    files.into_iter().map(|(path, _)| path).collect()
}

const COMMANDS: [&[&str]; 8] = [
    &["search", "--paths", "otter"],
    &["search", "--json", "--sort", "date", "*"],
    &["search", "--facets", "type,ext,date", "*"],
    &["mail", "list", "otter"],
    &["terms", "*t*"],
    &["status"],
    &["grep", "-c", "otter", "docs"],
    &["check"],
];

/// Runs each command, none of which may panic, and returns what they said.
fn outlived(world: &World, what: &str) -> String {
    let mut said = String::new();
    for command in COMMANDS {
        let run = world.ken(command);
        let err = &run.err;
        assert!(
            (0..=2).contains(&run.code),
            "{what}: {command:?}: {} {err}",
            run.code
        );
        assert!(
            !err.contains("panicked") && !err.contains("internal error"),
            "{what}: {command:?}: {err}"
        );
        said.push_str(err);
    }
    said
}

#[test]
fn a_segment_that_was_cut_off_is_left_out_and_mended() {
    for (extension, length) in [
        ("store", 0),
        ("fast", 4),
        ("idx", 5),
        ("term", 6),
        ("pos", 7),
        ("fieldnorm", 8),
        ("store", 40),
    ] {
        let world = world();
        let part = parts(&world, extension).remove(0);
        let file = fs_err::OpenOptions::new().write(true).open(&part).unwrap();
        file.set_len(length).unwrap();
        let what = format!("{extension} of {length} bytes");
        let run = world.ken(["search", "--paths", "otter"]);
        assert_eq!(run.code, 0, "{what}: {}", run.err);
        assert!(
            run.text().ends_with("c.txt\n") || run.text().contains("a.txt"),
            "{what}: {}",
            run.text()
        );
        assert!(
            run.err
                .starts_with("ken: a part of the index is damaged, so "),
            "{what}: {}",
            run.err
        );
        outlived(&world, &what);
        // The files of the segment are read again.
        world.index(&[]);
        assert_eq!(world.found("otter"), ["a.txt", "b.txt", "c.txt"], "{what}");
        assert_eq!(world.ken(["search", "otter"]).err, "", "{what}");
        assert_eq!(world.ken(["check"]).code, 0, "{what}");
    }
}

#[test]
fn noise_in_a_segment_is_no_panic() {
    let mut random = fastrand::Rng::with_seed(7);
    let mut n_left_out = 0;
    for round in 0..12 {
        let world = world();
        let extension = ["fast", "store", "idx", "term"][round % 4];
        let part = parts(&world, extension).remove(0);
        let mut bytes = fs_err::read(&part).unwrap();
        let at = random.usize(..bytes.len());
        let end = bytes.len().min(at + 48);
        bytes[at..end].fill_with(|| random.u8(..));
        fs_err::write(&part, bytes).unwrap();
        let what = format!("round {round}: {extension} from {at} on");
        let said = outlived(&world, &what);
        n_left_out += usize::from(said.contains("left out"));
        assert_eq!(world.ken(["check", "--repair"]).code, 0, "{what}");
        assert_eq!(world.found("otter"), ["a.txt", "b.txt", "c.txt"], "{what}");
    }
    assert!(n_left_out > 3, "{n_left_out}");
}

/// A flipped bit in n-grams: grep finds what a scan finds and names the damage, and the next run mends it.
#[test]
fn damaged_n_grams_hide_no_match() {
    let world = World::new();
    for number in 0..40 {
        let word = ["otter", "stoat", "marten"][number % 3];
        let text = format!("The {word} number {number} swims.\n").repeat(1 + number);
        world.write(format!("{}/{number}.txt", number % 4), text);
    }
    world.index_docs();
    let pattern = "otter number [0-9]*5";
    let scan = world.ken(["grep", "--no-index", "--sort", "path", pattern, "docs"]);
    let part = parts(&world, "grams").remove(0);
    let sound = fs_err::read(&part).unwrap();
    let mut n_named = 0;
    for at in (0..sound.len()).step_by(sound.len() / 40) {
        let mut bytes = sound.clone();
        bytes[at] ^= 1 << (at % 8);
        fs_err::write(&part, bytes).unwrap();
        let flags = ["--sort", "path", pattern, "docs"];
        let run = world.ken([&["grep"][..], &flags].concat());
        assert_eq!(run.text(), scan.text(), "byte {at}");
        let is_named = run.err.contains(".grams\" is damaged");
        n_named += u32::from(is_named);
        let mark = part.with_extension("damaged");
        assert_eq!(mark.exists(), is_named, "byte {at}: {}", run.err);
        for trust in [&["grep", "--trust-index"][..], &["grep"]] {
            let run = world.ken([trust, &flags].concat());
            assert_eq!(run.text(), scan.text(), "byte {at}: {trust:?}");
        }
        // The trusted search may have read more.
        if mark.exists() {
            let run = world.ken([&["grep"][..], &flags].concat());
            assert_eq!(run.err, "", "byte {at}: it is left out already");
            fs_err::remove_file(mark).unwrap();
        }
    }
    assert!(n_named > 20, "{n_named}");
    let mut bytes = sound;
    bytes[0] ^= 1;
    fs_err::write(&part, bytes).unwrap();
    let run = world.ken(["grep", "-c", "otter|stoat|marten", "docs"]);
    assert!(
        run.err.contains("ken index reads them again"),
        "{}",
        run.err
    );
    world.index(&[]);
    assert!(!part.exists() && world.ken(["check"]).code == 0);
    let run = world.ken(["grep", "--explain", "--sort", "path", pattern, "docs"]);
    assert_eq!(run.text(), scan.text());
    assert!(!run.err.contains(" 0 excluded"), "{}", run.err);
}

#[test]
fn a_full_run_needs_nothing_of_a_damaged_list_of_segments() {
    let world = world();
    fs_err::write(world.data().join("index/meta.json"), "{\"segm").unwrap();
    let run = world.ken(["index", "--full"]);
    assert_eq!(run.code, 2, "no root is known: {}", run.text());
    let run = world.ken(["index", "--full", "docs"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(world.found("otter"), ["a.txt", "b.txt", "c.txt"]);
}

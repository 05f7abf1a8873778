//! What `ken grep` may conclude from the n-grams of an index: after other settings, with lost n-gram segments, and
//! for documents with parts.

use crate::world::{Run, World};

fn lines(run: &Run) -> Vec<&str> {
    assert!(run.code < 2, "{}", run.err);
    let out = std::str::from_utf8(&run.out).unwrap();
    let mut lines: Vec<_> = out.lines().collect();
    lines.sort_unstable();
    lines
}

/// Searches with a trusted index, and without an index.
fn both(world: &World, pattern: &str) -> (Run, Run) {
    let run = |how: &[&str]| {
        let flags = [&["grep", "--explain", "-c", pattern, "docs"], how].concat();
        world.ken(flags)
    };
    (run(&["--trust-index"]), run(&["--no-index"]))
}

fn ngram_files(world: &World) -> Vec<std::path::PathBuf> {
    let entries = fs_err::read_dir(world.data().join("index/ngrams")).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn cards_and_events_are_found_in_files_of_several() {
    let world = World::new();
    let card =
        |note: &str| format!("BEGIN:VCARD\r\nVERSION:3.0\r\nFN:A\r\n{note}\r\nEND:VCARD\r\n");
    // The line is folded, so the bytes of the file do not contain the word.
    let folded = card("NOTE:a frob\r\n nicate");
    world.write("two.vcf", folded.clone() + &card("NOTE:else"));
    world.write("one.vcf", folded);
    world.write("none.txt", "nothing of the kind\n");
    world.index_docs();
    let run = world.ken(["grep", "--documents", "-l", "frobnicate", "docs"]);
    assert_eq!(
        lines(&run),
        ["docs/one.vcf", "docs/two.vcf|1"],
        "{}",
        run.err
    );
}

#[test]
fn n_grams_of_an_earlier_profile_say_nothing_about_a_text() {
    let world = World::new();
    // The file is in Latin 1; only its extracted text is in UTF-8.
    let text = "all work and no play\n".repeat(1000) + "a z@rk\n";
    let mut latin = text.into_bytes();
    latin[21_003] = 0xf6;
    world.write("text.txt", latin);
    world.write("other.txt", "quux\n");
    let found = || {
        let run = world.ken(["grep", "--documents", "-l", "zörk", "docs"]);
        lines(&run).len()
    };
    world.index(&["--set", "extract.max_text_bytes=1000", "docs"]);
    assert_eq!(found(), 0, "it was cut");
    let summary = world.index(&["--no-ngrams"]);
    assert_eq!(summary["changed"], 1);
    assert_eq!(found(), 1);
}

#[test]
fn a_lost_n_gram_segment_is_noticed_and_made_again() {
    let world = World::new();
    for number in 0..20 {
        world.write(
            format!("{number}.txt"),
            format!("file {number} of quuxes\n"),
        );
    }
    world.write("zork.txt", "a zork\n");
    world.index_docs();
    world.write("also.txt", "another zork\n");
    world.index(&[]);
    let (trusting, scanning) = both(&world, "zork");
    assert!(trusting.err.contains("trusted"), "{}", trusting.err);
    assert_eq!(lines(&trusting), lines(&scanning));

    fs_err::remove_file(ngram_files(&world).last().unwrap()).unwrap();
    let (trusting, scanning) = both(&world, "zork");
    assert!(!trusting.err.contains("trusted"), "{}", trusting.err);
    assert_eq!(lines(&trusting), lines(&scanning));

    let summary = world.index(&[]);
    assert_eq!(summary["changed"], 1, "the one whose n-grams were in it");
    let (trusting, scanning) = both(&world, "zork");
    assert!(trusting.err.contains("trusted"), "{}", trusting.err);
    assert_eq!(lines(&trusting), lines(&scanning));
    assert_eq!(world.index(&[])["committed"], false);
}

//! Several machines with one index in a cluster: each has a data folder of its own.

use super::Both;
use crate::world::assert_counts;

/// Returns the names of what a machine finds.
#[track_caller]
fn found(both: &Both, data: &str, query: &str) -> Vec<String> {
    let run = both.on(data, &["search", "--json", "--sort", "path", "--", query]);
    assert!(run.code < 2, "{}", run.err);
    let docs = format!("{}/", both.world.docs().display());
    let hits = run.objects().into_iter();
    let paths = hits.filter_map(|hit| Some(hit["path"].as_str()?.to_owned()));
    paths.map(|path| path.replace(&docs, "")).collect()
}

#[test]
fn tags_are_those_of_all_machines() {
    let both = Both::new();
    both.fill();
    let on = |data: &str, arguments: &[&str]| {
        let run = both.on(data, arguments);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{arguments:?}");
        run
    };
    on("a", &["index", "docs"]);
    let tag = |data: &str, arguments: &[&str]| {
        let run = both.on(data, &[&["tag"], arguments].concat());
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.err);
    };
    tag("a", &["+town", "budget"]);
    tag("b", &["+old", "bridge"]);
    tag("b", &["-town", "name:main.rs"]);
    let town = ["budget.txt", "notes/budgets.md"];
    let old = found(&both, "a", "bridge");
    for data in ["a", "b", "c"] {
        assert_eq!(found(&both, data, "tag:town"), town);
        assert_eq!(found(&both, data, "tag:old"), old);
    }
    // Whichever machine reads a file again, and from wherever: it has the tags of all of them.
    for (data, arguments) in [
        ("b", &["index"][..]),
        ("a", &["index", "--full"]),
        ("c", &["index", "--full"]),
    ] {
        on(data, arguments);
        assert_eq!(found(&both, "a", "tag:town"), town, "{arguments:?}");
        assert_eq!(found(&both, "a", "tag:old"), old, "{arguments:?}");
    }
    both.world
        .write("notes/budgets.md", "# Budgets\n\nThree budgets");
    both.world.rename("budget.txt", "notes/moved.txt");
    let run = on("c", &["index", "--json"]);
    assert_counts(
        &run.summary(),
        &[("changed", 1), ("moved", 1), ("unchanged", 6)],
    );
    on("b", &["index", "--full"]);
    assert_eq!(
        found(&both, "b", "tag:town"),
        ["notes/budgets.md", "notes/moved.txt"]
    );
    assert!(!both.world.home().join("a/tags").exists());
    // A quiet run brings nothing in, on any machine.
    let run = on("a", &["index", "--json"]);
    assert_eq!(run.summary()["committed"], false);
}

#[test]
fn tags_move_to_the_cluster_and_back() {
    let both = Both::new();
    both.fill();
    let embedded = "--set=engine.kind=embedded";
    let of_folder = |arguments: &[&str]| both.there(&[&[embedded], arguments].concat());
    let done = |run: crate::world::Run| assert_eq!(run.code, 0, "{}", run.err);
    done(of_folder(&["index", "docs"]));
    done(of_folder(&["tag", "+town", "budget"]));
    done(of_folder(&["index", "--move-to", "opensearch"]));
    done(both.on("b", &["tag", "+old", "bridge"]));
    done(both.on("b", &["index", "--full"]));
    assert_eq!(found(&both, "b", "tag:town").len(), 3);
    fs_err::remove_dir_all(both.world.home().join("other/index")).unwrap();
    done(both.there(&["index", "--move-to", "embedded"]));
    // Each line is there once.
    let log = fs_err::read_to_string(both.world.home().join("other/tags")).unwrap();
    let of_town = log.lines().filter(|line| line.contains("+town"));
    assert_eq!(of_town.count(), 3, "{log}");
    done(of_folder(&["index", "--full"]));
    for tag in ["tag:town", "tag:old"] {
        let run = of_folder(&["search", "--count", tag]);
        let count = both.on("b", &["search", "--count", tag]);
        assert_eq!(run.text(), count.text());
        assert_ne!(run.text().trim(), "0");
    }
}

//! `ken search`: what is found, in which order, and how it is shown.

use serde_json::Value;

use crate::world::World;

/// Four files whose ranks, dates, sizes and paths are in different orders.
fn zoo() -> World {
    let world = World::new();
    for (name, content, modified) in [
        ("a/emu.txt", "zebra and others".to_owned(), 300),
        ("b/zebra.txt", "zebra zebra zebra".to_owned(), 100),
        (
            "c/gnu.md",
            format!("# Herds\n\nzebra {}", "grass ".repeat(500)),
            200,
        ),
        ("d/yak.txt", "no stripes".to_owned(), 400),
    ] {
        world.write(name, content);
        world.set_modified(name, 1_700_000_000 + modified);
    }
    world.index_docs();
    world
}

/// Returns the files that `ken search -l` prints, below `docs`, in order.
fn paths(world: &World, args: &[&str]) -> Vec<String> {
    let run = world.ken(["search", "-l"].iter().chain(args));
    assert!(run.code < 2, "{}", run.err);
    let docs = format!("{}/", world.docs().display());
    let below = |line: &str| line.strip_prefix(&docs).unwrap().to_owned();
    run.text().lines().map(below).collect()
}

#[test]
fn hits_are_sorted_as_asked() {
    let world = zoo();
    let orders = [
        ("relevance", ["b/zebra.txt", "a/emu.txt", "c/gnu.md"]),
        ("date", ["a/emu.txt", "c/gnu.md", "b/zebra.txt"]),
        ("size", ["c/gnu.md", "b/zebra.txt", "a/emu.txt"]),
        ("path", ["a/emu.txt", "b/zebra.txt", "c/gnu.md"]),
    ];
    for (key, mut expected) in orders {
        assert_eq!(paths(&world, &["--sort", key, "zebra"]), expected, "{key}");
        expected.reverse();
        let reversed = paths(&world, &["--sort", key, "zebra", "--reverse"]);
        assert_eq!(reversed, expected, "{key} reversed");
    }
}

#[test]
fn results_come_in_pages() {
    let world = World::new();
    for number in 10..35 {
        world.write(format!("{number}.txt"), "otter");
    }
    world.index_docs();
    let ranks = |args: &[&str]| -> Vec<u64> {
        let run = world.ken(
            ["search", "otter", "--json", "--sort", "path"]
                .iter()
                .chain(args),
        );
        let rank = |hit: &Value| hit["rank"].as_u64().unwrap();
        run.objects().iter().map(rank).collect()
    };
    assert_eq!(ranks(&[]), (1..=10).collect::<Vec<_>>());
    assert_eq!(ranks(&["--limit", "3", "--offset", "20"]), [21, 22, 23]);
    assert_eq!(ranks(&["-n2", "--offset", "24"]), [25]);
    assert_eq!(ranks(&["--limit", "0"]).len(), 25);
    assert!(ranks(&["--offset", "99"]).is_empty());
    assert_eq!(ranks(&["--set", "limit=4"]).len(), 4);
    assert_eq!(paths(&world, &["otter"]).len(), 25, "--paths prints all");

    let run = world.ken(["search", "--count", "otter"]);
    assert_eq!((run.code, run.text()), (0, "25\n"));
    let run = world.ken(["search", "-c", "absent"]);
    assert_eq!((run.code, run.text()), (1, "0\n"));
}

#[test]
fn paths_are_printed_once_and_raw() {
    let world = World::new();
    world.add_fixture("mail/three.mbox");
    world.write("new\nline.txt", "a tapir too");
    world.index_docs();
    let run = world.ken(["search", "-0", "--sort", "path", "tapir OR dugong"]);
    let docs = world.docs();
    let expected = format!("{0}/new\nline.txt\0{0}/three.mbox\0", docs.display());
    assert_eq!(run.text(), expected);
    assert_eq!(run.code, 0);
}

#[test]
fn exit_codes_distinguish_found_not_found_and_trouble() {
    let world = zoo();
    for (args, code) in [
        (&["search", "zebra"][..], 0),
        (&["s", "zebra", "--count"], 0),
        (&["search", "quagga"], 1),
        (&["search", "quagga", "-l"], 1),
        (&["search", "zebra", "--json", "--offset", "50"], 0),
        (&["search", "nofield:x"], 2),
        (&["search", "zebra", "--no-such-option"], 2),
        (&["search"], 2),
        (&["search", "zebra", "--json", "--paths"], 2),
        (&["--data", "nowhere", "search", "zebra"], 2),
    ] {
        let run = world.ken(args);
        assert_eq!(run.code, code, "{args:?}: {}", run.err);
        assert_eq!(run.err.is_empty(), code < 2, "{args:?}: {}", run.err);
        // With --json an error is an object too.
        let is_silent = run.out.is_empty() || args.contains(&"--json");
        assert!(code < 2 || is_silent, "{args:?}: {}", run.text());
    }
    let run = world.ken(["--data", "nowhere", "search", "zebra"]);
    let index = world.home().join("nowhere/index");
    assert_eq!(
        run.err,
        format!(
            "ken: there is no index in \"{}\"\nhint: ken index ~/Documents\n",
            index.display()
        )
    );
    assert!(
        !world.home().join("nowhere").exists(),
        "searching writes nothing"
    );
}

#[test]
fn a_hit_shows_title_location_date_size_and_snippet() {
    let world = World::new();
    world.write("tale.txt", "Once upon\na time\nthere was a thylacine.\n");
    world.set_modified("tale.txt", 1_700_000_000);
    world.index_docs();
    let run = world.ken(["search", "thylacine"]);
    let path = world.docs().join("tale.txt");
    assert_eq!(
        run.text(),
        format!(
            "tale.txt\n  {}:3  2023-11-14  40 B\n    Once upon a time there was a thylacine.\n",
            path.display()
        )
    );
    let run = world.ken(["search", "--no-snippet", "thylacine"]);
    assert_eq!(
        run.text(),
        format!("tale.txt\n  {}  2023-11-14  40 B\n", path.display())
    );
}

#[test]
fn json_has_the_documented_keys() {
    let world = World::new();
    world.write("a.txt", "the thylacine is gone");
    world.index_docs();
    let run = world.ken(["search", "--json", "thylacine"]);
    let objects = run.objects();
    let [hit] = &objects[..] else {
        panic!("{objects:?}")
    };
    let keys: Vec<_> = hit
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        [
            "fields",
            "id",
            "ipath",
            "mime",
            "more",
            "path",
            "rank",
            "score",
            "snippet",
            "text_bytes",
            "title",
            "type",
            "v"
        ]
    );
    let snippet = &hit["snippet"];
    assert_eq!(snippet["text"], "the thylacine is gone");
    assert_eq!(snippet["highlights"], serde_json::json!([[4, 13]]));
    assert_eq!(snippet["line"], 1);
    assert_eq!(snippet["page"], Value::Null);
    assert_eq!(hit["rank"], 1);
    assert!(hit["score"].as_f64().unwrap() > 0.0);
    let run = world.ken([
        "search",
        "--json",
        "--sort",
        "date",
        "--no-snippet",
        "thylacine",
    ]);
    let objects = run.objects();
    assert!(objects[0].get("score").is_none() && objects[0].get("snippet").is_none());
    assert!(objects[0].get("text_bytes").is_none() && objects[0].get("body").is_none());
    let run = world.ken(["search", "--json", "--text", "--no-snippet", "thylacine"]);
    let hit = &run.objects()[0];
    assert_eq!(hit["body"], "the thylacine is gone");
    assert_eq!(hit["text_bytes"], 21);
    assert_eq!(world.ken(["search", "--text", "thylacine"]).code, 2);
}

#[test]
fn explain_shows_how_the_query_is_understood() {
    let world = zoo();
    let run = world.ken([
        "search",
        "--explain",
        "--json",
        "zebra",
        "-ext:md",
        "-nosuchword",
    ]);
    let objects = run.objects();
    let means = objects[0]["means"].as_array().unwrap();
    let body = means.iter().find(|of| of["field"] == "body").unwrap();
    assert_eq!(body["terms"][0]["documents"], 3);
    assert_eq!(objects[0]["unknown"].as_array().unwrap().len(), 1);
    assert!(objects[0]["plan"].as_str().unwrap().starts_with("(and "));
    let score = objects[1]["score"].as_f64().unwrap();
    let explained = objects[1]["explanation"]["value"].as_f64().unwrap();
    assert!((score - explained).abs() < 1e-3, "{score} {explained}");
    let run = world.ken(["search", "--explain", "zebra", "-ext:md"]);
    assert_eq!(run.code, 0);
    let lines = run.lines();
    assert_eq!(lines[0], r#"query   (and "zebra" (not (ext "md")))"#);
    assert!(lines[1].starts_with("plan    (and "), "{}", lines[1]);
    assert!(
        lines.contains(&"term    body:zebra in 3 documents"),
        "{lines:?}"
    );
    assert!(lines.iter().any(|line| line.starts_with("engine  ")));
    assert!(lines.iter().any(|line| line.contains("how much it says")));
}

#[test]
fn a_closed_pipe_is_no_error() {
    let world = World::new();
    for number in 0..300 {
        world.write(
            format!("{number}.txt"),
            format!("{} otter", "words ".repeat(300)),
        );
    }
    world.index_docs();
    for args in [
        &["search", "otter", "--limit", "0"][..],
        &["search", "otter", "--limit", "0", "--json"],
        &["search", "-l", "otter"],
        &["walk", "docs", "--json"],
        &["completions", "bash"],
        &["extract", "docs/1.txt"],
        &["status"],
    ] {
        let mut child = world.spawn(args);
        drop(child.stdout.take());
        let run = crate::world::Run::of_child(child);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{args:?}");
    }
    // All hits are printed in order, with any number of threads.
    let all = world.ken(["search", "otter", "--limit", "0", "--json"]);
    let ranks: Vec<_> = all
        .objects()
        .iter()
        .map(|hit| hit["rank"].as_u64())
        .collect();
    assert_eq!(ranks, (1..=300).map(Some).collect::<Vec<_>>());
}

#[test]
fn a_search_ends_at_its_time_and_says_so() {
    let world = World::new();
    world.write("a.txt", "otter");
    world.index_docs();
    let search = |seconds: &str| {
        world.ken([
            "--set",
            &format!("search.seconds={seconds}"),
            "search",
            "otter",
        ])
    };
    let run = search("0.0001");
    assert_eq!((run.code, run.text()), (2, ""), "{}", run.err);
    let said = "ken: the time of the search was over, so there may be more hits\nhint: --set search.seconds=N";
    assert!(run.err.starts_with(said), "{}", run.err);
    for seconds in ["0", "60", "1e300"] {
        let run = search(seconds);
        assert_eq!((run.code, &*run.err), (0, ""));
    }
}

#[test]
fn patterns_in_a_phrase_open_a_limited_number_of_words() {
    let world = World::new();
    let words: Vec<String> = (0..9000).map(|number| format!("a{number}")).collect();
    world.write("a.txt", words.join(" "));
    world.index_docs();
    assert_eq!(world.found("\"a10 a1*\""), ["a.txt"]);
    // Each pattern alone would fit.
    let run = world.ken(["search", "\"a* a*\""]);
    assert_eq!(run.code, 2);
    assert!(
        run.err
            .contains("mean more than 10000 words; write more letters"),
        "{}",
        run.err
    );
}

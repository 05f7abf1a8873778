//! `ken terms`: the words of the index and their frequencies.

use crate::world::World;

fn world() -> World {
    let world = World::new();
    world.write("a.txt", "otter otter badger");
    world.write("b.txt", "Otter ottoman");
    world.write("c.html", "<title>Otter news</title><p>otter utter");
    world.index_docs();
    world
}

#[test]
fn terms_come_with_their_counts() {
    let world = world();
    let run = world.ken(["terms", "ott"]);
    let lines = ["       3         5 otter", "       1         1 ottoman"];
    assert_eq!((run.code, run.lines()), (0, lines.to_vec()), "{}", run.err);

    let terms = |args: &[&str]| -> Vec<String> {
        let run = world.ken(["terms", "--json"].iter().chain(args));
        assert!(run.code < 2, "{}", run.err);
        let objects = run.objects();
        assert_eq!(run.code == 1, objects.is_empty());
        let line = |object: &serde_json::Value| {
            let field = object["field"].as_str().map_or("", |field| field);
            let term = object["term"].as_str().unwrap();
            format!(
                "{field}:{term} {} {}",
                object["documents"], object["occurrences"]
            )
        };
        objects.iter().map(line).collect()
    };
    assert_eq!(terms(&["OTTER", "--field", "title"]), [":otter 1 1"]);
    assert_eq!(
        terms(&["otter", "--by-field"]),
        ["body:otter 3 4", "title:otter 1 1"]
    );
    assert_eq!(terms(&["~otter"]), [":otter 3 5", ":utter 1 1"]);
    assert_eq!(terms(&["/tt.*n$/"]), [":ottoman 1 1"]);
    assert_eq!(terms(&["*tt?r"]), [":otter 3 5", ":utter 1 1"]);
    assert_eq!(terms(&["--sort", "occurrences", "-n1"]), [":otter 3 5"]);
    assert_eq!(
        terms(&["--sort", "documents", "--field=ext"]),
        [":txt 2 2", ":html 1 1"]
    );
    assert_eq!(terms(&["-n", "1", "--field", "body"]), [":badger 1 1"]);
    assert!(terms(&["absent"]).is_empty());
}

#[test]
fn deleted_documents_are_not_counted() {
    let world = world();
    world.remove("a.txt");
    world.index(&[]);
    let run = world.ken(["terms", "otter"]);
    assert_eq!(run.text(), "       2         3 otter\n");
    let run = world.ken(["terms", "badger"]);
    assert_eq!((run.code, run.text()), (1, ""));
}

#[test]
fn what_has_no_terms_is_refused() {
    let world = world();
    for args in [
        &["terms", "--field", "size"][..],
        &["terms", "--field", "nonsense"],
        &["terms", "~otter~9"],
        &["terms", "/(/"],
    ] {
        let run = world.ken(args);
        assert_eq!((run.code, run.text()), (2, ""), "{args:?}");
        assert!(run.err.starts_with("ken: "), "{}", run.err);
    }
}

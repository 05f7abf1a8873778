//! `ken config` and `ken exclude`: settings shown, changed and checked; files left out.

use crate::serve::Server;
use crate::world::World;

fn configuration(world: &World) -> String {
    fs_err::read_to_string(world.home().join("config/ken/config.toml")).unwrap_or_default()
}

#[test]
fn settings_are_listed_with_where_they_come_from() {
    let world = World::new();
    world.configure("# mine\nlimit = 3\n\n[ocr]\ncache = \"1G\"\n\n[queries]\nwork = \"a OR b\"\n");
    let run = world.ken(["config", "list", "--set", "threads=2"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let origin = |key: &str| {
        let start = format!("{key} = ");
        let line = run
            .lines()
            .into_iter()
            .find(|line| line.starts_with(&start));
        line.unwrap_or_else(|| panic!("{key} is missing"))
            .to_owned()
    };
    assert!(
        origin("limit").ends_with("config/ken/config.toml:2"),
        "{}",
        origin("limit")
    );
    assert!(origin("ocr.cache").ends_with("config.toml:5"));
    assert!(origin("queries.work").contains("\"a OR b\""));
    assert!(origin("threads").ends_with("--set"));
    assert!(origin("memory").ends_with("default"));
    assert!(
        run.lines().contains(&"# web.address is not set")
            || run.text().contains("# web.address is not set")
    );

    let run = world.ken(["config", "list", "--changed", "--json"]);
    let keys: Vec<_> = run
        .objects()
        .iter()
        .map(|object| object["key"].clone())
        .collect();
    assert_eq!(keys, ["limit", "ocr.cache", "queries.work"]);
    assert_eq!(run.objects()[0]["line"], 2);
    let run = world.ken(["config", "list", "ocr"]);
    assert!(
        run.lines().iter().all(|line| line.starts_with("ocr.")),
        "{}",
        run.text()
    );
    let run = world.ken(["config", "get", "limit"]);
    assert_eq!((run.code, run.text()), (0, "3\n"));
    assert_eq!(world.ken(["config", "get", "web.address"]).code, 1);
    let run = world.ken(["config", "get", "limits"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("did you mean limit?"), "{}", run.err);
}

#[test]
fn settings_are_changed_in_the_file() {
    let world = World::new();
    let set = |key: &str, value: &str| world.ken(["config", "set", key, value]);
    assert_eq!(set("limit", "4").code, 0);
    assert_eq!(configuration(&world), "limit = 4\n");
    world.configure("# mine\nlimit = 4 # hits\n[ocr]\nenabled = false\n");
    for (key, value) in [
        ("limit", "7"),
        ("memory", "2G"),
        ("ocr.enabled", "true"),
        ("mail.headers.project", "X-Project"),
        ("queries.work", "budget OR plan"),
        ("mail.addresses", "[\"anna@example.org\"]"),
    ] {
        let run = set(key, value);
        assert_eq!(run.code, 0, "{key}: {}", run.err);
    }
    let text = configuration(&world);
    assert!(text.starts_with("# mine\nlimit = 7 # hits\n"), "{text}");
    assert!(text.contains("memory = \"2G\"\n"), "{text}");
    assert!(text.contains("[ocr]\nenabled = true\n"), "{text}");
    assert_eq!(
        world.ken(["config", "get", "mail.headers.project"]).text(),
        "X-Project\n"
    );
    assert_eq!(world.ken(["config", "check"]).code, 0);

    // Nothing is written that ken would refuse.
    for (key, value) in [
        ("memory", "2 gigs"),
        ("limit", "many"),
        ("nonsense", "1"),
        ("ranking.k1", "-1"),
        ("queries.bad", "(a"),
        ("hook", "x"),
    ] {
        let run = set(key, value);
        assert_eq!(run.code, 2, "{key}");
        assert_eq!(configuration(&world), text, "{key}: {}", run.err);
    }
    assert_eq!(world.ken(["config", "unset", "memory"]).code, 0);
    assert_eq!(world.ken(["config", "unset", "memory"]).code, 1);
    assert_eq!(world.ken(["config", "get", "memory"]).text(), "0\n");
}

#[test]
fn every_command_names_the_line_of_a_value_without_a_meaning() {
    let world = World::new();
    world.write("a.txt", "otter");
    world.index_docs();
    for (text, line, word) in [
        (
            "limit = 3\nmemory = \"2 gigs\"\n",
            2,
            "memory: \"2 gigs\" is not a size",
        ),
        ("[ocr]\n\nlanguages = [\"klingon!\"]\n", 3, "ocr.languages"),
        ("[queries]\ngood = \"a\"\nbad = \"(a\"\n", 3, "queries.bad"),
        ("[ranking]\nk1 = -2.0\n", 2, "ranking.k1"),
    ] {
        world.configure(text);
        for command in [
            &["search", "otter"][..],
            &["index"],
            &["config", "check"],
            &["mail", "list", "otter"],
            &["show", "docs/a.txt"],
        ] {
            let run = world.ken(command);
            assert_eq!(run.code, 2, "{command:?} with {text}");
            let place = format!("config.toml\", line {line}: ");
            assert!(
                run.err.contains(&place) && run.err.contains(word),
                "{command:?}: {}",
                run.err
            );
        }
    }
    world.configure("");
    let run = world.ken(["search", "otter", "--set", "memory=lots"]);
    assert!(run.err.contains("--set: memory: "), "{}", run.err);
}

#[test]
fn a_check_finds_what_the_machine_lacks() {
    let world = World::new();
    let run = world.ken(["config", "check"]);
    assert_eq!(run.code, 0, "{}", run.err);
    world.configure(
        "exclude = [\"~/nowhere\"]\n[open]\n\"text/plain\" = \"no-such-viewer %f\"\n[passwords]\nfile = \"~/secrets\"\n\
         [[hook]]\nquery = \"x\"\ncommand = [\"no-such-hook\"]\n",
    );
    let run = world.ken(["config", "check"]);
    assert_eq!(run.code, 1);
    for word in [
        "config.toml:1: exclude: ",
        "config.toml:2: open: there is no program \"no-such-viewer\"",
        "config.toml:5: passwords.file: ",
        "no-such-hook",
    ] {
        assert!(run.err.contains(word), "{word}: {}", run.err);
    }
}

#[test]
fn saved_queries_are_listed_replaced_and_deleted() {
    let world = World::new();
    world.write("a.txt", "otter");
    world.write("b.txt", "beaver");
    world.index_docs();
    assert_eq!(world.ken(["search", "--saved"]).code, 1);
    assert_eq!(world.ken(["search", "--save", "animals", "otter"]).code, 0);
    assert_eq!(
        world
            .ken(["search", "--save", "animals", "otter OR beaver"])
            .code,
        0
    );
    let run = world.ken(["search", "--saved"]);
    assert_eq!((run.code, run.text()), (0, "animals\totter OR beaver\n"));
    assert_eq!(
        world.ken(["search", "--saved", "--json"]).objects()[0]["name"],
        "animals"
    );
    assert_eq!(world.found("query:animals"), ["a.txt", "b.txt"]);
    assert_eq!(world.ken(["search", "--delete", "animals"]).code, 0);
    assert_eq!(world.ken(["search", "--delete", "animals"]).code, 1);
    assert_eq!(world.ken(["search", "query:animals"]).code, 2);
}

#[test]
fn what_is_left_out_leaves_the_index_and_comes_back() {
    let world = World::new();
    world.write("kept/a.txt", "otter");
    world.write("big/deep/b.txt", "otter");
    world.write("big/c.txt", "otter");
    world.index_docs();
    assert_eq!(
        world.found("otter"),
        ["big/c.txt", "big/deep/b.txt", "kept/a.txt"]
    );
    assert_eq!(world.ken(["exclude"]).code, 1);
    let run = world.ken(["exclude", "docs/big"]);
    assert_eq!(run.code, 0, "{}", run.err);
    world.index(&[]);
    assert_eq!(world.found("otter"), ["kept/a.txt"]);
    assert!(world.ken(["exclude"]).text().ends_with("docs/big\n"));
    let why = world.ken(["status", "--why", "docs/big/c.txt"]);
    assert!(why.text().contains("ken exclude"), "{}", why.text());
    // The lines of these files are searched all the same.
    let run = world.ken(["grep", "-c", "otter", "docs"]);
    assert_eq!(run.lines().len(), 3, "{}", run.text());
    let run = world.ken(["grep", "--trust-index", "-c", "otter", "docs"]);
    assert_eq!(run.lines().len(), 3, "{}", run.text());

    assert_eq!(world.ken(["exclude", "--remove", "docs/big"]).code, 0);
    world.index(&[]);
    assert_eq!(world.found("otter").len(), 3);
    assert_eq!(world.ken(["exclude", "--remove", "docs/big"]).code, 2);
    let run = world.ken(["exclude", "docs"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("ken index --forget"), "{}", run.err);
}

#[test]
fn a_server_leaves_out_what_is_excluded_while_it_runs() {
    let world = World::new();
    world.write("kept/a.txt", "otter");
    world.write("big/b.txt", "otter");
    world.index_docs();
    let server = Server::start(&world);
    server.converges();
    assert_eq!(world.ken(["exclude", "docs/big"]).code, 0);
    assert_eq!(world.ken(["index"]).code, 0);
    server.until("the folder is left out", || {
        world.found("otter") == ["kept/a.txt"]
    });
    world.write("big/new.txt", "otter");
    world.write("kept/new.txt", "otter");
    server.until("the new file is found", || world.found("otter").len() > 1);
    assert_eq!(world.found("otter"), ["kept/a.txt", "kept/new.txt"]);
    server.end();
}

#[cfg(not(feature = "cluster"))]
#[test]
fn an_engine_that_this_ken_lacks_is_named() {
    let world = World::new();
    world.write("a.txt", "apple");
    world.configure("[engine]\nkind = \"opensearch\"\nnodes = [\"http://127.0.0.1:1\"]\n");
    for arguments in [&["index", "docs"][..], &["search", "apple"], &["status"]] {
        let run = world.ken(arguments);
        assert_eq!(run.code, 2);
        let advice = "engine.kind: this ken was built without the engine for OpenSearch";
        assert!(run.err.contains(advice), "{}", run.err);
    }
    let run = world.ken(["config", "check"]);
    assert_eq!(run.code, 1);
    assert!(run.err.contains("engine.kind"), "{}", run.err);
}

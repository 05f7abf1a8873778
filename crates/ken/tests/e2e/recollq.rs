//! `recollq`: ken under another name. If the real recollq is installed, the two are compared on the
//! same files.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::needs;
use crate::world::{Run, World};

const PAGE: &str = "<html><head><title>Moss &amp; more</title>\
    <meta name=\"author\" content=\"Anna Knuth\"></head><body><p>Reindeer eat moss.</p></body></html>";
const MESSAGE: &str = "From: Anna <anna@example.org>\nTo: Bob <bob@example.org>\n\
    Subject: Budget meeting\nDate: Mon, 03 Mar 2025 10:00:00 +0000\nMessage-ID: <1@example.org>\n\n\
    The budget report names reindeer.\n";

fn world() -> World {
    let world = World::new();
    world.write("a.txt", "reindeer and floors\nsecond line on moss\n");
    world.write("my notes/b & c%.txt", "reindeer walk past the wall\n");
    world.write("page.html", PAGE);
    world.write("m.eml", MESSAGE);
    world.write("src/x.txt", "nothing of that\n");
    for (number, name) in ["a.txt", "my notes/b & c%.txt", "page.html"]
        .iter()
        .enumerate()
    {
        world.set_modified(name, 1_700_000_000 + number as u64 * 1000);
    }
    world.index_docs();
    world
}

fn recollq(world: &World, arguments: &[&str]) -> Run {
    world.ken(std::iter::once(&"recollq").chain(arguments))
}

/// Returns the lines without the folder of the documents.
fn lines(world: &World, run: &Run) -> Vec<String> {
    let docs = world.docs().display().to_string();
    run.lines()
        .iter()
        .map(|line| line.replace(&docs, ""))
        .collect()
}

#[test]
fn results_have_recollqs_form() {
    let world = world();
    let run = recollq(&world, &["-S", "url", "reindeer"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(
        lines(&world, &run),
        [
            "Recoll query: Query(reindeer)",
            "4 results",
            "text/plain\t[file:///a.txt]\t[a.txt]\t40\tbytes\t",
            "message/rfc822\t[file:///m.eml]\t[Budget meeting]\t181\tbytes\t",
            "text/plain\t[file:///my notes/b & c%.txt]\t[b & c%.txt]\t28\tbytes\t",
            "text/html\t[file:///page.html]\t[Moss & more]\t135\tbytes\t",
        ]
    );
    let of = |arguments: &[&str]| lines(&world, &recollq(&world, arguments));
    assert_eq!(
        of(&["-S", "url", "-b", "-e", "-n", "1-2", "reindeer"]),
        ["file:///m.eml", "file:///my%20notes/b%20&%20c%25.txt"]
    );
    assert_eq!(
        of(&["-n", "1", "-S", "url", "reindeer"])[1],
        "4 results (printing  1 max):"
    );
    assert_eq!(
        of(&["-n", "3-5", "-S", "url", "reindeer"])[1],
        "Printing at most 5 results from first 3"
    );
    assert_eq!(
        of(&["-S", "mtime", "-b", "-n2", "ext:txt"])[0],
        "file:///a.txt"
    );
    assert_eq!(
        of(&["-S", "fbytes", "-D", "-b", "-n1", "reindeer"]),
        ["file:///m.eml"]
    );
}

#[test]
fn fields_are_in_base_64() {
    let world = world();
    let of = |arguments: &[&str]| lines(&world, &recollq(&world, arguments));
    let url = |name: &str| {
        use base64ct::{Base64, Encoding};
        Base64::encode_string(format!("file://{}/{name}", world.docs().display()).as_bytes())
    };
    // `Moss & more`, `135`, `Anna Knuth`; empty for missing fields.
    let line = format!(
        "{} TW9zcyAmIG1vcmU= MTM1  QW5uYSBLbnV0aA== ",
        url("page.html")
    );
    let fields = ["-F", "url title fbytes nosuch author", "title:moss"];
    assert_eq!(of(&fields)[2], line);
    let named = ["-N", "-F", "title nosuch fbytes", "title:moss"];
    assert_eq!(of(&named)[2], "title TW9zcyAmIG1vcmU= fbytes MTM1 ");
    let all = of(&["-N", "-F", "", "title:moss"]);
    assert!(all[2].contains("author QW5uYSBLbnV0aA== "), "{}", all[2]);
    let metadata = of(&["-m", "subject:budget"]);
    for line in [
        "mtime = 01740996000",
        "author = Anna <anna@example.org>",
        "mtype = message/rfc822",
    ] {
        assert!(
            metadata.iter().any(|found| found == line),
            "{line}: {metadata:?}"
        );
    }
}

/// Scores on a later page, or in another order, are relative to the best score of all hits.
#[test]
fn ratings_are_the_same_on_every_page_and_in_every_order() {
    let world = world();
    let of = |more: &[&str]| {
        let fields = ["-N", "-F", "relevancyrating url dbytes"];
        let run = recollq(&world, &[&fields, more, &["reindeer"]].concat());
        let mut lines = lines(&world, &run).split_off(2);
        lines.sort();
        lines
    };
    let all = of(&[]);
    assert_eq!(all.len(), 4);
    let best = |line: &&String| line.starts_with("relevancyrating MTAwJQ== "); // `100%`
    assert_eq!(all.iter().filter(best).count(), 1, "{all:?}");
    assert!(all.iter().all(|line| line.contains(" dbytes ")), "{all:?}");
    let pages = [of(&["-n", "0-2"]), of(&["-n", "2-2"])].concat();
    assert_eq!(BTreeSet::from_iter(&pages), BTreeSet::from_iter(&all));
    assert_eq!(of(&["-S", "relevancyrating"]), all);
}

#[test]
fn abstracts_stand_between_their_marks() {
    let world = world();
    let of = |arguments: &[&str]| lines(&world, &recollq(&world, arguments));
    let floors = "reindeer and floors second line on moss";
    assert_eq!(
        of(&["-A", "floors"])[3..],
        ["ABSTRACT", floors, "/ABSTRACT"]
    );
    let page = format!("0 : {floors}");
    assert_eq!(
        of(&["-A", "-p", "3", "floors"])[3..],
        ["SNIPPETS", &page, "/SNIPPETS"]
    );
    let line = format!("2 : {floors}");
    assert_eq!(
        of(&["-A", "-g", "1", "second"])[3..],
        ["SNIPPETS", &line, "/SNIPPETS"]
    );
    assert_eq!(
        of(&["-b", "-d", "floors"])[1..3],
        ["reindeer and floors", "second line on moss"]
    );
}

#[test]
fn words_may_be_no_query() {
    let world = world();
    let count = |arguments: &[&str]| recollq(&world, arguments).lines().len();
    assert_eq!(count(&["-b", "-o", "floors wall"]), 2);
    assert_eq!(count(&["-b", "-a", "reindeer wall"]), 1);
    assert_eq!(count(&["-b", "-o", "rein* second"]), 4);
    assert_eq!(count(&["-b", "-a", "re?ndeer w[ae]l*"]), 1);
    assert_eq!(count(&["-b", "-o", "\"line second\" wall"]), 1);
    assert_eq!(count(&["-b", "-a", "\"second line\" moss"]), 1);
    // A single quote is not a mistake, and `^` and `$` mean the same with and without quotes.
    assert_eq!(count(&["-b", "-o", "floors \"wall"]), 1);
    assert_eq!(count(&["-b", "-a", "second\"line \"\" moss"]), 1);
    assert_eq!(count(&["-b", "-o", "reindeer$"]), 1);
    assert_eq!(count(&["-b", "-a", "reindeer$ rein*"]), 1);
    assert_eq!(count(&["-b", "-f", "x.txt"]), 1);
    assert_eq!(count(&["-b", "floors OR wall reindeer"]), 2);
    let run = recollq(&world, &["-P"]);
    assert_eq!(run.text().split(' ').next(), Some("Min"), "{}", run.err);
}

#[test]
fn failures_are_reported_as_by_recollq() {
    let world = world();
    let run = recollq(&world, &["nosuchword"]);
    assert_eq!((run.code, run.lines()[1]), (0, "0 results"));
    for (arguments, message) in [
        (&["a (b"][..], "Query string interpretation failed: "),
        (&["-o", "\"floors"], "the text has no words"),
        (&["-a", "\"\""], "the text has no words"),
        (&[], "usage"),
        (&["-F", "url", "-b", "x"], "usage"),
        (&["-c", "/nonexistent", "x"], "Recoll init failed: "),
        (&["-i", "/nonexistent", "x"], "one index"),
    ] {
        let run = recollq(&world, arguments);
        assert_eq!(run.code, 1, "{arguments:?}");
        assert!(run.err.contains(message), "{arguments:?}: {}", run.err);
    }
    let target = world.home().join("copy.txt");
    let copy = ["--extract-to", target.to_str().unwrap(), "floors"];
    assert_eq!(recollq(&world, &copy).code, 0);
    assert_eq!(
        std::fs::read(&target).unwrap(),
        std::fs::read(world.docs().join("a.txt")).unwrap()
    );
    let again = recollq(&world, &copy);
    assert_eq!(
        (again.code, again.err.trim()),
        (1, "Output file must not exist.")
    );
}

#[test]
fn a_link_of_that_name_is_recollq() {
    let world = world();
    let link = world.home().join("recollq");
    symlink(env!("CARGO_BIN_EXE_ken"), &link).unwrap();
    let output = Command::new(&link)
        .args(["-c", world.data().to_str().unwrap(), "-b", "floors"])
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&output.stdout).ends_with("/a.txt\n"),
        "{output:?}"
    );
}

/// Queries for which both programs find the same files.
const SAME: [&str; 24] = [
    "reindeer",
    "reindeer -moss",
    "floors OR wall reindeer",
    "reindeer floors OR wall",
    "\"reindeer walk\"",
    "\"walk reindeer\"p",
    "\"reindeer past\"o2",
    "rein*",
    "*deer",
    "title:moss",
    "subject:budget",
    "author:anna",
    "author:anna,knuth",
    "author:knuth/nobody",
    "to:bob",
    "ext:txt reindeer",
    "dir:\"my notes\"",
    "-dir:src ext:txt",
    "mime:text/html",
    "mime:text/html mime:text/plain reindeer",
    "date:2025-03",
    "date:P1Y/2023 reindeer",
    "date:P2D/ ext:txt",
    "size>100 reindeer",
];

#[test]
fn answers_are_those_of_recollq() {
    let Some(real) = real_recollq() else {
        return;
    };
    let world = world();
    let configuration = world.home().join("recoll");
    std::fs::create_dir(&configuration).unwrap();
    let text = format!("topdirs = {}\nloglevel = 1\n", world.docs().display());
    std::fs::write(configuration.join("recoll.conf"), text).unwrap();
    let run = |program: &Path, arguments: &[&str]| {
        let mut command = Command::new(program);
        command
            .env("HOME", world.home())
            .arg("-c")
            .arg(&configuration);
        let output = command.args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    run(&real.with_file_name("recollindex"), &[]);
    let language = SAME.iter().map(|query| ("--", *query));
    let modes = [
        ("-o", "floors wall"),
        ("-a", "reindeer wall"),
        ("-o", "rein* wall"),
        ("-a", "re?ndeer wal*"),
        ("-o", "\"second line\" wall"),
        ("-a", "\"second line\" moss"),
        ("-o", "second\"line wall"),
        ("-a", "second\"line moss"),
        ("-o", "second \"moss wall"),
        ("-a", "second \"moss wall"),
        ("-o", "wall \"\""),
        ("-a", "reindeer \"\" wall"),
        ("-o", "moss$"),
        ("-a", "moss$ rein*"),
        ("-o", "\"on moss$\" wall"),
        ("-a", "^reindeer \"floors\""),
        ("-o", "Wall Moss"),
        ("-a", "wall & reindeer"),
    ];
    for (mode, query) in language.chain(modes) {
        let arguments = ["-F", "url title fbytes mtype", mode, query];
        let of =
            |text: &str| -> BTreeSet<String> { text.lines().skip(2).map(str::to_owned).collect() };
        let theirs = of(&run(&real, &arguments));
        let ours = of(recollq(&world, &arguments).text());
        assert_eq!(ours, theirs, "{query}");
        assert!(!ours.is_empty(), "{query}");
    }
}

/// Returns the path of the real program, if it is installed.
fn real_recollq() -> Option<std::path::PathBuf> {
    let path = Path::new("/usr/bin/recollq");
    let is_there = path.with_file_name("recollindex").exists();
    needs::met("recoll", is_there).then(|| path.to_owned())
}

#[test]
fn synonyms_and_roots_are_known() {
    let world = world();
    let words = world.home().join("words");
    std::fs::write(&words, "walk wander\n").unwrap();
    let words = words.to_str().unwrap();
    let found = |arguments: &[&str]| lines(&world, &recollq(&world, arguments));
    assert!(found(&["-b", "wander"]).is_empty());
    assert_eq!(
        found(&["-b", "-T", words, "wander"]),
        ["file:///my notes/b & c%.txt"]
    );
    assert_eq!(recollq(&world, &["-T", "nowhere", "wander"]).code, 2);
    world.configure(&format!("[search]\nsynonyms = \"{words}\"\n"));
    assert_eq!(found(&["-b", "wander"]), ["file:///my notes/b & c%.txt"]);
}

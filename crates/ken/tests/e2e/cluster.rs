//! An index in a cluster answers as one in the data folder does. The cluster is the fake of `ken-cluster`, over HTTP; or, with
//! `scripts/cluster test`, the node of OpenSearch whose address is in `KEN_TEST_CLUSTER`.

mod machines;
mod node;
mod pictures;

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use self::node::Node;
use crate::world::{Run, World, assert_counts};

/// A secret that must not be printed.
const PASSWORD: &str = "correct-horse-battery";

/// The time in which a server must watch; a machine that runs other tests is slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// The same files in two indexes: in the data folder, and in a cluster.
struct Both {
    world: World,
    node: Node,
}

impl Both {
    fn new() -> Self {
        Self::over(Node::new())
    }

    /// Over the fake, for what a node of a test does not do: it has no security plugin.
    fn over_fake() -> Self {
        Self::over(Node::fake())
    }

    fn over(node: Node) -> Self {
        let both = Self {
            world: World::new(),
            node,
        };
        both.password(PASSWORD);
        both.settings("");
        both
    }

    fn password(&self, text: &str) {
        let file = self.world.home().join("password");
        fs_err::write(&file, format!("{text}\n")).unwrap();
        fs_err::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn settings(&self, more: &str) {
        let text = format!(
            "{}auth = {{ user = \"ken\", password = {{ file = \"~/password\" }} }}\n{more}",
            self.node.settings()
        );
        fs_err::write(self.world.home().join("cluster.toml"), text).unwrap();
    }

    /// Returns what ken calls the index in the cluster.
    fn engine(&self) -> String {
        format!("opensearch:{}", self.node.name())
    }

    /// Runs ken on the cluster.
    fn there(&self, arguments: &[&str]) -> Run {
        self.on("other", arguments)
    }

    /// Runs ken on the cluster, on the machine with this data folder.
    fn on(&self, data: &str, arguments: &[&str]) -> Run {
        let of_cluster = ["--config", "cluster.toml", "--data", data];
        self.world.ken(of_cluster.iter().chain(arguments))
    }

    /// Runs `ken index` on both; returns the summary.
    fn index(&self, arguments: &[&str]) -> Value {
        let arguments = [&["index", "--json"], arguments].concat();
        let (here, there) = (self.world.ken(&arguments), self.there(&arguments));
        assert_eq!((here.code, there.code), (0, 0), "{}", there.err);
        let (mut here, there) = (here.summary(), there.summary());
        here["seconds"] = there["seconds"].clone();
        assert_eq!(here, there);
        there
    }

    /// Runs a command on both, and expects the same output.
    #[track_caller]
    fn same(&self, arguments: &[&str]) -> Run {
        let (here, there) = (self.world.ken(arguments), self.there(arguments));
        let (of_there, of_here) = (comparable(there.text()), comparable(here.text()));
        assert_eq!(of_there, of_here, "{arguments:?}\n{}", there.err);
        assert_eq!(
            (there.code, &there.err),
            (here.code, &here.err),
            "{arguments:?}"
        );
        there
    }

    fn fill(&self) {
        let world = &self.world;
        for (name, text) in [
            (
                "budget.txt",
                "The annual budget of the town. Streets and bridges cost the most.",
            ),
            (
                "notes/budgets.md",
                "# Budgets\n\nTwo budgets were compared: the old one and the new one.",
            ),
            (
                "notes/bridge.txt",
                "A bridge was built across the river. The bridge is old.",
            ),
            ("code/main.rs", "fn main() { println!(\"budget\"); }\n"),
            (
                "Äpfel/Größe.txt",
                "Die Größe der Äpfel und die Brücken der Stadt",
            ),
            (
                "copy.txt",
                "A bridge was built across the river. The bridge is old.",
            ),
        ] {
            world.write(name, text);
            world.set_modified(name, 1_700_000_000);
        }
        for (number, of) in [(1, ""), (2, "In-Reply-To: <1@x>\n")] {
            let text = format!(
                "From: Anna <anna@example.org>\nTo: Ben <ben@example.org>\nSubject: the bridge {number}\n\
                 Date: Mon, 0{number} Jun 2026 10:00:00 +0000\nMessage-ID: <{number}@x>\n{of}\nMessage {number} about a bridge.\n"
            );
            world.write(format!("mail/{number}.eml"), text);
        }
    }
}

/// Returns what an output has besides identifiers of documents, which each index makes with a secret of its own, and
/// besides scores: the embedded engine estimates for each of its segments how many documents have one of a word's forms.
fn comparable(text: &str) -> Vec<String> {
    let line = |line: &str| match serde_json::from_str(line) {
        Ok(mut value) => {
            remove(&mut value);
            value.to_string()
        }
        Err(_) => line.to_owned(),
    };
    text.lines().map(line).collect()
}

fn remove(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| name != "id" && name != "score");
            fields.values_mut().for_each(remove);
        }
        Value::Array(values) => values.iter_mut().for_each(remove),
        _ => {}
    }
}

/// Queries of every kind of the language.
const QUERIES: [&str; 24] = [
    "bridge",
    "budget",
    "old bridge",
    "\"the old one\"",
    "bridge NEAR/3 river",
    "bri*",
    "/bridges?/",
    "budgt~",
    "größe",
    "brücke",
    "bridge -river",
    "bridge OR budget",
    "dir:notes",
    "name:bridge",
    "type:message",
    "from:anna bridge",
    "is:duplicate",
    "size:>60",
    "title:budgets",
    "path:*.rs",
    "thread:(subject:bridge)",
    "\"a br*\"",
    "=Bridge",
    "nowhere",
];

#[test]
fn a_cluster_answers_as_the_embedded_engine_does() {
    let both = Both::new();
    both.fill();
    assert_counts(&both.index(&["docs"]), &[("added", 8)]);
    compare(&both);

    both.world.remove("copy.txt");
    both.world.rename("notes/bridge.txt", "notes/moved.txt");
    both.world.write(
        "budget.txt",
        "The budget was cut, and the bridge was closed.",
    );
    both.world.write("new.txt", "A new bridge");
    let changes = [
        ("added", 1),
        ("changed", 1),
        ("moved", 1),
        ("gone", 1),
        ("unchanged", 5),
    ];
    assert_counts(&both.index(&[]), &changes);
    compare(&both);
    assert_counts(&both.index(&[]), &[("unchanged", 8)]);

    both.index(&["--forget", "docs"]);
    both.same(&["search", "bridge"]);
}

/// Compares the answers of the cluster with those of an index made from nothing, of one segment: the embedded engine counts
/// documents that were deleted until they are merged away.
fn compare(both: &Both) {
    both.world.index(&["--full", "--threads", "1"]);
    for query in QUERIES {
        both.same(&["search", "--", query]);
        both.same(&["search", "--json", "--sort", "path", "--", query]);
        both.same(&["search", "--paths", "--sort", "date", "--", query]);
        both.same(&["search", "--count", "--", query]);
    }
    both.same(&["search", "--csv", "bridge"]);
    both.same(&["search", "--text", "--json", "bridge"]);
    both.same(&["search", "--any", "budget of the bridge"]);
    both.same(&["search", "--unique", "bridge"]);
    both.same(&["search", "--facet", "type", "--facet", "year", "bridge"]);
    both.same(&["search", "--in", "docs/budget.txt", "budget"]);
    both.same(&["show", "docs/budget.txt"]);
    both.same(&["show", "--json", "docs/mail/2.eml"]);
    both.same(&["mail", "list", "bridge"]);
    both.same(&["mail", "threads", "bridge"]);
    both.same(&["mail", "contacts"]);
    both.same(&["terms", "bri*"]);
    both.same(&["status", "--failed"]);
}

#[test]
fn an_index_moves_to_the_cluster_and_back_without_a_look_at_the_files() {
    let both = Both::new();
    both.fill();
    both.settings("");
    let embedded = "--set=engine.kind=embedded";
    let of_folder = |arguments: &[&str]| both.there(&[&[embedded], arguments].concat());
    assert_eq!(of_folder(&["index", "docs"]).code, 0);
    // A copy that read files would find nothing.
    let hidden = both.world.home().join("hidden");
    fs_err::rename(both.world.docs(), &hidden).unwrap();
    let run = of_folder(&["index", "--json", "--move-to", "opensearch"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(run.summary()["documents"], 8);
    let run = of_folder(&["index", "--move-to", "opensearch"]);
    assert!(
        run.err
            .contains(&format!("already an index in \"{}\"", both.engine())),
        "{}",
        run.err
    );
    fs_err::remove_dir_all(both.world.home().join("other/index")).unwrap();
    let back = both.there(&["index", "--move-to", "embedded"]);
    assert_eq!(back.code, 0, "{}", back.err);
    fs_err::rename(hidden, both.world.docs()).unwrap();
    for run in [
        of_folder(&["index", "--json"]),
        both.there(&["index", "--json"]),
    ] {
        assert_counts(&run.summary(), &[("unchanged", 8)]);
    }
    for query in QUERIES {
        let of = |run: Run| comparable(run.text());
        let arguments = ["search", "--json", "--sort", "path", "--", query];
        assert_eq!(
            of(of_folder(&arguments)),
            of(both.there(&arguments)),
            "{query}"
        );
    }
}

#[test]
fn explain_names_the_query_of_the_cluster_and_its_exceptions() {
    let both = Both::new();
    both.fill();
    both.index(&["docs"]);
    let run = both.there(&["search", "--explain", "bridge NEAR/9 river NEAR/9 old"]);
    assert!(run.text().contains("ken looks at"), "{}", run.text());
    for query in ["bridge", "bridge NEAR/3 river", "dir:notes", "path:*.rs"] {
        let run = both.there(&["search", "--explain", query]);
        assert!(!run.text().contains("ken looks at"), "{}", run.text());
    }
    for (query, has_forms) in [("bridge", true), ("river", false), ("dir:notes", false)] {
        let run = both.there(&["search", "--explain", query]);
        assert_eq!(
            run.text().contains("not those of a sample"),
            has_forms,
            "{}",
            run.text()
        );
    }
}

#[test]
fn the_status_is_that_of_the_cluster() {
    let both = Both::new();
    both.fill();
    let none = both.there(&["status"]);
    assert!(
        none.err
            .contains(&format!("no index in \"{}\"", both.engine())),
        "{}",
        none.err
    );
    both.index(&["docs"]);
    let run = both.there(&["status"]);
    assert!(run.text().contains(&both.engine()), "{}", run.text());
    assert!(run.text().contains("green"), "{}", run.text());
    let status = |run: Run| run.objects().remove(0);
    let here = status(both.world.ken(["status", "--json"]));
    let there = status(both.there(&["status", "--json"]));
    for name in ["documents", "files", "types", "by_mime", "roots", "failed"] {
        assert_eq!(here[name], there[name], "{name}");
    }
    assert_eq!(
        (&here["engine"], there["engine"].as_str()),
        (&Value::Null, Some(both.engine().as_str()))
    );
    assert!(!both.world.home().join("other/index").exists());
    let check = both.there(&["check"]);
    assert_eq!(check.code, 2);
}

#[test]
fn secrets_are_kept() {
    let both = Both::over_fake();
    both.fill();
    both.password("wrong-horse-battery");
    let run = both.there(&["index", "docs"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("401") && !run.err.contains("horse"),
        "{}",
        run.err
    );
    let file = both.world.home().join("password");
    fs_err::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let run = both.there(&["search", "bridge"]);
    assert!(run.err.contains("other users can read"), "{}", run.err);
}

#[test]
fn a_check_of_the_settings_asks_the_cluster() {
    let both = Both::over_fake();
    let run = both.there(&["config", "check"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    both.password("wrong-horse-battery");
    let run = both.there(&["config", "check"]);
    assert_eq!(run.code, 1);
    assert!(
        run.err.contains("engine: ") && run.err.contains("401"),
        "{}",
        run.err
    );
}

#[test]
fn a_command_that_prints_a_secret_runs_once_and_reads_nothing() {
    let both = Both::new();
    both.fill();
    both.index(&["docs"]);
    let asked = both.world.home().join("asked");
    let command = format!("echo asked >> '{}'; cat; echo {PASSWORD}", asked.display());
    let text = format!(
        "{}auth = {{ user = \"ken\", password = {{ command = \"{command}\" }} }}\n",
        both.node.settings()
    );
    fs_err::write(both.world.home().join("command.toml"), text).unwrap();
    let of_command = ["--config", "command.toml", "--data", "other"];
    for arguments in [
        &["search", "--facets", "type", "budget"][..],
        &["search", "budget"],
        // Each asks the index, and then writes to it.
        &["tag", "+paid", "budget"],
        &["mail", "tag", "+read", "bridge"],
        &["search", "--fresh", "budget"],
    ] {
        let mut ken = both.world.command(of_command.iter().chain(arguments));
        ken.stdin(Stdio::piped());
        ken.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = ken.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        std::io::Write::write_all(&mut &input, b"wrong\n").unwrap();
        drop(input);
        let run = Run::of_child(child);
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.err);
        assert_eq!(fs_err::read_to_string(&asked).unwrap(), "asked\n");
        fs_err::remove_file(&asked).unwrap();
    }
}

#[test]
fn a_message_keeps_its_identifier_when_its_flags_change() {
    let both = Both::new();
    let text = "From: Anna <anna@example.org>\nSubject: the weir\nMessage-ID: <w@x>\n\nThe weir is open.\n";
    both.world.write("mail/new/1.host", text);
    both.world.write("mail/cur/2.host:2,S", text);
    both.index(&["docs"]);
    let found = both.there(&["search", "--json", "--group", "none", "path:*1.host"]);
    let id = found.objects()[0]["id"].as_str().unwrap().to_owned();
    let shown = both.there(&["show", &id]);
    for (from, to) in [
        ("mail/new/1.host", "mail/cur/1.host:2,S"),
        ("mail/cur/1.host:2,S", "mail/cur/1.host:2,FRS"),
    ] {
        both.world.rename(from, to);
        assert_counts(&both.index(&[]), &[("moved", 1), ("unchanged", 1)]);
        let after = both.there(&["show", &id]);
        assert_eq!(after.code, 0, "{}", after.err);
        let body = |run: &Run| run.text().lines().last().unwrap().to_owned();
        assert_eq!(body(&after), body(&shown));
        assert!(after.text().contains(to), "{}", after.text());
    }
    let none = both.there(&["show", "0123456789abcdef"]);
    assert!(none.err.contains("not in the index"), "{}", none.err);
}

#[test]
fn a_server_keeps_the_index_of_a_cluster_up_to_date() {
    let both = Both::new();
    both.fill();
    both.index(&["docs"]);
    let of_cluster = ["--config", "cluster.toml", "--data", "other"];
    let server = both.world.spawn(of_cluster.iter().chain(&["serve"]));
    let start = Instant::now();
    while both.there(&["status", "--json"]).objects()[0]["watched"].as_u64() == Some(0) {
        assert!(start.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(50));
    }
    both.world.write("weir.txt", "The weir is open.");
    both.world.remove("budget.txt");
    let paths = |query: &str| {
        let run = both.there(&["search", "--fresh", "--paths", query]);
        (run.code, run.text().trim_end().to_owned())
    };
    let weir = both.world.docs().join("weir.txt").display().to_string();
    assert_eq!(paths("weir"), (0, weir));
    assert_eq!(paths("\"annual budget\"").0, 1);
    let asked = both.there(&["web", "--print"]);
    assert!(asked.text().starts_with("http://"), "{}", asked.err);
    let pid = server.id().to_string();
    assert!(Command::new("kill").arg(pid).status().unwrap().success());
    let ended = Run::of_child(server);
    assert!(ended.err.contains("watching"), "{}", ended.err);
    // It has let go of the index.
    assert_counts(
        &both.there(&["index", "--json"]).summary(),
        &[("unchanged", 8)],
    );
}

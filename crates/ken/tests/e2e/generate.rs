//! Shell completions and man pages, which are made from the definitions of the command line.

use std::process::Command;

use crate::needs;
use crate::world::World;

const COMMANDS: [&str; 12] = [
    "index",
    "search",
    "grep",
    "show",
    "open",
    "terms",
    "serve",
    "status",
    "extract",
    "walk",
    "completions",
    "man",
];

#[test]
fn completions_know_every_command() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = world.ken(["completions", shell]);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{shell}");
        for command in COMMANDS
            .into_iter()
            .chain(["no-snippet", "dry-run", "max-columns"])
        {
            assert!(run.text().contains(command), "{shell}: {command}");
        }
    }
    assert_eq!(world.ken(["completions", "tcsh"]).code, 2);
}

#[test]
fn man_pages_are_written() {
    let world = World::new();
    let run = world.ken(["man", "share/man1"]);
    assert_eq!((run.code, run.text(), run.err.as_str()), (0, "", ""));
    let folder = world.home().join("share/man1");
    let main = fs_err::read_to_string(folder.join("ken.1")).unwrap();
    for command in COMMANDS {
        let page = fs_err::read_to_string(folder.join(format!("ken-{command}.1"))).unwrap();
        assert!(page.contains(".TH"), "{command}");
        assert!(main.contains(&format!("ken\\-{command}")), "{command}");
    }
    let search = fs_err::read_to_string(folder.join("ken-search.1")).unwrap();
    assert!(search.contains("\\-\\-no\\-snippet"));
}

#[test]
fn pages_of_reference_are_printed() {
    let world = World::new();
    for (topic, known) in [
        ("query", "author:knuth"),
        ("config", "max_file_bytes = 268_435_456"),
        ("json", "`path`, `ipath`"),
    ] {
        let run = world.ken(["help", topic]);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{topic}");
        let known = known.replace('`', "");
        assert!(run.text().contains(&known), "{topic}: {}", run.text());
    }
    assert!(
        world
            .ken(["help", "walk"])
            .text()
            .contains("Usage: ken walk")
    );
    assert_eq!(world.ken(["help", "nothing"]).code, 2);
}

#[test]
fn man_pages_are_whole_and_sound() {
    let world = World::new();
    assert_eq!(world.ken(["man", "share/man1"]).code, 0);
    let pages = world.files_below("share");
    assert!(pages.len() > 30, "{}", pages.len());
    for (path, _) in &pages {
        let text = fs_err::read_to_string(path).unwrap();
        assert!(text.contains(".SH SEE ALSO\n"), "{}", path.display());
        if path.extension().is_some_and(|section| section == "1") {
            for section in ["EXIT STATUS", "FILES", "EXAMPLES"] {
                let head = format!(".SH {section}\n.TP\n");
                assert!(text.contains(&head), "{}: {section}", path.display());
            }
        }
    }
    let mut groff = Command::new("groff");
    let groff = groff.args(["-man", "-Kutf8", "-Tutf8", "-ww", "-z"]);
    let run = groff.args(pages.iter().map(|(path, _)| path)).output();
    if needs::met("groff", run.is_ok()) {
        let said = String::from_utf8(run.unwrap().stderr).unwrap();
        assert_eq!(said, "");
    }
}

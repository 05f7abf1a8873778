//! Shell completions and man pages, made from the definitions of the command line.

use crate::world::World;

const COMMANDS: [&str; 9] = [
    "index",
    "search",
    "grep",
    "terms",
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

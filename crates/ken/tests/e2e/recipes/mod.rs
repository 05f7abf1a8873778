//! The recipes of `docs/recipes.md`, each tried with its program. The text of a recipe comes from that page.

mod agents;
mod editors;
mod finders;
mod mail;
mod replayed;
mod timers;

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::needs;
use crate::world::World;

const PAGE: &str = include_str!("../../../../../docs/recipes.md");

/// The language of each recipe, and its first line.
const CRON: Recipe = ("crontab", "*/15 * * * * ken index");
const SERVICE: Recipe = (
    "ini",
    "[Unit]\nDescription=Bring the index of ken up to date\n",
);
const TIMER: Recipe = (
    "ini",
    "[Unit]\nDescription=Bring the index of ken up to date now",
);
const HOOK: Recipe = ("sh", "ken index --lazy");
const FZF: Recipe = ("sh", ": | fzf ");
const TELEVISION: Recipe = ("toml", "[metadata]");
const LINKS: Recipe = ("sh", "mkdir -p ~/.local/bin");
const VIM: Recipe = ("vim", "set grepprg");
const LUA: Recipe = ("lua", "require(\"telescope\")");
const CONSULT: Recipe = ("elisp", "(setq consult-ripgrep-args");
const CODE: Recipe = ("sh", "code=");
const NEOMUTT: Recipe = ("muttrc", "set query_command");
const CLIENT: Recipe = ("sh", "ken mcp --install");
const PROGRAMS: Recipe = ("sh", "ken search --any");
const TAGS: Recipe = ("sh", "ken mail tag");

const ALL: [Recipe; 15] = [
    CRON, SERVICE, TIMER, HOOK, FZF, TELEVISION, LINKS, VIM, LUA, CONSULT, CODE, NEOMUTT, CLIENT,
    PROGRAMS, TAGS,
];

type Recipe = (&'static str, &'static str);

/// Returns the recipes of the page, each with its language.
fn blocks() -> Vec<(&'static str, &'static str)> {
    let mut parts = PAGE.split("```").skip(1);
    let mut blocks = Vec::new();
    while let (Some(block), rest) = (parts.next(), parts.next()) {
        assert!(rest.is_some(), "the last recipe does not end");
        blocks.push(block.split_once('\n').unwrap());
    }
    blocks
}

/// Returns the text of a recipe.
fn text_of((language, start): Recipe) -> &'static str {
    let is_meant = |block: &(&str, &str)| block.0 == language && block.1.starts_with(start);
    let mut found = blocks().into_iter().filter(is_meant);
    let text = found.next().unwrap_or_else(|| panic!("no recipe {start}"));
    assert_eq!(found.next(), None, "two recipes {start}");
    text.1
}

#[test]
fn each_recipe_of_the_page_is_tried() {
    for (language, text) in blocks() {
        let is_meant = |recipe: &&Recipe| recipe.0 == language && text.starts_with(recipe.1);
        let n_tried = ALL.iter().filter(is_meant).count();
        assert_eq!(n_tried, 1, "{language}: {text}");
    }
    for recipe in ALL {
        assert!(!text_of(recipe).is_empty());
    }
}

/// A home with an index, where `ken` is a program in `~/.local/bin`, and that is in `$PATH`.
struct Desk {
    world: World,
}

impl Desk {
    /// Returns a home with these files.
    fn with(files: &[(&str, &str)]) -> Self {
        let world = World::new();
        for (name, text) in files {
            world.write(name, text);
        }
        world.index_docs();
        fs_err::create_dir_all(world.home().join(".local/bin")).unwrap();
        let desk = Self { world };
        desk.link("ken");
        desk
    }

    /// Returns a home with three files that name an animal.
    fn of_okapis() -> Self {
        Self::with(&[
            ("one.txt", "first line\nthe okapi and a giraffe\n"),
            ("deep/two.md", "# Two\n\nAn Okapi.\nokapi\n"),
            ("other.txt", "nothing of that kind\n"),
        ])
    }

    /// Makes ken a program under another name.
    fn link(&self, name: &str) {
        symlink(env!("CARGO_BIN_EXE_ken"), self.bin().join(name)).unwrap();
    }

    fn bin(&self) -> PathBuf {
        self.world.home().join(".local/bin")
    }

    fn path(&self) -> String {
        let system = std::env::var("PATH").unwrap_or_default();
        format!("{}:{system}", self.bin().display())
    }

    /// Returns a command of another program, which finds `ken`.
    fn around(&self, program: &str) -> Command {
        let mut command = self.world.around(program);
        command.env("PATH", self.path()).env("LC_ALL", "C.UTF-8");
        command
    }

    /// Runs a text by the shell; it must succeed.
    #[track_caller]
    fn shell(&self, text: &str) -> String {
        succeed(self.around("sh").args(["-euc", text]))
    }
}

/// Runs a command that must succeed, and returns what it prints.
#[track_caller]
fn succeed(command: &mut Command) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&stdout),
        String::from_utf8_lossy(&stderr),
    );
    assert!(status.success(), "{command:?}\n{out}{err}");
    out.into_owned()
}

/// Returns whether a program is there.
#[track_caller]
fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    needs::met(program, is_there)
}

/// Writes a file below the home, and returns its path.
fn write(desk: &Desk, name: &str, text: &str) -> PathBuf {
    let path = desk.world.home().join(name);
    fs_err::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
    fs_err::write(&path, text).unwrap();
    path
}

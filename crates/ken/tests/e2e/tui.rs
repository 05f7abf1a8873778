//! The screen of `ken tui`, on a terminal that tmux holds.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::mail::message;
use crate::needs;
use crate::world::World;

/// How long a screen may take.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(20);

/// A terminal with a shell, until dropped.
pub(crate) struct Terminal<'w> {
    world: &'w World,
    /// A server that ends is not in the way of the next one.
    socket: PathBuf,
}

/// The number of terminals so far.
static N_STARTED: AtomicUsize = AtomicUsize::new(0);

impl<'w> Terminal<'w> {
    /// Starts a shell command on a terminal; none if there is no tmux.
    pub(crate) fn start(world: &'w World, command: &str, size: (u16, u16)) -> Option<Self> {
        let is_there = Command::new("tmux").arg("-V").output().is_ok();
        if !needs::met("tmux", is_there) {
            return None;
        }
        let number = N_STARTED.fetch_add(1, Ordering::Relaxed);
        let socket = world.home().join(format!("tmux{number}"));
        let terminal = Self { world, socket };
        let (columns, rows) = (size.0.to_string(), size.1.to_string());
        let new = [
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            &columns,
            "-y",
            &rows,
            command,
        ];
        let output = terminal.tmux(&new);
        assert!(output.status.success(), "{output:?}");
        Some(terminal)
    }

    fn tmux(&self, arguments: &[&str]) -> Output {
        let mut tmux = self.world.around("tmux");
        tmux.env("TERM", "xterm-256color").env("LC_ALL", "C.UTF-8");
        tmux.arg("-S")
            .arg(&self.socket)
            .args(arguments)
            .output()
            .unwrap()
    }

    pub(crate) fn type_text(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    pub(crate) fn press(&self, keys: &[&str]) {
        for key in keys {
            self.tmux(&["send-keys", key]);
        }
    }

    fn screen(&self) -> String {
        String::from_utf8(self.tmux(&["capture-pane", "-p"]).stdout).unwrap()
    }

    /// Waits until the screen has all of these texts, and returns it.
    #[track_caller]
    pub(crate) fn until(&self, texts: &[&str]) -> String {
        let start = Instant::now();
        loop {
            let screen = self.screen();
            if texts.iter().all(|text| screen.contains(text)) {
                return screen;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "not {texts:?} on this screen:\n{screen}"
            );
            std::thread::sleep(PAUSE);
        }
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

fn world() -> World {
    let world = World::new();
    let mut long = String::new();
    for n in 1..=300 {
        let line = if n == 250 {
            "the okapi of the last page"
        } else {
            "other words"
        };
        writeln!(long, "{line} {n}").unwrap();
    }
    world.write("animals/long.txt", long);
    world.write(
        "animals/short.md",
        "# Short notes\nAn okapi is a giraffe.\n",
    );
    world.write("code/main.rs", "fn okapi() {\n    giraffe();\n}\n");
    world.index_docs();
    world
}

/// Runs `ken tui`, and then prints what it printed and its exit code.
fn tui(options: &str) -> String {
    format!(
        "\"$ken\" tui {options} > printed 2> errors; code=$?; cat printed errors; echo code $code; sleep 60"
    )
}

#[test]
fn each_key_is_answered_and_the_match_is_seen() {
    let world = world();
    let Some(terminal) = Terminal::start(&world, &tui(""), (80, 24)) else {
        return;
    };
    terminal.until(&["Type what you look for"]);
    terminal.type_text("oka");
    terminal.until(&["3 documents"]);
    terminal.type_text("pi last");
    let screen = terminal.until(&[
        "search> okapi last",
        "1 document,",
        "250 the okapi of the last page",
    ]);
    assert!(screen.contains("long.txt"), "{screen}");
    assert!(screen.contains("F1 keys  Esc quit  Enter open"), "{screen}");
    // What is typed has the terminal's own colours, and nothing is dim but the count.
    let styled = String::from_utf8(terminal.tmux(&["capture-pane", "-p", "-e"]).stdout).unwrap();
    let (_, typed) = styled.split_once("search> ").unwrap();
    let (looks, _) = typed.split_once("okapi last").unwrap();
    assert_eq!(looks, "\x1b[0m\x1b[39m\x1b[49m", "{styled:?}");
    terminal.press(&["C-w", "C-w"]);
    terminal.until(&["Type what you look for"]);
    terminal.type_text("nothinghasthis");
    terminal.until(&["No document was found."]);
    terminal.press(&["Escape"]);
    let screen = terminal.until(&["code "]);
    // A program reads the output here, so it learns that nothing was chosen.
    assert!(screen.starts_with("code 1\n"), "{screen}");
}

#[test]
fn marked_hits_are_printed() {
    let world = world();
    let Some(terminal) = Terminal::start(&world, &tui("okapi"), (140, 30)) else {
        return;
    };
    terminal.until(&["3 documents", "search> okapi"]);
    terminal.press(&["Tab", "Tab"]);
    terminal.until(&["2 marked"]);
    terminal.press(&["C-y"]);
    let screen = terminal.until(&["code 0"]);
    let printed = screen
        .lines()
        .filter(|line| line.starts_with(world.docs().to_str().unwrap()));
    assert_eq!(printed.count(), 2, "{screen}");
}

#[test]
fn types_folders_and_lines_are_searched() {
    let world = world();
    let Some(terminal) = Terminal::start(&world, &tui("okapi"), (100, 30)) else {
        return;
    };
    terminal.until(&["3 documents", " all ", " source 1"]);
    terminal.press(&["C-t"]);
    terminal.until(&["2 documents"]);
    terminal.press(&["C-t"]);
    terminal.until(&["1 document,", "main.rs"]);
    terminal.press(&["C-t", "C-f", "C-u"]);
    terminal.type_text("/no/such");
    terminal.press(&["Enter"]);
    terminal.until(&["the index has nothing below this folder"]);
    // What is typed takes the place of the folder that is proposed.
    terminal.press(&["C-f"]);
    terminal.type_text(world.docs().join("animals").to_str().unwrap());
    terminal.press(&["Enter"]);
    terminal.until(&["2 documents", "in ~/"]);
    terminal.press(&["C-g"]);
    terminal.until(&[
        "grep> okapi",
        "2 lines",
        "long.txt:250: the okapi of the last page",
    ]);
    terminal.type_text(" (");
    terminal.until(&["unclosed group"]);
    terminal.press(&["F1"]);
    terminal.until(&["Alt-N, Alt-P"]);
    // Two at once would be one key for the terminal.
    terminal.press(&["Escape"]);
    terminal.until(&["unclosed group", "F1 keys"]);
    terminal.press(&["Escape"]);
    terminal.until(&["code "]);
}

#[test]
fn an_attachment_has_its_name_and_a_line_its_number() {
    let world = world();
    let header = "Content-Type: multipart/mixed; boundary=b\n";
    let part = "--b\nContent-Disposition: attachment; filename=figures.txt\n\na platypus\n--b--\n";
    world.write("a.eml", message(1, &[], header, part));
    world.index_docs();
    let Some(terminal) = Terminal::start(&world, &tui("platypus"), (140, 30)) else {
        return;
    };
    let screen = terminal.until(&["1 document,", "1 a platypus"]);
    // In the list, and above the text.
    assert_eq!(screen.matches("figures.txt").count(), 2, "{screen}");
    terminal.press(&["C-u"]);
    terminal.type_text("okapi of");
    terminal.press(&["C-g"]);
    terminal.until(&["grep> okapi of", "1 line,"]);
    terminal.press(&["C-y"]);
    terminal.until(&["animals/long.txt:250\n", "code 0"]);
}

#[test]
fn no_file_steers_the_terminal() {
    let world = World::new();
    let name = "evil\u{1b}]0;taken\u{7}\u{202e}name.txt";
    world.write(name, "okapi \u{1b}[2J\u{1b}]0;taken\u{7} and more\n");
    world.index_docs();
    let Some(terminal) = Terminal::start(&world, &tui("okapi"), (100, 30)) else {
        return;
    };
    let screen = terminal.until(&["1 document,", "and more", "evil"]);
    assert!(!screen.contains('\u{202e}'), "{screen}");
    let title = terminal
        .tmux(&["display-message", "-p", "#{pane_title}"])
        .stdout;
    assert!(!String::from_utf8_lossy(&title).contains("taken"));
    terminal.press(&["C-g"]);
    terminal.until(&["grep> okapi", "1 line,"]);
    let title = terminal
        .tmux(&["display-message", "-p", "#{pane_title}"])
        .stdout;
    assert!(!String::from_utf8_lossy(&title).contains("taken"));
}

#[test]
fn without_a_terminal_or_an_index_it_says_so() {
    let world = world();
    let mut alone = world.around("setsid");
    let output = alone
        .args(["--wait", env!("CARGO_BIN_EXE_ken"), "tui"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.starts_with("ken: ken tui needs a terminal: "),
        "{said}"
    );
    let run = World::new().ken(["tui"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("there is no index"), "{}", run.err);
}

/// Waits until something holds.
#[track_caller]
fn wait_for(holds: &dyn Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "it does not come");
        std::thread::sleep(PAUSE);
    }
}

#[test]
fn a_key_inserts_a_path_in_every_shell() {
    let world = world();
    // A name that a shell would take for two words, three lines and a variable.
    let evil = "animals/an ugly\n\n$HOME 'name'.md";
    let evil = world.write(evil, "# Ugly\nA rhinoceros.\n");
    world.index_docs();
    let bin = world.home().join("bin");
    fs_err::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ken"), bin.join("ken")).unwrap();
    for (shell, load) in [
        ("bash --norc", "eval \"$(ken completions bash --keys)\""),
        ("zsh -f", "source <(ken completions zsh --keys)"),
        ("fish --no-config", "ken completions fish --keys | source"),
    ] {
        let name = shell.split(' ').next().unwrap();
        let is_there = Command::new(name).arg("--version").output().is_ok();
        let command = format!("PATH={}:$PATH exec {shell}", bin.display());
        let terminal = needs::met(name, is_there)
            .then(|| Terminal::start(&world, &command, (100, 30)))
            .flatten();
        let Some(terminal) = terminal else {
            continue;
        };
        terminal.type_text(&format!("{load}; echo rea''dy"));
        terminal.press(&["Enter"]);
        terminal.until(&["\nready"]);
        terminal.type_text("cp ");
        terminal.press(&["M-k"]);
        terminal.until(&["Type what you look for"]);
        terminal.type_text("rhinoceros");
        terminal.until(&["Ugly", "Enter take"]);
        terminal.press(&["Enter"]);
        terminal.until(&["cp ", "ugly"]);
        terminal.type_text(&format!("{name}.md && clear"));
        terminal.press(&["Enter"]);
        let copied = world.home().join(format!("{name}.md"));
        wait_for(&|| fs_err::read(&copied).ok() == fs_err::read(&evil).ok());
        terminal.type_text("echo got ");
        terminal.press(&["M-k"]);
        terminal.until(&["Type what you look for"]);
        terminal.type_text("giraffe short");
        terminal.until(&["short.md", "Enter take"]);
        terminal.press(&["Enter"]);
        terminal.until(&["echo got /"]);
        terminal.press(&["Enter"]);
        let path = world.docs().join("animals/short.md");
        terminal.until(&[&format!("\ngot {}", path.display())]);
    }
    assert_eq!(world.ken(["completions", "elvish", "--keys"]).code, 2);
}

#[test]
fn enter_opens_the_document_at_the_match_and_comes_back() {
    let world = world();
    let editor = world.home().join("editor");
    fs_err::write(&editor, "#!/bin/sh\necho \"edits $*\"\nread line\n").unwrap();
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs_err::set_permissions(&editor, executable).unwrap();
    let command = format!("EDITOR={} {}", editor.display(), tui("okapi last"));
    let Some(terminal) = Terminal::start(&world, &command, (100, 30)) else {
        return;
    };
    terminal.until(&["1 document,", "250 the okapi"]);
    terminal.press(&["Enter"]);
    terminal.until(&["edits ", "250", "animals/long.txt"]);
    terminal.type_text("end of editing");
    terminal.press(&["Enter"]);
    // What was typed in the editor is no query.
    terminal.until(&["search> okapi last", "1 document,"]);
    terminal.press(&["Escape"]);
    terminal.until(&["code 1"]);
}

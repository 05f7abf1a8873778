//! Finders on the terminal: fzf and television.

use std::time::{Duration, Instant};

use super::{Desk, FZF, TELEVISION, has, text_of};
use crate::tui::Terminal;

/// How long a program may take that was started.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(20);

#[test]
fn fzf_searches_on_each_key_and_shows_the_matches() {
    if !has("fzf") {
        return;
    }
    let desk = Desk::of_okapis();
    // The editor is a program that says what it opens.
    let start = format!("PATH={} VISUAL='echo opened'", desk.path());
    let start = format!("export {start}; {} sleep 60", text_of(FZF));
    let Some(terminal) = Terminal::start(&desk.world, &start, (120, 24)) else {
        return;
    };
    // Nothing is listed before something is typed, so Enter opens nothing.
    let screen = terminal.until(&["> ", "0/0"]);
    assert!(!screen.contains(".txt"), "{screen}");
    terminal.press(&["Enter"]);
    terminal.type_text("giraf");
    let screen = terminal.until(&["one.txt", "2  the okapi and a giraffe"]);
    assert!(!screen.contains("two.md"), "{screen}");
    assert!(
        !screen.contains("opened") && !screen.contains("error"),
        "{screen}"
    );
    terminal.press(&["Enter"]);
    terminal.until(&["opened", "one.txt"]);
}

/// Fills in the templates of a channel: what stands between tabs.
fn filled(template: &str, entry: &str) -> String {
    let mut text = template.to_owned();
    for (number, field) in entry.split('\t').enumerate() {
        text = text.replace(&format!("{{split:\\t:{number}}}"), field);
    }
    assert!(!text.contains('{'), "{text}");
    text
}

/// Television is not in Debian, so its part is played: it splits what the source prints, shows, previews and opens it
/// (docs/reference/03-channel-spec.md of television 0.15).
#[test]
fn the_channel_of_television_lists_shows_and_opens() {
    let desk = Desk::of_okapis();
    let copied = desk.world.home().join("copied");
    let copy = format!("[open]\n\"text/*\" = \"cp %f {}\"\n", copied.display());
    desk.world.configure(&copy);
    let channel: toml::Table = toml::from_str(text_of(TELEVISION)).unwrap();
    let entry = |table: &str, key: &str| channel[table][key].as_str().unwrap().to_owned();
    assert_eq!(entry("metadata", "name"), "ken");
    let listed = desk.shell(&entry("source", "command"));
    assert_eq!(listed.lines().count(), 3, "{listed}");
    let two = listed.lines().find(|line| line.contains("two.md")).unwrap();
    let path = desk.world.docs().join("deep/two.md");
    assert_eq!(
        filled(&entry("source", "output"), two),
        path.to_str().unwrap()
    );
    assert!(filled(&entry("source", "display"), two).ends_with("two.md  Two"));
    let preview = desk.shell(&filled(&entry("preview", "command"), two));
    assert!(preview.contains("An Okapi."), "{preview}");
    let open = channel["actions"]["open"]["command"].as_str().unwrap();
    desk.shell(&filled(open, two));
    let start = Instant::now();
    while fs_err::read(&copied).ok() != fs_err::read(&path).ok() {
        assert!(start.elapsed() < PATIENCE, "{open}");
        std::thread::sleep(PAUSE);
    }
}

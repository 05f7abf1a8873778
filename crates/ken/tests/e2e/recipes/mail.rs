//! neomutt, and tags by rules.

use super::{Desk, NEOMUTT, TAGS, has, text_of, write};
use crate::mail::message;
use crate::tui::Terminal;

fn desk() -> Desk {
    let mail = message(1, &[], "Subject: the invoice of May\n", "a bill");
    let other = message(2, &[], "Subject: other\n", "words");
    Desk::with(&[
        ("mail/cur/1:2,S", &mail),
        ("mail/cur/2:2,S", &other),
        ("mail/new/.keep", ""),
        ("mail/tmp/.keep", ""),
    ])
}

#[test]
fn neomutt_asks_for_contacts_and_shows_what_is_found() {
    if !has("neomutt") {
        return;
    }
    let desk = desk();
    desk.link("mu");
    desk.shell("mu init --maildir=$HOME/docs/mail && mkdir -p ~/.cache");
    // It asks for nothing at its start.
    let settings = format!(
        "set folder = docs/mail\nset record = ''\n{}",
        text_of(NEOMUTT)
    );
    let settings = write(&desk, "muttrc", &settings);
    write(&desk, "empty", "");
    let start = format!(
        "PATH={} neomutt -n -F {} -f empty",
        desk.path(),
        settings.display()
    );
    let Some(terminal) = Terminal::start(&desk.world, &start, (100, 24)) else {
        return;
    };
    terminal.until(&["NeoMutt:"]);
    terminal.type_text("Q");
    terminal.until(&["Query:"]);
    terminal.type_text("anna");
    terminal.press(&["Enter"]);
    terminal.until(&["anna@x.org"]);
    terminal.type_text("qS");
    terminal.until(&["mu find"]);
    terminal.type_text("subject:invoice");
    terminal.press(&["Enter"]);
    terminal.until(&["Press any key"]);
    let found = desk.world.home().join(".cache/found/cur");
    assert_eq!(fs_err::read_dir(found).unwrap().count(), 1);
}

#[test]
fn tags_follow_a_rule() {
    let desk = desk();
    desk.shell(text_of(TAGS));
    assert_eq!(desk.world.found("tag:invoice"), ["mail/cur/1:2,S"]);
}

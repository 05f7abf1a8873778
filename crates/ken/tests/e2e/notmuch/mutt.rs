//! notmuch-mutt, of Debian's package of that name, on ken.

use std::process::{Command, Stdio};

use super::Notmuch;
use crate::needs;
use crate::world::Run;

impl Notmuch {
    /// Runs notmuch-mutt as mutt does, with a message as its input; links to what it finds go to a folder.
    fn mutt(&self, arguments: &[&str], message: &str) {
        let own = self.world.home().join("bin");
        let mut mutt = Command::new("notmuch-mutt");
        mutt.arg("--output-dir")
            .arg(self.world.home().join("found"));
        mutt.args(arguments).current_dir(self.world.home());
        mutt.env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", own.display()))
            .env("HOME", self.world.home())
            .env("NOTMUCH_CONFIG", self.config());
        let file = fs_err::File::open(self.maildir().join(message)).unwrap();
        mutt.stdin(Stdio::from(file.into_parts().0));
        let run = Run::of(mutt.output().unwrap());
        assert_eq!(run.code, 0, "{}\n{}", run.text(), run.err);
    }

    /// Returns the files that the last search or thread left, sorted.
    fn found(&self) -> Vec<String> {
        let links = fs_err::read_dir(self.world.home().join("found/cur")).unwrap();
        let targets = links.map(|link| fs_err::read_link(link.unwrap().path()).unwrap());
        let mut names: Vec<String> = targets
            .map(|target| {
                target
                    .strip_prefix(self.maildir())
                    .unwrap()
                    .display()
                    .to_string()
            })
            .collect();
        names.sort();
        names
    }
}

#[test]
fn the_client_searches_shows_threads_and_tags() {
    let there = Command::new("notmuch-mutt").arg("--help").output();
    if !needs::met("notmuch-mutt", there.is_ok()) {
        return;
    }
    let ken = Notmuch::ken();
    let message = "inbox/cur/2.a.host:2,S";
    ken.mutt(&["search", "pangolin"], message);
    assert_eq!(ken.found(), [message]);
    ken.mutt(&["thread"], message);
    let thread = [
        "archive/8",
        "archive/9",
        message,
        "inbox/cur/3.a.host:2,RS",
        "inbox/new/1.a.host",
    ];
    assert_eq!(ken.found(), thread);
    ken.mutt(&["tag", "+by-mutt"], message);
    assert_eq!(
        ken.prints(&["search", "--output=messages", "tag:by-mutt"]),
        "id:a2@example.org\n"
    );
}

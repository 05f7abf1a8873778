//! notmuch's Emacs client, of Debian's package elpa-notmuch, on ken.

use std::path::PathBuf;
use std::process::Command;

use super::Notmuch;
use crate::needs;
use crate::world::Run;

/// Returns the folder of the client.
fn package() -> Option<PathBuf> {
    let folders = fs_err::read_dir("/usr/share/emacs/site-lisp/elpa-src").ok()?;
    let mut folders = folders.flatten().map(|entry| entry.path());
    let package = folders.find(|path| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        name.starts_with("notmuch-")
    })?;
    let emacs = Command::new("emacs").arg("--version").output().ok()?;
    emacs.status.success().then_some(package)
}

/// Searches, waits for the results, shows the first thread, tags it, and prints what the buffers hold.
const DRIVE: &str = r#"
(require 'notmuch)
(setq notmuch-command (getenv "NOTMUCH_BINARY"))
(defun drive-wait ()
  (while (get-buffer-process (current-buffer)) (accept-process-output nil 0.05)))
(defun drive-print (name)
  (princ (format "== %s\n%s\n" name (buffer-substring-no-properties (point-min) (point-max)))))
(notmuch-search "budget" t)
(drive-wait)
(drive-print "search")
(notmuch-search-tag '("+seen-by-emacs" "-inbox") (point-min) (point-max))
(goto-char (point-min))
(notmuch-search-show-thread)
(drive-print "show")
(notmuch-show-tag-message "+shown")
(notmuch-tree "tag:shown")
(drive-wait)
(drive-print "tree")
(notmuch-hello)
(drive-print "hello")
"#;

#[test]
fn the_client_searches_shows_and_tags() {
    let package = package();
    if !needs::met("elpa-notmuch", package.is_some()) {
        return;
    }
    let ken = Notmuch::ken();
    let drive = ken.world.home().join("drive.el");
    fs_err::write(&drive, DRIVE).unwrap();
    let mut emacs = Command::new("emacs");
    emacs
        .args(["--batch", "-Q", "-L"])
        .arg(package.unwrap_or_default());
    emacs.arg("-l").arg(&drive).current_dir(ken.world.home());
    emacs
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", ken.world.home());
    emacs
        .env("NOTMUCH_CONFIG", ken.config())
        .env("NOTMUCH_BINARY", &ken.program);
    emacs.env("LANG", "C.UTF-8").env("TZ", "UTC");
    let run = Run::of(emacs.output().unwrap());
    assert_eq!(run.code, 0, "{}\n{}", run.text(), run.err);
    let text = run.text();
    for part in [
        "[4/4]",
        "Budget plan",
        "End of search results.",
        "The albatross budget.",
        "I agree, pangolin.",
        "Third, quokka.",
        "== tree",
        "You have 6 messages.",
    ] {
        assert!(
            text.contains(part),
            "{part:?} is missing in {text}\n{}",
            run.err
        );
    }
    assert_eq!(
        ken.prints(&["count", "tag:seen-by-emacs", "and", "not", "tag:inbox"]),
        "4\n"
    );
    assert_eq!(ken.prints(&["count", "tag:shown"]), "1\n");
}

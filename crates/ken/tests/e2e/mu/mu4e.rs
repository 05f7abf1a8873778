//! mu4e as it is installed, in Emacs without a screen: what it shows with ken is what it shows with mu.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Mu;

/// Returns the folder of mu4e's source, if it and Emacs are installed.
fn mu4e() -> Option<PathBuf> {
    let emacs = Command::new("emacs").arg("--version").output().ok()?;
    let folders = fs_err::read_dir("/usr/share/emacs/site-lisp/elpa-src").ok()?;
    let mut paths = folders.flatten().map(|entry| entry.path());
    let folder = paths.find(|path| path.join("mu4e.el").is_file())?;
    let config = fs_err::read_to_string(folder.join("mu4e-config.el")).ok()?;
    (emacs.status.success() && config.contains("\"1.8.13\"")).then_some(folder)
}

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/mu")
}

fn transcript(mu: &Mu, mu4e: &Path) -> String {
    let program = match mu.program.is_absolute() {
        true => mu.program.clone(),
        false => Path::new("/usr/bin").join(&mu.program),
    };
    let mut emacs = Command::new("emacs");
    emacs.args(["--batch", "-Q", "-L"]).arg(mu4e).arg("-l");
    emacs.arg(cases().join("drive.el"));
    for (name, value) in mu.command().get_envs() {
        if let Some(value) = value {
            emacs.env(name, value);
        }
    }
    emacs.env("MU_BINARY", program).env("MU_HOME", mu.home());
    let output = emacs.current_dir(mu.world.home()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).unwrap()
}

/// Compares line by line: the first line that differs says more than the whole.
fn assert_same(ours: &str, expected: &str) {
    for (number, (ours, expected)) in (1..).zip(ours.lines().zip(expected.lines())) {
        assert_eq!(ours, expected, "line {number}");
    }
    assert_eq!(ours.lines().count(), expected.lines().count());
}

#[test]
fn mu4e_shows_the_same_on_mu_and_on_ken() {
    let Some(mu4e) = mu4e() else {
        return;
    };
    let path = cases().join("transcript.txt");
    // mu itself is asked by hand only: on a busy machine its transcript is not always the same.
    if let Some(mu) = Mu::real().filter(|_| std::env::var_os("UPDATE_DOCS").is_some()) {
        fs_err::write(&path, transcript(&mu, &mu4e)).unwrap();
    }
    let expected = fs_err::read_to_string(path).unwrap();
    let ken = Mu::ken();
    assert_same(&transcript(&ken, &mu4e), &expected);
    let files = ken.files();
    assert!(
        files.contains(&"trash/cur/3.a.host:2,RST".to_owned()),
        "{files:?}"
    );
}

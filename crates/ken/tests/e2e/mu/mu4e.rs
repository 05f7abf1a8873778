//! mu4e in Emacs without a screen shows the same with ken and with mu.
//!
//! mu4e 1.8 is the system's package. `scripts/mu4e` fetches 1.12. The expected output of mu 1.12 is stored, since
//! few systems have both; it comes from the program that `MU_1_12` names.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Mu;
use crate::needs;

/// The folder into which packages install the source of mu4e.
const PACKAGED: &str = "usr/share/emacs/site-lisp/elpa-src";

/// mu4e, and the version of mu that it asks for.
struct Client {
    source: PathBuf,
    version: &'static str,
}

impl Client {
    /// Returns mu4e below an installation root, if both it and Emacs are installed.
    fn below(root: &Path, version: &'static str) -> Option<Self> {
        let emacs = Command::new("emacs").arg("--version").output().ok()?;
        let folders = fs_err::read_dir(root.join(PACKAGED)).ok()?;
        let mut paths = folders.flatten().map(|entry| entry.path());
        let source = paths.find(|path| path.join("mu4e.el").is_file())?;
        let config = fs_err::read_to_string(source.join("mu4e-config.el")).ok()?;
        let is_meant = config.contains(&format!("\"{version}\""));
        (emacs.status.success() && is_meant).then_some(Self { source, version })
    }

    fn path(&self) -> PathBuf {
        cases().join(format!("transcript-{}.txt", self.version))
    }

    /// Returns what mu4e shows, and the paths of the messages.
    fn transcript(&self, mu: &Mu) -> String {
        let program = match mu.program.is_absolute() {
            true => mu.program.clone(),
            false => Path::new("/usr/bin").join(&mu.program),
        };
        let mut emacs = Command::new("emacs");
        emacs.args(["--batch", "-Q", "-L"]).arg(&self.source);
        emacs.arg("-l").arg(cases().join("drive.el"));
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

    /// Compares ken with the stored output of mu. mu itself runs only on request, as its transcript
    /// varies on a busy machine.
    fn compare(&self, mu: impl FnOnce() -> Option<Mu>) {
        if std::env::var_os("UPDATE_DOCS").is_some()
            && let Some(mu) = mu()
        {
            fs_err::write(self.path(), self.transcript(&mu)).unwrap();
        }
        let expected = fs_err::read_to_string(self.path()).unwrap();
        let ken = Mu::ken_as(self.version);
        assert_same(&self.transcript(&ken), &expected);
        let files = ken.files();
        let trashed = "trash/cur/3.a.host:2,RST".to_owned();
        assert!(files.contains(&trashed), "{files:?}");
    }
}

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/mu")
}

/// Compares line by line, since the first line that differs says more than the whole text.
fn assert_same(ours: &str, expected: &str) {
    for (number, (ours, expected)) in (1..).zip(ours.lines().zip(expected.lines())) {
        assert_eq!(ours, expected, "line {number}");
    }
    assert_eq!(ours.lines().count(), expected.lines().count());
}

#[test]
fn mu4e_1_8_shows_the_same_on_mu_and_on_ken() {
    let client = Client::below(Path::new("/"), "1.8.13");
    if needs::met("mu4e-1.8.13", client.is_some()) {
        client.unwrap().compare(Mu::real);
    }
}

#[test]
fn mu4e_1_12_shows_the_same_on_mu_and_on_ken() {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mu4e-1.12.9");
    let client = Client::below(&root, "1.12.9");
    if !needs::met("mu4e-1.12.9", client.is_some()) {
        return;
    }
    client.unwrap().compare(|| {
        let program = std::env::var_os("MU_1_12")?;
        Some(Mu::with_mail(super::World::new(), program.into()))
    });
}

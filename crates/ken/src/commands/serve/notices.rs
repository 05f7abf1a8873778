//! Problems that only the user can solve, told on the desktop by `notify-send` if there is a session bus.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ken_core::escape_bytes;

use crate::commands::desktop;

/// A problem that only the user can solve.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Problem {
    /// The index cannot be written.
    Unwritable,
    /// There are more folders than the kernel watches.
    Unwatched,
    /// A root is away that is no mount point.
    Away(PathBuf),
}

/// The problems that were told and are not solved.
pub(super) struct Notices(Option<Mutex<BTreeSet<Problem>>>);

impl Notices {
    /// Tells problems if nobody reads what the program prints, and there is a desktop.
    pub(super) fn new(is_unseen: bool) -> Self {
        Self((is_unseen && desktop::has_bus()).then(Mutex::default))
    }

    /// Tells a problem, once until it is solved.
    pub(super) fn tell(&self, problem: Problem, text: &str) {
        let title = match problem {
            Problem::Unwritable => "The index cannot be written",
            Problem::Unwatched => "Too many folders to watch",
            Problem::Away(_) => "An indexed folder is away",
        };
        if self.told().is_some_and(|mut told| told.insert(problem)) {
            notify(title, text);
        }
    }

    /// Forgets the problems that are solved.
    pub(super) fn solve(&self, is_solved: impl Fn(&Problem) -> bool) {
        if let Some(mut told) = self.told() {
            told.retain(|problem| !is_solved(problem));
        }
    }

    /// Tells the roots that are away, and forgets the others.
    pub(super) fn tell_away(&self, away: &[PathBuf]) {
        self.solve(|problem| matches!(problem, Problem::Away(root) if !away.contains(root)));
        for root in away {
            let name = escape_bytes(root.as_os_str().as_encoded_bytes());
            let text = format!(
                "\"{name}\" is not there any more. What the index knows of it is kept until ken index --forget."
            );
            self.tell(Problem::Away(root.clone()), &text);
        }
    }

    fn told(&self) -> Option<MutexGuard<'_, BTreeSet<Problem>>> {
        let told = self.0.as_ref()?;
        Some(told.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn notify(title: &str, text: &str) {
    // The text may have markup.
    let plain = text
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let started = Command::new("notify-send")
        .args(["--app-name=ken", "--", title, &plain])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    // Without the program the log says it all. A bus that hangs holds nobody.
    if let Ok(mut child) = started {
        std::thread::spawn(move || child.wait());
    }
}

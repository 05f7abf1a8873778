//! What a server says of what it watches, and of how fresh the index is.

use std::time::{Duration, Instant};

use ken_api::message::Freshness;
use ken_core::BytesPath;
use ken_pipeline::background;
use ken_watch::Coverage;

use super::notices::Problem;
use super::{Server, figures, systemd};
use crate::failure::Failure;
use crate::output;

/// Number of unwatched paths that a client is told.
const MAX_UNWATCHED: usize = 100;

impl Server {
    /// Returns how fresh the index is.
    pub(super) fn freshness(&self) -> Freshness {
        let coverage = self.watcher.coverage();
        let since = [self.undone.since(), self.held_since];
        let since = since.into_iter().flatten().min();
        let age = since.map_or(Duration::ZERO, |since| since.elapsed());
        let paused = background::paused(&self.options.data);
        let sweeps = self.sweeps.progress();
        // The comparison of everything is a look, too.
        let compared = self.compared.filter(|_| self.is_complete);
        let swept = sweeps.and_then(|sweeps| sweeps.last.max(compared));
        Freshness {
            watched: coverage.watched,
            swept: coverage.unwatched(),
            unwatched: self
                .watcher
                .unwatched()
                .into_iter()
                .take(MAX_UNWATCHED)
                .map(BytesPath)
                .collect(),
            coverage: self.told(coverage),
            swept_seconds_ago: swept.map(|began| began.elapsed().as_secs_f64()),
            sweep_in_seconds: sweeps.map(|sweeps| seconds_until(sweeps.due)),
            complete_seconds_ago: self.is_complete.then_some(age.as_secs_f64()),
            pending: self.undone.paths().count() + self.schedule.held().count(),
            waits: paused.map(|_| "indexing is paused".to_owned()),
            overflows: self.n_overflows,
            run: self.run.upgrade().map(|run| figures::of(&run)),
        }
    }

    /// Tells the user what is not watched, which is compared more often.
    pub(super) fn note_coverage(&mut self) -> Result<(), Failure> {
        let coverage = self.watcher.coverage();
        self.sweeps.plan(!coverage.is_complete(), Instant::now());
        if self.coverage != Some(coverage) {
            let unwatched = |coverage| Coverage {
                watched: 0,
                ..coverage
            };
            if self.coverage.map(unwatched) != Some(unwatched(coverage)) {
                output::warn(&self.told(coverage));
            }
            systemd::tell(&self.told(coverage));
            self.tell_unwatched(coverage.beyond);
            self.coverage = Some(coverage);
        }
        Ok(())
    }

    /// Tells the user that there are not enough watches, unless that is wanted.
    fn tell_unwatched(&self, n_beyond: usize) {
        let notices = &self.news.notices;
        match n_beyond {
            0 => notices.solve(|problem| *problem == Problem::Unwatched),
            _ if self.is_limited => {}
            n => {
                let folders = output::counted(n, "folder");
                let text = format!(
                    "ken looks at {folders} now and then only; raise fs.inotify.max_user_watches to watch them"
                );
                notices.tell(Problem::Unwatched, &text);
            }
        }
    }

    /// Returns what is watched, for people.
    fn told(&self, coverage: Coverage) -> String {
        let mut text = format!("watching {}", output::counted(coverage.watched, "folder"));
        let swept = [
            (coverage.beyond, "folder", "beyond the limit of watches"),
            (coverage.remote, "folder", "on other machines"),
            (coverage.twofold, "folder", "with two paths"),
            (coverage.roots, "root", "that cannot be watched"),
        ];
        let swept: Vec<String> = swept
            .into_iter()
            .filter(|(n, _, _)| *n > 0)
            .map(|(n, what, which)| format!("{} {which}", output::counted(n, what)))
            .collect();
        if !swept.is_empty() {
            let (shortest, longest) = self.sweeps.bounds();
            let (shortest, longest) = (shortest.as_secs(), longest.as_secs());
            let every = match shortest == longest {
                true => format!("{longest} s"),
                false => format!("{shortest} to {longest} s"),
            };
            let swept = swept.join(", ");
            text.push_str(&format!("; looking every {every} at {swept}"));
        }
        if coverage.beyond > 0 {
            let limit = match self.is_limited {
                true => "--max-watches",
                false => "fs.inotify.max_user_watches",
            };
            text.push_str(&format!(" (raise {limit} to watch them)"));
        }
        text
    }
}

/// Returns the seconds until a time; negative if it has passed.
fn seconds_until(time: Instant) -> f64 {
    let late = time.elapsed();
    match late.is_zero() {
        true => time.saturating_duration_since(Instant::now()).as_secs_f64(),
        false => -late.as_secs_f64(),
    }
}

//! Changed paths that are handed over together.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::tops::Tops;

/// Number of folders with changes that are a storm.
const MANY_FOLDERS: usize = 1_000;
/// How long nothing must change after a storm.
const STORM_QUIET: Duration = Duration::from_secs(1);
/// How long a storm may last.
pub(crate) const STORM_LONGEST: Duration = Duration::from_secs(30);

/// How long changes are gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pauses {
    /// Until nothing changed for this time.
    quiet: Duration,
    /// Until the first change is this old.
    longest: Duration,
}

impl Pauses {
    const USUAL: Self = Self {
        quiet: Duration::from_millis(200),
        longest: Duration::from_secs(2),
    };
    const ON_BATTERY: Self = Self {
        quiet: Duration::from_secs(2),
        longest: Duration::from_secs(10),
    };

    pub(crate) fn of(is_on_battery: bool) -> Self {
        match is_on_battery {
            true => Self::ON_BATTERY,
            false => Self::USUAL,
        }
    }
}

/// Changed paths that are handed over together. If they are many, folders stand for what is in them.
#[derive(Debug, Default)]
pub(crate) struct Gather {
    /// With the number of changes of each.
    paths: Tops<usize>,
    /// The folders of the paths, until they are many.
    folders: HashSet<PathBuf>,
    /// Whether so much changes that it is best to wait for the end.
    is_storm: bool,
    /// When the first path came, and the latest.
    times: Option<(Instant, Instant)>,
}

impl Gather {
    pub(crate) fn add(&mut self, path: &Path, now: Instant) {
        let first = self.times.map_or(now, |(first, _)| first);
        self.times = Some((first, now));
        if self.folders.len() <= MANY_FOLDERS
            && let Some(folder) = path
                .parent()
                .filter(|folder| !self.folders.contains(*folder))
        {
            self.folders.insert(folder.to_path_buf());
            self.is_storm |= self.folders.len() > MANY_FOLDERS;
        }
        self.paths.insert(path, 1);
    }

    pub(crate) fn note_storm(&mut self) {
        self.is_storm = true;
    }

    pub(crate) fn is_storm(&self) -> bool {
        self.is_storm
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.times.is_none()
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.paths.paths().map(PathBuf::as_path)
    }

    /// Returns when the paths are due, if there are any.
    pub(crate) fn due(&self, pauses: &Pauses) -> Option<Instant> {
        let (quiet, longest) = match self.is_storm {
            true => (STORM_QUIET, STORM_LONGEST),
            false => (pauses.quiet, pauses.longest),
        };
        let due = |(first, latest)| Instant::min(latest + quiet, first + longest);
        self.times.map(due)
    }

    /// Returns all paths, and holds none any longer.
    pub(crate) fn take(&mut self) -> BTreeSet<PathBuf> {
        std::mem::take(self).paths.into_paths()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, ms: u64) -> Instant {
        start + Duration::from_millis(ms)
    }

    #[test]
    fn paths_wait_for_quiet_but_not_for_ever() {
        let (start, mut gather) = (Instant::now(), Gather::default());
        let (usual, battery) = (Pauses::of(false), Pauses::of(true));
        assert_eq!(gather.due(&usual), None);
        for (change, due) in [(0, 200), (150, 350), (1_900, 2_000), (1_990, 2_000)] {
            gather.add(Path::new("/a/b"), at(start, change));
            assert_eq!(gather.due(&usual), Some(at(start, due)), "{change}");
        }
        assert_eq!(gather.due(&battery), Some(at(start, 3_990)));
        assert_eq!(gather.take(), BTreeSet::from(["/a/b".into()]));
        assert!(gather.is_empty());
    }

    #[test]
    fn a_storm_waits_for_its_end_and_keeps_few_paths() {
        let (start, mut gather) = (Instant::now(), Gather::default());
        for n in 0..78_000 {
            let path = format!("/tree/{}/{n}", n / 16);
            gather.add(Path::new(&path), at(start, n / 10));
        }
        let end = at(start, 7_799 + 1_000);
        assert_eq!(gather.due(&Pauses::of(false)), Some(end));
        assert!(gather.paths().count() <= 10_000);
        assert!(gather.take().iter().all(|path| path.starts_with("/tree")));
        assert!(!gather.is_storm());
    }
}

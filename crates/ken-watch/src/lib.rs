//! What changed below the roots? A [`Watcher`] asks the kernel (inotify) and knows nothing about the index.
//!
//! Events are hints: they name paths that may have changed, and whoever gets them looks at the files. Names that a walk
//! does not take are dropped at once, by the [gates](ken_walk::Gate) of the walk that set the watches. Where events may
//! be missing, a watcher says so: after an overflow of the kernel's queue, when file systems are mounted or unmounted,
//! and when a root comes or goes ([`Events::lost`]). It also watches the rules that lie outside the roots. Folders without a watch are counted ([`Coverage`]), and named
//! ([`Watcher::unwatched`]). A [`Schedule`] decides when changes are handed over, and
//! [`Sweeps`] when what is not watched is compared.

mod budget;
mod gather;
mod heat;
mod locks;
mod mask;
mod news;
mod pace;
mod rank;
mod schedule;
mod seen;
mod sides;
mod suspension;
mod sweeps;
mod table;
mod tops;
mod watcher;

pub use budget::free_watches;
pub use news::{Events, Lost};
pub use schedule::Schedule;
pub use seen::Coverage;
pub use sweeps::{Progress, Sweeps};
pub use watcher::{Waker, Watcher};

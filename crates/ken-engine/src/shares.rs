//! Work that a run shares with other machines.
//!
//! The run offers *shares*: parts of its work, described by a text that only the run's own code understands. A machine that has nothing
//! else to do claims one, and writes what it is about with a sink of its own, which is fenced off from all others. A share
//! that nobody finishes is offered again.

use crate::Error;

/// The shares of a run, for the machine whose run it is.
pub trait Shares: Send + Sync {
    /// Offers a share.
    ///
    /// # Errors
    /// Fails if the index cannot be reached, or another machine has taken over the run.
    fn offer(&self, work: &str) -> Result<(), Error>;

    /// Says how far the run is, for people who ask any machine. It is sent with what is sent anyway.
    fn note(&self, far: &str);

    /// Looks at the shares. One whose machine is gone is offered again.
    ///
    /// # Errors
    /// Fails as [`Shares::offer`] does.
    fn look(&self) -> Result<SharesNow, Error>;
}

/// How far the shares of a run are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharesNow {
    /// Shares that nobody has claimed.
    pub n_offered: usize,
    /// Shares that somebody works on.
    pub n_claimed: usize,
    /// The outcomes of those that were finished since the last look.
    pub done: Vec<String>,
}

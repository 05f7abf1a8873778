//! A machine that helps the run of another one.

use crate::{Error, Sink};

/// A machine that works on shares.
pub trait Guest: Send {
    /// Claims a share that this machine takes. One that it does not take stays for others, and is not asked about again; none
    /// if it cannot tell now.
    ///
    /// # Errors
    /// Fails if the index cannot be reached.
    fn claim(&mut self, takes: &dyn Fn(&str) -> Option<bool>) -> Result<Claim, Error>;
}

/// What a machine that offers its help gets.
pub enum Claim {
    /// A share, as it was offered, and the sink to write it with, which commits nothing but documents.
    Share(String, Box<dyn Sink>),
    /// There is a run, but no share for this machine.
    Wait,
    /// There is no run. What the last one said at its end ([`Sink::finish`]), or nothing.
    Ended(String),
    /// The machine that had the run is gone.
    Lost,
}

//! This machine, as it helps the run of another one.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ken_engine::{Claim, Error, Guest};

use crate::client::Client;
use crate::layout::Names;
use crate::lease::{Taker, Watch, lock};
use crate::sink::ClusterSink;
use crate::{root, shares};

/// Claims shares of the run of another machine.
pub(crate) struct ClusterGuest {
    pub(crate) client: Arc<Client>,
    pub(crate) names: Names,
    pub(crate) holder: String,
    pub(crate) ttl: Duration,
    pub(crate) watch: Arc<Mutex<Watch>>,
    /// Shares that this machine does not take: the term of the run, and the number.
    pub(crate) refused: HashSet<(u64, u64)>,
}

impl Guest for ClusterGuest {
    fn claim(&mut self, takes: &dyn Fn(&str) -> Option<bool>) -> Result<Claim, Error> {
        let Some(seen) = root::read(&self.client, &self.names)? else {
            return Ok(Claim::Ended(String::new()));
        };
        seen.root.schema.check(&self.client)?;
        let Some(run) = seen.root.run() else {
            return Ok(Claim::Ended(seen.root.ended));
        };
        if lock(&self.watch).is_over(run, self.ttl) {
            return Ok(Claim::Lost);
        }
        let mut offered = seen.root.work.offered.iter();
        let number = offered.find(|number| !self.refused.contains(&(run.term, **number)));
        let Some(number) = number.copied() else {
            return Ok(Claim::Wait);
        };
        let share = (run.term, number);
        // One that is gone was done meanwhile.
        let Some(work) = shares::read(&self.client, &self.names, share.0, share.1)? else {
            return Ok(Claim::Wait);
        };
        match takes(&work) {
            Some(true) => {}
            Some(false) => {
                self.refused.insert(share);
                return Ok(Claim::Wait);
            }
            None => return Ok(Claim::Wait),
        }
        let taker = Taker {
            client: &self.client,
            names: &self.names,
            holder: &self.holder,
            ttl: self.ttl,
            watch: &self.watch,
        };
        Ok(match ClusterSink::claim(&taker, &seen, number)? {
            Some(sink) => Claim::Share(work, Box::new(sink)),
            None => Claim::Wait,
        })
    }
}

//! This machine, as it helps the run of another one.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use ken_engine::{Claim, Error, Guest};

use crate::client::Client;
use crate::layout::Names;
use crate::lease::{Taker, Watch, lock};
use crate::root;
use crate::sink::ClusterSink;

/// Claims shares of the run of another machine.
pub(crate) struct ClusterGuest {
    pub(crate) client: Arc<Client>,
    pub(crate) names: Names,
    pub(crate) holder: String,
    pub(crate) ttl: Duration,
    pub(crate) watch: Arc<Mutex<Watch>>,
}

impl Guest for ClusterGuest {
    fn claim(&mut self) -> Result<Claim, Error> {
        let Some(seen) = root::read(&self.client, &self.names)? else {
            return Ok(Claim::Ended);
        };
        seen.root.schema.check(&self.client)?;
        let Some(run) = seen.root.run() else {
            return Ok(Claim::Ended);
        };
        if lock(&self.watch).is_over(run, self.ttl) {
            return Ok(Claim::Lost);
        }
        let taker = Taker {
            client: &self.client,
            names: &self.names,
            holder: &self.holder,
            ttl: self.ttl,
            watch: &self.watch,
        };
        Ok(match ClusterSink::claim(&taker, &seen)? {
            Some((work, sink)) => Claim::Share(work, Box::new(sink)),
            None => Claim::Wait,
        })
    }
}

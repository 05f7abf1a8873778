//! What a run shares with other machines, and how a sink lets its lease go.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use ken_engine::{Error, Shares, SharesNow};

use super::{ClusterSink, Share, lock};
use crate::root::{Outcome, Root};
use crate::shares;

impl ClusterSink {
    /// Gives the lease back. A share with an outcome is done, another one is offered again.
    pub(crate) fn end(&self, outcome: Option<&str>) -> Result<(), Error> {
        let is_clean = !self.has_written.load(Ordering::Relaxed);
        let (term, share) = (self.term, self.share);
        let long = outcome.filter(|outcome| outcome.len() > shares::SHORT);
        let kept = match (long, share) {
            (Some(outcome), Some(Share { run, number })) => {
                let (client, names) = (&self.client, &self.names);
                shares::keep_outcome(client, names, run, number, (term, outcome))
            }
            _ => Ok(()),
        };
        let outcome = outcome.filter(|_| kept.is_ok());
        let Some(lease) = lock(&self.lease).take() else {
            return Ok(());
        };
        lease.end(&mut |root: &mut Root| match share {
            None => root.end_run(is_clean),
            Some(share) => {
                root.end(term, is_clean);
                match outcome.filter(|_| is_clean) {
                    Some(_) if long.is_some() => {
                        root.work.done.push((share.number, Outcome::Kept(term)));
                    }
                    Some(outcome) => {
                        let outcome = Outcome::Here(outcome.to_owned());
                        root.work.done.push((share.number, outcome));
                    }
                    None => root.work.offered.push(share.number),
                }
            }
        })?;
        match share {
            // No other run has shares of this term, so no lease is needed.
            None => self.forget(&self.shares.all_described(), &|| Ok(())),
            Some(_) => kept,
        }
    }

    fn forget(
        &self,
        shares: &[u64],
        may_write: &dyn Fn() -> Result<(), Error>,
    ) -> Result<(), Error> {
        shares::forget(&self.client, &self.names, self.term, shares, may_write)?;
        self.shares.note_forgotten(shares);
        Ok(())
    }

    pub(super) fn with_lease<T>(
        &self,
        act: impl FnOnce(&crate::lease::Lease) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let lease = self.lease.lock().unwrap_or_else(PoisonError::into_inner);
        match &*lease {
            Some(lease) => act(lease),
            None => Err(self.client.error("the lease has ended".to_owned())),
        }
    }
}

impl Shares for ClusterSink {
    fn offer(&self, work: &str) -> Result<(), Error> {
        let number = self.shares.next();
        shares::write(&self.client, &self.names, self.term, number, work)?;
        self.with_lease(|lease| {
            lease.change(&mut |root| {
                root.work.n_shares = number;
                root.work.offered.push(number);
            })
        })
    }

    fn note(&self, far: &str) {
        // Without a lease there is nobody to tell.
        let _ = self.with_lease(|lease| {
            lease.note_far(far);
            Ok(())
        });
    }

    fn look(&self) -> Result<SharesNow, Error> {
        let seen = crate::root::read(&self.client, &self.names)?;
        let now = seen.map(|seen| seen.root);
        let Some(now) = now.filter(|now| now.lease(self.term).is_some()) else {
            // The change that follows says so in its words.
            return self
                .with_lease(|lease| lease.change(&mut |_| {}))
                .map(|()| SharesNow::default());
        };
        let gone = self.shares.gone(&now);
        let mut done = Vec::new();
        if !gone.is_empty() || !now.work.done.is_empty() {
            self.with_lease(|lease| {
                lease.change(&mut |root| {
                    done = std::mem::take(&mut root.work.done);
                    for (term, beat) in &gone {
                        root.take_back(*term, *beat);
                    }
                })
            })?;
        }
        let root = match done.is_empty() && gone.is_empty() {
            true => now,
            false => self.with_lease(|lease| Ok(lease.root()))?,
        };
        let outcomes = done.iter().map(|(share, outcome)| match outcome {
            Outcome::Here(outcome) => Ok(outcome.clone()),
            Outcome::Kept(term) => {
                shares::outcome(&self.client, &self.names, self.term, *share, *term)
            }
        });
        let outcomes = outcomes.collect::<Result<Vec<_>, _>>()?;
        // What is not deleted now is when the run ends.
        let numbers: Vec<u64> = done.iter().map(|(share, _)| *share).collect();
        let _ = self.forget(&numbers, &|| self.check());
        // An outcome may have come since the change: its share is not done before the next look.
        let n_unseen = root.work.done.len();
        Ok(SharesNow {
            n_offered: root.work.offered.len(),
            n_claimed: n_unseen + root.leases.iter().filter(|of| of.share.is_some()).count(),
            done: outcomes,
        })
    }
}

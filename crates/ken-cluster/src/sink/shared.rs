//! What a run shares with other machines, and how a sink lets its lease go.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use ken_engine::{Error, Shares, SharesNow};

use super::{ClusterSink, Share, lock};
use crate::root::{Outcome, Root};
use crate::shares;

/// The most outcomes that are read at once: each may have some megabytes.
const MAX_OUTCOMES: usize = 4;

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
            _ => Ok(true),
        };
        // One that no node takes is as good as none: the run does the share.
        let outcome = match kept {
            Ok(true) => outcome,
            Ok(false) => Some(""),
            Err(_) => None,
        };
        let is_kept = long.is_some() && matches!(kept, Ok(true));
        let Some(lease) = lock(&self.lease).take() else {
            return Ok(());
        };
        lease.end(&mut |root: &mut Root| match share {
            None => {
                root.end_run(is_clean);
                root.ended = outcome.unwrap_or_default().to_owned();
            }
            Some(share) => {
                root.end(term, is_clean);
                match outcome.filter(|_| is_clean) {
                    Some(_) if is_kept => {
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
            Some(_) => kept.map(|_| ()),
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
        // Those that come later are seen at the next look.
        let done: Vec<_> = now.work.done.iter().take(MAX_OUTCOMES).cloned().collect();
        let outcomes = done.iter().map(|(share, outcome)| match outcome {
            Outcome::Here(outcome) => Ok(outcome.clone()),
            Outcome::Kept(term) => {
                shares::outcome(&self.client, &self.names, self.term, *share, *term)
            }
        });
        let outcomes = outcomes.collect::<Result<Vec<_>, _>>()?;
        let root = match done.is_empty() && gone.is_empty() {
            true => now,
            false => self.with_lease(|lease| {
                lease.change(&mut |root| {
                    root.work.done.retain(|one| !done.contains(one));
                    for (term, beat) in &gone {
                        root.take_back(*term, *beat);
                    }
                })?;
                Ok(lease.root())
            })?,
        };
        // What is not deleted now is when the run ends.
        let numbers: Vec<u64> = done.iter().map(|(share, _)| *share).collect();
        let _ = self.forget(&numbers, &|| self.check());
        // A share is done only when its outcome was seen.
        let n_unseen = root.work.done.len();
        Ok(SharesNow {
            n_offered: root.work.offered.len(),
            n_claimed: n_unseen + root.leases.iter().filter(|of| of.share.is_some()).count(),
            done: outcomes,
        })
    }
}

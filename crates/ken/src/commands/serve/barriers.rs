//! Clients that wait until the index is fresh.

use std::time::Instant;

use ken_api::Reply;
use ken_api::message::IsFresh;
use ken_pipeline::updater::{NotDone, Ticket, Updater};

/// A client that waits for tickets.
struct Barrier {
    tickets: Vec<Ticket>,
    asked: Instant,
    deadline: Instant,
    reply: Reply,
}

/// The clients that wait.
#[derive(Default)]
pub(super) struct Barriers(Vec<Barrier>);

impl Barriers {
    /// Has a client wait, who asked at a time and waits until another one.
    pub(super) fn add(
        &mut self,
        tickets: Vec<Ticket>,
        asked: Instant,
        deadline: Instant,
        reply: Reply,
    ) {
        self.0.push(Barrier {
            tickets,
            asked,
            deadline,
            reply,
        });
    }

    /// Answers whoever need not wait any more.
    pub(super) fn settle(&mut self, updater: &Updater, now: Instant) {
        let waiting = std::mem::take(&mut self.0);
        for barrier in waiting {
            if barrier.reply.is_given_up() {
                continue;
            }
            let results = barrier.tickets.iter();
            // The first error, or that something is not done, or success.
            let result: Option<Result<(), NotDone>> = results
                .map(|ticket| updater.result_of(*ticket))
                .try_fold(Ok(()), |all: Result<(), NotDone>, one| Some(all.and(one?)));
            match result {
                Some(Ok(())) => barrier.reply.json(&IsFresh {
                    seconds: barrier.asked.elapsed().as_secs_f64(),
                }),
                Some(Err(error)) => barrier.reply.refuse(500, &error.to_string()),
                None if barrier.deadline <= now => {
                    barrier.reply.refuse(504, &NotDone::Deadline.to_string());
                }
                None => self.0.push(barrier),
            }
        }
    }

    /// Refuses everybody who waits.
    pub(super) fn give_up(&mut self, why: &str) {
        let waiting = std::mem::take(&mut self.0);
        waiting
            .into_iter()
            .for_each(|barrier| barrier.reply.refuse(503, why));
    }

    /// Returns when the first of them gives up.
    pub(super) fn due(&self) -> Option<Instant> {
        self.0.iter().map(|barrier| barrier.deadline).min()
    }
}

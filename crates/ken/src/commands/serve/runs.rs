//! Runs over all files that clients asked for.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ken_api::Stream;
use ken_api::message::Event;
use ken_pipeline::updater::{Outcome, Ticket};
use ken_pipeline::{Progress, background};

use super::figures;

/// How often a client hears of the progress.
const TICK: Duration = Duration::from_millis(100);

/// The runs that clients wait for.
#[derive(Default)]
pub(super) struct Runs(Mutex<BTreeMap<Ticket, Sender<Outcome>>>);

impl Runs {
    /// Submits a run, and tells a client of it until it has ended; if the client goes, the run stops.
    pub(super) fn start(
        &self,
        data: &Path,
        progress: &Arc<Progress>,
        stream: Stream,
        submit: impl FnOnce() -> Ticket,
    ) -> Ticket {
        let (end, ended) = mpsc::channel();
        let ticket = {
            // It may end before its ticket is known.
            let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let ticket = submit();
            runs.insert(ticket, end);
            ticket
        };
        let (data, progress) = (data.to_path_buf(), Arc::clone(progress));
        std::thread::spawn(move || follow(&data, &progress, stream, &ended));
        ticket
    }

    /// Forgets the runs of an updater that has ended; their clients hear of it.
    pub(super) fn give_up(&self) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }

    /// Notes that a run has ended; returns whether it was one of a client.
    pub(super) fn end(&self, outcome: &Outcome) -> bool {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let end = runs.remove(&outcome.done);
        // Its client may be gone.
        end.is_some_and(|end| end.send(outcome.clone()).is_ok())
    }
}

fn follow(data: &Path, progress: &Progress, stream: Stream, ended: &Receiver<Outcome>) {
    let last = loop {
        match ended.recv_timeout(TICK) {
            Ok(outcome) => break last_event(&outcome),
            Err(RecvTimeoutError::Disconnected) => {
                let message = "ken serve ended before the run did".to_owned();
                break Event::Failed { message };
            }
            Err(RecvTimeoutError::Timeout) => {
                let mut figures = figures::of(progress);
                figures.paused |= background::paused(data).is_some();
                if !stream.now(&Event::Progress(figures)) {
                    progress.cancel();
                }
            }
        }
    };
    stream.last(&last);
}

fn last_event(outcome: &Outcome) -> Event {
    let failed = |message| Event::Failed { message };
    match &outcome.summary {
        Err(error) => failed(error.to_string()),
        Ok(summary) => match serde_json::to_value(summary) {
            Err(error) => failed(error.to_string()),
            Ok(figures) => Event::Summary {
                summary: figures,
                messages: summary.messages.clone(),
            },
        },
    }
}

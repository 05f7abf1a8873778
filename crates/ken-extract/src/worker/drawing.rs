//! Draws documents in a worker: the request is one for extraction with an order, and the answer one
//! message.

use ken_core::{Cause, Document, Operation};

use super::Extractor;
use super::answer::NoAnswer;
use super::client::Worker;
use super::drawn::{self, Answer};
use super::protocol::{Broken, Message};
use crate::draw::draw;
use crate::picture::{Drawn, NAME, Order};
use crate::{Expansion, Input, Limits, Member, Sink};

/// Larger pictures are not taken from a worker.
const MAX_PICTURE_BYTES: usize = 128 << 20;

/// Takes nothing, as nothing but the answer is expected.
struct Nothing;

impl Sink for Nothing {
    fn document(&mut self, _: Document) {}
    fn member(&mut self, _: Member) {}
}

impl Extractor<'_> {
    /// Makes of an input what is ordered: in a worker, or in this process if there is none.
    pub(crate) fn draw(&self, input: &mut Input<'_>, order: Order) -> Result<Drawn, Cause> {
        let limits = self.limits();
        if self.options.worker.is_none() {
            return draw(input, order, limits);
        }
        let account = input.account(limits);
        loop {
            let worker = self.worker();
            let mut worker =
                worker.map_err(|error| Cause::system(Operation::StartWorker, &error))?;
            let is_fresh = worker.n_files == 0;
            match worker.draw(input, &account, order, limits) {
                Ok(Answer { drawn, retire }) => {
                    if !retire {
                        self.idle.borrow_mut().push(worker);
                    }
                    return drawn;
                }
                // An earlier file may be the cause.
                Err(NoAnswer::Died) if !is_fresh => {}
                Err(lost) => return Err(worker.end(&lost, NAME, limits, input.size())),
            }
        }
    }
}

impl Worker {
    fn draw(
        &mut self,
        input: &Input<'_>,
        account: &Expansion,
        order: Order,
        limits: &Limits,
    ) -> Result<Answer, NoAnswer> {
        let mut left = self.begin(input, account, Some(order), limits)?;
        let max_blob = MAX_PICTURE_BYTES.max(limits.max_text_bytes);
        let (message, head, blob) = self.read_message(max_blob, &mut left, &mut Nothing)?;
        if message != Message::Drawn {
            return Err(Broken("a message that answers nothing").into());
        }
        Ok(drawn::read(&head, blob)?)
    }
}

//! A way through some terms of one dictionary.

use tantivy::postings::TermInfo;
use tantivy::termdict::TermStreamer;
use tantivy_fst::Automaton;

/// Walks through some terms of one dictionary, in their order.
pub(crate) trait Cursor {
    /// Goes to the next term; false at the end.
    fn advance(&mut self) -> bool;
    /// The term.
    fn term(&self) -> &[u8];
    /// Where its postings stand.
    fn info(&self) -> &TermInfo;
}

impl<A: Automaton> Cursor for TermStreamer<'_, A> {
    fn advance(&mut self) -> bool {
        TermStreamer::advance(self)
    }

    fn term(&self) -> &[u8] {
        self.key()
    }

    fn info(&self) -> &TermInfo {
        self.value()
    }
}

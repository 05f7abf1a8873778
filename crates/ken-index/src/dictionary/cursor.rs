//! A cursor over some terms of one dictionary.

use tantivy::postings::TermInfo;
use tantivy::termdict::TermStreamer;
use tantivy_fst::Automaton;

/// Visits some terms of one dictionary, in order.
pub(crate) trait Cursor {
    /// Advances to the next term; returns false at the end.
    fn advance(&mut self) -> bool;
    /// Returns the current term.
    fn term(&self) -> &[u8];
    /// Returns the posting info of the term.
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

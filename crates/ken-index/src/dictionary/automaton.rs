//! Patterns as automata over the bytes of terms, for traversing dictionaries.

use std::cell::Cell;

use ken_core::expression::Expression as Table;
use levenshtein_automata::{DFA, Distance, SINK_STATE};
use regex_automata::Anchored;
use regex_automata::dfa::Automaton as _;
use regex_automata::util::{primitives::StateID, start};
use tantivy_fst::Automaton;

use crate::limits::{Limits, Pace};

/// A compiled regular expression, in the form that the dictionary needs.
pub(crate) struct RegexAutomaton<'a> {
    dfa: &'a Table,
    /// Whether the border of values is among the terms; it is not a word.
    has_borders: bool,
}

impl<'a> RegexAutomaton<'a> {
    pub(crate) fn of_words(dfa: &'a Table) -> Self {
        let has_borders = true;
        Self { dfa, has_borders }
    }

    pub(crate) fn of_locations(dfa: &'a Table) -> Self {
        let has_borders = false;
        Self { dfa, has_borders }
    }
}

impl Automaton for RegexAutomaton<'_> {
    type State = StateID;

    fn start(&self) -> StateID {
        let config = start::Config::new().anchored(Anchored::No);
        // Fails only for unsupported, anchored starts.
        self.dfa.start_state(&config).unwrap_or(StateID::ZERO)
    }

    fn is_match(&self, state: &StateID) -> bool {
        self.dfa.is_match_state(*state) || self.dfa.is_match_state(self.dfa.next_eoi_state(*state))
    }

    fn can_match(&self, state: &StateID) -> bool {
        !self.dfa.is_dead_state(*state)
    }

    fn accept(&self, state: &StateID, byte: u8) -> StateID {
        // The first state is the dead one.
        if self.has_borders && byte == 0 {
            return StateID::ZERO;
        }
        // After a match, the rest does not matter.
        if self.dfa.is_match_state(*state) {
            *state
        } else {
            self.dfa.next_state(*state, byte)
        }
    }
}

/// Another automaton that matches nothing more once limits are reached, so that a traversal without matches ends too.
pub(crate) struct Limited<'a, A> {
    automaton: A,
    limits: Option<&'a Limits>,
    pace: Cell<Pace>,
}

impl<'a, A> Limited<'a, A> {
    pub(crate) fn new(automaton: A, limits: Option<&'a Limits>) -> Self {
        Self {
            automaton,
            limits,
            pace: Cell::default(),
        }
    }

    fn is_over(&self) -> bool {
        let mut pace = self.pace.get();
        let is_over = pace.step(self.limits);
        self.pace.set(pace);
        is_over
    }
}

impl<A: Automaton> Automaton for Limited<'_, A> {
    type State = A::State;

    fn start(&self) -> A::State {
        self.automaton.start()
    }

    fn is_match(&self, state: &A::State) -> bool {
        self.automaton.is_match(state)
    }

    fn can_match(&self, state: &A::State) -> bool {
        self.automaton.can_match(state) && !self.is_over()
    }

    fn accept(&self, state: &A::State, byte: u8) -> A::State {
        self.automaton.accept(state, byte)
    }
}

/// A few terms, in order.
pub(crate) struct TermsAutomaton<'a>(pub(crate) &'a [String]);

impl Automaton for TermsAutomaton<'_> {
    /// The range of terms with the prefix that was read, and its number of bytes.
    type State = (usize, usize, usize);

    fn start(&self) -> Self::State {
        (0, self.0.len(), 0)
    }

    fn is_match(&self, (from, to, length): &Self::State) -> bool {
        from < to && self.0[*from].len() == *length
    }

    fn can_match(&self, (from, to, _): &Self::State) -> bool {
        from < to
    }

    fn accept(&self, (from, to, length): &Self::State, byte: u8) -> Self::State {
        let terms = &self.0[*from..*to];
        let next = |term: &String| term.as_bytes().get(*length).copied();
        let first = terms.partition_point(|term| next(term) < Some(byte));
        let last = terms.partition_point(|term| next(term) <= Some(byte));
        (from + first, from + last, length + 1)
    }
}

pub(crate) struct FuzzyAutomaton<'a>(pub(crate) &'a DFA);

impl Automaton for FuzzyAutomaton<'_> {
    type State = u32;

    fn start(&self) -> u32 {
        self.0.initial_state()
    }

    fn is_match(&self, state: &u32) -> bool {
        matches!(self.0.distance(*state), Distance::Exact(_))
    }

    fn can_match(&self, state: &u32) -> bool {
        *state != SINK_STATE
    }

    fn accept(&self, state: &u32, byte: u8) -> u32 {
        // The border of values is not a word.
        if byte == 0 {
            return SINK_STATE;
        }
        self.0.transition(*state, byte)
    }
}

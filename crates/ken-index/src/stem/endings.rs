//! The endings that a word may have after its stem.
//!
//! A stemmer removes endings one after the other. A form of a word is therefore its stem, whose
//! last letter may be changed or doubled, followed by endings from a list. This is an automaton:
//! traversed together with the dictionary, it leads to the few terms that may be forms, and the
//! stemmer decides. There may be tens of thousands of terms that start with `get`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;
use tantivy_fst::Automaton;

/// One line for each language: its code, then its endings.
const ENDINGS: &str = include_str!("endings.txt");

/// Maximum number of bytes of a form after the common beginning; longer terms are other words.
const MAX_ENDING: usize = 16;

/// Number of words of bits for the set of current nodes, which is enough for every language.
const WORDS: usize = 9;

/// The endings of a language, as a trie; node 0 is the root.
#[derive(Clone, Debug)]
pub(super) struct Endings {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    children: Vec<(u8, usize)>,
    is_end: bool,
}

impl Endings {
    /// Returns the endings of a language by its code; `None` if they are unknown.
    pub(super) fn of(code: &str) -> Option<Self> {
        let mut lines = ENDINGS.lines().filter(|line| !line.starts_with('#'));
        let line = lines.find(|line| line.split(' ').next() == Some(code))?;
        let mut endings = Self {
            nodes: vec![Node::default()],
        };
        for ending in line.split(' ').skip(1) {
            endings.add(ending);
        }
        (endings.nodes.len() <= WORDS * 64).then_some(endings)
    }

    fn add(&mut self, ending: &str) {
        let mut at = 0;
        for byte in ending.bytes() {
            at = self.child(at, byte).unwrap_or_else(|| {
                self.nodes.push(Node::default());
                let new = self.nodes.len() - 1;
                self.nodes[at].children.push((byte, new));
                new
            });
        }
        self.nodes[at].is_end = true;
    }

    fn child(&self, at: usize, byte: u8) -> Option<usize> {
        let mut children = self.nodes[at].children.iter();
        children.find(|(b, _)| *b == byte).map(|(_, node)| *node)
    }
}

/// The terms that may be forms of a word in a language.
pub(super) struct Forms<'a> {
    /// Their common prefix.
    pub(super) prefix: &'a str,
    /// Number of free letters after it.
    pub(super) free: usize,
    /// The endings that may follow; anything if they are unknown.
    pub(super) endings: Option<&'a Endings>,
}

/// The state after reading a part of a term.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Walk {
    /// Number of bytes read.
    length: usize,
    /// Number of free letters that are left, if the traversal uses them.
    free: usize,
    /// Number of bytes of the current letter that are still to come.
    rest: u8,
    /// The previous letter, if it may be doubled.
    before: u8,
    /// The current nodes of the trie.
    nodes: [u64; WORDS],
}

impl Walk {
    fn add(&mut self, node: usize) {
        self.nodes[node / 64] |= 1 << (node % 64);
    }

    fn is_lost(&self) -> bool {
        self.free == 0 && self.rest == 0 && self.before == 0 && self.nodes == [0; WORDS]
    }
}

impl Forms<'_> {
    fn start(&self) -> Walk {
        Walk {
            length: 0,
            free: self.free,
            rest: 0,
            before: self.prefix.bytes().last().unwrap_or(0),
            // An ending may begin at the end of the prefix.
            nodes: std::array::from_fn(|word| u64::from(word == 0)),
        }
    }

    fn is_match(&self, walk: &Walk) -> bool {
        let ends = walk.nodes[0] & 1 != 0 || self.endings.is_none();
        walk.length >= self.prefix.len() && ends
    }

    /// Returns the state after the next byte; `None` if the term is no form.
    fn accept(&self, walk: &Walk, byte: u8) -> Option<Walk> {
        let on = Walk {
            length: walk.length + 1,
            ..*walk
        };
        if let Some(expected) = self.prefix.as_bytes().get(walk.length) {
            return (*expected == byte).then_some(on);
        }
        // A form consists of letters.
        let is_letter = byte.is_ascii_alphabetic() || !byte.is_ascii();
        if !is_letter || walk.length >= self.prefix.len() + MAX_ENDING {
            return None;
        }
        match self.endings {
            Some(endings) => Some(step(endings, walk, byte)).filter(|walk| !walk.is_lost()),
            None => Some(on),
        }
    }
}

/// Advances after the prefix.
fn step(endings: &Endings, from: &Walk, byte: u8) -> Walk {
    let mut to = Walk {
        length: from.length + 1,
        free: 0,
        rest: 0,
        before: 0,
        nodes: [0; WORDS],
    };
    for (number, word) in from.nodes.iter().enumerate() {
        let mut bits = *word;
        while bits != 0 {
            let node = number * 64 + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            // A stemmer may have replaced `y` by `i`.
            for byte in [byte, if byte == b'y' { b'i' } else { byte }] {
                let Some(child) = endings.child(node, byte) else {
                    continue;
                };
                to.add(child);
                if endings.nodes[child].is_end {
                    to.add(0);
                }
            }
        }
    }
    if from.rest > 0 {
        to.rest = from.rest - 1;
        to.free = from.free;
    } else if from.free > 0 {
        to.rest = match byte {
            0xc0..=0xdf => 1,
            0xe0..=0xef => 2,
            0xf0.. => 3,
            _ => 0,
        };
        to.free = from.free - 1;
        to.before = byte;
    } else if from.before != 0 && byte == from.before {
        to.add(0);
    }
    if from.rest + u8::from(from.free > 0) > 0 && to.rest == 0 {
        to.add(0);
    }
    to
}

/// The terms that may be forms of a word in one of several languages.
///
/// States are created when they are reached, and kept: the same few occur in all dictionaries.
pub(super) struct AnyForms<'a> {
    forms: Vec<Forms<'a>>,
    states: RefCell<States>,
}

#[derive(Default)]
struct States {
    numbers: HashMap<Arc<[Option<Walk>]>, u32, FixedState>,
    walks: Vec<Arc<[Option<Walk>]>>,
    /// The known transitions of each state.
    next: Vec<Next>,
}

/// The known transitions of a state: filling a table of all bytes would take longer than computing
/// those that are needed.
#[derive(Default)]
struct Next {
    /// A bit for each byte that leads to no form, as most do.
    dead: [u64; 4],
    alive: Vec<(u8, u32)>,
}

impl Next {
    fn get(&self, byte: u8) -> Option<u32> {
        if self.dead[usize::from(byte / 64)] & (1 << (byte % 64)) != 0 {
            return Some(DEAD);
        }
        let mut alive = self.alive.iter();
        alive.find(|(b, _)| *b == byte).map(|(_, state)| *state)
    }

    fn set(&mut self, byte: u8, state: u32) {
        match state {
            DEAD => self.dead[usize::from(byte / 64)] |= 1 << (byte % 64),
            state => self.alive.push((byte, state)),
        }
    }
}

/// The state of terms that are no form in any language.
const DEAD: u32 = u32::MAX;

impl States {
    fn number(&mut self, walks: Arc<[Option<Walk>]>) -> u32 {
        if walks.iter().all(Option::is_none) {
            return DEAD;
        }
        if let Some(number) = self.numbers.get(&walks) {
            return *number;
        }
        // A dictionary has too few bytes to lead to so many states.
        let number = u32::try_from(self.walks.len()).unwrap_or(DEAD);
        self.numbers.insert(Arc::clone(&walks), number);
        self.walks.push(walks);
        self.next.push(Next::default());
        number
    }
}

impl<'a> AnyForms<'a> {
    pub(super) fn new(forms: Vec<Forms<'a>>) -> Self {
        let states = RefCell::default();
        Self { forms, states }
    }

    /// Returns with what the terms begin.
    pub(super) fn prefixes(&self) -> Vec<String> {
        let mut prefixes: Vec<String> = Vec::new();
        for forms in &self.forms {
            let has_it = |known: &String| forms.prefix.starts_with(known.as_str());
            if !prefixes.iter().any(has_it) {
                prefixes.retain(|known| !known.starts_with(forms.prefix));
                prefixes.push(forms.prefix.to_owned());
            }
        }
        prefixes
    }

    #[cfg(test)]
    pub(super) fn accepts(&self, term: &str) -> bool {
        let mut bytes = term.bytes();
        (&self).is_match(
            &bytes
                .try_fold((&self).start(), |state, byte| {
                    Some((&self).accept(&state, byte)).filter(|state| *state != DEAD)
                })
                .unwrap_or(DEAD),
        )
    }
}

impl Automaton for &AnyForms<'_> {
    type State = u32;

    fn start(&self) -> u32 {
        let walks = self.forms.iter().map(|forms| Some(forms.start()));
        self.states.borrow_mut().number(walks.collect())
    }

    fn is_match(&self, state: &u32) -> bool {
        let states = self.states.borrow();
        let Some(walks) = states.walks.get(*state as usize) else {
            return false;
        };
        let mut each = self.forms.iter().zip(walks.iter());
        each.any(|(forms, walk)| walk.is_some_and(|walk| forms.is_match(&walk)))
    }

    fn can_match(&self, state: &u32) -> bool {
        *state != DEAD
    }

    fn accept(&self, state: &u32, byte: u8) -> u32 {
        let mut states = self.states.borrow_mut();
        let from = *state as usize;
        let Some(next) = states.next.get(from) else {
            return DEAD;
        };
        if let Some(known) = next.get(byte) {
            return known;
        }
        let walks = Arc::clone(&states.walks[from]);
        let each = self.forms.iter().zip(walks.iter());
        let walks = each.map(|(forms, walk)| forms.accept(walk.as_ref()?, byte));
        let number = states.number(walks.collect());
        states.next[from].set(byte, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(prefix: &str, term: &str, language: &str) -> bool {
        let endings = Endings::of(language);
        let forms = Forms {
            prefix,
            free: 1,
            endings: endings.as_ref(),
        };
        AnyForms::new(vec![forms]).accepts(term)
    }

    #[test]
    fn endings_may_follow_a_letter_and_one_another() {
        for (prefix, term) in [
            ("get", "get"),
            ("get", "gets"),
            ("get", "getting"),
            ("hop", "hopes"),
            ("happ", "happily"),
            ("rela", "relational"),
            ("rela", "relativity"),
            ("commi", "committed"),
            ("natio", "nationalizations"),
        ] {
            assert!(accepts(prefix, term, "en"), "{term}");
        }
        for (prefix, term) in [
            ("get", "getinstance"),
            ("get", "getopt"),
            ("get", "get2"),
            ("get", "ge"),
            ("get", "bets"),
            ("hop", "hopscotch"),
        ] {
            assert!(!accepts(prefix, term, "en"), "{term}");
        }
    }

    #[test]
    fn letters_of_several_bytes_are_one_letter() {
        assert!(accepts("книг", "книга", "ru"));
        assert!(accepts("книг", "книгами", "ru"));
        assert!(!accepts("книг", "книгопечатание", "ru"));
    }

    #[test]
    fn a_language_without_a_list_has_any_ending() {
        assert!(accepts("βιβλι", "βιβλιοθηκη", "el"));
        assert!(!accepts("βιβλι", "βιβλι.ο", "el"));
    }
}

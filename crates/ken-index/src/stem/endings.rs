//! What a word may end with so that a stemmer can leave a stem of it.
//!
//! A stemmer takes endings off one after the other, so that a form of a word is its stem, of which
//! the last letter may be another one or be there twice, and then endings of a list. That is an
//! automaton: walked together with the dictionary it leads to the few terms that may be forms,
//! and the stemmer decides. Of terms that start with `get` there may be tens of thousands.

use tantivy_fst::Automaton;

/// A line for each language: its code, then its endings.
const ENDINGS: &str = include_str!("endings.txt");

/// How many bytes a form may be longer than what all forms share: longer ones are other words.
const MAX_ENDING: usize = 16;

/// Words of bits that say at which nodes a walk is: more nodes than any language has.
const WORDS: usize = 9;

/// The endings of a language, as a trie; node 0 is its root.
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
    /// Returns the endings of a language by its code; `None` if they are not known.
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

/// The terms that may be forms of a word.
pub(super) struct Forms<'a> {
    /// What all of them start with.
    pub(super) prefix: &'a str,
    /// How many letters after it may be any.
    pub(super) free: usize,
    /// What may follow then; anything if it is not known.
    pub(super) endings: Option<&'a Endings>,
}

/// How far a term was read.
#[derive(Clone, Copy)]
pub(super) struct Walk {
    /// Bytes, or `DEAD`.
    length: usize,
    /// How many letters may still be any, if the walk takes them so.
    free: usize,
    /// Bytes of a letter that are still to come.
    rest: u8,
    /// The letter before, if it may be there once more.
    before: u8,
    /// The nodes of the trie at which it may be.
    nodes: [u64; WORDS],
}

const DEAD: usize = usize::MAX;

impl Walk {
    fn add(&mut self, node: usize) {
        self.nodes[node / 64] |= 1 << (node % 64);
    }

    fn is_lost(&self) -> bool {
        self.free == 0 && self.rest == 0 && self.before == 0 && self.nodes == [0; WORDS]
    }
}

impl Forms<'_> {
    /// Goes on after the prefix.
    fn step(&self, endings: &Endings, from: &Walk, byte: u8) -> Walk {
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
                // A stemmer may have read `y` as `i`.
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
}

impl Automaton for Forms<'_> {
    type State = Walk;

    fn start(&self) -> Walk {
        Walk {
            length: 0,
            free: self.free,
            rest: 0,
            before: self.prefix.bytes().last().unwrap_or(0),
            // Where the prefix ends an ending may begin.
            nodes: std::array::from_fn(|word| u64::from(word == 0)),
        }
    }

    fn is_match(&self, walk: &Walk) -> bool {
        let ends = walk.nodes[0] & 1 != 0 || self.endings.is_none();
        self.can_match(walk) && walk.length >= self.prefix.len() && ends
    }

    fn can_match(&self, walk: &Walk) -> bool {
        walk.length != DEAD
    }

    fn accept(&self, walk: &Walk, byte: u8) -> Walk {
        let dead = Walk {
            length: DEAD,
            ..*walk
        };
        if walk.length < self.prefix.len() {
            return match self.prefix.as_bytes()[walk.length] == byte {
                true => Walk {
                    length: walk.length + 1,
                    ..*walk
                },
                false => dead,
            };
        }
        // A form is made of letters.
        let is_letter = byte.is_ascii_alphabetic() || !byte.is_ascii();
        if walk.length == DEAD || !is_letter || walk.length >= self.prefix.len() + MAX_ENDING {
            return dead;
        }
        let Some(endings) = self.endings else {
            return Walk {
                length: walk.length + 1,
                ..*walk
            };
        };
        let next = self.step(endings, walk, byte);
        if next.is_lost() { dead } else { next }
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
        let walk = term.bytes();
        let walk = walk.fold(forms.start(), |walk, byte| forms.accept(&walk, byte));
        forms.is_match(&walk)
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

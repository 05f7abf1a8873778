//! Finds the forms of a word: all terms of the dictionary with the same stem.
//!
//! Stemming every token would slow indexing and lose the forms. Instead the dictionary is searched
//! at query time: the forms of a word share the first letters of its stem and have endings of its
//! language, so few terms are examined. The stemmers are Snowball's (M. Porter, "Snowball: a
//! language for stemming algorithms", 2001).

mod apart;
mod endings;
mod expand;
mod languages;
mod lexicon;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use foldhash::fast::FixedState;
use frostem::Stemmer;
use ken_core::{Field, Form, Pattern, Plan, Ranking, Span, Word};
use tantivy::index::SegmentReader;

use self::apart::Apart;
use self::endings::{AnyForms, Endings, Forms};
use crate::analysis::function_words;
use crate::dictionary::Trie;
use crate::limits::{Limits, reached};
use crate::parallel;

pub use self::expand::expand;
pub(crate) use self::languages::Stemming;
pub use self::languages::unknown_language;
pub(crate) use self::languages::{InIndex, Within};
pub use self::lexicon::Lexicon;

/// Minimum number of letters that forms share with the stem: `use` for `using` and `used` is a
/// range by `us`.
const MIN_PREFIX: usize = 2;

/// The stemming of one language.
#[derive(Clone)]
struct Rules {
    stemmer: Stemmer,
    endings: Option<Endings>,
    apart: Apart,
}

impl Rules {
    /// Returns whether a term is a form of a word with this stem.
    fn join(&self, term: &str, word: &str, stem: &str) -> bool {
        self.stemmer.stem(term) == *stem && !self.apart.are_apart(term, word)
    }

    /// Returns the sets of terms that may have the stem of a word; none if word and stem have too
    /// little in common.
    fn forms<'a>(&'a self, word: &'a str, stem: &'a str) -> Vec<Forms<'a>> {
        let forms = |prefix, free| Forms {
            prefix,
            free,
            endings: self.endings.as_ref(),
        };
        let prefix = shared(word, stem);
        let n_shared = prefix.chars().count();
        if n_shared < MIN_PREFIX {
            return Vec::new();
        }
        let n_other = stem.chars().count() - n_shared;
        match before_rest(word, stem, prefix.len()) {
            Some(before) if n_other > 1 => {
                // One of two letters may be half of a long vowel: opmaak, opmaken.
                vec![forms(without_last(stem, 2), 2), forms(before, 1)]
            }
            _ => vec![forms(prefix, free(stem, n_other))],
        }
    }
}

fn code(language: &str) -> &str {
    language.split(['-', '_']).next().unwrap_or_default()
}

/// The search for the forms of a word by one thread.
struct Search<'a> {
    word: &'a str,
    rules: &'a [&'a Rules],
    /// The stem of the word by each of the rules.
    stems: &'a [Cow<'a, str>],
    forms: AnyForms<'a>,
    /// Terms seen so far: most occur in several segments and fields, and stemming is expensive.
    seen: HashSet<Box<str>, FixedState>,
    found: BTreeSet<String>,
}

impl<'a> Search<'a> {
    fn new(word: &'a str, rules: &'a [&'a Rules], stems: &'a [Cow<'a, str>]) -> Self {
        let each = rules.iter().zip(stems);
        let forms = each.flat_map(|(rules, stem)| rules.forms(word, stem));
        Self {
            word,
            rules,
            stems,
            forms: AnyForms::new(forms.collect()),
            seen: HashSet::default(),
            found: BTreeSet::new(),
        }
    }

    /// Finds the other terms of a dictionary that have the stem of the word in one of the
    /// languages.
    fn look_through(&mut self, dictionary: &Trie) {
        let Self {
            word,
            rules,
            stems,
            forms,
            seen,
            found,
        } = self;
        dictionary.each(&&*forms, &mut |term| {
            let text = std::str::from_utf8(term).unwrap_or_default();
            if seen.contains(text) || !text.chars().all(char::is_alphabetic) {
                return;
            }
            seen.insert(text.into());
            let mut each = rules.iter().zip(*stems);
            if text != *word && each.any(|(rules, stem)| rules.join(text, word, stem)) {
                found.insert(text.to_owned());
            }
        });
    }

    /// Adds a term if it has the stem of the word in one of the languages.
    fn look_at(&mut self, term: &str) {
        let mut each = self.rules.iter().zip(self.stems);
        let is_word = term.chars().all(char::is_alphabetic) && term != self.word;
        if is_word && each.any(|(rules, stem)| rules.join(term, self.word, stem)) {
            self.found.insert(term.to_owned());
        }
    }
}

/// Returns the common beginning of all forms of a word: what the word shares with its stem. The
/// last letter is excluded, since the last letter of a stem may be changed (happy, happi) or added
/// (hoping, hope).
fn shared<'a>(word: &'a str, stem: &str) -> &'a str {
    let same = word.chars().zip(stem.chars()).take_while(|(a, b)| a == b);
    let length = stem.chars().count();
    // The last letter of a stem of three letters seldom changes, and the range would be large.
    let most = if length > 3 { length - 1 } else { length };
    let bytes = same.take(most).map(|(c, _)| c.len_utf8()).sum();
    &word[..bytes]
}

/// Returns the beginning of the forms that differ from the stem as the word does. Of the stem's
/// part after `n_shared` bytes, the end also occurs in the word (in\[ge]bouwd, inbouw; lopen,
/// lo\[o]p), except that its last letter may differ.
fn before_rest<'a>(word: &'a str, stem: &str, n_shared: usize) -> Option<&'a str> {
    let rest = stem.get(n_shared..)?;
    let ends = rest.char_indices().map(|(at, _)| &rest[at..]);
    let mut found = ends.filter_map(|end| {
        let at = word[n_shared..].find(end)?;
        Some(without_last(&word[..n_shared + at + end.len()], 1))
    });
    found.next()
}

/// Returns a text without its last `n` letters.
fn without_last(text: &str, n: usize) -> &str {
    let mut left = text.chars();
    left.by_ref().rev().take(n).for_each(drop);
    left.as_str()
}

/// Returns how many letters of a form are free, given its stem and the number of the stem's letters
/// that the word lacks: the last one may differ, and a stemmer that changes others may remove some.
fn free(stem: &str, n_other: usize) -> usize {
    match n_other {
        // All forms start with it, unless its last letter is part of their ending: die, died.
        0 => usize::from(!stem.ends_with(|c: char| c.is_ascii() && !"aeiouy".contains(c))),
        1 => 1,
        n => n + 2,
    }
}

/// Replaces stems by forms.
pub(crate) struct Expander<'a> {
    pub(crate) stemming: &'a Stemming,
    pub(crate) ranking: &'a Ranking,
    within: Within<'a>,
    /// When no further words are looked up.
    limits: Option<&'a Limits>,
    /// The forms of requested words, by word and field, since the words of a query repeat.
    known: RefCell<HashMap<(String, Option<Field>), FormsOf>>,
}

/// The other forms of a word.
type FormsOf = Rc<BTreeSet<String>>;

impl<'a> Expander<'a> {
    pub(crate) fn new(
        stemming: &'a Stemming,
        ranking: &'a Ranking,
        within: Within<'a>,
        limits: Option<&'a Limits>,
    ) -> Self {
        Self {
            stemming,
            ranking,
            within,
            limits,
            known: RefCell::default(),
        }
    }

    /// Returns the plan with stems replaced by terms of the index.
    pub(crate) fn plan(&self, plan: &Plan) -> tantivy::Result<Plan> {
        let list = |parts: &[Plan]| {
            parts
                .iter()
                .map(|part| self.plan(part))
                .collect::<tantivy::Result<Vec<_>>>()
        };
        let boxed = |part: &Plan| Ok::<_, tantivy::TantivyError>(Box::new(self.plan(part)?));
        Ok(match plan {
            Plan::Word(word) => Plan::Word(self.word(word)?),
            Plan::And(parts) => Plan::And(list(parts)?),
            Plan::Or(parts) => {
                let languages = self.stemming.main(self.within)?;
                let languages = languages.iter().filter_map(|of| of.function_words());
                let languages: Vec<_> = languages.collect();
                let weight = self.ranking.function_words;
                Plan::Or(list(&function_words::weigh(parts, &languages, weight))?)
            }
            Plan::Xor(left, right) => Plan::Xor(boxed(left)?, boxed(right)?),
            Plan::Not(part) => Plan::Not(boxed(part)?),
            Plan::Weight(weight, part) => Plan::Weight(*weight, boxed(part)?),
            Plan::Filter(part) => Plan::Filter(boxed(part)?),
            Plan::Prefer(part) => Plan::Prefer(boxed(part)?),
            Plan::Thread(part) => Plan::Thread(boxed(part)?),
            Plan::Carrier(part) => Plan::Carrier(boxed(part)?),
            plan => plan.clone(),
        })
    }

    fn word(&self, word: &Word) -> tantivy::Result<Word> {
        let mut forms: Vec<Form> = Vec::new();
        for Form {
            span,
            weight,
            derived,
        } in &word.forms
        {
            let Span::Match(Pattern::Stem(term)) = span else {
                let span = self.span(span, word)?;
                forms.push(Form {
                    span,
                    weight: *weight,
                    derived: *derived,
                });
                continue;
            };
            let form = |term: String, weight, derived| Form {
                span: Span::Match(Pattern::Term(term)),
                weight,
                derived,
            };
            forms.push(form(term.clone(), *weight, *derived));
            for other in self.forms(term, word)?.iter() {
                forms.push(form(other.clone(), weight * self.ranking.stemmed, true));
            }
        }
        Ok(Word { forms, ..*word })
    }

    fn span(&self, span: &Span, word: &Word) -> tantivy::Result<Span> {
        let list = |parts: &[Span]| {
            parts
                .iter()
                .map(|part| self.span(part, word))
                .collect::<tantivy::Result<Vec<_>>>()
        };
        Ok(match span {
            Span::Match(pattern) => Span::Match(self.pattern(pattern, word)?),
            Span::Any(parts) => Span::Any(list(parts)?),
            Span::Phrase(terms) => {
                let terms = terms.iter();
                let terms = terms.map(|(at, of)| Ok((*at, self.pattern(of, word)?)));
                Span::Phrase(terms.collect::<tantivy::Result<_>>()?)
            }
            Span::Near {
                parts,
                slop,
                ordered,
            } => Span::Near {
                parts: list(parts)?,
                slop: *slop,
                ordered: *ordered,
            },
        })
    }

    fn pattern(&self, pattern: &Pattern, word: &Word) -> tantivy::Result<Pattern> {
        let Pattern::Stem(term) = pattern else {
            return Ok(pattern.clone());
        };
        let mut terms = vec![term.clone()];
        terms.extend(self.forms(term, word)?.iter().cloned());
        Ok(Pattern::Any(terms))
    }

    fn forms(&self, term: &str, word: &Word) -> tantivy::Result<FormsOf> {
        let key = (term.to_owned(), word.field);
        if let Some(known) = self.known.borrow().get(&key) {
            return Ok(Rc::clone(known));
        }
        let forms = match term.chars().all(char::is_alphabetic) && !reached(self.limits) {
            true => self.look_up(term, word)?,
            false => BTreeSet::new(),
        };
        let forms = Rc::new(forms);
        self.known.borrow_mut().insert(key, Rc::clone(&forms));
        Ok(forms)
    }

    fn look_up(&self, term: &str, word: &Word) -> tantivy::Result<BTreeSet<String>> {
        let within = self.within;
        let found = self.stemming.of_term(term, within)?;
        let is_certain = found.is_certain;
        let ruled = found.languages.into_iter();
        let ruled = ruled.filter_map(|language| Some((language, language.rules()?)));
        let (languages, rules): (Vec<_>, Vec<_>) = ruled.unzip();
        if rules.is_empty() {
            return Ok(BTreeSet::new());
        }
        let stems: Vec<_> = rules.iter().map(|of| of.stemmer.stem(term)).collect();
        let mut found = match within {
            Within::Index(within) => in_index(term, word, &rules, &stems, within)?,
            Within::Lexicon(lexicon) => {
                expand::in_lexicon(Search::new(term, &rules, &stems), word, lexicon)
            }
        };
        if !is_certain {
            let mut wrong = Vec::new();
            for form in &found {
                let own = self.stemming.of_form(form, within)?;
                let mut each = languages.iter().zip(rules.iter().zip(&stems));
                let is_form = each.any(|(language, (rules, stem))| {
                    own.iter().any(|of| std::ptr::eq(*of, *language))
                        && rules.join(form, term, stem)
                });
                if !is_form {
                    wrong.push(form.clone());
                }
            }
            wrong.iter().for_each(|form| _ = found.remove(form));
        }
        Ok(found)
    }
}

/// Returns the other forms of a word in the dictionaries of a snapshot.
fn in_index(
    term: &str,
    word: &Word,
    rules: &[&Rules],
    stems: &[Cow<'_, str>],
    within: InIndex<'_>,
) -> tantivy::Result<BTreeSet<String>> {
    let fields = Field::all().filter(|field| word.looks_in(*field));
    let mut columns: Vec<_> = fields.map(|field| within.columns.of(field)).collect();
    if word.field.is_none() {
        columns.push(within.columns.folder);
    }
    let (shortcuts, idle) = (within.shortcuts, Mutex::new(Vec::new()));
    let idle_searches = || idle.lock().unwrap_or_else(PoisonError::into_inner);
    let look = |_, segment: &SegmentReader| {
        let search = idle_searches().pop();
        let mut search = search.unwrap_or_else(|| Search::new(term, rules, stems));
        for column in &columns {
            if let Some(dictionary) = shortcuts.of(segment, *column).trie()? {
                search.look_through(&dictionary);
            }
        }
        idle_searches().push(search);
        tantivy::Result::Ok(())
    };
    // A traversal visits few terms, in a large dictionary as in a small one.
    parallel::each(within.segments, |_| 1, usize::MAX, look)?;
    let searches = idle.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(searches.into_iter().flat_map(|of| of.found).collect())
}

/// Returns whether a plan may have stems to replace, or words to weigh.
pub(crate) fn may_change(plan: &Plan) -> bool {
    match plan {
        Plan::Word(word) => word.forms.iter().any(|form| {
            let mut found = false;
            let span = &form.span;
            span.patterns(&mut |pattern| found |= matches!(pattern, Pattern::Stem(_)));
            found
        }),
        Plan::Or(_) => true,
        _ => plan.parts().into_iter().any(may_change),
    }
}

#[cfg(test)]
mod tests {
    use super::languages::Language;
    use super::*;

    #[test]
    fn forms_share_the_start_of_their_stem() {
        for (word, stem, expected) in [
            ("happy", "happi", "happ"),
            ("happiness", "happi", "happ"),
            ("hoping", "hope", "hop"),
            ("run", "run", "run"),
            ("dying", "die", "d"),
            ("größe", "gross", "gr"),
            ("using", "use", "us"),
        ] {
            assert_eq!(shared(word, stem), expected, "{word}");
        }
    }

    #[test]
    fn no_form_is_passed_by() {
        let groups = [
            (
                "en",
                "relate relates related relating relation relational relativity",
            ),
            ("en", "die died dies"),
            ("en", "run runs running"),
            ("en", "commit commits committed committing"),
            (
                "en",
                "compress compressed compressing compression compressibility",
            ),
            ("de", "arbeit arbeiten arbeitet arbeitete"),
            ("fr", "normal normale normales normaux"),
            ("it", "mandare mando mandava mandano"),
            ("es", "hablar hablando hablamos hablaron"),
            ("nl", "boek boeken"),
            ("ru", "книга книги книгами"),
            ("fi", "talo talon talossa"),
            ("tr", "kitap kitaplar"),
        ];
        let mut n_forms = 0;
        for (code, words) in groups {
            let rules = Language::of(code).and_then(Language::rules).unwrap();
            assert!(rules.endings.is_some(), "{code}");
            let words: Vec<&str> = words.split(' ').collect();
            for word in &words {
                let stem = rules.stemmer.stem(word);
                let forms = AnyForms::new(rules.forms(word, &stem));
                for form in words.iter().filter(|form| rules.stemmer.stem(form) == stem) {
                    assert!(forms.accepts(form), "{code}: {form} as a form of {word}");
                    n_forms += usize::from(form != word);
                }
            }
        }
        assert!(n_forms > 40, "{n_forms} forms");
    }

    /// The Dutch stemmer removes `ge` from the middle of a word and doubles vowels, even in terms
    /// of other languages.
    #[test]
    fn what_a_stemmer_takes_out_of_the_middle_makes_no_wide_range() {
        let rules = Language::of("nl").and_then(Language::rules).unwrap();
        for (word, others) in [
            ("ingebouwd", "ingebouwde inbouw inbouwen"),
            ("uitgevoerd", "uitgevoerde uitvoer uitvoerbaar uitvoering"),
            ("lopen", "lopend lopende loop loops loopt"),
            ("weergegeven", "weergeven"),
            ("opgemaakt", "opgemaakte opmaak opmaken"),
        ] {
            let stem = rules.stemmer.stem(word);
            let forms = AnyForms::new(rules.forms(word, &stem));
            for other in others.split(' ') {
                assert_eq!(rules.stemmer.stem(other), stem, "{other}");
                assert!(forms.accepts(other), "{other} as a form of {word}");
            }
            for other in ["instances", "install", "initiate", "uitgang"] {
                assert!(!forms.accepts(other), "{other} as a form of {word}");
            }
        }
    }
}

//! Determines in which languages a word has other forms: those of the documents with the word.
//!
//! The rules of another language would join unrelated words: in Catalan `mode` is a form of
//! `models`, in Portuguese `not` of `notes`. Therefore the languages of some documents with the
//! word are read, from several positions in each segment, because documents of one folder are next to
//! each other. If too few of them have a language, the languages of most documents are used too, and
//! a form counts only if documents of the same language have it.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use frostem::Stemmer;
use ken_core::Field;
use tantivy::index::SegmentReader;
use tantivy::schema::IndexRecordOption;

use super::apart::Apart;
use super::endings::Endings;
use super::{Lexicon, Rules, code};
use crate::analysis::function_words::FunctionWords;
use crate::dictionary::Shortcuts;
use crate::schema::{Columns, value_column};

/// Languages that Snowball has rules for.
static LANGUAGES: [Language; 35] = [
    Language::new("ar"),
    Language::new("ca"),
    Language::new("cs"),
    Language::new("da"),
    Language::new("de"),
    Language::new("el"),
    Language::new("en"),
    Language::new("eo"),
    Language::new("es"),
    Language::new("et"),
    Language::new("eu"),
    Language::new("fa"),
    Language::new("fi"),
    Language::new("fr"),
    Language::new("ga"),
    Language::new("hi"),
    Language::new("hu"),
    Language::new("hy"),
    Language::new("id"),
    Language::new("it"),
    Language::new("lt"),
    Language::new("ne"),
    Language::new("nl"),
    Language::new("no"),
    Language::new("pl"),
    Language::new("pt"),
    Language::new("ro"),
    Language::new("ru"),
    Language::new("sr"),
    Language::new("st"),
    Language::new("sv"),
    Language::new("ta"),
    Language::new("tr"),
    Language::new("uk"),
    Language::new("yi"),
];

/// Maximum number of languages in which a word has forms.
const MAX_LANGUAGES: usize = 4;
/// If fewer than one in this many documents are in a language, its rules are not used for every
/// word.
const RARE: u64 = 1000;
/// If fewer than one in this many documents with a word are in a language, its rules are not used
/// for the word.
const RARE_WITH_WORD: u32 = 10;
/// Minimum number of documents with a language for a decision about their words.
const ENOUGH: u32 = 4;
/// The language that is used when documents have none.
const FALLBACK: &str = "en";

/// Number of samples of a segment that are read, and number of documents in each.
const SAMPLES: u32 = 8;
const DOCUMENTS_PER_SAMPLE: usize = 8;

/// A language with rules, which are loaded when they are needed.
pub(crate) struct Language {
    code: &'static str,
    rules: OnceLock<Option<Rules>>,
    function_words: OnceLock<Option<FunctionWords>>,
}

impl Language {
    const fn new(code: &'static str) -> Self {
        Self {
            code,
            rules: OnceLock::new(),
            function_words: OnceLock::new(),
        }
    }

    /// Returns the language with a code or name; `en-GB` is `en`.
    pub(super) fn of(name: &str) -> Option<&'static Self> {
        let name = code(name);
        let of_code = LANGUAGES.iter().find(|of| of.code == name);
        of_code.or_else(|| {
            let algorithm = Stemmer::try_from_name(name).ok()?.algorithm();
            let is_same = |of: &&Self| {
                Stemmer::try_from_name(of.code).is_ok_and(|of| of.algorithm() == algorithm)
            };
            LANGUAGES.iter().find(is_same)
        })
    }

    pub(super) fn rules(&self) -> Option<&Rules> {
        let read = || {
            Some(Rules {
                stemmer: Stemmer::try_from_name(self.code).ok()?,
                endings: Endings::of(self.code),
                apart: Apart::of(self.code),
            })
        };
        self.rules.get_or_init(read).as_ref()
    }

    pub(crate) fn function_words(&self) -> Option<&FunctionWords> {
        let words = self
            .function_words
            .get_or_init(|| FunctionWords::of(self.code));
        words.as_ref()
    }
}

/// The languages of a snapshot.
#[derive(Default)]
pub(crate) struct Stemming {
    /// Requested languages, which replace those of the documents.
    asked: Option<Vec<&'static Language>>,
    /// The languages of most documents, once they are counted.
    main: OnceLock<Vec<&'static Language>>,
}

/// Returns the first of these languages, by code, of which ken does not know how words get their forms.
pub fn unknown_language(languages: &[String]) -> Option<&str> {
    let mut languages = languages.iter();
    let unknown = languages.find(|name| Language::of(name).is_none());
    unknown.map(String::as_str)
}

impl Stemming {
    /// Returns the rules of these languages for all words, or the first language without rules.
    pub(crate) fn new(languages: &[String]) -> Result<Self, String> {
        let known = |name: &String| Language::of(name).ok_or_else(|| name.clone());
        Ok(Self {
            asked: Some(languages.iter().map(known).collect::<Result<_, _>>()?),
            main: OnceLock::new(),
        })
    }

    /// Returns the languages of most documents, the most frequent first.
    pub(super) fn main(&self, within: Within<'_>) -> tantivy::Result<&[&'static Language]> {
        if let Some(main) = self.main.get() {
            return Ok(main);
        }
        let counted = count(within)?;
        Ok(self.main.get_or_init(|| counted))
    }

    /// Returns the languages whose rules give a term other forms.
    pub(super) fn of_term(&self, term: &str, within: Within<'_>) -> tantivy::Result<OfTerm> {
        let mut found = match &self.asked {
            Some(asked) => OfTerm {
                languages: asked.clone(),
                is_certain: true,
            },
            None => {
                let counts = count_with(term, within)?;
                let mut languages = most_frequent(&counts);
                let is_certain = counts.values().sum::<u32>() >= ENOUGH;
                if !is_certain {
                    let main = self.main(within)?.iter();
                    let others = main.filter(|of| !counts.contains_key(of.code));
                    languages.extend(others);
                }
                OfTerm {
                    languages,
                    is_certain,
                }
            }
        };
        // Function words have no endings: `not` is not a form of `note`.
        let serves = |of: &FunctionWords| of.contains(term);
        found
            .languages
            .retain(|of| !of.function_words().is_some_and(serves));
        Ok(found)
    }

    /// Returns the languages of the documents with a form. Of documents without a language it is
    /// the most frequent one of the index.
    pub(super) fn of_form(
        &self,
        form: &str,
        within: Within<'_>,
    ) -> tantivy::Result<Vec<&'static Language>> {
        let counts = count_with(form, within)?;
        if counts.is_empty() {
            return Ok(self.main(within)?.iter().take(1).copied().collect());
        }
        Ok(most_frequent(&counts))
    }
}

/// The languages of a term.
pub(super) struct OfTerm {
    pub(super) languages: Vec<&'static Language>,
    /// Whether enough documents have the term in these languages. If not, most documents are in
    /// them, and the documents of a form show whether it is one of the same language: `linus` is in
    /// no document, and in Lithuanian `line` would be a form of it.
    pub(super) is_certain: bool,
}

/// Where terms and languages are looked up.
#[derive(Clone, Copy)]
pub(crate) enum Within<'a> {
    /// In a snapshot.
    Index(InIndex<'a>),
    /// In an index on other machines.
    Lexicon(&'a dyn Lexicon),
}

/// What a snapshot has.
#[derive(Clone, Copy)]
pub(crate) struct InIndex<'a> {
    pub(crate) segments: &'a [SegmentReader],
    pub(crate) columns: &'a Columns,
    pub(crate) shortcuts: &'a Shortcuts,
}

/// Returns the languages of the documents with a word, the most frequent first.
fn most_frequent(counts: &BTreeMap<String, u32>) -> Vec<&'static Language> {
    let all: u32 = counts.values().sum();
    let mut counts: Vec<(&String, u32)> = counts.iter().map(|(code, n)| (code, *n)).collect();
    counts.retain(|(_, n)| n * RARE_WITH_WORD >= all);
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let languages = counts.into_iter();
    let languages = languages.filter_map(|(code, _)| Language::of(code));
    languages.take(MAX_LANGUAGES).collect()
}

/// Counts the languages of some documents with a term in their body.
fn count_with(term: &str, within: Within<'_>) -> tantivy::Result<BTreeMap<String, u32>> {
    let mut counts = BTreeMap::new();
    let within = match within {
        Within::Index(within) => within,
        Within::Lexicon(lexicon) => {
            for (tag, n) in lexicon.languages_with(term) {
                *counts.entry(code(&tag).to_owned()).or_default() += n;
            }
            return Ok(counts);
        }
    };
    for segment in within.segments {
        let column = within.columns.of(Field::Body);
        let Some(index) = within.shortcuts.index(segment, column)? else {
            continue;
        };
        let Some(info) = index.terms().get(term)? else {
            continue;
        };
        let Some(values) = segment.fast_fields().str(&value_column(Field::Lang))? else {
            continue;
        };
        let option = IndexRecordOption::Basic;
        let mut block = index.read_block_postings_from_terminfo(&info, option)?;
        let mut ordinals: BTreeMap<u64, u32> = BTreeMap::new();
        let mut next = 0;
        for sample in 0..SAMPLES {
            let target = u64::from(segment.max_doc()) * u64::from(sample) / u64::from(SAMPLES);
            // It is less than the number of documents.
            let at = block.seek(next.max(target as u32));
            let rest = block.docs().get(at..).unwrap_or_default();
            for doc in rest.iter().take(DOCUMENTS_PER_SAMPLE) {
                next = doc + 1;
                if let Some(ordinal) = values.ords().first(*doc) {
                    *ordinals.entry(ordinal).or_default() += 1;
                }
            }
            if rest.is_empty() {
                break;
            }
        }
        for (ordinal, n) in ordinals {
            let mut tag = String::new();
            values.ord_to_str(ordinal, &mut tag)?;
            *counts.entry(code(&tag).to_owned()).or_default() += n;
        }
    }
    Ok(counts)
}

/// Returns the languages of the documents that have rules, the most frequent first.
fn count(within: Within<'_>) -> tantivy::Result<Vec<&'static Language>> {
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut rest = 0;
    let within = match within {
        Within::Index(within) => within,
        Within::Lexicon(lexicon) => {
            let (found, all) = lexicon.languages();
            rest = all;
            for (tag, n) in found {
                if let Some(language) = LANGUAGES.iter().find(|of| of.code == tag) {
                    *counts.entry(language.code).or_default() += n;
                    rest = rest.saturating_sub(n);
                }
            }
            let codes = not_rare(counts, rest).into_iter();
            return Ok(codes.filter_map(Language::of).collect());
        }
    };
    for segment in within.segments {
        rest += u64::from(segment.max_doc());
        let column = within.columns.of(Field::Lang);
        let Some(index) = within.shortcuts.index(segment, column)? else {
            continue;
        };
        let mut terms = index.terms().stream()?;
        while terms.advance() {
            // A document in `en-GB` has both that value and `en`.
            let known = LANGUAGES
                .iter()
                .find(|of| of.code.as_bytes() == terms.key());
            if let Some(language) = known {
                let n = u64::from(terms.value().doc_freq);
                *counts.entry(language.code).or_default() += n;
                rest = rest.saturating_sub(n);
            }
        }
    }
    let codes = not_rare(counts, rest).into_iter();
    Ok(codes.filter_map(Language::of).collect())
}

/// Returns the languages that are not rare, the most frequent first, given the documents of each
/// language and of none.
fn not_rare(mut counts: BTreeMap<&'static str, u64>, rest: u64) -> Vec<&'static str> {
    let all: u64 = counts.values().sum::<u64>() + rest;
    *counts.entry(FALLBACK).or_default() += rest;
    let mut languages: Vec<(&'static str, u64)> = counts.into_iter().collect();
    languages.retain(|(_, n)| *n > 0 && n * RARE >= all);
    languages.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    languages.truncate(MAX_LANGUAGES);
    languages
        .into_iter()
        .map(|(language, _)| language)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_rules() {
        for language in &LANGUAGES {
            assert!(language.rules().is_some(), "{}", language.code);
        }
    }

    #[test]
    fn languages_are_known_by_their_codes() {
        for (name, code) in [
            ("en", "en"),
            ("de-AT", "de"),
            ("fr_CA", "fr"),
            ("english", "en"),
            ("ru", "ru"),
        ] {
            assert_eq!(Language::of(name).unwrap().code, code, "{name}");
        }
        let unknown = ["ja", "", "xx"].into_iter();
        assert!(unknown.map(Language::of).all(|of| of.is_none()));
    }

    #[test]
    fn languages_of_few_documents_have_their_forms() {
        let taken = |counts: &[(&'static str, u64)], rest| {
            not_rare(counts.iter().copied().collect(), rest).join(" ")
        };
        let few = ["de", "fr", "es", "it", "pt", "sv", "nl"].map(|code| (code, 4));
        let counts = [&[("en", 30)], &few[..]].concat();
        assert_eq!(taken(&counts, 0), "en de es fr");
        assert_eq!(taken(&[("it", 10), ("sv", 9)], 9981), "en it");
        assert_eq!(taken(&[("it", 3)], 0), "it");
        let codes = [
            "da", "de", "en", "es", "fi", "fr", "hu", "it", "nl", "no", "pt", "ro", "ru", "sv",
        ];
        assert_eq!(
            taken(&codes.map(|code| (code, 1)), 0),
            codes[..MAX_LANGUAGES].join(" ")
        );
    }

    #[test]
    fn a_word_has_the_languages_of_its_documents() {
        let taken = |counts: &[(&str, u32)]| {
            let counts = counts.iter().map(|(code, n)| ((*code).to_owned(), *n));
            let languages = most_frequent(&counts.collect());
            let codes: Vec<_> = languages.iter().map(|of| of.code).collect();
            codes.join(" ")
        };
        assert_eq!(taken(&[("ca", 3), ("en", 200)]), "en");
        assert_eq!(taken(&[("de", 30), ("en", 200), ("zh", 9)]), "en de");
        assert_eq!(taken(&[("ja", 40), ("en", 4)]), "");
        assert_eq!(taken(&[]), "");
    }
}

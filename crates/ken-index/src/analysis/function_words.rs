//! Function words: words such as `what`, `which`, `am`, which a sentence needs but its subject does
//! not.
//!
//! They are frequent in questions, while some are rare in documents, so that their inverse document
//! frequency would treat them as the subject. Other engines drop them when they index. Here they
//! are kept: they find documents, occur in phrases, and count fully in queries without other words.
//!
//! For English, the list has the classes of words in Snowball's list of stop words (M. Porter,
//! 2001), with `can` and `will`; for other languages, the words by which a language is detected.

use std::borrow::Cow;

use ken_core::{Pattern, Plan, Span, Word};

use super::{folded, frequent_words};

/// Pronouns, question words, demonstratives; forms of *be*, *have* and *do*; auxiliary verbs;
/// articles, conjunctions, prepositions; adverbs and quantifiers without a meaning of their own.
const ENGLISH: &str = "\
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself \
    she her hers herself it its itself they them their theirs themselves \
    what which who whom whose when where why how this that these those there here \
    am is are was were be been being have has had having do does did doing \
    can could will would shall should ought \
    a an the and but if or because as until while \
    of at by for with about against between into through during before after above below \
    to from up down in out on off over under \
    again further then once all any both each few more most other some such no nor not only own \
    same so than too very";

/// The function words of one language, folded like terms. There are up to a hundred, and a query
/// has few terms: building a table would take longer than searching them one by one.
#[derive(Clone, Debug)]
pub(crate) struct FunctionWords(Vec<Cow<'static, str>>);

impl FunctionWords {
    /// Returns the function words of a language by its code; `None` if they are unknown.
    pub(crate) fn of(language: &str) -> Option<Self> {
        let code = language.split(['-', '_']).next()?;
        let words = match code {
            "en" => ENGLISH,
            code => frequent_words(code)?,
        };
        let folded = |word: &'static str| match word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            true => Cow::Borrowed(word),
            false => Cow::Owned(folded(word)),
        };
        Some(Self(words.split_whitespace().map(folded).collect()))
    }

    fn has(&self, word: &Word) -> bool {
        term(word).is_some_and(|term| self.contains(term))
    }

    pub(crate) fn contains(&self, term: &str) -> bool {
        self.0.iter().any(|word| word == term)
    }
}

/// Returns alternatives in which function words have this weight.
///
/// The language is the one in which most of the words are function words. Words that have a weight
/// keep it, so that a second call changes nothing.
pub(crate) fn weigh(parts: &[Plan], languages: &[&FunctionWords], weight: f32) -> Vec<Plan> {
    let serving = |of: &&FunctionWords| {
        let words = parts.iter().filter_map(bare_or_weighted);
        words.filter(|word| of.has(word)).count()
    };
    // Among equals the first one counts, which is the language of most documents.
    let language = languages.iter().rev().max_by_key(|of| serving(of));
    let Some(language) = language.filter(|of| serving(of) < parts.len()) else {
        return parts.to_vec();
    };
    let weighed = parts.iter().map(|part| match part {
        Plan::Word(word) if language.has(word) => Plan::Weight(weight, Box::new(part.clone())),
        part => part.clone(),
    });
    weighed.collect()
}

fn bare_or_weighted(plan: &Plan) -> Option<&Word> {
    match plan {
        Plan::Word(word) => Some(word),
        Plan::Weight(_, part) => bare_or_weighted(part),
        _ => None,
    }
}

/// Returns the term of a word without a field.
fn term(word: &Word) -> Option<&str> {
    match (&word.field, word.forms.first()?) {
        (None, form) => match &form.span {
            Span::Match(Pattern::Term(term) | Pattern::Stem(term)) => Some(term),
            _ => None,
        },
        (Some(_), _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Plan> {
        let word = |word: &str| {
            let pattern = Pattern::Stem(word.to_owned());
            Plan::Word(Word::new(None, Span::Match(pattern)))
        };
        text.split(' ').map(word).collect()
    }

    fn weighed(text: &str) -> Vec<bool> {
        let languages = ["en", "de"].map(|code| FunctionWords::of(code).unwrap());
        let languages = languages.each_ref();
        let once = weigh(&words(text), &languages, 0.01);
        assert_eq!(
            weigh(&once, &languages, 0.01),
            once,
            "twice is once: {text}"
        );
        let is_weighed = |part: &Plan| matches!(part, Plan::Weight(..));
        once.iter().map(is_weighed).collect()
    }

    #[test]
    fn words_that_serve_the_sentence_hardly_count() {
        assert_eq!(
            weighed("what am i"),
            [false; 3],
            "nothing else is asked for"
        );
        assert_eq!(weighed("what is ken"), [true, true, false]);
        assert_eq!(weighed("tax report"), [false; 2]);
    }

    #[test]
    fn the_language_is_that_of_the_query() {
        assert_eq!(weighed("how do plants die"), [true, true, false, false]);
        assert_eq!(
            weighed("was ist die steuer fur"),
            [true, true, true, false, true]
        );
    }

    #[test]
    fn only_bare_words_without_a_field_are_weighed() {
        let mut parts = words("what ken");
        parts[0] = Plan::Weight(2.0, Box::new(parts[0].clone()));
        let english = FunctionWords::of("en").unwrap();
        assert_eq!(weigh(&parts, &[&english], 0.01), parts);
    }
}

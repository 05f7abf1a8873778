//! Words that have one stem and are not forms of each other: `import` and `importance`.
//!
//! A stemmer knows endings and no meanings. The words that it joins wrongly are told apart by their
//! beginnings: two words are forms of each other only if they have the same one of a list, or none.

/// One line for each language: its code, then the beginnings.
const BEGINNINGS: &str = include_str!("apart.txt");

/// The beginnings of a language.
#[derive(Clone, Debug, Default)]
pub(super) struct Apart(Vec<&'static str>);

impl Apart {
    /// Returns the beginnings of a language by its code.
    pub(super) fn of(code: &str) -> Self {
        let lines = BEGINNINGS.lines().filter(|line| !line.starts_with('#'));
        let mut lines = lines.map(|line| line.split(' '));
        let line = lines.find_map(|mut words| (words.next() == Some(code)).then_some(words));
        Self(line.map(Iterator::collect).unwrap_or_default())
    }

    /// Returns whether two words with the same stem are different words.
    pub(super) fn are_apart(&self, one: &str, other: &str) -> bool {
        self.beginning(one) != self.beginning(other)
    }

    /// Returns the longest beginning of the list that a word has.
    fn beginning(&self, word: &str) -> Option<&'static str> {
        let own = self
            .0
            .iter()
            .filter(|beginning| word.starts_with(**beginning));
        own.max_by_key(|beginning| beginning.len()).copied()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::languages::Language;
    use super::*;

    /// Returns whether the rules of a language take a word for a form of another.
    fn are_forms(code: &str, one: &str, other: &str) -> bool {
        let rules = Language::of(code).and_then(Language::rules).unwrap();
        let (one_stem, other_stem) = (rules.stemmer.stem(one), rules.stemmer.stem(other));
        one_stem == other_stem && !rules.apart.are_apart(one, other)
    }

    #[test]
    fn words_of_other_meanings_are_no_forms() {
        for (code, words) in [
            ("en", "authority author"),
            ("en", "appendicitis append"),
            ("en", "importance import"),
            ("en", "university universe"),
            ("en", "organization organ"),
            ("en", "generate general"),
            ("en", "news new"),
            ("en", "business busy"),
            ("en", "position positive"),
            ("en", "department depart"),
            ("en", "experience experiment"),
            ("en", "several severe"),
            ("en", "witness wit"),
            ("de", "sicherheit sich"),
            ("de", "meister meist"),
            ("de", "messer messe"),
            ("fr", "departement depart"),
            ("fr", "petition petite"),
            ("es", "libre libro"),
            ("it", "parlamento parlare"),
            ("nl", "gezondheid zon"),
            ("pt", "livre livro"),
        ] {
            let (one, other) = words.split_once(' ').unwrap();
            assert!(!are_forms(code, one, other), "{code}: {words}");
            assert!(!are_forms(code, other, one), "{code}: {words}");
        }
    }

    #[test]
    fn words_of_one_meaning_stay_forms() {
        for (code, words) in [
            ("en", "authority authorities"),
            ("en", "author authors"),
            ("en", "important importance"),
            ("en", "position positions"),
            ("en", "relation related"),
            ("en", "experiments experiment"),
            ("de", "sicher sicherheit"),
            ("de", "arbeit arbeiten"),
            ("fr", "petite petits"),
            ("es", "libro libros"),
            ("it", "parlare parlato"),
            ("nl", "gezond gezonde"),
            ("pt", "livros livro"),
        ] {
            let (one, other) = words.split_once(' ').unwrap();
            assert!(are_forms(code, one, other), "{code}: {words}");
        }
    }

    #[test]
    fn the_list_has_languages_with_rules_and_each_beginning_once() {
        for line in BEGINNINGS.lines().filter(|line| !line.starts_with('#')) {
            let mut words = line.split(' ');
            let code = words.next().unwrap();
            let language = Language::of(code).unwrap();
            let apart = &language.rules().unwrap().apart;
            let all: BTreeSet<_> = apart.0.iter().collect();
            assert!(all.len() == apart.0.len() && all.len() > 10, "{code}");
            assert!(!all.contains(&""), "{code}");
        }
        assert!(Apart::of("xx").0.is_empty());
    }
}

//! A question in plain words: what is no query is read as words.

use ken_core::FieldNames;

/// Returns whether a text uses the query language: a phrase, a field, an operator, an excluded word, or a beginning of a
/// word.
pub(super) fn is_query(text: &str, names: &FieldNames) -> bool {
    let quotes = text.matches('"').count();
    let has_phrase = quotes > 0 && quotes.is_multiple_of(2);
    has_phrase || text.split_whitespace().any(|word| is_operator(word, names))
}

fn is_operator(word: &str, names: &FieldNames) -> bool {
    let bare = word.trim_start_matches(['-', '(']);
    let is_field = bare.split_once(':').is_some_and(|(name, value)| {
        !value.is_empty() && !value.starts_with("//") && names.field(name).is_some()
    });
    let begins = |sign: char| {
        word.strip_prefix(sign)
            .is_some_and(|rest| rest.starts_with(char::is_alphanumeric))
    };
    is_field
        || matches!(word, "OR" | "AND" | "NOT" | "NEAR")
        || begins('-')
        || word.len() > 1 && word.trim_end_matches('*').len() + 1 == word.len()
}

/// Returns the words of a text, without signs that mean something in a query.
pub(super) fn plain(text: &str) -> String {
    let is_sign = |c: char| !(c.is_alphanumeric() || "_.-+#@/&'’".contains(c) || is_mark(c));
    let words = text.split(|c: char| c.is_whitespace() || is_sign(c));
    let words = words
        .map(|word| word.trim_matches(|c: char| c.is_ascii_punctuation() && !"_#+".contains(c)));
    // Operators are words here.
    let words = words
        .filter(|word| !word.is_empty())
        .map(|word| match word {
            "OR" | "AND" | "NOT" | "NEAR" | "XOR" => word.to_lowercase(),
            word => word.to_owned(),
        });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns whether a character belongs to the one before it, as accents do.
fn is_mark(character: char) -> bool {
    !character.is_ascii()
        && !character.is_whitespace()
        && !"“”„«»‹›…–—¿¡。、？！：；（）「」".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_words_and_queries_stay() {
        let names = &FieldNames::TABLE;
        for (text, words) in [
            (
                "what's the guest wifi password?",
                "what's the guest wifi password",
            ),
            (
                "section 9) of the lease [draft]",
                "section 9 of the lease draft",
            ),
            ("error: cannot open \"file", "error cannot open file"),
            (
                "how do I build a C++ crate: fast!",
                "how do I build a C++ crate fast",
            ),
            ("see https://a.example/x?y=1", "see https a.example/x y 1"),
            ("state-of-the-art - what NOT", "state-of-the-art what not"),
            ("¿dónde está “el contrato”?", "dónde está el contrato"),
        ] {
            assert_eq!(plain(text), words);
        }
        for query in [
            "\"exact phrase\"",
            "a OR b",
            "cat -dog",
            "ext:pdf lease",
            "begin*",
        ] {
            assert!(is_query(query, names), "{query}");
        }
        for text in [
            "note: read me",
            "a - b",
            "5 * 3",
            "what is x?",
            "https://a.example",
        ] {
            assert!(!is_query(text, names), "{text}");
        }
    }
}

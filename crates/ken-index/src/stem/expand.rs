//! The forms of words in an index on other machines.

use std::collections::BTreeSet;

use ken_core::{Field, Plan, Ranking, Word};
use tantivy_fst::Automaton;

use super::{Expander, Lexicon, Search, Stemming, Within, may_change};
use crate::limits::Limits;

/// Returns a plan in which each stem is replaced by the forms of the word that the index has, as
/// [`ken_engine::Source::expand`] does. `languages` replace those of the documents, if they are given.
///
/// # Errors
/// Returns the first of `languages` that has no rules.
pub fn expand(
    plan: &Plan,
    lexicon: &dyn Lexicon,
    ranking: &Ranking,
    languages: Option<&[String]>,
    limits: Option<&Limits>,
) -> Result<Plan, String> {
    if !may_change(plan) {
        return Ok(plan.clone());
    }
    let stemming = match languages {
        Some(languages) => Stemming::new(languages)?,
        None => Stemming::default(),
    };
    let expander = Expander::new(&stemming, ranking, Within::Lexicon(lexicon), limits);
    expander.plan(plan).map_err(|error| error.to_string())
}

/// Returns the other forms of a word.
pub(super) fn in_lexicon(
    mut search: Search<'_>,
    word: &Word,
    lexicon: &dyn Lexicon,
) -> BTreeSet<String> {
    let fields: Vec<Field> = Field::all().filter(|field| word.looks_in(*field)).collect();
    for prefix in search.forms.prefixes() {
        let mut terms = Vec::new();
        lexicon.each_term(&fields, word.field.is_none(), &prefix, &mut |term| {
            terms.push(term.to_owned());
        });
        for term in terms {
            if accepts(&&search.forms, term.as_bytes()) {
                search.look_at(&term);
            }
        }
    }
    search.found
}

fn accepts<A: Automaton>(automaton: &A, term: &[u8]) -> bool {
    let mut state = automaton.start();
    for byte in term {
        if !automaton.can_match(&state) {
            return false;
        }
        state = automaton.accept(&state, *byte);
    }
    automaton.is_match(&state)
}

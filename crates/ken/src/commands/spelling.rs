//! "Did you mean", below the hits of a query that found little.

use std::io::IsTerminal;

use ken_core::{Field, Order};
use ken_index::{Error, Snapshot};
use ken_search::parse::Tree;
use ken_search::plan::{Context, plan};
use ken_search::spelling::{self, Suggestion, Vocabulary};
use serde_json::json;

use crate::cli::SearchArgs;
use crate::failure::Failure;
use crate::output;

/// Similar terms that are asked for.
const MAX_SIMILAR: usize = 3;

/// Says which queries may have been meant: to people on standard error, to programs as one more
/// object.
pub(super) fn say(
    args: &SearchArgs,
    tree: &Tree,
    n_found: usize,
    snapshot: &Snapshot,
    context: &Context,
) -> Result<(), Failure> {
    if !args.json && !args.explain && !std::io::stderr().is_terminal() {
        return Ok(());
    }
    let vocabulary = OfIndex { snapshot, context };
    let names = snapshot.meta().field_names();
    let suggestions = spelling::suggest(tree, n_found, &vocabulary, &names, context.analyze)?;
    if args.json && !suggestions.is_empty() {
        let list = suggestions
            .iter()
            .map(|of| json!({ "query": of.query, "documents": of.documents }));
        let list: Vec<_> = list.collect();
        let object = json!({ "v": output::SCHEMA, "did_you_mean": list });
        output::print(&output::json_line(&object))?;
    } else if !args.json {
        for Suggestion { query, documents } in suggestions {
            let plural = if documents == 1 { "" } else { "s" };
            output::warn(&format!(
                "did you mean {query}  ({documents} document{plural})"
            ));
        }
    }
    Ok(())
}

struct OfIndex<'a> {
    snapshot: &'a Snapshot,
    context: &'a Context,
}

impl Vocabulary for OfIndex<'_> {
    type Error = Error;

    fn n_documents(&self, fields: &[Field], term: &str) -> Result<u64, Error> {
        let mut most = 0;
        for field in fields {
            most = self.snapshot.n_documents_with(*field, term)?.max(most);
        }
        Ok(most)
    }

    fn similar(&self, fields: &[Field], term: &str) -> Result<Vec<String>, Error> {
        let found = self.snapshot.similar_terms(fields, term, MAX_SIMILAR)?;
        Ok(found.into_iter().map(|similar| similar.term).collect())
    }

    fn n_found(&self, tree: &Tree) -> Result<usize, Error> {
        let plan = self.snapshot.expand(&plan(tree, self.context))?;
        Ok(self.snapshot.run(&plan, Order::default(), 0, 0)?.total)
    }
}

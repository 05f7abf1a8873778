//! The output of `ken search`.

use std::collections::HashSet;
use std::io::{BufWriter, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ken_search::parse::Syntax;
use ken_search::service::{
    Answer, Group, Hit, Inside, Matched, Query, Request, SCHEMA, Service, Titles,
};
use serde_json::json;

use crate::cli::SearchArgs;
use crate::commands::bounded::{Bounded, End};
use crate::commands::explain;
use crate::commands::last::List;
use crate::failure::Failure;
use crate::output::{self, Look, Style};

/// The hits for whose numbers there is room if their number is not limited.
const USUAL_HITS: usize = 9999;

/// Returns whether to print how many more hits there are.
pub(super) fn says_how_many(args: &SearchArgs) -> bool {
    !args.json && args.budget.is_none() && std::io::stderr().is_terminal()
}

/// What the output depends on.
pub(super) struct Printer<'a> {
    pub(super) args: &'a SearchArgs,
    pub(super) service: &'a Service<'a>,
    pub(super) request: &'a Request,
    pub(super) style: Style,
    /// The columns of the terminal, if hits are printed on one for people.
    pub(super) columns: Option<usize>,
}

impl Printer<'_> {
    /// Prints the matches in one document; returns whether any document matches.
    pub(super) fn matches(&self, query: &Query, named: &Path) -> Result<bool, Failure> {
        let mut out = BufWriter::new(output::stdout());
        let limit = self.request.limit;
        let any = self.service.each_match(query, named, limit, &mut |found| {
            match found {
                Inside::Document(_) if self.args.json => {}
                Inside::Document(location) => {
                    let shown = output::clean(&location.to_string()).into_owned();
                    let path = self.style.path(&shown);
                    writeln!(out, "{}", self.style.link(&location.path, &path))?;
                }
                Inside::Match(found) if self.args.json => {
                    out.write_all(&output::json_line(&found))?;
                }
                Inside::Match(found) => {
                    out.write_all(output::match_line(&found.passage, self.look(None)).as_bytes())?;
                }
            }
            Ok::<_, Failure>(())
        })?;
        out.flush()?;
        Ok(any)
    }

    /// Prints the facets; returns whether there is any value.
    pub(super) fn facets(&self, answer: &Answer<'_>) -> Result<bool, Failure> {
        let facets = answer.facets()?;
        let mut out = BufWriter::new(output::stdout());
        for facet in &facets {
            if !self.args.json {
                writeln!(out, "{}", self.style.bold(&facet.facet))?;
            }
            for of in &facet.values {
                if self.args.json {
                    out.write_all(&output::json_line(&of.line(&facet.facet)))?;
                } else {
                    writeln!(out, "{:>9}  {}", of.count, output::clean(&of.value))?;
                }
            }
        }
        out.flush()?;
        Ok(facets.iter().any(|facet| !facet.values.is_empty()))
    }

    /// Prints the path of each file once, however many of its documents are hits.
    pub(super) fn paths(&self, answer: &Answer<'_>) -> Result<(), Failure> {
        let end = if self.args.null { b'\0' } else { b'\n' };
        let mut out = BufWriter::new(output::stdout());
        let mut printed = HashSet::new();
        answer.each_hit(
            |hit| hit.location.path,
            |path| {
                if !printed.contains(&path) {
                    out.write_all(path.as_os_str().as_bytes())?;
                    out.write_all(&[end])?;
                    printed.insert(path);
                }
                Ok::<_, Failure>(())
            },
        )?;
        Ok(out.flush()?)
    }

    /// Prints the hits, of which the titles have marks.
    pub(super) fn hits(&self, answer: &Answer<'_>, titles: Option<&Titles>) -> Result<(), Failure> {
        if self.args.explain {
            explain::print(&answer.explanation()?, self.args.json)?;
        }
        let mut out = BufWriter::new(output::stdout());
        let mut list = List::new(self.query_in_ken());
        let head = self.table_head();
        out.write_all(&head)?;
        let mut bounded = self.bounded(answer, head.len());
        answer.each_hit(
            |mut hit| {
                let (rank, place) = (hit.rank, output::place(&hit));
                let shown = self.hit(answer, &hit, titles);
                let short = self.args.budget.map(|_| {
                    hit.snippets.clear();
                    self.hit(answer, &hit, titles)
                });
                (shown, short, rank, place, hit.location)
            },
            |(mut shown, short, number, place, location)| {
                if let Some(bounded) = &mut bounded {
                    shown = bounded.take(shown, short.unwrap_or_default());
                }
                if self.columns.is_some() && !shown.is_empty() {
                    list.add(number, &location, place);
                }
                Ok::<_, Failure>(out.write_all(&shown)?)
            },
        )?;
        if let Some(bounded) = bounded {
            let end = self.end(answer).line(bounded.n_shown());
            match answer.columns().is_empty() {
                true => out.write_all(&end)?,
                // A table has rows only.
                false => output::warn(String::from_utf8_lossy(&end).trim()),
            }
        }
        out.flush()?;
        if self.columns.is_some() {
            list.keep();
        }
        Ok(())
    }

    /// Returns the bounds of the output, if it has any, behind so many bytes.
    fn bounded(&self, answer: &Answer<'_>, n_bytes: usize) -> Option<Bounded> {
        let budget = self.args.budget?;
        let at_end = match answer.columns().is_empty() {
            true => self.end(answer).room(answer.n_hits()),
            false => 0,
        };
        Some(Bounded::new(budget.saturating_sub(n_bytes), at_end))
    }

    fn end(&self, answer: &Answer<'_>) -> End {
        End {
            what: "hits",
            total: answer.n_groups(),
            offset: self.request.offset,
            as_json: self.args.json,
        }
    }

    /// Returns the separator of a table, if one is wanted.
    fn separator(&self) -> Option<char> {
        match self.args {
            args if args.csv => Some(','),
            args if args.tsv => Some('\t'),
            _ => None,
        }
    }

    /// Returns the first row of a table: the names of its columns.
    fn table_head(&self) -> Vec<u8> {
        let row = |separator| output::table_row(&self.request.fields, separator);
        self.separator().map(row).unwrap_or_default()
    }

    /// Returns the query, if it is in ken's language.
    fn query_in_ken(&self) -> Option<String> {
        let is_ken = self.request.syntax == Syntax::Ken && !self.request.query.is_empty();
        is_ken.then(|| self.request.query.clone())
    }

    /// Returns how hits look.
    fn look<'a>(&'a self, titles: Option<&'a Titles>) -> Look<'a> {
        let last = self.request.offset + self.request.limit.unwrap_or(USUAL_HITS);
        Look {
            style: self.style,
            zone: &self.service.context().zone,
            columns: self.columns,
            n_digits: last.to_string().len(),
            more_of: self.more_of(),
            titles,
        }
    }

    /// Returns the output for a hit.
    fn hit(&self, answer: &Answer<'_>, hit: &Hit, titles: Option<&Titles>) -> Vec<u8> {
        if let Some(separator) = self.separator() {
            let values = output::hit_values(hit, answer.columns(), self.service.roots());
            return output::table_row(&values, separator);
        }
        if !answer.columns().is_empty() {
            let exact = self.args.null;
            let mut line = output::hit_fields(hit, answer.columns(), self.service.roots(), exact);
            line.push(if exact { b'\0' } else { b'\n' });
            return line;
        }
        if self.args.json {
            return output::json_line_of(hit, &self.args.keys);
        }
        let mut text = output::hit_text(hit, self.look(titles));
        if let Some(score) = &hit.explanation {
            text.push_str(&explain::score_lines(score));
            text.push('\n');
        }
        text.into_bytes()
    }

    /// Returns a description of the hits that one represents.
    fn more_of(&self) -> &'static str {
        match self.request.group {
            Some(Group::Content) => "of the same content",
            Some(Group::Similar) => "like this",
            Some(Group::File) => "in this file",
            Some(Group::Message) => "in this message or file",
            None => "",
        }
    }

    /// Says if the hits have not all words.
    pub(super) fn say_what_matched(&self, answer: &Answer<'_>) {
        let (matched, missing) = answer.matched();
        let have = match matched {
            Matched::All => return,
            Matched::Most => "most",
            Matched::Any => "some",
        };
        let missing: Vec<String> = missing.iter().map(|word| format!("\"{word}\"")).collect();
        let why = match missing.len() {
            0 => String::new(),
            1 => format!(" ({} is in no document)", missing[0]),
            _ => format!(" ({} are in no document)", missing.join(", ")),
        };
        let found = match answer.n_with_all() {
            0 => format!("no document matches all words{why}. These hits have {have} of them"),
            1 => "only one document matches all words. The other hits have some of them".to_owned(),
            n => format!("only {n} documents match all words. The other hits have some of them"),
        };
        output::warn(&format!("{found}; join words with AND to require all."));
    }

    /// Prints on a terminal how many more hits there are.
    pub(super) fn say_how_many(&self, answer: &Answer<'_>) {
        if !says_how_many(self.args) {
            return;
        }
        let shown = answer.n_hits();
        match answer.n_groups() {
            0 => output::warn("no document matches"),
            total if total > shown => output::warn(&format!(
                "{shown} of {total} hits shown; --limit and --offset show more"
            )),
            _ => {}
        }
    }

    /// Prints suggestions: for people on standard error, for programs as one more object.
    pub(super) fn suggest(&self, answer: &Answer<'_>) -> Result<(), Failure> {
        // Within a budget, standard output is complete.
        if self.args.budget.is_some() && self.args.json {
            return Ok(());
        }
        if !self.args.json && !self.args.explain && !std::io::stderr().is_terminal() {
            return Ok(());
        }
        let (matched, missing) = answer.matched();
        if self.args.json && matched != Matched::All {
            let object = json!({
                "v": SCHEMA,
                "matched": matched,
                "with_all": answer.n_with_all(),
                "missing": missing,
            });
            output::print(&output::json_line(&object))?;
        }
        let suggestions = answer.suggestions()?;
        if self.args.json && !suggestions.is_empty() {
            let object = json!({ "v": SCHEMA, "did_you_mean": suggestions });
            return Ok(output::print(&output::json_line(&object))?);
        }
        for of in suggestions.iter().filter(|_| !self.args.json) {
            let plural = if of.documents == 1 { "" } else { "s" };
            let (query, n) = (&of.query, of.documents);
            output::warn(&format!("did you mean {query}  ({n} document{plural})"));
        }
        Ok(())
    }
}

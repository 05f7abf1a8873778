//! Looks up a word in a snapshot: its terms in each field and segment, and its significance.

use std::collections::BTreeSet;
use std::sync::Arc;

use ken_core::{Field, FieldKind, Form, Pattern, Span, Word};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::{SegmentId, SegmentReader};
use tantivy::postings::TermInfo;
use tantivy::query::BitSetDocSet;
use tantivy::schema::IndexRecordOption;
use tantivy::{Searcher, Term};
use tantivy_common::BitSet;

use super::counts;
use super::list::{List, Source};
use super::scoring::Scoring;
use crate::dictionary::Shortcut;
use crate::dictionary::{Matcher, TermsAutomaton};
use crate::limits::{Pace, reached};
use crate::parallel;
use crate::query::span::{Candidates, CompiledSpan};

/// Maximum number of terms of one form that are kept apart in a segment. If a pattern matches more,
/// their frequencies mean little: only whether a document has one of them counts.
const MAX_LISTS: usize = 128;

/// The maximum share of all documents that may be below a folder whose name counts.
const MOST_BELOW: f32 = 1.0 / 3.0;

/// A word with its terms.
pub(super) struct WordTerms {
    pub(super) word: Word,
    /// Its inverse document frequency.
    pub(super) idf: f32,
    /// Its significance: the inverse document frequency, multiplied by its count in the query.
    pub(super) worth: f32,
    /// The same for the literal forms alone.
    pub(super) literal_worth: f32,
    forms: Vec<(Ready, f32)>,
    /// The forms with one term each, in order, if there are several. A dictionary is searched for
    /// all of them at once, since most have a common beginning and few dictionaries have them.
    singles: Vec<String>,
    segments: Vec<SegmentForms>,
    /// Whether names of folders count; see [`MOST_BELOW`].
    has_folders: bool,
}

/// The forms in a segment.
struct SegmentForms {
    segment: SegmentId,
    max_doc: u32,
    entries: Vec<FormTerms>,
}

enum Ready {
    Match(Matcher),
    Span(CompiledSpan),
}

/// A form in a field of a segment.
struct FormTerms {
    field: Field,
    form: usize,
    /// Its terms; none for a span.
    terms: Vec<TermInfo>,
}

impl WordTerms {
    /// Looks up a word in all segments.
    pub(super) fn new(
        word: &Word,
        times: f32,
        scoring: &Scoring,
        searcher: &Searcher,
    ) -> tantivy::Result<Self> {
        let mut this = Self {
            word: word.clone(),
            idf: 0.0,
            worth: 0.0,
            literal_worth: 0.0,
            forms: Vec::with_capacity(word.forms.len()),
            singles: singles(word),
            segments: Vec::new(),
            has_folders: word.folders,
        };
        for form in &word.forms {
            let ready = match &form.span {
                // Only the text shows how a term is written.
                Span::Match(pattern) if !matches!(pattern, Pattern::Written(_)) => {
                    Ready::Match(Matcher::new(pattern)?)
                }
                span => Ready::Span(CompiledSpan::new(span)?),
            };
            this.forms.push((ready, form.weight));
        }
        this.segments = parallel::over(searcher.segment_readers(), |_, segment| {
            Ok(SegmentForms {
                segment: segment.segment_id(),
                max_doc: segment.max_doc(),
                entries: this.entries(segment, scoring)?,
            })
        })?;
        this.drop_common_folders(scoring);
        this.idf = this.idf(scoring, searcher)?;
        this.worth = times * this.idf;
        this.literal_worth = times * this.literal_idf(scoring);
        Ok(this)
    }

    /// Makes a word of one span from words that are looked up. Its documents have literal forms of all of them in one of
    /// the fields, so it is as significant as they are together.
    pub(super) fn phrase(word: Word, parts: &[&Self], fields: &[Field]) -> tantivy::Result<Self> {
        let mut forms = Vec::with_capacity(word.forms.len());
        for form in &word.forms {
            forms.push((Ready::Span(CompiledSpan::new(&form.span)?), form.weight));
        }
        let of_segment = |(number, of): (usize, &SegmentForms)| {
            let has_all = |field| parts.iter().all(|part| part.has_literal(number, field));
            let entries = fields.iter().filter(|field| has_all(**field));
            SegmentForms {
                segment: of.segment,
                max_doc: of.max_doc,
                entries: entries
                    .map(|field| FormTerms {
                        field: *field,
                        form: 0,
                        terms: Vec::new(),
                    })
                    .collect(),
            }
        };
        let segments = parts.first().map_or(&[][..], |part| &part.segments).iter();
        let worth = parts.iter().map(|part| part.literal_worth).sum();
        Ok(Self {
            idf: parts.iter().map(|part| part.idf).sum(),
            worth,
            literal_worth: worth,
            forms,
            singles: Vec::new(),
            segments: segments.enumerate().map(of_segment).collect(),
            has_folders: false,
            word,
        })
    }

    fn has_literal(&self, segment: usize, field: Field) -> bool {
        let is_it =
            |entry: &FormTerms| entry.field == field && !self.word.forms[entry.form].derived;
        self.segments
            .get(segment)
            .is_some_and(|of| of.entries.iter().any(is_it))
    }

    fn fields(&self) -> impl Iterator<Item = Field> {
        let text = Field::all().filter(|field| field.info().kind == FieldKind::Text);
        text.filter(|field| self.word.looks_in(*field))
    }

    fn entries(
        &self,
        segment: &SegmentReader,
        scoring: &Scoring,
    ) -> tantivy::Result<Vec<FormTerms>> {
        let limits = scoring.limits.as_deref();
        let mut entries = Vec::new();
        for field in self.fields() {
            if reached(limits) {
                break;
            }
            let column = scoring.columns.of(field);
            let Some(index) = scoring.shortcuts.index(segment, column)? else {
                continue;
            };
            let shortcut = scoring.shortcuts.of(segment, column);
            if index.total_num_tokens() == 0 {
                continue;
            }
            let there = self.singles_in(shortcut)?;
            for (form, (ready, _)) in self.forms.iter().enumerate() {
                let mut terms = Vec::new();
                if let Ready::Match(matcher) = ready {
                    if matcher
                        .term()
                        .is_some_and(|term| self.is_absent(term, &there))
                    {
                        continue;
                    }
                    matcher.each_info(&index, shortcut, limits, |info| {
                        terms.push(info.clone());
                        Ok(())
                    })?;
                    if terms.is_empty() {
                        continue;
                    }
                }
                entries.push(FormTerms { field, form, terms });
            }
        }
        if self.word.folders {
            self.add_folders(segment, scoring, &mut entries)?;
        }
        Ok(entries)
    }

    /// Adds the forms that names of folders have.
    fn add_folders(
        &self,
        segment: &SegmentReader,
        scoring: &Scoring,
        entries: &mut Vec<FormTerms>,
    ) -> tantivy::Result<()> {
        let column = scoring.columns.folder;
        let index = segment.inverted_index(column)?;
        for (form, (ready, _)) in self.forms.iter().enumerate() {
            let Ready::Match(matcher) = ready else {
                continue;
            };
            let Some(term) = matcher.term() else { continue };
            let info = index.get_term_info(&Term::from_field_text(column, term))?;
            entries.extend(info.map(|info| FormTerms {
                field: Field::Dir,
                form,
                terms: vec![info],
            }));
        }
        Ok(())
    }

    /// Drops the names of folders if they are above many documents.
    fn drop_common_folders(&mut self, scoring: &Scoring) {
        let n_below = self.n_documents(scoring, Field::Dir, &|_| true);
        if n_below > scoring.n_documents() * MOST_BELOW {
            self.has_folders = false;
            for of in &mut self.segments {
                of.entries.retain(|entry| entry.field != Field::Dir);
            }
        }
    }

    /// Returns which of the forms with one term a dictionary has.
    fn singles_in(&self, shortcut: Shortcut<'_>) -> tantivy::Result<Vec<bool>> {
        let mut there = vec![false; self.singles.len()];
        if !there.is_empty()
            && let Some(trie) = shortcut.trie()?
        {
            trie.each(&TermsAutomaton(&self.singles), &mut |found| {
                let at = self
                    .singles
                    .binary_search_by(|term| term.as_bytes().cmp(found));
                if let Some(is_there) = at.ok().and_then(|at| there.get_mut(at)) {
                    *is_there = true;
                }
            });
        }
        Ok(there)
    }

    fn is_absent(&self, term: &String, there: &[bool]) -> bool {
        let at = self.singles.binary_search(term);
        at.is_ok_and(|at| !there[at])
    }

    /// Returns the significance of the word. Its documents are those of its most frequent field, in
    /// which the terms of its forms are assumed to be independent. A span is as significant as its
    /// terms together, unless it is another form of a word that is there.
    fn idf(&self, scoring: &Scoring, searcher: &Searcher) -> tantivy::Result<f32> {
        let mut most = 0.0_f32;
        for field in self.fields() {
            most = most.max(self.n_documents(scoring, field, &|_| true));
        }
        if most == 0.0 {
            most = self.n_documents(scoring, Field::Dir, &|_| true);
        }
        let mut idf = (most > 0.0).then(|| scoring.idf(most));
        for ((ready, _), form) in self.forms.iter().zip(&self.word.forms) {
            let Ready::Span(part) = ready else { continue };
            if form.derived && idf.is_some() {
                continue;
            }
            let mut sum = 0.0;
            if let Some(counts) = scoring.counts() {
                form.span.patterns(&mut |pattern| {
                    let n = self
                        .fields()
                        .map(|field| counts.documents_with(field, pattern));
                    sum += scoring.idf(n.max().unwrap_or(0) as f32);
                });
                idf = Some(idf.map_or(sum, |idf| idf.max(sum)));
                continue;
            }
            let mut matchers = Vec::new();
            part.matchers(&mut |matcher| matchers.push(matcher));
            for matcher in matchers {
                let mut most = 0.0_f32;
                for field in self.fields() {
                    most = most.max(n_documents_of(matcher, field, scoring, searcher)?);
                }
                sum += scoring.idf(most);
            }
            idf = Some(idf.map_or(sum, |idf| idf.max(sum)));
        }
        Ok(idf.unwrap_or(0.0))
    }

    /// Returns the inverse document frequency of the literal forms alone; that of all forms if no document has them.
    fn literal_idf(&self, scoring: &Scoring) -> f32 {
        let is_literal = |form: usize| !self.word.forms[form].derived;
        let most = self
            .fields()
            .map(|field| self.n_documents(scoring, field, &is_literal));
        let most = most.fold(0.0_f32, f32::max);
        match most > 0.0 {
            true => scoring.idf(most).max(self.idf),
            false => self.idf,
        }
    }

    fn n_documents(&self, scoring: &Scoring, field: Field, takes: &dyn Fn(usize) -> bool) -> f32 {
        if let Some(counts) = scoring.counts() {
            return match field == Field::Dir && !self.has_folders {
                true => 0.0,
                false => counts::of_forms(counts, &self.word, field, takes),
            };
        }
        let of_segment = |of: &SegmentForms| {
            let entries = of
                .entries
                .iter()
                .filter(|entry| entry.field == field && takes(entry.form));
            let terms = entries.flat_map(|entry| &entry.terms);
            union(terms.map(|info| info.doc_freq), of.max_doc)
        };
        self.segments.iter().map(of_segment).sum()
    }

    /// Returns the terms of each form in a field of a segment; a span has none.
    pub(super) fn terms_in(
        &self,
        segment: SegmentId,
        field: Field,
    ) -> impl Iterator<Item = &Vec<TermInfo>> {
        let found = self.segments.iter().find(|of| of.segment == segment);
        let entries = found.map_or(&[][..], |of| &of.entries).iter();
        entries
            .filter(move |entry| entry.field == field)
            .map(|entry| &entry.terms)
    }

    /// Opens the lists of some fields of a segment, with frequencies or only with documents.
    pub(super) fn open(
        &self,
        reader: &SegmentReader,
        scoring: &Scoring,
        with_frequencies: bool,
        fields: impl Fn(Field) -> bool,
    ) -> tantivy::Result<Vec<List>> {
        let id = reader.segment_id();
        let found = self.segments.iter().find(|of| of.segment == id);
        let entries = found.map_or(&[][..], |of| &of.entries).iter();
        let mut lists = Vec::new();
        for entry in entries.filter(|entry| fields(entry.field)) {
            let is_folder = entry.field == Field::Dir;
            let column = match is_folder {
                true => scoring.columns.folder,
                false => scoring.columns.of(entry.field),
            };
            let index = reader.inverted_index(column)?;
            let norms = match is_folder {
                true => FieldNormReader::constant(reader.max_doc(), 1),
                false => reader.get_fieldnorms_reader(column)?,
            };
            let (ready, weight) = &self.forms[entry.form];
            let Some(lengths) = scoring.lengths(entry.field)? else {
                continue;
            };
            let mut push = |source| {
                let scale = (Arc::clone(lengths), *weight);
                lists.push(List::new(
                    source,
                    (entry.field, entry.form),
                    norms.clone(),
                    scale,
                    is_folder || self.word.forms[entry.form].derived,
                ));
            };
            match ready {
                Ready::Span(part) => {
                    let limits = scoring.limits.as_ref();
                    let shortcuts = &scoring.shortcuts;
                    let span = Candidates::open(part, reader, column, shortcuts, limits)?;
                    span.into_iter()
                        .for_each(|span| push(Source::Span(Box::new(span))));
                }
                Ready::Match(_) if is_folder || entry.terms.len() > MAX_LISTS => {
                    let mut set = BitSet::with_max_value(reader.max_doc());
                    let mut pace = Pace::default();
                    for info in &entry.terms {
                        if pace.step(scoring.limits.as_deref()) {
                            break;
                        }
                        let option = IndexRecordOption::Basic;
                        let mut block = index.read_block_postings_from_terminfo(info, option)?;
                        while !block.docs().is_empty() {
                            block.docs().iter().for_each(|doc| _ = set.insert(*doc));
                            block.advance();
                        }
                    }
                    push(Source::Set(BitSetDocSet::from(set)));
                }
                Ready::Match(_) => {
                    let option = match with_frequencies {
                        true => IndexRecordOption::WithFreqs,
                        false => IndexRecordOption::Basic,
                    };
                    for info in &entry.terms {
                        let block = index.read_block_postings_from_terminfo(info, option)?;
                        push(Source::Postings { block, at: 0 });
                    }
                }
            }
        }
        lists.sort_by_key(|list| list.derived);
        Ok(lists)
    }
}

/// Returns the forms of a word with one term each, in order; none if there is only one.
fn singles(word: &Word) -> Vec<String> {
    let single = |form: &Form| match &form.span {
        Span::Match(Pattern::Term(term) | Pattern::Stem(term)) => Some(term.clone()),
        _ => None,
    };
    let singles: BTreeSet<String> = word.forms.iter().filter_map(single).collect();
    match singles.len() {
        0 | 1 => Vec::new(),
        _ => singles.into_iter().collect(),
    }
}

/// Returns the number of documents that a pattern matches.
fn n_documents_of(
    matcher: &Matcher,
    field: Field,
    scoring: &Scoring,
    searcher: &Searcher,
) -> tantivy::Result<f32> {
    let column = scoring.columns.of(field);
    let limits = scoring.limits.as_deref();
    let of_segments = parallel::over(searcher.segment_readers(), |_, segment| {
        let mut by_term = Vec::new();
        let Some(index) = scoring.shortcuts.index(segment, column)? else {
            return Ok(0.0);
        };
        let shortcut = scoring.shortcuts.of(segment, column);
        matcher.each_info(&index, shortcut, limits, |info| {
            by_term.push(info.doc_freq);
            Ok(())
        })?;
        Ok(union(by_term.into_iter(), segment.max_doc()))
    })?;
    Ok(of_segments.into_iter().sum())
}

/// Estimates the number of documents with one of several terms, assuming independence.
fn union(by_term: impl Iterator<Item = u32>, max_doc: u32) -> f32 {
    let all = f64::from(max_doc.max(1));
    let none: f64 = by_term.map(|n| 1.0 - f64::from(n) / all).product();
    (all * (1.0 - none)) as f32
}

#[cfg(test)]
mod tests {
    use ken_core::{FieldNames, Ranking};

    use super::*;
    use crate::limits::Limits;
    use crate::query::tests::opened;
    use crate::schema::Columns;

    #[test]
    fn terms_are_looked_up_within_limits() {
        let folder = tempfile::tempdir().unwrap();
        let snapshot = opened(folder.path());
        let segments = snapshot.searcher.segment_readers();
        let ranking = Ranking::default();
        let scoring = Scoring::new(
            segments,
            &Columns::new(),
            FieldNames::TABLE,
            &ranking,
            &snapshot.shortcuts,
            None,
        );
        let span = Span::Match(Pattern::Prefix("ot".to_owned()));
        let word = Word {
            folders: false,
            field: None,
            forms: vec![Form::literal(span)],
        };
        let n_entries = |scoring: &Scoring| {
            let terms = WordTerms::new(&word, 1.0, scoring, &snapshot.searcher).unwrap();
            terms
                .segments
                .iter()
                .map(|of| of.entries.len())
                .sum::<usize>()
        };
        assert_eq!(n_entries(&scoring), 1);
        let limits = Arc::new(Limits::after(0));
        assert_eq!(n_entries(&scoring.limited(&limits)), 0);
    }
}

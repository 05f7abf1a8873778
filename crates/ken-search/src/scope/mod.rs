//! A part of an index: what lies outside of some folders does not exist, for whatever asks.
//!
//! [`Scoped`] is a [`Source`] in front of another. Each question is narrowed before it is asked, so that hits, counts,
//! suggestions, threads and terms all come from documents inside. Only the weights of words in the ranking are those of
//! the whole index.

mod files;
mod mail;
mod plans;
mod terms;

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use ken_core::{Field, Kind, Location, Order, Plan, Root, Value};
use ken_engine::{
    Body, DocAddress, Error, FacetBy, Files, Hit, Limits, Mail, Meta, Request, Response, Source,
    Statistics, Stored, Terms,
};

/// Which documents exist for somebody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The folders that are inside, without symbolic links.
    pub folders: Vec<PathBuf>,
    /// Folders below them that are outside, without symbolic links.
    pub excluded: Vec<PathBuf>,
    /// Whether messages, what is attached to them, and mailboxes are inside.
    pub mail: bool,
}

impl Scope {
    /// Returns whether a path is inside by its name. None with `..` is: it may lead anywhere.
    pub fn covers(&self, path: &Path) -> bool {
        let is_below = |folders: &[PathBuf]| folders.iter().any(|folder| path.starts_with(folder));
        let leads_up = path.components().any(|part| part == Component::ParentDir);
        is_below(&self.folders) && !is_below(&self.excluded) && !leads_up
    }

    /// Returns whether all documents of a commit are inside, so that none needs to be left out. Until a run has seen all files
    /// below the roots, documents of a root that was forgotten may still be there.
    pub fn is_all_of(&self, meta: &Meta) -> bool {
        let is_inside = |root: &Root| self.folders.iter().any(|own| root.path.starts_with(own));
        let is_whole = self.mail && self.excluded.is_empty();
        is_whole && meta.all_seen && meta.roots.iter().all(is_inside)
    }

    /// Returns the part of the scope that lies below a folder.
    #[must_use]
    pub fn within(&self, folder: &Path) -> Self {
        let below = self
            .folders
            .iter()
            .filter_map(|own| match folder.starts_with(own) {
                true => Some(folder.to_path_buf()),
                false => own.starts_with(folder).then(|| own.clone()),
            });
        Self {
            folders: below.collect(),
            ..self.clone()
        }
    }
}

/// A source of which only a scope exists.
pub struct Scoped<'s> {
    inner: &'s dyn Source,
    inside: Plan,
    /// Documents in attached archives, which no plan finds.
    hidden: Vec<DocAddress>,
    meta: Meta,
}

impl<'s> Scoped<'s> {
    /// Returns the part of a source that is in a scope.
    ///
    /// # Errors
    /// Fails if the source cannot be read.
    pub fn new(inner: &'s dyn Source, scope: &Scope) -> Result<Self, Error> {
        let mut meta = inner.meta().clone();
        meta.roots = meta
            .roots
            .iter()
            .flat_map(|root| roots(root, scope))
            .collect();
        Ok(Self {
            inner,
            inside: plans::inside(scope),
            hidden: match scope.mail {
                true => Vec::new(),
                false => in_attached_archives(inner)?,
            },
            meta,
        })
    }

    /// Returns a plan for what another finds inside.
    fn narrow(&self, plan: &Plan) -> Plan {
        plans::narrow(plan, &self.inside)
    }

    /// Keeps the documents that are inside, in their order.
    fn keep(&self, documents: &mut Vec<DocAddress>) -> Result<(), Error> {
        let found = self.inner.find(&Request {
            only: Some(documents),
            without: &self.hidden,
            ..Request::new(&self.inside)
        })?;
        let found: HashSet<_> = found.hits.iter().map(|hit| hit.address).collect();
        documents.retain(|at| found.contains(at));
        Ok(())
    }

    /// Returns how many documents inside have a term.
    fn count(&self, field: Field, term: &str) -> Result<u64, Error> {
        let plan = Plan::Match {
            field,
            pattern: ken_core::Pattern::Term(term.to_owned()),
        };
        let found = self.run(&plan, Order::default(), 0, 0)?;
        Ok(found.total as u64)
    }

    /// Hands on a request for what is inside.
    fn narrowed<T>(&self, request: &Request<'_>, ask: impl FnOnce(&Request<'_>) -> T) -> T {
        let plan = self.narrow(request.plan);
        let without = [request.without, &self.hidden].concat();
        ask(&Request {
            plan: &plan,
            without: &without,
            ..*request
        })
    }
}

/// Returns what is left of a root in a scope.
fn roots(root: &Root, scope: &Scope) -> Vec<Root> {
    let below = scope.within(&root.path).folders.into_iter();
    below
        .map(|path| Root {
            path,
            ..root.clone()
        })
        .collect()
}

/// Returns the documents in archives that are attached to messages.
fn in_attached_archives(source: &dyn Source) -> Result<Vec<DocAddress>, Error> {
    let found = source.run(&plans::attached_archives(), Order::default(), 0, usize::MAX)?;
    let mut hidden = Vec::new();
    for hit in found.hits {
        let archive = source.location(hit.address)?;
        let key = source.meta().hasher.key(&archive.path);
        for at in source.files().documents_of(key)? {
            let ipath = source.location(at)?.ipath;
            if ipath.prefix(archive.ipath.depth()) == archive.ipath.as_str() {
                hidden.push(at);
            }
        }
    }
    Ok(hidden)
}

impl Source for Scoped<'_> {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn commit(&self) -> u64 {
        self.inner.commit()
    }

    fn n_documents(&self) -> u64 {
        let found = self.run(&Plan::All, Order::default(), 0, 0);
        found.map_or(0, |found| found.total as u64)
    }

    fn n_left_out(&self) -> u64 {
        self.inner.n_left_out()
    }

    fn files(&self) -> &dyn Files {
        self
    }

    fn mail(&self) -> &dyn Mail {
        self
    }

    fn terms(&self) -> &dyn Terms {
        self
    }

    fn find(&self, request: &Request<'_>) -> Result<Response, Error> {
        self.narrowed(request, |request| self.inner.find(request))
    }

    fn facets(
        &self,
        request: &Request<'_>,
        by: &[FacetBy],
    ) -> Result<Vec<Vec<(Value, u64)>>, Error> {
        self.narrowed(request, |request| self.inner.facets(request, by))
    }

    fn extent(&self, field: Field) -> Result<Option<(i64, i64)>, Error> {
        self.inner.extent(field)
    }

    fn expand(&self, plan: &Plan, limits: Option<&Arc<Limits>>) -> Result<Plan, Error> {
        self.inner.expand(plan, limits)
    }

    fn explain(&self, plan: &Plan, hit: &Hit) -> Result<String, Error> {
        self.inner.explain(&self.narrow(plan), hit)
    }

    fn engine_query(&self, plan: &Plan) -> Result<String, Error> {
        self.inner.engine_query(&self.narrow(plan))
    }

    /// Counts the documents inside by their kinds; files are not counted, and the size is that of the whole index.
    fn statistics(&self) -> Result<Statistics, Error> {
        let by = [FacetBy::Values(Field::Type)];
        let counts = self.facets(&Request::new(&Plan::All), &by)?;
        let tally = |(kind, documents): (Value, u64)| match kind {
            Value::Text(name) => Some(ken_engine::Tally {
                kind: name.parse::<Kind>().ok()?.name(),
                documents,
                ..ken_engine::Tally::default()
            }),
            Value::Number(_) => None,
        };
        Ok(Statistics {
            tallies: counts.into_iter().flatten().filter_map(tally).collect(),
            ..self.inner.statistics()?
        })
    }

    fn location(&self, at: DocAddress) -> Result<Location, Error> {
        self.inner.location(at)
    }

    fn locations(&self, at: &[DocAddress]) -> Result<Vec<Location>, Error> {
        self.inner.locations(at)
    }

    fn document_at(&self, location: &Location) -> Result<Option<DocAddress>, Error> {
        let mut found: Vec<_> = self.inner.document_at(location)?.into_iter().collect();
        self.keep(&mut found)?;
        Ok(found.first().copied())
    }

    fn documents_below(&self, location: &Location) -> Result<Vec<DocAddress>, Error> {
        let mut found = self.inner.documents_below(location)?;
        self.keep(&mut found)?;
        Ok(found)
    }

    fn n_words(&self, at: DocAddress) -> u32 {
        self.inner.n_words(at)
    }

    fn document_by(&self, at: DocAddress, max_threads: usize) -> Result<Stored, Error> {
        self.inner.document_by(at, max_threads)
    }

    fn documents(&self, at: &[DocAddress]) -> Result<Vec<Stored>, Error> {
        self.inner.documents(at)
    }

    fn document_without_body(&self, at: DocAddress) -> Result<Stored, Error> {
        self.inner.document_without_body(at)
    }

    fn document_and_body(
        &self,
        at: DocAddress,
        max_threads: usize,
    ) -> Result<(Stored, Body), Error> {
        self.inner.document_and_body(at, max_threads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_may_hold_all_roots() {
        let mut meta = Meta {
            roots: ["/home/a/docs", "/home/a/mail"].map(Root::new).into(),
            all_seen: true,
            ..Meta::new()
        };
        let scope = |folders: &[&str], excluded: &[&str], mail| Scope {
            folders: folders.iter().map(PathBuf::from).collect(),
            excluded: excluded.iter().map(PathBuf::from).collect(),
            mail,
        };
        for (folders, excluded, mail, expected) in [
            (&["/home/a"][..], &[][..], true, true),
            (&["/home/a/docs", "/home/a/mail"], &[], true, true),
            (&["/home/a/docs"], &[], true, false),
            (&["/home/a/docs/x", "/home/a/mail"], &[], true, false),
            (&["/home/a"], &["/home/a/docs/x"], true, false),
            (&["/home/a"], &[], false, false),
        ] {
            let found = scope(folders, excluded, mail).is_all_of(&meta);
            assert_eq!(found, expected, "{folders:?} {excluded:?} {mail}");
        }
        // A run that forgets a root commits before it has removed the documents of that.
        meta.all_seen = false;
        assert!(!scope(&["/home/a"], &[], true).is_all_of(&meta));
    }
}

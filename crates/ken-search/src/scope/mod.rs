//! A part of an index: what lies outside of some folders does not exist, for whatever asks.
//!
//! [`Scoped`] is a [`Source`] in front of another. Each question is narrowed before it is asked, so that hits, counts,
//! suggestions, threads and terms all come from documents inside. Only the weights of words in the ranking are those of
//! the whole index.

mod files;
mod mail;
mod plans;
mod rights;
mod terms;

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use ken_core::{Field, Kind, Location, Order, Plan, Root, SortKey, Value};
use ken_engine::{
    Body, DocAddress, EachDocument, Error, FacetBy, Files, Hit, Limits, Mail, Meta, Request,
    Response, Source, Statistics, Stored, Terms,
};

pub use crate::folder::below;
pub use rights::{KnownRoots, LookAt, Rights};

/// The most hits of one answer that are looked at again; more are no page, but a count.
const MAX_LOOKED_AT: usize = 10_000;

/// Which documents exist for somebody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The folders that are inside, without symbolic links.
    pub folders: Vec<PathBuf>,
    /// Folders below them that are outside, without symbolic links.
    pub excluded: Vec<PathBuf>,
    /// Whether messages, what is attached to them, and mailboxes are inside.
    pub mail: bool,
    /// Who asks: only what they may read is inside. None if that is not asked for.
    pub rights: Option<Rights>,
}

impl Scope {
    /// Returns the scope of all that somebody may read.
    pub fn of(rights: Rights) -> Self {
        Self {
            folders: vec![PathBuf::from("/")],
            excluded: Vec::new(),
            mail: true,
            rights: Some(rights),
        }
    }

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
        let is_whole = self.mail && self.excluded.is_empty() && self.rights.is_none();
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

enum Inner<'s> {
    Borrowed(&'s dyn Source),
    Owned(Arc<dyn Source>),
}

/// A source of which only a scope exists.
pub struct Scoped<'s> {
    inner: Inner<'s>,
    inside: Plan,
    rights: Option<Rights>,
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
        Self::within(Inner::Borrowed(inner), scope)
    }

    fn within(inner: Inner<'s>, scope: &Scope) -> Result<Self, Error> {
        let source = match &inner {
            Inner::Borrowed(inner) => *inner,
            Inner::Owned(inner) => &**inner,
        };
        let mut meta = source.meta().clone();
        meta.roots = meta
            .roots
            .iter()
            .flat_map(|root| roots(root, scope))
            .collect();
        let readable = scope.rights.as_ref().map(|rights| rights.plan(source));
        let mut scoped = Self {
            inside: plans::inside(scope, readable.transpose()?),
            rights: scope.rights.clone(),
            hidden: match scope.mail {
                true => Vec::new(),
                false => in_attached_archives(source)?,
            },
            meta,
            inner,
        };
        if let Some(rights) = &scope.rights {
            scoped.leave_out_empty_roots(rights)?;
        }
        Ok(scoped)
    }

    /// Leaves out roots of which nothing is inside: their paths may tell something.
    fn leave_out_empty_roots(&mut self, rights: &Rights) -> Result<(), Error> {
        let index = self.meta.hasher.key(Path::new("/"));
        let commit = self.inner().commit();
        let filled = match rights.known.get(&rights.asker, index, commit) {
            Some(filled) => filled,
            None => {
                let filled = self.filled_roots()?;
                rights.known.put(&rights.asker, index, commit, &filled);
                filled
            }
        };
        let mut roots = Vec::new();
        for root in &self.meta.roots {
            let key = self.meta.hasher.key(&root.path);
            let is_file = || Files::documents_of(self, key).map(|documents| !documents.is_empty());
            if filled.contains(&root.path) || is_file()? {
                roots.push(root.clone());
            }
        }
        self.meta.roots = roots;
        Ok(())
    }

    /// Returns the roots below which something is inside.
    fn filled_roots(&self) -> Result<Vec<PathBuf>, Error> {
        let mut filled = Vec::new();
        for root in &self.meta.roots {
            let below = crate::folder::below(&root.path);
            if self.run(&below, Order::default(), 0, 0)?.total > 0 {
                filled.push(root.path.clone());
            }
        }
        Ok(filled)
    }

    fn inner(&self) -> &dyn Source {
        match &self.inner {
            Inner::Borrowed(inner) => *inner,
            Inner::Owned(inner) => &**inner,
        }
    }

    /// Returns a plan for what another finds inside.
    fn narrow(&self, plan: &Plan) -> Plan {
        plans::narrow(plan, &self.inside)
    }

    /// Keeps the documents that are inside, in their order.
    fn keep(&self, documents: &mut Vec<DocAddress>) -> Result<(), Error> {
        if documents.is_empty() {
            return Ok(());
        }
        let found = self.inner().find(&Request {
            only: Some(documents),
            without: &self.hidden,
            ..Request::new(&self.inside)
        })?;
        let found: HashSet<_> = found.hits.iter().map(|hit| hit.address).collect();
        documents.retain(|at| found.contains(at));
        let allowed = self.allowed(documents)?;
        let mut allowed = allowed.into_iter();
        documents.retain(|_| allowed.next().unwrap_or(false));
        Ok(())
    }

    /// Returns which of these documents may be read now.
    fn allowed(&self, documents: &[DocAddress]) -> Result<Vec<bool>, Error> {
        let Some(rights) = self
            .rights
            .as_ref()
            .filter(|rights| rights.look_at.is_some())
        else {
            return Ok(vec![true; documents.len()]);
        };
        let mut known: HashMap<PathBuf, bool> = HashMap::new();
        let locations = self.inner().locations(documents)?;
        let allowed = locations
            .into_iter()
            .map(|location| match known.get(&location.path) {
                Some(allowed) => *allowed,
                None => {
                    let allowed = rights.allow(&location.path);
                    known.insert(location.path, allowed);
                    allowed
                }
            });
        Ok(allowed.collect())
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

impl Scoped<'static> {
    /// Returns the part of a source that is in a scope, which keeps the source open.
    ///
    /// # Errors
    /// Fails if the source cannot be read.
    pub fn shared(inner: Arc<dyn Source>, scope: &Scope) -> Result<Self, Error> {
        Self::within(Inner::Owned(inner), scope)
    }
}

impl Source for Scoped<'_> {
    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn commit(&self) -> u64 {
        self.inner().commit()
    }

    fn n_documents(&self) -> u64 {
        let found = self.run(&Plan::All, Order::default(), 0, 0);
        found.map_or(0, |found| found.total as u64)
    }

    fn n_left_out(&self) -> u64 {
        self.inner().n_left_out()
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
        let mut found = self.narrowed(request, |request| self.inner().find(request))?;
        if found.hits.len() <= MAX_LOOKED_AT {
            let documents: Vec<_> = found.hits.iter().map(|hit| hit.address).collect();
            let n_before = documents.len();
            let mut allowed = self.allowed(&documents)?.into_iter();
            found.hits.retain(|_| allowed.next().unwrap_or(false));
            let n_gone = n_before - found.hits.len();
            found.total = found.total.saturating_sub(n_gone);
            found.groups = found.groups.saturating_sub(n_gone);
        }
        Ok(found)
    }

    fn facets(
        &self,
        request: &Request<'_>,
        by: &[FacetBy],
    ) -> Result<Vec<Vec<(Value, u64)>>, Error> {
        self.narrowed(request, |request| self.inner().facets(request, by))
    }

    fn extent(&self, field: Field) -> Result<Option<(i64, i64)>, Error> {
        if self.rights.is_none() {
            return self.inner().extent(field);
        }
        let first = |reverse| {
            let key = SortKey::Field(field);
            let found = self.run(&Plan::All, Order { key, reverse }, 0, 1)?;
            let hit = found.hits.first();
            let stored = hit.map(|hit| self.inner().document_without_body(hit.address));
            Ok::<_, Error>(
                stored
                    .transpose()?
                    .and_then(|stored| stored.document.number(field)),
            )
        };
        Ok(first(true)?.zip(first(false)?))
    }

    fn expand(&self, plan: &Plan, limits: Option<&Arc<Limits>>) -> Result<Plan, Error> {
        self.inner().expand(plan, limits)
    }

    fn explain(&self, plan: &Plan, hit: &Hit) -> Result<String, Error> {
        // It has the numbers of all documents with a word.
        match self.rights {
            Some(_) => Ok("{}".to_owned()),
            None => self.inner().explain(&self.narrow(plan), hit),
        }
    }

    fn engine_query(&self, plan: &Plan) -> Result<String, Error> {
        self.inner().engine_query(&self.narrow(plan))
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
        let whole = match self.rights {
            Some(_) => Statistics::default(),
            None => self.inner().statistics()?,
        };
        Ok(Statistics {
            tallies: counts.into_iter().flatten().filter_map(tally).collect(),
            ..whole
        })
    }

    fn location(&self, at: DocAddress) -> Result<Location, Error> {
        self.inner().location(at)
    }

    fn locations(&self, at: &[DocAddress]) -> Result<Vec<Location>, Error> {
        self.inner().locations(at)
    }

    fn document_at(&self, location: &Location) -> Result<Option<DocAddress>, Error> {
        let mut found: Vec<_> = self.inner().document_at(location)?.into_iter().collect();
        self.keep(&mut found)?;
        Ok(found.first().copied())
    }

    fn documents_below(&self, location: &Location) -> Result<Vec<DocAddress>, Error> {
        let mut found = self.inner().documents_below(location)?;
        self.keep(&mut found)?;
        Ok(found)
    }

    fn n_words(&self, at: DocAddress) -> u32 {
        self.inner().n_words(at)
    }

    fn document_by(&self, at: DocAddress, max_threads: usize) -> Result<Stored, Error> {
        self.inner().document_by(at, max_threads)
    }

    fn documents(&self, at: &[DocAddress]) -> Result<Vec<Stored>, Error> {
        self.inner().documents(at)
    }

    /// Holds the addresses of all, since only a plan tells what is inside.
    fn each_document(&self, each: &mut EachDocument<'_>) -> Result<(), Error> {
        for hit in self.run(&Plan::All, Order::default(), 0, usize::MAX)?.hits {
            if !each(self.document(hit.address)?)? {
                break;
            }
        }
        Ok(())
    }

    fn document_without_body(&self, at: DocAddress) -> Result<Stored, Error> {
        self.inner().document_without_body(at)
    }

    fn document_and_body(
        &self,
        at: DocAddress,
        max_threads: usize,
    ) -> Result<(Stored, Body), Error> {
        self.inner().document_and_body(at, max_threads)
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
            rights: None,
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

//! `ken grep --documents`: searches the documents of the index below the paths.

use std::io::Write;
use std::path::{Path, PathBuf};

use ken_core::{Field, Order, Pattern, Plan as IndexPlan, Span, escape_bytes};
use ken_engine::{DocAddress, Source};
use ken_grep::digest::Budget;
use ken_grep::documents::Documents;
use ken_grep::output::Output;
use ken_grep::run::{Search, Summary};
use ken_grep::walk::{SortKey, overrides, types};
use ken_search::service::resolve;

use super::plan::Surroundings;
use super::usage;
use crate::cli::Global;
use crate::commands::address;
use crate::config::{Settings, data_folder};
use crate::failure::Failure;
use crate::opened::Opened;
use crate::output::{Out, Screen};

/// Searches the stored text of the documents below the paths; the most useful ones come first if `ranks`.
pub(super) fn search(
    global: &Global,
    search: &Search<'_>,
    output: &Output<Out<Screen>>,
    around: &Surroundings,
    ranks: bool,
) -> Result<Summary, Failure> {
    with_documents(global, search, around, &mut |documents| {
        Ok(match ranks {
            true => search.documents_ranked(documents, output)?,
            false => search.documents(documents, output)?,
        })
    })
}

/// Searches it, and prints the best within a budget.
pub(super) fn within(
    global: &Global,
    search: &Search<'_>,
    around: &Surroundings,
    budget: &Budget<'_>,
    writer: &mut impl Write,
) -> Result<Summary, Failure> {
    with_documents(global, search, around, &mut |documents| {
        Ok(search.documents_within(documents, budget, writer)?)
    })
}

/// Calls `run` with the documents below the paths.
fn with_documents(
    global: &Global,
    search: &Search<'_>,
    around: &Surroundings,
    run: &mut dyn FnMut(&Documents<'_>) -> Result<Summary, Failure>,
) -> Result<Summary, Failure> {
    let snapshot = Opened::new(&data_folder(global)?, &Settings::load(global)?)?;
    let mut addresses = Vec::new();
    let mut roots = Vec::new();
    for typed in &search.walk.paths {
        if typed == Path::new("-") {
            return Err(usage("--documents does not read standard input".to_owned()));
        }
        let shown = if search.implicit_path {
            Path::new("")
        } else {
            typed
        };
        let path = resolve(&around.working_folder.join(typed), &snapshot.meta().roots)?;
        let mut found = below(&*snapshot, &path)?;
        let (mut path, mut shown) = (path, shown.to_path_buf());
        if found.is_empty()
            && let Some(location) = address::location(global, typed)?
        {
            found = snapshot.documents_below(&location)?;
            (path, shown) = (location.path.clone(), location.path);
        }
        if found.is_empty() && !search.implicit_path {
            let text = format!("{}: not in the index", typed.display());
            search.observer.failed(&text);
        }
        addresses.extend(found);
        roots.push((path, shown));
    }
    addresses.sort_unstable();
    addresses.dedup();
    sort(&*snapshot, &mut addresses, search)?;
    let files = match search.prefilter.is_empty() {
        true => Vec::new(),
        false => snapshot.files().rows()?,
    };
    let globs = overrides(&around.working_folder, &search.walk.globs);
    let types = types(&search.walk.types);
    run(&Documents {
        snapshot: &*snapshot,
        addresses: &addresses,
        files: &files,
        roots: &roots,
        globs: &globs.map_err(|error| usage(error.to_string()))?,
        types: &types.map_err(|error| usage(error.to_string()))?,
    })
}

/// Returns the documents of a file, or of all files below a folder.
fn below(snapshot: &dyn Source, path: &Path) -> Result<Vec<DocAddress>, Failure> {
    let own = snapshot
        .files()
        .documents_of(snapshot.meta().hasher.key(path))?;
    if !own.is_empty() {
        return Ok(own);
    }
    let names = path.components().map(|name| {
        let name = std::os::unix::ffi::OsStrExt::as_bytes(name.as_os_str());
        Pattern::Term(escape_bytes(name).into_owned())
    });
    let names: Vec<(u32, Pattern)> = (0..).zip(names).collect();
    let plan = match names.len() {
        0 | 1 => IndexPlan::All,
        _ => IndexPlan::Span {
            field: Field::Dir,
            span: Span::Phrase(names),
        },
    };
    let found = snapshot.run(&plan, Order::default(), 0, usize::MAX)?;
    Ok(found.hits.iter().map(|hit| hit.address).collect())
}

/// Sorts the documents by path, if requested.
fn sort(
    snapshot: &dyn Source,
    addresses: &mut Vec<DocAddress>,
    search: &Search<'_>,
) -> Result<(), Failure> {
    let Some(sort) = search.walk.sort else {
        return Ok(());
    };
    if sort.key != SortKey::Path {
        return Err(usage("--documents can be sorted by path only".to_owned()));
    }
    let mut named: Vec<(PathBuf, String, DocAddress)> = Vec::with_capacity(addresses.len());
    for &address in addresses.iter() {
        let location = snapshot.location(address)?;
        let inside = location.ipath.as_str().to_owned();
        named.push((location.path, inside, address));
    }
    named.sort_unstable();
    if sort.reverse {
        named.reverse();
    }
    *addresses = named.into_iter().map(|(_, _, address)| address).collect();
    Ok(())
}

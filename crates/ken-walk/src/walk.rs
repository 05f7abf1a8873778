//! The walk: finds every regular file below the roots that the rules admit, with its stamp.
//!
//! Threads take folders, and parts of large ones, from a shared stack ([`crate::queue`]). Each
//! folder takes one `open`, one or a few `getdents`, and one `fstatat` for each file, relative to
//! the open folder. An entry of another type is recognised by the listing and never opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ken_core::Root;

use crate::Availability;
use crate::folder::{Folder, Walker, Work};
use crate::gate::{OnFolders, RootRules};
use crate::options::{Progress, Visitor, WalkOptions, WalkSummary};
use crate::queue::Queue;
use crate::roots::availabilities;
use crate::rules::{Policy, Rules, WalkRoot};
use crate::shared::{Shared, Targets};

/// Walks the roots and calls the visitor with each regular file.
///
/// A root inside another one is walked once, with its own options. Unreadable entries are counted,
/// and the walk continues.
pub fn walk(
    roots: &[Root],
    options: &WalkOptions,
    progress: &Progress,
    visitor: Visitor<'_>,
) -> WalkSummary {
    walk_within(None, roots, options, progress, visitor, None)
}

/// Walks only the roots that contain the targets, and there only folders that lead to them; with
/// `below`, also everything below a target.
pub(crate) fn walk_towards(
    targets: &[PathBuf],
    below: bool,
    roots: &[Root],
    options: &WalkOptions,
    progress: &Progress,
    visitor: Visitor<'_>,
) -> WalkSummary {
    let targets = Targets::new(targets, below, roots);
    walk_within(Some(&targets), roots, options, progress, visitor, None)
}

/// Walks folders without looking at their files: all folders, or those at and below some paths and on the way to these.
///
/// Unreadable folders are counted, and the walk continues.
pub fn walk_folders(
    below: Option<&[PathBuf]>,
    roots: &[Root],
    options: &WalkOptions,
    progress: &Progress,
    visitor: &dyn OnFolders,
) -> WalkSummary {
    let targets = below.map(|targets| Targets::new(targets, true, roots));
    let no_files = Visitor {
        file: &|_, _| (),
        skipped: None,
        recorder: None,
    };
    walk_within(
        targets.as_ref(),
        roots,
        options,
        progress,
        no_files,
        Some(visitor),
    )
}

fn walk_within(
    targets: Option<&Targets>,
    roots: &[Root],
    options: &WalkOptions,
    progress: &Progress,
    visitor: Visitor<'_>,
    folders: Option<&dyn OnFolders>,
) -> WalkSummary {
    let mut shared = Shared::new(targets, roots, options, progress, visitor);
    shared.folders = folders;
    let rules: Vec<Arc<RootRules>> = roots
        .iter()
        .map(|root| Arc::new(rules_of(root, options.global_ignore.as_deref(), &shared)))
        .collect();
    let folders = start(&shared, &rules);
    let queue = Queue::new(folders.into_iter().map(Work::Folder).collect());
    std::thread::scope(|scope| {
        for _ in 1..options.threads {
            scope.spawn(|| Walker::new(&shared, &rules).run(&queue));
        }
        Walker::new(&shared, &rules).run(&queue);
    });
    drop(queue);
    shared.finish()
}

/// Reads the rules that apply to a whole root.
fn rules_of(root: &Root, global: Option<&Path>, shared: &Shared<'_>) -> RootRules {
    let policy = match root.no_ignore {
        true => Policy::NONE,
        false => Policy::ALL,
    };
    let global = global.filter(|_| policy.reads_files() && shared.is_walked(root));
    let mut errors = Vec::new();
    let rules = Rules::new(
        policy,
        global.map(|file| (root.path.as_path(), file)),
        &mut errors,
    );
    shared.report_rules(errors);
    RootRules {
        rules,
        walk_root: WalkRoot::resolved(&root.path),
        root: root.clone(),
    }
}

/// Returns the folders in which the walk starts; roots that are files are visited immediately.
fn start(shared: &Shared<'_>, rules: &[Arc<RootRules>]) -> Vec<Folder> {
    let mut folders = Vec::new();
    // A link may lead to any remote file system.
    let mounts = &shared.mounts;
    let is_remote =
        |root: &Root| mounts.are_above(&root.path) || root.follow_links && mounts.are_any();
    let mut walked = Vec::new();
    for (number, root) in shared.roots.iter().enumerate() {
        match shared.folders {
            _ if !shared.is_walked(root) => {}
            Some(visitor) if is_remote(root) => visitor.entering(&root.path, true),
            _ => walked.push((number, root)),
        }
    }
    let roots: Vec<&Root> = walked.iter().map(|(_, root)| *root).collect();
    let states = availabilities(&roots, mounts);
    for ((number, root), state) in walked.into_iter().zip(states) {
        match state {
            Availability::Available if root.path.is_dir() => {
                let mut errors = Vec::new();
                let of_root = &rules[number];
                let above = of_root.rules.above(&of_root.walk_root, &mut errors);
                shared.report_rules(errors);
                let is_remote = is_remote(root);
                folders.push(Folder::root(number, root.path.clone(), above, is_remote));
            }
            Availability::Available => Walker::new(shared, rules).root_file(root),
            state => shared
                .summary()
                .unavailable
                .push((root.path.clone(), state)),
        }
    }
    folders
}

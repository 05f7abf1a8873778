//! Threads: which message answers which (J. Zawinski, "message threading").
//!
//! Each message names its ancestors, and the references link them into trees. An ancestor that is not among the
//! messages is an empty node, which is removed where that loses nothing. An existing link stays, so references that
//! contradict each other or form circles do no harm. The result is that of mu: threads are ordered by their newest
//! message, answers from old to new.
//!
//! Only roots get parents, so a union-find forest can detect whether a link closes a circle. The time is almost linear
//! in the number of references.

use std::collections::HashMap;
use std::path::Path;

/// The most references of one message; the oldest others are ignored.
const MAX_REFERENCES: usize = 1_000;
/// The deepest level. Deeper answers become siblings, as paths grow with the level.
const MAX_LEVEL: usize = 200;

/// A message as threading needs it.
#[derive(Clone, Copy, Debug)]
pub struct ThreadMessage<'a> {
    /// The Message-ID.
    pub id: &'a str,
    /// The identifiers of its ancestors, nearest last; see [`ancestors`].
    pub references: &'a [String],
    /// The time at which it was sent, in seconds since 1970-01-01 UTC.
    pub date: i64,
    /// The subject.
    pub subject: &'a str,
    /// The file, to distinguish duplicates.
    pub path: &'a Path,
}

/// The position of a message in its thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Threaded {
    /// The index of the message among the entries.
    pub entry: usize,
    /// The numbers of the branches that lead to the message, in hexadecimal digits of equal length. Messages sorted by
    /// path are in order.
    pub path: String,
    /// The depth; 0 at the root.
    pub level: usize,
    /// The time of the newest message among this one and those below it; absent for a duplicate.
    pub newest: Option<i64>,
    /// Whether the message is the first of its siblings; false at the root, like the next field.
    pub is_first_child: bool,
    /// Whether the message is the last of its siblings.
    pub is_last_child: bool,
    /// Whether the message has answers or duplicates.
    pub has_child: bool,
    /// Whether the answered message is not among the messages, but other answers to it are.
    pub is_orphan: bool,
    /// Whether an earlier message has the same identifier.
    pub is_duplicate: bool,
    /// Whether the subject differs from that of the message shown before.
    pub has_new_subject: bool,
}

/// Returns all identifiers that a message names as its ancestors, nearest last.
pub fn ancestors(references: &[String], in_reply_to: &[String]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for id in references.iter().chain(in_reply_to) {
        if !id.is_empty() && !all.contains(id) {
            all.push(id.clone());
        }
    }
    all
}

/// Returns what all messages of a thread share: the identifier of the oldest known ancestor.
pub fn thread_id<'a>(references: &'a [String], id: &'a str) -> &'a str {
    references.first().map_or(id, String::as_str)
}

/// Returns the messages in the order of their threads, by the newest message of each. `descending` orders threads from
/// new to old. Answers always go from old to new.
pub fn threads(entries: &[ThreadMessage<'_>], descending: bool) -> Vec<Threaded> {
    let mut forest = Forest::default();
    for at in order(entries, descending) {
        forest.add(entries, at);
    }
    let roots = forest.prune(entries);
    forest.listed(entries, roots, descending)
}

/// Returns the order in which links are made, which does not depend on the order of the entries.
fn order(entries: &[ThreadMessage<'_>], descending: bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (&entries[*a], &entries[*b]);
        let by_date = match descending {
            true => b.date.cmp(&a.date),
            false => a.date.cmp(&b.date),
        };
        by_date.then_with(|| (a.id, a.path).cmp(&(b.id, b.path)))
    });
    order
}

/// A node of a tree.
#[derive(Default)]
struct Node {
    entry: Option<usize>,
    is_duplicate: bool,
    parent: Option<usize>,
    /// A node nearer to the root, by shortcuts.
    above: Option<usize>,
    children: Vec<usize>,
    newest: Option<i64>,
}

#[derive(Default)]
struct Forest<'a> {
    nodes: Vec<Node>,
    by_id: HashMap<&'a str, usize>,
}

impl<'a> Forest<'a> {
    fn add(&mut self, entries: &[ThreadMessage<'a>], at: usize) {
        let entry = &entries[at];
        let mut node = self.node(entry.id);
        if self.nodes[node].entry.is_some() {
            let original = node;
            node = self.new_node();
            self.nodes[node].is_duplicate = true;
            self.nodes[node].entry = Some(at);
            self.link(original, node);
            return;
        }
        self.nodes[node].entry = Some(at);
        let n_left_out = entry.references.len().saturating_sub(MAX_REFERENCES);
        let mut parent = None;
        for reference in &entry.references[n_left_out..] {
            let ancestor = self.node(reference);
            if let Some(parent) = parent {
                self.link(parent, ancestor);
            }
            parent = Some(ancestor);
        }
        if let Some(parent) = parent {
            self.link(parent, node);
        }
    }

    fn node(&mut self, id: &'a str) -> usize {
        match self.by_id.get(id) {
            Some(node) => *node,
            None => {
                let node = self.new_node();
                self.by_id.insert(id, node);
                node
            }
        }
    }

    fn new_node(&mut self) -> usize {
        self.nodes.push(Node::default());
        self.nodes.len() - 1
    }

    /// Makes a node the child of another, unless it has a parent or this would close a circle.
    fn link(&mut self, parent: usize, child: usize) {
        if self.nodes[child].parent.is_none() && self.root(parent) != child {
            self.nodes[child].parent = Some(parent);
            self.nodes[child].above = Some(parent);
            self.nodes[parent].children.push(child);
        }
    }

    fn root(&mut self, mut node: usize) -> usize {
        while let Some(above) = self.nodes[node].above {
            // Halves the path for later searches.
            let further = self.nodes[above].above.unwrap_or(above);
            self.nodes[node].above = Some(further);
            node = further;
        }
        node
    }

    /// Removes empty nodes, sorts children, and returns the sorted roots.
    fn prune(&mut self, entries: &[ThreadMessage<'_>]) -> Vec<usize> {
        let is_root = |node: &usize| self.nodes[*node].parent.is_none();
        let roots: Vec<usize> = (0..self.nodes.len()).filter(is_root).collect();
        let mut from_above = roots.clone();
        let mut at = 0;
        while let Some(node) = from_above.get(at) {
            from_above.extend_from_slice(&self.nodes[*node].children);
            at += 1;
        }
        for node in from_above.into_iter().rev() {
            self.settle(node, entries);
        }
        let mut kept = Vec::new();
        for root in roots {
            let node = &self.nodes[root];
            match (node.entry, node.children.as_slice()) {
                (Some(_), _) | (None, [_, _, ..]) => kept.push(root),
                (None, children) => kept.extend_from_slice(children),
            }
        }
        for node in &kept {
            self.nodes[*node].parent = None;
        }
        self.sort(&mut kept, entries);
        kept
    }

    /// Gives a node the children of its empty children, and its date. All nodes below are done already.
    fn settle(&mut self, node: usize, entries: &[ThreadMessage<'_>]) {
        let mut children = Vec::new();
        for child in std::mem::take(&mut self.nodes[node].children) {
            if self.nodes[child].entry.is_some() {
                children.push(child);
                continue;
            }
            let mut moved = std::mem::take(&mut self.nodes[child].children);
            // The shorter list is copied, as a long one may move up many levels.
            if moved.len() > children.len() {
                std::mem::swap(&mut moved, &mut children);
            }
            children.extend(moved);
        }
        for child in &children {
            self.nodes[*child].parent = Some(node);
        }
        self.sort(&mut children, entries);
        let own = &self.nodes[node];
        let own_date = own.entry.filter(|_| !own.is_duplicate);
        let own_date = own_date.map(|entry| entries[entry].date);
        let below = children
            .iter()
            .filter_map(|child| self.nodes[*child].newest);
        self.nodes[node].newest = below.chain(own_date).max();
        self.nodes[node].children = children;
    }

    fn sort(&self, nodes: &mut [usize], entries: &[ThreadMessage<'_>]) {
        nodes.sort_by(|a, b| self.sort_key(*a, entries).cmp(&self.sort_key(*b, entries)));
    }

    /// Returns the sort key: the newest message below. Nodes without one, which are duplicates, come first.
    fn sort_key<'e>(
        &self,
        node: usize,
        entries: &[ThreadMessage<'e>],
    ) -> (Option<i64>, Option<(&'e str, &'e Path)>) {
        let mut shown = node;
        // An empty root has children that are not empty.
        while self.nodes[shown].entry.is_none() {
            match self.nodes[shown].children.first() {
                Some(child) => shown = *child,
                None => return (self.nodes[node].newest, None),
            }
        }
        let entry = self.nodes[shown].entry.map(|entry| &entries[entry]);
        (
            self.nodes[node].newest,
            entry.map(|entry| (entry.id, entry.path)),
        )
    }

    /// Returns all nodes below one, in list order.
    fn all_below(&self, node: usize) -> Vec<usize> {
        let mut below = Vec::new();
        let mut waiting: Vec<usize> = self.nodes[node].children.iter().rev().copied().collect();
        while let Some(node) = waiting.pop() {
            below.push(node);
            waiting.extend(self.nodes[node].children.iter().rev());
        }
        below
    }

    fn listed(
        &self,
        entries: &[ThreadMessage<'_>],
        roots: Vec<usize>,
        descending: bool,
    ) -> Vec<Threaded> {
        let mut lister = Lister {
            forest: self,
            entries,
            descending,
            digits: format!("{:x}", entries.len().saturating_sub(1)).len(),
            subject: "",
            listed: Vec::with_capacity(entries.len()),
        };
        let mut waiting: Vec<Branch> = roots
            .into_iter()
            .enumerate()
            .map(|(number, node)| Branch {
                node,
                level: 0,
                path: format!("{number:0width$x}", width = lister.digits),
                siblings: None,
            })
            .collect();
        // The last one is taken first.
        if !descending {
            waiting.reverse();
        }
        while let Some(branch) = waiting.pop() {
            let children = lister.list(&branch);
            waiting.extend(children.into_iter().rev());
        }
        lister.listed
    }
}

/// A node that waits to be listed.
struct Branch {
    node: usize,
    level: usize,
    path: String,
    /// Its number among its siblings, and their count; absent at the root.
    siblings: Option<(usize, usize)>,
}

struct Lister<'f, 'e> {
    forest: &'f Forest<'e>,
    entries: &'f [ThreadMessage<'e>],
    descending: bool,
    digits: usize,
    /// The subject of the message listed last.
    subject: &'e str,
    listed: Vec<Threaded>,
}

impl Lister<'_, '_> {
    /// Lists a message and returns its children.
    fn list(&mut self, branch: &Branch) -> Vec<Branch> {
        let node = &self.forest.nodes[branch.node];
        if branch.level == 0 {
            self.subject = "";
        }
        if let Some(entry) = node.entry {
            let subject = match node.is_duplicate {
                true => "",
                false => bare_subject(self.entries[entry].subject),
            };
            let (number, n_siblings) = branch.siblings.unwrap_or((usize::MAX, 0));
            let parent = node.parent.map(|parent| &self.forest.nodes[parent]);
            self.listed.push(Threaded {
                entry,
                path: self.with_end(&branch.path),
                level: branch.level,
                newest: node.newest.filter(|_| !node.is_duplicate),
                is_first_child: number == 0,
                is_last_child: number.wrapping_add(1) == n_siblings && n_siblings > 0,
                has_child: !node.children.is_empty(),
                is_orphan: parent.is_some_and(|parent| parent.entry.is_none()),
                is_duplicate: node.is_duplicate,
                has_new_subject: branch.level == 0 || node.is_duplicate || subject != self.subject,
            });
            self.subject = subject;
        }
        let children = match branch.level {
            MAX_LEVEL => return Vec::new(),
            level if level + 1 == MAX_LEVEL => self.forest.all_below(branch.node),
            _ => node.children.clone(),
        };
        let n_siblings = children.len();
        let below = |(number, node): (usize, usize)| Branch {
            node,
            level: branch.level + 1,
            path: format!("{}:{}", branch.path, self.segment(number)),
            siblings: Some((number, n_siblings)),
        };
        children.into_iter().enumerate().map(below).collect()
    }

    /// Returns a segment of the path. If the order is from new to old, siblings count down, so that paths still sort
    /// ascending.
    fn segment(&self, number: usize) -> String {
        let width = self.digits;
        let number = match self.descending {
            true => (1_usize << (4 * width)) - 1 - number,
            false => number,
        };
        format!("{number:0width$x}")
    }

    /// Returns the path with an end mark. If the order is from new to old, a message sorts after those below it, so
    /// its path ends higher than theirs.
    fn with_end(&self, path: &str) -> String {
        match self.descending {
            true => format!("{path}:z"),
            false => path.to_owned(),
        }
    }
}

/// Returns a subject without prefixes such as `Re:` and `Fwd:`.
fn bare_subject(subject: &str) -> &str {
    subject.rsplit(':').next().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An identifier, the identifiers of its ancestors, a date and a subject.
    type Row<'a> = (&'a str, &'a [&'a str], i64, &'a str);

    fn list(rows: &[Row<'_>], descending: bool) -> Vec<String> {
        let references: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.1.iter().map(|id| (*id).to_owned()).collect())
            .collect();
        let paths: Vec<String> = (0..rows.len()).map(|n| format!("/m/{n}")).collect();
        let entries: Vec<ThreadMessage<'_>> = rows
            .iter()
            .zip(&references)
            .zip(&paths)
            .map(
                |(((id, _, date, subject), references), path)| ThreadMessage {
                    id,
                    references,
                    date: *date,
                    subject,
                    path: Path::new(path),
                },
            )
            .collect();
        let line = |at: &Threaded| {
            let flags = [
                (at.is_first_child, " first"),
                (at.is_last_child, " last"),
                (at.has_child, " parent"),
                (at.is_orphan, " orphan"),
                (at.is_duplicate, " duplicate"),
                (at.has_new_subject, " subject"),
            ];
            let flags: String = flags.iter().filter(|f| f.0).map(|f| f.1).collect();
            let newest = at.newest.map_or(String::new(), |date| date.to_string());
            let id = entries[at.entry].id;
            format!("{id} {} {} {newest}{flags}", at.path, at.level)
        };
        threads(&entries, descending).iter().map(line).collect()
    }

    #[test]
    fn answers_stand_below_what_they_answer() {
        let rows: &[Row<'_>] = &[
            ("a", &[], 1, "Plan"),
            ("b", &["a"], 2, "Re: Plan"),
            ("c", &["a", "b"], 3, "Re: Plan"),
            ("d", &["a"], 8, "Re: Plan (was: X)"),
            ("z", &[], 5, "Other"),
        ];
        let downwards = [
            "a 1:z 0 8 parent subject",
            "b 1:f:z 1 3 first parent",
            "c 1:f:f:z 2 3 first last",
            "d 1:e:z 1 8 last subject",
            "z 0:z 0 5 subject",
        ];
        assert_eq!(list(rows, true), downwards);
        let upwards = [
            "z 0 0 5 subject",
            "a 1 0 8 parent subject",
            "b 1:0 1 3 first parent",
            "c 1:0:0 2 3 first last",
            "d 1:1 1 8 last subject",
        ];
        assert_eq!(list(rows, false), upwards);
    }

    #[test]
    fn missing_messages_hold_their_answers_together() {
        let rows: &[Row<'_>] = &[
            ("c", &["a", "b"], 3, "Re: X"),
            ("d", &["a", "b"], 4, "Re: X"),
            ("e", &["a"], 5, "Re: X"),
            ("y", &["x"], 9, "Re: Y"),
        ];
        let expected = [
            "c 0:0 1 3 first orphan subject",
            "d 0:1 1 4 orphan",
            "e 0:2 1 5 last orphan",
            "y 1 0 9 subject",
        ];
        assert_eq!(list(rows, false), expected);
    }

    #[test]
    fn copies_stand_below_the_first() {
        let rows: &[Row<'_>] = &[
            ("a", &[], 1, "X"),
            ("a", &[], 1, "X"),
            ("b", &["a"], 2, "Re: X"),
        ];
        let expected = [
            "a 0 0 2 parent subject",
            "a 0:0 1  first duplicate subject",
            "b 0:1 1 2 last subject",
        ];
        assert_eq!(list(rows, false), expected);
    }

    #[test]
    fn circles_and_contradictions_are_survived() {
        let circle: &[Row<'_>] = &[("a", &["b"], 1, "X"), ("b", &["a"], 2, "Re: X")];
        assert_eq!(list(circle, true)[0], "a 0:z 0 2 parent subject");
        assert_eq!(list(circle, false)[0], "b 0 0 2 parent subject");
        let own: &[Row<'_>] = &[("a", &["a"], 1, "X")];
        assert_eq!(list(own, false), ["a 0 0 1 subject"]);
    }

    #[test]
    fn a_hundred_thousand_levels_are_no_recursion() {
        let ids: Vec<String> = (0..100_000).map(|n| n.to_string()).collect();
        let references: Vec<Vec<String>> = ids.windows(2).map(|w| vec![w[0].clone()]).collect();
        let entries: Vec<ThreadMessage<'_>> = (1..ids.len())
            .map(|n| ThreadMessage {
                id: &ids[n],
                references: &references[n - 1],
                date: n as i64,
                subject: "",
                path: Path::new(&ids[n]),
            })
            .collect();
        let listed = threads(&entries, true);
        assert_eq!(listed.len(), entries.len());
        assert_eq!(listed[300].level, MAX_LEVEL);
        assert!(listed.is_sorted_by(|a, b| a.path > b.path));
    }

    #[test]
    fn ancestors_are_each_named_once() {
        let ids = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>();
        let all = ancestors(&ids(&["a", "b", "a"]), &ids(&["b", "c"]));
        assert_eq!(all, ids(&["a", "b", "c"]));
        assert_eq!(thread_id(&all, "d"), "a");
        assert_eq!(thread_id(&[], "d"), "d");
    }

    /// Messages with arbitrary references, some of them duplicates.
    fn messages() -> impl Strategy<Value = Vec<(u8, Vec<u8>, i64)>> {
        let references = proptest::collection::vec(0..20_u8, 0..4);
        proptest::collection::vec((0..15_u8, references, 0..9_i64), 0..25)
    }

    proptest! {
        #[test]
        fn any_order_of_arrival_gives_the_same_threads(
            messages in messages(), seed in any::<u64>(), descending in any::<bool>()
        ) {
            let names: Vec<(String, Vec<String>, String)> = messages
                .iter()
                .enumerate()
                .map(|(n, (id, references, _))| {
                    let references = references.iter().map(u8::to_string).collect();
                    (id.to_string(), references, n.to_string())
                })
                .collect();
            let entry = |n: &usize| ThreadMessage {
                id: &names[*n].0,
                references: &names[*n].1,
                date: messages[*n].2,
                subject: "x",
                path: Path::new(&names[*n].2),
            };
            let mut numbers: Vec<usize> = (0..messages.len()).collect();
            let entries: Vec<ThreadMessage<'_>> = numbers.iter().map(entry).collect();
            let listed = threads(&entries, descending);
            numbers.sort_by_key(|n| (*n as u64).wrapping_mul(seed | 1).rotate_left(17));
            let shuffled: Vec<ThreadMessage<'_>> = numbers.iter().map(entry).collect();
            let mut again = threads(&shuffled, descending);
            for at in &mut again {
                at.entry = numbers[at.entry];
            }
            prop_assert_eq!(&listed, &again);

            let mut seen: Vec<usize> = listed.iter().map(|at| at.entry).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..messages.len()).collect::<Vec<_>>());
            let mut paths: Vec<&str> = listed.iter().map(|at| at.path.as_str()).collect();
            let in_order = paths.clone();
            paths.sort_unstable();
            if descending {
                paths.reverse();
            }
            prop_assert_eq!(paths, in_order);
        }
    }
}

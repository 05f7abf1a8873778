//! ag's ignore rules, which differ from git's.
//!
//! The `.ignore`, `.gitignore`, `.git/info/exclude` and `.hgignore` of a folder form one unordered
//! set of patterns. A pattern is a name, a name with a leading slash, or a shell pattern; its kind
//! determines which part of a path it is compared with. `!` patterns only undo shell patterns of
//! the same folder. A file is tested in every folder from its own up to the start of the search,
//! and then with the patterns that apply everywhere.
//!
//! ag compares each name with each pattern at each level. Here, names without a slash are looked up
//! in a sorted list, and compared with the folders of a path once for each folder.

use std::path::Path;
use std::sync::Arc;

use super::fnmatch::Glob;
use super::report::Report;

/// Files with patterns in each folder. The first one applies regardless of version control.
pub(super) const FILES: [&str; 4] = [".ignore", ".gitignore", ".git/info/exclude", ".hgignore"];

/// The patterns of a folder and of its parent folders.
#[derive(Debug, Default)]
pub struct Rules {
    /// The path of the folder, relative to the start of the search.
    base: Vec<u8>,
    parent: Option<Arc<Self>>,
    /// `tags`, `a/b`, `build/`.
    names: Vec<Vec<u8>>,
    /// The names with a slash.
    paths: Vec<Vec<u8>>,
    /// `/build`, without its slash.
    anchored: Vec<Vec<u8>>,
    /// `min.js` of `*.min.js`: everything after the first dot of a name.
    extensions: Vec<Vec<u8>>,
    /// `/build*`, without its slash.
    anchored_globs: Vec<Glob>,
    /// `!*.txt`, without its mark.
    kept: Vec<Glob>,
    /// `*.o`.
    globs: Vec<Glob>,
}

impl Rules {
    /// Creates the patterns that apply everywhere, none so far.
    pub fn root() -> Self {
        Self::default()
    }

    /// Creates the patterns of the start of a search, none so far.
    pub(super) fn start(root: &Arc<Self>) -> Self {
        Self {
            parent: Some(Arc::clone(root)),
            ..Self::default()
        }
    }

    /// Creates the patterns of a subfolder, none so far. Levels without patterns are skipped.
    pub(super) fn below(self: &Arc<Self>, name: &[u8]) -> Self {
        let parent = match &self.parent {
            Some(parent) if self.is_empty() => parent,
            _ => self,
        };
        let base = match self.base.is_empty() {
            true => name.to_vec(),
            false => [&self.base, b"/".as_slice(), name].concat(),
        };
        Self {
            base,
            parent: Some(Arc::clone(parent)),
            ..Self::default()
        }
    }

    /// Returns whether there are no patterns; ag does not count `!` patterns here.
    fn is_empty(&self) -> bool {
        self.extensions.is_empty()
            && self.names.is_empty()
            && self.anchored.is_empty()
            && self.globs.is_empty()
            && self.anchored_globs.is_empty()
    }

    /// Adds the patterns in a file, one on each line, if it is a regular file of at most 1 MiB.
    pub fn load(&mut self, path: &Path, report: &Report<'_>) {
        let Ok(Some(text)) = ken_walk::ignore_file_text(path) else {
            let path = path.display();
            report.debug(|| format!("Skipping ignore file {path}: not readable"));
            return;
        };
        report.debug(|| format!("Loading ignore file {}.", path.display()));
        for line in text.split(|byte| *byte == b'\n') {
            if !line.starts_with(b"#") {
                self.add(line, report);
            }
        }
    }

    /// Adds a pattern.
    pub fn add(&mut self, pattern: &[u8], report: &Report<'_>) {
        let pattern = pattern.split(|byte| *byte == 0).next().unwrap_or_default();
        let pattern = match pattern {
            [b'.', rest @ ..] if rest.starts_with(b"/") => rest,
            _ => pattern,
        };
        let pattern = trim_end(pattern);
        if pattern.is_empty() {
            return;
        }
        self.insert(pattern);
        report.debug(|| {
            let owner = match &self.parent {
                None => "root ignores".into(),
                Some(_) => String::from_utf8_lossy(&self.base),
            };
            format!("added ignore pattern {} to {owner}", pattern.escape_ascii())
        });
    }

    fn insert(&mut self, pattern: &[u8]) {
        match pattern {
            [b'*', b'.', rest @ ..] if rest.contains(&b'.') && !is_glob(rest) => {
                insert(&mut self.extensions, rest);
            }
            [b'/', rest @ ..] if is_glob(rest) => self.anchored_globs.push(Glob::new(rest)),
            [b'/', rest @ ..] => insert(&mut self.anchored, rest),
            [b'!', rest @ ..] => self.kept.push(Glob::new(rest)),
            _ if is_glob(pattern) => self.globs.push(Glob::new(pattern)),
            _ => {
                insert(&mut self.names, pattern);
                if pattern.contains(&b'/') {
                    self.paths.push(pattern.to_vec());
                }
            }
        }
    }
}

/// Inserts into a sorted list.
fn insert(list: &mut Vec<Vec<u8>>, pattern: &[u8]) {
    if let Err(at) = find(list, pattern) {
        list.insert(at, pattern.to_vec());
    }
}

fn find(list: &[Vec<u8>], text: &[u8]) -> Result<usize, usize> {
    list.binary_search_by(|known| known.as_slice().cmp(text))
}

/// Removes trailing white space, as defined by `isspace`.
fn trim_end(text: &[u8]) -> &[u8] {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let length = text.iter().rposition(|byte| !is_space(byte));
    &text[..length.map_or(0, |last| last + 1)]
}

fn is_glob(pattern: &[u8]) -> bool {
    pattern.iter().any(|byte| b"!*?[]".contains(byte))
}

/// The rules for the entries of one folder.
pub(super) struct Filter<'r> {
    levels: Vec<Level<'r>>,
    /// The path of the folder and a slash, to which a name is appended.
    path: Vec<u8>,
    /// Offset of the name in the path.
    name_start: usize,
    /// Start of the part of the path that patterns are compared with, after a slash.
    start: usize,
}

struct Level<'r> {
    rules: &'r Rules,
    /// Names without a slash that equal a folder in the path.
    in_path: Vec<&'r [u8]>,
}

impl<'r> Filter<'r> {
    /// Prepares the rules for a folder: its own, and its path without the start of the search.
    pub(super) fn new(rules: &'r Rules, path: &[u8]) -> Self {
        let path = path.strip_prefix(b".").unwrap_or(path);
        let path = [path, b"/"].concat();
        let start = usize::from(path.starts_with(b"/"));
        let chain = std::iter::successors(Some(rules), |rules| rules.parent.as_deref());
        let levels = chain.map(|rules| Level::new(rules, &path[start..]));
        Self {
            levels: levels.collect(),
            name_start: path.len(),
            start,
            path,
        }
    }

    /// Returns whether a name in the folder is ignored, by a pattern or by `other` for its path.
    pub(super) fn ignores(
        &mut self,
        name: &[u8],
        is_folder: bool,
        other: &dyn Fn(&[u8]) -> bool,
    ) -> bool {
        let dot = memchr::memchr(b'.', name);
        let extension = dot.map_or(&[][..], |dot| &name[dot + 1..]);
        let with_slash = is_folder.then(|| [name, b"/"].concat());
        let Self {
            levels,
            path,
            name_start,
            start,
        } = self;
        levels.iter().any(|level| {
            find(&level.rules.extensions, extension).is_ok()
                || [Some(name), with_slash.as_deref()]
                    .into_iter()
                    .flatten()
                    .any(|name| {
                        path.truncate(*name_start);
                        path.extend_from_slice(name);
                        level
                            .ignores(&path[*start..], name)
                            .unwrap_or_else(|| other(path))
                    })
        })
    }
}

impl<'r> Level<'r> {
    fn new(rules: &'r Rules, path: &[u8]) -> Self {
        let below = rules.below_base(path).unwrap_or_default();
        let folders = below.split(|byte| *byte == b'/');
        let in_path = folders
            .filter_map(|folder| find(&rules.names, folder).ok())
            .map(|at| rules.names[at].as_slice())
            .collect();
        Self { rules, in_path }
    }

    /// Returns whether a path is ignored, if a pattern decides.
    fn ignores(&self, path: &[u8], name: &[u8]) -> Option<bool> {
        let rules = self.rules;
        if find(&rules.names, name).is_ok() {
            return Some(true);
        }
        if let Some(below) = rules.below_base(path) {
            let mut names = rules
                .paths
                .iter()
                .map(Vec::as_slice)
                .chain(self.in_path.iter().copied());
            if find(&rules.names, below).is_ok()
                || find(&rules.anchored, below).is_ok()
                || names.any(|name| stands_in(below, name))
                || rules.anchored_globs.iter().any(|glob| glob.matches(below))
            {
                return Some(true);
            }
        }
        if rules.kept.iter().any(|glob| glob.matches(name)) {
            return Some(false);
        }
        let matches = rules.globs.iter().any(|glob| glob.matches(name));
        matches.then_some(true)
    }
}

impl Rules {
    /// Returns the part of a path below the folder of these rules. Like ag, it does not check that
    /// the folder's name ends there.
    fn below_base<'p>(&self, path: &'p [u8]) -> Option<&'p [u8]> {
        let rest = path.strip_prefix(self.base.as_slice())?;
        Some(rest.strip_prefix(b"/").unwrap_or(rest))
    }
}

/// Returns whether the first occurrence of a text in a path is a whole name, or several.
fn stands_in(path: &[u8], text: &[u8]) -> bool {
    memchr::memmem::find(path, text).is_some_and(|start| {
        let end = path.get(start + text.len());
        (start == 0 || path[start - 1] == b'/') && matches!(end, None | Some(b'/'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ag::Level as Verbosity;

    fn rules(mut rules: Rules, patterns: &[&str]) -> Arc<Rules> {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let report = Report::new(&mut out, &mut err, Verbosity::Errors);
        for pattern in patterns {
            rules.add(pattern.as_bytes(), &report);
        }
        Arc::new(rules)
    }

    fn start(patterns: &[&str]) -> Arc<Rules> {
        rules(Rules::start(&rules(Rules::root(), &[])), patterns)
    }

    /// Tests a path in the form that a search in `.` produces.
    fn ignores(rules: &Rules, path: &str) -> bool {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = match folder {
            "" => ".".to_owned(),
            _ => format!("./{folder}"),
        };
        let (name, is_folder) = match name.strip_suffix('+') {
            Some(name) => (name, true),
            None => (name, false),
        };
        Filter::new(rules, folder.as_bytes()).ignores(name.as_bytes(), is_folder, &|_| false)
    }

    #[test]
    fn names_hold_everywhere_below() {
        let rules = start(&["tags", "a/b", "build/ ", "./top"]);
        assert!(ignores(&rules, "tags") && ignores(&rules, "x/tags"));
        assert!(ignores(&rules, "a/b") && ignores(&rules, "x/a/b"));
        assert!(ignores(&rules, "build+") && !ignores(&rules, "build"));
        assert!(ignores(&rules, "top") && !ignores(&rules, "x/top"));
        assert!(!ignores(&rules, "stags") && !ignores(&rules, "xa/b"));
    }

    #[test]
    fn only_the_first_position_of_a_text_counts() {
        let rules = start(&["a/b"]);
        assert!(!ignores(&rules, "xa/b/a/b"));
    }

    #[test]
    fn extensions_begin_at_the_first_dot() {
        let rules = start(&["*.min.js", "*.o"]);
        assert!(ignores(&rules, "x.min.js") && !ignores(&rules, "a.x.min.js"));
        assert!(ignores(&rules, "x.y.o"));
    }

    #[test]
    fn marked_patterns_take_back_shell_patterns_of_their_level_only() {
        let level = start(&["*.txt", "!keep.*", "plain"]);
        assert!(!ignores(&level, "keep.txt") && ignores(&level, "x.txt"));
        let level = start(&["*.txt", "!plain", "plain"]);
        assert!(ignores(&level, "plain"));
        let below = rules(level.below(b"sub"), &["!x.txt"]);
        assert!(ignores(&below, "sub/x.txt"));
    }

    #[test]
    fn patterns_of_a_folder_are_below_it() {
        let top = start(&["/only", "*.log"]);
        let below = rules(top.below(b"sub"), &["/x", "/y*"]);
        assert!(ignores(&below, "sub/x") && ignores(&below, "sub/yy"));
        assert!(!ignores(&below, "sub/z") && ignores(&below, "sub/a.log"));
        assert!(!ignores(&below, "sub/only"));
    }

    #[test]
    fn levels_without_patterns_are_passed_over() {
        let top = start(&["x"]);
        let empty = rules(top.below(b"a"), &["!y"]);
        let below = rules(empty.below(b"b"), &[]);
        assert_eq!(below.base, b"a/b");
        assert_eq!(below.parent.as_ref().unwrap().base, b"");
    }

    #[test]
    fn comments_and_spaces_are_no_patterns() {
        let rules = start(&["  ", "", "\t"]);
        assert!(rules.is_empty());
    }
}

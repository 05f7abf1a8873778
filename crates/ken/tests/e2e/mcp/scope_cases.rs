//! Random homes, random scopes: an answer has what the whole home has inside of the scope, and nothing else.
//!
//! Each text has a mark of its own, and so has each name. Which marks a scope has follows from the paths alone, and is
//! compared with what each tool tells, however a document is addressed: by its path, as a member, over links, with `..`,
//! by its identifier.

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Client;
use crate::mail::message;
use crate::samples::tar;
use crate::world::World;

/// Folders whose names begin alike, contain each other, or differ by one sign.
const FOLDERS: [&str; 9] = ["", "a", "a/b", "a/b/c", "ab", "a b", "b", "b/a", "a.b"];
/// A case makes a home, so there are fewer than of other properties.
const SHARE: u32 = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Mail,
    /// An archive with a text.
    Archive,
    /// An archive with a message.
    ArchivedMail,
    /// A message with an attached text.
    Attachment,
}

#[derive(Clone, Debug)]
struct Home {
    /// The folder and the kind of each file.
    files: Vec<(usize, Kind)>,
    /// Where each link is, and the folder or file that it leads to.
    links: Vec<(usize, Target)>,
}

#[derive(Clone, Debug)]
enum Target {
    Folder(usize),
    File(prop::sample::Index),
}

#[derive(Clone, Debug)]
struct Scope {
    folders: BTreeSet<usize>,
    excluded: BTreeSet<usize>,
    mail: bool,
}

fn folder() -> impl Strategy<Value = usize> {
    0..FOLDERS.len()
}

fn home() -> impl Strategy<Value = Home> {
    let kind = prop_oneof![
        4 => Just(Kind::Text),
        1 => Just(Kind::Mail),
        1 => Just(Kind::Archive),
        1 => Just(Kind::ArchivedMail),
        1 => Just(Kind::Attachment),
    ];
    let target = prop_oneof![
        folder().prop_map(Target::Folder),
        any::<prop::sample::Index>().prop_map(Target::File)
    ];
    let files = prop::collection::vec((folder(), kind), 3..14);
    let links = prop::collection::vec((folder(), target), 0..6);
    (files, links).prop_map(|(files, links)| Home { files, links })
}

fn scope() -> impl Strategy<Value = Scope> {
    let some = |most| prop::collection::btree_set(folder(), most);
    (some(1..3), some(0..2), any::<bool>()).prop_map(|(folders, excluded, mail)| Scope {
        folders,
        excluded,
        mail,
    })
}

/// Returns the path of a folder below `docs`, or of something in it.
fn below(folder: usize, name: &str) -> String {
    [FOLDERS[folder], name]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("/")
}

fn name(number: usize, kind: Kind) -> String {
    let suffix = match kind {
        Kind::Text => "txt",
        Kind::Mail | Kind::Attachment => "eml",
        Kind::Archive | Kind::ArchivedMail => "tar",
    };
    format!("name{number}n.{suffix}")
}

fn content(number: usize, kind: Kind) -> Vec<u8> {
    let id = u32::try_from(number).unwrap();
    // Near copies would be one hit.
    let others: Vec<String> = (0..40).map(|word| format!("w{number}o{word}")).collect();
    let text = format!("a melon, mark{number}m {}", others.join(" "));
    let mail = message(id, &[], &format!("Subject: melon mark{number}m\n"), &text);
    match kind {
        Kind::Text => text.into_bytes(),
        Kind::Mail => mail.into_bytes(),
        Kind::Archive => tar(&[("in/melon.txt", &text)]),
        Kind::ArchivedMail => tar(&[("in/melon.eml", &mail)]),
        Kind::Attachment => {
            let header = "Content-Type: multipart/mixed; boundary=b\n";
            let part = "--b\nContent-Disposition: attachment; filename=melon.txt\n\n";
            message(id, &[], header, &format!("{part}{text}\n--b--\n")).into_bytes()
        }
    }
}

impl Home {
    fn path(&self, number: usize) -> String {
        let (folder, kind) = self.files[number];
        below(folder, &name(number, kind))
    }

    /// Writes everything and indexes it.
    fn world(&self) -> World {
        let world = World::new();
        for folder in FOLDERS {
            fs_err::create_dir_all(world.docs().join(folder)).unwrap();
        }
        for (number, (_, kind)) in self.files.iter().enumerate() {
            world.write(self.path(number), content(number, *kind));
        }
        for (number, (from, target)) in self.links.iter().enumerate() {
            let link = world.docs().join(below(*from, &format!("link{number}")));
            let depth = FOLDERS[*from]
                .split('/')
                .filter(|part| !part.is_empty())
                .count();
            let up = "../".repeat(depth);
            let target = match target {
                Target::Folder(folder) => FOLDERS[*folder].to_owned(),
                Target::File(index) => self.path(index.index(self.files.len())),
            };
            // Half of them are absolute.
            match number % 2 {
                0 => symlink(format!("{up}./{target}"), link).unwrap(),
                _ => symlink(world.docs().join(target), link).unwrap(),
            }
        }
        world.index_docs();
        world
    }

    /// Returns every way to name a file below `docs`.
    fn addresses(&self, number: usize) -> Vec<String> {
        let path = self.path(number);
        let mut all = vec![path.clone()];
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", &path));
        all.extend(FOLDERS.iter().map(|from| {
            let up = from
                .split('/')
                .filter(|part| !part.is_empty())
                .map(|_| "..");
            let up: Vec<&str> = up.collect();
            format!("{from}/{}/{path}", up.join("/")).replace("//", "/")
        }));
        for (link, (from, target)) in self.links.iter().enumerate() {
            let link = below(*from, &format!("link{link}"));
            match target {
                Target::Folder(to) if FOLDERS[*to] == folder => all.push(format!("{link}/{file}")),
                Target::Folder(_) => all.push(format!("{link}/{path}")),
                Target::File(index) if index.index(self.files.len()) == number => all.push(link),
                Target::File(_) => {}
            }
        }
        let members = ["|in/melon.txt", "|in/melon.eml", "|1", "|2", "|", ":1"];
        let of_members: Vec<String> = members
            .iter()
            .map(|member| format!("{path}{member}"))
            .collect();
        all.extend(of_members);
        all.iter_mut()
            .for_each(|path| *path = path.trim_start_matches('/').to_owned());
        all
    }
}

impl Scope {
    fn options(&self) -> Vec<String> {
        let named = |option: &str, folder: &usize| {
            [option.to_owned(), format!("docs/{}", FOLDERS[*folder])]
        };
        let mut options: Vec<String> = self
            .folders
            .iter()
            .flat_map(|folder| named("--in", folder))
            .collect();
        options.extend(
            self.excluded
                .iter()
                .flat_map(|folder| named("--exclude", folder)),
        );
        options.extend(self.mail.then(|| "--mail".to_owned()));
        options
    }

    fn has(&self, folder: usize) -> bool {
        let is_below = |above: &usize| {
            let above = FOLDERS[*above];
            let path = FOLDERS[folder];
            above.is_empty() || path == above || path.starts_with(&format!("{above}/"))
        };
        self.folders.iter().any(is_below) && !self.excluded.iter().any(is_below)
    }

    /// Returns the numbers of the files whose text may be told, and of those whose names may be.
    fn inside(&self, home: &Home) -> (BTreeSet<usize>, BTreeSet<usize>) {
        let of = |is_told: fn(Kind) -> bool| {
            let files = home.files.iter().enumerate();
            files
                .filter(|(_, (folder, kind))| self.has(*folder) && (self.mail || is_told(*kind)))
                .map(|(number, _)| number)
                .collect()
        };
        (
            of(|kind| matches!(kind, Kind::Text | Kind::Archive)),
            of(|kind| matches!(kind, Kind::Text | Kind::Archive | Kind::ArchivedMail)),
        )
    }
}

/// Returns the numbers in marks such as `mark7m`.
fn marks(text: &str, before: &str, after: char) -> BTreeSet<usize> {
    let pieces = text.split(before).skip(1);
    pieces
        .filter_map(|piece| piece.split_once(after)?.0.parse().ok())
        .collect()
}

fn check(home: &Home, world: &World, scope: &Scope) {
    let options = scope.options();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let mut client = Client::with(world, &options);
    let (texts, names) = scope.inside(home);
    let mut told = |tool: &str, arguments: Value, shows_names: bool| {
        let (text, is_error) = client.call(tool, arguments.clone());
        let (marks, in_names) = (marks(&text, "mark", 'm'), marks(&text, "name", 'n'));
        assert!(
            marks.is_subset(&texts),
            "{options:?} {tool} {arguments}: {text}"
        );
        if shows_names {
            assert!(
                in_names.is_subset(&names),
                "{options:?} {tool} {arguments}: {text}"
            );
        }
        (marks, is_error)
    };
    let all = home.files.len();
    let search = json!({ "query": "melon", "limit": 100, "max_chars": 50_000 });
    assert_eq!(told("search", search, true).0, texts, "{options:?}");
    let plain: BTreeSet<usize> = texts
        .iter()
        .copied()
        .filter(|number| matches!(home.files[*number].1, Kind::Text))
        .collect();
    let lines = told("grep", json!({ "pattern": "mark[0-9]+m" }), true).0;
    assert!(
        lines.is_superset(&plain),
        "{options:?}: {lines:?} {plain:?}"
    );
    told(
        "grep",
        json!({ "pattern": "mark[0-9]+m", "documents": true }),
        true,
    );
    told(
        "grep",
        json!({ "pattern": "mark", "mode": "files", "glob": "/**" }),
        true,
    );
    for what in ["folders", "types", "authors", "years", "threads"] {
        told("list", json!({ "what": what, "query": "melon" }), true);
    }
    let words = told(
        "list",
        json!({ "what": "words", "query": "mark", "limit": 500 }),
        true,
    )
    .0;
    assert_eq!(words, texts, "{options:?}");
    told("status", json!({}), true);
    for folder in FOLDERS {
        let within = format!("docs/{folder}");
        told(
            "search",
            json!({ "query": "melon", "in": within, "limit": 100 }),
            true,
        );
        told(
            "grep",
            json!({ "pattern": "mark[0-9]+m", "in": within }),
            true,
        );
    }
    for link in 0..home.links.len() {
        let within = format!("docs/{}", below(home.links[link].0, &format!("link{link}")));
        told(
            "search",
            json!({ "query": "melon", "in": within, "limit": 100 }),
            true,
        );
        told(
            "grep",
            json!({ "pattern": "mark[0-9]+m", "in": within }),
            true,
        );
    }
    for number in 0..all {
        let of_one = format!("mark{number}m");
        told("search", json!({ "query": of_one }), true);
        told(
            "search",
            json!({ "query": format!("NOT {of_one}"), "limit": 100 }),
            true,
        );
        for address in home.addresses(number) {
            let absolute = world.docs().join(&address);
            told("read", json!({ "path": absolute }), false);
            told("read", json!({ "path": format!("docs/{address}") }), false);
            told("read", json!({ "path": address, "around": "melon" }), false);
        }
        if plain.contains(&number) {
            let (found, is_error) = told(
                "read",
                json!({ "path": format!("docs/{}", home.path(number)) }),
                false,
            );
            assert!(
                found.contains(&number) && !is_error,
                "{options:?}: {}",
                home.path(number)
            );
        }
    }
    for hit in world.hits("melon") {
        told("read", json!({ "id": hit["id"] }), true);
    }
    assert_eq!(client.end().code, 0);
}

#[test]
fn a_scope_has_what_is_inside_and_nothing_else() {
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(ProptestConfig::default().cases / SHARE)
    };
    proptest!(config, |(home in home(), scopes in prop::collection::vec(scope(), 3))| {
        let world = home.world();
        for scope in &scopes {
            check(&home, &world, scope);
        }
    });
}

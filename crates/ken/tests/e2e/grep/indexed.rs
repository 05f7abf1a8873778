//! `ken grep` prints the same with an index and without one: random trees, random changes after indexing,
//! random patterns and flags.
//!
//! A long run: `KEN_GREP_ROUNDS=500 cargo test -p ken-cli --test e2e grep::indexed`. Each failure shows its seed, and
//! `KEN_GREP_SEED` begins with that seed.

use std::io::Write;

use fastrand::Rng;

use crate::places::{KINDS, Place};
use crate::serve::Server;
use crate::world::World;

/// Random numbers, which a seed determines.
struct Chances(Rng);

impl Chances {
    fn below(&mut self, end: usize) -> usize {
        self.0.usize(..end)
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }
}

const WORDS: [&str; 27] = [
    "frobnicate",
    "the",
    "struct",
    "Frob",
    "FROB",
    "widget",
    "wait_event",
    "kmalloc(GFP_ATOMIC)",
    "Größe",
    "straße",
    "STRASSE",
    "ſpin",
    "\u{212a}elvin",
    "σίσυφος",
    "日本語",
    "x",
    "return",
    "0x1f",
    "a.b",
    "\t",
    "naïve",
    "kmalloc",
    "GFP",
    "widgets",
    "2024-01-17",
    "10:42:59",
    "१७-०१",
];

const PATTERNS: [&str; 30] = [
    "frobnicate",
    "frob",
    "FROB|widget",
    "kmalloc.*GFP",
    r"kmalloc\(",
    "Größe",
    "wait_event_?",
    r"\bwidget\b",
    "str(uct|asse|aße)",
    "[Ff]rob",
    "[a-f]rob",
    r"\w+_event",
    "spin",
    "kelvin",
    "σίσυφοσ",
    r"\p{Greek}+",
    "日本",
    "the",
    "x",
    "",
    "0x[0-9a-f]{2}",
    "(return|widgets) the",
    "no such text",
    r"the\s+struct",
    "^frob",
    "widgets$",
    r"\d{2,4}-\d\d",
    r"\b(19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}\b",
    r"\d\d:\d\d:\d\d|frob",
    r"(?-u)\d\d-\d\d",
];

const FLAGS: [&[&str]; 42] = [
    &[],
    &[],
    &[],
    &["-i"],
    &["-i"],
    &["-S"],
    &["-w"],
    &["-x"],
    &["-F"],
    &["-v"],
    &["-c"],
    &["-l"],
    &["--files-without-match"],
    &["-o"],
    &["-a"],
    &["--binary"],
    &["-U"],
    &["-uu"],
    &["-uuu"],
    &["--hidden"],
    &["-E", "none"],
    &["-E", "utf-16le"],
    &["--null-data"],
    &["-g", "*.txt"],
    &["-t", "c"],
    &["--passthru"],
    &["-m", "1"],
    &["-c", "--include-zero"],
    &["--crlf"],
    &["--no-unicode"],
    &["-L"],
    &["-P"],
    &["-z"],
    &["-e", "Frob"],
    &["-n"],
    &["-n", "-C2"],
    &["-A7000", "-n"],
    &["-B2", "-A1"],
    &["-n", "-b"],
    &["--column"],
    &["--stop-on-nonmatch", "-n"],
    &["-n", "-m2", "-A3"],
];

fn content(random: &mut Chances) -> Vec<u8> {
    let mut text = String::new();
    for _ in 0..random.below(60) {
        text += random.of(&WORDS);
        text += random.of(&[" ", " ", " ", "\n", "", "\r\n"]);
    }
    if random.one_in(12) {
        let wide = text.encode_utf16().flat_map(u16::to_le_bytes);
        return [0xff, 0xfe].into_iter().chain(wide).collect();
    }
    let mut bytes = text.into_bytes();
    if random.one_in(8) && !bytes.is_empty() {
        let at = random.below(bytes.len());
        bytes[at] = random.of(&[&0, &0xe4]).to_owned();
    }
    if random.one_in(10) {
        // Larger than the buffer in memory, with n-grams for each piece.
        let filler = large(random);
        // Matches before a NUL far into a file depend on the buffer, which grows with the longest line of the files
        // before. Even ripgrep's answers differ with the order of files.
        bytes
            .iter_mut()
            .filter(|byte| **byte == 0)
            .for_each(|byte| *byte = 0xe4);
        bytes.splice(0..0, filler);
    }
    bytes
}

/// Returns a text of many lines, of which a few matter: those at the ends of the text or of its pieces.
fn large(random: &mut Chances) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..1 + random.below(6) {
        let line = random.of(&["all work and no play\n", "\n", "dull boy ", "no play\r\n"]);
        let length = random.of(&[&(100 << 10), &(128 << 10), &(300 << 10)]);
        bytes.extend(line.repeat(length / line.len()).into_bytes());
        for _ in 0..random.below(5) {
            bytes.extend(random.of(&WORDS).as_bytes());
            bytes.extend(random.of(&[" ", " ", "\n"]).as_bytes());
        }
    }
    bytes
}

fn name(random: &mut Chances) -> String {
    let folder = random.of(&["", "", "a/", "a/b/", ".hidden/", "c/"]);
    let end = random.of(&["txt", "c", "html", "md", "bin"]);
    format!(
        "{folder}{}{}.{end}",
        random.of(&["", "", "."]),
        random.below(8)
    )
}

fn change(world: &World, random: &mut Chances) {
    let name = name(random);
    let path = world.docs().join(&name);
    match random.below(9) {
        0 if path.exists() => world.remove(&name),
        1 if path.exists() => {
            let to = self::name(random);
            world.rename(&name, &to);
        }
        2 if path.exists() => {
            // The same size and time with another content.
            let mut bytes = fs_err::read(&path).unwrap();
            let modified = fs_err::metadata(&path).unwrap().modified().unwrap();
            bytes.reverse();
            fs_err::write(&path, bytes).unwrap();
            let file = fs_err::File::options().append(true).open(&path).unwrap();
            file.file().set_modified(modified).unwrap();
        }
        3 => {
            // Folders change places; the times of their files stay.
            for name in ["a/1.txt", "c/1.txt"] {
                world.write(
                    name,
                    format!("{}\n{name}\n", random.of(&["frobnicate", "kmalloc-GFP"])),
                );
            }
            world.rename("a", "d");
            world.rename("c", "a");
            world.rename("d", "c");
        }
        4 if path.exists() => {
            // Another file with the inode, size and time.
            let mut bytes = fs_err::read(&path).unwrap();
            bytes.reverse();
            let modified = fs_err::metadata(&path).unwrap().modified().unwrap();
            world.remove(&name);
            let path = world.write(self::name(random), bytes);
            let file = fs_err::File::options().append(true).open(&path).unwrap();
            file.file().set_modified(modified).unwrap();
        }
        5 => _ = world.write(".gitignore", random.of(&["*.md\n", "a/\n", ""])),
        _ => _ = world.write(&name, content(random)),
    }
}

/// Returns the output of a search and its exit code. With many threads the lines are sorted.
fn found(world: &World, more: &[&str], flags: &[&str], pattern: &str) -> (i32, Vec<u8>, String) {
    let mut arguments = vec!["grep", "--no-config"];
    arguments.extend(more);
    arguments.extend(flags);
    arguments.extend(["-e", pattern, "docs"]);
    let run = world.ken(arguments);
    if more.contains(&"--sort") {
        return (run.code, run.out, run.err);
    }
    let mut lines: Vec<&[u8]> = run.out.split(|byte| b"\n\0".contains(byte)).collect();
    lines.sort_unstable();
    let mut messages: Vec<&str> = run.err.lines().collect();
    messages.sort_unstable();
    (run.code, lines.concat(), messages.join("\n"))
}

fn compare(world: &World, more: &[&str], n: usize, random: &mut Chances, seed: u64) {
    for _ in 0..n {
        let pattern = random.of(&PATTERNS);
        let mut flags = FLAGS[random.below(FLAGS.len())].to_vec();
        flags.extend(FLAGS[random.below(FLAGS.len())]);
        let order: &[&str] = random.of(&[&["--sort", "path"][..], &["-j3"]]);
        let with = found(world, &[more, order].concat(), &flags, pattern);
        let without = found(world, &[&["--no-index"], order].concat(), &flags, pattern);
        assert!(
            with == without,
            "seed {seed}: {more:?} {flags:?} -e {pattern:?}\nwith: {with:?}\nwithout: {without:?}"
        );
    }
}

fn round(world: &World, seed: u64) {
    let mut random = Chances(Rng::with_seed(seed));
    for _ in 0..5 + random.below(25) {
        let name = name(&mut random);
        world.write(&name, content(&mut random));
    }
    for _ in 0..3 {
        // Files that the index leaves out are scanned, unless the index is trusted.
        let all: &[&str] = &["--hidden", "--no-ignore", "docs"];
        let trusts = random.one_in(2);
        world.index(if trusts { all } else { &["docs"] });
        if trusts {
            compare(world, &["--trust-index"], 8, &mut random, seed);
        }
        for _ in 0..random.below(6) {
            change(world, &mut random);
        }
        compare(world, &[], 8, &mut random, seed);
    }
}

/// Changes what a server may overlook: rules that only one of the walks knows, files that stay open, a lot at once.
fn change_served(world: &World, random: &mut Chances, open: &mut Vec<fs_err::File>) {
    match random.below(11) {
        0 => {
            _ = world.write(
                ".kenignore",
                random.of(&["*.c\n", "a/\n", "!a/\n*.txt\n", ""]),
            )
        }
        1 => _ = world.write("a/.kenignore", random.of(&["*.md\nb\n", "*\n", ""])),
        2 => _ = world.write("c/.rgignore", random.of(&["!*.c\n", "*.txt\n"])),
        3 => {
            let marker = world.docs().join("a/b/.noindex");
            match marker.exists() {
                true => fs_err::remove_file(marker).unwrap(),
                false => _ = world.write("a/b/.noindex", ""),
            }
        }
        4 => {
            let name = name(random);
            let path = world.docs().join(&name);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            open.push(
                fs_err::File::options()
                    .create(true)
                    .append(true)
                    .open(path)
                    .unwrap(),
            );
        }
        5 => {
            for file in open.iter_mut() {
                file.write_all(&content(random)).unwrap();
            }
        }
        6 => open.clear(),
        7 => _ = world.write(".ignore", random.of(&["!.*\n", "*.c\n", ""])),
        8 => {
            // Rules of git count from now on.
            world.write(".git/HEAD", "ref: frobnicate");
            let rules = random.of(&["*.md\n", "a/*.txt\n", ""]);
            let folder = world.home().join("config/git");
            fs_err::create_dir_all(&folder).unwrap();
            fs_err::write(folder.join("ignore"), rules).unwrap();
        }
        9 => _ = world.write(".gitignore", random.of(&["!.hidden/\n", "b/\n", ""])),
        _ => {
            let folder = format!("new{}", random.below(3));
            for _ in 0..20 {
                world.write(format!("{folder}/{}", name(random)), content(random));
            }
            let to = world.docs().join("moved");
            if random.one_in(2) && !to.exists() {
                world.rename(&folder, "moved");
            }
        }
    }
}

fn number(name: &str, default: u64) -> u64 {
    let value = std::env::var(name).ok();
    value.map_or(default, |value| value.parse().unwrap())
}

#[test]
fn output_is_the_same_with_an_index() {
    let first = number("KEN_GREP_SEED", 1);
    for seed in first..first + number("KEN_GREP_ROUNDS", 4) {
        round(&World::new(), seed);
    }
}

/// Searches follow changes at once: the server has had no time for them, and must know that.
#[test]
fn output_is_the_same_while_a_server_watches() {
    let first = number("KEN_GREP_SEED", 1);
    let mut n_watched = 0;
    for seed in first..first + number("KEN_GREP_ROUNDS", 4) {
        let (world, mut random, mut open) =
            (World::new(), Chances(Rng::with_seed(seed)), Vec::new());
        for _ in 0..5 + random.below(25) {
            let name = name(&mut random);
            world.write(&name, content(&mut random));
        }
        world.index_docs();
        let server = Server::start(&world);
        server.until("everything is compared", || {
            server.status()["complete_seconds_ago"].is_number()
        });
        for _ in 0..8 {
            match random.below(3) {
                0 => change_served(&world, &mut random, &mut open),
                1 => change(&world, &mut random),
                // Also when it has had the time.
                _ => _ = world.ken(["search", "--fresh", "x"]),
            }
            compare(&world, &[], 3, &mut random, seed);
            let explained = world.ken(["grep", "--explain", "kmalloc", "docs"]);
            n_watched += usize::from(explained.err.contains("ken serve watches the files"));
        }
    }
    assert!(n_watched > 4, "the server vouched {n_watched} times only");
}

#[test]
fn output_is_the_same_on_every_file_system() {
    let first = number("KEN_GREP_SEED", 1);
    for place in KINDS.into_iter().filter_map(Place::new) {
        for seed in first..first + number("KEN_GREP_ROUNDS", 4) / 2 {
            round(&place.world(), seed);
        }
    }
}

#[test]
fn the_index_rules_files_out() {
    let world = World::new();
    for number in 0..50 {
        world.write(
            format!("{number}.txt"),
            format!("file {number} of frobs and quuxes\n"),
        );
    }
    world.write("zork.txt", "a zork\n");
    world.index_docs();
    let explained = |arguments: &[&str]| {
        let all = [&["grep", "--explain", "-l"], arguments, &["docs"]].concat();
        let run = world.ken(all);
        (String::from_utf8(run.out).unwrap(), run.err)
    };
    let (out, err) = explained(&["zork"]);
    assert_eq!(out, "docs/zork.txt\n");
    assert_eq!(
        err,
        "ken: 51 files: 50 excluded, 1 scanned; the index knows what is excluded, as it is now\n"
    );
    let (_, err) = explained(&["--trust-index", "zork"]);
    assert_eq!(
        err,
        "ken: 1 files: 0 excluded, 1 scanned; the index is trusted, also with where to walk\n"
    );

    world.write("7.txt", "now a zork too\n");
    world.write("new.txt", "and a zork here\n");
    let (out, err) = explained(&["--sort", "path", "zork"]);
    assert_eq!(out, "docs/7.txt\ndocs/new.txt\ndocs/zork.txt\n");
    assert_eq!(
        err,
        "ken: 52 files: 49 excluded, 3 scanned; the index knows what is excluded, as it is now\n"
    );
    for (arguments, why) in [
        (&["--no-index", "zork"][..], "not to be asked"),
        (&["-v", "zork"], "files without a match"),
        (&["-E", "latin1", "zork"], "other bytes"),
        (&["-P", "zork"], "PCRE2"),
        (&["o"], "too short or too frequent"),
    ] {
        let (_, err) = explained(arguments);
        assert!(
            err.contains("52 files: 0 excluded, 52 scanned; ") && err.contains(why),
            "{err}"
        );
    }
    // Each run writes an n-gram segment of its own; in this one all files may match.
    world.index_docs();
    let (_, err) = explained(&["--trust-index", "zork"]);
    assert_eq!(
        err,
        "ken: 3 files: 0 excluded, 3 scanned; the index is trusted, also with where to walk\n"
    );
}

/// A walk that visits only the targets of a trusted index lists no folders, and looks for ignore files in each.
#[test]
fn a_walk_by_a_trusted_index_heeds_ignore_files() {
    let world = World::new();
    // The walk uses the index only if few files may match.
    for number in 0..100 {
        world.write(format!("{number}.txt"), format!("frob {number}\n"));
    }
    let folders = [
        ("a", ".rgignore", None),
        ("b", ".ignore", None),
        ("c", ".gitignore", Some(".git/HEAD")),
        ("d", ".gitignore", Some(".jj/repo")),
        ("e", ".git/info/exclude", None),
        // There is no repository and no ignore file of ripgrep, so no file is left out.
        ("f", ".gitignore", None),
        ("g", ".kenignore", None),
    ];
    for (folder, ..) in folders {
        world.write(format!("{folder}/left"), "a zork\n");
        world.write(format!("{folder}/below/kept"), "a zork\n");
    }
    world.index(&["--hidden", "--no-ignore", "docs"]);
    for (folder, ignore_file, more) in folders {
        world.write(format!("{folder}/{ignore_file}"), "left\n");
        if let Some(more) = more {
            world.write(format!("{folder}/{more}"), "");
        }
    }
    let found = |more: &[&str]| {
        let run = world.ken([&["grep", "--explain", "-l"], more, &["zork", "docs"]].concat());
        let out = String::from_utf8(run.out).unwrap();
        let mut files: Vec<String> = out.lines().map(str::to_owned).collect();
        files.sort_unstable();
        (files, run.err)
    };
    for more in [
        &[][..],
        &["--no-ignore-vcs"],
        &["--no-ignore-dot"],
        &["--no-ignore"],
    ] {
        let (by_index, err) = found(&[more, &["--trust-index"]].concat());
        assert!(err.contains("also with where to walk"), "{err}");
        assert_eq!(
            by_index,
            found(&[more, &["--no-index"]].concat()).0,
            "{more:?}"
        );
    }
    let (files, _) = found(&["--trust-index"]);
    let left: Vec<&String> = files.iter().filter(|file| file.ends_with("left")).collect();
    assert_eq!(left, ["docs/f/left", "docs/g/left"]);
}

#[test]
fn without_n_grams_all_files_are_scanned() {
    let world = World::new();
    world.write("zork.txt", "a zork\n");
    world.write("frob.txt", "a frob\n");
    world.index(&["--no-ngrams", "docs"]);
    let run = || world.ken(["grep", "--explain", "--trust-index", "-c", "zork", "docs"]);
    assert!(run().err.contains("without n-grams"), "{}", run().err);
    // An update of some files does not make all files known.
    world.write("new.txt", "a zork\n");
    world.index(&[]);
    assert!(run().err.contains(" 3 files: "), "{}", run().err);
    world.index(&["--full"]);
    assert!(
        run().err.contains("2 scanned; the index is trusted"),
        "{}",
        run().err
    );
    fs_err::remove_dir_all(world.data().join("index/ngrams")).unwrap();
    let n_lines = |run: &crate::world::Run| run.out.iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(n_lines(&run()), 2, "{}", run().err);
    // The next run makes the deleted n-grams again.
    world.write("more.txt", "a zork\n");
    world.index(&[]);
    assert_eq!(n_lines(&run()), 3, "{}", run().err);
    assert!(run().err.contains("trusted"), "{}", run().err);
}

#[test]
fn pages_and_mail_have_n_grams_if_asked_for() {
    let world = World::new();
    world.write("frob.txt", "a frob\n");
    world.write("frob.c", "int frob;\n");
    world.write("frob.html", "<html><body>a frob</body></html>\n");
    world.write("frob.eml", "From: a@example.org\nSubject: frob\n\na frob\n");
    let explained = || world.ken(["grep", "--explain", "-c", "zork", "docs"]).err;
    world.index(&["docs"]);
    assert!(
        explained().contains("4 files: 2 excluded, 2 scanned"),
        "{}",
        explained()
    );
    world.index(&["--full", "--set", "ngrams=all"]);
    assert!(explained().contains("4 excluded"), "{}", explained());
}

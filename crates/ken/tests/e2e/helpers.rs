//! Helpers read formats for which ken has no extractor: Recoll's filters, custom helpers, and what they must not do.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::samples::tar;
use crate::world::{World, assert_counts};

/// A folder of filters in the home folder, and a table that names them.
fn with_filters(table: &str, scripts: &[(&str, &str)]) -> World {
    let world = World::new();
    world.configure(
        "[helpers]\nmimeconf = [\"~/mimeconf\"]\nmimemap = []\nfilters = [\"~/filters\"]\n\
         seconds = 2\n",
    );
    fs_err::write(world.home().join("mimeconf"), table).unwrap();
    for (name, script) in scripts {
        add_filter(&world, name, script);
    }
    world
}

fn add_filter(world: &World, name: &str, script: &str) {
    let folder = world.home().join("filters");
    fs_err::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs_err::write(&path, script).unwrap();
    fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn missing(world: &World) -> Vec<Value> {
    let run = world.ken(["status", "--missing-helpers", "--json"]);
    let missing = run.objects();
    assert_eq!(run.code, i32::from(missing.is_empty()), "{}", run.err);
    missing
}

#[test]
fn filters_of_recoll_run_as_they_are() {
    assert!(
        Path::new("/usr/share/recoll/filters/rclexecm.py").is_file(),
        "install recollcmd and poppler-utils, as scripts/test does"
    );
    let world = World::new();
    world.configure(
        "[helpers]\nprefer = [\"application/pdf\", \"application/zip\", \"rclpython.py\"]\n",
    );
    world.add_fixture("pdf/encrypted-empty-password.pdf");
    world.add_fixture("archive/folders.zip");
    world.write("otter.py", "def otter(): pass  # badger\n");
    let summary = world.index_docs();
    assert_eq!(summary["failed"], 0, "{:?}", world.failed());
    assert_eq!(
        world.found("\"open secret\""),
        ["encrypted-empty-password.pdf"]
    );
    assert_eq!(
        world.found("quokkaberry"),
        ["folders.zip|letters/spring.txt"]
    );
    assert_eq!(
        world.found("stalagtoad"),
        ["folders.zip|backup.tar.gz|deep/cave.txt"]
    );
    // The filter reads names in the character set of old archives; ken itself detects UTF-8.
    let named = "folders.zip|letters/gr\u{251c}\u{2562}\u{251c}\u{192}e.txt";
    assert_eq!(world.found("marmotberry"), [named]);
    assert_eq!(world.found("badger"), ["otter.py"]);
    let python = world.hit("badger");
    assert_eq!(python["mime"], "text/x-python");
    let why = world.ken(["status", "--why", "docs/otter.py"]);
    assert!(
        why.text().contains("rclpython.py, a helper"),
        "{}",
        why.text()
    );
}

#[test]
fn files_wait_for_their_program_and_keep_what_it_found() {
    let world = with_filters(
        "application/x-dvi = exec readdvi ; mimetype=text/plain\n",
        &[],
    );
    world.write("a.dvi", b"\xf7\x02 otter");
    world.write("b.dvi", b"\xf7\x02 badger");
    world.write(
        "in.tar",
        tar(&[("c.dvi", "\u{1}\u{2} marten"), ("d.txt", "otter")]),
    );
    world.index_docs();
    assert_eq!(world.failed().len(), 3);
    assert!(world.failed().values().all(|reason| reason == "missing"));
    assert_eq!(
        world.found("is:missing"),
        ["a.dvi", "b.dvi", "in.tar|c.dvi"]
    );
    let waiting = missing(&world);
    assert_eq!(waiting.len(), 1);
    assert_eq!(
        (&waiting[0]["helper"], &waiting[0]["files"]),
        (&"readdvi".into(), &3.into())
    );
    assert_eq!(waiting[0]["types"][0], "application/x-dvi");
    assert_eq!(
        world.index(&[])["committed"],
        false,
        "nothing is tried again"
    );

    add_filter(&world, "readdvi", "#!/bin/sh\ntail -c +3 \"$1\"\n");
    let why = world
        .ken(["status", "--why", "docs/a.dvi", "--json"])
        .objects();
    assert!(
        why[0]["next"].as_str().unwrap().starts_with("read_"),
        "{why:?}"
    );
    assert_counts(&world.index(&[]), &[("changed", 3)]);
    assert!(missing(&world).is_empty() && world.failed().is_empty());
    assert_eq!(world.found("otter"), ["a.dvi", "in.tar|d.txt"]);
    assert_eq!(world.index(&[])["committed"], false);

    // With another version of a helper its files are read again. The text from a missing helper stays.
    add_filter(&world, "readdvi", "#!/bin/sh\necho weasel\n");
    assert_counts(&world.index(&[]), &[("changed", 3)]);
    assert_eq!(world.found("weasel").len(), 3);
    fs_err::remove_file(world.home().join("filters/readdvi")).unwrap();
    assert_counts(&world.index(&[]), &[("unchanged", 3)]);
    fs_err::remove_file(world.home().join("mimeconf")).unwrap();
    assert_counts(&world.index(&[]), &[("unchanged", 3)]);
    assert_eq!(world.found("weasel").len(), 3);
}

/// Two pages of PostScript. The first one makes the program print words of its own.
const LETTER: &[u8] = b"%!PS-Adobe-3.0\n%%Title: (On otters)\n%%For: (Nils Berg)\n%%Pages: 2\n\
    %%EndComments\n(weasel) == /Helvetica findfont 12 scalefont setfont\n72 700 moveto\n\
    (A ) show (marten) {1 string dup 0 4 -1 roll put show} forall showpage\n\
    72 700 moveto (and a badger) show showpage\n%%EOF\n";

#[test]
fn pages_of_postscript_are_read_by_ghostscript() {
    let world = World::new();
    let gzip = |name: &str| {
        let status = std::process::Command::new("/bin/gzip")
            .arg("-k")
            .arg(world.docs().join(name))
            .status();
        assert!(status.unwrap().success());
    };
    world.write("letter.ps", LETTER);
    gzip("letter.ps");
    world.write(
        "bad.eps",
        b"%!PS-Adobe-3.0\n%%Title: Bad\n%%EndComments\nnonsense\n",
    );
    let index = |path: &str| {
        let output = world
            .command(["index", "--json", "docs"])
            .env("PATH", path)
            .output();
        crate::world::Run::of(output.unwrap()).summary()
    };
    // Without the program only the text of the comments is found, and the file waits.
    assert_eq!(index("/nonexistent")["failed"], 3);
    assert_eq!(world.found("author:berg"), ["letter.ps", "letter.ps.gz"]);
    assert_eq!(world.found("is:missing").len(), 3);
    let text = world.ken(["status", "--missing-helpers"]);
    assert!(
        text.text().contains("apt-get install ghostscript"),
        "{}",
        text.text()
    );

    assert_counts(&index("/usr/bin:/bin"), &[("changed", 3), ("failed", 1)]);
    let failed: Vec<_> = world.failed().into_iter().collect();
    assert_eq!(failed, [("bad.eps".to_owned(), "malformed".to_owned())]);
    assert_eq!(world.found("marten"), ["letter.ps", "letter.ps.gz"]);
    assert_eq!(world.found("title:otters badger").len(), 2);
    assert!(world.hits("weasel").is_empty(), "it is no text of a page");
    for hit in world.hits("badger") {
        assert_eq!(hit["snippet"]["page"], 2, "{hit}");
        assert_eq!(hit["mime"], "application/postscript");
    }
    // The text from a missing program stays.
    assert_counts(&index("/nonexistent"), &[("unchanged", 3)]);
    assert_eq!(world.found("badger").len(), 2);
}

#[test]
fn what_a_filter_misses_is_listed_with_its_package() {
    let world = with_filters(
        "application/x-dvi = exec lacks\napplication/vnd.wordperfect = exec wpd2html-none\n",
        &[(
            "lacks",
            "#!/bin/sh\necho RECFILTERROR HELPERNOTFOUND python3:chm\nexit 1\n",
        )],
    );
    world.write("a.dvi", b"\xf7\x02");
    world.write("b.wpd", b"\xffWPC");
    world.index_docs();
    let waiting = missing(&world);
    let names: Vec<_> = waiting
        .iter()
        .map(|row| row["helper"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["python3:chm", "wpd2html-none"]);
    assert_eq!(waiting[0]["packages"][0], "python3-chm");
    let text = world.ken(["status", "--missing-helpers"]);
    let advice = "python3:chm\t1 file\tapplication/x-dvi\n    apt-get install python3-chm, then";
    assert!(text.text().contains(advice), "{}", text.text());
    let failed = world.ken(["status", "--failed"]);
    assert!(
        failed
            .text()
            .contains("install wpd2html-none, then run ken index")
    );
}

#[test]
fn a_helper_sees_its_file_and_nothing_else() {
    const SPY: &str = "#!/usr/bin/env python3
import mmap, os, signal, socket, subprocess, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
def attempt(name, action):
    try:
        action()
        print(name, 'allowed')
    except OSError as error:
        print(name, 'refused')
home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
attempt('ownfile', lambda: open(sys.argv[1], 'rb').read())
attempt('room', lambda: open(os.environ['TMPDIR'] + '/x', 'w').write('x'))
attempt('children', lambda: subprocess.run(['/bin/true'], check=True))
attempt('secret', lambda: open(home + '/docs/secret.txt').read())
attempt('listing', lambda: os.listdir(home + '/docs'))
attempt('passwd', lambda: open('/etc/passwd').read())
attempt('writing', lambda: open(home + '/docs/made.txt', 'w'))
attempt('filters', lambda: open(__file__, 'a'))
attempt('network', lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM))
attempt('datagram', lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
attempt('local', lambda: socket.socket(socket.AF_UNIX))
attempt('session', os.setsid)
attempt('parent', lambda: os.kill(os.getppid(), 0))
attempt('big', lambda: os.truncate(open(os.environ['TMPDIR'] + '/y', 'w').fileno(), 1 << 40))
try:
    mmap.mmap(-1, 3 << 30); print('memory allowed')
except (OSError, MemoryError):
    print('memory refused')
";
    let world = with_filters(
        "application/x-dvi = exec spy ; mimetype=text/plain\n",
        &[("spy", SPY)],
    );
    world.write("secret.txt", "hidden");
    let file = world.write("a.dvi", b"\x01\x02content");
    let run = world.ken([Path::new("extract"), &file]);
    assert_eq!(run.code, 0, "{}", run.err);
    let allowed = ["ownfile", "room", "children"];
    let lines = run.lines();
    assert_eq!(lines.len(), 15, "{lines:?}");
    for line in lines {
        let (name, outcome) = line.split_once(' ').unwrap();
        let expected = if allowed.contains(&name) {
            "allowed"
        } else {
            "refused"
        };
        assert_eq!(outcome, expected, "{name}");
    }
    assert_eq!(fs_err::read(&file).unwrap(), b"\x01\x02content");
    assert!(!fs_err::exists(world.docs().join("made.txt")).unwrap());
}

#[test]
fn what_ken_inherits_reaches_no_helper() {
    let world = with_filters(
        "application/x-dvi = exec spy ; mimetype=text/plain\n",
        &[("spy", "#!/bin/sh\necho otter; cat <&9\n")],
    );
    let secret = world.home().join("secret");
    fs_err::write(&secret, "hidden").unwrap();
    let file = world.write("a.dvi", b"\x01\x02");
    let script = format!(
        "exec 9<'{}'; exec \"$@\" extract '{}'",
        secret.display(),
        file.display()
    );
    let command = world.command([] as [&str; 0]);
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-c", &script, "sh"]).arg(command.get_program());
    let settings = command.get_envs();
    shell
        .env_clear()
        .envs(settings.filter_map(|(name, value)| Some((name, value?))));
    let output = shell.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("otter") && !text.contains("hidden"), "{text}");
}

/// Waits until a helper of a run has written a file in its work folder, and returns the content.
fn in_room(rooms: &Path, name: &str, run: &mut std::process::Child) -> String {
    let entries = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
    loop {
        let all = entries(rooms).flat_map(|all| entries(&all.path()));
        let mut files = all.map(|room| room.path().join("tmp").join(name));
        if let Some(text) = files.find_map(|file| std::fs::read_to_string(file).ok()) {
            return text;
        }
        assert!(run.try_wait().unwrap().is_none(), "it ended");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn nothing_of_a_helper_outlives_a_ken_that_is_killed() {
    let world = with_filters(
        "application/x-dvi = exec hang ; maxseconds=1000\n",
        &[(
            "hang",
            "#!/bin/sh\nsleep 1000 &\necho $! > \"$TMPDIR/x\"; mv \"$TMPDIR/x\" \"$TMPDIR/child\"\n\
             wait\n",
        )],
    );
    world.write("a.dvi", b"\x01\x02");
    let mut child = world.spawn(["index", "docs"]);
    let rooms = world.data().join("tmp");
    let grandchild = in_room(&rooms, "child", &mut child);
    let stat = format!("/proc/{}/stat", grandchild.trim());
    let lives = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(lives());
    child.kill().unwrap();
    child.wait().unwrap();
    let started = std::time::Instant::now();
    while lives() || fs_err::read_dir(&rooms).unwrap().count() > 0 {
        assert!(started.elapsed() < std::time::Duration::from_secs(60));
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

#[test]
fn a_run_that_is_stopped_waits_for_no_helper() {
    let world = with_filters(
        "application/x-dvi = exec hang ; maxseconds=1000\n",
        &[("hang", "#!/bin/sh\ntouch \"$TMPDIR/here\"\nsleep 1000\n")],
    );
    world.write("a.dvi", b"\x01\x02");
    world.write("b.txt", "otter");
    let mut child = world.spawn(["index", "docs"]);
    let rooms = world.data().join("tmp");
    in_room(&rooms, "here", &mut child);
    let started = std::time::Instant::now();
    let pid = child.id().to_string();
    std::process::Command::new("/bin/kill")
        .args(["-INT", &pid])
        .status()
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(started.elapsed() < std::time::Duration::from_secs(60));
    assert_eq!(fs_err::read_dir(rooms).unwrap().count(), 0);
    assert!(world.failed().is_empty());
}

#[test]
fn bad_helpers_cost_their_own_file_only() {
    let world = with_filters(
        "application/x-dvi = exec hang\napplication/vnd.wordperfect = exec flood\n\
         application/vnd.visio = exec crash\napplication/vnd.lotus-1-2-3 = execm liar\n",
        &[
            ("hang", "#!/bin/sh\nsleep 1000 & sleep 1000\n"),
            ("flood", "#!/bin/sh\nyes\n"),
            ("crash", "#!/bin/sh\nkill -SEGV $$\n"),
            (
                "liar",
                "#!/bin/sh\nread line\necho Document: 999999999999\nsleep 1000\n",
            ),
        ],
    );
    for name in ["a.dvi", "b.wpd", "c.vsd", "d.wk1"] {
        world.write(name, b"\x01\x02\x03");
    }
    for number in 0..20 {
        world.write(format!("{number}.txt"), "otter");
    }
    let limit = "extract.max_member_bytes=1000000";
    let summary = world.index(&["docs", "--set", limit]);
    assert_eq!(
        (&summary["added"], &summary["failed"]),
        (&24.into(), &4.into())
    );
    assert_eq!(world.found("otter").len(), 20);
    let failed: Vec<_> = world.failed().into_iter().collect();
    let expected = [
        ("a.dvi", "timeout"),
        ("b.wpd", "limit"),
        ("c.vsd", "crashed"),
        ("d.wk1", "limit"),
    ];
    assert_eq!(
        failed,
        expected.map(|(name, reason)| (name.to_owned(), reason.to_owned()))
    );
    let left = fs_err::read_dir(world.data().join("tmp")).unwrap().count();
    assert_eq!(left, 0, "rooms are removed");
    let remedies = world.ken(["status", "--failed"]);
    assert!(
        remedies.text().contains("raise helpers.seconds"),
        "{}",
        remedies.text()
    );
}

#[test]
fn custom_helpers_read_what_they_are_for() {
    let world = with_filters("", &[("upper", "#!/bin/sh\ntr a-z A-Z\n")]);
    let config = fs_err::read_to_string(world.home().join("config/ken/config.toml")).unwrap();
    world.configure(&format!(
        "{config}
[[adapter]]
name = \"upper\"
extensions = [\"low\"]
command = [\"upper\"]

[[adapter]]
extensions = [\"page\"]
command = [\"cat\", \"{{path}}\"]
output = \"text/html\"

[[adapter]]
media_types = [\"text/markdown\"]
command = [\"sed\", \"s/otter/badger/\"]

[[adapter]]
extensions = [\"rot\"]
command = [\"tr\", \"A-Za-z\", \"N-ZA-Mn-za-m\"]
output = \"auto\"

[[adapter]]
extensions = [\"wrapped\"]
command = [\"cat\"]
output = \"auto\"
"
    ));
    world.add_fixture("archive/folders.zip");
    world.rename("folders.zip", "e.zip.wrapped");
    world.write("a.low", "otter");
    world.write("b.page", "<title>Marten</title><p>otter");
    world.write("c.md", "# otter");
    world.write("d.html.rot", "<ugzy><gvgyr>Jrnfry</gvgyr>bggre</ugzy>");
    assert_eq!(world.index_docs()["failed"], 0);
    assert_eq!(world.found("otter"), ["a.low", "b.page", "d.html.rot"]);
    assert_eq!(world.found("badger"), ["c.md"]);
    assert_eq!(world.found("title:marten"), ["b.page"]);
    assert_eq!(world.found("title:weasel"), ["d.html.rot"]);
    assert_eq!(world.hit("title:weasel")["mime"], "text/html");
    // A worker unpacks the archive, which is a member of the file.
    let spring = ["e.zip.wrapped|e.zip|letters/spring.txt"];
    assert_eq!(world.found("quokkaberry"), spring);
    assert_eq!(world.index(&[])["committed"], false);

    // Without the helper, ken reads the file itself again.
    world.configure(&config);
    let summary = world.index(&[]);
    assert!(summary["changed"].as_u64().unwrap() >= 1, "{summary}");
    assert!(world.found("otter").contains(&"c.md".to_owned()));

    for (wrong, words) in [
        (
            "[[adapter]]\nextensions = [\"x\"]\ncommand = []\n",
            "the command is missing",
        ),
        (
            "[[adapter]]\ncommand = [\"x\"]\n",
            "extensions or media_types are missing",
        ),
        ("[helpers]\nseconds = -1\n", "helpers.seconds"),
    ] {
        world.configure(wrong);
        let run = world.ken(["index"]);
        assert_eq!(run.code, 2);
        assert!(run.err.contains(words), "{}", run.err);
    }
}

#[test]
fn programs_can_be_switched_off() {
    let world = with_filters("application/x-dvi = exec no-such\n", &[]);
    world.write("a.dvi", b"\xf7\x02");
    let off = ["--set", "helpers.enabled=false"];
    world.index(&["docs", off[0], off[1]]);
    assert!(world.failed().is_empty());
    let status = world.ken(["status", "--json", off[0], off[1]]);
    assert_eq!(status.objects()[0]["name_only"], 1);
}

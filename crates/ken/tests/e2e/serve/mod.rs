//! `ken serve`: whatever happens below the roots, searches soon find what an index made from nothing finds.

mod faults;

use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::world::{Run, World};

/// The time in which the index must be right; a machine that runs other tests is slow.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running `ken serve`, which ends with the test.
pub(crate) struct Server<'w> {
    world: &'w World,
    child: Option<Child>,
}

impl<'w> Server<'w> {
    pub(crate) fn start(world: &'w World) -> Self {
        Self::start_with(world, &[])
    }

    pub(crate) fn start_with(world: &'w World, options: &[&str]) -> Self {
        Self::of(world, world.spawn([&["serve"], options].concat()))
    }

    /// Takes a server that was started.
    pub(crate) fn of(world: &'w World, child: Child) -> Self {
        let server = Self {
            world,
            child: Some(child),
        };
        server.until("the server says what it watches", || {
            server.status()["watched"].as_u64() > Some(0)
        });
        server
    }

    pub(crate) fn status(&self) -> Value {
        self.world.ken(["status", "--json"]).objects().remove(0)
    }

    pub(crate) fn until(&self, what: &str, is_so: impl Fn() -> bool) {
        let start = Instant::now();
        while !is_so() {
            assert!(start.elapsed() < PATIENCE, "{what}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.as_ref().unwrap().id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// Ends the server, and returns what it printed.
    pub(crate) fn end(mut self) -> Run {
        self.signal("-TERM");
        Run::of_child(self.child.take().unwrap())
    }

    /// Waits until searches find what an index made from nothing finds.
    #[track_caller]
    pub(crate) fn converges(&self) {
        let other = self.world.home().join("other").display().to_string();
        let fresh = |args: &[&str]| {
            let run = self.world.ken([&["--data", &other], args].concat());
            assert!(run.code < 2, "{}", run.err);
            run
        };
        let roots = self.status()["roots"].as_array().unwrap().clone();
        for root in roots {
            fresh(&["index", "-q", root["path"].as_str().unwrap()]);
        }
        let expected = found(&fresh(&SEARCH));
        fs_err::remove_dir_all(&other).unwrap();
        let start = Instant::now();
        loop {
            let now = found(&self.world.ken(SEARCH));
            if now == expected {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "{now:#?} {expected:#?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

const SEARCH: [&str; 6] = ["search", "--json", "-n0", "--sort", "path", "size:0.."];

/// Returns the paths of all documents with their sizes and first words.
fn found(run: &Run) -> Vec<String> {
    let of = |hit: &Value| format!("{} {} {}", hit["path"], hit["size"], hit["snippet"]);
    run.objects().iter().map(of).collect()
}

pub(crate) fn world() -> World {
    let world = World::new();
    world.write("a/one.txt", "one apple");
    world.write("a/b/two.txt", "two apples");
    world.index_docs();
    world
}

#[test]
fn files_that_come_change_move_and_go() {
    let world = world();
    // It changed before the start.
    world.write("a/one.txt", "one pear, changed while nobody watched");
    let server = Server::start(&world);
    server.converges();
    world.write("new.txt", "a plum");
    server.converges();
    world.write("a/b/two.txt", "two cherries");
    server.converges();
    // As editors save.
    world.write("a/b/.two.txt.swp", "two grapes, and more");
    world.rename("a/b/.two.txt.swp", "a/b/two.txt");
    server.converges();
    world.rename("new.txt", "a/newer.txt");
    server.converges();
    fs_err::rename(world.docs().join("a/newer.txt"), world.home().join("out")).unwrap();
    server.converges();
    fs_err::rename(world.home().join("out"), world.docs().join("a/b/in.txt")).unwrap();
    server.converges();
    world.remove("a/b/in.txt");
    server.converges();
    assert_eq!(world.ken(["search", "grapes", "-c"]).text(), "1\n");
    let run = server.end();
    assert_eq!(run.code, 0);
    assert_eq!(run.err, "ken: watching 3 folders\n");
}

#[test]
fn folders_that_come_move_and_go() {
    let world = world();
    let server = Server::start(&world);
    // The deepest file is there before its folder is watched.
    for deep in 0..20 {
        world.write(format!("deep/{deep}/x/y/z/file.txt"), format!("nut {deep}"));
    }
    server.converges();
    world.write("deep/7/x/y/z/more.txt", "a later nut");
    server.converges();
    world.rename("deep", "deeper");
    world.write("deeper/3/x/late.txt", "in a folder that was renamed");
    server.converges();
    world.write("deeper/3/x/y/later.txt", "and still watched");
    server.converges();
    let outside = world.home().join("outside");
    fs_err::rename(world.docs().join("deeper/3"), &outside).unwrap();
    fs_err::write(outside.join("x/unseen.txt"), "nobody sees this").unwrap();
    server.converges();
    fs_err::rename(&outside, world.docs().join("a/3")).unwrap();
    server.converges();
    world.write("a/3/x/y/again.txt", "watched again");
    server.converges();
    // A folder takes the place of another one, and a file that of a folder.
    world.rename("a", "c");
    world.write("a/one.txt", "another one");
    fs_err::remove_dir_all(world.docs().join("deeper")).unwrap();
    world.write("deeper", "now a file");
    server.converges();
    world.write("c/b/two.txt", "three apples");
    world.write("a/two.txt", "four apples");
    server.converges();
}

#[test]
fn a_burst_of_files() {
    let world = world();
    let server = Server::start(&world);
    for n in 0..500 {
        world.write(format!("burst/{}/{n}.txt", n % 7), format!("berry {n}"));
    }
    server.converges();
    fs_err::remove_dir_all(world.docs().join("burst/3")).unwrap();
    server.converges();
}

#[test]
fn a_checkout_is_one_batch() {
    let world = world();
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(world.docs()).args(args);
        command.envs([
            ("HOME", world.home()),
            ("GIT_CONFIG_NOSYSTEM", Path::new("1")),
        ]);
        command.output().is_ok_and(|run| run.status.success())
    };
    let settings = ["-c", "user.name=a", "-c", "user.email=a@example.org"];
    let commit = [&settings[..], &["commit", "-qam", "files"]].concat();
    if !git(&["init", "-q"]) {
        return;
    }
    for n in 0..2_000 {
        world.write(format!("tree/{}/{n}.txt", n % 40), format!("leaf {n}"));
    }
    assert!(git(&["add", "."]) && git(&commit));
    assert!(git(&["rm", "-rq", "tree"]) && git(&commit));
    assert_eq!(world.ken(["index", "-q"]).code, 0);
    let server = Server::start(&world);
    server.converges();
    let count = || world.ken(["search", "-c", "size:0.."]).text().to_owned();
    for (at, n) in [("HEAD~1", "2002\n"), ("-", "2\n"), ("HEAD~1", "2002\n")] {
        let before = count();
        assert!(git(&["checkout", "-q", at]));
        server.until("all is found at once", || {
            let now = count();
            assert!(now == n || now == before, "{now}");
            now == n
        });
    }
    server.converges();
}

#[test]
fn rules_and_markers_that_change() {
    let world = world();
    world.write("a/build/made.txt", "made by a program");
    let server = Server::start(&world);
    world.write(".kenignore", "build/\n*.log\n");
    server.converges();
    world.write("a/build/more.txt", "not found");
    world.write("a/x.log", "not found either");
    world.write("a/b/after.txt", "found");
    server.converges();
    assert_eq!(
        server.status()["watched"],
        3,
        "the left out folder is not watched"
    );
    world.write(".kenignore", "*.log\n");
    server.converges();
    world.write("a/build/most.txt", "found again");
    server.converges();
    world.write("a/build/.noindex", "");
    server.converges();
    world.remove("a/build/.noindex");
    server.converges();
    world.write("a/build/last.txt", "found at last");
    // Rules of git count once there is a repository.
    world.write("a/.gitignore", "b\n");
    server.converges();
    fs_err::create_dir(world.docs().join("a/.git")).unwrap();
    server.converges();
    fs_err::remove_dir(world.docs().join("a/.git")).unwrap();
    server.converges();
    world.write("a/b/end.txt", "the end");
    server.converges();
}

#[test]
fn rules_outside_the_roots_that_change() {
    let world = world();
    fs_err::create_dir_all(world.docs().join("a/.git/info")).unwrap();
    for name in ["a/x.log", "a/y.tmp", "a/z.bak"] {
        world.write(name, name);
    }
    let server = Server::start(&world);
    server.converges();
    fs_err::write(world.home().join(".kenignore"), "*.log\n").unwrap();
    server.converges();
    world.write("a/.git/info/exclude", "*.tmp\n");
    server.converges();
    let global = world.home().join("config/git");
    fs_err::create_dir_all(&global).unwrap();
    fs_err::write(global.join("ignore"), "*.bak\n").unwrap();
    server.converges();
    assert_eq!(world.ken(["search", "-c", "size:0.."]).text(), "2\n");
    fs_err::write(global.join("ignore"), "").unwrap();
    fs_err::remove_file(world.home().join(".kenignore")).unwrap();
    world.remove("a/.git/info/exclude");
    server.converges();
    assert_eq!(world.ken(["search", "-c", "size:0.."]).text(), "5\n");
}

#[test]
fn mail_is_delivered() {
    let world = world();
    let server = Server::start(&world);
    for folder in [
        "mail/tmp",
        "mail/new",
        "mail/cur",
        "mail/.Sent/cur",
        "mail/.Sent/new",
    ] {
        fs_err::create_dir_all(world.docs().join(folder)).unwrap();
    }
    let message = "From: a@example.org\nSubject: figs\n\nA basket of figs.\n";
    world.write("mail/tmp/1.host", message);
    world.rename("mail/tmp/1.host", "mail/new/1.host");
    server.converges();
    world.rename("mail/new/1.host", "mail/cur/1.host:2,S");
    world.write("mail/.Sent/cur/2.host:2,S", message);
    server.converges();
    assert_eq!(world.ken(["search", "subject:figs", "-c"]).text(), "2\n");
}

#[test]
fn a_file_that_stays_open_is_read_all_the_same() {
    let world = world();
    let log = world.write("a/log.txt", "first line\n");
    let server = Server::start(&world);
    server.converges();
    let mut open = fs_err::OpenOptions::new().append(true).open(log).unwrap();
    open.write_all(b"second line\n").unwrap();
    server.converges();
    open.write_all(b"third line\n").unwrap();
    drop(open);
    let start = Instant::now();
    server.converges();
    assert!(
        start.elapsed() < Duration::from_secs(5),
        "closed files do not wait"
    );
}

#[test]
fn a_server_that_is_killed_leaves_nothing_behind() {
    let world = world();
    let server = Server::start(&world);
    for n in 0..50 {
        world.write(format!("kill/{n}.txt"), format!("kiwi {n}"));
    }
    server.signal("-KILL");
    drop(server);
    world.remove("a/one.txt");
    assert!(world.ken(["status", "--json"]).objects()[0]["watched"].is_null());
    let server = Server::start(&world);
    server.converges();
    let lock = world.data().join("ken.serve");
    let mode = fs_err::metadata(lock).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn events_that_the_kernel_dropped() {
    let world = world();
    let server = Server::start(&world);
    server.converges();
    server.signal("-STOP");
    let limit = fs_err::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let limit: usize = limit.trim().parse().unwrap();
    // Equal events that follow each other are one.
    let files = ["a/one.txt", "a/b/two.txt"].map(|name| world.docs().join(name));
    for n in 0..limit + 2 {
        let mode = PermissionsExt::from_mode(0o600 + (n as u32 / 2) % 2);
        fs_err::set_permissions(&files[n % 2], mode).unwrap();
    }
    world.write("lost/in/the/queue.txt", "a lost quince");
    world.remove("a/one.txt");
    server.signal("-CONT");
    server.converges();
    world.write("lost/in/found.txt", "watched all the same");
    server.converges();
}

#[test]
fn folders_beyond_the_limit_are_looked_at_now_and_then() {
    let world = world();
    let options = ["--max-watches", "1", "--sweep-seconds", "1"];
    let server = Server::start_with(&world, &options);
    world.write("a/b/two.txt", "two mangoes");
    server.converges();
    // The folders come one after the other, so that a sweep has to find the second one.
    fs_err::create_dir(world.docs().join("c")).unwrap();
    server.until("the new folder is counted", || {
        server.status()["swept"] == 3
    });
    world.write("c/d/new.txt", "three mangoes");
    server.converges();
    server.until("all folders are counted", || server.status()["swept"] == 4);
    let told = world.ken(["status"]);
    let line = "served     watching 1 folder; looking every 1 s at 4 folders beyond the limit of watches (raise \
         --max-watches to watch them); complete as of ";
    let is_told = told.lines().iter().any(|told| told.starts_with(line));
    assert!(is_told, "{}", told.text());
    let swept = format!("swept      {}", world.docs().join("a").display());
    assert!(told.text().contains(&swept), "{}", told.text());
    server.until("it says when it looks", || {
        world
            .ken(["status"])
            .text()
            .contains("last looked at 0 s ago")
    });
    assert_eq!(world.ken(["index", "--pause"]).code, 0);
    server.until("a look is late", || {
        server.status()["sweep_in_seconds"].as_f64() < Some(-2.0)
    });
    assert_eq!(world.ken(["index", "--resume"]).code, 0);
    server.until("it is made up for", || {
        server.status()["sweep_in_seconds"].as_f64() > Some(-2.0)
    });
    let said = "ken: watching 1 folder; looking every 1 s at 2 folders beyond the limit of watches (raise \
         --max-watches to watch them)\n";
    let run = server.end();
    assert!(run.err.starts_with(said), "{}", run.err);
}

#[test]
fn roots_that_come_and_go() {
    let world = world();
    let server = Server::start_with(&world, &["--sweep-seconds", "1"]);
    let other = world.home().join("elsewhere");
    fs_err::create_dir(&other).unwrap();
    fs_err::write(other.join("first.txt"), "a first lemon").unwrap();
    assert_eq!(
        world
            .ken([Path::new("index"), Path::new("-q"), &other])
            .code,
        0
    );
    server.until("the new root is watched", || {
        server.status()["watched"] == 4
    });
    fs_err::write(other.join("second.txt"), "a second lemon").unwrap();
    server.converges();
    // A root that is away keeps its documents.
    let away = world.home().join("away");
    fs_err::rename(&other, &away).unwrap();
    server.until("the root is away", || server.status()["swept"] == 1);
    fs_err::write(away.join("third.txt"), "a third lemon").unwrap();
    assert_eq!(world.ken(["search", "lemon", "-c"]).text(), "2\n");
    fs_err::rename(&away, &other).unwrap();
    server.converges();
    assert_eq!(world.ken(["search", "lemon", "-c"]).text(), "3\n");
}

#[test]
fn links_do_not_lead_out_of_a_root() {
    let world = world();
    let server = Server::start(&world);
    let outside = world.home().join("outside");
    fs_err::create_dir(&outside).unwrap();
    symlink(&outside, world.docs().join("link")).unwrap();
    fs_err::write(outside.join("secret.txt"), "not below a root").unwrap();
    world.write("inside.txt", "below a root");
    server.converges();
    assert_eq!(server.status()["watched"], 3);
}

#[test]
fn a_pause_holds() {
    let world = world();
    let server = Server::start(&world);
    server.converges();
    assert_eq!(world.ken(["index", "--pause"]).code, 0);
    world.write("paused.txt", "a papaya");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(world.ken(["search", "papaya", "-c"]).text(), "0\n");
    assert_eq!(world.ken(["index", "--resume"]).code, 0);
    server.converges();
}

#[test]
fn one_server_for_an_index_and_one_index_for_a_server() {
    let world = World::new();
    let run = world.ken(["serve"]);
    assert_eq!(run.code, 2);
    assert_eq!(
        run.err,
        "ken: the index has no roots yet\nhint: name a folder: ken index ~/Documents\n"
    );
    world.write("a.txt", "a");
    world.index_docs();
    let server = Server::start(&world);
    let run = world.ken(["serve"]);
    assert_eq!(run.code, 2);
    let message = format!(
        "ken: another ken serve already keeps the index in \"{}\" fresh\nhint: ken status says what it watches\n",
        world.data().display()
    );
    assert_eq!(run.err, message);
    // A run by hand gets the index at once.
    world.write("b.txt", "b");
    assert_eq!(world.ken(["index", "-q"]).code, 0);
    server.converges();
    let run = server.end();
    assert_eq!((run.code, run.text()), (0, ""));
}

#[test]
fn nothing_wakes_a_server_when_nothing_happens() {
    let world = world();
    let server = Server::start(&world);
    world.write("last.txt", "the last change");
    server.converges();
    let tasks = format!("/proc/{}/task", server.child.as_ref().unwrap().id());
    let wake_ups = || -> Vec<String> {
        let threads = fs_err::read_dir(&tasks).unwrap().flatten();
        let mut lines: Vec<String> = threads
            .filter_map(|thread| fs_err::read_to_string(thread.path().join("status")).ok())
            .flat_map(|status| {
                let lines = status.lines().map(str::to_owned);
                let is_meant =
                    |line: &String| line.contains("ctxt_switches") || line.starts_with("Pid");
                lines.filter(is_meant).collect::<Vec<_>>()
            })
            .collect();
        lines.sort();
        lines
    };
    server.until("it sleeps", || {
        let before = wake_ups();
        std::thread::sleep(Duration::from_secs(1));
        wake_ups() == before
    });
    let before = wake_ups();
    std::thread::sleep(Duration::from_secs(10));
    assert_eq!(wake_ups(), before);
}

//! `ken serve` answers GNOME Shell and KRunner on the bus of the session, with the calls that these make.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::layout::workspace;
use crate::needs::met;
use crate::serve::Server;
use crate::world::{Run, World};

const PATIENCE: Duration = Duration::from_secs(20);
const GNOME: &str = "org.gnome.Shell.SearchProvider2";
const KRUNNER: &str = "org.kde.krunner1";

/// A bus as a session has one, which ends with the test.
struct Bus {
    daemon: Child,
    address: String,
}

impl Bus {
    /// Starts a bus; none if the machine has no program for that.
    fn start() -> Option<Self> {
        let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
        let gdbus = Command::new("gdbus").arg("help").output().is_ok();
        if !met("dbus", is_there("dbus-daemon") && gdbus) {
            return None;
        }
        let mut daemon = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--print-address"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let output = daemon.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut address).unwrap();
        Some(Self {
            daemon,
            address: address.trim().to_owned(),
        })
    }

    fn gdbus(&self, arguments: &[&str]) -> Run {
        let mut gdbus = Command::new("gdbus");
        gdbus
            .args(arguments)
            .env("DBUS_SESSION_BUS_ADDRESS", &self.address);
        Run::of(gdbus.output().unwrap())
    }

    /// Calls a method of ken's object; returns what `gdbus` prints.
    fn call(&self, method: &str, arguments: &[&str]) -> String {
        let head = ["call", "--session", "--dest=org.ken.Search"];
        let object = ["--object-path=/org/ken/Search", "--method", method];
        let run = self.gdbus(&[&head[..], &object, arguments].concat());
        assert_eq!(run.code, 0, "{method}: {}", run.err);
        run.text().trim().to_owned()
    }

    /// Starts the server of a world on this bus.
    fn serve<'w>(&self, world: &'w World) -> Server<'w> {
        let bin = world.home().join("bin").display().to_string();
        // As systemd starts it: the process knows that it is the first one of a service.
        let ken = world.command(["serve"]);
        let child = world
            .around("sh")
            .args(["-c", "SYSTEMD_EXEC_PID=$$ exec \"$ken\" serve"])
            .env("DBUS_SESSION_BUS_ADDRESS", &self.address)
            .env("PATH", format!("{bin}:/usr/bin:/bin"))
            .env("ken", ken.get_program())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Server::of(world, child)
    }

    fn wait_for_ken(&self) {
        let wait = ["wait", "--session", "--timeout=20", "org.ken.Search"];
        assert_eq!(self.gdbus(&wait).code, 0);
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

fn world() -> World {
    let world = World::new();
    world.write("notes/okapi.md", "# Okapis\n\nThe okapi eats leaves.\n");
    world.write("notes/steer\u{1b}.txt", "another okapi\n");
    world.write(
        "mail/1.eml",
        "From: Ann <ann@example.org>\nSubject: Zoo & <b>okapi</b>\nDate: Fri, 2 Jan 2026 10:00:00 +0000\n\nA letter.\n",
    );
    world.index_docs();
    world
}

/// Puts a program into the world's folder of programs.
fn program(world: &World, name: &str, script: &str) {
    let folder = world.home().join("bin");
    fs_err::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs_err::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs_err::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// Returns the texts in single quotes of what `gdbus` prints.
fn texts(printed: &str) -> Vec<&str> {
    printed.split('\'').skip(1).step_by(2).collect()
}

#[test]
fn gnome_shell_gets_hits_at_each_key() {
    let Some(bus) = Bus::start() else { return };
    let world = world();
    let _server = bus.serve(&world);
    bus.wait_for_ken();
    let first = |terms: &str| bus.call(&format!("{GNOME}.GetInitialResultSet"), &[terms]);
    let ids = first("['okapi', 'leav']");
    let ids = texts(&ids);
    assert_eq!(ids.len(), 1, "{ids:?}");
    let id = ids[0];
    let all = first("['okap']");
    assert_eq!(texts(&all).len(), 3, "{all}");
    let metas = bus.call(&format!("{GNOME}.GetResultMetas"), &[&format!("['{id}']")]);
    for expected in [
        format!("'id': <'{id}'>"),
        "'name': <'Okapis'>".to_owned(),
        "~/docs/notes · ".to_owned(),
        "The okapi eats leaves.".to_owned(),
        ". GThemedIcon text-markdown x-office-document text-x-generic".to_owned(),
    ] {
        assert!(metas.contains(&expected), "{expected}: {metas}");
    }
    // A server that was started again remembers nothing, and describes the hits all the same.
    let narrowed = bus.call(
        &format!("{GNOME}.GetSubsearchResultSet"),
        &[&format!("['{id}']"), "['okapi', 'letter']"],
    );
    let mail = texts(&narrowed);
    assert_eq!(mail.len(), 1, "{narrowed}");
    let metas = bus.call(
        &format!("{GNOME}.GetResultMetas"),
        &[&format!("['{}', 'ffffffffffffffff', '{id}']", mail[0])],
    );
    assert!(
        metas.contains("Zoo & <b>okapi</b>") && metas.contains("Ann"),
        "{metas}"
    );
    assert_eq!(metas.matches("'name'").count(), 2, "{metas}");
    // Nothing steers what shows it.
    let steers = first("['another']");
    let steers = bus.call(
        &format!("{GNOME}.GetResultMetas"),
        &[&format!("['{}']", texts(&steers)[0])],
    );
    assert!(
        !steers.contains("\\u001b") && !steers.contains("\\x1b"),
        "{steers}"
    );
    // What is no query is words.
    assert_eq!(first("['((']"), "(@as [],)");
    assert_eq!(first("['', ' ']"), "(@as [],)");
}

#[test]
fn krunner_gets_hits_with_their_files() {
    let Some(bus) = Bus::start() else { return };
    let world = world();
    let _server = bus.serve(&world);
    bus.wait_for_ken();
    let hits = bus.call(&format!("{KRUNNER}.Match"), &["okapi leav"]);
    let url = format!("file://{}/notes/okapi.md", world.docs().display());
    for expected in [
        "'Okapis', 'x-office-document', 30",
        "'subtext': <'~/docs/notes",
        url.as_str(),
    ] {
        assert!(hits.contains(expected), "{expected}: {hits}");
    }
    let config = bus.call(&format!("{KRUNNER}.Config"), &[]);
    assert_eq!(config, "({'MinLetterCount': <3>},)");
    let actions = bus.call(&format!("{KRUNNER}.Actions"), &[]);
    assert_eq!(texts(&actions)[0], "folder");
    bus.call(&format!("{KRUNNER}.Teardown"), &[]);
}

/// Waits for what a program that was opened noted.
fn noted(world: &World) -> String {
    let (file, start) = (world.home().join("noted"), Instant::now());
    loop {
        let text = fs_err::read_to_string(&file).unwrap_or_default();
        if text.ends_with('\n') {
            fs_err::remove_file(&file).unwrap();
            return text.replace(&world.home().display().to_string(), "~");
        }
        assert!(start.elapsed() < PATIENCE, "nothing was opened");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_is_chosen_is_opened_on_the_desktop_of_the_session() {
    let Some(bus) = Bus::start() else { return };
    let world = world();
    // The service was started before the desktop, which told systemd of itself later. systemd starts programs with that.
    program(
        &world,
        "systemctl",
        "echo LANG=C; echo WAYLAND_DISPLAY=wayland-7",
    );
    program(
        &world,
        "systemd-run",
        "while [ \"$1\" != -- ]; do shift; done; shift; export WAYLAND_DISPLAY=wayland-7\nSYSTEMD_EXEC_PID=$$ exec \"$@\"",
    );
    let note = format!(
        "printf '%s %s\\n' \"$WAYLAND_DISPLAY\" \"$1\" > '{0}/part'; mv '{0}/part' '{0}/noted'",
        world.home().display()
    );
    program(&world, "xdg-open", &note);
    let _server = bus.serve(&world);
    bus.wait_for_ken();
    let ids = bus.call(&format!("{GNOME}.GetInitialResultSet"), &["['leaves']"]);
    let id = texts(&ids)[0];
    bus.call(
        &format!("{GNOME}.ActivateResult"),
        &[id, "['leaves']", "uint32 7"],
    );
    assert_eq!(noted(&world), "wayland-7 ~/docs/notes/okapi.md\n");
    bus.call(&format!("{KRUNNER}.Run"), &[id, "folder"]);
    assert_eq!(noted(&world), "wayland-7 ~/docs/notes\n");
    let url = format!("file://{}/notes/okapi.md", world.docs().display());
    bus.call(&format!("{KRUNNER}.Run"), &[&url, ""]);
    assert_eq!(noted(&world), "wayland-7 ~/docs/notes/okapi.md\n");
    bus.call(
        &format!("{GNOME}.LaunchSearch"),
        &["['okapi', '\"eats leaves\"']", "uint32 7"],
    );
    assert_eq!(noted(&world), "wayland-7 ~/data/ken/web.html\n");
    let page = fs_err::read_to_string(world.data().join("web.html")).unwrap();
    assert!(
        page.contains("/?q=okapi%20%22eats%20leaves%22#t="),
        "{page}"
    );
}

#[test]
fn a_second_server_leaves_the_desktop_to_the_first_and_settings_are_renewed() {
    let Some(bus) = Bus::start() else { return };
    let (world, other) = (world(), World::new());
    other.write("a.txt", "a quagga");
    other.index_docs();
    let first = bus.serve(&world);
    bus.wait_for_ken();
    let second = bus.serve(&other);
    let found = |word: &str| bus.call(&format!("{KRUNNER}.Match"), &[word]);
    assert!(found("okapi").contains("Okapis") && !found("quagga").contains("a.txt"));
    let run = second.end();
    assert!(!run.err.contains("desktop"), "{}", run.err);
    // A saved query is one of the settings.
    world.configure("[queries]\nzoo = \"okapi leaves\"\n");
    assert_eq!(world.index(&["docs"])["added"], 0);
    first.until("the query is known", || {
        texts(&found("query:zoo")).len() > 1
    });
}

#[test]
fn packages_lead_desktops_to_the_server() {
    let read = |name: &str| {
        fs_err::read_to_string(workspace().join("packaging/desktop").join(name)).unwrap()
    };
    let has = |text: &str, line: &str| assert!(text.lines().any(|own| own == line), "{line}");
    let gnome = read("ken-search-provider.ini");
    has(&gnome, "BusName=org.ken.Search");
    has(&gnome, "ObjectPath=/org/ken/Search");
    has(&gnome, "DesktopId=ken.desktop");
    let krunner = read("ken-krunner.desktop");
    has(&krunner, "X-Plasma-DBusRunner-Service=org.ken.Search");
    has(&krunner, "X-Plasma-DBusRunner-Path=/org/ken/Search");
    let activation = read("org.ken.Search.service");
    has(&activation, "Name=org.ken.Search");
    has(&activation, "SystemdService=ken.service");
}

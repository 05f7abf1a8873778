//! `ken service`, `ken serve` under systemd, and hooks.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::serve::{Server, world};
use crate::world::{Run, World};

/// Returns whether a program of systemd is here; the tests that need one do nothing otherwise.
fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output();
    found.is_ok_and(|output| output.status.success())
}

fn script(path: &Path, text: &str) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs_err::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
}

/// Returns the output of a command whose `systemctl` writes down what it is told.
fn with_systemctl(world: &World, arguments: &[&str], text: &str) -> Run {
    let bin = world.home().join("bin");
    script(
        &bin.join("systemctl"),
        &format!(
            "echo \"$@\" >> {}\n{text}",
            world.home().join("told").display()
        ),
    );
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let mut command = world.command(arguments);
    Run::of(command.env("PATH", path).output().unwrap())
}

fn told(world: &World) -> Vec<String> {
    let text = fs_err::read_to_string(world.home().join("told")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn units(world: &World) -> [PathBuf; 2] {
    let folder = world.home().join("config/systemd/user");
    ["ken.service", "ken.socket"].map(|name| folder.join(name))
}

#[test]
fn the_units_of_a_package_are_enabled_as_they_are() {
    let world = World::new();
    let prefix = world.home().join("usr");
    let unit = prefix.join("lib/systemd/user/ken.service");
    fs_err::create_dir_all(unit.parent().unwrap()).unwrap();
    fs_err::write(&unit, "[Service]\nExecStart=/usr/bin/ken serve\n").unwrap();
    let program = prefix.join("bin/ken");
    fs_err::create_dir_all(program.parent().unwrap()).unwrap();
    fs_err::copy(env!("CARGO_BIN_EXE_ken"), &program).unwrap();
    script(
        &prefix.join("bin/systemctl"),
        &format!("echo \"$@\" >> {}", world.home().join("told").display()),
    );
    let run = |arguments: &[&str], folder: Option<&str>| {
        let mut command = Command::new(&program);
        command.args(arguments).env_clear();
        command
            .env("HOME", world.home())
            .env("PATH", prefix.join("bin"));
        command.envs(folder.map(|folder| ("XDG_CONFIG_HOME", folder)));
        Run::of(command.output().unwrap())
    };
    let own = world.home().join(".config/systemd/user/ken.service");
    fs_err::create_dir_all(own.parent().unwrap()).unwrap();
    fs_err::write(&own, "one that hides it").unwrap();
    let installed = run(&["service", "install"], None);
    assert_eq!((installed.code, installed.err.as_str()), (0, ""));
    assert!(!own.exists(), "it would hide the unit of the package");
    assert!(told(&world).contains(&"--user enable ken.socket ken.service".to_owned()));
    let status = run(&["service", "status"], None);
    assert!(
        status.text().contains(prefix.to_str().unwrap()),
        "{}",
        status.text()
    );

    // The units of a package know nothing of other folders.
    let other = world.home().join("other");
    run(&["service", "install"], other.to_str());
    assert!(other.join("systemd/user/ken.service").exists());
}

#[test]
fn a_service_is_installed_and_removed() {
    let world = World::new();
    let run = with_systemctl(&world, &["service", "install"], "");
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let [service, socket] = units(&world);
    let text = fs_err::read_to_string(&service).unwrap();
    let program = fs_err::canonicalize(env!("CARGO_BIN_EXE_ken")).unwrap();
    assert!(
        text.contains(&format!("ExecStart=\"{}\" serve\n", program.display())),
        "{text}"
    );
    assert!(
        text.contains("Environment=\"PATH=") && !text.contains('@'),
        "{text}"
    );
    assert!(socket.is_file());
    let mode = fs_err::metadata(&service).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "it may hold settings");
    let expected = [
        "--user daemon-reload",
        "--user enable ken.socket ken.service",
        "--user restart ken.socket ken.service",
    ];
    assert_eq!(told(&world), expected);
    let run = with_systemctl(&world, &["service", "status"], "echo active");
    let lines = ["active     active", "at login   active"];
    assert_eq!((run.code, &run.lines()[1..]), (0, &lines[..]));
    let run = with_systemctl(
        &world,
        &["service", "status", "--json"],
        "echo inactive; exit 3",
    );
    assert_eq!(
        (run.code, &run.objects()[0]["active"]),
        (1, &Value::from("inactive"))
    );
    let run = with_systemctl(&world, &["service", "remove"], "");
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(!service.exists() && !socket.exists());
    let run = with_systemctl(&world, &["service", "remove"], "");
    assert_eq!(
        (run.code, run.err.as_str()),
        (1, "ken: the service is not installed\n")
    );
}

#[test]
fn a_machine_without_systemd_is_said_to_be_one() {
    let world = World::new();
    let text = "echo 'Failed to connect to bus: No medium found' >&2; exit 1";
    let run = with_systemctl(&world, &["service", "install"], text);
    assert_eq!(run.code, 2);
    let expected = "ken: systemctl --user daemon-reload: Failed to connect to bus: No medium found\nhint: without systemd";
    assert!(run.err.starts_with(expected), "{}", run.err);
    let run = with_systemctl(&world, &["service", "remove"], text);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("\nhint: the units are removed"),
        "{}",
        run.err
    );
    assert!(units(&world).iter().all(|unit| !unit.exists()));
}

#[test]
fn systemd_understands_the_units() {
    if !has("systemd-analyze") {
        return;
    }
    let world = World::new();
    // A name that has to be quoted.
    let data = world.home().join("my 100% data");
    let data = data.to_str().unwrap();
    let run = with_systemctl(
        &world,
        &["--data", data, "service", "install", "--no-start"],
        "",
    );
    assert_eq!(run.code, 0, "{}", run.err);
    let runtime = world.home().join("run");
    fs_err::create_dir_all(&runtime).unwrap();
    let verified = Command::new("systemd-analyze")
        .args(["verify", "--user", "--man=no"])
        .args(units(&world))
        .env("XDG_RUNTIME_DIR", &runtime)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&verified.stderr);
    // It also speaks of units of the system, and of what this machine lacks.
    let ours: Vec<&str> = said.lines().filter(|line| line.contains("ken.s")).collect();
    assert_eq!(ours, Vec::<&str>::new(), "{said}");
}

#[test]
fn systemd_hears_how_the_server_does() {
    let world = world();
    let path = world.home().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let mut child = world
        .command(["serve"])
        .env("NOTIFY_SOCKET", &path)
        .spawn()
        .unwrap();
    let mut buffer = [0; 1024];
    // It is ready before it has looked at anything.
    for expected in ["comparing everything", "watching 3 folders"] {
        let n = socket.recv(&mut buffer).unwrap();
        let said = String::from_utf8_lossy(&buffer[..n]).into_owned();
        let expected = format!("READY=1\nSTATUS={expected}");
        assert!(said.starts_with(&expected), "{said}");
    }
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .unwrap()
            .success()
    );
    let n = socket.recv(&mut buffer).unwrap();
    assert_eq!(String::from_utf8_lossy(&buffer[..n]).trim(), "STOPPING=1");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn systemd_may_open_the_socket() {
    if !has("systemd-socket-activate") {
        return;
    }
    let world = world();
    let socket = world.home().join("given.sock");
    let ken = world.command(["serve"]);
    let mut activate = Command::new("systemd-socket-activate");
    activate.arg("-l").arg(&socket).env_clear();
    for (name, value) in ken.get_envs() {
        if let Some(value) = value {
            activate.env(name, value).arg("-E").arg(name);
        }
    }
    let mut child = activate
        .arg(ken.get_program())
        .arg("serve")
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    // The first connection starts the server.
    let answered = loop {
        let asked = std::os::unix::net::UnixStream::connect(&socket).and_then(|mut stream| {
            use std::io::Write;
            stream.write_all(b"GET /api/v1/status HTTP/1.0\r\n\r\n")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        });
        match asked {
            Ok(answer) if !answer.is_empty() => break answer,
            _ => std::thread::sleep(Duration::from_millis(50)),
        }
        assert!(start.elapsed() < Duration::from_secs(20), "no answer");
    };
    assert!(answered.contains("\"watched\":"), "{answered}");
    world.write("given.txt", "a given gooseberry");
    assert_eq!(
        world.ken(["search", "--fresh", "gooseberry", "-c"]).text(),
        "1\n"
    );
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-TERM", &pid])
            .status()
            .unwrap()
            .success()
    );
    child.wait().unwrap();
    assert!(socket.exists(), "it belongs to systemd");
}

#[test]
fn a_hook_gets_what_came_and_matches() {
    let world = World::new();
    let got = world.home().join("got");
    script(
        &world.home().join("bin/hook"),
        &format!("cat >> {0}; echo end >> {0}", got.display()),
    );
    world.configure(
        "[[hook]]\nquery = \"is:message is:unread\"\ncommand = [\"~/bin/hook\"]\n\
         [[hook]]\nquery = \"alarm\"\ncommand = [\"/no/such/program\"]\n",
    );
    let message = |id: u32| {
        format!(
            "From: a@example.org\nMessage-ID: <{id}@example.org>\nSubject: news {id}\n\nA text.\n"
        )
    };
    world.write("mail/new/1.host", message(1));
    world.write("mail/cur/2.host:2,S", message(2));
    world.write("other/text.txt", "no message");
    world.index_docs();
    let server = Server::start(&world);
    let subjects = || -> Vec<String> {
        let text = fs_err::read_to_string(&got).unwrap_or_default();
        let lines = text.lines().filter(|line| line.starts_with('{'));
        lines
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .map(|hit| {
                hit["path"]
                    .as_str()
                    .unwrap()
                    .rsplit('/')
                    .next()
                    .unwrap()
                    .to_owned()
            })
            .collect()
    };
    assert_eq!(world.ken(["search", "--fresh", "x"]).code, 1);
    world.write("mail/cur/3.host:2,S", message(3));
    world.write("mail/new/4.host", message(4));
    server.until("the hook runs", || subjects() == ["4.host"]);
    // A message that moves does not come, and an old one that is unread again neither.
    world.rename("mail/new/4.host", "mail/cur/4.host:2,");
    world.rename("mail/cur/2.host:2,S", "mail/cur/2.host:2,");
    assert_eq!(world.ken(["search", "--fresh", "x"]).code, 1);
    world.write("mail/new/5.host", message(5));
    server.until("the hook runs again", || subjects() == ["4.host", "5.host"]);
    world.write("other/alarm.txt", "an alarm");
    assert_eq!(
        world.ken(["search", "--fresh", "alarm", "-c"]).text(),
        "1\n"
    );
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(1) {
        std::thread::sleep(Duration::from_millis(100));
    }
    let run = server.end();
    let said = "ken: hook \"alarm\": /no/such/program: ";
    assert!(run.err.contains(said), "{}", run.err);
}

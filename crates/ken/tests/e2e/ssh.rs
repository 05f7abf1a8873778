//! `ken tui` over a real connection of OpenSSH: the client starts the server itself, so nothing listens.

use std::path::Path;
use std::process::Command;

use crate::needs;
use crate::tui::Terminal;
use crate::world::World;

/// Returns a shell command that runs another over ssh, on a terminal, without the environment of this side.
fn over_ssh(world: &World, remote: &str) -> String {
    let key = |name: &str| world.home().join(name).display().to_string();
    let ken = world.command([""; 0]);
    let variables = ken.get_envs().filter_map(|(name, value)| {
        let (name, value) = (name.to_str()?, value?.to_str()?);
        Some(format!("{name}={value}"))
    });
    let environment: Vec<String> = variables.collect();
    let program = ken.get_program().to_str().unwrap();
    format!(
        "ssh -tt -F none -i {} -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
         -o LogLevel=ERROR -o ProxyCommand='{} -i -f {}' localhost 'cd {} && env {} {program} {remote}'",
        key("user"),
        sshd(),
        key("sshd_config"),
        world.home().display(),
        environment.join(" "),
    )
}

fn sshd() -> &'static str {
    "/usr/sbin/sshd"
}

/// Makes the keys of both sides, and the settings of the server.
fn prepare(world: &World) {
    let home = world.home().display();
    for name in ["host", "user"] {
        let mut keygen = Command::new("ssh-keygen");
        keygen.args(["-q", "-t", "ed25519", "-N", "", "-f"]);
        assert!(
            keygen
                .arg(world.home().join(name))
                .status()
                .unwrap()
                .success()
        );
    }
    fs_err::copy(
        world.home().join("user.pub"),
        world.home().join("authorized"),
    )
    .unwrap();
    let settings = format!(
        "HostKey {home}/host\nAuthorizedKeysFile {home}/authorized\nStrictModes no\nUsePAM no\nPidFile none\n"
    );
    fs_err::write(world.home().join("sshd_config"), settings).unwrap();
}

#[test]
fn the_screen_works_over_ssh() {
    let world = World::new();
    world.write("short.md", "# Short notes\nAn okapi is a giraffe.\n");
    world.write("other.md", "# Others\nA zebra is a horse, ünïcode 東京.\n");
    world.index_docs();
    let has_programs = Path::new(sshd()).is_file() && Path::new("/usr/bin/ssh").is_file();
    if !needs::met("sshd", has_programs) {
        return;
    }
    prepare(&world);
    let command = format!("{}; echo code $?; sleep 60", over_ssh(&world, "tui"));
    let Some(terminal) = Terminal::start(&world, &command, (80, 24)) else {
        return;
    };
    terminal.until(&["Type what you look for"]);
    terminal.type_text("zebra");
    terminal.until(&["1 document", "A zebra is a horse, ünïcode 東京."]);
    terminal.press(&["C-u"]);
    terminal.type_text("okapi");
    terminal.until(&["1 document", "An okapi is a giraffe."]);
    terminal.press(&["C-y"]);
    let screen = terminal.until(&["code 0"]);
    let path = world.docs().join("short.md");
    assert!(screen.contains(path.to_str().unwrap()), "{screen}");
}

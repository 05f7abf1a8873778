//! cron, systemd, and hooks of programs that fetch mail.

use super::{CRON, Desk, HOOK, SERVICE, TIMER, has, succeed, text_of, write};

/// What the cron of Debian gives a command (crontab(5)), besides the folder of ken.
#[test]
fn cron_runs_the_command() {
    let desk = Desk::of_okapis();
    desk.world.write("three.txt", "a third okapi");
    let line = text_of(CRON).trim();
    let fields: Vec<&str> = line.splitn(6, ' ').collect();
    let is_time = |field: &&str| field.chars().all(|c| "*/0123456789".contains(c));
    assert!(
        fields.len() == 6 && fields[..5].iter().all(is_time),
        "{line}"
    );
    let mut cron = desk.around("/bin/sh");
    let path = format!("{}:/usr/bin:/bin", desk.bin().display());
    succeed(cron.env("PATH", path).args(["-c", fields[5]]));
    assert_eq!(desk.world.found("okapi").len(), 3);
}

#[test]
fn a_hook_takes_in_new_mail() {
    let desk = Desk::of_okapis();
    desk.world.write("mail/new/1", "Subject: okapi\n\ntext\n");
    desk.shell(text_of(HOOK));
    assert_eq!(desk.world.found("okapi").len(), 3);
}

#[test]
fn systemd_understands_the_timer() {
    if !has("systemd-analyze") {
        return;
    }
    let desk = Desk::of_okapis();
    let folder = ".config/systemd/user";
    let service = write(
        &desk,
        &format!("{folder}/ken-index.service"),
        text_of(SERVICE),
    );
    let timer = write(&desk, &format!("{folder}/ken-index.timer"), text_of(TIMER));
    let run = desk.world.home().join("run");
    fs_err::create_dir_all(&run).unwrap();
    let mut command = desk.around("systemd-analyze");
    command.env("XDG_RUNTIME_DIR", run);
    command.args(["verify", "--user", "--man=no"]);
    let verified = command.args([service, timer]).output().unwrap();
    let said = String::from_utf8_lossy(&verified.stderr);
    // It also speaks of units of the system, and of what this machine lacks.
    let ours: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("ken-index"))
        .collect();
    assert_eq!(ours, Vec::<&str>::new(), "{said}");
    // What it starts is there, and works.
    let text = text_of(SERVICE);
    let start = text
        .lines()
        .find_map(|line| line.strip_prefix("ExecStart=%h/"));
    succeed(desk.around("sh").args(["-c", start.unwrap()]));
}

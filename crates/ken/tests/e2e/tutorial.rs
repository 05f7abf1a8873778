//! The tutorial shows what ken prints: each command of `docs/tutorial.md` is run in the home folder of the tutorial.
//! `UPDATE_EXPECT=1` writes the answers into the page.

use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::layout::workspace;
use crate::world::World;

/// The home folder in the answers.
const HOME: &str = "/home/carl";
/// The time of all files: 9 November 2026.
const MODIFIED: u64 = 1_794_225_600;

fn copy(from: &Path, to: &Path) {
    fs_err::create_dir_all(to).unwrap();
    for entry in fs_err::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
            continue;
        }
        fs_err::copy(entry.path(), &target).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(MODIFIED);
        let file = fs_err::File::options().append(true).open(&target).unwrap();
        file.file().set_modified(time).unwrap();
    }
}

/// Returns what a command prints, as a user with this home folder sees it.
fn answer(world: &World, command: &str) -> String {
    let typed = command.replacen("ken ", "\"$ken\" ", 1);
    let output = world
        .around("sh")
        .args(["-c", &typed])
        .output()
        .expect("a shell");
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8(printed).unwrap();
    let printed = printed.replace(&world.home().display().to_string(), HOME);
    // The speed of a machine is no part of the tutorial.
    let timed = |line: &str| match line.split_once(" kB in ") {
        Some((size, _)) => format!("{size} kB in 0.1 s\n"),
        None => format!("{line}\n"),
    };
    printed.lines().map(timed).collect()
}

#[test]
fn the_answers_are_what_ken_prints() {
    let page = workspace().join("docs/tutorial.md");
    let text = fs_err::read_to_string(&page).unwrap();
    let world = World::new();
    copy(&workspace().join("docs/tutorial/home"), world.home());
    let (mut written, mut is_console) = (String::new(), false);
    let mut n_commands = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("```") {
            is_console = line == "```console\n";
            written.push_str(line);
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
            n_commands += 1;
            written.push_str(line);
            written.push_str(&answer(&world, command.trim_end()));
        } else if !is_console {
            written.push_str(line);
        }
    }
    assert!(n_commands > 10, "{n_commands}");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs_err::write(&page, &written).unwrap();
    } else {
        assert_eq!(text, written, "UPDATE_EXPECT=1 writes the answers");
    }
}

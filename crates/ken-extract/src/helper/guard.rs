//! The guard: a process that ends what helpers have started, in case ken itself is killed.
//!
//! The kernel ends a helper together with the thread that started it, but not the processes that
//! the helper has started. No helper can leave its process group, so killing the groups ends all of
//! them. ken starts the guard before its first helper and reports each group to it through a pipe.
//! However ken ends, the pipe closes; the guard then kills the groups that are left and removes the
//! folder with their work folders.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::removal::remove;
use crate::child::{AFTER_KILL, wait_for};

/// The first argument that makes ken a guard; the second is the folder of the work folders.
pub const ARGUMENT: &str = "helper-guard";

/// Name prefix of the folders that hold all work folders of a process.
pub(super) const PREFIX: &str = "ken-helper-";

/// Killed processes may still write for a moment.
const TRIES: u32 = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(50);

/// The guard, as seen from ken.
pub(super) struct Guard {
    child: Child,
    groups: Option<ChildStdin>,
}

impl Guard {
    /// Starts the guard of a folder.
    pub(super) fn start(program: &Path, folder: &Path) -> io::Result<Self> {
        let mut child = Command::new(program)
            .arg(ARGUMENT)
            .arg(folder)
            .env_clear()
            .current_dir("/")
            // Signals that a terminal sends to ken are not meant for the guard.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self {
            groups: child.stdin.take(),
            child,
        })
    }

    pub(super) fn started(&self, group: u32) {
        self.send(group as i32);
    }

    pub(super) fn ended(&self, group: u32) {
        self.send(-(group as i32));
    }

    /// Writes a few bytes, which go through in one piece or not at all, from any thread.
    fn send(&self, group: i32) {
        if let Some(mut groups) = self.groups.as_ref() {
            // A killed guard guards nothing, but the work continues.
            let _ = groups.write_all(&group.to_le_bytes());
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.groups.take());
        let _ = wait_for(&mut self.child, AFTER_KILL);
    }
}

/// Reads the existing process groups until the pipe closes, then kills those that are left and
/// removes the folder.
pub fn watch(mut groups: impl Read, folder: &Path) {
    let mut alive = BTreeSet::new();
    let mut group = [0; 4];
    while groups.read_exact(&mut group).is_ok() {
        match i32::from_le_bytes(group) {
            started @ 1.. => alive.insert(started),
            ended => alive.remove(&ended.saturating_neg()),
        };
    }
    for group in alive.into_iter().filter_map(Pid::from_raw) {
        // It is no error if no process is left.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    for _ in 0..TRIES {
        if !name.starts_with(PREFIX) || fs_err::symlink_metadata(folder).is_err() {
            return;
        }
        if remove(folder).is_err() {
            std::thread::sleep(BETWEEN_TRIES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sleeper() -> Child {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "sleep 1000 & wait"]).process_group(0);
        command.spawn().unwrap()
    }

    #[test]
    fn groups_that_are_left_are_ended_and_the_folder_goes() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("ken-helper-x");
        fs_err::create_dir_all(folder.join("room")).unwrap();
        let (mut left, mut ended) = (sleeper(), sleeper());
        let numbers = [left.id() as i32, ended.id() as i32, -(ended.id() as i32)];
        let sent: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        watch(&sent[..], &folder);
        assert!(!left.wait().unwrap().success());
        assert_eq!(ended.try_wait().unwrap(), None);
        watch(&(ended.id() as i32).to_le_bytes()[..], parent.path());
        assert!(!ended.wait().unwrap().success());
        assert!(
            fs_err::exists(parent.path()).unwrap(),
            "a folder of another name stays"
        );
        assert!(!fs_err::exists(folder).unwrap());
    }
}

//! Waits for the end of a process, but not for ever: a process that hangs in the kernel, on a dead
//! network share or a broken disk, does not end when it is killed.

use std::io;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Longest wait for a killed process; after that it is left to the system.
pub(crate) const AFTER_KILL: Duration = Duration::from_secs(2);

/// Waits at most `patience` for a process to end; returns how it ended, if it did.
pub(crate) fn wait_for(child: &mut Child, patience: Duration) -> io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + patience;
    loop {
        let rest = deadline.saturating_duration_since(Instant::now());
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if rest.is_zero() {
            return Ok(None);
        }
        let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
        let mut ends = [PollFd::new(&process, PollFlags::IN)];
        let timeout = Timespec::try_from(rest).map_err(io::Error::other)?;
        match poll(&mut ends, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_end_is_waited_for_and_the_endless_is_not() {
        let mut child = Command::new("/bin/sleep").arg("1000").spawn().unwrap();
        let patience = Duration::from_millis(20);
        assert_eq!(wait_for(&mut child, patience).unwrap(), None);
        child.kill().unwrap();
        let status = wait_for(&mut child, Duration::from_secs(60)).unwrap();
        assert!(status.is_some_and(|status| !status.success()));
        assert_eq!(wait_for(&mut child, patience).unwrap(), status, "again");
    }
}

//! One running helper: started in a folder of its own, read with a deadline, and killed together
//! with its child processes.
//!
//! Helpers are started by `posix_spawn`, as long as the options for the standard library allow it:
//! no `pre_exec`, an absolute path of the program, a process group.

use std::cell::Cell;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use ken_core::Limit;

use super::fault::Fault;
use super::work_folder::WorkFolder;
use crate::child::{AFTER_KILL, wait_for};

/// Number of bytes of standard error that are kept: the last ones.
const COMPLAINT_BYTES: usize = 1024;

/// How often a wait for a helper checks whether the run is stopped.
const TICK: Duration = Duration::from_millis(100);

/// How to start a helper.
pub(super) struct Launch<'l> {
    pub(super) program: &'l Path,
    pub(super) arguments: Vec<OsString>,
    pub(super) environment: Vec<(&'static str, String)>,
    /// Standard input of the helper.
    pub(super) input: Stdio,
    /// The limit on the space in the work folder, beyond what is there when the helper begins with a file.
    pub(super) room: Limit,
    /// Set when the run is being stopped; waiting for the helper then ends.
    pub(super) stopped: Arc<AtomicBool>,
}

/// A running helper.
pub(super) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: File,
    stderr: Option<File>,
    complaint: Vec<u8>,
    deadline: Instant,
    /// The limit that sets the deadline, once there is one.
    limit: Option<Limit>,
    room: Limit,
    /// The space in the work folder that is too much.
    room_bytes: u64,
    /// When the space is looked at.
    next_look: Cell<Instant>,
    is_ended: bool,
    stopped: Arc<AtomicBool>,
    pub(super) work: Arc<WorkFolder>,
}

impl Process {
    /// Starts a helper in its work folder.
    pub(super) fn start(launch: Launch<'_>, work: Arc<WorkFolder>) -> Result<Self, Fault> {
        use std::os::unix::process::CommandExt;
        let mut child = Command::new(launch.program)
            .args(&launch.arguments)
            .env_clear()
            .envs(launch.environment)
            .current_dir(work.path())
            .stdin(launch.input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let pipe = |pipe: Option<std::os::fd::OwnedFd>| {
            pipe.map(File::from)
                .ok_or_else(|| Fault::System(io::ErrorKind::BrokenPipe.into()))
        };
        work.note_start(child.id());
        let stdout = child.stdout.take().map(Into::into);
        let stderr = child.stderr.take().map(Into::into);
        Ok(Self {
            stdin: child.stdin.take(),
            stdout: pipe(stdout)?,
            stderr: Some(pipe(stderr)?),
            child,
            complaint: Vec::new(),
            deadline: Instant::now(),
            limit: None,
            room: launch.room,
            room_bytes: u64::MAX,
            next_look: Cell::new(Instant::now() + TICK),
            is_ended: false,
            stopped: launch.stopped,
            work,
        })
    }

    /// Sets the deadline to the time of this limit, from now on.
    pub(super) fn set_deadline(&mut self, limit: Limit) {
        self.limit = Some(limit);
        self.deadline = Instant::now() + Duration::from_millis(limit.in_force);
        self.room_bytes = match self.work.input_bytes() {
            // What cannot be counted is too much: the helper ends at the next look.
            u64::MAX => 0,
            input => input.saturating_add(self.room.in_force),
        };
    }

    /// Sends a request, which must be small enough for the pipe.
    pub(super) fn send(&mut self, request: &[u8]) -> Result<(), Fault> {
        let stdin = self.stdin.as_mut().ok_or(Fault::ENDED)?;
        match stdin.write_all(request) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Fault::ENDED),
            result => Ok(result?),
        }
    }

    /// Returns the exit status of the helper, after the end of its output.
    pub(super) fn wait(&mut self) -> Result<ExitStatus, Fault> {
        self.stdin = None;
        let pid = self.pid().ok_or(Fault::ENDED)?;
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).map_err(io::Error::from)?;
        loop {
            let mut ends = [PollFd::new(&pidfd, PollFlags::IN)];
            match self.poll_with_stderr(&mut ends)? {
                (true, _) => return Ok(self.end()?),
                (_, true) => {
                    self.read_complaint()?;
                }
                _ => {}
            }
        }
    }

    /// Kills the helper and everything that it started. The group is killed before the leader is
    /// waited for: until then, no other process can get its number.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.is_ended
            && let Some(pid) = self.pid()
        {
            // It is no error if no process is left.
            let _ = kill_process_group(pid, Signal::KILL);
        }
        if !std::mem::replace(&mut self.is_ended, true) {
            self.work.note_end(self.child.id());
        }
        let status = wait_for(&mut self.child, AFTER_KILL)?;
        status.ok_or_else(|| io::Error::other("it was killed and does not end"))
    }

    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    /// Returns the last line that the helper wrote to standard error.
    pub(super) fn complaint(&mut self) -> String {
        self.deadline = Instant::now();
        while let Ok((_, true)) = self.poll_with_stderr(&mut []) {
            if !self.read_complaint().unwrap_or(false) {
                break;
            }
        }
        let text = String::from_utf8_lossy(&self.complaint);
        let last = text.lines().rfind(|line| !line.trim().is_empty());
        let last = last.unwrap_or_default().trim();
        let line = last.replace(&*self.work.path().to_string_lossy(), "");
        let clean = line.chars().filter(|c| !c.is_control());
        clean.take(200).collect()
    }

    /// Waits until one of `ends` or standard error can be read; returns whether the first of `ends`
    /// can, and whether standard error can.
    fn poll_with_stderr(&self, ends: &mut [PollFd<'_>]) -> Result<(bool, bool), Fault> {
        let mut all: Vec<_> = ends.to_vec();
        if let Some(stderr) = &self.stderr {
            all.push(PollFd::new(stderr, PollFlags::IN));
        }
        self.look_at_room()?;
        while !poll_until(&mut all, self.deadline.min(Instant::now() + TICK))? {
            self.look_at_room()?;
            if self.stopped.load(Ordering::Relaxed) {
                return Err(Fault::Stopped);
            }
            if let Some(limit) = self.limit.filter(|_| Instant::now() >= self.deadline) {
                return Err(Fault::TooLong(limit));
            }
        }
        let is_ready = |at: usize| all.get(at).is_some_and(|end| !end.revents().is_empty());
        let stderr_is_ready = self.stderr.is_some() && is_ready(ends.len());
        Ok((!ends.is_empty() && is_ready(0), stderr_is_ready))
    }

    /// Fails if the helper wrote too much into its work folder; looks once in each tick.
    fn look_at_room(&self) -> Result<(), Fault> {
        let now = Instant::now();
        if now < self.next_look.get() {
            return Ok(());
        }
        let is_over = self.work.used_bytes() > self.room_bytes;
        // Counting many files takes longer; it must not become all that this thread does.
        self.next_look
            .set(Instant::now() + TICK + 10 * now.elapsed());
        match is_over {
            true => Err(Fault::TooMuch(self.room)),
            false => Ok(()),
        }
    }

    /// Reads the available bytes of standard error; returns whether there may be more.
    fn read_complaint(&mut self) -> Result<bool, Fault> {
        let Some(stderr) = &mut self.stderr else {
            return Ok(false);
        };
        let mut buffer = [0; COMPLAINT_BYTES];
        let n_read = stderr.read(&mut buffer)?;
        if n_read == 0 {
            self.stderr = None;
            return Ok(false);
        }
        self.complaint.extend_from_slice(&buffer[..n_read]);
        let excess = self.complaint.len().saturating_sub(COMPLAINT_BYTES);
        self.complaint.drain(..excess);
        Ok(true)
    }
}

/// Reads standard output until the deadline; an error contains a [`Fault`].
impl Read for Process {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ends = [PollFd::new(&self.stdout, PollFlags::IN)];
            match self.poll_with_stderr(&mut ends)? {
                (true, _) => return self.stdout.read(buffer),
                (false, true) => {
                    self.read_complaint()?;
                }
                (false, false) => {}
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Drop cannot report a failure.
        let _ = self.end();
    }
}

/// Waits until one of these can be read; returns whether that happened before the deadline.
fn poll_until(ends: &mut [PollFd<'_>], deadline: Instant) -> io::Result<bool> {
    loop {
        let rest = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(rest).map_err(io::Error::other)?;
        match poll(ends, Some(&timeout)) {
            Ok(0) if rest.is_zero() => return Ok(false),
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => return Ok(true),
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{SetBy, Setting};

    use super::super::work_folder::WorkFolders;
    use super::*;

    const LIMIT: Limit = Limit {
        setting: Setting::HelperSeconds,
        in_force: 1 << 20,
        set_by: SetBy::Settings,
    };

    #[test]
    fn a_helper_that_fills_its_folder_is_ended() {
        for script in [
            "head -c 900000 /dev/zero >a; cp a b; echo done; sleep 1000",
            "mkdir -m 0300 a 2>/dev/null; i=0; while :; do i=$((i + 1)); mkdir $i; cd $i; done",
        ] {
            let mut process = start(script, 60.0);
            let ended = read(&mut process);
            assert!(
                matches!(ended, Err(Fault::TooMuch(_))),
                "{script}: {ended:?}"
            );
        }
    }

    fn work_folders() -> Arc<WorkFolders> {
        Arc::new(WorkFolders::new(Path::new("/tmp"), None).unwrap())
    }

    fn start(script: &str, seconds: f64) -> Process {
        let launch = Launch {
            program: Path::new("/bin/sh"),
            arguments: vec!["-c".into(), script.into()],
            environment: vec![("PATH", "/usr/bin:/bin".into())],
            input: Stdio::null(),
            room: LIMIT,
            stopped: Arc::default(),
        };
        let mut process =
            Process::start(launch, Arc::new(WorkFolder::new(work_folders()).unwrap())).unwrap();
        process.set_deadline(Limit {
            in_force: (seconds * 1000.0) as u64,
            ..LIMIT
        });
        process
    }

    fn read(process: &mut Process) -> Result<String, Fault> {
        let mut text = String::new();
        process.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn output_and_complaints_are_read_together() {
        let mut process = start(
            "yes error | head -n 100000 >&2; yes text | head -n 100000; echo last >&2; exit 3",
            60.0,
        );
        assert_eq!(read(&mut process).unwrap().len(), 500_000);
        assert_eq!(process.wait().unwrap().code(), Some(3));
        assert_eq!(process.complaint(), "last");
    }

    #[test]
    fn a_helper_that_takes_too_long_is_reported_and_killed_with_all_children() {
        let mut process = start("sleep 1000 & echo $!; sleep 1000", 0.3);
        let mut first = [0; 16];
        let n_read = process.read(&mut first).unwrap();
        let child = String::from_utf8_lossy(&first[..n_read]).trim().to_owned();
        assert!(matches!(read(&mut process), Err(Fault::TooLong(_))));
        let folder = process.work.path().to_path_buf();
        drop(process);
        assert!(!fs_err::exists(folder).unwrap());
        // The process is killed, but may need a moment to die, and its new parent a moment to reap
        // it.
        let patience = Instant::now() + Duration::from_secs(10);
        loop {
            let state = fs_err::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
            if state.is_empty() || state.contains(") Z ") {
                break;
            }
            assert!(Instant::now() < patience, "{state}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn who_closes_its_output_and_stays_is_ended_too() {
        let mut process = start("exec >&- 2>&-; sleep 1000", 0.3);
        assert_eq!(read(&mut process).unwrap(), "");
        assert!(matches!(process.wait(), Err(Fault::TooLong(_))));
    }
}

//! The parent's side: starts a worker, sends it files, and receives its answers.
//!
//! Nothing from a worker is trusted ([`super::answer`]). A worker that breaks the rules, does not answer in
//! time or dies is killed and reaped, and its file fails; what it delivered before is kept.

use std::fs::File;
use std::io::{self, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use ken_core::{Cause, Crash, Limit, Operation, Reader, Setting};
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::pipe::{PipeFlags, pipe_with};

use super::answer::{Answer, AnswerCheck, NoAnswer};
use super::protocol::{Broken, Decoder, Encoder, Message, PREFIX_BYTES, Prefix, Whole};
use super::sandbox::Sandbox;
use super::serve::{MAX_DESCRIPTORS, Request};
use crate::child::{AFTER_KILL, wait_for};
use crate::limits::milliseconds;
use crate::picture::Order;
use crate::{Expansion, Input, Limits, Sink};

/// The argument that makes the program a worker.
pub const ARGUMENT: &str = "worker";
/// How often a waiting parent checks the clock and whether the run is stopped.
const TICK: Duration = Duration::from_millis(100);
/// Members in memory up to this size travel through the socket; larger ones are sent as a
/// descriptor.
const INLINE_BYTES: usize = 64 << 10;
const BUFFER_BYTES: usize = 64 << 10;
/// Number of bytes that are read of a dying worker's last words.
const LAST_WORDS_BYTES: usize = 4 << 10;

/// A running worker process.
pub(super) struct Worker {
    child: Child,
    socket: UnixStream,
    /// Standard error of the worker: its last words.
    errors: OwnedFd,
    buffer: Box<[u8]>,
    /// The range of the buffer that is not taken yet.
    unread: std::ops::Range<usize>,
    sandbox: Option<Sandbox>,
    /// Number of files that the worker has read.
    pub(super) n_files: u64,
}

/// How long to wait for a worker. Only waiting counts: while the parent extracts a member or writes
/// the index, the worker is idle through no fault of its file.
struct Clock<'a> {
    left: Duration,
    is_cancelled: &'a dyn Fn() -> bool,
}

impl Worker {
    /// Starts a worker, in a way that lets the standard library use `posix_spawn`, without copying
    /// this process's page tables: the program is an absolute path, and nothing runs between fork
    /// and exec.
    ///
    /// # Errors
    /// Fails if the system has no process or descriptors to spare.
    pub(super) fn start(program: &Path, limits: &Limits) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let (errors, their_errors) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        // Descriptors that this process inherited must not reach a worker.
        close_fds::set_fds_cloexec_threadsafe(3, &[]);
        let mut command = Command::new(program);
        command
            .arg0("ken")
            .arg(ARGUMENT)
            .env_clear()
            .current_dir("/")
            // Ctrl-C is for ken: a worker that died of it would look like one that crashed.
            .process_group(0)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(their_errors);
        let child = command.spawn()?;
        // Only the child may hold its end of the pipe open, or its death would go unnoticed.
        drop(command);
        socket.set_read_timeout(Some(TICK))?;
        socket.set_write_timeout(Some(limits.file_time.max(TICK)))?;
        let mut head = Encoder::default();
        head.limits(limits);
        let mut worker = Self {
            child,
            socket,
            errors,
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            unread: 0..0,
            sandbox: None,
            n_files: 0,
        };
        super::protocol::write(&mut worker.socket, Message::Limits, &head.0, &[])?;
        Ok(worker)
    }

    /// Asks the worker only for the state of its sandbox.
    pub(super) fn sandbox(&mut self, limits: &Limits) -> Result<Sandbox, NoAnswer> {
        let mut clock = Clock {
            left: limits.file_time,
            is_cancelled: &|| false,
        };
        // Without further requests, the worker sends its answer and ends.
        let _ = self.socket.shutdown(Shutdown::Write);
        self.ready(&mut clock)
    }

    fn ready(&mut self, clock: &mut Clock<'_>) -> Result<Sandbox, NoAnswer> {
        if let Some(sandbox) = self.sandbox {
            return Ok(sandbox);
        }
        let (prefix, head) = self.read_head(0, clock)?;
        if prefix.message != Message::Ready {
            return Err(Broken("an answer before its request").into());
        }
        let sandbox = Sandbox::from_number(Decoder(&head).number()?);
        self.sandbox = sandbox;
        sandbox.ok_or(NoAnswer::Broken(Broken("no such sandbox")))
    }

    /// Extracts an input. Documents and members inside it go to `sink`; its own document is
    /// returned. `n_delivered` counts what went to `sink`, even if the answer is lost.
    pub(super) fn extract(
        &mut self,
        input: &Input<'_>,
        account: &Expansion,
        limits: &Limits,
        sink: &mut dyn Sink,
        n_delivered: &mut u64,
    ) -> Result<Answer, NoAnswer> {
        let mut left = self.begin(input, account, None, limits)?;
        let mut found = AnswerCheck::new(&input.ipath, limits, account, n_delivered);
        let max_blob = limits
            .max_text_bytes
            .max(usize::try_from(limits.max_member_bytes).unwrap_or(usize::MAX));
        loop {
            let (message, head, blob) = self.read_message(max_blob, &mut left, sink)?;
            if let Some(answer) = found.take(message, &head, blob, sink)? {
                return Ok(answer);
            }
        }
    }

    /// Sends a request, and returns how much time is left for the answer.
    pub(super) fn begin(
        &mut self,
        input: &Input<'_>,
        account: &Expansion,
        order: Option<Order>,
        limits: &Limits,
    ) -> Result<Duration, NoAnswer> {
        if self.n_files > 0 {
            // Parsers whose panics were caught have left messages.
            while !self.last_words().is_empty() {}
        }
        self.n_files += 1;
        self.ask(input, account, order).map_err(NoAnswer::unasked)?;
        let mut clock = Clock {
            left: limits.file_time_of(input.size()),
            is_cancelled: &|| false,
        };
        self.ready(&mut clock)?;
        Ok(clock.left)
    }

    /// Reads a message of an answer.
    pub(super) fn read_message(
        &mut self,
        max_blob: usize,
        left: &mut Duration,
        sink: &mut dyn Sink,
    ) -> Result<Whole, NoAnswer> {
        let (prefix, head) = self.with_clock(left, sink, |worker, clock| {
            worker.read_head(max_blob, clock)
        })?;
        sink.make_room(prefix.n_blob);
        let mut blob = vec![0; prefix.n_blob];
        self.with_clock(left, sink, |worker, clock| {
            worker.read_exact(&mut blob, clock)
        })?;
        Ok((prefix.message, head, blob))
    }

    /// Sends the request.
    fn ask(&self, input: &Input<'_>, account: &Expansion, order: Option<Order>) -> io::Result<()> {
        let mut request = Request {
            ipath: input.ipath.clone(),
            name: input.name.clone(),
            declared_type: input.declared_type.clone(),
            modified: input.modified,
            is_attachment: input.is_attachment,
            is_outermost_file: input.is_outermost_file,
            file_size: None,
            log_size: None,
            spent: account.spent(),
            max_bytes: account.max_bytes(),
            order,
        };
        let log = input
            .log()
            .and_then(|log| log.descriptor().zip(Some(log.size())));
        match (input.in_memory(), input.descriptor(), log) {
            (_, Some(file), Some((log, size))) => {
                request.file_size = Some(input.size());
                request.log_size = Some(size);
                self.send(&request, &[], &[file, log])
            }
            (Some(bytes), _, _) if bytes.len() <= INLINE_BYTES => self.send(&request, bytes, &[]),
            (_, Some(file), None) => {
                request.file_size = Some(input.size());
                self.send(&request, &[], &[file])
            }
            (bytes, None, _) => {
                let bytes = bytes.unwrap_or_default();
                request.file_size = Some(bytes.len() as u64);
                self.send(&request, &[], &[&memory_file(bytes)?])
            }
        }
    }

    fn send(&self, request: &Request, blob: &[u8], files: &[&File]) -> io::Result<()> {
        let head = request.write().0;
        let prefix = Prefix::bytes(Message::Extract, &head, blob)?;
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
        let mut ancillary = SendAncillaryBuffer::new(&mut space);
        let descriptors: Vec<_> = files.iter().map(|file| file.as_fd()).collect();
        if !descriptors.is_empty() {
            ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
        }
        let parts = [&prefix[..], &head, blob];
        let slices = parts.map(IoSlice::new);
        let mut n_sent = sendmsg(&self.socket, &slices, &mut ancillary, SendFlags::NOSIGNAL)?;
        // Send the rest, which did not fit into the socket at once.
        for part in parts {
            let skipped = n_sent.min(part.len());
            n_sent -= skipped;
            (&self.socket).write_all(&part[skipped..])?;
        }
        Ok(())
    }

    /// Reads within the rest of the worker's time.
    fn with_clock<T>(
        &mut self,
        left: &mut Duration,
        sink: &dyn Sink,
        read: impl FnOnce(&mut Self, &mut Clock<'_>) -> Result<T, NoAnswer>,
    ) -> Result<T, NoAnswer> {
        let mut clock = Clock {
            left: *left,
            is_cancelled: &|| sink.is_cancelled(),
        };
        let result = read(self, &mut clock);
        *left = clock.left;
        result
    }

    /// Reads a message without its content.
    fn read_head(
        &mut self,
        max_blob: usize,
        clock: &mut Clock<'_>,
    ) -> Result<(Prefix, Vec<u8>), NoAnswer> {
        let mut prefix = [0; PREFIX_BYTES];
        self.read_exact(&mut prefix, clock)?;
        let prefix = Prefix::read(prefix, max_blob)?;
        let mut head = vec![0; prefix.n_head];
        self.read_exact(&mut head, clock)?;
        Ok((prefix, head))
    }

    fn read_exact(&mut self, mut out: &mut [u8], clock: &mut Clock<'_>) -> Result<(), NoAnswer> {
        loop {
            let n = out.len().min(self.unread.len());
            let (taken, rest) = out.split_at_mut(n);
            taken.copy_from_slice(&self.buffer[self.unread.start..self.unread.start + n]);
            self.unread.start += n;
            out = rest;
            if out.is_empty() {
                return Ok(());
            }
            if out.len() >= self.buffer.len() {
                let n = clock.wait(|| (&self.socket).read(out))?;
                out = &mut out[n..];
            } else {
                let n = clock.wait(|| (&self.socket).read(&mut self.buffer))?;
                self.unread = 0..n;
            }
        }
    }

    /// Kills the worker and returns why its file failed.
    pub(super) fn end(
        mut self,
        lost: &NoAnswer,
        parser: &str,
        limits: &Limits,
        size: u64,
    ) -> Cause {
        // A worker that died by itself should report how; it is killed only if it lives.
        let patience = match lost {
            NoAnswer::Died => Duration::from_millis(200),
            _ => Duration::ZERO,
        };
        let status = self.reap(patience);
        let reader = Reader::Parser(parser.to_owned());
        match lost {
            NoAnswer::TimedOut => Cause::TimedOut {
                reader,
                limit: Limit {
                    in_force: milliseconds(limits.file_time_of(size)),
                    ..limits.limit(Setting::FileSeconds)
                },
            },
            NoAnswer::Cancelled => Cause::Stopped,
            NoAnswer::Broken(broken) => Cause::Crashed {
                reader,
                how: Crash::Nonsense(broken.to_string()),
                said: String::new(),
            },
            NoAnswer::Died => self.cause_of_death(status, reader, limits),
            NoAnswer::Lacking(error) => Cause::system(Operation::AskWorker, error),
        }
    }

    /// Waits at most `patience` for the end of the process, then kills it.
    fn reap(&mut self, patience: Duration) -> Option<ExitStatus> {
        if let Ok(Some(status)) = wait_for(&mut self.child, patience) {
            return Some(status);
        }
        let _ = self.child.kill();
        wait_for(&mut self.child, AFTER_KILL).ok().flatten()
    }

    fn cause_of_death(&self, status: Option<ExitStatus>, reader: Reader, limits: &Limits) -> Cause {
        let words = self.last_words();
        // Rust's allocator says this before it aborts; the memory limit has no signal of its own.
        if words.contains("memory allocation of") {
            return Cause::Limit {
                limit: limits.limit(Setting::WorkerMemory),
                found: None,
                reader: Some(reader),
            };
        }
        let said = words.trim().lines().last().unwrap_or_default().to_owned();
        let how = match status.and_then(|status| status.signal()) {
            Some(libc::SIGSYS) => Crash::Forbidden,
            Some(libc::SIGKILL) => Crash::Killed,
            Some(signal) => Crash::Signal(signal),
            None if said.is_empty() => Crash::Ended,
            None => Crash::Panicked,
        };
        Cause::Crashed { reader, how, said }
    }

    fn last_words(&self) -> String {
        let mut words = vec![0; LAST_WORDS_BYTES];
        let n_read = rustix::io::read(&self.errors, &mut words[..]).unwrap_or(0);
        words.truncate(n_read);
        String::from_utf8_lossy(&words).into_owned()
    }
}

impl Drop for Worker {
    /// Leaves no process behind, not even a zombie.
    fn drop(&mut self) {
        self.reap(Duration::ZERO);
    }
}

impl Clock<'_> {
    /// Reads at least one byte within the remaining time.
    fn wait(&mut self, mut read: impl FnMut() -> io::Result<usize>) -> Result<usize, NoAnswer> {
        loop {
            let started = Instant::now();
            let result = read();
            self.left = self.left.saturating_sub(started.elapsed());
            match result {
                Ok(0) => return Err(NoAnswer::Died),
                Ok(n) => return Ok(n),
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock
                            | io::ErrorKind::TimedOut
                            | io::ErrorKind::Interrupted
                    ) => {}
                Err(_) => return Err(NoAnswer::Died),
            }
            if (self.is_cancelled)() {
                return Err(NoAnswer::Cancelled);
            }
            if self.left.is_zero() {
                return Err(NoAnswer::TimedOut);
            }
        }
    }
}

/// Returns a file in memory that nothing can change any more.
fn memory_file(bytes: &[u8]) -> io::Result<File> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(rustix::fs::memfd_create("member", flags)?);
    file.write_all(bytes)?;
    let seals = SealFlags::GROW | SealFlags::SHRINK | SealFlags::WRITE | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&file, seals)?;
    Ok(file)
}

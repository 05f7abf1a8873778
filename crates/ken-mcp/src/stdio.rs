//! Standard input and output: one message a line.

use std::collections::HashMap;
use std::io::{self, BufRead, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::Value;

use crate::wire::{self, INVALID_REQUEST, error};
use crate::{Mcp, Message, Request};

/// The longest message in bytes. A request of a few arguments is far shorter.
const MAX_LINE: u64 = 1 << 20;
/// The number of tools that run at once.
const N_THREADS: usize = 4;
/// The number of calls that wait for a thread; more are refused.
const MAX_WAITING: usize = 64;
const INTERNAL_ERROR: i64 = -32603;
const BUSY: i64 = -32000;

/// A call of a tool, and what ends it early.
type Job = (Request, Arc<AtomicBool>);

/// Answers the messages of a client until its end of input, and then those that are left.
///
/// # Errors
/// Fails if the input cannot be read. A client that reads no more ends everything quietly.
pub fn serve(mcp: &Mcp, input: impl BufRead, output: impl Write + Send) -> io::Result<()> {
    let session = Session {
        mcp,
        output: Mutex::new(output),
        running: Mutex::default(),
        is_over: AtomicBool::new(false),
    };
    let (to, jobs) = mpsc::sync_channel(MAX_WAITING);
    let jobs = Mutex::new(jobs);
    thread::scope(|scope| {
        for _ in 0..N_THREADS {
            scope.spawn(|| session.work(&jobs));
        }
        // It is dropped before the threads are joined: without a sender they end when nothing is left.
        let to = to;
        session.listen(input, &to)
    })
}

struct Session<'a, W> {
    mcp: &'a Mcp,
    output: Mutex<W>,
    /// The calls that are not answered yet, by the JSON of their identifiers.
    running: Mutex<HashMap<String, Arc<AtomicBool>>>,
    /// Whether the client reads no more.
    is_over: AtomicBool,
}

enum Line {
    Bytes(Vec<u8>),
    TooLong,
    End,
}

impl<W: Write + Send> Session<'_, W> {
    fn listen(&self, mut input: impl BufRead, to: &mpsc::SyncSender<Job>) -> io::Result<()> {
        while !self.is_over.load(Ordering::Relaxed) {
            match line(&mut input)? {
                Line::End => break,
                Line::TooLong => {
                    let message = "the message is longer than a megabyte";
                    self.write(&error(&Value::Null, INVALID_REQUEST, message, None));
                }
                Line::Bytes(bytes) if bytes.trim_ascii().is_empty() => {}
                Line::Bytes(bytes) => match wire::read(&bytes) {
                    Ok(message) => self.take(message, to),
                    Err(wrong) => self.write(&wrong.answer()),
                },
            }
        }
        Ok(())
    }

    fn take(&self, message: Message, to: &mpsc::SyncSender<Job>) {
        match message {
            Message::Request(request) if request.method == "tools/call" => {
                let is_cancelled = Arc::new(AtomicBool::new(false));
                let key = request.id.to_string();
                lock(&self.running).insert(key.clone(), Arc::clone(&is_cancelled));
                if let Err(refused) = to.try_send((request, is_cancelled)) {
                    lock(&self.running).remove(&key);
                    let (mpsc::TrySendError::Full((request, _))
                    | mpsc::TrySendError::Disconnected((request, _))) = refused;
                    let message = "too many requests wait; ask again later";
                    self.write(&error(&request.id, BUSY, message, None));
                }
            }
            Message::Request(request) => {
                self.write(&self.mcp.answer(&request, &Arc::default()));
            }
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                let id = params.get("requestId").map(Value::to_string);
                if let Some(running) = id.and_then(|id| lock(&self.running).remove(&id)) {
                    running.store(true, Ordering::Relaxed);
                }
            }
            Message::Notification { .. } | Message::Answer => {}
        }
    }

    fn work(&self, jobs: &Mutex<Receiver<Job>>) {
        loop {
            let job = lock(jobs).recv();
            let Ok((request, is_cancelled)) = job else {
                return;
            };
            let is_wanted =
                || !is_cancelled.load(Ordering::Relaxed) && !self.is_over.load(Ordering::Relaxed);
            if !is_wanted() {
                continue;
            }
            // A panic was reported on standard error; its client hears that there is no answer.
            let answer = catch_unwind(AssertUnwindSafe(|| {
                self.mcp.answer(&request, &is_cancelled)
            }));
            let answer = answer
                .unwrap_or_else(|_| error(&request.id, INTERNAL_ERROR, "the tool failed", None));
            if is_wanted() {
                lock(&self.running).remove(&request.id.to_string());
                self.write(&answer);
            }
        }
    }

    fn write(&self, answer: &Value) {
        let mut line = answer.to_string();
        line.push('\n');
        let mut output = lock(&self.output);
        let written = output
            .write_all(line.as_bytes())
            .and_then(|()| output.flush());
        if written.is_err() {
            self.is_over.store(true, Ordering::Relaxed);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a line. The rest of one that is too long is read and dropped.
fn line(input: &mut impl BufRead) -> io::Result<Line> {
    let mut bytes = Vec::new();
    let n_read = input
        .by_ref()
        .take(MAX_LINE)
        .read_until(b'\n', &mut bytes)?;
    if n_read == 0 {
        return Ok(Line::End);
    }
    if (n_read as u64) < MAX_LINE || bytes.ends_with(b"\n") {
        return Ok(Line::Bytes(bytes));
    }
    loop {
        bytes.clear();
        let n_read = input
            .by_ref()
            .take(MAX_LINE)
            .read_until(b'\n', &mut bytes)?;
        if n_read == 0 || bytes.ends_with(b"\n") {
            return Ok(Line::TooLong);
        }
    }
}

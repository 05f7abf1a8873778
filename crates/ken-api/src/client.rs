//! Asks a server.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::message::{
    ErrorBody, Event, Fresh, Freshness, IndexWish, IsFresh, Vouch, Vouched, WebAddress,
};

/// The largest answer that is read as a whole.
const MAX_ANSWER: u64 = 16 << 20;
/// The largest head of an answer.
const MAX_HEAD: usize = 16 << 10;
const MAX_HEADERS: usize = 32;
/// Time that the server has for an answer for which nothing is waited for.
const PROMPT: Duration = Duration::from_secs(2);
/// How long a server that has just started may take: it watches all folders before it answers.
const STARTING: Duration = Duration::from_secs(60);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No server listens, or it does not answer in time.
    #[error("ken serve does not answer: {0}")]
    Silent(#[from] io::Error),
    /// The server refuses the question.
    #[error("{message}")]
    Refused {
        /// The status of HTTP.
        status: u16,
        /// Why, for people.
        message: String,
    },
    /// The answer is not one of this version of ken.
    #[error("ken serve is a different version of ken: {0}")]
    Foreign(String),
}

/// Asks the server at a socket. Each question has a connection of its own.
#[derive(Clone, Debug)]
pub struct Client {
    socket: PathBuf,
}

impl Client {
    /// Creates a client; connects to nothing yet.
    pub fn new(socket: &Path) -> Self {
        Self {
            socket: socket.to_path_buf(),
        }
    }

    /// Returns how fresh the index is.
    ///
    /// # Errors
    /// Fails if there is no answer.
    pub fn status(&self) -> Result<Freshness, Error> {
        self.status_within(PROMPT)
    }

    /// Returns how fresh the index is, if the server says so within a time.
    ///
    /// # Errors
    /// Fails if there is no answer.
    pub fn status_within(&self, wait: Duration) -> Result<Freshness, Error> {
        self.ask("GET", "/api/v1/status", &(), wait)
    }

    /// Waits until every change that was made before this call is in the index.
    ///
    /// # Errors
    /// Fails if it is not within the time.
    pub fn fresh(&self, question: &Fresh) -> Result<IsFresh, Error> {
        let wait = Duration::try_from_secs_f64(question.seconds).unwrap_or(PROMPT);
        self.ask("POST", "/api/v1/fresh", question, wait + PROMPT)
    }

    /// Asks whether the index has these paths as they are, within a time.
    ///
    /// # Errors
    /// Fails if there is no answer.
    pub fn vouch(&self, question: &Vouch, wait: Duration) -> Result<Vouched, Error> {
        self.ask("POST", "/api/v1/vouch", question, wait)
    }

    /// Returns where a browser finds ken; the server opens its port if it has not yet.
    ///
    /// # Errors
    /// Fails if there is no answer.
    pub fn web(&self) -> Result<WebAddress, Error> {
        self.ask("POST", "/api/v1/web", &(), STARTING)
    }

    /// Has everything compared; the run ends early when the events are dropped.
    ///
    /// # Errors
    /// Fails if there is no answer.
    pub fn index(&self, wish: &IndexWish) -> Result<Lines, Error> {
        let (status, body) = self.request("POST", "/api/v1/index", wish, PROMPT)?;
        let mut lines = Lines::of(body);
        match status {
            // Events may be rare.
            200 => lines.body.get_ref().set_read_timeout(None)?,
            status => return Err(refusal(status, &lines.rest()?)),
        }
        Ok(lines)
    }

    fn ask<Q: Serialize, A: DeserializeOwned>(
        &self,
        method: &str,
        path: &str,
        question: &Q,
        wait: Duration,
    ) -> Result<A, Error> {
        let (status, body) = self.request(method, path, question, wait)?;
        let answer = Lines::of(body).rest()?;
        match status {
            200 => {
                serde_json::from_slice(&answer).map_err(|error| Error::Foreign(error.to_string()))
            }
            status => Err(refusal(status, &answer)),
        }
    }

    /// Sends a request, and returns the status and the body of the answer. HTTP/1.0 has the simplest body: it ends with
    /// the connection.
    fn request<Q: Serialize>(
        &self,
        method: &str,
        path: &str,
        question: &Q,
        wait: Duration,
    ) -> Result<(u16, BufReader<UnixStream>), Error> {
        let body = match method {
            "GET" => Vec::new(),
            _ => serde_json::to_vec(question).map_err(io::Error::from)?,
        };
        let length = body.len();
        let mut request = format!(
            "{method} {path} HTTP/1.0\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
        )
        .into_bytes();
        request.extend(body);
        let mut stream = connect(&self.socket)?;
        stream.set_write_timeout(Some(wait))?;
        stream.set_read_timeout(Some(wait))?;
        stream.write_all(&request)?;
        let mut reader = BufReader::new(stream);
        let status = status_of(&head(&mut reader)?)?;
        Ok((status, reader))
    }
}

/// Connects without waiting: a stopped server lets connections wait for ever once enough of them do.
fn connect(path: &Path) -> io::Result<UnixStream> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::connect(&socket, &SocketAddrUnix::new(path)?).map_err(|error| match error {
        Errno::AGAIN => io::Error::from(io::ErrorKind::TimedOut),
        error => error.into(),
    })?;
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// Reads the head of an answer, with the empty line at its end.
fn head(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut limited = reader.take(MAX_HEAD as u64);
    while !head.ends_with(b"\r\n\r\n") {
        if limited.read_until(b'\n', &mut head)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(head)
}

fn status_of(head: &[u8]) -> Result<u16, Error> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    match response.parse(head) {
        Ok(_) => Ok(response.code.unwrap_or_default()),
        Err(error) => Err(Error::Foreign(error.to_string())),
    }
}

fn refusal(status: u16, body: &[u8]) -> Error {
    let body: Option<ErrorBody> = serde_json::from_slice(body).ok();
    let message = body.map_or_else(|| format!("ken serve says {status}"), |body| body.error);
    Error::Refused { status, message }
}

/// The events of a run, until its end.
#[derive(Debug)]
pub struct Lines {
    body: BufReader<UnixStream>,
    /// The begin of a line whose end did not come in time.
    begun: Vec<u8>,
}

impl Lines {
    fn of(body: BufReader<UnixStream>) -> Self {
        Self {
            body,
            begun: Vec::new(),
        }
    }

    /// Returns the next event; none after the last one.
    ///
    /// # Errors
    /// Fails if it is no event, or does not come within the time of [`Self::wait_at_most`]; then it may come later.
    pub fn next_event(&mut self) -> Result<Option<Event>, Error> {
        let limited = &mut (&mut self.body).take(MAX_ANSWER);
        if limited.read_until(b'\n', &mut self.begun)? == 0 {
            return Ok(None);
        }
        let event = serde_json::from_slice(&std::mem::take(&mut self.begun));
        event
            .map(Some)
            .map_err(|error| Error::Foreign(error.to_string()))
    }

    /// Sets how long [`Self::next_event`] waits.
    ///
    /// # Errors
    /// Fails if the system refuses it.
    pub fn wait_at_most(&self, wait: Option<Duration>) -> io::Result<()> {
        self.body.get_ref().set_read_timeout(wait)
    }

    fn rest(&mut self) -> io::Result<Vec<u8>> {
        let mut rest = Vec::new();
        (&mut self.body).take(MAX_ANSWER).read_to_end(&mut rest)?;
        Ok(rest)
    }
}

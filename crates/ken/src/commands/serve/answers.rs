//! Who answers a request? The server itself, if it is about how fresh the index is; else threads that search.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hyper::Request;
use hyper::body::Bytes;
use ken_api::{Door, Guard, Passed, Question, Refusal, Reply};
use ken_mcp::Mcp;
use ken_web::{Asked, Body, From, Web, Work, Write};

use super::news::News;
use super::pool::{Pool, Rest};

/// Where agents are answered, at the socket.
const MCP: &str = "/mcp";
/// Number of answers that are written as they come, at once: each has a thread.
const MAX_WRITTEN: usize = 16;
/// Number of searches at once.
const MAX_THREADS: usize = 16;
/// Number of requests that wait for a thread; more are refused.
const MAX_WAITING: usize = 256;
/// Number of requests that wait for a picture. A page of the table has 50.
const MAX_PICTURES_WAITING: usize = 64;

/// Has requests answered.
pub(super) struct Answers {
    news: Arc<News>,
    web: Arc<Mutex<Arc<Web>>>,
    mcp: Mutex<Mcp>,
    /// Looks at what comes in at the port, once there is one.
    guard: OnceLock<Guard>,
    /// Looks at what comes in at a port that other machines reach, and its number.
    outer: OnceLock<(u16, Guard)>,
    /// Threads that look into the index.
    lookers: Pool,
    /// Threads that wait for the worker of a page.
    pages: Pool,
    /// Threads that wait for the workers of small pictures. They are fewer than may draw at once, so that a page that a
    /// user turns to need not wait for the pictures of a list.
    thumbnails: Pool,
    n_written: Arc<AtomicUsize>,
}

impl Answers {
    pub(super) fn new(news: Arc<News>, web: Web, mcp: Mcp) -> Self {
        let web = Arc::new(Mutex::new(Arc::new(web)));
        let n_processors = std::thread::available_parallelism().map_or(2, usize::from);
        let of_rest = Arc::clone(&web);
        let rest = Rest::new(move || lock(&of_rest).rest());
        let pool = |n_threads: usize, max_waiting| Pool::new(n_threads, max_waiting, &rest);
        Self {
            news,
            lookers: pool((2 * n_processors).min(MAX_THREADS), MAX_WAITING),
            pages: pool(n_processors.min(4), MAX_PICTURES_WAITING),
            thumbnails: pool((n_processors / 2).clamp(1, 3), MAX_PICTURES_WAITING),
            web,
            mcp: Mutex::new(mcp),
            guard: OnceLock::new(),
            outer: OnceLock::new(),
            n_written: Arc::default(),
        }
    }

    /// Lets requests in at a port. The first guard stays.
    pub(super) fn guard(&self, guard: Guard) {
        let _ = self.guard.set(guard);
    }

    /// Lets requests in at a port that other machines reach.
    pub(super) fn guard_outer(&self, port: u16, guard: Guard) {
        let _ = self.outer.set((port, guard));
    }

    /// Answers by other settings from now on.
    pub(super) fn renew(&self, web: Web, mcp: Mcp) {
        *self.mcp.lock().unwrap_or_else(PoisonError::into_inner) = mcp;
        *self.web.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(web);
    }

    /// Takes a request.
    pub(super) fn take(&self, request: Request<Bytes>, door: Door, reply: Reply) {
        if matches!(door, Door::Socket) && request.uri().path() == MCP {
            return self.ask_mcp(request, reply);
        }
        match self.look(&request, door) {
            Err((status, message)) => reply.refuse(status, &message),
            Ok(passed) => self.hand_on(request, passed, reply),
        }
    }

    fn look(&self, request: &Request<Bytes>, door: Door) -> Result<Passed, Refusal> {
        let guard = match door {
            Door::Socket => {
                return Ok(Passed {
                    path: request.uri().path().to_owned(),
                    is_known: true,
                });
            }
            Door::Port(number) => match self.outer.get() {
                Some((outer, guard)) if *outer == number => Some(guard),
                _ => self.guard.get(),
            },
        };
        match guard {
            Some(guard) => guard.look(request),
            None => Err((503, "ken serve is starting".to_owned())),
        }
    }

    fn hand_on(&self, request: Request<Bytes>, passed: Passed, reply: Reply) {
        let question = passed
            .is_known
            .then(|| Question::read(request.method(), &passed.path, request.body()));
        match question.flatten() {
            Some(Ok(question)) => self.news.ask(question, reply),
            Some(Err((405, message))) => reply.refuse_method(&passed.path, &message),
            Some(Err((status, message))) => reply.refuse(status, &message),
            None => self.search(request, passed, reply),
        }
    }

    /// Answers a program of the user that speaks for an agent. The address names the scope, as nothing else does.
    fn ask_mcp(&self, request: Request<Bytes>, reply: Reply) {
        let is_gone = reply.is_gone();
        let asked = Asked::new(request.map(Vec::from), MCP.to_owned(), From::User, is_gone);
        let folders = |name| asked.all(name).map(PathBuf::from).collect::<Vec<_>>();
        let (within, excluded) = (folders("in"), folders("exclude"));
        if within.is_empty() {
            reply.refuse(
                400,
                "the address names no folder: /mcp?in=/home/anna/Documents",
            );
            return;
        }
        let mail = asked.flag("mail").map_err(|error| error.to_string());
        let scope = mail.and_then(|mail| ken_mcp::scope(&within, &excluded, mail));
        let scope = match scope {
            Ok(scope) => scope,
            Err(why) => return reply.refuse(400, &why),
        };
        let mcp = self.mcp.lock().unwrap_or_else(PoisonError::into_inner);
        let mcp = mcp.with_scope(scope);
        if !self.lookers.has_place() {
            reply.refuse(503, "too many requests wait; ask again later");
            return;
        }
        // Without a thread the reply is dropped, and says so.
        let _ = self.lookers.run(move || {
            let Asked {
                method,
                headers,
                body,
                is_gone,
                ..
            } = &asked;
            reply.whole(ken_mcp::post(&mcp, method, headers, body, is_gone));
        });
    }

    fn search(&self, request: Request<Bytes>, passed: Passed, reply: Reply) {
        let from = match passed.is_known {
            true => From::User,
            false => From::Anybody,
        };
        let is_gone = reply.is_gone();
        let asked = Asked::new(request.map(Vec::from), passed.path, from, is_gone);
        let web = lock(&self.web);
        let n_written = Arc::clone(&self.n_written);
        let pool = match asked.work() {
            Work::Look => &self.lookers,
            Work::Page => &self.pages,
            Work::Thumbnail => &self.thumbnails,
        };
        if !pool.has_place() {
            reply.refuse(503, "too many requests wait; ask again later");
            return;
        }
        // Without a thread the reply is dropped, and says so.
        let _ = pool.run(move || {
            if reply.is_given_up() {
                return;
            }
            let (head, body) = web.answer(&asked).into_parts();
            match body {
                Body::Whole(body) => reply.whole(hyper::Response::from_parts(head, body)),
                Body::Written(write) => {
                    let head = hyper::Response::from_parts(head, ());
                    written(&n_written, reply, head, write);
                }
            }
        });
    }
}

fn lock(web: &Mutex<Arc<Web>>) -> Arc<Web> {
    Arc::clone(&web.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Writes an answer as it comes, on a thread of its own: a slow client must not hold one that searches.
fn written(n_written: &Arc<AtomicUsize>, reply: Reply, head: hyper::Response<()>, write: Write) {
    let place = Place::take(n_written);
    let Some(place) = place else {
        reply.refuse(503, "too many clients read long answers; ask again later");
        return;
    };
    // Without a thread the reply is dropped, and says so.
    let _ = std::thread::Builder::new()
        .name("writer".to_owned())
        .spawn(move || {
            let _place = place;
            let mut pipe = reply.pipe(head);
            // The client is gone.
            let _ = write(&mut pipe).and_then(|()| std::io::Write::flush(&mut pipe));
        });
}

/// One of a number of places, until dropped.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(n_taken: &Arc<AtomicUsize>) -> Option<Self> {
        let place = Self(Arc::clone(n_taken));
        (n_taken.fetch_add(1, Ordering::Relaxed) < MAX_WRITTEN).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

//! Who answers a request? The server itself, if it is about how fresh the index is; else threads that search.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use hyper::Request;
use hyper::body::Bytes;
use ken_api::{Door, Guard, Passed, Places, Question, Refusal, Reply};
use ken_mcp::Mcp;
use ken_web::{Asked, Body, From, Shown, Web, Work};

use super::audit::{Audit, Line, MAX_TEXT};
use super::directory::Name;
use super::news::News;
use super::people::{People, Person, Sender, Signature};
use super::pool::{Pool, Rest};
use super::written::written;
use crate::output;

/// Where agents are answered, at the socket.
const MCP: &str = "/mcp";
/// Number of searches at once.
const MAX_THREADS: usize = 16;
/// Number of requests that wait for a thread; more are refused.
const MAX_WAITING: usize = 256;
/// How long the directory of the system may take to say who somebody is.
const DIRECTORY: Duration = Duration::from_secs(5);
/// Number of threads that wait for the directory. Each request waits from when it came, so none waits twice as long.
const MAX_ASKING: usize = 8;
/// Number of answers that are written as they come, at once: each has a thread.
const MAX_WRITTEN: usize = 16;
/// Number of requests that wait for a picture. A page of the table has 50.
const MAX_PICTURES_WAITING: usize = 64;

/// Has requests answered.
pub(super) struct Answers {
    news: Arc<News>,
    people: Mutex<Arc<People>>,
    audit: Mutex<Option<Arc<Audit>>>,
    web: Arc<Mutex<Arc<Web>>>,
    mcp: Mutex<Mcp>,
    /// Looks at what comes in at the port, once there is one.
    guard: OnceLock<Guard>,
    /// Looks at what comes in at a port that other machines reach, and its number.
    outer: OnceLock<(u16, Guard)>,
    /// Threads that look into the index.
    lookers: Pool,
    /// Threads that wait for the directory of the system.
    askers: Pool,
    /// Threads that wait for the worker of a page.
    pages: Pool,
    /// Threads that wait for the workers of small pictures. They are fewer than may draw at once, so that a page that a
    /// user turns to need not wait for the pictures of a list.
    thumbnails: Pool,
    /// Answers that are written as they come.
    written: Places<Name>,
}

impl Answers {
    pub(super) fn new(
        news: Arc<News>,
        (web, mcp): (Web, Mcp),
        people: People,
        audit: Option<Audit>,
    ) -> Self {
        let web = Arc::new(Mutex::new(Arc::new(web)));
        let n_processors = std::thread::available_parallelism().map_or(2, usize::from);
        let of_rest = Arc::clone(&web);
        let rest = Rest::new(move || lock(&of_rest).rest());
        let pool = |n_threads: usize, max_waiting| Pool::new(n_threads, max_waiting, &rest);
        Self {
            news,
            people: Mutex::new(Arc::new(people)),
            audit: Mutex::new(audit.map(Arc::new)),
            lookers: pool((2 * n_processors).min(MAX_THREADS), MAX_WAITING),
            askers: pool(MAX_ASKING, MAX_WAITING),
            pages: pool(n_processors.min(4), MAX_PICTURES_WAITING),
            thumbnails: pool((n_processors / 2).clamp(1, 3), MAX_PICTURES_WAITING),
            web,
            mcp: Mutex::new(mcp),
            guard: OnceLock::new(),
            outer: OnceLock::new(),
            written: Places::new(MAX_WRITTEN),
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
    pub(super) fn renew(&self, web: Web, mcp: Mcp, people: People, audit: Option<Audit>) {
        *self.audit.lock().unwrap_or_else(PoisonError::into_inner) = audit.map(Arc::new);
        *self.people.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(people);
        *self.mcp.lock().unwrap_or_else(PoisonError::into_inner) = mcp;
        *self.web.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(web);
    }

    /// Takes a request. Nothing here waits: the same thread takes the requests of all doors.
    pub(super) fn take(self: &Arc<Self>, request: Request<Bytes>, door: Door, reply: Reply) {
        let people = Arc::clone(&self.people.lock().unwrap_or_else(PoisonError::into_inner));
        let sender = self.look(&request, door).and_then(|passed| {
            let sender = people.who(&request, door)?;
            match door {
                // Everybody who knows the password is the same to it.
                Door::Port(number) if people.is_enforced() && self.is_outer(number) => {
                    Err((403, "a password does not say who asks".to_owned()))
                }
                _ => Ok((passed, sender)),
            }
        });
        match sender {
            Ok((passed, Sender::Known(person))) => {
                self.take_from(request, (passed, door), person, reply)
            }
            Ok((passed, Sender::Named(name, from))) => match people.remembered(&name, from) {
                Some(Ok(person)) => self.take_from(request, (passed, door), person, reply),
                Some(Err(refusal)) => self.turn_away(&request, door, refusal, reply),
                None => self.ask_directory(people, (name, from), (request, passed, door), reply),
            },
            Err(refusal) => self.turn_away(&request, door, refusal, reply),
        }
    }

    /// Takes a request as soon as the directory has said whose it is.
    fn ask_directory(
        self: &Arc<Self>,
        people: Arc<People>,
        (name, from): (Name, &'static str),
        (request, passed, door): (Request<Bytes>, Passed, Door),
        reply: Reply,
    ) {
        let until = Instant::now() + DIRECTORY;
        let guest = Some(name.clone());
        if !self.askers.has_place(&guest) {
            reply.refuse(503, "too many requests wait; ask again later");
            return;
        }
        let answers = Arc::clone(self);
        // Without a thread the reply is dropped, and says so.
        let _ = self
            .askers
            .run(guest, move || match people.ask(&name, from, until) {
                Ok(person) => answers.take_from(request, (passed, door), person, reply),
                Err(refusal) => answers.turn_away(&request, door, refusal, reply),
            });
    }

    /// Refuses a request of nobody whom the server knows.
    fn turn_away(&self, request: &Request<Bytes>, door: Door, refusal: Refusal, reply: Reply) {
        match door {
            Door::Shared(peer) => {
                self.refuse(request, Signature::of_peer(peer), refusal, reply);
            }
            // Who is at a port is not known.
            _ => reply.refuse(refusal.0, &refusal.1),
        }
    }

    /// Takes a request of somebody who gets answers.
    fn take_from(
        &self,
        request: Request<Bytes>,
        (passed, door): (Passed, Door),
        person: Person,
        reply: Reply,
    ) {
        if person.asker.is_some() && self.audit().is_some() {
            let length = request.uri().to_string().len();
            let refusal = match (length > MAX_TEXT, request.body().len() > MAX_TEXT) {
                (true, _) => Some(414),
                (_, true) => Some(413),
                _ => None,
            };
            if let Some(status) = refusal {
                let message = format!("a question has at most {MAX_TEXT} characters here");
                return self.refuse(&request, person.signature, (status, message), reply);
            }
        }
        let is_at_socket = matches!(door, Door::Socket | Door::Shared(_));
        if is_at_socket && request.uri().path() == MCP {
            if person.asker.is_some() {
                // Its tools read files by themselves.
                let message = "agents are for the user of this server".to_owned();
                return self.refuse(&request, person.signature, (403, message), reply);
            }
            return self.ask_mcp(request, &person, reply);
        }
        self.hand_on(request, passed, person, reply);
    }

    fn audit(&self) -> Option<Arc<Audit>> {
        let audit = self.audit.lock();
        audit.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Refuses a request, and notes that in the audit.
    fn refuse(
        &self,
        request: &Request<Bytes>,
        asked_by: Signature,
        (status, message): Refusal,
        reply: Reply,
    ) {
        let Some(audit) = self.audit() else {
            return reply.refuse(status, &message);
        };
        let guest = Some(Name::Number(asked_by.uid));
        if !self.lookers.has_place(&guest) {
            return reply.refuse(503, "too many requests wait; ask again later");
        }
        let line = Asking::new(asked_by, request);
        // Without a thread the reply is dropped, and says so.
        let _ = self.lookers.run(guest, move || {
            match line.note(Some(&audit), None, status, None) {
                Ok(()) => reply.refuse(status, &message),
                Err(why) => reply.refuse(503, &why),
            }
        });
    }

    /// Returns whether a user of the shared socket speaks for others.
    pub(super) fn is_proxy(&self, uid: u32) -> bool {
        let people = self.people.lock().unwrap_or_else(PoisonError::into_inner);
        people.is_proxy(uid)
    }

    fn is_outer(&self, port: u16) -> bool {
        self.outer.get().is_some_and(|(outer, _)| *outer == port)
    }

    fn look(&self, request: &Request<Bytes>, door: Door) -> Result<Passed, Refusal> {
        let guard = match door {
            Door::Socket | Door::Shared(_) => {
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

    fn hand_on(&self, request: Request<Bytes>, passed: Passed, person: Person, reply: Reply) {
        let question = passed
            .is_known
            .then(|| Question::read(request.method(), &passed.path, request.body()));
        match question.flatten() {
            Some(_) if person.asker.is_some() => {
                let message = "this is for the user of this server".to_owned();
                self.refuse(&request, person.signature, (403, message), reply);
            }
            Some(Ok(question)) => self.news.ask(question, reply),
            Some(Err((405, message))) => reply.refuse_method(&passed.path, &message),
            Some(Err((status, message))) => reply.refuse(status, &message),
            None => self.search(request, passed, person, reply),
        }
    }

    /// Answers a program of the user that speaks for an agent. The address names the scope, as nothing else does.
    fn ask_mcp(&self, request: Request<Bytes>, person: &Person, reply: Reply) {
        let line = Asking::new(person.signature.clone(), &request);
        let audit = self.audit();
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
        if !self.lookers.has_place(&None) {
            reply.refuse(503, "too many requests wait; ask again later");
            return;
        }
        // Without a thread the reply is dropped, and says so.
        let _ = self.lookers.run(None, move || {
            let Asked {
                method,
                headers,
                body,
                is_gone,
                ..
            } = &asked;
            let answer = ken_mcp::post(&mcp, method, headers, body, is_gone);
            match line.note(audit.as_deref(), None, answer.status().as_u16(), None) {
                Ok(()) => reply.whole(answer),
                Err(why) => reply.refuse(503, &why),
            }
        });
    }

    fn search(&self, request: Request<Bytes>, passed: Passed, person: Person, reply: Reply) {
        let from = match passed.is_known {
            true => From::User,
            false => From::Anybody,
        };
        let is_gone = reply.is_gone();
        let line = Asking::new(person.signature.clone(), &request);
        let audit = self.audit();
        let guest = person.guest();
        let asked =
            Asked::new(request.map(Vec::from), passed.path, from, is_gone).with_asker(person.asker);
        let web = lock(&self.web);
        let places = self.written.clone();
        let pool = match asked.work() {
            Work::Look => &self.lookers,
            Work::Page => &self.pages,
            Work::Thumbnail => &self.thumbnails,
        };
        if !pool.has_place(&guest) {
            reply.refuse(503, "too many requests wait; ask again later");
            return;
        }
        // Without a thread the reply is dropped, and says so.
        let _ = pool.run(guest.clone(), move || {
            if reply.is_given_up() {
                return;
            }
            let answer = web.answer(&asked);
            if asked.from == From::User && asked.is_question() {
                let hits = answer.extensions().get::<Shown>().map(|Shown(hits)| *hits);
                // Of two values the last one counts.
                let query = ["q", "query", "pattern"]
                    .iter()
                    .find_map(|name| asked.all(name).last());
                let status = answer.status().as_u16();
                if let Err(why) = line.note(audit.as_deref(), query, status, hits) {
                    return reply.refuse(503, &why);
                }
            }
            let (head, body) = answer.into_parts();
            match body {
                Body::Whole(body) => reply.whole(hyper::Response::from_parts(head, body)),
                Body::Written(write) => {
                    let head = hyper::Response::from_parts(head, ());
                    written(places.take(&guest), reply, head, write);
                }
            }
        });
    }
}

/// A question, until it is in the audit.
struct Asking {
    asked_by: Signature,
    method: String,
    address: String,
    body: Bytes,
}

impl Asking {
    fn new(asked_by: Signature, request: &Request<Bytes>) -> Self {
        Self {
            asked_by,
            method: request.method().to_string(),
            address: request.uri().to_string(),
            body: request.body().clone(),
        }
    }

    /// Writes the line of the question. If that fails, the operator hears why, and the person that there is no answer.
    fn note(
        &self,
        audit: Option<&Audit>,
        query: Option<&str>,
        status: u16,
        hits: Option<usize>,
    ) -> Result<(), String> {
        let Some(audit) = audit else {
            return Ok(());
        };
        let asked = (self.method.as_str(), self.address.as_str(), &*self.body);
        let line = Line::new(&self.asked_by, asked, query, status, hits);
        audit.write(&line).map_err(|error| {
            output::warn(&format!(
                "no question is answered, since the audit fails: {error}"
            ));
            "the audit cannot be written".to_owned()
        })
    }
}

fn lock(web: &Mutex<Arc<Web>>) -> Arc<Web> {
    Arc::clone(&web.lock().unwrap_or_else(PoisonError::into_inner))
}

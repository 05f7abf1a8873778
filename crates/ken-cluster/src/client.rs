//! Calls that are repeated until a node answers.
//!
//! Every call that ken makes may be made twice: what is written has a version, and what is compared is compared again. So
//! a call that got no answer, or `429`, `502`, `503` or `504`, is repeated at the next node after a pause that doubles.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, Once, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use ken_engine::Error;
use serde_json::Value;

use crate::http::{ANSWER, Call, Http, Method, Reply};

/// The most by which a pause grows.
const MAX_DOUBLINGS: u32 = 6;

/// How long a call is repeated.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// The first pause.
    pub pause: Duration,
    /// The time without any success after which a call fails.
    pub total: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            pause: Duration::from_millis(100),
            total: Duration::from_secs(120),
        }
    }
}

/// Told which node is waited for, as none has answered soon.
pub type Notice = Arc<dyn Fn(&str) + Send + Sync>;

/// Waits for the first answer of a cluster, and says so if it takes long.
struct FirstAnswer {
    notice: Notice,
    after: Duration,
    begun: Once,
    state: Arc<(Mutex<Awaited>, Condvar)>,
}

#[derive(Default)]
struct Awaited {
    node: String,
    has_answered: bool,
}

impl FirstAnswer {
    fn ask(&self, node: &str) {
        let lock = || self.state.0.lock().unwrap_or_else(PoisonError::into_inner);
        node.clone_into(&mut lock().node);
        self.begun.call_once(|| {
            let (notice, after) = (Arc::clone(&self.notice), self.after);
            let state = Arc::clone(&self.state);
            // A command that ends meanwhile ends the thread, too.
            std::thread::spawn(move || {
                let awaited = state.0.lock().unwrap_or_else(PoisonError::into_inner);
                let waited = state
                    .1
                    .wait_timeout_while(awaited, after, |awaited| !awaited.has_answered);
                let awaited = waited.unwrap_or_else(PoisonError::into_inner).0;
                if !awaited.has_answered {
                    notice(&awaited.node);
                }
            });
        });
    }

    fn answered(&self) {
        let (awaited, changed) = &*self.state;
        let mut awaited = awaited.lock().unwrap_or_else(PoisonError::into_inner);
        awaited.has_answered = true;
        changed.notify_all();
    }
}

/// The nodes of a cluster, asked in turn.
pub(crate) struct Client {
    http: Arc<dyn Http>,
    nodes: Vec<String>,
    next: AtomicUsize,
    patience: Patience,
    /// What errors name.
    name: PathBuf,
    first_answer: OnceLock<FirstAnswer>,
}

/// A pause that doubles until something succeeds.
pub(crate) struct Pause {
    patience: Patience,
    since: Instant,
    n: u32,
}

impl Pause {
    /// Waits. Returns false if it has waited long enough.
    pub(crate) fn wait(&mut self) -> bool {
        if self.since.elapsed() >= self.patience.total {
            return false;
        }
        let longest = self.patience.pause * (1 << self.n.min(MAX_DOUBLINGS));
        // Machines that were refused together do not come back together.
        std::thread::sleep(longest.mul_f64(0.5 + fastrand::f64() / 2.0));
        self.n += 1;
        true
    }

    pub(crate) fn succeeded(&mut self) {
        self.since = Instant::now();
        self.n = 0;
    }
}

impl Client {
    /// Returns a client of these nodes, which are addresses such as `https://os1:9200`.
    pub(crate) fn new(
        http: Arc<dyn Http>,
        nodes: Vec<String>,
        name: &str,
        patience: Patience,
    ) -> Self {
        Self {
            http,
            name: PathBuf::from(format!("opensearch:{name}")),
            next: AtomicUsize::new(0),
            nodes,
            patience,
            first_answer: OnceLock::new(),
        }
    }

    /// Has somebody told which node is waited for, if none answers within a time.
    pub(crate) fn notify(&self, after: Duration, notice: Notice) {
        let _ = self.first_answer.set(FirstAnswer {
            notice,
            after,
            begun: Once::new(),
            state: Arc::default(),
        });
    }

    pub(crate) fn pause(&self) -> Pause {
        Pause {
            patience: self.patience,
            since: Instant::now(),
            n: 0,
        }
    }

    /// Sends a call once, to the next node, which an error names.
    pub(crate) fn once(&self, call: &Call) -> std::io::Result<Reply> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let node = &self.nodes[turn % self.nodes.len().max(1)];
        let first = self.first_answer.get();
        if let Some(first) = first {
            first.ask(node);
        }
        let sent = self.http.send(node, call);
        if let Some(first) = first.filter(|_| sent.is_ok()) {
            first.answered();
        }
        sent.map_err(|error| std::io::Error::new(error.kind(), format!("{node}: {error}")))
    }

    /// Sends a call until there is an answer; returns its status and its body.
    pub(crate) fn call(
        &self,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Result<(u16, Value), Error> {
        self.call_within(ANSWER, method, path, body)
    }

    /// The same, where a node that does not answer within a time is given up for the next one.
    pub(crate) fn call_within(
        &self,
        within: Duration,
        method: Method,
        path: &str,
        body: &Value,
    ) -> Result<(u16, Value), Error> {
        let call = Call {
            method,
            path: path.to_owned(),
            body: match body {
                Value::Null => Vec::new(),
                body => body.to_string().into_bytes(),
            },
            is_lines: false,
            within,
        };
        let mut pause = self.pause();
        let mut n_tries = 0;
        loop {
            n_tries += 1;
            let problem = match self.once(&call) {
                Ok(reply) if is_passing(reply.status) => text_of(&reply.body),
                Ok(reply) => match serde_json::from_slice(&reply.body) {
                    Ok(value) => return Ok((reply.status, value)),
                    // What refuses a secret need not write JSON.
                    Err(_) if (400..500).contains(&reply.status) => {
                        return Ok((reply.status, Value::String(text_of(&reply.body))));
                    }
                    // The node, or something before it, broke off.
                    Err(error) => format!("status {}: {error}", reply.status),
                },
                Err(error) => error.to_string(),
            };
            // Every node is asked once, however long one of them took.
            if !pause.wait() && n_tries >= self.nodes.len() {
                return Err(self.error(problem));
            }
        }
    }

    /// Sends a call that must succeed.
    pub(crate) fn ask(&self, method: Method, path: &str, body: &Value) -> Result<Value, Error> {
        match self.call(method, path, body)? {
            (200 | 201, value) => Ok(value),
            (status, value) => Err(self.refused(status, &value)),
        }
    }

    /// Returns the error for an answer that is no success.
    pub(crate) fn refused(&self, status: u16, value: &Value) -> Error {
        self.error(format!("status {status}: {}", reason(value)))
    }

    /// Returns an error of the cluster.
    pub(crate) fn error(&self, message: String) -> Error {
        Error::Engine {
            path: self.name.clone(),
            is_damage: false,
            source: message.into(),
        }
    }

    /// Returns the name of the index, as errors have it.
    pub(crate) fn name(&self) -> PathBuf {
        self.name.clone()
    }
}

/// Returns whether a later call may have another answer.
pub(crate) fn is_passing(status: u16) -> bool {
    matches!(status, 429 | 502..=504)
}

fn cause(value: &Value) -> &Value {
    let error = value.get("error").unwrap_or(value);
    let first = error.get("root_cause").and_then(|causes| causes.get(0));
    first.unwrap_or(error)
}

/// Returns the type of the error for which a node refused something.
pub(crate) fn kind(value: &Value) -> Option<&str> {
    cause(value).get("type").and_then(Value::as_str)
}

/// Returns why a node refused something, for a message.
pub(crate) fn reason(value: &Value) -> String {
    let cause = cause(value);
    match (kind(value), cause.get("reason").and_then(Value::as_str)) {
        (Some(kind), Some(reason)) => format!("{kind}: {reason}"),
        _ => text_of(cause.to_string().as_bytes()),
    }
}

/// Returns the beginning of a body, for a message.
fn text_of(body: &[u8]) -> String {
    String::from_utf8_lossy(&body[..body.len().min(300)]).into_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    /// A node that answers after a time.
    struct Slow(Duration);

    impl Http for Slow {
        fn send(&self, _: &str, _: &Call) -> std::io::Result<Reply> {
            std::thread::sleep(self.0);
            Ok(Reply {
                status: 200,
                body: b"{}".to_vec(),
            })
        }
    }

    fn told(answers_after: Duration) -> Receiver<String> {
        let http = Arc::new(Slow(answers_after));
        let client = Client::new(http, vec!["http://a".to_owned()], "t", Patience::default());
        let (tell, told) = channel();
        let tell = Mutex::new(tell);
        let notice = move |node: &str| {
            let tell = tell.lock().unwrap_or_else(PoisonError::into_inner);
            _ = tell.send(node.to_owned());
        };
        client.notify(Duration::from_millis(300), Arc::new(notice));
        client.ask(Method::Get, "/", &Value::Null).unwrap();
        client.ask(Method::Get, "/", &Value::Null).unwrap();
        told
    }

    #[test]
    fn who_waits_is_told_for_which_node() {
        let told = told(Duration::from_millis(900));
        assert_eq!(told.iter().collect::<Vec<_>>(), ["http://a"]);
    }

    #[test]
    fn an_answer_that_comes_soon_is_no_news() {
        assert_eq!(told(Duration::ZERO).iter().count(), 0);
    }
}

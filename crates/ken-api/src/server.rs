//! Answers on a socket, and on a port of loopback.

use std::convert::Infallible;
use std::io::{self, Write};
use std::net::TcpListener as StdTcpListener;
use std::os::unix::net::UnixListener as StdUnixListener;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::Duration;

use http_body_util::{BodyExt, Either, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde::Serialize;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::time::timeout;
use tokio_io_timeout::TimeoutStream;

use crate::fair::Places;
use crate::message::ErrorBody;
use crate::route::allowed;

/// Number of connections of a socket or port at once; more wait.
const MAX_CONNECTIONS: usize = 512;
/// Bytes of the head of a request.
const MAX_HEAD: usize = 16 << 10;
/// Bytes of the body of a request at the socket.
const MAX_BODY: usize = 1 << 20;
/// The same at a port, where anybody may send it.
const MAX_BODY_AT_PORT: usize = 16 << 10;
/// The answer to a connection that is refused.
const TOO_MANY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{\"error\":\"too many connections; ask again later\"}\n";
/// Time in which a client sends the head of a request, and then its body.
const READ: Duration = Duration::from_secs(10);
/// Time in which a client takes some of what is written.
const WRITE: Duration = Duration::from_secs(30);
/// Pause after no connection could be accepted, as when all descriptors are in use.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// Where a request came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// At the socket, which only the user can reach.
    Socket,
    /// At a socket for several people.
    Shared(Peer),
    /// At a TCP port, which all users of the machine can reach.
    Port(u16),
}

/// The process at the other end of a socket, as the system names it (unix(7), `SO_PEERCRED`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The number of its user.
    pub uid: u32,
    /// The number of its group.
    pub gid: u32,
}

/// Another place where requests come in.
enum Place {
    Port(StdTcpListener),
    Shared(StdUnixListener, Box<IsProxy>),
}

/// Says whether a user of a shared socket speaks for others.
type IsProxy = dyn Fn(u32) -> bool + Send + Sync;

/// Takes each request with the reply to it. It must not wait: it runs on the thread of all connections.
type Handler = dyn Fn(Request<Bytes>, Door, Reply) + Send + Sync;

/// A server, which ends when this is dropped.
pub struct Server {
    places: Option<mpsc::UnboundedSender<Place>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.places.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already reported.
            let _ = thread.join();
        }
    }
}

impl Server {
    /// Answers connections at a port, too. Its requests come from anybody on this machine, and from any page that a
    /// browser shows: the handler must look at each one with [`Guard`](crate::Guard).
    ///
    /// # Errors
    /// Fails if the system has no means for it.
    pub fn listen(&self, port: StdTcpListener) -> io::Result<()> {
        port.set_nonblocking(true)?;
        self.also(Place::Port(port));
        Ok(())
    }

    /// Answers connections of several people at a socket, too. The handler must decide what each of them gets. A user has a
    /// quarter of the connections at most. Proxies, which speak for others, have as many as there are.
    ///
    /// # Errors
    /// Fails if the system has no means for it.
    pub fn share(
        &self,
        socket: StdUnixListener,
        is_proxy: impl Fn(u32) -> bool + Send + Sync + 'static,
    ) -> io::Result<()> {
        socket.set_nonblocking(true)?;
        self.also(Place::Shared(socket, Box::new(is_proxy)));
        Ok(())
    }

    fn also(&self, place: Place) {
        if let Some(places) = &self.places {
            // The thread takes them as long as this lives.
            let _ = places.send(place);
        }
    }
}

/// Answers connections of this user, on a thread of its own.
///
/// # Errors
/// Fails if the system has no means for it.
pub fn serve(
    listener: StdUnixListener,
    handle: impl Fn(Request<Bytes>, Door, Reply) + Send + Sync + 'static,
) -> io::Result<Server> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    let (places, mut new_places) = mpsc::unbounded_channel();
    let handler: Arc<Handler> = Arc::new(handle);
    let thread = std::thread::Builder::new().name("api".to_owned());
    let thread = thread.spawn(move || {
        runtime.block_on(async {
            tokio::spawn(accept_at_socket(listener, None, Arc::clone(&handler)));
            // Its sender is dropped to stop; the runtime then drops all connections.
            while let Some(place) = new_places.recv().await {
                let handler = Arc::clone(&handler);
                match place {
                    Place::Port(port) => tokio::spawn(accept_at_port(port, handler)),
                    Place::Shared(socket, is_proxy) => {
                        tokio::spawn(accept_at_socket(socket, Some(is_proxy), handler))
                    }
                };
            }
        });
    })?;
    Ok(Server {
        places: Some(places),
        thread: Some(thread),
    })
}

async fn accept_at_socket(
    listener: StdUnixListener,
    shared: Option<Box<IsProxy>>,
    handler: Arc<Handler>,
) {
    // It fails only outside of a runtime.
    let Ok(listener) = UnixListener::from_std(listener) else {
        return;
    };
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let of_users = Places::new(MAX_CONNECTIONS);
    loop {
        // The semaphore is never closed.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                // Who is not let in finds the connection closed.
                let Some(door) = door_of(&stream, shared.is_some()) else {
                    continue;
                };
                let is_proxy = |uid| shared.as_ref().is_some_and(|is_proxy| is_proxy(uid));
                let guest = match door {
                    Door::Shared(peer) if !is_proxy(peer.uid) => Some(peer.uid),
                    _ => None,
                };
                let Some(of_user) = of_users.take(&guest) else {
                    // What does not fit into the buffer of the socket is left out.
                    let _ = stream.try_write(TOO_MANY);
                    continue;
                };
                let handler = Arc::clone(&handler);
                tokio::spawn(async move {
                    let _places = (place, of_user);
                    connection(stream, door, handler).await;
                });
            }
            Err(_) => tokio::time::sleep(ACCEPT_AGAIN).await,
        }
    }
}

async fn accept_at_port(listener: StdTcpListener, handler: Arc<Handler>) {
    let Ok(listener) = TcpListener::from_std(listener) else {
        return;
    };
    let Ok(address) = listener.local_addr() else {
        return;
    };
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((stream, _)) => {
                // Small answers go out at once.
                let _ = stream.set_nodelay(true);
                let handler = Arc::clone(&handler);
                tokio::spawn(async move {
                    let _place = place;
                    connection(stream, Door::Port(address.port()), handler).await;
                });
            }
            Err(_) => tokio::time::sleep(ACCEPT_AGAIN).await,
        }
    }
}

/// Returns the door for the other end, if it is let in. At a socket that is not shared that is this user, or root, who can
/// read everything anyway.
fn door_of(stream: &UnixStream, is_shared: bool) -> Option<Door> {
    let peer = stream.peer_cred().ok()?;
    let (uid, gid) = (peer.uid(), peer.gid());
    let is_ours = uid == rustix::process::geteuid().as_raw() || uid == 0;
    match is_shared {
        true => Some(Door::Shared(Peer { uid, gid })),
        false => is_ours.then_some(Door::Socket),
    }
}

async fn connection(
    stream: impl AsyncRead + AsyncWrite + 'static,
    door: Door,
    handler: Arc<Handler>,
) {
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(WRITE));
    let service = service_fn(move |request| {
        let handler = Arc::clone(&handler);
        async move { Ok::<_, Infallible>(answer(request, door, &*handler).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(READ)
        .max_buf_size(MAX_HEAD);
    let connection = http.serve_connection(TokioIo::new(Box::pin(stream)), service);
    // A client that breaks off or sends nonsense has its answer by HTTP.
    let _ = connection.await;
}

type AnswerBody = Either<Full<Bytes>, StreamBody>;

async fn answer(request: Request<Incoming>, door: Door, handler: &Handler) -> Response<AnswerBody> {
    let (head, body) = request.into_parts();
    let max_body = match door {
        Door::Socket | Door::Shared(_) => MAX_BODY,
        Door::Port(_) => MAX_BODY_AT_PORT,
    };
    let too_large = || refused(413, format!("the body is larger than {max_body} bytes"));
    // It says so before it is sent.
    if body.size_hint().lower() > max_body as u64 {
        return too_large();
    }
    let body = timeout(READ, Limited::new(body, max_body).collect()).await;
    let body = match body {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => return too_large(),
        Ok(Err(_)) => return refused(400, "the body breaks off".to_owned()),
        Err(_) => return refused(408, "the body did not come in time".to_owned()),
    };
    let (to, answer) = oneshot::channel();
    let is_gone = Gone::default();
    let reply = Reply {
        to,
        is_gone: Arc::clone(&is_gone.0),
    };
    handler(Request::from_parts(head, body), door, reply);
    match answer.await {
        Ok(Answer::Whole(response)) => response.map(|body| Either::Left(body.into())),
        Ok(Answer::Pieces(response, pieces)) => response.map(|()| {
            let _is_gone = is_gone;
            Either::Right(StreamBody { pieces, _is_gone })
        }),
        Err(_) => refused(503, "ken serve ends".to_owned()),
    }
}

/// Says that the client is gone when hyper drops what waits for the answer.
#[derive(Default)]
struct Gone(Arc<AtomicBool>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn refused(status: u16, error: String) -> Response<AnswerBody> {
    json_response(status, &ErrorBody { error }).map(|body| Either::Left(body.into()))
}

fn json_response(status: u16, value: &impl Serialize) -> Response<Vec<u8>> {
    head(status).map(|()| json(value))
}

fn head(status: u16) -> Response<()> {
    let mut response = Response::new(());
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn json(value: &impl Serialize) -> Vec<u8> {
    // Messages hold nothing that JSON lacks.
    let mut text = serde_json::to_vec(value).unwrap_or_default();
    text.push(b'\n');
    text
}

enum Answer {
    Whole(Response<Vec<u8>>),
    Pieces(Response<()>, mpsc::Receiver<Bytes>),
}

/// Answers one request, from any thread.
pub struct Reply {
    to: oneshot::Sender<Answer>,
    is_gone: Arc<AtomicBool>,
}

impl Reply {
    /// Answers with an object.
    pub fn json(self, value: &impl Serialize) {
        self.whole(json_response(200, value));
    }

    /// Refuses, with a status of HTTP and a message for people.
    pub fn refuse(self, status: u16, message: &str) {
        let error = message.to_owned();
        self.whole(json_response(status, &ErrorBody { error }));
    }

    /// Refuses the method of a request to this path, and says which ones it takes.
    pub fn refuse_method(self, path: &str, message: &str) {
        let error = message.to_owned();
        let mut response = json_response(405, &ErrorBody { error });
        let allowed = allowed(path).unwrap_or("GET, HEAD, POST");
        let allowed = HeaderValue::from_static(allowed);
        response.headers_mut().insert(ALLOW, allowed);
        self.whole(response);
    }

    /// Answers with a response.
    pub fn whole(self, response: Response<Vec<u8>>) {
        // The client may be gone.
        let _ = self.to.send(Answer::Whole(response));
    }

    /// Returns whether nobody waits for the answer any more.
    pub fn is_given_up(&self) -> bool {
        self.to.is_closed()
    }

    /// Returns a flag that becomes true when nobody waits for the answer any more.
    pub fn is_gone(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_gone)
    }

    /// Answers with objects as they come, one a line.
    pub fn stream(self) -> Stream {
        let (to, lines) = mpsc::channel(STREAM);
        let mut head = head(200);
        let lines_of_json = HeaderValue::from_static("application/x-ndjson");
        head.headers_mut().insert(CONTENT_TYPE, lines_of_json);
        let _ = self.to.send(Answer::Pieces(head, lines));
        Stream(to)
    }

    /// Answers with a body that is written as it comes. A slow client makes the writer wait, at most until it has taken
    /// nothing for 30 s.
    pub fn pipe(self, head: Response<()>) -> impl Write {
        let (to, pieces) = mpsc::channel(PIPE);
        let _ = self.to.send(Answer::Pieces(head, pieces));
        io::BufWriter::with_capacity(PIECE, Pipe(to))
    }
}

/// Bytes of a piece of a body that is written as it comes, and the number of pieces that wait for a slow client.
const PIECE: usize = 16 << 10;
const PIPE: usize = 8;

struct Pipe(mpsc::Sender<Bytes>);

impl Write for Pipe {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let sent = self.0.blocking_send(Bytes::copy_from_slice(piece));
        sent.map_err(|_| io::ErrorKind::BrokenPipe)?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Number of objects that wait for a slow client: the last one, and one before it.
const STREAM: usize = 2;

/// An answer of many objects, which ends when this is dropped.
pub struct Stream(mpsc::Sender<Bytes>);

impl Stream {
    /// Sends an object that a later one replaces; a slow client misses it. Returns false if the client is gone.
    pub fn now(&self, value: &impl Serialize) -> bool {
        if self.0.capacity() == STREAM {
            let _ = self.0.try_send(json(value).into());
        }
        !self.0.is_closed()
    }

    /// Sends the last object, which no client misses.
    pub fn last(self, value: &impl Serialize) {
        // There is always a place: `now` leaves one.
        let _ = self.0.try_send(json(value).into());
    }
}

/// The pieces of a stream as a body.
struct StreamBody {
    pieces: mpsc::Receiver<Bytes>,
    _is_gone: Gone,
}

impl Body for StreamBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.pieces.poll_recv(context);
        piece.map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::sync::Mutex;

    use super::*;
    use crate::message::{Event, Figures, Fresh, Freshness, IndexWish, IsFresh};
    use crate::{Client, Error, Question, bind};

    /// Replies that a test gives later.
    type Kept = Arc<Mutex<Vec<Reply>>>;

    /// A server that says how many folders it watches, and keeps who waits.
    fn server() -> (tempfile::TempDir, std::path::PathBuf, Server, Kept) {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("ken.sock");
        let kept = Kept::default();
        let of_server = Arc::clone(&kept);
        let served = serve(
            bind(&socket).unwrap(),
            move |request, _, reply| match Question::read(
                request.method(),
                request.uri().path(),
                request.body(),
            )
            .unwrap_or_else(|| Err((404, "nothing is here".to_owned())))
            {
                Err((405, message)) => reply.refuse_method(request.uri().path(), &message),
                Err((status, message)) => reply.refuse(status, &message),
                Ok(question) => match question {
                    Question::Status => reply.json(&Freshness {
                        watched: 7,
                        ..Freshness::default()
                    }),
                    Question::Index(_) => {
                        let stream = reply.stream();
                        for files_found in 0..1_000 {
                            let figures = Figures {
                                files_found,
                                ..Figures::default()
                            };
                            stream.now(&Event::Progress(figures));
                        }
                        let message = "it broke".to_owned();
                        stream.last(&Event::Failed { message });
                    }
                    Question::Vouch(_) | Question::Web => reply.refuse(409, "not now"),
                    Question::Fresh(_) => of_server.lock().unwrap().push(reply),
                },
            },
        );
        (folder, socket, served.unwrap(), kept)
    }

    fn raw(socket: &std::path::Path, request: &[u8]) -> String {
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.write_all(request).unwrap();
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    }

    #[test]
    fn questions_are_answered_and_refused() {
        let (_folder, socket, server, _) = server();
        let client = Client::new(&socket);
        assert_eq!(client.status().unwrap().watched, 7);
        let vouch = crate::message::Vouch {
            paths: Vec::new(),
            global_ignore: None,
        };
        let refused = client.vouch(&vouch, READ).unwrap_err();
        assert!(
            matches!(refused, Error::Refused { status: 409, .. }),
            "{refused:?}"
        );
        let mut events = client.index(&IndexWish::default()).unwrap();
        let mut all = Vec::new();
        while let Some(event) = events.next_event().unwrap() {
            all.push(event);
        }
        let message = "it broke".to_owned();
        assert_eq!(all.last(), Some(&Event::Failed { message }));
        assert!(
            all.len() <= STREAM,
            "{} events were kept for a slow client",
            all.len()
        );
        drop(server);
        assert!(matches!(client.status(), Err(Error::Silent(_))));
    }

    #[test]
    fn one_user_of_a_shared_socket_leaves_connections_to_others() {
        let folder = tempfile::tempdir().unwrap();
        let answer = |_: Request<Bytes>, _, reply: Reply| reply.json(&"yes");
        let server = serve(bind(&folder.path().join("own")).unwrap(), answer).unwrap();
        for (name, is_proxy) in [("people", false), ("proxy", true)] {
            let socket = folder.path().join(name);
            server
                .share(bind(&socket).unwrap(), move |_| is_proxy)
                .unwrap();
            let ask = || raw(&socket, b"GET / HTTP/1.0\r\n\r\n");
            let mut held: Vec<UnixStream> = (0..MAX_CONNECTIONS / 4)
                .map(|_| UnixStream::connect(&socket).unwrap())
                .collect();
            let answer = ask();
            let status = if is_proxy { "200" } else { "503" };
            assert_eq!(answer.split(' ').nth(1), Some(status), "{answer}");
            let other = raw(&folder.path().join("own"), b"GET / HTTP/1.0\r\n\r\n");
            assert!(other.contains("yes"), "{other}");
            held.pop();
            // The server has not seen it yet.
            while !ask().contains("yes") {}
        }
    }

    #[test]
    fn nonsense_has_an_error_and_harms_nobody() {
        let (_folder, socket, _server, _) = server();
        for (request, status) in [
            (&b"GET / HTTP/1.0\r\n\r\n"[..], "404"),
            (
                b"POST /api/v1/fresh HTTP/1.0\r\nContent-Length: 1\r\n\r\n{",
                "400",
            ),
            (b"\0\x01\x02\r\n\r\n", "400"),
            (
                b"POST /api/v1/fresh HTTP/1.0\r\nContent-Length: 9999999\r\n\r\n",
                "413",
            ),
        ] {
            let answer = raw(&socket, request);
            assert_eq!(answer.split(' ').nth(1), Some(status), "{answer}");
        }
        let answer = raw(&socket, b"GET /api/v1/fresh HTTP/1.0\r\n\r\n");
        assert!(answer.contains("\r\nallow: POST\r\n"), "{answer}");
        let answer = raw(&socket, b"HEAD /api/v1/status HTTP/1.0\r\n\r\n");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(" 200 ") && body.is_empty(), "{answer}");
        assert!(
            head.contains("\r\nx-content-type-options: nosniff"),
            "{answer}"
        );
        let index = b"POST /api/v1/index HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}";
        let answer = raw(&socket, index);
        assert!(answer.contains("application/x-ndjson"), "{answer}");
        let large = [
            b"GET /",
            &b"x".repeat(2 * MAX_HEAD)[..],
            b" HTTP/1.0\r\n\r\n",
        ]
        .concat();
        assert!(!raw(&socket, &large).contains("200"));
        assert_eq!(Client::new(&socket).status().unwrap().watched, 7);
    }

    #[test]
    fn many_clients_that_wait_and_do_not_read_hold_nobody() {
        let (_folder, socket, _server, kept) = server();
        let body = r#"{"seconds":60}"#;
        let length = body.len();
        let request =
            format!("POST /api/v1/fresh HTTP/1.0\r\nContent-Length: {length}\r\n\r\n{body}");
        let mut waiting: Vec<UnixStream> = (0..500)
            .map(|_| {
                let mut stream = UnixStream::connect(&socket).unwrap();
                stream.write_all(request.as_bytes()).unwrap();
                stream
            })
            .collect();
        let client = Client::new(&socket);
        assert_eq!(client.status().unwrap().watched, 7);
        // Half of them go before there is an answer.
        let gone = waiting.split_off(250);
        drop(gone);
        while kept.lock().unwrap().len() < 500 {
            std::thread::sleep(Duration::from_millis(5));
        }
        let replies = std::mem::take(&mut *kept.lock().unwrap());
        replies
            .into_iter()
            .for_each(|reply| reply.json(&IsFresh { seconds: 1.0 }));
        for mut stream in waiting {
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            assert!(answer.ends_with("{\"seconds\":1.0}\n"), "{answer}");
        }
    }

    #[test]
    fn a_server_that_ends_says_so_to_who_waits() {
        let (_folder, socket, server, kept) = server();
        let waiting = std::thread::spawn(move || {
            Client::new(&socket).fresh(&Fresh {
                seconds: 60.0,
                ..Fresh::default()
            })
        });
        while kept.lock().unwrap().is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        kept.lock().unwrap().clear();
        let refused = waiting.join().unwrap().unwrap_err();
        assert!(
            matches!(refused, Error::Refused { status: 503, .. }),
            "{refused:?}"
        );
        drop(server);
    }
}

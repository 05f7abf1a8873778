//! A worker whose parser was taken over, for tests: it does what the name of its file says.

use std::os::fd::AsFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use ken_core::{Document, Ipath, Kind};
use ken_extract::{Input, Limits, Member, Sink, worker};

/// Number of files that this process was asked for.
static SERVED: AtomicU64 = AtomicU64::new(0);
/// Memory that the worker never frees.
static KEPT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

#[allow(clippy::disallowed_methods, clippy::exit, clippy::print_stderr)] // what it does without asking anybody
fn obey(input: &mut Input<'_>, limits: &Limits, sink: &mut dyn Sink) {
    let child = |name: &str| input.ipath.child(name);
    let part = |ipath| Document::new(ipath, "text/plain", Kind::Document);
    let member = |name: &str| Member {
        ipath: child(name),
        name: name.to_owned(),
        bytes: b"stoat".to_vec(),
        ..Member::default()
    };
    let n_served = SERVED.fetch_add(1, Ordering::Relaxed) + 1;
    match input.name.as_str() {
        "served" => {
            let mut document = part(Ipath::root());
            document.body = n_served.to_string();
            sink.document(document);
        }
        "leak" => {
            KEPT.lock().expect("one thread").resize(160 << 20, 1);
            ken_extract::extract(input, limits, sink);
        }
        "hang" => loop {
            std::hint::spin_loop();
        },
        "abort" => std::process::abort(),
        "panic" => panic!("a worker's last words"),
        "mutter" => {
            for n in 0..1000 {
                eprintln!("panic {n} of an earlier file, which was caught");
            }
            ken_extract::extract(input, limits, sink);
        }
        "exit" => std::process::exit(0),
        "allocate" => drop(std::hint::black_box(vec![1_u8; 8 << 30])),
        "open" => drop(std::fs::File::open("/etc/passwd")),
        "look" => drop(std::fs::metadata("/etc/passwd")),
        "connect" => drop(std::net::TcpStream::connect("127.0.0.1:9")),
        "datagram" => drop(std::os::unix::net::UnixDatagram::unbound()),
        "execute" => drop(std::process::Command::new("/bin/true").spawn()),
        "thread" => drop(std::thread::Builder::new().spawn(|| ())),
        "kill" => drop(rustix::process::kill_process(
            rustix::process::Pid::INIT,
            rustix::process::Signal::CONT,
        )),
        "garbage" => {
            let noise = [0xa5; 4096];
            // Standard input is the socket.
            let _ = rustix::io::write(std::io::stdin().as_fd(), &noise);
        }
        "huge" => {
            let mut document = part(child("huge"));
            document.body = "x".repeat(limits.max_text_bytes.max(64 << 20) + 1);
            sink.document(document);
        }
        "escape" => sink.document(part(Ipath::root().child("elsewhere"))),
        "itself" => sink.document(part(Ipath::root())),
        "flood" => {
            for n in 0..u64::MAX {
                sink.member(member(&n.to_string()));
            }
        }
        "bomb" => {
            for n in 0..1000 {
                sink.member(Member {
                    bytes: vec![b'a'; 1 << 20],
                    ..member(&n.to_string())
                });
            }
            ken_extract::extract(input, limits, sink);
        }
        "members-then-abort" => {
            for n in 0..3 {
                sink.member(member(&format!("{n}.txt")));
            }
            // Collected output is sent once there is enough of it.
            sink.document(Document {
                body: "x".repeat(100_000),
                ..part(child("large"))
            });
            std::process::abort();
        }
        _ => ken_extract::extract(input, limits, sink),
    }
}

fn main() -> std::io::Result<()> {
    worker::serve(std::io::stdin().as_fd().try_clone_to_owned()?, obey)
}

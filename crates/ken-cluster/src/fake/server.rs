//! The fake behind HTTP on this machine, for tests of the whole program.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use super::Fake;
use crate::http::{Call, Http, Method};

/// A server that answers until the process ends.
pub struct Server {
    address: SocketAddr,
}

impl Server {
    /// Starts a server. Calls must have this value in the header `authorization`, if there is one.
    ///
    /// # Errors
    /// Fails if no port is free.
    pub fn start(fake: &Arc<Fake>, authorization: Option<&str>) -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let (fake, authorization) = (Arc::clone(fake), authorization.map(str::to_owned));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (fake, authorization) = (Arc::clone(&fake), authorization.clone());
                std::thread::spawn(move || {
                    // A client that goes away ends its thread.
                    let _ = serve(&stream, &fake, authorization.as_deref());
                });
            }
        });
        Ok(Self { address })
    }

    /// Returns the address, as the settings name a node.
    pub fn node(&self) -> String {
        format!("http://{}", self.address)
    }
}

fn serve(stream: &TcpStream, fake: &Fake, authorization: Option<&str>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    while let Some((call, given)) = read(&mut reader)? {
        let (status, body) = match authorization.is_none() || given.as_deref() == authorization {
            true => {
                let reply = fake.send("http", &call)?;
                (reply.status, reply.body)
            }
            false => (401, b"no right".to_vec()),
        };
        let head = format!(
            "HTTP/1.1 {status} -\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let mut stream = stream;
        stream.write_all(&[head.as_bytes(), &body].concat())?;
    }
    Ok(())
}

/// Reads a call, and its header `authorization`; none at the end of the connection.
fn read(reader: &mut impl BufRead) -> io::Result<Option<(Call, Option<String>)>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split(' ');
    let method = match words.next() {
        Some("GET") => Method::Get,
        Some("PUT") => Method::Put,
        Some("DELETE") => Method::Delete,
        _ => Method::Post,
    };
    let path = words.next().unwrap_or_default().to_owned();
    let (mut length, mut authorization) = (0, None);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().unwrap_or(0),
            "authorization" => authorization = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let call = Call {
        method,
        path,
        body,
        is_lines: false,
        within: crate::http::ANSWER,
    };
    Ok(Some((call, authorization)))
}

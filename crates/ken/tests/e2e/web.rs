//! `ken web`, and who gets what at the port.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::serve::{Server, world};
use crate::world::World;

/// Where a browser finds ken.
pub(crate) struct Page {
    pub(crate) host: String,
    pub(crate) folder: String,
    pub(crate) token: String,
}

/// Returns where `ken web` says that the page is.
pub(crate) fn page(world: &World) -> Page {
    let run = world.ken(["web", "--print"]);
    assert!(run.err.is_empty(), "{}", run.err);
    let address = run.text().trim();
    let (page, token) = address.split_once("#t=").unwrap();
    let (host, folder) = page
        .strip_prefix("http://")
        .and_then(|rest| rest.split_once('/'))
        .unwrap();
    Page {
        host: host.to_owned(),
        folder: format!("/{}", folder.trim_end_matches('/')),
        token: token.to_owned(),
    }
}

impl Page {
    /// Sends a request with these headers, and returns the status, the head and the body of the answer.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[&str]) -> (u16, String, String) {
        let has_host = headers.iter().any(|header| header.starts_with("Host: "));
        let host = match has_host {
            true => String::new(),
            false => format!("Host: {}\r\n", self.host),
        };
        let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        let mut stream = TcpStream::connect(&self.host).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\n{host}{headers}Connection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), body.to_owned())
    }

    /// Asks as a program of the user.
    pub(crate) fn json(&self, path: &str) -> (u16, Value) {
        let bearer = format!("Authorization: Bearer {}", self.token);
        let (status, _, body) = self.ask("GET", path, &[&bearer]);
        (status, serde_json::from_str(&body).unwrap())
    }
}

#[test]
fn a_port_answers_its_user_only() {
    let world = world();
    world.write("a.txt", "melon");
    let _server = Server::start(&world);
    let page = page(&world);
    world.ken(["search", "--fresh", "melon", "-c"]);
    let search = "/api/v1/search?q=melon";
    let (status, found) = page.json(search);
    assert_eq!((status, &found["total"]), (200, &Value::from(1)));
    // By a cookie below the folder, and by an address for programs that can only be given one.
    let cookie = format!("Cookie: ken={}", page.token);
    let below = format!("{}{search}", page.folder);
    let by_address = format!("/{}{search}", page.token);
    assert_eq!(page.ask("GET", &below, &[&cookie]).0, 200);
    assert_eq!(page.ask("GET", &by_address, &[]).0, 200);

    let wrong = format!("Cookie: ken={}", "0".repeat(32));
    let rebound = format!(
        "Host: evil.example:{}",
        page.host.split(':').nth(1).unwrap()
    );
    for (method, path, headers, status) in [
        ("GET", search, &[][..], 401),
        ("GET", search, &[cookie.as_str()], 401),
        ("GET", &below, &[], 401),
        ("GET", &below, &[&wrong], 401),
        ("GET", &below, &[&cookie, &rebound], 403),
        (
            "GET",
            &below,
            &[&cookie, "Origin: http://evil.example"],
            403,
        ),
        ("GET", &below, &[&cookie, "Sec-Fetch-Site: cross-site"], 403),
        (
            "OPTIONS",
            &below,
            &[&cookie, "Origin: http://evil.example"],
            405,
        ),
        ("POST", "/api/v1/web", &[], 401),
    ] {
        let (answered, head, body) = page.ask(method, path, headers);
        assert_eq!(answered, status, "{method} {path} {headers:?}");
        assert!(!body.contains("a.txt"), "{body}");
        assert!(!head.to_lowercase().contains("access-control"), "{head}");
    }
}

#[test]
fn a_port_stays_the_same_and_its_token_is_private() {
    let world = world();
    let server = Server::start(&world);
    let first = page(&world);
    let again = page(&world);
    assert_eq!((&first.host, &first.token), (&again.host, &again.token));
    let file = world.data().join("web.json");
    let mode = fs_err::metadata(file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    server.end();
    // A bookmark works before anybody asks for the page.
    let _server = Server::start(&world);
    assert_eq!(first.json("/api/v1/status").0, 200);
    assert_eq!(page(&world).token, first.token);
}

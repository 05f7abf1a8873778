//! Who may ask at a port?
//!
//! A port of loopback is open to all users of the machine, and to every page that a browser shows. So each request must
//! prove that it comes from the user: by a token of 128 bits, in a cookie or a header. And it must prove that no foreign
//! page sent it: by its `Host` (against DNS rebinding), by `Origin` and `Sec-Fetch-Site` (against cross-site requests).
//!
//! A browser sends the cookies of `127.0.0.1` to all ports of it, also to that of another user. So the cookie holds for
//! one path only, which nobody else knows: everything that a browser sees lies below that path.
//!
//! At an address that other machines reach, the same holds. There a user without the token gets the page that asks for the
//! password, and nothing else.

use std::net::{IpAddr, SocketAddr};

use hyper::body::Bytes;
use hyper::header::{AUTHORIZATION, COOKIE, HOST, HeaderMap, ORIGIN};
use hyper::{Method, Request};
use serde::{Deserialize, Serialize};

use crate::route::Refusal;

/// The name of the cookie with the token.
const COOKIE_NAME: &str = "ken";
/// Seconds for which a browser keeps the cookie: a year.
const COOKIE_SECONDS: u32 = 365 * 24 * 60 * 60;

/// What the user knows, and nobody else: in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret {
    /// The token: 128 bits.
    pub token: String,
    /// The name of the folder in addresses below which the cookie holds: 64 bits.
    pub folder: String,
}

impl Secret {
    /// Returns a new secret.
    ///
    /// # Errors
    /// Fails if the system has no random numbers.
    pub fn new() -> std::io::Result<Self> {
        let mut bytes = [0; 24];
        let n = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
        if n != bytes.len() {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let (token, folder) = digits.split_at(32);
        Ok(Self {
            token: token.to_owned(),
            folder: folder.to_owned(),
        })
    }

    /// Returns whether a text is the token. The time does not depend on where they differ.
    pub fn is_token(&self, text: &str) -> bool {
        let differ = text.bytes().zip(self.token.bytes());
        let differ = differ.fold(0, |differ, (one, other)| differ | (one ^ other));
        text.len() == self.token.len() && differ == 0
    }

    /// Returns the header that makes a browser keep the token. A browser that came by TLS, through a proxy, never sends it
    /// without (RFC 6265, section 4.1.2.5).
    pub fn set_cookie(&self, by_tls: bool) -> String {
        let secure = if by_tls { "; Secure" } else { "" };
        self.cookie(&self.token, COOKIE_SECONDS) + secure
    }

    /// Returns the header that makes a browser forget the token.
    pub fn clear_cookie(&self) -> String {
        self.cookie("", 0)
    }

    fn cookie(&self, value: &str, seconds: u32) -> String {
        let folder = &self.folder;
        format!(
            "{COOKIE_NAME}={value}; Path=/{folder}/; HttpOnly; SameSite=Strict; Max-Age={seconds}"
        )
    }
}

/// Looks at each request that comes in at a port.
#[derive(Clone, Debug)]
pub struct Guard {
    secret: Secret,
    hosts: Hosts,
}

/// The values of `Host` with which ken is reached.
#[derive(Clone, Debug)]
enum Hosts {
    /// Only one. Another name of loopback may lead to another user's program.
    Loopback(String),
    /// This port of any address in digits, to which no foreign name leads, and the names that the user gave.
    Outer { port: u16, names: Vec<String> },
}

impl Hosts {
    fn have(&self, host: &str) -> bool {
        match self {
            Self::Loopback(own) => own == host,
            Self::Outer { port, names } => {
                let address = host.parse::<SocketAddr>();
                // Browsers leave out the usual port.
                let bare = host.trim_start_matches('[').trim_end_matches(']');
                let is_bare = *port == 80 && bare.parse::<IpAddr>().is_ok();
                // A proxy with TLS has a port of its own.
                let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
                is_bare
                    || address.is_ok_and(|address| address.port() == *port)
                    || names.iter().any(|own| own.eq_ignore_ascii_case(name))
            }
        }
    }

    /// Returns whether an origin is a page of the host.
    fn has_page(&self, origin: &str, host: &str) -> bool {
        let plain = origin.strip_prefix("http://");
        let encrypted = || match self {
            Self::Loopback(_) => None,
            Self::Outer { .. } => origin.strip_prefix("https://"),
        };
        plain.or_else(encrypted) == Some(host)
    }
}

/// A request that may be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The path that it asks for, without what leads to ken.
    pub path: String,
    /// Whether it comes from the user. If not, it gets only what holds nothing of the user's.
    pub is_known: bool,
}

impl Guard {
    /// Returns a guard for a port of loopback.
    pub fn new(secret: Secret, port: u16) -> Self {
        Self {
            secret,
            hosts: Hosts::Loopback(format!("127.0.0.1:{port}")),
        }
    }

    /// Returns a guard for a port that other machines reach, by an address or by these names.
    pub fn outer(secret: Secret, port: u16, names: Vec<String>) -> Self {
        Self {
            secret,
            hosts: Hosts::Outer { port, names },
        }
    }

    /// Returns what lets the user in.
    pub fn secret(&self) -> &Secret {
        &self.secret
    }

    /// Decides whether a request may be answered.
    ///
    /// # Errors
    /// Refuses requests for other hosts, and those that a foreign page sent.
    pub fn look(&self, request: &Request<Bytes>) -> Result<Passed, Refusal> {
        let headers = request.headers();
        let Some(host) = text(headers, HOST.as_str()).filter(|host| self.hosts.have(host)) else {
            return Err((403, "ken does not answer at this address".to_owned()));
        };
        let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
        if !is_reading && request.method() != Method::POST {
            return Err((405, "ken takes GET, HEAD and POST".to_owned()));
        }
        let is_own_page =
            text(headers, ORIGIN.as_str()).is_none_or(|origin| self.hosts.has_page(origin, host));
        // Only what the user opens (typed, bookmarked, a keyword) or an own page asks for.
        let is_own_request = match text(headers, "sec-fetch-site") {
            None | Some("same-origin" | "none") => true,
            Some(_) => is_reading && text(headers, "sec-fetch-mode") == Some("navigate"),
        };
        if !is_own_page || !is_own_request || headers.get_all(HOST).iter().count() > 1 {
            return Err((403, "another page sent this request".to_owned()));
        }
        self.admit(request, is_reading)
    }

    fn admit(&self, request: &Request<Bytes>, is_reading: bool) -> Result<Passed, Refusal> {
        let path = request.uri().path();
        let known = |path: &str| Passed {
            path: path.to_owned(),
            is_known: true,
        };
        if let Some(path) = below(path, &self.secret.folder) {
            let is_known = cookies(request.headers()).any(|value| self.secret.is_token(value));
            return Ok(Passed {
                is_known: is_known || self.has_token(request.headers()),
                ..known(path)
            });
        }
        if self.has_token(request.headers()) {
            return Ok(known(path));
        }
        // For programs that can only be given an address. One without a path has none to give.
        let (first, rest) = path
            .strip_prefix('/')
            .unwrap_or_default()
            .split_once('/')
            .unwrap_or_default();
        if is_reading && self.secret.is_token(first) {
            return Ok(known(&format!("/{rest}")));
        }
        if matches!(self.hosts, Hosts::Outer { .. }) && asks_for_password(path) {
            return Ok(Passed {
                is_known: false,
                ..known(path)
            });
        }
        Err((401, "ken web prints the address to open".to_owned()))
    }

    fn has_token(&self, headers: &HeaderMap) -> bool {
        let value = text(headers, AUTHORIZATION.as_str());
        let token = value.and_then(|value| value.strip_prefix("Bearer "));
        token.is_some_and(|token| self.secret.is_token(token))
    }
}

/// Returns whether a path belongs to the page that asks for the password.
fn asks_for_password(path: &str) -> bool {
    ["/", "/login"].contains(&path) || path.starts_with("/assets/")
}

/// Returns what follows the first folder of a path, with its slash, if that folder has this name.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let rest = path.strip_prefix('/')?.strip_prefix(folder)?;
    rest.starts_with('/').then_some(rest)
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Returns the values of ken's cookie; a browser may have several, of other paths.
fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(COOKIE).iter();
    let pairs = all.filter_map(|value| value.to_str().ok());
    let pairs = pairs.flat_map(|value| value.split(';'));
    pairs.filter_map(|pair| pair.trim().strip_prefix(COOKIE_NAME)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard() -> Guard {
        let secret = Secret {
            token: "0123456789abcdef0123456789abcdef".to_owned(),
            folder: "fedcba9876543210".to_owned(),
        };
        Guard::new(secret, 8080)
    }

    const COOKIE: &str = "cookie: a=b; ken=0123456789abcdef0123456789abcdef";
    const BEARER: &str = "authorization: Bearer 0123456789abcdef0123456789abcdef";
    const HOST: &str = "host: 127.0.0.1:8080";

    fn look(method: &str, path: &str, headers: &[&str]) -> Result<(String, bool), u16> {
        let mut request = Request::builder().method(method).uri(path);
        for header in headers {
            let (name, value) = header.split_once(": ").unwrap();
            request = request.header(name, value);
        }
        let passed = guard().look(&request.body(Bytes::new()).unwrap());
        passed
            .map(|passed| (passed.path, passed.is_known))
            .map_err(|(status, _)| status)
    }

    #[test]
    fn the_user_passes_by_cookie_header_and_address() {
        for (method, path, headers, passed) in [
            ("GET", "/fedcba9876543210/", &[HOST, COOKIE][..], "/"),
            (
                "POST",
                "/fedcba9876543210/api/v1/pause",
                &[HOST, COOKIE],
                "/api/v1/pause",
            ),
            (
                "GET",
                "/api/v1/search?q=a",
                &[HOST, BEARER],
                "/api/v1/search",
            ),
            (
                "GET",
                "/0123456789abcdef0123456789abcdef/json?query=a",
                &[HOST],
                "/json",
            ),
        ] {
            let known = Ok((passed.to_owned(), true));
            assert_eq!(look(method, path, headers), known, "{method} {path}");
        }
    }

    #[test]
    fn a_cookie_that_came_by_tls_goes_by_tls_only() {
        let secret = guard().secret().clone();
        assert!(!secret.set_cookie(false).contains("Secure"));
        assert!(secret.set_cookie(true).ends_with("; Secure"));
    }

    #[test]
    fn others_get_nothing() {
        let folder = "/fedcba9876543210/";
        for (path, headers, status) in [
            ("/", &[HOST][..], 401),
            ("/api/v1/search", &[HOST], 401),
            // The cookie holds below its folder only.
            ("/api/v1/search", &[HOST, COOKIE], 401),
            ("/fedcba98765432100/", &[HOST, COOKIE], 401),
            ("/fedcba9876543210", &[HOST, COOKIE], 401),
            ("/0123456789abcdef0123456789abcde0/json", &[HOST], 401),
            (
                "/api",
                &[
                    HOST,
                    "authorization: Bearer 0123456789abcdef0123456789abcdef0",
                ],
                401,
            ),
            // Other names for this machine.
            (folder, &["host: evil.example:8080", COOKIE], 403),
            (folder, &["host: 127.0.0.1:8081", COOKIE], 403),
            (folder, &["host: localhost:8080", COOKIE], 403),
            (folder, &["host: 127.0.0.1", COOKIE], 403),
            (folder, &[COOKIE], 403),
            (folder, &[HOST, "host: evil.example", COOKIE], 403),
            // Foreign pages.
            (folder, &[HOST, COOKIE, "origin: http://evil.example"], 403),
            (
                folder,
                &[HOST, COOKIE, "origin: http://127.0.0.1:8081"],
                403,
            ),
            (folder, &[HOST, COOKIE, "origin: null"], 403),
            (folder, &[HOST, COOKIE, "sec-fetch-site: cross-site"], 403),
            (
                folder,
                &[
                    HOST,
                    COOKIE,
                    "sec-fetch-site: same-site",
                    "sec-fetch-mode: no-cors",
                ],
                403,
            ),
        ] {
            assert_eq!(
                look("GET", path, headers),
                Err(status),
                "{path} {headers:?}"
            );
        }
        assert_eq!(look("GET", folder, &[HOST]), Ok(("/".to_owned(), false)));
        // An address without a path, as a proxy is asked.
        assert_eq!(look("GET", "localhost:8080", &[HOST]), Err(401));
        assert_eq!(look("DELETE", folder, &[HOST, COOKIE]), Err(405));
        let token = "/0123456789abcdef0123456789abcdef/api/v1/pause";
        assert_eq!(look("POST", token, &[HOST]), Err(401));
        let navigates = [
            "sec-fetch-site: cross-site",
            "sec-fetch-mode: navigate",
            HOST,
        ];
        assert_eq!(look("POST", folder, &navigates), Err(403));
    }

    #[test]
    fn an_outer_port_asks_everybody_for_the_password() {
        let guard = Guard::outer(
            guard().secret().clone(),
            8723,
            vec!["nas.example".to_owned()],
        );
        let look = |method: &str, path: &str, headers: &[&str]| {
            let mut request = Request::builder().method(method).uri(path);
            for header in headers {
                let (name, value) = header.split_once(": ").unwrap();
                request = request.header(name, value);
            }
            let passed = guard.look(&request.body(Bytes::new()).unwrap());
            passed
                .map(|passed| passed.is_known)
                .map_err(|(status, _)| status)
        };
        let inside = "/fedcba9876543210/";
        for (path, headers, passed) in [
            ("/", &["host: 192.168.1.2:8723"][..], Ok(false)),
            ("/login", &["host: [fd00::1]:8723"], Ok(false)),
            ("/assets/app.js", &["host: nas.example"], Ok(false)),
            (inside, &["host: 192.168.1.2:8723", COOKIE], Ok(true)),
            (
                inside,
                &[
                    "host: NAS.example:443",
                    COOKIE,
                    "origin: https://NAS.example:443",
                ],
                Ok(true),
            ),
            (
                "/api/v1/search",
                &["host: 192.168.1.2:8723", BEARER],
                Ok(true),
            ),
            ("/api/v1/search", &["host: 192.168.1.2:8723"], Err(401)),
            ("/status", &["host: 192.168.1.2:8723"], Err(401)),
            // A name that leads here by rebinding.
            (inside, &["host: evil.example:8723", COOKIE], Err(403)),
            (inside, &["host: 192.168.1.2:80", COOKIE], Err(403)),
            (
                inside,
                &[
                    "host: 192.168.1.2:8723",
                    COOKIE,
                    "origin: http://evil.example",
                ],
                Err(403),
            ),
            (
                inside,
                &["host: nas.example", COOKIE, "sec-fetch-site: cross-site"],
                Err(403),
            ),
        ] {
            assert_eq!(look("GET", path, headers), passed, "{path} {headers:?}");
        }
    }

    #[test]
    fn the_usual_port_is_left_out() {
        let hosts = |port| Hosts::Outer {
            port,
            names: Vec::new(),
        };
        for host in ["192.168.1.2", "[fd00::1]", "192.168.1.2:80"] {
            assert!(hosts(80).have(host), "{host}");
            assert!(!hosts(8723).have(host), "{host}");
        }
        assert!(!hosts(80).have("evil.example"));
    }

    #[test]
    fn secrets_differ() {
        let (one, other) = (Secret::new().unwrap(), Secret::new().unwrap());
        assert_ne!(one.token, other.token);
        assert_eq!((one.token.len(), one.folder.len()), (32, 16));
        assert!(one.is_token(&one.token) && !one.is_token(&other.token));
        assert!(!one.is_token("") && !one.is_token(&one.token[1..]));
    }
}

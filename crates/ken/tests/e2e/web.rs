//! `ken web`, and who gets what at the port.

use std::io::{BufRead, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::needs;
use crate::samples::pdf;
use crate::serve::{Server, world};
use crate::world::{Run, World};

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
    Page::at(run.text().trim())
}

impl Page {
    fn at(address: &str) -> Self {
        let (page, token) = address.split_once("#t=").unwrap();
        let (host, folder) = page
            .strip_prefix("http://")
            .and_then(|rest| rest.split_once('/'))
            .unwrap();
        Self {
            host: host.to_owned(),
            folder: format!("/{}", folder.trim_end_matches('/')),
            token: token.to_owned(),
        }
    }

    /// Sends a request with these headers, and returns the status, the head and the body of the answer.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[&str]) -> (u16, String, String) {
        self.ask_with(method, path, headers, "")
    }

    /// Sends a request with a body, whose length is among the headers.
    pub(crate) fn ask_with(
        &self,
        method: &str,
        path: &str,
        headers: &[&str],
        body: &str,
    ) -> (u16, String, String) {
        let has_host = headers.iter().any(|header| header.starts_with("Host: "));
        let host = match has_host {
            true => String::new(),
            false => format!("Host: {}\r\n", self.host),
        };
        let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        let mut stream = TcpStream::connect(&self.host).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\n{host}{headers}Connection: close\r\n\r\n{body}"
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
fn the_page_needs_no_server_that_runs_already() {
    let world = world();
    let mut child = world.spawn(["web", "--print"]);
    let mut line = String::new();
    let printed = child.stdout.as_mut().unwrap();
    std::io::BufReader::new(printed)
        .read_line(&mut line)
        .unwrap();
    let page = Page::at(line.trim());
    assert_eq!(page.json("/api/v1/search?q=apples").1["total"], 2);
    let pid = child.id().to_string();
    std::process::Command::new("kill")
        .args(["-INT", &pid])
        .status()
        .unwrap();
    let run = Run::of_child(child);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("until Ctrl-C"), "{}", run.err);
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

const MAIL: &str = "From: Anna <anna@example.org>\r\nTo: ben@example.org\r\nSubject: Melons\r\n\
    Message-ID: <1@example.org>\r\nDate: Mon, 05 Jan 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\n\
    Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\n\
    The list is attached.\r\n--x\r\nContent-Type: text/plain\r\n\
    Content-Disposition: attachment; filename=list.txt\r\n\r\ncanteloupe\r\n--x--\r\n";

/// A server of a few documents, and where it answers.
fn served(world: &World) -> (Server<'_>, Page) {
    world.write("fruit.txt", "one quince\ntwo melons\nthree melons\n");
    world.write("melons.eml", MAIL);
    world.index_docs();
    let server = Server::start(world);
    let page = page(world);
    world.ken(["search", "--fresh", "x", "-c"]);
    (server, page)
}

/// Returns the only hit of a query.
fn hit(page: &Page, query: &str) -> Value {
    let (status, found) = page.json(&format!("/api/v1/search?q={query}"));
    assert_eq!(status, 200, "{found}");
    assert_eq!(found["total"], 1, "{found}");
    found["hits"][0].clone()
}

#[test]
fn a_document_is_read_by_its_identifier() {
    let world = world();
    let (_server, page) = served(&world);
    let found = hit(&page, "quince");
    let id = found["id"].as_str().unwrap();
    assert!(!id.contains("fruit"), "{id}");
    let get = |rest: &str| page.json(&format!("/api/v1/documents/{id}{rest}"));

    let (_, document) = get("");
    assert_eq!(document["path"], found["path"]);
    assert_eq!(
        (&document["n_lines"], &document["n_pages"]),
        (&3.into(), &1.into())
    );
    let (_, text) = get("/text?lines=2-2");
    assert_eq!(
        (text["text"].as_str().unwrap(), &text["first_line"]),
        ("two melons\n", &2.into())
    );
    let (_, places) = get("/places?q=melons");
    // Both lines are one passage.
    let place = &places["places"][0];
    assert_eq!(
        (&place["line"], &place["highlights"][1][0]),
        (&2.into(), &28.into())
    );

    let bearer = format!("Authorization: Bearer {}", page.token);
    let original = format!("/api/v1/documents/{id}/original");
    let (status, head, body) = page.ask("GET", &original, &[&bearer]);
    assert_eq!(
        (status, body.as_str()),
        (200, "one quince\ntwo melons\nthree melons\n")
    );
    let head = head.to_lowercase();
    for line in [
        "content-disposition: attachment",
        "nosniff",
        "content-security-policy: default-src 'none'; sandbox",
    ] {
        assert!(head.contains(line), "{head}");
    }
    // A member, and a file that is a link now.
    let member = hit(&page, "canteloupe");
    let of_member = format!(
        "/api/v1/documents/{}/original",
        member["id"].as_str().unwrap()
    );
    assert_eq!(
        page.ask("GET", &of_member, &[&bearer]).2.trim(),
        "canteloupe"
    );
    world.write("../secret", "one quince\ntwo melons\nthree melons\n");
    fs_err::remove_file(world.docs().join("fruit.txt")).unwrap();
    std::os::unix::fs::symlink("../secret", world.docs().join("fruit.txt")).unwrap();
    let (status, _, body) = page.ask("GET", &original, &[&bearer]);
    assert!(status == 410 || status == 404, "{status} {body}");
    for wrong in [
        "0123456789abcdef",
        "fruit.txt",
        "..%2f..%2fetc%2fpasswd",
        "x",
    ] {
        assert_eq!(
            page.json(&format!("/api/v1/documents/{wrong}")).0,
            404,
            "{wrong}"
        );
    }
}

#[test]
fn programs_ask_in_many_ways() {
    let world = world();
    let (_server, page) = served(&world);
    let ok = |path: &str| {
        let (status, answer) = page.json(&format!("/api/v1/{path}"));
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    };
    let found = ok("search?q=melons&facet=type&limit=1&filter=ext:txt");
    assert_eq!(found["facets"][0]["values"][0]["value"], "document");
    assert_eq!(
        ok(&format!("search?q=melons&commit={}", found["commit"]))["commit"],
        found["commit"]
    );
    assert_eq!(ok("threads?q=melons")["threads"][0]["subject"], "Melons");
    assert_eq!(
        ok("contacts?pattern=anna")["contacts"][0]["address"],
        "anna@example.org"
    );
    assert_eq!(
        ok("terms?q=melon*&field=body")["terms"][0]["term"],
        "melons"
    );
    assert_eq!(
        ok("complete?prefix=cantel")["terms"][0]["term"],
        "canteloupe"
    );
    assert_eq!(ok("tags")["tags"], serde_json::json!([]));
    assert!(ok("overview")["documents"].as_u64().unwrap() > 2);
    assert_eq!(ok("openapi.json")["openapi"], "3.1.0");
    for (path, status) in [
        ("search?nothing=1", 400),
        ("search?limit=x", 400),
        ("search?q=a&commit=9999", 410),
        ("search?q=%22a&reading=operators", 400),
        ("contacts?pattern=(", 400),
        ("pause", 405),
        ("nothing", 404),
    ] {
        let (answered, answer) = page.json(&format!("/api/v1/{path}"));
        assert_eq!(answered, status, "{path}: {answer}");
        assert!(answer["error"].is_string(), "{answer}");
    }
    // As SearXNG's engine for Recoll asks.
    let (_, json) = page.json("/json?query=melons&page=1&after=&dir=%3Call%3E&highlight=0");
    assert_eq!(json["nres"], 2);
    let label = json["results"][0]["label"].as_str().unwrap();
    assert!(["fruit.txt", "Melons"].contains(&label), "{label}");
}

#[test]
fn programs_get_pages_as_pictures_and_where_words_are() {
    let world = world();
    world.write(
        "report.pdf",
        pdf("Report", "Anna", &["an otter on ice", "a second page"]),
    );
    world.index_docs();
    let (_server, page) = served(&world);
    let (_, found) = page.json("/api/v1/search?q=otter+ext:pdf");
    let id = found["hits"][0]["id"].as_str().unwrap();
    let bearer = format!("Authorization: Bearer {}", page.token);
    let picture = format!("/api/v1/documents/{id}/picture?page=2&width=300");
    let (status, head, _) = page.ask("GET", &picture, &[&bearer]);
    assert_eq!(status, 200);
    let head = head.to_lowercase();
    assert!(head.contains("content-type: image/png"), "{head}");
    assert!(head.contains("x-content-type-options: nosniff"), "{head}");
    let (status, words) = page.json(&format!("/api/v1/documents/{id}/words"));
    assert_eq!((status, &words["page"]), (200, &1.into()));
    let places = words["words"].as_array().unwrap();
    let otter = places.iter().find(|word| word["text"] == "otter").unwrap();
    for side in ["x", "y", "width", "height"] {
        let part = otter[side].as_f64().unwrap();
        assert!(part > 0.0 && part < 1.0, "{side}: {part}");
    }
    let (_, text) = page.json("/api/v1/search?q=melons+ext:txt");
    let text = text["hits"][0]["id"].as_str().unwrap();
    for (path, status) in [
        (format!("{id}/picture?page=9"), 404),
        (format!("{id}/picture?page=0"), 400),
        (format!("{id}/picture?width=0"), 400),
        (format!("{id}/picture?width=100000"), 400),
        (format!("{text}/picture"), 404),
        (format!("{text}/words"), 404),
        ("0123456789abcdef/picture".to_owned(), 404),
    ] {
        let (answered, answer) = page.json(&format!("/api/v1/documents/{path}"));
        assert_eq!(answered, status, "{path}: {answer}");
    }
    let (_, threads) = page.json("/api/v1/threads?q=melons");
    let message = threads["threads"][0]["messages"][0]["document"]
        .as_str()
        .unwrap();
    let (status, document) = page.json(&format!("/api/v1/documents/{message}"));
    assert_eq!((status, &document["title"]), (200, &"Melons".into()));
}

#[test]
fn lines_are_searched_below_the_roots_only() {
    let world = world();
    let (_server, page) = served(&world);
    let bearer = format!("Authorization: Bearer {}", page.token);
    let grep = |rest: &str| {
        page.ask(
            "GET",
            &format!("/api/v1/grep?pattern=melons{rest}"),
            &[&bearer],
        )
    };
    let (status, _, body) = grep("");
    assert_eq!(status, 200);
    assert_eq!(body.matches("\"type\":\"match\"").count(), 2, "{body}");
    world.write("../outside/secret.txt", "melons");
    std::os::unix::fs::symlink("../outside", world.docs().join("link")).unwrap();
    let link = world.docs().join("link").display().to_string();
    let above = world.home().display().to_string();
    for outside in ["/etc", "fruit.txt", &link, &above] {
        let (status, _, body) = grep(&format!("&in={outside}"));
        assert_eq!(status, 400, "{outside}: {body}");
    }
    // A mistake is no answer without lines.
    for wrong in ["&type=nonsense", "&glob=[", "&context=x"] {
        let (status, _, body) = grep(wrong);
        assert!(
            status == 400 && body.starts_with("{\"error\""),
            "{wrong}: {body}"
        );
    }
    let (status, _, body) = page.ask("GET", "/api/v1/grep?pattern=(", &[&bearer]);
    assert!(status == 400 && body.contains("unclosed group"), "{body}");
    // A pattern is no option.
    let (_, _, body) = page.ask("GET", "/api/v1/grep?pattern=--files", &[&bearer]);
    assert!(!body.contains("fruit"), "{body}");
}

#[test]
fn a_path_says_which_methods_it_takes() {
    let world = world();
    let (_server, page) = served(&world);
    let bearer = format!("Authorization: Bearer {}", page.token);
    for (path, allowed) in [
        ("/api/v1/status", "GET, HEAD"),
        ("/api/v1/pause", "POST"),
        ("/saved", "GET, HEAD"),
        ("/open", "POST"),
    ] {
        let other = if allowed == "POST" { "GET" } else { "POST" };
        let (status, head, _) = page.ask(other, path, &[&bearer, "Content-Length: 0"]);
        assert_eq!(status, 405, "{path}");
        assert!(
            head.lines().any(|line| line == format!("allow: {allowed}")),
            "{path}: {head}"
        );
        if allowed != "POST" {
            let (status, _, body) = page.ask("HEAD", path, &[&bearer]);
            assert_eq!((status, body.as_str()), (200, ""), "{path}");
        }
    }
}

#[test]
fn a_root_is_an_absolute_path_of_something() {
    let world = world();
    let (_server, page) = served(&world);
    let bearer = format!("Authorization: Bearer {}", page.token);
    let add = |path: &str| {
        let body = format!("{{\"add\":[\"{path}\"]}}");
        let length = format!("Content-Length: {}", body.len());
        let kind = "Content-Type: application/json";
        page.ask_with("POST", "/api/v1/index", &[&bearer, &length, kind], &body)
    };
    for wrong in ["docs", "/nonexistent/folder"] {
        let (status, _, body) = add(wrong);
        assert!(
            status == 400 && body.contains("cannot index"),
            "{wrong}: {body}"
        );
    }
    // A link is resolved, as on the command line.
    world.write("../elsewhere/pear.txt", "a pear");
    let link = world.home().join("link");
    std::os::unix::fs::symlink("elsewhere", &link).unwrap();
    let (status, head, body) = add(&link.display().to_string());
    assert!(status == 200 && body.contains("\"summary\""), "{body}");
    assert!(
        head.contains("content-type: application/x-ndjson"),
        "{head}"
    );
    let root = world.home().join("elsewhere").display().to_string();
    let told = world.ken(["status"]);
    assert!(told.text().contains(&root), "{}", told.text());
}

/// Returns whether a test can drive a browser.
fn has_browser() -> bool {
    let runs = |program: &str| {
        let run = std::process::Command::new(program)
            .arg("--version")
            .output();
        run.is_ok_and(|run| run.status.success())
    };
    needs::met("chromium", runs("chromium") && runs("chromedriver"))
}

/// Runs a script beside this file.
fn script(name: &str, arguments: &[&str]) {
    let path = format!("{}/tests/e2e/web/{name}", env!("CARGO_MANIFEST_DIR"));
    let run = std::process::Command::new("python3")
        .arg("-B")
        .arg(path)
        .args(arguments)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{name}: {said}");
}

#[test]
fn hostile_documents_run_and_load_nothing() {
    if !has_browser() {
        return;
    }
    let world = World::new();
    script(
        "hostile.py",
        &["write", &world.docs().display().to_string()],
    );
    world.index_docs();
    let _server = Server::start(&world);
    let address = world.ken(["web", "--print"]).text().trim().to_owned();
    script("hostile.py", &["show", &address, "379", "4"]);
}

#[test]
fn the_status_page_shows_how_far_a_run_is() {
    let world = world();
    let server = Server::start(&world);
    let page = page(&world);
    let cookie = format!("Cookie: ken={}", page.token);
    let path = format!("{}/status", page.folder);
    let shows = |what: &str| page.ask("GET", &path, &[&cookie]).2.contains(what);
    server.until("no run", || shows("<p id=\"run\" class=\"run\" hidden>"));
    world.ken(["index", "--pause"]);
    let run = world.spawn(["index", "--full"]);
    server.until("a run", || shows("<p id=\"run\" class=\"run\">"));
    assert!(shows("files found") || shows("files read"));
    world.ken(["index", "--resume"]);
    assert_eq!(Run::of_child(run).code, 0);
    server.until("no run", || shows("<p id=\"run\" class=\"run\" hidden>"));
}

#[test]
fn the_api_is_as_it_is_described() {
    let venv = concat!(env!("CARGO_TARGET_TMPDIR"), "/python-peers/venv");
    let is_there = fs_err::exists(format!("{venv}/bin/schemathesis")).unwrap();
    if !needs::met("schemathesis", is_there) {
        return;
    }
    let world = world();
    let (_server, _) = served(&world);
    let address = world.ken(["web", "--print"]).text().trim().to_owned();
    let folder = tempfile::tempdir().unwrap();
    script(
        "api.py",
        &[venv, &address, &folder.path().display().to_string()],
    );
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.2:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
fn other_machines_need_the_password() {
    let world = world();
    let secret = world.write("../password", "a password of many words\n");
    world.write("fruit.txt", "two melons\n");
    world.index_docs();
    let address = format!("127.0.0.2:{}", free_port());
    let options = [
        format!("--set=web.address={address:?}"),
        format!("--set=web.password.file={:?}", secret.display().to_string()),
        "--set=web.names=[\"nas.example\"]".to_owned(),
    ];
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let refused = world.ken(["serve"].iter().chain(&options));
    assert_eq!(refused.code, 2);
    assert!(
        refused.err.contains("other users can read the password"),
        "{}",
        refused.err
    );
    fs_err::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();

    let server = Server::start_with(&world, &options);
    let inside = page(&world);
    let outside = Page {
        host: address.clone(),
        ..inside
    };
    let (status, _, body) = outside.ask("GET", "/", &[]);
    assert_eq!(status, 401);
    assert!(body.contains("Type the password"), "{body}");
    assert!(!body.contains(&outside.folder), "{body}");
    for path in ["/api/v1/search?q=melons", "/status", "/json?query=melons"] {
        let (status, _, body) = outside.ask("GET", path, &[]);
        assert_eq!(status, 401, "{path}: {body}");
        assert!(!body.contains("fruit"), "{body}");
    }
    let origin = format!("Origin: http://{address}");
    let try_it = |password: &str| {
        let body = format!("token={}", password.replace(' ', "+"));
        let length = format!("Content-Length: {}", body.len());
        outside.ask_with("POST", "/login", &[&origin, &length], &body)
    };
    let (status, head, _) = try_it("a password of many words");
    assert_eq!(status, 303, "{head}");
    let header = |name: &str| {
        let lines = head.lines();
        let mut values = lines.filter_map(|line| line.split_once(": "));
        values
            .find(|(own, _)| own.eq_ignore_ascii_case(name))
            .unwrap()
            .1
    };
    assert_eq!(header("location"), format!("{}/", outside.folder));
    assert!(
        header("set-cookie").contains("HttpOnly; SameSite=Strict"),
        "{head}"
    );
    assert!(!header("set-cookie").contains("Secure"), "{head}");
    // A proxy with TLS in front of it: the cookie never goes without.
    let body = "token=a+password+of+many+words";
    let length = format!("Content-Length: {}", body.len());
    let by_proxy = ["Host: nas.example", "Origin: https://nas.example", &length];
    let (status, by_tls, _) = outside.ask_with("POST", "/login", &by_proxy, body);
    assert!(status == 303 && by_tls.contains("; Secure\r\n"), "{by_tls}");
    let cookie = header("set-cookie").split(';').next().unwrap();
    let by_proxy = [
        "Host: nas.example",
        "X-Forwarded-Proto: https",
        "Cookie: x=y",
    ];
    let osd = format!("{}/osd.xml", outside.folder);
    let (_, _, osd) = outside.ask("GET", &osd, &by_proxy);
    assert!(osd.contains("template=\"https://nas.example/"), "{osd}");
    let home = format!("{}/?q=melons", outside.folder);
    let cookie = format!("Cookie: {cookie}");
    let (status, _, body) = outside.ask("GET", &home, &[&cookie]);
    assert_eq!(status, 200);
    assert!(body.contains("fruit.txt"), "{body}");
    // A name that leads here by rebinding, and a page of another site.
    let evil = format!("Host: evil.example:{}", address.rsplit_once(':').unwrap().1);
    for headers in [
        &[&*evil, &cookie][..],
        &[&cookie, "Origin: http://evil.example"],
    ] {
        assert_eq!(outside.ask("GET", &home, headers).0, 403, "{headers:?}");
    }
    // Guessing becomes slow, also for the right one; the token still lets in.
    let statuses: Vec<u16> = (0..12).map(|n| try_it(&format!("guess {n}")).0).collect();
    assert_eq!(statuses[..10], [403; 10]);
    assert_eq!(statuses[11], 429);
    assert_eq!(try_it("a password of many words").0, 429);
    assert_eq!(try_it(&outside.token).0, 303);
    let said = server.end().err;
    assert!(said.contains(&format!("http://{address}/")), "{said}");
    assert!(said.contains("not encrypted"), "{said}");

    let short = world.write("../short", "secret\n");
    fs_err::set_permissions(&short, std::fs::Permissions::from_mode(0o600)).unwrap();
    let short = format!("--set=web.password.file={:?}", short.display().to_string());
    for (options, message) in [
        (&options[..1], "has no password"),
        (&[options[0], &short], "fewer than 12 characters"),
    ] {
        let run = world.ken(["serve"].iter().chain(options));
        assert_eq!(run.code, 2);
        assert!(run.err.contains(message), "{}", run.err);
    }
}

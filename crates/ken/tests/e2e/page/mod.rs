//! The page in Debian's Chromium, driven by WebDriver (`page.py`).

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::needs;
use crate::samples::pdf;
use crate::serve::Server;
use crate::world::World;

const MAIL: [(&str, &str); 4] = [
    (
        "mail/cur/1:2,S",
        "From: Anna Example <anna@example.org>\nTo: Bob <bob@example.org>\nSubject: Budget plan\n\
         Message-ID: <a1@example.org>\nDate: Mon, 05 Jan 2026 10:00:00 +0000\n\n\
         The albatross budget is a plan.\nAnother plan of the albatross.\n",
    ),
    (
        "mail/cur/2:2,S",
        "From: Bob <bob@example.org>\nTo: Anna Example <anna@example.org>\nSubject: Re: Budget plan\n\
         Message-ID: <a2@example.org>\nIn-Reply-To: <a1@example.org>\nReferences: <a1@example.org>\n\
         Date: Tue, 06 Jan 2026 10:00:00 +0000\n\nI agree, albatross.\n\n> one\n> two\n> three\n> four\n> five\n",
    ),
    (
        "mail/cur/3:2,",
        "From: J <j@example.org>\nTo: me@example.com\nSubject: Attached\nMessage-ID: <c1@example.org>\n\
         Date: Sat, 10 Jan 2026 10:00:00 +0000\nMIME-Version: 1.0\n\
         Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nsee below\n\
         --b\nContent-Type: text/plain; name=\"notes.txt\"\n\
         Content-Disposition: attachment; filename=\"notes.txt\"\n\nThe narwhal is inside.\n--b--\n",
    ),
    (
        "mail/cur/5:2,S",
        "From: me@example.com\nTo: J <j@example.org>\nSubject: Re: Attached\nMessage-ID: <c2@example.org>\n\
         In-Reply-To: <c1@example.org>\nDate: Sun, 11 Jan 2026 10:00:00 +0000\n\nThank you kindly.\n",
    ),
];

/// Each way to make a browser act, wherever HTML may be. What acts sets `acted` or asks for `evil.example`.
const ACTS: &str = "<script>acted = 1</script><img src=http://evil.example/a onerror='acted = 2'>\
    <svg onload='acted = 3'><image href=http://evil.example/b></svg><style>@import 'http://evil.example/c'</style>\
    <link rel=stylesheet href=http://evil.example/d><iframe src=http://evil.example/e></iframe>\
    <object data=http://evil.example/f></object><meta http-equiv=refresh content='0;url=http://evil.example/g'>\
    <table background=http://evil.example/h><tr><td>hostile<b style='background:url(http://evil.example/i)'>b</b></table>\
    <a href='javascript:acted = 4'>j</a><a href='https://example.org/'>k</a><base href=http://evil.example/>\
    <form action=http://evil.example/l><input autofocus onfocus='acted = 5'></form><p onclick='acted = 6'>hostile</p>\
    <math><mtext><a xlink:href='javascript:acted = 7'>m</a></mtext></math><video src=http://evil.example/n></video>";

/// Returns a picture of one colour (BMP, 24 bits a pixel).
fn picture(width: u16, height: u16, [red, green, blue]: [u8; 3]) -> Vec<u8> {
    let mut file = b"BM".to_vec();
    let n_pixels = u32::from(width) * u32::from(height);
    file.extend((54 + 3 * n_pixels).to_le_bytes());
    file.extend([0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0]);
    file.extend(u32::from(width).to_le_bytes());
    file.extend(u32::from(height).to_le_bytes());
    file.extend([1, 0, 24, 0]);
    file.resize(54, 0);
    for _ in 0..n_pixels {
        file.extend([blue, green, red]);
    }
    file
}

fn documents(world: &World) {
    world.write("magenta.bmp", picture(80, 40, [255, 0, 255]));
    world.write(
        "report.pdf",
        pdf(
            "Report",
            "Anna",
            &["the first page", "an otter on ice", "the last page"],
        ),
    );
    make_executable(&world.write("run-me.sh", "echo cormorant\n"));
    world.add_fixture("sample.xlsx");
    let rows: String = (1..=900)
        .map(|n| format!("{n},\"harbour, {n}\",{}.5\n", n % 7))
        .collect();
    world.write("tides.csv", format!("number,name,metres\n{rows}"));
    let mut wide = "word ".repeat(100_000);
    wide.replace_range(250_000..250_009, "xylophone");
    world.write("wide.txt", wide);
    world.write("broken.pdf", "%PDF-1.7\nnothing else\n");
    for (name, text) in MAIL {
        world.write(name, text);
    }
    world.write("bird.txt", "An albatross is a bird.\n");
    world.write("deep/folder/deeper.txt", "far down\n");
    let mut source: Vec<String> = (1..=5000).map(|n| format!("let line_{n} = {n};")).collect();
    source[2499] = "fn needle_function() {}".to_owned();
    world.write("long.rs", source.join("\n"));
    let long = "A very long title that never ends ".repeat(12);
    world.write(
        "long.html",
        format!("<title>{long}</title><p>{}", "w".repeat(400)),
    );
    world.write("rtl.txt", "hostile: שלום עולם, مرحبا بالعالم\n");
    world.write("broken.docx", "PK\u{3}\u{4}no archive");
    world.write("torn.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0");
    world.write("fares.json", "{\"fares\": {\n\"otterberg\": 3}}\n");
    world.write("עגור.txt", "עגור בשחר heron dawn, בוקר טוב\n");
    world.write(
        "hostile.html",
        format!("<title>{ACTS}</title>hostile{ACTS}"),
    );
    world.write(
        "<script>acted = 8<|img src=x onerror='acted = 9'>.txt",
        "hostile name\n",
    );
    world.write(
        "mail/cur/4:2,",
        format!(
            "From: \"<script>acted = 10</script>\" <x@example.org>\nTo: me@example.com\n\
             Subject: <script>acted = 11</script> hostile\nMessage-ID: <h1@example.org>\n\
             Date: Sat, 10 Jan 2026 11:00:00 +0000\nMIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n\
             <p>hostile</p>{ACTS}\n"
        ),
    );
}

/// Starts a server on a desktop, where a program notes what it is to open.
fn desktop(world: &World, opened: &Path) -> Child {
    let folder = world.home().join("bin");
    fs_err::create_dir(&folder).unwrap();
    let opener = folder.join("xdg-open");
    let script = format!("#!/bin/sh\necho \"$1\" >> '{}'\n", opened.display());
    fs_err::write(&opener, script).unwrap();
    make_executable(&opener);
    let mut server = world.command(["serve"]);
    server.env("DISPLAY", ":9").env("PATH", folder);
    server.stdout(Stdio::piped()).stderr(Stdio::piped());
    server.spawn().unwrap()
}

fn make_executable(path: &Path) {
    fs_err::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn the_page_works_in_a_browser() {
    let has_browser = ["chromium", "chromedriver"]
        .iter()
        .all(|program| Path::new("/usr/bin").join(program).exists());
    if !needs::met("chromium", has_browser) {
        return;
    }
    // Beside the folder of the program: scripts/setup puts it there.
    let axe = Path::new(env!("CARGO_BIN_EXE_ken"))
        .ancestors()
        .nth(2)
        .unwrap();
    let axe = axe.join("axe/axe.min.js");
    let has_axe = needs::met("axe", axe.exists());
    let world = World::new();
    documents(&world);
    world.configure("[queries]\nplans = \"albatross plan\"\n\"two words\" = \"bird albatross\"\n");
    world.index_docs();
    let opened = world.home().join("opened");
    let server = Server::of(&world, desktop(&world, &opened));
    let address = world.ken(["web", "--print"]).text().trim().to_owned();
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/page/page.py");
    let mut command = Command::new("python3");
    command.arg(tests).arg(&address);
    command.arg(if has_axe {
        axe.as_path()
    } else {
        Path::new("")
    });
    #[allow(clippy::disallowed_methods, reason = "tests read the environment")]
    command.arg(std::env::var_os("KEN_TEST_PICTURES").unwrap_or_default());
    command.arg(&opened);
    let run = command.output().unwrap();
    let told = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status.success(),
        "{told}{}",
        String::from_utf8_lossy(&run.stderr)
    );
    server.end();
}

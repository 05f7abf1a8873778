//! `ken mail verify` with real keys: of GnuPG, in a home folder of the test, and of OpenSSL, for S/MIME.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::world::{Run, World};

/// A world with a home folder of GnuPG.
struct Keys {
    world: World,
    home: PathBuf,
}

impl Keys {
    fn new() -> Self {
        let world = World::new();
        let home = world.home().join("gnupg");
        fs_err::create_dir(&home).unwrap();
        let owner = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs_err::set_permissions(&home, owner).unwrap();
        // No revocation of certificates is looked up over the network.
        fs_err::write(home.join("gpgsm.conf"), "disable-crl-checks\n").unwrap();
        Self { world, home }
    }

    fn run(&self, program: &str, args: &[&str]) -> String {
        let output = Command::new(program)
            .args(args)
            .env("GNUPGHOME", &self.home)
            .current_dir(self.world.home())
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|error| panic!("{program}, which scripts/test installs: {error}"));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {args:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn verify(&self, query: &str) -> Run {
        let mut command = self.world.command(["mail", "verify", query]);
        Run::of(command.env("GNUPGHOME", &self.home).output().unwrap())
    }

    fn assert_verdict(&self, query: &str, code: i32, verdict: &str) {
        let run = self.verify(query);
        assert_eq!(run.code, code, "{query}: {}{}", run.text(), run.err);
        assert!(run.text().contains(verdict), "{query}: {}", run.text());
    }
}

/// Ends the processes that GnuPG started in its home folder.
impl Drop for Keys {
    fn drop(&mut self) {
        let mut end = Command::new("gpgconf");
        let end = end.args(["--kill", "all"]).env("GNUPGHOME", &self.home);
        let _ = end.status();
    }
}

const CONTENT: &str = "Content-Type: text/plain\r\n\r\nThe signed tapir.\r\n";

fn message(name: &str, rest: &str) -> String {
    format!("From: Ann <ann@x.org>\nSubject: {name}\nMIME-Version: 1.0\n{rest}")
}

#[test]
fn signatures_of_openpgp_are_good_bad_or_of_an_unknown_key() {
    let keys = Keys::new();
    let quick = ["--batch", "--passphrase", "", "--quick-generate-key"];
    keys.run(
        "gpg",
        &[&quick[..], &["Ann <ann@x.org>", "ed25519", "sign"]].concat(),
    );
    fs_err::write(keys.world.home().join("content"), CONTENT).unwrap();
    let sign = ["--batch", "--armor", "--output", "-"];
    let detached = keys.run("gpg", &[&sign[..], &["--detach-sign", "content"]].concat());
    let inline = keys.run("gpg", &[&sign[..], &["--clear-sign", "content"]].concat());
    let multipart = |content: &str| {
        format!(
            "Content-Type: multipart/signed; boundary=b; protocol=\"application/pgp-signature\"\n\n\
             --b\n{content}\n--b\nContent-Type: application/pgp-signature\n\n{detached}\n--b--\n"
        )
    };
    // On disk the lines end differently than when they were signed.
    let content = CONTENT.replace('\r', "");
    let changed = content.replace("tapir", "taper");
    for (name, rest) in [
        ("detached", multipart(&content)),
        ("forged", multipart(&changed)),
        ("inline", format!("\n{}", inline.replace('\r', ""))),
        ("altered", format!("\n{}", inline.replace("tapir", "taper"))),
    ] {
        keys.world
            .write(format!("{name}.eml"), message(name, &rest));
    }
    keys.world.index_docs();
    keys.assert_verdict("subject:detached", 0, "good signature by Ann <ann@x.org>");
    keys.assert_verdict("subject:inline", 0, "good signature by Ann <ann@x.org>");
    keys.assert_verdict("subject:forged", 2, "bad signature by Ann <ann@x.org>");
    keys.assert_verdict("subject:altered", 2, "bad signature");
    // One bad signature decides.
    keys.assert_verdict("from:ann", 2, "good signature");

    let stranger = Keys::new();
    stranger
        .world
        .write("a.eml", message("x", &multipart(&content)));
    stranger.world.index_docs();
    stranger.assert_verdict("subject:x", 2, "signature with an unknown key");
}

#[test]
fn signatures_of_smime_are_good_bad_or_of_a_certificate_that_is_not_trusted() {
    let keys = Keys::new();
    let request = "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 30 \
                   -subj /CN=Ann/emailAddress=ann@x.org -addext keyUsage=digitalSignature";
    keys.run("openssl", &request.split_whitespace().collect::<Vec<_>>());
    fs_err::write(keys.world.home().join("content"), CONTENT).unwrap();
    let sign = |subject: &str, more: &str| {
        let args = format!(
            "smime -sign -in content -signer cert.pem -inkey key.pem -subject {subject} -from ann@x.org {more}"
        );
        keys.run("openssl", &args.split_whitespace().collect::<Vec<_>>())
    };
    let detached = sign("detached", "");
    let forged = sign("forged", "").replace("signed tapir", "signed taper");
    let opaque = sign("opaque", "-nodetach");
    let args = "cms -sign -in content -signer cert.pem -inkey key.pem -nodetach -outform DER -out signed.der";
    keys.run("openssl", &args.split_whitespace().collect::<Vec<_>>());
    let file = keys.world.home().join("signed.der");
    let mut der = fs_err::read(&file).unwrap();
    let at = der.windows(5).position(|bytes| bytes == b"tapir").unwrap();
    der[at] = b'T';
    fs_err::write(&file, der).unwrap();
    let data = keys.run("openssl", &["base64", "-in", "signed.der"]);
    let head =
        "Content-Type: application/pkcs7-mime; name=smime.p7m\nContent-Transfer-Encoding: base64";
    let spoiled = message("spoiled", &format!("{head}\n\n{data}"));
    for (name, text) in [
        ("a", detached),
        ("b", forged),
        ("c", opaque),
        ("d", spoiled),
    ] {
        keys.world.write(format!("{name}.eml"), text);
    }
    keys.world.index_docs();
    // Text inside a signature is found like text next to a detached one.
    for (query, expected) in [
        ("tapir subject:detached", 1),
        ("is:signed", 4),
        ("thread:(tapir) subject:opaque", 1),
        ("is:encrypted", 0),
    ] {
        assert_eq!(keys.world.hits(query).len(), expected, "{query}");
    }
    let untrusted = "signature with a certificate that is not trusted";
    keys.assert_verdict("subject:detached", 2, untrusted);
    keys.assert_verdict("subject:opaque", 2, untrusted);

    let print = ["x509", "-in", "cert.pem", "-noout", "-fingerprint", "-sha1"];
    let printed = keys.run("openssl", &print);
    let (_, fingerprint) = printed.trim().split_once('=').unwrap();
    let trusted = format!("{fingerprint} S relax\n");
    fs_err::write(keys.home.join("trustlist.txt"), trusted).unwrap();
    keys.run("gpgconf", &["--reload", "gpg-agent"]);
    keys.assert_verdict(
        "subject:detached",
        0,
        "good signature by /CN=Ann/EMail=ann@x.org",
    );
    keys.assert_verdict(
        "subject:opaque",
        0,
        "good signature by /CN=Ann/EMail=ann@x.org",
    );
    keys.assert_verdict("subject:forged", 2, "bad signature");
    keys.assert_verdict("subject:spoiled", 2, "bad signature");
}

//! Signatures and encrypted parts of messages (RFC 3156, RFC 8551), as GnuPG sees them.
//!
//! This module decides what is signed and what is encrypted; a caller runs GnuPG. A part that was decrypted takes the
//! place of its cipher in the tree of parts.

use std::collections::HashMap;

use ken_mail::{TreeInner, TreePart, signed_content};

use super::detect;
use super::print::Printer;

/// The deepest nesting of encrypted parts.
const MAX_DEPTH: usize = 3;
/// How often GnuPG is asked about one message.
const MAX_ASKED: usize = 64;
/// The most bytes that the parts of one message contain together; a small cipher may hide very many.
const MAX_CONTENT: usize = 256 << 20;

/// Which program of GnuPG understands a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// `gpg`.
    OpenPgp,
    /// `gpgsm`.
    Smime,
}

/// Asks GnuPG for its status lines on a signature: the signed bytes, unless the signature contains them, and the signature.
pub type Verify<'g> = &'g dyn Fn(Standard, Option<&[u8]>, &[u8]) -> String;
/// Lets GnuPG decrypt; returns the content, if it can be read, and the status lines, the one with the session key among them.
/// Without status lines GnuPG was not asked, or did not end by itself.
pub type Decrypt = fn(&Cipher<'_>) -> (Option<Vec<u8>>, String);

/// A part that is encrypted, and what may open it.
#[derive(Clone, Copy, Debug)]
pub struct Cipher<'c> {
    /// Which program of GnuPG understands it.
    pub standard: Standard,
    /// The part.
    pub bytes: &'c [u8],
    /// The most bytes of its content.
    pub max_bytes: usize,
    /// Keys of this part alone, as `gpg --override-session-key` takes them. They are tried first.
    pub session_keys: &'c [String],
    /// Whether the secret keys of the user may be tried.
    pub uses_secret_keys: bool,
}

/// What is wanted of GnuPG, and how to ask it.
#[derive(Clone, Copy)]
pub struct Gnupg<'g> {
    /// Checks a signature; absent if signatures are not checked.
    pub verify: Option<Verify<'g>>,
    /// Decrypts a part; absent if nothing is decrypted.
    pub decrypt: Option<Decrypt>,
    /// Whether the secret keys of the user may be tried, and not only session keys.
    pub uses_secret_keys: bool,
    /// Whether session keys are kept.
    pub keeps_session_keys: bool,
}

/// Returns the session keys that are known of a message; it is asked only if a part is encrypted.
pub(super) type SessionKeys<'k> = &'k dyn Fn() -> Vec<String>;

impl Gnupg<'_> {
    /// Nothing is checked and nothing decrypted.
    pub const NOTHING: Self = Self {
        verify: None,
        decrypt: None,
        uses_secret_keys: false,
        keeps_session_keys: false,
    };
}

/// A signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Signature {
    status: &'static str,
    fingerprint: Option<String>,
    created: Option<i64>,
    expires: Option<i64>,
    user: Option<String>,
    key: Option<String>,
    errors: Vec<&'static str>,
}

/// What GnuPG says of the parts of a message, by the place of each part in memory.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    signatures: HashMap<usize, Vec<Signature>>,
    /// The content of an encrypted part; absent if it cannot be decrypted.
    contents: HashMap<usize, Option<Vec<u8>>>,
    /// The encrypted parts in the order of the message.
    order: Vec<usize>,
    n_asked: usize,
    /// The bytes of all contents.
    n_bytes: usize,
    /// The content inside a signature.
    opened: HashMap<usize, Vec<u8>>,
    /// The session keys of the parts that were decrypted.
    pub(super) session_keys: Vec<String>,
}

/// How the parts of a message are asked about.
#[derive(Clone, Copy)]
struct Asking<'a> {
    gnupg: Gnupg<'a>,
    session_keys: SessionKeys<'a>,
}

fn place(part: &TreePart<'_>) -> usize {
    part.whole.as_ptr() as usize
}

impl Verdicts {
    /// Asks about all parts of a message.
    pub(super) fn of(tree: &TreePart<'_>, gnupg: Gnupg<'_>, session_keys: SessionKeys<'_>) -> Self {
        let mut verdicts = Self::default();
        let asking = Asking {
            gnupg,
            session_keys,
        };
        verdicts.ask(tree, asking, 0);
        verdicts
    }

    fn ask(&mut self, part: &TreePart<'_>, asking: Asking<'_>, depth: usize) {
        match &part.inner {
            TreeInner::Multipart(parts) => {
                if part.is("multipart", "signed") {
                    self.ask_signature(part, parts, asking);
                } else if part.is("multipart", "encrypted") {
                    let cipher = parts.get(1).map(TreePart::content);
                    let cipher = cipher.unwrap_or_default();
                    self.ask_content(part, Standard::OpenPgp, &cipher, asking, depth);
                }
                parts.iter().for_each(|part| self.ask(part, asking, depth));
            }
            TreeInner::Message(inner) => self.ask(inner, asking, depth),
            TreeInner::Leaf if is_signed_data(part) => self.ask_opaque(part, asking, depth),
            TreeInner::Leaf if part.is("application", "pkcs7-mime") => {
                self.ask_content(part, Standard::Smime, &part.content(), asking, depth);
            }
            TreeInner::Leaf => {}
        }
    }

    fn ask_signature(&mut self, part: &TreePart<'_>, parts: &[TreePart<'_>], asking: Asking<'_>) {
        let ([signed, signature], Some(verify)) = (parts, asking.gnupg.verify) else {
            return;
        };
        if !self.may_ask() {
            return;
        }
        let standard = match signature.is("application", "pgp-signature") {
            true => Standard::OpenPgp,
            false => Standard::Smime,
        };
        let lines = verify(
            standard,
            Some(&with_crlf(signed.whole)),
            &signature.content(),
        );
        self.signatures.insert(place(part), signatures(&lines));
    }

    /// Opens a signature with its content inside, and asks about it.
    fn ask_opaque(&mut self, part: &TreePart<'_>, asking: Asking<'_>, depth: usize) {
        let signed = part.content();
        let content = signed_content(&signed).filter(|_| depth < MAX_DEPTH);
        let Some(content) = content else {
            return;
        };
        if let Some(verify) = asking.gnupg.verify
            && self.may_ask()
        {
            let lines = verify(Standard::Smime, None, &signed);
            self.signatures.insert(place(part), signatures(&lines));
        }
        self.ask(&TreePart::read(&content, &detect), asking, depth + 1);
        self.opened.insert(place(part), content);
    }

    fn ask_content(
        &mut self,
        part: &TreePart<'_>,
        standard: Standard,
        cipher: &[u8],
        asking: Asking<'_>,
        depth: usize,
    ) {
        let Some(decrypt) = asking.gnupg.decrypt.filter(|_| depth < MAX_DEPTH) else {
            return;
        };
        let session_keys = (asking.session_keys)();
        let uses_secret_keys = asking.gnupg.uses_secret_keys;
        if session_keys.is_empty() && !uses_secret_keys || !self.may_ask() {
            return;
        }
        let (content, lines) = decrypt(&Cipher {
            standard,
            bytes: cipher,
            max_bytes: MAX_CONTENT - self.n_bytes,
            session_keys: &session_keys,
            uses_secret_keys,
        });
        if content.is_none() && lines.is_empty() {
            return;
        }
        self.n_bytes += content.as_ref().map_or(0, Vec::len);
        self.session_keys.extend(session_key(&lines));
        let found = signatures(&lines);
        if !found.is_empty() {
            self.signatures.insert(place(part), found);
        }
        if let Some(content) = &content {
            self.ask(&TreePart::read(content, &detect), asking, depth + 1);
        }
        self.contents.insert(place(part), content);
        self.order.push(place(part));
    }

    /// Counts a question to GnuPG, unless there were too many.
    fn may_ask(&mut self) -> bool {
        self.n_asked += 1;
        self.n_asked <= MAX_ASKED && self.n_bytes < MAX_CONTENT
    }

    /// Returns the signatures of a part, if they were checked.
    pub(super) fn signatures(&self, part: &TreePart<'_>) -> Option<&[Signature]> {
        self.signatures.get(&place(part)).map(Vec::as_slice)
    }

    /// Returns whether a part could be decrypted, if that was tried.
    pub(super) fn is_decrypted(&self, part: &TreePart<'_>) -> Option<bool> {
        self.contents.get(&place(part)).map(Option::is_some)
    }

    /// Returns the content of a part that was decrypted, or that is inside a signature.
    pub(super) fn content(&self, part: &TreePart<'_>) -> Option<TreePart<'_>> {
        let content = match self.opened.get(&place(part)) {
            Some(content) => content,
            None => self.contents.get(&place(part))?.as_ref()?,
        };
        Some(TreePart::read(content, &detect))
    }

    /// Returns how many parts were decrypted, and how many could not be.
    pub(super) fn counts(&self) -> (usize, usize) {
        let n_opened = self.contents.values().flatten().count();
        (n_opened, self.contents.len() - n_opened)
    }

    /// Returns whether some part is signed, in the open or inside.
    pub(super) fn finds_signatures(&self) -> bool {
        !self.signatures.is_empty()
    }

    /// Returns all contents that were decrypted, in the order of the message; those within another one come before it.
    pub(super) fn contents(&self) -> impl Iterator<Item = &[u8]> {
        let contents = self.order.iter().filter_map(|at| self.contents.get(at));
        contents.flatten().map(Vec::as_slice)
    }

    /// Returns what protects a message as a whole.
    pub(super) fn envelope(&self, tree: &TreePart<'_>) -> Envelope<'_> {
        let mut envelope = Envelope::default();
        self.open(tree, &mut envelope);
        if envelope.decrypted.is_none() && self.contents.values().any(Option::is_some) {
            envelope.decrypted = Some("partial");
        }
        envelope
    }

    /// Goes from layer to layer to the first part that is neither signed nor encrypted as a whole.
    fn open<'v>(&'v self, part: &TreePart<'_>, envelope: &mut Envelope<'v>) {
        if let Some(found) = self.signatures(part).filter(|found| !found.is_empty()) {
            envelope.is_signature_encrypted =
                envelope.decrypted.is_some() || self.is_decrypted(part) == Some(true);
            envelope.signatures = Some(found);
        }
        if let Some(content) = self.content(part) {
            if self.is_decrypted(part) == Some(true) {
                envelope.decrypted = Some("full");
            }
            return self.open(&content, envelope);
        }
        match &part.inner {
            TreeInner::Multipart(parts) if part.is("multipart", "signed") => {
                if let Some(first) = parts.first() {
                    self.open(first, envelope);
                }
            }
            _ if part.is("multipart", "encrypted") || part.is("application", "pkcs7-mime") => {}
            _ if envelope.decrypted.is_none() && envelope.signatures.is_none() => {}
            _ if is_protected(part) => envelope.subject = part.header("Subject", &detect).pop(),
            _ => {}
        }
    }

    /// Returns the part that is shown for one that begins with a copy of its header fields, which is for programs that do not
    /// know protected headers (draft-ietf-lamps-header-protection, "legacy display").
    pub(super) fn without_legacy_display<'p, 'b>(
        &self,
        part: &'p TreePart<'b>,
    ) -> &'p TreePart<'b> {
        match &part.inner {
            TreeInner::Multipart(parts) if part.is("multipart", "mixed") && is_protected(part) => {
                match parts.as_slice() {
                    [first, second]
                        if (first.is("text", "rfc822-headers") || first.is("text", "plain"))
                            && is_protected(first) =>
                    {
                        second
                    }
                    _ => part,
                }
            }
            _ => part,
        }
    }
}

/// Returns the session key among GnuPG's status lines.
fn session_key(lines: &str) -> Option<String> {
    let mut keys = lines
        .lines()
        .filter_map(|line| line.strip_prefix("[GNUPG:] SESSION_KEY "));
    keys.next().map(|key| key.trim().to_owned())
}

/// Returns whether a part says that its header fields are those of the message.
fn is_protected(part: &TreePart<'_>) -> bool {
    let version = part.parameter("protected-headers", &detect);
    version.is_some_and(|version| version.eq_ignore_ascii_case("v1"))
}

/// Returns whether a part is a signature with its content inside (RFC 8551 section 3.5.2).
pub(super) fn is_signed_data(part: &TreePart<'_>) -> bool {
    let kind = part.parameter("smime-type", &detect);
    part.is("application", "pkcs7-mime")
        && kind.is_some_and(|kind| kind.eq_ignore_ascii_case("signed-data"))
}

/// What protects a message as a whole: signatures and encryption around its content.
#[derive(Debug, Default)]
pub(super) struct Envelope<'v> {
    signatures: Option<&'v [Signature]>,
    is_signature_encrypted: bool,
    /// `full`, or `partial` if only some part was decrypted.
    decrypted: Option<&'static str>,
    /// The subject inside.
    pub(super) subject: Option<String>,
}

impl Envelope<'_> {
    /// Prints it, beside the subject that everybody sees.
    pub(super) fn print(
        &self,
        outer_subject: Option<&str>,
        out: &mut Printer<'_>,
    ) -> std::io::Result<()> {
        out.begin_map()?;
        if let Some(signatures) = self.signatures {
            out.key("signed")?;
            out.begin_map()?;
            out.key("status")?;
            print(signatures, true, out)?;
            if self.is_signature_encrypted {
                out.key("encrypted")?;
                out.boolean(true)?;
            }
            if self.subject.is_some() {
                out.key("headers")?;
                out.begin_list()?;
                out.string("Subject")?;
                out.end()?;
            }
            out.end()?;
        }
        if let Some(status) = self.decrypted {
            out.key("decrypted")?;
            out.begin_map()?;
            out.entry("status", status)?;
            if self.subject.is_some() && self.subject.as_deref() != outer_subject {
                out.key("header-mask")?;
                out.begin_map()?;
                match outer_subject {
                    Some(subject) => out.entry("Subject", subject)?,
                    None => {
                        out.key("Subject")?;
                        out.null()?;
                    }
                }
                out.end()?;
            }
            out.end()?;
        }
        out.end()
    }
}

/// Prints signatures. Before version 4 of the output errors are a number, which is left out.
pub(super) fn print(
    signatures: &[Signature],
    names_errors: bool,
    out: &mut Printer<'_>,
) -> std::io::Result<()> {
    out.begin_list()?;
    for signature in signatures {
        out.begin_map()?;
        out.entry("status", signature.status)?;
        if let Some(fingerprint) = &signature.fingerprint {
            out.entry("fingerprint", fingerprint)?;
        }
        for (key, time) in [
            ("created", signature.created),
            ("expires", signature.expires),
        ] {
            if let Some(time) = time {
                out.key(key)?;
                out.integer(time)?;
            }
        }
        if let Some(user) = &signature.user {
            out.entry("userid", user)?;
            if let Some(address) = address(user) {
                out.entry("email", address)?;
            }
        }
        if let Some(key) = &signature.key {
            out.entry("keyid", key)?;
        }
        if names_errors && !signature.errors.is_empty() {
            out.key("errors")?;
            out.begin_map()?;
            for error in &signature.errors {
                out.key(error)?;
                out.boolean(true)?;
            }
            out.end()?;
        }
        out.end()?;
    }
    out.end()
}

/// Returns the address in the name of a key: `Anna <anna@example.org> (work)`.
fn address(user: &str) -> Option<&str> {
    let (_, rest) = user.split_once('<')?;
    rest.split_once('>').map(|(address, _)| address)
}

/// Returns the name of a certificate, which gpgsm writes `/CN=Anna/O=Example`, as RFC 4514 has it; another name stays.
fn distinguished(user: &str) -> String {
    match user.strip_prefix('/') {
        Some(name) => name.replace('/', ","),
        None => user.to_owned(),
    }
}

/// Returns bytes with the line ends that are signed (RFC 3156 section 5).
fn with_crlf(bytes: &[u8]) -> Vec<u8> {
    let mut ended = Vec::with_capacity(bytes.len() + bytes.len() / 32);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(text) => {
                ended.extend_from_slice(text.strip_suffix(b"\r").unwrap_or(text));
                ended.extend_from_slice(b"\r\n");
            }
            None => ended.extend_from_slice(line),
        }
    }
    ended
}

/// Reads GnuPG's status lines (its doc/DETAILS).
fn signatures(lines: &str) -> Vec<Signature> {
    const VERDICTS: [(&str, &str, &[&str]); 6] = [
        ("GOODSIG", "good", &[]),
        ("EXPSIG", "error", &["sig-expired"]),
        ("EXPKEYSIG", "error", &["key-expired"]),
        ("REVKEYSIG", "error", &["key-revoked"]),
        ("BADSIG", "bad", &[]),
        ("ERRSIG", "error", &[]),
    ];
    let mut found: Vec<Signature> = Vec::new();
    let lines = lines
        .lines()
        .filter_map(|line| line.strip_prefix("[GNUPG:] "));
    let mut user = None;
    for line in lines {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let words: Vec<&str> = rest.split(' ').collect();
        if let Some((_, status, errors)) = VERDICTS.iter().find(|(name, ..)| *name == word) {
            user = rest.split_once(' ').map(|(_, user)| user.to_owned());
            found.push(Signature {
                status,
                key: words.first().map(|key| (*key).to_owned()),
                errors: errors.to_vec(),
                ..Signature::default()
            });
            continue;
        }
        let Some(last) = found.last_mut() else {
            continue;
        };
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<i64>().ok());
        match word {
            "NO_PUBKEY" => last.errors.push("key-missing"),
            "VALIDSIG" if last.status == "good" => {
                last.fingerprint = words.first().map(|word| (*word).to_owned());
                last.created = number(2);
                last.expires = number(3).filter(|time| *time > 0);
                last.key = None;
            }
            "TRUST_FULLY" | "TRUST_ULTIMATE" if last.status == "good" => {
                last.user = user.take().map(|user| distinguished(&user));
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[GNUPG:] NEWSIG\n[GNUPG:] GOODSIG 0123456789ABCDEF Ann <a@x.org> (x)\n\
        [GNUPG:] VALIDSIG AABB 2025-03-03 1740996000 0 4 0 1 8 00 AABB\n";

    #[test]
    fn status_lines_are_signatures() {
        let found = signatures(GOOD);
        assert_eq!(
            (found[0].status, found[0].created),
            ("good", Some(1_740_996_000))
        );
        assert_eq!((&found[0].user, &found[0].key), (&None, &None));
        let trusted = signatures(&format!("{GOOD}[GNUPG:] TRUST_ULTIMATE 0 pgp\n"));
        let user = trusted[0].user.as_deref();
        assert_eq!(user, Some("Ann <a@x.org> (x)"));
        assert_eq!(address(user.unwrap()), Some("a@x.org"));
        let unknown = signatures("[GNUPG:] ERRSIG 0123 1 8 00 1 9\n[GNUPG:] NO_PUBKEY 0123\n");
        assert_eq!(unknown[0].errors, ["key-missing"]);
        assert_eq!(unknown[0].key.as_deref(), Some("0123"));
        assert!(signatures("[GNUPG:] NODATA 4\n").is_empty());
    }

    #[test]
    fn a_message_with_many_encrypted_parts_is_asked_about_within_bounds() {
        let part = "--b\nContent-Type: multipart/encrypted; boundary=c\n\n--c\n\nVersion: 1\n--c\n\ncipher\n--c--\n";
        let head = "Content-Type: multipart/mixed; boundary=b\n\n";
        let text = format!("{head}{}--b--\n", part.repeat(MAX_ASKED + 9));
        let gnupg = Gnupg {
            decrypt: Some(|cipher: &Cipher<'_>| {
                assert!(cipher.max_bytes <= MAX_CONTENT);
                (
                    Some(b"\n\nx".to_vec()),
                    "[GNUPG:] DECRYPTION_OKAY".to_owned(),
                )
            }),
            uses_secret_keys: true,
            ..Gnupg::NOTHING
        };
        let tree = TreePart::read(text.as_bytes(), &detect);
        let verdicts = Verdicts::of(&tree, gnupg, &Vec::new);
        assert_eq!(verdicts.counts(), (MAX_ASKED, 0));
        assert_eq!(verdicts.contents().count(), MAX_ASKED);
    }

    #[test]
    fn signed_and_encrypted_parts_are_asked_for() {
        let text = b"Content-Type: multipart/encrypted; boundary=b\n\n--b\n\
            Content-Type: application/pgp-encrypted\n\nVersion: 1\n--b\n\ncipher\n--b--\n";
        const INSIDE: &[u8] = b"Content-Type: multipart/signed; boundary=c\n\n--c\n\
            Subject: Inside\nContent-Type: text/plain; protected-headers=v1\n\nsigned\n--c\n\
            Content-Type: application/pgp-signature\n\nsignature\n--c--\n";
        let tree = TreePart::read(text, &detect);
        let decrypt = |cipher: &Cipher<'_>| {
            assert_eq!(cipher.bytes, b"cipher");
            let lines = "[GNUPG:] SESSION_KEY 9:AABB\n".to_owned();
            let is_readable = cipher.uses_secret_keys || cipher.session_keys == ["9:AABB"];
            (is_readable.then(|| INSIDE.to_vec()), lines)
        };
        let verify = |standard, signed: Option<&[u8]>, signature: &[u8]| {
            assert_eq!(standard, Standard::OpenPgp);
            assert_eq!(signed, Some(&b"Subject: Inside\r\nContent-Type: text/plain; protected-headers=v1\r\n\r\nsigned"[..]));
            assert_eq!(signature, b"signature");
            GOOD.to_owned()
        };
        let gnupg = Gnupg {
            verify: Some(&verify),
            decrypt: Some(decrypt),
            uses_secret_keys: true,
            keeps_session_keys: false,
        };
        let verdicts = Verdicts::of(&tree, gnupg, &Vec::new);
        assert_eq!(verdicts.session_keys, ["9:AABB"]);
        assert_eq!(verdicts.is_decrypted(&tree), Some(true));
        let content = verdicts.content(&tree).unwrap();
        assert_eq!(verdicts.signatures(&content).map(<[_]>::len), Some(1));
        let mut out = Vec::new();
        let mut printer = Printer::new(super::super::print::Form::Json, &mut out);
        let envelope = verdicts.envelope(&tree);
        assert_eq!(envelope.subject.as_deref(), Some("Inside"));
        envelope.print(Some("..."), &mut printer).unwrap();
        let printed = String::from_utf8(out).unwrap();
        assert!(
            printed.contains("\"encrypted\": true") && printed.contains("\"full\""),
            "{printed}"
        );
        let is_told = printed.contains("\"header-mask\": {\"Subject\": \"...\"}");
        assert!(
            is_told && printed.contains("\"headers\": [\"Subject\"]"),
            "{printed}"
        );
        let nothing = Verdicts::of(&tree, Gnupg::NOTHING, &Vec::new);
        assert_eq!(nothing.is_decrypted(&tree), None);
        let alone = Gnupg {
            uses_secret_keys: false,
            ..gnupg
        };
        let with = |key: &str| {
            let key = key.to_owned();
            let keys = move || vec![key.clone()];
            Verdicts::of(&tree, alone, &keys).counts()
        };
        assert_eq!(Verdicts::of(&tree, alone, &Vec::new).counts(), (0, 0));
        assert_eq!((with("9:AABB"), with("9:00")), ((1, 0), (0, 1)));
    }
}

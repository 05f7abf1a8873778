//! Signatures and encrypted parts of messages (RFC 3156, RFC 8551), as GnuPG sees them.
//!
//! This module decides what is signed and what is encrypted; a caller runs GnuPG. A part that was decrypted takes the
//! place of its cipher in the tree of parts.

use std::collections::HashMap;

use ken_mail::{TreeInner, TreePart};

use super::detect;
use super::print::Printer;

/// The deepest nesting of encrypted parts.
const MAX_DEPTH: usize = 3;

/// Which program of GnuPG understands a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// `gpg`.
    OpenPgp,
    /// `gpgsm`.
    Smime,
}

/// Asks GnuPG for its status lines on a signature: the signed bytes, and the signature.
pub type Verify<'g> = &'g dyn Fn(Standard, &[u8], &[u8]) -> String;
/// Lets GnuPG decrypt; returns the content, if it can be read, and the status lines.
pub type Decrypt<'g> = &'g dyn Fn(Standard, &[u8]) -> (Option<Vec<u8>>, String);

/// What is wanted of GnuPG, and how to ask it.
#[derive(Clone, Copy)]
pub struct Gnupg<'g> {
    /// Checks a signature; absent if signatures are not checked.
    pub verify: Option<Verify<'g>>,
    /// Decrypts a part; absent if nothing is decrypted.
    pub decrypt: Option<Decrypt<'g>>,
}

impl Gnupg<'_> {
    /// Nothing is checked and nothing decrypted.
    pub const NOTHING: Self = Self {
        verify: None,
        decrypt: None,
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
}

fn place(part: &TreePart<'_>) -> usize {
    part.whole.as_ptr() as usize
}

impl Verdicts {
    /// Asks about all parts of a message.
    pub(super) fn of(tree: &TreePart<'_>, gnupg: Gnupg<'_>) -> Self {
        let mut verdicts = Self::default();
        if gnupg.verify.is_some() || gnupg.decrypt.is_some() {
            verdicts.ask(tree, gnupg, 0);
        }
        verdicts
    }

    fn ask(&mut self, part: &TreePart<'_>, gnupg: Gnupg<'_>, depth: usize) {
        match &part.inner {
            TreeInner::Multipart(parts) => {
                if part.is("multipart", "signed") {
                    self.ask_signature(part, parts, gnupg);
                } else if part.is("multipart", "encrypted") {
                    let cipher = parts.get(1).map(TreePart::content);
                    let cipher = cipher.unwrap_or_default();
                    self.ask_content(part, Standard::OpenPgp, &cipher, gnupg, depth);
                }
                parts.iter().for_each(|part| self.ask(part, gnupg, depth));
            }
            TreeInner::Message(inner) => self.ask(inner, gnupg, depth),
            TreeInner::Leaf if part.is("application", "pkcs7-mime") => {
                self.ask_content(part, Standard::Smime, &part.content(), gnupg, depth);
            }
            TreeInner::Leaf => {}
        }
    }

    fn ask_signature(&mut self, part: &TreePart<'_>, parts: &[TreePart<'_>], gnupg: Gnupg<'_>) {
        let ([signed, signature], Some(verify)) = (parts, gnupg.verify) else {
            return;
        };
        let standard = match signature.is("application", "pgp-signature") {
            true => Standard::OpenPgp,
            false => Standard::Smime,
        };
        let lines = verify(standard, &with_crlf(signed.whole), &signature.content());
        self.signatures.insert(place(part), signatures(&lines));
    }

    fn ask_content(
        &mut self,
        part: &TreePart<'_>,
        standard: Standard,
        cipher: &[u8],
        gnupg: Gnupg<'_>,
        depth: usize,
    ) {
        let Some(decrypt) = gnupg.decrypt.filter(|_| depth < MAX_DEPTH) else {
            return;
        };
        let (content, lines) = decrypt(standard, cipher);
        let found = signatures(&lines);
        if !found.is_empty() {
            self.signatures.insert(place(part), found);
        }
        if let Some(content) = &content {
            self.ask(&TreePart::read(content, &detect), gnupg, depth + 1);
        }
        self.contents.insert(place(part), content);
    }

    /// Returns the signatures of a part, if they were checked.
    pub(super) fn signatures(&self, part: &TreePart<'_>) -> Option<&[Signature]> {
        self.signatures.get(&place(part)).map(Vec::as_slice)
    }

    /// Returns whether a part could be decrypted, if that was tried.
    pub(super) fn is_decrypted(&self, part: &TreePart<'_>) -> Option<bool> {
        self.contents.get(&place(part)).map(Option::is_some)
    }

    /// Returns the content of a part that was decrypted.
    pub(super) fn content(&self, part: &TreePart<'_>) -> Option<TreePart<'_>> {
        let content = self.contents.get(&place(part))?.as_ref()?;
        Some(TreePart::read(content, &detect))
    }

    /// Prints what holds for a message as a whole: what its outermost part, or the content of it, is signed by.
    pub(super) fn print_summary(
        &self,
        tree: &TreePart<'_>,
        out: &mut Printer<'_>,
    ) -> std::io::Result<()> {
        let inside = self.content(tree);
        let outer = self.signatures(tree);
        let inner = inside.as_ref().and_then(|inside| self.signatures(inside));
        let signatures = outer.or(inner).filter(|found| !found.is_empty());
        out.begin_map()?;
        if let Some(signatures) = signatures {
            out.key("signed")?;
            out.begin_map()?;
            out.key("status")?;
            print(signatures, true, out)?;
            if inside.is_some() {
                out.key("encrypted")?;
                out.boolean(true)?;
            }
            out.end()?;
        }
        if inside.is_some() {
            out.key("decrypted")?;
            out.begin_map()?;
            out.entry("status", "full")?;
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
                last.user = user.take();
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
    fn signed_and_encrypted_parts_are_asked_for() {
        let text = b"Content-Type: multipart/encrypted; boundary=b\n\n--b\n\
            Content-Type: application/pgp-encrypted\n\nVersion: 1\n--b\n\ncipher\n--b--\n";
        let inside = b"Content-Type: multipart/signed; boundary=c\n\n--c\n\nsigned\n--c\n\
            Content-Type: application/pgp-signature\n\nsignature\n--c--\n";
        let tree = TreePart::read(text, &detect);
        let decrypt = |_, cipher: &[u8]| {
            assert_eq!(cipher, b"cipher");
            (Some(inside.to_vec()), String::new())
        };
        let verify = |standard, signed: &[u8], signature: &[u8]| {
            assert_eq!(standard, Standard::OpenPgp);
            assert_eq!((signed, signature), (&b"\r\nsigned"[..], &b"signature"[..]));
            GOOD.to_owned()
        };
        let gnupg = Gnupg {
            verify: Some(&verify),
            decrypt: Some(&decrypt),
        };
        let verdicts = Verdicts::of(&tree, gnupg);
        assert_eq!(verdicts.is_decrypted(&tree), Some(true));
        let content = verdicts.content(&tree).unwrap();
        assert_eq!(verdicts.signatures(&content).map(<[_]>::len), Some(1));
        let mut out = Vec::new();
        let mut printer = Printer::new(super::super::print::Form::Json, &mut out);
        verdicts.print_summary(&tree, &mut printer).unwrap();
        let printed = String::from_utf8(out).unwrap();
        assert!(
            printed.contains("\"encrypted\": true") && printed.contains("\"full\""),
            "{printed}"
        );
        let nothing = Verdicts::of(&tree, Gnupg::NOTHING);
        assert_eq!(nothing.is_decrypted(&tree), None);
    }
}

//! Signed content of a message, exactly as it was signed, with its signature.
//!
//! The forms are `multipart/signed` (RFC 1847) of OpenPGP (RFC 3156) and S/MIME (RFC 8551), S/MIME with the content
//! inside the signature, and text with an OpenPGP signature around it (RFC 9580 section 7).

use memchr::memmem;

use crate::Detect;
use crate::cms;
use crate::decode::Content;
use crate::header::Fields;
use crate::part::{PartInfo, split};

/// The deepest multiparts that are searched.
const MAX_DEPTH: usize = 10;
/// The most parts of a multipart that are searched.
const MAX_PARTS: usize = 100;

/// Content with its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signed {
    /// The signature is a separate part.
    Detached {
        /// The signed content, with lines that end in CR and LF.
        content: Vec<u8>,
        /// The signature.
        signature: Vec<u8>,
        /// Whether it is an S/MIME signature and not an OpenPGP one.
        is_smime: bool,
    },
    /// Text with an OpenPGP signature around it.
    Inline(Vec<u8>),
    /// An S/MIME signature that contains the signed content (CMS, RFC 5652 section 5).
    Opaque(Vec<u8>),
}

/// Returns all signed content of a message, in order.
pub fn signed(message: &[u8], detect: Detect<'_>) -> Vec<Signed> {
    let mut found = Vec::new();
    part(message, 0, detect, &mut found);
    found
}

fn part(bytes: &[u8], depth: usize, detect: Detect<'_>, found: &mut Vec<Signed>) {
    let mut info = PartInfo::default();
    let mut fields = Fields::new(bytes);
    for (name, value) in fields.by_ref() {
        info.take(name, value, detect);
    }
    let body = fields.body();
    if !info.media_type.starts_with("multipart/") {
        found.extend(match info.media_type.as_str() {
            "" | "text/plain" => inline(&info, body),
            "application/pkcs7-mime" | "application/x-pkcs7-mime" => opaque(&info, body),
            _ => None,
        });
        return;
    }
    let parts = split(
        body,
        info.boundary.as_deref().unwrap_or_default(),
        MAX_PARTS,
    );
    if info.media_type == "multipart/signed"
        && let [content, signature, ..] = parts.as_slice()
    {
        found.push(detached(content, signature, detect));
        return;
    }
    if depth < MAX_DEPTH {
        for inner in parts {
            part(inner, depth + 1, detect, found);
        }
    }
}

fn detached(content: &[u8], signature: &[u8], detect: Detect<'_>) -> Signed {
    let mut info = PartInfo::default();
    let mut fields = Fields::new(signature);
    for (name, value) in fields.by_ref() {
        info.take(name, value, detect);
    }
    let signature = Content {
        raw: fields.body(),
        transfer: info.transfer,
    };
    Signed::Detached {
        content: with_crlf(content),
        signature: signature.decode().into_owned(),
        is_smime: info.media_type.contains("pkcs7"),
    }
}

/// Ignores the parameter `smime-type`, as it may be missing.
fn opaque(info: &PartInfo, body: &[u8]) -> Option<Signed> {
    let content = Content {
        raw: body,
        transfer: info.transfer,
    };
    let data = content.decode();
    cms::is_signed_data(&data).then(|| Signed::Opaque(data.into_owned()))
}

fn inline(info: &PartInfo, body: &[u8]) -> Option<Signed> {
    const BEGIN: &[u8] = b"-----BEGIN PGP SIGNED MESSAGE-----";
    const END: &[u8] = b"-----END PGP SIGNATURE-----";
    let content = Content {
        raw: body,
        transfer: info.transfer,
    };
    let text = content.decode();
    let start = memmem::find(&text, BEGIN)?;
    let end = start + memmem::find(&text[start..], END)? + END.len();
    let mut signed = text[start..end].to_vec();
    signed.push(b'\n');
    Some(Signed::Inline(signed))
}

fn with_crlf(content: &[u8]) -> Vec<u8> {
    let mut lines = Vec::with_capacity(content.len() + content.len() / 32);
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(text) => {
                lines.extend_from_slice(text.strip_suffix(b"\r").unwrap_or(text));
                lines.extend_from_slice(b"\r\n");
            }
            None => lines.extend_from_slice(line),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(message: &str) -> Vec<Signed> {
        signed(message.as_bytes(), &|bytes| {
            String::from_utf8_lossy(bytes).into_owned()
        })
    }

    #[test]
    fn the_signed_part_is_as_it_was_signed() {
        let inner = "Content-Type: multipart/signed; boundary=s; micalg=pgp-sha256\n\n\
             --s\nContent-Type: text/plain\n\nfirst\nlast\n\n\
             --s\nContent-Type: application/pgp-signature\nContent-Transfer-Encoding: base64\n\n\
             c2ln\n--s--\n";
        let expected = Signed::Detached {
            content: b"Content-Type: text/plain\r\n\r\nfirst\r\nlast\r\n".to_vec(),
            signature: b"sig".to_vec(),
            is_smime: false,
        };
        assert_eq!(
            find(&format!("Subject: x\n{inner}")),
            std::slice::from_ref(&expected)
        );
        // A list adds its own text around the message.
        let outer = format!(
            "Content-Type: multipart/mixed; boundary=o\n\n--o\n{inner}\n--o\n\nfooter\n--o--\n"
        );
        assert_eq!(find(&outer), [expected]);
    }

    #[test]
    fn signed_text_is_found_in_the_body() {
        let text = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nhello\n\
             -----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n";
        let found = find(&format!("Subject: x\n\nbefore\n{text}after\n"));
        assert_eq!(found, [Signed::Inline(text.as_bytes().to_vec())]);
        assert!(find("Subject: x\n\n-----BEGIN PGP SIGNED MESSAGE-----\n").is_empty());
    }

    #[test]
    fn signed_content_of_smime_is_distinguished_from_enveloped() {
        let message = |data: &str| {
            let found = find(&format!(
                "Content-Type: application/pkcs7-mime; name=smime.p7m\n\
                 Content-Transfer-Encoding: base64\n\n{data}\n"
            ));
            found.into_iter().next()
        };
        // Sequences of known and of unknown length, then enveloped data.
        let signed = message("MIIBAAYJKoZIhvcNAQcC");
        assert!(matches!(signed, Some(Signed::Opaque(data)) if data.len() == 15));
        assert!(matches!(
            message("MIAGCSqGSIb3DQEHAg=="),
            Some(Signed::Opaque(_))
        ));
        assert_eq!(message("MIIBAAYJKoZIhvcNAQcD"), None);
        assert_eq!(message(""), None);
    }

    #[test]
    fn smime_is_distinguished_from_openpgp_and_half_messages_are_none() {
        let head = "Content-Type: multipart/signed; boundary=s\n\n--s\n\nx\n";
        assert!(find(head).is_empty());
        let found = find(&format!(
            "{head}--s\nContent-Type: application/pkcs7-signature\n\nx\n--s--"
        ));
        assert!(matches!(
            &found[..],
            [Signed::Detached { is_smime: true, .. }]
        ));
    }
}

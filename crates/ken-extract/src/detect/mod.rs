//! Detects the format of an input by its name and content. Content wins where the two disagree.
//!
//! Magic numbers prove a binary format, whatever the name says. Otherwise the content is text or
//! not. Text keeps the exact type that its name gives (a source language), unless it is certainly
//! markup or a message. Content that is not text is never taken for text, whatever its name.

mod container;
mod magic;
mod names;
mod sniff;
mod tables;

use std::borrow::Cow;
use std::io;

use ken_core::Kind;

use crate::{Input, text};

pub use crate::input::Detected;
use magic::Magic;
use sniff::Sniffed;

/// The format of an input that is found only by its name.
pub const UNKNOWN: Detected = Detected {
    media_type: "application/octet-stream",
    kind: Kind::Other,
};

/// Media type of an empty file whose name does not suggest text: there is nothing to read.
pub const EMPTY: &str = "application/x-empty";

const PDF: Detected = Detected {
    media_type: "application/pdf",
    kind: Kind::Document,
};

/// Text of which nothing more is known.
const PLAIN: Detected = Detected {
    media_type: "text/plain",
    kind: Kind::Document,
};

/// Finds the format of an input by its name, declared type and first bytes.
///
/// # Errors
/// Fails if the bytes cannot be read.
pub fn detect(input: &Input<'_>) -> io::Result<Detected> {
    let head = input.head()?;
    let declared = input
        .declared_type
        .as_deref()
        .and_then(names::by_media_type);
    if let Some(declared) = declared
        && declared.media_type == "message/rfc822"
        && !head.is_empty()
    {
        return Ok(declared);
    }
    // Messages of a Maildir mostly have names and contents that say what they are, so that nothing is asked of the disk.
    let named = named(&input.name).or(declared.filter(|&declared| declared != UNKNOWN));
    let named = named.filter(|_| !input.is_in_maildir() && !is_mail(&head, input));
    if head.is_empty() {
        return Ok(empty(named));
    }
    match magic::by_content(&head) {
        Some(Magic::Zip) => container::zip(&head, input, named),
        Some(Magic::Ole2) => container::ole2(&head, input, named),
        Some(Magic::Format(found)) => Ok(refined(found, named)),
        None => {
            let found = without_magic(&head, named, is_maildir_name(&input.name));
            let is_message =
                found != sniff::MESSAGE && !text::is_binary(&head) && input.is_in_maildir();
            Ok(if is_message { sniff::MESSAGE } else { found })
        }
    }
}

/// Returns whether a file in `cur` or `new` has the content of a message, whatever its name. The other folder of the
/// Maildir may be missing: empty folders are lost in many copies.
fn is_mail(head: &[u8], input: &Input<'_>) -> bool {
    let is_likely = input.is_where_maildirs_keep_mail() && !head.is_empty();
    is_likely && message(head, None, false) == Some(sniff::MESSAGE)
}

impl Input<'_> {
    /// Detects the format of the input by its name and content. A small file is read as by
    /// [`Self::preload`]. The result is kept, since several callers need it before a file is
    /// extracted.
    ///
    /// # Errors
    /// Fails if the bytes cannot be read.
    pub fn detect(&mut self) -> io::Result<Detected> {
        if let Some(detected) = self.detected {
            return Ok(detected);
        }
        self.preload()?;
        let detected = detect(self)?;
        self.detected = Some(detected);
        Ok(detected)
    }
}

/// Returns the format that a file name suggests.
pub fn by_name(name: &str) -> Detected {
    named(name).unwrap_or(UNKNOWN)
}

/// Returns the format of a media type; none if the media type is not known.
pub fn by_media_type(media_type: &str) -> Option<Detected> {
    names::by_media_type(media_type)
}

/// Returns the lower-case extensions that suggest a media type.
pub fn extensions(media_type: &str) -> impl Iterator<Item = &'static str> {
    names::extensions(media_type)
}

/// Returns the format that a name suggests. The names that mail servers give to messages end in a
/// host name, not in an extension.
fn named(name: &str) -> Option<Detected> {
    if is_maildir_name(name) {
        return None;
    }
    names::by_name(name)
}

/// Returns whether a name is like `1204680122.27c448.host.example.pl:2,S`.
fn is_maildir_name(name: &str) -> bool {
    let n_digits = name.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &name[n_digits..];
    rest.contains(":2,")
        || (n_digits >= 9 && rest.bytes().filter(|&byte| byte == b'.').count() >= 3)
}

/// Returns the format of an empty file: what its name says, but never a format that must be parsed.
fn empty(named: Option<Detected>) -> Detected {
    match named {
        Some(named) if is_text_based(named.media_type) => named,
        _ => Detected {
            media_type: EMPTY,
            kind: named.map_or(Kind::Other, |named| named.kind),
        },
    }
}

/// Refines formats that are others under their own name: cameras write TIFF, `.m4a` is MP4.
fn refined(found: Detected, named: Option<Detected>) -> Detected {
    let Some(named) = named else {
        return found;
    };
    let is_variant = match found.media_type {
        "image/tiff" => named.media_type.starts_with("image/x-"),
        "video/mp4" => matches!(
            named.media_type,
            "audio/mp4" | "video/quicktime" | "video/3gpp"
        ),
        "video/x-ms-asf" => matches!(named.media_type, "audio/x-ms-wma" | "video/x-ms-wmv"),
        "application/pkcs7-mime" => named.media_type == "application/pkcs7-signature",
        "video/x-matroska" => named.media_type == "audio/x-matroska",
        "application/x-plist" => named.media_type == "application/x-webarchive",
        "application/x-hdf5" => named.media_type == "application/x-netcdf",
        _ => false,
    };
    if is_variant { named } else { found }
}

fn without_magic(head: &[u8], named: Option<Detected>, in_maildir: bool) -> Detected {
    let is_pdf = named.map(|named| named.media_type == PDF.media_type);
    if is_pdf != Some(false) && magic::is_plain_pdf(head, is_pdf.is_some()) {
        return PDF;
    }
    if let Some(message) = message(head, named, in_maildir) {
        return message;
    }
    // It has bytes of text and few others, of which only some are no UTF-8.
    if let Some(named) = named
        && named.media_type == "application/cbor"
        && std::str::from_utf8(head).is_err_and(|error| error.error_len().is_some())
    {
        return named;
    }
    // A stray NUL makes no binary of a text, unless its name says that it is one.
    let is_named_binary = named.is_some_and(|named| !is_text_based(named.media_type));
    let is_binary = match is_named_binary {
        true => text::has_binary_bytes(head),
        false => text::is_binary(head),
    };
    if is_binary {
        return binary(head, named);
    }
    let utf8 = if text::unit_bytes(head) > 1 {
        Cow::Owned(text::decode(head, None).into_owned().into_bytes())
    } else {
        Cow::Borrowed(head)
    };
    text_format(&utf8, named)
}

/// Returns the format of binary content that no magic number proves. The name of a binary format is
/// kept, and the extractor reports what is wrong with the content; the name of a text format is
/// not, since it would index noise. Web pages may hold stray NUL bytes, as browsers allow, and Info
/// manuals use some to mark indexes and pictures.
fn binary(head: &[u8], named: Option<Detected>) -> Detected {
    if let Some(Sniffed::Certain(found)) = sniff::text(head)
        && matches!(
            found.media_type,
            "text/html" | "application/xhtml+xml" | "application/x-gnuinfo"
        )
    {
        return found;
    }
    named
        .filter(|named| !is_text_only(named.media_type))
        .unwrap_or(UNKNOWN)
}

/// Recognises a message by content, unless its name says source code or markup. In a Maildir a
/// shorter header suffices, because drafts begin with fields that only their editor knows.
fn message(head: &[u8], named: Option<Detected>, in_maildir: bool) -> Option<Detected> {
    let is_open = named.is_none_or(|named| {
        named.kind == Kind::Message || named == PLAIN || !is_text_based(named.media_type)
    });
    if !is_open || !head[0].is_ascii_graphic() {
        return None;
    }
    sniff::message(head, in_maildir)
}

fn text_format(text: &[u8], named: Option<Detected>) -> Detected {
    let named = named.filter(|named| match named.media_type {
        "text/troff" => sniff::is_troff(text),
        media_type => is_text_based(media_type),
    });
    match (sniff::text(text), named) {
        (None, named) => named.unwrap_or(PLAIN),
        (Some(Sniffed::Likely(found) | Sniffed::Certain(found)), None) => found,
        (Some(Sniffed::Likely(found)), Some(PLAIN)) if found.kind == Kind::Source => found,
        (Some(Sniffed::Certain(found)), Some(named)) if is_vague(named) => found,
        (Some(_), Some(named)) => named,
    }
}

/// Returns whether files with this name are often markup: `.ts` is TypeScript and Qt's
/// translations, `.conf` may be XML, and `.xml` may be any kind of XML.
fn is_vague(named: Detected) -> bool {
    named == PLAIN
        || matches!(
            named.media_type,
            "text/x-typescript" | "text/x-ini" | "application/xml"
        )
}

/// Returns whether a file of this format may be text.
fn is_text_based(media_type: &str) -> bool {
    is_text_only(media_type)
        || matches!(
            media_type,
            "application/mbox"
                | "application/x-plist"
                | "application/vnd.jgraph.mxfile"
                | "application/x-abiword"
                | "application/x-pem-file"
                | "application/pkix-cert"
                | "application/pkcs7-mime"
                | "application/pkcs7-signature"
                | "application/timestamped-data"
                | "application/pgp-encrypted"
                | "application/pgp-signature"
                | "application/x-font-type1"
                | "image/x-portable-anymap"
                | "image/x-portable-bitmap"
                | "image/x-portable-graymap"
                | "image/x-portable-pixmap"
                | "image/vnd.dxf"
                | "model/obj"
                | "model/stl"
        )
}

/// Returns whether a file of this format must be text.
fn is_text_only(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || media_type.starts_with("message/")
        || media_type.ends_with("+xml")
        || media_type.ends_with("+json")
        || media_type.ends_with("-flat-xml")
        || matches!(
            media_type,
            "application/json"
                | "application/xml"
                | "application/xml-dtd"
                | "application/rtf"
                | "application/postscript"
                | "application/x-gnuinfo"
                | "application/x-subrip"
                | "application/x-gnote"
                | "application/x-lyx"
                | "application/vnd.mif"
                | "application/x-scribus"
                | "application/x-mimearchive"
                | "application/x-font-bdf"
                | "application/x-cue"
                | "audio/x-mpegurl"
                | "audio/x-scpls"
                | "image/x-xpixmap"
                | "image/x-xbitmap"
        )
}

#[cfg(test)]
mod tests;

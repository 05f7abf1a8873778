//! Web archives (WARC, ISO 28500): what a crawler received, record after record.
//!
//! Responses of servers are members, named by their address, without the compression and the chunks
//! of HTTP (RFC 9110, 9112). Requests, redirections and repeated responses are left out. A
//! compressed archive has one gzip frame for each record and is read like any compressed file.

use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use ken_core::Setting;

use crate::input::carry::{CountingReader, release};
use crate::output::Output;
use crate::output::members::{MemberNames, over, read_member};
use crate::structure::compression::{Allowance, Codec, Decoder};
use crate::{Error, Format, Input, Member, date};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("web archive", &["application/warc"], extract)
        .members("responses, by their address")
        .in_worker()
        .version(2)
        .streams();

/// Maximum length of a header.
const MAX_HEADER_BYTES: u64 = 256 << 10;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    extract_stream(CountingReader::new(input.reader()?), output)
}

/// Extracts the records of a streamed archive, whose failures carry an [`Error`].
pub(in crate::formats) fn extract_stream(
    reader: impl Read,
    output: &mut Output<'_>,
) -> Result<(), Error> {
    let mut reader = BufReader::new(reader);
    let mut names = MemberNames::default();
    while let Some(header) = next_record(&mut reader)? {
        let length = header.get("content-length").and_then(|n| n.parse().ok());
        let length: u64 =
            length.ok_or_else(|| Error::Malformed("a record has no length".into()))?;
        let mut block = (&mut reader).take(length);
        match Record::of(&header) {
            Some(record) => record.hand_on(&mut block, length, &mut names, output)?,
            None => skip(&mut block)?,
        }
        if block.limit() > 0 {
            let ends_early = "the archive ends or is damaged inside a record";
            return Err(Error::Malformed(ends_early.into()));
        }
    }
    Ok(())
}

/// Reads the header of the next record, after the empty lines that end the previous one.
fn next_record(reader: &mut impl BufRead) -> Result<Option<Header>, Error> {
    let mut lines = reader.take(MAX_HEADER_BYTES);
    let mut first = Vec::new();
    while first.trim_ascii().is_empty() {
        first.clear();
        if lines.read_until(b'\n', &mut first).map_err(release)? == 0 {
            return Ok(None);
        }
    }
    if !first.starts_with(b"WARC/") {
        return Err(Error::Malformed("a record does not begin with WARC".into()));
    }
    Header::read(&mut lines).map(Some)
}

/// Fields of a header; those of WARC and HTTP have the same form.
#[derive(Default)]
struct Header {
    /// MemberNames in lower case.
    fields: Vec<(String, String)>,
}

impl Header {
    /// Reads fields up to an empty line.
    fn read(lines: &mut impl BufRead) -> Result<Self, Error> {
        let mut header = Self::default();
        let mut line = Vec::new();
        loop {
            line.clear();
            lines.read_until(b'\n', &mut line).map_err(release)?;
            let text = String::from_utf8_lossy(&line);
            if text.trim().is_empty() {
                return Ok(header);
            }
            match (text.split_once(':'), header.fields.last_mut()) {
                // A value may continue in the next line.
                (_, Some((_, value))) if text.starts_with([' ', '\t']) => {
                    value.push(' ');
                    value.push_str(text.trim());
                }
                (Some((name, value)), _) => {
                    let name = name.trim().to_ascii_lowercase();
                    header.fields.push((name, value.trim().to_owned()));
                }
                (None, _) => {}
            }
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns whether a list of codings contains one.
    fn lists(&self, name: &str, coding: &str) -> bool {
        let codings = self.get(name).unwrap_or_default().split(',');
        codings
            .map(str::trim)
            .any(|one| one.eq_ignore_ascii_case(coding))
    }
}

/// A record that holds a file.
struct Record {
    address: String,
    modified: Option<i64>,
    media_type: Option<String>,
    is_http: bool,
}

impl Record {
    fn of(header: &Header) -> Option<Self> {
        let kind = header.get("warc-type")?;
        let content_type = header.get("content-type").unwrap_or_default();
        let is_http = content_type.starts_with("application/http");
        matches!(kind, "response" | "resource" | "conversion").then(|| Self {
            // Old crawlers put the address in brackets.
            address: header
                .get("warc-target-uri")
                .unwrap_or_default()
                .trim_matches(['<', '>'])
                .to_owned(),
            modified: header.get("warc-date").and_then(date::iso),
            media_type: media_type(content_type).filter(|_| !is_http),
            is_http: is_http && kind == "response",
        })
    }

    fn hand_on(
        mut self,
        block: &mut io::Take<&mut impl BufRead>,
        length: u64,
        names: &mut MemberNames,
        output: &mut Output<'_>,
    ) -> Result<(), Error> {
        let mut codings = Header::default();
        if self.is_http {
            let Some(header) = response(block)? else {
                return skip(block);
            };
            self.media_type = header.get("content-type").and_then(media_type);
            codings = header;
        }
        let component = names.unique(&self.address);
        let name = file_name(&self.address).to_owned();
        let limit = output.limits().limit(Setting::MaxMemberBytes);
        if block.limit() > limit.in_force {
            output.failed_member(&component, &name, over(limit))?;
            return skip(block);
        }
        let bytes = read_member(block, length, limit)?;
        match decoded(bytes, &codings, output) {
            Ok(bytes) => output.member(Member {
                ipath: output.child_ipath(&component),
                name,
                declared_type: self.media_type,
                modified: self.modified,
                bytes,
                ..Member::default()
            }),
            Err(error) => output.failed_member(&component, &name, error),
        }
    }
}

/// Reads the status line and header of a response; returns none if it only redirects.
fn response(block: &mut impl BufRead) -> Result<Option<Header>, Error> {
    let mut lines = block.take(MAX_HEADER_BYTES);
    let mut status = Vec::new();
    lines.read_until(b'\n', &mut status).map_err(release)?;
    let header = Header::read(&mut lines)?;
    let code = status.split(|&byte| byte == b' ').nth(1);
    let is_elsewhere = code.is_some_and(|code| code.starts_with(b"3"));
    Ok((!is_elsewhere).then_some(header))
}

/// Reverses the HTTP encodings of the content.
fn decoded(bytes: Vec<u8>, header: &Header, output: &Output<'_>) -> Result<Vec<u8>, Error> {
    // Some crawlers store the content without its chunks, but the original header.
    let bytes = match header.lists("transfer-encoding", "chunked") {
        true => joined(&bytes).unwrap_or(bytes),
        false => bytes,
    };
    let lists = |name| header.lists("content-encoding", name);
    let codec = if lists("gzip") || lists("x-gzip") {
        Codec::Gzip
    } else if lists("deflate") {
        // RFC 9110 section 8.4.1.2: within the format of zlib.
        Codec::Zlib
    } else if lists("br") {
        Codec::Brotli
    } else if lists("zstd") {
        Codec::Zstd
    } else {
        return Ok(bytes);
    };
    if codec == Codec::Gzip && !bytes.starts_with(b"\x1f\x8b") {
        return Ok(bytes);
    }
    let source = CountingReader::new(&bytes[..]);
    let allowance = Allowance::new(Rc::clone(&source.n_read()), output.limits());
    let mut decoder = Decoder::new(codec, BufReader::new(source), allowance).map_err(release)?;
    let limit = output.limits().limit(Setting::MaxMemberBytes);
    read_member(&mut decoder, 0, limit)
}

/// Joins chunks (RFC 9112, section 7.1); returns none if there are none.
fn joined(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut content = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        let end = memchr::memchr(b'\n', rest)?;
        let line = std::str::from_utf8(&rest[..end]).ok()?;
        let digits = line.split(';').next()?.trim();
        let length = usize::from_str_radix(digits, 16).ok()?;
        rest = &rest[end + 1..];
        if length == 0 {
            return Some(content);
        }
        // A truncated chunk is kept as far as it goes.
        let (chunk, after) = rest.split_at(length.min(rest.len()));
        content.extend_from_slice(chunk);
        rest = after.strip_prefix(b"\r\n").unwrap_or(after);
        if rest.is_empty() {
            return Some(content);
        }
    }
}

fn skip(block: &mut impl Read) -> Result<(), Error> {
    io::copy(block, &mut io::sink()).map_err(release)?;
    Ok(())
}

/// Returns the media type without parameters.
fn media_type(content_type: &str) -> Option<String> {
    let media_type = content_type.split(';').next()?.trim().to_ascii_lowercase();
    (!media_type.is_empty()).then_some(media_type)
}

/// Returns the last component of an address, without query and fragment.
fn file_name(address: &str) -> &str {
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let after_scheme = path.split_once("://").map_or(path, |(_, rest)| rest);
    match after_scheme.rsplit_once('/') {
        Some((_, name)) => name,
        // The name of a host is not a file name.
        None => "",
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Reason};

    use super::*;
    use crate::Limits;
    use crate::detect::Detected;
    use crate::testing::{Extracted, run, run_limited, survives};

    const DETECTED: Detected = Detected {
        media_type: "application/warc",
        kind: Kind::Archive,
    };
    const CRAWL: &[u8] = include_bytes!("../../../tests/data/web/crawl.warc");

    fn ipaths(found: &Extracted) -> Vec<&str> {
        found.members.iter().map(|m| m.ipath.as_str()).collect()
    }

    #[test]
    fn responses_are_members() {
        let found = run(extract, DETECTED, "a.warc", CRAWL);
        assert!(found.own().failure.is_none(), "{:?}", found.own());
        let expected = [
            ("https://example.org/", "", "text/html", "The warcweasel"),
            (
                "https://example.org/gz?page=1",
                "gz",
                "text/html",
                "The gzipgoose",
            ),
            (
                "https://example.org/notes/chunked.txt",
                "chunked.txt",
                "text/plain",
                "The chunkchinchilla came in pieces.",
            ),
            (
                "file:///notes/plain.txt",
                "plain.txt",
                "text/plain",
                "The resourceraven",
            ),
        ];
        assert_eq!(ipaths(&found), expected.map(|(address, ..)| address));
        for (member, (_, name, media_type, start)) in found.members.iter().zip(expected) {
            assert_eq!(member.name, name);
            assert_eq!(member.declared_type.as_deref(), Some(media_type));
            assert_eq!(member.modified, Some(1_714_979_290));
            assert!(String::from_utf8_lossy(&member.bytes).contains(start));
        }
    }

    #[test]
    fn what_is_too_large_or_cut_off_is_reported() {
        let limits = Limits {
            max_member_bytes: 70,
            ..Limits::default()
        };
        let found = run_limited(extract, DETECTED, "a.warc", CRAWL, &limits);
        assert_eq!(found.members.len(), 2);
        let failure = found.documents[0].failure.as_ref().unwrap();
        assert_eq!(failure.reason(), Reason::Limit);

        let found = run(extract, DETECTED, "a.warc", &CRAWL[..CRAWL.len() - 20]);
        assert_eq!(found.members.len(), 4);
        let failure = found.own().failure.as_ref().unwrap();
        assert_eq!(failure.reason(), Reason::Malformed);
    }

    #[test]
    fn names_of_files_stand_at_the_end_of_addresses() {
        assert_eq!(file_name("https://example.org/a/b.pdf?x=/y.txt#z"), "b.pdf");
        assert_eq!(file_name("https://example.org/"), "");
        assert_eq!(file_name("https://example.org"), "");
        assert_eq!(file_name("dns:example.org"), "");
    }

    #[test]
    fn hostile_bytes_are_survived() {
        survives(extract, DETECTED, "a.warc", CRAWL);
    }
}

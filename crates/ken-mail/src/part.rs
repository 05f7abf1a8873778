//! The header of a MIME part (RFC 2045, 2183, 2231) and the parts of a multipart (RFC 2046).

use memchr::{memchr, memmem};

use crate::Detect;
use crate::charset::Charset;
use crate::decode::Transfer;
use crate::header::clean;
use crate::lines::line_end;
use crate::params::Params;
use crate::words;

/// The most bytes of a value that are read. A message may have thousands of values.
const MAX_VALUE_BYTES: usize = 4 << 10;

/// What the header of a part says of its content.
#[derive(Debug, Default)]
pub(crate) struct PartInfo {
    /// The media type in lower case; empty if not declared.
    pub(crate) media_type: String,
    pub(crate) charset: Charset,
    pub(crate) boundary: Option<String>,
    /// The parameter `smime-type`.
    pub(crate) smime_type: Option<String>,
    /// The file name without folders.
    pub(crate) name: String,
    pub(crate) is_attachment: bool,
    pub(crate) is_flowed: bool,
    pub(crate) deletes_space: bool,
    pub(crate) transfer: Transfer,
    /// The address of a saved page (RFC 2557).
    pub(crate) location: String,
}

impl PartInfo {
    /// Reads a header field that describes the part; the first of each name counts.
    pub(crate) fn take(&mut self, name: &[u8], value: &[u8], detect: Detect<'_>) {
        const PREFIX: &[u8] = b"content-";
        let is = |rest: &[u8]| name[PREFIX.len()..].eq_ignore_ascii_case(rest);
        if name.len() <= PREFIX.len() || !name[..PREFIX.len()].eq_ignore_ascii_case(PREFIX) {
            return;
        }
        let value = &value[..value.len().min(MAX_VALUE_BYTES)];
        if is(b"type") && self.media_type.is_empty() {
            self.take_type(&clean(value, detect), detect);
        } else if is(b"disposition") {
            self.take_disposition(&clean(value, detect), detect);
        } else if is(b"location") && self.location.is_empty() {
            self.location = clean(value, detect).trim().to_owned();
        } else if is(b"transfer-encoding") {
            self.transfer = Transfer::from_name(&words::decoded(&clean(value, detect), detect));
        }
    }

    fn take_type(&mut self, value: &str, detect: Detect<'_>) {
        let params = Params::new(value);
        if params.word.is_empty() {
            return;
        }
        self.media_type = params.word.to_ascii_lowercase();
        if !self.media_type.contains('/') {
            self.media_type.push_str("/plain");
        }
        let get = |name| params.get(name, detect);
        self.charset = Charset::named(&get("charset").unwrap_or_default());
        self.boundary = get("boundary");
        self.smime_type = get("smime-type").map(|kind| kind.to_ascii_lowercase());
        self.is_flowed = params.is("format", "flowed");
        self.deletes_space = params.is("delsp", "yes");
        if self.name.is_empty() {
            self.name = file_name(&get("name").unwrap_or_default());
        }
    }

    fn take_disposition(&mut self, value: &str, detect: Detect<'_>) {
        let params = Params::new(value);
        self.is_attachment = params.word.eq_ignore_ascii_case("attachment");
        if let Some(name) = params.get("filename", detect) {
            self.name = file_name(&name);
        }
    }
}

/// Returns a declared name without folders.
pub(crate) fn file_name(declared: &str) -> String {
    let name = declared.rsplit(['/', '\\']).next().unwrap_or_default();
    name.trim().to_owned()
}

/// Returns the parts between the boundary lines of a multipart, at most `max_parts`.
///
/// If the last boundary is missing, the last part ends with the text. If there is no delimiter at all, the first line
/// that looks like one gives the boundary.
pub(crate) fn split<'a>(body: &'a [u8], boundary: &str, max_parts: usize) -> Vec<&'a [u8]> {
    let delimiter = format!("--{}", boundary.trim_end());
    let parts = match boundary {
        "" => Vec::new(),
        _ => split_at(body, delimiter.as_bytes(), max_parts),
    };
    if !parts.is_empty() {
        return parts;
    }
    let likely = likely_delimiter(body);
    likely.map_or_else(Vec::new, |delimiter| split_at(body, delimiter, max_parts))
}

/// Returns the first line with two hyphens before the header of a part.
fn likely_delimiter(body: &[u8]) -> Option<&[u8]> {
    const FIELD: &[u8] = b"content-";
    let is_line = |start: &usize| *start == 0 || body[start - 1] == b'\n';
    memmem::find_iter(body, b"--")
        .filter(is_line)
        .find_map(|start| {
            let (line, next) = body[start..].split_at(line_end(&body[start..]));
            let is_followed =
                next.len() > FIELD.len() && next[..FIELD.len()].eq_ignore_ascii_case(FIELD);
            let line = line.trim_ascii_end();
            (is_followed && line.len() > 2).then_some(line)
        })
}

fn split_at<'a>(body: &'a [u8], delimiter: &[u8], max_parts: usize) -> Vec<&'a [u8]> {
    let finder = memmem::Finder::new(delimiter);
    let mut parts = Vec::new();
    let mut open = None;
    let mut at = 0;
    while let Some(found) = finder.find(&body[at..]) {
        let start = at + found;
        at = start + delimiter.len();
        let Some((line_end, is_last)) = delimiter_end(body, start, at) else {
            continue;
        };
        if let Some(part_start) = open.take() {
            parts.push(without_line_end(&body[part_start..start.max(part_start)]));
        }
        if parts.len() >= max_parts {
            return parts;
        }
        at = line_end;
        // Some programs continue after the last delimiter.
        open = (!is_last).then_some(at);
    }
    parts.extend(open.map(|start| &body[start..]));
    parts
}

/// Returns the end of the line of a delimiter, and whether it is the last delimiter; `None` if the line has anything
/// else.
fn delimiter_end(body: &[u8], start: usize, after: usize) -> Option<(usize, bool)> {
    if start > 0 && body[start - 1] != b'\n' {
        return None;
    }
    let line_end = memchr(b'\n', &body[after..]).map_or(body.len(), |at| after + at + 1);
    let rest = body[after..line_end].trim_ascii();
    match rest {
        b"" => Some((line_end, false)),
        b"--" => Some((line_end, true)),
        _ => None,
    }
}

/// Removes the line end that belongs to the next delimiter.
fn without_line_end(part: &[u8]) -> &[u8] {
    let part = part.strip_suffix(b"\n").unwrap_or(part);
    part.strip_suffix(b"\r").unwrap_or(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(field: &str) -> PartInfo {
        let mut info = PartInfo::default();
        let (name, value) = field.split_once(':').unwrap();
        info.take(name.as_bytes(), value.as_bytes(), &|bytes| {
            bytes.iter().map(|byte| char::from(*byte)).collect()
        });
        info
    }

    #[test]
    fn names_are_decoded_however_they_are_written() {
        for (field, name) in [
            ("Content-Disposition: attachment; filename=a.txt", "a.txt"),
            (
                "Content-Disposition: inline; filename=\"a b.txt\"",
                "a b.txt",
            ),
            (
                "Content-Disposition: attachment; filename*=utf-8''caf%C3%A9.txt",
                "café.txt",
            ),
            (
                "Content-Disposition: attachment;\n filename*0=\"long\";\n filename*1=\"name.txt\"",
                "longname.txt",
            ),
            (
                "Content-Type: image/png; name=\"=?utf-8?B?Y2Fmw6k=?=.png\"",
                "café.png",
            ),
            (
                "Content-Type: image/png; name=\"C:\\\\dir\\\\a.png\"",
                "a.png",
            ),
            ("Content-Type: image/png; name=\"../../a.png\"", "a.png"),
            ("Content-Type: image/png", ""),
        ] {
            assert_eq!(info(field).name, name, "{field}");
        }
    }

    #[test]
    fn types_are_read_with_their_parameters() {
        let flowed = info("content-type: Text/PLAIN; charset=\"UTF-8\"; Format=Flowed; delsp=yes");
        assert_eq!(flowed.media_type, "text/plain");
        assert_eq!(flowed.charset, Charset::named("utf-8"));
        assert!(flowed.is_flowed && flowed.deletes_space);
        assert_eq!(info("Content-Type: text").media_type, "text/plain");
        assert_eq!(info("Content-Type:").media_type, "");
        assert_eq!(
            info("Content-Transfer-Encoding: BASE64 ").transfer,
            Transfer::Base64
        );
        assert!(info("Content-Disposition: Attachment").is_attachment);
    }

    #[test]
    fn multiparts_are_split_at_whole_lines() {
        for (body, expected) in [
            ("--b\n1\n--b\n2\n--b--\nepilogue", &["1", "2"][..]),
            ("preamble\r\n--b\r\n1\r\n--b  \r\n2\r\n--b--", &["1", "2"]),
            ("--b\n1\n--b\n2", &["1", "2"]),
            ("--b\n1\n--bc\n2\n--b--", &["1\n--bc\n2"]),
            ("--b\nsee --b\n--b--", &["see --b"]),
            ("--b\n--b\n--b--", &["", ""]),
            ("--b\n1\n--b--\n\n--b\n2\n--b--\n", &["1", "2"]),
            (
                "--c\nContent-Type: x\n\n1\n--c--\n",
                &["Content-Type: x\n\n1"],
            ),
            ("-- \nAnn\n--c\nno header\n", &[]),
            ("none", &[]),
            ("", &[]),
        ] {
            let parts: Vec<_> = split(body.as_bytes(), "b", 9)
                .into_iter()
                .map(|part| std::str::from_utf8(part).unwrap())
                .collect();
            assert_eq!(parts, expected, "{body:?}");
        }
        assert_eq!(split(b"--b\n1\n--b\n2\n--b\n3\n--b--", "b", 2).len(), 2);
    }
}

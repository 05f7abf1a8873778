//! Property lists of Apple: keys and texts as lines, in XML or in binary form. Data are left out.

use ken_core::Document;

use super::{Dialect, Role, no_attribute};
use crate::output::Output;
use crate::output::body::Body;
use crate::structure::plist::{List, Object};
use crate::structure::xml::Start;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("property list", &["application/x-plist"], extract);

const DIALECT: Dialect = Dialect {
    role,
    is_text: no_attribute,
};

/// Property lists are never nested so deep.
const MAX_DEPTH: usize = 64;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    if !input.head()?.starts_with(b"bplist") {
        return super::extract(input, output, &DIALECT).map(drop);
    }
    let limits = output.limits();
    // Each entry takes a byte. Objects that contain each other, and texts that share their bytes,
    // are not read more often than others.
    let mut n_left = usize::try_from(input.size())
        .unwrap_or(usize::MAX)
        .saturating_mul(2);
    let list = List::open(input.bytes(limits)?).ok_or_else(|| {
        Error::Malformed("the table of objects is missing: cut off or damaged".into())
    })?;
    let mut body = Body::new(limits.max_text_bytes);
    if let Some(top) = list.top() {
        read(top, 0, &mut n_left, &mut body);
    }
    output.own().body = body.finish();
    Ok(())
}

fn role(_: &str, tag: &Start<'_>, _: &mut Document) -> Role {
    match tag.name() {
        "key" | "string" | "integer" | "real" | "date" => Role::Line,
        "data" => Role::Skip,
        _ => Role::Inline,
    }
}

fn read(object: Object<'_>, depth: usize, n_left: &mut usize, body: &mut Body) {
    if depth > MAX_DEPTH || body.is_full() {
        return;
    }
    let text = object.text();
    // Entries cost something even if none of them can be read.
    let cost = object.declared_length().saturating_add(1);
    let Some(rest) = n_left.checked_sub(cost) else {
        *n_left = 0;
        return;
    };
    *n_left = rest;
    if let Some(text) = text {
        return body.line(text.trim());
    }
    for inner in object.items() {
        if *n_left == 0 {
            return;
        }
        read(inner, depth + 1, n_left, body);
    }
    for (key, value) in object.pairs() {
        if *n_left == 0 {
            return;
        }
        read(key, depth + 1, n_left, body);
        read(value, depth + 1, n_left, body);
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{Kind, Reason};

    use super::*;
    use crate::detect::Detected;
    use crate::testing::{run, survives};

    const PLIST: Detected = Detected {
        media_type: "application/x-plist",
        kind: Kind::Data,
    };

    /// Returns a binary list of these objects, the first of which is the outermost.
    fn binary(objects: &[&[u8]]) -> Vec<u8> {
        let mut list = b"bplist00".to_vec();
        let mut offsets = Vec::new();
        for object in objects {
            offsets.push(list.len() as u8);
            list.extend(*object);
        }
        let table = list.len() as u64;
        list.extend(offsets);
        list.extend([0, 0, 0, 0, 0, 0, 1, 1]);
        list.extend(
            [objects.len() as u64, 0, table]
                .map(u64::to_be_bytes)
                .concat(),
        );
        list
    }

    #[test]
    fn keys_and_texts_are_lines() {
        let wide = b"\x65\0G\0r\0\xf6\0\xdf\0e";
        let list = binary(&[
            b"\xd2\x01\x02\x03\x04",
            b"\x53URL",
            b"\x55Title",
            b"\x5f\x10\x13https://example.org",
            b"\xa2\x05\x06",
            wide,
            b"\x42ab",
        ]);
        let found = run(extract, PLIST, "a.webloc", &list);
        assert_eq!(found.own().failure, None);
        assert_eq!(found.own().body, "URL\nhttps://example.org\nTitle\nGröße");
        survives(extract, PLIST, "a.webloc", &list);
        let xml = "<?xml version='1.0'?><plist><dict><key>URL</key><string>https://example.org</string>\
                   <key>Icon</key><data>AAAA</data></dict></plist>";
        let found = run(extract, PLIST, "a.plist", xml.as_bytes());
        assert_eq!(found.own().body, "URL\nhttps://example.org\nIcon");
    }

    #[test]
    fn lists_that_contain_themselves_end() {
        let list = binary(&[b"\xa2\x00\x00"]);
        assert_eq!(run(extract, PLIST, "a.plist", &list).own().body, "");
        let found = run(extract, PLIST, "a.plist", b"bplist00");
        let failure = found.own().failure.as_ref();
        assert_eq!(failure.map(|f| f.reason()), Some(Reason::Malformed));
    }
}

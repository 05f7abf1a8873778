//! The fields of a hit under Recoll's names.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ken_core::{Document, Field, Value};
use ken_search::service::Hit;

/// Returns the names and values for `-m` and `-F`, without empty values.
pub(super) fn all(hit: &Hit, rating: Option<u8>) -> Vec<(&'static str, Vec<u8>)> {
    let Hit {
        location, document, ..
    } = hit;
    let number = |field| document.number(field);
    let text = |fields: &[Field]| joined(document, fields);
    let mut udi = location.path.as_os_str().as_bytes().to_vec();
    udi.push(b'|');
    udi.extend(location.ipath.as_str().bytes());
    let mut fields: Vec<(&'static str, Vec<u8>)> = vec![
        ("url", url(&location.path, false)),
        ("ipath", location.ipath.as_str().into()),
        ("rcludi", udi),
        ("mtype", document.media_type.clone().into()),
        (
            "mtime",
            time(number(Field::Date).or(number(Field::Modified))),
        ),
        (
            "dmtime",
            time(number(Field::Date).filter(|of| Some(*of) != number(Field::Modified))),
        ),
        ("fmtime", time(number(Field::Modified))),
        ("fbytes", decimal(number(Field::Size))),
        ("dbytes", hit.n_text_bytes.unwrap_or(0).to_string().into()),
        ("title", text(&[Field::Title])),
        ("caption", text(&[Field::Title])),
        ("filename", text(&[Field::Filename])),
        ("author", text(&[Field::Author])),
        ("recipient", text(&[Field::To, Field::Cc, Field::Bcc])),
        ("keywords", text(&[Field::Keywords])),
        ("abstract", text(&[Field::Description])),
    ];
    if location.ipath.as_str().is_empty() {
        fields.push(("pcbytes", decimal(number(Field::Size))));
    }
    if let Some(rating) = rating {
        fields.push(("relevancyrating", format!("{rating:3}%").into()));
    }
    // Fields for which Recoll has no name.
    for field in [
        Field::Lang,
        Field::Msgid,
        Field::List,
        Field::Artist,
        Field::Album,
    ] {
        fields.push((field.name(), text(&[field])));
    }
    fields.retain(|(_, value)| !value.is_empty());
    fields
}

/// Returns the name that [`all`] uses for a field.
pub(super) fn canonical(name: &str) -> &str {
    match name {
        "mimetype" | "mime" => "mtype",
        "subject" => "title",
        "from" => "author",
        "to" => "recipient",
        "keyword" => "keywords",
        "fn" => "filename",
        "size" => "fbytes",
        name => name,
    }
}

fn joined(document: &Document, fields: &[Field]) -> Vec<u8> {
    let values = fields.iter().flat_map(|wanted| {
        let of = document
            .fields
            .iter()
            .filter(move |(field, _)| field == wanted);
        of.filter_map(|(_, value)| match value {
            Value::Text(text) => Some(text.as_str()),
            Value::Number(_) => None,
        })
    });
    values.collect::<Vec<_>>().join(" ").into_bytes()
}

/// Returns seconds since 1970 with eleven digits, as Recoll stores them for sorting.
fn time(seconds: Option<i64>) -> Vec<u8> {
    seconds.map_or_else(Vec::new, |seconds| format!("{seconds:011}").into_bytes())
}

fn decimal(number: Option<i64>) -> Vec<u8> {
    number.map_or_else(Vec::new, |number| number.to_string().into_bytes())
}

/// Returns the URL of a file, with the bytes of its path unchanged or encoded.
pub(super) fn url(path: &Path, encode: bool) -> Vec<u8> {
    let mut url = b"file://".to_vec();
    for &byte in path.as_os_str().as_bytes() {
        let special = byte <= b' ' || byte >= 0x7f || b"\"#%;<>?[\\]^`{|}".contains(&byte);
        if encode && special {
            url.extend(format!("%{byte:02X}").bytes());
        } else {
            url.push(byte);
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_encoded_as_recollq_does() {
        let path = Path::new("/a/odd é\"#?;[]<>\\^`{|}~+=@,!$'()*:_-.txt");
        let plain = "file:///a/odd é\"#?;[]<>\\^`{|}~+=@,!$'()*:_-.txt";
        let encoded =
            "file:///a/odd%20%C3%A9%22%23%3F%3B%5B%5D%3C%3E%5C%5E%60%7B%7C%7D~+=@,!$'()*:_-.txt";
        assert_eq!(url(path, false), plain.as_bytes());
        assert_eq!(url(path, true), encoded.as_bytes());
    }
}

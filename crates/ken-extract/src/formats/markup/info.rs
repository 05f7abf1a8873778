//! GNU Info: manuals from `makeinfo`, one section for each node.
//!
//! A node begins after a line of U+001F (which decoding turned into a space) with a line `File: …,
//! Node: …`, which is left out, as are the tables at the end.
//! <https://www.gnu.org/software/texinfo/manual/texinfo/html_node/Info-Format-Specification.html>

use ken_core::Field;

use crate::input::text::read;
use crate::output::Output;
use crate::output::body::Body;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("GNU Info", &["application/x-gnuinfo"], extract)
        .fields(&[Field::Title])
        .sections("nodes")
        .version(2)
        .streams();

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let (text, result) = read(input, output.limits())?;
    let mut body = Body::new(output.limits().max_text_bytes);
    let mut is_table = false;
    let mut title = None;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line == " " {
            let next = lines.peek().map_or("", |next| next.trim());
            is_table = matches!(
                next,
                "Tag Table:" | "Indirect:" | "Local Variables:" | "End Tag Table"
            );
            // A line that consists of a space may be part of the text.
            if next.starts_with("File:") {
                body.break_page();
                lines.next();
            }
            continue;
        }
        if is_table || body.is_full() {
            continue;
        }
        let underline = lines.peek().map_or("", |next| next.trim());
        if title.is_none() && is_underline(underline) {
            title = Some(line.trim());
        }
        if !is_underline(line.trim()) {
            body.push(line);
            body.end_paragraph();
        }
    }
    let document = output.own();
    document.add_text(Field::Title, title.unwrap_or_default());
    document.body = body.finish();
    result
}

/// Returns whether a line underlines a heading: with stars, equals signs, hyphens or dots.
fn is_underline(line: &str) -> bool {
    let first = line.bytes().next().unwrap_or_default();
    line.len() > 2
        && matches!(first, b'*' | b'=' | b'-' | b'.')
        && line.bytes().all(|byte| byte == first)
}

#[cfg(test)]
mod tests {
    use ken_core::Kind;

    use super::*;
    use crate::detect::{self, Detected};
    use crate::testing::{run, survives};

    const INFO: Detected = Detected {
        media_type: "application/x-gnuinfo",
        kind: Kind::Document,
    };
    const SURVEY: &[u8] = include_bytes!("../../../tests/data/text/survey.info");

    #[test]
    fn a_line_of_one_space_loses_no_text() {
        let text = "One\n \nTwo\n";
        let found = run(extract, INFO, "a.info", text.as_bytes());
        assert_eq!(found.own().body, "One\nTwo");
    }

    #[test]
    fn marks_of_indexes_make_no_binary() {
        let manual = b"This is a.info, produced by makeinfo version 5.1 from a.texi.\n\n\x1f\n\
            File: a.info,  Node: Index\n\n\0\x08[index\0\x08]\n* Menu:\n\n* kelp: Otters. (line 6)\n";
        let input = Input::bytes_of("a.info", manual);
        assert_eq!(detect::detect(&input).unwrap(), INFO);
        let found = run(extract, INFO, "a.info", manual);
        assert!(found.own().body.contains("* kelp: Otters."));
        let entry =
            b"INFO-DIR-SECTION Animals\n\n\x1f\nFile: a.info,  Node: Top\n\n\0\x08[index\0\x08]\n";
        let input = Input::bytes_of("a.info", entry);
        assert_eq!(detect::detect(&input).unwrap(), INFO);
    }

    #[test]
    fn nodes_are_sections() {
        for name in ["survey.info", "survey.info-1"] {
            let input = Input::bytes_of(name, SURVEY);
            assert_eq!(detect::detect(&input).unwrap(), INFO);
        }
        let found = run(extract, INFO, "survey.info", SURVEY);
        let own = found.own();
        assert_eq!(own.text(Field::Title), Some("Fjord survey"));
        let nodes: Vec<_> = own.body.split('\u{c}').collect();
        assert_eq!(nodes.len(), 4, "{nodes:?}");
        assert!(nodes[2].contains("clings to _kelp_"), "{nodes:?}");
        assert!(!own.body.contains("Tag Table"));
        assert!(!own.body.contains("Node:"), "{}", own.body);
    }

    #[test]
    fn hostile_manuals_are_survived() {
        survives(extract, INFO, "survey.info", SURVEY);
    }
}

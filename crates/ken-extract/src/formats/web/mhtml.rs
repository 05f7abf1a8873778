//! Saved web pages (`.mht`, RFC 2557): a MIME message of a page and its resources.
//!
//! The message is parsed like mail. The text is that of the page and its frames; pictures, styles
//! and scripts are left out.

use ken_core::Field;
use ken_mail::{Message, Text};

use super::html::html_from;
use crate::output::Output;
use crate::{Error, Format, Input, text};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format =
    Format::new("saved web page", &["application/x-mimearchive"], extract)
        .fields(&[
            Field::Title,
            Field::Headings,
            Field::Author,
            Field::Description,
            Field::Keywords,
            Field::Lang,
            Field::Created,
            Field::Date,
        ])
        .sections("frames")
        .version(5);

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let bytes = input.bytes(output.limits())?;
    let detect_charset = |bytes: &[u8]| text::decode(bytes, None).into_owned();
    let message = Message::parse(bytes, &detect_charset);
    let max_bytes = output.limits().max_text_bytes;
    // Frames are mostly named by numbers.
    let address = message.texts.iter().find_map(|part| match part {
        Text::Html(page) if !page.location.is_empty() => Some(page.location.clone()),
        _ => None,
    });
    let address = address.unwrap_or_default();
    let own = output.own();
    for (number, part) in message.texts.iter().enumerate() {
        if number > 0 {
            own.body.push('\x0c');
        }
        match part {
            Text::Plain(text) => {
                let left = max_bytes.saturating_sub(own.body.len());
                own.body.push_str(&text[..text.floor_char_boundary(left)]);
            }
            Text::Html(html) => {
                let left = max_bytes.saturating_sub(own.body.len());
                let (bytes, charset) = html.page();
                let page = html_from(&address, &bytes, charset, left);
                own.body.push_str(&page.body);
                for heading in &page.headings {
                    own.add_text(Field::Headings, heading);
                }
                // The metadata of a frame are not about the page.
                if number == 0 {
                    own.add_text(Field::Title, page.title.as_deref().unwrap_or_default());
                    own.fields.extend(page.fields);
                }
            }
        }
    }
    if own.text(Field::Title).is_none() {
        own.add_text(Field::Title, &message.subject);
    }
    if let (Some(date), None) = (message.date, own.number(Field::Date)) {
        own.add_number(Field::Date, date);
    }
    if message.is_cut {
        return Err(Error::built_in("the message has too many parts"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use ken_core::Kind;

    use super::*;
    use crate::detect::Detected;
    use crate::testing::{run, survives};

    const DETECTED: Detected = Detected {
        media_type: "application/x-mimearchive",
        kind: Kind::Document,
    };
    const PAGE: &[u8] = include_bytes!("../../../tests/data/web/page.mht");

    #[test]
    fn the_page_and_its_frames_are_text() {
        let found = run(extract, DETECTED, "a.mht", PAGE);
        let own = found.own();
        assert!(own.failure.is_none(), "{own:?}");
        assert_eq!(own.text(Field::Title), Some("Die Größe der Mähnenrobben"));
        assert_eq!(own.text(Field::Keywords), Some("seals"));
        assert_eq!(own.number(Field::Date), Some(1_714_979_290));
        let sections: Vec<&str> = own.body.split('\x0c').collect();
        assert_eq!(sections.len(), 2);
        assert!(sections[0].contains("mhtmlmanatee = saved"));
        assert!(sections[1].contains("framefalcon"));
        assert!(!own.body.contains("color"));
        assert!(found.members.is_empty());
    }

    #[test]
    fn targets_of_links_to_other_sites_follow_the_text() {
        let page = "Subject: T\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n\
            --x\nContent-Type: text/html\nContent-Location: https://site.example/a\n\n\
            <a href='https://site.example/b'>b</a> <a href='https://else.example/c'>c</a>\n\
            --x\nContent-Type: text/html\nContent-Location: cid:frame\n\n\
            <a href='https://www.site.example/d'>d</a>\n--x--\n";
        let found = run(extract, DETECTED, "a.mht", page.as_bytes());
        assert_eq!(found.own().body, "b c\nhttps://else.example/c\x0cd");
    }

    #[test]
    fn hostile_bytes_are_survived() {
        survives(extract, DETECTED, "a.mht", PAGE);
    }
}

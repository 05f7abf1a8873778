//! What a worker drew, as a message. The parent checks what it can without reading a picture itself.

use std::ops::Range;

use ken_core::{Cause, Failure};

use super::protocol::{Broken, Decoder, Encoder};
use crate::picture::{Area, Drawn, PageText, Picture, PlacedWord};

/// The answer of a worker.
#[derive(Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) drawn: Result<Drawn, Cause>,
    /// Whether the worker asks to be replaced.
    pub(super) retire: bool,
}

/// Returns the head and the blob of an answer.
pub(super) fn write(drawn: &Result<Drawn, Cause>, retire: bool) -> (Encoder, Vec<u8>) {
    let mut head = Encoder::default();
    head.flag(retire);
    let blob = match drawn {
        Err(cause) => {
            head.number(0);
            head.failure(&Failure::new(cause.clone()));
            Vec::new()
        }
        Ok(Drawn::Picture(picture)) => {
            head.number(1);
            picture.to_bytes()
        }
        Ok(Drawn::Text(text)) => {
            head.number(2);
            write_words(&mut head, &text.words);
            text.text.clone().into_bytes()
        }
    };
    (head, blob)
}

/// Reads what [`write`] returned.
pub(super) fn read(head: &[u8], blob: Vec<u8>) -> Result<Answer, Broken> {
    let mut head = Decoder(head);
    let retire = head.flag()?;
    let drawn = match head.number()? {
        0 => Err(head.failure()?.cause),
        1 => {
            let picture = Picture::from_bytes(blob);
            Ok(Drawn::Picture(picture.ok_or(Broken("no picture"))?))
        }
        2 => {
            let text = String::from_utf8(blob).map_err(|_| Broken("text that is not UTF-8"))?;
            let words = read_words(&mut head, &text)?;
            Ok(Drawn::Text(PageText { text, words }))
        }
        _ => return Err(Broken("no such answer")),
    };
    Ok(Answer { drawn, retire })
}

fn write_words(head: &mut Encoder, words: &[PlacedWord]) {
    head.number(words.len() as u64);
    for PlacedWord { range, area } in words {
        head.number(range.start as u64);
        head.number(range.end as u64);
        for share in [area.left, area.top, area.width, area.height] {
            head.number(share.to_bits().into());
        }
    }
}

fn read_words(head: &mut Decoder<'_>, text: &str) -> Result<Vec<PlacedWord>, Broken> {
    let mut words = Vec::new();
    for _ in 0..head.number()? {
        let range = range(head, text)?;
        let [left, top, width, height] = [share(head)?, share(head)?, share(head)?, share(head)?];
        let area = Area {
            left,
            top,
            width,
            height,
        };
        words.push(PlacedWord { range, area });
    }
    Ok(words)
}

fn range(head: &mut Decoder<'_>, text: &str) -> Result<Range<usize>, Broken> {
    let range = head.size()?..head.size()?;
    let word = text.get(range.clone());
    word.ok_or(Broken("a word outside its text"))?;
    Ok(range)
}

/// Reads a fraction of a page's width or height.
fn share(head: &mut Decoder<'_>) -> Result<f32, Broken> {
    let share = f32::from_bits(head.small()?);
    let is_share = (0.0..=1.0).contains(&share);
    is_share
        .then_some(share)
        .ok_or(Broken("a word outside its page"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Encoding;

    fn text() -> PageText {
        PageText {
            text: "ein Wörtchen".into(),
            words: vec![PlacedWord {
                range: 4..13,
                area: Area {
                    left: 0.5,
                    top: 0.0,
                    width: 0.25,
                    height: 1.0,
                },
            }],
        }
    }

    fn read_back(drawn: &Result<Drawn, Cause>) -> Result<Answer, Broken> {
        let (head, blob) = write(drawn, true);
        read(&head.0, blob)
    }

    #[test]
    fn answers_arrive_as_they_were_given() {
        let picture = Picture {
            encoding: Encoding::Jpeg,
            width: 3,
            height: 1 << 20,
            bytes: b"\xFF\xD8\xFF\xE0".to_vec(),
        };
        for drawn in [
            Ok(Drawn::Picture(picture)),
            Ok(Drawn::Text(text())),
            Err(Cause::Password { tried: true }),
        ] {
            let retire = true;
            assert_eq!(read_back(&drawn), Ok(Answer { drawn, retire }));
        }
    }

    #[test]
    fn what_is_no_picture_and_no_word_of_the_page_is_refused() {
        let page = Picture {
            encoding: Encoding::Png,
            width: 1,
            height: 1,
            bytes: b"<svg onload=alert(1)>".to_vec(),
        };
        assert!(read_back(&Ok(Drawn::Picture(page))).is_err());
        let change = |change: &dyn Fn(&mut PlacedWord)| {
            let mut text = text();
            change(&mut text.words[0]);
            read_back(&Ok(Drawn::Text(text))).map(|_| ())
        };
        assert_eq!(change(&|_| ()), Ok(()));
        assert!(change(&|word| word.range.end = 14).is_err());
        assert!(change(&|word| word.range = 6..9).is_err(), "half a letter");
        assert!(change(&|word| word.area.left = f32::NAN).is_err());
        assert!(change(&|word| word.area.top = -0.1).is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(head: Vec<u8>, blob: Vec<u8>) {
            drop(read(&head, blob));
        }
    }
}

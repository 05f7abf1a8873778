//! Subtitles and lyrics without their times: SubRip, WebVTT, SubStation Alpha, MicroDVD, SubViewer,
//! LRC.
//!
//! Each line is judged separately, whatever the extension says. A line of times, a number and a
//! style block are left out, and marks within a text are removed.

use ken_core::{Document, Field};

use crate::input::text::read;
use crate::output::Output;
use crate::output::body::Body;
use crate::{Error, Format, Input};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "subtitles, lyrics",
    &[
        "application/x-subrip",
        "text/vtt",
        "text/x-ssa",
        "text/x-microdvd",
        "text/x-lrc",
    ],
    extract,
)
.fields(&[Field::Title, Field::Artist, Field::Album, Field::Author])
.version(3)
.streams();

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    let media_type = output.detected().media_type;
    let (text, result) = read(input, output.limits())?;
    let mut body = Body::new(output.limits().max_text_bytes);
    match media_type {
        "text/x-ssa" => script(&text, output.own(), &mut body),
        "text/x-lrc" => lyrics(&text, output.own(), &mut body),
        _ => cues(&text, &mut body),
    }
    output.own().body = body.finish();
    result
}

/// Reads SubRip, WebVTT, SubViewer and MicroDVD: lines of text between lines of times.
fn cues(text: &str, body: &mut Body) {
    let mut lines = text.lines().peekable();
    let is_web = text.starts_with("WEBVTT");
    let mut is_style = is_web;
    let mut is_start = true;
    while let Some(line) = lines.next() {
        if line.trim().is_empty() {
            (is_style, is_start) = (false, true);
            continue;
        }
        let was_start = std::mem::take(&mut is_start);
        let next = lines.peek().copied().unwrap_or_default();
        is_style |= is_web && is_block(line.trim_end());
        // The line above the times is the name of a cue: a number, in WebVTT anything after a gap.
        let is_number = line.trim().bytes().all(|byte| byte.is_ascii_digit());
        let is_name = is_time(next) && (is_number || (is_web && was_start));
        if is_style || is_time(line) || is_name {
            continue;
        }
        // MicroDVD has frames before its text, and bars between lines.
        for line in without_frames(line).split('|') {
            body.line(shown(line).trim());
        }
        if body.is_full() {
            break;
        }
    }
}

/// Returns whether a line begins a WebVTT block without text for viewers.
fn is_block(line: &str) -> bool {
    matches!(line, "STYLE" | "REGION" | "NOTE") || line.starts_with("NOTE ")
}

/// Returns whether a line holds times: `00:00:01,000 --> 00:00:02,000`, `0:00:01.000,0:00:02.000`
fn is_time(line: &str) -> bool {
    let line = line.trim();
    line.contains("-->")
        || (line.len() > 12
            && line.contains(',')
            && line
                .bytes()
                .all(|byte| byte.is_ascii_digit() || matches!(byte, b':' | b'.' | b',')))
}

/// Removes the frames from `{100}{150}text`.
fn without_frames(line: &str) -> &str {
    let mut rest = line;
    for _ in 0..2 {
        let after = rest.strip_prefix('{').and_then(|rest| {
            let (number, after) = rest.split_once('}')?;
            number
                .bytes()
                .all(|byte| byte.is_ascii_digit())
                .then_some(after)
        });
        rest = after.unwrap_or(rest);
    }
    rest
}

/// Maximum length of a mark: the search for its end starts at each possible beginning.
const MAX_MARK_BYTES: usize = 500;

/// Returns a text without marks such as `<i>` and `{\an8}`.
fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '{']) {
        let (before, mark) = rest.split_at(at);
        shown.push_str(before);
        let is_tag =
            mark[1..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/' || c == '\\');
        let end = if mark.starts_with('<') { '>' } else { '}' };
        let near = &mark[..mark.floor_char_boundary(MAX_MARK_BYTES)];
        match near.find(end).filter(|_| is_tag) {
            Some(end) => rest = &mark[end + 1..],
            None => {
                shown.push_str(&mark[..1]);
                rest = &mark[1..];
            }
        }
    }
    shown.push_str(rest);
    shown
}

/// Reads SubStation Alpha: in `Dialogue: 0,0:00:01.00,0:00:02.00,Default,Ida,0,0,0,,Text` the text
/// is the last of ten values.
fn script(text: &str, document: &mut Document, body: &mut Body) {
    for line in text.lines() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        match name {
            "Title" => document.add_text(Field::Title, value),
            "Original Script" => document.add_text(Field::Author, value),
            "Dialogue" => {
                let text = value.splitn(10, ',').nth(9).unwrap_or_default();
                for line in text.replace("\\n", "\\N").split("\\N") {
                    body.line(shown(&line.replace("\\h", " ")).trim());
                }
            }
            _ => {}
        }
        if body.is_full() {
            break;
        }
    }
}

/// Reads LRC: `[ti:Title]`, `[00:12.00]A line <00:12.50>of words`
fn lyrics(text: &str, document: &mut Document, body: &mut Body) {
    for line in text.lines() {
        let mut rest = line.trim();
        while let Some((tag, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'))
        {
            match tag.split_once(':') {
                Some(("ti", title)) => document.add_text(Field::Title, title),
                Some(("ar", artist)) => document.add_text(Field::Artist, artist),
                Some(("al", album)) => document.add_text(Field::Album, album),
                Some(("au", author)) => document.add_text(Field::Author, author),
                Some(_) => {}
                // `[Chorus]` is a part of the text.
                None => body.line(tag),
            }
            rest = after.trim_start();
        }
        body.line(shown(rest).trim());
        if body.is_full() {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use ken_core::Kind;

    use super::*;
    use crate::detect::{self, Detected};
    use crate::testing::{Extracted, run, survives};

    const SRT: &str = "1\n00:00:01,000 --> 00:00:02,000\n<i>Where is</i> the\nfjord?\n\n2\r\n\
        00:00:03,000 --> 00:00:04,000\r\n{\\an8}3 < 4\r\n";

    fn read(name: &str, text: &str) -> Extracted {
        let detected = detect::detect(&Input::bytes_of(name, text.as_bytes())).unwrap();
        assert!(
            FORMAT.media_types.contains(&detected.media_type),
            "{detected:?}"
        );
        run(extract, detected, name, text.as_bytes())
    }

    #[test]
    fn text_directly_above_times_stays() {
        let text = "1\n00:00:01,000 --> 00:00:02,000\nLast words\n\
            00:00:03,000 --> 00:00:04,000\nNext\n7\n00:00:05,000 --> 00:00:06,000\nEnd\n";
        assert_eq!(read("a.srt", text).own().body, "Last words\nNext\nEnd");
        let text = "WEBVTT\n\nname\n00:01.000 --> 00:02.000\nOne\n00:03.000 --> 00:04.000\nTwo\n";
        assert_eq!(read("a.vtt", text).own().body, "One\nTwo");
    }

    #[test]
    fn marks_that_are_not_closed_are_text() {
        for mark in ["<a", "{1"] {
            let text = mark.repeat(2_000_000);
            let found = read("a.srt", &text);
            assert_eq!(found.own().body, text);
        }
    }

    #[test]
    fn notes_are_left_out_of_web_subtitles_only() {
        let notes =
            "1\n00:01.000 --> 00:02.000\nNOTE: it is read\n\nNOTE a remark\nof two lines\n\n";
        let body = |text: &str| read("a.srt", text).own().body.clone();
        assert!(body(notes).contains("a remark\nof two lines"));
        assert_eq!(body(&format!("WEBVTT\n\n{notes}")), "NOTE: it is read");
    }

    #[test]
    fn times_numbers_and_marks_go() {
        for (name, text, body) in [
            ("a.srt", SRT, "Where is the\nfjord?\n3 < 4"),
            (
                "a.vtt",
                "WEBVTT - x\nKind: captions\n\nSTYLE\n::cue { color: red }\n\nNOTE hidden\n\nfirst\n\
                 00:01.000 --> 00:02.000 align:start\n<v Ida>It <00:01.5>sank.\n- Really?\n",
                "It sank.\n- Really?",
            ),
            (
                "a.sub",
                "{0}{25}One|two\n{30}{40}{y:i}three\n",
                "One\ntwo\nthree",
            ),
            (
                "a.sub",
                "00:00:01.00,00:00:02.00\nOne[br]two\n",
                "One[br]two",
            ),
            ("a.sbv", "0:00:01.000,0:00:02.000\nOne\n", "One"),
        ] {
            assert_eq!(read(name, text).own().body, body, "{name}");
        }
    }

    #[test]
    fn scripts_and_lyrics_have_titles() {
        let found = read(
            "a.ass",
            "[Script Info]\nTitle: The fjord\n\n[Events]\nFormat: Layer, Start, End, Style, Name, \
             MarginL, MarginR, MarginV, Effect, Text\n\
             Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,{\\i1}It, you\\Nsee\n",
        );
        assert_eq!(found.own().text(Field::Title), Some("The fjord"));
        assert_eq!(found.own().body, "It, you\nsee");
        let found = read(
            "a.lrc",
            "[ti:Kelp song]\n[ar:The Gunnels]\n[al:Tides]\n[00:12.00][00:40.10]Sway <00:13.00>low\n[Chorus]\nla\n",
        );
        assert_eq!(found.own().text(Field::Title), Some("Kelp song"));
        assert_eq!(found.own().text(Field::Artist), Some("The Gunnels"));
        assert_eq!(found.own().text(Field::Album), Some("Tides"));
        assert_eq!(found.own().body, "Sway low\nChorus\nla");
    }

    #[test]
    fn hostile_subtitles_are_survived() {
        for media_type in FORMAT.media_types {
            let kind = Kind::Document;
            survives(extract, Detected { media_type, kind }, "a", SRT.as_bytes());
        }
    }
}

//! Sound: tags (ID3, Vorbis comments, APE, RIFF INFO …) and length, read by `lofty`.
//!
//! MP4 is read by [`crate::formats::media::video::mp4`], Windows Media by
//! [`crate::formats::media::video::asf`] and Matroska by
//! [`crate::formats::media::video::matroska`], whether they hold films or sound.

use std::io::BufReader;

use ken_core::Field;
use lofty::config::{ParseOptions, ParsingMode};
use lofty::file::{AudioFile, FileType, TaggedFile, TaggedFileExt};
use lofty::probe::Probe;
use lofty::tag::{ItemKey, Tag, TagItem};
use memchr::memmem;

use crate::error::what_is_damaged;
use crate::output::Output;
use crate::output::metadata::Metadata;
use crate::structure::cursor::Cursor;
use crate::text::foreign::Foreign;
use crate::{Error, Format, Input, date};

/// See [`crate::FORMATS`].
pub(in crate::formats) const FORMAT: Format = Format::new(
    "sound",
    &[
        "audio/aac",
        "audio/flac",
        "audio/mpeg",
        "audio/ogg",
        "audio/x-aiff",
        "audio/x-ape",
        "audio/x-musepack",
        "audio/x-wav",
        "audio/x-wavpack",
    ],
    extract,
)
.fields(&[
    Field::Title,
    Field::Author,
    Field::Artist,
    Field::Album,
    Field::Genre,
    Field::Description,
    Field::Keywords,
    Field::Lang,
    Field::Created,
    Field::Date,
    Field::Duration,
])
.in_worker()
.streams()
.version(3);

/// Maximum size of an Ogg page.
const MAX_PAGE_BYTES: u64 = 64 << 10;

fn extract(input: &mut Input<'_>, output: &mut Output<'_>) -> Result<(), Error> {
    // lofty multiplies positions in Ogg without checking their size.
    let is_ogg = output.detected().media_type == "audio/ogg";
    let media_type = output.detected().media_type;
    // If the sound is damaged, the tags are still read.
    let (file, result) = match parse(input, media_type, !is_ogg) {
        Ok(file) => (file, Ok(())),
        Err(error) => (parse(input, media_type, false)?, Err(error)),
    };
    let mut metadata = Metadata::default();
    let mut positions = file.tags().iter().map(position);
    metadata.lines(
        &positions
            .find(|position| !position.is_empty())
            .unwrap_or_default(),
    );
    let mut charset = Foreign::default();
    let texts = file.tags().iter().flat_map(Tag::items);
    let texts = texts.filter_map(|item| latin_1(item.value().text()?));
    texts.for_each(|bytes| charset.note(&bytes));
    for tag in file.tags() {
        read(tag, &mut charset, &mut metadata);
    }
    name_author(&mut metadata);
    let duration = if is_ogg {
        ogg_seconds(input)?.unwrap_or_default()
    } else {
        file.properties().duration().as_secs_f64()
    };
    if duration > 0.0 {
        metadata.number(Field::Duration, duration.round() as i64);
    }
    metadata.add_to(output.own());
    result
}

fn parse(input: &Input<'_>, media_type: &str, measure: bool) -> Result<TaggedFile, Error> {
    let options = ParseOptions::new()
        .parsing_mode(ParsingMode::Relaxed)
        .read_cover_art(false)
        .read_properties(measure);
    let probe = Probe::new(BufReader::new(input.seekable()?)).options(options);
    let mut probe = probe.guess_file_type()?;
    if probe.file_type().is_none()
        && let Some(file_type) = file_type(media_type)
    {
        probe = probe.set_file_type(file_type);
    }
    probe.read().map_err(|error| {
        let mut cause: &dyn std::error::Error = &error;
        while let Some(below) = cause.source() {
            cause = below;
        }
        match cause.downcast_ref() {
            Some(cause) => Error::Malformed(what_is_damaged(cause)),
            None => Error::malformed(cause),
        }
    })
}

/// Returns the length of an Ogg stream (RFC 3533): the position of its last page, in samples.
fn ogg_seconds(input: &Input<'_>) -> Result<Option<f64>, Error> {
    let head = input.head()?;
    let number = |start: &[u8], at: usize| {
        let found = memmem::find(&head, start)?;
        Cursor(head.get(found + at..)?).le_u32()
    };
    let rate = number(b"\x01vorbis", 12)
        .or_else(|| number(b"Speex   ", 36))
        // Opus counts as if the rate were always 48 kHz (RFC 7845, 4).
        .or_else(|| number(b"OpusHead", 8).map(|_| 48_000));
    let tail_at = input.size().saturating_sub(MAX_PAGE_BYTES);
    let tail = input.range(tail_at, MAX_PAGE_BYTES as usize)?;
    let last = memmem::rfind(&tail, b"OggS").and_then(|at| tail.get(at + 6..));
    let n_samples = last.and_then(|page| Cursor(page).le_u64());
    // All bits are set if no sample ends on the page.
    let n_samples = n_samples.filter(|&n_samples| n_samples < u64::MAX >> 1);
    Ok(match (rate, n_samples) {
        (Some(rate @ 1..), Some(n_samples)) => Some(n_samples as f64 / f64::from(rate)),
        _ => None,
    })
}

/// Returns the type of a file whose first bytes do not show it.
fn file_type(media_type: &str) -> Option<FileType> {
    Some(match media_type {
        "audio/aac" => FileType::Aac,
        "audio/mpeg" => FileType::Mpeg,
        "audio/x-ape" => FileType::Ape,
        "audio/x-musepack" => FileType::Mpc,
        _ => return None,
    })
}

/// Returns where a piece stands in its album.
fn position(tag: &Tag) -> String {
    let number = |key| {
        tag.get_string(key)
            .and_then(|text| text.trim().parse().ok())
            .unwrap_or(0)
    };
    let track = [ItemKey::TrackNumber, ItemKey::TrackTotal].map(number);
    position_of(track, [ItemKey::DiscNumber, ItemKey::DiscTotal].map(number))
}

/// Writes the number of a piece and of its disc, each with how many there are: `Track 4/11, disc 1/2`. Zero stands for
/// an unknown number.
pub(in crate::formats) fn position_of(track: [u32; 2], disc: [u32; 2]) -> String {
    let of = |[number, total]: [u32; 2]| match total {
        0 => number.to_string(),
        _ => format!("{number}/{total}"),
    };
    match (track[0], disc[0]) {
        (0, _) => String::new(),
        (_, 0) => format!("Track {}", of(track)),
        _ => format!("Track {}, disc {}", of(track), of(disc)),
    }
}

fn read(tag: &Tag, charset: &mut Foreign, metadata: &mut Metadata) {
    for item in tag.items() {
        let Some(text) = item.value().text() else {
            continue;
        };
        if is_of_program(item) {
            continue;
        }
        let decoded = latin_1(text).and_then(|bytes| charset.decode(&bytes));
        let text = decoded.as_deref().unwrap_or(text);
        let field = match item.key() {
            ItemKey::TrackTitle => Field::Title,
            ItemKey::AlbumTitle | ItemKey::OriginalAlbumTitle | ItemKey::ShowName => Field::Album,
            ItemKey::TrackArtist
            | ItemKey::TrackArtists
            | ItemKey::AlbumArtist
            | ItemKey::AlbumArtists
            | ItemKey::OriginalArtist
            | ItemKey::Performer
            | ItemKey::Conductor
            | ItemKey::Remixer => Field::Artist,
            ItemKey::Composer | ItemKey::Lyricist | ItemKey::Writer => Field::Author,
            ItemKey::Genre => Field::Genre,
            ItemKey::Comment
            | ItemKey::Description
            | ItemKey::PodcastDescription
            | ItemKey::TrackSubtitle
            | ItemKey::SetSubtitle
            | ItemKey::Work
            | ItemKey::Movement => Field::Description,
            ItemKey::PodcastKeywords | ItemKey::Mood => Field::Keywords,
            ItemKey::Language => Field::Lang,
            ItemKey::RecordingDate | ItemKey::ReleaseDate | ItemKey::Year => {
                add_date(metadata, text);
                continue;
            }
            ItemKey::Lyrics | ItemKey::UnsyncLyrics => {
                metadata.lines(text);
                continue;
            }
            _ => continue,
        };
        metadata.text(field, text);
    }
}

/// Returns the bytes of a text as ISO 8859-1, which ID3 may have declared for another charset; none if it has other
/// characters.
fn latin_1(text: &str) -> Option<Vec<u8>> {
    let byte = |character| u8::try_from(u32::from(character)).ok();
    text.chars().map(byte).collect()
}

/// Returns whether a comment holds numbers that iTunes keeps for itself: `iTunNORM`, `iTunSMPB`, `iTunes_CDDB_IDs`.
fn is_of_program(item: &TagItem) -> bool {
    item.key() == ItemKey::Comment && item.description().starts_with("iTun")
}

/// Adds the date of a piece; the first date counts, which is that of the recording.
pub(in crate::formats) fn add_date(metadata: &mut Metadata, text: &str) {
    if let Some(seconds) = date::iso(text) {
        metadata.number(Field::Created, seconds);
        metadata.number(Field::Date, seconds);
    }
}

/// Makes the performer the author if no composer is named: people search for both with one word.
pub(super) fn name_author(metadata: &mut Metadata) {
    if !metadata.has(Field::Author) {
        metadata.copy(Field::Artist, Field::Author);
    }
}

#[cfg(test)]
mod tests {
    use ken_core::{Cause, Document, Ipath, Kind, Reason};
    use lofty::tag::{ItemValue, TagType};

    use super::*;
    use crate::detect::{self, Detected};
    use crate::testing;

    macro_rules! sample {
        ($media_type:literal, $name:literal) => {
            (
                $media_type,
                include_bytes!(concat!("../../../tests/data/media/", $name)) as &[u8],
            )
        };
    }

    const SAMPLES: &[(&str, &[u8])] = &[
        sample!("audio/mpeg", "song.mp3"),
        sample!("audio/flac", "song.flac"),
        sample!("audio/ogg", "song.ogg"),
        sample!("audio/ogg", "song.opus"),
        sample!("audio/x-wav", "song.wav"),
        sample!("audio/x-aiff", "song.aiff"),
        sample!("audio/x-wavpack", "song.wv"),
    ];

    fn detected(media_type: &'static str) -> Detected {
        Detected {
            media_type,
            kind: Kind::Audio,
        }
    }

    #[test]
    fn comments_are_read_but_those_of_the_program() {
        let mut tag = Tag::new(TagType::Id3v2);
        for (about, text) in [("", "Live"), ("iTunNORM", "00000A2C"), ("Note", "in Oslo")] {
            let mut item = TagItem::new(ItemKey::Comment, ItemValue::Text(text.to_owned()));
            item.set_description(about.to_owned());
            tag.push(item);
        }
        let mut metadata = Metadata::default();
        read(&tag, &mut Foreign::default(), &mut metadata);
        let mut document = Document::new(Ipath::default(), "audio/mpeg", Kind::Audio);
        metadata.add_to(&mut document);
        let values: Vec<String> = document
            .fields
            .iter()
            .map(|(_, value)| format!("{value:?}"))
            .collect();
        assert_eq!(values, ["Text(\"Live\")", "Text(\"in Oslo\")"]);
    }

    #[test]
    fn texts_in_another_charset_than_declared_are_decoded() {
        let mut tag = Tag::new(TagType::Id3v2);
        tag.insert_text(ItemKey::TrackTitle, "Ãðóïïà êðîâè".to_owned());
        tag.insert_text(ItemKey::TrackArtist, "Êèíî".to_owned());
        tag.insert_text(ItemKey::AlbumTitle, "Best of".to_owned());
        let mut charset = Foreign::default();
        let texts = tag.items().filter_map(|item| latin_1(item.value().text()?));
        texts.for_each(|bytes| charset.note(&bytes));
        let mut metadata = Metadata::default();
        read(&tag, &mut charset, &mut metadata);
        assert_eq!(metadata.texts(Field::Title), ["Группа крови"]);
        assert_eq!(metadata.texts(Field::Artist), ["Кино"]);
        assert_eq!(metadata.texts(Field::Album), ["Best of"]);
    }

    #[test]
    fn the_position_of_a_piece_is_its_text() {
        let with = |numbers: &[(ItemKey, &str)]| {
            let mut tag = Tag::new(TagType::VorbisComments);
            for (key, number) in numbers {
                tag.push(TagItem::new(*key, ItemValue::Text((*number).to_owned())));
            }
            position(&tag)
        };
        let track = (ItemKey::TrackNumber, "04");
        assert_eq!(with(&[track]), "Track 4");
        assert_eq!(with(&[(ItemKey::TrackTotal, "11"), track]), "Track 4/11");
        assert_eq!(
            with(&[track, (ItemKey::DiscNumber, "2")]),
            "Track 4, disc 2"
        );
        assert_eq!(with(&[(ItemKey::TrackNumber, "A1")]), "");
        assert_eq!(with(&[(ItemKey::DiscNumber, "2")]), "");
    }

    #[test]
    fn every_kind_of_tag_is_read() {
        for (media_type, bytes) in SAMPLES {
            let found = testing::run(extract, detected(media_type), "x", bytes);
            let song = found.own();
            assert_eq!(song.failure, None, "{media_type}");
            for (field, value) in [
                (Field::Title, "So What"),
                (Field::Artist, "Miles Davis"),
                (Field::Album, "Kind of Blue"),
                (Field::Genre, "Jazz"),
            ] {
                assert_eq!(song.text(field), Some(value), "{media_type}");
            }
            // RIFF has no tag for composers.
            let author = match *media_type {
                "audio/x-wav" => "Miles Davis",
                _ => "Bill Evans",
            };
            assert_eq!(song.text(Field::Author), Some(author), "{media_type}");
            if *media_type != "audio/x-wavpack" {
                assert_eq!(song.number(Field::Date), Some(-347_155_200), "{media_type}");
            }
        }
    }

    #[test]
    fn lyrics_and_length_are_read() {
        for (media_type, bytes) in [SAMPLES[0], SAMPLES[2], SAMPLES[3]] {
            let found = testing::run(extract, detected(media_type), "x", bytes);
            assert_eq!(found.own().number(Field::Duration), Some(2), "{media_type}");
        }
        let found = testing::run(extract, detected("audio/mpeg"), "x", SAMPLES[0].1);
        assert_eq!(found.own().body, "Blue notes\nin the night für dich");
    }

    #[test]
    fn the_name_does_not_matter() {
        for (media_type, bytes) in SAMPLES {
            let input = Input::bytes_of("notes.txt", bytes);
            assert_eq!(detect::detect(&input).unwrap().media_type, *media_type);
        }
    }

    #[test]
    fn tags_of_damaged_sound_are_read() {
        // Everything after the tag is missing.
        let tag = &SAMPLES[0].1[..1414];
        let found = testing::run(extract, detected("audio/mpeg"), "x", tag);
        let song = found.own();
        assert_eq!(song.text(Field::Title), Some("So What"));
        assert_eq!(song.failure.as_ref().unwrap().reason(), Reason::Malformed);
    }

    #[test]
    fn sound_that_is_cut_off_says_so() {
        let found = testing::run(extract, detected("audio/flac"), "x", &SAMPLES[1].1[..20]);
        let failure = found.own().failure.as_ref().unwrap();
        let what = "it ends too early: cut off or damaged".to_owned();
        assert_eq!(failure.cause, Cause::Damaged { what });
    }

    #[test]
    fn what_is_no_sound_is_malformed() {
        let found = testing::run(extract, detected("audio/flac"), "x", b"fLaC and no more");
        let failure = found.own().failure.as_ref().unwrap();
        assert_eq!(failure.reason(), Reason::Malformed);
    }

    #[test]
    fn hostile_files_end_in_a_failure() {
        for (media_type, bytes) in SAMPLES {
            testing::survives(extract, detected(media_type), "x", bytes);
        }
    }
}

//! Tests of films from ffmpeg and mkvmerge.

use ken_core::{Document, Field, Kind, Reason};

use super::*;
use crate::detect::{self, Detected};
use crate::formats::{Format, by_media_type};
use crate::{Input, testing};

macro_rules! sample {
    ($name:literal) => {
        (
            $name,
            include_bytes!(concat!("../../../../tests/data/media/", $name)) as &[u8],
        )
    };
}

const FILMS: &[(&str, &[u8])] = &[
    sample!("film.3gp"),
    sample!("film.avi"),
    sample!("film.mkv"),
    sample!("film.mov"),
    sample!("film.mp4"),
    sample!("film.webm"),
    sample!("film.wmv"),
];
const SONGS: &[(&str, &[u8])] = &[sample!("song.m4a"), sample!("song.wma")];

fn format_of(name: &str, bytes: &[u8]) -> (&'static Format, Detected) {
    let detected = detect::detect(&Input::bytes_of(name, bytes)).unwrap();
    (by_media_type(detected.media_type).unwrap(), detected)
}

fn read(name: &str, bytes: &[u8]) -> Document {
    let (format, detected) = format_of(name, bytes);
    let mut found = testing::run(format.extract, detected, name, bytes);
    found.documents.remove(0)
}

#[test]
fn every_container_gives_title_size_and_length() {
    for (name, bytes) in FILMS {
        let film = read(name, bytes);
        assert_eq!(film.failure, None, "{name}");
        assert_eq!(film.kind, Kind::Video, "{name}");
        assert_eq!(film.text(Field::Title), Some("Harbour film"), "{name}");
        assert_eq!(film.number(Field::Width), Some(32), "{name}");
        assert_eq!(film.number(Field::Height), Some(18), "{name}");
        assert_eq!(film.number(Field::Duration), Some(3), "{name}");
        if *name == "film.mov" {
            assert_eq!(film.text(Field::Camera), Some("Apple iPhone 12"));
            assert_eq!(film.text(Field::Keywords), Some("pier"));
            continue;
        }
        assert_eq!(film.text(Field::Artist), Some("Ida Berg"), "{name}");
        assert_eq!(film.text(Field::Author), Some("Ida Berg"), "{name}");
        assert_eq!(film.text(Field::Genre), Some("Documentary"), "{name}");
        let comment = Some("seen from the pier");
        assert_eq!(film.text(Field::Description), comment, "{name}");
        if !matches!(*name, "film.3gp" | "film.wmv") {
            assert_eq!(film.number(Field::Date), Some(1_530_835_200), "{name}");
        }
    }
}

#[test]
fn chapters_are_the_text_of_a_film() {
    let (name, bytes) = FILMS[2];
    assert_eq!(read(name, bytes).body, "The lighthouse\nLeaving port");
}

#[test]
fn songs_in_the_containers_of_films_are_songs() {
    for (name, bytes) in SONGS {
        let song = read(name, bytes);
        assert_eq!(song.failure, None, "{name}");
        assert_eq!(song.kind, Kind::Audio, "{name}");
        for (field, value) in [
            (Field::Title, "So What"),
            (Field::Artist, "Miles Davis"),
            (Field::Album, "Kind of Blue"),
            (Field::Author, "Bill Evans"),
            (Field::Genre, "Jazz"),
            (Field::Description, "recorded in New York"),
        ] {
            assert_eq!(song.text(field), Some(value), "{name}");
        }
        assert!(song.number(Field::Width).is_none(), "{name}");
    }
}

#[test]
fn the_position_of_a_song_is_its_text() {
    let boxed = |kind: &[u8], content: &[u8]| {
        let length = (8 + content.len() as u32).to_be_bytes();
        [&length[..], kind, content].concat()
    };
    let data = |numbers: [u8; 4]| {
        let [number, total, disc, discs] = numbers;
        let item = |kind: &[u8], numbers: [u8; 2]| {
            let head = [0_u8; 8];
            let content = [&head[..], &[0, 0, 0, numbers[0], 0, numbers[1], 0, 0]].concat();
            boxed(kind, &boxed(b"data", &content))
        };
        let items = [item(b"trkn", [number, total]), item(b"disk", [disc, discs])].concat();
        let handler = boxed(b"hdlr", &[0; 25]);
        let meta = [&[0; 4][..], &handler, &boxed(b"ilst", &items)].concat();
        moov(&boxed(b"udta", &boxed(b"meta", &meta)))
    };
    assert_eq!(
        read("x.m4a", &data([4, 11, 1, 2])).body,
        "Track 4/11, disc 1/2"
    );
    assert_eq!(read("x.m4a", &data([4, 0, 0, 0])).body, "Track 4");
    assert_eq!(read("x.m4a", &data([0, 11, 1, 2])).body, "");
}

/// Returns an ISO media file of boxes: `moov` with this content.
fn moov(content: &[u8]) -> Vec<u8> {
    let mut file = b"\0\0\0\x10ftypisom\0\0\0\0".to_vec();
    file.extend((8 + content.len() as u32).to_be_bytes());
    file.extend(b"moov");
    file.extend(content);
    file
}

#[test]
fn the_clock_of_a_camera_is_a_date_unless_it_was_never_set() {
    for (created, expected) in [(0, None), (3_614_000_000, Some(1_531_155_200))] {
        let mut header = b"\0\0\0\x20mvhd\0\0\0\0".to_vec();
        for number in [created, created, 600, u32::MAX, 0] {
            header.extend(number.to_be_bytes());
        }
        let film = read("x.mp4", &moov(&header));
        assert_eq!(film.number(Field::Created), expected);
        assert_eq!(film.number(Field::Duration), None);
    }
}

#[test]
fn user_data_of_quicktime_is_read() {
    let film = read(
        "x.mov",
        &moov(b"\0\0\0\x1audta\0\0\0\x12\xa9nam\0\x06\0\0Vermin"),
    );
    assert_eq!(film.text(Field::Title), Some("Vermin"));
}

/// Returns a box.
fn boxed(kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let length = 8 + content.len() as u32;
    [&length.to_be_bytes()[..], kind, content].concat()
}

#[test]
fn places_of_phones_are_keywords() {
    let place = "+48.8583+002.2945+035/";
    let quicktime = boxed(b"\xa9xyz", &[b"\0\x16\x15\xc7", place.as_bytes()].concat());
    // Version, language, a name, its role, longitude and latitude.
    let loci = b"\0\0\0\0\x55\xc4Tower\0\0\0\x02\x4b\x64\0\x30\xdb\xb9\0\0\0\0";
    let handler = boxed(b"hdlr", &[0; 24]);
    let name = "com.apple.quicktime.location.ISO6709";
    let keys = boxed(
        b"keys",
        &[
            &[0, 0, 0, 0, 0, 0, 0, 1][..],
            &boxed(b"mdta", name.as_bytes()),
        ]
        .concat(),
    );
    let data = boxed(
        b"data",
        &[&[0, 0, 0, 1, 0, 0, 0, 0][..], place.as_bytes()].concat(),
    );
    let list = boxed(b"ilst", &boxed(&[0, 0, 0, 1], &data));
    for content in [
        boxed(b"udta", &quicktime),
        boxed(b"udta", &boxed(b"loci", loci)),
        boxed(b"meta", &[handler, keys, list].concat()),
    ] {
        let film = read("x.mp4", &moov(&content));
        let keywords = film
            .fields
            .iter()
            .filter(|(field, _)| *field == Field::Keywords);
        let keywords: Vec<String> = keywords.map(|(_, value)| format!("{value:?}")).collect();
        let has_place = keywords
            .iter()
            .any(|keyword| keyword.contains("geo:48.858"));
        assert!(has_place, "{keywords:?}");
    }
}

#[test]
fn the_name_does_not_matter() {
    for (name, bytes) in FILMS.iter().chain(SONGS) {
        let (named, _) = format_of(name, bytes);
        let (unnamed, _) = format_of("notes.txt", bytes);
        assert_eq!(named.name, unnamed.name);
    }
}

#[test]
fn a_film_without_header_is_malformed() {
    for (name, bytes) in [
        ("a.mp4", &b"\0\0\0\x10ftypisom\0\0\0\0"[..]),
        ("a.avi", b"RIFF\0\0\0\0AVI LIST"),
        ("a.mkv", b"\x1a\x45\xdf\xa3\x80"),
        ("a.wmv", b"\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9"),
    ] {
        let failure = read(name, bytes).failure.unwrap();
        assert_eq!(failure.reason(), Reason::Malformed, "{name}");
    }
}

#[test]
fn hostile_files_end_in_a_failure() {
    for (name, bytes) in FILMS.iter().chain(SONGS) {
        let (format, detected) = format_of(name, bytes);
        testing::survives(format.extract, detected, name, bytes);
    }
}

#[test]
fn a_larger_track_wins() {
    assert_eq!(larger((1920, 1080), (160, 90)), (1920, 1080));
    assert_eq!(larger((0, 0), (160, 90)), (160, 90));
}

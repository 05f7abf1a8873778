//! Pictures of documents, drawn by the real worker in its sandbox.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fastrand::Rng;
use ken_core::{Cause, Ipath, Reason, Setting};
use ken_extract::picture::Encoding;
use ken_extract::{Isolate, Limits, Options, Original, Passwords, Pictures};

use crate::samples::{fixture, pdf};
use crate::world::World;

fn options(limits: Limits) -> Options {
    Options {
        limits,
        isolate: Isolate::Auto,
        worker: Some(PathBuf::from(env!("CARGO_BIN_EXE_ken"))),
        helpers: None,
    }
}

fn pictures() -> Pictures {
    Pictures::new(options(Limits::default()))
}

/// Does something with the document at this member path of a file.
fn with<T>(path: &Path, ipath: &Ipath, act: impl FnOnce(&Original<'_>) -> T) -> T {
    let file = fs_err::File::open(path).unwrap();
    act(&Original {
        path,
        file: file.file(),
        ipath,
        message: None,
    })
}

#[test]
fn pages_pictures_and_members_are_drawn_in_the_sandbox() {
    let world = World::new();
    let pages = ["the first page", "an otter on ice"];
    let report = world.write("report.pdf", pdf("Report", "Anna", &pages));
    let pictures = pictures();
    with(&report, &Ipath::root(), |original| {
        let page = pictures.page(original, 1, 600).unwrap();
        assert_eq!(
            (page.encoding, page.width, page.height),
            (Encoding::Png, 600, 800)
        );
        let text = pictures.words(original, 1).unwrap();
        assert_eq!(text.text, pages[1]);
        assert_eq!(text.words.len(), 4);
        let small = pictures.thumbnail(original, 60).unwrap();
        assert_eq!((small.width, small.height), (60, 80));
    });
    for name in [
        "media/heron.jpg",
        "media/chart.png",
        "media/buoy.gif",
        "media/lake.webp",
        "media/plain.bmp",
        "media/scan.tif",
        "pdf/plain.pdf",
        "pdf/encrypted-empty-password.pdf",
    ] {
        let path = world.write(name.rsplit('/').next().unwrap(), fixture(name));
        with(&path, &Ipath::root(), |original| {
            assert!(
                pictures.thumbnail(original, 40).unwrap().width <= 40,
                "{name}"
            );
        });
    }
}

#[test]
fn a_picture_in_a_message_in_an_archive_is_drawn() {
    let world = World::new();
    let report = pdf("Report", "Anna", &["an otter on ice"]);
    let encoded: String = report.iter().map(|byte| format!("={byte:02X}")).collect();
    let lines: Vec<_> = encoded
        .as_bytes()
        .chunks(72)
        .map(|line| String::from_utf8_lossy(line))
        .collect();
    let mail = format!(
        "Subject: report\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\
         Content-Type: application/pdf; name=report.pdf\n\
         Content-Disposition: attachment; filename=report.pdf\n\
         Content-Transfer-Encoding: quoted-printable\n\n{}\n--x--\n",
        lines.join("=\n")
    );
    let archive = world.write(
        "all.tar",
        crate::samples::tar(&[("a.txt", "x"), ("mail.eml", &mail)]),
    );
    let run = world.ken(["extract", "--json", archive.to_str().unwrap()]);
    let found = run.objects();
    let attached = found
        .iter()
        .find(|document| document["mime"] == "application/pdf")
        .unwrap();
    let ipath = Ipath::from_joined(attached["ipath"].as_str().unwrap());
    assert_eq!(ipath.depth(), 2);
    with(&archive, &ipath, |original| {
        let page = pictures().page(original, 0, 300).unwrap();
        assert_eq!((page.width, page.height), (300, 400));
    });
}

#[test]
fn passwords_open_what_extraction_opens() {
    let world = World::new();
    let path = world.write("a.pdf", fixture("pdf/encrypted-password.pdf"));
    with(&path, &Ipath::root(), |original| {
        let closed = pictures().page(original, 0, 100);
        assert_eq!(closed, Err(Cause::Password { tried: false }));
        let limits = Limits {
            passwords: Passwords::new(["wrong", "user"].map(str::to_owned)),
            ..Limits::default()
        };
        let open = Pictures::new(options(limits)).page(original, 0, 100);
        assert_eq!(open.map(|page| page.width), Ok(100));
    });
}

#[test]
fn a_worker_that_is_stopped_is_an_error_with_its_cause() {
    let world = World::new();
    let path = world.write("a.pdf", pdf("Report", "Anna", &["an otter on ice"]));
    let cause = |limits: Limits| {
        with(&path, &Ipath::root(), |original| {
            Pictures::new(options(limits))
                .page(original, 0, 4_096)
                .unwrap_err()
        })
    };
    let slow = cause(Limits {
        file_time: Duration::from_millis(1),
        ..Limits::default()
    });
    assert_eq!(slow.reason(), Reason::TimedOut, "{slow:?}");
    let large = cause(Limits {
        worker_memory: 64 << 20,
        ..Limits::default()
    });
    let Cause::Limit { limit, .. } = large else {
        panic!("{large:?}");
    };
    assert_eq!(limit.setting, Setting::WorkerMemory);
}

#[test]
fn hostile_bytes_end_no_worker_by_a_forbidden_call() {
    let world = World::new();
    let mut random = Rng::with_seed(0xd7a3);
    let pictures = pictures();
    for name in [
        "pdf/plain.pdf",
        "media/heron.jpg",
        "media/scan.tif",
        "media/lake.webp",
    ] {
        let good = fixture(name);
        for number in 0..6 {
            let mut bytes = good.clone();
            for _ in 0..6 {
                let at = random.usize(..bytes.len());
                bytes[at] = random.u8(..);
            }
            let name = format!("{number}-{}", name.rsplit('/').next().unwrap());
            let path = world.write(&name, bytes);
            let drawn = with(&path, &Ipath::root(), |original| {
                pictures.thumbnail(original, 64)
            });
            let crashed = drawn
                .as_ref()
                .is_err_and(|cause| cause.reason() == Reason::Crashed);
            assert!(!crashed, "{name}: {drawn:?}");
        }
    }
}

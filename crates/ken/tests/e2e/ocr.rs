//! Text in pictures: a separate pass after the run, on request.

use crate::world::World;

fn collection() -> World {
    let world = World::new();
    world.add_fixture("ocr/picture.png");
    world.add_fixture("ocr/scan.pdf");
    world.write("note.txt", "the marmot sleeps");
    world
}

#[test]
fn text_in_pictures_is_found_with_its_page_when_asked_for() {
    let world = collection();
    assert_eq!(world.index_docs()["recognised"], 0);
    assert_eq!(world.found("marmot"), ["note.txt"]);
    assert_eq!(world.found("is:textless"), ["picture.png", "scan.pdf"]);

    let summary = world.index(&["--ocr"]);
    assert_eq!(summary["recognised"], 2, "{:?}", world.failed());
    assert!(world.failed().is_empty());
    assert_eq!(world.found("marmot"), ["note.txt", "picture.png"]);
    let page = world.hit("lighthouse");
    assert_eq!(
        (world.location(&page), &page["snippet"]["page"]),
        ("scan.pdf".into(), &2.into())
    );
    assert_eq!(world.hit("harbour")["snippet"]["page"], 1);
    assert_eq!(world.found("is:ocr"), ["picture.png", "scan.pdf"]);
    assert!(world.hits("is:textless").is_empty());
    let status = &world.ken(["status", "--json"]).objects()[0];
    assert_eq!(
        (&status["ocr"], &status["textless"]),
        (&2.into(), &0.into())
    );

    let again = world.index(&["--ocr"]);
    assert_eq!(
        (&again["recognised"], &again["committed"]),
        (&0.into(), &false.into())
    );
    world.rename("picture.png", "moved.png");
    world.index(&[]);
    assert_eq!(world.found("newspaper"), ["moved.png"]);
}

#[test]
fn pictures_that_are_away_cost_no_commit() {
    let world = collection();
    world.index_docs();
    fs_err::rename(world.docs(), world.home().join("away")).unwrap();
    world.index(&["--ocr"]);
    assert_eq!(world.index(&["--ocr"])["committed"], false);
    fs_err::rename(world.home().join("away"), world.docs()).unwrap();
    assert_eq!(world.index(&["--ocr"])["recognised"], 2);
}

#[test]
fn what_was_recognised_is_cached_and_the_cache_may_be_deleted() {
    let world = collection();
    world.index(&["docs", "--set", "ocr.enabled=true"]);
    let folder = world.data().join("ocr");
    let entries: Vec<_> = fs_err::read_dir(&folder).unwrap().collect();
    assert_eq!(entries.len(), 2);
    for entry in entries {
        fs_err::write(entry.unwrap().path(), "weasel").unwrap();
    }
    world.index(&["--full", "--ocr"]);
    assert_eq!(world.found("weasel"), ["picture.png", "scan.pdf"]);
    fs_err::remove_dir_all(&folder).unwrap();
    world.index(&["--full", "--ocr"]);
    assert!(world.hits("weasel").is_empty());
    assert_eq!(world.found("newspaper"), ["picture.png"]);
}

#[test]
fn without_its_programs_the_pass_says_what_to_install() {
    let world = collection();
    let output = world
        .command(["index", "--ocr", "docs"])
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    let complaint = String::from_utf8(output.stderr).unwrap();
    let advice = "apt-get install tesseract-ocr poppler-utils";
    assert!(
        output.status.success() && complaint.contains(advice),
        "{complaint}"
    );
    assert_eq!(world.found("is:textless").len(), 2);
    let run = world.ken([
        "index",
        "--ocr",
        "--set",
        "ocr.languages=[\"eng\",\"xx_y\"]",
    ]);
    let advice = "apt-get install tesseract-ocr-xx-y";
    assert!(run.code == 0 && run.err.contains(advice), "{}", run.err);
    assert_eq!(world.found("is:textless").len(), 2);
    let run = world.ken(["index", "--ocr", "--set", "ocr.languages=[\"-x\"]"]);
    assert_eq!(run.code, 2, "{}", run.err);
}

#[test]
fn pictures_in_archives_and_messages_are_read() {
    let world = collection();
    let made = std::process::Command::new("/bin/sh")
        .current_dir(world.docs())
        .arg("-ec")
        .arg(
            "gzip picture.png; cp picture.png.gz in.gz; tar cf deep.tar in.gz note.txt scan.pdf
             mv in.gz picture.png.gz
             { printf 'Subject: see\\nContent-Type: multipart/mixed; boundary=x\\n\\n--x\\n\\nHere.\\n--x\\n'
               printf 'Content-Type: image/png\\nContent-Transfer-Encoding: base64\\n'
               printf 'Content-Disposition: attachment; filename=a.png\\n\\n'
               gzip -dc picture.png.gz | base64; printf -- '--x--\\n'; } > mail.eml
             tar cf outer.tar mail.eml; rm scan.pdf mail.eml",
        )
        .status();
    assert!(made.unwrap().success());
    world.index_docs();
    let pictures = [
        "deep.tar|in.gz",
        "deep.tar|scan.pdf",
        "outer.tar|mail.eml|1",
        "picture.png.gz",
    ];
    assert_eq!(world.found("is:textless"), pictures);

    assert_eq!(
        world.index(&["--ocr"])["recognised"],
        3,
        "{:?}",
        world.failed()
    );
    assert!(world.failed().is_empty(), "{:?}", world.failed());
    let read = ["deep.tar|in.gz", "outer.tar|mail.eml|1", "picture.png.gz"];
    assert_eq!(world.found("newspaper"), read);
    assert_eq!(
        world.location(&world.hit("lighthouse")),
        "deep.tar|scan.pdf"
    );
    assert_eq!(world.found("is:ocr"), pictures);
    assert_eq!(world.found("sleeps"), ["deep.tar|note.txt", "note.txt"]);
    assert_eq!(world.index(&["--ocr"])["committed"], false);
}

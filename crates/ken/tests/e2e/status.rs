//! `ken status`: what is indexed and what failed.

use serde_json::json;

use crate::world::{Run, World};

fn indexed() -> World {
    let world = World::new();
    world.add_fixture("mail/three.mbox");
    world.add_fixture("pdf/encrypted-password.pdf");
    world.add_fixture("archive/encrypted.zip");
    world.write("broken.pdf", "%PDF-1.4");
    world.write("main.rs", "fn main() {}");
    world.write("blob", [0, 1, 2, 255]);
    world.write("empty", "");
    world.index_docs();
    world
}

#[test]
fn people_read_local_times_and_programs_those_of_utc() {
    let world = indexed();
    let shown = |zone: &str, option: &str| {
        let mut command = world.command(
            ["status"]
                .iter()
                .chain((!option.is_empty()).then_some(&option)),
        );
        let run = crate::world::Run::of(command.env("TZ", zone).output().unwrap());
        run.text().to_owned()
    };
    let json: serde_json::Value = serde_json::from_str(&shown("Asia/Tokyo", "--json")).unwrap();
    let utc: jiff::Timestamp = json["completed"].as_str().unwrap().parse().unwrap();
    let text = shown("Asia/Tokyo", "");
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("complete   "));
    let local = jiff::Zoned::strptime("%Y-%m-%d %H:%M:%S %z", line.unwrap()).unwrap();
    assert_eq!(local.timestamp(), utc);
    assert!(line.unwrap().ends_with(" +0900"), "{text}");
}

#[test]
fn figures_of_the_index() {
    let world = indexed();
    let run = world.ken(["status"]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let lines = run.lines();
    let data = format!("data       {}", world.data().display());
    let root = format!("root       {}", world.docs().display());
    assert!(lines.contains(&data.as_str()), "{lines:?}");
    assert!(lines.contains(&root.as_str()), "{lines:?}");
    assert!(lines[2].starts_with("complete   2"), "{}", lines[2]);
    let row = |run: &Run, name: &str| -> Vec<String> {
        let lines = run.lines();
        let line = lines.iter().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().skip(1).map(str::to_owned).collect()
    };
    // Numbers of files: all, read, by name only, failed; numbers of documents: all, failed.
    assert_eq!(row(&run, "document"), ["2", "0", "0", "2", "4", "3"]);
    assert_eq!(row(&run, "message"), ["0", "0", "0", "0", "3", "0"]);
    assert_eq!(row(&run, "source"), ["1", "1", "0", "0", "1", "0"]);
    assert_eq!(row(&run, "archive"), ["2", "2", "0", "0", "2", "0"]);
    assert_eq!(row(&run, "other"), ["2", "1", "1", "0", "2", "0"]);
    assert_eq!(row(&run, "all"), ["7", "4", "1", "2", "12", "3"]);
    let run = world.ken(["status", "--types"]);
    assert_eq!(row(&run, "application/pdf"), ["2", "0", "0", "2", "2", "2"]);
    assert_eq!(row(&run, "application/octet-stream")[..3], ["1", "0", "1"]);

    let run = world.ken(["status", "--json"]);
    let objects = run.objects();
    let status = objects[0].as_object().unwrap();
    let keys: Vec<_> = status.keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "by_mime",
            "by_type",
            "bytes",
            "complete_seconds_ago",
            "completed",
            "data",
            "documents",
            "engine",
            "engine_state",
            "failed",
            "files",
            "name_only",
            "ocr",
            "open_to_others",
            "paused",
            "paused_until",
            "pending",
            "read",
            "roots",
            "sandbox",
            "segments",
            "sweep_in_seconds",
            "swept",
            "swept_seconds_ago",
            "textless",
            "types",
            "v",
            "watched"
        ]
    );
    assert_eq!(status["files"], 7);
    assert_eq!(status["sandbox"]["isolate"], "auto");
    assert_eq!(status["sandbox"]["seccomp"], true);
    assert_eq!(status["documents"], 12);
    assert_eq!(status["failed"], 3);
    let pdf = json!({
        "files": 2, "read": 0, "name_only": 0, "failed": 2, "documents": 2, "failed_documents": 2,
    });
    assert_eq!(status["by_mime"]["application/pdf"], pdf);
    assert_eq!(status["by_type"]["other"]["name_only"], 1);
    assert_eq!(status["types"]["message"], 3);
    assert_eq!(status["roots"][0]["path"], json!(world.docs()));
    let on_disk: u64 = world.data_files().values().map(|(size, _)| size).sum();
    let bytes = status["bytes"].as_u64().unwrap();
    assert!(bytes > 0 && bytes <= on_disk, "{bytes} of {on_disk}");
}

#[test]
fn what_failed_and_why() {
    let world = indexed();
    let run = world.ken(["status", "--failed"]);
    assert_eq!(run.code, 0);
    let docs = world.docs();
    let lines = run.lines();
    assert_eq!(lines.len(), 6, "{lines:?}");
    assert!(lines[0].starts_with(&format!("{}/broken.pdf\tmalformed\t", docs.display())));
    assert_eq!(
        lines[1],
        "    PDF; if its own program can open it, report a bug in ken"
    );
    assert_eq!(
        lines[2],
        format!(
            "{}/encrypted-password.pdf\tencrypted\tencrypted, and no password is known",
            docs.display()
        )
    );
    assert_eq!(
        lines[4],
        format!(
            "{}/encrypted.zip|secret.txt\tencrypted\tencrypted, and no password is known",
            docs.display()
        )
    );
    let run = world.ken(["status", "--failed", "--json"]);
    let objects = run.objects();
    let keys: Vec<_> = objects[2]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let expected = [
        "cause",
        "extractor",
        "ipath",
        "message",
        "mime",
        "path",
        "reason",
        "remedy",
        "seconds",
        "v",
    ];
    assert_eq!(keys, expected);
    assert_eq!(objects[0]["extractor"], "PDF");
    assert_eq!(objects[0]["cause"]["kind"], "damaged");
    assert_eq!(objects[1]["cause"]["kind"], "password");
    let remedy = objects[1]["remedy"].as_str().unwrap();
    assert!(remedy.contains("passwords.file"), "{remedy}");
    assert_eq!(objects[2]["ipath"], "secret.txt");
    assert_eq!(objects[2]["mime"], "text/plain");
    assert_eq!(
        objects[2]["extractor"], "zip",
        "it got nothing to read as text"
    );

    for name in ["broken.pdf", "encrypted-password.pdf", "encrypted.zip"] {
        world.remove(name);
    }
    world.index(&[]);
    let run = world.ken(["status", "--failed"]);
    assert_eq!((run.code, run.text()), (1, ""));
}

#[test]
fn there_may_be_no_index() {
    let world = World::new();
    let run = world.ken(["status"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("there is no index in"), "{}", run.err);
    assert!(!world.home().join("data").exists());

    world.index_docs();
    let run = world.ken(["status", "--json"]);
    assert_eq!(run.objects()[0]["files"], 0, "an empty folder is a root");
}

#[test]
fn an_index_of_another_format_is_not_touched() {
    let world = indexed();
    let meta = world.data().join("index/meta.json");
    let text = world.commit_text();
    let other = text.replace("\\\"format\\\":", "\\\"format\\\":9");
    assert_ne!(text, other);
    fs_err::write(&meta, &other).unwrap();
    let before = world.data_files();
    for args in [
        &["status"][..],
        &["search", "x"],
        &["index"],
        &["index", "docs"],
    ] {
        let run = world.ken(args);
        assert_eq!(run.code, 2, "{args:?}");
        assert!(run.err.contains("has format 9"), "{}", run.err);
        assert!(run.err.contains("\nhint: ken index --full "), "{}", run.err);
    }
    assert_eq!(world.data_files(), before);
    fs_err::write(&meta, "{ torn").unwrap();
    let run = world.ken(["status"]);
    assert_eq!(run.code, 2);
    assert!(run.err.starts_with("ken: the index in "), "{}", run.err);
}

//! `ken status --why`: what the index knows about a path, and what the next run would do with it.

use serde_json::Value;

use crate::samples::tar;
use crate::world::World;

fn why(world: &World, path: &str) -> Value {
    let run = world.ken(["status", "--json", "--why", path]);
    assert!(run.code < 2, "{}", run.err);
    let why = run.objects().remove(0);
    let is_known = !why["documents"].as_array().unwrap().is_empty();
    assert_eq!(run.code == 0, is_known, "{why}");
    why
}

#[track_caller]
fn assert_why(world: &World, path: &str, verdict: &str, index: &str, next: &str) -> Value {
    let why = why(world, path);
    assert_eq!(why["walk"]["verdict"], verdict, "{why:#}");
    assert_eq!(why["index"], index, "{why:#}");
    assert_eq!(why["next"], next, "{why:#}");
    why
}

fn collection() -> World {
    let world = World::new();
    world.write("a.txt", "otter");
    world.write(
        "inside.tar",
        tar(&[("b.txt", "badger"), ("c.pdf", "no pdf")]),
    );
    world.write("broken.pdf", "%PDF-1.4");
    world.write("blob", [0, 1, 255]);
    world.write(".secret/d.txt", "stoat");
    world.write("build/e.txt", "stoat");
    world.write(".ignore", "build\n");
    world.index_docs();
    world
}

#[test]
fn what_is_known_of_files() {
    let world = collection();
    let file = assert_why(&world, "docs/a.txt", "file", "unchanged", "nothing");
    assert_eq!(file["root"], world.docs().to_str().unwrap());
    assert_eq!(file["stamp"]["size"], 5);
    assert_eq!(
        file["documents"][0]["extractor"],
        "plain text and source code"
    );
    let archive = assert_why(&world, "docs/inside.tar", "file", "unchanged", "nothing");
    let ipaths = archive["documents"].as_array().unwrap().iter();
    let ipaths: Vec<_> = ipaths.map(|document| &document["ipath"]).collect();
    assert_eq!(ipaths, ["", "b.txt", "c.pdf"]);
    let blob = assert_why(&world, "docs/blob", "file", "unchanged", "nothing");
    assert_eq!(blob["documents"][0]["extractor"], Value::Null);
    let broken = assert_why(&world, "docs/broken.pdf", "file", "unchanged", "nothing");
    let failure = &broken["documents"][0]["failure"];
    assert_eq!(failure["reason"], "malformed");
    assert!(failure["remedy"].is_string() && failure["seconds"].is_number());
}

#[test]
fn what_the_next_run_would_do() {
    let world = collection();
    world.write("new.txt", "new");
    world.write("a.txt", "changed");
    world.remove("blob");
    assert_why(&world, "docs/new.txt", "file", "absent", "read");
    assert_why(&world, "docs/a.txt", "file", "changed", "read");
    assert_why(&world, "docs/blob", "absent", "unseen", "forget");
    world.write(".ignore", "build\n*.pdf\n");
    assert_why(&world, "docs/broken.pdf", "left_out", "unseen", "forget");
    world.configure("[[folder]]\npath = \"~/docs\"\nfields.author = \"Anna\"\n");
    assert_why(
        &world,
        "docs/inside.tar",
        "file",
        "unchanged",
        "read_fields",
    );
    fs_err::rename(world.docs(), world.home().join("away")).unwrap();
    assert_why(&world, "docs/a.txt", "unavailable", "unseen", "keep");
}

#[test]
fn why_a_path_is_not_indexed() {
    let world = collection();
    let outside = assert_why(&world, "config", "not_covered", "absent", "nothing");
    assert_eq!(outside["root"], Value::Null);
    assert_why(&world, "docs", "folder", "absent", "nothing");
    assert_why(&world, "docs/../docs/none", "absent", "absent", "nothing");
    let hidden = assert_why(
        &world,
        "docs/.secret/d.txt",
        "left_out",
        "absent",
        "nothing",
    );
    let at = world.docs().join(".secret");
    assert_eq!(hidden["walk"]["at"], at.to_str().unwrap());
    assert_eq!(hidden["walk"]["skipped"]["skip"], "hidden");
    let ignored = assert_why(&world, "docs/build/e.txt", "left_out", "absent", "nothing");
    assert_eq!(ignored["walk"]["skipped"]["pattern"], "build");
}

#[test]
fn people_read_it_as_text() {
    let world = collection();
    let run = world.ken(["status", "--why", "docs/broken.pdf"]);
    let docs = world.docs();
    let docs = docs.to_str().unwrap();
    let text = run.text();
    for line in [
        &format!("path       {docs}/broken.pdf\n"),
        &format!("root       {docs}\n"),
        "walk       includes the file\n",
        "index      up to date\n",
        "next run   skips it: nothing changed (--retry-failed reads it)\n",
        "extractor  PDF, version 10\n",
        "documents  1\n  (the file)\tapplication/pdf\t8 B\tbroken.pdf\n    malformed: no page can be found; ",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    let run = world.ken(["status", "--why", "docs/build/e.txt"]);
    let line = format!("walk       skips {docs}/build: ignored by \"build\" in {docs}/.ignore");
    assert!(run.text().contains(&line), "{}", run.text());
}

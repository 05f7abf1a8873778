//! Updates: a change costs only its own work, and the answers follow it.

use crate::samples::{fixture, mbox, tar};
use crate::world::{World, assert_counts};

#[test]
fn nothing_changed_writes_nothing() {
    let world = World::new();
    for name in ["sample.odt", "archive/folders.zip", "mail/three.mbox"] {
        world.add_fixture(name);
    }
    world.write("broken.pdf", "%PDF-1.4");
    world.write("empty.txt", "");
    world.index_docs();
    let before = world.data_files();
    for args in [&[][..], &["docs"]] {
        let summary = world.index(args);
        assert_counts(&summary, &[("unchanged", 5)]);
        assert_eq!(summary["committed"], false);
        assert_eq!(summary["bytes"], 0);
        assert_eq!(summary["documents"], 0);
        assert_eq!(world.data_files(), before);
    }
}

#[test]
fn each_change_costs_its_own_work() {
    let world = World::new();
    for name in ["a.txt", "b.txt", "c.txt", "d.txt"] {
        world.write(name, format!("otter {name}"));
    }
    world.index_docs();
    world.write("a.txt", "badger");
    world.write("sub/new.txt", "beaver");
    world.rename("b.txt", "sub/moved.txt");
    world.remove("c.txt");
    let summary = world.index(&[]);
    assert_counts(
        &summary,
        &[
            ("added", 1),
            ("changed", 1),
            ("moved", 1),
            ("gone", 1),
            ("unchanged", 1),
        ],
    );
    assert_eq!(summary["documents"], 3);
    assert_eq!(world.found("otter"), ["d.txt", "sub/moved.txt"]);
    assert_eq!(world.found("badger OR beaver"), ["a.txt", "sub/new.txt"]);
    assert_eq!(
        world.found("*"),
        ["a.txt", "d.txt", "sub/moved.txt", "sub/new.txt"]
    );
}

#[test]
fn a_change_that_keeps_size_and_time_is_seen() {
    let world = World::new();
    world.write("a.txt", "otter");
    world.set_modified("a.txt", 1_700_000_000);
    world.index_docs();
    world.write("a.txt", "stoat");
    world.set_modified("a.txt", 1_700_000_000);
    assert_counts(&world.index(&[]), &[("changed", 1)]);
    assert_eq!(world.found("stoat"), ["a.txt"]);
    assert!(world.hits("otter").is_empty());
}

#[test]
fn a_moved_file_keeps_its_content_under_the_new_path_only() {
    let world = World::new();
    for name in ["archive/folders.zip", "mail/attachments.eml", "sample.docx"] {
        world.add_fixture(name);
    }
    world.index_docs();
    let before = world.hits("*").len();
    let title = world.hit("quokkaberg");
    fs_err::create_dir(world.docs().join("new")).unwrap();
    world.rename("folders.zip", "new/box.zip");
    world.rename("attachments.eml", "new/mail.eml");
    world.rename("sample.docx", "new/herd.docx");
    let summary = world.index(&[]);
    assert_counts(&summary, &[("moved", 3)]);
    assert_eq!(
        world.found("stalagtoad"),
        ["new/box.zip|backup.tar.gz|deep/cave.txt"]
    );
    assert_eq!(world.found("albatross"), ["new/mail.eml"]);
    assert_eq!(world.found("pangolin discussed"), ["new/mail.eml|1"]);
    assert_eq!(world.found("filename:box"), ["new/box.zip"]);
    assert!(world.hits("filename:folders").is_empty());
    assert!(world.hits("dir:docs -dir:new").is_empty());
    assert_eq!(world.hits("*").len(), before);
    let hit = world.hit("quokkaberg");
    for key in ["title", "snippet", "type", "mime"] {
        assert_eq!(hit[key], title[key], "{key}");
    }
    for key in [
        "author",
        "created",
        "description",
        "keywords",
        "pages",
        "date",
    ] {
        assert_eq!(hit["fields"][key], title["fields"][key], "{key}");
    }
    assert_counts(&world.index(&[]), &[("unchanged", 3)]);
}

#[test]
fn a_moved_file_with_another_extension_is_read_again() {
    let world = World::new();
    world.add_fixture("archive/folders.zip");
    world.write("note.txt", "# Otter");
    world.index_docs();
    let before = world.hits("*").len();
    world.rename("folders.zip", "folders.jar");
    world.rename("note.txt", "note.md");
    assert_counts(&world.index(&[]), &[("moved", 2)]);
    assert_eq!(
        world.found("quokkaberry"),
        ["folders.jar|letters/spring.txt"]
    );
    assert_eq!(world.found("otter mime:text/markdown"), ["note.md"]);
    assert_eq!(world.hits("*").len(), before);
}

#[test]
fn folders_move_with_all_that_is_in_them() {
    let world = World::new();
    for number in 0..20 {
        world.write(
            format!("old/{}/{number}.txt", number % 3),
            format!("otter {number}"),
        );
    }
    world.index_docs();
    world.rename("old", "new");
    let summary = world.index(&[]);
    assert_counts(&summary, &[("moved", 20)]);
    assert_eq!(world.hits("otter dir:docs/new").len(), 20);
    assert_eq!(world.hits("*").len(), 20);
}

#[test]
fn files_that_swap_paths_are_distinguished() {
    let world = World::new();
    world.write("a.txt", "otter");
    world.write("b.txt", "stoat in a longer text");
    world.write("link.txt", "marten");
    world.index_docs();
    world.rename("a.txt", "c.txt");
    world.rename("b.txt", "a.txt");
    world.rename("c.txt", "b.txt");
    fs_err::hard_link(world.docs().join("link.txt"), world.docs().join("same.txt")).unwrap();
    world.index(&[]);
    assert_eq!(world.found("otter"), ["b.txt"]);
    assert_eq!(world.found("stoat"), ["a.txt"]);
    assert_eq!(world.found("marten"), ["link.txt", "same.txt"]);
    world.remove("link.txt");
    world.index(&[]);
    assert_eq!(world.found("marten"), ["same.txt"]);
    assert_eq!(world.hits("*").len(), 3);
}

#[test]
fn a_mailbox_that_grew_and_an_archive_that_lost_a_member() {
    let world = World::new();
    let bodies: Vec<String> = (0..5).map(|n| format!("otter number{n}")).collect();
    world.write("box.mbox", mbox(&bodies[..3]));
    world.write("box.tar", tar(&[("a.txt", "stoat"), ("b.txt", "marten")]));
    world.index_docs();
    assert_eq!(world.hits("otter type:message").len(), 3);

    world.write("box.mbox", mbox(&bodies));
    world.write("box.tar", tar(&[("b.txt", "marten")]));
    assert_counts(&world.index(&[]), &[("changed", 2)]);
    assert_eq!(world.hits("otter").len(), 5);
    assert_eq!(world.found("number4"), ["box.mbox|5"]);
    assert!(world.hits("stoat").is_empty());
    assert_eq!(world.found("marten"), ["box.tar|b.txt"]);

    world.write("box.tar", "no archive any more");
    world.index(&[]);
    assert!(world.hits("marten").is_empty());
    world.remove("box.mbox");
    world.index(&[]);
    assert!(world.hits("otter").is_empty());
}

#[test]
fn a_failed_file_is_tried_again_when_it_changes() {
    let world = World::new();
    world.write("report.docx", &fixture("sample.docx")[..5000]);
    world.index_docs();
    assert_eq!(world.failed().len(), 1);
    assert_counts(&world.index(&[]), &[("unchanged", 1)]);
    world.write("report.docx", fixture("sample.docx"));
    world.index(&[]);
    assert!(world.failed().is_empty());
    assert_eq!(world.found("quokkaberg"), ["report.docx"]);
}

#[test]
fn a_file_that_becomes_a_folder_and_back() {
    let world = World::new();
    world.write("thing", "otter");
    world.index_docs();
    world.remove("thing");
    world.write("thing/inside.txt", "stoat");
    world.index(&[]);
    assert_eq!(world.found("*"), ["thing/inside.txt"]);
    fs_err::remove_dir_all(world.docs().join("thing")).unwrap();
    world.write("thing", "marten");
    world.index(&[]);
    assert_eq!(world.found("*"), ["thing"]);
    assert_eq!(world.found("marten"), ["thing"]);
}

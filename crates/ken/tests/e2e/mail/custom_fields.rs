//! Headers that the settings make fields: `[mail] headers`.

use serde_json::json;

use super::message;
use crate::world::{World, assert_counts};

const PROJECT: &str = "[mail]\nheaders = { project = \"X-Project\" }\n";

/// Three messages, one of them in a mailbox, and a file that is not a message.
fn projects(settings: &str) -> World {
    let world = World::new();
    world.configure(settings);
    let header = "X-Project: The Pangolin Survey\nX-project: second\nX-Client: Tapirs\n";
    world.write("inbox/cur/1:2,S", message(1, &[], header, "about it"));
    let other = message(2, &[], "X-Project: pangolins\n", "more");
    let separator = "From anna@x.org Mon Mar  3 10:00:00 2025\n";
    world.write("old.mbox", format!("{separator}{other}\n"));
    world.write("inbox/cur/3:2,", message(3, &[], "", "a pangolin survey"));
    world.write("pangolin.txt", "X-Project: pangolin");
    world.index_docs();
    world
}

#[test]
fn a_header_is_searched_and_shown_like_other_fields() {
    let world = projects(PROJECT);
    for (query, expected) in [
        ("project:pangolin", 2),
        ("project:tapirs", 0),
        ("project:\"pangolin survey\"", 1),
        ("project:\"survey second\"", 0),
        ("project:pang*", 2),
        ("project:/^pangolins$/", 1),
        ("project:pangolim~", 1),
        ("project:(survey OR second)", 1),
        ("project:^the", 1),
        ("project:\"Pangolin\"C", 1),
        ("Project:*", 2),
        ("has:project", 2),
        ("type:message -has:project", 1),
        ("pangolin", 2),
    ] {
        assert_eq!(world.hits(query).len(), expected, "{query}");
    }
    let hit = world.hit("project:second");
    assert_eq!(
        hit["fields"]["project"],
        json!(["The Pangolin Survey", "second"])
    );
    let run = world.ken(["search", "project:second", "--fields", "project,rank"]);
    assert_eq!(run.text(), "The Pangolin Survey; second\t1\n");
    let sorted = |order: &[&str]| {
        let show = [
            "search",
            "type:message",
            "--fields",
            "project",
            "--sort",
            "project",
        ];
        world.ken([&show[..], order].concat()).text().to_owned()
    };
    assert_eq!(sorted(&[]), "pangolins\nThe Pangolin Survey; second\n\n");
    let reversed = sorted(&["--reverse"]);
    assert_eq!(reversed, "The Pangolin Survey; second\npangolins\n\n");
    let counted = world.ken(["search", "--facets", "project,type", "type:message"]);
    let values = ["pangolins", "second", "The Pangolin Survey"];
    let expected = values.map(|value| format!("        1  {value}"));
    assert_eq!(counted.lines()[1..4], expected, "{}", counted.err);
    for wrong in [["--sort", "projects"], ["--facets", "projects"]] {
        let run = world.ken([&["search", "pangolin"], &wrong[..]].concat());
        assert_eq!(run.code, 2);
        let expected = format!("{} projects: known are ", wrong[0]);
        assert!(run.err.contains(&expected), "{}", run.err);
        assert!(run.err.contains(", project"), "{}", run.err);
    }
    let notmuch = ["search", "--syntax", "notmuch", "project:survey"];
    assert_eq!(world.ken(notmuch).code, 0);
    let terms = world.ken(["terms", "--field", "project", "sec"]);
    assert!(terms.text().ends_with(" second\n"), "{}", terms.text());
}

#[test]
fn an_explanation_calls_a_field_by_its_name() {
    let world = projects(PROJECT);
    let run = world.ken(["search", "--explain", "project:survey"]);
    for part in [
        "engine  Words(any of (exact project \"survey\"))",
        "word (exact project \"survey\")",
        "project:\"survey\" 1 times in",
    ] {
        assert!(run.text().contains(part), "{}", run.text());
    }
    assert!(!run.text().contains("own1"), "{}", run.text());
}

#[test]
fn a_changed_setting_reads_mail_again_and_nothing_else() {
    let world = projects("");
    let unknown = world.ken(["search", "project:survey"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("there is no field"), "{}", unknown.err);
    world.configure(PROJECT);
    assert_counts(&world.index(&[]), &[("changed", 3), ("unchanged", 1)]);
    assert_counts(&world.index(&[]), &[("unchanged", 4)]);
    assert_eq!(world.hits("project:survey").len(), 1);

    // A new name that sorts before the other one does not move the other field.
    let both = "[mail]\nheaders = { client = \"X-Client\", project = \"X-Project\" }\n";
    world.configure(both);
    assert_eq!(world.hits("project:survey").len(), 1, "before the next run");
    assert_counts(&world.index(&[]), &[("changed", 3), ("unchanged", 1)]);
    assert_eq!(world.hits("project:survey client:tapirs").len(), 1);

    world.configure("[mail]\nheaders = { client = \"X-Client\" }\n");
    assert_counts(&world.index(&[]), &[("changed", 3), ("unchanged", 1)]);
    assert_eq!(world.ken(["search", "project:survey"]).code, 2);
    let close = world.ken(["search", "clinet:tapirs"]);
    assert!(close.err.contains("did you mean client?"), "{}", close.err);
}

#[test]
fn what_cannot_be_a_field_is_refused() {
    let world = projects("");
    for (headers, message) in [
        (
            "{ from = \"X-From\" }",
            "\"from\" cannot be a field: ken has a field of that name",
        ),
        (
            "{ Project = \"X-P\" }",
            "a name has 2 to 32 lowercase letters or _",
        ),
        (
            "{ query = \"X-P\" }",
            "queries use this name for something else",
        ),
        (
            "{ project = \"X P\" }",
            "\"X P\" is not a valid header name",
        ),
        (
            "{ xa=\"A\", xb=\"A\", xc=\"A\", xd=\"A\", xe=\"A\", xf=\"A\", xg=\"A\", xh=\"A\", xi=\"A\" }",
            "9 custom fields, but there can be at most 8",
        ),
    ] {
        world.configure(&format!("[mail]\nheaders = {headers}\n"));
        let run = world.ken(["index"]);
        assert_eq!(run.code, 2);
        assert!(run.err.contains("mail.headers: "), "{}", run.err);
        assert!(run.err.contains(message), "{}", run.err);
    }
    world.configure("");
    let run = world.ken(["search", "tapir", "--fields", "client"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("known are rank, score"), "{}", run.err);
}

//! What is found with a file besides its own text: members of archives, and what lies beside it.

use serde_json::Value;

use super::{READER, ask, ask_as_owner, fresh, set, world};
use crate::serve::Server;
use crate::world::World;

/// Returns the numbers of hits of a person and of the user of the server.
fn totals(world: &World, query: &str) -> (u64, u64) {
    let path = format!("/api/v1/search?q={query}");
    let total = |(status, body): (u16, String)| {
        assert_eq!(status, 200, "{body}");
        let found: Value = serde_json::from_str(&body).unwrap();
        found["total"].as_u64().unwrap()
    };
    let (person, owner) = (ask(world, READER, &path), ask_as_owner(world, &path));
    (total(person), total(owner))
}

fn set_all(world: &World, modes: &[(&str, u32)]) {
    for (name, mode) in modes {
        set(&world.docs().join(name), *mode);
    }
}

#[test]
fn a_member_is_for_those_who_may_read_its_archive() {
    let world = world("");
    world.add_fixture("archive/folders.zip");
    world.add_fixture("mail/attachments.eml");
    set_all(
        &world,
        &[("folders.zip", 0o600), ("attachments.eml", 0o644)],
    );
    world.index_docs();
    let server = Server::start(&world);
    // In an archive within an archive, and attached to a message.
    assert_eq!(totals(&world, "stalagtoad"), (0, 1));
    let (person, owner) = totals(&world, "pangolin");
    assert!(person > 0 && person == owner);
    let (_, body) = ask_as_owner(&world, "/api/v1/search?q=stalagtoad");
    let found: Value = serde_json::from_str(&body).unwrap();
    let id = found["hits"][0]["id"].as_str().unwrap().to_owned();
    let parts = ["", "/text", "/members", "/original"];
    let statuses =
        || parts.map(|part| ask(&world, READER, &format!("/api/v1/documents/{id}{part}")).0);
    assert_eq!(statuses(), [404; 4]);
    let (_, lines) = ask(&world, READER, "/api/v1/grep?pattern=stalagtoad");
    assert!(!lines.contains("stalagtoad"), "{lines}");
    set_all(
        &world,
        &[("folders.zip", 0o644), ("attachments.eml", 0o600)],
    );
    fresh(&server, &world);
    assert_eq!(totals(&world, "stalagtoad"), (1, 1));
    assert_eq!(totals(&world, "pangolin"), (0, owner));
    assert_eq!(statuses()[..3], [200; 3]);
}

#[test]
fn what_only_the_log_of_a_database_has_is_for_those_who_may_read_both() {
    for (log, expected) in [(0o600, (0, 0)), (0o644, (1, 1))] {
        let world = world("");
        world.add_fixture("database/live.sqlite");
        world.add_fixture("database/live.sqlite-wal");
        set_all(&world, &[("live.sqlite", 0o644), ("live.sqlite-wal", log)]);
        world.index_docs();
        let _server = Server::start(&world);
        // The log has changed a word and added another one.
        assert_eq!(totals(&world, "stoat"), expected, "{log:o}");
        let (person, owner) = totals(&world, "otter");
        assert_eq!((person, owner), (1 - expected.0, 1 - expected.1), "{log:o}");
    }
}

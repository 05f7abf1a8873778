//! What the system refused while a file was read is tried again by the next run, without being asked.

use serde_json::Value;

use super::trace;
use crate::needs;
use crate::world::World;

/// Errors of devices, of the network, of permissions, and of resources that ran out.
const ERRORS: [&str; 6] = ["EIO", "EACCES", "ESTALE", "ETIMEDOUT", "ENOMEM", "EMFILE"];

/// Indexes `docs` while these calls on a file fail with an error.
fn index_with(world: &World, file: &str, calls: &str, error: &str) -> Value {
    let file = world.docs().join(file);
    let (trace, inject) = (
        format!("trace={calls}"),
        format!("inject={calls}:error={error}"),
    );
    let options = ["-P", file.to_str().unwrap(), "-e", &trace, "-e", &inject];
    let run = world.traced(&options, &["index", "--json", "docs"]);
    assert_eq!(run.code, 0, "{}", run.err);
    run.summary()
}

#[test]
fn what_the_system_refused_is_tried_again() {
    if !needs::met("ptrace", trace::is_possible()) {
        return;
    }
    let calls = ["openat", "read,pread64,preadv,readv"];
    for (n, (error, calls)) in ERRORS
        .iter()
        .flat_map(|error| calls.map(|calls| (error, calls)))
        .enumerate()
    {
        let world = World::new();
        // One is read in this process, one in a worker.
        let file = if n % 4 < 2 {
            "notes.txt"
        } else {
            "folders.zip"
        };
        world.write("notes.txt", "otter");
        world.add_fixture("archive/folders.zip");
        world.write("other.txt", "badger");
        let summary = index_with(&world, file, calls, error);
        assert_eq!(
            summary["failed"], 1,
            "{error} of {calls} on {file}: {summary}"
        );
        let again = index_with(&world, file, calls, error);
        // The same failure is no change; what can be opened must be read to know.
        let tried = u64::from(calls != "openat");
        assert_eq!(again["changed"], tried, "{error} of {calls}: {again}");
        assert_eq!(again["committed"], tried > 0, "{error} of {calls}: {again}");
        let after = world.index_docs();
        assert_eq!(
            (&after["changed"], &after["failed"]),
            (&1.into(), &0.into()),
            "{error} of {calls} on {file}"
        );
        assert_eq!(world.index_docs()["changed"], 0);
        assert_eq!(world.found("otter").len(), 1, "{error} of {calls}");
    }
}

#[test]
fn what_the_file_says_is_not_tried_again() {
    let world = World::new();
    world.write("damaged.pdf", "%PDF-1.4 is all that there is");
    assert_eq!(world.index_docs()["failed"], 1);
    assert_eq!(world.index_docs()["changed"], 0);
}

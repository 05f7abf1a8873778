//! The same over an index in a cluster, which is the fake of `ken-cluster`.

use std::sync::Arc;

use ken_cluster::fake::{Fake, Server as Cluster};

use super::{READER, ask, found_by, fresh, set, world, write};
use crate::serve::Server;
use crate::world::assert_counts;

#[test]
fn a_cluster_shows_what_somebody_may_read() {
    let cluster = Cluster::start(&Arc::new(Fake::default()), None).unwrap();
    let node = cluster.node();
    let engine =
        format!("[engine]\nkind = \"opensearch\"\nnodes = [\"{node}\"]\nname = \"shared\"\n");
    let world = world(&engine);
    write(&world, "open/all.txt", 0o644, "apple for all");
    let own = write(&world, "open/own.secretext", 0o600, "apple quokka");
    write(&world, "closed/hidden.txt", 0o644, "apple wombat");
    set(&world.docs().join("closed"), 0o700);
    assert_counts(&world.index_docs(), &[("added", 3)]);
    assert_counts(&world.index(&[]), &[("unchanged", 3)]);
    let server = Server::start(&world);
    assert_eq!(found_by(&world, READER, "apple"), ["all.txt"]);
    for question in [
        "terms?q=quok*",
        "terms?q=*&field=ext",
        "complete?prefix=quok",
        "search?q=*&facet=ext",
        "search?q=quokkaz&suggest=true",
    ] {
        let (status, body) = ask(&world, READER, &format!("/api/v1/{question}"));
        assert_eq!(status, 200, "{body}");
        let body = body.replace("quokkaz", "");
        assert!(
            !body.contains("quokka") && !body.contains("secretext"),
            "{question}: {body}"
        );
    }
    set(&own, 0o644);
    set(&world.docs().join("closed"), 0o755);
    fresh(&server, &world);
    assert_eq!(
        found_by(&world, READER, "apple"),
        ["hidden.txt", "all.txt", "own.secretext"]
    );
}

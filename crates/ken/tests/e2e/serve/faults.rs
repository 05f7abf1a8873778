//! Faults while a server runs: afterwards, searches find what an index made from nothing finds.

use super::*;
use crate::faults::may_mount;
use crate::needs;
use crate::places::{Kind, Place};

#[test]
fn a_folder_that_is_replaced_by_a_link_or_a_file() {
    let world = world();
    let server = Server::start(&world);
    server.converges();
    let outside = world.home().join("outside");
    fs_err::rename(world.docs().join("a/b"), &outside).unwrap();
    symlink(&outside, world.docs().join("a/b")).unwrap();
    server.converges();
    fs_err::write(outside.join("two.txt"), "no longer below a root").unwrap();
    world.write("a/one.txt", "one quince");
    server.converges();
    world.remove("a/b");
    world.write("a/b", "a file now");
    server.converges();
    world.remove("a/b");
    fs_err::rename(&outside, world.docs().join("a/b")).unwrap();
    server.converges();
    world.write("a/b/two.txt", "two quinces, seen again");
    server.converges();
    assert_eq!(server.status()["watched"], 3);
}

#[test]
fn a_tree_that_is_renamed_again_and_again() {
    let world = world();
    let server = Server::start(&world);
    for round in 0..8 {
        for n in 0..60 {
            let text = format!("pear {round} {n}");
            world.write(format!("tree{round}/{}/x/{n}.txt", n % 5), text);
        }
        // Some batch is under way.
        std::thread::sleep(Duration::from_millis(70 * round));
        world.rename(&format!("tree{round}"), &format!("tree{}", round + 1));
    }
    server.converges();
    world.write("tree8/3/x/last.txt", "the last pear");
    server.converges();
}

#[test]
fn more_folders_than_watches() {
    let world = world();
    let options = ["--max-watches", "4", "--sweep-seconds", "1"];
    let server = Server::start_with(&world, &options);
    for n in 0..12 {
        world.write(format!("many/{n}/deep/file.txt"), format!("melon {n}"));
    }
    server.converges();
    for n in 0..12 {
        world.write(format!("many/{n}/deep/file.txt"), format!("lime {n}"));
    }
    world.rename("many/3", "a/3");
    world.rename("many/4/deep", "a/4");
    server.converges();
    fs_err::remove_dir_all(world.docs().join("many")).unwrap();
    server.converges();
}

#[test]
fn files_with_earlier_times() {
    let world = world();
    let server = Server::start(&world);
    server.converges();
    // As when the clock is set back, or when a file is restored.
    for (n, seconds) in [1_500_000_000, 1_000_000_000, 1].into_iter().enumerate() {
        world.write("a/one.txt", format!("an earlier fig {n}"));
        world.set_modified("a/one.txt", seconds);
        server.converges();
    }
}

#[test]
fn a_stopped_server_catches_up() {
    let world = world();
    let server = Server::start(&world);
    server.converges();
    server.signal("-STOP");
    for n in 0..40 {
        world.write(format!("stopped/{n}.txt"), format!("date {n}"));
    }
    world.rename("a", "c");
    world.write("c/b/two.txt", "two dates");
    server.signal("-CONT");
    server.converges();
    world.write("c/b/three.txt", "three dates");
    server.converges();
}

#[test]
fn the_data_folder_is_deleted() {
    let world = world();
    let mut server = Server::start(&world);
    server.converges();
    fs_err::remove_dir_all(world.data()).unwrap();
    world.write("late.txt", "a late plum");
    let child = server.child.take().unwrap();
    server.until("the server ends", || {
        let pid = child.id().to_string();
        let stat = fs_err::read_to_string(format!("/proc/{pid}/stat"));
        stat.is_ok_and(|stat| stat.contains(") Z "))
    });
    let run = Run::of_child(child);
    let message = format!(
        "ken: the data folder \"{}\" was deleted\n",
        world.data().display()
    );
    assert_eq!(run.code, 2);
    assert!(run.err.ends_with(&message), "{}", run.err);
    world.index_docs();
    let server = Server::start(&world);
    server.converges();
    assert_eq!(world.ken(["search", "plum", "-c"]).text(), "1\n");
}

/// Functions for scripts with a server: `same` waits until it finds what an index made from nothing finds.
const SCRIPT: &str = "
    found() { $ken \"$@\" search -n0 --sort path --json 'size:0..' | sed 's/.*\"path\":\\(\"[^\"]*\"\\).*\"text\":\\(\"[^\"]*\"\\).*/\\1 \\2/' | grep '^\"' || true; }
    same() {
        rm -rf other
        for root in \"$@\"; do $ken --data other index -q $root; done
        found --data other >expected
        for try in $(seq 200); do
            found --data data >now
            if cmp -s expected now; then return 0; fi
            sleep 0.1
        done
        echo \"not the same: $1\"; cat now expected
        return 1
    }
    serve() {
        $ken --data data serve 2>said & server=$!
        trap 'kill $server; cat said' EXIT
        for try in $(seq 200); do
            if grep -q watching said; then return 0; fi
            sleep 0.1
        done
        return 1
    }
";

/// Runs a script that may mount, with a server.
fn script(world: &World, text: &str) {
    let mut command = world.around("unshare");
    command.args(["-rm", "sh", "-euc", &format!("{SCRIPT}{text}")]);
    let run = Run::of(command.output().unwrap());
    assert_eq!(run.code, 0, "{} {}", run.text(), run.err);
}

#[test]
fn file_systems_come_and_go() {
    if !needs::met("mount", may_mount()) {
        return;
    }
    let world = world();
    script(
        &world,
        "mkdir docs/below disk store
         mount -t tmpfs none store
         echo first >store/1.txt
         mount --bind store disk
         $ken --data data index -q docs disk
         serve
         same docs disk
         mount -t tmpfs none docs/below
         echo below >docs/below/2.txt
         same docs disk
         echo again >docs/below/2.txt
         same docs disk
         umount docs/below
         same docs disk
         # A root that is unmounted keeps its documents.
         found --data data >before
         umount disk
         echo second >store/3.txt
         sleep 2
         found --data data >now
         cmp before now
         mount --bind store disk
         same docs disk
         echo third >disk/4.txt
         same docs disk",
    );
}

#[test]
fn a_disk_is_full_and_then_free() {
    if !needs::met("mount", may_mount()) {
        return;
    }
    let world = world();
    script(
        &world,
        "mkdir -p data
         mount -t tmpfs -o size=3m none data
         $ken --data data index -q docs
         serve
         same docs
         head -c 9m /dev/zero >data/filler 2>/dev/null || true
         for n in 1 2 3; do echo \"text $n\" >docs/$n.txt; done
         for try in $(seq 100); do
             if grep -q 'No space left' said; then break; fi
             sleep 0.1
         done
         grep -q 'No space left' said
         rm data/filler
         same docs
         echo more >docs/4.txt
         same docs",
    );
}

#[test]
fn a_file_system_that_does_not_answer_holds_nothing_up() {
    let Some(place) = Place::new(Kind::Fuse) else {
        return;
    };
    let world = world();
    fs_err::write(place.folder().join("far.txt"), "a far fig").unwrap();
    world.index(&[place.folder().to_str().unwrap()]);
    let server = Server::start(&world);
    server.converges();
    assert_eq!(server.status()["swept"], 1);
    place.rules("getattr / HANG\nreaddir / HANG\nopen / HANG\n");
    // All watches are set anew, and everything is compared.
    let away = world.home().join("away");
    fs_err::rename(world.docs(), &away).unwrap();
    fs_err::rename(&away, world.docs()).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    world.write("near.txt", "a near fig");
    // Each run asks the root for 10 s.
    let written = Instant::now();
    while world.ken(["search", "-c", "near fig"]).text() != "1\n" {
        assert!(written.elapsed() < 5 * PATIENCE);
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(server.status()["watched"], 3);
    place.rules("");
    server.converges();
    assert_eq!(world.ken(["search", "far fig", "-c"]).text(), "1\n");
}

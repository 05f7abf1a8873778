//! The configuration file, `--set` and the environment.

use crate::world::{World, assert_counts};

fn otters() -> World {
    let world = World::new();
    for number in 0..5 {
        world.write(format!("{number}.txt"), "otter");
    }
    world.index_docs();
    world
}

#[test]
fn settings_come_from_file_and_command_line() {
    let world = otters();
    let hits = |args: &[&str]| {
        world
            .ken(["search", "--json", "otter"].iter().chain(args))
            .objects()
            .len()
    };
    assert_eq!(hits(&[]), 5);
    world.configure("limit = 3\n");
    assert_eq!(hits(&[]), 3);
    assert_eq!(hits(&["--set", "limit=2"]), 2);
    assert_eq!(hits(&["--set", "limit=2", "--limit", "4"]), 4);
    fs_err::write(world.home().join("other.toml"), "limit = 1").unwrap();
    assert_eq!(hits(&["--config", "other.toml"]), 1);
    let mut command = world.command(["search", "--json", "otter"]);
    let output = command.env("KEN_CONFIG", "other.toml").output().unwrap();
    assert_eq!(
        output.stdout.iter().filter(|&&byte| byte == b'\n').count(),
        1
    );
}

#[test]
fn the_index_is_in_the_folder_that_was_named() {
    let world = World::new();
    world.write("a.txt", "otter");
    assert_eq!(world.ken(["--data", "here", "index", "docs"]).code, 0);
    assert!(world.home().join("here/index/meta.json").exists());
    assert!(!world.home().join("data").exists());
    assert_eq!(
        world
            .ken(["search", "otter", "--data", "here", "-c"])
            .text(),
        "1\n"
    );
    let mut command = world.command(["search", "-c", "otter"]);
    let output = command.env("KEN_DATA", "here").output().unwrap();
    assert_eq!(output.stdout, b"1\n");
    let mut command = world.command(["index", "docs"]);
    command.env_remove("XDG_DATA_HOME").output().unwrap();
    assert!(
        world
            .home()
            .join(".local/share/ken/index/meta.json")
            .exists()
    );
}

#[test]
fn passwords_come_from_a_file_and_a_command() {
    let world = World::new();
    for file in [
        "archive/encrypted.zip",
        "archive/encrypted.7z",
        "archive/encrypted5.rar",
        "pdf/encrypted-password.pdf",
    ] {
        world.add_fixture(file);
    }
    world.index_docs();
    assert_eq!(world.failed().len(), 4);
    let passwords = world.home().join("passwords");
    fs_err::write(&passwords, "wrong\n\nhunter2\r\n").unwrap();
    let file = format!("passwords.file={}", passwords.display());
    // Other passwords are a reason to read encrypted files again, and only these.
    let again = world.ken(["--set", &file, "index", "--json"]).summary();
    assert_counts(&again, &[("changed", 4), ("failed", 1)]);
    let again = world.ken(["--set", &file, "index", "--json"]).summary();
    assert_counts(&again, &[("unchanged", 4)]);
    assert_eq!(world.failed().len(), 1);
    assert_eq!(
        world.found("secretseal OR sevensecret OR rarsecret").len(),
        3
    );
    let status = ["--set", "passwords.command=exit 3", "status"];
    assert_eq!(world.ken(status).code, 0, "nobody is asked for passwords");
    let command = "passwords.command=\"echo user\"";
    assert_eq!(world.ken(["--set", command, "index"]).code, 0);
    assert!(world.failed().is_empty());
    assert_eq!(world.found("\"open secret\""), ["encrypted-password.pdf"]);
    for (setting, message) in [
        ("passwords.file=\"/none\"", "passwords.file: "),
        ("passwords.command=\"exit 3\"", "\"exit 3\": exit status: 3"),
    ] {
        let run = world.ken(["--set", setting, "index"]);
        assert_eq!(run.code, 2);
        assert!(run.err.contains(message), "{}", run.err);
    }
}

#[test]
fn mistakes_in_settings_are_refused() {
    let world = otters();
    let before = world.data_files();
    for (args, message) in [
        (
            &["--set", "lmit=3"][..],
            "unknown field `lmit`, expected one of",
        ),
        (&["--set", "limit=many"], "invalid type: string \"many\""),
        (
            &["--set", "limit"],
            "ken: --set limit: expected KEY=VALUE\nhint: ",
        ),
        (&["--set", "extract.max_depth=-1"], "invalid setting"),
        (&["--config", "none.toml"], "none.toml"),
    ] {
        for command in [&["search", "otter"][..], &["index", "docs"]] {
            let run = world.ken(command.iter().chain(args));
            assert_eq!(run.code, 2, "{args:?}");
            assert!(run.err.contains(message), "{args:?}: {}", run.err);
            assert!(run.out.is_empty());
        }
    }
    world.configure("limit = 3\nthreads = [\n");
    let run = world.ken(["search", "otter"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("config.toml\" is not valid"),
        "{}",
        run.err
    );
    world.configure("limit = 3\n[extract]\nmax_dept = 3\n");
    let run = world.ken(["search", "otter"]);
    assert_eq!(run.code, 2);
    for words in ["config.toml\" is not valid", "line 3", "`max_dept`"] {
        assert!(run.err.contains(words), "{}", run.err);
    }
    assert_eq!(world.data_files(), before);
}

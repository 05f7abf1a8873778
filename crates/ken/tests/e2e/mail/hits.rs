//! Messages by their numbers and addresses, their lines on a terminal, and the programs that show them.

use std::os::unix::fs::PermissionsExt;

use super::message;
use crate::pty;
use crate::world::World;

fn on_a_terminal(world: &World, columns: usize, line: &str) -> String {
    let output = pty::on_a_terminal(world, columns, &[("NO_COLOR", "1")], &["sh", "-c", line]);
    String::from_utf8(output.stdout).unwrap().replace('\r', "")
}

#[test]
fn a_word_of_digits_is_a_number_of_the_last_list() {
    let world = World::new();
    world.write("a.eml", message(1, &[], "Subject: The first\n", "okapi 1"));
    world.write("b.eml", message(2, &[], "Subject: The other\n", "okapi 1"));
    world.index_docs();
    let line =
        "$ken mail list okapi; echo LIST; $ken mail list 2; echo THREADS; $ken mail threads 1";
    let shown = on_a_terminal(&world, 80, line);
    let (both, rest) = shown.split_once("LIST\n").unwrap();
    let (list, threads) = rest.split_once("THREADS\n").unwrap();
    assert!(
        both.starts_with("1  2025-03-03  Anna  The other\n"),
        "{both}"
    );
    assert_eq!(list, "1  2025-03-03  Anna  The first\n");
    assert_eq!(threads, "2025-03-03    [1/1]  Anna  The first\n");
    // Elsewhere too, it is no word.
    for command in ["list", "threads", "show", "save", "verify"] {
        let run = world.ken(["mail", command, "1"]);
        assert_eq!(run.code, 2, "{command}: {}", run.text());
        assert!(
            run.err
                .contains("there is no list of hits on this terminal yet"),
            "{command}: {}",
            run.err
        );
        assert!(run.err.contains("type ./1"), "{command}: {}", run.err);
    }
    assert_eq!(world.ken(["mail", "list", "\"1\""]).lines().len(), 2);
}

#[test]
fn lines_of_lists_break_between_words() {
    let world = World::new();
    let subject =
        "Minutes of the meeting about the survey of okapis and their neighbours in the forest";
    let header = format!("Subject: {subject}\nX-Keywords: forest\n");
    world.write("a.eml", message(1, &[], &header, "text"));
    world.write("b.eml", message(2, &[1], &header, "text"));
    world.index_docs();
    for columns in [30, 60, 100] {
        for command in ["list", "threads --tree"] {
            let line = format!("$ken mail {command} survey");
            let shown = on_a_terminal(&world, columns, &line);
            for line in shown.lines() {
                assert!(line.len() <= columns, "{columns}: {shown}");
            }
            let words: Vec<&str> = shown.split_whitespace().collect();
            assert!(words.join(" ").contains(subject), "{columns}: {shown}");
            assert!(
                shown.lines().any(|line| line.starts_with("    ")),
                "{shown}"
            );
        }
    }
    let whole = world.ken(["mail", "list", "survey"]);
    assert_eq!(whole.lines().len(), 2, "{}", whole.text());
}

#[test]
fn a_message_of_a_mailbox_opens_as_a_message() {
    let world = World::new();
    let message = |id| {
        format!(
            "From a@x Mon Jan  1 00:00:00 2026\n{}\n",
            message(id, &[], "", "text")
        )
    };
    world.write("old.mbox", [1, 2, 3].map(message).concat());
    world.index_docs();
    let with = "/usr/bin/stat -c 'the name: %n'";
    let run = world.ken(["open", "docs/old.mbox|3", "--with", with]);
    let name = run.text().trim();
    assert!(
        name.starts_with("the name: /") && name.ends_with("/old.mbox.eml"),
        "{name}{}",
        run.err
    );
}

#[test]
fn the_address_of_an_attachment_saves_it_alone() {
    let world = World::new();
    let file = |name: &str| {
        format!("--b\nContent-Disposition: attachment; filename=\"{name}\"\n\nin {name}\n")
    };
    let header = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n";
    let body = format!(
        "--b\n\nsee below\n{}{}--b--\n",
        file("one.txt"),
        file("two.txt")
    );
    world.write("two.eml", message(1, &[], header, &body));
    world.index_docs();
    let folder = world.home().join("saved");
    let to = folder.to_str().unwrap();
    let save = |address: &str| world.ken(["mail", "save", "--to", to, "--overwrite", address]);
    assert_eq!(save("docs/two.eml|1").text(), format!("{to}/one.txt\n"));
    assert_eq!(save("docs/two.eml|2").text(), format!("{to}/two.txt\n"));
    assert_eq!(save("docs/two.eml").lines().len(), 2);
}

#[test]
fn the_command_line_of_a_pager_may_have_quotes() {
    let world = World::new();
    world.write("a.eml", message(1, &[], "Subject: The survey\n", "text"));
    world.index_docs();
    let line = "KEN_PAGER=\"sed 's/^/it is: /'\" $ken mail list survey";
    let shown = on_a_terminal(&world, 80, line);
    assert_eq!(shown, "it is: 1  2025-03-03  Anna  The survey\n");
}

#[test]
fn a_pager_shows_what_fits_the_screen_from_its_beginning() {
    let world = World::new();
    let text = |n| format!("{}an okapi\n{}", "plain\n".repeat(9), "plain\n".repeat(n));
    world.write("short.txt", text(1));
    world.write("long.txt", text(50));
    world.index_docs();
    let less = world.home().join("less");
    fs_err::write(&less, "#!/bin/sh\necho \"options: $*.\"\ncat\n").unwrap();
    fs_err::set_permissions(&less, std::fs::Permissions::from_mode(0o755)).unwrap();
    let shown = |name: &str| {
        let less = less.display();
        let line = format!("$ken search okapi filename:{name}; PAGER={less} $ken show 1");
        on_a_terminal(&world, 80, &line)
    };
    let short = shown("short");
    assert!(short.contains("options: .\nshort.txt\n"), "{short}");
    assert!(short.contains("an okapi"), "{short}");
    let long = shown("long");
    assert!(long.contains("options: +"), "{long}");
}

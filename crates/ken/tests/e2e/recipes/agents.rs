//! An agent, and programs that ask by commands.

use super::{CLIENT, Desk, PROGRAMS, text_of};

#[test]
fn the_command_for_a_client_starts_a_server_that_answers() {
    let desk = Desk::of_okapis();
    fs_err::create_dir_all(desk.world.home().join("Documents")).unwrap();
    desk.world
        .write("../Documents/lease.txt", "the lease ends in May\n");
    desk.world.index(&["Documents"]);
    let printed = desk.shell(text_of(CLIENT));
    let command = printed.lines().find(|line| line.contains(" -- ")).unwrap();
    let (_, server) = command.split_once(" -- ").unwrap();
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"when does the lease end?"}}}"#;
    let answer = desk.shell(&format!("echo '{call}' | {server}"));
    assert!(answer.contains("Documents/lease.txt:1"), "{answer}");
    assert!(answer.contains("the lease ends in May"), "{answer}");
}

#[test]
fn each_command_for_programs_answers_within_its_budget() {
    let desk = Desk::of_okapis();
    let documents = desk.world.home().join("Documents");
    fs_err::create_dir_all(&documents).unwrap();
    for number in 0..60 {
        let text = format!(
            "# Okapi {number}\n\n{}",
            "An okapi, it eats leaves.\n".repeat(200)
        );
        fs_err::write(documents.join(format!("{number}.md")), text).unwrap();
        let mail = format!("Subject: okapi\nMessage-ID: <{number}@x>\n\nAn okapi.\n");
        desk.world.write(format!("mail/cur/{number}:2,S"), mail);
    }
    desk.world.index(&["Documents", "docs"]);
    let setting = "question='What does an okapi eat?' words=okapi pattern='okapi.*leaves' path=$HOME/Documents/1.md";
    let mut n_tried = 0;
    for line in text_of(PROGRAMS).lines() {
        let out = desk.shell(&format!("{setting}; {line}"));
        assert!(out.to_lowercase().contains("okapi"), "{line}\n{out}");
        if line.contains("--budget") {
            assert!(out.len() <= 3000, "{line}\n{out}");
            assert!(
                out.lines().last().unwrap().starts_with('['),
                "{line}\n{out}"
            );
        }
        n_tried += 1;
    }
    assert_eq!(n_tried, 6);
}

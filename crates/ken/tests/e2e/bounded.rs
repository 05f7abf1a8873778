//! Results for programs: bounded in bytes, as tables, with chosen keys, and errors as objects.

use crate::world::World;

fn okapis() -> World {
    let world = World::new();
    for number in 1..=30 {
        let text = format!("okapi {}\n", "filler ".repeat(number * 3));
        world.write(format!("okapi {number}.txt"), text);
    }
    world.index_docs();
    world
}

/// Splits a command line that a shell would read.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, piece) in line.split('\'').enumerate() {
        match number % 2 {
            0 => words.extend(piece.split_whitespace().map(str::to_owned)),
            _ => words.push(piece.to_owned()),
        }
    }
    words
}

#[test]
fn a_budget_holds_and_the_next_commands_give_every_hit_once() {
    let world = okapis();
    let all = world.ken(["search", "-n0", "okapi", "--fields", "path"]);
    let all: Vec<&str> = all.text().lines().collect();
    assert_eq!(all.len(), 30);
    for (budget, option) in [(600, ""), (1500, ""), (1500, "--json"), (4000, "--json")] {
        let mut line =
            format!("ken search --group none {option} --budget {budget} okapi 'OR nothing'");
        let mut found = Vec::new();
        for _ in 0..60 {
            let run = world.ken(&words(&line)[1..]);
            assert!(
                run.code == 0 && run.out.len() <= budget,
                "{line}: {}",
                run.err
            );
            let last = run.text().lines().last().unwrap();
            let next = match option {
                "" => {
                    assert!(last.contains(" of 30 hits shown"), "{last}");
                    let paths = run
                        .text()
                        .lines()
                        .filter(|line| line.contains("/docs/okapi"));
                    let path =
                        |line: &str| line.trim().split(".txt").next().unwrap().to_owned() + ".txt";
                    found.extend(paths.map(path));
                    last.split_once("next: ")
                        .map(|(_, next)| next.trim_end_matches(']').to_owned())
                }
                _ => {
                    let objects = run.objects();
                    let end = objects.last().unwrap();
                    assert_eq!(
                        (&end["total"], end["shown"].as_u64()),
                        (&30.into(), Some(objects.len() as u64 - 1))
                    );
                    let paths = objects.iter().filter_map(|object| object["path"].as_str());
                    found.extend(paths.map(str::to_owned));
                    end["next"].as_str().map(str::to_owned)
                }
            };
            match next {
                Some(next) => line = next,
                None => break,
            }
        }
        assert_eq!(found, all, "{budget} {option}");
    }
}

#[test]
fn lists_of_messages_are_bounded_too() {
    let world = World::new();
    for number in 0..20 {
        let mail =
            format!("From: a@x.org\nSubject: okapi {number}\nMessage-ID: <{number}@x>\n\ntext\n");
        world.write(format!("mail/cur/{number}:2,"), mail);
    }
    world.index_docs();
    for option in ["", "--json"] {
        let mut line = format!("ken mail list {option} --budget 800 okapi");
        let mut n_found = 0;
        for _ in 0..20 {
            let run = world.ken(&words(&line)[1..]);
            assert!(run.code == 0 && run.out.len() <= 800, "{line}: {}", run.err);
            let (found, last) = run.text().trim().rsplit_once('\n').unwrap();
            n_found += found.lines().count();
            let next = match option {
                "" => last
                    .split_once("next: ")
                    .map(|(_, next)| next.trim_end_matches(']').to_owned()),
                _ => run.objects().last().unwrap()["next"]
                    .as_str()
                    .map(str::to_owned),
            };
            match next {
                Some(next) => line = next,
                None => break,
            }
        }
        assert_eq!(n_found, 20, "{option}");
    }
}

#[test]
fn hits_are_tables_and_objects_of_chosen_keys() {
    let world = World::new();
    world.write("page.html", "<title>An \"okapi\", or two</title><p>okapi");
    world.index_docs();
    let run = world.ken(["search", "okapi", "--csv", "--fields", "title,type"]);
    assert_eq!(
        run.text(),
        "title,type\n\"An \"\"okapi\"\", or two\",document\n"
    );
    let run = world.ken(["search", "okapi", "--tsv"]);
    let head = run.text().lines().next().unwrap();
    assert_eq!(head, "rank\tdate\ttype\ttitle\tauthor\tpath\tipath");
    let run = world.ken(["search", "okapi", "--json", "--keys", "line,filename,rank"]);
    assert_eq!(
        run.text(),
        "{\"filename\":\"page.html\",\"line\":1,\"rank\":1}\n"
    );
}

#[test]
fn errors_are_objects_where_hits_are() {
    let world = World::new();
    let run = world.ken(["search", "okapi", "--json"]);
    let error = run.objects().pop().unwrap();
    assert_eq!((run.code, &error["error"]["kind"]), (2, &"no_index".into()));
    assert_eq!(error["error"]["hint"], "ken index ~/Documents");
    world.write("a.txt", "okapi");
    world.index_docs();
    let run = world.ken(["show", "docs/b.txt", "--json"]);
    assert_eq!(run.objects().pop().unwrap()["error"]["kind"], "input");
    let run = world.ken(["search", "(okapi", "--json"]);
    assert_eq!(run.objects().pop().unwrap()["error"]["kind"], "usage");
    assert!(world.ken(["search", "(okapi"]).out.is_empty());
}

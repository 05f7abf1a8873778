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
fn a_question_has_the_same_answer_within_a_budget() {
    let world = okapis();
    world.write("desk.txt", "Okapis drink water at the desk.");
    world.index_docs();
    let question = "do okapis drink anything but water";
    let shown = |more: &[&str]| {
        let run = world.ken([&["search", question, "--no-snippet"], more].concat());
        run.text()
            .lines()
            .take(4)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let page = shown(&[]);
    assert!(page.len() > 3, "{page:?}");
    assert_eq!(shown(&["--budget", "1500"]), page);
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
    for (command, option) in [
        ("list", ""),
        ("list", "--json"),
        ("threads", ""),
        ("threads", "--json"),
    ] {
        let budget = if command == "list" { 800 } else { 2000 };
        let mut line = format!("ken mail {command} {option} --budget {budget} okapi");
        let mut n_found = 0;
        for _ in 0..20 {
            let run = world.ken(&words(&line)[1..]);
            assert!(
                run.code == 0 && run.out.len() <= budget,
                "{line}: {}",
                run.err
            );
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
        assert_eq!(n_found, 20, "{command} {option}");
    }
}

/// Follows the commands for the next part; returns the outputs, each with its last line apart.
fn parts(world: &World, first: &str, budget: usize) -> Vec<(String, String)> {
    let mut line = first.to_owned();
    let mut parts = Vec::new();
    loop {
        let run = world.ken(&words(&line)[1..]);
        let text = run.text().to_owned();
        assert!(
            run.code == 0 && run.out.len() <= budget,
            "{line}: {text}{}",
            run.err
        );
        let (found, last) = text.trim_end().rsplit_once('\n').unwrap();
        parts.push((found.to_owned(), last.to_owned()));
        assert!(parts.len() < 100, "{line}");
        let next = match last.starts_with('{') {
            true => run.objects().pop().unwrap()["next"]
                .as_str()
                .map(str::to_owned),
            false => last
                .split_once("; next: ")
                .map(|(_, next)| next.trim_end_matches(']').to_owned()),
        };
        match next {
            Some(next) => line = next,
            None => return parts,
        }
    }
}

/// Documents of two pages and more, and members of an archive.
fn books() -> World {
    let world = World::new();
    for number in 1..=25 {
        let pages = "An okapi.\nother\n\u{c}nothing\nclass Okapi\nokapi\n";
        world.write(format!("{number:02}.txt"), pages.repeat(number));
    }
    let members = [("a.txt", "an okapi here\n"), ("b.txt", "nothing\n")];
    world.write("box.tar", crate::samples::tar(&members));
    world.index_docs();
    world
}

#[test]
fn lines_of_documents_are_bounded() {
    let world = books();
    let n_lines = 1 + (1..=25).map(|number| 3 * number).sum::<usize>();
    for (option, budget) in [("", 700), ("", 4000), ("--json", 900), ("--json", 4000)] {
        let first = format!("ken grep --documents {option} --budget {budget} -i 'okapi' docs");
        let mut names = Vec::new();
        let parts = parts(&world, &first, budget);
        for (found, last) in &parts {
            let heads = found.lines().filter(|line| line.starts_with("docs/"));
            names.extend(heads.map(|line| line.split(' ').next().unwrap().to_owned()));
            if option.is_empty() {
                let total = format!(" of {n_lines} lines, ");
                assert!(
                    last.contains(&total) && last.contains(" of 26 documents shown"),
                    "{last}"
                );
                continue;
            }
            let end: serde_json::Value = serde_json::from_str(last).unwrap();
            assert_eq!(
                (&end["total"], &end["lines"]["total"]),
                (&26.into(), &n_lines.into())
            );
            let found = found
                .lines()
                .map(|line| serde_json::from_str(line).unwrap());
            let found: Vec<serde_json::Value> = found.collect();
            assert_eq!(end["shown"], found.len());
            for document in &found {
                let (path, inside) = (&document["path"], &document["ipath"]);
                let (path, inside) = (path.as_str().unwrap(), inside.as_str().unwrap());
                let bar = if inside.is_empty() { "" } else { "|" };
                names.push(format!("{path}{bar}{inside}"));
                assert!(document["lines"][0]["page"].is_u64(), "{document}");
            }
        }
        let (_, last) = parts.last().unwrap();
        assert!(!last.contains("too small"), "{last}");
        assert!(
            names.contains(&"docs/box.tar|a.txt".to_owned()),
            "{names:?}"
        );
        let n_names = names.len();
        names.sort();
        names.dedup();
        assert_eq!((n_names, names.len()), (26, 26), "{option} {budget}");
    }
    // The best line comes first in the choice, and lines are in their order.
    let run = world.ken(&words("ken grep --documents --budget 500 -i okapi docs/02.txt")[1..]);
    let best = "docs/02.txt (6 lines)\n1:1:An okapi.\n2:2:class Okapi\n";
    assert!(run.text().starts_with(best), "{}", run.text());
    let run = world.ken(&words("ken grep --documents --budget 500 absent docs")[1..]);
    assert_eq!((run.code, run.text()), (1, ""));
}

#[test]
fn lines_of_files_are_bounded_as_objects_too() {
    let world = okapis();
    let first = "ken grep --json --budget 1000 okapi docs";
    let mut n_found = 0;
    for (found, _) in parts(&world, first, 1000) {
        for line in found.lines() {
            let file: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(
                (&file["lines"][0]["line"], &file["n_lines"]),
                (&1.into(), &1.into())
            );
            n_found += 1;
        }
    }
    assert_eq!(n_found, 30);
}

#[test]
fn lines_that_a_file_has_left_are_reached() {
    let world = World::new();
    world.write("long.txt", "the okapi of a line\n".repeat(130));
    world.write("pages.txt", "an okapi\nmore\n\u{c}".repeat(130));
    world.index_docs();
    for (option, file) in [
        ("", "long"),
        ("--documents", "long"),
        ("--documents", "pages"),
    ] {
        let mut line = format!("ken grep {option} --budget 700 okapi docs/{file}.txt");
        let mut found = Vec::new();
        while found.len() <= 130 {
            let run = world.ken(&words(&line)[1..]);
            assert!(run.code == 0 && run.out.len() <= 700, "{line}: {}", run.err);
            let (shown, last) = run.text().trim_end().rsplit_once('\n').unwrap();
            found.extend(shown.lines().skip(1).map(str::to_owned));
            match last.split_once("; more lines: ") {
                Some((_, more)) => line = more.trim_end_matches(']').to_owned(),
                None => break,
            }
        }
        let n_found = found.len();
        found.sort();
        found.dedup();
        assert_eq!((n_found, found.len()), (130, 130), "{option} {file}");
    }
}

#[test]
fn messages_are_read_within_a_budget() {
    let world = World::new();
    for number in 1..=12 {
        let text = format!("line of the okapi {number}\n").repeat(number * number);
        let mail = format!(
            "From: a@x.org\nSubject: number {number}\nMessage-ID: <{number}@x>\n\
             Date: Mon, {number} Feb 2026 10:00:00 +0000\n\n{text}"
        );
        world.write(format!("mail/cur/{number}:2,S"), mail);
    }
    world.index_docs();
    for (option, budget) in [("", 2000), ("--json", 2500)] {
        let first = format!("ken mail show {option} --budget {budget} okapi");
        let parts = parts(&world, &first, budget);
        let all: String = parts
            .iter()
            .map(|(found, last)| format!("{found}\n{last}\n"))
            .collect();
        for number in 1..=12 {
            let subject = match option {
                "" => format!("Subject: number {number}\n"),
                _ => format!("\"title\":\"number {number}\""),
            };
            assert_eq!(all.matches(&subject).count(), 1, "{option} {number}\n{all}");
        }
        let (newest, last) = &parts[0];
        assert!(newest.contains("number 12"), "{newest}");
        assert!(last.contains("mail show --offset 1 "), "{last}");
        // The newest one is too long; its rest comes by another command.
        let rest = match option {
            "" => {
                newest
                    .lines()
                    .last()
                    .unwrap()
                    .split_once("; next: ")
                    .unwrap()
                    .1
            }
            _ => newest
                .split_once("\"next\":\"")
                .unwrap()
                .1
                .split('"')
                .next()
                .unwrap(),
        };
        let rest = words(rest.trim_end_matches(']'));
        let run = world.ken(&rest[1..]);
        assert!(run.code == 0 && run.out.len() <= budget, "{}", run.err);
        let first_line = rest
            .iter()
            .position(|word| word == "--lines")
            .map(|at| &rest[at + 1]);
        let number = first_line.unwrap().split('-').next().unwrap();
        let number: usize = number.parse().unwrap();
        let n_shown = newest.matches("line of the okapi 12").count();
        assert_eq!(n_shown + 1, number);
    }
}

#[test]
fn a_message_with_a_long_head_is_shown_within_a_budget() {
    let world = World::new();
    let to: Vec<String> = (0..200).map(|n| format!("person{n}@example.org")).collect();
    for number in 1..=3 {
        let mail = format!(
            "From: a@x.org\nTo: {}\nSubject: number {number}\nMessage-ID: <{number}@x>\n\
             Date: Mon, {number} Feb 2026 10:00:00 +0000\n\n{}",
            to.join(",\n "),
            "line of the okapi\n".repeat(300)
        );
        world.write(format!("mail/cur/{number}:2,S"), mail);
    }
    world.index_docs();
    for option in ["", "--json"] {
        let first = format!("ken mail show {option} --budget 1500 okapi");
        let parts = parts(&world, &first, 1500);
        assert_eq!(parts.len(), 3);
        for ((found, last), number) in parts.iter().zip([3, 2, 1]) {
            assert!(found.contains(&format!("number {number}")), "{found}");
            assert!(found.contains("line of the okapi"), "{found}");
            assert!(!last.contains("too small"), "{last}");
            let next = match option {
                "" => found
                    .rsplit_once("; next: ")
                    .unwrap()
                    .1
                    .trim_end_matches(']')
                    .to_owned(),
                _ => {
                    let object: serde_json::Value = serde_json::from_str(found).unwrap();
                    object["next"].as_str().unwrap().to_owned()
                }
            };
            assert!(
                next.contains(" --lines ") && next.contains(" --budget 1500"),
                "{next}"
            );
            let run = world.ken(&words(&next)[1..]);
            assert!(
                run.code == 0 && run.out.len() <= 1500,
                "{next}: {}",
                run.err
            );
        }
    }
}

#[test]
fn addresses_name_messages() {
    let world = World::new();
    let one = "From a@x Mon Jan  1 00:00:00 2026\nSubject: first\nMessage-ID: <1@x>\n\nwords\n\n";
    let two = one.replace("first", "second").replace("1@x>", "2@x>");
    world.write("box", format!("{one}{two}"));
    world.write("single.eml", "Subject: third\nMessage-ID: <3@x>\n\nwords\n");
    world.index_docs();
    let subjects = |address: &str| {
        let run = world.ken(["mail", "show", "--json", address]);
        let shown = run.objects().into_iter();
        let shown = shown.map(|message| message["fields"]["title"].as_str().unwrap().to_owned());
        shown.collect::<Vec<_>>()
    };
    let second = world.hit("second");
    let member = second["ipath"].as_str().unwrap();
    assert_eq!(subjects(&format!("docs/box|{member}")), ["second"]);
    assert_eq!(subjects(second["id"].as_str().unwrap()), ["second"]);
    assert_eq!(subjects("docs/box").len(), 2);
    assert_eq!(subjects("docs/single.eml"), ["third"]);
    assert_eq!(subjects("words").len(), 3);
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
    // What clap says is an object too.
    for (line, part) in [
        ("search okapi --json --limt 3", "'--limt'"),
        ("mail show --json", "<QUERY>"),
        ("show --json --page x a.txt", "'x'"),
        ("walk --json", "required"),
    ] {
        let run = world.ken(line.split(' '));
        let objects = run.objects();
        let error = &objects[0]["error"];
        assert_eq!((run.code, objects.len()), (2, 1), "{line}");
        assert_eq!(error["kind"], "usage");
        let message = error["message"].as_str().unwrap();
        assert!(
            message.contains(part) && !message.starts_with("error"),
            "{message}"
        );
        assert!(
            run.err.starts_with("error: ") && run.err.contains(part),
            "{error}"
        );
    }
    assert!(world.ken(["search", "--limt", "3"]).out.is_empty());
    assert!(
        world
            .ken(["search", "--limt", "--", "--json"])
            .out
            .is_empty()
    );
}

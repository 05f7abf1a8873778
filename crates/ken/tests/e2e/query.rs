//! The query language through the binary: operators, every field, mistakes.

use std::os::unix::fs::PermissionsExt;

use ken_core::{FIELDS, Field};

use crate::samples::{pdf, png, tar};
use crate::world::{Run, World};

/// Four letters with different sets of words.
fn letters() -> World {
    let world = World::new();
    world.write("1.txt", "annual budget report");
    world.write("2.txt", "the report on the annual dinner");
    world.write("3.txt", "budgets and finances, a draft");
    world.write("4.txt", "Résumé of parseHTTPHeader for anna@example.org");
    world.index_docs();
    world
}

#[test]
fn words_as_they_stand_have_no_operators() {
    let world = letters();
    let found = |args: &[&str], input: &str| {
        let path = world.home().join("input");
        std::fs::write(&path, input).unwrap();
        let run = world
            .command(["search", "-l", "--sort", "path"].iter().chain(args))
            .stdin(std::fs::File::open(path).unwrap())
            .output()
            .unwrap();
        let run = Run::of(run);
        let names = run.lines().into_iter().map(|line| {
            let name = line.rsplit('/').next().unwrap_or(line);
            name.trim_end_matches(".txt").to_owned()
        });
        (run.code, names.collect::<String>())
    };
    for (args, input, expected) in [
        (&["--any", "dinner", "OR", "(draft"][..], "", "23"),
        (&["--any", "Why \"the\" finances: nobody/knows?"], "", "23"),
        (&["--any", "-"], "A dinner,\nand -finances", "23"),
        (&["--any", "budget-dinner"], "", "123"),
        (&["--all", "annual", "\"report,", "title:"], "", ""),
        (&["--all", "(annual) report?"], "", "12"),
        (&["--all", "-"], "report annual\n", "12"),
    ] {
        let code = i32::from(expected.is_empty());
        let expected = (code, expected.to_owned());
        assert_eq!(found(args, input), expected, "{args:?}");
    }
    let many: String = (0..1025).map(|n| format!("w{n} ")).collect();
    assert_eq!(found(&["--any", "-"], &many).0, 1);
    assert_eq!(found(&["--all", "-"], &many).0, 2);
    assert_eq!(found(&["--any", "!?"], "").0, 2);
}

#[test]
fn the_last_word_may_be_unfinished() {
    let world = World::new();
    world.write("a.txt", "a numb finger");
    world.write("b.txt", "numbat numbat numbat");
    world.write("c.txt", "numbers of wombats");
    world.write("numbering.md", "other text");
    world.index_docs();
    let found = |args: &[&str]| -> Vec<String> {
        let run = world.ken(["search", "-l"].iter().chain(args));
        let names = run.lines().into_iter();
        names
            .map(|line| line.rsplit('/').next().unwrap().to_owned())
            .collect()
    };
    let all = found(&["--prefix-last", "numb"]);
    assert_eq!(all[0], "a.txt");
    assert_eq!(all.len(), 4, "{all:?}");
    assert_eq!(found(&["--prefix-last", "wombats numb"]), ["c.txt"]);
    assert_eq!(found(&["--prefix-last", "title:Oth OR numba"]), ["b.txt"]);
    assert_eq!(found(&["--prefix-last", "Num"]).len(), 4);
    // One or two letters are no beginning yet.
    assert_eq!(found(&["--prefix-last", "wombats nu"]), ["c.txt"]);
    assert_eq!(found(&["--prefix-last", "-wombats a"]), ["a.txt"]);
    for required in ["wombats 7", "wombats title:ot", "wombats ext:md"] {
        let count = world.ken(["search", "--count", "--prefix-last", required]);
        assert_eq!((count.code, count.text()), (1, "0\n"), "{required}");
    }
    for closed in ["numb ", "\"numb\"", "(numb)", "numb AND a"] {
        assert_eq!(found(&["--prefix-last", closed]), ["a.txt"], "{closed}");
    }
    assert_eq!(found(&["numb"]), ["a.txt"]);
}

#[test]
fn folders_formats_and_dates_are_named_as_people_do() {
    let world = World::new();
    world.write("Notes/a.txt", "numbat");
    world.write("notes/b.txt", "numbat");
    world.write("Übung/c.md", "numbat");
    world.write("d.pdf", pdf("A title", "Anna", &["numbat"]));
    // 2024-06-05 and 2024-05-06
    world.set_modified("Notes/a.txt", 1_717_588_800);
    world.set_modified("notes/b.txt", 1_714_996_800);
    world.index_docs();

    assert_eq!(world.found("dir:notes"), ["Notes/a.txt", "notes/b.txt"]);
    assert_eq!(world.found("dir:NOT*"), ["Notes/a.txt", "notes/b.txt"]);
    assert_eq!(world.found("dir:ubung"), ["Übung/c.md"]);
    assert_eq!(world.found("numbat type:pdf"), ["d.pdf"]);
    assert_eq!(world.found("type:.MD"), ["Übung/c.md"]);
    assert_eq!(world.found("date:5.6.2024"), ["Notes/a.txt"]);
    assert_eq!(world.found("date:2024/6/5"), ["Notes/a.txt"]);
    for (locale, file, day) in [
        ("de_DE.UTF-8", "Notes/a.txt", "2024-06-05"),
        ("en_US.UTF-8", "notes/b.txt", "2024-05-06"),
    ] {
        let run = |option| {
            let mut command = world.command(["search", option, "date:5/6/2024"]);
            let command = command.env_remove("LC_ALL").env("LC_TIME", locale);
            Run::of(command.output().unwrap())
        };
        let lines = run("--paths");
        assert!(lines.text().trim_end().ends_with(file), "{}", lines.text());
        let explained = run("--explain");
        assert!(explained.text().contains(day), "{}", explained.text());
    }
}

#[test]
fn phrases_go_on_behind_words_divided_at_line_ends() {
    let world = World::new();
    world.write("1.txt", "studied the envi-\nronment policy");
    world.write("2.txt", "studied the envi\u{ad}\n  ronment policy");
    world.write("3.txt", "studied the envi\u{2010}  \r\nronment policy");
    world.write("4.txt", "a well-\nknown policy");
    world.index_docs();
    for (query, expected) in [
        ("\"the environment\"", "123"),
        ("\"environment policy\"", "123"),
        ("\"studied the environment policy\"", "123"),
        ("\"environment policy$\"", "123"),
        ("\"the envi-\nronment policy\"", "123"),
        ("\"well known\"", "4"),
        ("\"known policy\"", "4"),
    ] {
        let found: String = world.found(query).iter().map(|name| &name[..1]).collect();
        assert_eq!(found, expected, "{query}");
    }
    let hit = world.hit("well \"wellknown policy\"");
    assert_eq!(hit["snippet"]["highlights"], serde_json::json!([[2, 20]]));
}

#[test]
fn locations_and_parts_are_found() {
    let world = World::new();
    world.write("src/lib.rs", "fn reindeer() {}");
    world.write("src/deep/a b.c", "int reindeer;");
    world.write("other/src.txt", "reindeer");
    let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>";
    world.write(
        "sheets.tar",
        tar(&[("in/one.csv", "a,b"), ("two.svg", svg)]),
    );
    world.write(
        "letter.eml",
        "From: a@example.org\nSubject: x\nMIME-Version: 1.0\n\
         Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nHello\n\
         --b\nContent-Type: application/pdf\n\
         Content-Disposition: attachment; filename=report.pdf\n\nnone\n--b--\n",
    );
    world.write("plain.eml", "From: a@example.org\nSubject: y\n\nHello");
    let other = world.home().join("elsewhere");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("far.txt"), "reindeer").unwrap();
    world.index(&["docs", "elsewhere"]);
    let cases: &[(&str, &[&str])] = &[
        ("path:src/*.rs", &["src/lib.rs"]),
        ("path:lib", &["src/lib.rs"]),
        ("path:/src/", &["src/deep/a b.c", "src/lib.rs"]),
        ("path:src/*", &["src/deep/a b.c", "src/lib.rs"]),
        (
            "path:src",
            &["other/src.txt", "src/deep/a b.c", "src/lib.rs"],
        ),
        ("path:\"*/a b.?\"", &["src/deep/a b.c"]),
        ("path:/docs.*\\.(c|rs)$/", &["src/deep/a b.c", "src/lib.rs"]),
        ("path:./docs/src/*", &["src/deep/a b.c", "src/lib.rs"]),
        ("path:~/docs/*.txt", &["other/src.txt"]),
        (
            "path:*.tar|*",
            &["sheets.tar|in/one.csv", "sheets.tar|two.svg"],
        ),
        ("path:tar|in/", &["sheets.tar|in/one.csv"]),
        ("reindeer -path:/src/", &["other/src.txt", "far.txt"]),
        ("root:elsewhere", &["far.txt"]),
        ("root:~/elsewhere", &["far.txt"]),
        ("reindeer root:docs -dir:src", &["other/src.txt"]),
        ("dir:/docs/", &[]),
        ("has:attachment", &["letter.eml"]),
        ("has:pdf", &["letter.eml"]),
        ("has:application/*", &["letter.eml"]),
        ("has:document -is:member", &["letter.eml"]),
        ("has:csv,image", &["sheets.tar"]),
        ("has:image/svg*", &["sheets.tar"]),
        ("is:message -has:member", &["plain.eml"]),
        ("is:message has:title", &["letter.eml", "plain.eml"]),
        ("issub:1 is:image", &["sheets.tar|two.svg"]),
        ("issub:0 is:archive", &["sheets.tar"]),
        ("is:duplicate", &["other/src.txt", "far.txt"]),
    ];
    for (query, expected) in cases {
        let found = world.found(query);
        let name = |location: &String| location.rsplit("elsewhere/").next().unwrap().to_owned();
        let mut found: Vec<String> = found.iter().map(name).collect();
        found.sort();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected, "{query}");
    }
}

#[test]
fn lenient_search_says_what_it_left_out() {
    let world = letters();
    let run = world.ken(["search", "-l", "--lenient", "(dinner autor:budget) OR"]);
    assert_eq!((run.code, run.lines().len()), (1, 0), "{}", run.err);
    let run = world.ken(["search", "-l", "--lenient", "dinner OR autor:draft"]);
    assert_eq!((run.code, run.lines().len()), (0, 2));
    assert_eq!(
        run.err,
        "ken: ignored autor:: there is no field \"autor\"\n"
    );
    let run = world.ken(["search", "--lenient", "date:nonsense"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("\"nonsense\" is not a date"),
        "{}",
        run.err
    );
}

#[test]
fn queries_have_names() {
    let world = letters();
    world.configure("limit = 5 # hits\n\n[queries]\nplan = \"Budget OR dinner\"\n");
    assert_eq!(world.found("query:plan"), ["1.txt", "2.txt"]);
    let save = |arguments: &[&str]| world.ken(["search", "--save"].iter().chain(arguments));
    let run = save(&["my plan", "query:plan", "-report"]);
    assert_eq!((run.code, run.text()), (0, ""));
    assert!(
        run.err.ends_with("ken search query:\"my plan\"\n"),
        "{}",
        run.err
    );
    let run = save(&["draft", "draft OR query:\"my plan\""]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(world.found("query:draft"), ["3.txt"]);
    let file = world.home().join("config/ken/config.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with("limit = 5 # hits\n\n[queries]\n"),
        "{text}"
    );
    // A query with a mistake, one that refers to itself, and a name that no query can have are refused.
    for arguments in [
        &["other", "(a"][..],
        &["self", "a query:self"],
        &["a/b", "a"],
    ] {
        assert_eq!(save(arguments).code, 2, "{arguments:?}");
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    let run = world.ken(["search", "query:plans"]);
    assert_eq!(run.code, 2);
    // The permissions of the file stay.
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&file, private).unwrap();
    assert_eq!(save(&["third", "dinner"]).code, 0);
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(run.err.contains("draft, my plan, plan"), "{}", run.err);
}

#[test]
fn dates_are_understood_in_words() {
    let world = World::new();
    let now = std::time::SystemTime::now();
    let now = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    let day = 24 * 3600;
    for (name, time) in [
        ("1.txt", now),
        ("2.txt", now - 10 * day),
        ("3.txt", now - 500 * day),
        ("4.txt", 1_234_567_890),
    ] {
        world.write(name, "x");
        world.set_modified(name, time);
    }
    world.index_docs();
    for (query, expected) in [
        ("date:last 3 days x", "1"),
        ("date:7d..", "1"),
        ("date:2 weeks ago.. x", "12"),
        ("date:..1w", "234"),
        ("date:P1Y", "12"),
        ("date:2y..1y", "3"),
        ("date:2009-02-13T23:31", "4"),
        ("date:@1234567890", "4"),
        ("date:feb 13, 2009", "4"),
        ("date:2009-02-01/P1M", "4"),
        ("date:2009-W07", "4"),
        ("-date:last_2_years", "4"),
    ] {
        let found: String = world.found(query).iter().map(|name| &name[..1]).collect();
        assert_eq!(found, expected, "{query}");
    }
}

#[test]
fn every_operator_works() {
    let world = letters();
    for (query, expected) in [
        ("annual report", "12"),
        ("\"annual budget\"", "1"),
        ("\"budget annual\"", ""),
        ("budg*", "13"),
        ("budget", "13"),
        ("finance", "3"),
        ("Budget", "1"),
        ("\"budget\"", "1"),
        ("\"budgets\"l", "3"),
        ("\"annual reports\"x", ""),
        ("\"annual budgets\"", ""),
        ("\"annual budgets\"x", "1"),
        ("\"annual bud\"*", "1"),
        ("annual -budget", "2"),
        ("annual NOT budget", "2"),
        ("budget OR finances", "13"),
        ("budget || finances", "13"),
        ("annual AND dinner", "2"),
        ("annual && dinner", "2"),
        ("annual (dinner OR budget)", "12"),
        ("filename:(1 OR \"3\")", "13"),
        ("annual budget OR finances draft", "13"),
        ("-annual", "34"),
        ("*", "1234"),
        ("resume", "4"),
        ("header", "4"),
        ("anna@example.org", "4"),
        ("size:<22", "1"),
        ("title:*", ""),
        ("filename:*", "1234"),
        ("annual and report", "12"),
        ("dinner or draft", "23"),
        ("annual and not budget", "2"),
        ("\\and AND report", ""),
        ("annual XOR budget", "23"),
        ("annual XOR Budget", "2"),
        ("budget XOR dinner XOR resume", "1234"),
        ("*nual", "12"),
        ("b?dget", "1"),
        ("budget*", "13"),
        ("bu[dx]g*s", "3"),
        ("bu[!dx]g*s", ""),
        ("\"report on * annual\"", "2"),
        ("\"the rep* on\"", "2"),
        ("\"annual report\"~1", "1"),
        ("\"annual report\"~0", ""),
        ("\"report annual\"~2", "2"),
        ("\"annual report\"p", "12"),
        ("annual NEAR/2 report", "1"),
        ("report NEAR/3 annual", "12"),
        ("annual ADJ/2 report", "1"),
        ("(dinner OR budget) NEAR/1 annual", "12"),
        ("/^bud.*s$/", "3"),
        ("filename:/[23]/", "23"),
        ("bugdet~", "1"),
        ("bugdet~2", "13"),
        ("filename:1/2", "12"),
        ("body:annual,budget", "1"),
        ("ext:txt,pdf", "1234"),
        ("dir:d*s", "1234"),
        ("\\-annual report", "12"),
        ("^annual", "1"),
        ("report$", "1"),
        ("\"^annual\"", "1"),
        ("\"^annual\"o4", "12"),
        ("\"^annual\"o3", "1"),
        ("\"report$\"o4", "12"),
        ("\"report$\"o3", "1"),
    ] {
        let found: String = world.found(query).iter().map(|name| &name[..1]).collect();
        assert_eq!(found, expected, "{query}");
    }
}

/// A pattern may mean any number of words, and the last one counts like the first.
#[test]
fn a_pattern_may_mean_very_many_words() {
    let world = World::new();
    let words = |numbers: std::ops::Range<u32>| {
        let words = numbers.map(|number| format!("zz{number:05}x"));
        words.collect::<Vec<_>>().join(" ")
    };
    world.write("first.txt", words(0..12_000));
    world.write("last.txt", words(29_999..30_000));
    world.write("other.txt", "nothing of the sort");
    world.index_docs();
    for query in ["zz*", "zz*x", "/^zz.*x$/", "zz?????x"] {
        let found = world.found(query);
        assert_eq!(found, ["first.txt", "last.txt"], "{query}");
    }
}

#[test]
fn a_weight_changes_the_order() {
    let world = letters();
    let first = |query: &str| world.location(&world.hits(query)[0]);
    assert_eq!(first("dinner OR draft^9"), "3.txt");
    assert_eq!(first("dinner^9 OR draft"), "2.txt");
}

#[test]
fn what_a_pattern_found_is_highlighted_and_explained() {
    let world = letters();
    let found = world.ken(["search", "--color=always", "b?dget* OR \"annual report\"p"]);
    let text = found.text().to_owned();
    for word in ["annual budget report", "budgets", "report on the annual"] {
        let at = text
            .find(word)
            .unwrap_or_else(|| panic!("{word} in {text}"));
        assert!(
            text[..at].ends_with('m'),
            "{word} is not highlighted in {text}"
        );
    }
    let explained = world.ken(["search", "--explain", "b?dget*"]);
    let text = explained.text().to_owned();
    assert!(text.contains("2 terms"), "{text}");
    assert!(text.contains("body:budgets in 1 document\n"), "{text}");
}

#[test]
fn words_may_come_as_one_argument_or_many() {
    let world = letters();
    for args in [
        &["search", "-c", "annual -budget"][..],
        &["search", "-c", "annual", "-budget"],
        &["search", "annual", "-budget", "-c"],
        &["search", "-budget", "annual", "--count"],
        &["search", "-c", "--", "annual", "-budget"],
    ] {
        let run = world.ken(args);
        assert_eq!(run.text(), "1\n", "{args:?}: {}", run.err);
    }
}

/// A file or message for each example of the table of fields.
fn one_of_each() -> World {
    let world = World::new();
    world.write(
        "projects/ken/invoice.eml",
        "From: Donald Knuth <knuth@example.org>\nTo: anna@example.org\nCc: team@example.org\n\
         Bcc: archive@example.org\nSubject: The annual report\nKeywords: sociology\n\
         Comments: draft\n\
         Date: Mon, 3 Mar 2025 10:00:00 +0000\nMessage-ID: <20240101.1@example.org>\n\
         List-Id: R help <r-help.r-project.org>\n\nA reindeer.\n",
    );
    world.write(
        "page.html",
        "<html lang=de><head><meta name=keywords content=sociology>\
         <meta name=description content='a draft'>\
         <meta name='dcterms.created' content='1999-05-06'></head><body><h1>Installation</h1>x</body></html>",
    );
    world.write(
        "inbox/cur/1.a:2,S",
        "From: b@example.org\nTo: c@example.org\nReply-To: anna@example.org\n\
         X-Priority: 1\nX-Label: todo\nReferences: <20240101.1@example.org>\n\
         Message-ID: <2@example.org>\nDate: Mon, 3 Mar 2014 10:00:00 +0000\n\nYes.\n",
    );
    world.write("broken.pdf", "%PDF-1.4 and nothing more");
    world.write("drawing.png", png(3840, 2160));
    world.add_fixture("media/heron.jpg");
    world.add_fixture("media/song.mp3");
    world.write("big.txt", "word ".repeat(300_000));
    let pages = vec!["page"; 120];
    world.write("long.pdf", pdf("Long", "Nobody", &pages));
    let old = pdf("Old", "Nobody", &["old"]);
    let old = String::from_utf8(old)
        .unwrap()
        .replace("20210304", "19990304");
    world.write("old.pdf", old);
    world.write("src/lib.rs", "fn main() {}");
    let documents = world.home().join("Documents");
    std::fs::create_dir(&documents).unwrap();
    let letter = "From: a@example.org\nMIME-Version: 1.0\n\
                  Content-Type: multipart/mixed; boundary=b\n\n\
                  --b\nContent-Disposition: attachment; filename=a.txt\n\nx\n--b--\n";
    std::fs::write(documents.join("letter.eml"), letter).unwrap();
    world.index(&["docs", "Documents"]);
    world
}

#[test]
fn the_example_of_every_field_finds_something_and_not_everything() {
    let world = one_of_each();
    let all = world.hits("*").len();
    for info in FIELDS {
        let found = world.hits(info.example).len();
        assert!(found > 0, "{} finds nothing", info.example);
        // All files of this test are new.
        let limit = all + usize::from(info.field == Field::Modified);
        assert!(found < limit, "{} finds everything", info.example);
        for alias in info.aliases {
            let (_, value) = info.example.split_once(':').unwrap();
            let same = world.hits(&format!("{alias}:{value}")).len();
            assert_eq!(same, found, "{alias}:{value}");
        }
    }
}

#[test]
fn folders_are_found_as_people_name_them() {
    let world = World::new();
    world.write("projects/ken/a.txt", "x");
    world.write("projects/b.txt", "x");
    world.write("My Documents/tax/c.txt", "x");
    world.write("projects/ken.txt", "x");
    world.index_docs();
    let docs = world.docs();
    let absolute = format!("dir:{}/projects", docs.display());
    for (query, expected) in [
        ("dir:projects", "ab."),
        ("dir:projects/ken", "a"),
        ("dir:ken", "a"),
        ("dir:\"My Documents/tax\"", "c"),
        ("dir:My\\ Documents", "c"),
        ("dir:proj*", "ab."),
        ("dir:Projects", "ab."),
        ("dir:~/docs/projects/ken", "a"),
        ("dir:./docs/projects/ken", "a"),
        (absolute.as_str(), "ab."),
        ("dir:/projects", ""),
    ] {
        let name = |location: &String| {
            let name = location.rsplit('/').next().unwrap();
            if name == "ken.txt" {
                '.'
            } else {
                name.chars().next().unwrap()
            }
        };
        let mut found: Vec<char> = world.found(query).iter().map(name).collect();
        found.sort_by_key(|c| (*c == '.', *c));
        assert_eq!(found.iter().collect::<String>(), expected, "{query}");
    }
}

#[test]
fn mistakes_are_shown_with_their_position() {
    let world = letters();
    for (query, message) in [
        (
            "annual autor:knuth",
            "ken: there is no field \"autor\"\n  annual autor:knuth\n         ^^^^^\n\
             hint: did you mean author? to search for the text itself, write it in quotes\n",
        ),
        (
            "a \"b",
            "ken: the quote is not closed\n  a \"b\n    ^\n\
             hint: end the phrase with \", or write \\\" for the character\n",
        ),
    ] {
        let run = world.ken(["search", query]);
        assert_eq!((run.code, run.err.as_str()), (2, message));
        assert!(run.out.is_empty());
    }
    for query in [
        "(a",
        "a)",
        "date:nonsense",
        "size:>x",
        "a OR",
        "type:nonsense",
        "pages:x",
    ] {
        let run = world.ken(["search", "--", query]);
        assert_eq!(run.code, 2, "{query}");
        assert!(
            run.err.starts_with("ken: ") && run.err.contains("\n  "),
            "{query}: {}",
            run.err
        );
        assert!(
            run.err
                .lines()
                .nth(2)
                .unwrap()
                .trim_start()
                .starts_with('^'),
            "{}",
            run.err
        );
    }
}

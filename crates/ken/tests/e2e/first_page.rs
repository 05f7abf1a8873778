//! What the first page shows: near copies once, phrases and names first, words of folders, bulk mail and generated files behind.

use crate::world::World;

/// A licence of some length; versions differ in one line.
fn licence(version: usize) -> String {
    let clause = |n: usize| {
        format!(
            "Clause {n}: the holder of right number {} may copy, change and share part {} of the work under condition {}.\n",
            n * 7 % 13,
            n * n % 31,
            n * 11 % 17,
        )
    };
    let clauses: String = (0..30).map(clause).collect();
    format!("Licence of the society, version {version}\n{clauses}")
}

fn names(world: &World, query: &[&str]) -> Vec<String> {
    let arguments = [&["search", "--fields", "filename"], query].concat();
    let run = world.ken(arguments);
    run.text().lines().map(str::to_owned).collect()
}

#[test]
fn near_copies_take_one_place() {
    let world = World::new();
    for version in 1..6 {
        world.write(format!("v{version}/licence.txt"), licence(version));
    }
    world.write("letter.txt", "A letter about the licence of the society.");
    world.write("same/one.txt", "The licence is in the drawer.");
    world.write("same/two.txt", "The licence is in the drawer.");
    world.index_docs();
    let page = world.ken(["search", "licence"]);
    assert_eq!(
        page.text().matches("and 4 more like this").count(),
        1,
        "{}",
        page.text()
    );
    assert_eq!(
        page.text().matches("and 1 more like this").count(),
        1,
        "{}",
        page.text()
    );
    assert_eq!(names(&world, &["licence"]).len(), 3);
    // Nobody asks for duplicates to see one of them.
    for query in ["is:duplicate licence", "is:duplicate", "dir:same"] {
        assert_eq!(names(&world, &[query]).len(), 2, "{query}");
    }
    let page = world.ken(["search", "--json", "licence"]).objects();
    let mut more: Vec<u64> = page
        .iter()
        .map(|hit| hit["more"].as_u64().unwrap())
        .collect();
    more.sort_unstable();
    assert_eq!(more, [0, 1, 4]);
    for each in [
        &["--group", "none"][..],
        &["--limit", "51"],
        &["--limit", "0"],
        &["--sort", "date"],
    ] {
        assert_eq!(
            names(&world, &[each, &["licence"]].concat()).len(),
            8,
            "{each:?}"
        );
    }
    assert_eq!(
        world
            .ken(["search", "--paths", "licence"])
            .text()
            .lines()
            .count(),
        8
    );
    assert_eq!(world.ken(["search", "--count", "licence"]).text(), "8\n");
}

#[test]
fn words_side_by_side_and_names_come_first() {
    let world = World::new();
    for number in 0..12 {
        let text =
            format!("A deposit, and security, and a deposit {number} for the security. ").repeat(9);
        world.write(format!("often{number}.txt"), text);
    }
    let long = "Many other words of a contract are here. ".repeat(200);
    world.write(
        "lease.txt",
        format!("{long} The security deposit is two rents. {long}"),
    );
    world.write("Travel insurance.txt", "Call the number on the card.");
    world.write(
        "a.txt",
        "travel and insurance, insurance for travel, the insurance of a travel",
    );
    world.index_docs();
    assert_eq!(names(&world, &["security deposit"])[0], "lease.txt");
    assert_eq!(
        names(&world, &["travel insurance"])[0],
        "Travel insurance.txt"
    );
    assert_ne!(
        names(&world, &["--set", "ranking.phrase=0", "security deposit"])[0],
        "lease.txt"
    );
}

#[test]
fn a_folder_may_have_a_word() {
    let world = World::new();
    world.write("work/patents/lists.txt", "Inverted lists in blocks.");
    world.write("work/letters/lists.txt", "Inverted lists of names.");
    for number in 0..8 {
        world.write(format!("rest/{number}.txt"), "something else");
    }
    world.index_docs();
    let found = |query: &[&str]| {
        let run = world.ken([&["search", "--fields", "dir"], query].concat());
        run.text().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let [patents] = &found(&["lists patent"])[..] else {
        panic!("{:?}", found(&["lists patent"]));
    };
    assert!(patents.ends_with("patents"), "{patents}");
    // Also where other documents are looked for, since hardly any has all words.
    for query in ["inverted lists patent", "inverted lists patent zebra"] {
        assert!(
            found(&[query])[0].ends_with("patents"),
            "{query}: {:?}",
            found(&[query])
        );
    }
    assert!(found(&["--sort", "date", "work patents"]).is_empty());
    assert_eq!(found(&["--all", "lists patent"]).len(), 0);
    assert_eq!(found(&["patent"]).len(), 0, "one word is of the text");
}

#[test]
fn bulk_mail_and_generated_files_come_behind() {
    let world = World::new();
    let message = |header: &str, text: &str| {
        format!(
            "From: a@example.org\nSubject: harbour tour\nDate: Mon, 2 Mar 2026 10:00:00 +0000\n{header}\n{text}\n"
        )
    };
    world.write(
        "Mail/cur/1.host:2,S",
        message(
            "List-Unsubscribe: <https://x.example>\n",
            "The harbour tour.",
        ),
    );
    world.write(
        "Mail/cur/2.host:2,S",
        message(
            "X-A: b\n",
            "The harbour tour is on Friday at nine, bring a coat.",
        ),
    );
    world.write("Mail/new/.keep", "");
    world.write("Mail/tmp/.keep", "");
    world.write(
        "a.js",
        "// Code generated by a tool. DO NOT EDIT.\nlet engine = 1;\n",
    );
    world.write(
        "b.js",
        "// The motor of the boat.\nlet engine = 1; let boat = 2; let motor = 3;\n",
    );
    world.index_docs();
    let first = |query: &str| world.hits(query)[0]["path"].as_str().unwrap().to_owned();
    assert!(first("harbour tour").ends_with("2.host:2,S"));
    assert!(first("engine").ends_with("b.js"));
    assert_eq!(world.found("is:bulk"), ["Mail/cur/1.host:2,S"]);
    assert_eq!(world.found("is:generated"), ["a.js"]);
    // A name that a mail program made up is no text, and neither are the folders of a Maildir.
    assert!(world.found("host").is_empty());
    assert_eq!(names(&world, &["tour new"]).len(), 2);
    world.write("new/offer.eml", message("", "Something."));
    world.index_docs();
    assert_eq!(world.found("filename:offer"), ["new/offer.eml"]);
}

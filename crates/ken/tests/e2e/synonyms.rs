//! Synonyms: a search for one finds the others.

use crate::world::World;

fn world() -> World {
    let world = World::new();
    for (name, text) in [
        ("car.txt", "a red car"),
        ("auto.txt", "an old automobile"),
        ("motor.txt", "the motor car of 1902"),
        ("apart.txt", "no motor in any car"),
        ("other.txt", "to be or not to be"),
    ] {
        world.write(name, text);
    }
    world.index_docs();
    fs_err::write(
        world.home().join("words"),
        "# vehicles\ncar automobile \"motor car\"\n",
    )
    .unwrap();
    world
}

fn found(world: &World, args: &[&str]) -> Vec<String> {
    let run = world.ken(["search", "-l", "--sort", "path"].iter().chain(args));
    assert!(run.code < 2, "{}", run.err);
    let name = |line: &&str| line.rsplit('/').next().unwrap().to_owned();
    run.lines().iter().map(name).collect()
}

#[test]
fn synonyms_are_found_for_each_other() {
    let world = world();
    let with = |query: &str| found(&world, &["--synonyms", "words", "--", query]);
    let all = ["apart.txt", "auto.txt", "car.txt", "motor.txt"];
    assert_eq!(with("automobile"), all);
    assert_eq!(with("Automobile old"), ["auto.txt"]);
    assert_eq!(with("motor car"), all);
    assert_eq!(with("\"motor car\""), all);
    assert_eq!(with("\"motor car\"s"), ["motor.txt"]);
    assert_eq!(with("\"automobile\"s"), ["auto.txt"]);
    assert_eq!(with("-automobile red"), Vec::<String>::new());
    assert_eq!(with("auto*"), ["auto.txt"]);
    assert_eq!(found(&world, &["automobile"]), ["auto.txt"]);
    // The word itself comes first.
    let run = world.ken(["search", "-l", "--synonyms", "words", "body:automobile"]);
    assert!(run.lines()[0].ends_with("auto.txt"), "{}", run.text());
}

#[test]
fn the_file_may_be_set() {
    let world = world();
    world.configure("[search]\nsynonyms = \"~/words\"\n");
    assert_eq!(found(&world, &["automobile"]).len(), 4);
    fs_err::write(world.home().join("words"), "car \"motor").unwrap();
    let run = world.ken(["search", "car"]);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains("line 1: a quote is not closed"),
        "{}",
        run.err
    );
}

#[test]
fn no_word_is_too_frequent_for_a_phrase() {
    let world = world();
    assert_eq!(found(&world, &["\"to be or not to be\""]), ["other.txt"]);
    assert_eq!(found(&world, &["\"be to not\""]), Vec::<String>::new());
    assert_eq!(found(&world, &["\"or not\""]), ["other.txt"]);
}

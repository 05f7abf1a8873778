//! Messages of commands that cannot do what they are asked, with their hints.

use expect_test::{Expect, expect};

use super::shown;
use crate::world::World;

#[track_caller]
fn check(world: &World, arguments: &[&str], expected: &Expect) {
    expected.assert_eq(&shown(world, arguments));
}

#[test]
fn without_an_index() {
    let world = World::new();
    check(
        &world,
        &["search", "otter"],
        &expect![[r#"
            $ ken search otter
            ken: there is no index in "[HOME]/data/ken/index"
            hint: ken index ~/Documents
            [exit code 2]
        "#]],
    );
    check(
        &world,
        &["status"],
        &expect![[r#"
            $ ken status
            ken: there is no index in "[HOME]/data/ken/index"
            hint: ken index ~/Documents
            [exit code 2]
        "#]],
    );
    check(
        &world,
        &["index"],
        &expect![[r#"
            $ ken index
            ken: the index has no roots yet
            hint: name a folder: ken index ~/Documents
            [exit code 2]
        "#]],
    );
    check(
        &world,
        &["mail", "list", "otter"],
        &expect![[r#"
            $ ken mail list otter
            ken: there is no index in "[HOME]/data/ken/index"
            hint: ken index ~/Documents
            [exit code 2]
        "#]],
    );
}

#[test]
fn mistyped_commands() {
    let world = World::new();
    check(
        &world,
        &["serch", "otter"],
        &expect![[r#"
            $ ken serch otter
            error: unrecognized subcommand 'serch'

              tip: some similar subcommands exist: 's', 'serve', 'service', 'search'

            Usage: ken [OPTIONS] <COMMAND>

            For more information, try '--help'.
            [exit code 2]
        "#]],
    );
    check(
        &world,
        &["lisbon"],
        &expect![[r#"
        $ ken lisbon
        error: there is no command "lisbon"; to search for it: ken search lisbon

        Usage: ken [OPTIONS] <COMMAND>

        For more information, try '--help'.
        [exit code 2]
    "#]],
    );
    check(
        &world,
        &["ls"],
        &expect![[r#"
        $ ken ls
        error: there is no command "ls": ken search -l 'QUERY' lists paths, ken status the folders

        Usage: ken [OPTIONS] <COMMAND>

        For more information, try '--help'.
        [exit code 2]
    "#]],
    );
    check(
        &world,
        &["update", "--json"],
        &expect![[r#"
        $ ken update --json
        {"error":{"hint":"Usage: ken [OPTIONS] <COMMAND>","kind":"usage","message":"there is no command \"update\": ken index does that"},"v":1}
        error: there is no command "update": ken index does that

        Usage: ken [OPTIONS] <COMMAND>

        For more information, try '--help'.
        [exit code 2]
    "#]],
    );
    check(
        &world,
        &["search"],
        &expect![[r#"
            $ ken search
            error: the following required arguments were not provided:
              <QUERY>...

            Usage: ken search <QUERY>...

            For more information, try '--help'.
            [exit code 2]
        "#]],
    );
    check(
        &world,
        &["search", "--explane", "otter"],
        &expect![[r#"
            $ ken search --explane otter
            error: unexpected argument '--explane' found

              tip: a similar argument exists: '--explain'

            Usage: ken search --explain [QUERY]...

            For more information, try '--help'.
            [exit code 2]
        "#]],
    );
    check(
        &world,
        &["search", "--sort", "age", "otter"],
        &expect![[r#"
            $ ken search --sort age otter
            ken: there is no index in "[HOME]/data/ken/index"
            hint: ken index ~/Documents
            [exit code 2]
        "#]],
    );
    check(
        &world,
        &["index", "--memory", "much", "docs"],
        &expect![[r#"
            $ ken index --memory much docs
            ken: "much" is not a size
            hint: write a number of bytes, or a number with a unit: 512M, 2G
            [exit code 2]
        "#]],
    );
    check(
        &world,
        &["index", "nowhere"],
        &expect![[r#"
            $ ken index nowhere
            ken: cannot index "nowhere": no such file or directory
            [exit code 2]
        "#]],
    );
}

#[test]
fn wrong_queries() {
    let world = World::new();
    world.write("a.txt", "otter");
    world.set_modified("a.txt", 1_772_366_400);
    world.index_docs();
    for (query, expected) in [
        (
            "\"otter",
            expect![[r#"
                $ ken search -- "otter
                ken: the quote is not closed
                  "otter
                  ^
                hint: end the phrase with ", or write \" for the character
                [exit code 2]
            "#]],
        ),
        (
            "otter AND",
            expect![[r#"
                $ ken search -- otter AND
                ken: a word is missing after AND
                  otter AND
                           ^
                hint: write it in quotes to search for the word itself
                [exit code 2]
            "#]],
        ),
        (
            "(otter",
            expect![[r#"
                $ ken search -- (otter
                ken: the parenthesis is not closed
                  (otter
                  ^
                hint: write \( for the character
                [exit code 2]
            "#]],
        ),
        (
            "colour:red",
            expect![[r#"
                $ ken search -- colour:red
                ken: there is no field "colour"
                  colour:red
                  ^^^^^^
                hint: fields are body, title, headings, filename, author, to, cc, bcc, recip, contact, keywords, description, artist, album, camera, dir, path, root, ext, mime, type, lang, genre, is, has, msgid, references, thread, list, replyto, maildir, prio, tag, date, modified, created, size, pages, width, height, duration; to search for the text itself, write it in quotes
                [exit code 2]
            "#]],
        ),
        (
            "date:yesterdy",
            expect![[r#"
                $ ken search -- date:yesterdy
                ken: "yesterdy" is not a date
                  date:yesterdy
                       ^^^^^^^^
                hint: write 2025, 2025-01, 2025-01-15, 15.[N], yesterday, last_month, or 7d, 2w, 3m, 1y for that long ago
                [exit code 2]
            "#]],
        ),
        (
            "size:>big",
            expect![[r#"
                $ ken search -- size:>big
                ken: "big" is not a size
                  size:>big
                        ^^^
                hint: write a number and k, M, G or T, as in size:>1M or size:10k..2M
                [exit code 2]
            "#]],
        ),
        (
            "query:nothing",
            expect![[r#"
                $ ken search -- query:nothing
                ken: there is no saved query "nothing"
                  query:nothing
                  ^^^^^^^^^^^^^
                hint: name queries in [queries] of the configuration file
                [exit code 2]
            "#]],
        ),
    ] {
        check(&world, &["search", "--", query], &expected);
    }
    check(
        &world,
        &["search", "--lenient", "otter AND"],
        &expect![[r#"
            $ ken search --lenient otter AND
            a.txt
              [HOME]/docs/a.txt:1  2026-03-01  5 B
                otter
            ken: ignored AND: a word is missing after AND
        "#]],
    );
    check(
        &world,
        &["terms", "/[/"],
        &expect![[r#"
            $ ken terms /[/
            ken: "/[/" is no pattern of terms: unclosed character class
            hint: write the beginning of a term, pat*ern, /regular expression/, ~word or ~word~2
            [exit code 2]
        "#]],
    );
    check(
        &world,
        &["index", "--forget", "elsewhere"],
        &expect![[r#"
            $ ken index --forget elsewhere
            ken: "[HOME]/elsewhere" is not a root of the index
            hint: ken status lists the roots; ken exclude PATH leaves out what is below one
            [exit code 2]
        "#]],
    );
}

#[test]
fn wrong_settings() {
    let world = World::new();
    for (assignment, expected) in [
        (
            "limit",
            expect![[r#"
                $ ken index --set limit docs
                ken: --set limit: expected KEY=VALUE
                hint: example: --set extract.max_depth=3
                [exit code 2]
            "#]],
        ),
        (
            "limt=3",
            expect![[r#"
                $ ken index --set limt=3 docs
                ken: invalid setting: unknown field `limt`, expected one of `memory`, `threads`, `index_threads`, `queue_bytes`, `commit_seconds`, `commit_bytes`, `durability`, `order`, `ngrams`, `exclude`, `limit`, `extract`, `helpers`, `ocr`, `analysis`, `ranking`, `adapter`, `passwords`, `folder`, `hook`, `queries`, `open`, `search`, `web`, `mail`, `mu`, `engine`, `access`
                [exit code 2]
            "#]],
        ),
        (
            "limit=few",
            expect![[r#"
                $ ken index --set limit=few docs
                ken: invalid setting: invalid type: string "few", expected usize in `limit`
                [exit code 2]
            "#]],
        ),
        (
            "extract.isolate=perhaps",
            expect![[r#"
                $ ken index --set extract.isolate=perhaps docs
                ken: --set: extract.isolate: invalid value "perhaps"
                hint: one of auto, all, none
                [exit code 2]
            "#]],
        ),
        (
            "passwords.file=secrets",
            expect![[r#"
                $ ken index --set passwords.file=secrets docs
                ken: passwords.file: failed to open file `secrets`: No such file or directory (os error 2)
                [exit code 2]
            "#]],
        ),
        (
            "memory=much",
            expect![[r#"
                $ ken index --set memory=much docs
                ken: --set: memory: "much" is not a size
                hint: write a number of bytes, or a number with a unit: 512M, 2G
                [exit code 2]
            "#]],
        ),
    ] {
        check(&world, &["index", "--set", assignment, "docs"], &expected);
    }
    world.configure("threads = 2\nlimt = 3\n");
    check(
        &world,
        &["search", "otter"],
        &expect![[r#"
            $ ken search otter
            ken: "[HOME]/config/ken/config.toml" is not valid: TOML parse error at line 2, column 1
              |
            2 | limt = 3
              | ^^^^
            unknown field `limt`, expected one of `memory`, `threads`, `index_threads`, `queue_bytes`, `commit_seconds`, `commit_bytes`, `durability`, `order`, `ngrams`, `exclude`, `limit`, `extract`, `helpers`, `ocr`, `analysis`, `ranking`, `adapter`, `passwords`, `folder`, `hook`, `queries`, `open`, `search`, `web`, `mail`, `mu`, `engine`, `access`
            [exit code 2]
        "#]],
    );
}

//! Pages of results: search, mail, status, check and explanations.

use expect_test::{Expect, expect};

use super::shown;
use crate::world::World;

/// 2026-03-01 12:00 UTC.
const MODIFIED: u64 = 1_772_366_400;

const LETTER: &str = "From: Anna Berg <anna@example.org>\n\
    To: Carl Dorn <carl@example.org>\n\
    Subject: The otter survey\n\
    Date: Mon, 2 Mar 2026 09:30:00 +0000\n\
    Message-ID: <survey@example.org>\n\
    Content-Type: text/plain; charset=utf-8\n\n\
    Carl, the otter survey begins on Monday.\n";

const ANSWER: &str = "From: Carl Dorn <carl@example.org>\n\
    To: Anna Berg <anna@example.org>\n\
    Subject: Re: The otter survey\n\
    Date: Mon, 2 Mar 2026 10:15:00 +0000\n\
    Message-ID: <answer@example.org>\n\
    In-Reply-To: <survey@example.org>\n\
    Content-Type: text/plain; charset=utf-8\n\n\
    I bring the boat.\n";

/// A document, a table, source code, two messages, and a file that cannot be read.
fn indexed() -> World {
    let world = World::new();
    let files: [(&str, &[u8]); 6] = [
        (
            "rivers.md",
            b"# Rivers\n\nThe otter lives by the river.\nAn otter swims at night.\n",
        ),
        ("notes/list.csv", b"animal,count\notter,3\nheron,5\n"),
        ("src/otter.rs", b"fn otter() -> u32 {\n    3\n}\n"),
        ("Mail/cur/1.host:2,S", LETTER.as_bytes()),
        ("Mail/new/2.host", ANSWER.as_bytes()),
        ("broken.docx", b"PK\x03\x04 and nothing more"),
    ];
    for (name, content) in files {
        world.write(name, content);
        world.set_modified(name, MODIFIED);
    }
    fs_err::create_dir_all(world.docs().join("Mail/tmp")).unwrap();
    let run = world.ken(["index", "--quiet", "--threads=1", "docs"]);
    assert_eq!(run.code, 0, "{}", run.err);
    world
}

#[track_caller]
fn check(world: &World, command: &str, expected: &Expect) {
    let arguments: Vec<_> = command.split_whitespace().collect();
    expected.assert_eq(&shown(world, &arguments));
}

#[test]
fn search_pages() {
    let world = indexed();
    check(
        &world,
        "search --sort path otter",
        &expect![[r#"
            $ ken search --sort path otter
            The otter survey
              [HOME]/docs/Mail/cur/1.host:2,S  Anna Berg  2026-03-02  246 B
                Carl, the otter survey begins on Monday.
            Re: The otter survey
              [HOME]/docs/Mail/new/2.host  Carl Dorn  2026-03-02  261 B
                I bring the boat.
            list.csv
              [HOME]/docs/notes/list.csv:2  2026-03-01  29 B
                animal,count otter,3 heron,5
            Rivers
              [HOME]/docs/rivers.md:3  2026-03-01  65 B
                # Rivers The otter lives by the river. An otter swims at night.
            otter.rs
              [HOME]/docs/src/otter.rs:1  2026-03-01  28 B
                fn otter() -> u32 { 3 }
        "#]],
    );
    check(
        &world,
        "search --json --limit 2 otter river",
        &expect![[r##"
            $ ken search --json --limit 2 otter river
            {"fields":{"date":"2026-03-01T12:00:00Z","filename":"rivers.md","headings":"Rivers","lang":"en","modified":"2026-03-01T12:00:00Z","size":65,"title":"Rivers"},"id":"[ID]","ipath":"","mime":"text/markdown","more":0,"path":"[HOME]/docs/rivers.md","rank":1,"score":[N],"snippet":{"highlights":[[2,8],[13,18],[32,37],[42,47]],"line":1,"page":null,"text":"# Rivers The otter lives by the river. An otter swims at night."},"text_bytes":65,"title":"Rivers","type":"document","v":1}
        "##]],
    );
    check(
        &world,
        "search --facets type,year,author otter",
        &expect![[r#"
            $ ken search --facets type,year,author otter
            type
                    2  message
                    1  data
                    1  document
                    1  source
            year
                    5  2026
            author
                    1  Anna Berg <anna@example.org>
                    1  Carl Dorn <carl@example.org>
        "#]],
    );
    check(
        &world,
        "search --sort path --fields rank,date,title,path otter",
        &expect![[r#"
            $ ken search --sort path --fields rank,date,title,path otter
            1	2026-03-02T09:30:00Z	The otter survey	[HOME]/docs/Mail/cur/1.host:2,S
            2	2026-03-02T10:15:00Z	Re: The otter survey	[HOME]/docs/Mail/new/2.host
            3	2026-03-01T12:00:00Z		[HOME]/docs/notes/list.csv
            4	2026-03-01T12:00:00Z	Rivers	[HOME]/docs/rivers.md
            5	2026-03-01T12:00:00Z		[HOME]/docs/src/otter.rs
        "#]],
    );
    check(
        &world,
        "search --in docs/rivers.md otter",
        &expect![[r#"
            $ ken search --in docs/rivers.md otter
            [HOME]/docs/rivers.md
                3: # Rivers The otter lives by the river. An otter swims at night.
        "#]],
    );
    check(
        &world,
        "search oterr",
        &expect![[r#"
            $ ken search oterr
            [exit code 1]
        "#]],
    );
    check(
        &world,
        "search --count otter",
        &expect![[r#"
            $ ken search --count otter
            5
        "#]],
    );
}

#[test]
fn explanations() {
    let world = indexed();
    check(
        &world,
        "search --explain -n1 title:rivers otter -heron",
        &expect![[r#"
            $ ken search --explain -n1 title:rivers otter -heron
            query   (and (title "rivers") "otter" (not "heron"))
            plan    (and (exact title "rivers") {exact "otter"} (not {exact "heron"}))
            term    title:rivers in 1 document
            term    body:otter in 4 documents
            term    title:otter in 2 documents
            term    filename:otter in 1 document
            term    body:heron in 1 document
            engine  Words(all of (exact title "rivers") {exact "otter"} not Guard(Words(any of {exact "heron"})))

            Rivers
              [HOME]/docs/rivers.md:3  2026-03-01  65 B
                # Rivers The otter lives by the river. An otter swims at night.
                [N]  score
                    [N]  words
                        [N]  word (exact title "rivers")
                            [N]  how much it says at most
                            [N]  how much the document has of it
                                [N]  title:"rivers" 1 times in 1 terms
                        [N]  word {exact "otter"}
                            [N]  how much it says at most
                            [N]  how much the document has of it
                                [N]  body:"otter" 2 times in 12 terms
                    [N]  being new

        "#]],
    );
    check(
        &world,
        "walk --explain docs/notes",
        &expect![[r#"
            $ ken walk --explain docs/notes
            [HOME]/docs/notes/list.csv
        "#]],
    );
}

#[test]
fn mail_pages() {
    let world = indexed();
    check(
        &world,
        "mail list survey",
        &expect![[r#"
            $ ken mail list survey
            2026-03-02  Carl Dorn  Re: The otter survey  (unread new)
            2026-03-02  Anna Berg  The otter survey
        "#]],
    );
    check(
        &world,
        "mail list --json boat",
        &expect![[r#"
            $ ken mail list --json boat
            {"date":"2026-03-02T10:15:00Z","from":["Carl Dorn <carl@example.org>"],"id":"answer@example.org","ipath":"","is":["unread","new"],"matched":true,"path":"[HOME]/docs/Mail/new/2.host","subject":"Re: The otter survey","tags":[],"v":1}
        "#]],
    );
    check(
        &world,
        "mail threads --tree survey",
        &expect![[r#"
            $ ken mail threads --tree survey
            2026-03-02    [2/2]  Anna Berg, Carl Dorn  The otter survey  (new unread)
              2026-03-02* Anna Berg  The otter survey
              2026-03-02*   Carl Dorn
        "#]],
    );
    check(
        &world,
        "mail show boat",
        &expect![[r#"
            $ ken mail show boat
            From: Carl Dorn <carl@example.org>
            To: Anna Berg <anna@example.org>
            Subject: Re: The otter survey
            Date: Mon, 2 Mar 2026 10:15:00 +0000
            State: unread, new
            Message-ID: answer@example.org
            File: [HOME]/docs/Mail/new/2.host

            I bring the boat.
        "#]],
    );
    check(
        &world,
        "mail contacts",
        &expect![[r#"
            $ ken mail contacts
            Anna Berg <anna@example.org>
            Carl Dorn <carl@example.org>
        "#]],
    );
    check(
        &world,
        "mail tag +field survey",
        &expect![[r#"
        $ ken mail tag +field survey
    "#]],
    );
    check(
        &world,
        "mail tag --list",
        &expect![[r#"
            $ ken mail tag --list
                   2  field
        "#]],
    );
}

#[test]
fn status_pages() {
    let world = indexed();
    check(
        &world,
        "status",
        &expect![[r#"
            $ ken status
            data       [HOME]/data/ken
            root       [HOME]/docs
            complete   [TIME]
            index      [SIZE] in [N] segments
            sandbox    [SANDBOX]

                                files       read  name only     failed  documents     failed
            archive                 1          0          0          1          1          1
            data                    1          1          0          0          1          0
            document                1          1          0          0          1          0
            message                 2          2          0          0          2          0
            source                  1          1          0          0          1          0
            all                     6          5          0          1          6          1
        "#]],
    );
    check(
        &world,
        "status --failed",
        &expect![[r#"
            $ ken status --failed
            [HOME]/docs/broken.docx	malformed	the list of parts at the end is missing: cut off or damaged
                zip; if its own program can open it, report a bug in ken
        "#]],
    );
    check(
        &world,
        "status --types",
        &expect![[r#"
            $ ken status --types
            data       [HOME]/data/ken
            root       [HOME]/docs
            complete   [TIME]
            index      [SIZE] in [N] segments
            sandbox    [SANDBOX]

                                 files       read  name only     failed  documents     failed
            application/zip          1          0          0          1          1          1
            message/rfc822           2          2          0          0          2          0
            text/csv                 1          1          0          0          1          0
            text/markdown            1          1          0          0          1          0
            text/x-rust              1          1          0          0          1          0
            all                      6          5          0          1          6          1
        "#]],
    );
    check(
        &world,
        "status --why docs/broken.docx",
        &expect![[r#"
            $ ken status --why docs/broken.docx
            path       [HOME]/docs/broken.docx
            root       [HOME]/docs
            walk       includes the file
            index      up to date
            next run   skips it: nothing changed (--retry-failed reads it)
            extractor  zip, version 6
            documents  1
              (the file)	application/zip	21 B	broken.docx
                malformed: the list of parts at the end is missing: cut off or damaged; if its own program can open it, report a bug in ken
        "#]],
    );
    check(
        &world,
        "status --json",
        &expect![[r#"
            $ ken status --json
            {"by_mime":{"application/zip":{"documents":1,"failed":1,"failed_documents":1,"files":1,"name_only":0,"read":0},"message/rfc822":{"documents":2,"failed":0,"failed_documents":0,"files":2,"name_only":0,"read":2},"text/csv":{"documents":1,"failed":0,"failed_documents":0,"files":1,"name_only":0,"read":1},"text/markdown":{"documents":1,"failed":0,"failed_documents":0,"files":1,"name_only":0,"read":1},"text/x-rust":{"documents":1,"failed":0,"failed_documents":0,"files":1,"name_only":0,"read":1}},"by_type":{"archive":{"documents":1,"failed":1,"failed_documents":1,"files":1,"name_only":0,"read":0},"data":{"documents":1,"failed":0,"failed_documents":0,"files":1,"name_only":0,"read":1},"document":{"documents":1,"failed":0,"failed_documents":0,"files":1,"name_only":0,"read":1},"message":{"documents":2,"failed":0,"failed_documents":0,"files":2,"name_only":0,"read":2},"source":{"documents":1,"failed":0,"failed_documents":0,"files":1,"name_only":0,"read":1}},"bytes":[N],"complete_seconds_ago":null,"completed":"[TIME]","data":"[HOME]/data/ken","documents":6,"engine":null,"engine_state":{},"failed":1,"files":6,"name_only":0,"ocr":0,"open_to_others":false,"paused":false,"paused_until":null,"pending":null,"read":5,"roots":[{"follow_links":false,"hidden":false,"mounted":false,"no_ignore":false,"one_file_system":false,"path":"[HOME]/docs"}],"sandbox":{},"segments":[N],"sweep_in_seconds":null,"swept":null,"swept_seconds_ago":null,"textless":0,"types":{"archive":1,"data":1,"document":1,"message":2,"source":1},"v":1,"watched":null}
        "#]],
    );
}

#[test]
fn check_pages() {
    let world = indexed();
    check(
        &world,
        "check",
        &expect![[r#"
            $ ken check
            index      [N] files, [SIZE]: checksums OK
            documents  6: no duplicates
            files      6 unchanged
            left out   0
        "#]],
    );
    check(
        &world,
        "check --json",
        &expect![[r#"
            $ ken check --json
            {"below":{"found":6,"left_out":{},"unreadable":0},"documents":6,"doubled":0,"event":"summary","files":{"added":0,"changed":0,"errors":0,"gone":0,"kept":0,"moved":0,"unchanged":6},"index":{"bytes":[N],"damaged":0,"files":[N]},"sound":true,"unfinished":0,"v":1}
        "#]],
    );
    world.remove("rivers.md");
    check(
        &world,
        "check",
        &expect![[r#"
            $ ken check
            index      [N] files, [SIZE]: checksums OK
            documents  6: no duplicates
            files      5 unchanged, 1 gone
            left out   0
            [exit code 1]
        "#]],
    );
    check(
        &world,
        "index",
        &expect![[r#"
            $ ken index
            0 added, 0 changed, 0 moved, 1 gone, 5 unchanged
            0 documents, 0 failed; 0 B in [TIME]
        "#]],
    );
    check(
        &world,
        "terms ot",
        &expect![[r#"
            $ ken terms ot
                   4         6 otter
        "#]],
    );
}

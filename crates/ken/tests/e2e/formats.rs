//! Every format, through walk, extract, index and search.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use serde_json::Value;

use crate::samples::{fixture, message, pdf, tar};
use crate::world::World;

/// Fixtures of ken-extract: file, a word in it, and where the word is found.
const WORDS: &[(&str, &str, &str)] = &[
    ("sample.docx", "quokkaberg", "sample.docx"),
    ("sample.odt", "numbatfell", "sample.odt"),
    ("sample.xlsx", "zwiebelhafen ext:xlsx", "sample.xlsx"),
    ("sample.ods", "kelpiesund", "sample.ods"),
    ("sample.pptx", "snowfinch", "sample.pptx"),
    ("sample.odp", "ptarmigan", "sample.odp"),
    ("sample.epub", "narwhalium", "sample.epub"),
    ("office/sample.rtf", "curlewbrook ext:rtf", "sample.rtf"),
    ("office/sample.doc", "curlewbrook ext:doc", "sample.doc"),
    ("office/sample.xls", "zwiebelhafen ext:xls", "sample.xls"),
    ("office/sample.ppt", "aukletsund", "sample.ppt"),
    ("office/sample.xlsb", "herringvoe", "sample.xlsb"),
    ("office/sample.msg", "guillemotfjord", "sample.msg"),
    ("office/sample.msg", "puffinberg", "sample.msg|1"),
    ("office/sample.msg", "kittiwakeholm", "sample.msg|2"),
    ("office/sample.pst", "gannetholm", "sample.pst|2097188"),
    ("office/sample.pst", "petrelbay", "sample.pst|2097188|2"),
    ("mail/attachments.eml", "albatross", "attachments.eml"),
    (
        "mail/attachments.eml",
        "pangolin discussed",
        "attachments.eml|1",
    ),
    ("mail/attachments.eml", "quokka", "attachments.eml|2"),
    ("mail/html-only.eml", "axolotl", "html-only.eml"),
    ("mail/three.mbox", "tapir", "three.mbox|1"),
    ("mail/three.mbox", "numbat", "three.mbox|2"),
    ("mail/three.mbox", "dugong", "three.mbox|3"),
    ("mail/forwarded.eml", "narwhal", "forwarded.eml"),
    ("mail/forwarded.eml", "okapi", "forwarded.eml|1"),
    ("mail/encrypted.eml", "vaquita", "encrypted.eml"),
    ("archive/gzip.txt.gz", "gzipzebra", "gzip.txt.gz"),
    ("archive/bzip2.txt.bz2", "bzipbison", "bzip2.txt.bz2"),
    ("archive/xz.txt.xz", "xzoxen", "xz.txt.xz"),
    ("archive/zstd.txt.zst", "zstdzorse", "zstd.txt.zst"),
    ("archive/lzma.txt.lzma", "lzmalemming", "lzma.txt.lzma"),
    (
        "archive/folders.zip",
        "quokkaberry",
        "folders.zip|letters/spring.txt",
    ),
    (
        "archive/folders.zip",
        "marmotberry",
        "folders.zip|letters/größe.txt",
    ),
    (
        "archive/folders.zip",
        "stalagtoad",
        "folders.zip|backup.tar.gz|deep/cave.txt",
    ),
    (
        "archive/tree.tgz",
        "tapirgrass ext:txt",
        "tree.tgz|a/b/meadow.txt",
    ),
    (
        "archive/encrypted.zip",
        "openotter",
        "encrypted.zip|open.txt",
    ),
    (
        "archive/encrypted.zip",
        "secret ext:txt",
        "encrypted.zip|secret.txt",
    ),
    ("archive/lzip.txt.lz", "lzipllama", "lzip.txt.lz"),
    ("archive/lz4.txt.lz4", "lzfourlynx", "lz4.txt.lz4"),
    ("archive/brotli.txt.br", "brotlibadger", "brotli.txt.br"),
    ("archive/compress.txt.Z", "lzwlemur", "compress.txt.Z"),
    (
        "archive/solid.7z",
        "sevenotter",
        "solid.7z|letters/spring.txt",
    ),
    (
        "archive/encrypted.7z",
        "secret ext:txt",
        "encrypted.7z|secret.txt",
    ),
    (
        "archive/solid.rar",
        "raracoon",
        "solid.rar|letters/spring.txt",
    ),
    ("archive/solid.rar", "description:raracara", "solid.rar"),
    (
        "archive/version4.rar",
        "raravolvo",
        "version4.rar|letters/spring.txt",
    ),
    (
        "archive/newc.cpio",
        "cpiocaiman",
        "newc.cpio|letters/spring.txt",
    ),
    ("archive/gnu.a", "aralbatross", "gnu.a|short.txt"),
    (
        "archive/package.deb",
        "packagepelican",
        "package.deb|data.tar.xz|usr/share/doc/ken-sample/letter.txt",
    ),
    (
        "archive/package.deb",
        "author:dugong description:debdolphin",
        "package.deb",
    ),
    (
        "archive/zstd.rpm",
        "payloadpanda",
        "zstd.rpm|usr/share/doc/ken-sample/letter.txt",
    ),
    ("archive/zstd.rpm", "rpmraven created:2024-05", "zstd.rpm"),
    ("web/page.mht", "mhtmlmanatee keywords:seals", "page.mht"),
    (
        "web/crawl.warc.gz",
        "warcweasel größer",
        "crawl.warc.gz|https://example.org/",
    ),
    (
        "web/crawl.warc.gz",
        "chunkchinchilla",
        "crawl.warc.gz|https://example.org/notes/chunked.txt",
    ),
    ("database/notes.sqlite", "sqlitesquid", "notes.sqlite"),
    ("database/utf16.sqlite", "wideurchin", "utf16.sqlite"),
    (
        "archive/rock-ridge.iso",
        "isoibex",
        "rock-ridge.iso|a letter with a long name.txt",
    ),
    ("archive/joliet.iso", "author:dingo", "joliet.iso"),
    ("iwork/letter.pages", "pagespuffin", "letter.pages"),
    ("iwork/budget.numbers", "numbersnarwhal", "budget.numbers"),
    (
        "iwork/talk.key",
        "keynotekoala type:presentation",
        "talk.key",
    ),
    ("archive/gnu.tar", "openotter", "gnu.tar|open.txt"),
    ("archive/gnu.tar", "filename:sparse", "gnu.tar|sparse.txt"),
    ("media/heron.jpg", "keywords:riverbank", "heron.jpg"),
    ("media/chart.png", "Hochwasser", "chart.png"),
    ("media/buoy.gif", "\"blinking buoy\"", "buoy.gif"),
    ("media/scan.tif", "lease pages:3", "scan.tif"),
    ("media/lake.webp", "camera:pixel", "lake.webp"),
    ("media/fern.heic", "fern camera:apple", "fern.heic"),
    ("media/poster.psd", "concert", "poster.psd"),
    ("media/raw.cr2.xmp", "marsh", "raw.cr2.xmp"),
    ("media/song.mp3", "\"night für dich\"", "song.mp3"),
    ("media/song.flac", "artist:davis ext:flac", "song.flac"),
    ("media/song.m4a", "album:kind ext:m4a", "song.m4a"),
    ("media/song.wma", "genre:jazz ext:wma", "song.wma"),
    ("media/film.mp4", "pier ext:mp4", "film.mp4"),
    ("media/film.mkv", "lighthouse", "film.mkv"),
    ("media/film.avi", "width:32 ext:avi", "film.avi"),
    ("media/book.djvu", "harpooner's whale", "book.djvu"),
    (
        "media/manual.chm",
        "\"last sirenian\"",
        "manual.chm|pages/long.html",
    ),
    ("media/manual.chm", "title:\"manatee manual\"", "manual.chm"),
    ("text/stations.json", "skånevik", "stations.json"),
    (
        "text/tides.ipynb",
        "lumpsucker author:strand",
        "tides.ipynb",
    ),
    ("text/survey.7", "lumpsucker date:2024-02-29", "survey.7"),
    (
        "text/survey.tex",
        "lumpsucker author:strand ext:tex",
        "survey.tex",
    ),
    (
        "text/fish.bib",
        "müller havforskningsinstituttet",
        "fish.bib",
    ),
    (
        "text/survey.texi",
        "lumpsucker author:strand",
        "survey.texi",
    ),
    ("text/survey.lyx", "\"clings to kelp\"", "survey.lyx"),
    ("text/survey.org", "lumpsucker author:strand", "survey.org"),
    ("text/survey.rst", "lumpsucker author:strand", "survey.rst"),
    (
        "text/survey.adoc",
        "lumpsucker author:strand",
        "survey.adoc",
    ),
    ("text/survey.info", "lumpsucker", "survey.info"),
    ("text/film.srt", "\"does the lumpsucker live\"", "film.srt"),
    ("text/harbour.ics", "dredging to:jürgen", "harbour.ics|1"),
    ("text/crew.vcf", "title:\"jürgen müller\"", "crew.vcf|2"),
    ("text/survey-tei.xml", "lumpsucker", "survey-tei.xml"),
    ("text/harbour.svg", "hammerquay author:holm", "harbour.svg"),
    ("text/survey.fb2", "lumpsucker author:strand", "survey.fb2"),
    ("text/feed.rss", "\"thousands of sprat\"", "feed.rss"),
    ("text/feed.atom", "havblikk lang:nb", "feed.atom"),
    ("text/survey.opml", "lumpsucker", "survey.opml"),
    ("text/survey.dbk", "\"clings to kelp\"", "survey.dbk"),
    ("text/survey.abw", "wolffish", "survey.abw"),
    ("text/ferry.gnumeric", "nemo pages:2", "ferry.gnumeric"),
    ("text/boat.gnucash", "antifouling 1299.50", "boat.gnucash"),
    ("text/quiet.kwd", "butterfish", "quiet.kwd"),
    ("text/print.oxps", "gunnel", "print.oxps"),
    (
        "pdf/encrypted-empty-password.pdf",
        "\"open secret\"",
        "encrypted-empty-password.pdf",
    ),
    (
        "pdf/encrypted-password.pdf",
        "encrypted-password",
        "encrypted-password.pdf",
    ),
];

/// Titles and authors of the fixtures.
const AUTHORS: &[(&str, &str, &str)] = &[
    ("sample.docx", "Reindeer census", "Aino Virtanen"),
    ("sample.odt", "Marsupial ledger", "Oskar Lindqvist"),
    ("sample.xlsx", "Ferry budget", "Erik Ahlgren"),
    ("sample.ods", "Harbour dues", "Maren Dahl"),
    ("sample.pptx", "Glacier talk", "Siv Lund"),
    ("sample.odp", "Tundra lecture", "Nils Berg"),
    ("sample.epub", "Whales of the fjord", "Ingrid Solheim"),
    ("sample.doc", "Whimbrel survey", "Ragnhild Moe"),
    ("sample.rtf", "Whimbrel survey", "Ragnhild Moe"),
    ("sample.xls", "Ferry budget", "Erik Ahlgren"),
    ("sample.ppt", "Dovekie talk", "Signe Holm"),
    (
        "html-only.eml",
        "Einladung für Jürgen",
        "Jürgen Müller <juergen@example.org>",
    ),
];

#[test]
fn every_fixture_is_found_by_its_words() {
    let world = World::new();
    for (file, ..) in WORDS {
        world.add_fixture(file);
    }
    world.index_docs();
    for (file, query, location) in WORDS {
        // Several files contain the same word, because they contain the same tree.
        let found = world.found(&format!("{query} dir:docs"));
        let name = file.rsplit('/').next().unwrap();
        let here: Vec<_> = found.iter().filter(|p| p.starts_with(name)).collect();
        assert_eq!(here, [location], "{query}: {found:?}");
    }
    for (file, title, author) in AUTHORS {
        let extension = file.rsplit('.').next().unwrap();
        let query = format!("title:\"{title}\" author:\"{author}\" ext:{extension}");
        let hit = world.hit(&query);
        assert_eq!(world.location(&hit), *file);
        assert_eq!(hit["title"], *title);
        assert_eq!(hit["fields"]["author"], *author);
    }
    let failed = world.failed();
    let failed: Vec<_> = failed
        .iter()
        .map(|(p, r)| (p.as_str(), r.as_str()))
        .collect();
    assert_eq!(
        failed,
        [
            ("encrypted-password.pdf", "encrypted"),
            ("encrypted.7z|secret.txt", "encrypted"),
            ("encrypted.eml", "encrypted"),
            ("encrypted.zip|secret.txt", "encrypted"),
        ]
    );
    assert!(world.hits("secretseal OR sevensecret").is_empty());
}

#[test]
fn hits_carry_dates_sizes_and_types() {
    let world = World::new();
    world.add_fixture("mail/attachments.eml");
    world.add_fixture("sample.docx");
    world.write("note.txt", "a wombat");
    world.set_modified("note.txt", 1_000_000_000);
    world.index_docs();

    let hit = world.hit("albatross");
    assert_eq!(hit["type"], "message");
    assert_eq!(hit["mime"], "message/rfc822");
    let fields = &hit["fields"];
    assert_eq!(fields["date"], "2026-01-05T10:00:00Z");
    assert_eq!(fields["size"], fixture("mail/attachments.eml").len());
    assert_eq!(fields["msgid"], "minutes.1@example.org");
    assert_eq!(fields["list"], "team.example.org");
    assert_eq!(fields["to"][0], "Bob <bob@example.org>");
    assert_eq!(fields["to"][1], "carol@example.org");
    let hit = world.hit("quokkaberg");
    assert_eq!(hit["fields"]["created"], "2026-02-03T04:05:06Z");
    assert_eq!(hit["fields"]["lang"], "en-GB");
    assert_eq!(hit["fields"]["pages"], 2);
    let hit = world.hit("wombat");
    assert_eq!(hit["fields"]["date"], "2001-09-09T01:46:40Z");
    assert_eq!(hit["fields"]["modified"], "2001-09-09T01:46:40Z");
    assert_eq!(hit["fields"]["size"], 8);
}

#[test]
fn plain_text_is_read_in_any_encoding() {
    let world = World::new();
    let utf16 = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        let units = std::iter::once(0xfeff).chain(text.encode_utf16());
        units.flat_map(bytes).collect()
    };
    let german = "Die Straße über den Fluß führt zur Mühle. ";
    let latin1: Vec<u8> = german.repeat(5).chars().map(|c| c as u8).collect();
    world.write("utf8.txt", "Straße eins");
    world.write("bom.txt", "\u{feff}Straße zwei");
    world.write("little.txt", utf16("Straße drei", u16::to_le_bytes));
    world.write("big.txt", utf16("Straße vier", u16::to_be_bytes));
    world.write("latin1.txt", latin1);
    world.write("japanese.txt", "東京都の図書館で会いましょう。");
    world.index_docs();

    assert_eq!(
        world.found("straße"),
        ["big.txt", "bom.txt", "latin1.txt", "little.txt", "utf8.txt"]
    );
    assert_eq!(world.found("vier"), ["big.txt"]);
    assert_eq!(world.found("Mühle"), ["latin1.txt"]);
    assert_eq!(world.found("図書館"), ["japanese.txt"]);
    assert!(world.failed().is_empty());
}

#[test]
fn words_are_whole_across_marks_readings_and_colours() {
    let world = World::new();
    world.write(
        "a.md",
        "This is **un**believable, a `code`span and snake\\_case.\n",
    );
    world.write("b.log", "\u{1b}[1mun\u{1b}[0mbelievable\n");
    world.write("c.txt", "NAME\n  u\u{8}un\u{8}nbelievable\n");
    world.write("d.html", "<p>un<wbr>believ&shy;able, Wort<sup>7</sup></p>");
    world.write(
        "e.html",
        "<ruby>東<rt>とう</rt>京<rt>きょう</rt></ruby>へ行く",
    );
    world.write("f.txt", "un\u{200d}believable and un\u{200b}believable");
    world.write("g.rst", "*un*\\ believable");
    world.index_docs();

    assert_eq!(
        world.found("unbelievable"),
        ["a.md", "b.log", "c.txt", "d.html", "f.txt", "g.rst"]
    );
    assert_eq!(world.found("codespan"), ["a.md"]);
    assert_eq!(world.found("snake_case"), ["a.md"]);
    assert_eq!(world.found("Wort"), ["d.html"]);
    assert_eq!(world.found("東京へ行く"), ["e.html"]);
    assert_eq!(world.found("とうきょう"), ["e.html"]);
    assert_eq!(
        world.hit("codespan")["snippet"]["text"],
        "This is unbelievable, a codespan and snake_case."
    );
}

#[test]
fn file_names_in_other_charsets_are_found_and_opened() {
    use std::os::unix::ffi::OsStrExt;

    let world = World::new();
    let names: [(&[u8], &str, &str); 3] = [
        (b"Gr\xfc\xdfe.txt", "Grüße", "numbat one"),
        (
            b"\xf0\xd2\xc9\xd7\xc5\xd4 \xcd\xc9\xd2.txt",
            "Привет",
            "numbat two",
        ),
        (
            b"\xbb\xe1\xd2\xe9\xbc\xcd\xd2\xaa.txt",
            "会议纪要",
            "numbat three",
        ),
    ];
    for (name, _, text) in names {
        world.write(std::ffi::OsStr::from_bytes(name), text);
    }
    world.index_docs();
    for (name, word, text) in names {
        let hit = world.hit(word);
        let path: Vec<u8> = serde_json::from_value(hit["path_bytes"].clone()).unwrap();
        assert!(path.ends_with(name), "{word}");
        assert!(hit["title"].as_str().unwrap().contains(word), "{word}");
        assert_eq!(hit["snippet"]["text"], text);
    }
}

#[test]
fn source_markdown_and_pages_are_distinguished() {
    let world = World::new();
    world.write("main.rs", "fn parseHTTPHeader() {} // binturong\n");
    world.write("script", "#!/usr/bin/env python3\nprint('binturong')\n");
    world.write("notes.md", "# Field notes\n\nA *binturong* was seen.\n");
    world.write(
        "page.html",
        "<html lang=de><head><title>Das Tier</title><meta name=author content='Ida Berg'>\
         <style>.x{color:hidden}</style><script>var invisible = 1</script></head>\
         <body><p>Ein bintu<b>rong</b> &amp; mehr<p>Ende</body></html>",
    );
    world.index_docs();

    assert_eq!(
        world.found("binturong"),
        ["main.rs", "notes.md", "page.html", "script"]
    );
    assert_eq!(world.found("binturong type:source"), ["main.rs", "script"]);
    assert_eq!(world.found("mime:text/markdown"), ["notes.md"]);
    assert_eq!(world.found("header"), ["main.rs"]);
    assert_eq!(
        world.hit("notes mime:text/markdown")["title"],
        "Field notes"
    );
    let page = world.hit("title:tier author:berg lang:de");
    assert_eq!(world.location(&page), "page.html");
    assert!(world.hits("invisible OR hidden").is_empty());
}

#[test]
fn pages_of_a_pdf_are_known() {
    let world = World::new();
    let pages = [
        "The first page names nobody",
        "A wolverine crosses",
        "The end",
    ];
    world.write("tracks.pdf", pdf("Tracks in snow", "Tove Berg", &pages));
    world.index_docs();

    let hit = world.hit("wolverine");
    assert_eq!(hit["snippet"]["page"], 2);
    assert_eq!(hit["snippet"]["text"], "A wolverine crosses");
    assert_eq!(hit["title"], "Tracks in snow");
    assert_eq!(hit["fields"]["author"], "Tove Berg");
    assert_eq!(hit["fields"]["pages"], 3);
    assert_eq!(hit["fields"]["created"], "2021-03-04T12:00:00Z");
    let run = world.ken(["search", "wolverine"]);
    assert!(run.text().contains("tracks.pdf p. 2  "), "{}", run.text());
}

#[test]
fn containers_nest() {
    let world = World::new();
    let inner = tar(&[("deep/caracal.txt", "a caracal sleeps")]);
    let mut encoded = String::new();
    for byte in &inner {
        encoded.push_str(&format!("={byte:02X}"));
        if encoded.len() % 60 < 3 {
            encoded.push_str("=\n");
        }
    }
    let mail =
        message(7, "With an archive", "").replace("Message-ID", "MIME-Version: 1.0\nMessage-ID");
    let mail = mail.trim_end().to_owned()
        + "\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nSee the file.\n--b\n\
           Content-Type: application/x-tar; name=box.tar\nContent-Disposition: attachment\n\
           Content-Transfer-Encoding: quoted-printable\n\n"
        + &encoded
        + "\n--b--\n";
    world.write(
        "letters.mbox",
        format!("From a@example.org Wed Jan  7 08:00:00 2026\n{mail}\n"),
    );
    world.index_docs();

    assert_eq!(
        world.found("caracal sleeps"),
        ["letters.mbox|1|1|deep/caracal.txt"]
    );
    let hit = world.hit("caracal sleeps");
    assert_eq!(hit["title"], "caracal.txt");
    assert_eq!(hit["fields"]["modified"], "2020-09-13T12:26:40Z");
    assert_eq!(world.found("filename:box.tar"), ["letters.mbox|1|1"]);
    assert_eq!(world.hits("is:member").len(), 3);
}

#[test]
fn a_maildir_is_a_folder_of_messages() {
    let world = World::new();
    world.write(
        "Mail/cur/1767772800.1.host:2,S",
        message(1, "Seen", "an ocelot"),
    );
    world.write("Mail/new/1767772801.2.host", message(2, "New", "a margay"));
    fs_err::create_dir_all(world.docs().join("Mail/tmp")).unwrap();
    world.index_docs();

    assert_eq!(
        world.found("type:message"),
        [
            "Mail/cur/1767772800.1.host:2,S",
            "Mail/new/1767772801.2.host"
        ]
    );
    assert_eq!(world.hit("margay")["title"], "New");
    assert_eq!(world.hit("from:anna1@example.org")["title"], "Seen");
}

#[test]
fn what_cannot_be_read_is_found_by_name() {
    let world = World::new();
    world.write("torn-aardvark.docx", &fixture("sample.docx")[..9000]);
    world.write("torn-bandicoot.pdf", &pdf("T", "A", &["text"])[..60]);
    world.write("torn-capybara.zip", &fixture("archive/folders.zip")[..300]);
    world.write("torn-dingo.txt.xz", &fixture("archive/xz.txt.xz")[..40]);
    world.write("picture-echidna.png", b"\x89PNG\r\n\x1a\nnothing more");
    world.write("empty-fossa.txt", "");
    world.write("empty-gecko.pdf", "");
    let odd = OsStr::from_bytes(b"caf\xe9-hoatzin.txt");
    fs_err::write(world.docs().join(odd), "a kakapo inside").unwrap();
    world.index_docs();

    for word in [
        "aardvark",
        "bandicoot",
        "capybara",
        "dingo",
        "echidna",
        "fossa",
        "gecko",
    ] {
        let names: Vec<Value> = world
            .hits(word)
            .iter()
            .map(|h| h["ipath"].clone())
            .collect();
        assert_eq!(names, [""], "{word}");
    }
    let failed = world.failed();
    for name in [
        "torn-aardvark.docx",
        "torn-bandicoot.pdf",
        "torn-capybara.zip",
        "torn-dingo.txt.xz",
        "picture-echidna.png",
    ] {
        assert_eq!(
            failed.get(name).map(String::as_str),
            Some("malformed"),
            "{name}"
        );
    }
    assert!(!failed.contains_key("empty-fossa.txt"));
    assert_eq!(world.found("type:image"), ["picture-echidna.png"]);

    let hit = world.hit("kakapo");
    assert!(
        hit["path"]
            .as_str()
            .unwrap()
            .ends_with("/caf\\xe9-hoatzin.txt")
    );
    let bytes: Vec<u8> = serde_json::from_value(hit["path_bytes"].clone()).unwrap();
    assert_eq!(bytes, world.docs().join(odd).as_os_str().as_bytes());
    assert_eq!(world.hits("hoatzin").len(), 1);
    let run = world.ken(["search", "-l", "kakapo"]);
    assert_eq!(run.out, [&bytes[..], b"\n"].concat());
}

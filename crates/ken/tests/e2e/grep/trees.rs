//! The trees of files that the cases search.

use std::os::unix::fs::symlink;
use std::path::Path;

/// Writes the tree with this name into a folder.
pub(super) fn make(name: &str, folder: &Path) {
    let tree = Tree(folder);
    match name {
        "text" => text(&tree),
        "rules" => rules(&tree),
        "bytes" => bytes(&tree),
        "links" => links(&tree),
        "zip" => zip(&tree),
        other => panic!("no tree {other}"),
    }
}

struct Tree<'a>(&'a Path);

impl Tree<'_> {
    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.0.join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
    }

    fn link(&self, target: &str, name: &str) {
        symlink(target, self.0.join(name)).unwrap();
    }
}

const POEM: &str = "\
The owl and the pussycat went to sea
  In a beautiful pea-green boat,
They took some honey, and plenty of money
\tWrapped up in a five-pound note.

The Owl looked up to the stars above,
and sang to a small guitar,
\"O lovely Pussy! O Pussy, my love,
  What a beautiful Pussy you are,
You are,
You are!
What a beautiful Pussy you are!\"
";

const CODE: &str = "\
// needle in a comment
fn needle(count: usize) -> usize {
    let needle2 = count + 1; // needle needle
    NEEDLE.with(|n| n + needle2)
}

struct Needle {
    count: usize,
}

fn unneedled() {}
";

/// Plain text, source, empty files, long lines.
fn text(tree: &Tree<'_>) {
    tree.write("poem.txt", POEM);
    tree.write("src/main.rs", CODE);
    tree.write("src/lib/mod.rs", "mod needle;\npub use needle::Needle;\n");
    tree.write("src/script.py", "def needle():\n    return 'needle'\n");
    tree.write("src/page.html", "<p class=\"needle\">\n<b>Needle</b></p>\n");
    tree.write("empty.txt", "");
    tree.write("no-newline.txt", "first\nneedle at the end");
    tree.write("blank.txt", "\n\n\n");
    let numbers: Vec<String> = (1..=60).map(|n| format!("line {n}\n")).collect();
    tree.write("numbers.txt", numbers.concat());
    let long = format!(
        "{}needle{}\nshort needle\n",
        "a".repeat(300),
        "b".repeat(300)
    );
    tree.write("long.txt", long);
    let unicode = "Straße und STRASSE\nΣίσυφος σίσυφος\nёлка ЁЛКА\nnaïve café\n日本語 needle\nİstanbul ıstanbul\n";
    tree.write("unicode.txt", unicode);
    tree.write(
        "dollars.txt",
        "cost: $5.00 (a+b)*c [x] {y} a|b ^top end$ back\\slash\n",
    );
    tree.write("dashes.txt", "--needle\n-e\n-needle\n");
    tree.write(
        "pairs.txt",
        "key=value\nother=thing\nkey=value key=other\n  key = spaced\n",
    );
    tree.write("patterns", "needle\n^The\n");
    tree.write("patterns-empty", "");
    tree.write("with space/a b.txt", "needle with space\n");
    tree.write("config", "# flags\n--ignore-case\n\n  --max-count=1\n");
    for (seconds, name) in ["poem.txt", "src/main.rs", "dashes.txt"].iter().enumerate() {
        let file = fs_err::File::options()
            .append(true)
            .open(tree.0.join(name))
            .unwrap();
        let time = std::time::Duration::from_secs(1_000_000_000 + seconds as u64);
        file.file()
            .set_modified(std::time::SystemTime::UNIX_EPOCH + time)
            .unwrap();
    }
}

/// Ignore files of all kinds, hidden files, file types.
fn rules(tree: &Tree<'_>) {
    for name in [
        "kept.txt",
        "ignored.txt",
        "kept.log",
        "noise.log",
        ".hidden.txt",
        ".config/inner.txt",
        "build/out.txt",
        "deep/build/out.txt",
        "deep/er/a.c",
        "deep/er/a.h",
        "deep/er/Makefile",
        "deep/er/b.CPP",
        "dot.txt",
        "rg.txt",
        "excluded.txt",
        "extra.txt",
        "CASE.TXT",
        "docs/readme.md",
        "docs/keep/this.md",
        "a.min.js",
        "one/two/three/four.txt",
    ] {
        tree.write(name, format!("needle of {name}\n"));
    }
    fs_err::create_dir_all(tree.0.join(".git/info")).unwrap();
    tree.write(".git/info/exclude", "excluded.txt\n");
    tree.write(
        ".gitignore",
        "ignored.txt\n*.log\n!kept.log\nbuild/\n# remark\n",
    );
    tree.write("docs/.gitignore", "/keep\n");
    tree.write(".ignore", "dot.txt\n");
    tree.write(".rgignore", "rg.txt\n");
    tree.write("more-rules", "extra.txt\ncase.txt\n");
    tree.write("bad-rules", "a[\n");
}

/// Bytes that are not plain text.
fn bytes(tree: &Tree<'_>) {
    tree.write("nul-early.bin", b"head\0\nneedle one\nneedle two\n");
    let late = [
        b"needle before\n".as_slice(),
        &b"x".repeat(100),
        b"\nneedle then\0nul\nneedle after\n",
    ];
    tree.write("nul-late.bin", late.concat());
    let far = [
        b"needle start\n".as_slice(),
        &b"padding line\n".repeat(20_000),
        b"a\0b\nneedle end\n",
    ];
    tree.write("nul-far.bin", far.concat());
    tree.write("records", b"needle a\0second\nneedle b\0third\0");
    tree.write("crlf.txt", "needle one\r\nother\r\nneedle two\r\n");
    tree.write("mixed-ends.txt", "needle\r\nneedle\nneedle\r\n");
    tree.write("latin1.txt", b"caf\xe9 needle\nplain\nna\xefve\n");
    tree.write(
        "broken-utf8.txt",
        b"good needle\nbad \xff\xfe needle\n\xc3\n",
    );
    tree.write("utf8-bom.txt", b"\xef\xbb\xbfneedle first\nsecond\n");
    tree.write(
        "utf16le.txt",
        wide("needle wide\nand ümlaut\n", u16::to_le_bytes, &[0xff, 0xfe]),
    );
    tree.write(
        "utf16be.txt",
        wide("needle wide\nand ümlaut\n", u16::to_be_bytes, &[0xfe, 0xff]),
    );
    tree.write(
        "utf16le-bare.txt",
        wide("needle bare\n", u16::to_le_bytes, &[]),
    );
    tree.write("sjis.txt", b"\x93\xfa\x96\x7b needle\n");
}

fn wide(text: &str, order: fn(u16) -> [u8; 2], mark: &[u8]) -> Vec<u8> {
    let units = text.encode_utf16().flat_map(order);
    mark.iter().copied().chain(units).collect()
}

/// Symbolic links to files, to folders, to nothing, and in a circle.
fn links(tree: &Tree<'_>) {
    tree.write("real/file.txt", "needle real\n");
    tree.link("real/file.txt", "link.txt");
    tree.link("real", "folder-link");
    tree.link("nowhere", "dangling");
    tree.link("..", "real/up");
}

/// Three lines, compressed by `gzip`, `bzip2`, `xz`, `lzma`, `lz4`, `zstd` and `brotli`.
fn zip(tree: &Tree<'_>) {
    tree.write("plain.txt", "first line\nneedle in a haystack\nlast line\n");
    for (name, hex) in COMPRESSED {
        let digits = hex.as_bytes().chunks(2);
        let bytes =
            digits.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap());
        tree.write(name, bytes.collect::<Vec<u8>>());
    }
}

const COMPRESSED: &[(&str, &str)] = &[
    (
        "a.gz",
        "1f8b08000000000002034bcb2c2a2e51c8c9cc4be5ca4b4d4dc94955c8cc534854c848ac2c2e494ccee6ca498449030047459e2b2a000000",
    ),
    (
        "b.bz2",
        "425a683931415926535995bf2cae000009d180001040002f6d1c202000314c001341a9936a1a7a4065917e8c35227021df591016e11156bb4f3deb5fe2ee48a70a1212b7e595c0",
    ),
    (
        "c.xz",
        "fd377a585a0000016922de360200210116000000742fe5a3e0002900285d00331a4aac0c72bf8d58f94d700251a5c0e1d84fe52f50e0e34c9eda20656b2878af696e322b2a00000047459e2b0001402af833440b9042990d010000000001595a",
    ),
    (
        "d.lzma",
        "5d00008000ffffffffffffffff00331a4aac0c72bf8d58f94d700251a5c0e1d84fe52f50e0e34c9eda20656b2878af696e328f91fa85ffc70e1000",
    ),
    (
        "e.lz4",
        "04224d186440a72a0000806669727374206c696e650a6e6565646c6520696e206120686179737461636b0a6c617374206c696e650a000000008de034af",
    ),
    (
        "f.zst",
        "28b52ffd242a5101006669727374206c696e650a6e6565646c6520696e206120686179737461636b0a6c617374206c696e650a2986fcc7",
    ),
    (
        "g.br",
        "a14801c02feab6fe9296ebb8038f63458b35884705810b1c3c51455a16262036ff7dec5366",
    ),
    (
        "h.Z",
        "1f9d9066d2c8994307049b346eca284858860c9b322010820803024d983c04c38c59a3804d188206112a04",
    ),
];

//! Command lines that programs run which are not in Debian, word for word: ken under the name `rg` prints what ripgrep
//! prints.
//!
//! Telescope: `vimgrep_arguments` in lua/telescope/config.lua; fzf-lua: `rg_opts` in lua/fzf-lua/defaults.lua; deadgrep:
//! `deadgrep--arguments`; rg.el: `rg-required-command-line-flags` and `rg-build-command`; Visual Studio Code: `getRgArgs`
//! in src/vs/workbench/services/search/node/ripgrepTextSearchEngine.ts.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{CODE, Desk, LINKS, has, succeed, text_of, write};

const TELESCOPE: &str =
    "--color=never --no-heading --with-filename --line-number --column --smart-case -- okapi";
const FZF_LUA: &str =
    "--column --line-number --no-heading --color=always --smart-case --max-columns=4096 -e okapi";
const DEADGREP: &str = "--color=ansi --line-number --no-heading --no-column --with-filename --no-config --fixed-strings \
    --smart-case --before-context=1 --after-context=1 -- okapi .";
const RG_EL: &str = "--color=always --colors=match:fg:red --colors=path:fg:magenta --colors=line:fg:green \
    --colors=column:none -n --column -i --heading --no-config -e okapi .";
const CODE_TEXT: &str = "--hidden --ignore-case -g !**/.git -g !**/node_modules --no-ignore-parent --follow --crlf \
    --fixed-strings --no-config --no-ignore-global --json --after-context 1 -- okapi .";
const CODE_REGEX: &str = "--hidden --case-sensitive -g !* -g /deep -g /deep/** -g !**/*.lock --max-filesize 16777216 \
    --no-ignore --follow --crlf --auto-hybrid-regex --regexp ok(api)\\b --no-config --json -- .";
const CODE_WORD: &str = "--hidden --ignore-case --no-ignore-parent --follow --crlf --auto-hybrid-regex --regexp \
    \\b(?:okapi|giraffe)\\b --no-config --no-ignore-global --json --multiline -- .";
/// How it lists files for Quick Open (`rgFileQuery` in ripgrepFileSearch.ts).
const CODE_FILES: &str = "--files --hidden --case-sensitive --no-require-git -g !**/.git --no-ignore-parent --follow --no-config \
    --no-ignore-global";

/// Returns a tree with ignored, hidden and other files.
fn desk() -> Desk {
    let desk = Desk::of_okapis();
    desk.world.write(".gitignore", "ignored/\n");
    desk.world.write("ignored/no.txt", "okapi\n");
    desk.world.write(".hidden", "okapi\r\n");
    desk.world.write("node_modules/x.js", "okapi()\n");
    desk.world.write("deep/a.lock", "okapi\n");
    desk.world.write("binary", "okapi\0okapi\n");
    desk.world.write(".git/HEAD", "okapi\n");
    desk
}

/// Runs a program with the words of a command line.
fn run(desk: &Desk, program: &Path, line: &str) -> String {
    let mut command = Command::new(program);
    command.env_clear().env("HOME", desk.world.home());
    command.current_dir(desk.world.docs());
    succeed(command.args(line.split_ascii_whitespace()))
}

/// Returns the lines of an output, without what differs from run to run and the order of files.
fn lines(out: &str) -> Vec<String> {
    let mut lines: Vec<String> = out.lines().filter_map(comparable).collect();
    lines.sort();
    lines
}

fn comparable(line: &str) -> Option<String> {
    match serde_json::from_str::<Value>(line) {
        // Numbers of bytes and seconds.
        Ok(value) if value["type"] == "summary" || value["type"] == "end" => None,
        Ok(value) => Some(value.to_string()),
        Err(_) => Some(line.to_owned()),
    }
}

#[test]
fn plugins_get_from_the_link_what_ripgrep_prints() {
    if !has("rg") {
        return;
    }
    let desk = desk();
    desk.shell(text_of(LINKS));
    for line in [
        TELESCOPE, FZF_LUA, DEADGREP, RG_EL, CODE_TEXT, CODE_REGEX, CODE_WORD, CODE_FILES,
    ] {
        let ours = lines(&run(&desk, &desk.bin().join("rg"), line));
        let theirs = lines(&run(&desk, Path::new("rg"), line));
        assert!(!ours.is_empty(), "{line}");
        assert_eq!(ours, theirs, "{line}");
    }
}

#[test]
fn visual_studio_code_gets_the_link_in_the_place_of_its_own() {
    let desk = desk();
    // As its package for Debian has it.
    let rg = "share/code/resources/app/node_modules/@vscode/ripgrep/bin/rg";
    let own = write(&desk, rg, "its own");
    let program = write(&desk, "share/code/bin/code", "#!/bin/sh\n");
    desk.shell(&format!("chmod +x {}", program.display()));
    std::os::unix::fs::symlink(&program, desk.bin().join("code")).unwrap();
    desk.shell(text_of(CODE));
    let out = run(&desk, &own, CODE_TEXT);
    let found = out.lines().map(|line| serde_json::from_str(line).unwrap());
    let found: Vec<Value> = found.filter(|of: &Value| of["type"] == "match").collect();
    let mut places: Vec<String> = found.iter().map(place).collect();
    places.sort();
    assert_eq!(
        places,
        [
            "./.hidden:1:0-5",
            "./deep/a.lock:1:0-5",
            "./deep/two.md:3:3-8",
            "./deep/two.md:4:0-5",
            "./one.txt:2:4-9",
        ]
    );
}

/// Returns what the editor reads of a match.
fn place(found: &Value) -> String {
    let data = &found["data"];
    let (path, part) = (&data["path"]["text"], &data["submatches"][0]);
    let path = path.as_str().unwrap();
    let (line, start, end) = (&data["line_number"], &part["start"], &part["end"]);
    format!("{path}:{line}:{start}-{end}")
}

//! Vim, Neovim and Emacs, each without its user's settings. What their plugins run is also in `replayed`.

use std::process::Command;

use super::{CONSULT, Desk, LINKS, LUA, VIM, has, succeed, text_of, write};

/// What a quickfix list has, and where the first entry leads.
const QUICKFIX: &str = "
silent grep! -i okapi docs
let found = map(getqflist(), {_, of -> bufname(of.bufnr) . ':' . of.lnum . ':' . of.col . ':' . of.text})
cfirst
call add(found, expand('%:t') . ' at ' . line('.'))
call writefile(found, 'found')
qall!
";

fn quickfix(desk: &Desk, vim: &mut Command) {
    succeed(vim);
    let found = fs_err::read_to_string(desk.world.home().join("found")).unwrap();
    let mut lines: Vec<&str> = found.lines().collect();
    let at = lines.pop().unwrap();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "docs/deep/two.md:3:4:An Okapi.",
            "docs/deep/two.md:4:1:okapi",
            "docs/one.txt:2:5:the okapi and a giraffe",
        ]
    );
    assert!(at == "two.md at 3" || at == "one.txt at 2", "{at}");
}

#[test]
fn vim_fills_its_quickfix_list() {
    if !has("vim") {
        return;
    }
    let desk = Desk::of_okapis();
    let script = write(&desk, "vimrc", &format!("{}{QUICKFIX}", text_of(VIM)));
    let mut vim = desk.around("vim");
    vim.env("TERM", "dumb").args(["-Nu", "NONE", "-es", "-S"]);
    quickfix(&desk, vim.arg(script));
}

#[test]
fn neovim_fills_its_quickfix_list() {
    if !has("nvim") {
        return;
    }
    let desk = Desk::of_okapis();
    let script = write(&desk, "vimrc", &format!("{}{QUICKFIX}", text_of(VIM)));
    let mut vim = desk.around("nvim");
    vim.args(["--headless", "-u", "NONE", "-S"]);
    quickfix(&desk, vim.arg(script));
}

/// Plays the part of the plugins, which are not in Debian: they take the settings, put the pattern behind the command,
/// and run it (`vimgrep_arguments` of Telescope, `grep.cmd` of fzf-lua).
const PLUGINS: &str = r#"
local taken = {}
for _, name in ipairs({ "telescope", "fzf-lua" }) do
  package.preload[name] = function()
    return { setup = function(settings) taken[name] = settings end }
  end
end
dofile("settings.lua")
local words = vim.tbl_map(vim.fn.shellescape, taken["telescope"].defaults.vimgrep_arguments)
local commands = {
  table.concat(words, " ") .. " -- okapi docs",
  taken["fzf-lua"].grep.cmd .. " okapi docs",
}
for _, command in ipairs(commands) do
  io.stdout:write(vim.fn.system(command))
end
vim.cmd("qall!")
"#;

#[test]
fn neovim_takes_the_settings_of_its_plugins() {
    if !has("nvim") {
        return;
    }
    let desk = Desk::of_okapis();
    write(&desk, "settings.lua", text_of(LUA));
    let script = write(&desk, "plugins.lua", PLUGINS);
    let mut vim = desk.around("nvim");
    vim.args(["--headless", "-u", "NONE", "-c"]);
    let out = succeed(vim.arg(format!("luafile {}", script.display())));
    let plain = out.matches("docs/deep/two.md:3:4:An Okapi.\n").count();
    assert_eq!((plain, out.lines().count()), (1, 6), "{out}");
    assert!(out.contains("\u{1b}["), "fzf-lua wants colours: {out}");
}

/// Runs a program of Emacs Lisp with the packages of the system.
fn emacs(desk: &Desk, program: &str) -> Option<String> {
    if !has("emacs") {
        return None;
    }
    let script = write(desk, "test.el", program);
    let mut emacs = desk.around("emacs");
    emacs.args(["--batch", "-l"]).arg(script);
    Some(succeed(&mut emacs))
}

/// Returns a program that prints the files and lines that consult finds for two words in any order.
fn consult(settings: &str) -> String {
    format!(
        r#"(package-initialize)
(require 'consult)
{settings}
(let* ((default-directory (expand-file-name "docs/"))
       (made (funcall (consult--ripgrep-make-builder) "giraffe okapi"))
       (command (car made)))
  (with-temp-buffer
    (apply #'call-process (car command) nil t nil (append (cdr command) '(".")))
    (goto-char (point-min))
    (while (re-search-forward consult--grep-match-regexp nil t)
      (princ (format "%s at %s\n" (match-string 1) (match-string 2)))
      (forward-line))))
"#
    )
}

#[test]
fn consult_finds_lines_by_its_settings_and_by_the_link() {
    if !crate::needs::met("elpa-consult", has_package("consult")) {
        return;
    }
    let desk = Desk::of_okapis();
    let Some(found) = emacs(&desk, &consult(text_of(CONSULT))) else {
        return;
    };
    assert_eq!(found, "one.txt at 2\n");
    desk.shell(text_of(LINKS));
    assert_eq!(emacs(&desk, &consult("")).unwrap(), "one.txt at 2\n");
}

/// What ag.el finds, and where it leads.
const AG: &str = r#"(package-initialize)
(require 'ag)
(setq ag-reuse-buffers t)
(ag/search "okapi" (expand-file-name "docs/"))
(let ((process (get-buffer-process "*ag search*")))
  (while (process-live-p process) (accept-process-output process 0.1)))
(with-current-buffer "*ag search*"
  (princ (buffer-substring-no-properties (point-min) (point-max)))
  (next-error 1 t)
  (princ (format "\nat %s:%d\n" (file-name-nondirectory (buffer-file-name (window-buffer))) 
    (with-current-buffer (window-buffer) (line-number-at-pos (window-point))))))
"#;

#[test]
fn ag_el_finds_lines_by_the_link() {
    if !crate::needs::met("elpa-ag", has_package("ag")) {
        return;
    }
    let desk = Desk::of_okapis();
    desk.shell(text_of(LINKS));
    let Some(found) = emacs(&desk, AG) else {
        return;
    };
    assert!(found.contains("File: one.txt"), "{found}");
    assert!(found.contains("2:5:the okapi and a giraffe"), "{found}");
    let last = found.lines().last().unwrap();
    assert!(["at one.txt:2", "at two.md:3"].contains(&last), "{found}");
}

/// Returns whether a package of Emacs is installed in the system.
fn has_package(name: &str) -> bool {
    let folder = fs_err::read_dir("/usr/share/emacs/site-lisp/elpa");
    let mut names = folder.into_iter().flatten().flatten();
    names.any(|entry| {
        let found = entry.file_name();
        let rest = found.to_str().and_then(|found| found.strip_prefix(name));
        rest.is_some_and(|rest| rest.starts_with('-'))
    })
}

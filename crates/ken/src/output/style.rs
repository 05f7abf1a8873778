//! Colours and hyperlinks for terminals that support them.

use std::io::IsTerminal;
use std::path::Path;

use super::{file_url, mark};
use crate::cli::{Global, When};

/// The escape sequences to use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) color: bool,
    pub(crate) hyperlinks: bool,
    /// Whether what is not marked is bold.
    is_emphatic: bool,
}

impl Style {
    /// Chooses by the command line, the terminal and the environment.
    pub(crate) fn of(global: &Global) -> Self {
        Self::chosen(global, std::io::stdout().is_terminal())
    }

    /// Chooses for what is drawn on the terminal itself, whoever reads standard output.
    #[cfg(feature = "tui")]
    pub(crate) fn of_terminal(global: &Global) -> Self {
        Self::chosen(global, true)
    }

    #[allow(clippy::disallowed_methods)] // the binary reads its environment
    fn chosen(global: &Global, is_terminal: bool) -> Self {
        let terminal = is_terminal && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
        // https://no-color.org
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            color: decide(global.color, terminal && !no_color),
            hyperlinks: decide(global.hyperlinks, terminal && shows_hyperlinks()),
            is_emphatic: false,
        }
    }

    /// Returns the style of titles, in which text is bold.
    pub(crate) fn emphatic(self) -> Self {
        Self {
            is_emphatic: true,
            ..self
        }
    }

    /// Returns text as it stands between marks.
    pub(crate) fn plain(self, text: &str) -> String {
        match self.is_emphatic {
            true => self.bold(text),
            false => text.to_owned(),
        }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn path(self, text: &str) -> String {
        self.paint("35", text)
    }

    pub(crate) fn highlight(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() {
            let mark = mark();
            format!("{mark}\x1b[{code}m{mark}{text}{mark}\x1b[0m{mark}")
        } else {
            text.to_owned()
        }
    }

    /// Makes text a link (OSC 8) that opens the file.
    pub(crate) fn link(self, path: &Path, text: &str) -> String {
        if !self.hyperlinks {
            return text.to_owned();
        }
        let url = file_url(path);
        let mark = mark();
        format!("{mark}\x1b]8;;{url}\x1b\\{mark}{text}{mark}\x1b]8;;\x1b\\{mark}")
    }
}

fn decide(when: When, auto: bool) -> bool {
    match when {
        When::Auto => auto,
        When::Always => true,
        When::Never => false,
    }
}

/// Returns whether the terminal is known to support hyperlinks; others may print the escape sequence.
#[allow(clippy::disallowed_methods)] // the binary reads its environment
fn shows_hyperlinks() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some();
    let term = std::env::var("TERM").unwrap_or_default();
    set("VTE_VERSION")
        || set("KITTY_WINDOW_ID")
        || set("WT_SESSION")
        || set("KONSOLE_VERSION")
        || set("WEZTERM_PANE")
        || set("ITERM_SESSION_ID")
        || ["xterm-kitty", "foot", "alacritty", "xterm-ghostty"].contains(&term.as_str())
}

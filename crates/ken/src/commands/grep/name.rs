//! The names under which the command works: `ken grep`, and `rg`, as which it stands in for ripgrep.

/// The name under which the command is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Name {
    /// `ken grep`.
    #[default]
    Ken,
    /// `rg` or `ken rg`: programs read its messages and its version as those of ripgrep.
    Rg,
}

/// The version of ripgrep whose command line and output ken has.
const RIPGREP: &str = "15.2.0";

impl Name {
    /// Returns the name in sentences of messages.
    pub(super) fn in_sentences(self) -> &'static str {
        match self {
            Self::Ken => "ken grep",
            Self::Rg => "ripgrep",
        }
    }

    /// Returns the environment variable that names the file with arguments.
    pub(super) fn config_variable(self) -> &'static str {
        match self {
            Self::Ken => "KEN_GREP_CONFIG_PATH",
            Self::Rg => "RIPGREP_CONFIG_PATH",
        }
    }

    /// Returns the version: one line, or with `is_long` also the features, as ripgrep lists them.
    pub(super) fn version(self, is_long: bool) -> String {
        let ken = env!("CARGO_PKG_VERSION");
        let short = match self {
            Self::Ken => return format!("ken {ken}\n"),
            Self::Rg => format!("ripgrep {RIPGREP} (ken {ken})\n"),
        };
        if !is_long {
            return short;
        }
        let sign = if ken_grep::pattern::pcre2_version().is_some() {
            '+'
        } else {
            '-'
        };
        format!("{short}\nfeatures:{sign}pcre2\n\n{}", super::pcre2())
    }
}

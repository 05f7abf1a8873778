//! The only place where errors become words and exit codes.

use std::io::Write;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

/// The kind of failure, which decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The arguments or settings are invalid.
    Usage,
    /// There is no index yet.
    NoIndex,
    /// A file or folder cannot be used.
    Input,
    /// The index cannot be used.
    Index,
    /// The reader of the output is gone, which is not a failure.
    ClosedPipe,
}

impl Kind {
    /// Returns the name of the kind in JSON.
    fn name(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::NoIndex => "no_index",
            Self::Input => "input",
            Self::Index => "index",
            Self::ClosedPipe => "closed_pipe",
        }
    }
}

/// Whether standard output has JSON, so that a failure is an object too.
static AS_JSON: AtomicBool = AtomicBool::new(false);

/// Makes failures objects on standard output too.
pub(crate) fn set_json(as_json: bool) {
    AS_JSON.store(as_json, Ordering::Relaxed);
}

/// Why a command failed, in words.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    message: String,
    /// Lines behind the message that show the place of the mistake to people.
    shown: String,
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(kind: Kind, message: String) -> Self {
        Self {
            kind,
            message,
            shown: String::new(),
            hint: None,
        }
    }

    /// Returns what clap says about a command line: the first paragraph, and its tip or else the usage as advice.
    pub(crate) fn of_command_line(text: &str) -> Self {
        let mut paragraphs = text.split("\n\n");
        let message = paragraphs.next().unwrap_or_default().trim();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        let failure = Self::new(Kind::Usage, message.to_owned());
        let mut advice: Vec<&str> = paragraphs.map(str::trim).collect();
        advice.retain(|text| !text.starts_with("For more information"));
        advice.sort_by_key(|text| !text.starts_with("tip: "));
        match advice.first() {
            Some(advice) => failure.hint(advice.strip_prefix("tip: ").unwrap_or(advice)),
            None => failure,
        }
    }

    /// Adds advice for the user.
    pub(crate) fn hint(mut self, hint: &str) -> Self {
        self.hint = Some(hint.to_owned());
        self
    }

    /// Puts the place of the mistake before the message.
    pub(crate) fn at(mut self, place: &str) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    /// Returns what happened, for people.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Prints the failure and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        if self.kind == Kind::ClosedPipe {
            return ExitCode::SUCCESS;
        }
        if AS_JSON.load(Ordering::Relaxed) {
            print_object(self);
        }
        let mut text = format!(
            "{}: {}\n",
            crate::output::program(),
            self.message.clone() + &self.shown
        );
        if let Some(hint) = &self.hint {
            text.push_str(&format!("hint: {hint}\n"));
        }
        // File names must not control the terminal; a query is on lines of its own.
        let text = text.replace(|c: char| c.is_control() && c != '\n', "\u{fffd}");
        // A failure to print cannot be reported anywhere.
        let _ = crate::output::stderr().write_all(text.as_bytes());
        ExitCode::from(2)
    }
}

/// Prints a failure as an object on standard output.
pub(crate) fn print_object(failure: &Failure) {
    let mut error = json!({ "kind": failure.kind.name(), "message": failure.message });
    if let Some(hint) = &failure.hint {
        error["hint"] = hint.as_str().into();
    }
    let object = json!({ "v": crate::output::SCHEMA, "error": error });
    // A failure to print cannot be reported anywhere.
    let _ = crate::output::print(&crate::output::json_line(&object));
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::new(Kind::ClosedPipe, String::new()),
            _ => Self::new(Kind::Input, error.to_string()),
        }
    }
}

impl From<ken_engine::Error> for Failure {
    fn from(error: ken_engine::Error) -> Self {
        use ken_engine::Error;
        let message = error.to_string();
        let is_damage = error.is_damage();
        match error {
            Error::Missing(_) => Self::new(Kind::NoIndex, message).hint("ken index ~/Documents"),
            Error::Busy(_) => Self::new(Kind::Index, message).hint("wait until it has finished"),
            Error::Version { .. } => Self::new(Kind::Index, message)
                .hint("ken index --full rebuilds it from the same roots; tags are kept"),
            Error::Schema(_) => Self::new(Kind::Index, message).hint(
                "ken index --shards N fills one for this version beside it, from the stored text, and puts it in its place; \
                 until then the version that filled it answers",
            ),
            Error::Damaged { .. } => Self::new(Kind::Index, message).hint(
                "ken index --full FOLDER makes a new index of the folders that you name; tags are kept",
            ),
            Error::Query(_) => Self::new(Kind::Usage, message),
            Error::Engine { .. } if is_damage => Self::new(Kind::Index, message)
                .hint("ken check shows what is damaged; ken check --repair repairs it"),
            Error::Folder(_) | Error::Engine { .. } => Self::new(Kind::Index, message),
        }
    }
}

impl From<ken_pipeline::Error> for Failure {
    fn from(error: ken_pipeline::Error) -> Self {
        use ken_pipeline::Error;
        match error {
            Error::Index(error) => error.into(),
            Error::NotARoot(_) => Self::new(Kind::Usage, error.to_string())
                .hint("ken status lists the roots; ken exclude PATH leaves out what is below one"),
            Error::Occupied(_) => Self::new(Kind::Usage, error.to_string())
                .hint("delete it first; nothing was copied"),
            Error::NoShards => Self::new(Kind::Usage, error.to_string()),
            Error::ReadsOtherwise => Self::new(Kind::Index, error.to_string()).hint(
                "wait until it has finished, or give both machines the same settings and helpers",
            ),
            Error::KeepsRights => Self::new(Kind::Index, error.to_string())
                .hint("ken index --set access.enforce=true, or set it in the file of settings"),
            Error::Headers(_) => Self::new(Kind::Usage, error.to_string()),
            Error::Data(_) | Error::Root { .. } => Self::new(Kind::Input, error.to_string()),
        }
    }
}

impl From<ken_search::service::Error> for Failure {
    fn from(error: ken_search::service::Error) -> Self {
        use ken_search::service::Error;
        let message = error.to_string();
        match error {
            Error::Query(error) => error.into(),
            Error::Index(error) => error.into(),
            Error::Terms(error) => error.into(),
            Error::Io(error) => error.into(),
            Error::NoTerms { .. } => Self::new(Kind::Usage, message),
            Error::Name { .. } => Self::new(Kind::Usage, format!("--{message}")),
            Error::Pattern { message, .. } => {
                let message = format!("invalid regular expression: {message}");
                Self::new(Kind::Usage, message).hint("see https://docs.rs/regex for the syntax")
            }
            Error::NotIndexed(_) => Self::new(Kind::Input, message)
                .hint("ken status --why PATH says why a file is not there"),
        }
    }
}

impl From<ken_search::parse::QueryError> for Failure {
    fn from(error: ken_search::parse::QueryError) -> Self {
        let shown = error.marked();
        Self {
            shown,
            hint: error.hint,
            ..Self::new(Kind::Usage, error.message)
        }
    }
}

impl From<ken_search::terms::TermsError> for Failure {
    fn from(error: ken_search::terms::TermsError) -> Self {
        Self::new(Kind::Usage, error.to_string())
            .hint("write the beginning of a term, pat*ern, /regular expression/, ~word or ~word~2")
    }
}

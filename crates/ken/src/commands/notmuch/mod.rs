//! `notmuch`: ken under the name of notmuch, with its command line, output and exit codes.
//!
//! notmuch 0.37 is the reference. `docs/notmuch.md` lists the commands and what differs.

mod ask;
mod change;
mod config;
mod gnupg;
mod options;
mod places;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use ken_core::CustomField;
use ken_core::custom::{CUSTOM_FIELDS, assign, is_header};
use ken_pipeline::Options;
use ken_server::notmuch::{Database, DatabaseOptions, Error};

use super::context::context;
use super::run_options::default_options;
use crate::cli::Global;
use crate::failure::Failure;
use crate::output;
use options::{OptionRow, SHARED, Takes, Typed, read};
use places::Places;

/// The version of notmuch that ken imitates, which clients read.
const VERSION: &str = "0.37";
/// The version of structured output, and the oldest that clients may ask for.
const FORMAT: i64 = 5;
const OLDEST_FORMAT: i64 = 1;
/// The exit codes for other versions.
const FORMAT_TOO_OLD: u8 = 20;
const FORMAT_TOO_NEW: u8 = 21;

/// Why a command failed.
enum Refusal {
    /// The message is printed.
    Said(String),
    /// The message is printed, and the exit code is this.
    Code(u8, String),
    /// The query has a mistake.
    Syntax(String),
    /// ken's own failure.
    Failed(Failure),
}

impl Refusal {
    fn said(message: &str) -> Self {
        Self::Said(message.to_owned())
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        match error {
            Error::Said(message) => Self::Said(message),
            Error::Syntax(message) => Self::Syntax(message),
            Error::Index(ken_engine::Error::Missing(_)) => {
                Self::said("Error: no database was found; run \"notmuch new\" to make one")
            }
            Error::Search(error) => Self::Failed(error.into()),
            Error::Index(error) => Self::Failed(error.into()),
            Error::Update(error) => Self::Failed(error.into()),
            Error::Io(error) => Self::Failed(error.into()),
        }
    }
}

impl From<std::io::Error> for Refusal {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

type Outcome = Result<ExitCode, Refusal>;

const MAIN: &[OptionRow] = &[("config", Takes::Text)];

/// The commands, and what each does.
const COMMANDS: [(&str, &str); 16] = [
    ("setup", "ask for the settings and write them"),
    ("new", "take in messages that came, moved or went"),
    ("insert", "put a message into a Maildir and take it in"),
    ("search", "find threads, messages, files or tags"),
    ("address", "list addresses of messages"),
    ("show", "print messages"),
    ("count", "count messages, threads or files"),
    ("reply", "begin an answer"),
    ("tag", "give and take tags"),
    ("dump", "write all tags"),
    ("restore", "take in tags that dump wrote"),
    ("compact", "do nothing: ken's index needs no compacting"),
    ("reindex", "read messages again"),
    ("config", "read and change settings"),
    ("emacs-mua", "write a message in Emacs"),
    ("help", "print this"),
];

/// Returns the data folder that arguments mean.
pub(crate) fn data_folder(arguments: &[OsString]) -> Option<PathBuf> {
    let typed = read(&[MAIN, SHARED], &texts(arguments)).ok()?;
    let places = Places::find(typed.value("config")).ok()?;
    Some(places.data)
}

fn command_of(arguments: &[String]) -> String {
    let typed = read(&[MAIN, SHARED], arguments).unwrap_or_default();
    typed.words.first().cloned().unwrap_or_default()
}

fn texts(arguments: &[OsString]) -> Vec<String> {
    let texts = arguments.iter().map(|argument| argument.to_string_lossy());
    texts.map(std::borrow::Cow::into_owned).collect()
}

/// Runs the arguments after the name of the program.
pub(crate) fn run(global: &Global, arguments: &[OsString]) -> Result<ExitCode, Failure> {
    let outcome = main(global, &texts(arguments));
    match outcome {
        Ok(code) => Ok(code),
        Err(Refusal::Said(message)) => complain(1, &message),
        Err(Refusal::Code(code, message)) => complain(code, &message),
        Err(Refusal::Syntax(message)) => {
            let command = command_of(&texts(arguments));
            complain(
                1,
                &format!("notmuch {command}: Syntax error in query\n{message}"),
            )
        }
        // For the version of the index or a closed pipe, ken's own report is better.
        Err(Refusal::Failed(failure)) => {
            failure.report();
            Ok(ExitCode::FAILURE)
        }
    }
}

fn complain(code: u8, message: &str) -> Result<ExitCode, Failure> {
    for line in message.lines() {
        warn(line)?;
    }
    Ok(ExitCode::from(code))
}

/// Prints a line to standard error as notmuch does, without the name of the program.
fn warn(line: &str) -> std::io::Result<()> {
    let line = output::clean(line);
    output::stderr().write_all(format!("{line}\n").as_bytes())
}

fn main(global: &Global, arguments: &[String]) -> Outcome {
    let typed = read(&[MAIN, SHARED], arguments)?;
    let config = typed.value("config");
    if typed.is_on("version", false) {
        return version();
    }
    if typed.is_on("help", false) {
        return help(typed.words.first().map(String::as_str));
    }
    let Some((command, rest)) = typed.words.split_first() else {
        return greet(&Places::find(config)?);
    };
    if command == "help" {
        return help(rest.first().map(String::as_str));
    }
    if !COMMANDS.iter().any(|(name, _)| name == command) || command == "emacs-mua" {
        return external(config, command, rest);
    }
    let places = Places::find(config)?;
    if places.file.is_some() && !places.has_file && command != "setup" && command != "config" {
        return Err(Refusal::said(
            "Error: cannot load config file.\nTry running 'notmuch setup' to create a configuration.",
        ));
    }
    let session = Session {
        global,
        places: &places,
        main: &typed,
    };
    match command.as_str() {
        "setup" => config::setup(&places),
        "config" => config::run(global, &places, rest),
        "search" => ask::search(&session, rest),
        "count" => ask::count(&session, rest),
        "address" => ask::address(&session, rest),
        "show" => ask::show(&session, rest),
        "reply" => ask::reply(&session, rest),
        "dump" => ask::dump(&session, rest),
        "new" => change::new(&session, rest),
        "insert" => change::insert(&session, rest),
        "tag" => change::tag(&session, rest),
        "restore" => change::restore(&session, rest),
        "reindex" => change::reindex(&session, rest),
        _ => change::compact(&session, rest),
    }
}

/// What every command knows.
struct Session<'s> {
    global: &'s Global,
    places: &'s Places,
    main: &'s Typed,
}

impl Session<'_> {
    fn database(&self) -> Result<Database, Refusal> {
        database(self.global, self.places)
    }

    /// Reads the arguments of a command.
    fn read(
        &self,
        command: &str,
        tables: &[&'static [OptionRow]],
        arguments: &[String],
    ) -> Result<Typed, Refusal> {
        let mut all = tables.to_vec();
        all.push(SHARED);
        let typed = read(&all, arguments)?;
        if typed.is_on("version", false) {
            return Err(Refusal::Code(0, format!("notmuch {VERSION}")));
        }
        if typed.is_on("help", false) {
            return Err(Refusal::Code(0, help_of(command)));
        }
        Ok(typed)
    }

    /// Refuses if a client expects another database.
    fn check_uuid(&self, database: &Database, typed: &Typed) -> Result<(), Refusal> {
        let wanted = typed.value("uuid").or_else(|| self.main.value("uuid"));
        let Some(wanted) = wanted else {
            return Ok(());
        };
        let (uuid, _) = database.revision()?;
        if uuid == wanted {
            return Ok(());
        }
        Err(Refusal::Said(format!(
            "Error: requested database revision {wanted} does not match {uuid}"
        )))
    }

    /// Returns whether queries are s-expressions.
    fn is_sexp(&self, typed: &Typed) -> bool {
        let syntax = typed.value("query").or_else(|| self.main.value("query"));
        syntax == Some("sexp")
    }
}

/// Returns the version of structured output that a client asks for.
fn format_version(typed: &Typed) -> Result<i64, Refusal> {
    let version = typed.number("format-version").unwrap_or(FORMAT);
    if version > FORMAT {
        return Err(Refusal::Code(
            FORMAT_TOO_NEW,
            format!(
                "A caller requested output format version {version}, but the installed notmuch\n\
                 CLI only supports up to format version {FORMAT}.  You may need to upgrade your\n\
                 notmuch CLI."
            ),
        ));
    }
    if version < OLDEST_FORMAT {
        return Err(Refusal::Code(
            FORMAT_TOO_OLD,
            format!(
                "A caller requested output format version {version}, which is no longer supported\n\
                 by the notmuch CLI (it requires at least version {OLDEST_FORMAT}).  You may need to\n\
                 upgrade your notmuch front-end."
            ),
        ));
    }
    Ok(version)
}

/// Opens the database of a configuration.
fn database(global: &Global, places: &Places) -> Result<Database, Refusal> {
    let mail_root = &places.mail_root;
    let mut update = Options {
        data: places.data.clone(),
        // Beside the mail, as notmuch has its database.
        engine: None,
        ocr: None,
        ..default_options(global)?
    };
    // Hooks and the database of notmuch itself are no mail.
    let real = fs_err::canonicalize(mail_root).unwrap_or_else(|_| mail_root.clone());
    update.excluded.push(real.join(".notmuch"));
    update.extract.limits.headers = headers(places)?;
    let database = Database::new(DatabaseOptions {
        update,
        context: context(),
        mail_root: mail_root.clone(),
        settings: places.settings.clone(),
    });
    database.map_err(|_| {
        let path = mail_root.display();
        Refusal::Said(format!(
            "Error: database path '{path}' does not exist or is not a directory."
        ))
    })
}

/// Returns the fields of the headers that the configuration makes searchable.
fn headers(places: &Places) -> Result<Vec<CustomField>, Refusal> {
    let wanted = places.settings.iter().filter_map(|(key, header)| {
        let name = key.strip_prefix("index.header.")?;
        is_header(header).then(|| (name.to_owned(), header.clone()))
    });
    let wanted: Vec<_> = wanted.collect();
    assign(&wanted, std::iter::empty()).map_err(|n| {
        let most = CUSTOM_FIELDS.len();
        Refusal::Said(format!(
            "Error: index.header has {n} headers, but there can be at most {most}"
        ))
    })
}

fn version() -> Outcome {
    output::print(format!("notmuch {VERSION}\n").as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn help_of(command: &str) -> String {
    let about = COMMANDS.iter().find(|(name, _)| *name == command);
    let about = about.map_or("", |(_, about)| about);
    format!("notmuch {command}: {about}\nSee notmuch-{command}(1) and docs/notmuch.md.")
}

fn help(topic: Option<&str>) -> Outcome {
    if let Some(topic) = topic.filter(|topic| *topic != "help") {
        let page = format!("notmuch-{topic}");
        let status = Command::new("man").arg(page).status()?;
        return Ok(ExitCode::from(u8::from(!status.success())));
    }
    let mut text = format!(
        "notmuch {VERSION}, answered by ken {}.\n\n\
         Usage: notmuch <command> [options] [words]\n\nCommands:\n\n",
        env!("CARGO_PKG_VERSION")
    );
    for (name, about) in COMMANDS {
        text.push_str(&format!("  {name:<12}  {about}\n"));
    }
    text.push_str(
        "\nThe manual pages of notmuch describe the options; notmuch help COMMAND opens one.\n",
    );
    output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Answers `notmuch` alone.
fn greet(places: &Places) -> Outcome {
    if !places.has_file {
        return config::setup(places);
    }
    let text = match places.has_database() {
        false => "Notmuch is configured, but no database was found.\n\
            You probably want to run \"notmuch new\" now to create a database.\n\n\
            Note that the first run of \"notmuch new\" can take a very long time\n\
            and that the resulting database will use roughly the same amount of\n\
            storage space as the email being indexed.\n\n"
            .to_owned(),
        true => format!(
            "notmuch is configured, and ken has an index of the mail in {}.\n\
             Try: notmuch search tag:inbox\n",
            places.mail_root.display()
        ),
    };
    output::print(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Runs the program `notmuch-COMMAND`.
fn external(config: Option<&str>, command: &str, arguments: &[String]) -> Outcome {
    let mut program = Command::new(format!("notmuch-{command}"));
    program.args(arguments);
    if let Some(config) = config {
        program.env("NOTMUCH_CONFIG", config);
    }
    match program.status() {
        Ok(status) => {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            Ok(ExitCode::from(code.unwrap_or(1)))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(Refusal::Said(format!(
            "Error: Unknown command '{command}' (see \"notmuch help\")"
        ))),
        Err(error) => Err(Refusal::Said(format!(
            "Error: Running external command 'notmuch-{command}' failed: {error}"
        ))),
    }
}

//! What can be typed behind `ken mail`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

#[derive(Args, Debug)]
pub(crate) struct MailArgs {
    #[command(subcommand)]
    pub(crate) command: MailCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MailCommand {
    /// Show messages: header, text, and what is attached
    Show(ShowArgs),
    /// List messages, one on a line, newest first
    List(ListArgs),
    /// List the threads of messages, newest first
    Threads(ThreadsArgs),
    /// Give messages tags and take them: ken mail tag +todo -inbox QUERY
    Tag(TagArgs),
    /// List people who sent and got messages, those that matter most first
    Contacts(ContactsArgs),
    /// Write attached files into a folder
    Save(SaveArgs),
    /// Check the signatures of messages by gpg and gpgsm
    Verify(VerifyArgs),
}

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// What messages are meant, in the language of ken search, or the path of one
    #[arg(required = true, allow_hyphen_values = true)]
    pub(crate) query: Vec<String>,
    /// Show the threads that the messages are in, whole
    #[arg(long)]
    pub(crate) thread: bool,
    /// Show every field of the header as it is sent
    #[arg(long, conflicts_with = "json")]
    pub(crate) headers: bool,
    /// Write the message as it is, or with --part one of its parts
    #[arg(long, conflicts_with_all = ["json", "headers"])]
    pub(crate) raw: bool,
    /// Write the attached file of this number; 2.1 is the first of a message that is attached as 2
    #[arg(long, value_name = "N", conflicts_with_all = ["json", "headers"])]
    pub(crate) part: Option<String>,
    /// Show one of several copies of a message
    #[arg(long)]
    pub(crate) skip_dups: bool,
    /// Messages to show; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
    /// Print one JSON object for each message
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// What messages are meant, in the language of ken search
    #[arg(required = true, allow_hyphen_values = true)]
    pub(crate) query: Vec<String>,
    /// List the other messages of their threads too
    #[arg(long)]
    pub(crate) include_related: bool,
    /// List one of several copies of a message
    #[arg(long)]
    pub(crate) skip_dups: bool,
    /// Oldest first
    #[arg(long)]
    pub(crate) reverse: bool,
    /// Messages to list, related ones not counted; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Print one JSON object for each message
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ThreadsArgs {
    /// What messages are meant, in the language of ken search
    #[arg(required = true, allow_hyphen_values = true)]
    pub(crate) query: Vec<String>,
    /// Show every message of each thread, answers below what they answer
    #[arg(long)]
    pub(crate) tree: bool,
    /// Count and show one of several copies of a message
    #[arg(long)]
    pub(crate) skip_dups: bool,
    /// Oldest first
    #[arg(long)]
    pub(crate) reverse: bool,
    /// Threads to list; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Print one JSON object for each thread
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct TagArgs {
    /// +tag and -tag, and behind them what messages are meant
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required_unless_present_any = ["export", "import", "list"]
    )]
    pub(crate) arguments: Vec<String>,
    /// Write all tags
    #[arg(long, conflicts_with_all = ["arguments", "import", "list"])]
    pub(crate) export: bool,
    /// Read tags; - for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["arguments", "list"])]
    pub(crate) import: Option<PathBuf>,
    /// Whose form is written; what is read tells it by itself
    #[arg(
        long,
        value_name = "FORM",
        default_value = "notmuch",
        requires = "export"
    )]
    pub(crate) format: TagFormat,
    /// List all tags, with the number of messages that have each
    #[arg(long, conflicts_with = "arguments")]
    pub(crate) list: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TagFormat {
    /// That of notmuch dump
    Notmuch,
    /// That of mu labels export
    Mu,
}

#[derive(Args, Debug)]
pub(crate) struct ContactsArgs {
    /// Regular expression that name or address match
    pub(crate) pattern: Option<String>,
    /// Only people in messages from or to the addresses of [mail] addresses
    #[arg(long)]
    pub(crate) personal: bool,
    /// Only people in messages since then: 2025-06, 3m, yesterday
    #[arg(long, value_name = "DATE")]
    pub(crate) after: Option<String>,
    /// People to list; 0 for all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 0)]
    pub(crate) limit: usize,
    /// Form of the list
    #[arg(long, value_name = "FORM", default_value = "plain")]
    pub(crate) format: ContactFormat,
    /// Print one JSON object for each
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContactFormat {
    /// Name and address
    Plain,
    /// Aliases for mutt's configuration
    MuttAlias,
    /// For mutt's query_command
    MuttAb,
    /// Comma-separated values (RFC 4180)
    Csv,
    /// vCards (RFC 6350)
    Vcard,
    /// For the addresses of Wanderlust
    Wl,
    /// For org-contacts
    #[value(alias = "org")]
    OrgContact,
    /// For the Insidious Big Brother Database of Emacs
    Bbdb,
    /// What --json prints
    Json,
}

#[derive(Args, Debug)]
pub(crate) struct SaveArgs {
    /// What messages are meant, in the language of ken search, or the path of one
    #[arg(required = true, allow_hyphen_values = true)]
    pub(crate) query: Vec<String>,
    /// Folder to write into
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) to: PathBuf,
    /// Only files whose name this regular expression matches
    #[arg(long, value_name = "REGEX")]
    pub(crate) name: Option<String>,
    /// Only files of this number; 2.1 is the first of a message that is attached as 2
    #[arg(long, value_name = "N")]
    pub(crate) part: Option<String>,
    /// Save the files of one of several copies of a message
    #[arg(long)]
    pub(crate) skip_dups: bool,
    /// Write over files of the same name
    #[arg(long)]
    pub(crate) overwrite: bool,
}

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// What messages are meant, in the language of ken search, or the path of one
    #[arg(required = true, allow_hyphen_values = true)]
    pub(crate) query: Vec<String>,
    /// Print one JSON object for each signature
    #[arg(long)]
    pub(crate) json: bool,
}

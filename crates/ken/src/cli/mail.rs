//! What can be typed behind `ken mail`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::show::budget;

#[derive(Args, Debug)]
pub(crate) struct MailArgs {
    #[command(subcommand)]
    pub(crate) command: MailCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MailCommand {
    /// Show messages: header, text and attachments
    Show(ShowArgs),
    /// List messages, one per line, newest first
    List(ListArgs),
    /// List threads, newest first
    Threads(ThreadsArgs),
    /// Add and remove tags: ken mail tag +todo -inbox QUERY
    Tag(TagArgs),
    /// List contacts, the most important first
    Contacts(ContactsArgs),
    /// Save attachments to a folder
    Save(SaveArgs),
    /// Verify the signatures of messages (gpg, gpgsm)
    Verify(VerifyArgs),
}

impl MailCommand {
    /// Returns whether the command prints JSON.
    pub(crate) fn prints_json(&self) -> bool {
        match self {
            Self::Show(args) => args.json,
            Self::List(args) => args.json,
            Self::Threads(args) => args.json,
            Self::Contacts(args) => args.json,
            Self::Verify(args) => args.json,
            Self::Tag(_) | Self::Save(_) => false,
        }
    }

    /// Returns whether the command changes no file and no tag.
    pub(crate) fn only_reads(&self) -> bool {
        !matches!(self, Self::Tag(_) | Self::Save(_))
    }
}

/// Gives a command the arguments of a command of `ken mail` whose words are a query; `None` for the other commands.
pub(super) fn augment_query_args(name: &str, command: clap::Command) -> Option<clap::Command> {
    Some(match name {
        "show" => ShowArgs::augment_args(command),
        "list" => ListArgs::augment_args(command),
        "threads" => ThreadsArgs::augment_args(command),
        "save" => SaveArgs::augment_args(command),
        "verify" => VerifyArgs::augment_args(command),
        _ => return None,
    })
}

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// Query, in the language of ken search, or the address of a message: a path, or its number in the last list
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// Show the whole threads of the messages
    #[arg(long)]
    pub(crate) thread: bool,
    /// Show the whole header as it was sent
    #[arg(long, conflicts_with = "json")]
    pub(crate) headers: bool,
    /// Write the raw message, or with --part the raw part
    #[arg(long, conflicts_with_all = ["json", "headers"])]
    pub(crate) raw: bool,
    /// Write this attachment; 2.1 is the first attachment of the attached message 2
    #[arg(long, value_name = "N", conflicts_with_all = ["json", "headers"])]
    pub(crate) part: Option<String>,
    /// Show each message once if there are duplicates
    #[arg(long)]
    pub(crate) skip_dups: bool,
    /// Show at most N messages; 0 means all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    pub(crate) limit: usize,
    /// Skip the first N messages
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: usize,
    /// Show the newest messages that have room in this number of bytes, the number of all, and the command for the next ones
    #[arg(long, value_name = "BYTES", value_parser = budget, conflicts_with_all = ["limit", "raw", "part"])]
    pub(crate) budget: Option<usize>,
    /// Print one JSON object per message
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// Query, in the language of ken search
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// Include the other messages of their threads
    #[arg(long)]
    pub(crate) include_related: bool,
    /// List each message once if there are duplicates
    #[arg(long)]
    pub(crate) skip_dups: bool,
    /// Oldest first
    #[arg(long)]
    pub(crate) reverse: bool,
    /// List at most N messages, not counting related ones; 0 means all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Skip the first N messages
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: usize,
    /// List what has room in this number of bytes, the number of all messages, and the command for the next ones
    #[arg(long, value_name = "BYTES", value_parser = budget, conflicts_with = "limit")]
    pub(crate) budget: Option<usize>,
    /// Print one JSON object per message
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ThreadsArgs {
    /// Query, in the language of ken search
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// Show the messages of each thread as a tree
    #[arg(long)]
    pub(crate) tree: bool,
    /// Count and show each message once if there are duplicates
    #[arg(long)]
    pub(crate) skip_dups: bool,
    /// Oldest first
    #[arg(long)]
    pub(crate) reverse: bool,
    /// List at most N threads; 0 means all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// Skip the first N threads
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: usize,
    /// List what has room in this number of bytes, the number of all threads, and the command for the next ones
    #[arg(long, value_name = "BYTES", value_parser = budget, conflicts_with = "limit")]
    pub(crate) budget: Option<usize>,
    /// Print one JSON object per thread
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct TagArgs {
    /// Tags to add (+tag) and remove (-tag), then a query
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required_unless_present_any = ["export", "import", "list"]
    )]
    pub(crate) arguments: Vec<String>,
    /// Write all tags to standard output
    #[arg(long, conflicts_with_all = ["arguments", "import", "list"])]
    pub(crate) export: bool,
    /// Read tags from a file; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["arguments", "list"])]
    pub(crate) import: Option<PathBuf>,
    /// Format to write; --import recognizes the format by itself
    #[arg(
        long,
        value_name = "FORM",
        default_value = "notmuch",
        requires = "export"
    )]
    pub(crate) format: TagFormat,
    /// List all tags with the number of messages that have each
    #[arg(long, conflicts_with = "arguments")]
    pub(crate) list: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TagFormat {
    /// As notmuch dump writes it
    Notmuch,
    /// As mu labels export writes it
    Mu,
}

#[derive(Args, Debug)]
pub(crate) struct ContactsArgs {
    /// Regular expression that the name or the address must match
    pub(crate) pattern: Option<String>,
    /// Only contacts of messages from or to your own addresses (mail.addresses)
    #[arg(long)]
    pub(crate) personal: bool,
    /// Only contacts of messages since this date, such as 2025-06, 3m or yesterday
    #[arg(long, value_name = "DATE")]
    pub(crate) after: Option<String>,
    /// List at most N contacts; 0 means all
    #[arg(long, short = 'n', value_name = "N", default_value_t = 0)]
    pub(crate) limit: usize,
    /// Output format
    #[arg(long, value_name = "FORM", default_value = "plain")]
    pub(crate) format: ContactFormat,
    /// Print one JSON object per contact
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContactFormat {
    /// Name and address
    Plain,
    /// Aliases for mutt
    MuttAlias,
    /// For mutt's query_command
    MuttAb,
    /// Comma-separated values (RFC 4180)
    Csv,
    /// vCards (RFC 6350)
    Vcard,
    /// Wanderlust's address book
    Wl,
    /// org-contacts
    #[value(alias = "org")]
    OrgContact,
    /// Emacs' Insidious Big Brother Database
    Bbdb,
    /// The same as --json
    Json,
}

#[derive(Args, Debug)]
pub(crate) struct SaveArgs {
    /// Query, in the language of ken search, or the address of a message
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// Folder to save to
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) to: PathBuf,
    /// Save only files whose name matches this regular expression
    #[arg(long, value_name = "REGEX")]
    pub(crate) name: Option<String>,
    /// Save only this attachment; 2.1 is the first attachment of the attached message 2
    #[arg(long, value_name = "N")]
    pub(crate) part: Option<String>,
    /// Save the attachments of each message once if there are duplicates
    #[arg(long)]
    pub(crate) skip_dups: bool,
    /// Overwrite existing files
    #[arg(long)]
    pub(crate) overwrite: bool,
}

#[derive(Args, Debug)]
pub(crate) struct VerifyArgs {
    /// Query, in the language of ken search, or the address of a message
    #[arg(required = true)]
    pub(crate) query: Vec<String>,
    /// Print one JSON object per signature
    #[arg(long)]
    pub(crate) json: bool,
}

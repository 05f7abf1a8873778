//! `ken mail`: commands on messages. Everything except the files themselves comes from the index.

mod contacts;
pub(super) mod header;
mod line;
mod list;
mod save;
mod show;
mod tag;
mod threads;
pub(crate) mod verify;

use std::path::Path;
use std::process::ExitCode;

use ken_core::Field;
use ken_search::plan::Context;
use ken_search::service::Service;
use ken_search::service::mail::{Message, Which};

pub(super) use tag::{apply as apply_tags, split as split_tags};

use super::context::context;
use super::{address, last};
use crate::cli::{Global, MailArgs, MailCommand};
use crate::config::{Settings, data_folder};
use crate::failure::Failure;
use crate::opened::Opened;
use crate::output;

pub(crate) fn run(global: &Global, args: &MailArgs) -> Result<ExitCode, Failure> {
    match &args.command {
        MailCommand::Show(args) => show::run(global, args),
        MailCommand::List(args) => list::run(global, args),
        MailCommand::Threads(args) => threads::run(global, args),
        MailCommand::Tag(args) => tag::run(global, args),
        MailCommand::Contacts(args) => contacts::run(global, args),
        MailCommand::Save(args) => save::run(global, args),
        MailCommand::Verify(args) => verify::run(global, args),
    }
}

/// An index, and the context of queries on its mail.
struct Mail {
    snapshot: Opened,
    settings: Settings,
    context: Context,
}

impl Mail {
    fn open(global: &Global) -> Result<Self, Failure> {
        let settings = Settings::load(global)?;
        let snapshot = Opened::new(&data_folder(global)?, &settings)?;
        let mut context = context();
        settings.mail.apply_to(&mut context)?;
        Ok(Self {
            snapshot,
            settings,
            context,
        })
    }

    /// Returns the search service for the user.
    fn service(&self) -> Service<'_> {
        let saved = self.settings.queries.clone();
        Service::new(&*self.snapshot, self.context.clone(), saved)
    }
}

/// Returns the messages that a query finds. An address means the messages there.
fn which(service: &Service<'_>, words: &[String]) -> Result<Which, Failure> {
    let [word] = words else {
        return Ok(Which::Query(words.join(" ")));
    };
    let path = match Path::new(word) {
        file if file.is_file() => fs_err::canonicalize(file)?,
        address => address.to_owned(),
    };
    // A word may be the name of a file that is not in the index.
    let is_address = service.addressed(&path).is_ok() || word.contains('/') && path.is_file();
    Ok(match is_address {
        true => Which::At(path),
        false => Which::Query(word.clone()),
    })
}

/// Returns the same, where a single word of digits is the number of a hit of the last list.
fn which_or_number(service: &Service<'_>, words: &[String]) -> Result<Which, Failure> {
    match words {
        [word] if last::is_number(Path::new(word)) => {
            let typed = Path::new(word);
            // Fails with the words of every command that takes an address.
            address::find(service, typed)?;
            Ok(Which::At(last::address(typed)?))
        }
        words => which(service, words),
    }
}

/// Returns the limit of the arguments, where 0 means none.
fn limit(typed: usize) -> Option<usize> {
    (typed > 0).then_some(typed)
}

/// Returns the name of the sender, or the address.
fn sender(message: &Message) -> &str {
    output::person(message.document.text(Field::Author).unwrap_or_default())
}

//! `ken mail`: messages as messages. Everything but files themselves comes from the index.

mod contacts;
mod read;
mod save;
mod show;
mod tag;
mod threads;
pub(crate) mod verify;

use std::path::Path;
use std::process::ExitCode;

use ken_core::{Field, Glob, GlobPart, Kind, Order, Pattern, Plan, SortKey, escape_bytes};
use ken_index::{Address, Snapshot};
use ken_search::parse::{Tree, parse_with};
use ken_search::plan::{Context, plan};

use super::search;
use crate::cli::{Global, MailArgs, MailCommand};
use crate::config::{Settings, data_folder};
use crate::failure::Failure;

pub(crate) fn run(global: &Global, args: &MailArgs) -> Result<ExitCode, Failure> {
    match &args.command {
        MailCommand::Show(args) => show::run(global, args),
        MailCommand::Threads(args) => threads::run(global, args),
        MailCommand::Tag(args) => tag::run(global, args),
        MailCommand::Contacts(args) => contacts::run(global, args),
        MailCommand::Save(args) => save::run(global, args),
        MailCommand::Verify(args) => verify::run(global, args),
    }
}

/// An index, and how queries on its mail are understood.
struct Mail {
    snapshot: Snapshot,
    settings: Settings,
    context: Context,
}

impl Mail {
    fn open(global: &Global) -> Result<Self, Failure> {
        let settings = Settings::load(global)?;
        let snapshot = Snapshot::open(&data_folder(global)?.join("index"))?;
        let mut context = search::context();
        settings.mail.tell(&mut context);
        let roots = snapshot.meta().roots.iter();
        context.roots = roots.map(|root| root.path.clone()).collect();
        Ok(Self {
            snapshot,
            settings,
            context,
        })
    }

    /// Returns the plan for the messages that a query finds. A path of a file means its messages.
    fn messages(&self, words: &[String]) -> Result<Plan, Failure> {
        if let [path] = words
            && Path::new(path).is_file()
        {
            let path = fs_err::canonicalize(path)?;
            let path = escape_bytes(path.as_os_str().as_encoded_bytes()).into_owned();
            let itself = Glob(vec![GlobPart::Literal(path)]);
            let mut inside = itself.clone();
            inside.push(GlobPart::Literal("|".to_owned()));
            inside.push(GlobPart::Many);
            let at = |glob| Plan::Match {
                field: Field::Path,
                pattern: Pattern::Glob(glob),
            };
            return Ok(among_messages(Some(Plan::Or(vec![at(itself), at(inside)]))));
        }
        let tree = parse_with(&words.join(" "), &self.settings.queries)?;
        Ok(match tree {
            Tree::All => among_messages(None),
            tree => among_messages(Some(plan(&tree, &self.context))),
        })
    }

    /// Returns where messages stand, the newest first.
    fn find(&self, plan: &Plan, reverse: bool, limit: usize) -> Result<Vec<Address>, Failure> {
        let order = Order {
            key: SortKey::DATE,
            reverse,
        };
        let found = self.snapshot.run(plan, order, 0, all_if_zero(limit))?;
        Ok(found.hits.into_iter().map(|hit| hit.address).collect())
    }
}

fn all_if_zero(limit: usize) -> usize {
    if limit == 0 { usize::MAX } else { limit }
}

/// Returns the plan for messages that are not attached to another.
fn among_messages(plan: Option<Plan>) -> Plan {
    let is = |field, term: &str| Plan::Match {
        field,
        pattern: Pattern::Term(term.to_owned()),
    };
    let mut parts: Vec<Plan> = plan.into_iter().collect();
    parts.push(Plan::Filter(Box::new(is(
        Field::Type,
        Kind::Message.name(),
    ))));
    parts.push(Plan::Not(Box::new(is(Field::Is, "attachment"))));
    Plan::And(parts)
}

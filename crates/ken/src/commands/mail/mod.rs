//! `ken mail`: messages as messages. Everything but files themselves comes from the index.

mod contacts;
mod list;
mod message;
mod parts;
mod read;
mod save;
mod show;
mod tag;
mod threads;
pub(crate) mod verify;

use std::collections::HashSet;
use std::path::Path;
use std::process::ExitCode;

use ken_core::{
    Field, FieldNames, Glob, GlobPart, Kind, Order, Pattern, Plan, SortKey, escape_bytes,
};
use ken_index::{Address, Request, Snapshot};
use ken_search::parse::{Names, Tree, parse_with};
use ken_search::plan::{Context, plan};

use super::search;
use crate::cli::{Global, MailArgs, MailCommand};
use crate::config::{Settings, data_folder};
use crate::failure::Failure;

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

/// An index, and how queries on its mail are understood.
struct Mail {
    snapshot: Snapshot,
    settings: Settings,
    /// What fields are called.
    fields: FieldNames,
    context: Context,
}

impl Mail {
    fn open(global: &Global) -> Result<Self, Failure> {
        let settings = Settings::load(global)?;
        let snapshot = Snapshot::open_for_one_query(&data_folder(global)?.join("index"))?;
        let mut context = search::context();
        settings.mail.tell(&mut context)?;
        let roots = snapshot.meta().roots.iter();
        context.roots = roots.map(|root| root.path.clone()).collect();
        Ok(Self {
            fields: snapshot.meta().field_names(),
            snapshot,
            settings,
            context,
        })
    }

    /// Returns what names in a query stand for.
    fn names(&self) -> Names<'_> {
        Names {
            saved: &self.settings.queries,
            fields: &self.fields,
        }
    }

    /// Returns what a query asks for. A path of a file means what is in it.
    fn read(&self, words: &[String]) -> Result<Query, Failure> {
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
            return Ok(Query {
                plan: Some(Plan::Or(vec![at(itself), at(inside)])),
                asks_parts: false,
            });
        }
        let tree = parse_with(&words.join(" "), self.names())?;
        Ok(Query {
            // What is not in an attached file may be in its message.
            asks_parts: tree != Tree::All && !excludes(&tree),
            plan: (tree != Tree::All).then(|| plan(&tree, &self.context)),
        })
    }

    /// Returns where the messages stand that a query finds, by themselves or by what they carry, the
    /// newest first.
    fn find(&self, query: &Query, reverse: bool, limit: usize) -> Result<Vec<Address>, Failure> {
        let order = Order {
            key: SortKey::DATE,
            reverse,
        };
        let limit = all_if_zero(limit);
        let messages = among_messages(query.plan.clone());
        let parts = match &query.plan {
            Some(plan) if query.asks_parts => self.carriers(plan)?,
            _ => HashSet::new(),
        };
        if parts.is_empty() {
            let found = self.snapshot.run(&messages, order, 0, limit)?;
            return Ok(found.hits.into_iter().map(|hit| hit.address).collect());
        }
        let found = self.snapshot.run(&messages, order, 0, usize::MAX)?;
        let addresses = found.hits.into_iter().map(|hit| hit.address);
        let all: HashSet<Address> = addresses.chain(parts).collect();
        let all: Vec<Address> = all.into_iter().collect();
        let request = Request {
            only: Some(&all),
            order,
            limit,
            ..Request::new(&Plan::All)
        };
        let found = self.snapshot.find(&request)?;
        Ok(found.hits.into_iter().map(|hit| hit.address).collect())
    }

    /// Keeps the first of messages with the same identifier, one of `rather` if there is any: copies in
    /// several folders.
    fn skip_dups(
        &self,
        found: &mut Vec<Address>,
        rather: &HashSet<Address>,
    ) -> Result<(), Failure> {
        let mut numbers = Vec::with_capacity(found.len());
        for address in &*found {
            numbers.push(self.snapshot.links(*address)?.first().copied());
        }
        let preferred = found.iter().zip(&numbers);
        let preferred = preferred.filter(|(address, _)| rather.contains(address));
        let preferred: HashSet<u64> = preferred.filter_map(|(_, number)| *number).collect();
        let mut numbers = numbers.into_iter();
        let mut seen = HashSet::new();
        found.retain(|address| {
            // What has no number is no message of its own.
            let Some(number) = numbers.next().flatten() else {
                return true;
            };
            let is_elsewhere = preferred.contains(&number) && !rather.contains(address);
            !is_elsewhere && seen.insert(number)
        });
        Ok(())
    }

    /// Returns all messages in the threads of some, the newest first.
    fn with_related(&self, of: &[Address], reverse: bool) -> Result<Vec<Address>, Failure> {
        let all = self.snapshot.threads(of)?;
        let order = Order {
            key: SortKey::DATE,
            reverse,
        };
        let request = Request {
            only: Some(&all),
            order,
            limit: usize::MAX,
            ..Request::new(&Plan::All)
        };
        let found = self.snapshot.find(&request)?;
        Ok(found.hits.into_iter().map(|hit| hit.address).collect())
    }

    /// Returns the messages that carry what a plan finds.
    fn carriers(&self, plan: &Plan) -> Result<HashSet<Address>, Failure> {
        let is_inside = Plan::Filter(Box::new(is(Field::Is, "member")));
        let is_message = Plan::Not(Box::new(among_messages(None)));
        let plan = Plan::And(vec![plan.clone(), is_inside, is_message]);
        let found = self.snapshot.run(&plan, Order::default(), 0, usize::MAX)?;
        let mut carriers = HashSet::new();
        for hit in found.hits {
            carriers.extend(self.snapshot.carrier(hit.address)?);
        }
        Ok(carriers)
    }
}

/// What messages are asked for.
struct Query {
    /// What they are like; all if there is none.
    plan: Option<Plan>,
    /// Whether it may also hold for what they carry.
    asks_parts: bool,
}

/// Returns whether something is excluded.
fn excludes(tree: &Tree) -> bool {
    match tree {
        Tree::Not(_) | Tree::Xor(..) => true,
        Tree::And(parts) | Tree::Or(parts) | Tree::Near(parts, _) => parts.iter().any(excludes),
        Tree::Boost(part, _) | Tree::Thread(part) | Tree::Part(part) => excludes(part),
        Tree::All | Tree::Clause(_) => false,
    }
}

fn all_if_zero(limit: usize) -> usize {
    if limit == 0 { usize::MAX } else { limit }
}

/// Returns the plan for messages that are not attached to another.
fn among_messages(plan: Option<Plan>) -> Plan {
    let mut parts: Vec<Plan> = plan.into_iter().collect();
    parts.push(Plan::Filter(Box::new(is(
        Field::Type,
        Kind::Message.name(),
    ))));
    parts.push(Plan::Not(Box::new(is(Field::Is, "attachment"))));
    Plan::And(parts)
}

fn is(field: Field, term: &str) -> Plan {
    Plan::Match {
        field,
        pattern: Pattern::Term(term.to_owned()),
    }
}

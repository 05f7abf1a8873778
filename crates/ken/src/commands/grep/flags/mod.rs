//! The flags of `ken grep`: one table for the parser, the help, the completions and the man page.
//!
//! clap cannot express ripgrep's rules: any flag may be repeated and the last one counts, also within groups of flags,
//! `--no-…` cancels its partner, and so on. So lexopt splits the command line, and each entry of the table says what
//! its flag changes.

mod filter;
mod input;
mod output;
mod search;
#[cfg(test)]
mod tests;
mod values;

use std::ffi::{OsStr, OsString};

use clap::{Arg as ClapArg, ArgAction, Command};
use lexopt::Arg;

use super::typed::{Action, Typed};

/// What a flag does; an error says what is wrong with its value.
#[derive(Clone, Copy)]
enum Effect {
    /// A flag without a value: on, or off by its negation.
    Switch(fn(&mut Typed, bool) -> Result<(), String>),
    /// A flag with a value, which is absent for the negation.
    Value(fn(&mut Typed, Option<&OsStr>) -> Result<(), String>),
}

/// One flag.
pub(super) struct Flag {
    long: &'static str,
    short: Option<char>,
    /// The flag that cancels it.
    negation: Option<&'static str>,
    alias: Option<&'static str>,
    /// The name of its value in the help.
    value: &'static str,
    /// The possible values, if they can be listed.
    choices: &'static [&'static str],
    help: &'static str,
    effect: Effect,
}

impl Flag {
    const fn new(long: &'static str, help: &'static str, effect: Effect) -> Self {
        Self {
            long,
            short: None,
            negation: None,
            alias: None,
            value: "",
            choices: &[],
            help,
            effect,
        }
    }

    const fn switch(
        long: &'static str,
        help: &'static str,
        effect: fn(&mut Typed, bool) -> Result<(), String>,
    ) -> Self {
        Self::new(long, help, Effect::Switch(effect))
    }

    const fn value(
        long: &'static str,
        value: &'static str,
        help: &'static str,
        effect: fn(&mut Typed, Option<&OsStr>) -> Result<(), String>,
    ) -> Self {
        let mut flag = Self::new(long, help, Effect::Value(effect));
        flag.value = value;
        flag
    }

    const fn short(mut self, short: char) -> Self {
        self.short = Some(short);
        self
    }

    const fn negation(mut self, negation: &'static str) -> Self {
        self.negation = Some(negation);
        self
    }

    const fn alias(mut self, alias: &'static str) -> Self {
        self.alias = Some(alias);
        self
    }

    const fn choices(mut self, choices: &'static [&'static str]) -> Self {
        self.choices = choices;
        self
    }

    fn takes_value(&self) -> bool {
        matches!(self.effect, Effect::Value(_))
    }

    fn describe(&self) -> ClapArg {
        let mut arg = ClapArg::new(self.long).long(self.long).help(self.help);
        if let Some(short) = self.short {
            arg = arg.short(short);
        }
        if let Some(alias) = self.alias {
            arg = arg.visible_alias(alias);
        }
        if !self.takes_value() {
            return arg.action(ArgAction::SetTrue);
        }
        if !self.choices.is_empty() {
            arg = arg.value_parser(self.choices.to_vec());
        }
        arg.value_name(self.value).action(ArgAction::Append)
    }
}

/// The tables with their headings in the help.
const TABLES: [(&str, &[Flag]); 4] = [
    ("Input", input::FLAGS),
    ("Pattern and search", search::FLAGS),
    ("Which files", filter::FLAGS),
    ("Output", output::FLAGS),
];

fn all() -> impl Iterator<Item = &'static Flag> {
    TABLES.iter().flat_map(|(_, flags)| flags.iter())
}

/// Reads the command line into `typed`.
pub(super) fn read(arguments: Vec<OsString>, typed: &mut Typed) -> Result<(), String> {
    let mut parser = lexopt::Parser::from_args(arguments);
    loop {
        let argument = parser.next();
        let argument = argument.map_err(|error| format!("invalid CLI arguments: {error}"))?;
        let (name, flag, on) = match argument {
            None => return Ok(()),
            Some(Arg::Value(value)) => {
                typed.positional.push(value);
                continue;
            }
            Some(Arg::Short('h') | Arg::Long("help")) => {
                typed.action = Action::Help;
                return Ok(());
            }
            Some(Arg::Short('V')) => {
                typed.action = Action::Version { is_long: false };
                return Ok(());
            }
            Some(Arg::Long("version")) => {
                typed.action = Action::Version { is_long: true };
                return Ok(());
            }
            Some(Arg::Short(letter)) => {
                let name = format!("-{letter}");
                let flag = all().find(|flag| flag.short == Some(letter));
                let flag = flag.ok_or_else(|| format!("unrecognized flag {name}"))?;
                (name, flag, true)
            }
            Some(Arg::Long(long)) => {
                let (flag, on) = find(long)?;
                (format!("--{long}"), flag, on)
            }
        };
        let value = if on && flag.takes_value() {
            let value = parser.value();
            Some(value.map_err(|error| format!("missing value for flag {name}: {error}"))?)
        } else {
            None
        };
        match flag.effect {
            Effect::Switch(effect) => effect(typed, on),
            Effect::Value(effect) => effect(typed, value.as_deref()),
        }
        .map_err(|reason| format!("error parsing flag {name}: {reason}"))?;
    }
}

/// Finds a flag by its long name, and whether that name turns it on.
fn find(long: &str) -> Result<(&'static Flag, bool), String> {
    if let Some(flag) = all().find(|flag| flag.long == long || flag.alias == Some(long)) {
        return Ok((flag, true));
    }
    if let Some(flag) = all().find(|flag| flag.negation == Some(long)) {
        return Ok((flag, false));
    }
    Err(unknown(long))
}

fn unknown(long: &str) -> String {
    let names = all().flat_map(|flag| [Some(flag.long), flag.negation, flag.alias]);
    let near: Vec<&str> = names.flatten().filter(|name| similar(long, name)).collect();
    if near.is_empty() {
        return format!("unrecognized flag --{long}");
    }
    let list: Vec<String> = near.iter().map(|name| format!("--{name}")).collect();
    format!(
        "unrecognized flag --{long}\n\nsimilar flags that are available: {}",
        list.join(", ")
    )
}

/// Returns whether two names share two fifths of their pieces of three letters.
fn similar(left: &str, right: &str) -> bool {
    let pieces = |name: &str| -> std::collections::BTreeSet<[u8; 3]> {
        let windows = name.as_bytes().windows(3);
        windows.filter_map(|piece| piece.try_into().ok()).collect()
    };
    let (left, right) = (pieces(left), pieces(right));
    let shared = left.intersection(&right).count();
    let either = left.union(&right).count();
    shared > 0 && 5 * shared >= 2 * either
}

/// Describes `ken grep` for help, completions and man page.
pub(crate) fn describe(command: &Command) -> Command {
    // clap parses only a list of any arguments.
    let about = command.get_about().cloned().unwrap_or_default();
    let all = described(Command::new("grep").about(about));
    // Only programs that call rg ask for it.
    all.mut_arg("generate", |flag| flag.hide(true))
}

/// Adds all flags and arguments to a command without any.
pub(super) fn described(command: Command) -> Command {
    let mut command = command
        .max_term_width(100)
        .disable_version_flag(true)
        .arg(
            ClapArg::new("pattern")
                .value_name("PATTERN")
                .help("Regular expression"),
        )
        .arg(
            ClapArg::new("path")
                .value_name("PATH")
                .num_args(0..)
                .value_hint(clap::ValueHint::AnyPath)
                .help("Files and folders [default: the working folder]; - is standard input"),
        );
    for (heading, flags) in TABLES {
        for flag in flags {
            let arg = flag.describe().help_heading(heading);
            command = command.arg(arg);
            if let Some(negation) = flag.negation {
                let taken_back = ClapArg::new(negation).long(negation).hide(true);
                let help = format!("Take back --{}", flag.long);
                command = command.arg(taken_back.action(ArgAction::SetTrue).help(help));
            }
        }
    }
    command
}

//! The settings of a command: defaults, the configuration file, and `--set`.

use std::fmt;
use std::path::Path;

use super::Settings;
use super::file::ConfigFile;
use crate::cli::Global;
use crate::failure::{Failure, Kind};

/// The settings of a command, and where each comes from.
pub(crate) struct Sources {
    /// The settings.
    pub(crate) settings: Settings,
    /// The configuration file, if there is one.
    pub(crate) file: Option<ConfigFile>,
    in_file: toml::Table,
    /// The tables of `--set`, in their order.
    set: Vec<toml::Table>,
}

/// Where the value of a setting comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin<'a> {
    /// It is the default.
    Default,
    /// It stands in the configuration file, at this line.
    File(&'a Path, usize),
    /// `--set` says so.
    Option,
}

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Option => f.write_str("--set"),
        }
    }
}

/// A setting that ken cannot work with.
pub(crate) struct Wrong {
    /// Its name, part by part.
    pub(crate) key: Vec<String>,
    /// What is wrong with it.
    pub(crate) failure: Failure,
}

impl Sources {
    /// Reads the configuration file, if there is one, and applies `--set`.
    ///
    /// # Errors
    /// Fails if ken does not understand a setting; the message names the file with the line, or the option.
    pub(crate) fn read(global: &Global) -> Result<Self, Failure> {
        let file = ConfigFile::read(global)?;
        let in_file = file
            .as_ref()
            .map_or_else(|| Ok(toml::Table::new()), ConfigFile::table)?;
        let set = global
            .set
            .iter()
            .map(|assignment| parse_assignment(assignment));
        let set = set.collect::<Result<Vec<_>, _>>()?;
        let mut table = in_file.clone();
        for assigned in &set {
            merge(&mut table, assigned.clone());
        }
        let settings: Settings = table.try_into().map_err(|error: toml::de::Error| {
            let message = format!("invalid setting: {}", one_line(&error));
            Failure::new(Kind::Usage, message)
        })?;
        let sources = Self {
            settings,
            file,
            in_file,
            set,
        };
        match sources.settings.check() {
            Ok(()) => Ok(sources),
            Err(wrong) => Err(sources.placed(wrong)),
        }
    }

    /// Returns where the value of a setting comes from.
    pub(crate) fn origin(&self, key: &[&str]) -> Origin<'_> {
        if self.set.iter().any(|table| value_at(table, key).is_some()) {
            return Origin::Option;
        }
        let file = self
            .file
            .as_ref()
            .filter(|_| value_at(&self.in_file, key).is_some());
        file.map_or(Origin::Default, |file| {
            Origin::File(&file.path, file.line(key).unwrap_or(1))
        })
    }

    /// Returns the failure with the place of the setting.
    pub(crate) fn placed(&self, wrong: Wrong) -> Failure {
        let key: Vec<&str> = wrong.key.iter().map(String::as_str).collect();
        match self.origin(&key) {
            Origin::Default => wrong.failure,
            Origin::Option => wrong.failure.at("--set"),
            Origin::File(path, line) => wrong
                .failure
                .at(&format!("\"{}\", line {line}", path.display())),
        }
    }
}

/// Returns the value of a key, if the table has it.
pub(crate) fn value_at<'t>(table: &'t toml::Table, key: &[&str]) -> Option<&'t toml::Value> {
    let (last, above) = key.split_last()?;
    let mut table = table;
    for name in above {
        table = table.get(*name)?.as_table()?;
    }
    table.get(*last)
}

/// Returns the message with the key that it concerns, which the library puts on a second line.
fn one_line(error: &toml::de::Error) -> String {
    error.to_string().trim_end().replace('\n', " ")
}

/// Reads `a.b=value`; a value that is not TOML counts as text.
fn parse_assignment(assignment: &str) -> Result<toml::Table, Failure> {
    let wrong = || {
        Failure::new(
            Kind::Usage,
            format!("--set {assignment}: expected KEY=VALUE"),
        )
        .hint("example: --set extract.max_depth=3")
    };
    let (key, value) = assignment.split_once('=').ok_or_else(wrong)?;
    let parsed = format!("{key} = {value}").parse::<toml::Table>();
    parsed
        .or_else(|_| format!("{key} = {}", toml::Value::from(value)).parse())
        .map_err(|_| wrong())
}

fn merge(into: &mut toml::Table, from: toml::Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(toml::Value::Table(known)), toml::Value::Table(new)) => merge(known, new),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_settings_are_named() {
        let table = parse_assignment("extract.max_depth=deep").unwrap();
        let error = table.try_into::<Settings>().unwrap_err();
        assert!(one_line(&error).contains("extract.max_depth"), "{error}");
    }

    #[test]
    fn assignments_reach_into_tables() {
        let mut table = "threads = 3\n[extract]\nmax_depth = 2".parse().unwrap();
        for assignment in ["extract.max_members=5", "memory=1G", "threads=4"] {
            merge(&mut table, parse_assignment(assignment).ok().unwrap());
        }
        let settings: Settings = table.try_into().unwrap();
        assert_eq!((settings.threads, settings.memory.as_str()), (4, "1G"));
        assert_eq!(
            (settings.extract.max_depth, settings.extract.max_members),
            (2, 5)
        );
        assert!(parse_assignment("nonsense").is_err());
    }
}

//! The configuration file: reading it, finding keys in it, and changing it.
//!
//! A change keeps the comments and the order of the file.

use std::fs::Metadata;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use toml_edit::{Document, DocumentMut, TableLike};

use super::{Settings, config_home};
use crate::cli::Global;
use crate::failure::{Failure, Kind};

/// The configuration file, as it is now.
pub(crate) struct ConfigFile {
    /// Its path.
    pub(crate) path: PathBuf,
    text: String,
}

impl ConfigFile {
    /// Reads the file; none if there is none.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or if the command line names one that does not exist.
    pub(crate) fn read(global: &Global) -> Result<Option<Self>, Failure> {
        let Some((path, is_required)) = place(global) else {
            return Ok(None);
        };
        match fs_err::read_to_string(&path) {
            Ok(text) => Ok(Some(Self { path, text })),
            Err(error) if !is_required && error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Failure::new(Kind::Usage, error.to_string())),
        }
    }

    /// Returns the settings of the file as a table.
    ///
    /// # Errors
    /// Fails if a line is not TOML, if a key is none of ken's, or if a value has another type.
    pub(crate) fn table(&self) -> Result<toml::Table, Failure> {
        let wrong = |error: toml::de::Error| {
            let message = format!("\"{}\" is not valid: {error}", self.path.display());
            Failure::new(Kind::Usage, message.trim_end().to_owned())
        };
        // Once settings are in a table, their lines are no longer known.
        toml::from_str::<Settings>(&self.text).map_err(wrong)?;
        self.text.parse().map_err(wrong)
    }

    /// Returns the number of the line at which a key stands, or the nearest table above it.
    pub(crate) fn line(&self, key: &[&str]) -> Option<usize> {
        let document = Document::parse(self.text.as_str()).ok()?;
        let mut table: &dyn TableLike = document.as_table();
        let mut found = None;
        for name in key {
            let Some((key, item)) = table.get_key_value(name) else {
                break;
            };
            found = key.span().or_else(|| item.span()).or(found);
            match item.as_table_like() {
                Some(below) => table = below,
                None => break,
            }
        }
        let before = self.text.get(..found?.start)?;
        Some(before.matches('\n').count() + 1)
    }
}

/// Returns the path of the configuration file, and whether it must exist; none without a home folder.
fn place(global: &Global) -> Option<(PathBuf, bool)> {
    match &global.config {
        Some(path) => Some((path.clone(), true)),
        None => config_home().map(|folder| (folder.join("ken/config.toml"), false)),
    }
}

/// Changes the configuration file, or makes one, and returns its path. Nothing is written if the result is no valid
/// configuration.
///
/// # Errors
/// Fails if the file is not valid before or after the change, or cannot be written.
pub(crate) fn edit(
    global: &Global,
    change: impl FnOnce(&mut DocumentMut) -> Result<(), Failure>,
) -> Result<PathBuf, Failure> {
    let usage = |message: String| Failure::new(Kind::Usage, message);
    let path = place(global).map(|(path, _)| path);
    let path =
        path.ok_or_else(|| usage("there is no home folder for the configuration".to_owned()))?;
    // A link to a file in another folder stays a link.
    let path = fs_err::canonicalize(&path).unwrap_or(path);
    let old = replaceable(&path)?;
    let text = match fs_err::read_to_string(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        text => text?,
    };
    let invalid = |error: &dyn std::fmt::Display| {
        usage(format!("\"{}\" is not valid: {error}", path.display()))
    };
    let mut document = text
        .parse::<DocumentMut>()
        .map_err(|error| invalid(&error))?;
    change(&mut document)?;
    let text = document.to_string();
    let settings = toml::from_str::<Settings>(&text).map_err(|error| {
        usage(
            format!("the configuration would not be valid: {error}")
                .trim_end()
                .to_owned(),
        )
    })?;
    settings.check().map_err(|wrong| wrong.failure)?;
    write(&path, old.as_ref(), &text)?;
    Ok(path)
}

fn write(path: &Path, old: Option<&Metadata>, text: &str) -> Result<(), Failure> {
    if let Some(folder) = path.parent() {
        ken_private::create_folder(folder)?;
    }
    let beside = path.with_extension("toml.new");
    let mut out = ken_private::create(&beside)?;
    // The file may hold secrets, so its permissions stay.
    if let Some(old) = old {
        out.set_permissions(old.permissions())?;
    }
    out.write_all(text.as_bytes())?;
    out.sync_all()?;
    fs_err::rename(&beside, path)?;
    Ok(())
}

/// Returns the metadata of the file, if it exists.
///
/// # Errors
/// Fails if the path is a device or a pipe, which a file must not replace.
fn replaceable(file: &Path) -> Result<Option<Metadata>, Failure> {
    match fs_err::metadata(file) {
        Ok(old) if old.is_file() => Ok(Some(old)),
        Ok(_) => {
            let message = format!("\"{}\" is not a configuration file", file.display());
            Err(Failure::new(Kind::Usage, message).hint("name one with --config"))
        }
        Err(_) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> ConfigFile {
        ConfigFile {
            path: PathBuf::from("config.toml"),
            text: text.to_owned(),
        }
    }

    #[test]
    fn keys_have_lines() {
        let file = file(
            "# head\nmemory = \"1G\"\n\n[extract]\nmax_depth = 2\n[queries]\n\"a b\" = \"x\"\n[[folder]]\npath = \"~/a\"\n",
        );
        for (key, line) in [
            (&["memory"][..], Some(2)),
            (&["extract", "max_depth"], Some(5)),
            (&["queries", "a b"], Some(7)),
            (&["queries", "missing"], Some(6)),
            (&["folder"], Some(8)),
            (&["threads"], None),
        ] {
            assert_eq!(file.line(key), line, "{key:?}");
        }
    }

    #[test]
    fn only_files_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        assert!(replaceable(&file).unwrap().is_none());
        fs_err::write(&file, "").unwrap();
        assert!(replaceable(&file).unwrap().is_some());
        assert!(replaceable(folder.path()).is_err());
        assert!(replaceable(Path::new("/dev/null")).is_err());
    }
}

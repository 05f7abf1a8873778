//! Arguments of `ken config` and `ken exclude`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Args, Debug)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// List the settings, with their values and where each comes from
    List {
        /// Only these: the beginning of a name, such as ocr
        prefix: Option<String>,
        /// Only those that are not the default
        #[arg(long)]
        changed: bool,
        /// Print JSON objects, one per line
        #[arg(long)]
        json: bool,
    },
    /// Print the value of a setting
    Get {
        /// Its name, such as ocr.enabled
        key: String,
    },
    /// Write a setting into the configuration file
    Set {
        /// Its name, such as ocr.enabled
        key: String,
        /// Its value, as in the configuration file; what is not TOML counts as text
        value: String,
    },
    /// Remove a setting from the configuration file, so that its default holds
    Unset {
        /// Its name, such as ocr.enabled
        key: String,
    },
    /// Check all settings, and the files and programs that they name
    Check,
}

#[derive(Args, Debug)]
pub(crate) struct ExcludeArgs {
    /// Files and folders that the index leaves out, with everything below them; without any, print those that it leaves out
    pub(crate) paths: Vec<PathBuf>,
    /// Take them into the index again
    #[arg(long, requires = "paths")]
    pub(crate) remove: bool,
}

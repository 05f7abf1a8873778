//! Choices that are both a setting and an option.

use clap::ValueEnum;
use ken_pipeline::Durability;
use ken_walk::EntryOrder;
use serde::{Deserialize, Serialize};

/// When commits are forced to disk, so that a loss of power does not undo them.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DurabilityName {
    /// Every commit is forced to disk before it counts
    Full,
    /// Only the last commit of a run; a power failure during the run may lose the index
    Normal,
    /// Left to the operating system; a power failure soon afterwards may lose the index
    Off,
}

impl From<DurabilityName> for Durability {
    fn from(name: DurabilityName) -> Self {
        match name {
            DurabilityName::Full => Self::Full,
            DurabilityName::Normal => Self::Normal,
            DurabilityName::Off => Self::Off,
        }
    }
}

/// The order in which the files of a folder are read.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OrderName {
    /// By inode number, close to the order on disk
    Inode,
    /// By name
    Path,
    /// By time of change, newest first
    Mtime,
}

impl From<OrderName> for EntryOrder {
    fn from(name: OrderName) -> Self {
        match name {
            OrderName::Inode => Self::Inode,
            OrderName::Path => Self::Path,
            OrderName::Mtime => Self::Mtime,
        }
    }
}

/// Where the index is.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EngineName {
    /// In the data folder
    Embedded,
    /// In a cluster of OpenSearch
    #[value(name = "opensearch")]
    OpenSearch,
}

impl EngineName {
    /// Returns the name, as the settings have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Embedded => "embedded",
            Self::OpenSearch => "opensearch",
        }
    }
}

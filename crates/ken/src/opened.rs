//! The index of the user, wherever the settings say that it is.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use ken_engine::{Engine, Meta, Source};
use ken_index::Snapshot;
use ken_index::layout::index_folder;

use crate::config::Settings;
use crate::failure::Failure;
use crate::output;

/// The last commit of an index, open for a question or two.
pub(crate) enum Opened {
    /// Of the embedded engine.
    Embedded(Snapshot),
    /// Of the embedded engine, in a process that ends next.
    Left(ManuallyDrop<Snapshot>),
    /// Of another engine.
    Elsewhere(Arc<dyn Engine>, Arc<dyn Source>),
}

impl Opened {
    /// Opens the index in a data folder, or the one that the settings name, and says what is left out of the answers.
    pub(crate) fn new(data: &Path, settings: &Settings) -> Result<Self, Failure> {
        let reading = settings.reading()?;
        if let Some(engine) = settings.engine.engine()? {
            let source = engine.source(&reading)?;
            return Ok(Self::Elsewhere(engine, source));
        }
        let snapshot = Snapshot::open_for_one_query(&index_folder(data))?;
        warn_of_damage(&snapshot);
        let snapshot = snapshot.with_ranking(reading.ranking);
        Ok(Self::Embedded(match &reading.stemming {
            Some(languages) => snapshot
                .with_stemming(languages)
                .map_err(ken_engine::Error::Query)?,
            None => snapshot,
        }))
    }

    /// Returns the engine, if it is not the embedded one.
    pub(crate) fn engine(&self) -> Option<&Arc<dyn Engine>> {
        match self {
            Self::Elsewhere(engine, _) => Some(engine),
            Self::Embedded(_) | Self::Left(_) => None,
        }
    }

    /// Returns the index for a process that ends next: the kernel closes all files faster at once than one by one.
    pub(crate) fn until_the_end(self) -> Self {
        match self {
            Self::Embedded(snapshot) => Self::Left(ManuallyDrop::new(snapshot)),
            opened => opened,
        }
    }
}

impl Deref for Opened {
    type Target = dyn Source;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Embedded(snapshot) => snapshot,
            Self::Left(snapshot) => &**snapshot,
            Self::Elsewhere(_, source) => &**source,
        }
    }
}

/// Returns the meta of the last commit of the index in a data folder, or of the one that the settings name.
pub(crate) fn meta(data: &Path, settings: &Settings) -> Result<Meta, Failure> {
    match settings.engine.engine()? {
        Some(engine) => Ok(engine.last()?.1),
        None => Ok(ken_index::read_meta(&index_folder(data))?),
    }
}

/// Says how many documents are left out of the answers, if any are.
pub(crate) fn warn_of_damage(source: &dyn Source) {
    let documents = match source.n_left_out() {
        0 => return,
        1 => "one document is".to_owned(),
        n => format!("{n} documents are"),
    };
    output::warn(&format!(
        "a part of the index is damaged, so {documents} left out; ken index reads the files again"
    ));
}

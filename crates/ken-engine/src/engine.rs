//! An index by where it is: how its two sides are opened.

use std::fmt::Debug;
use std::sync::Arc;

use ken_core::Ranking;

use crate::{Error, Guest, Meta, Sink, Source};

/// How a source answers.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The weights by which hits are ranked.
    pub ranking: Ranking,
    /// Languages whose forms of words are found, if not those that documents are in.
    pub stemming: Option<Vec<String>>,
}

/// An index outside the data folder. Nothing is asked before one of its sides is opened.
pub trait Engine: Debug + Send + Sync {
    /// Returns the name of the index, as errors have it.
    fn name(&self) -> String;

    /// Returns how the engine is, for people: lines with a title of one word.
    ///
    /// # Errors
    /// Fails if the engine cannot be reached.
    fn state(&self) -> Result<Vec<(&'static str, String)>, Error>;

    /// Opens the last commit.
    ///
    /// # Errors
    /// Fails with [`Error::Missing`] if nothing was committed, and if the index cannot be reached.
    fn source(&self, reading: &Reading) -> Result<Arc<dyn Source>, Error>;

    /// Returns the number and the meta of the last commit, without opening it.
    ///
    /// # Errors
    /// Fails as [`Engine::source`] does.
    fn last(&self) -> Result<(u64, Meta), Error>;

    /// Opens the index for writing, and makes it if it is not there.
    ///
    /// # Errors
    /// Fails with [`Error::Busy`] if another machine writes it, and if the index cannot be reached.
    fn sink(&self) -> Result<Box<dyn Sink>, Error>;

    /// Opens an empty index of this number of shards beside this one, whose place it takes with its first commit. Readers have the
    /// former one until then.
    ///
    /// # Errors
    /// Fails as [`Engine::sink`] does, if nothing was committed, and if the engine has no shards.
    fn beside(&self, shards: u32) -> Result<Box<dyn Sink>, Error> {
        let _ = shards;
        Err(Error::Query("the engine has no shards".to_owned()))
    }

    /// Opens the last commit for [`Source::each_document`] only, even if it has a schema that cannot be asked. Nobody may write
    /// meanwhile.
    ///
    /// # Errors
    /// Fails as [`Engine::source`] does, but not for its schema.
    fn source_to_copy(&self) -> Result<Arc<dyn Source>, Error> {
        self.source(&Reading::default())
    }

    /// Returns a way to help the run of another machine; none if the engine is on one machine.
    fn guest(&self) -> Option<Box<dyn Guest>> {
        None
    }

    /// Returns the log of tags: all lines that machines gave to [`Engine::add_to_tag_log`], in one order for all of them.
    ///
    /// # Errors
    /// Fails if the index cannot be reached.
    fn tag_log(&self) -> Result<Vec<u8>, Error>;

    /// Adds lines, which have their ends, to the log of tags. They need no right to write the index.
    ///
    /// # Errors
    /// Fails if the index cannot be reached. Some of the lines may be in the log then.
    fn add_to_tag_log(&self, lines: &str) -> Result<(), Error>;
}

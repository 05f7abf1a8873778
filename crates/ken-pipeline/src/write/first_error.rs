//! Keeps the first index error of any thread, which stops the run.

use std::sync::{Mutex, PoisonError};

use crate::Progress;

/// Keeps the first index error and stops the run.
pub(crate) struct FirstError<'r> {
    progress: &'r Progress,
    error: Mutex<Option<ken_engine::Error>>,
}

impl<'r> FirstError<'r> {
    pub(crate) fn new(progress: &'r Progress) -> Self {
        Self {
            progress,
            error: Mutex::new(None),
        }
    }

    /// Records the error of a result, if it has one.
    pub(crate) fn note(&self, result: Result<(), ken_engine::Error>) {
        if let Err(error) = result {
            let mut first = self.error.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(error);
            self.progress.fail();
        }
    }

    /// Returns the error, if there was one.
    pub(crate) fn into_result(self) -> Result<(), ken_engine::Error> {
        let error = self.error.into_inner();
        let error = error.unwrap_or_else(PoisonError::into_inner);
        error.map_or(Ok(()), Err)
    }
}

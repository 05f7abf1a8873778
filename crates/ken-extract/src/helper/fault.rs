//! What may go wrong with a program that reads a file.

use std::io;

use ken_core::{Failure, Reason};

use super::missing;
use crate::Error;
use crate::error::is_lack;

/// Why a program did not read a file.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// It, or something that it needs, is not installed.
    #[error("{}", missing::message(.0))]
    Missing(String),
    /// It took too long.
    #[error("it took longer than {0} s (helpers.seconds)")]
    TooLong(u64),
    /// It said too much.
    #[error("it printed more than {0} bytes (max_member_bytes)")]
    TooMuch(u64),
    /// It ended in the middle, or without a result.
    #[error("it ended before its answer")]
    Ended,
    /// It ended with a code or by a signal.
    #[error("{0}")]
    Exit(String),
    /// It said what the protocol does not know.
    #[error("{0}")]
    Protocol(String),
    /// It says that the file is no good.
    #[error("it cannot read the file")]
    Refused,
    /// The run is being stopped.
    #[error("stopped before the end")]
    Stopped,
    /// The system failed.
    #[error("{0}")]
    System(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.downcast::<Self>() {
            Ok(fault) => fault,
            Err(error) => Self::System(error),
        }
    }
}

impl From<Fault> for io::Error {
    fn from(fault: Fault) -> Self {
        Self::other(fault)
    }
}

impl Fault {
    /// Returns the failure of the file; `complaint` is what the program wrote to standard error.
    pub(super) fn into_error(self, name: &str, complaint: &str) -> Error {
        let reason = match &self {
            Self::Missing(_) => Reason::Missing,
            Self::TooLong(_) => Reason::TimedOut,
            Self::TooMuch(_) => Reason::Limit,
            Self::Ended | Self::Exit(_) | Self::Protocol(_) => Reason::Crashed,
            Self::Refused => Reason::Malformed,
            Self::System(_) | Self::Stopped => Reason::Unreadable,
        };
        let message = match (&self, complaint) {
            (Self::Missing(_), _) => self.to_string(),
            (_, "") => format!("{name}: {self}"),
            (_, complaint) => format!("{name}: {self}: {complaint}"),
        };
        match self {
            Self::System(cause) if is_lack(&cause) => return Error::Lacking(message),
            Self::Stopped => return Error::Cancelled,
            _ => {}
        }
        Error::Failed(Failure::new(reason, message))
    }
}

//! Failures of a helper.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use ken_core::{Cause, Crash, Limit, Operation, Reader};

use crate::Error;
use crate::error::is_lack;

/// Why a helper did not read a file.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    /// The helper, or something that it needs, is not installed.
    #[error("not installed: {0}")]
    Missing(String),
    /// The helper took too long.
    #[error("it took too long")]
    TooLong(Limit),
    /// The helper printed too much.
    #[error("it printed too much")]
    TooMuch(Limit),
    /// The helper crashed or broke the protocol.
    #[error("it crashed")]
    Crashed(Crash),
    /// The helper reports that it cannot read the file.
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
    /// The helper ended early, or without a result.
    pub(super) const ENDED: Self = Self::Crashed(Crash::Ended);

    /// Returns the fault of a helper that breaks the protocol.
    pub(super) fn nonsense(what: impl Into<String>) -> Self {
        Self::Crashed(Crash::Nonsense(what.into()))
    }

    /// Returns the fault of a helper that ended with an exit code other than 0, or by a signal.
    pub(super) fn of_exit(status: ExitStatus) -> Self {
        Self::Crashed(match (status.code(), status.signal()) {
            (Some(code), _) => Crash::Exit(code),
            (None, Some(signal)) => Crash::Signal(signal),
            (None, None) => Crash::Ended,
        })
    }

    /// Returns the failure of the file; `said` is what the helper wrote to standard error.
    pub(super) fn into_error(self, helper: &str, said: &str) -> Error {
        let helper = helper.to_owned();
        let said = said.to_owned();
        Error::Failed(match self {
            Self::Missing(what) => Cause::Missing { what, helper },
            Self::TooLong(limit) => Cause::TimedOut {
                reader: Reader::Helper(helper),
                limit,
            },
            Self::TooMuch(limit) => Cause::Limit {
                limit,
                found: None,
                reader: Some(Reader::Helper(helper)),
            },
            Self::Crashed(how) => Cause::Crashed {
                reader: Reader::Helper(helper),
                how,
                said,
            },
            Self::Refused => Cause::Refused { helper, said },
            Self::Stopped => return Error::Cancelled,
            Self::System(error) => {
                let cause = Cause::system(Operation::RunHelper(helper), &error);
                match is_lack(&error) {
                    true => return Error::Lacking(cause),
                    false => cause,
                }
            }
        })
    }
}

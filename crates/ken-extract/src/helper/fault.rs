//! Failures of a helper.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use ken_core::{Cause, Crash, Encryption, Limit, Operation, Reader};

use super::missing;
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
        let is_end = matches!(self, Self::Refused | Self::Crashed(_));
        if is_end && let Some(module) = missing::python_module(said) {
            let what = format!("python3:{module}");
            return Error::Failed(Cause::Missing { what, helper });
        }
        if is_end && asks_for_password(said) {
            return Error::sealed(Encryption::UnknownMethod);
        }
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

/// Returns whether a complaint of a helper says that the file needs a password.
fn asks_for_password(complaint: &str) -> bool {
    let complaint = complaint.to_ascii_lowercase();
    let mut words = complaint.split(|c: char| !c.is_ascii_alphanumeric());
    words.any(|word| matches!(word, "password" | "passphrase" | "encrypted"))
}

#[cfg(test)]
mod tests {
    use ken_core::Reason;

    use super::*;

    fn reason(fault: Fault, said: &str) -> Reason {
        match fault.into_error("rclfoo.py", said) {
            Error::Failed(cause) => cause.reason(),
            error => panic!("{error}"),
        }
    }

    #[test]
    fn what_a_helper_complains_of_is_the_reason() {
        let module = "ModuleNotFoundError: No module named 'olefile'";
        let missing = Fault::ENDED.into_error("rclfoo.py", module);
        let Error::Failed(Cause::Missing { what, .. }) = missing else {
            panic!("{missing}");
        };
        assert_eq!(what, "python3:olefile");
        let exit = || Fault::Crashed(Crash::Exit(1));
        assert_eq!(reason(exit(), "Incorrect password"), Reason::Encrypted);
        assert_eq!(
            reason(Fault::Refused, "a.wpd: file is encrypted!"),
            Reason::Encrypted
        );
        assert_eq!(
            reason(exit(), "cannot open passwords.txt"),
            Reason::Malformed
        );
        assert_eq!(
            reason(Fault::Missing("x".into()), "password"),
            reason(Fault::Missing("x".into()), "")
        );
    }
}

//! Why an extraction failed.

use ken_core::{Failure, Reason};

use crate::Passwords;

/// Why a format module could not read its input, or not all of it.
///
/// Messages are lower case, without final stop and without the file's name: the caller knows it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The content is encrypted and no password is known.
    #[error("{0}")]
    Encrypted(String),
    /// The bytes break the rules of their format, or end too early.
    #[error("{0}")]
    Malformed(String),
    /// A limit was reached; the message names the setting.
    #[error("{0}")]
    Limit(String),
    /// The file could not be read.
    #[error("{0}")]
    Read(#[from] std::io::Error),
    /// What failed has its own account of it.
    #[error("{}", .0.message)]
    Failed(Failure),
    /// The system lacks something now that the file or its program needs.
    #[error("{0}")]
    Lacking(String),
    /// The run is being stopped.
    #[error("stopped before the end")]
    Cancelled,
}

impl Error {
    /// Returns the failure of what is encrypted, and by none of these passwords.
    pub(crate) fn encrypted(passwords: &Passwords) -> Self {
        Self::Encrypted(if passwords.is_empty() {
            "encrypted, no password is known".into()
        } else {
            "encrypted, none of the passwords fits".into()
        })
    }

    /// Returns whether the file may be read later as it is.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Lacking(_) => true,
            Self::Read(cause) => is_lack(cause),
            _ => false,
        }
    }

    /// Returns a [`Error::Malformed`] with the cause's own words.
    pub fn malformed(cause: impl std::fmt::Display) -> Self {
        Self::Malformed(cause.to_string())
    }
}

/// Returns whether the system has no room, memory, process or descriptor to spare.
pub(crate) fn is_lack(error: &std::io::Error) -> bool {
    use rustix::io::Errno;
    let lacks = [
        Errno::MFILE,
        Errno::NFILE,
        Errno::NOMEM,
        Errno::AGAIN,
        Errno::NOSPC,
        Errno::DQUOT,
    ];
    let code = error.raw_os_error();
    lacks.iter().any(|errno| code == Some(errno.raw_os_error()))
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let reason = match &error {
            Error::Encrypted(_) => Reason::Encrypted,
            Error::Malformed(_) => Reason::Malformed,
            Error::Limit(_) => Reason::Limit,
            // A decoder reports damaged data as an I/O error of these kinds.
            Error::Read(cause) => match cause.kind() {
                std::io::ErrorKind::InvalidData
                | std::io::ErrorKind::InvalidInput
                | std::io::ErrorKind::UnexpectedEof => Reason::Malformed,
                _ => Reason::Unreadable,
            },
            Error::Lacking(_) => Reason::Unreadable,
            Error::Cancelled => Reason::Limit,
            Error::Failed(failure) => return failure.clone(),
        };
        Self::new(reason, error.to_string())
    }
}

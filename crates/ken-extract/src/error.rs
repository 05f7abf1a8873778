//! Why an extraction failed.

use std::io;

use ken_core::{Cause, Encryption, Failure, Operation, Reason, errno, may_pass};

use crate::Passwords;

/// Why a format module could not read its input, in whole or in part.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The bytes break the rules of their format, or end too early. The text says what is wrong, in
    /// lower case, without a full stop and without the file's name.
    #[error("{0}")]
    Malformed(String),
    /// Any other cause that lies in the input.
    #[error("{}", .0.reason().name())]
    Failed(Cause),
    /// The file could not be read.
    #[error("{0}")]
    Read(#[from] io::Error),
    /// The system currently lacks something that the file or its helper needs.
    #[error("{}", .0.reason().name())]
    Lacking(Cause),
    /// The run is being stopped.
    #[error("stopped before the end")]
    Cancelled,
}

impl Error {
    /// Returns the failure of encrypted content that none of `passwords` opens.
    pub(crate) fn encrypted(passwords: &Passwords) -> Self {
        Self::Failed(Cause::Password {
            tried: !passwords.is_empty(),
        })
    }

    /// Returns the failure of encrypted content that no password opens.
    pub(crate) fn sealed(how: Encryption) -> Self {
        Self::Failed(Cause::Encrypted { how })
    }

    /// Returns the failure of a page, counted from 0, that is not there.
    pub(crate) fn no_page(page: u32, n_pages: usize) -> Self {
        Self::Malformed(format!(
            "there is no page {} of {n_pages}",
            u64::from(page) + 1
        ))
    }

    /// Returns an [`Error::Malformed`] with the text of the cause.
    pub fn malformed(cause: impl std::fmt::Display) -> Self {
        Self::Malformed(cause.to_string())
    }

    /// Returns the failure of an unsupported variant of a format.
    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::Failed(Cause::Unsupported { what: what.into() })
    }

    /// Returns the failure of a limit that no setting changes.
    pub(crate) fn built_in(what: impl Into<String>) -> Self {
        Self::Failed(Cause::BuiltIn { what: what.into() })
    }

    /// Returns whether a limit was reached.
    pub(crate) fn is_limit(&self) -> bool {
        self.is_for(Reason::Limit)
    }

    /// Returns whether the failure is due to encryption.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.is_for(Reason::Encrypted)
    }

    fn is_for(&self, reason: Reason) -> bool {
        matches!(self, Self::Failed(cause) if cause.reason() == reason)
    }

    /// Returns whether the unchanged file may be readable later.
    pub fn is_passing(&self) -> bool {
        match self {
            Self::Lacking(_) => true,
            Self::Read(cause) => may_pass(cause),
            _ => false,
        }
    }
}

/// Returns whether the system has no room, memory, process or descriptor to spare.
pub(crate) fn is_lack(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let lacks = [
        Errno::MFILE,
        Errno::NFILE,
        Errno::NOMEM,
        Errno::AGAIN,
        Errno::NOSPC,
        Errno::DQUOT,
    ];
    let code = errno(error);
    lacks.iter().any(|errno| code == Some(errno.raw_os_error()))
}

impl From<Error> for Cause {
    fn from(error: Error) -> Self {
        match error {
            Error::Malformed(what) => Self::Damaged { what },
            Error::Failed(cause) | Error::Lacking(cause) => cause,
            Error::Read(error) => match error.downcast::<Error>() {
                Ok(carried) => carried.into(),
                Err(error) => of_reading(&error),
            },
            Error::Cancelled => Self::Stopped,
        }
    }
}

/// Returns the cause of a read error; a decoder also reports damaged data as one.
fn of_reading(error: &io::Error) -> Cause {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    match error.kind() {
        InvalidData | InvalidInput | UnexpectedEof => Cause::Damaged {
            what: what_is_damaged(error),
        },
        _ => Cause::system(Operation::Read, error),
    }
}

/// Returns what a decoder's error says. Each decoder has other words for an end that comes too early.
pub(crate) fn what_is_damaged(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "it ends too early: cut off or damaged".into(),
        _ => error.to_string(),
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::new(error.into())
    }
}

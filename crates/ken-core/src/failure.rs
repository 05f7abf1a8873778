//! Why the content of a document is missing or incomplete.
//!
//! A failure is plain data. Its [`Cause`] says what happened, and the words are made where it is shown. So the wording
//! is free to change, and no decision depends on reading a message.

use std::io;

use serde::{Deserialize, Serialize};

/// Why the content of a document is missing or incomplete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Stored")]
pub struct Failure {
    /// What happened.
    pub cause: Cause,
    /// How long the document was read before the failure, in milliseconds; 0 if reading did not begin.
    pub elapsed_ms: u64,
    /// The media type of the container that did not yield the content; empty if there was content and its own parser
    /// failed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub container: String,
}

impl Failure {
    /// Returns a failure whose time is not known yet.
    pub fn new(cause: Cause) -> Self {
        Self {
            cause,
            elapsed_ms: 0,
            container: String::new(),
        }
    }

    /// Returns the reason of the failure.
    pub fn reason(&self) -> Reason {
        self.cause.reason()
    }
}

/// A failure as an index stores it. Up to format 10 an index stores a reason and a message.
#[derive(Deserialize)]
struct Stored {
    cause: Option<Cause>,
    reason: Option<Reason>,
    #[serde(default)]
    message: String,
    #[serde(default)]
    elapsed_ms: u64,
    #[serde(default)]
    container: String,
}

impl From<Stored> for Failure {
    fn from(stored: Stored) -> Self {
        let reason = stored.reason.unwrap_or(Reason::Unreadable);
        let text = stored.message;
        Self {
            cause: stored.cause.unwrap_or(Cause::Other { reason, text }),
            elapsed_ms: stored.elapsed_ms,
            container: stored.container,
        }
    }
}

/// What happened to a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Cause {
    /// A password would open the document, but no known password does.
    Password {
        /// Whether there were passwords to try.
        tried: bool,
    },
    /// The document is encrypted in a way that ken cannot open with a password.
    Encrypted {
        /// The way in which it is encrypted.
        how: Encryption,
    },
    /// The bytes break the rules of their format, or end too early.
    Damaged {
        /// What is wrong, as a clause without final stop.
        what: String,
    },
    /// The format has a variant that ken does not read.
    Unsupported {
        /// The variant, as a clause without final stop.
        what: String,
    },
    /// The document reached a limit that a setting makes.
    Limit {
        /// The limit.
        limit: Limit,
        /// The actual value, in the unit of the limit, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<u64>,
        /// What reached the limit, if not the content itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reader: Option<Reader>,
    },
    /// The document reached a limit that no setting changes.
    BuiltIn {
        /// The limit, as a clause without final stop.
        what: String,
    },
    /// Reading took longer than the limit allows.
    TimedOut {
        /// The parser or helper that took too long.
        reader: Reader,
        /// The limit.
        limit: Limit,
    },
    /// A helper, or something that it needs, is not installed.
    Missing {
        /// The missing program or module, as helpers name it, or several if one of them is enough.
        what: String,
        /// The helper.
        helper: String,
    },
    /// A parser or helper crashed.
    Crashed {
        /// What crashed.
        reader: Reader,
        /// How it crashed.
        how: Crash,
        /// Its last message; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        said: String,
    },
    /// A helper says that it cannot read the file.
    Refused {
        /// The helper.
        helper: String,
        /// The helper's message; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        said: String,
    },
    /// The operating system refused something.
    System {
        /// The operation that ken attempted.
        operation: Operation,
        /// The number of the error, if the system gave one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        errno: Option<i32>,
        /// The message of an error without a number.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        said: String,
    },
    /// The run was stopped before the end.
    Stopped,
    /// A cause from an index of an earlier format, which has only a message.
    Other {
        /// The reason of the failure.
        reason: Reason,
        /// The message.
        text: String,
    },
}

impl Cause {
    /// Returns the cause of an error of the operating system.
    pub fn system(operation: Operation, error: &io::Error) -> Self {
        let errno = errno(error);
        let said = errno.map_or_else(|| error.to_string(), |_| String::new());
        Self::System {
            operation,
            errno,
            said,
        }
    }

    /// Returns the cause for a limit that was reached, when nothing else is known.
    pub fn limit(limit: Limit) -> Self {
        Self::Limit {
            limit,
            found: None,
            reader: None,
        }
    }

    /// Returns the reason of the failure.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Password { .. } | Self::Encrypted { .. } => Reason::Encrypted,
            Self::Damaged { .. } | Self::Unsupported { .. } | Self::Refused { .. } => {
                Reason::Malformed
            }
            Self::Limit { .. } | Self::BuiltIn { .. } | Self::Stopped => Reason::Limit,
            Self::TimedOut { .. } => Reason::TimedOut,
            Self::Missing { .. } => Reason::Missing,
            // A helper that ends so has come to an end of its own, and says what it did not like.
            Self::Crashed {
                how: Crash::Exit(1..=125),
                ..
            } => Reason::Malformed,
            Self::Crashed { .. } => Reason::Crashed,
            Self::System { .. } => Reason::Unreadable,
            Self::Other { reason, .. } => *reason,
        }
    }
}

/// Returns the number of an error of the operating system (as on Linux). If a library wrapped the error and kept only
/// its kind, the number follows from the kind.
pub fn errno(error: &io::Error) -> Option<i32> {
    use io::ErrorKind as Kind;
    let by_kind = || {
        Some(match error.kind() {
            Kind::NotFound => 2,
            Kind::OutOfMemory => 12,
            Kind::PermissionDenied => 13,
            Kind::AlreadyExists => 17,
            Kind::NotADirectory => 20,
            Kind::IsADirectory => 21,
            Kind::StorageFull => 28,
            Kind::ReadOnlyFilesystem => 30,
            _ => return None,
        })
    };
    error.raw_os_error().or_else(by_kind)
}

/// Returns whether an error tells of the system at this moment, and not of the file: the unchanged file may be readable
/// later.
pub fn may_pass(error: &io::Error) -> bool {
    const PASSING: [i32; 30] = [
        1,
        13, // EPERM, EACCES: of a folder above it, or of a user or group, which no stamp tells
        5, 6, 16, 19, 121, 123, // EIO, ENXIO, EBUSY, ENODEV, EREMOTEIO, ENOMEDIUM: devices
        11, 12, 23, 24, 28,
        122, // EAGAIN, ENOMEM, ENFILE, EMFILE, ENOSPC, EDQUOT: nothing to spare
        67, 70, 71, 100, 101, 103, 104, 107, 108, 110, 111, 112, 113,
        116, // ENOLINK to ESTALE: networks
        126, 127, // ENOKEY, EKEYEXPIRED: of encrypted folders
    ];
    errno(error).is_some_and(|errno| PASSING.contains(&errno))
}

/// A limit in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// The setting that makes the limit.
    pub setting: Setting,
    /// The value of the limit: bytes, a number or a factor; for a time, milliseconds.
    pub in_force: u64,
    /// What gave the limit this value.
    pub set_by: SetBy,
}

/// What gave a limit its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetBy {
    /// The setting, or its default.
    Settings,
    /// The memory of the run, in bytes, which allows no more.
    Memory(u64),
    /// The memory of the machine, in bytes, which all workers of a run share.
    Machine(u64),
    /// The settings of the helper.
    Helper,
}

/// A setting that makes a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Setting {
    /// The bytes of a file that its parser must hold whole.
    #[serde(rename = "extract.max_file_bytes", alias = "max_file_bytes")]
    MaxFileBytes,
    /// Bytes of the text of one document.
    #[serde(rename = "extract.max_text_bytes", alias = "max_text_bytes")]
    MaxTextBytes,
    /// Bytes of a member.
    #[serde(rename = "extract.max_member_bytes", alias = "max_member_bytes")]
    MaxMemberBytes,
    /// The depth of nested containers.
    #[serde(rename = "extract.max_depth", alias = "max_depth")]
    MaxDepth,
    /// Members of a container.
    #[serde(rename = "extract.max_members", alias = "max_members")]
    MaxMembers,
    /// Bytes of all members of a container.
    #[serde(rename = "extract.max_expanded_bytes", alias = "max_expanded_bytes")]
    MaxExpandedBytes,
    /// The factor by which compressed content may expand.
    #[serde(rename = "extract.max_expansion", alias = "max_expansion")]
    MaxExpansion,
    /// Pages of a document.
    #[serde(rename = "extract.max_pages", alias = "max_pages")]
    MaxPages,
    /// The time of a worker for one file.
    #[serde(rename = "extract.file_seconds", alias = "file_seconds")]
    FileSeconds,
    /// The memory of a worker in bytes.
    #[serde(rename = "extract.worker_memory", alias = "worker_memory")]
    WorkerMemory,
    /// The time of a helper for one file.
    #[serde(rename = "helpers.seconds")]
    HelperSeconds,
}

impl Setting {
    /// Every setting.
    pub const ALL: [Self; 11] = [
        Self::MaxFileBytes,
        Self::MaxTextBytes,
        Self::MaxMemberBytes,
        Self::MaxDepth,
        Self::MaxMembers,
        Self::MaxExpandedBytes,
        Self::MaxExpansion,
        Self::MaxPages,
        Self::FileSeconds,
        Self::WorkerMemory,
        Self::HelperSeconds,
    ];

    /// Returns the setting's name in the settings file.
    pub fn name(self) -> &'static str {
        match self {
            Self::MaxFileBytes => "extract.max_file_bytes",
            Self::MaxTextBytes => "extract.max_text_bytes",
            Self::MaxMemberBytes => "extract.max_member_bytes",
            Self::MaxDepth => "extract.max_depth",
            Self::MaxMembers => "extract.max_members",
            Self::MaxExpandedBytes => "extract.max_expanded_bytes",
            Self::MaxExpansion => "extract.max_expansion",
            Self::MaxPages => "extract.max_pages",
            Self::FileSeconds => "extract.file_seconds",
            Self::WorkerMemory => "extract.worker_memory",
            Self::HelperSeconds => "helpers.seconds",
        }
    }
}

/// What reads a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reader {
    /// ken's parser of a format, by the name of the format.
    Parser(String),
    /// A helper, by its name.
    Helper(String),
    /// The file system, which did not give the bytes.
    FileSystem,
}

/// How a parser or helper crashed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Crash {
    /// It panicked.
    Panicked,
    /// It ended with this exit status.
    Exit(i32),
    /// It ended by this signal.
    Signal(i32),
    /// It did something that the sandbox forbids.
    Forbidden,
    /// Another process killed it.
    Killed,
    /// It ended before it answered.
    Ended,
    /// Its answer breaks the protocol in this way.
    Nonsense(String),
}

/// An operation that the operating system refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Open or read the file.
    Read,
    /// Read the extended attributes of the file.
    ReadAttributes,
    /// Read the sidecar of the file.
    ReadSidecar,
    /// Start a worker.
    StartWorker,
    /// Hand the file to a worker.
    AskWorker,
    /// Run this helper.
    RunHelper(String),
}

/// How a document is encrypted that ken cannot open with a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Encryption {
    /// By a method that ken does not know.
    UnknownMethod,
    /// By digital rights management.
    Rights,
    /// For the key of a recipient.
    Key,
    /// The parts of the file are encrypted separately.
    Parts,
}

/// The reason of a failure: the coarse class of its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reason {
    /// The content is encrypted and no known password opens it.
    Encrypted,
    /// The bytes break the rules of their format, or end too early.
    Malformed,
    /// A limit on size, depth, number or expansion was reached.
    Limit,
    /// The parser crashed, through a fault of the file or of the parser.
    Crashed,
    /// The parser did not finish in time.
    #[serde(rename = "timeout")]
    TimedOut,
    /// A helper is not installed.
    Missing,
    /// The file could not be read.
    Unreadable,
}

impl Reason {
    /// Returns the reason's name in output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Encrypted => "encrypted",
            Self::Malformed => "malformed",
            Self::Limit => "limit",
            Self::Crashed => "crashed",
            Self::TimedOut => "timeout",
            Self::Missing => "missing",
            Self::Unreadable => "unreadable",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_an_earlier_format_is_kept() {
        let stored = r#"{"reason":"timeout","message":"not done after 60 s","elapsed_ms":7}"#;
        let failure: Failure = serde_json::from_str(stored).unwrap();
        assert_eq!(
            (failure.reason(), failure.elapsed_ms),
            (Reason::TimedOut, 7)
        );
        let text = "not done after 60 s".to_owned();
        let reason = Reason::TimedOut;
        assert_eq!(failure.cause, Cause::Other { reason, text });
    }

    #[test]
    fn causes_are_stored_and_read_back() {
        let limit = Limit {
            setting: Setting::MaxTextBytes,
            in_force: 4,
            set_by: SetBy::Memory(64),
        };
        let system = Cause::system(Operation::Read, &io::Error::from_raw_os_error(13));
        let crashed = Cause::Crashed {
            reader: Reader::Helper("gs".into()),
            how: Crash::Exit(1),
            said: String::new(),
        };
        for cause in [Cause::limit(limit), system, crashed, Cause::Stopped] {
            let failure = Failure {
                elapsed_ms: 3,
                container: "application/zip".into(),
                ..Failure::new(cause)
            };
            let json = serde_json::to_string(&failure).unwrap();
            assert_eq!(serde_json::from_str::<Failure>(&json).unwrap(), failure);
        }
    }

    #[test]
    fn settings_are_stored_by_name_and_known_by_former_names() {
        for setting in Setting::ALL {
            let name = serde_json::to_value(setting).unwrap();
            assert_eq!(name, setting.name());
            let former = setting.name().trim_start_matches("extract.");
            let read: Setting = serde_json::from_value(former.into()).unwrap();
            assert_eq!(read, setting);
        }
    }

    #[test]
    fn wrapped_errors_keep_their_number() {
        assert_eq!(errno(&io::Error::from_raw_os_error(13)), Some(13));
        let wrapped = io::Error::new(io::ErrorKind::PermissionDenied, "failed to open a file");
        assert_eq!(errno(&wrapped), Some(13));
        assert_eq!(errno(&io::Error::other("odd")), None);
    }
}

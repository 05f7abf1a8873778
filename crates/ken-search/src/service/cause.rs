//! The wording of failures: lower case, no final stop, without the file's name.

use std::io;

use ken_core::{Cause, Crash, Encryption, Limit, Operation, Reader, SetBy, Setting, errno};

/// Returns what happened to a document, in words.
pub fn cause_text(cause: &Cause) -> String {
    match cause {
        Cause::Password { tried: false } => "encrypted, and no password is known".to_owned(),
        Cause::Password { tried: true } => "encrypted, and no known password fits".to_owned(),
        Cause::Encrypted { how } => encryption(*how).to_owned(),
        Cause::Damaged { what } | Cause::Unsupported { what } | Cause::BuiltIn { what } => {
            what.clone()
        }
        Cause::Limit {
            limit,
            found,
            reader,
        } => limit_text(*limit, *found, reader.as_ref()),
        Cause::TimedOut {
            reader: Reader::FileSystem,
            limit,
        } => format!(
            "the file system did not answer within {} s ({})",
            limit.in_force as f64 / 1000.0,
            setting_text(*limit)
        ),
        Cause::TimedOut { reader, limit } => {
            let seconds = limit.in_force as f64 / 1000.0;
            let setting = setting_text(*limit);
            format!(
                "{} was not done after {seconds} s ({setting})",
                subject(reader)
            )
        }
        Cause::Missing { what, helper } if what == helper => format!("{what} is not installed"),
        Cause::Missing { what, helper } => format!("{helper} needs {what}, which is not installed"),
        Cause::Crashed { reader, how, said } => {
            with_words(format!("{} {}", subject(reader), crash(how)), said)
        }
        Cause::Refused { helper, said } => {
            with_words(format!("{helper} cannot read the file"), said)
        }
        Cause::System {
            operation,
            errno,
            said,
        } => system(operation, &words(*errno, said)),
        Cause::Stopped => "the run was stopped before the end".to_owned(),
        Cause::Other { text, .. } => text.clone(),
    }
}

fn encryption(how: Encryption) -> &'static str {
    match how {
        Encryption::UnknownMethod => "encrypted by a method that ken does not know",
        Encryption::Rights => "protected by digital rights management",
        Encryption::Key => "encrypted for the key of a recipient",
        Encryption::Parts => "the parts of the file are encrypted one by one",
    }
}

fn limit_text(limit: Limit, found: Option<u64>, reader: Option<&Reader>) -> String {
    let name = setting_text(limit);
    let value = limit.in_force;
    let most = format!("{} = {value}{}", limit.setting.name(), lowered(limit));
    let who = |other: &str| reader.map_or_else(|| other.to_owned(), subject);
    match limit.setting {
        Setting::MaxFileBytes => match found {
            Some(found) => format!("the file has {found} bytes, more than {most}"),
            None => format!("the file is larger than {most}"),
        },
        Setting::MaxTextBytes => {
            format!("only the first {value} bytes of text are searchable ({name})")
        }
        Setting::MaxPages => format!("only the first {value} pages are searchable ({name})"),
        Setting::MaxMemberBytes if reader.is_some() => {
            format!("{} printed more bytes than {most}", who(""))
        }
        Setting::MaxMemberBytes => format!("the member has more bytes than {most}"),
        Setting::MaxDepth => format!("containers are nested deeper than {most}"),
        Setting::MaxMembers => format!("the container has more members than {most}"),
        Setting::MaxExpandedBytes => format!("the content expands to more bytes than {most}"),
        Setting::MaxExpansion => format!("the content expands by a larger factor than {most}"),
        Setting::WorkerMemory => format!("{} needs more memory than {most}", who("the parser")),
        Setting::FileSeconds | Setting::HelperSeconds => {
            format!("{} takes too long ({name})", who("the parser"))
        }
    }
}

/// Returns the name of a limit's setting, and what lowered the limit.
fn setting_text(limit: Limit) -> String {
    match limit.set_by {
        SetBy::Helper => "the time in the row of the helper".to_owned(),
        _ => format!("{}{}", limit.setting.name(), lowered(limit)),
    }
}

fn lowered(limit: Limit) -> String {
    match limit.set_by {
        SetBy::Memory(bytes) => format!(", lowered by --memory {}", mebibytes(bytes)),
        SetBy::Machine(_) => ", lowered to what the machine has for each worker".to_owned(),
        SetBy::Settings | SetBy::Helper => String::new(),
    }
}

/// Returns an amount of memory in the form that `--memory` accepts.
pub fn mebibytes(bytes: u64) -> String {
    format!("{}M", bytes >> 20)
}

fn subject(reader: &Reader) -> String {
    match reader {
        Reader::Parser(format) => format!("the {format} parser"),
        Reader::Helper(name) => name.clone(),
        Reader::FileSystem => "the file system".to_owned(),
    }
}

fn crash(how: &Crash) -> String {
    match how {
        Crash::Panicked => "crashed".to_owned(),
        Crash::Exit(status) => format!("ended with exit status {status}"),
        Crash::Signal(signal) => format!("crashed by signal {}", signal_name(*signal)),
        Crash::Forbidden => "tried what the sandbox forbids".to_owned(),
        Crash::Killed => "was killed from outside; the system may lack memory".to_owned(),
        Crash::Ended => "ended before its answer".to_owned(),
        Crash::Nonsense(what) => format!("broke the protocol: {what}"),
    }
}

/// Returns the name of a signal if it is one of a crash, else its number.
fn signal_name(signal: i32) -> String {
    let name = match signal {
        4 => "ILL",
        6 => "ABRT",
        7 => "BUS",
        8 => "FPE",
        11 => "SEGV",
        other => return other.to_string(),
    };
    name.to_owned()
}

fn with_words(text: String, said: &str) -> String {
    match said {
        "" => text,
        said => format!("{text}: {said}"),
    }
}

fn system(operation: &Operation, words: &str) -> String {
    match operation {
        Operation::Read => words.to_owned(),
        Operation::ReadAttributes => format!("the extended attributes cannot be read: {words}"),
        Operation::ReadSidecar => format!("the sidecar cannot be read: {words}"),
        Operation::StartWorker => format!("no worker can be started: {words}"),
        Operation::AskWorker => format!("the file cannot be handed to a worker: {words}"),
        Operation::RunHelper(name) => format!("{name} cannot be run: {words}"),
    }
}

/// Returns the words of a system error, without the path, which every message has already.
pub fn system_words(error: &io::Error) -> String {
    words(errno(error), &error.to_string())
}

/// Returns the system's words for an error number; `said` are the words for an error without a number.
fn words(errno: Option<i32>, said: &str) -> String {
    let Some(errno) = errno else {
        return said.to_lowercase();
    };
    let text = io::Error::from_raw_os_error(errno).to_string();
    let end = text.rfind(" (os error").unwrap_or(text.len());
    text[..end].to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(setting: Setting, in_force: u64) -> Limit {
        Limit {
            setting,
            in_force,
            set_by: SetBy::Settings,
        }
    }

    #[test]
    fn every_cause_has_its_words() {
        let pdf = || Reader::Parser("PDF".into());
        let gs = || Reader::Helper("gs".into());
        let crashed = |reader, how, said: &str| Cause::Crashed {
            reader,
            how,
            said: said.into(),
        };
        let reached = |setting, reader| Cause::Limit {
            limit: limit(setting, 5),
            found: None,
            reader,
        };
        let system = |operation, errno| Cause::System {
            operation,
            errno,
            said: "Odd".into(),
        };
        for (cause, text) in [
            (
                Cause::Password { tried: false },
                "encrypted, and no password is known",
            ),
            (
                Cause::Password { tried: true },
                "encrypted, and no known password fits",
            ),
            (
                Cause::Encrypted {
                    how: Encryption::Rights,
                },
                "protected by digital rights management",
            ),
            (
                Cause::Damaged {
                    what: "the header is cut off".into(),
                },
                "the header is cut off",
            ),
            (
                Cause::Limit {
                    limit: limit(Setting::MaxFileBytes, 200),
                    found: Some(300),
                    reader: None,
                },
                "the file has 300 bytes, more than extract.max_file_bytes = 200",
            ),
            (
                Cause::limit(Limit {
                    set_by: SetBy::Memory(64 << 20),
                    ..limit(Setting::MaxTextBytes, 4 << 20)
                }),
                "only the first 4194304 bytes of text are searchable \
                 (extract.max_text_bytes, lowered by --memory 64M)",
            ),
            (
                reached(Setting::MaxPages, None),
                "only the first 5 pages are searchable (extract.max_pages)",
            ),
            (
                reached(Setting::MaxMemberBytes, None),
                "the member has more bytes than extract.max_member_bytes = 5",
            ),
            (
                reached(Setting::MaxMemberBytes, Some(gs())),
                "gs printed more bytes than extract.max_member_bytes = 5",
            ),
            (
                reached(Setting::MaxDepth, None),
                "containers are nested deeper than extract.max_depth = 5",
            ),
            (
                reached(Setting::WorkerMemory, Some(pdf())),
                "the PDF parser needs more memory than extract.worker_memory = 5",
            ),
            (
                Cause::TimedOut {
                    reader: pdf(),
                    limit: limit(Setting::FileSeconds, 300),
                },
                "the PDF parser was not done after 0.3 s (extract.file_seconds)",
            ),
            (
                Cause::Missing {
                    what: "gs".into(),
                    helper: "gs".into(),
                },
                "gs is not installed",
            ),
            (
                Cause::Missing {
                    what: "python3:lxml".into(),
                    helper: "rclx.py".into(),
                },
                "rclx.py needs python3:lxml, which is not installed",
            ),
            (
                crashed(pdf(), Crash::Panicked, "oh"),
                "the PDF parser crashed: oh",
            ),
            (
                crashed(pdf(), Crash::Signal(11), ""),
                "the PDF parser crashed by signal SEGV",
            ),
            (
                crashed(gs(), Crash::Exit(1), "no"),
                "gs ended with exit status 1: no",
            ),
            (
                Cause::Refused {
                    helper: "gs".into(),
                    said: String::new(),
                },
                "gs cannot read the file",
            ),
            (system(Operation::Read, Some(13)), "permission denied"),
            (
                system(Operation::ReadSidecar, Some(5)),
                "the sidecar cannot be read: input/output error",
            ),
            (
                system(Operation::StartWorker, None),
                "no worker can be started: odd",
            ),
            (Cause::Stopped, "the run was stopped before the end"),
        ] {
            assert_eq!(cause_text(&cause), text);
        }
    }

    #[test]
    fn system_errors_do_not_repeat_the_path() {
        let error = io::Error::new(io::ErrorKind::NotFound, "failed to open file `/none`");
        assert_eq!(system_words(&error), "no such file or directory");
        assert_eq!(system_words(&io::Error::other("Odd")), "odd");
    }
}

//! Remedies: what the user can do about a failure. Only the cause decides.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use ken_core::{Cause, Limit, Operation, Reader, SetBy, escape_bytes};
use ken_extract::helper::packages;
use ken_search::service::mebibytes;

/// The number of the system error "permission denied".
const DENIED: i32 = 13;

/// Returns the remedy for a failure of the file at a path.
pub(crate) fn remedy(cause: &Cause, path: &Path) -> String {
    let text = match cause {
        Cause::Password { .. } => {
            "add its password to the file that passwords.file names in the settings, then run ken index"
        }
        Cause::Encrypted { .. } => "open it in its own program and save a copy without encryption",
        Cause::Damaged { .. } | Cause::Refused { .. } => {
            "if its own program can open it, report a bug in ken"
        }
        Cause::Unsupported { .. } => "open it in its own program and save it in another form",
        Cause::TimedOut {
            reader: Reader::FileSystem,
            ..
        } => "when its server answers, run ken index again",
        Cause::Limit { limit, .. } | Cause::TimedOut { limit, .. } => return raise(*limit),
        Cause::BuiltIn { .. } => "none: the limit is built into ken",
        Cause::Missing { what, .. } => return install(what),
        Cause::Crashed {
            reader: Reader::Helper(name),
            ..
        } => return format!("run {name} on the file by hand; if that works, report a bug in ken"),
        Cause::Crashed { .. } => "report a bug in ken, with the file if you may share it",
        Cause::System {
            operation: Operation::Read,
            errno: Some(DENIED),
            ..
        } => return permit(path, owner(path), owner(Path::new("/proc/self"))),
        Cause::System {
            operation: Operation::ReadSidecar,
            errno: Some(DENIED),
            ..
        } => "make its sidecar readable, then run ken index",
        Cause::System {
            operation: Operation::Read | Operation::ReadAttributes | Operation::ReadSidecar,
            ..
        } => "check the disk, then run ken index --retry-failed",
        Cause::System { .. } | Cause::Stopped => "run ken index again",
        Cause::Other { .. } => "run ken index --retry-failed, which finds the cause",
    };
    text.to_owned()
}

fn raise(limit: Limit) -> String {
    match limit.set_by {
        SetBy::Settings => format!("raise {}, then run ken index", limit.setting.name()),
        SetBy::Memory(bytes) => format!(
            "raise --memory (or memory in the settings) above {}, then run ken index",
            mebibytes(bytes)
        ),
        SetBy::Machine(_) => "run ken index with fewer --threads".to_owned(),
        SetBy::Helper => {
            "raise the time in the row of the helper, then run ken index --retry-failed".to_owned()
        }
    }
}

/// Returns the number of the user who owns a file.
pub(crate) fn owner(path: &Path) -> Option<u32> {
    fs_err::metadata(path).ok().map(|metadata| metadata.uid())
}

/// Returns how to make a file readable: only its owner, or that of a folder above, can permit it.
fn permit(path: &Path, owner: Option<u32>, me: Option<u32>) -> String {
    let who = match owner {
        None => return "a folder above it is closed: ask its owner to let you in".to_owned(),
        owner if owner == me => {
            let path = escape_bytes(path.as_os_str().as_encoded_bytes());
            return format!("run chmod u+r {}, then ken index", quoted(&path));
        }
        Some(0) => "root".to_owned(),
        Some(number) => format!("the user with number {number}"),
    };
    format!("it belongs to {who}: ask for permission, or leave it out with .kenignore")
}

/// Returns how to install a helper.
pub(crate) fn install(what: &str) -> String {
    match &*packages(what) {
        [] => format!("install {what}, then run ken index"),
        [package] => format!("apt-get install {package}, then run ken index"),
        several => format!(
            "apt-get install one of {}, then run ken index",
            several.join(", ")
        ),
    }
}

/// Returns a word quoted for a shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use ken_core::{Crash, Encryption, Reason, Setting};

    use super::*;

    #[test]
    fn every_cause_has_its_remedy() {
        let path = Path::new("/no/such/file");
        let by = |set_by| {
            Cause::limit(Limit {
                setting: Setting::MaxTextBytes,
                in_force: 4 << 20,
                set_by,
            })
        };
        let missing = |what: &str| Cause::Missing {
            what: what.into(),
            helper: "helper".into(),
        };
        let crashed = |reader| Cause::Crashed {
            reader,
            how: Crash::Ended,
            said: String::new(),
        };
        let system = |operation, errno| Cause::System {
            operation,
            errno: Some(errno),
            said: String::new(),
        };
        let other = Cause::Other {
            reason: Reason::Encrypted,
            text: "no password is known".into(),
        };
        for (cause, words) in [
            (Cause::Password { tried: true }, "passwords.file"),
            (
                Cause::Encrypted {
                    how: Encryption::Key,
                },
                "a copy without encryption",
            ),
            (
                Cause::Damaged {
                    what: String::new(),
                },
                "report a bug in ken",
            ),
            (
                Cause::Unsupported {
                    what: String::new(),
                },
                "in another form",
            ),
            (
                by(SetBy::Settings),
                "raise extract.max_text_bytes, then run ken index",
            ),
            (
                by(SetBy::Memory(64 << 20)),
                "raise --memory (or memory in the settings) above 64M",
            ),
            (by(SetBy::Machine(1 << 30)), "with fewer --threads"),
            (by(SetBy::Helper), "in the row of the helper"),
            (
                Cause::BuiltIn {
                    what: String::new(),
                },
                "built into ken",
            ),
            (
                missing("python3:py7zr or python3:pylzma"),
                "apt-get install python3-py7zr, then run ken index",
            ),
            (missing("odd-tool"), "install odd-tool, then run ken index"),
            (
                crashed(Reader::Helper("gs".into())),
                "run gs on the file by hand",
            ),
            (
                crashed(Reader::Parser("PDF".into())),
                "report a bug in ken, with the file",
            ),
            (
                system(Operation::Read, DENIED),
                "a folder above it is closed",
            ),
            (system(Operation::Read, 5), "check the disk"),
            (system(Operation::StartWorker, 11), "run ken index again"),
            (other, "--retry-failed"),
        ] {
            let text = remedy(&cause, path);
            assert!(text.contains(words), "{text}");
        }
    }

    #[test]
    fn only_the_owner_is_advised_to_change_a_mode() {
        let path = Path::new("/a/it's.pdf");
        let own = permit(path, Some(7), Some(7));
        assert_eq!(own, r"run chmod u+r '/a/it'\''s.pdf', then ken index");
        assert!(permit(path, Some(0), Some(7)).starts_with("it belongs to root:"));
        assert!(
            permit(path, Some(8), Some(7)).starts_with("it belongs to the user with number 8:")
        );
    }
}

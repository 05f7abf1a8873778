//! What a user can do about a file that could not be read.

use std::path::Path;

use ken_core::{Failure, Reason, escape_bytes};
use ken_extract::helper::{missing_in, packages};

use crate::config::ExtractSettings;

/// Returns what can be done about a failure.
pub(crate) fn remedy(failure: &Failure, path: &Path) -> String {
    match failure.reason {
        // What passwords are tried on says that it knows none.
        Reason::Encrypted if !failure.message.contains("password is known") => {
            "open it in its own program and keep a copy without password".to_owned()
        }
        Reason::Encrypted => {
            "put its password into passwords.file of the settings, then ken index".to_owned()
        }
        Reason::Malformed => {
            "open it in its own program; if that reads it, report it as an error of ken".to_owned()
        }
        Reason::Limit => match ExtractSettings::named_in(&failure.message) {
            Some(setting) => {
                format!("raise extract.{setting}, then ken index")
            }
            None => "none: the limit is built in".to_owned(),
        },
        Reason::TimedOut if failure.message.contains("helpers.seconds") => {
            "raise helpers.seconds, then ken index".to_owned()
        }
        Reason::TimedOut => "raise extract.file_seconds, then ken index".to_owned(),
        Reason::Missing => match missing_in(&failure.message) {
            Some(what) => install(what),
            None => "install it, then ken index".to_owned(),
        },
        Reason::Crashed if failure.message.contains(": it ") => {
            "start the program by hand on the file; if that works, report it as an error of ken"
                .to_owned()
        }
        Reason::Crashed => {
            "report it as an error of ken, with the file if you may show it".to_owned()
        }
        Reason::Unreadable if failure.message.contains("permission denied") => {
            let path = escape_bytes(path.as_os_str().as_encoded_bytes()).into_owned();
            format!("chmod u+r {}, then ken index", quoted(&path))
        }
        Reason::Unreadable => "check the disk, then ken index --retry-failed".to_owned(),
    }
}

/// Returns how a helper gets onto the machine.
pub(crate) fn install(what: &str) -> String {
    match &*packages(what) {
        [] => format!("install {what}, then ken index"),
        [package] => format!("apt-get install {package}, then ken index"),
        several => format!(
            "apt-get install one of {}, then ken index",
            several.join(", ")
        ),
    }
}

/// Returns a word as a shell reads it.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_name_what_is_to_be_changed() {
        let of = |reason, message: &str| {
            remedy(&Failure::new(reason, message), Path::new("/a/it's.pdf"))
        };
        let helper = of(Reason::Crashed, "gs: it ended with exit status: 1");
        assert!(helper.starts_with("start the program"), "{helper}");
        let parser = of(Reason::Crashed, "the PDF parser crashed");
        assert!(parser.starts_with("report it"), "{parser}");
        let limit = of(Reason::Limit, "300 bytes, more than max_file_bytes = 200");
        assert!(limit.contains("extract.max_file_bytes,"), "{limit}");
        let built_in = of(Reason::Limit, "too many nested tables");
        assert!(built_in.starts_with("none"), "{built_in}");
        let missing = of(
            Reason::Missing,
            "not installed: python3:py7zr or python3:pylzma",
        );
        assert_eq!(missing, "apt-get install python3-py7zr, then ken index");
        let unknown = of(Reason::Missing, "not installed: odd-tool");
        assert_eq!(unknown, "install odd-tool, then ken index");
        let archive = of(Reason::Encrypted, "encrypted, no password is known");
        assert!(archive.contains("passwords.file"), "{archive}");
        let office = of(Reason::Encrypted, "the file is encrypted with a password");
        assert!(office.contains("copy without password"), "{office}");
        let denied = of(Reason::Unreadable, "permission denied");
        assert!(denied.contains(r"chmod u+r '/a/it'\''s.pdf'"), "{denied}");
    }
}

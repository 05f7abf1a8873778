//! `compose` of mu 1.8: what mu4e needs to reply to, forward or edit a message.

use std::path::{Path, PathBuf};

use ken_mail::MimePart;

use super::error::ErrorKind;
use super::mail::{parts, read_file};
use super::plist::Plist;
use super::{Error, Sexp};

/// The most attachments of a forwarded message.
const MAX_ATTACHMENTS: usize = 1_000;

/// The kinds of new messages.
pub(super) const KINDS: [&str; 5] = ["new", "reply", "forward", "edit", "resend"];

/// Saves the attachments of a message below a new folder, and returns their description, which is empty if there are
/// none. Names may be equal, so each attachment has a folder of its own.
pub(super) fn attachments(path: &Path, temporary: &Path) -> Result<Vec<Sexp>, Error> {
    let message = read_file(path)?;
    let mut attached = parts(&message);
    attached.retain(|part| part.is_file);
    if attached.is_empty() {
        return Ok(Vec::new());
    }
    let folder = new_folder(temporary)?;
    let mut include = Vec::new();
    for (number, part) in attached.iter().take(MAX_ATTACHMENTS).enumerate() {
        let name = file_name(part, number);
        let own = folder.join(number.to_string());
        make_private(&own)?;
        let file = own.join(&name);
        ken_private::write(&file, &part.content.decode())?;
        let mut one = Plist::default();
        one.add(":description", Sexp::string(&name));
        one.add(":file-name", Sexp::path(&file));
        one.add(":mime-type", Sexp::string(&part.media_type));
        include.push(Sexp::List(one.0));
    }
    let mut list = Plist::default();
    list.add(":include", Sexp::List(include));
    list.add(":cache-path", Sexp::path(&folder));
    Ok(list.0)
}

/// Returns the file name for a part: its own name, or one made from its number.
pub fn file_name(part: &MimePart<'_>, number: usize) -> String {
    let name = part.name.replace(['/', '\0'], "-");
    match name.as_str() {
        "" | "." | ".." => format!("part-{}", number + 1),
        _ => name,
    }
}

fn new_folder(temporary: &Path) -> Result<PathBuf, Error> {
    for number in 0..10_000 {
        let id = std::process::id();
        let folder = temporary.join(format!("mu-cache-{id}-{number}"));
        match make_private(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
    }
    let message = format!("cannot make a folder in \"{}\"", temporary.display());
    Err(Error::new(ErrorKind::File, message))
}

fn make_private(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().mode(0o700).create(folder)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn saved_attachments_are_private() {
        let folder = tempfile::tempdir().unwrap();
        let message = folder.path().join("message");
        let text = "From: a@example.org\nContent-Type: text/x-log; name=a.log\n\
                    Content-Disposition: attachment; filename=a.log\n\nsecret\n";
        fs_err::write(&message, text).unwrap();
        assert!(!attachments(&message, folder.path()).unwrap().is_empty());
        let cache = format!("mu-cache-{}-0", std::process::id());
        let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
        let own = folder.path().join(cache).join("0");
        assert_eq!((mode(&own), mode(&own.join("a.log"))), (0o700, 0o600));
    }
}

//! Requests about one message: showing, changing and answering it.

use std::io::Write;
use std::path::{Path, PathBuf};

use ken_mail::maildir::{Flags, Target, make, relocate};

use super::super::compose;
use super::super::error::ErrorKind;
use super::super::labels::labels_change;
use super::super::plist::Plist;
use super::super::request::Request;
use super::super::{Error, Mail, Sexp};
use super::{Answered, Failed, Session};

/// Flags that duplicates of a message share.
const SHARED_FLAGS: &str = "SRPNu";

impl<W: Write> Session<W> {
    pub(super) fn view(&mut self, request: &Request) -> Answered {
        let path = self.meant(request)?;
        let mut mail = self.store.mail(&path)?;
        if request.flag(":mark-as-read") && Flags::of_path(&path).is_unread() {
            let target = Target {
                flags: Some("+S-N"),
                ..Target::default()
            };
            // A message that cannot be marked is still shown.
            if let Ok(moved) = self.apply(&path, &target) {
                mail.lie_at(moved);
                if self.version.is_new {
                    self.change_duplicates(&mail, "+S-N")?;
                } else {
                    self.update(&mail, &[])?;
                }
            }
        }
        let mut list = Plist::default();
        list.add(":view", Sexp::List(self.plist(&mail)));
        Ok(self.send(list)?)
    }

    pub(super) fn relocate(&mut self, request: &Request) -> Answered {
        let flags = request.text(":flags")?;
        let maildir = match request.text(":maildir")? {
            Some(maildir) => Some(self.store.folder(&maildir)?),
            None => None,
        };
        let target = Target {
            maildir: maildir.as_deref(),
            flags: flags.as_deref(),
            rename: request.flag(":rename"),
        };
        let files = match request.text(":msgid")? {
            Some(id) if request.number(":docid")?.is_none() => match self.store.with_id(&id)? {
                // The message that is answered may be missing.
                files if files.is_empty() && self.version.is_new => return Ok(()),
                files if files.is_empty() => vec![self.store.file_with_id(&id)?],
                files => files,
            },
            _ => vec![self.meant(request)?],
        };
        for path in files {
            self.move_one(&path, &target, request.flag(":no-view"))?;
        }
        Ok(())
    }

    fn move_one(&mut self, path: &Path, target: &Target<'_>, no_view: bool) -> Answered {
        let moved = self.apply(path, target)?;
        let mail = self.store.mail(&moved)?;
        let mut notes = Vec::new();
        if target.maildir.is_some() {
            notes.push(":move");
        }
        if !no_view {
            notes.push(":maybe-view");
        }
        self.update(&mail, &notes)?;
        match target.flags {
            Some(change) if self.version.is_new && target.maildir.is_none() => {
                self.change_duplicates(&mail, &shared_flags(change))
            }
            _ => Ok(()),
        }
    }

    /// Moves a message and notes its new path.
    fn apply(&mut self, path: &Path, target: &Target<'_>) -> Result<PathBuf, Failed> {
        let moved = relocate(path, target)?;
        self.docids.moved(path, &moved);
        self.store.moved(path, Some(&moved));
        Ok(moved)
    }

    /// Changes the flags of the duplicates of a message.
    fn change_duplicates(&mut self, mail: &Mail, change: &str) -> Answered {
        if change.is_empty() {
            return Ok(());
        }
        for path in self.store.with_id(&mail.id)? {
            let target = Target {
                flags: Some(change),
                ..Target::default()
            };
            if path == mail.path || target.is_reached(&path) {
                continue;
            }
            if let Ok(moved) = self.apply(&path, &target) {
                let mail = self.store.mail(&moved)?;
                self.update(&mail, &[])?;
            }
        }
        Ok(())
    }

    fn update(&mut self, mail: &Mail, notes: &[&str]) -> std::io::Result<()> {
        let mut list = Plist::default();
        list.add(":update", Sexp::List(self.plist(mail)));
        for note in notes {
            list.add(note, Sexp::flag(true));
        }
        self.send(list)
    }

    /// Returns the path of the message that a request names.
    fn meant(&mut self, request: &Request) -> Result<PathBuf, Error> {
        let docid = request.number(":docid")?;
        let id = request.text(":msgid")?;
        let path = request.path(":path")?;
        match (docid, id, path) {
            (Some(docid), None, None) => self.numbered(docid),
            (None, Some(id), None) => self.store.file_with_id(&id),
            (None, None, Some(path)) => Ok(path),
            _ => {
                let message = "precisely one of docid and msgid must be specified";
                Err(Error::new(ErrorKind::Argument, message))
            }
        }
    }

    /// Returns the path of the message with a number.
    fn numbered(&mut self, docid: i64) -> Result<PathBuf, Error> {
        let not_found = || Error::new(ErrorKind::NotFound, "could not get message from store");
        let (path, id) = self.docids.get(docid).ok_or_else(not_found)?;
        let (path, id) = (path.to_path_buf(), id.to_owned());
        let now = self.store.locate(&path, &id)?;
        self.docids.moved(&path, &now);
        Ok(now)
    }

    pub(super) fn add(&mut self, request: &Request) -> Answered {
        let (mail, docid) = self.taken_in(request)?;
        let mut list = Plist::default();
        list.add(":info", Sexp::symbol("add"));
        list.add(":path", Sexp::path(&mail.path));
        list.add(":docid", Sexp::Number(docid));
        self.send(list)?;
        Ok(self.update(&mail, &[])?)
    }

    pub(super) fn sent(&mut self, request: &Request) -> Answered {
        let (mail, docid) = self.taken_in(request)?;
        let mut list = Plist::default();
        list.add(":sent", Sexp::flag(true));
        list.add(":path", Sexp::path(&mail.path));
        list.add(":docid", Sexp::Number(docid));
        Ok(self.send(list)?)
    }

    /// Adds a message that another program wrote to the index.
    fn taken_in(&mut self, request: &Request) -> Result<(Mail, i64), Error> {
        let path = request.path(":path")?;
        let path = request.required(":path", path)?;
        let path = self.store.resolved(&path)?;
        let mail = self.store.mail(&path)?;
        self.store.added(&path);
        let docid = self.docids.of(&mail);
        Ok((mail, docid))
    }

    pub(super) fn remove(&mut self, request: &Request) -> Answered {
        let docid = request.number(":docid")?;
        let path = match request.path(":path")? {
            Some(path) if docid.is_none() => self.store.resolved(&path)?,
            _ => self.numbered(request.required(":docid", docid)?)?,
        };
        match fs_err::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::from(error).into());
            }
            _ => {}
        }
        self.docids.removed(&path);
        self.store.moved(&path, None);
        let mut list = Plist::default();
        list.add(":remove", Sexp::Number(docid.unwrap_or(0)));
        Ok(self.send(list)?)
    }

    pub(super) fn label(&mut self, request: &Request) -> Answered {
        let labels = request.text(":labels")?;
        let labels = request.required(":labels", labels)?;
        let path = self.meant(request)?;
        let mut mail = self.store.mail(&path)?;
        let change = labels_change(&labels, &mail)?;
        self.store.label(std::slice::from_ref(&change))?;
        for (tag, is_given) in change.tags {
            mail.tags.retain(|known| *known != tag);
            mail.tags.extend(is_given.then_some(tag));
        }
        Ok(self.update(&mail, &[":maybe-view"])?)
    }

    pub(super) fn mkdir(&mut self, request: &Request) -> Answered {
        let path = request.path(":path")?;
        let path = request.required(":path", path)?;
        let is_below = path.starts_with(self.store.maildir())
            && !path
                .components()
                .any(|part| part == std::path::Component::ParentDir);
        if !is_below {
            let maildir = self.store.maildir().display();
            let message = format!("\"{}\" is not below \"{maildir}\"", path.display());
            return Err(Error::new(ErrorKind::Argument, message).into());
        }
        make(&path, 0o755).map_err(Error::from)?;
        if self.version.is_new && !request.flag(":update") {
            return Ok(());
        }
        let mut list = Plist::default();
        list.add(":info", Sexp::string("mkdir"));
        let message = format!("{} has been created", path.display());
        list.add(":message", Sexp::string(message));
        Ok(self.send(list)?)
    }

    pub(super) fn compose(&mut self, request: &Request) -> Answered {
        let kind = request.symbol(":type")?;
        let kind = request.required(":type", kind)?;
        if !compose::KINDS.contains(&kind.as_str()) {
            let message = format!("invalid compose type '{kind}'");
            return Err(Error::new(ErrorKind::Argument, message).into());
        }
        let mut list = Plist::default();
        list.add(":compose", Sexp::symbol(&kind));
        if kind != "new" {
            let docid = request.number(":docid")?;
            let path = self.numbered(request.required(":docid", docid)?)?;
            let mail = self.store.mail(&path)?;
            list.add(":original", Sexp::List(self.plist(&mail)));
            if kind == "forward" {
                list.0.extend(compose::attachments(&path, &self.temporary)?);
            }
        }
        Ok(self.send(list)?)
    }
}

/// Returns the part of a change of flags that also applies to duplicates.
pub fn shared_flags(change: &str) -> String {
    let is_shared = |pair: &&[u8]| match pair {
        [b'+' | b'-', letter] => SHARED_FLAGS.as_bytes().contains(letter),
        _ => false,
    };
    let pairs = change.as_bytes().chunks(2).filter(is_shared);
    String::from_utf8_lossy(&pairs.flatten().copied().collect::<Vec<_>>()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_do_not_become_drafts_or_trash() {
        assert_eq!(shared_flags("+S-u-N"), "+S-u-N");
        assert_eq!(shared_flags("+T+R-F"), "+R");
        assert_eq!(shared_flags("FS"), "");
    }
}

//! Metadata from outside a file's bytes, which are added to its document: extended attributes and
//! its sidecar. The write-ahead log of a database goes to its extractor instead.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ken_core::{Cause, Document, Failure, Field, Kind, Operation, SidecarStamp, Value, may_pass};
use ken_extract::beside;
use ken_walk::Sidecar;
use rustix::fs::{fgetxattr, flistxattr};
use rustix::io::Errno;

use crate::open;

/// The kernel's limit on the names of attributes and on a value.
const MAX_ATTRIBUTE_BYTES: usize = 64 << 10;

/// Metadata from outside a file's bytes.
#[derive(Debug, Default)]
pub(crate) struct Attached {
    attributes: Vec<(Field, Value)>,
    sidecar: Vec<(Field, Value)>,
    /// Whether the sidecar may belong to several files; if so, it counts for pictures and the like
    /// only.
    is_shared: bool,
    failure: Option<Failure>,
    /// Whether the failure may pass: too many files were open.
    pub(crate) try_again: bool,
    /// The stamp of the sidecar that was read.
    pub(crate) stamp: Option<SidecarStamp>,
    /// The write-ahead log of a database, and its size: a sidecar that the extractor reads.
    pub(crate) log: Option<(File, u64)>,
}

/// Returns whether what is in an open sidecar, at its path, may be shown to those who may read the file.
pub(crate) type MayJoin<'a> = dyn Fn(&File, &Path) -> bool + 'a;

impl Attached {
    /// Reads the attributes of an open file, and its sidecar if the walk found one and it `may_join` the file.
    pub(crate) fn read(
        file: &File,
        path: &Path,
        found: Option<SidecarStamp>,
        may_join: &MayJoin<'_>,
    ) -> Self {
        let mut attached = Self::default();
        if let Err(error) = attached.read_attributes(file) {
            attached.fail(Operation::ReadAttributes, &error.into());
        }
        if found.is_some()
            && let Err(error) = attached.read_sidecar(path, may_join)
        {
            // The stamp of the walk: the sidecar is not tried again until it changes, unless the
            // cause may pass.
            attached.stamp = found;
            attached.fail(Operation::ReadSidecar, &error);
        }
        attached
    }

    fn fail(&mut self, operation: Operation, error: &io::Error) {
        self.failure = Some(Failure::new(Cause::system(operation, error)));
        // A permission is in the stamp of the sidecar; the file is not read in each run until it changes.
        self.try_again |= may_pass(error) && error.kind() != io::ErrorKind::PermissionDenied;
    }

    /// Reads the extended attributes; takes one system call for the usual file, which has none.
    fn read_attributes(&mut self, file: &File) -> Result<(), Errno> {
        let mut small = [0; 256];
        let mut large = Vec::new();
        let names = match flistxattr(file, &mut small) {
            Ok(n_bytes) => &small[..n_bytes],
            Err(Errno::NOTSUP) => return Ok(()),
            Err(Errno::RANGE) => {
                large.resize(MAX_ATTRIBUTE_BYTES, 0);
                let n_bytes = flistxattr(file, &mut *large)?;
                &large[..n_bytes]
            }
            Err(error) => return Err(error),
        };
        for name in names.split(|&byte| byte == 0) {
            let Some(name) = std::str::from_utf8(name)
                .ok()
                .filter(|name| name.starts_with("user."))
            else {
                continue;
            };
            let mut value = vec![0; MAX_ATTRIBUTE_BYTES];
            match fgetxattr(file, name, &mut *value) {
                Ok(n_bytes) => self
                    .attributes
                    .extend(beside::attribute(name, &value[..n_bytes])),
                // The attribute was removed after the names were read.
                Err(Errno::NODATA) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn read_sidecar(&mut self, path: &Path, may_join: &MayJoin<'_>) -> io::Result<()> {
        let name = path.file_name().unwrap_or_default().as_bytes();
        for (name, kind) in ken_walk::sidecar_names(name) {
            let path = path.with_file_name(std::ffi::OsStr::from_bytes(&name));
            let Some((file, stamp)) = open::open_itself(&path)? else {
                continue;
            };
            self.stamp = Some(ken_walk::sidecar_stamp(&stamp));
            if !may_join(&file, &path) {
                break;
            }
            if kind == Sidecar::Log {
                self.log = Some((file, stamp.size));
                break;
            }
            self.is_shared = kind == Sidecar::Shared;
            let mut packet = Vec::new();
            file.take(beside::MAX_SIDECAR_BYTES as u64)
                .read_to_end(&mut packet)?;
            self.sidecar = beside::sidecar(&packet);
            break;
        }
        Ok(())
    }

    /// Adds the metadata to the file's own document.
    pub(crate) fn join(self, document: &mut Document) {
        let is_media = matches!(document.kind, Kind::Image | Kind::Audio | Kind::Video);
        let sidecar = match self.is_shared && !is_media {
            true => Vec::new(),
            false => self.sidecar,
        };
        for (field, value) in self.attributes.into_iter().chain(sidecar) {
            match value {
                Value::Text(text) => document.join_text(field, &text),
                Value::Number(number) if document.number(field).is_none() => {
                    document.add_number(field, number);
                }
                Value::Number(_) => {}
            }
        }
        document.failure = document.failure.take().or(self.failure);
    }
}

#[cfg(test)]
mod tests {
    use ken_core::Ipath;
    use rustix::fs::{XattrFlags, fsetxattr};

    use super::*;
    use crate::needs;

    fn joined(file: &File, path: &Path) -> Document {
        let mut document = Document::new(Ipath::root(), "text/plain", Kind::Document);
        Attached::read(file, path, None, &|_, _| true).join(&mut document);
        document
    }

    #[test]
    fn attributes_are_joined() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let file = fs_err::File::create(&path).unwrap().into_parts().0;
        let set =
            |name: &str, value: &str| fsetxattr(&file, name, value.as_bytes(), XattrFlags::empty());
        assert_eq!(joined(&file, &path).fields, []);
        let tagged = set("user.xdg.tags", "tax,2026");
        // Some temporary file systems have no attributes.
        if !needs::met("xattr", tagged != Err(Errno::NOTSUP)) {
            return;
        }
        set("user.unknown", &"x".repeat(2000)).unwrap();
        let keyword = |text: &str| (Field::Keywords, Value::Text(text.to_owned()));
        let document = joined(&file, &path);
        assert_eq!(document.fields, [keyword("tax"), keyword("2026")]);
        assert_eq!(document.failure, None);
        // More names than fit into the first buffer.
        for number in 0..40 {
            set(&format!("user.number.{number}"), "x").unwrap();
        }
        set("user.author", "Anna").unwrap();
        let author = joined(&file, &path);
        assert_eq!(author.text(Field::Author), Some("Anna"));
    }

    #[test]
    fn a_sidecar_that_cannot_be_read_is_a_failure_beside_the_rest() {
        let mut beside = Attached::default();
        beside.fail(Operation::ReadSidecar, &Errno::MFILE.into());
        assert!(beside.try_again, "the next run may have files left");
        let mut beside = Attached::default();
        beside.fail(Operation::ReadSidecar, &Errno::ACCESS.into());
        assert!(!beside.try_again);
        let mut document = Document::new(Ipath::root(), "image/jpeg", Kind::Image);
        beside.join(&mut document);
        let failure = document.failure.unwrap();
        let denied = Cause::system(Operation::ReadSidecar, &Errno::ACCESS.into());
        assert_eq!(failure.cause, denied);
    }
}

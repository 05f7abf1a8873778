//! What the names in a folder reveal: markers that leave the folder out, mail, sidecars.

use std::collections::HashSet;

use rustix::fs::FileType;

use crate::listing::Listing;
use crate::mh;
use crate::sidecar::is_sidecar;

/// A folder with a file of this name is left out, with everything below it.
const LEFT_OUT: &[u8] = b".noindex";
/// A folder with a file of this name is not examined again (mu's marker for folders that never
/// change).
const HELD: &[u8] = b".noupdate";

/// What the names in a folder reveal.
#[derive(Default)]
pub(crate) struct Markers {
    /// The folder is left out.
    pub(crate) is_left_out: bool,
    /// The folder stays unchanged in the index.
    pub(crate) is_held: bool,
    /// The folder has the list of MH sequences.
    pub(crate) has_sequences: bool,
    /// The folder has `cur` and `new`, like a Maildir.
    pub(crate) is_maildir: bool,
    /// The names of sidecars.
    pub(crate) sidecars: HashSet<Vec<u8>>,
}

/// Returns whether a file of this name says something of its folder.
pub(crate) fn is_marker(name: &[u8]) -> bool {
    [LEFT_OUT, HELD, mh::LIST.as_bytes()].contains(&name)
}

impl Markers {
    /// Examines the names of a listing.
    pub(crate) fn of(listing: &Listing) -> Self {
        let mut markers = Self::default();
        let mut n_mail_folders = 0;
        for &entry in &listing.entries {
            let name = listing.name(entry);
            match name {
                LEFT_OUT => markers.is_left_out = true,
                HELD => markers.is_held = true,
                name if name == mh::LIST.as_bytes() => markers.has_sequences = true,
                b"cur" | b"new" if entry.kind != FileType::RegularFile => n_mail_folders += 1,
                name if is_sidecar(name) => _ = markers.sidecars.insert(name.to_vec()),
                _ => {}
            }
        }
        markers.is_maildir = n_mail_folders == 2;
        markers
    }
}

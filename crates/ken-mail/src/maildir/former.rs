//! The paths that a message may have had: a change of its flags renames its file.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{flags_at, folder_name};

/// The flags of the specification, in the order in which they are written.
const LETTERS: &[u8; 6] = b"DFPRST";

/// Returns whether `is_it` holds for a path that a message of a Maildir may have had: in `new` without flags, or in `cur`
/// with any of them. Letters of its own, which Dovecot uses for keywords, stay. At most 66 paths are tried.
pub fn had_path(path: &Path, is_it: &mut dyn FnMut(&Path) -> bool) -> bool {
    let Some(b"cur" | b"new") = folder_name(path) else {
        return false;
    };
    let (Some(maildir), Some(name)) = (path.parent().and_then(Path::parent), path.file_name())
    else {
        return false;
    };
    let name = name.as_bytes();
    let (base, mark, own) = match flags_at(name) {
        Some(at) => (&name[..at], &name[at..at + 3], &name[at + 3..]),
        None => (name, &b":2,"[..], &b""[..]),
    };
    let in_folder = |folder: &str| {
        let mut bytes = maildir.join(folder).into_os_string().into_encoded_bytes();
        bytes.push(b'/');
        bytes.extend_from_slice(base);
        bytes
    };
    let mut is_it = |bytes: &[u8]| is_it(Path::new(OsStr::from_bytes(bytes)));
    if is_it(&in_folder("new")) {
        return true;
    }
    let mut written = in_folder("cur");
    if is_it(&written) {
        return true;
    }
    written.extend_from_slice(mark);
    let start = written.len();
    let keywords = own.iter().filter(|letter| letter.is_ascii_lowercase());
    let keywords: Vec<u8> = keywords.copied().collect();
    (0..1_u8 << LETTERS.len()).any(|set| {
        written.truncate(start);
        let letters = LETTERS.iter().enumerate();
        let letters = letters.filter(|(bit, _)| set & 1 << bit != 0);
        written.extend(letters.map(|(_, letter)| *letter));
        written.extend_from_slice(&keywords);
        is_it(&written)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn former_names_are_tried() {
        let now = Path::new("/m/cur/1.a.host:2,FSb");
        for (former, expected) in [
            ("/m/new/1.a.host", true),
            ("/m/cur/1.a.host", true),
            ("/m/cur/1.a.host:2,b", true),
            ("/m/cur/1.a.host:2,DFPRSTb", true),
            ("/m/cur/1.a.host:2,S", false),
            ("/m/cur/2.a.host:2,S", false),
            ("/n/cur/1.a.host:2,b", false),
        ] {
            let mut n_tried = 0;
            let had = had_path(now, &mut |path| {
                n_tried += 1;
                path == Path::new(former)
            });
            assert_eq!(had, expected, "{former}");
            assert!(n_tried <= 66);
        }
        assert!(!had_path(Path::new("/m/1.a.host:2,S"), &mut |_| true));
    }
}

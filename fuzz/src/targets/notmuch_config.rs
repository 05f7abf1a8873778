//! notmuch's configuration file: what is read is written as it was.

use ken_server::notmuch::KeyFile;

pub(super) fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(file) = KeyFile::read(&text) {
        let again = KeyFile::read(&file.text());
        assert_eq!(again.as_ref(), Ok(&file));
        file.entries().count();
    }
}

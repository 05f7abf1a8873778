//! Requests to `mu server`: no panic, and what is written is read again.

use ken_server::mu::Sexp;

pub(super) fn run(bytes: &[u8]) {
    if let Ok(sexp) = Sexp::read(bytes) {
        let written = sexp.to_bytes();
        assert!(std::str::from_utf8(&written).is_ok());
        assert_eq!(Sexp::read(&written), Ok(sexp));
    }
}

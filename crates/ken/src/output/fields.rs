//! `ken search --fields`: chosen columns of a hit on one line, with tabs between them.

use std::os::unix::ffi::OsStrExt;

use ken_core::Root;
use ken_search::service::{Column, Hit};

use super::clean;

/// Returns the line of a hit. If `exact`, for programs that read up to a NUL, paths keep their bytes.
pub(crate) fn hit_fields(hit: &Hit, columns: &[Column], roots: &[Root], exact: bool) -> Vec<u8> {
    let values = columns.iter().map(|column| {
        if let Some(path) = column.path(hit, roots).filter(|_| exact) {
            return path.as_os_str().as_bytes().to_vec();
        }
        let value = column.value(hit, roots);
        // A separator inside a value must not look like the end of the value.
        let value = value.replace(['\t', '\n', '\r'], " ");
        clean(&value).into_owned().into_bytes()
    });
    values.collect::<Vec<_>>().join(&b'\t')
}

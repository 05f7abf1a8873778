//! `ken search --fields`: chosen columns of a hit on one line, with tabs between them.

use std::os::unix::ffi::OsStrExt;

use ken_core::Root;
use ken_search::service::{Column, Hit};

use super::clean;

/// Returns the line of a hit. For a program that reads up to a NUL, paths are their true bytes.
pub(crate) fn hit_fields(hit: &Hit, columns: &[Column], roots: &[Root], exact: bool) -> Vec<u8> {
    let values = columns.iter().map(|column| {
        if let Some(path) = column.path(hit, roots).filter(|_| exact) {
            return path.as_os_str().as_bytes().to_vec();
        }
        let value = column.value(hit, roots);
        // What is within a value must not look like the next one.
        let value = value.replace(['\t', '\n', '\r'], " ");
        clean(&value).into_owned().into_bytes()
    });
    values.collect::<Vec<_>>().join(&b'\t')
}

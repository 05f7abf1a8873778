//! `ken search --fields`, `--csv` and `--tsv`: chosen columns of a hit on one line.

use std::os::unix::ffi::OsStrExt;

use ken_core::Root;
use ken_search::service::{Column, Hit};

use super::{clean, clean_address};

/// Returns the line of a hit, with tabs between its values. If `exact`, for programs that read up to a NUL, paths keep
/// their bytes.
pub(crate) fn hit_fields(hit: &Hit, columns: &[Column], roots: &[Root], exact: bool) -> Vec<u8> {
    let values = columns.iter().map(|column| {
        if let Some(path) = column.path(hit, roots).filter(|_| exact) {
            return path.as_os_str().as_bytes().to_vec();
        }
        let value = column.value(hit, roots);
        if matches!(column, Column::Path | Column::Address | Column::Ipath) {
            return clean_address(&value).into_owned().into_bytes();
        }
        // A separator inside a value must not look like the end of the value.
        let value = value.replace(['\t', '\n', '\r'], " ");
        clean(&value).into_owned().into_bytes()
    });
    values.collect::<Vec<_>>().join(&b'\t')
}

/// Returns the values of a hit.
pub(crate) fn hit_values(hit: &Hit, columns: &[Column], roots: &[Root]) -> Vec<String> {
    let values = columns.iter().map(|column| column.value(hit, roots));
    values.collect()
}

/// Returns a row of a table (RFC 4180): a value with a separator, a quote, a break or a space at an end is quoted.
pub(crate) fn table_row<T: AsRef<str>>(values: &[T], separator: char) -> Vec<u8> {
    let quoted = values.iter().map(|value| {
        let value = value.as_ref();
        let breaks = |c: char| c == separator || matches!(c, '"' | '\n' | '\r');
        match value.contains(breaks) || value.trim() != value {
            true => format!("\"{}\"", value.replace('"', "\"\"")),
            false => value.to_owned(),
        }
    });
    let mut row = quoted.collect::<Vec<_>>().join(&separator.to_string());
    row.push('\n');
    row.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_tables_are_quoted_where_they_must_be() {
        let row = |separator| {
            let values = [
                "plain",
                "a, b",
                "a\tb",
                "say \"hi\"",
                "two\nlines",
                " x",
                "",
            ];
            String::from_utf8(table_row(&values, separator)).unwrap()
        };
        assert_eq!(
            row(','),
            "plain,\"a, b\",a\tb,\"say \"\"hi\"\"\",\"two\nlines\",\" x\",\n"
        );
        assert_eq!(
            row('\t'),
            "plain\ta, b\t\"a\tb\"\t\"say \"\"hi\"\"\"\t\"two\nlines\"\t\" x\"\t\n"
        );
    }
}

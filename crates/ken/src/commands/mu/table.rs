//! Tables of text, with lines of hyphens.

/// Returns a table of rows, which all have as many cells as the first.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let n_columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    let line: String = widths
        .iter()
        .map(|width| format!("+{}", "-".repeat(width + 2)))
        .collect();
    let line = format!("{line}+\n");
    let mut text = line.clone();
    for row in rows {
        for (cell, width) in row.iter().zip(&widths) {
            text.push_str(&format!("| {cell:width$} "));
        }
        text.push_str("|\n");
        text.push_str(&line);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a", "bcd"], ["é", ""]].map(|row| row.map(str::to_owned).to_vec());
        let expected = "+---+-----+\n| a | bcd |\n+---+-----+\n| é |     |\n+---+-----+\n";
        assert_eq!(table(&rows), expected);
        assert_eq!(table(&[]), "+\n");
    }
}

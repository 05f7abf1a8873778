//! `-v`: the text between matches becomes the matches, in whole lines.
//!
//! Consecutive lines without a match are one match, which is what ag counts. A match that includes
//! a newline also takes the following line, since ag continues after the match without checking
//! where it ended.

use std::ops::Range;

/// Replaces matches by the blocks of lines between them. Matches are in order and do not overlap.
pub(super) fn invert(text: &[u8], matches: &mut Vec<Range<usize>>) {
    if matches.is_empty() {
        matches.push(0..text.len().saturating_sub(1));
        return;
    }
    let mut blocks = Vec::new();
    // Start of the open block, if the line belongs to one.
    let mut block = Some(0);
    let mut line_start = 0;
    let mut at = 0;
    for found in matches.iter() {
        if found.start >= text.len() {
            break;
        }
        pass_lines(text, at..found.start, &mut block, &mut line_start);
        if let Some(start) = block.take()
            && line_start > start
        {
            blocks.push(start..line_start - 1);
        }
        at = found.end.max(at);
    }
    let end = text.len();
    if at < end {
        // The last byte ends a block, whatever it is.
        pass_lines(text, at..end - 1, &mut block, &mut line_start);
        if let Some(start) = block {
            blocks.push(start..end - 1);
        }
    }
    *matches = blocks;
}

/// Processes the newlines of a range: after each of them a block begins, if none is open.
fn pass_lines(text: &[u8], range: Range<usize>, block: &mut Option<usize>, line_start: &mut usize) {
    for newline in memchr::memchr_iter(b'\n', &text[range.start.min(range.end)..range.end]) {
        *line_start = range.start + newline + 1;
        block.get_or_insert(*line_start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inverted(text: &str, word: &str) -> Vec<String> {
        let mut matches: Vec<_> = text
            .match_indices(word)
            .map(|(start, found)| start..start + found.len())
            .collect();
        invert(text.as_bytes(), &mut matches);
        matches.into_iter().map(|m| text[m].to_owned()).collect()
    }

    #[test]
    fn blocks_of_lines_without_a_match_are_matches() {
        assert_eq!(inverted("a\nb\nx\nc\n", "x"), ["a\nb", "c"]);
        assert_eq!(inverted("x\na\nx\n", "x"), ["a"]);
        assert_eq!(inverted("x\nab", "x"), ["a"]);
        assert_eq!(inverted("a\nb\n", "x"), ["a\nb"]);
        assert!(inverted("x\nx\n", "x").is_empty());
        assert!(inverted("x", "x").is_empty());
    }

    #[test]
    fn a_match_with_its_newline_takes_the_next_line() {
        assert_eq!(inverted("x\na\nb\n", "x\n"), ["b"]);
    }

    #[test]
    fn empty_matches_end() {
        let mut matches = vec![0..0, 2..2, 4..4];
        invert(b"a\nb\n", &mut matches);
        assert!(matches.is_empty());
    }
}

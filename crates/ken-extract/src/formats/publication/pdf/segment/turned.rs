//! Words of text that was drawn from right to left.

use super::Word;

/// Returns the words of a text that was turned around. If it holds a run of left-to-right words, which
/// kept their order, the whole text is one word.
pub(super) fn turned(words: &[Word], text: &str) -> Vec<Word> {
    let turned = words.iter().rev().map(|word| Word {
        range: text.len() - word.range.end..text.len() - word.range.start,
        area: word.area,
    });
    let turned: Vec<_> = turned.collect();
    let is_space = |at: Option<usize>| at.is_none_or(|at| text.as_bytes().get(at) == Some(&b' '));
    let fits = turned.iter().all(|Word { range, .. }| {
        let before = is_space(range.start.checked_sub(1));
        let after = range.end == text.len() || is_space(Some(range.end));
        before && after && !text[range.clone()].contains(' ')
    });
    if fits {
        return turned;
    }
    let area = words
        .iter()
        .map(|word| word.area)
        .reduce(|all, area| all.union(area));
    let all = area.map(|area| Word {
        range: 0..text.len(),
        area,
    });
    all.into_iter().collect()
}

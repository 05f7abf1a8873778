//! Emoji, each of which is a word: `👍`, `👨‍👩‍👧`, a flag, a key.
//!
//! An emoji may consist of several Unicode characters (UTS #51): a skin tone follows its picture,
//! joiners tie pictures together, a flag is a pair of letters, and a key has a frame around a digit.
//! Variation selectors only choose between colour and black, so terms have none.

use std::ops::Range;

const JOINER: char = '\u{200d}';
const VARIANTS: [char; 2] = ['\u{fe0e}', '\u{fe0f}'];
/// The frame of a key; it ends a word.
pub(super) const FRAME: char = '\u{20e3}';

/// Returns the end of the emoji at `start`, if there is one.
pub(super) fn end(text: &str, start: usize) -> Option<usize> {
    let mut rest = Rest(&text[start..]);
    let first = rest.take(|_| true)?;
    if is_flag_letter(first) {
        rest.take(is_flag_letter)?;
    } else if is_picture(first) {
        rest.picture();
        while let Some(next) = rest.0.strip_prefix(JOINER)
            && next.starts_with(is_picture)
        {
            rest.0 = next;
            rest.take(is_picture);
            rest.picture();
        }
    } else {
        return None;
    }
    Some(text.len() - rest.0.len())
}

/// What follows in a text.
struct Rest<'a>(&'a str);

impl Rest<'_> {
    fn take(&mut self, wanted: impl Fn(char) -> bool) -> Option<char> {
        let mut characters = self.0.chars();
        let first = characters.next().filter(|c| wanted(*c))?;
        self.0 = characters.as_str();
        Some(first)
    }

    /// Takes what belongs to the picture before it.
    fn picture(&mut self) {
        self.take(|c| VARIANTS.contains(&c));
        self.take(is_skin);
        self.take(|c| VARIANTS.contains(&c));
        while self
            .take(|c| matches!(c, '\u{e0020}'..='\u{e007f}'))
            .is_some()
        {}
    }
}

/// Writes the term of an emoji.
pub(super) fn term(emoji: &str, out: &mut String) {
    out.clear();
    out.extend(emoji.chars().filter(|c| !VARIANTS.contains(c)));
}

/// Removes the skin tones from a term; returns whether it had some, and is more than a tone.
pub(super) fn without_skin(term: &mut String) -> bool {
    let length = term.len();
    if term.chars().all(is_skin) {
        return false;
    }
    term.retain(|c| !is_skin(c));
    term.len() < length
}

/// Returns the range of the key that ends with a word: a digit, `#` or `*` in a frame. The word may
/// be the frame alone.
pub(super) fn key(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let framed = text[..word.end].strip_suffix(FRAME)?;
    let sign = framed.strip_suffix(VARIANTS).unwrap_or(framed);
    let is_key = sign.ends_with(|c: char| c.is_ascii_digit() || matches!(c, '#' | '*'));
    is_key.then(|| sign.len() - 1..word.end)
}

fn is_flag_letter(character: char) -> bool {
    matches!(character, '\u{1f1e6}'..='\u{1f1ff}')
}

fn is_skin(character: char) -> bool {
    matches!(character, '\u{1f3fb}'..='\u{1f3ff}')
}

/// Returns whether a character is an emoji. Signs that are also punctuation are none (`™`, `↔`,
/// `▪`, `▶`), nor those that represent letters (`🅰`, `🈁`).
fn is_picture(character: char) -> bool {
    if character < '\u{231a}' {
        return false;
    }
    matches!(character,
        '\u{231a}' | '\u{231b}' | '\u{2328}' | '\u{23cf}' | '\u{23e9}'..='\u{23f3}' | '\u{23f8}'..='\u{23fa}'
        | '\u{2600}'..='\u{2604}' | '\u{260e}' | '\u{2611}' | '\u{2614}' | '\u{2615}' | '\u{2618}' | '\u{261d}'
        | '\u{2620}' | '\u{2622}' | '\u{2623}' | '\u{2626}' | '\u{262a}' | '\u{262e}' | '\u{262f}'
        | '\u{2638}'..='\u{263a}' | '\u{2640}' | '\u{2642}' | '\u{2648}'..='\u{2653}' | '\u{265f}' | '\u{2660}'
        | '\u{2663}' | '\u{2665}' | '\u{2666}' | '\u{2668}' | '\u{267b}' | '\u{267e}' | '\u{267f}'
        | '\u{2692}'..='\u{2697}' | '\u{2699}' | '\u{269b}' | '\u{269c}' | '\u{26a0}' | '\u{26a1}' | '\u{26a7}'
        | '\u{26aa}' | '\u{26ab}' | '\u{26b0}' | '\u{26b1}' | '\u{26bd}' | '\u{26be}' | '\u{26c4}' | '\u{26c5}'
        | '\u{26c8}' | '\u{26ce}' | '\u{26cf}' | '\u{26d1}' | '\u{26d3}' | '\u{26d4}' | '\u{26e9}' | '\u{26ea}'
        | '\u{26f0}'..='\u{26f5}' | '\u{26f7}'..='\u{26fa}' | '\u{26fd}' | '\u{2702}' | '\u{2705}'
        | '\u{2708}'..='\u{270d}' | '\u{270f}' | '\u{2712}' | '\u{2714}' | '\u{2716}' | '\u{271d}' | '\u{2721}'
        | '\u{2728}' | '\u{2733}' | '\u{2734}' | '\u{2744}' | '\u{2747}' | '\u{274c}' | '\u{274e}'
        | '\u{2753}'..='\u{2755}' | '\u{2757}' | '\u{2763}' | '\u{2764}' | '\u{2795}'..='\u{2797}' | '\u{27a1}'
        | '\u{27b0}' | '\u{27bf}' | '\u{2934}' | '\u{2935}' | '\u{2b05}'..='\u{2b07}' | '\u{2b1b}' | '\u{2b1c}'
        | '\u{2b50}' | '\u{2b55}' | '\u{1f004}' | '\u{1f0cf}' | '\u{1f18e}' | '\u{1f191}'..='\u{1f19a}'
        | '\u{1f300}'..='\u{1f64f}' | '\u{1f680}'..='\u{1f6ff}' | '\u{1f7e0}'..='\u{1f7f0}'
        | '\u{1f900}'..='\u{1f9ff}' | '\u{1fa70}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use regex_automata::meta::Regex;

    use super::*;

    #[test]
    fn all_emoji_of_unicode_are_known() {
        let all = Regex::new(r"^\p{Emoji}$").unwrap();
        let is_sign = |c| {
            matches!(c,
                '\0'..='\u{2199}' | '\u{21a9}' | '\u{21aa}' | '\u{24c2}' | '\u{25aa}'..='\u{25fe}' | '\u{3030}'
                | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f170}'..='\u{1f17f}' | '\u{1f201}'..='\u{1f251}')
        };
        for character in '\0'..='\u{1ffff}' {
            let is_emoji = all.is_match(character.encode_utf8(&mut [0; 4]).as_bytes());
            if is_emoji && !is_sign(character) {
                let is_known = is_picture(character) || is_flag_letter(character);
                assert!(is_known, "{character} {:x}", u32::from(character));
            }
        }
        assert!(!"★✓♪→•©".chars().any(is_picture));
    }
}

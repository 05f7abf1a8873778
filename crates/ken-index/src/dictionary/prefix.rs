//! The range of terms that start with a prefix.

/// Returns the first string after all strings that start with `prefix`.
pub(crate) fn successor(prefix: &str) -> Option<String> {
    let mut stem = prefix.to_owned();
    while let Some(last) = stem.pop() {
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            stem.push(next);
            return Some(stem);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successors_end_the_range_of_a_prefix() {
        assert_eq!(successor("ab").as_deref(), Some("ac"));
        assert_eq!(successor("a\u{10ffff}").as_deref(), Some("b"));
        assert_eq!(successor("\u{d7ff}").as_deref(), Some("\u{e000}"));
        assert_eq!(successor("\u{10ffff}"), None);
        assert_eq!(successor(""), None);
    }
}

//! The file types of ag: a name, which is an option, and extensions.
//!
//! `types.txt` has one type on each line, in ag's order, because programs read `--list-file-types`.

/// A file type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileType {
    /// Name of the type.
    pub name: &'static str,
    extensions: &'static str,
}

impl FileType {
    /// Returns its extensions, without their dots.
    pub fn extensions(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.extensions.split(' ')
    }
}

/// All types, in ag's order.
pub static FILE_TYPES: std::sync::LazyLock<Vec<FileType>> = std::sync::LazyLock::new(|| {
    include_str!("types.txt")
        .lines()
        .filter_map(|line| line.split_once(' '))
        .map(|(name, extensions)| FileType { name, extensions })
        .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read() {
        assert_eq!(FILE_TYPES.len(), include_str!("types.txt").lines().count());
        let cpp = FILE_TYPES.iter().find(|kind| kind.name == "cpp").unwrap();
        assert!(cpp.extensions().eq([
            "cpp", "cc", "C", "cxx", "m", "hpp", "hh", "h", "H", "hxx", "tpp"
        ]));
    }
}

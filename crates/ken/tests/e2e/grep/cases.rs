//! The file of cases: `TREE: words`, `TREE <'input': words`, `TREE NAME=value: words`, with `~`
//! before it if the lines come in any order.
//!
//! Spaces separate words. Quotes keep spaces, and `\n`, `\0`, `\t`, `\xNN` in double quotes stand
//! for bytes.

/// One command line.
pub(super) struct Case {
    /// The line of the file.
    pub(super) line: String,
    pub(super) tree: String,
    /// Whether the lines come in the same order each time.
    pub(super) in_order: bool,
    pub(super) words: Vec<Vec<u8>>,
    /// The standard input.
    pub(super) input: Option<Vec<u8>>,
    pub(super) environment: Vec<(String, String)>,
}

/// Reads all cases; skips empty lines and lines that start with `#`.
pub(super) fn read(text: &str) -> Vec<Case> {
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(case).collect()
}

fn case(line: &str) -> Case {
    let (head, tail) = line.split_once(": ").unwrap_or_else(|| panic!("{line}"));
    let mut head = words(head)
        .into_iter()
        .map(|word| String::from_utf8(word).unwrap());
    let tree = head.next().unwrap();
    let (tree, in_order) = match tree.strip_prefix('~') {
        Some(tree) => (tree.to_owned(), false),
        None => (tree, true),
    };
    let mut input = None;
    let mut environment = Vec::new();
    for word in head {
        match (word.strip_prefix('<'), word.split_once('=')) {
            (Some(text), _) => input = Some(text.as_bytes().to_vec()),
            (None, Some((name, value))) => environment.push((name.to_owned(), value.to_owned())),
            (None, None) => panic!("{line}"),
        }
    }
    Case {
        line: line.to_owned(),
        tree,
        in_order,
        words: words(tail),
        input,
        environment,
    }
}

fn words(text: &str) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b' ' => words.extend(word.take()),
            b'\'' => {
                let word = word.get_or_insert_default();
                word.extend(rest.by_ref().take_while(|&byte| byte != b'\''));
            }
            b'"' => {
                let word = word.get_or_insert_default();
                while let Some(byte) = rest.next().filter(|&byte| byte != b'"') {
                    word.push(if byte == b'\\' {
                        escaped(&mut rest)
                    } else {
                        byte
                    });
                }
            }
            _ => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words
}

fn escaped(rest: &mut impl Iterator<Item = u8>) -> u8 {
    match rest.next().unwrap() {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'0' => 0,
        b'x' => {
            let mut digit = || char::from(rest.next().unwrap()).to_digit(16).unwrap();
            u8::try_from(digit() * 16 + digit()).unwrap()
        }
        other => other,
    }
}

//! The file that `mu labels export` writes and `mu labels import` reads. Each message with labels has three lines,
//! `path:`, `message-id:` and `labels:`, the last with commas between labels.

use std::path::Path;

use crate::TagChange;

/// Returns whether a text is in this format.
pub fn is_mu_labels(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines
        .next()
        .is_some_and(|line| line.starts_with(";;") || line.starts_with("path:"))
}

/// Reads the file: for each message the number of its line, and its labels or what is wrong.
pub fn read_mu_labels(text: &str) -> Vec<(usize, Result<TagChange, String>)> {
    let mut found = Vec::new();
    let mut id = "";
    for (number, line) in (1..).zip(text.lines()) {
        if line.starts_with("path:") {
            id = "";
        } else if let Some(value) = line.strip_prefix("message-id:") {
            id = value.trim_matches(|c: char| c.is_whitespace() || matches!(c, '<' | '>'));
        } else if let Some(labels) = line.strip_prefix("labels:") {
            let labels = labels.split(',').map(str::trim);
            let labels = labels.filter(|label| !label.is_empty());
            let tags: Vec<_> = labels.map(|label| (label.to_owned(), true)).collect();
            let id = std::mem::take(&mut id);
            if id.is_empty() {
                let wrong = "there is no `message-id:` before these labels".to_owned();
                found.push((number, Err(wrong)));
            } else if !tags.is_empty() {
                let id = id.to_owned();
                found.push((number, Ok(TagChange::of_message(id, tags))));
            }
        }
    }
    found
}

/// Returns the first lines of the file; they show `now` to people.
pub fn mu_labels_head(now: &str) -> String {
    format!(";; version:0 @ {now}\n\n")
}

/// Returns the lines of a message; `None` if the message has no label that such lines can hold.
pub fn mu_labels(path: &Path, id: &str, labels: &[&str]) -> Option<String> {
    let labels: Vec<&str> = labels
        .iter()
        .copied()
        .filter(|label| is_label(label))
        .collect();
    let is_line = |text: &str| !text.contains(['\n', '\r']);
    let path = path.to_string_lossy();
    (!labels.is_empty() && is_line(id) && is_line(&path)).then(|| {
        let labels = labels.join(",");
        format!("path:{path}\nmessage-id:{id}\nlabels:{labels}\n\n")
    })
}

/// Returns whether the file can hold a tag as a label.
pub fn is_label(tag: &str) -> bool {
    !tag.is_empty() && !tag.contains([',', '\n', '\r']) && tag.trim() == tag
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let lines = mu_labels(Path::new("/m/cur/1:2,S"), "1@x", &["to do", "a,b", "work"]);
        let text = format!("{}{}", mu_labels_head("2026-01-01"), lines.unwrap());
        assert!(is_mu_labels(&text));
        assert!(text.ends_with("path:/m/cur/1:2,S\nmessage-id:1@x\nlabels:to do,work\n\n"));
        let tag = |name: &str| (name.to_owned(), true);
        let tags = vec![tag("to do"), tag("work")];
        let expected = TagChange::of_message("1@x".to_owned(), tags);
        assert_eq!(read_mu_labels(&text), [(5, Ok(expected))]);
        assert_eq!(mu_labels(Path::new("/m/1"), "1@x", &["a,b"]), None);
        let spaced = read_mu_labels("message-id: < 1@x > \nlabels:work");
        let of_one = TagChange::of_message("1@x".to_owned(), vec![tag("work")]);
        assert_eq!(spaced, [(2, Ok(of_one))]);
    }

    #[test]
    fn labels_of_no_message_are_wrong() {
        let text = "path:/a\nlabels:x\nmessage-id:<2@x>\nlabels:,\nother: line\nmessage-id:3@x\npath:/b\nlabels:y";
        let found = read_mu_labels(text);
        let lines: Vec<_> = found
            .iter()
            .map(|(line, one)| (*line, one.is_err()))
            .collect();
        // Labels between a path and an identifier belong to that path, which does not identify a message.
        assert_eq!(lines, [(2, true), (8, true)]);
        assert!(!is_mu_labels("#notmuch-dump batch-tag:3 tags\n"));
        assert!(!is_mu_labels(""));
    }
}

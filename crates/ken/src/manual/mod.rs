//! The manual in the program: reference pages, and the end of each command's man page.
//!
//! A page is a document of `docs/`, whose tables are compared with the program's by tests. `ken help TOPIC` prints it
//! as text, and `ken man` writes it as a man page.

mod commands;
mod page;
mod roff;
mod text;

pub(crate) use commands::sections;
pub(crate) use text::plain;

/// A reference page.
pub(crate) struct Topic {
    /// The name after `ken help`.
    pub(crate) name: &'static str,
    /// The section of the manual: 5 for files and formats, 7 for other subjects.
    section: u8,
    about: &'static str,
    markdown: &'static str,
    see_also: &'static [&'static str],
}

/// All reference pages.
pub(crate) const TOPICS: [Topic; 3] = [
    Topic {
        name: "query",
        section: 7,
        about: "the query language of ken",
        markdown: include_str!("query.md"),
        see_also: &["ken-search(1)", "ken-terms(1)", "ken-mail-list(1)"],
    },
    Topic {
        name: "config",
        section: 5,
        about: "settings, files and exit codes of ken",
        markdown: include_str!("configuration.md"),
        see_also: &["ken-index(1)"],
    },
    Topic {
        name: "json",
        section: 5,
        about: "what ken prints with --json",
        markdown: include_str!("json.md"),
        see_also: &["ken-search(1)", "ken-status(1)", "ken-mail-show(1)"],
    },
];

/// Returns the page with this name.
pub(crate) fn topic(name: &str) -> Option<&'static Topic> {
    TOPICS.iter().find(|topic| topic.name == name)
}

impl Topic {
    /// Returns the name of the man page with the section: `ken-query(7)`.
    fn reference(&self) -> String {
        format!("ken-{}({})", self.name, self.section)
    }

    /// Returns the section, the file name of the man page, and its text.
    pub(crate) fn man_page(&self) -> (u8, String, String) {
        let others = TOPICS.iter().filter(|other| other.name != self.name);
        let mut references = vec!["ken(1)".to_owned()];
        references.extend(self.see_also.iter().map(|name| (*name).to_owned()));
        references.extend(others.map(Self::reference));
        let mut page = roff::head(&format!("ken-{}", self.name), self.section, self.about);
        page.push_str(&roff::body(&page::blocks(self.markdown)));
        page.push_str(&roff::see_also(&references));
        (
            self.section,
            format!("ken-{}.{}", self.name, self.section),
            page,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the longest word of each line, without comments, table heads, code languages and links.
    fn words(markdown: &str) -> impl Iterator<Item = &str> {
        let next = markdown.lines().skip(1).chain([""]);
        let lines = markdown.lines().zip(next);
        let texts = lines.filter(|(line, next)| {
            let is_head = next.starts_with("|---");
            !is_head
                && !line.starts_with("<!--")
                && !line.starts_with("```")
                && !line.contains("](")
        });
        texts.filter_map(|(line, _)| {
            let words = line.split(|c: char| !c.is_alphanumeric());
            words.max_by_key(|word| word.len())
        })
    }

    #[test]
    fn pages_are_read_whole() {
        for topic in &TOPICS {
            let text = plain(topic).to_uppercase();
            let page = topic.man_page().2.to_uppercase();
            for word in words(topic.markdown).map(str::to_uppercase) {
                assert!(text.contains(&word), "{}: {word}", topic.name);
                assert!(page.contains(&word), "{}: {word}", topic.name);
            }
            assert!(!text.contains("|---"));
        }
    }
}

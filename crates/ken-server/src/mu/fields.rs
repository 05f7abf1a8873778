//! The fields of messages in mu: one table for searching, sorting and printing.

/// A field of messages in mu.
pub struct MailField {
    /// The name.
    pub name: &'static str,
    /// The alias; may be empty.
    pub alias: &'static str,
    /// The letter.
    pub letter: char,
    /// The way in which it is searched: `words`, `whole` or `range`.
    pub search: &'static str,
    /// The column for sorting and printing, if the field has a value.
    pub column: Option<MailColumn>,
    /// An example query.
    pub example: &'static str,
    /// The meaning of the field.
    pub meaning: &'static str,
}

/// A property that messages can be sorted by and that is printed of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)] // the names say it
pub enum MailColumn {
    #[default]
    Date,
    Bcc,
    Cc,
    Changed,
    Flags,
    From,
    List,
    Maildir,
    MessageId,
    Path,
    Priority,
    References,
    Size,
    Subject,
    Tags,
    To,
}

/// All fields of messages.
#[rustfmt::skip] // a table reads better as one
pub const MAIL_FIELDS: [MailField; 21] = [
    field("bcc", "", 'h', "words", Some(MailColumn::Bcc), "bcc:anna@example.org", "who got a blind copy"),
    field("body", "", 'b', "words", None, "body:reindeer", "text"),
    field("cc", "", 'c', "words", Some(MailColumn::Cc), "cc:team", "who got a copy"),
    field("changed", "", 'k', "range", Some(MailColumn::Changed), "changed:2w..", "last change of the file"),
    field("date", "", 'd', "range", Some(MailColumn::Date), "date:2026..", "when it was sent"),
    field("embed", "", 'e', "words", None, "embed:invoice", "text of attachments"),
    field("file", "", 'j', "words", None, "file:report*", "names of attachments"),
    field("flags", "flag", 'g', "whole", Some(MailColumn::Flags), "flag:unread", "state"),
    field("from", "", 'f', "words", Some(MailColumn::From), "from:anna", "sender"),
    field("maildir", "", 'm', "whole", Some(MailColumn::Maildir), "maildir:/inbox", "folder"),
    field("list", "", 'v', "whole", Some(MailColumn::List), "list:r-help.r-project.org", "mailing list"),
    field("message-id", "msgid", 'i', "whole", Some(MailColumn::MessageId), "msgid:1@example.org", "identifier"),
    field("mime", "", 'y', "whole", None, "mime:application/pdf", "media types of parts"),
    field("path", "", 'l', "whole", Some(MailColumn::Path), "path:/home/a/Mail/cur/1", "file"),
    field("priority", "prio", 'p', "whole", Some(MailColumn::Priority), "prio:high", "high, normal or low"),
    field("references", "ref", 'r', "whole", Some(MailColumn::References), "ref:1@example.org", "messages before it"),
    field("size", "", 'z', "range", Some(MailColumn::Size), "size:1M..", "bytes"),
    field("subject", "", 's', "words", Some(MailColumn::Subject), "subject:budget", "subject"),
    field("tags", "tag", 'x', "whole", Some(MailColumn::Tags), "tag:todo", "tags"),
    field("thread", "", 'w', "whole", None, "thread:1@example.org", "messages of one thread"),
    field("to", "", 't', "words", Some(MailColumn::To), "to:anna", "recipient"),
];

/// Other names by which mu4e asks for an order.
const OTHER_NAMES: [(&str, MailColumn); 2] = [
    ("from-or-to", MailColumn::From),
    ("mailing-list", MailColumn::List),
];

const fn field(
    name: &'static str,
    alias: &'static str,
    letter: char,
    search: &'static str,
    column: Option<MailColumn>,
    example: &'static str,
    meaning: &'static str,
) -> MailField {
    MailField {
        name,
        alias,
        letter,
        search,
        column,
        example,
        meaning,
    }
}

impl MailColumn {
    /// Returns the column with a name or letter, with or without a colon before it.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.trim_start_matches(':');
        if let Some((_, column)) = OTHER_NAMES.iter().find(|(other, _)| *other == name) {
            return Some(*column);
        }
        let mut letters = name.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) => Self::from_letter(letter),
            (Some(_), _) => {
                let named = |field: &&MailField| [field.name, field.alias].contains(&name);
                MAIL_FIELDS.iter().find(named)?.column
            }
            _ => None,
        }
    }

    /// Returns the column with a letter.
    pub fn from_letter(letter: char) -> Option<Self> {
        MAIL_FIELDS
            .iter()
            .find(|field| field.letter == letter)?
            .column
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn fields_to_sort_by_have_names_and_letters() {
        assert_eq!(MailColumn::from_name(":subject"), Some(MailColumn::Subject));
        assert_eq!(MailColumn::from_name("z"), Some(MailColumn::Size));
        assert_eq!(MailColumn::from_name("from-or-to"), Some(MailColumn::From));
        for unknown in ["body", "b", "", "nonsense"] {
            assert_eq!(MailColumn::from_name(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn no_name_or_letter_is_used_twice() {
        let mut names = HashSet::new();
        for field in &MAIL_FIELDS {
            assert!(names.insert(field.name.to_owned()), "{}", field.name);
            assert!(names.insert(field.letter.to_string()), "{}", field.letter);
        }
    }
}

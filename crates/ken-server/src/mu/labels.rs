//! Labels, which are ken's tags: kept in the log beside the index, and found as fields of messages.

use std::path::Path;

use ken_core::{Field, Order, Pattern, Plan, Value};
use ken_index::{FacetBy, Request};
use ken_mail::TagChange;
use ken_pipeline::{Progress, tags, update_files};

use super::error::ErrorKind;
use super::{Error, Mail, Store};

/// Reads changes of labels, `+a -b`, for a message; `-*` takes all away.
///
/// # Errors
/// Fails if a word is no change.
pub fn labels_change(text: &str, mail: &Mail) -> Result<TagChange, Error> {
    if mail.has_made_up_id() {
        let message = "the message has no identifier, by which a label would be kept";
        return Err(Error::new(ErrorKind::Argument, message));
    }
    let mut tags = Vec::new();
    for word in text.split_whitespace() {
        match word.split_at_checked(1) {
            Some(("-", "*")) => tags.extend(mail.tags.iter().map(|tag| (tag.clone(), false))),
            Some((sign @ ("+" | "-"), name)) if !name.is_empty() => {
                tags.push((name.to_owned(), sign == "+"));
            }
            _ => {
                let message = format!("\"{word}\" is neither +label nor -label");
                return Err(Error::new(ErrorKind::Argument, message));
            }
        }
    }
    Ok(TagChange {
        id: mail.id.clone(),
        tags,
    })
}

impl Store {
    /// Reads the file of a message, with the labels that the index knows of it.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn mail(&mut self, path: &Path) -> Result<Mail, Error> {
        let mut mail = Mail::read(path, self.personal())?;
        let same = Plan::Match {
            field: Field::Msgid,
            pattern: Pattern::Term(mail.id.to_lowercase()),
        };
        let snapshot = self.snapshot()?;
        let found = snapshot.run(&same, Order::default(), 0, 1)?;
        if let Some(hit) = found.hits.first() {
            let document = snapshot.document(hit.address)?.document;
            mail.tags = document
                .fields
                .into_iter()
                .filter_map(|field| match field {
                    (Field::Tag, Value::Text(tag)) => Some(tag),
                    _ => None,
                })
                .collect();
        }
        Ok(mail)
    }

    /// Returns the labels that messages have, in their order.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn labels(&mut self) -> Result<Vec<String>, Error> {
        let tree = self.tree("")?;
        let plan = self.plan(&tree)?;
        let by = [FacetBy::Values(Field::Tag)];
        let counted = self.snapshot()?.facets(&Request::new(&plan), &by)?;
        let values = counted.into_iter().flatten();
        let mut labels: Vec<String> = values
            .filter_map(|(value, _)| match value {
                Value::Text(text) => Some(text),
                Value::Number(_) => None,
            })
            .collect();
        labels.sort();
        Ok(labels)
    }

    /// Changes labels of messages; the index knows them when this returns, unless another program
    /// writes it.
    ///
    /// # Errors
    /// Fails if they cannot be kept.
    pub fn label(&mut self, changes: &[TagChange]) -> Result<(), Error> {
        tags::append(self.data(), changes)?;
        self.tags_changed();
        self.settle();
        Ok(())
    }

    /// Changes labels of messages and waits until the index knows them.
    ///
    /// # Errors
    /// Fails if they cannot be kept.
    pub fn label_and_wait(&mut self, changes: &[TagChange]) -> Result<(), Error> {
        tags::append(self.data(), changes)?;
        update_files(self.options(), &[], &[], &Progress::default(), &|_| ())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_given_and_taken() {
        let mail = Mail {
            id: "1@x".to_owned(),
            tags: vec!["a".to_owned(), "b".to_owned()],
            ..Mail::default()
        };
        let tags = |text: &str| labels_change(text, &mail).unwrap().tags;
        let tag = |name: &str, is_given| (name.to_owned(), is_given);
        assert_eq!(tags("+x -a"), [tag("x", true), tag("a", false)]);
        assert_eq!(tags("-*"), [tag("a", false), tag("b", false)]);
        assert!(labels_change("x", &mail).is_err());
        assert!(labels_change("+", &mail).is_err());
    }
}

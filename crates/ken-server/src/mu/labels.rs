//! Labels, which are ken's tags: the log next to the index keeps them, and messages have them as fields.

use std::path::Path;
use std::time::{Duration, Instant};

use ken_core::Field;
use ken_mail::TagChange;
use ken_pipeline::tags;

use super::error::ErrorKind;
use super::{Error, Mail, Store};

/// How long a label is waited for: another program may write the index for long.
const FOREVER: Duration = Duration::from_secs(1 << 32);

/// Reads a change of the labels of a message, `+a -b` or `+a,-b`; `-*` removes all.
///
/// # Errors
/// Fails if a word is not a change.
pub fn labels_change(text: &str, mail: &Mail) -> Result<TagChange, Error> {
    let mut tags = Vec::new();
    let words = text.split(|c: char| c.is_whitespace() || c == ',');
    for word in words.filter(|word| !word.is_empty()) {
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
    Ok(TagChange::of_message(mail.id.clone(), tags))
}

impl Store {
    /// Reads the file of a message, with its labels from the index.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn mail(&self, path: &Path) -> Result<Mail, Error> {
        let mut mail = Mail::read(path, self.personal())?;
        let source = self.source()?;
        let same = self.service(&*source).messages_with_id(&mail.id)?;
        if let Some(message) = same.iter().next() {
            let message = message?;
            let tags = message.texts(Field::Tag).into_iter();
            mail.tags = tags.map(str::to_owned).collect();
        }
        Ok(mail)
    }

    /// Returns the labels of all messages, sorted.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn labels(&self) -> Result<Vec<String>, Error> {
        let source = self.source()?;
        let mut request = self.request(&*source, "");
        request.limit = Some(0);
        request.group = None;
        request.facets.by = vec![Field::Tag.info().name.to_owned()];
        let service = self.service(&*source);
        let query = service.understand(&request)?;
        let counted = service.search(&request, query)?.facets()?;
        let values = counted.into_iter().flat_map(|facet| facet.values);
        let mut labels: Vec<String> = values.map(|of| of.value).collect();
        labels.sort();
        Ok(labels)
    }

    /// Changes the labels of messages. The index has the change when this returns, unless another program is writing
    /// it.
    ///
    /// # Errors
    /// Fails if the labels cannot be stored.
    pub fn label(&mut self, changes: &[TagChange]) -> Result<(), Error> {
        tags::append(self.data(), changes)?;
        // Each batch brings changed tags into the index.
        self.submit([]);
        self.settle();
        Ok(())
    }

    /// Changes the labels of messages and waits until the index has the change.
    ///
    /// # Errors
    /// Fails if the labels cannot be stored.
    pub fn label_and_wait(&mut self, changes: &[TagChange]) -> Result<(), Error> {
        tags::append(self.data(), changes)?;
        let ticket = self.submit([]);
        let waited = self.writer().updater.wait(ticket, Instant::now() + FOREVER);
        waited.map_err(|cause| Error::new(ErrorKind::Index, cause.to_string()))
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
        assert_eq!(tags("+x,-a"), tags("+x -a"));
        assert_eq!(tags("-*"), [tag("a", false), tag("b", false)]);
        assert!(labels_change("x", &mail).is_err());
        assert!(labels_change("+", &mail).is_err());
    }
}

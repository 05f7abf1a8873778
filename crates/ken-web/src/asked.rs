//! What is asked.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use http::{HeaderMap, Method, Request};
use ken_core::access::Asker;
use percent_encoding::percent_decode_str;

use crate::answer::Error;

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The user, at the socket or with the token.
    User,
    /// Somebody at the port without the token, who gets nothing of the user's.
    Anybody,
}

/// How an answer is made, and so on which threads: what waits for a worker must not hold a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// From the index, within milliseconds.
    Look,
    /// By a worker that reads or draws one page, for a user who waits for it.
    Page,
    /// By a worker that draws a small picture, of which a list wants many.
    Thumbnail,
}

/// A request.
pub struct Asked {
    /// Who asks.
    pub from: From,
    /// The person who asks, if what they may read is all that they get.
    pub asker: Option<Asker>,
    /// The method: `GET`, `HEAD` or `POST`.
    pub method: Method,
    /// The path, without the folder that leads to ken.
    pub path: String,
    /// The parameters in the address, in order.
    parameters: Vec<(String, String)>,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Vec<u8>,
    /// Becomes true when nobody waits for the answer any more.
    pub is_gone: Arc<AtomicBool>,
}

impl Asked {
    /// Reads a request.
    pub fn new(
        request: Request<Vec<u8>>,
        path: String,
        from: From,
        is_gone: Arc<AtomicBool>,
    ) -> Self {
        let (head, body) = request.into_parts();
        Self {
            from,
            asker: None,
            method: head.method,
            path,
            parameters: pairs(head.uri.query().unwrap_or_default()).collect(),
            headers: head.headers,
            body,
            is_gone,
        }
    }

    /// Makes the person who asks get nothing but what they may read.
    #[must_use]
    pub fn with_asker(self, asker: Option<Asker>) -> Self {
        Self { asker, ..self }
    }

    /// Refuses what is about the server, unless its user asks.
    ///
    /// # Errors
    /// Fails if somebody else asks.
    pub(crate) fn only_the_owner(&self) -> Result<(), Error> {
        match &self.asker {
            None => Ok(()),
            Some(_) => Err(Error {
                status: 403,
                message: format!("{} is for the user of this server", self.path),
            }),
        }
    }

    /// Returns whether this asks about documents, and not for a part of the page itself.
    pub fn is_question(&self) -> bool {
        let path = self.path.as_str();
        !path.starts_with("/assets/")
            && !["/osd.xml", "/login", "/logout", "/api/v1/openapi.json"].contains(&path)
    }

    /// Returns how the answer is made.
    pub fn work(&self) -> Work {
        match self.path.as_str() {
            "/thumbnail" => Work::Thumbnail,
            "/picture" | "/document" => Work::Page,
            path if path.starts_with("/api/v1/documents/")
                && (path.ends_with("/picture") || path.ends_with("/words")) =>
            {
                Work::Page
            }
            "/" => match self.get("fragment") {
                Some("sheet") => Work::Page,
                None if self.get("doc").is_some() => Work::Page,
                _ => Work::Look,
            },
            _ => Work::Look,
        }
    }

    /// Returns the first parameter with this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// Returns all parameters with this name.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.parameters.iter().filter(move |(own, _)| own == name);
        named.map(|(_, value)| value.as_str())
    }

    /// Returns all parameters, in order.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parameters
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the parameter with this name as a number.
    ///
    /// # Errors
    /// Fails if it is none, or greater than [`MAX_INTEGER`].
    pub fn number(&self, name: &str) -> Result<Option<u64>, Error> {
        let number = self.get(name).map(|value| {
            let wrong = || Error::wrong(format!("{name}: \"{value}\" is not a number"));
            integer(value).ok_or_else(wrong)
        });
        number.transpose()
    }

    /// Returns the parameter with this name as a number of things.
    ///
    /// # Errors
    /// Fails as [`Self::number`] does.
    pub fn count(&self, name: &str) -> Result<Option<usize>, Error> {
        let number = self.number(name)?;
        Ok(number.map(|number| usize::try_from(number).unwrap_or(usize::MAX)))
    }

    /// Returns the parameter with this name as a yes or no.
    ///
    /// # Errors
    /// Fails if it is neither.
    pub fn flag(&self, name: &str) -> Result<bool, Error> {
        match self.get(name) {
            None | Some("false") => Ok(false),
            Some("true") => Ok(true),
            Some(value) => Err(Error::wrong(format!(
                "{name}: \"{value}\" is not true or false"
            ))),
        }
    }
}

/// The greatest number that all programs read as it is (RFC 8259, section 6).
pub(crate) const MAX_INTEGER: u64 = (1 << 53) - 1;

/// Reads a number that is not negative.
pub(crate) fn integer(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| *number <= MAX_INTEGER)
}

/// Reads pairs as forms send them (`application/x-www-form-urlencoded`, WHATWG URL, section 5.1).
pub(crate) fn pairs(text: &str) -> impl Iterator<Item = (String, String)> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    })
}

fn decoded(text: &str) -> String {
    let spaced: Cow<'_, str> = match text.contains('+') {
        true => text.replace('+', " ").into(),
        false => text.into(),
    };
    percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_a_worker_holds_no_search() {
        for (address, work) in [
            ("/?q=a", Work::Look),
            ("/?q=a&fragment=results&doc=1", Work::Look),
            ("/?q=a&doc=1&fragment=preview", Work::Look),
            ("/?q=a&doc=1", Work::Page),
            ("/?doc=1&fragment=sheet", Work::Page),
            ("/document?doc=1", Work::Page),
            ("/picture?doc=1", Work::Page),
            ("/thumbnail?doc=1", Work::Thumbnail),
            ("/api/v1/search?q=a", Work::Look),
        ] {
            let request = Request::builder().uri(address).body(Vec::new()).unwrap();
            let path = request.uri().path().to_owned();
            let asked = Asked::new(request, path, From::User, Arc::default());
            assert_eq!(asked.work(), work, "{address}");
        }
    }

    #[test]
    fn pairs_are_decoded() {
        let read: Vec<_> = pairs("q=a+b%2Bc&&x&q=%E2%82%AC&bad=%ff%z").collect();
        let expected = [("q", "a b+c"), ("x", ""), ("q", "€"), ("bad", "\u{fffd}%z")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(read, expected);
    }
}

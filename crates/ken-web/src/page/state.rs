//! The state of the page, which is its address and nothing else.

use std::fmt::{self, Display, Formatter};
use std::num::ParseIntError;
use std::str::FromStr;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Serialize, Serializer};

use crate::Asked;

/// Characters that stand for themselves in the value of a parameter.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/')
    .remove(b':')
    .remove(b',');

/// A row of a text, as the address names it: `7`, or `7.3` for the third part of a long line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At {
    /// The number of the line, from 1.
    pub(super) line: usize,
    /// The number of the part, from 1; 0 for a line as a whole.
    pub(super) part: usize,
}

impl At {
    /// Returns a line as a whole.
    pub(super) fn line(line: usize) -> Self {
        Self { line, part: 0 }
    }
}

impl Display for At {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.part {
            0 => write!(f, "{}", self.line),
            part => write!(f, "{}.{part}", self.line),
        }
    }
}

impl FromStr for At {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (line, part) = text.split_once('.').unwrap_or((text, "0"));
        Ok(Self {
            line: line.parse()?,
            part: part.parse()?,
        })
    }
}

impl Serialize for At {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What the page shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct State {
    /// The query as typed.
    pub(super) q: String,
    /// Queries that restrict the hits: `type:message`.
    pub(super) filters: Vec<String>,
    /// The first day of the documents, if it is restricted.
    pub(super) from: String,
    /// The last day.
    pub(super) to: String,
    /// The key of the order, with `-` before it if the order is reversed; empty for relevance.
    pub(super) sort: String,
    /// Whether hits are rows of a table.
    pub(super) table: bool,
    /// The columns of the table; empty for the usual ones.
    pub(super) columns: Vec<String>,
    /// The page of results, from 1.
    pub(super) page: usize,
    /// Whether near copies are shown, too.
    pub(super) copies: bool,
    /// The identifier of the document to which hits are similar.
    pub(super) like: String,
    /// The identifier of the document in the preview.
    pub(super) doc: String,
    /// The row that the preview shows.
    pub(super) at: Option<At>,
    /// The page that is shown as a picture.
    pub(super) sheet: Option<usize>,
}

impl State {
    /// Reads the state from an address. Parameters that make no sense are left out.
    pub(super) fn of(asked: &Asked) -> Self {
        let text = |name: &str| asked.get(name).unwrap_or_default().trim().to_owned();
        let number = |name: &str| asked.get(name).and_then(|value| value.parse().ok());
        let all = |name: &str| {
            let values = asked.all(name).filter(|value| !value.trim().is_empty());
            values.map(str::to_owned).collect()
        };
        Self {
            q: asked.get("q").unwrap_or_default().to_owned(),
            filters: all("filter"),
            from: text("from"),
            to: text("to"),
            sort: text("sort"),
            table: asked.get("view") == Some("table"),
            columns: all("column"),
            page: number("page").unwrap_or(1).max(1),
            copies: asked.get("copies").is_some(),
            like: text("like"),
            doc: text("doc"),
            at: asked.get("at").and_then(|value| value.parse().ok()),
            sheet: number("sheet"),
        }
    }

    /// Returns whether nothing is searched for.
    pub(super) fn is_blank(&self) -> bool {
        self.q.trim().is_empty()
            && self.filters.is_empty()
            && self.like.is_empty()
            && self.date_filter().is_none()
    }

    /// Returns the filter for the first and the last day.
    pub(super) fn date_filter(&self) -> Option<String> {
        match (self.from.as_str(), self.to.as_str()) {
            ("", "") => None,
            (from, to) => Some(format!("date:{from}..{to}")),
        }
    }

    /// Returns the address of the page in this state.
    pub(super) fn href(&self) -> String {
        format!("./{}", self.parameters())
    }

    /// Returns the address of the page about the document alone.
    pub(super) fn document_href(&self) -> String {
        let about = Self {
            q: self.q.clone(),
            doc: self.doc.clone(),
            at: self.at,
            ..Self::default()
        };
        format!("document{}", about.parameters())
    }

    /// Returns the address of the page in a state that differs from this one, without the preview and at the first page.
    pub(super) fn with(&self, change: impl FnOnce(&mut Self)) -> String {
        let mut state = Self {
            page: 1,
            doc: String::new(),
            at: None,
            sheet: None,
            ..self.clone()
        };
        change(&mut state);
        state.href()
    }

    /// Returns the address of the page with a document in the preview.
    pub(super) fn showing(&self, doc: &str, at: Option<At>) -> String {
        let state = Self {
            doc: doc.to_owned(),
            at,
            sheet: None,
            ..self.clone()
        };
        state.href()
    }

    /// Returns the address of the same hits without a preview.
    pub(super) fn closed(&self) -> String {
        let closed = Self {
            doc: String::new(),
            at: None,
            sheet: None,
            ..self.clone()
        };
        closed.href()
    }

    /// Returns the address of the query alone.
    pub(super) fn bare(&self) -> String {
        let bare = Self {
            q: self.q.clone(),
            page: 1,
            ..Self::default()
        };
        bare.href()
    }

    fn parameters(&self) -> String {
        let mut text = String::new();
        let mut add = |name: &str, value: &str| {
            text.push(if text.is_empty() { '?' } else { '&' });
            text.push_str(name);
            text.push('=');
            text.extend(utf8_percent_encode(value, VALUE));
        };
        for (name, value) in self.pairs() {
            add(name, &value);
        }
        text
    }

    /// Returns the parameters of the address, in the order in which they are written.
    pub(super) fn pairs(&self) -> Vec<(&'static str, String)> {
        let mut pairs = Vec::new();
        let mut add = |name, value: &str| {
            if !value.is_empty() {
                pairs.push((name, value.to_owned()));
            }
        };
        add("q", &self.q);
        self.filters.iter().for_each(|filter| add("filter", filter));
        add("from", &self.from);
        add("to", &self.to);
        add("like", &self.like);
        add("sort", &self.sort);
        add("view", if self.table { "table" } else { "" });
        self.columns.iter().for_each(|column| add("column", column));
        add("copies", if self.copies { "1" } else { "" });
        if self.page > 1 {
            add("page", &self.page.to_string());
        }
        add("doc", &self.doc);
        add("at", &self.at.map_or_else(String::new, |at| at.to_string()));
        let sheet = self.sheet.map(|sheet| sheet.to_string());
        add("sheet", &sheet.unwrap_or_default());
        pairs
    }

    /// Returns the parameters that a form keeps when it sends a new query: all but those about hits, and but `own`,
    /// which are fields of the form.
    pub(super) fn kept(&self, own: &[&str]) -> Vec<(&'static str, String)> {
        let mut pairs = self.pairs();
        pairs.retain(|(name, _)| {
            !["page", "doc", "at", "sheet"].contains(name) && !own.contains(name)
        });
        pairs
    }
}

/// Something to choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Link {
    pub(super) label: String,
    pub(super) href: String,
    pub(super) is_chosen: bool,
    pub(super) count: Option<u64>,
    /// The whole value, where the label is a part of it.
    pub(super) hint: Option<String>,
}

impl Link {
    pub(super) fn new(label: impl Into<String>, href: String) -> Self {
        Self {
            label: label.into(),
            href,
            is_chosen: false,
            count: None,
            hint: None,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use http::Request;

    use super::*;
    use crate::From;

    pub(in crate::page) fn asked(address: &str) -> Asked {
        let request = Request::builder().uri(address).body(Vec::new()).unwrap();
        let path = request.uri().path().to_owned();
        Asked::new(request, path, From::User, Arc::default())
    }

    #[test]
    fn an_address_is_the_whole_state() {
        let address = "./?q=a%20%22b%22&filter=type:message&filter=dir:/x%20y&from=2024-01-01&sort=-size&view=table\
                       &column=title&copies=1&page=2&doc=0123&at=7.2";
        let state = State::of(&asked(&address[1..]));
        assert_eq!(state.q, "a \"b\"");
        assert_eq!(state.href(), address);
        assert_eq!(state.with(|_| {}), address.split("&page").next().unwrap());
        assert_eq!(
            state.document_href(),
            "document?q=a%20%22b%22&doc=0123&at=7.2"
        );
    }

    #[test]
    fn what_makes_no_sense_is_left_out() {
        let state = State::of(&asked("/?q=&filter=%20&page=x&at=-1.2&view=%00"));
        assert!(state.is_blank());
        assert_eq!(state.href(), "./");
    }
}
